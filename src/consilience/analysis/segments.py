"""Segments of a panel: groups of annotators whose sorts are more similar than those of one panel would be.

Annotators are at the distance sqrt(2 (1 - RV)) of their centred co-occurrence matrices, each scaled to length 1, and
joined by Ward's hierarchy, as in CLUSTATIS (F. Llobell, V. Cariou, E. Vigneau, A. Labenne & E. M. Qannari 2020,
Analysis and clustering of multiblock datasets by means of the STATIS and CLUSTATIS methods, Food Quality and Preference
79): the sum of squares within a segment is the distance of its members to their mean.

The number of segments
----------------------
From the whole panel downwards, each branch of the tree is tested: is the share of its sum of squares that its two parts
explain larger than in simulated panels without segments (`consilience.analysis.one_panel`)? If so, it is split, and
its parts are tested in turn; else it is a segment. The p-value is the rank of the real panel among the simulated ones.
The level for a branch of m of M annotators is 0.05 (m - 1) / (M - 1), so that a panel without segments is split in at
most 5 of 100 studies (P. K. Kimes, Y. Liu, D. N. Hayes & J. S. Marron 2017, Statistical significance for hierarchical
clustering, Biometrics 73).

Decided here
------------
Once as many simulated panels as make a split impossible, and at least ten, explain as much, no more are simulated, and
the p-value is their share (J. Besag & P. Clifford 1991, Sequential Monte Carlo p-values, Biometrika 78). So what is
split is the same.

One or two people are no segment: where a branch has a part of fewer than three, these are set apart, and the other part
is tested instead.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from consilience.analysis.one_panel import OnePanel, mean_rv
from consilience.analysis.rv import ScalarProducts, SortTable, scalar_products
from consilience.annotations import Groupings
from consilience.annotations.fit_arguments import as_groupings
from consilience.annotations.types import Integer, Literal, RandomSource
from consilience.consensus.groupings.subset_fusion_estimator import SubsetFusion
from consilience.errors import AnnotationWarning, InputError
from consilience.inference.memberships import Memberships, count_presented, together
from consilience.inference.progress import counting
from consilience.inference.randomness import spawn_generator
from consilience.inference.threads import one_blas_thread
from consilience.metrics.clusterings import ari

__all__ = ["PanelSegments", "panel_segments"]

LEVEL = 0.05
ENOUGH = 10  # simulated panels, at least, that explain as much, after which no more are simulated
FEWEST = 3  # annotators of a segment
FEWEST_ITEMS = 4
APART = -1  # segment of annotators who are in none


@dataclass(frozen=True)
class PanelSegments:
    """Groups of annotators by the similarity of their sorts; see `panel_segments`.

    Attributes
    ----------
    annotators : DataFrame, one row for each annotator
        ``segment``, numbered from 0, the largest first, -1 for annotators who are in none; ``weight`` in the compromise
        of DISTATIS, of sum 1; ``rv_panel``, RV coefficient with the compromise of the panel; ``rv_segment``, with that
        of the segment. NaN for annotators who put all their items together.
    segments : DataFrame, one row for each segment
        ``n_annotators``; ``rv``, mean RV coefficient of two members; ``rv_panel``, mean RV coefficient of the members
        with the compromise of the panel; ``rv_segment``, with that of the segment; ``n_clusters`` of the members'
        groupings; ``agreement``, adjusted Rand index of these clusters with those of the panel.
    tests : DataFrame, one row for each branch of the tree that was tested
        ``n_annotators`` of the branch, and ``n_smaller`` of its smaller part; ``explained``, the share of its sum of
        squares that the parts explain; ``expected``, the mean share in simulated panels; ``p_value``; ``level``; and
        ``split``, whether it was split.
    items : DataFrame, one row for each item
        The cluster of the item in the ``panel``, and in each segment if there are several; -1 if no member sorted it.
    pairs : DataFrame
        For each segment, pairs of items that its members put together more or less often than the others:
        ``segment``, ``item_a``, ``item_b``, ``share``, ``share_others``, ``difference``; the largest difference first.
    rv : float
        Mean RV coefficient of two annotators of the panel.
    """

    annotators: pd.DataFrame
    segments: pd.DataFrame
    tests: pd.DataFrame
    items: pd.DataFrame
    pairs: pd.DataFrame
    rv: float

    @property
    def n_segments(self) -> int:
        """Number of segments; 1 for one panel."""
        return len(self.segments)


def panel_segments(
    groupings: Any,
    *,
    n_segments: Integer | Literal["auto"] = "auto",
    n_simulations: Integer = 199,
    clusters: Any = None,
    random_state: RandomSource = None,
) -> PanelSegments:
    """Find groups of annotators who sort alike, or find that they are one panel.

    Annotators are joined by Ward's hierarchy of their RV coefficients. A branch is split into two segments if its parts
    explain more than they do in simulated panels whose members all see the items alike, with as much noise and as many
    groups each. So at most about 5 of 100 panels without segments are split.

    Parameters
    ----------
    groupings : Groupings, Labels, or array of shape (n_items, n_annotators)
        At least 4 items; every annotator should have sorted most of them.
    n_segments : int or "auto", default="auto"
        A number cuts the tree into as many segments, without regard to the test.
    n_simulations : int, default=199
        Number of simulated panels for each test; at least 19.
    clusters : array of int, shape (n_items,), optional
        Clusters of the panel with which those of segments are compared, -1 for none; by default those that SubsetFusion
        finds, as it does in the segments.
    random_state : int, RandomState, Generator or None, default=None
        An int makes the result reproducible.

    Returns
    -------
    PanelSegments

    Raises
    ------
    InputError
        The annotations are Pairs or an array of another shape; there are too few items, or too many items and
        annotators; or a parameter is out of range.

    References
    ----------
    Llobell, Cariou, Vigneau, Labenne & Qannari (2020). Analysis and clustering of multiblock datasets by means of the
    STATIS and CLUSTATIS methods. Food Quality and Preference 79.

    Kimes, Liu, Hayes & Marron (2017). Statistical significance for hierarchical clustering. Biometrics 73.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.inspection import panel_segments
    >>> rng = np.random.default_rng(0)
    >>> by_shape, by_colour = np.arange(18) % 3, np.arange(18) // 6
    >>> sorts = [np.where(rng.random(18) < 0.1, rng.integers(3, size=18), by) for by in [by_shape, by_colour] * 8]
    >>> found = panel_segments(np.transpose(sorts), random_state=0)
    >>> found.segments["n_annotators"].tolist()
    [8, 8]
    """
    groupings, products = scalar_products(as_groupings(groupings, None, "panel_segments"), "panel_segments")
    _check(groupings, n_segments, n_simulations)
    rng = spawn_generator(random_state)
    speaking = np.flatnonzero(np.isfinite(products.rv.diagonal()))
    with one_blas_thread():
        if isinstance(n_segments, str):
            members, tests = _split_branches(groupings, products, speaking, int(n_simulations), rng)
        else:
            members, tests = _cut(products, speaking, int(n_segments)), []
    return _describe_segments(groupings, products, members, tests, _panel_clusters(groupings, clusters))


def _check(groupings: Groupings, n_segments: Any, n_simulations: Any) -> None:
    if groupings.n_items < FEWEST_ITEMS:
        raise InputError(f"panel_segments needs at least {FEWEST_ITEMS} items. Got {groupings.n_items}.")
    if not isinstance(n_segments, str) or n_segments != "auto":
        whole = isinstance(n_segments, int | np.integer) and not isinstance(n_segments, bool)
        if not whole or not 1 <= n_segments <= groupings.n_annotators:
            raise InputError(
                "The 'n_segments' parameter of panel_segments must be 'auto' or an int from 1 to the number of "
                f"annotators, {groupings.n_annotators}. Got {n_segments!r} instead."
            )
    whole = isinstance(n_simulations, int | np.integer) and not isinstance(n_simulations, bool)
    if not whole or n_simulations < 19:
        raise InputError(
            "The 'n_simulations' parameter of panel_segments must be an int of at least 19. "
            f"Got {n_simulations!r} instead."
        )


@dataclass(frozen=True)
class Branch:
    """The parts of a branch that are compared: places of annotators, and the share of the sum of squares explained."""

    parts: tuple[Int[np.ndarray, " first"], Int[np.ndarray, " second"]]
    explained: float


def top_branch(products: ScalarProducts) -> Branch | None:
    """Return the uppermost branch of the tree both of whose parts can be segments; None if there is none.

    Parts that are too small are set apart, and the sum of squares is that of the others.
    """
    left = np.arange(len(products.products))
    while len(left) >= 2 * FEWEST:
        distance = distances(products)[np.ix_(left, left)]
        part = fcluster(linkage(squareform(distance, checks=False), "ward"), 2, "maxclust")
        first, second = left[part == 1], left[part == 2]
        if min(len(first), len(second)) >= FEWEST:
            squares = distances(products) ** 2
            within = sum(_sum_of_squares(squares, each) for each in (first, second))
            # not 0 / 0 if all sort alike
            return Branch((first, second), 1 - within / max(_sum_of_squares(squares, left), 1e-12))
        if not len(first) or not len(second):
            return None
        left = max(first, second, key=len)
    return None


def distances(products: ScalarProducts) -> Float[np.ndarray, "annotators annotators"]:
    """Distances of the annotators' matrices, each scaled to length 1."""
    return np.sqrt(2 * np.clip(1 - products.filled, 0.0, None))  # coefficients exceed 1 by rounding alone


