"""MajorityVote: the class that most annotators gave.

All votes count equally. An item's responsibilities are the shares of its votes, which are not probabilities that the
item is of a class; the other models start from them.

Decided here
------------
Ties go to the first class in the order of the classes, and `n_ties_` counts them. An item without labels has equal
shares, and no class. Confusion matrices are the shares of an annotator's labels of the items of each class by vote,
with a hundredth of a label added to each entry, so that a class without labels of an annotator has a uniform row. The
class of a gold item is known, whatever the votes, and counts as its class by vote.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from consilience.annotations import Labels
from consilience.estimators.gold import with_known
from consilience.estimators.labels import LabelAggregator
from consilience.inference.product_distributions import vote_shares

SMOOTHING = 0.01


class MajorityVote(LabelAggregator):
    """The class that most annotators gave each item.

    Attributes
    ----------
    labels_ : ndarray of class names, shape (n_items,)
        Most frequent label of each item; ties go to the first in the order of `classes_`. Missing (NaN if
        classes are numbers, else None) for items without labels.
    labels_series_ : Series
        The same, indexed by item.
    responsibilities_ : ndarray, shape (n_items, n_classes)
        Share of the item's votes for each class; equal shares for items without labels. 1 for the class of a gold item.
    n_ties_ : int
        Number of items with labels for which several classes have the most votes.
    classes_ : ndarray of class names, shape (n_classes,)
    items_ : Index, shape (n_items,)
    annotators_ : DataFrame, one row for each annotator
        n_labels; agreement (mean share of the item's votes for the annotator's label, including this one); accuracy
        and information (bits) of the confusion matrix.
    confusion_matrices_ : DataFrame, shape (n_annotators * n_classes, n_classes)
        Share of each label of an annotator among the items of each class by vote, indexed by annotator and class.
    n_clusters_ : int
        Number of classes.

    Examples
    --------
    >>> from consilience.consensus import MajorityVote
    >>> vote = MajorityVote().fit([["cat", "cat", "dog"], ["dog", None, "dog"]])
    >>> vote.labels_.tolist()
    ['cat', 'dog']
    """

    def _aggregate(self, labels: Labels, known: Int[np.ndarray, " items"] | None, values: None) -> MajorityVote:
        shares = with_known(vote_shares(labels), known)
        n_classes = labels.n_classes
        cell = (labels.annotator * n_classes + labels.label) * n_classes
        winner = shares.argmax(1)
        counts = np.bincount(cell + winner[labels.item], minlength=labels.n_annotators * n_classes**2)
        seen = counts.reshape(-1, n_classes, n_classes).transpose(0, 2, 1) + SMOOTHING
        tied = (shares == shares.max(1, keepdims=True)).sum(1) > 1
        self.n_ties_ = int((tied & (np.diff(labels.indptr) > 0)).sum())
        self._set_result(labels, shares, labels.classes, seen / seen.sum(2, keepdims=True), known=known)
        return self

    def _probabilities(self, labels: Labels) -> Float[np.ndarray, "items classes"]:
        _, label = self._fitted_codes(labels)
        shares = np.zeros((len(labels), len(self.classes_)))
        np.add.at(shares, (labels.item, label), 1.0)
        shares[shares.sum(1) == 0] = 1.0
        return shares / shares.sum(1, keepdims=True)
