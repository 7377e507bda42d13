"""One clustering from the summaries of sites: each site is an annotator of `SubsetFusion`.

A site whose names and table do not belong together, by a wrong column or a shifted row, sends groups that have nothing
to do with anybody else's. Such sites are found before the fit: with every other site, the first groupings of the items
that both have are no more associated, by chi-squared, than with the items of one of them shuffled. They are left out,
and named. The distribution of chi-squared is not taken from the books, since cells hold few items: it found
associations that are not there too often.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import random_table
from sklearn.metrics import adjusted_rand_score

from consilience.annotations import Groupings
from consilience.annotations.types import NumberOfClusters, RandomSource
from consilience.consensus import SubsetFusion
from consilience.errors import InputError
from consilience.sites.summary import NO_GROUP, SiteSummary

NO_ASSOCIATION = 0.01  # smallest p-value of a site with the others, times their number, above which it is left out
FEWEST_SHARED = 20  # items, below which two sites are not compared
SHUFFLED = 10  # times that shuffled items would by chance be as associated as the level of the test says
CELLS = 2_000_000  # of shuffled tables in memory at a time


@dataclass(frozen=True)
class FusedSites:
    """The clustering of all items of all sites.

    Attributes
    ----------
    labels : Series of int, indexed by item
        Cluster of each item, numbered from 0 by decreasing size.
    probabilities : Series of float, indexed by item
        Probability of that cluster, given this solution.
    sites : DataFrame, indexed by site
        n_items; shared, the number of them that another site has too; n_groups of all groupings; agreement, the
        adjusted Rand index of the site's first grouping with the clusters; weight, 0 for a site that is left out.
    left_out : list of str
        Sites whose groups have nothing to do with those of any other.
    notes : list of str
        What limits the answer, such as sites that are left out or share nothing with others.
    groupings : Groupings
        What the sites said.
    model : SubsetFusion
        The fitted model.
    """

    labels: pd.Series
    probabilities: pd.Series
    sites: pd.DataFrame
    left_out: list[str]
    notes: list[str]
    groupings: Groupings
    model: SubsetFusion


def fuse_sites(
    summaries: Iterable[SiteSummary],
    n_clusters: NumberOfClusters = "auto",
    *,
    keep_all: bool = False,
    random_state: RandomSource = None,
) -> FusedSites:
    """Fuse the summaries of several sites into one clustering of all their items.

    Parameters
    ----------
    summaries : iterable of SiteSummary
        At least two, by different sites.
    n_clusters : "auto" or int, default="auto"
    keep_all : bool, default=False
        Also keep sites whose groups have nothing to do with those of any other.
    random_state : int, RandomState, Generator or None, default=None
        An int makes the result reproducible.

    Returns
    -------
    FusedSites

    Raises
    ------
    InputError
        There are fewer than two summaries, two have the same site, some names are hashed and others are not, or no two
        sites share an item.

    References
    ----------
    Veeramachaneni & O'Reilly, Clustering using subset groupings: groupings by sites whose data may not move.
    """
    given = list(summaries)
    shared = _check_overlap(given)
    left_out = [] if keep_all else find_unrelated(given)
    groupings = as_groupings(one for one in given if one.site not in left_out)
    model = SubsetFusion(n_clusters, random_state=random_state).fit(groupings)
    labels = pd.Series(model.labels_, index=model.items_, name="cluster")
    probabilities = pd.Series(model.responsibilities_.max(1), index=model.items_, name="probability")
    sites = _sites_table(given, shared, labels, model)
    notes = _notes(given, left_out, sites, labels) + list(model.notes_)
    return FusedSites(labels, probabilities, sites, left_out, notes, groupings, model)


def find_unrelated(summaries: Sequence[SiteSummary]) -> list[str]:
    """Return the sites whose groups have nothing to do with those of any other, if there are others that agree.

    There are none if no two sites are associated, since then nothing says which are wrong; and none are sites that
    share too few items with each other one to tell.
    """
    n_sites = len(summaries)
    p_values = np.full((n_sites, n_sites), np.nan)
    for a in range(n_sites):
        for b in range(a + 1, n_sites):
            p_values[a, b] = p_values[b, a] = association(
                summaries[a], summaries[b], n_shuffled=math.ceil(SHUFFLED * (n_sites - 1) / NO_ASSOCIATION)
            )
    compared = (~np.isnan(p_values)).sum(1)
    # without a comparison, nanmin would warn
    smallest = np.where(compared > 0, np.nanmin(np.where(np.isnan(p_values), np.inf, p_values), axis=1), 0.0)
    apart = smallest * np.maximum(compared, 1) > NO_ASSOCIATION  # the smallest of several, so times their number
    related = compared > 0
    return (
        [one.site for one, is_apart in zip(summaries, apart, strict=True) if is_apart]
        if (related & ~apart).any()
        else []
    )


def association(one: SiteSummary, other: SiteSummary, *, n_shuffled: int) -> float:
    """Return the p-value of independence of the groups of two sites; NaN if they share too few items.

    one, other : their order makes no difference.
    n_shuffled : number of shuffled tables with which that of their groups is compared.
    """
    first, second = sorted((one, other), key=lambda summary: summary.site)
    pairs = pd.concat([_first_groups(first), _first_groups(second)], axis=1, join="inner")
    if len(pairs) < FEWEST_SHARED:
        return np.nan
    table = pd.crosstab(pairs.iloc[:, 0], pairs.iloc[:, 1]).to_numpy()
    if min(table.shape) < 2:
        return 1.0
    rows, columns = table.sum(1), table.sum(0)
    expected = np.outer(rows, columns)
    least = (table**2 / expected).sum() * (1 - 1e-9)  # equal sums may be rounded apart
    shuffled, rng, reached, left = random_table(rows, columns), np.random.default_rng(0), 0, n_shuffled
    while left:  # the same tables at every call
        drawn = shuffled.rvs(min(left, max(CELLS // table.size, 1)), random_state=rng)
        reached += int(((drawn**2 / expected).sum((1, 2)) >= least).sum())
        left -= len(drawn)
    return (1 + reached) / (1 + n_shuffled)


def _first_groups(summary: SiteSummary) -> pd.Series:
    groups = pd.Series(summary.groups[:, 0], index=pd.Index(summary.items, dtype=object))
    return groups[groups != NO_GROUP]


def as_groupings(summaries: Iterable[SiteSummary]) -> Groupings:
    """Return summaries as groupings, in which each site is an annotator."""
    frames = []
    for summary in summaries:
        for number, group in enumerate(summary.groups.T, 1):
            told = group != NO_GROUP
            items = np.array(summary.items, dtype=object)[told]
            frames.append(
                pd.DataFrame(
                    {
                        "item": items,
                        "annotator": summary.site,
                        "grouping": f"{summary.site} {number}",
                        "group": group[told],
                    }
                )
            )
    return Groupings.from_frame(pd.concat(frames, ignore_index=True))


def _check_overlap(summaries: list[SiteSummary]) -> pd.Series:
    """Return how many items of each site another one has too."""
    if len(summaries) < 2:
        raise InputError(f"At least two summaries are needed. Got {len(summaries)}.")
    names = [summary.site for summary in summaries]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"Two summaries are by the site {name!r}; give the newer one, or rename a site.")
    hashed = {summary.hashed_names for summary in summaries}
    if len(hashed) > 1:
        of = [next(one.site for one in summaries if one.hashed_names is kind) for kind in (True, False)]
        raise InputError(
            f"The site {of[0]!r} sent keyed hashes and {of[1]!r} sent names, so that items cannot be matched."
        )
    times = pd.Series(np.concatenate([np.array(summary.items, dtype=object) for summary in summaries])).value_counts()
    twice = set(times.index[times > 1])
    shared = pd.Series([len(twice & set(summary.items)) for summary in summaries], index=names)
    if not twice:
        raise InputError(
            f"No two sites share an item, so that nothing links their groups. {names[0]!r} has items such as "
            f"{summaries[0].items[0]!r}, {names[1]!r} such as {summaries[1].items[0]!r}"
            + ("; hashes differ if the keys do." if True in hashed else ".")
        )
    return shared


def _sites_table(
    summaries: list[SiteSummary], shared: pd.Series, labels: pd.Series, model: SubsetFusion
) -> pd.DataFrame:
    found: Any = model.annotators_
    names = [summary.site for summary in summaries]
    return pd.DataFrame(
        {
            "n_items": [summary.n_items for summary in summaries],
            "shared": shared.to_numpy(),
            "n_groups": [int((summary.groups.max(0) + 1).sum()) for summary in summaries],
            "agreement": [_agreement(summary, labels) for summary in summaries],
            "weight": found["weight"].reindex(names).fillna(0.0).to_numpy(),
        },
        index=pd.Index(names, name="site"),
    )


def _agreement(summary: SiteSummary, labels: pd.Series) -> float:
    """Return the adjusted Rand index of a site's first grouping with the clusters; NaN if there is no item of both."""
    both = pd.concat([_first_groups(summary), labels], axis=1, join="inner")
    return adjusted_rand_score(both.iloc[:, 0], both.iloc[:, 1]) if len(both) else np.nan


def _notes(summaries: list[SiteSummary], left_out: list[str], sites: pd.DataFrame, labels: pd.Series) -> list[str]:
    notes = []
    for summary in summaries:
        if summary.site in left_out:
            only_there = len(set(summary.items) - set(labels.index))
            notes.append(
                f"The groups of the site {summary.site!r} have nothing to do with those of any other, as if its names "
                f"and its table did not belong together; it is left out"
                + (f", and {only_there:,} items that only it has are in no cluster." if only_there else ".")
            )
    alone = sites.index[sites["shared"] == 0]
    return notes + [
        f"The site {name!r} shares no item with another, so that its items have clusters of their own."
        for name in alone
    ]
