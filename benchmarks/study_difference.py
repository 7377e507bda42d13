"""Whether `consilience.inspection.study_difference` errs as seldom as it says, and what it finds.

    python -m benchmarks.study_difference [--draws 100] [--parity odd] [--only equal found forecast intervals moves]

equal      Two studies of one population: how often a difference, an item or a pair is named. Halves of recorded sorts,
           and simulated panels of equal and unequal sizes, of all items or of subsets.
found      Of recorded people, one group is told that some items have changed places: how often a difference is found,
           how many of these items, and how many others.
forecast   The power that is stated for a number of items, against the share of studies that find so many.
intervals  How often the 95 % intervals of pairs and of agreement hold the value of the population.
moves      How often a move between clusters is repeated by two other studies of the same populations.

The method was developed on draws with even numbers; by default odd ones are used.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pandas as pd

from benchmarks.people.grouping_crowds import sorts
from consilience import Groupings
from consilience.analysis.studies.agreement import agreement_table
from consilience.analysis.studies.clusters import matched_clusters
from consilience.analysis.studies.detectable import power_table
from consilience.analysis.studies.pair_table import pair_table
from consilience.analysis.studies.permutation import LEVEL, Permutations, assignments, moved_items
from consilience.analysis.studies.prepared import TwoStudies
from consilience.simulation import MapPopulation, gaussian_clusters, present

RECORDED = (
    "celestino",
    "skroutz",
    "animals",
    "kinship15_rosenberg1975",
    "accents45_geller",
    "orange_juice10",
    "aroma16_courcoux2014",
)
N_ITEMS, N_CLUSTERS = 30, 5
N_PERMUTATIONS = 499
N_POPULATION = 3000  # people whose shares stand for those of the population
BANDS = (0.0, 0.25, 0.5, 0.75, 1.01)  # of the probability of moves

Study = Callable[[np.random.Generator, int], Groupings]


@dataclass(frozen=True)
class Outcome:
    """What was found about two studies."""

    p_value: float
    moved: list[int]
    p_item: float
    p_pair: float


def compare(first: Groupings, second: Groupings, rng: np.random.Generator) -> Outcome:
    """Test two studies."""
    both = TwoStudies.of(first, second, ("first", "second"), same_people=False)
    in_first = assignments(both.first, both.partner, N_PERMUTATIONS, rng)
    measured = Permutations.of(both.table, in_first)
    moved = moved_items(both.table, in_first, measured)
    return Outcome(measured.p_value, moved.items, float(moved.p_value.min()), float(measured.p_of_pairs.min()))


def people(groupings: Groupings, places: np.ndarray) -> Groupings:
    """Return some people of a study, with all items."""
    return groupings.restrict(annotators=groupings.annotators[np.sort(places)], items=groupings.items)


def simulated(seed: int, subset: int | None = None, noise: float = 0.6) -> Study:
    """Return a function that draws a study from one population."""
    task = gaussian_clusters(N_ITEMS, n_clusters=N_CLUSTERS, random_state=seed)

    def study(rng: np.random.Generator, n: int) -> Groupings:
        population = MapPopulation(task.data, noise=noise, n_groups=[4, 5, 6, 7], random_state=int(rng.integers(2**31)))
        shown = [rng.permutation(N_ITEMS)[: subset or N_ITEMS].tolist() for _ in range(n)]
        return present([population.draw() for _ in range(n)], shown, items=range(N_ITEMS))

    return study


def exchanged(groupings: Groupings, n: int, rng: np.random.Generator) -> tuple[Groupings, np.ndarray]:
    """Let n items change places in pairs, at random."""
    some = rng.permutation(groupings.n_items)[:n]
    place = np.arange(groupings.n_items)
    place[some[0::2]], place[some[1::2]] = some[1::2], some[0::2]
    return replace(groupings, incidence=groupings.incidence[place], reading=None), some


def equal(draws: list[int]) -> pd.DataFrame:
    """Two studies of one population."""
    rows = {}
    settings: dict[str, Callable[[np.random.Generator, int], tuple[Groupings, Groupings]]] = {}
    for name in RECORDED:
        settings[f"halves of {name}"] = lambda rng, draw, name=name: halves(sorts(name).annotations, rng)
    for n, m in ((10, 10), (20, 20), (40, 40), (10, 40)):
        settings[f"{n} and {m} simulated people"] = lambda rng, draw, n=n, m=m: drawn(simulated(draw), n, m, rng)
    settings["20 and 20 simulated people, 15 of 30 items each"] = lambda rng, draw: drawn(
        simulated(draw, subset=15), 20, 20, rng
    )
    for name, studies in settings.items():
        found = []
        for draw in draws:
            rng = np.random.default_rng(draw)
            found.append(compare(*studies(rng, draw), rng))
        rows[name] = {
            "a difference": np.mean([each.p_value <= LEVEL for each in found]),
            "an item": np.mean([len(each.moved) > 0 for each in found]),
            "a pair": np.mean([each.p_pair <= LEVEL for each in found]),
            "any of these": np.mean(
                [each.p_value <= LEVEL or len(each.moved) > 0 or each.p_pair <= LEVEL for each in found]
            ),
            "p <= 0.01": np.mean([each.p_value <= 0.01 for each in found]),
            "p <= 0.2": np.mean([each.p_value <= 0.2 for each in found]),
        }
    return pd.DataFrame(rows).T


def halves(groupings: Groupings, rng: np.random.Generator) -> tuple[Groupings, Groupings]:
    """Return two random halves of the people."""
    order, half = rng.permutation(groupings.n_annotators), groupings.n_annotators // 2
    return people(groupings, order[:half]), people(groupings, order[half:])


def drawn(study: Study, n: int, m: int, rng: np.random.Generator) -> tuple[Groupings, Groupings]:
    """Return two studies of one population."""
    return study(rng, n), study(rng, m)


def found(draws: list[int]) -> pd.DataFrame:
    """Recorded people, of whom one group is told that items changed places."""
    rows = {}
    for name, n in (("celestino", 15), ("celestino", 40), ("animals", 15), ("animals", 40), ("accents45_geller", 20)):
        for n_items in (2, 4, 8):
            outcomes, right, wrong = [], [], []
            for draw in draws:
                rng = np.random.default_rng(draw)
                everybody = sorts(name).annotations
                order = rng.permutation(everybody.n_annotators)[: 2 * n]
                second, items = exchanged(people(everybody, order[n:]), n_items, rng)
                outcome = compare(people(everybody, order[:n]), second, rng)
                outcomes.append(outcome)
                right.append(np.isin(items, outcome.moved).mean())
                wrong.append(len(np.setdiff1d(outcome.moved, items)) > 0)
            rows[(name, f"{n} and {n}", n_items)] = {
                "a difference": np.mean([each.p_value <= LEVEL for each in outcomes]),
                "items found": np.mean(right),
                "studies with another item": np.mean(wrong),
            }
    return pd.DataFrame(rows).T


def forecast(draws: list[int]) -> pd.DataFrame:
    """The stated power against the share of studies that find as many items."""
    rows = {}
    for name, n in (("celestino", 10), ("animals", 10), ("accents45_geller", 10), ("aroma16_courcoux2014", 10)):
        everybody = sorts(name).annotations
        stated, observed = [], {2: [], 4: [], 8: []}
        for draw in draws:
            rng = np.random.default_rng(draw)
            order = rng.permutation(everybody.n_annotators)[: 2 * n]
            first, second = people(everybody, order[:n]), people(everybody, order[n:])
            both = TwoStudies.of(first, second, ("first", "second"), same_people=False)
            in_first = assignments(both.first, both.partner, N_PERMUTATIONS, rng)
            measured = Permutations.of(both.table, in_first)
            clusters = matched_clusters(both.studies, "auto", 0, rng).pooled
            stated.append(power_table(both.table, in_first, measured, clusters, rng)["found"])
            for n_items, outcomes in observed.items():
                moved = exchanged_between(second, clusters, n_items, rng)
                outcomes.append(None if moved is None else compare(first, moved, rng).p_value <= LEVEL)
        for n_items, outcomes in observed.items():
            kept = [each for each in outcomes if each is not None]
            means = [each.get(n_items, np.nan) for each in stated]
            rows[(name, f"{n} and {n}", n_items)] = {"stated": np.nanmean(means), "observed": np.mean(kept)}
    return pd.DataFrame(rows).T


def exchanged_between(groupings: Groupings, clusters: np.ndarray, n: int, rng: np.random.Generator) -> Groupings | None:
    """Let n items change places with items of other clusters; None if there are too few of them."""
    half = len(clusters) // 2
    order = np.lexsort((rng.random(len(clusters)), rng.permutation(clusters.max() + 1)[clusters]))
    one, other = order[:half], order[half : 2 * half]
    apart = rng.permutation(np.flatnonzero(clusters[one] != clusters[other]))[: n // 2]
    if len(apart) < n // 2:
        return None
    place = np.arange(len(clusters))
    place[one[apart]], place[other[apart]] = other[apart], one[apart]
    return replace(groupings, incidence=groupings.incidence[place], reading=None)


def intervals(draws: list[int]) -> pd.DataFrame:
    """Coverage of the intervals of pairs and of agreement."""
    one, other = simulated(101, noise=0.5), simulated(101, noise=0.9)
    rng = np.random.default_rng(0)
    large = TwoStudies.of(one(rng, N_POPULATION), other(rng, N_POPULATION), ("first", "second"), same_people=False)
    everywhere = np.arange(large.table.n_pairs)
    weights = np.stack([large.first, ~large.first]).astype(float)
    shares = large.table.sums(weights, everywhere)[0] / N_POPULATION
    truth = shares[1] - shares[0]
    some = TwoStudies.of(one(rng, 1500), other(rng, 1500), ("first", "second"), same_people=False)
    mean = agreement_table(some.agreement, some.first, some.partner, ("first", "second"), 2, rng)[
        "agreement"
    ].to_numpy()
    rows = {}
    for n in (10, 20, 40):
        covered, agreed = [], []
        for draw in draws:
            rng = np.random.default_rng(draw)
            both = TwoStudies.of(one(rng, n), other(rng, n), ("first", "second"), same_people=False)
            in_first = assignments(both.first, both.partner, 1, rng)
            measured = Permutations.of(both.table, in_first)
            table = pair_table(both.table, both.items, both.first, measured)
            a, b = table["item_a"].to_numpy(int), table["item_b"].to_numpy(int)
            true = truth[b * (b - 1) // 2 + a]
            covered.append(((table["low"] <= true + 1e-12) & (true <= table["high"] + 1e-12)).mean())
            each = agreement_table(both.agreement, both.first, both.partner, ("first", "second"), 1000, rng)
            agreed.append((each["low"].to_numpy() <= mean) & (mean <= each["high"].to_numpy()))
        within_first, within_second, between = np.mean(agreed, axis=0)
        rows[f"{n} and {n}"] = {
            "pairs": np.mean(covered),
            "within the first": within_first,
            "within the second": within_second,
            "between": between,
        }
    return pd.DataFrame(rows).T


def moves(draws: list[int]) -> pd.DataFrame:
    """Whether moves between clusters are repeated by other studies of the same populations."""
    stated, repeated = [], []
    for name, n in (("celestino", 40), ("skroutz", 40), ("animals", 25)):
        for draw in draws:
            rng = np.random.default_rng(draw)
            everybody = sorts(name).annotations
            order = rng.permutation(everybody.n_annotators)[: 4 * n].reshape(4, n)
            place = np.random.default_rng(draw)
            groups = [people(everybody, part) for part in order]
            after = [exchanged(group, 6, np.random.default_rng(draw))[0] for group in groups[2:]]
            one = matched_clusters((groups[0], after[0]), "auto", 50, place)
            again = matched_clusters((groups[1], after[1]), int(one.pooled.max()) + 1, 0, place)
            elsewhere = np.flatnonzero(one.first != one.second)
            stated.append(one.probability[elsewhere])
            repeated.append(again.first[elsewhere] != again.second[elsewhere])
    p, right = np.concatenate(stated), np.concatenate(repeated)
    rows = {}
    for low, high in pairwise(BANDS):
        inside = (p >= low) & (p < high)
        rows[f"{low:g} to {min(high, 1):g}"] = {
            "moves": inside.sum(),
            "stated": p[inside].mean() if inside.any() else np.nan,
            "also moved in two other studies": right[inside].mean() if inside.any() else np.nan,
        }
    return pd.DataFrame(rows).T


PARTS = {"equal": equal, "found": found, "forecast": forecast, "intervals": intervals, "moves": moves}


def chosen(n: int, parity: str) -> Iterator[int]:
    """Yield the numbers of the draws."""
    yield from range(1 if parity == "odd" else 0, 2 * n, 2)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=100, help="Number of draws of each setting.")
    parser.add_argument("--parity", choices=["odd", "even"], default="odd", help="Which draws.")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS), help="Parts to run.")
    arguments = parser.parse_args()
    draws = list(chosen(arguments.draws, arguments.parity))
    with pd.option_context("display.width", 160, "display.max_columns", 12):
        for part in arguments.only:
            print(
                f"\n{part}, {len(draws)} {arguments.parity} draws\n{PARTS[part](draws).round(3).to_string()}",
                flush=True,
            )


if __name__ == "__main__":
    main()
