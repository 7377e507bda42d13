"""How many clusters are found, and which, without any judgements: rules that join the components of BayesSCDC.

    python -m benchmarks.deep_clusters --data mnist --seeds 6 7 [--cache FOLDER] [--rules gap overlap agreement]

Trains BayesSCDC with up to 50 components and without merging, once for each data set and seed, keeps the
responsibilities and the positions in the cache, and prints the number of clusters, the accuracy by one-to-one matching,
NMI and ARI of each rule:

- components: each is a cluster;
- gap: the number at the largest gap between eigenvalues of the overlap, beyond 2; spectral cut;
- modularity: the spectral cut of the highest modularity of the overlap;
- entropy: the two whose merger lowers the entropy most are merged, again and again; the number at the bend of the
  entropies (Baudry, Raftery, Celeux, Lo & Gottardo 2010);
- overlap: `joining.join_by_overlap`;
- agreement: `joining.agree` of mixtures of the positions, by the votes;
- joined: the same, each component in the cluster of most of its items, as an estimator would keep it; *held out* are
  items that were not trained on;
- told: joined, with the true number given;
- best: each component in the class of most of its items, which no rule can know.

`unbalanced` has 2 % to 18 % of the digits, `one digit` only threes. Settings of the rules were chosen on seeds 0 to 5
of `mnist`.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from benchmarks.papers.deep_parts.pinwheel import pinwheel_points
from benchmarks.papers.view_parts.faces import faces
from consilience.datasets import load_mnist_crowd
from consilience.deep import BayesSCDC, joining
from consilience.metrics import ari, clustering_accuracy, nmi

N_HELD_OUT = 5_000
SHARES = np.repeat([0.02, 0.18], 5)  # of the digits, unbalanced
ONE = 3
LARGEST = 25  # number of clusters that the simpler rules consider


@dataclass(frozen=True)
class Task:
    """Features and classes of items, those held out last, and an estimator."""

    features: np.ndarray
    truth: np.ndarray
    n_held_out: int
    model: BayesSCDC


@dataclass(frozen=True)
class State:
    """A trained mixture: responsibilities of the components that own items, and positions; and items held out."""

    n_components: np.ndarray  # at the start
    truth: np.ndarray
    responsibilities: np.ndarray
    latent: np.ndarray
    truth_others: np.ndarray
    others: np.ndarray


def mnist(seed: int, n_images: int = 10_000, share: np.ndarray | None = None, **lengths: int) -> Task:
    crowd = load_mnist_crowd(all_images=True)
    digit = np.asarray(crowd.target)
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(digit))
    if share is not None:
        own = [rows[digit[rows] == one][: round(part * n_images)] for one, part in enumerate(share)]
        rows = rng.permutation(np.concatenate(own))
    held_out = N_HELD_OUT if share is None else 0
    rows = rows[: n_images + held_out]
    model = BayesSCDC(50, likelihood="bernoulli", merge_clusters=False, random_state=seed, **lengths)
    return Task(np.asarray(crowd.data, float)[rows] / 255, digit[rows], held_out, model)


def digits(seed: int) -> Task:
    pixels, digit = load_digits(return_X_y=True)
    settings: dict[str, Any] = {"hidden": (100, 100), "batch_size": 128, "merge_clusters": False}
    return Task(pixels / 16, digit, 0, BayesSCDC(50, likelihood="bernoulli", random_state=seed, **settings))


def pinwheel(seed: int) -> Task:
    points, arm = pinwheel_points(seed)
    settings: dict[str, Any] = {"n_latent": 2, "hidden": (40, 40), "batch_size": 50, "merge_clusters": False}
    return Task(points, arm, 0, BayesSCDC(15, random_state=seed, **settings))


def people(seed: int) -> Task:
    features, views = faces()
    settings: dict[str, Any] = {"hidden": (80, 80), "batch_size": 128, "merge_clusters": False}
    who = np.unique(views["person"], return_inverse=True)[1]
    return Task(np.asarray(features), who, 0, BayesSCDC(50, random_state=seed, **settings))


TASKS: dict[str, Callable[[int], Task]] = {
    "mnist": lambda seed: mnist(seed, warm_epochs=20, n_epochs=20),
    "all of mnist": lambda seed: mnist(seed, 55_000, warm_epochs=12, n_epochs=10),
    "mnist, defaults": mnist,
    "unbalanced": lambda seed: mnist(seed, share=SHARES, warm_epochs=20, n_epochs=20),
    "one digit": lambda seed: mnist(seed, 5_000, np.eye(10)[ONE], warm_epochs=20, n_epochs=20),
    "digits": digits,
    "pinwheel": pinwheel,
    "people": people,
}


def state(name: str, seed: int, cache: Path) -> State:
    """Return the state of a fit, trained unless the cache has it."""
    file = cache / f"{name.replace(' ', '_')}-{seed}.npz"
    if not file.exists():
        task, start = TASKS[name](seed), time.perf_counter()
        n = len(task.truth) - task.n_held_out
        model = task.model.fit(task.features[:n])
        others = model.predict_proba(task.features[n:]) if task.n_held_out else np.empty((0, model.n_clusters_))
        found = State(
            np.array(model.n_clusters),
            task.truth[:n],
            model.responsibilities_,
            model.transform(task.features[:n]),
            task.truth[n:],
            others,
        )
        print(f"{name} {seed}: trained for {time.perf_counter() - start:.0f} s")
        cache.mkdir(parents=True, exist_ok=True)
        np.savez(file, **vars(found))
    with np.load(file) as arrays:
        return State(**{field: arrays[field] for field in State.__dataclass_fields__})


def labels(responsibilities: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """Most probable cluster of each item, if components are joined."""
    return (responsibilities @ np.eye(cluster.max() + 1)[cluster]).argmax(1)


def overlap_of(responsibilities: np.ndarray) -> np.ndarray:
    """Items that components share, without the diagonal."""
    given = responsibilities.astype(float)
    overlap = given.T @ given
    np.fill_diagonal(overlap, 1e-9)
    return overlap


def spectrum(overlap: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    root = np.sqrt(overlap.sum(1))
    values, vectors = np.linalg.eigh(overlap / root / root[:, None])
    return values[::-1], vectors[:, ::-1]


def by_gap(found: State) -> np.ndarray:
    values, vectors = spectrum(overlap_of(found.responsibilities))
    gaps = values[:-1] - values[1:]
    number = 3 + int(gaps[2:LARGEST].argmax()) if len(gaps) > 2 else len(values)
    return joining.cut(vectors[:, :number])


def by_modularity(found: State) -> np.ndarray:
    overlap = overlap_of(found.responsibilities)
    vectors = spectrum(overlap)[1]

    def modularity(cluster: np.ndarray) -> float:
        within = np.eye(cluster.max() + 1)[cluster].T @ overlap @ np.eye(cluster.max() + 1)[cluster]
        share = within.sum(1) / within.sum()
        return float(np.trace(within) / within.sum() - (share**2).sum())

    return max((joining.cut(vectors[:, :k]) for k in range(1, min(LARGEST, len(vectors)) + 1)), key=modularity)


def by_entropy(found: State) -> np.ndarray:
    """Merge by the entropy, down to one; then take the number at which two lines fit the entropies best."""
    parts, cluster = found.responsibilities.astype(float), np.arange(found.responsibilities.shape[1])
    steps = [(cluster, _entropy(parts).sum())]
    while parts.shape[1] > 1:
        alone = _entropy(parts).sum(0)
        lost = np.full((len(alone), len(alone)), -np.inf)
        for k in range(len(alone) - 1):
            lost[k, k + 1 :] = alone[k] + alone[k + 1 :] - _entropy(parts[:, [k]] + parts[:, k + 1 :]).sum(0)
        kept, gone = np.unravel_index(lost.argmax(), lost.shape)
        parts[:, kept] += parts[:, gone]
        parts = np.delete(parts, gone, axis=1)
        cluster = np.where(cluster == gone, kept, cluster)
        cluster = cluster - (cluster > gone)
        steps.append((cluster, _entropy(parts).sum()))
    entropies = np.array([value for _, value in steps[::-1]])  # of 1, 2, … clusters
    numbers = np.arange(1, len(entropies) + 1)

    def error(bend: int) -> float:
        sides = [slice(0, bend), slice(bend - 1, None)]
        lines = [np.polyfit(numbers[side], entropies[side], 1) for side in sides]
        errors = [
            (np.polyval(line, numbers[side]) - entropies[side]) ** 2 for line, side in zip(lines, sides, strict=True)
        ]
        return float(sum(one.sum() for one in errors))

    bends = range(2, len(entropies))
    return steps[::-1][min(bends, key=error) - 1][0] if len(bends) else cluster


def _entropy(parts: np.ndarray) -> np.ndarray:
    return -parts * np.log(np.maximum(parts, 1e-30))


def of_votes(found: State, votes: np.ndarray) -> np.ndarray:
    return joining.clusters_of_components(found.responsibilities, votes)


JOINING: dict[str, Callable[[State], np.ndarray]] = {
    "components": lambda found: np.arange(found.responsibilities.shape[1]),
    "gap": by_gap,
    "modularity": by_modularity,
    "entropy": by_entropy,
    "overlap": lambda found: joining.join_by_overlap(found.responsibilities).cluster,
    "best": lambda found: of_votes(found, np.eye(found.truth.max() + 1)[found.truth]),
}
VOTING = ("agreement", "joined", "told")


def row(rule: str, truth: np.ndarray, cluster: np.ndarray, note: str = "") -> str:
    scores = clustering_accuracy(truth, cluster), nmi(truth, cluster), ari(truth, cluster)
    return f"{rule:12s}{len(np.unique(cluster)):4d}" + "".join(f"{score:8.3f}" for score in scores) + f"   {note}"


def rows(found: State, rules: list[str], seed: int) -> list[str]:
    lines = []
    for rule in (rule for rule in rules if rule in JOINING):
        lines.append(row(rule, found.truth, labels(found.responsibilities, JOINING[rule](found))))
    if not set(rules) & set(VOTING):
        return lines
    rng = np.random.default_rng(seed)
    mixtures = joining.mixtures_of(found.latent.astype(float), int(found.n_components), rng=rng)
    agreed = joining.agree(mixtures)
    told = joining.agree(mixtures, len(np.unique(found.truth)))
    for rule in (rule for rule in rules if rule in VOTING):
        if rule == "agreement":
            note = f"alone {' '.join(map(str, agreed.numbers))}; gaps {agreed.gaps[:14].round(2).tolist()}"
            lines.append(row(rule, found.truth, agreed.votes.argmax(1), note))
        else:
            cluster = of_votes(found, (agreed if rule == "joined" else told).votes)
            lines.append(row(rule, found.truth, labels(found.responsibilities, cluster)))
            if len(found.others):
                lines.append(row("  held out", found.truth_others, labels(found.others, cluster)))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", choices=list(TASKS), nargs="+", default=["mnist"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[6, 7])
    parser.add_argument("--rules", choices=[*JOINING, *VOTING], nargs="+", default=[*JOINING, *VOTING])
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "deep_clusters")
    given = parser.parse_args()
    for name in given.data:
        for seed in given.seeds:
            found = state(name, seed, given.cache)
            print(f"{name} {seed}: {len(np.unique(found.truth))} classes; clusters, accuracy, NMI, ARI")
            print(*rows(found, given.rules, seed), sep="\n", flush=True)


if __name__ == "__main__":
    main()