def _sum_of_squares(squares: Float[np.ndarray, "annotators annotators"], members: Int[np.ndarray, " members"]) -> float:
    return float(squares[np.ix_(members, members)].sum() / (2 * len(members)))


def _split_branches(
    groupings: Groupings,
    products: ScalarProducts,
    speaking: Int[np.ndarray, " speaking"],
    n_simulations: int,
    rng: np.random.Generator,
) -> tuple[list[np.ndarray], list[dict[str, Any]]]:
    """Split branches as far as tests allow; return the members of each segment, and the tests."""
    sorts = SortTable.of(groupings)
    waiting, members, tests = [speaking], list[np.ndarray](), list[dict[str, Any]]()
    while waiting:
        branch = waiting.pop(0)
        own = products.some(branch)
        found = top_branch(own)
        if found is None:
            members.append(branch)
            continue
        most = max(ENOUGH, int(LEVEL * (1 + n_simulations)) + 1)
        drawn = simulate_shares(sorts.of_annotators(branch), own, n_simulations, rng, stop=(found.explained, most))
        above = int((drawn >= found.explained).sum())
        p_value = most / len(drawn) if above == most else (1 + above) / (1 + n_simulations)
        level = LEVEL * (len(branch) - 1) / max(len(speaking) - 1, 1)
        split = p_value <= level
        tests.append(
            {
                "n_annotators": len(branch),
                "n_smaller": min(map(len, found.parts)),
                "explained": found.explained,
                "expected": float(drawn.mean()),
                "p_value": p_value,
                "level": level,
                "split": split,
            }
        )
        if split:
            waiting += [branch[part] for part in found.parts]
        else:
            members.append(branch)
    return members, tests


