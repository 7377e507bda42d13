"""Which number of clusters of sorts people who were held out agree with, by several rules.

    python benchmarks/number_of_clusters.py [--draws 1 3 5 7 9] [--each]

The recorded sorts of `benchmarks/people`, and its simulated crowds who sort all items: a fifth of the people is held
out in each draw, and `SubsetFusion` is fitted to the others. Rules choose among the same clusterings. Log loss: of the
pairs of the held-out people, by the clusters. Agreement: mean adjusted Rand index of the held-out people's groups with
the clusters. NMI: with the classes. "Repeated": pairs that come out again under weights of people with as many
clusters, beyond chance. "About as good": mean agreement with the people of the fit at most one standard error behind
the best. A rule is better (b) or worse (w) than the largest silhouette on a set if the
difference over its people is more than two standard errors from 0, else level (l). Rules were developed on draws with
even numbers; by default odd ones are used, in which every recorded person is held out once.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator, Mapping
from unittest.mock import patch

import numpy as np
import pandas as pd

from benchmarks.people.grouping_crowds import SIMULATED, SORTS, simulated, sorts
from benchmarks.people.grouping_methods import by_clusters
from benchmarks.people.held_out import Crowd, Judgements, held_out, losses, of_people
from consilience.analysis.certainty import chance_share, repeated_pairs
from consilience.consensus import SubsetFusion
from consilience.consensus.groupings import grouping_mixture as mixture
from consilience.consensus.groupings.number_of_clusters import NumberJudge, about_as_good
from consilience.consensus.groupings.weighted_mixture import (
    FIRST_SWEEPS,
    SWEEPS_BETWEEN,
    WeightedLayout,
    WeightedMixtureSearch,
    best_merger,
    settle,
)
from consilience.inference.clusters import agreement_with, quick_kmeans
from consilience.inference.memberships import Memberships
from consilience.inference.reweighted import weights_of_another_group
from consilience.inference.spectral import rows_of_length_one
from consilience.metrics import nmi

Clusterings = Mapping[int, np.ndarray]
CHOOSE = NumberJudge.choose
SILHOUETTE, RULE = "largest silhouette", "largest silhouette of those about as good (the rule)"
N_DRAWS = 6  # under weights of people
FIGURES = {"log loss": -1, "agreement": 1}  # and the sign of what is better


def largest(clusterings: Clusterings, score: Callable[[int], float]) -> int:
    """Return the number, of those that make several clusters, with the largest score."""
    return max((k for k in sorted(clusterings) if k > 1), key=score, default=1)


def repeats_of(judge: NumberJudge, clusterings: Clusterings) -> dict[int, float]:
    """Return what other people would repeat of each number of clusters: (repeats − chance) / (1 − chance).

    Clusters are compared with as many, or the next fewer, under weights of people.
    """
    rng, memberships, most = np.random.default_rng(0), judge.memberships, max(clusterings)
    if most < 2:
        return {}
    search = WeightedMixtureSearch.of(memberships, clusterings[most], range(2, most + 1), rng=rng)
    found: dict[int, list[float]] = {k: [] for k in clusterings}
    for _ in range(N_DRAWS):
        weights = weights_of_another_group(np.arange(memberships.n_annotators), rng)
        drawn = merged_down(search, weights, rng)
        for k, cluster in clusterings.items():
            near = drawn[max((number for number in drawn if number <= k), default=min(drawn))]
            repeats = repeated_pairs(cluster, near).mean() / (len(near) - 1)
            chance = chance_share(cluster, near)
            found[k].append((repeats - chance) / (1 - chance) if chance < 1 else 0.0)
    return {k: float(np.mean(shares)) for k, shares in found.items()}


def merged_down(search: WeightedMixtureSearch, weights: np.ndarray, rng: np.random.Generator) -> dict[int, np.ndarray]:
    """Return clusters of each number that comes out under weights."""
    weighed = WeightedLayout.of(search.tables, weights)
    start = quick_kmeans(rows_of_length_one(search.embedding.points(weights, search.most)), search.most, rng=rng)
    state = mixture.init(search.tables.layout, start, int(start.max()) + 1)
    state = settle(weighed, state, rng=rng, max_sweeps=FIRST_SWEEPS)
    found = {state.n_clusters: state.cluster}
    while state.n_clusters > 2:
        merged = mixture.merge(state, *best_merger(weighed, state))
        state = settle(weighed, merged, rng=rng, max_sweeps=SWEEPS_BETWEEN)
        found[state.n_clusters] = state.cluster
    return found


def people_made(judge: NumberJudge, clusterings: Clusterings) -> Clusterings:
    """Return the clusterings whose number is between the first and the last tenth of those of people's groups."""
    groups = np.bincount(judge.memberships.grouping_of_group, judge.memberships.group_sizes > 0)
    low, high = np.quantile(groups, [0.1, 0.9])
    inside = {k: cluster for k, cluster in clusterings.items() if np.floor(low) <= k <= np.ceil(high)}
    return inside or clusterings


