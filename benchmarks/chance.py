"""How often random and informative annotations are found to be at chance; and which model of pairs is better.

    python benchmarks/chance.py [--draws 40] [--first-seed 50000] [--pairs]

The test was developed on the seeds from 1000; by default other seeds are used.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from consilience import Groupings, Labels, Pairs
from consilience.analysis.chance import chance_test
from consilience.consensus import Crowdclustering
from consilience.datasets import list_datasets, load_dataset
from consilience.metrics import nmi
from consilience.semisupervised import MECC
from consilience.simulation import simulate_crowd, simulate_pairs

Draw = Callable[[np.random.Generator], tuple[Any, ...]]
CROWDS = [  # of pairs: items, clusters, annotators, pairs each, accuracy, whether half of the pairs are "same"
    (40, 3, 5, 100, 0.9, True),
    (40, 3, 5, 100, 0.9, False),
    (60, 4, 10, 150, 0.85, False),
    (60, 4, 10, 40, 0.85, True),
    (100, 5, 20, 150, 0.8, False),
    (100, 5, 20, 60, 0.9, False),
    (30, 2, 4, 60, 0.8, False),
    (150, 8, 20, 300, 0.9, False),
    (50, 3, 6, 60, 0.7, True),
]


def random_sorts(n_items: int, n_annotators: int, n_groups: int, seen: int | None = None) -> Draw:
    """Random groups of all items or of some."""

    def draw(rng: np.random.Generator) -> tuple[Groupings]:
        cells = rng.integers(n_groups, size=(n_items, n_annotators)).astype(object)
        if seen is not None:
            rank = rng.permuted(np.tile(np.arange(n_items), (n_annotators, 1)), axis=1).T
            cells[rank >= seen] = None
        return (Groupings.from_matrix(cells),)

    return draw


def random_pairs(n_items: int, n_annotators: int, each: int, same: float) -> Draw:
    """Random judgements of random pairs."""

    def draw(rng: np.random.Generator) -> tuple[Pairs]:
        a, b = np.triu_indices(n_items, 1)
        chosen = np.concatenate([rng.choice(len(a), each, replace=False) for _ in range(n_annotators)])
        judged = (rng.random(len(chosen)) < same).astype(int)
        annotator = np.repeat(np.arange(n_annotators), each)
        frame = pd.DataFrame({"item_a": a[chosen], "item_b": b[chosen], "annotator": annotator, "same": judged})
        return (Pairs.from_frame(frame),)

    return draw


def labels(n_items: int, n_annotators: int, per_item: int, n_classes: int, accuracy: float) -> Draw:
    """Labels that are right with a given probability and otherwise random, with preferred classes of each annotator."""

    def draw(rng: np.random.Generator) -> tuple[Labels]:
        habit = rng.dirichlet(np.full(n_classes, 2.0), size=n_annotators)
        cells = np.full((n_items, n_annotators), None, object)
        for item in range(n_items):
            for annotator in rng.choice(n_annotators, per_item, replace=False):
                random = int(rng.choice(n_classes, p=habit[annotator]))
                cells[item, annotator] = item % n_classes if rng.random() < accuracy else random
        return (Labels.from_matrix(cells),)

    return draw


def with_features(draw: Draw) -> Draw:
    """The same with unrelated features."""

    def both(rng: np.random.Generator) -> tuple[Any, ...]:
        (annotations,) = draw(rng)
        return annotations, rng.normal(size=(len(annotations), 5))

    return both


RANDOM: dict[str, Draw] = {
    "sorts of 40 items by 20": random_sorts(40, 20, 4),
    "sorts of 12 items by 8": random_sorts(12, 8, 3),
    "sheets of 10 of 100 items by 40": random_sorts(100, 40, 3, 10),
    "pairs of sorts of 20 items by 6": lambda rng: (random_sorts(20, 6, 4)(rng)[0].to_pairs(),),
    "pairs, 100 of 40 items by 5": random_pairs(40, 5, 100, 0.5),
    "pairs, 150 of 100 items by 20": random_pairs(100, 20, 150, 0.2),
    "pairs, all of 15 items by 3": random_pairs(15, 3, 105, 0.3),
    "labels, 3 of each of 100 items": labels(100, 10, 3, 2, 0.0),
    "labels, 5 of each of 60 items": labels(60, 30, 5, 5, 0.0),
    "sorts of 60 items by 5, features": with_features(random_sorts(60, 5, 3)),
    "pairs, 100 of 40 items by 5, features": with_features(random_pairs(40, 5, 100, 0.4)),
}


def informed_pairs(classes: np.ndarray, *given: Any) -> Draw:
    """Judgements with errors."""
    return lambda rng: (simulate_pairs(classes, *given, random_state=rng),)


def informed() -> Iterator[tuple[str, Draw]]:
    """Informative crowds."""
    yield (
        "sorts of 30 of 60 items by 10",
        lambda rng: (simulate_crowd(np.arange(60) % 4, n_annotators=10, items_each=30, merge=0.3, random_state=rng),),
    )
    yield "labels, 3 of each of 100 items, .7 known", labels(100, 10, 3, 2, 0.7)
    yield "labels, 5 of each of 60 items, .5 known", labels(60, 30, 5, 5, 0.5)
    yield "labels, 2 of each of 30 items, .8 known", labels(30, 5, 2, 3, 0.8)
    for n, k, annotators, each, accuracy, balanced in CROWDS:
        draw = informed_pairs(np.arange(n) % k, annotators, each, accuracy, balanced)
        yield f"pairs, {each} of {n} items by {annotators}, right at {accuracy}", draw


def rates(draws: int, first: int) -> None:
    """Print how often each kind of crowd is found to be at chance."""
    for title, crowds in (("Answers at random", RANDOM.items()), ("Informed answers", informed())):
        total, called = 0, 0
        say(f"{title}: called chance")
        for name, draw in crowds:
            tests = [chance_test(*draw(np.random.default_rng(first + i))) for i in range(draws)]
            count = sum(test is not None and test.at_chance for test in tests)
            total, called = total + draws, called + count
            say(f"  {name:50s} {count:4d} of {draws}")
        say(f"  {'all':50s} {called:4d} of {total}")


def recorded() -> None:
    """Print the p-value of every recorded data set."""
    table = list_datasets()
    say("Recorded data sets: p-value")
    for name in table["name"][table["n_annotators"].notna() & table["available"]]:
        test = chance_test(load_dataset(name).annotations)
        outcome = "unknown" if test is None else f"{test.p_value:.4f}" + (" called chance" if test.at_chance else "")
        say(f"  {name:50s} {outcome}")


def models_of_pairs() -> None:
    """Print NMI and seconds of the two models that find clusters from pairs alone."""
    models = {"MECC": MECC(n_init=20, random_state=0), "Crowdclustering": Crowdclustering(random_state=0)}
    score: dict[str, list[float]] = {name: [] for name in models}
    seconds: dict[str, list[float]] = {name: [] for name in models}
    for n, k, *given in CROWDS:
        for seed in range(2):
            classes = np.arange(n) % k
            pairs = simulate_pairs(classes, *given, random_state=seed)
            for name, model in models.items():
                start = time.perf_counter()
                model.fit(*((None, pairs) if name == "MECC" else (pairs,)))
                seconds[name].append(time.perf_counter() - start)
                score[name].append(nmi(classes, model.labels_))
    for name in models:
        say(f"  {name:20s} median NMI {np.median(score[name]):.2f}, median seconds {np.median(seconds[name]):.2f}")
    better = np.asarray(score["MECC"]) - score["Crowdclustering"]
    say(f"  MECC is better on {(better > 1e-9).sum()} of {len(better)}, worse on {(better < -1e-9).sum()}")


def say(line: str) -> None:
    """Print a line without delay."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--first-seed", type=int, default=50_000)
    parser.add_argument("--pairs", action="store_true", help="compare the models of pairs instead")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.pairs:
        models_of_pairs()
    else:
        rates(options.draws, options.first_seed)
        recorded()
