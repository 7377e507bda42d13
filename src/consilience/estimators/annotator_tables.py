"""Tables of what is known of each annotator: quality, matrices of confusion, cells with labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.special import entr

from consilience.annotations import Labels
from consilience.annotations.types import Name
from consilience.inference.sparse_tables import Confusion, SparseTable, accuracy_of

FEWEST = 1e-3  # labels expected in a cell that is listed


class TableWhenAsked:
    """A table of annotators and classes that is made of a sparse one when it is asked for.

    Of small tables the estimator has the table itself.
    """

    def __init__(self, source: str):
        self.source = source

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, estimator: Any, owner: type | None = None) -> Any:
        if estimator is None:
            return self
        table = vars(estimator).get(self.source)
        if table is None:
            raise AttributeError(f"{type(estimator).__name__!r} object has no attribute {self.name!r}")
        classes = pd.Index(estimator.classes_, tupleize_cols=False)
        values = table.to_dense().transpose(0, 2, 1)
        return tabulate_matrices(values, estimator.annotators_.index, classes, estimator._label_names)


def cells_with_labels(model: Any) -> pd.DataFrame | None:
    """List the cells of confusion matrices that have labels, where tables are mostly empty; else None.

    Returns DataFrame or None: annotator, class, label; n_labels, the expected number of labels, at least `FEWEST`,
    unless the model only has probabilities; and the probability of the label.
    """
    matrices, counts = (vars(model).get(name) for name in ("_sparse_matrices", "_sparse_counts"))
    if matrices is None:
        return None
    cells = (matrices if counts is None else counts).rest.tocoo()
    told = slice(None) if counts is None else cells.data >= FEWEST
    row, component = cells.row[told].astype(np.int64), cells.col[told]
    order = np.lexsort([row % matrices.shape[1], component, row // matrices.shape[1]])
    row, component = row[order], component[order]
    annotator, label = np.divmod(row, matrices.shape[1])
    found = {
        "annotator": model.annotators_.index[annotator],
        "class": model.classes_[component],
        "label": model._label_names[label],
    }
    if counts is not None:
        found["n_labels"] = cells.data[told][order]
    return pd.DataFrame(
        found | {"probability": matrices.base[annotator, component] + matrices.exceptions_at(row, component)}
    )


def confusion_of(model: Any, annotator: Name) -> Float[np.ndarray, "classes labels"]:
    """Return the confusion matrix of an annotator."""
    place = model._place_of_annotator(annotator)
    if (sparse := vars(model).get("_sparse_matrices")) is not None:
        return np.asarray(sparse.take(np.array([place])).to_dense()[0].T)
    return np.asarray(model.confusion_matrices_.xs(annotator, level="annotator").to_numpy())


def annotator_quality(
    labels: Labels,
    responsibilities: Float[np.ndarray, "items classes"],
    confusion: Confusion,
    annotators: pd.Index,
    *,
    named: bool,
) -> pd.DataFrame:
    """Tabulate the number of labels of each annotator, their correctness, and their information about the class.

    responsibilities : probability of each class of each item
    confusion : probability of each label of an annotator, given the class
    annotators : names; those of the labels come first
    named : whether the classes are those of the labels, in their order, rather than components without names

    Returns DataFrame, one row for each annotator: ``n_labels``; ``agreement``: the expected share of these labels that
    are the item's class, NaN without labels; ``accuracy``: the probability that a label of an item of the crowd's
    mixture of classes is right; and ``information``: mutual information of label and class, bits. Agreement and
    accuracy are NaN if classes have no names.
    """
    n_labels, right = np.bincount(labels.annotator, minlength=len(annotators)), None
    if named:
        right = np.bincount(labels.annotator, responsibilities[labels.item, labels.label], len(annotators))
    return tabulate_quality(n_labels, right, responsibilities.mean(0), confusion, annotators)


def tabulate_quality(
    n_labels: Int[np.ndarray, " annotators"],
    right: Float[np.ndarray, " annotators"] | None,
    share: Float[np.ndarray, " classes"],
    confusion: Confusion,
    annotators: pd.Index,
) -> pd.DataFrame:
    """Tabulate annotators from sums over items; see `annotator_quality`.

    n_labels : number of labels of each annotator
    right : expected number of those that are the item's class; None if classes have no names
    share : mean probability of each class
    """
    agreement = accuracy = np.full(len(n_labels), np.nan)
    if right is not None:
        agreement = np.divide(right, n_labels, out=np.full(len(n_labels), np.nan), where=n_labels > 0)
        accuracy = accuracy_of(confusion, share)
    return pd.DataFrame(
        {
            "n_labels": n_labels,
            "agreement": agreement,
            "accuracy": accuracy,
            "information": information(share, confusion),
        },
        index=annotators.rename("annotator"),
    )


def tabulate_matrices(
    values: Float[np.ndarray, "annotators classes labels"], annotators: pd.Index, classes: pd.Index, labels: pd.Index
) -> pd.DataFrame:
    """Return a row for each annotator and class, and a column for each label."""
    # built from its parts, since from_product sorts names, and not all names can be sorted
    levels: Any = [annotators, classes]
    rows: Any = np.indices(values.shape[:2]).reshape(2, -1)
    index = pd.MultiIndex(levels, rows, names=["annotator", "class"])
    return pd.DataFrame(values.reshape(-1, values.shape[2]), index, labels.rename("label"))


def information(share: Float[np.ndarray, " classes"], confusion: Confusion) -> Float[np.ndarray, " annotators"]:
    """Mutual information of an annotator's label and an item's class, bits."""
    if isinstance(confusion, SparseTable):
        marginal, given = confusion.mean_of_components(share), confusion.entropy()
    else:
        marginal, given = np.einsum("k,akl->al", share, confusion), entr(confusion).sum(2)
    bits = (entr(marginal).sum(1) - given @ share) / np.log(2)
    return np.maximum(bits, 0.0)  # below 0 by rounding alone
