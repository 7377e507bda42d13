"""From a mixture of products to the attributes of an estimator: `ProductMixture`, `SpectralEM` and `StagewiseEM`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from consilience.annotations import Labels
from consilience.consensus.labels.copies import first_members
from consilience.consensus.labels.product_mixture import ProductMixtureState, match_labels
from consilience.estimators import learned
from consilience.estimators.annotator_tables import annotator_quality
from consilience.estimators.labels import LabelAggregator
from consilience.estimators.learned import Attributes
from consilience.estimators.traces import keep_trace
from consilience.inference.copies import Copies
from consilience.inference.iterate import Trace
from consilience.inference.product_distributions import OneHotLabels, Responsibilities, posterior

OF_TABLE: Attributes = {
    "_log_weights": learned.array(float, "clusters", high=learned.ROUNDING, inf=True),
    "_log_table": learned.array(float, "annotators × labels", "clusters", high=learned.ROUNDING, inf=True),
}
OF_MIXTURE: Attributes = {
    **OF_TABLE,
    "weights_": learned.array(float, "clusters", low=0, high=1),
    "restart_bounds_": learned.array(float, None),
    "log_likelihood_": learned.number(),
    **learned.BOUNDED,
}
"""What a mixture learns besides what all models of labels do."""


def as_confusion(log_table: Float[np.ndarray, "annotators labels components"]) -> np.ndarray:
    """Probability of each label in each component, (annotators, components, labels)."""
    table = np.exp(log_table).transpose(0, 2, 1)
    return table / table.sum(2, keepdims=True)


@dataclass(frozen=True)
class NamedMixture:
    """A mixture whose components have names and an order.

    order : of the components in the mixture.
    classes : names of the classes, if there are as many, or 0, 1, …
    log_table : evidence of each label for each component, 0 for annotators who do not decide.
    confusion : see `as_confusion`.
    """

    order: Int[np.ndarray, " components"]
    classes: pd.Index
    log_weights: Float[np.ndarray, " components"]
    log_table: Float[np.ndarray, "columns components"]
    confusion: Float[np.ndarray, "annotators components labels"]

    @classmethod
    def of(
        cls,
        state: ProductMixtureState,
        label_names: pd.Index,
        deciding: Sequence[int] | None = None,
        evidence: Float[np.ndarray, "columns components"] | None = None,
        *,
        has_gold: bool = False,
    ) -> NamedMixture:
        """Name components after classes if there are as many, else by decreasing size; see `read_off`."""
        n_labels, n_components = len(label_names), len(state.log_weights)
        table = state.log_table.reshape(-1, n_labels, n_components)
        who = np.arange(len(table)) if deciding is None else np.asarray(deciding, dtype=int)
        order = np.argsort(-state.log_weights, kind="stable")
        classes: pd.Index = pd.RangeIndex(n_components)
        if n_components == n_labels:
            order = np.arange(n_labels) if has_gold else match_labels(state.expected.counts.reshape(table.shape)[who])
            classes = label_names
        deciding_table = np.zeros_like(table)
        deciding_table[who] = (state.log_table if evidence is None else evidence).reshape(table.shape)[who]
        log_table = deciding_table[:, :, order].reshape(-1, n_components)
        return cls(order, classes, state.log_weights[order], log_table, as_confusion(table[:, :, order]))

    def with_copies(self, stands: Int[np.ndarray, " annotators"]) -> NamedMixture:
        """Give the members of each group what was fitted for the one who stands for them; see `copies.merge_groups`."""
        table = self.log_table.reshape(len(stands), -1, self.log_table.shape[1])[stands]
        return replace(self, log_table=table.reshape(self.log_table.shape), confusion=self.confusion[stands])

    def keep(self, estimator: LabelAggregator) -> None:
        """Set the weights, and what gives the probabilities of items."""
        estimator.weights_ = np.exp(self.log_weights)
        estimator._log_weights, estimator._log_table = self.log_weights, self.log_table


def read_off(
    estimator: LabelAggregator,
    labels: Labels,
    state: ProductMixtureState,
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
    found = NamedMixture.of(state, labels.classes, deciding, evidence, has_gold=known is not None)
    found.keep(estimator)
    estimator._set_result(labels, responsibilities[:, found.order], found.classes, found.confusion, known=known)


def keep_fit(
    estimator: LabelAggregator,
    traces: Sequence[Trace[ProductMixtureState]],
    onehot: OneHotLabels,
    labels: Labels,
    heard: Labels,
    copies: Copies[Any],
    known: Int[np.ndarray, " items"] | None,
) -> None:
    """Set the attributes from the best restart.

    traces : of the restarts.
    onehot, heard : the labels that were fitted, one of each group of copies for each item.
    labels : of all annotators.
    known : class of each gold item, -1 for the others.
    """
    best = keep_best(estimator, traces).state
    read_off(estimator, heard, best, posterior(onehot, best.log_weights, best.log_table), known=known)
    give_to_copies(estimator, labels, copies)


def give_to_copies(estimator: LabelAggregator, labels: Labels, copies: Copies[Any]) -> None:
    """Give the members of each group what was fitted for the one who stands for them; see `copies.merge_groups`."""
    if not len(copies):
        return
    stands = first_members(copies.group, np.bincount(labels.annotator, minlength=labels.n_annotators))
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


def keep_best(estimator: LabelAggregator, traces: Sequence[Trace[ProductMixtureState]]) -> Trace[ProductMixtureState]:
    """Return the restart with the highest bound, and set the attributes of the restarts."""
    best = max(traces, key=lambda trace: trace.lower_bound)
    keep_trace(estimator, best)
    estimator.restart_bounds_ = np.array([trace.lower_bound for trace in traces])
    estimator.log_likelihood_ = best.state.expected.log_likelihood
    return best
