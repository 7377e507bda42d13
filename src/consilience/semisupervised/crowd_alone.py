"""What Dawid-Skene alone says of the items that have labels: where `dawid_skene_classifier` starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.special import logsumexp, softmax

from consilience.annotations import Labels
from consilience.consensus.labels.constant_annotators import without
from consilience.consensus.labels.copies import one_label_of_each
from consilience.consensus.labels.dawid_skene import imagined_sizes
from consilience.inference.label_counts import Counting
from consilience.inference.product_distributions import Weights, encode_labels
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
        learned, n_classes = consensus.prior is not None, labels.n_classes
        log_weights, table = consensus._log_weights, consensus._log_table
        counting: Counting = consensus.counting_of_sparse() if isinstance(table, SparseTable) else "all"
        items = LabelledItems(
            labels=single[np.flatnonzero(labelled)],
            onehot=encode_labels(heard[np.flatnonzero(labelled)], n_classes, weight=weight, counting=counting),
            known=known[labelled],
            sizes=imagined_sizes(single) if learned else 0.0,
            one_coin=consensus.confusion == "one-coin",
            learned=learned,
        )
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
