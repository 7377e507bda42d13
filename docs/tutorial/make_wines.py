"""Make the tables of the tutorials, which come with the package: real wines, simulated tasters and workers.

The wines are scikit-learn's (chemical analyses of 178 wines of three cultivars). Each taster makes some distinction
between the cultivars, has their own names for it, sorts 60 of the wines, and puts some into the wrong group. Eighteen
workers on a platform choose among the names of the wines, five for each wine.
"""

from pathlib import Path

import numpy as np
import pandas as pd

import consilience
from consilience.datasets import load_wine
from consilience.simulation import simulate_labels

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
CULTIVARS = np.array(["Barolo", "Grignolino", "Barbera"])
# probabilities of the labels Barbera, Barolo, Grignolino for wines of each, and the number of such workers
WORKERS = [
    ([[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.05, 0.05, 0.9]], 6),  # careful
    ([[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]], 6),  # hasty
    ([[0.1, 0.1, 0.8], [0.1, 0.8, 0.1], [0.8, 0.1, 0.1]], 2),  # confuse Barbera and Grignolino
    ([[0.1, 0.8, 0.1], [0.1, 0.8, 0.1], [0.1, 0.8, 0.1]], 4),  # say Barolo, whatever it is
]
WORKERS_EACH = 5
FIRST_BATCH = 130  # wines
CHECKED = 12  # wines of the first batch whose cultivar is known


def main(folder: Path) -> None:
    wine = load_wine()
    rng = np.random.default_rng(0)
    wines = pd.Index([f"wine {i:03d}" for i in range(1, len(wine.target) + 1)], name="item")
    table = wine.data.set_axis(wines, axis=0)
    table.drop(columns="proline").to_csv(folder / "features.csv", lineterminator="\n")
    table[["proline"]].to_csv(folder / "scores.csv", lineterminator="\n")
    bottles(table, CULTIVARS[wine.target]).to_csv(folder / "bottles.csv", lineterminator="\n")
    sorts = pd.DataFrame({name: sort(wine.target, *how, rng) for name, how in TASTERS.items()}, index=wines)
    sorts.to_csv(folder / "sorts.csv", lineterminator="\n")
    for name, answers in answers_about(pd.Series(CULTIVARS[wine.target], wines), rng).items():
        answers.to_csv(folder / name, index=False, lineterminator="\n")


def bottles(table: pd.DataFrame, cultivar: np.ndarray) -> pd.DataFrame:
    """Return features as they often are: few, with text among them, and some that nobody measured."""
    features = table[["alcohol", "flavanoids", "color_intensity"]].copy()
    features.loc[table["magnesium"] > 120, "flavanoids"] = np.nan
    return features.assign(glass=np.where((cultivar == "Barolo") | (table["hue"] < 0.7), "dark", "light"))


def sort(cultivar: np.ndarray, names: list[str], accuracy: float, rng: np.random.Generator) -> np.ndarray:
    """Return the group into which a taster puts each wine, None for wines that were not tasted."""
    groups = np.unique(names)
    group = np.searchsorted(groups, np.array(names)[cultivar])
    slip = rng.integers(1, len(groups), size=len(group))
    group = np.where(rng.random(len(group)) < accuracy, group, (group + slip) % len(groups))
    tasted = rng.permutation(len(group)) < WINES_EACH
    return np.where(tasted, groups[group].astype(object), None)


def answers_about(cultivar: pd.Series, rng: np.random.Generator) -> dict[str, pd.DataFrame]:
    """What workers say in two batches, and the cultivars of some wines of the first."""
    matrices = np.concatenate([np.tile(matrix, (how_many, 1, 1)) for matrix, how_many in WORKERS])
    matrices = rng.permutation(matrices)
    said = simulate_labels(cultivar, confusion=matrices, annotators_per_item=WORKERS_EACH, random_state=rng)
    table = said.to_frame().set_axis(["task", "worker", "label"], axis=1)
    table["worker"] = "w" + table["worker"].str.removeprefix("annotator ").str.zfill(2)
    first = np.sort(rng.permutation(cultivar.index)[:FIRST_BATCH])
    known = np.sort(rng.permutation(first)[:CHECKED])
    return {
        "answers.csv": table[table["task"].isin(first)],
        "more-answers.csv": table[~table["task"].isin(first)],
        "checked.csv": cultivar[known].rename("label").rename_axis("task").reset_index(),
    }


if __name__ == "__main__":
    main(Path(consilience.__file__).parent / "datasets" / "tutorial_tables")
