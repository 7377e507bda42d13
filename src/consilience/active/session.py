"""Ask and tell: compose subsets, collect groupings, fuse them, decide when to stop."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from functools import cache
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Bool, Int
from sklearn.base import clone

from consilience.active import answers, assignments, posterior_samples
from consilience.active.assignments import LeftOut, Placed, Subset
from consilience.active.base import Session
from consilience.active.candidates import Pool
from consilience.active.grouping_store import GroupingStore
from consilience.active.named_strategies import STRATEGIES
from consilience.active.pair_counts import PairCounts
from consilience.active.stability import (
    Decision,
    Forecast,
    Round,
    decide,
    decide_by_reliability,
    forecast,
    require_items,
    split_half_reliability,
)
from consilience.active.strategies import Situation, Strategy
from consilience.annotations import Groupings
from consilience.annotations.canonical import arrange
from consilience.annotations.name_lists import list_names
from consilience.annotations.names import is_default, plain
from consilience.annotations.spelling import near_spelling
from consilience.annotations.types import Integer, Names, RandomSource, Real
from consilience.consensus import SubsetFusion
from consilience.consensus.groupings.subset_fusion_estimator import require_at_most
from consilience.errors import InputError, MatchingError
from consilience.estimators.parameters import (
    NONE,
    RANDOM_STATE,
    Requirement,
    Requirements,
    is_number,
    is_one_of,
    is_whole,
    one_of,
    require_parameters,
    whole,
)
from consilience.inference.randomness import check_random_state
from consilience.metrics.clusterings import nmi

FLOORS = {"reliability": 0.94, "stability": 0.9}  # by the rule of `should_stop`
FEWEST_TO_SPLIT = 4  # groupings


class ActiveSession(Session):
    """A collection of groupings in progress: composes subsets to present, collects their groupings, and fuses them.

    It performs no I/O; the caller (a web page, a simulation, a spreadsheet) presents the subsets to annotators.

    Parameters
    ----------
    items : iterable of names
        Names of all items, distinct.
    strategy : str or Strategy, default="informative"
        "informative", "random", "explore", "exploit-pairwise", "exploit-one-vs-rest", "explore-exploit", or an
        instance of one of these strategies with its own parameters.
    fusion : SubsetFusion, optional
        The fusion of the groupings; by default `SubsetFusion` with its defaults.
    max_per_item : int, optional
        Present no item more often than this.
    random_state : int, RandomState, Generator or None, default=None
        An int makes the result reproducible.

    Attributes
    ----------
    items_ : Index, shape (n_items,)
    groupings_ : Groupings or None
        All groupings so far.
    pending_ : list of Subset
        Presented and not yet answered.
    stability_ : DataFrame, one row per consensus, indexed by round
        n_groupings, n_memberships, n_clusters, and `stability`: normalised mutual information with the previous
        consensus, over the items that both cover (NaN in the first round).

    Raises
    ------
    InputError
        There are no items, or a missing or repeated one; a parameter is wrong, including those of the fusion and the
        strategy.

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
        self.items = assignments.list_items(items, "ActiveSession")  # so that it can be read twice
        self.strategy = strategy
        self.fusion = fusion
        self.max_per_item = max_per_item
        self.random_state = random_state
        self._begin()

    def _state(self) -> dict[str, Any]:
        """The state of the session as counts, by name."""
        return {
            "items": len(self.items_),
            "groupings": len(self._store),
            "subsets pending": len(self._pending),
            "rounds of consensus": len(self._history),
        }

    def _settings(self) -> dict[str, Any]:
        return {"strategy": self.strategy}

    def _check_parameters(self) -> None:
        """Raise an InputError if a parameter is wrong."""
        require_parameters(self)
        if self.fusion is not None:
            self.fusion._check_parameters()
        if isinstance(self.strategy, Strategy):
            self.strategy.check()

    def _begin(self) -> None:
        self._check_parameters()
        self.items_ = assignments.distinct(self.items, "ActiveSession")
        if self.fusion is not None:
            require_at_most(self.fusion, len(self.items_))
        self._store = GroupingStore(len(self.items_))
        self._pending: dict[int, Placed] = {}  # by number
        self._left_out: list[LeftOut] = []  # items of subsets that are missing from their answers
        self._strategy = self.strategy if isinstance(self.strategy, Strategy) else STRATEGIES[self.strategy]()
        self._random = check_random_state(self.random_state)
        self._counts = PairCounts.none(len(self.items_))
        self._n_asked = 0
        self._history: list[Round] = []
        self._fitted: SubsetFusion | None = None
        self._samples: np.ndarray | None = None
        self._n_sampled = 0  # groupings that the samples are of

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle or a file holds: the groupings joined, and records as tuples of their fields."""
        state: dict[str, Any] = vars(self).copy()
        state["_groupings"] = state.pop("_store").joined()
        state["_pending"] = [_values(placed.subset) for placed in self._pending.values()]
        state["_left_out"] = [
            (*_values(missing.subset), [plain(name) for name in self.items_[missing.answered]])
            for missing in self._left_out
        ]
        state["_counts"] = _values(self._counts)
        state["_history"] = [_values(done) for done in self._history]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the result of `__getstate__`; places of items are looked up by their names."""
        items, groupings = state["items_"], state["_groupings"]
        for name in state.keys() - {"_groupings"}:
            setattr(self, name, state[name])
        self._store = GroupingStore(len(items), [] if groupings is None else [groupings])
        pending = [Placed.of(Subset(*values), items) for values in state["_pending"]]
        self._pending = {placed.subset.number: placed for placed in pending}
        self._left_out = [
            LeftOut(subset, assignments.places_of(items, subset.items), assignments.places_of(items, answered))
            for *values, answered in state["_left_out"]
            for subset in [Subset(*values)]
        ]
        self._counts = PairCounts(*state["_counts"])
        self._history = [Round(*values) for values in state["_history"]]

    @property
    def groupings_(self) -> Groupings | None:
        """All groupings so far; None if there are none."""
        return self._store.joined()

    def ask(
        self, n_subsets: int = 1, size: int = 8, *, annotators: Names | None = None, candidates: Any = None
    ) -> list[Subset]:
        """Compose the next subsets.

        Parameters
        ----------
        n_subsets : int, default=1
            How many subsets, to be answered in parallel: each takes into account that the others are presented.
        size : int, default=8
            Number of distinct items in each, at least 2.
        annotators : list of names, or one name for one subset, optional
            The annotator that each subset is for; no item is presented to an annotator twice.
        candidates : list or dict of lists of items, optional
            Choose among these instead of composing: for prepared material, or recorded answers. `size` is then not
            used. No candidate is chosen twice within a call.

        Returns
        -------
        list of Subset

        Raises
        ------
        InputError
            Fewer than `size` items are left to present, because of the quota or because the annotator has seen the
            others; the size, the number or a candidate is wrong.
        """
        if not is_whole(n_subsets, 1):
            raise InputError(f"'n_subsets' must be a positive int. Got {n_subsets!r} instead.")
        recipients = assignments.annotators_of(annotators, n_subsets)
        if candidates is None and not (is_whole(size, 2) and size <= len(self.items_)):
            raise InputError(f"'size' must be an int from 2 to the number of items, {len(self.items_)}. Got {size!r}.")
        pending = [placed.places for placed in self._pending.values()]
        pool = None if candidates is None else Pool.of(self.items_, assignments.candidates_of(candidates), pending)
        between = math.ceil(n_subsets / posterior_samples.MOST_UPDATES)  # subsets with the same samples
        counts = self._counts.with_subsets(pending)
        times_asked = assignments.times_asked(self._store, [*pending, *(missing.places for missing in self._left_out)])
        new: list[tuple[Int[np.ndarray, " size"], Any]] = []
        for number, annotator in enumerate(recipients):
            if number % between == 0:
                samples = cache(self._posterior)
            allowed = self._allowed(annotator, times_asked, [places for places, whose in new if whose == annotator])
            situation = Situation(counts, times_asked, len(self._store), allowed, samples)
            if pool is None:
                assignments.require_left(allowed, size, annotator, quota=self.max_per_item)
                chosen = np.array(self._strategy.compose(situation, size, self._rng()))  # a copy, since it is kept
            else:
                place = pool.choose(self._strategy, situation, self._rng())
                chosen, pool = pool.subsets[place], pool.without(place)
            new.append((chosen, annotator))
            counts = counts.with_subsets([chosen])
            times_asked = times_asked + np.isin(np.arange(len(times_asked)), chosen)
        return [self._present(chosen, annotator) for chosen, annotator in new]

    def tell(self, groupings: Any, *, subset: Any = None, annotator: Any = None) -> ActiveSession:
        """Add an answer, or further groupings.

        Parameters
        ----------
        groupings : list of lists of names, dict, Series, or Groupings
            The groups of one answer: lists of items; a dict of such lists by the name of the group; or a dict or Series
            with the group of each item, None or NaN for none. Items of the subset may be missing. Or Groupings,
            collected in any way, with annotators of their own.
        subset : Subset, optional
            The subset that is answered, which is then no longer pending.
        annotator : name, optional
            The annotator of the answer; by default that of the subset, or else a new one.

        Returns
        -------
        ActiveSession

        Raises
        ------
        InputError
            The answer is not made of groups; an item is not in the session, not in the subset, or in two groups; the
            subset is not pending; the session already has a grouping of these `Groupings`.

        Warns
        -----
        AnnotationWarning
            An item is in a group twice; it is counted once.
        """
        if isinstance(groupings, Groupings):
            if subset is not None or annotator is not None:
                raise InputError(
                    "Groupings already name their annotators: use 'subset' and 'annotator' only with a single answer."
                )
            assignments.places_of(self.items_, list(groupings.items))
            answers.require_new(groupings, self._store.keys)
            _require_names(groupings, self.items_)
            new = groupings.reindex(self.items_)
        else:
            new = self._as_groupings(answers.groups_of(groupings), subset, annotator)
        new = replace(new, named=True)
        self._store.add(new)
        self._counts = self._counts.with_groupings(new)
        if subset is not None:
            self._record_left_out(new, subset, annotator)
            del self._pending[subset.number]
        return self

    def withdraw(self, subset: Any) -> ActiveSession:
        """Stop waiting for the answer to a subset.

        Parameters
        ----------
        subset : Subset
            One of `pending_`.

        Returns
        -------
        ActiveSession
            The session itself.

        Raises
        ------
        InputError
            It is not pending.
        """
        self._require_pending(subset, Subset, "subset")
        del self._pending[subset.number]
        return self

    def without(self, annotators: Names) -> ActiveSession:
        """Return a new session that never heard some annotators, such as people who did not take the task seriously.

        The session itself stays as it is. The new one has the same items and parameters, the groupings of everybody
        else, and waits for the subsets that others were given, under the same numbers. Nothing that was derived from
        the annotators is left: no round of `stability_`, no consensus, and random numbers begin again with
        `random_state`. So it equals a session that was told only what the others said.

        Parameters
        ----------
        annotators : iterable of names, or one name
            Annotators of `groupings_`, or those for whom a subset is pending.

        Returns
        -------
        ActiveSession

        Raises
        ------
        InputError
            The session does not know an annotator.

        Examples
        --------
        >>> from consilience.active import ActiveSession
        >>> session = ActiveSession(["ant", "bee", "cow"], random_state=0)
        >>> _ = session.tell([["ant", "bee"], ["cow"]], annotator="Ann")
        >>> _ = session.tell([["ant"], ["bee", "cow"]], annotator="Mallory")
        >>> session.without("Mallory").groupings_.annotators.tolist()
        ['Ann']
        """
        dropped = self._known_annotators(annotators)
        new: ActiveSession = clone(self)
        groupings = self.groupings_
        if groupings is not None:
            others = [name for name in groupings.annotators if name not in dropped]
            if others:
                new.tell(groupings.restrict(annotators=others))
        for missing in self._left_out:
            if missing.subset.annotator not in dropped:
                new._count_left_out(missing)
        new._pending = {
            number: placed for number, placed in self._pending.items() if placed.subset.annotator not in dropped
        }
        new._n_asked = self._n_asked
        return new

    @property
    def pending_(self) -> list[Subset]:
        """Subsets presented and not yet answered."""
        return [placed.subset for placed in self._pending.values()]

    def consensus(self) -> SubsetFusion:
        """Fuse all groupings so far; adds a round to `stability_` if there are new groupings since the last.

        Returns
        -------
        SubsetFusion

        Raises
        ------
        InputError
            There are no groupings.
        """
        if self._fitted is not None and self._fitted.groupings_.n_groupings == len(self._store):
            return self._fitted
        groupings = self._groupings_or_error()
        previous = None if self._fitted is None else self._fitted.labels_
        self._fitted = self._fusion().fit(groupings)
        labels = self._fitted.labels_
        stability = np.nan
        if previous is not None:
            both = (previous >= 0) & (labels >= 0)
            stability = nmi(previous[both], labels[both])
        self._history.append(Round(groupings.n_groupings, groupings.n_rows, self._fitted.n_clusters_, stability))
        return self._fitted

    @property
    def stability_(self) -> pd.DataFrame:
        """Agreement of each consensus with the previous one."""
        columns = [field.name for field in fields(Round)]
        rounds = pd.RangeIndex(1, len(self._history) + 1, name="round")
        return pd.DataFrame([_values(done) for done in self._history], columns=columns, index=rounds)

    def should_stop(
        self,
        *,
        rule: str = "reliability",
        floor: Real | None = None,
        n_splits: int = 4,
        tolerance: float = 0.02,
        patience: int = 3,
    ) -> Decision:
        """Whether more groupings would hardly change the consensus.

        Parameters
        ----------
        rule : "reliability" or "stability", default="reliability"
            By the reliability of the consensus, estimated as in `groupings_needed`; or by the paper's rule, for which
            `consensus` must have been called between rounds: whether the stability is high and has stopped falling.
        floor : float, optional
            Lowest reliability or stability to stop at: by default 0.94 or 0.9.
        n_splits : int, default=4
            Number of random splits of the groupings into halves, for the reliability.
        tolerance : float, default=0.02
            Largest fall of the stability between consecutive rounds; rises do not matter.
        patience : int, default=3
            Number of rounds in which the stability must have been at the floor without falling more.

        Returns
        -------
        Decision
            True if it is time to stop, by its reliability not before four people sorted; `reason` says why or why not.
        """
        if not (is_number(tolerance, zero=True) and is_whole(patience, 1) and is_whole(n_splits, 1)):
            raise InputError(
                "'tolerance' must be a number of at least 0, 'patience' and 'n_splits' positive ints. Got "
                f"{tolerance!r}, {patience!r} and {n_splits!r}."
            )
        if not (is_one_of(rule, FLOORS) and (floor is None or is_number(floor, zero=True))):
            raise InputError(
                "'rule' must be 'reliability' or 'stability', and 'floor' None or a number of at least 0. Got "
                f"{rule!r} and {floor!r}."
            )
        floor = FLOORS[rule] if floor is None else floor
        if rule == "stability":
            return decide(self.stability_["stability"], tolerance=tolerance, patience=patience, floor=floor)
        n_groupings = len(self._store)
        if n_groupings < FEWEST_TO_SPLIT:
            return Decision(False, f"There are {n_groupings} groupings; halves need at least {FEWEST_TO_SPLIT}.")
        n_people = self._groupings_or_error().n_annotators
        return decide_by_reliability(self._reliability(n_splits), floor=floor, n_people=n_people)

    def groupings_needed(self, target: float = 0.9, *, n_splits: int = 4) -> Forecast:
        """Estimate how many groupings a target reliability needs; see `consilience.active.stability`.

        Parameters
        ----------
        target : float, default=0.9
            Target reliability, in (0, 1).
        n_splits : int, default=4
            Number of random splits of the groupings into halves.

        Returns
        -------
        Forecast

        Raises
        ------
        InputError
            There are fewer than four groupings, or a half of them holds fewer items than the clusters that the fusion
            must find; or the target is wrong.
        """
        if not (is_number(target) and target < 1 and is_whole(n_splits, 1)):
            raise InputError(
                f"'target' must be a number in (0, 1) and 'n_splits' a positive int. Got {target!r}, {n_splits!r}."
            )
        groupings = self._groupings_or_error()
        if groupings.n_groupings < FEWEST_TO_SPLIT:
            raise InputError(
                f"At least {FEWEST_TO_SPLIT} groupings tell how many are needed: halves of them are compared. Got "
                f"{groupings.n_groupings}."
            )
        return forecast(groupings, self._reliability(n_splits), target, n_items=len(self.items_))

    def _known_annotators(self, annotators: Names) -> set[Any]:
        """Return annotators as a set of names; raise an InputError if the session does not know one."""
        known = {name for name, _ in self._store.keys}
        known |= {placed.subset.annotator for placed in (*self._pending.values(), *self._left_out)} - {None}
        names = list_names(annotators, "annotators")
        for name in names:
            assignments.require_annotator(name)
            if name not in known:
                hint = near_spelling(name, known)
                raise InputError(f"The session does not know the annotator {name!r}.{hint}")
        return set(names)

    def _allowed(
        self, annotator: Any, times_asked: Int[np.ndarray, " items"], new: list[np.ndarray]
    ) -> Bool[np.ndarray, " items"]:
        """Whether a subset for an annotator may hold each item, if the `new` subsets are presented to them too."""
        allowed = np.full(len(self.items_), True) if self.max_per_item is None else times_asked < self.max_per_item
        if annotator is None:
            return allowed
        placed = [*self._pending.values(), *self._left_out]
        others = [other.places for other in placed if other.subset.annotator == annotator]
        return allowed & ~assignments.seen_by(annotator, self._store, [*others, *new])

    def _present(self, chosen: Int[np.ndarray, " size"], annotator: Any) -> Subset:
        self._n_asked += 1
        subset = Subset(self._n_asked, [plain(name) for name in self.items_[chosen]], annotator)
        self._pending[subset.number] = Placed(subset, chosen)
        return subset

    def _as_groupings(self, groups: dict[Any, list[Any]], subset: Any, annotator: Any) -> Groupings:
        assignments.require_annotator(annotator)
        if subset is not None:
            self._require_pending(subset, Subset, "subset")
            annotator = subset.annotator if annotator is None else annotator
            answers.require_inside(groups, subset)
        key = answers.new_key(annotator, len(self._store) + 1, self._store.keys)
        return answers.as_groupings(groups, self.items_, key)

    def _record_left_out(self, answer: Groupings, subset: Subset, annotator: Any) -> None:
        """Record the items of a subset that are missing from the answer: they count as presented all the same."""
        if len(answer.annotators):  # else nothing was answered, and only what was told says by whom
            annotator = answer.annotators[0]
        elif annotator is None:
            annotator = subset.annotator
        missing = answers.left_out(answer, self._pending[subset.number], annotator)
        if missing.subset.items:
            self._count_left_out(missing)

    def _count_left_out(self, missing: LeftOut) -> None:
        self._left_out.append(missing)
        self._counts = self._counts.with_subsets(missing.pairs)

    def _groupings_or_error(self) -> Groupings:
        groupings = self.groupings_
        if groupings is None or not groupings.n_rows:
            raise InputError("The session has no groupings yet; add them with tell.")
        return groupings

    def _fusion(self) -> SubsetFusion:
        fusion = SubsetFusion() if self.fusion is None else clone(self.fusion)
        if fusion.random_state is None:
            fusion.random_state = self._random.randint(2**31 - 1)
        return fusion

    def _reliability(self, n_splits: int) -> float:
        in_order = arrange(self._groupings_or_error()).ordered  # so that the order in which they came in is no matter
        return split_half_reliability(in_order, self._fused_half, n_splits=n_splits, rng=self._rng())

    def _fused_half(self, half: Groupings) -> Int[np.ndarray, " items"]:
        fusion = self._fusion()
        require_items(half, fusion.n_clusters, len(self._store))
        return fusion.fit_predict(half)

    def _posterior(self) -> posterior_samples.Samples:
        """Return samples of the clusters from the posterior of the mixture, each continued from its last state."""
        groupings = self.groupings_
        if groupings is None or not groupings.n_rows:
            return posterior_samples.initial(len(self.items_))
        fusion = SubsetFusion() if self.fusion is None else self.fusion
        n_found = 0 if self._fitted is None else self._fitted.n_clusters_
        n_clusters = posterior_samples.n_clusters_of(fusion, len(self.items_), n_found)
        n_new = groupings.n_groupings - self._n_sampled
        self._samples = posterior_samples.update_samples(groupings, self._samples, n_clusters, self._rng(), n_new=n_new)
        self._n_sampled = groupings.n_groupings
        return self._samples.copy()  # a strategy may write into it


def _values(record: Any) -> tuple[Any, ...]:
    """Return the values of a dataclass, in the order of its fields."""
    return tuple(getattr(record, field.name) for field in fields(record))


def _require_names(groupings: Groupings, items: pd.Index) -> None:
    """Raise a MatchingError if the items of groupings are numbered rows and those of the session have names."""
    if not groupings.named and not is_default(items):
        raise MatchingError(
            f"The items of the groupings are numbered rows, but those of the session have names (such as "
            f"{plain(items[0])!r}); name them with from_matrix(…, items=…)."
        )
