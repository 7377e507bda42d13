"""`PartitionLabelModel` fitted to partitions: its in-memory fit, with sums over partitions in place of arrays of items.

    survey       annotators, groups, numbers of items, ranges of features               1 pass over the source
    sample       of at most `SAMPLE` items: order of features and groups, a start       1 pass over the parts
    start        a k-means clustering of the sample, each item at the nearest centre    2 a restart
    sweeps       (18), (20) here; the steps of (4) and (16) in the partitions           6 to 8 a sweep
    merging      sweeps from joined clusters                                            as many
    groupings    clusters that own items; labels that the model predicts                2

Each sum has the size of the weights or of the groups × clusters: nothing here grows with the number of items, but for
the sample, of a fixed size, and the numbers of items of the partitions.

Decided here
------------
The in-memory fit draws its start over features and groups in an order that depends on the values of all items, and
starts from a k-means clustering of all of them. Here both come from the items whose hashes are the smallest. Up to
`SAMPLE` items these are all, and the fits are the same up to rounding. Beyond, only the start differs.

A fit is as sensitive to rounding as in memory. The optimiser of (4) stops at a threshold, so that the order of a sum
can decide on a step; and pairs of clusters whose labels are equal with certainty are alike, so that it decides which of
them is joined first.

Not found here is what needs all items at once: a prior variance, copies, the row space of more features than items. Nor
is a requested number of clusters, which restarts from other numbers. The parameters have to say that none is asked for.
The note on annotators whose groups tell next to nothing is not made.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from sklearn.cluster import KMeans

from consilience.annotations import Groupings
from consilience.annotations.canonical import Arrangement, arrange
from consilience.errors import InputError
from consilience.estimators.grouping_copies import copies_of
from consilience.estimators.parameters import is_auto
from consilience.estimators.traces import keep_trace
from consilience.inference import Trace
from consilience.inference.confusion import Cells
from consilience.inference.randomness import check_random_state, spawn_seeds
from consilience.partitions import partition_label_sweeps as sweeps
from consilience.partitions.checkpoint import Runs, checkpoint_at, parameters_of
from consilience.partitions.item_survey import SAMPLE, ItemSurvey, Surveyed
from consilience.partitions.partition_label_checkpoint import CODEC
from consilience.partitions.partition_label_results import read_off
from consilience.partitions.partition_label_sweeps import ItemsInParts
from consilience.partitions.requirements import require_no_copies, require_same_starts
from consilience.semisupervised import PartitionLabelModel
from consilience.semisupervised import partition_label_model as updates
from consilience.semisupervised.feature_order import order_of_features
from consilience.semisupervised.partition_label_model import KMEANS_ROUNDS, SEEDED, Prior, Problem, State
from consilience.semisupervised.partition_label_model_estimator import _require_information


def require_fittable(model: PartitionLabelModel, checkpoint: Any) -> None:
    """Raise an InputError unless the parameters are valid, and need neither all items at once nor another seed."""
    model._check_parameters()
    remedies = {
        "prior_variance": (is_auto(model.prior_variance), "a number, such as that found in memory on a sample"),
        "n_clusters": (not is_auto(model.n_clusters), '"auto", and max_clusters the largest number'),
    }
    for name, (refused, remedy) in remedies.items():
        if refused:
            raise InputError(
                f"Over partitions, the {name!r} parameter of PartitionLabelModel must be {remedy}. "
                f"Got {getattr(model, name)!r} instead."
            )
    require_no_copies(model)
    require_same_starts(model, checkpoint)


def fit_partition_labels(model: PartitionLabelModel, table: Surveyed, checkpoint: Any) -> None:
    """Fit the model to items in partitions.

    Parameters
    ----------
    model : gets the attributes of its in-memory fit that have no axis of items.
    table : its parts are forgotten.
    checkpoint : path, or None.
    """
    own, survey, features = table.own, table.survey, table.features
    n_clusters = model._n_clusters(survey.n_items)
    _require_features(survey, features)
    sample = table.sample(SAMPLE)
    X = pd.DataFrame(sample.features, index=sample.groupings.items, columns=pd.Index(features, tupleize_cols=False))
    columns, arranged = _arranged(model._features(X, reset=True), sample.groupings)
    ordered = arranged.ordered
    keys = ordered.vocabulary.group_keys()
    parts = own.map(sweeps.prepared, keys, columns, n_clusters)
    own.forget()
    counts = parts.total(sweeps.group_sizes)
    counted = with_counts(ordered, counts)
    _require_information(np.empty((survey.n_items, 0)), counted)
    about = {"data": _digest(survey, keys, counts), "parameters": parameters_of(model)}
    runs: Runs[State] = Runs(checkpoint_at(checkpoint, about, CODEC))

    model.features_used_ = np.ones(len(features), dtype=bool)
    model.prior_variance_search_ = model.feature_search_ = None
    model.prior_variance_ = float(model.prior_variance)
    copies_of(model, ordered)
    problem = _problem(survey, ordered)
    evidence, prior = ItemsInParts(parts, problem.cells), model._prior(problem, model.prior_variance_)
    starts = Problem.of(sample.features[:, columns][arranged.items], ordered)
    best, bounds = _best(model, evidence, prior, starts, runs, n_clusters)
    keep_trace(model, best)
    model.restart_bounds_ = np.array(bounds)
    read_off(model, evidence, prior, best.state, columns, arranged, counted)
    parts.forget()


def _require_features(survey: ItemSurvey, features: tuple[Any, ...]) -> None:
    n_features, n_items = len(features), survey.n_items
    if n_features + 1 > n_items:
        raise InputError(
            f"Over partitions, PartitionLabelModel needs more items than features. Got {n_items} items and "
            f"{n_features} features: fit it in memory."
        )
    if not (survey.highest - survey.lowest).any():
        raise InputError(
            f"All {n_features} features are constant over the {n_items} items, so they do not distinguish any. Give "
            "features that vary."
        )


def _arranged(
    features: Float[np.ndarray, "items features"], groupings: Groupings
) -> tuple[Int[np.ndarray, " features"], Arrangement[Groupings]]:
    """Order of the features, and of all else, that depends on the content alone, as in the fit in memory."""
    columns = order_of_features(features, groupings.incidence)
    return columns, arrange(groupings, features[:, columns])


def with_counts(ordered: Groupings, counts: Int[np.ndarray, " groups"]) -> Groupings:
    """Return groupings with one row, the number of items of each group, for what needs only sums over items."""
    row = csr_array(counts[None, :].astype(float))
    return replace(ordered, items=pd.RangeIndex(1), incidence=row)


def _digest(survey: ItemSurvey, keys: list[Any], counts: Int[np.ndarray, " groups"]) -> str:
    arrays = (survey.lowest, survey.highest, counts)
    named = hashlib.sha256(repr((keys, survey.n_items)).encode())
    for array in arrays:
        named.update(np.ascontiguousarray(array).tobytes())
    return named.hexdigest()


def _problem(survey: ItemSurvey, ordered: Groupings) -> Problem:
    """Return the problem of all items, with their number and the groups; the design takes no memory."""
    design = np.broadcast_to(np.zeros(len(survey.lowest) + 2), (survey.n_items, len(survey.lowest) + 2))
    cells = Cells.of(ordered.grouping_of_group)
    return Problem(design, None, ordered.incidence[:0], cells, ordered.annotator_of_group, ordered.n_annotators)


def _best(
    model: PartitionLabelModel,
    evidence: ItemsInParts,
    prior: Prior,
    starts: Problem,
    runs: Runs[State],
    n_clusters: int,
) -> tuple[Trace[State], list[float]]:
    """Return the best restart with its clusters joined, and the bounds of all restarts."""
    limits: dict[str, Any] = {"max_iter": model.max_iter, "tol": model.tol}

    def restarted(seed: int) -> Trace[State]:
        return runs.run(
            lambda: _start(model, evidence, prior, starts, n_clusters, seed),
            lambda state: updates.step(state, evidence, prior),
            lambda state: updates.lower_bound(state, evidence, prior),
            **limits,
        )

    traces = [restarted(seed) for seed in spawn_seeds(check_random_state(model.random_state), model.n_init)]
    best = max(traces, key=lambda trace: trace.lower_bound)
    if model.merge:
        best = updates.merge(best, evidence, prior, **limits, loop=runs.run)
    return best, [trace.lower_bound for trace in traces]


def _start(
    model: PartitionLabelModel, evidence: ItemsInParts, prior: Prior, starts: Problem, n_clusters: int, seed: int
) -> State:
    """First state of a restart, `Problem.start_from_features` or `Problem.start_at_random` of the model."""
    state = starts.start_at_random(evidence, prior, n_clusters, seed)
    if model.init == "random":
        return state
    k = max(round(SEEDED * n_clusters), 1)
    found = KMeans(k, n_init=1, max_iter=KMEANS_ROUNDS, random_state=seed).fit(starts.design)
    return evidence.leaning(state, found.cluster_centers_)
