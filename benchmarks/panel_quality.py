"""Who is flagged in simulated panels, rightly and wrongly, and the consensus with and without them.

    python benchmarks/panel_quality.py [--seeds 10] [--even]

Thirty people sort 24 or 48 cards. A fifth are careless: of six, two sort at random in a tenth of the time, two in the
time of the others, one makes a single pile, one leaves each card alone. Two others copy somebody's sort, but for
one card. The other 22 are careful: they know a card's group with a probability of 0.8, else take another, and may merge
groups. They are of one school of thought, or of two, who sort by different properties of the cards: 15 and 7 people, or
11 and 11. Developed on even seeds; by default odd ones are reported.

careless, copies  flagged by the dashboard, of all
wrong             careful people who are flagged, of all
random            careless people who sort at random and are flagged as probably random, of all; in parentheses careful
                  people who are
school            mean agreement (adjusted mutual information) of the consensus with the groups of the larger school:
                  of everybody, without those flagged, and of the careful people alone
"""

import argparse
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_mutual_info_score

from consilience.collect.results.flags import flags_of
from consilience.collect.store import Submitted
from consilience.collect.store.results import groupings_of
from consilience.consensus import SubsetFusion
from consilience.simulation import simulate_crowd

PANELS = {"one school": (22, 0), "schools of 15 and 7": (15, 7), "schools of 11 and 11": (11, 11)}
SIZES = (24, 48)
CARELESS, COPIES, N_GROUPS, ACCURACY = 6, 2, 4, 0.8
SECONDS = 4.0  # a card
BEGUN = datetime(2026, 1, 1, tzinfo=UTC)


def careful_sorts(n_items: int, sizes: tuple[int, int], rng: np.random.Generator) -> list[np.ndarray]:
    """Return the groups of careful people; the schools divide the cards independently of each other."""
    sorts: list[np.ndarray] = []
    for number, n_people in zip((1, N_GROUPS), sizes, strict=True):
        if n_people:
            truth = np.arange(n_items) // number % N_GROUPS
            crowd = simulate_crowd(truth, n_annotators=n_people, accuracy=ACCURACY, merge=0.2, random_state=rng)
            group = crowd.incidence.tocoo()
            for person in range(n_people):
                mine = crowd.annotator_of_group[group.col] == person
                labels = np.full(n_items, -1)
                labels[group.row[mine]] = group.col[mine]
                sorts.append(labels)
    return sorts


def panel(n_items: int, sizes: tuple[int, int], seed: int) -> tuple[list[Submitted], dict[str, str]]:
    """Return what people submitted, and what each person is."""
    rng = np.random.default_rng([seed, n_items, *sizes])
    sorts = [("careful", labels, 1.0) for labels in careful_sorts(n_items, sizes, rng)]
    for source in rng.choice(len(sorts), COPIES, replace=False):
        copied = sorts[source][1].copy()
        copied[rng.integers(n_items)] = copied[rng.integers(n_items)]
        sorts.append(("copy", copied, 1.0))
    sorts += [("random", rng.integers(N_GROUPS, size=n_items), pace) for pace in (0.1, 0.1, 1.0, 1.0)]
    sorts += [("shape", np.zeros(n_items, dtype=int), 1.0), ("shape", np.arange(n_items), 1.0)]
    kinds: dict[str, str] = {}
    rows = []
    for number, place in enumerate(rng.permutation(len(sorts)), 1):
        kind, labels, pace = sorts[place]
        kinds[f"p{number}"] = kind
        rows.append(_submitted(number, labels, pace * SECONDS * rng.lognormal(0.0, 0.3)))
    return rows, kinds


def _submitted(number: int, labels: np.ndarray, seconds: float) -> Submitted:
    groups: list[dict[str, Any]] = [
        {"id": f"g{place}", "name": "", "items": np.flatnonzero(labels == label).tolist()}
        for place, label in enumerate(np.unique(labels[labels >= 0]), 1)
    ]
    name, end = f"p{number}", BEGUN + timedelta(seconds=seconds * len(labels))
    items = tuple(range(len(labels)))
    return Submitted(number, name, name, items, groups, "all", False, False, BEGUN, BEGUN, end, {})


def agreement(rows: list[Submitted], n_items: int, left_out: set[str]) -> float:
    """Return how far the consensus without some people agrees with the larger school."""
    mine = [one for one in rows if one.participant not in left_out]
    labels = SubsetFusion(random_state=0).fit(groupings_of(mine, [str(item) for item in range(n_items)])).labels_
    return float(adjusted_mutual_info_score(np.arange(n_items) % N_GROUPS, labels))


def counted(people: set[str], kinds: dict[str, str], *wanted: str) -> tuple[int, int]:
    """Return how many people of some kinds are among these, and how many there are."""
    all_of = {name for name, kind in kinds.items() if kind in wanted}
    return len(people & all_of), len(all_of)


def line_of(name: str, sizes: tuple[int, int], n_items: int, seeds: range) -> str:
    """Return a line of the table."""
    counts, schools = np.zeros((5, 2), dtype=int), []
    for seed in seeds:
        rows, kinds = panel(n_items, sizes, seed)
        flags = flags_of(rows, [], n_items=n_items)
        flagged = {one.participant for one in flags}
        marked = {one.participant for one in flags if one.kind == "random"}
        counts += [
            counted(flagged, kinds, "random", "shape"),
            counted(flagged, kinds, "copy"),
            counted(flagged, kinds, "careful"),
            counted(marked, kinds, "random"),
            counted(marked, kinds, "careful"),
        ]
        others = {person for person, kind in kinds.items() if kind != "careful"}
        schools.append([agreement(rows, n_items, out) for out in (set(), flagged, others)])
    shares = [f"{found:>3} of {of:<3}" for found, of in counts[:4].tolist()]
    means = "  ".join(f"{mean:.2f}" for mean in np.mean(schools, axis=0))
    return f"{name:<20} {n_items:>5}  {'  '.join(shares)} ({counts[4, 0]})  {means}"


def say(line: str) -> None:
    """Print a line without delay."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--even", action="store_true", help="the seeds of the development")
    options = parser.parse_args()
    first = 0 if options.even else 1
    say(f"{options.seeds} panels a line")
    say(f"{'panel':<20} {'cards':>5}  {'careless':<10}  {'copies':<10}  {'wrong':<10}  {'random':<14}  school")
    for name, sizes in PANELS.items():
        for n_items in SIZES:
            say(line_of(name, sizes, n_items, range(first, first + 2 * options.seeds, 2)))
