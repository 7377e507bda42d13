"""`StagewiseEM` fitted to partitions: its in-memory fit, with sums over partitions in place of arrays of items.

    survey       names of annotators and classes, numbers of items and labels        1 pass over the source
    pairs        common items of every two annotators; then each partition lists
                 the co-labels of the pairs that have enough of them                 2 passes over the parts
    rounds       tables of the pairs; posteriors and their change; the likelihood    3 a round
    splits       tables within S and their derivatives                               2 a split
    refining     the E-step of each partition, of the annotators in S                1 a sweep
    annotators   labels that are right; information of the pairs given the class     2 or more

The tables of pairs are the largest sums: of the size of the annotators² × labels² × components, at most `MOST_CELLS`
cells a component.

Decided here
------------
Annotators who enter S together, or whose evidence in refining is equal, are in order of first appearance in the table,
in memory in canonical order; so where fewer than three have evidence, others without any may be chosen than in memory.

Copies are merged item by item, which changes the labels themselves: ``copies=None`` has to be said.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Int
from scipy.sparse import csr_array

from consilience.consensus.labels.copies_result import copies_of
from consilience.consensus.labels.stagewise_em_estimator import StagewiseEM
from consilience.consensus.labels.stagewise_evidence import Evidence, Given, Study
from consilience.inference.pair_tables import common_items
from consilience.inference.parts import Parts
from consilience.partitions.engine.checkpoint import Runs, runs_at
from consilience.partitions.models import label_parts, product_mixture
from consilience.partitions.models.requirements import require_no_copies
from consilience.partitions.survey.label_survey import LabelPart, Survey, digest_of


def common_items_of(part: LabelPart) -> csr_array:
    """Number of items that both of two annotators label."""
    return common_items(part.labels)


def require_fittable(model: StagewiseEM, checkpoint: Any) -> None:  # a checkpoint changes nothing
    """Raise an InputError if the parameters need all items at once."""
    require_no_copies(model)


def fit_stagewise_em(
    model: StagewiseEM, parts: Parts, survey: Survey, checkpoint: Any, counts: Int[np.ndarray, "annotators labels"]
) -> None:
    """Fit the model to parts over the annotators and classes of the survey.

    Parameters
    ----------
    model : gets the attributes of its in-memory fit that have no axis of items.
    parts : of `LabelPart`.
    survey : of the same table.
    checkpoint : path, or None.
    counts : number of labels of each annotator, of each class.
    """
    n_components = model.number_of_components(survey.classes)
    label_parts.require_table(model, survey, n_components)
    runs: Runs[Any] = runs_at(checkpoint, model, labels=digest_of(survey, counts))
    copies_of(model, label_parts.no_labels_by(survey.annotators, survey.classes))
    common = parts.total(common_items_of)
    study = Study.of(counts, common, survey.n_items, n_components, float(model.entry_level))
    evidence = Evidence.over(parts, study)
    final = model.learn(evidence, survey.annotators, runs.run)
    mixture, deciding, told = final.mixture, final.deciding, final.evidence
    named = product_mixture.read_off(model, parts, survey, mixture, counts.sum(1), deciding, told)
    model.keep_members(final, survey.annotators)
    model.keep_information(evidence, Given(named.log_weights, named.log_table), survey.annotators)
    evidence.parts.forget()