def simulate_shares(
    sorts: SortTable,
    products: ScalarProducts,
    n_simulations: int,
    rng: np.random.Generator,
    *,
    stop: tuple[float, int] = (np.inf, 1),
) -> Float[np.ndarray, " simulations"]:
    """Return the share that the top branch explains in simulated panels without segments; 0 if there is no branch.

    stop : a share, and in how many panels it must be reached for no more to be simulated.
    """
    panel, explained, above = OnePanel.like(sorts, products, rng), list[float](), 0
    with counting("simulated panels", n_simulations) as done:
        while len(explained) < n_simulations and above < stop[1]:
            found = top_branch(panel.draw(rng))
            explained.append(0.0 if found is None else found.explained)
            above += explained[-1] >= stop[0]
            done.update()
    return np.array(explained)


def _cut(products: ScalarProducts, speaking: Int[np.ndarray, " speaking"], n_segments: int) -> list[np.ndarray]:
    """Cut the tree into segments of any size."""
    if n_segments == 1 or len(speaking) < 2:
        return [speaking]
    distance = distances(products.some(speaking))
    part = fcluster(linkage(squareform(distance, checks=False), "ward"), n_segments, "maxclust")
    return [speaking[part == number] for number in np.unique(part)]


def _describe_segments(
    groupings: Groupings,
    products: ScalarProducts,
    members: list[np.ndarray],
    tests: list[dict[str, Any]],
    panel: Int[np.ndarray, " items"],
) -> PanelSegments:
    members = sorted(members, key=lambda each: (-len(each), each.min(initial=0)))
    segment = np.full(groupings.n_annotators, APART)
    for number, each in enumerate(members):
        segment[each] = number
    rv_panel = products.with_matrix(products.compromise(products.weights))
    rv_segment = np.full(groupings.n_annotators, np.nan)
    for each in members:
        own = products.some(each)
        rv_segment[each] = own.with_matrix(own.compromise(own.weights))
    annotators = pd.DataFrame(
        {"segment": segment, "weight": products.weights, "rv_panel": rv_panel, "rv_segment": rv_segment},
        index=groupings.annotators.rename("annotator"),
    )
    items = _clusters(groupings, members, panel)
    columns = ["n_annotators", "n_smaller", "explained", "expected", "p_value", "level", "split"]
    return PanelSegments(
        annotators=annotators,
        segments=_segments(products, members, annotators, items),
        tests=pd.DataFrame(tests, columns=columns),
        items=items,
        pairs=_pairs(groupings, members),
        rv=mean_rv(products),
    )


