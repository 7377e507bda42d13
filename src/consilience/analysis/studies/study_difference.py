"""The difference of two studies of the same items: whether there is one, and what moved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from consilience.analysis.studies.agreement import agreement_table
from consilience.analysis.studies.clusters import MatchedClusters, cluster_table, matched_clusters
from consilience.analysis.studies.detectable import POWER, power_table
from consilience.analysis.studies.pair_table import pair_table
from consilience.analysis.studies.permutation import LEVEL, MovedItems, Permutations, assignments, moved_items
from consilience.analysis.studies.prepared import TwoStudies
from consilience.annotations.types import AnnotationsLike, Flag, Integer, NumberOfClusters, RandomSource
from consilience.errors import InputError
from consilience.estimators.parameters import AUTO, whole
from consilience.inference.randomness import spawn_generator
from consilience.inference.threads import one_blas_thread

__all__ = ["StudyDifference", "study_difference"]

N_WEIGHTINGS = 2000  # of the intervals of agreement


@dataclass(frozen=True)
class StudyDifference:
    """What two studies of the same items differ in; see `study_difference`.

    Attributes
    ----------
    names : tuple of str
        Names of the first and the second study.
    n_people : tuple of int
        Number of annotators of each who grouped at least two of the items in common.
    n_same_people : int
        Number of people who took part in both studies, if that was said.
    p_value : float
        Probability of a difference of at least this size if both studies are of one population: the share of
        permutations of people between the studies that reach it.
    n_permutations : int
    correlation : float
        Of the two studies' shares of togetherness, over pairs of items.
    usual_correlation, low_correlation : float
        Mean and 5 % quantile of the same for two random groups of these people of the same sizes.
    agreement : DataFrame
        Mean adjusted Rand index of two people within the first study, within the second, and between the two, and of
        people with themselves if they took part in both; `agreement`, `low` and `high` (95 % interval over people).
    items : DataFrame, indexed by item
        `change`, the mean absolute change of the shares of its pairs; `by_chance`, its mean over permutations;
        `p_value`, corrected for the number of items; `moved`, whether it is among the items that moved; `first` and
        `second`, its cluster in either study, where the same number is a corresponding cluster; `probability` of these
        two clusters (NaN without draws). In the order of the first study.
    moved : list of names
        Items that moved, the clearest first.
    p_rest : float
        P-value of the difference in the other items alone.
    pairs : DataFrame
        One row for each pair of items: `item_a`, `item_b`; `first` and `second`, the share of those who saw both that
        put them together; `n_first` and `n_second`, how many people that are; `difference` (second less first) with a
        95 % interval `low` and `high`; `p_value`, corrected for the number of pairs. The clearest changes come first.
    clusters : DataFrame, indexed by cluster
        `n_first` and `n_second`, its items in either study, and `called_first` and `called_second`, what most
        annotators call it ("" if no two do).
    flow : DataFrame
        Number of items in each cluster of the first study (rows) and each of the second (columns).
    power : DataFrame, indexed by n_items
        `found`: the share of simulated studies of this size in which the test would find that so many items changed
        places with items of other clusters.
    only_first, only_second : Index
        Items that are in one study only. They are not compared.
    notes : list of str
        What was left out or taken for granted.
    """

    names: tuple[str, str]
    n_people: tuple[int, int]
    n_same_people: int
    p_value: float
    n_permutations: int
    correlation: float
    usual_correlation: float
    low_correlation: float
    agreement: pd.DataFrame
    items: pd.DataFrame
    moved: list[Any]
    p_rest: float
    pairs: pd.DataFrame
    clusters: pd.DataFrame
    flow: pd.DataFrame
    power: pd.DataFrame
    only_first: pd.Index
    only_second: pd.Index
    notes: list[str] = field(default_factory=list)

    @property
    def differ(self) -> bool:
        """Whether the studies differ more than two groups of the same people would (p-value of at most 0.05)."""
        return self.p_value <= LEVEL

    @property
    def detectable(self) -> int | None:
        """Fewest items that, had they changed places, would be found in 4 of 5 such studies; None if none would."""
        enough = self.power.index[self.power["found"] >= POWER]
        return int(enough[0]) if len(enough) else None

    @property
    def moves(self) -> pd.DataFrame:
        """Items that are in another cluster in the second study, the most probable first."""
        elsewhere = self.items[self.items["first"] != self.items["second"]]
        return elsewhere.sort_values(["moved", "probability"], ascending=False, kind="stable")

    def matrix(self, column: str = "difference") -> pd.DataFrame:
        """Return a column of `pairs` as a symmetric matrix.

        Parameters
        ----------
        column : {"difference", "first", "second", "p_value"}

        Returns
        -------
        DataFrame, shape (n_items, n_items)
            NaN on the diagonal.

        Raises
        ------
        InputError
            There is no such column of numbers.
        """
        numeric = [name for name in self.pairs.columns if not name.startswith("item_")]
        if column not in numeric:
            raise InputError(
                f"The 'column' parameter of matrix must be one of {', '.join(numeric)}. Got {column!r} instead."
            )
        names = self.items.index
        a, b = (names.get_indexer(pd.Index(self.pairs[end])) for end in ("item_a", "item_b"))
        values = np.full((len(names), len(names)), np.nan)
        values[a, b] = values[b, a] = self.pairs[column]
        return pd.DataFrame(values, index=names, columns=names)


def study_difference(
    first: AnnotationsLike,
    second: AnnotationsLike,
    *,
    names: tuple[str, str] = ("first", "second"),
    same_people: Flag = False,
    n_clusters: NumberOfClusters = "auto",
    n_permutations: Integer = 999,
    n_draws: Integer = 100,
    random_state: RandomSource = None,
) -> StudyDifference:
    """Say whether two studies of the same items differ, and what moved: before and after, two panels, two countries.

    Two studies never agree perfectly, since other people were asked. So the difference is compared with those of
    random groups of the same people: people are exchanged between the studies, and the shares of people who put each
    two items together are compared again. Items and pairs are named only if the studies differ as a whole, with
    p-values that are corrected for their number; so any claim about studies that do not differ is made with a
    probability of at most 0.05.

    Parameters
    ----------
    first, second : Groupings, Labels, DataFrame or array of shape (n_items, n_annotators)
        What the people of either study said. Items are matched by name, or by row if they have none. Names of groups
        and labels are not compared.
    names : tuple of two str, default=("first", "second")
        Names of the studies.
    same_people : bool, default=False
        Whether annotators of the same name are the same people: what they said before is then exchanged with what they
        said after, and people who differ from each other hide no change. By default all are different people.
    n_clusters : "auto" or int, default="auto"
        Number of clusters of each study. "auto": the number that `SubsetFusion` finds for the people of both together.
    n_permutations : int, default=999
        Number of permutations of people between the studies; at least 99.
    n_draws : int, default=100
        Number of times that the clusters of each study are found again, as another group of people might have led to
        them, for the probabilities of moves, which studies of fewer than four people do not have. 0 for none.
    random_state : int, RandomState, Generator or None, default=None
        An int makes the result reproducible.

    Returns
    -------
    StudyDifference

    Raises
    ------
    InputError
        The annotations are Pairs; the studies have fewer than three items in common, or more than 1,000, or fewer than
        two people who grouped them; or a parameter is out of range.

    References
    ----------
    Anderson (2001). A new method for non-parametric multivariate analysis of variance. Austral Ecology 26. Westfall &
    Young (1993). Resampling-based multiple testing. Newcombe (1998). Interval estimation for the difference between
    independent proportions. Statistics in Medicine 17.

    Examples
    --------
    >>> from consilience import Groupings
    >>> from consilience.inspection import study_difference
    >>> before = Groupings.from_lists([[["ant", "bee", "owl"], ["cow", "pig", "dog"]]] * 8)
    >>> after = Groupings.from_lists([[["ant", "bee"], ["cow", "pig", "dog", "owl"]]] * 8)
    >>> found = study_difference(before, after, names=("before", "after"), random_state=0)
    >>> found.differ, found.moved
    (True, ['owl'])
    """
    names = _check_arguments(names, same_people, n_clusters, n_permutations, n_draws)
    prepared = TwoStudies.of(first, second, names, same_people=bool(same_people))
    rng = spawn_generator(random_state)
    with one_blas_thread():
        in_first = assignments(prepared.first, prepared.partner, int(n_permutations), rng)
        measured = Permutations.of(prepared.table, in_first)
        moved = moved_items(prepared.table, in_first, measured)
        clusters = matched_clusters(prepared.studies, n_clusters, int(n_draws), rng)
        power = power_table(prepared.table, in_first, measured, clusters.pooled, rng)
        agreement = agreement_table(prepared.agreement, prepared.first, prepared.partner, names, N_WEIGHTINGS, rng)
    return StudyDifference(
        names=names,
        n_people=prepared.n_people,
        n_same_people=int((prepared.partner >= 0).sum()) // 2,
        p_value=measured.p_value,
        n_permutations=measured.n_permutations,
        **_correlations(measured.correlation),
        agreement=agreement,
        items=_item_table(prepared.items, measured, moved, clusters),
        moved=prepared.items[moved.items].tolist(),
        p_rest=moved.p_rest,
        pairs=pair_table(prepared.table, prepared.items, prepared.first, measured),
        clusters=cluster_table(prepared.studies, clusters),
        flow=clusters.flow().rename_axis(index=names[0], columns=names[1]),
        power=power,
        only_first=prepared.only[0],
        only_second=prepared.only[1],
        notes=prepared.notes,
    )


def _check_arguments(
    names: Any, same_people: Any, n_clusters: Any, n_permutations: Any, n_draws: Any
) -> tuple[str, str]:
    """Return the names of the studies. Raises InputError: a parameter is out of range."""
    asked = {
        "n_clusters": (AUTO | whole(1), n_clusters),
        "n_permutations": (whole(99, 100_000), n_permutations),
        "n_draws": (whole(0, 10_000), n_draws),
    }
    for name, (requirement, value) in asked.items():
        if not requirement.holds(value):
            raise InputError(
                f"The {name!r} parameter of study_difference must be {requirement.expected}. Got {value!r} instead."
            )
    if n_draws == 1:
        raise InputError("The 'n_draws' parameter of study_difference must be 0, or at least 2. Got 1 instead.")
    if not isinstance(same_people, bool | np.bool_):
        raise InputError(
            f"The 'same_people' parameter of study_difference must be True or False. Got {same_people!r} instead."
        )
    both = [str(name).strip() for name in names] if isinstance(names, tuple | list) else []
    if len(both) != 2 or not all(both) or both[0] == both[1]:
        raise InputError(
            f"The 'names' parameter of study_difference must be two different names. Got {names!r} instead."
        )
    return both[0], both[1]


def _correlations(found: Float[np.ndarray, " assignments"]) -> dict[str, float]:
    usual = found[1:][np.isfinite(found[1:])]
    return {
        "correlation": float(found[0]),
        "usual_correlation": float(usual.mean()) if len(usual) else np.nan,
        "low_correlation": float(np.quantile(usual, LEVEL)) if len(usual) else np.nan,
    }


def _item_table(items: pd.Index, measured: Permutations, moved: MovedItems, clusters: MatchedClusters) -> pd.DataFrame:
    columns = {
        "change": measured.change[0],
        "by_chance": measured.change[1:].mean(0),
        "p_value": moved.p_value,
        "moved": np.isin(np.arange(len(items)), moved.items),
        "first": clusters.first,
        "second": clusters.second,
        "probability": clusters.probability,
    }
    return pd.DataFrame(columns, index=items.rename("item"))
