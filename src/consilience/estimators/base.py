"""Base class of all estimators: features matched with items, queries of fitted clusters."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterator, Mapping, Set
from contextlib import AbstractContextManager
from typing import Any, ClassVar, overload

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from consilience.annotations import Annotations, Groupings, Labels, Pairs
from consilience.annotations.alignment import rows_of_items
from consilience.annotations.canonical import Arrangement
from consilience.annotations.display import MOST_ROWS, facts, listed_in_short, sizes_in_short
from consilience.annotations.fit_arguments import as_groupings, read_beside
from consilience.annotations.matching import match_items
from consilience.annotations.name_lists import list_names
from consilience.annotations.names import outside, plain
from consilience.annotations.spelling import places_of_fitted
from consilience.annotations.types import FeaturesLike, Name, NameList, Names
from consilience.errors import FeatureScaleWarning, InputError
from consilience.estimators import learned
from consilience.estimators.first_screen import show_first_screen
from consilience.estimators.learned import Attributes
from consilience.estimators.parameters import JOBS, RANDOM_STATE, VERBOSE, Requirements, require_parameters
from consilience.estimators.user_order import Axes, restore
from consilience.inference.progress import showing
from consilience.metrics.profiles import association, cluster_profile

TWO_NAMES = "item_a and item_b must be two names of items, or two lists of names of one length."
LARGEST = 1e150  # of a feature, so that sums of squares are finite
CONSTANT = 1e-12  # range of a feature, relative to its size, that is due to rounding
APART = 1000.0  # ratio of scales at which a model depends on one of two features only


class CrowdEstimator(BaseEstimator):
    """Base class of every estimator of the package.

    A subclass sets ``items_`` (Index), ``labels_`` and ``n_clusters_`` in `fit`, and reads features with `_features`.
    If ``labels_`` are not numbers from 0, it overrides `_cluster_codes` and `_cluster_names`; if the scale of the
    features does not matter, `_depends_on_scale`.

    It learns from annotations in canonical order (`consilience.annotations.canonical`), so that their order and names
    change nothing, and restores the user's order with `_restore`; ``_axes`` says which of its attributes have an axis
    of items, annotators, groupings or groups.
    """

    _name_of_labels = "cluster"
    _does_without_features = False  # whether features may be None
    _reads_alone = False  # whether `fit` takes annotations without features
    _axes: ClassVar[Axes] = {"labels_": ("items",), "responsibilities_": ("items",), "annotators_": ("annotators",)}

    _learned: ClassVar[Attributes] = {
        "_missing": learned.optional(learned.or_none(learned.list_of(learned.NAME))),  # not kept by `partial_fit`
        "_given": learned.optional(learned.GIVEN),  # annotations of models that forecast
    }

    _requirements: ClassVar[Requirements] = {"random_state": RANDOM_STATE, "n_jobs": JOBS, "verbose": VERBOSE}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # what gives classes is no classifier to scikit-learn, whose tools would hand it features and classes to learn
        tags.estimator_type = None if self._name_of_labels == "label" else "clusterer"
        tags.target_tags.required = not self._reads_alone
        if self._reads_alone:  # a matrix of labels has names and blanks
            tags.input_tags.categorical = tags.input_tags.allow_nan = tags.input_tags.string = True
        return tags

    def _repr_html_inner(self) -> str:
        """scikit-learn's diagram, below a summary of the fitted model."""
        return self._found_in_html() + str(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        found = {"text/html": self._found_in_html() + bundle["text/html"]} if "text/html" in bundle else {}
        return bundle | found

    def _found_in_html(self) -> str:
        """First screen of the report, and a summary of the fitted model as a short table; empty before it is fitted."""
        if not hasattr(self, "labels_"):
            return ""
        codes, several = self._cluster_codes(), "classes" if self._name_of_labels == "label" else "clusters"
        sizes = np.bincount(codes[codes >= 0], minlength=self.n_clusters_)
        screen = show_first_screen(self)
        found = {several: sizes_in_short(sizes.tolist())} | ({} if screen else self._items_of_largest(codes, sizes))
        n_nowhere = int((codes < 0).sum())
        found["items"] = f"{len(codes):,}" + (f", {n_nowhere:,} of them in none" if n_nowhere else "")
        if hasattr(self, "annotators_"):
            found["annotators"] = f"{len(self.annotators_):,}"
        if len(getattr(self, "views_", ())) > 1:
            found["views"] = f"{len(self.views_)}; the clusters above are those of view 0"
        if hasattr(self, "converged_"):
            found["converged"] = f"{'yes' if self.converged_ else 'no, stopped'} after {self.n_iter_:,} sweeps"
        return screen + facts(f"{type(self).__name__} found:", found, below=" ".join(getattr(self, "notes_", ())))

    def _items_of_largest(
        self, codes: Int[np.ndarray, " items"], sizes: Int[np.ndarray, " clusters"]
    ) -> dict[str, str]:
        """List the first items of each of the largest clusters; empty of a model that keeps no names of items."""
        items = getattr(self, "items_", None)
        if items is None or len(items) != len(codes):
            return {}
        noun = "class" if self._name_of_labels == "label" else "cluster"
        largest = np.argsort(-sizes, kind="stable")[:MOST_ROWS]
        names = self._cluster_names()
        return {
            f"{noun} {names[cluster]}": listed_in_short(items[codes == cluster])
            for cluster in largest
            if sizes[cluster]
        }

    def fit_predict(self, X: Any, y: Any = None, **fit_params: Any) -> np.ndarray:
        """Fit, and return the cluster or class of every item.

        Parameters
        ----------
        X, y, **fit_params : as for `fit`, which may take annotations first

        Returns
        -------
        ndarray, shape (n_items,)
            ``labels_``: numbers of clusters, or names of classes.
        """
        return self.fit(X, y, **fit_params).labels_

    @property
    def labels_series_(self) -> pd.Series:
        """``labels_`` indexed by item: a Series, named "label" for models that read only labels, else "cluster".

        Raises
        ------
        sklearn.exceptions.NotFittedError
            The model is not fitted.
        """
        check_is_fitted(self)
        # without copy, writing into the series writes into the model, by default with pandas 2
        return pd.Series(self.labels_, index=self.items_.rename("item"), name=self._name_of_labels, copy=True)

    @overload
    def predict_same(self, item_a: str | int, item_b: str | int, annotator: Name | None = None) -> float: ...
    @overload
    def predict_same(
        self, item_a: NameList, item_b: NameList, annotator: Name | None = None
    ) -> Float[np.ndarray, " pairs"]: ...

    def predict_same(
        self, item_a: Names, item_b: Names, annotator: Name | None = None
    ) -> float | Float[np.ndarray, " pairs"]:
        """Probability that two fitted items belong together, or that an annotator judges them the same.

        Parameters
        ----------
        item_a, item_b : names of items, or lists of names of one length
        annotator : name, optional
            Whose judgement to predict: that this annotator puts both items into one group, gives both the same label,
            or says "same". Default: that both items are of the same cluster, in the first view, or of the same class.

        Returns
        -------
        float, or ndarray of shape (n_pairs,) if lists were given

        Raises
        ------
        InputError
            An unknown item or annotator, or lists of different lengths.
        """
        a, b, one = self._pairs_of_items(item_a, item_b)
        same = self._same(a, b, annotator)
        return float(same[0]) if one else same

    def _same(
        self, a: Int[np.ndarray, " pairs"], b: Int[np.ndarray, " pairs"], annotator: Name | None
    ) -> Float[np.ndarray, " pairs"]:
        """`predict_same` for positions of items; by default from the annotator's rates in `annotators_`."""
        same: np.ndarray = (self.responsibilities_[a] * self.responsibilities_[b]).sum(1)
        if annotator is None:
            return same
        own = self.annotators_.iloc[self._place_of_annotator(annotator)]
        return same * own["sensitivity"] + (1 - same) * (1 - own["specificity"])

    def cluster_profile(self, X: FeaturesLike) -> pd.DataFrame:
        """Size of every cluster, and mean and standard deviation of every feature in it.

        See `consilience.metrics.profiles.cluster_profile`.

        Parameters
        ----------
        X : DataFrame, Series or array, shape (n_items, n_features) or (n_items,)
            The fitted items, indexed by name; or an array in their order. Raw features read best.

        Returns
        -------
        DataFrame
            Indexed by cluster, or by the name of the class; empty ones have no row. Items of no cluster
            are left out.

        Raises
        ------
        InputError
            The row of an item is missing, or a feature is not a number.
        """
        codes = self._cluster_codes()
        profile = cluster_profile(self._of_items(X)[codes >= 0], codes[codes >= 0])
        return profile.set_axis(self._cluster_names()[profile.index].rename(profile.index.name))

    def association(self, scores: FeaturesLike) -> pd.DataFrame:
        """Test whether external scores differ between clusters: Kruskal-Wallis, corrected for the number of scores.

        See `consilience.metrics.profiles.association`.

        Parameters
        ----------
        scores : DataFrame, Series or array, shape (n_items, n_scores) or (n_items,)
            The fitted items, indexed by name; or an array in their order. NaN where a score is missing.

        Returns
        -------
        DataFrame
            Items of no cluster are left out.

        Raises
        ------
        InputError
            The row of an item is missing, or a score is not a number.
        """
        codes = self._cluster_codes()
        return association(self._of_items(scores)[codes >= 0], codes[codes >= 0])

    def _forget_columns(self) -> None:
        """Forget the columns of a previous fit, of which the next may have none, and what one to partitions left."""
        for name in {"n_features_in_", "feature_names_in_", "_for_items"} & set(vars(self)):
            delattr(self, name)

    def _check_parameters(self) -> None:
        """Raise an InputError if a parameter is invalid; a subclass adds checks of parameters against each other."""
        require_parameters(self)

    def _progress(self) -> AbstractContextManager[None]:
        """Context in which sweeps, restarts and the like are shown, if the estimator is verbose."""
        return showing(type(self).__name__, shown=bool(getattr(self, "verbose", False)))

    def _cluster_codes(self) -> Int[np.ndarray, " items"]:
        """Position of each item's cluster in `_cluster_names`; -1 for items of no cluster."""
        codes: np.ndarray = self.labels_
        return codes

    def _cluster_names(self) -> pd.Index:
        """Names of all clusters, including empty ones."""
        return pd.RangeIndex(self.n_clusters_)

    def _of_items(self, table: Any) -> pd.DataFrame:
        """Rows of the table for the fitted items, in their order."""
        check_is_fitted(self)
        return rows_of_items(table, self.items_)

    def _pairs_of_items(
        self, item_a: Any, item_b: Any
    ) -> tuple[Int[np.ndarray, " pairs"], Int[np.ndarray, " pairs"], bool]:
        """Positions of the two items of each pair in ``items_``, and whether two names were given instead of lists."""
        check_is_fitted(self)
        one = _is_name(item_a)
        if one != _is_name(item_b):
            raise InputError(TWO_NAMES)
        names_a, names_b = ([item_a], [item_b]) if one else (list_names(item_a, "item_a"), list_names(item_b, "item_b"))
        if len(names_a) != len(names_b):
            raise InputError(TWO_NAMES)
        return self._places(names_a), self._places(names_b), one

    def _place_of_annotator(self, annotator: Any) -> int:
        """Row of a fitted annotator in `annotators_`."""
        if not isinstance(annotator, Hashable):
            raise InputError(f"'annotator' must be one name. Got a {type(annotator).__name__} instead: {annotator!r}.")
        return int(places_of_fitted([annotator], self.annotators_.index, "Annotator")[0])

    def _places(self, names: Any) -> Int[np.ndarray, " names"]:
        return places_of_fitted(list_names(names, "items"), self.items_, "Item")

    def _features(self, X: Any, *, reset: bool) -> Float[np.ndarray, "items features"]:
        """Return features as a finite float array; in `fit`, warn of very different scales."""
        self._require_features(X)
        _require_numeric(X)
        # NaN and inf pass, so that the message below can name feature and item
        values = validate_data(self, X, reset=reset, dtype=np.float64, ensure_all_finite=False)
        finite = np.isfinite(values)
        if not finite.all():
            row, column = np.argwhere(~finite)[0]
            item = X.index[row] if isinstance(X, pd.DataFrame) else row
            feature = self._name_of_feature(column)
            what = "missing (NaN)" if np.isnan(values[row, column]) else "an infinity (inf)"
            raise InputError(
                f"Feature {feature!r} of item {plain(item)!r} is {what}, one of {int((~finite).sum())} such values. "
                f"{type(self).__name__} needs finite features: impute them or leave the items out."
            )
        if max(values.max(initial=0.0), -values.min(initial=0.0)) > LARGEST:  # without a copy for absolute values
            row, column = np.argwhere(np.abs(values) > LARGEST)[0]
            item = X.index[row] if isinstance(X, pd.DataFrame) else row
            raise InputError(
                f"Feature {self._name_of_feature(column)!r} of item {plain(item)!r} is {values[row, column]:g}, whose "
                f"square is infinite. Expected numbers of at most {LARGEST:g}: scale the feature."
            )
        if reset:
            self._require_spread(values)
        if reset and self._depends_on_scale():
            self._warn_of_scales(values)
        return values

    def _require_spread(self, values: Float[np.ndarray, "items features"]) -> None:
        """Raise an InputError if a feature varies so little that its squares are zero."""
        if not len(values):
            return
        spread = values.max(axis=0) - values.min(axis=0)
        tiny = np.flatnonzero((spread > 0) & (spread < 1 / LARGEST))
        if len(tiny):
            raise InputError(
                f"The values of feature {self._name_of_feature(tiny[0])!r} differ by {spread[tiny[0]]:g} at most, and "
                f"its square is zero. Expected differences of at least {1 / LARGEST:g}: scale the feature."
            )

    def _require_features(self, X: Any) -> None:
        model = type(self).__name__
        if isinstance(X, Annotations):
            raise InputError(
                f"{model} takes features first and annotations second, as in fit(X, annotations)"
                f"{self._without_features()}. Got {type(X).__name__} first."
            )
        if X is None:
            raise InputError(f"{model} needs features, and X is None.")

    def _require_annotations(self, X: Any, y: Any) -> None:
        """Raise an InputError if only one argument was given, which is read as features."""
        if y is None and not isinstance(X, Annotations):
            raise InputError(
                f"{type(self).__name__} requires y to be passed, but the target y is None. Give the annotations "
                f"second, as in fit(X, annotations){self._without_features()}."
            )

    def _without_features(self) -> str:
        return "; without features, fit(None, annotations)" if self._does_without_features else ""

    def _depends_on_scale(self) -> bool:
        """Whether the result changes if a feature is given in another unit."""
        return True

    def _warn_of_scales(self, values: Float[np.ndarray, "items features"]) -> None:
        """Warn if the scales of two features are so different that one hides the other.

        Both the standard deviations and the ranges must differ by `APART`: a pixel that is dark in all pictures except
        one has a small deviation, and yet the scale of the others. Constant features are ignored.
        """
        extremes = far_apart(values)
        if extremes is None:
            return
        small, large, times = extremes
        warnings.warn(
            f"The scale of feature {self._name_of_feature(large)!r} is {times:,.0f} times that of feature "
            f"{self._name_of_feature(small)!r}, so that {type(self).__name__} sees little but the larger ones; "
            "standardise the features with StandardScaler.",
            FeatureScaleWarning,
            stacklevel=outside(),
        )

    def _name_of_feature(self, column: Any) -> Any:
        return self.feature_names_in_[column] if hasattr(self, "feature_names_in_") else int(column)

    def _restore(self, arrangement: Arrangement[Any]) -> None:
        """Reorder fitted attributes from canonical order into that of the annotations given."""
        restore(self, arrangement)

    def _groupings(self, X: Any, annotations: Any, missing: Any = None) -> Groupings:
        """Annotations as groupings of the items of X, in their order."""
        return match_items(as_groupings(annotations, X, type(self).__name__, missing), X)

    def _judgements(self, X: Any, annotations: Any, missing: Any = None) -> Pairs | Groupings:
        """Annotations as judgements of pairs of the items of X, in their order."""
        if annotations is not None:
            annotations = read_beside(annotations, X, "groupings", type(self).__name__, missing)
        return match_items(annotations, X) if isinstance(annotations, Pairs) else self._groupings(X, annotations)

    def _labels_beside(self, X: Any, annotations: Any, missing: Any = None) -> Labels:
        """Annotations as labels of the items of X, in their order."""
        if annotations is not None:
            annotations = read_beside(annotations, X, "labels", type(self).__name__, missing)
        if not isinstance(annotations, Labels):
            who = "" if self._name_of_labels == "label" else "The consensus model of "
            raise InputError(
                f"{who}{type(self).__name__} reads Labels, whose names mean the same to all "
                f"annotators. Got {'None' if annotations is None else type(annotations).__name__}."
            )
        return match_items(annotations, X)

    def _contradictions(self) -> Iterator[str]:
        """Yield the names of learned attributes that contradict another, as in no fit; shapes are checked before."""
        given = vars(self).get("_given")
        if given is not None and not given.items.equals(self.items_):
            yield "_given"


def far_apart(values: Float[np.ndarray, "items features"]) -> tuple[int, int, float] | None:
    """Return the features of smallest and largest standard deviation, and their ratio, if it is at least `APART`.

    None if it is less, or if the ratio of the ranges is less.
    """
    if len(values) < 2:
        return None
    lowest, highest = values.min(axis=0), values.max(axis=0)
    spread = highest - lowest
    moving = np.flatnonzero(spread > CONSTANT * np.maximum(highest, -lowest))
    if len(moving) < 2 or spread[moving].max() < APART * spread[moving].min():
        return None
    deviation = values[:, moving].std(axis=0)
    small, large = int(deviation.argmin()), int(deviation.argmax())
    times = float(deviation[large] / deviation[small])
    return (int(moving[small]), int(moving[large]), times) if times >= APART else None


def _is_name(names: Any) -> bool:
    """Whether the argument is one name rather than a list of names; a tuple is a name."""
    if isinstance(names, list | Mapping | Set):
        return False
    return isinstance(names, tuple) or np.ndim(names) == 0


def _require_numeric(X: Any) -> None:
    if isinstance(X, pd.DataFrame) and (again := pd.Index(map(str, X.columns)).duplicated()).any():
        raise InputError(f"Two features are named {str(X.columns[again][0])!r}. Give each a name of its own.")
    as_pandas = "" if isinstance(X, pd.DataFrame) else ".to_pandas()"
    if not isinstance(X, pd.DataFrame):
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            return
        others = [name for name, kind in frame.schema.items() if not kind.is_numeric()]
        X = pd.DataFrame({name: frame[name].to_list() for name in others})
    for name, kind in X.dtypes.items():
        if not pd.api.types.is_numeric_dtype(kind):
            bad = pd.to_numeric(X[name], errors="coerce").isna() & X[name].notna()
            if bad.any():
                row = int(bad.to_numpy().argmax())
                hint = ""
                if X[name].is_unique and X[name].notna().all():
                    hint = f" If it names the items, make it the index: X{as_pandas}.set_index({name!r})."
                raise InputError(
                    f"Feature {name!r} of item {X.index[row]!r} is {X[name].iloc[row]!r}. "
                    f"Expected a number: encode or drop the column.{hint}"
                )