def _panel_clusters(groupings: Groupings, clusters: Any) -> Int[np.ndarray, " items"]:
    """Return the clusters that were given, or those of a fusion."""
    if clusters is None:
        return _fuse(groupings)
    found = np.asarray(clusters)
    if found.shape != (groupings.n_items,) or not np.issubdtype(found.dtype, np.integer):
        raise InputError(
            f"The 'clusters' parameter of panel_segments must be an array of {groupings.n_items} ints, one for each "
            f"item. Got {found.dtype} of shape {found.shape} instead."
        )
    return found.astype(np.intp)


def _clusters(groupings: Groupings, members: list[np.ndarray], panel: Int[np.ndarray, " items"]) -> pd.DataFrame:
    """Clusters of the items in the panel, and in each segment if there are several."""
    items = pd.DataFrame({"panel": panel}, index=groupings.items.rename("item"))
    for number, each in enumerate(members if len(members) > 1 else []):
        items[number] = _fuse(groupings.restrict(annotators=groupings.annotators[each]))
    return items


def _fuse(groupings: Groupings) -> Int[np.ndarray, " items"]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnnotationWarning)  # that some items are in no grouping, for one
        return np.asarray(SubsetFusion(random_state=0).fit(groupings).labels_)


def _segments(
    products: ScalarProducts, members: list[np.ndarray], annotators: pd.DataFrame, items: pd.DataFrame
) -> pd.DataFrame:
    """One row for each segment."""
    rows = []
    for number, each in enumerate(members):
        own = items[number if number in items else "panel"].to_numpy()
        known = (own >= 0) & (items["panel"].to_numpy() >= 0)
        rows.append(
            {
                "n_annotators": len(each),
                "rv": mean_rv(products.some(each)),
                "rv_panel": annotators["rv_panel"].iloc[each].mean(),
                "rv_segment": annotators["rv_segment"].iloc[each].mean(),
                "n_clusters": len(np.unique(own[own >= 0])),
                "agreement": ari(items["panel"].to_numpy()[known], own[known]) if known.any() else np.nan,
            }
        )
    return pd.DataFrame(rows).rename_axis("segment")


def _pairs(groupings: Groupings, members: list[np.ndarray]) -> pd.DataFrame:
    """Pairs of items that a segment puts together more or less often than the annotators outside it."""
    columns = ["segment", "item_a", "item_b", "share", "share_others", "difference"]
    if len(members) < 2:
        return pd.DataFrame(columns=columns)
    memberships, names = Memberships.of(groupings), groupings.items
    first, second = np.triu_indices(len(names), 1)
    found = []
    for number, each in enumerate(members):
        inside = np.isin(memberships.annotator_of_grouping, each).astype(float)
        share, others = (_shares(memberships, weights)[first, second] for weights in (inside, 1 - inside))
        frame = pd.DataFrame({"segment": number, "item_a": names[first], "item_b": names[second], "share": share})
        frame["share_others"], frame["difference"] = others, share - others
        frame = frame[frame["difference"].notna() & (frame["difference"] != 0)]
        found.append(frame.sort_values("difference", key=np.abs, ascending=False, kind="stable"))
    return pd.concat(found, ignore_index=True)


def _shares(memberships: Memberships, weights: Float[np.ndarray, " groupings"]) -> Float[np.ndarray, "items items"]:
    """Share of the presentations of two items in which they were put together, of the groupings of weight 1."""
    counts, of = (count(memberships, weights).toarray() for count in (together, count_presented))
    return np.divide(counts, of, out=np.full(of.shape, np.nan), where=of > 0)
