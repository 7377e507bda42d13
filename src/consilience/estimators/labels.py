"""Base class of estimators that need only labels, and the quality of annotators."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from consilience.annotations import Groupings, Labels
from consilience.annotations.canonical import arrange
from consilience.annotations.fit_arguments import first_named, of_groupings, require_no_second, warn_of_unannotated
from consilience.annotations.names import MISSING, outside, plain
from consilience.annotations.types import AnnotationsLike, Gold, Missing, Name, Self
from consilience.errors import AnnotationWarning, InputError
from consilience.estimators import learned
from consilience.estimators.annotator_tables import TableWhenAsked, annotator_quality, confusion_of, tabulate_matrices
from consilience.estimators.base import CrowdEstimator
from consilience.estimators.consensus import read_alone
from consilience.estimators.gold import classes_of_gold, gold_codes
from consilience.estimators.learned import Attributes
from consilience.estimators.user_order import Axes
from consilience.inference.clusters import are_tied, most_probable
from consilience.inference.product_distributions import (
    AnyTable,
    OneHotLabels,
    Weights,
    one_of_each,
    posterior,
    shared_weights,
)
from consilience.inference.sparse_tables import Confusion, SparseTable, are_mostly_empty
from consilience.inference.threads import one_blas_thread

MAX_TABLE_ENTRIES = 1 << 28  # annotators × classes × classes: two gigabytes


class LabelAggregator(CrowdEstimator):
    """Base class of estimators of a class for each item from labels: ``fit(labels)``, with results as class names.

    A subclass implements `_aggregate`, which reads `Labels` in canonical order and ends with `_set_result`. If its
    parameters have values for each item, `_values_of_items` returns them.
    """

    _name_of_labels = "label"
    _merges_copies: ClassVar[bool] = False
    """Whether one label of each group of copies is read, rather than all with a weight."""
    reads_tags: ClassVar[bool] = False
    """Whether labels are tags, of which an item may have several, and a cell of a frame may hold several, or none."""
    reads_ratings: ClassVar[bool] = False
    """Whether labels are levels with an order, which may be numbers with decimals."""
    _reads_alone = True
    confusion_matrices_: Any = TableWhenAsked("_sparse_matrices")
    _axes: ClassVar[Axes] = CrowdEstimator._axes | {
        "confusion_matrices_": ("annotators",),
        "_sparse_matrices": ("annotators",),
        "_log_table": ("annotators",),
        "_copy_group": ("annotators",),
        "labels_apart_": ("items",),
        "_gold": ("items",),
    }

    _learned: ClassVar[Attributes] = {
        **learned.NO_FEATURES,
        "items_": learned.names("items"),
        "n_clusters_": learned.size("clusters"),
        "classes_": learned.names("clusters", array=True),
        "responsibilities_": learned.array(float, "items", "clusters", low=0, high=1, shares=True),
        "labels_": learned.array(None, "items"),
        "_label_names": learned.names("labels"),
        **learned.annotators(n_labels="c", agreement="p", accuracy="p", information="f"),
        "confusion_matrices_": learned.optional(
            learned.table("annotators × clusters", "labels", keys=("annotator", "class"), dtype="p")
        ),
        "_sparse_matrices": learned.optional(learned.sparse_table("annotators", "labels", "clusters", low=0, high=1)),
        **learned.copies(agreement="p"),
        "labels_apart_": learned.array(None, "items"),
        "_copy_group": learned.array(int, "annotators", low=-1),
        "_gold": learned.optional(learned.codes("items", "clusters", missing=True)),
    }

    def fit(
        self, annotations: AnnotationsLike, y: Any = None, *, missing: Missing | None = None, gold: Gold | None = None
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        annotations : Labels, DataFrame or array of shape (n_items, n_annotators)
            Labels; a long table of item, annotator, label, or other words for these, as in `Labels.from_frame`; or a
            label matrix, in which NaN and None mean that the annotator did not label the item.
        y : not used
            Refused, unless it is one value for each item, which scikit-learn passes to every estimator.
        missing : optional
            Value or list of values that means missing, in addition to blank cells. By default -1
            if it is the only negative integer; ``missing=[]`` treats it as a name. For tables and arrays only.
        gold : Series or dict, optional
            Known classes by item; items that are not among the annotations are an error.

        Returns
        -------
        fitted estimator

        Raises
        ------
        InputError
            Annotations without labels, features given with them, gold that does not match them, or an invalid
            parameter.

        Warns
        -----
        AnnotationWarning
            Something was left out, treated as missing, or not used.
        """
        require_no_second(y, type(self).__name__)
        self._check_parameters()
        labels = self._labels(annotations, reset=True, missing=missing, gold=gold)
        known, values = self._codes_of_gold(gold, labels), self._values_of_items(labels)
        columns = [each for each in (known, values) if each is not None]
        arranged = arrange(labels, np.column_stack(columns) if columns else None)
        known, values = (None if each is None else each[arranged.items] for each in (known, values))
        del labels  # those in order are as large
        with one_blas_thread(), self._progress():
            self._aggregate(arranged.ordered, known, values)
        self._restore(arranged)
        return self

    @property
    def undecided_(self) -> Bool[np.ndarray, " items"]:
        """Items of which several classes are most probable, to a millionth: `labels_` has the first in `classes_`.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            The model is not fitted.
        """
        check_is_fitted(self)
        return np.asarray(are_tied(self.responsibilities_) & ~pd.isna(self.labels_))

    @abstractmethod
    def _aggregate(self, labels: Labels, known: Int[np.ndarray, " items"] | None, values: Any) -> Any:
        """Fit to labels of at least one item by at least one annotator.

        known : code of each item's known class, -1 where it is unknown; None without gold items.
        values : one row for each item, from `_values_of_items`.
        """

    def _codes_of_gold(self, gold: Gold | None, labels: Labels) -> np.ndarray | None:
        """What is known of each item, one row for each; None without gold items."""
        return gold_codes(gold, labels)

    def _values_of_items(self, labels: Labels) -> np.ndarray | None:
        """Values of parameters for each item, one row for each item; by default there are none."""
        return None

    def predict(self, annotations: AnnotationsLike, *, missing: Missing | None = None) -> np.ndarray:
        """Most probable class of fitted or new items, by their labels alone.

        Parameters
        ----------
        annotations : Labels, DataFrame or array, as for `fit`
            With labels among `classes_`. An annotator who was not fitted is taken to be like the crowd.
        missing : as for `fit`

        Returns
        -------
        ndarray of class names, shape (n_items,)
            In the order of the items; the first of equally probable ones. An item without labels has none, as
            in ``labels_``.

        Raises
        ------
        InputError
            A label was not fitted.

        Warns
        -----
        AnnotationWarning
            Items have no labels, or annotators were not fitted.
        """
        check_is_fitted(self)
        return self.tell_classes(self._labels(annotations, reset=False, missing=missing))[0]

    def tell_classes(self, labels: Labels) -> tuple[np.ndarray, Float[np.ndarray, "items classes"]]:
        """Return the most probable class of each item, missing without labels, and the probability of each class."""
        probabilities = self._probabilities(labels)
        return self._named(labels, probabilities, _drop_unlabelled(labels)), probabilities

    def predict_proba(
        self, annotations: AnnotationsLike, *, missing: Missing | None = None
    ) -> Float[np.ndarray, "items classes"]:
        """Probability of each class of fitted or new items, by their labels alone.

        Parameters
        ----------
        annotations : Labels, DataFrame or array, as for `fit`
            With labels among `classes_`. An annotator who was not fitted is taken to be like the crowd.
        missing : as for `fit`

        Returns
        -------
        ndarray, shape (n_items, n_classes)
            Rows in the order of the items, columns in that of `classes_`. An item without labels has the
            probabilities of any item.

        Raises
        ------
        InputError
            A label was not fitted.

        Warns
        -----
        AnnotationWarning
            Annotators were not fitted.
        """
        check_is_fitted(self)
        return self._probabilities(self._labels(annotations, reset=False, missing=missing))

    def _probabilities(self, labels: Labels) -> Float[np.ndarray, "items classes"]:
        onehot, table = self._evidence(labels)
        return posterior(onehot, self._log_weights, table)

    def _evidence(self, labels: Labels) -> tuple[OneHotLabels, AnyTable]:
        """Encode labels, and the evidence of each for each class."""
        return self._encode(labels, self._log_table, weigh=True)

    def _encode(self, labels: Labels, table: AnyTable, *, weigh: bool) -> tuple[OneHotLabels, Any]:
        """Encode labels, with weights or without, and give a table of logarithms a last block, that of a newcomer."""
        annotator, label = self._fitted_codes(labels)
        n_labels, n_components = len(self._label_names), table.shape[-1]
        newcomer = log_of_table(self._columns_of_newcomer(n_components))
        if isinstance(table, SparseTable):
            table = table.followed_by(SparseTable.of_one(newcomer))
        else:
            table = np.vstack([table, newcomer])
        weight = self._weights_of(labels.item, annotator, label) if weigh else None
        column, shape = annotator * n_labels + label, (len(labels), (len(self.annotators_) + 1) * n_labels)
        return OneHotLabels.of(labels.item, column, shape, n_components, weight=weight), table

    def are_silent(self, labels: Labels) -> Bool[np.ndarray, " annotators"]:
        """Whether the labels of each annotator have no influence on the items' classes; those of newcomers have."""
        if isinstance(self._log_table, SparseTable):
            silent = ~self._log_table.base.any(1)
        else:
            silent = ~self._log_table.reshape(len(self.annotators_), -1).any(1)
        return np.append(silent, False)[self.annotators_.index.get_indexer(labels.annotators)]

    def _weights_of(
        self, item: Int[np.ndarray, " labels"], annotator: Int[np.ndarray, " labels"], label: Int[np.ndarray, " labels"]
    ) -> Float[np.ndarray, " labels"] | None:
        """Weight of each label, where some annotators weigh together; the last code is that of newcomers."""
        group = np.append(self._copy_group, MISSING)[annotator]
        if self._merges_copies:
            return one_of_each(item, group, label).astype(float) if (group >= 0).any() else None
        return shared_weights(item, group)

    def _columns_of_newcomer(self, n_components: int) -> Float[np.ndarray, "labels components"]:
        """Probability of each label of a newcomer given the class, or subtype of a class."""
        return np.repeat(self._of_newcomer().T, n_components // self.n_clusters_, axis=1)

    def _of_newcomer(self) -> Float[np.ndarray, "classes labels"]:
        """Confusion matrix of an annotator who was not fitted: the mean of the crowd, weighted by labels."""
        if (sparse := vars(self).get("_sparse_matrices")) is not None:
            return np.asarray(sparse.mean_of_annotators(self.annotators_["n_labels"].to_numpy(float)).T)
        matrices = self.confusion_matrices_.to_numpy().reshape(len(self.annotators_), self.n_clusters_, -1)
        return np.average(matrices, axis=0, weights=self.annotators_["n_labels"])

    def score(self, annotations: AnnotationsLike, y: Any = None, *, missing: Missing | None = None) -> float:
        """Mean log probability of labels of other items.

        The labels of an item are predicted jointly: ln Σ_k π_k Π_a p(label by a | class k), with the classes' shares π
        and the confusion matrices of the model, or those of subtypes of classes. Higher is better, also across numbers
        of clusters.

        Parameters
        ----------
        annotations : Labels, DataFrame or array, as for `fit`
            With labels among those fitted. An annotator who was not fitted is taken to be like the crowd.
        y : ignored
        missing : optional
            Value or list of values that means missing, in addition to blank cells; for tables and arrays.
            By default -1 if it is the only negative integer.

        Returns
        -------
        float
            Nats per label, at most 0.

        Raises
        ------
        InputError
            A label was not fitted.

        Warns
        -----
        AnnotationWarning
            Annotators were not fitted.
        """
        check_is_fitted(self)
        labels = self._labels(annotations, reset=False, missing=missing)
        shares, columns = self._mixture()
        onehot, logs = self._encode(labels, log_of_table(columns), weigh=False)
        return onehot.log_likelihood(np.log(shares), logs) / labels.n_rows

    def _mixture(self) -> tuple[Weights, AnyTable]:
        """Share of each class, and probability of each label of each annotator given the class."""
        size = self.responsibilities_.sum(0) + 1  # one imagined item of each class
        if (sparse := vars(self).get("_sparse_matrices")) is not None:
            return size / size.sum(), sparse
        table = self.confusion_matrices_.to_numpy().reshape(-1, self.n_clusters_, len(self._label_names))
        return size / size.sum(), table.transpose(0, 2, 1).reshape(-1, self.n_clusters_)

    def _same(
        self, a: Int[np.ndarray, " pairs"], b: Int[np.ndarray, " pairs"], annotator: Name | None
    ) -> Float[np.ndarray, " pairs"]:
        """Of an annotator: that both items get the same label."""
        if annotator is None:
            return super()._same(a, b, None)
        matrix, q = confusion_of(self, annotator), posterior_of(self)
        return ((q[a] @ matrix) * (q[b] @ matrix)).sum(1)

    def _labels(self, annotations: Any, *, reset: bool, missing: Any = None, gold: Any = None) -> Labels:
        model = type(self).__name__
        if annotations is None:
            raise InputError(f"{model} needs annotations: Labels, a long table of labels or a label matrix. Got None.")
        if issparse(annotations):
            raise InputError(f"{model} reads label matrices that are not sparse. Got a sparse one; give Labels.")
        known = classes_of_gold(gold) if reset else self._label_names
        of_labels = {"gold_classes": known, "tags": self.reads_tags, "ratings": self.reads_ratings}
        labels = read_alone(self, annotations, "labels", reset=reset, missing=missing, **of_labels)
        if not isinstance(labels, Labels):
            kind = type(labels).__name__
            others = f" {of_groupings()}" if isinstance(labels, Groupings) else ""
            raise InputError(
                f"{model} reads Labels, whose names mean the same to all annotators. Got {kind} instead.{others}"
            )
        if not labels.n_rows:
            raise InputError(f"{model} needs labels, and none of the {len(labels)} items has any.")
        n_cells = labels.n_annotators * labels.n_classes**2
        if reset and not (self._can_be_sparse() and are_mostly_empty(n_cells, labels.n_rows)):
            self._require_few_cells(labels)
        return labels

    def _require_few_cells(self, labels: Labels) -> None:
        """Raise an error if a table of annotators, classes and labels is too large."""
        if labels.n_annotators * labels.n_classes**2 > MAX_TABLE_ENTRIES:
            raise InputError(
                f"{type(self).__name__} keeps a probability for each annotator, class and label: "
                f"{labels.n_annotators} × {labels.n_classes} × {labels.n_classes}, more than {MAX_TABLE_ENTRIES}. "
                "Are the labels names of classes?"
            )

    def _can_be_sparse(self) -> bool:
        """Whether tables of annotators, classes and labels that are mostly empty are not made."""
        return False

    def _fitted_codes(self, labels: Labels) -> tuple[np.ndarray, np.ndarray]:
        """Codes of annotator and label in the fitted model; a newcomer's is the number of annotators."""
        label = self._label_names.get_indexer(labels.classes)[labels.label]
        if (label == MISSING).any():
            row = int(np.argmax(label == MISSING))
            name, item = plain(labels.classes[labels.label[row]]), plain(labels.items[labels.item[row]])
            raise InputError(f"The label {name!r} of item {item!r} was not fitted.")
        place = self.annotators_.index.get_indexer(labels.annotators)
        new = np.intersect1d(np.flatnonzero(place == MISSING), labels.annotator)
        if len(new):
            who = (
                f"{len(new)} annotators were not fitted and are"
                if len(new) > 1
                else "1 annotator was not fitted and is"
            )
            message = f"{type(self).__name__}: {who} taken to be like the crowd: {first_named(labels.annotators[new])}."
            warnings.warn(message, AnnotationWarning, stacklevel=outside())
        return np.where(place == MISSING, len(self.annotators_), place)[labels.annotator], label

    def _set_result(
        self,
        labels: Labels,
        responsibilities: Float[np.ndarray, "items classes"],
        classes: pd.Index,
        confusion: Confusion,
        *,
        annotators: pd.Index | None = None,
        known: Int[np.ndarray, " items"] | None = None,
        told: Float[np.ndarray, "items classes"] | None = None,
    ) -> None:
        """Set fitted attributes; `annotators` are those of the labels and any further ones, `known` classes or -1.

        told : probabilities to be told of the items, if they are not the responsibilities
        """
        annotators = labels.annotators if annotators is None else annotators
        named = classes.equals(labels.classes)
        quality = annotator_quality(labels, responsibilities, confusion, annotators, named=named)
        self.keep_annotators(classes, labels.classes, confusion, quality)
        self.items_ = labels.items
        self.responsibilities_ = np.minimum(responsibilities if told is None else told, 1)  # but for rounding
        self._gold = np.full(len(labels), MISSING) if known is None else known
        self.labels_ = self._named(labels, self.responsibilities_, _drop_unlabelled(labels) | (self._gold >= 0))

    def keep_annotators(
        self, classes: pd.Index, label_names: pd.Index, confusion: Confusion, quality: pd.DataFrame
    ) -> None:
        """Set what is told of classes and annotators, none of which has an axis of items.

        quality : see `tabulate_quality`.
        """
        self.classes_, self.n_clusters_ = classes.to_numpy(), len(classes)
        self._label_names = label_names
        for name in ("confusion_matrices_", "_sparse_matrices"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if isinstance(confusion, SparseTable):
            self._sparse_matrices = confusion
        else:
            self.confusion_matrices_ = tabulate_matrices(confusion, quality.index, classes, label_names)
        self.annotators_ = quality

    def _named(
        self, labels: Labels, responsibilities: Float[np.ndarray, "items classes"], labelled: Bool[np.ndarray, " items"]
    ) -> np.ndarray:
        """Name the most probable class of each item, of tied ones the first; missing, with a warning, if unknown."""
        return self._name_codes(labels, most_probable(responsibilities), labelled)

    def _name_codes(
        self, labels: Labels, codes: Int[np.ndarray, " items"], labelled: Bool[np.ndarray, " items"]
    ) -> np.ndarray:
        named: np.ndarray = self.classes_[codes]
        if labelled.all():
            return named
        warn_of_unannotated(labels, labelled, "no annotations and no class (missing; probabilities as of any item)")
        numbers = named.dtype.kind in "iuf" and np.abs(self.classes_).max() < 2**53  # floats hold ints exactly below
        named = named.astype(float if numbers else object)
        named[~labelled] = np.nan if numbers else None
        return named

    def _cluster_codes(self) -> Int[np.ndarray, " items"]:
        return np.where(pd.isna(self.labels_), MISSING, self._item_codes())

    def _item_codes(self) -> Int[np.ndarray, " items"]:
        """Return the code of each item's class, also of those without labels."""
        return np.asarray(most_probable(self.responsibilities_))

    def _cluster_names(self) -> pd.Index:
        return pd.Index(self.classes_, tupleize_cols=False)

    def _contradictions(self) -> Iterator[str]:
        yield from super()._contradictions()
        named, has_label = self.classes_[self._item_codes()], ~pd.isna(self.labels_)
        if not np.array_equal(self.labels_[has_label], named[has_label]):  # the others have no labels
            yield "labels_"
        if ("confusion_matrices_" in vars(self)) == ("_sparse_matrices" in vars(self)):
            yield "confusion_matrices_"
        levels: Any = [self.annotators_.index, pd.Index(self.classes_, tupleize_cols=False)]
        rows: Any = np.indices((len(levels[0]), len(levels[1]))).reshape(2, -1)
        keys = pd.MultiIndex(levels, rows)
        for name in {"confusion_matrices_", "confusion_counts_"} & set(vars(self)):
            table = getattr(self, name)
            # as lists: to pandas 2, levels of the type str, which files of pandas 3 have, differ from those of objects
            if not (table.index.tolist() == keys.tolist() and table.columns.equals(self._label_names)):
                yield name


def _drop_unlabelled(labels: Labels) -> Bool[np.ndarray, " items"]:
    return np.diff(labels.indptr) > 0


def posterior_of(model: Any) -> Float[np.ndarray, "items classes"]:
    """Return what predicts labels: the posterior where `responsibilities_` are moved from it towards the truth."""
    found = getattr(model, "_posterior", None)
    return np.asarray(model.responsibilities_ if found is None else found)


def without_floors(model: Any) -> Float[np.ndarray, "items classes"]:
    """Return what other labels are judged by: probabilities moved from the posterior only as far as labels show."""
    found: np.ndarray = vars(model).get("_without_floors", model.responsibilities_)
    return found


def log_of_table(probability: Any) -> Any:
    """Return logarithms of probabilities, that of 0 finite."""
    if isinstance(probability, SparseTable):
        return probability.map(log_of_table)
    return np.log(np.maximum(probability, np.finfo(float).tiny))
