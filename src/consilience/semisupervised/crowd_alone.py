"""What Dawid-Skene alone says of the items that have labels: where `dawid_skene_classifier` starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_array
from scipy.special import logsumexp, softmax

from consilience.annotations import Labels
from consilience.consensus.labels.constant_annotators import without
from consilience.consensus.labels.copies import one_label_of_each
from consilience.consensus.labels.dawid_skene import imagined_sizes
from consilience.inference.product_distributions import Weights
from consilience.inference.sparse_tables import SparseTable
from consilience.semisupervised.dawid_skene_classifier import LabelledItems, add_up_subtypes
from consilience.semisupervised.item_prior import Probabilities


@dataclass(frozen=True)
class CrowdAlone:
    """A fitted `DawidSkene`, and its labels as the model with features reads them.

    labels : of all items, without annotators who are not heard.
    weight : of each label; None if all are 1.
    labelled : items with labels, by whomever, or a known class.
    items : these items.
    scores : (labelled, classes) S.
    log_weights : (classes,) E ln π.
    temperature : T.
    lower_bound : of these items, nats; -inf under the cautious prior, as its bounds are not those of the ordinary one.
    """

    labels: Labels
    weight: Float[np.ndarray, " labels"] | None
    labelled: Bool[np.ndarray, " items"]
    items: LabelledItems
    scores: Float[np.ndarray, "labelled classes"]
    log_weights: Weights
    temperature: float
    lower_bound: float

    @classmethod
    def of(cls, consensus: Any, labels: Labels, known: Int[np.ndarray, " items"]) -> CrowdAlone:
        """Read off a `DawidSkene` that was fitted to the labels, in their order."""
        labelled = (np.diff(labels.indptr) > 0) | (known >= 0)
        heard = without(labels, consensus.are_silent(labels))
        weight = consensus._weights_of(heard.item, heard.annotator, heard.label)
        single = one_label_of_each(heard, consensus._copy_group)
        learned = consensus.prior is not None
        items = LabelledItems(
            labels=single[np.flatnonzero(labelled)],
            onehot=encode_sparse(heard, weight)[np.flatnonzero(labelled)],
            known=known[labelled],
            sizes=imagined_sizes(single) if learned else 0.0,
            one_coin=consensus.confusion == "one-coin",
            learned=learned,
        )
        log_weights, n_classes = consensus._log_weights, labels.n_classes
        table = consensus._log_table
        if isinstance(table, SparseTable):
            table = table.to_dense().reshape(-1, len(log_weights))
        scores, of_classes = add_up_subtypes(items.scores_alone(table), log_weights, n_classes)
        silent = int((~labelled).sum()) * float(logsumexp(log_weights))  # their part of the bound
        return cls(
            labels=heard,
            weight=weight,
            labelled=labelled,
            items=items,
            scores=scores,
            log_weights=of_classes,
            temperature=1.0 if items.is_single else float(consensus.temperature_),
            lower_bound=-np.inf if consensus.is_cautious_ else float(consensus.lower_bound_) - silent,
        )

    def responsibilities(self) -> Probabilities:
        """q(z) of the labelled items."""
        return np.asarray(softmax(self.scores + self.log_weights, axis=1))


def encode_sparse(labels: Labels, weight: Float[np.ndarray, " labels"] | None) -> csr_array:
    """Labels as a sparse matrix of items and of the labels of each annotator."""
    values = np.ones(labels.n_rows) if weight is None else weight
    column = labels.annotator * labels.n_classes + labels.label
    return csr_array((values, column, labels.indptr), shape=(len(labels), labels.n_annotators * labels.n_classes))
