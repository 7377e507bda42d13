"""How often people who sort at random are marked, and careful people wrongly.

    python benchmarks/random_people.py [--seeds 20] [--even]

Simulated crowds of 20 people sort items of 4 classes into groups; the accuracy of careful people is .5, .7 or .9, and
0, 2 or 5 of the people put items into 4 groups at random. Developed on even seeds; by default odd ones are reported.
Then the recorded animals, of which people 12, 35, 70 and 106 are known to do no better than chance, and the perfumes.
"""

import argparse
import sys

import numpy as np
import pandas as pd

from consilience import Groupings
from consilience.datasets import load_cardsort_animals, load_free_sort
from consilience.inspection import random_sorters
from consilience.simulation import simulate_crowd

N_PEOPLE, N_CLASSES = 20, 4
ACCURACIES, SIZES, N_RANDOM = (0.5, 0.7, 0.9), (12, 20, 50), (0, 2, 5)


def crowd(n_items: int, accuracy: float, n_random: int, seed: int) -> Groupings:
    """Return the sorts of careful people, preceded by random ones."""
    rng = np.random.default_rng([seed, n_items, int(100 * accuracy), n_random])
    careful = simulate_crowd(
        np.arange(n_items) % N_CLASSES,
        n_annotators=N_PEOPLE - n_random,
        accuracy=accuracy,
        merge=0.2,
        random_state=rng,
    )
    group = careful.incidence.tocoo()
    frame = pd.DataFrame(
        {"item": group.row, "annotator": careful.annotator_of_group[group.col] + n_random, "group": group.col}
    )
    random = pd.DataFrame(
        {
            "item": np.tile(np.arange(n_items), n_random),
            "annotator": np.repeat(np.arange(n_random), n_items),
            "group": -1 - rng.integers(N_CLASSES, size=n_items * n_random),
        }
    )
    return Groupings.from_frame(pd.concat([random, frame], ignore_index=True))


def say(line: str) -> None:
    """Print a line without delay."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def simulated(seeds: range) -> None:
    """Print the shares of random people found and of careful people marked."""
    say(f"{len(seeds)} crowds of {N_PEOPLE} people a line, seeds {seeds[0]}, {seeds[1]}, …")
    say("accuracy  items  random people: found of all      careful people: marked of all")
    for accuracy in ACCURACIES:
        for n_items in SIZES:
            found = wrong = random = careful = 0
            for n_random in N_RANDOM:
                for seed in seeds:
                    result = random_sorters(crowd(n_items, accuracy, n_random, seed))
                    assert result is not None
                    is_random = result.index.to_numpy() < n_random
                    marked = result["random"].to_numpy()
                    found, random = found + (marked & is_random).sum(), random + is_random.sum()
                    wrong, careful = wrong + (marked & ~is_random).sum(), careful + (~is_random).sum()
            shares = f"{found:6d} of {random} ({found / random:.0%})         {wrong:6d} of {careful}"
            say(f"{accuracy:8.1f} {n_items:6d} {shares} ({wrong / careful:.1%})")


def recorded() -> None:
    """Print who is marked in recorded sorts."""
    for name in ("animals", "perfume12_sensominer"):
        groupings = (load_cardsort_animals() if name == "animals" else load_free_sort(name)).annotations
        result = random_sorters(groupings)
        assert result is not None
        say(f"{name}: {int(result['random'].sum())} of {groupings.n_annotators} marked; the most probable:")
        say(result.sort_values("probability", ascending=False).head(10).round(3).to_string())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--even", action="store_true", help="the seeds of the development")
    options = parser.parse_args()
    first = 0 if options.even else 1
    simulated(range(first, first + 2 * options.seeds, 2))
    recorded()
