"""OrdinalRatings: the estimator of `consilience.consensus.labels.ordinal_ratings`."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int
from sklearn.utils.validation import check_is_fitted

from consilience.annotations import Labels
from consilience.annotations.levels import numbers_in_text, scale_of_levels
from consilience.annotations.name_lists import require_list
from consilience.annotations.types import AnnotationsLike, Flag, Integer, Literal, Missing, NameGroups, Names, Real
from consilience.consensus.labels.copies_result import compare_with_apart, copies_of
from consilience.consensus.labels.equal_spread import EqualSpread, RatingSums, reason_for_equal_spread
from consilience.consensus.labels.levels_of_items import LevelsOfItems
from consilience.consensus.labels.ordinal_ratings import (
    SLOPE_SPREAD,
    TINY,
    USUAL_LAPSE,
    Raters,
    RatingsProblem,
    RatingsState,
    ValueGrid,
    log_table,
    log_weights,
    probabilities,
    run,
)
from consilience.errors import AnnotationError, InputError, UnannotatedWarning
from consilience.estimators import learned
from consilience.estimators.copies import COPIES
from consilience.estimators.gold import with_known
from consilience.estimators.labels import LabelAggregator
from consilience.estimators.learned import Attributes
from consilience.estimators.parameters import (
    AUTO,
    NOT_NEGATIVE,
    TRUTH,
    Requirement,
    Requirements,
    is_auto,
    one_of,
    whole,
)
from consilience.estimators.traces import keep_trace
from consilience.estimators.user_order import Axes
from consilience.inference.clusters import TIE
from consilience.inference.iterate import Loop, begin
from consilience.inference.product_distributions import (
    AnyTable,
    LabelsOfItems,
    OneHotLabels,
    Weights,
    encode_labels,
    posterior,
)

SHARED = 0.6  # units of noise that raters share: recorded ratings ask for .7, and simulated ones for none
LEAST_SHARED = 1e-3  # units: places between cells would be certain without
WEAK = 0.25  # reliability below which a rater is weak


class OrdinalRatings(LabelAggregator):
    """Level of each item from ratings, by raters who each have a bias, a slope, a noise and lapses.

    An item has a latent value on the scale of the levels. A rater sees it displaced by a bias, with contrasts stretched
    by a slope, with noise, and names the level in which that lies; now and then a rater lapses. Where the labels do not
    tell raters apart well enough, the mean of the labels is taken instead: `annotator_model_` and `reason_` say so.

    Parameters
    ----------
    levels : "auto" or list of levels, default="auto"
        All levels from the lowest to the highest. "auto": the categories of an ordered categorical, or those of
        `Labels.as_ratings`; else the labels must be numbers, in text or not, and whole numbers between them are
        levels, too.
    annotator_model : {"auto", "individual", "equal"}, default="auto"
        "individual": every rater has parameters. "equal": all raters have the same spread, and the value of an item is
        the mean of its labels. "auto": "individual", unless there are fewer than three levels, three quarters of the
        labels are one level, or the noise of a label is at least nine tenths of the spread of the items.
    calibrate : bool, default=True
        Whether probabilities and intervals allow for errors that raters share, of 12 % of the scale, which no labels
        show. If not, they allow for the common bias and slope that the raters may have by their own differences.
    copies : "auto", None or list of lists of annotators, default=None
        Annotators who are copies of each other and weigh together as one; None: every annotator weighs alone. "auto"
        finds them as `DawidSkene` does, by agreement beyond what classes without order explain.
    max_iter : int, default=500
        Maximum number of sweeps.
    tol : float, default=1e-6
        Converged when the relative gain of the bound is at most this.
    verbose : bool, default=False
        Show a progress bar: in a notebook, or in a terminal on standard error.

    Attributes
    ----------
    labels_ : ndarray of levels, shape (n_items,)
        The level in which the value lies; missing (NaN if levels are numbers, else None) for items without labels whose
        level is not known.
    labels_series_ : Series
        The same, indexed by item.
    values_ : ndarray, shape (n_items,)
        Expected value, within the scale: in the numbers that levels are if these are equally far apart, else counting
        levels from 1.
    intervals_ : ndarray, shape (n_items, 2)
        90 % interval of the value.
    undecided_ : ndarray of bool, shape (n_items,)
        Items whose value lies between two levels, to a millionth: `labels_` has the lower.
    responsibilities_ : ndarray, shape (n_items, n_levels)
        Probability of each level.
    classes_ : ndarray of levels, shape (n_levels,)
        From the lowest to the highest.
    items_ : Index, shape (n_items,)
    annotators_ : DataFrame, one row for each annotator
        n_labels; agreement, the expected share of these labels that are the item's level; accuracy, the probability of
        the right level; information of a label about the level, bits; bias, how many levels higher than the crowd the
        rater labels an average item; slope, by which differences between items are stretched, 1 as in the crowd; noise,
        levels; lapse, the probability of a label that has nothing to do with the item; reliability, the share of the
        variance of labels that is due to the items; weak, whether that is below 1/4. If `annotator_model_` is "equal",
        all have the same.
    annotator_model_ : {"individual", "equal"}
        Which was taken.
    reason_ : str
        Why; empty if "individual" was.
    spread_of_items_ : float
        Standard deviation of the values, levels.
    confusion_matrices_ : DataFrame, shape (n_annotators * n_levels, n_levels)
        Probability of each label, indexed by annotator and level.
    copies_ : DataFrame, one row for each group of annotators who weigh together
        See `DawidSkene`.
    labels_apart_ : ndarray of levels, shape (n_items,)
        `labels_` if every annotator weighs alone.
    n_clusters_ : int
        Number of levels.
    lower_bound_ : float
        ln p(labels, parameters), nats, of raters with parameters of their own, whichever was taken.
    lower_bounds_ : ndarray, shape (n_iter_,)
    n_iter_ : int
    converged_ : bool

    See Also
    --------
    DawidSkene : If classes have no order.

    References
    ----------
    Johnson (1996). On Bayesian analysis of multirater ordinal data: an application to automated essay grading. Journal
    of the American Statistical Association 91.
    Rogers, Girolami & Polajnar (2010). Semi-parametric analysis of multi-rater data. Statistics and Computing 20.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.consensus import OrdinalRatings
    >>> from consilience.simulation import simulate_ratings
    >>> values = np.random.default_rng(0).uniform(1, 5, 200)
    >>> ratings = simulate_ratings(values, levels=range(1, 6), n_annotators=5, random_state=0)
    >>> model = OrdinalRatings().fit(ratings)
    >>> model.annotator_model_, float(np.abs(model.values_ - values).mean().round(2))
    ('individual', 0.39)
    """

    reads_ratings = True

    _axes: ClassVar[Axes] = LabelAggregator._axes | {"values_": ("items",), "intervals_": ("items", None)}

    _learned: ClassVar[Attributes] = {
        **learned.BOUNDED,
        **learned.annotators(
            **{"n_labels": "c", "agreement": "p", "accuracy": "p", "information": "f"},
            **{"bias": "f", "slope": "f", "noise": "f", "lapse": "p", "reliability": "p", "weak": "b"},
        ),
        "values_": learned.array(float, "items"),
        "intervals_": learned.array(float, "items", None),
        "annotator_model_": learned.one_of("individual", "equal"),
        "reason_": learned.TEXT,
        "spread_of_items_": learned.number(0),
        "_origin": learned.number(0),
        "_noise": learned.number(0),
        "_shared": learned.array(float, None, low=0),
        "_log_weights": learned.array(float, None, high=learned.ROUNDING),
        "_log_table": learned.array(float, "annotators × labels", None, high=learned.ROUNDING),
        "_newcomer": learned.array(float, "labels", None, low=0, high=1),
    }

    _requirements: ClassVar[Requirements] = {
        "levels": AUTO | Requirement(("a list of levels",), lambda value: not isinstance(value, str)),
        "annotator_model": one_of("auto", "individual", "equal"),
        "calibrate": TRUTH,
        "copies": COPIES,
        "max_iter": whole(1),
        "tol": NOT_NEGATIVE,
    }

    def __init__(
        self,
        levels: Literal["auto"] | Names = "auto",
        annotator_model: Literal["auto", "individual", "equal"] = "auto",
        calibrate: Flag = True,
        copies: NameGroups = None,
        max_iter: Integer = 500,
        tol: Real = 1e-6,
        verbose: Flag = False,
    ):
        self.levels = levels
        self.annotator_model = annotator_model
        self.calibrate = calibrate
        self.copies = copies
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose

    @property
    def thresholds_(self) -> pd.DataFrame:
        """Value from which on each rater names each level but the lowest, in levels counted from 1.

        Infinite for raters of slope 0.

        Returns
        -------
        DataFrame, shape (n_annotators, n_levels - 1)
        """
        check_is_fitted(self)
        raters, at = self.annotators_, np.arange(self.n_clusters_ - 1) + 0.5 - self._origin
        seen = at - raters["bias"].to_numpy()[:, None]
        slope = raters["slope"].to_numpy()[:, None]
        value = np.divide(seen, slope, out=np.copysign(np.inf, seen), where=slope > 0)
        names = pd.Index(self.classes_[1:], tupleize_cols=False, name="from")
        return pd.DataFrame(value + self._origin + 1, raters.index, names)

    @property
    def notes_(self) -> list[str]:
        """What was taken instead of raters with parameters of their own, and why, in a sentence."""
        if not getattr(self, "reason_", ""):
            return []
        return [f"The values are means of the labels, with the same spread for all raters: {self.reason_}."]

    @property
    def undecided_(self) -> Bool[np.ndarray, " items"]:
        """Items whose value lies between two levels, to a millionth: `labels_` has the lower."""
        check_is_fitted(self)
        place = self._count_levels(self.values_)
        near = np.abs(place + 0.5 - np.round(place + 0.5)) < TIE
        return np.asarray(near & (place > 0) & (place < self.n_clusters_ - 1) & ~pd.isna(self.labels_))

    def predict_value(
        self, annotations: AnnotationsLike, *, missing: Missing | None = None
    ) -> Float[np.ndarray, " items"]:
        """Value of fitted or new items, by their labels alone.

        Parameters
        ----------
        annotations : Labels, DataFrame or array, as for `fit`
            With labels among `classes_`. An annotator who was not fitted is taken to be like the crowd.
        missing : as for `fit`

        Returns
        -------
        ndarray, shape (n_items,)
            As `values_`; of an item without labels that of any item.

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
        return self._numbers(self._tell(self._labels(annotations, reset=False, missing=missing)).place)

    def tell_classes(self, labels: Labels) -> tuple[np.ndarray, Float[np.ndarray, "items classes"]]:
        """Return the level of each item, missing without labels, and the probability of each level."""
        found = self._tell(self._in_numbers(labels))
        return self._name_codes(labels, self._codes_of(found.place), np.diff(labels.indptr) > 0), found.told

    def as_ratings(self, labels: Labels) -> Labels:
        """Return labels as they are fitted: with all levels, in rising order.

        Raises InputError: the labels are not numbers, and have no order, or one is not among the levels.
        """
        try:
            return labels.as_ratings(None if is_auto(self.levels) else require_list(self.levels, "levels"))
        except AnnotationError as error:
            raise InputError(f"OrdinalRatings: {error}") from error

    def _labels(self, annotations: Any, *, reset: bool, missing: Any = None, gold: Any = None) -> Labels:
        labels = super()._labels(annotations, reset=reset, missing=missing, gold=gold)
        return self.as_ratings(labels) if reset else self._in_numbers(labels)

    def _in_numbers(self, labels: Labels) -> Labels:
        rated = pd.api.types.is_numeric_dtype(self._label_names)
        return replace(labels, classes=numbers_in_text(labels.classes)) if rated else labels

    def _aggregate(self, labels: Labels, known: Int[np.ndarray, " items"] | None, values: None) -> OrdinalRatings:
        copies = copies_of(self, labels, known=known)
        weight = self._weights_of(labels.item, labels.annotator, labels.label)
        sums = RatingSums.of(labels, weight)
        n_cells = len(sums.grid.values)
        onehot = encode_labels(labels, n_cells, known=known, n_classes=labels.n_classes, weight=weight)
        raters, confusion = self.learn(onehot, sums, labels.classes)
        found = self.levels_of(labels.item, labels.label, weight, onehot)
        self._set_result(labels, with_known(found.told, known), labels.classes, confusion, known=known)
        is_known = self._gold >= 0
        place = np.where(is_known, self._gold, found.place)
        ends = np.where(is_known[:, None], self._gold[:, None], found.ends)
        self.values_, self.intervals_ = self._numbers(place), self._numbers(ends)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnannotatedWarning)  # _set_result named such items
            self.labels_ = self._name_codes(labels, self._codes_of(place), (np.diff(labels.indptr) > 0) | is_known)
        self.keep_raters(raters)
        compare_with_apart(self, copies, lambda apart: apart._aggregate(labels, known, None), labels)
        return self

    def learn(
        self, onehot: LabelsOfItems, sums: RatingSums, levels: pd.Index, loop: Loop = begin
    ) -> tuple[Raters, Float[np.ndarray, "raters levels labels"]]:
        """Sweep until the bound converges, decide whether raters differ, and set what tells of items.

        Return the raters, and their confusion matrices. `loop` runs the sweeps.
        """
        grid, n_raters = sums.grid, len(sums.n_labels)
        problem = RatingsProblem(onehot, grid, sums.shares)
        trace = run(problem, n_raters, sums.spread, max_iter=int(self.max_iter), tol=float(self.tol), loop=loop)
        keep_trace(self, trace)
        state, self._origin, self._noise = trace.state, grid.origin, sums.noise
        self.reason_ = self._reason_for_equal(state, sums, levels)
        self.annotator_model_ = "equal" if self.reason_ else "individual"
        raters, usual_noise = state.raters, float(np.exp(state.noise_mean))
        if self.reason_:
            raters, usual_noise = _alike(n_raters, self._noise), self._noise
        self._log_weights, self._log_table = log_weights(state, grid), log_table(raters, problem)
        self._newcomer = probabilities(_alike(1, usual_noise), grid, sums.shares)[0].T
        self._shared, self.spread_of_items_ = self._noise_that_is_shared(state, grid), state.spread
        return raters, _by_level(probabilities(raters, grid, sums.shares), np.exp(self._log_weights), grid.n_levels)

    def _reason_for_equal(self, state: RatingsState, sums: RatingSums, levels: pd.Index) -> str:
        if self.annotator_model == "auto":
            return reason_for_equal_spread(state, sums, levels)
        return "annotator_model='equal'" if self.annotator_model == "equal" else ""

    def keep_raters(self, raters: Raters) -> None:
        """Add the parameters of the raters to the table of annotators."""
        self.annotators_ = self.annotators_.assign(**_parameters(raters, self.spread_of_items_))

    def _noise_that_is_shared(self, state: RatingsState, grid: ValueGrid) -> Float[np.ndarray, " cells"]:
        """Standard deviation of what all raters together are wrong by, in each cell of the value."""
        own = np.zeros(len(grid.values))
        if self.annotator_model_ == "individual":  # biases and slopes are known up to those that all have in common
            n_attentive = max(float((1 - state.raters.lapse).sum()), 1.0)
            own = np.hypot(state.bias_spread, SLOPE_SPREAD * (grid.values - grid.origin)) / np.sqrt(n_attentive)
        return np.maximum(own, (SHARED if self.calibrate else LEAST_SHARED) * grid.unit)

    def levels_of(
        self,
        item: Int[np.ndarray, " labels"],
        label: Int[np.ndarray, " labels"],
        weight: Float[np.ndarray, " labels"] | None,
        onehot: OneHotLabels,
        table: AnyTable | None = None,
    ) -> LevelsOfItems:
        """Return what is told of items by their labels, encoded for a table: by default that of the fitted raters.

        item, label, weight : of each label.
        """
        n_levels = len(self._newcomer)
        if self.annotator_model_ == "individual":
            q = posterior(onehot, self._log_weights, self._log_table if table is None else table)
            return LevelsOfItems.of(q, self._grid(n_levels), self._shared)
        means = EqualSpread.of(item, label, weight, onehot.n_items, self._origin)
        return means.levels(self._noise, self.spread_of_items_, self._shared[0], n_levels)

    def _tell(self, labels: Labels) -> LevelsOfItems:
        """Return what is told of fitted or new items, by their labels alone."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the same codes are read again below
            annotator, label = self._fitted_codes(labels)
        weight = self._weights_of(labels.item, annotator, label)
        return self.levels_of(labels.item, label, weight, *self._evidence(labels))

    def _probabilities(self, labels: Labels) -> Float[np.ndarray, "items classes"]:
        return self._tell(labels).told

    def _columns_of_newcomer(self, n_components: int) -> Float[np.ndarray, "labels components"]:
        return self._newcomer

    def _mixture(self) -> tuple[Weights, Float[np.ndarray, "columns components"]]:
        return np.exp(self._log_weights), np.exp(self._log_table)

    def _item_codes(self) -> Int[np.ndarray, " items"]:
        return self._codes_of(self._count_levels(self.values_))

    def _codes_of(self, place: Float[np.ndarray, " items"]) -> Int[np.ndarray, " items"]:
        """Return the level of each place, the lower of two that are equally near."""
        return np.ceil(place - 0.5 - TIE).astype(int).clip(0, len(self._newcomer) - 1)

    def _grid(self, n_levels: int) -> ValueGrid:
        return ValueGrid.of(n_levels, self._origin)

    def _numbers(self, place: np.ndarray) -> np.ndarray:
        """Turn places into the numbers that levels are; see `values_`."""
        first, step = scale_of_levels(self.classes_)
        return first + step * place

    def _count_levels(self, numbers: np.ndarray) -> np.ndarray:
        first, step = scale_of_levels(self.classes_)
        return (numbers - first) / step


def _alike(n_raters: int, noise: float) -> Raters:
    """Return raters without a bias, who are all alike."""
    one = np.ones(n_raters)
    return Raters(one, 0 * one, noise * one, USUAL_LAPSE * one)


def _by_level(
    of_cells: Float[np.ndarray, "raters cells levels"], weights: Float[np.ndarray, " cells"], n_levels: int
) -> Float[np.ndarray, "raters levels labels"]:
    """Probability of each label of each rater, given the level: the mean over its cells."""
    share = weights.reshape(n_levels, -1) + TINY
    share /= share.sum(1, keepdims=True)
    return np.einsum("kc,jkcl->jkl", share, of_cells.reshape(len(of_cells), n_levels, -1, n_levels))


def _parameters(raters: Raters, spread: float) -> dict[str, np.ndarray]:
    """Return the columns of the table of annotators."""
    signal = (raters.slope * spread) ** 2
    reliability = (1 - raters.lapse) * signal / (signal + raters.noise**2)
    return {
        "bias": raters.bias,
        "slope": raters.slope,
        "noise": raters.noise,
        "lapse": raters.lapse,
        "reliability": reliability,
        "weak": reliability < WEAK,
    }
