"""MajorityVote: the class that most annotators gave.

All votes count equally. An item's responsibilities are the shares of its votes, which are not probabilities that the
item is of a class; the other models start from them.

Decided here
------------
A tie is shared: a label of an item of which two classes have most votes counts half for each, so that no annotator
gains or loses by the order of the classes. `labels_` names the first of the tied classes in their order; `undecided_`
tells these items, and `n_ties_` counts them. An item without labels has equal shares, and no class. Confusion matrices
are the shares of an annotator's labels of the items of each class by vote, with a hundredth of a label added to each
entry, so that a class without labels of an annotator has a uniform row. The
votes of copies of one annotator share one vote: see `copies`. The class of a gold item is known, whatever the votes,
and counts as its class by vote.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_array

from consilience.annotations import Labels
from consilience.annotations.types import NameGroups
from consilience.consensus.labels.copies_result import compare_with_apart, copies_of
from consilience.estimators import learned
from consilience.estimators.copies import COPIES
from consilience.estimators.gold import with_known
from consilience.estimators.labels import LabelAggregator
from consilience.estimators.learned import Attributes
from consilience.estimators.parameters import Requirements
from consilience.inference.clusters import highest
from consilience.inference.product_distributions import vote_shares
from consilience.inference.sparse_tables import Confusion, SparseTable, are_mostly_empty

SMOOTHING = 0.01  # labels added to each entry, so that no probability is 0


class MajorityVote(LabelAggregator):
    """The class that most annotators gave each item.

    All annotators have equal weight. The baseline of the models of labels.

    Parameters
    ----------
    copies : "auto", None or list of lists of annotators, default="auto"
        Annotators who are copies of each other, such as one person who answered twice or one language model asked with
        several prompts, and weigh together as one annotator. "auto": groups who agree with each other more than
        independent people would, with a warning that names them. None: every annotator weighs alone. A list: these
        groups.

    Attributes
    ----------
    labels_ : ndarray of class names, shape (n_items,)
        Most frequent label of each item; ties go to the first in the order of `classes_`. Missing (NaN if
        classes are numbers, else None) for items without labels.
    labels_series_ : Series
        The same, indexed by item.
    responsibilities_ : ndarray, shape (n_items, n_classes)
        Share of the item's votes for each class; equal shares for items without labels. 1 for the class of a gold item.
    undecided_ : ndarray of bool, shape (n_items,)
        Items with labels for which several classes have the most votes.
    n_ties_ : int
        Number of these items.
    classes_ : ndarray of class names, shape (n_classes,)
    items_ : Index, shape (n_items,)
    annotators_ : DataFrame, one row for each annotator
        n_labels; agreement (mean share of the item's votes for the annotator's label, including this one); accuracy
        and information (bits) of the confusion matrix.
    confusion_matrices_ : DataFrame, shape (n_annotators * n_classes, n_classes)
        Share of each label of an annotator among the items of each class by vote, indexed by annotator and class. An
        item with tied votes is shared among these classes.
    copies_, labels_apart_ : as in `DawidSkene`
    n_clusters_ : int
        Number of classes.

    See Also
    --------
    DawidSkene : Weights annotators by their quality.

    Examples
    --------
    >>> from consilience.consensus import MajorityVote
    >>> vote = MajorityVote().fit([["cat", "cat", "dog"], ["dog", None, "dog"]])
    >>> vote.labels_.tolist()
    ['cat', 'dog']
    """

    _learned: ClassVar[Attributes] = {"n_ties_": learned.whole()}

    _requirements: ClassVar[Requirements] = {"copies": COPIES}

    def __init__(self, copies: NameGroups = "auto"):
        self.copies = copies

    def _aggregate(self, labels: Labels, known: Int[np.ndarray, " items"] | None, values: None) -> MajorityVote:
        copies = copies_of(self, labels, known=known)
        shares = with_known(vote_shares(labels, self._weights_of(labels.item, labels.annotator, labels.label)), known)
        n_classes, wins = labels.n_classes, highest(shares)
        said = csr_array(
            (np.ones(labels.n_rows), (labels.annotator * n_classes + labels.label, labels.item)),
            shape=(labels.n_annotators * n_classes, len(labels)),
        )
        if are_mostly_empty(labels.n_annotators * n_classes**2, labels.n_rows):
            confusion: Confusion = _sparse_confusion(said, wins)
        else:
            counts = said @ (wins / wins.sum(1, keepdims=True))
            seen = counts.reshape(-1, n_classes, n_classes).transpose(0, 2, 1) + SMOOTHING
            confusion = seen / seen.sum(2, keepdims=True)
        self._set_result(labels, shares, labels.classes, confusion, known=known)
        self.n_ties_ = int(self.undecided_.sum())
        compare_with_apart(self, copies, lambda apart: apart._aggregate(labels, known, None), labels)
        return self

    def _can_be_sparse(self) -> bool:
        return True

    def _probabilities(self, labels: Labels) -> Float[np.ndarray, "items classes"]:
        annotator, label = self._fitted_codes(labels)
        weight = self._weights_of(labels.item, annotator, label)
        shares = np.zeros((len(labels), len(self.classes_)))
        np.add.at(shares, (labels.item, label), 1.0 if weight is None else weight)
        shares = shares.round(9)  # three thirds are one vote
        shares[shares.sum(1) == 0] = 1.0
        return shares / shares.sum(1, keepdims=True)


def _sparse_confusion(said: csr_array, wins: Bool[np.ndarray, "items classes"]) -> SparseTable:
    """Return the confusion matrices; `said` has the items of each annotator and label."""
    n_classes = wins.shape[1]
    won = csr_array(wins, dtype=float)
    won.data /= np.repeat(wins.sum(1), np.diff(won.indptr))
    counts = (said @ won).tocsr()
    cell = np.repeat(np.arange(counts.shape[0]) // n_classes, np.diff(counts.indptr)) * n_classes + counts.indices
    total = np.bincount(cell, counts.data, counts.shape[0]) + SMOOTHING * n_classes
    rest = csr_array((counts.data / total[cell], counts.indices, counts.indptr), shape=counts.shape)
    return SparseTable(SMOOTHING / total.reshape(-1, n_classes), rest)