def near_best(judge: NumberJudge, clusterings: Clusterings) -> Clusterings:
    """Return the clusterings of several clusters that agree with people about as well as the best."""
    several = [k for k in sorted(clusterings) if k > 1]
    if not several:
        return clusterings
    agreement = np.stack([agreement_with(judge.memberships, clusterings[k]) for k in several])
    near = about_as_good(agreement, np.ones(judge.memberships.n_annotators))
    return {k: clusterings[k] for k, is_near in zip(several, near, strict=True) if is_near}


Rule = Callable[[NumberJudge, Clusterings, dict[int, float]], int]


RULES: dict[str, Rule] = {  # given what is repeated of each number
    SILHOUETTE: lambda judge, found, repeats: largest(found, lambda k: judge.evidence.score(found[k])),
    RULE: lambda judge, found, repeats: CHOOSE(judge, found),
    "best agreement": lambda judge, found, repeats: largest(found, lambda k: judge.agreement(found[k])),
    "most repeated": lambda judge, found, repeats: largest(found, repeats.__getitem__),
    "most repeated of those that people made": lambda judge, found, repeats: largest(
        people_made(judge, found), repeats.__getitem__
    ),
    "most repeated of those about as good": lambda judge, found, repeats: largest(
        near_best(judge, found), repeats.__getitem__
    ),
    "agreement times repeats": lambda judge, found, repeats: largest(
        found, lambda k: judge.agreement(found[k]) * repeats[k]
    ),
}


def fits(crowd: Crowd, draw: int) -> Iterator[tuple[list[str], SubsetFusion]]:
    """Fit to the people who are not held out by each rule; rules that make the same choices share a fit."""
    annotations = crowd.annotations
    kept = annotations.restrict(annotators=annotations.annotators[~held_out(annotations.n_annotators, draw)])
    left = list(RULES)
    while left:
        alike = list(left)

        def choose(judge: NumberJudge, clusterings: Clusterings, alike: list[str] = alike) -> int:
            repeats = repeats_of(judge, clusterings)
            chosen = {rule: RULES[rule](judge, clusterings, repeats) for rule in alike}
            alike[:] = [rule for rule in alike if chosen[rule] == chosen[alike[0]]]
            return chosen[alike[0]]

        with patch.object(NumberJudge, "choose", choose):
            model = SubsetFusion(random_state=draw).fit(kept)
        yield alike, model
        left = [rule for rule in left if rule not in alike]


def judge_by_held_out(crowd: Crowd, draw: int, model: SubsetFusion) -> pd.DataFrame:
    """Return log loss and agreement of each person who was held out, and what holds for all of them."""
    annotations = crowd.annotations
    out = held_out(annotations.n_annotators, draw)
    judgements = Judgements.of(annotations)
    asked, read = judgements.where(out[judgements.person]), judgements.where(~out[judgements.person])
    cluster = model.labels_[model.items_.get_indexer(annotations.items)]
    pairs = np.column_stack([asked.first, asked.second])
    probability = by_clusters(np.eye(model.n_clusters_)[cluster], read, pairs)
    theirs = Memberships.of(annotations.restrict(annotators=annotations.annotators[out], items=annotations.items))
    return pd.DataFrame(
        {
            "clusters": model.n_clusters_,
            "log loss": of_people(asked, losses(asked.same, probability)),
            "agreement": agreement_with(theirs, cluster),
            "NMI": np.nan if crowd.truth is None else nmi(crowd.truth, cluster),
        }
    )


