"""People who sort at random: eight annotators name the class of each item, and up to three of them guess.

    python benchmarks/random_sorters.py [SET ...]

The others are right with a probability of .9, else name any other class. Settings were chosen on draws 0 to 2, and
draws 10 to 14 are reported. KCC is told the number of classes; the vote knows who guesses, and that equal names mean
equal classes.
"""

import sys
import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import StandardScaler

from benchmarks.papers.partition_label_parts.fits import load
from consilience.consensus import KCC, SubsetFusion
from consilience.metrics import nmi
from consilience.semisupervised import PartitionLabelModel

N_ANNOTATORS, RIGHT = 8, 0.9
DRAWS = range(10, 15)
SETS = ("wine", "iris", "breast_tissue", "Yale", "warpAR10P", "digits")
MODEL, ENOUGH = "PartitionLabelModel", 0.97
N_DIGITS = 600  # random ones of 1797, for the time that a fit takes


def items(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return standardised features, and classes from 0."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        some = np.random.default_rng(0).permutation(len(X))[:N_DIGITS]
        X, y = X[some], y[some]
    else:
        X, y = load_wine(return_X_y=True) if name == "wine" else load(name)
    return StandardScaler().fit_transform(np.asarray(X, dtype=float)), np.unique(y, return_inverse=True)[1]


def crowd(classes: np.ndarray, n_random: int, draw: int) -> np.ndarray:
    """Return labels of shape (n_items, n_annotators); the first annotators guess."""
    rng = np.random.default_rng([draw, n_random, len(classes)])
    n_classes = classes.max() + 1
    wrong = (classes[:, None] + rng.integers(1, n_classes, (len(classes), N_ANNOTATORS))) % n_classes
    said = np.where(rng.random(wrong.shape) < RIGHT, classes[:, None], wrong)
    said[:, :n_random] = rng.integers(n_classes, size=(len(classes), n_random))
    return said


def vote(said: np.ndarray) -> np.ndarray:
    """Return the class that most name, of equals the first."""
    return (said[:, :, None] == np.arange(said.max() + 1)).sum(1).argmax(1)


def answers(X: np.ndarray, classes: np.ndarray, n_random: int, draw: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the clusters of each method."""
    said = crowd(classes, n_random, draw)
    yield MODEL, PartitionLabelModel(random_state=draw).fit(X, said).labels_
    fixed = PartitionLabelModel(reliability="prior", random_state=draw)
    yield "PartitionLabelModel(reliability='prior')", fixed.fit(X, said).labels_
    yield "SubsetFusion", SubsetFusion(random_state=draw).fit(said.astype(str)).labels_
    yield "KCC(told)", KCC(classes.max() + 1, random_state=draw).fit(said.astype(str)).labels_
    yield "(vote of those who do not guess)", vote(said[:, n_random:])


def main() -> None:
    warnings.simplefilter("ignore")
    kinds: list[bool] = []
    for name in sys.argv[1:] or SETS:
        X, classes = items(name)
        print(
            f"\n{name}: {len(X)} items, {classes.max() + 1} classes; NMI and clusters less classes, {len(DRAWS)} draws"
        )
        for n_random in range(4):
            found: dict[str, list[tuple[float, int]]] = {}
            for draw in DRAWS:
                for method, labels in answers(X, classes, n_random, draw):
                    score = nmi(classes, labels), len(np.unique(labels)) - classes.max() - 1
                    found.setdefault(method, []).append(score)
            print(f"  {n_random} at random")
            for method, scores in found.items():
                values, surplus = zip(*scores)
                extra = " ".join(f"{more:+d}" for more in surplus)
                print(f"    {method:42s}{np.mean(values):7.3f} ± {np.std(values, ddof=1):.3f}   {extra}", flush=True)
                if method == MODEL and n_random:
                    kinds.append(np.mean(values) >= ENOUGH and np.abs(surplus).max() <= 1)
    print(
        f"\n{MODEL}: clusters within one of the classes in all draws, and mean NMI at least {ENOUGH}, in {sum(kinds)} "
        f"of {len(kinds)} kinds of crowds with people who guess"
    )


if __name__ == "__main__":
    main()
