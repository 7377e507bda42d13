"""`ProductMixture` fitted to partitions: its in-memory fit, with sums over partitions in place of arrays of items.

    survey       names of annotators and classes, numbers of items and labels        1 pass over the source
    start        shares of the votes; or a sample of at most `SAMPLE` items          1 pass over the parts
    sweeps       the E-step of each partition; the M-step here                       1 a sweep and restart
    annotators   labels that are right, sizes of the components                      1

Decided here
------------
Random responsibilities are drawn for evenly spaced items. Up to `SAMPLE` items these are all, in canonical order, and
the fits are the same up to rounding; beyond, the first M-step knows the sample alone.

Copies are found in a sample of the items, as by `DawidSkene`; then each partition merges its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Int

from consilience.annotations.canonical import arrange
from consilience.consensus.labels.copies import first_members
from consilience.consensus.labels.mixture_result import NamedMixture, keep_best
from consilience.consensus.labels.product_mixture import ProductMixtureState, draw_responsibilities, run
from consilience.consensus.labels.product_mixture_estimator import ProductMixture
from consilience.consensus.labels.samples import join_labels
from consilience.errors import InputError
from consilience.inference.parts import LabelsInParts, Parts
from consilience.inference.product_distributions import Expectation, LogTable, Weights, posterior, vote_shares
from consilience.inference.randomness import spawn_seeds
from consilience.partitions.engine.checkpoint import Runs, runs_at
from consilience.partitions.models import label_parts
from consilience.partitions.models.requirements import require_same_starts
from consilience.partitions.survey.label_survey import LabelPart, Survey, digest_of

SAMPLE = 100_000  # items


# ---- what is computed on a partition


def first_sums(part: LabelPart) -> Expectation:
    """Sums of the shares of the votes."""
    return label_parts.encode_part(part, part.labels.n_classes).expectation_of(vote_shares(part.labels))


def quality(part: LabelPart, log_weights: Weights, log_table: LogTable) -> label_parts.QualitySums:
    """Sums for `annotators_`."""
    q = posterior(label_parts.encode_part(part, len(log_weights)), log_weights, log_table)
    return label_parts.QualitySums.of(label_parts.given_labels(part), q)


# ---- the fit


def require_fittable(model: ProductMixture, checkpoint: Any) -> None:
    """Raise an InputError if the parameters need all items at once, or a checkpoint other starts."""
    if not isinstance(model.init, str):
        raise InputError(
            "Over partitions, the 'init' parameter of ProductMixture must be 'auto', 'votes' or 'random': an array "
            "would need a row for each item."
        )
    if model.init != "votes":
        require_same_starts(model, checkpoint)


def fit_product_mixture(
    model: ProductMixture, parts: Parts, survey: Survey, checkpoint: Any, counts: Int[np.ndarray, "annotators labels"]
) -> None:
    """Fit the model; see `registry.PartitionedModel`."""
    n_components = model.number_of_components(survey.classes)
    label_parts.require_table(model, survey, n_components)
    runs: Runs[ProductMixtureState] = runs_at(checkpoint, model, labels=digest_of(survey, counts))
    heard, stands = merge_copies(model, parts, survey, counts)
    starts = _starts(model, heard, survey, n_components)
    onehot, n_labels = heard.map(label_parts.encode_part, n_components), len(survey.classes)
    evidence = LabelsInParts(onehot, n_components)
    settings: dict[str, Any] = {"smoothing": float(model.smoothing), "max_iter": model.max_iter, "tol": model.tol}
    best = keep_best(model, [run(start, evidence, n_labels, **settings, loop=runs.run) for start in starts])
    onehot.forget()
    read_off(model, heard, survey, best.state, counts.sum(1), stands=stands)
    label_parts.warn_of_copies(model)


def merge_copies(
    model: Any, parts: Parts, survey: Survey, counts: Int[np.ndarray, "annotators labels"]
) -> tuple[Parts, Int[np.ndarray, " annotators"] | None]:
    """Return parts with one label of each group of copies for each item, and who stands for whom; None for nobody."""
    group = label_parts.copies_among(model, parts, survey)
    if not (group >= 0).any():
        return parts, None
    stands = first_members(group, counts.sum(1))
    return parts.map(label_parts.merge_copies, group, stands), stands


def _starts(model: ProductMixture, parts: Parts, survey: Survey, n_components: int) -> list[Expectation]:
    """Sums of the first responsibilities, of each restart."""
    if model.starts_from_votes(n_components, len(survey.classes), "'random'"):
        return [parts.total(first_sums)]
    first = np.cumsum([0, *parts.results(label_parts.count_items)])
    share = min(SAMPLE / max(survey.n_items, 1), 1.0)
    sample = join_labels(list(parts.results(label_parts.take_evenly_spaced, first, share)))
    given = join_labels(list(parts.results(label_parts.take_given, first, share)))
    arranged = arrange(label_parts.name_labels(given, survey.annotators, survey.classes))
    # draws are in canonical order, as in memory; its inverse brings them to the sample's
    rows, onehot = np.argsort(arranged.items), label_parts.encode_part(LabelPart(0, sample), n_components)
    return [
        onehot.expectation_of(draw_responsibilities(seed, len(sample), n_components)[rows])
        for seed in spawn_seeds(model.random_state, model.n_init)
    ]


def read_off(
    model: Any,
    parts: Parts,
    survey: Survey,
    state: ProductMixtureState,
    n_given: Int[np.ndarray, " annotators"],
    deciding: Sequence[int] | None = None,
    evidence: LogTable | None = None,
    stands: Int[np.ndarray, " annotators"] | None = None,
) -> NamedMixture:
    """Set the attributes, as `mixture_result.read_off` does, and return the mixture with names.

    n_given : number of labels of each annotator. stands : of `merge_copies`.
    """
    named = NamedMixture.of(state, survey.classes, deciding, evidence)
    named = named if stands is None else named.with_copies(stands)
    named.keep(model)
    found = parts.total(quality, named.log_weights, named.log_table)
    label_parts.keep_annotators(model, survey, named.classes, named.confusion, n_given, found)
    return named
