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
in memory in canonical order. So may another of several copies with as many labels stand for the rest.

Copies are found in a sample of the items, as by `DawidSkene`; then each partition merges its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Int
from scipy.sparse import csr_array

from consilience.consensus.labels.stagewise_em_estimator import StagewiseEM
from consilience.consensus.labels.stagewise_evidence import PosteriorTerms, StagewiseEvidence, StagewiseStudy
from consilience.inference.pair_tables import common_items
from consilience.inference.parts import Parts
from consilience.partitions.engine.checkpoint import Runs, runs_at
from consilience.partitions.models import label_parts, product_mixture
from consilience.partitions.survey.label_survey import LabelPart, Survey, digest_of


def common_items_of(part: LabelPart) -> csr_array:
    """Number of items that both of two annotators label."""
    return common_items(part.labels)


def common_items_given(part: LabelPart) -> csr_array:
    """`common_items_of` the labels of all annotators."""
    return common_items(label_parts.given_labels(part))


def fit_stagewise_em(
    model: StagewiseEM, parts: Parts, survey: Survey, checkpoint: Any, counts: Int[np.ndarray, "annotators labels"]
) -> None:
    """Fit the model; see `registry.PartitionedModel`."""
    n_components = model.number_of_components(survey.classes)
    label_parts.require_table(model, survey, n_components)
    runs: Runs[Any] = runs_at(checkpoint, model, labels=digest_of(survey, counts))
    heard, stands = product_mixture.merge_copies(model, parts, survey, counts)
    of_heard = counts if stands is None else heard.total(label_parts.label_counts)
    common, level = heard.total(common_items_of), float(model.entry_level)
    study = StagewiseStudy.of(of_heard, common, survey.n_items, n_components, level)
    evidence = StagewiseEvidence.over(heard, study)
    final = model.learn(evidence, survey.annotators, runs.run)
    mixture, deciding, told = final.mixture, final.deciding, final.evidence
    named = product_mixture.read_off(model, heard, survey, mixture, counts.sum(1), deciding, told, stands)
    model.keep_members(final, survey.annotators)
    if stands is not None:  # of all annotators conditional_information tells what they share
        evidence.parts.forget()
        common = heard.total(common_items_given)
        study = StagewiseStudy.of(counts, common, survey.n_items, model.n_clusters_, level)
        evidence = StagewiseEvidence.over(heard, study, label_parts.given_labels)
        model.give_to_copies(stands)
    model.keep_information(evidence, PosteriorTerms(named.log_weights, named.log_table), survey.annotators)
    evidence.parts.forget()
    label_parts.warn_of_copies(model)
