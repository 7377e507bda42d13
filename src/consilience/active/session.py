"""Ask and tell: compose subsets, take groupings, fuse them, say when to stop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, compress
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Int
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state

from consilience.active.informative import Informative
from consilience.active.pair_counts import PairCounts
from consilience.active.stability import Decision, Forecast, decide, factor_for, split_half_reliability
from consilience.active.strategies import (
    ExploitOneVsRest,
    ExploitPairwise,
    Explore,
    ExploreExploitTradeoff,
    Random,
    Situation,
    Strategy,
)
from consilience.annotations import Groupings, concat
from consilience.annotations.names import MISSING, name_index, plain
from consilience.consensus import SubsetFusion, fusing
from consilience.consensus import grouping_mixture as mixture
from consilience.errors import InputError
from consilience.inference.memberships import Memberships
from consilience.metrics import nmi
from consilience.parameters import is_number, is_whole, require

STRATEGIES: dict[str, type[Strategy]] = {
    "random": Random,
    "explore": Explore,
    "exploit-pairwise": ExploitPairwise,
    "exploit-one-vs-rest": ExploitOneVsRest,
    "explore-exploit": ExploreExploitTradeoff,
    "informative": Informative,
}
N_SAMPLES = 16  # draws of the clusters that strategies are given
FIRST_SWEEPS, SWEEPS = 10, 3  # of each draw, when it begins, and before each use
SPARE_CLUSTERS = 2  # times the clusters found, where their number is not given
FEWEST_SAMPLE_CLUSTERS = 10  # in the draws then

Samples = Callable[[], np.ndarray]


@dataclass(frozen=True)
class Subset:
    """Items to be put before an annotator together.

    Attributes
    ----------
    number : int
        Of the subset in its session, from 1.
    items : list of names
    annotator : name, or None
        Whom it was composed for.
    """

    number: int
    items: list[Any]
    annotator: Any = None


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
    random_state : int, RandomState instance or None, default=None

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
        Items that are none, missing or repeated; parameters of the wrong kind.

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

    def __init__(
        self,
        items: Any,
        *,
        strategy: Any = "informative",
        fusion: Any = None,
        max_per_item: Any = None,
        random_state: Any = None,
    ) -> None:
        self.items = items if isinstance(items, list | pd.Index) else list(items)  # so that it can be read twice
        self.strategy = strategy
        self.fusion = fusion
        self.max_per_item = max_per_item
        self.random_state = random_state
        self._begin()

    def _begin(self) -> None:
        named = isinstance(self.strategy, str) and self.strategy in STRATEGIES
        known = named or isinstance(self.strategy, Strategy)
        require(self, "strategy", f"one of {', '.join(map(repr, STRATEGIES))}, or a Strategy", known)
        ours = self.fusion is None or isinstance(self.fusion, SubsetFusion)
        require(self, "fusion", "a SubsetFusion or None", ours)
        quota = self.max_per_item is None or is_whole(self.max_per_item, 1)
        require(self, "max_per_item", "a positive int or None", quota)
        self.items_ = _distinct(self.items)
        self.groupings_: Groupings | None = None
        self._pending: list[tuple[int, list[Any], Any]] = []
        self._left_out: list[tuple[list[Any], Any]] = []
        self._strategy = self.strategy if isinstance(self.strategy, Strategy) else STRATEGIES[self.strategy]()
        self._strategy.check()
        self._random = check_random_state(self.random_state)
        self._counts = PairCounts.none(len(self.items_))
        self._n_asked = 0
        self._n_told = 0
        self._history: list[tuple[int, int, int, float]] = []
        self._fitted: SubsetFusion | None = None
        self._samples: np.ndarray | None = None

    def ask(
        self,
        n_subsets: int = 1,
        size: int = 8,
        *,
        annotators: Sequence[Any] | None = None,
        candidates: Sequence[Iterable[Any]] | None = None,
    ) -> list[Subset]:
        """Compose the next subsets.

        Parameters
        ----------
        n_subsets : int, default=1
            How many, to be answered side by side: each takes into account that the others are asked.
        size : int, default=8
            Distinct items in each, at least 2.
        annotators : list of names, optional
            Whom each subset is for; nobody is asked about an item twice.
        candidates : list of lists of items, optional
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
        if annotators is not None and len(annotators) != n_subsets:
            raise InputError(f"There must be one annotator for each of {n_subsets} subsets. Got {len(annotators)}.")
        if candidates is None and not (is_whole(size, 2) and size <= len(self.items_)):
            raise InputError(f"'size' must be an int from 2 to the number of items, {len(self.items_)}. Got {size!r}.")
        whom: Sequence[Any] = [None] * n_subsets if annotators is None else annotators
        pool = None if candidates is None else self._pool([list(items) for items in candidates])
        samples = cache(self._posterior)  # of this call: what is asked tells nothing of the clusters
        before = self._pending, self._n_asked
        counts = self._counts.with_subsets([self._places(subset.items) for subset in self.pending_])
        times_asked = self._times_asked()
        asked = []
        try:
            for annotator in whom:
                allowed = self._allowed(annotator, times_asked)
                situation = Situation(counts, times_asked, self._n_told, allowed, samples)
                if pool is None:
                    chosen = self._compose(size, situation, annotator)
                else:
                    chosen = pool.choose(self._strategy, situation, self._rng())
                asked.append(self._put_out(chosen, annotator))
                counts = counts.with_subsets([chosen])
                times_asked = times_asked + np.isin(np.arange(len(times_asked)), chosen)
        except InputError:
            self._pending, self._n_asked = before
            raise
        return asked

    def tell(self, groupings: Any, *, subset: Subset | None = None, annotator: Any = None) -> ActiveSession:
        """Take what was answered.

        Parameters
        ----------
        groupings : list of lists of names, or Groupings
            The groups of one answer; items of the subset may be missing. Or groupings, however collected, by
            annotators of their own.
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
            An item that the session does not know, or that was not in the subset; an item twice; a subset that is not
            pending; a grouping of `Groupings` that was told before.
        """
        if isinstance(groupings, Groupings):
            if subset is not None or annotator is not None:
                raise InputError("Groupings say themselves whose they are: give 'subset' and 'annotator' with groups.")
            new = self._known(groupings)
        else:
            new = self._answer([list(group) for group in groupings], subset, annotator)
        told = new if self.groupings_ is None else concat([self.groupings_, new])
        self.groupings_ = told
        self._counts = self._counts.with_groupings(new)
        self._n_told += new.n_groupings
        if subset is not None:
            self._leave_out(new, subset, annotator)
            self._settle(subset)
        return self

    def withdraw(self, subset: Subset) -> ActiveSession:
        """Give up waiting for the answer to a subset."""
        self._require_pending(subset)
        self._settle(subset)
        return self

    @property
    def pending_(self) -> list[Subset]:
        """Subsets asked and not yet answered."""
        return [Subset(*parts) for parts in self._pending]

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
        groupings = self._told()
        if self._fitted is not None and self._fitted.groupings_.n_groupings == groupings.n_groupings:
            return self._fitted
        before = None if self._fitted is None else self._fitted.labels_
        self._fitted = self._fused(groupings)
        labels = self._fitted.labels_
        stability = np.nan
        if before is not None:
            both = (before >= 0) & (labels >= 0)
            stability = nmi(before[both], labels[both])
        self._history.append((groupings.n_groupings, groupings.n_rows, self._fitted.n_clusters_, stability))
        return self._fitted

    @property
    def stability_(self) -> pd.DataFrame:
        """Agreement of each consensus with the one before."""
        columns = ["n_groupings", "n_memberships", "n_clusters", "stability"]
        rounds = pd.RangeIndex(1, len(self._history) + 1, name="round")
        return pd.DataFrame(self._history, columns=columns, index=rounds)

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
            Fewer than four groupings were told, or a wrong target.
        """
        if not (is_number(target) and target < 1 and is_whole(n_splits, 1)):
            raise InputError(
                f"'target' must be a number in (0, 1) and 'n_splits' a positive int. Got {target!r}, {n_splits!r}."
            )
        groupings = self._told()
        if groupings.n_groupings < 4:
            raise InputError(f"Halves can be compared from 4 groupings on. Got {groupings.n_groupings}.")
        fuse = lambda some: self._fusion().fit_predict(some)  # noqa: E731
        reliability = split_half_reliability(groupings, fuse, n_splits=n_splits, rng=self._rng())
        needed = factor_for(reliability, target) * groupings.n_groupings
        return Forecast(
            reliability=reliability,
            target=target,
            groupings=needed,
            more=max(needed - groupings.n_groupings, 0.0),
            per_item=needed * groupings.n_rows / groupings.n_groupings / len(self.items_),
        )

    def _compose(self, size: int, situation: Situation, annotator: Any) -> Int[np.ndarray, " size"]:
        n_allowed = int(situation.allowed.sum())
        if n_allowed < size:
            reason = "" if annotator is None else f" of annotator {annotator!r}, who is asked about no item twice,"
            raise InputError(
                f"{n_allowed} items are left to ask{reason} and a subset holds {size}: raise 'max_per_item', ask "
                "another annotator, or stop."
            )
        return self._strategy.compose(situation, size, self._rng())

    def _allowed(self, annotator: Any, times_asked: Int[np.ndarray, " items"]) -> Bool[np.ndarray, " items"]:
        allowed = np.ones(len(self.items_), dtype=bool)
        if self.max_per_item is not None:
            allowed &= times_asked < self.max_per_item
        if annotator is not None:
            for subset in self.pending_:
                if subset.annotator == annotator:
                    allowed[self._places(subset.items)] = False
            left_out = [item for items, whose in self._left_out if whose == annotator for item in items]
            allowed[self._places(left_out)] = False
            if self.groupings_ is not None and annotator in self.groupings_.annotators:
                seen = self.groupings_.restrict(annotators=[annotator]).incidence
                allowed[np.diff(seen.indptr) > 0] = False
        return allowed

    def _times_asked(self) -> Int[np.ndarray, " items"]:
        times = np.zeros(len(self.items_), dtype=np.int64)
        if self.groupings_ is not None:
            times += np.diff(self.groupings_.incidence.indptr)
        for subset in self.pending_:
            times[self._places(subset.items)] += 1
        np.add.at(times, self._places([item for items, _ in self._left_out for item in items]), 1)
        return times

    def _put_out(self, chosen: Int[np.ndarray, " size"], annotator: Any) -> Subset:
        self._n_asked += 1
        subset = Subset(self._n_asked, [plain(name) for name in self.items_[chosen]], annotator)
        self._pending = [*self._pending, (subset.number, subset.items, subset.annotator)]
        return subset

    def _answer(self, groups: list[list[Any]], subset: Subset | None, annotator: Any) -> Groupings:
        if subset is not None:
            self._require_pending(subset)
            annotator = subset.annotator if annotator is None else annotator
            other = [item for group in groups for item in group if item not in set(subset.items)]
            if other:
                raise InputError(f"Item {other[0]!r} was not in subset {subset.number}.")
        name, number = self._name_of_answer(annotator)
        rows = [(item, name, number, place + 1) for place, group in enumerate(groups) for item in group]
        self._places([row[0] for row in rows])
        frame = pd.DataFrame(rows, columns=["item", "annotator", "grouping", "group"])
        return Groupings.from_frame(frame, items=self.items_)

    def _name_of_answer(self, annotator: Any) -> tuple[Any, int]:
        """Annotator and grouping that nothing told so far bears."""
        number, told = self._n_told + 1, self._grouping_keys()
        if annotator is not None:
            while (annotator, number) in told:
                number += 1
            return annotator, number
        annotators = {whose for whose, _ in told}
        while f"answer {number}" in annotators:
            number += 1
        return f"answer {number}", number

    def _grouping_keys(self) -> set[tuple[Any, Any]]:
        return set() if self.groupings_ is None else set(self.groupings_.vocabulary.grouping_keys())

    def _known(self, groupings: Groupings) -> Groupings:
        self._places(list(groupings.items))
        told = self._grouping_keys()
        for annotator, grouping in groupings.vocabulary.grouping_keys():
            if (annotator, grouping) in told:
                raise InputError(
                    f"Grouping {grouping!r} of annotator {annotator!r} was told before. If it is another, give it "
                    "another name."
                )
        return groupings.reindex(self.items_)

    def _leave_out(self, answer: Groupings, subset: Subset, annotator: Any) -> None:
        """Keep in mind which items of a subset the answer leaves out: they were asked and presented all the same."""
        places = self._places(subset.items)
        there = np.diff(answer.incidence.indptr)[places] > 0
        if there.all():
            return
        items = [item for item, said in zip(subset.items, there) if not said]
        self._left_out.append((items, subset.annotator if annotator is None else annotator))
        pairs = [np.array([one, other]) for one, other in combinations(places, 2)]
        silent = [not (one and other) for one, other in combinations(there, 2)]
        self._counts = self._counts.with_subsets(list(compress(pairs, silent)))

    def _settle(self, subset: Subset) -> None:
        self._pending = [parts for parts in self._pending if parts[0] != subset.number]

    def _require_pending(self, subset: Subset) -> None:
        if subset.number not in {other.number for other in self.pending_}:
            raise InputError(f"Subset {subset.number} is not pending: it was answered or withdrawn, or never asked.")

    def _places(self, names: Iterable[Any]) -> Int[np.ndarray, " names"]:
        wanted = name_index(list(names))
        place: np.ndarray = self.items_.get_indexer(wanted)
        if (place == MISSING).any():
            raise InputError(f"Item {plain(wanted[place == MISSING][0])!r} is not one of the session's.")
        return place

    def _pool(self, candidates: list[list[Any]]) -> _Pool:
        if not candidates or not all(candidates):
            raise InputError("'candidates' must hold at least one subset, and each at least one item.")
        item = self._places([name for items in candidates for name in items])
        candidate = np.repeat(np.arange(len(candidates)), [len(items) for items in candidates])
        repeated = pd.DataFrame({"candidate": candidate, "item": item}).duplicated().to_numpy()
        if repeated.any():
            name = plain(self.items_[item[repeated][0]])
            raise InputError(f"Item {name!r} is twice in candidate {candidate[repeated][0] + 1}.")
        taken = {frozenset(self._places(subset.items).tolist()) for subset in self.pending_}
        return _Pool(item, candidate, taken)

    def _told(self) -> Groupings:
        if self.groupings_ is None or not self.groupings_.n_rows:
            raise InputError("No grouping was told yet.")
        return self.groupings_

    def _fusion(self) -> SubsetFusion:
        fusion = SubsetFusion() if self.fusion is None else clone(self.fusion)
        if fusion.random_state is None:
            fusion.random_state = self._random.randint(2**31 - 1)
        return fusion

    def _fused(self, groupings: Groupings) -> SubsetFusion:
        return self._fusion().fit(groupings)

    def _posterior(self) -> Int[np.ndarray, "samples items"]:
        """Draws of the clusters from the posterior of the mixture, each moved on from where it was."""
        groupings = self.groupings_
        if groupings is None or not groupings.n_rows:  # nothing is known, and all pairs are alike
            return np.tile(np.arange(len(self.items_)), (N_SAMPLES, 1))
        memberships = Memberships.of(groupings)
        crowd = replace(
            memberships, annotator_of_grouping=np.zeros_like(memberships.annotator_of_grouping), n_annotators=1
        )
        layout, rng = mixture.Layout.of(crowd), self._rng()
        n_clusters, sweeps = self._n_sample_clusters(), SWEEPS
        if self._samples is None or self._samples.max() >= n_clusters:
            self._samples, sweeps = _first_samples(crowd, n_clusters, rng), FIRST_SWEEPS
        state = mixture.init(layout, self._samples[rng.integers(N_SAMPLES)], n_clusters)
        concentration = mixture.learn_concentration(layout, state).concentration
        temperature = float(np.clip(0.1 * groupings.n_rows / len(self.items_), 0.5, 1.0))
        for number, cluster in enumerate(self._samples):
            state = mixture.State(cluster, n_clusters, concentration)
            for _ in range(sweeps):
                state, _ = mixture.sample(layout, state, rng=rng, temperature=temperature)
            self._samples[number] = state.cluster
        return self._samples.copy()

    def _n_sample_clusters(self) -> int:
        fusion = SubsetFusion() if self.fusion is None else self.fusion
        if fusion.n_clusters != "auto":
            return min(int(fusion.n_clusters), len(self.items_))
        most = min(fusion.max_clusters, len(self.items_))
        found = 0 if self._fitted is None else self._fitted.n_clusters_
        return min(max(SPARE_CLUSTERS * found, FEWEST_SAMPLE_CLUSTERS), most)

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(self._random.randint(2**31 - 1, size=4))


class _Pool:
    """Subsets to choose among, and which of them are still open."""

    def __init__(
        self, item: Int[np.ndarray, " rows"], candidate: Int[np.ndarray, " rows"], taken: set[frozenset[int]]
    ) -> None:
        self.item, self.candidate = item, candidate
        self.subsets = np.split(item, np.flatnonzero(np.diff(candidate)) + 1)
        self.sets = [frozenset(subset.tolist()) for subset in self.subsets]
        self.open = np.array([items not in taken for items in self.sets])

    def choose(self, strategy: Strategy, situation: Situation, rng: np.random.Generator) -> Int[np.ndarray, " size"]:
        """Return the subset that the strategy prefers of those that are open and all of whose items are allowed."""
        barred = np.bincount(self.candidate, ~situation.allowed[self.item], len(self.subsets)) > 0
        left = np.flatnonzero(self.open & ~barred)
        if not len(left):
            raise InputError(
                f"None of {len(self.subsets)} candidates is left to ask: each is pending, or holds an item too often "
                "asked."
            )
        best = int(left[strategy.prefer(situation, [self.subsets[place] for place in left], rng)])
        self.open &= np.array([items != self.sets[best] for items in self.sets])
        return self.subsets[best]


def _first_samples(memberships: Memberships, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Clusters by k-means from as many random starts as there are samples."""
    places = fusing.coordinates(memberships, "degree", min(n_clusters, memberships.n_items)).for_clusters(n_clusters)
    return np.stack([fusing.kmeans(places, n_clusters, rng=rng) for _ in range(N_SAMPLES)])


def _distinct(items: Any) -> pd.Index:
    names = name_index(list(items))
    if not len(names):
        raise InputError("The 'items' parameter of ActiveSession must hold at least one item.")
    if names.has_duplicates:
        raise InputError(f"Item {plain(names[names.duplicated()][0])!r} is twice among the 'items' of ActiveSession.")
    if names.isna().any() or any(isinstance(name, str) and not name.strip() for name in names):
        raise InputError("An item of the 'items' of ActiveSession has no name (None, NaN or blank).")
    return names
