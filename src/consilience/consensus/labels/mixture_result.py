"""From a mixture of products to the attributes of an estimator: `ProductMixture`, `SpectralEM` and `StagewiseEM`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from consilience.annotations import Labels
from consilience.consensus.labels.copies import Copies, first_members
from consilience.consensus.labels.product_mixture import Mixture, matched
from consilience.estimators.labels import LabelAggregator, annotator_quality
from consilience.estimators.traces import keep_trace
from consilience.inference.iterate import Trace
from consilience.inference.product_distributions import Responsibilities


def as_confusion(log_table: Float[np.ndarray, "annotators labels components"]) -> np.ndarray:
    """Probability of each label in each component, (annotators, components, labels)."""
    table = np.exp(log_table).transpose(0, 2, 1)
    return table / table.sum(2, keepdims=True)


def read_off(
    estimator: LabelAggregator,
    labels: Labels,
    state: Mixture,
    responsibilities: Responsibilities,
    deciding: Sequence[int] | None = None,
    evidence: Float[np.ndarray, "columns components"] | None = None,
    known: Int[np.ndarray, " items"] | None = None,
) -> None:
    """Name components after classes if there are as many, else by decreasing size, and set the fitted attributes.

    `deciding` are the annotators whose labels decide an item's component, and its name; by default all. `evidence` is
    the evidence of each of their labels for each component; by default its log probability. With gold items, whose
    classes are `known`, components are the classes in their order.
    """
    n_labels, n_components = labels.n_classes, len(state.log_weights)
    table = state.log_table.reshape(-1, n_labels, n_components)
    who = np.arange(len(table)) if deciding is None else np.asarray(deciding, dtype=int)
    order = np.argsort(-state.log_weights, kind="stable")
    classes: pd.Index = pd.RangeIndex(n_components)
    if n_components == n_labels:
        order = np.arange(n_labels) if known is not None else matched(state.expected.counts.reshape(table.shape)[who])
        classes = labels.classes
    deciding_table = np.zeros_like(table)
    deciding_table[who] = (state.log_table if evidence is None else evidence).reshape(table.shape)[who]
    estimator.weights_ = np.exp(state.log_weights[order])
    estimator._log_weights = state.log_weights[order]
    estimator._log_table = deciding_table[:, :, order].reshape(-1, n_components)
    estimator._set_result(labels, responsibilities[:, order], classes, as_confusion(table[:, :, order]), known=known)


def give_to_copies(estimator: LabelAggregator, labels: Labels, copies: Copies) -> None:
    """Give the members of each group what was fitted for the one who stands for them; see `copies.merged`."""
    if not len(copies):
        return
    stands = first_members(copies.group, labels)
    shape = (len(stands), labels.n_classes, len(estimator.classes_))
    estimator._log_table = estimator._log_table.reshape(shape)[stands].reshape(-1, shape[2])
    matrices = estimator.confusion_matrices_
    confusion = matrices.to_numpy().reshape(shape[0], shape[2], shape[1])[stands]
    estimator.confusion_matrices_ = pd.DataFrame(confusion.reshape(matrices.shape), matrices.index, matrices.columns)
    named = estimator.classes_ is not None and len(estimator.classes_) == labels.n_classes
    own = annotator_quality(labels, estimator.responsibilities_, confusion, labels.annotators, named=named)
    further = estimator.annotators_.columns.difference(own.columns, sort=False)
    own[further] = estimator.annotators_[further].to_numpy()[stands]
    estimator.annotators_ = own.astype(estimator.annotators_.dtypes.to_dict())


def keep_best(estimator: LabelAggregator, traces: Sequence[Trace[Mixture]]) -> Trace[Mixture]:
    """Return the restart with the highest bound, and set the attributes of the restarts."""
    best = max(traces, key=lambda trace: trace.lower_bound)
    keep_trace(estimator, best)
    estimator.restart_bounds_ = np.array([trace.lower_bound for trace in traces])
    return best
