"""Statistics of the labels of one partition that `DawidSkene` needs: additive, of a size without items, or samples.

Each is computed by the function that the in-memory fit calls on all labels. A part has `Labels` whose items,
annotators and classes are numbered, those of the annotators and classes as in the whole table.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from consilience.annotations import Labels
from consilience.consensus.labels.accuracy_interval import doubted_labels, sum_right
from consilience.consensus.labels.calibration import Calibration
from consilience.consensus.labels.constant_annotators import counts_of
from consilience.consensus.labels.dawid_skene import first_guess
from consilience.consensus.labels.pairs_of_labels import PairSums
from consilience.consensus.labels.samples import have_several, take_items
from consilience.inference.parts import Additive
from consilience.inference.product_distributions import Expectation, LogTable, Responsibilities, Weights, posterior
from consilience.partitions.models import label_parts
from consilience.partitions.models.label_parts import Heard, encode_part
from consilience.partitions.survey.label_survey import LabelPart


def pairs_heard(part: LabelPart, heard: Heard) -> PairSums:
    """Count pairs of labels, of each group of copies once."""
    return PairSums.of(heard.once(part.labels))


def first_sums(part: LabelPart, heard: Heard) -> Expectation:
    """Sums of the first responsibilities, the shares of the votes."""
    read = heard.labels(part.labels)
    return encode_part(part, read.n_classes, heard).expectation_of(first_guess(read, None, heard.weight(read)))


# ---- samples of items, of a bounded number of labels


@dataclass(frozen=True)
class Sizes:
    """Numbers of a partition that decide how many of its items are in a sample.

    n_several, n_of_several : items with labels by several annotators once copies are one, and labels of these.
    """

    n_several: int
    n_of_several: int


def sizes_of(part: LabelPart, heard: Heard) -> Sizes:
    """Return the sizes of a partition."""
    once = heard.once(part.labels)
    several = have_several(once)
    return Sizes(int(several.sum()), int(np.diff(once.indptr)[several].sum()))


@dataclass(frozen=True)
class Sampled:
    """Items with several labels, each of a group of copies once, and their responsibilities."""

    labels: Labels
    responsibilities: Responsibilities


def sample_labels(
    part: LabelPart,
    heard: Heard,
    first: Int[np.ndarray, " partitions"],
    places: Int[np.ndarray, " sampled"],
    log_weights: Weights,
    log_table: LogTable,
) -> Sampled:
    """Return those of some places among all items with several labels; `first` are the first of each partition."""
    once = heard.once(part.labels)
    several = np.flatnonzero(have_several(once))
    mine = places - first[part.number]
    chosen = np.zeros(len(once), dtype=bool)
    chosen[several[mine[(mine >= 0) & (mine < len(several))]]] = True
    q = posterior(encode_part(part, len(log_weights), heard), log_weights, log_table)
    return Sampled(take_items(once, chosen), q[chosen])


# ---- what a fitted model tells of the annotators


@dataclass(frozen=True)
class Quality(Additive):
    """Sums over items and labels under the posterior.

    told : of classes and right labels.
    doubted : of each annotator, sum of q (1 - q) over the labels that are heard, weighted.
    moved : by how many more labels are right under the calibrated probabilities.
    """

    told: label_parts.QualitySums
    doubted: Float[np.ndarray, " annotators"]
    moved: Float[np.ndarray, " annotators"]


def quality(part: LabelPart, heard: Heard, found: Calibration, log_weights: Weights, log_table: LogTable) -> Quality:
    """Sums for `annotators_`."""
    encoded = encode_part(part, len(log_weights), heard)
    q = posterior(encoded, log_weights, log_table)
    told = found.probabilities(encoded, log_weights, log_table)
    labels, n_annotators = part.labels, part.labels.n_annotators
    read = heard.labels(labels)
    return Quality(
        label_parts.QualitySums.of(labels, q),
        doubted_labels(read, q, heard.weight(read), n_annotators),
        sum_right(labels, told - q, n_annotators),
    )


@dataclass(frozen=True)
class Calibrated(Additive):
    """Sums under the calibrated probabilities: sizes of the classes, and counts of the constant annotators."""

    sizes: Weights
    counts: Float[np.ndarray, "annotators labels classes"]


def calibration_sums(
    part: LabelPart, heard: Heard, found: Calibration, log_weights: Weights, log_table: LogTable
) -> Calibrated:
    """Sums for annotators who are not heard."""
    p = found.probabilities(encode_part(part, len(log_weights), heard), log_weights, log_table)
    return Calibrated(p.sum(0), counts_of(part.labels, p, heard.constant))
