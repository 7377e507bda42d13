"""How often `consilience.inspection.group_words` finds that a word goes with an item: by chance, and in free sorts.

    python benchmarks/words.py [--seeds 1 3 5 …] [--files FILE.csv …]

By chance: the items of each annotator's groups are permuted, the words kept; then a finding of any word and item is
false, and at most 5 of 100 studies should have one. The same is counted for the v-test of FactoMineR's descfreq, with
the same correction. The free sorts with words are those of SensoMineR: 12 perfumes by 30 people and 8 smoothies by 24,
tables of items × annotators whose cells hold the words; by default, people are simulated who say one of 12 words of
each of their groups, some of them of certain clusters. `--files` reads tables instead.
"""

import argparse

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control, norm

from consilience import Groupings, read_annotations
from consilience.inspection import group_words

LEVEL = 0.05
N_ITEMS, N_PEOPLE, N_CLUSTERS, N_WORDS = 12, 30, 4, 12


def simulated(rng: np.random.Generator) -> pd.DataFrame:
    """Cells of a study: 30 people group 12 items by four clusters with errors, and name groups by one of three words.

    Each cluster has three words of its own; one group in two gets one of the 12 words at random instead.
    """
    columns = {}
    for person in range(N_PEOPLE):
        group = np.where(rng.random(N_ITEMS) < 0.3, rng.integers(N_CLUSTERS, size=N_ITEMS), np.arange(N_ITEMS) % 4)
        own = 3 * np.arange(N_CLUSTERS) + rng.integers(3, size=N_CLUSTERS)
        word = np.where(rng.random(N_CLUSTERS) < 0.5, own, rng.integers(N_WORDS, size=N_CLUSTERS))
        columns[f"person {person}"] = [f"word {chr(97 + word[one])};group {one}" for one in group]
    return pd.DataFrame(columns, index=[f"item {number}" for number in range(N_ITEMS)])


def shuffled(cells: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Return each person's cells on other items."""
    return cells.apply(lambda column: rng.permutation(column.to_numpy()))


def findings(cells: pd.DataFrame) -> tuple[int, int]:
    """Number of words and items that go together, by the test by people and by the v-test."""
    tests = group_words(Groupings.from_matrix(cells)).tests
    by_v_test = (false_discovery_control(2 * norm.sf(tests["v_test"].abs())) <= LEVEL) & (tests["v_test"] > 0)
    return int((tests["p_corrected"] <= LEVEL).sum()), int(by_v_test.sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(range(1, 201, 2)))
    parser.add_argument("--files", nargs="+", default=[])
    options = parser.parse_args()
    given = {file: read_annotations(file).to_matrix() for file in options.files}
    rows = []
    for name in given or ["simulated"]:
        by_chance, found = [], []
        for seed in options.seeds:
            rng = np.random.default_rng(seed)
            cells = given[name] if given else simulated(rng)
            by_chance.append(findings(shuffled(cells, rng)))
            if not given or not found:
                found.append(findings(cells))
        false, right = (np.array(by_chance) > 0).mean(0), np.mean(found, axis=0)
        rows.append((name, *false, *right))
    columns = ["study", "false: by people", "false: v-test", "findings: by people", "findings: v-test"]
    print(pd.DataFrame(rows, columns=columns).round(3).to_string(index=False))


if __name__ == "__main__":
    main()
