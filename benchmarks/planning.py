"""How far forecasts of the number of people that a study needs are off: `consilience.active.plan` on recorded crowds.

    python benchmarks/planning.py [--dev] [DATA SET ...]

Of each recording, studies of two disjoint halves of up to half of the people are compared: the mean adjusted mutual
information of the two consensus clusterings (`SubsetFusion`), by number of people. Where that reaches a target, this
tells how many people it took. It is compared with the forecast of

pilot    `plan` with a pilot of 8 or 15 of the people,
guess    `plan` with the number of items, and the mean number of groups and the agreement of all people, and
halves   the agreement r of the halves of the same pilots, n/2 people each, extrapolated with odds r / (1 − r) that grow
         as the number of people: the formula of Spearman and Brown.

Forecasts beyond four times half the people are counted as that many. Settings were chosen with even seeds (`--dev`),
and odd ones are reported.
"""

import sys
import warnings
from collections.abc import Iterator

import numpy as np

from consilience import Groupings
from consilience.active.planning import find_crossing, plan
from consilience.active.stability import only
from consilience.consensus import SubsetFusion
from consilience.datasets import load_dataset
from consilience.metrics import ami, mean_agreement

RECORDED = (
    "cardsort_animals",
    "cardsort_skroutz",
    "cardsort_celestino",
    "accents45_geller",
    "kinship15_rosenberg1975",
    "orange_juice10",
    "aroma16_courcoux2014",
    "perfume12_sensominer",
)
PILOTS, TARGETS = (8, 15), (0.6, 0.7, 0.8)
REPORTED, DEV = (11, 13), (2, 4)
SIZES = (2, 3, 4, 6, 8, 11, 16, 23, 32, 45)
N_SPLITS, N_DRAWS, BEYOND = 8, 4, 4


def people_in(groupings: Groupings, people: np.ndarray) -> Groupings:
    return only(groupings, np.flatnonzero(np.isin(groupings.annotator_of_grouping, people)))


def agreement_of(one: Groupings, other: Groupings, seed: int) -> float:
    labels = [SubsetFusion(random_state=seed).fit(part).labels_ for part in (one, other)]
    both = (labels[0] >= 0) & (labels[1] >= 0)
    return ami(labels[0][both], labels[1][both]) if both.sum() > 1 else 0.0


def took(groupings: Groupings) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers of people, and the mean agreement of two studies of so many of the people."""
    rng = np.random.default_rng(1)
    sizes = [size for size in SIZES if 2 * size <= groupings.n_annotators]
    agreements = np.zeros((len(sizes), N_SPLITS))
    for place, size in enumerate(sizes):
        for split in range(N_SPLITS):
            order = rng.permutation(groupings.n_annotators)
            parts = (people_in(groupings, order[some]) for some in (slice(size), slice(size, 2 * size)))
            agreements[place, split] = agreement_of(*parts, seed=split)
    return np.array(sizes), agreements.mean(axis=1)


def by_halves(pilot: Groupings, seed: int) -> dict[float, float]:
    """Return the numbers of people that reach each target, by the formula of Spearman and Brown."""
    rng = np.random.default_rng(seed)
    named = np.unique(pilot.annotator_of_grouping)
    agreements = []
    for split in range(N_SPLITS):
        halves = np.array_split(rng.permutation(named), 2)
        agreements.append(agreement_of(*(people_in(pilot, half) for half in halves), seed=split))
    r = float(np.clip(np.mean(agreements), 0.01, 0.99))
    return {target: len(named) / 2 * target * (1 - r) / (r * (1 - target)) for target in TARGETS}


def by_plan(seed: int, **told: object) -> dict[float, float]:
    found = plan(target=max(TARGETS), n_draws=N_DRAWS, random_state=seed, max_annotators=300, **told)
    numbers, agreements = found.table.index.to_numpy(), found.table["agreement"].to_numpy()
    return {target: find_crossing(numbers, agreements, target) for target in TARGETS}


def forecasts(name: str, groupings: Groupings, seeds: tuple[int, ...]) -> Iterator[tuple[str, dict[float, float]]]:
    n_groups = round(groupings.n_groups / groupings.n_groupings)
    agreement = mean_agreement(groupings)
    for seed in seeds:
        order = np.random.default_rng(seed).permutation(groupings.n_annotators)
        for size in PILOTS:
            pilot = people_in(groupings, order[:size])
            yield f"pilot {size}", by_plan(seed, pilot=pilot)
            yield f"halves {size}", by_halves(pilot, seed)
        yield "guess", by_plan(seed, n_items=groupings.n_items, n_clusters=n_groups, agreement=agreement)


def main() -> None:
    warnings.simplefilter("ignore")
    options = sys.argv[1:]
    seeds, chosen = (DEV if "--dev" in options else REPORTED), [name for name in options if name != "--dev"]
    ratios: dict[str, list[float]] = {}
    for name in chosen or RECORDED:
        groupings = load_dataset(name).annotations
        numbers, agreements = took(groupings)
        print(f"\n{name}: {groupings.n_annotators} people, agreement {mean_agreement(groupings):.2f}")
        print("  people   " + "".join(f"{number:6d}" for number in numbers))
        print("  agreement" + "".join(f"{value:6.2f}" for value in agreements), flush=True)
        needed = {target: find_crossing(numbers, agreements, target) for target in TARGETS}
        known = [target for target in TARGETS if np.isfinite(needed[target]) and needed[target] > numbers[0]]
        print(f"  {'took':10s}" + "  ".join(f"{target:g}: {needed[target]:5.1f}" for target in known))
        for method, found in forecasts(name, groupings, seeds):
            said = {target: min(found[target], BEYOND * numbers[-1]) for target in known}
            print(f"  {method:10s}" + "  ".join(f"{target:g}: {said[target]:5.1f}" for target in known), flush=True)
            ratios.setdefault(method, []).extend(said[target] / needed[target] for target in known)
    print()
    for method, found in ratios.items():
        logs = np.log2(found)
        within = [int((np.abs(logs) <= np.log2(factor)).sum()) for factor in (1.5, 2, 3)]
        middle, off = 2 ** np.median(logs), 2 ** np.median(np.abs(logs))
        print(
            f"{method:10s} median ratio {middle:.2f}, median factor off {off:.2f}; "
            f"of {len(logs)} within 1.5: {within[0]}, 2: {within[1]}, 3: {within[2]}"
        )


if __name__ == "__main__":
    main()
