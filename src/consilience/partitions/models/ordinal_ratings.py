"""`OrdinalRatings` fitted to partitions: its in-memory fit, with sums over partitions in place of arrays of items.

    survey        names of annotators and levels, numbers of items and labels       1 pass over the source
    copies        from a sample of the items, as by `DawidSkene`                    1 pass over the parts, if asked for
    start         labels of each rater and level, distances from items' means       1
    sweeps        the E-step of each partition; the M-step here                     1 a sweep
    annotators    labels that are right, sizes of the levels                        1

The largest sums are of the size of raters × levels × cells of the value. Whether raters differ, or the mean is taken,
follows from sums as well.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int

from consilience.consensus.labels.equal_spread import RatingSums
from consilience.consensus.labels.ordinal_ratings import RatingsState
from consilience.consensus.labels.ordinal_ratings_estimator import OrdinalRatings
from consilience.inference.parts import LabelsInParts, Parts
from consilience.partitions.engine.checkpoint import Runs, runs_at
from consilience.partitions.models import label_parts
from consilience.partitions.models.label_parts import Heard
from consilience.partitions.survey.label_survey import LabelPart, Survey, digest_of

OF_ITEMS = ("values_", "intervals_")


def rate_part(part: LabelPart, place: Int[np.ndarray, " classes"], n_levels: int) -> LabelPart:
    """Return the labels over the levels; `place` is the level of each class."""
    labels = part.labels
    rated = replace(labels, classes=pd.RangeIndex(n_levels), label=place[labels.label])
    return LabelPart(part.number, rated.in_order())


def sum_ratings(part: LabelPart, heard: Heard) -> RatingSums:
    return RatingSums.of(part.labels, heard.weight(part.labels))


def quality(part: LabelPart, heard: Heard, model: OrdinalRatings, n_cells: int) -> label_parts.QualitySums:
    """Sums for `annotators_`."""
    labels, onehot = part.labels, label_parts.encode_part(part, n_cells, heard)
    found = model.levels_of(labels.item, labels.label, heard.weight(labels), onehot)
    return label_parts.QualitySums.of(labels, found.told)


def fit_ordinal_ratings(
    model: OrdinalRatings, parts: Parts, survey: Survey, checkpoint: Any, counts: Int[np.ndarray, "annotators labels"]
) -> None:
    """Fit the model; see `registry.PartitionedModel`."""
    label_parts.require_table(model, survey, len(survey.classes))
    runs: Runs[RatingsState] = runs_at(checkpoint, model, labels=digest_of(survey, counts))
    levels = model.as_ratings(survey.a_label_of_each_class())
    survey, rated = replace(survey, classes=levels.classes), parts.map(rate_part, levels.label, levels.n_classes)
    parts.forget()
    everybody = np.zeros(len(survey.annotators), dtype=bool)
    heard = Heard(everybody, label_parts.copies_among(model, rated, survey))
    sums: RatingSums = rated.total(sum_ratings, heard)
    n_cells = len(sums.grid.values)
    onehot = rated.map(label_parts.encode_part, n_cells, heard)
    raters, confusion = model.learn(LabelsInParts(onehot, n_cells), sums, survey.classes, runs.run)
    onehot.forget()
    found = rated.total(quality, heard, model, n_cells)
    label_parts.keep_annotators(model, survey, survey.classes, confusion, counts.sum(1), found)
    model.keep_raters(raters)
    label_parts.warn_of_copies(model)
