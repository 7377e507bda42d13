"""Ask and tell: compose subsets, take groupings, fuse them, say when to stop."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Bool, Int
from sklearn.base import BaseEstimator, clone

from consilience.active import answers, assignments, posterior_samples
from consilience.active.assignments import Placed, Subset
from consilience.active.candidates import Pool
from consilience.active.grouping_store import Told
from consilience.active.named_strategies import STRATEGIES
from consilience.active.pair_counts import PairCounts
from consilience.active.stability import (
    Decision,
    Forecast,
    Round,
    decide,
    forecast,
    require_items,
    split_half_reliability,
)
from consilience.active.strategies import Situation, Strategy
from consilience.annotations import Groupings
from consilience.annotations.canonical import arrange
from consilience.annotations.display import facts
from consilience.annotations.names import is_default, plain
from consilience.annotations.types import Integer, Names, RandomSource
from consilience.consensus import SubsetFusion
from consilience.consensus.groupings.subset_fusion_estimator import require_at_most
from consilience.errors import InputError, MatchingError
from consilience.estimators.parameters import (
    NONE,
    RANDOM_STATE,
    Requirement,
    Requirements,
    is_number,
    is_whole,
    one_of,
    require_parameters,
    whole,
)
from consilience.inference.randomness import check_random_state
from consilience.metrics.clusterings import nmi


class ActiveSession(BaseEstimator):
    """A study that still collects: it composes the subsets to ask about, takes the groupings, and fuses them.

    It does nothing but answer: who presents subsets to people (a web page, a simulation, a spreadsheet) drives it.

    Parameters
    ----------
    items : iterable of names
        All items, distinct.
    strategy : str or Strategy, default="informative"
        "informative", "random", "explore", "exploit-pairwise", "exploit-one-vs-rest", "explore-exploit", or an
        instance of one of these with parameters of its own.
    fusion : SubsetFusion, optional
        How groupings are fused; by default `SubsetFusion` with its defaults.
    max_per_item : int, optional
        Do not ask about an item more often than this.
    random_state : int, RandomState, Generator or None, default=None

    Attributes
    ----------
    items_ : Index, shape (n_items,)
    groupings_ : Groupings or None
        All that was told.
    pending_ : list of Subset
        Asked and not yet answered.
    stability_ : DataFrame, one row a consensus, indexed by round
        n_groupings, n_memberships, n_clusters, and `stability`: normalised mutual information with the consensus
        before it, over the items that both knew (NaN in the first round).

    Raises
    ------
    InputError
        Items that are none, missing or repeated; a wrong parameter, also of the fusion or the strategy.

    Examples
    --------
    >>> from consilience.active import ActiveSession
    >>> session = ActiveSession(["ant", "bee", "cow", "dog", "elk", "fly"], random_state=0)
    >>> for _ in range(12):
    ...     for subset in session.ask(n_subsets=1, size=4):
    ...         insects = [item for item in subset.items if item in {"ant", "bee", "fly"}]
    ...         others = [item for item in subset.items if item not in insects]
    ...         _ = session.tell([insects, others], subset=subset)
    >>> fusion = session.consensus()
    >>> bool(fusion.predict_same("ant", "fly") > 0.9), bool(fusion.predict_same("ant", "cow") < 0.1)
    (True, True)
    """

    _requirements: ClassVar[Requirements] = {
        "strategy": one_of(*STRATEGIES) | Requirement(("a Strategy",), lambda value: isinstance(value, Strategy)),
        "fusion": Requirement(
            ("a SubsetFusion", "None"), lambda value: value is None or isinstance(value, SubsetFusion)
        ),
        "max_per_item": NONE | whole(1),
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        items: Any,
        *,
        strategy: Any = "informative",
        fusion: Any = None,
        max_per_item: Integer | None = None,
        random_state: RandomSource = None,
    ) -> None:
        self.items = assignments.listed(items)  # so that it can be read twice
        self.strategy = strategy
        self.fusion = fusion
        self.max_per_item = max_per_item
        self.random_state = random_state
        self._begin()

    def __repr__(self) -> str:
        state = ", ".join(f"{value} {name}" for name, value in self._state().items())
        return f"ActiveSession({state})"

    def _repr_html_(self) -> str:
        return facts("ActiveSession", self._state() | {"strategy": self.strategy})

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def _state(self) -> dict[str, Any]:
        """How far the study has come: counts by what is counted."""
        return {
            "items": len(self.items_),
            "groupings told": len(self._told),
            "subsets pending": len(self._pending),
            "rounds of consensus": len(self._history),
        }

    def _check_parameters(self) -> None:
        """Raise an InputError if a parameter is wrong."""
        require_parameters(self)
        if self.fusion is not None:
            self.fusion._check_parameters()
        if isinstance(self.strategy, Strategy):
            self.strategy.check()

    def _begin(self) -> None:
        self._check_parameters()
        self.items_ = assignments.distinct(self.items)
        if self.fusion is not None:
            require_at_most(self.fusion, len(self.items_))
        self._told = Told(len(self.items_))
        self._pending: dict[int, Placed] = {}  # by number
        self._left_out: list[Placed] = []  # what answers left out of subsets
        self._strategy = self.strategy if isinstance(self.strategy, Strategy) else STRATEGIES[self.strategy]()
        self._random = check_random_state(self.random_state)
        self._counts = PairCounts.none(len(self.items_))
        self._n_asked = 0
        self._history: list[Round] = []
        self._fitted: SubsetFusion | None = None
        self._samples: np.ndarray | None = None

    def __getstate__(self) -> dict[str, Any]:
        """What a pickle or a file holds: the groupings joined, and records as tuples of what they hold."""
        state: dict[str, Any] = vars(self).copy()
        state["_groupings"] = state.pop("_told").joined()
        state["_pending"] = [_values(placed.subset) for placed in self._pending.values()]
        state["_left_out"] = [_values(placed.subset) for placed in self._left_out]
        state["_counts"] = _values(self._counts)
        state["_history"] = [_values(done) for done in self._history]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what `__getstate__` gives; places of items are looked up by their names."""
        items, groupings = state["items_"], state["_groupings"]
        for name in state.keys() - {"_groupings"}:
            setattr(self, name, state[name])
        # earlier versions kept whether the items of the answers had names, though those of a session always do
        self._told = Told(len(items), [] if groupings is None else [replace(groupings, named=True)])
        pending = [Placed.of(Subset(*values), items) for values in state["_pending"]]
        self._pending = {placed.subset.number: placed for placed in pending}
        self._left_out = [Placed.of(Subset(*values), items) for values in state["_left_out"]]
        self._counts = PairCounts(*state["_counts"])
        self._history = [Round(*values) for values in state["_history"]]

    @property
    def groupings_(self) -> Groupings | None:
        """All that was told; None before anything was."""
        return self._told.joined()

    def ask(
        self,
        n_subsets: int = 1,
        size: int = 8,
        *,
        annotators: Names | None = None,
        candidates: Any = None,
    ) -> list[Subset]:
        """Compose the next subsets.

        Parameters
        ----------
        n_subsets : int, default=1
            How many, to be answered side by side: each takes into account that the others are asked.
        size : int, default=8
            Distinct items in each, at least 2.
        annotators : list of names, or one name for one subset, optional
            Whom each subset is for; nobody is asked about an item twice.
        candidates : list or dict of lists of items, optional
            Choose among these and do not compose: for material that is prepared, or answers that are recorded. `size`
            is then not used. A candidate is not chosen twice within a call.

        Returns
        -------
        list of Subset

        Raises
        ------
        InputError
            Fewer items are left to ask about than `size`, by the quota or since the annotator has seen the others; a
            wrong size, number, or candidate.
        """
        if not is_whole(n_subsets, 1):
            raise InputError(f"'n_subsets' must be a positive int. Got {n_subsets!r} instead.")
        whom = assignments.annotators_of(annotators, n_subsets)
        if candidates is None and not (is_whole(size, 2) and size <= len(self.items_)):
            raise InputError(f"'size' must be an int from 2 to the number of items, {len(self.items_)}. Got {size!r}.")
        pending = [placed.places for placed in self._pending.values()]
        pool = None if candidates is None else Pool.of(self.items_, assignments.candidates_of(candidates), pending)
        samples = cache(self._posterior)  # of this call: what is asked tells nothing of the clusters
        counts = self._counts.with_subsets(pending)
        times_asked = assignments.times_asked(self._told, [*pending, *(missing.places for missing in self._left_out)])
        new: list[tuple[Int[np.ndarray, " size"], Any]] = []
        for annotator in whom:
            allowed = self._allowed(annotator, times_asked, [places for places, whose in new if whose == annotator])
            situation = Situation(counts, times_asked, len(self._told), allowed, samples)
            if pool is None:
                assignments.require_left(allowed, size, annotator, quota=self.max_per_item)
                chosen = np.array(self._strategy.compose(situation, size, self._rng()))  # kept: a copy of our own
            else:
                place = pool.choose(self._strategy, situation, self._rng())
                chosen, pool = pool.subsets[place], pool.without(place)
            new.append((chosen, annotator))
            counts = counts.with_subsets([chosen])
            times_asked = times_asked + np.isin(np.arange(len(times_asked)), chosen)
        return [self._put_out(chosen, annotator) for chosen, annotator in new]

    def tell(self, groupings: Any, *, subset: Any = None, annotator: Any = None) -> ActiveSession:
        """Take what was answered.

        Parameters
        ----------
        groupings : list of lists of names, dict, Series, or Groupings
            The groups of one answer: lists of items; a dict of such lists by the name of the group; or a dict or Series
            that gives the group of each item, None or NaN for none. Items of the subset may be missing. Or groupings,
            however collected, by annotators of their own.
        subset : Subset, optional
            What the answer is to, which is then no longer pending.
        annotator : name, optional
            Whose answer it is; by default the subset's, else one who said nothing else.

        Returns
        -------
        ActiveSession

        Raises
        ------
        InputError
            Something else than groups; an item that the session does not know, or that was not in the subset; an item
            in two groups; a subset that is not pending; a grouping of `Groupings` that was told before.

        Warns
        -----
        AnnotationWarning
            An item is twice in a group, and counts once.
        """
        if isinstance(groupings, Groupings):
            if subset is not None or annotator is not None:
                raise InputError("Groupings say themselves whose they are: give 'subset' and 'annotator' with groups.")
            assignments.places_of(self.items_, list(groupings.items))
            answers.require_new(groupings, self._told.keys)
            _require_names(groupings, self.items_)
            new = groupings.reindex(self.items_)
        else:
            new = self._answer(answers.groups_of(groupings), subset, annotator)
        new = replace(new, named=True)
        self._told.add(new)
        self._counts = self._counts.with_groupings(new)
        if subset is not None:
            self._leave_out(new, subset, annotator)
            del self._pending[subset.number]
        return self

    def withdraw(self, subset: Any) -> ActiveSession:
        """Give up waiting for the answer to a subset."""
        self._require_pending(subset)
        del self._pending[subset.number]
        return self

    @property
    def pending_(self) -> list[Subset]:
        """Subsets asked and not yet answered."""
        return [placed.subset for placed in self._pending.values()]

    def consensus(self) -> SubsetFusion:
        """Fuse all that was told; one more round of `stability_` if anything was told since the last.

        Returns
        -------
        SubsetFusion

        Raises
        ------
        InputError
            Nothing was told.
        """
        if self._fitted is not None and self._fitted.groupings_.n_groupings == len(self._told):
            return self._fitted
        groupings = self._all_told()
        before = None if self._fitted is None else self._fitted.labels_
        self._fitted = self._fusion().fit(groupings)
        labels = self._fitted.labels_
        stability = np.nan
        if before is not None:
            both = (before >= 0) & (labels >= 0)
            stability = nmi(before[both], labels[both])
        self._history.append(Round(groupings.n_groupings, groupings.n_rows, self._fitted.n_clusters_, stability))
        return self._fitted

    @property
    def stability_(self) -> pd.DataFrame:
        """Agreement of each consensus with the one before."""
        columns = [field.name for field in fields(Round)]
        rounds = pd.RangeIndex(1, len(self._history) + 1, name="round")
        return pd.DataFrame([_values(done) for done in self._history], columns=columns, index=rounds)

    def should_stop(self, *, tolerance: float = 0.02, patience: int = 3, floor: float = 0.9) -> Decision:
        """Whether the consensus has settled: the paper's rule, with a floor.

        Parameters
        ----------
        tolerance : float, default=0.02
            Largest change of the stability between consecutive rounds.
        patience : int, default=3
            Rounds that must have changed so little.
        floor : float, default=0.9
            Least stability in these rounds.

        Returns
        -------
        Decision
            True if it is time to stop; `reason` says why or why not.
        """
        if not (is_number(tolerance, zero=True) and is_whole(patience, 1) and is_number(floor, zero=True)):
            raise InputError("'tolerance' and 'floor' must be numbers of at least 0, and 'patience' a positive int.")
        return decide(self.stability_["stability"], tolerance=tolerance, patience=patience, floor=floor)

    def groupings_needed(self, target: float = 0.9, *, n_splits: int = 4) -> Forecast:
        """Estimate how many groupings a reliability takes; see `consilience.active.stability`.

        Parameters
        ----------
        target : float, default=0.9
            Reliability wanted, in (0, 1).
        n_splits : int, default=4
            Random halvings of the groupings.

        Returns
        -------
        Forecast

        Raises
        ------
        InputError
            Fewer than four groupings were told, or so few that a half holds fewer items than the fusion is to find
            clusters; or a wrong target.
        """
        if not (is_number(target) and target < 1 and is_whole(n_splits, 1)):
            raise InputError(
                f"'target' must be a number in (0, 1) and 'n_splits' a positive int. Got {target!r}, {n_splits!r}."
            )
        groupings = self._all_told()
        if groupings.n_groupings < 4:
            raise InputError(f"Halves can be compared from 4 groupings on. Got {groupings.n_groupings}.")
        in_order = arrange(groupings).said  # so that which was told first makes no difference
        reliability = split_half_reliability(in_order, self._fused_half, n_splits=n_splits, rng=self._rng())
        return forecast(groupings, reliability, target, n_items=len(self.items_))

    def _allowed(
        self, annotator: Any, times_asked: Int[np.ndarray, " items"], new: list[np.ndarray]
    ) -> Bool[np.ndarray, " items"]:
        """Items that a subset for an annotator may hold, when the `new` subsets are asked of the same."""
        allowed = np.full(len(self.items_), True) if self.max_per_item is None else times_asked < self.max_per_item
        if annotator is None:
            return allowed
        placed = [*self._pending.values(), *self._left_out]
        others = [other.places for other in placed if other.subset.annotator == annotator]
        return allowed & ~assignments.seen_by(annotator, self._told, [*others, *new])

    def _put_out(self, chosen: Int[np.ndarray, " size"], annotator: Any) -> Subset:
        self._n_asked += 1
        subset = Subset(self._n_asked, [plain(name) for name in self.items_[chosen]], annotator)
        self._pending[subset.number] = Placed(subset, chosen)
        return subset

    def _answer(self, groups: dict[Any, list[Any]], subset: Any, annotator: Any) -> Groupings:
        assignments.require_annotator(annotator)
        if subset is not None:
            self._require_pending(subset)
            annotator = subset.annotator if annotator is None else annotator
            answers.require_inside(groups, subset)
        key = answers.new_key(annotator, len(self._told) + 1, self._told.keys)
        return answers.as_groupings(groups, self.items_, key)

    def _leave_out(self, answer: Groupings, subset: Subset, annotator: Any) -> None:
        """Remember which items of a subset the answer leaves out: they were asked and presented all the same."""
        whose = subset.annotator if annotator is None else annotator
        missing, silent = answers.left_out(answer, Placed.of(replace(subset, annotator=whose), self.items_))
        if missing.subset.items:
            self._left_out.append(missing)
            self._counts = self._counts.with_subsets(silent)

    def _require_pending(self, subset: Any) -> None:
        if not isinstance(subset, Subset):
            raise InputError(f"'subset' must be a Subset, as ask gives it and pending_ lists it. Got {subset!r}.")
        if subset.number not in self._pending:
            raise InputError(f"Subset {subset.number} is not pending: it was answered or withdrawn, or never asked.")

    def _all_told(self) -> Groupings:
        groupings = self.groupings_
        if groupings is None or not groupings.n_rows:
            raise InputError("No grouping was told yet.")
        return groupings

    def _fusion(self) -> SubsetFusion:
        fusion = SubsetFusion() if self.fusion is None else clone(self.fusion)
        if fusion.random_state is None:
            fusion.random_state = self._random.randint(2**31 - 1)
        return fusion

    def _fused_half(self, half: Groupings) -> Int[np.ndarray, " items"]:
        fusion = self._fusion()
        require_items(half, fusion.n_clusters, len(self._told))
        return fusion.fit_predict(half)

    def _posterior(self) -> posterior_samples.Samples:
        """Draws of the clusters from the posterior of the mixture, each moved on from where it was."""
        groupings = self.groupings_
        if groupings is None or not groupings.n_rows:
            return posterior_samples.of_nothing(len(self.items_))
        fusion = SubsetFusion() if self.fusion is None else self.fusion
        n_found = 0 if self._fitted is None else self._fitted.n_clusters_
        n_clusters = posterior_samples.n_clusters_of(fusion, len(self.items_), n_found)
        self._samples = posterior_samples.moved_on(groupings, self._samples, n_clusters, self._rng())
        return self._samples.copy()

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(self._random.randint(2**31 - 1, size=4))


def _values(record: Any) -> tuple[Any, ...]:
    """What a dataclass holds, by the order of its fields."""
    return tuple(getattr(record, field.name) for field in fields(record))


def _require_names(groupings: Groupings, items: pd.Index) -> None:
    """Raise a MatchingError if groupings of numbered rows are told to a session whose items have names."""
    if not groupings.named and not is_default(items):
        raise MatchingError(
            f"The items of the groupings are numbered rows, and those of the session have names (such as "
            f"{plain(items[0])!r}); name them, from_matrix(…, items=…)."
        )
