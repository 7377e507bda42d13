"""Make the three tables of the tutorial: real wines, simulated tasters.

The wines are scikit-learn's (178 wines of three cultivars, chemically analysed). Each taster knows some distinction
between the cultivars, has names of their own for it, sorts 60 of the wines, and puts some into the wrong group.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from consilience.datasets import load_wine

WINES_EACH = 60
# the names that each taster gives to the three cultivars, and how often an item lands in the right group
TASTERS = {
    "Ana": (["A", "B", "C"], 0.95),
    "Bert": (["round", "light", "sharp"], 0.9),
    "Chloe": (["old", "young", "old"], 0.9),
    "Dan": (["B", "C", "A"], 0.9),
    "Eva": (["south", "north", "north"], 0.95),
    "Finn": (["heavy", "light", "heavy"], 0.9),
    "Gina": (["no", "no", "yes"], 0.9),
}


def main(folder: Path) -> None:
    wine = load_wine()
    rng = np.random.default_rng(0)
    wines = pd.Index([f"wine {i:03d}" for i in range(1, len(wine.target) + 1)], name="item")
    table = wine.data.set_axis(wines, axis=0)
    table.drop(columns="proline").to_csv(folder / "features.csv", lineterminator="\n")
    table[["proline"]].to_csv(folder / "scores.csv", lineterminator="\n")
    sorts = pd.DataFrame({name: sort(wine.target, *how, rng) for name, how in TASTERS.items()}, index=wines)
    sorts.to_csv(folder / "sorts.csv", lineterminator="\n")


def sort(cultivar: np.ndarray, names: list[str], accuracy: float, rng: np.random.Generator) -> np.ndarray:
    """The group that a taster puts each wine in, None for the wines that were not tasted."""
    groups = np.unique(names)
    group = np.searchsorted(groups, np.array(names)[cultivar])
    slip = rng.integers(1, len(groups), size=len(group))
    group = np.where(rng.random(len(group)) < accuracy, group, (group + slip) % len(groups))
    tasted = rng.permutation(len(group)) < WINES_EACH
    return np.where(tasted, groups[group].astype(object), None)


if __name__ == "__main__":
    main(Path(__file__).parent)