def crowds(part: str, draw: int) -> Iterator[tuple[str, Crowd]]:
    if part == "sorts":
        yield from ((name, sorts(name)) for name in SORTS)
    else:
        yield from ((name, simulated(name, draw)) for name, kind in SIMULATED.items() if kind.sees_all)


def rows_of(part: str, draws: list[int]) -> pd.DataFrame:
    """Return a row for each rule, set and person who was held out."""
    tables = []
    for draw in draws:
        for name, crowd in crowds(part, draw):
            for alike, model in fits(crowd, draw):
                found = judge_by_held_out(crowd, draw, model)
                tables += [found.assign(rule=rule, set=name, draw=draw) for rule in alike]
    return pd.concat(tables, ignore_index=True)


def verdict_of(gap: pd.Series, sign: int) -> str:
    """Return whether a difference over the people of a set is better, level (within two standard errors) or worse."""
    clear = abs(gap.mean()) > 2 * gap.std(ddof=1) / np.sqrt(gap.count())
    return "l" if not clear else "b" if sign * gap.mean() > 0 else "w"


def table_of(rows: pd.DataFrame) -> str:
    """Return the means of each rule over sets, and on how many it is better, level or worse than the silhouette."""
    of_rule = {rule: rows[rows["rule"] == rule].reset_index(drop=True) for rule in RULES}
    before = of_rule[SILHOUETTE]
    lines = [f"{'':52s}clusters  log loss  - silhouette  b  l  w  agreement  - silhouette  b  l  w     NMI"]
    for rule, own in of_rule.items():
        means = own.groupby("set", sort=False)[[*FIGURES, "clusters", "NMI"]].mean()
        line = f"{rule:52s}{means['clusters'].mean():8.1f}"
        for figure, sign in FIGURES.items():
            gap = own[figure] - before[figure]
            of_sets = gap.groupby(own["set"])
            marks = [verdict_of(gaps, sign) for _, gaps in of_sets]
            counts = "".join(f"{marks.count(mark):3d}" for mark in "blw")
            line += f"  {means[figure].mean():8.3f}        {of_sets.mean().mean():+.3f}{counts}"
        lines.append(line + ("" if means["NMI"].isna().all() else f"   {means['NMI'].mean():.3f}"))
    return "\n".join(lines)


def pooled(rows: pd.DataFrame) -> str:
    """Return the differences of the rule from the largest silhouette over all people, with standard errors."""
    own, before = (rows[rows["rule"] == rule].reset_index(drop=True) for rule in (RULE, SILHOUETTE))
    gaps = [own[figure] - before[figure] for figure in FIGURES]
    texts = [f"{name} {gap.mean():+.4f} ± {gap.sem():.4f}" for name, gap in zip(FIGURES, gaps)]
    return f"{RULE}, over {len(own):,} people: {', '.join(texts)}"


def table_of_sets(rows: pd.DataFrame) -> str:
    means = rows[rows["rule"].isin([SILHOUETTE, RULE])].groupby(["set", "rule"], sort=False)
    means = means[["clusters", *FIGURES]].mean()
    lines = [f"{'before, after':32s}clusters        log loss          agreement"]
    for name in means.index.unique("set"):
        before, after = means.loc[(name, SILHOUETTE)], means.loc[(name, RULE)]
        line = f"{name:32s}{before['clusters']:5.1f} {after['clusters']:5.1f}"
        lines.append(line + "".join(f"     {before[figure]:.3f}  {after[figure]:.3f}" for figure in FIGURES))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, nargs="+", default=[1, 3, 5, 7, 9])
    parser.add_argument("--each", action="store_true", help="also print a line for each set of recorded sorts")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for part, title in (("sorts", "recorded sorts"), ("simulated", "kinds of simulated crowds who sort all items")):
        rows = rows_of(part, given.draws)
        print(f"{rows['set'].nunique()} {title}\n{table_of(rows)}\n{pooled(rows)}\n", flush=True)
        if given.each and part == "sorts":
            print(f"{table_of_sets(rows)}\n", flush=True)


if __name__ == "__main__":
    main()
