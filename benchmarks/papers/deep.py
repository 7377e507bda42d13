"""Paper 5: the pinwheel, faces annotated in part, and handwritten digits with a real crowd.

    python benchmarks/papers/deep.py [--parts pinwheel faces digits] [--seeds 5] [--cache FOLDER]
        [--out docs/papers/deep.txt]

pinwheel  500 points in five arms; 20 workers of accuracy .9 judge 49 pairs each of 100 of them, or nobody does.
          BayesSCDC, the best of ten restarts by the bound.
faces     624 CMU faces, pose as truth, 20 principal components; five workers of accuracies .95 to .75 judge 200 to 2000
          pairs each, of all faces or of a hundred: the deep models, on the draws of `multiple_views.py`.
digits    60 000 pictures of MNIST; 48 workers grouped 2759 of them, 36 at a time, or nobody did.

Results are kept in the folder --cache, a file for each fit, and not computed again.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from multiple_views import N_PAIRS, annotated, faces

from consilience.datasets import load_mnist_crowd
from consilience.deep import SCDC, BayesSCDC, DeepMCVC
from consilience.metrics import ami, clustering_accuracy, nmi
from consilience.simulation import simulate_pairs

PAPER = {  # accuracy, NMI, clusters left where given
    ("pinwheel", "BayesSCDC", True): ".966, .94, 6",
    ("pinwheel", "BayesSCDC", False): ".956, .91, 8 from a good start; .756, .806 from a bad one",
    ("digits", "SCDC", True): ".8187, .7657",
    ("digits", "SCDC", False): ".6592, .6953",
    ("digits", "BayesSCDC", True): ".8424, .8120",
    ("digits", "BayesSCDC", False): ".7764, .7944",
}
SMALL = {"hidden": (40, 40), "n_init": 10}
DIGITS: dict[str, Callable[[int, bool], Any]] = {
    "BayesSCDC": lambda seed, judged: BayesSCDC(
        50 if judged else 10, likelihood="bernoulli", annotated_weight=10.0, n_epochs=10, random_state=seed
    ),
    "SCDC": lambda seed, judged: SCDC(
        10, likelihood="bernoulli", annotated_weight=10.0, n_epochs=24, n_candidates=2, random_state=seed, verbose=True
    ),
}
FACES: dict[str, Callable[[], Any]] = {
    "BayesSCDC": lambda: BayesSCDC(8, **SMALL, batch_size=128, annotated_batch_size=640, random_state=0),
    "SCDC": lambda: SCDC(4, **SMALL, annotated_batch_size=640, random_state=0),
    "DeepMCVC": lambda: DeepMCVC(4, max_views=1, random_state=0),
}


def main() -> None:
    """Run the parts asked for, print what comes out."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--models", nargs="+", choices=list(DIGITS), default=list(DIGITS), help="of the part digits")
    parser.add_argument("--cache", type=Path, default=Path("benchmarks/results/deep"))
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    blocks = []
    for part in arguments.parts:
        blocks.append("\n".join(PARTS[part](arguments)))
        print(blocks[-1], end="\n\n\n", flush=True)
    if arguments.out:
        arguments.out.write_text("\n\n\n".join(blocks) + "\n", encoding="utf-8")


def kept(arguments: argparse.Namespace, compute: Callable[..., dict[str, Any]], *task: Any) -> dict[str, Any]:
    """Result of a function, computed once."""
    path = arguments.cache / f"{'-'.join([compute.__name__, *map(str, task)])}.json"
    if not path.exists():
        path.write_text(json.dumps(compute(*task)))
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def scores(model: Any, truth: np.ndarray, seconds: float) -> dict[str, Any]:
    """What is reported of a fit."""
    return {
        "accuracy": clustering_accuracy(truth, model.labels_),
        "nmi": nmi(truth, model.labels_),
        "ami": ami(truth, model.labels_),
        "clusters": int(model.n_clusters_),
        "bound": model.lower_bound_,
        "seconds": seconds,
    }


def line(part: str, name: str, judged: bool, results: list[dict[str, Any]]) -> list[str]:
    """Mean and deviation over seeds, beside the paper."""
    table = pd.DataFrame(results)
    mean, spread = table.mean(), table.std(ddof=1)
    who = "with annotations" if judged else "nobody judged"
    return [
        f"{name:10s} {who:17s} accuracy {mean['accuracy']:.3f} ± {spread['accuracy']:.3f}   NMI {mean['nmi']:.3f} ± "
        f"{spread['nmi']:.3f}   AMI {mean['ami']:.3f}   clusters {mean['clusters']:.1f}   {mean['seconds']:.0f} s   "
        f"({len(table)} seeds; paper {PAPER[part, name, judged]})"
    ]


# --- pinwheel --------------------------------------------------------------------------------------------------------


def pinwheel_points(seed: int, n_arms: int = 5, each: int = 100) -> tuple[np.ndarray, np.ndarray]:
    """Points along arms that wind, standardised; their arms."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n_arms * each, 2)) * [0.3, 0.05] + [1, 0]
    arm = np.repeat(np.arange(n_arms), each)
    angle = 2 * np.pi * arm / n_arms + 0.25 * np.exp(points[:, 0])
    turn = np.stack([np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle)], 1).reshape(-1, 2, 2)
    turned = np.einsum("ni,nij->nj", points, turn)
    return (turned - turned.mean(0)) / turned.std(0), arm


def fit_pinwheel(seed: int, judged: bool) -> dict[str, Any]:
    points, arm = pinwheel_points(seed)
    some = pd.Series(arm).sample(100, random_state=seed)
    said = simulate_pairs(some, 20, 49, 0.9, random_state=seed).reindex(pd.RangeIndex(500)) if judged else None
    start = time.perf_counter()
    model = BayesSCDC(15, n_latent=2, **SMALL, batch_size=50, random_state=seed).fit(pd.DataFrame(points), said)
    return scores(model, arm, time.perf_counter() - start)


def show_pinwheel(arguments: argparse.Namespace) -> list[str]:
    lines = ["pinwheel: 500 points in 5 arms, 15 clusters at most, best of ten restarts by the bound"]
    for judged in (True, False):
        found = [kept(arguments, fit_pinwheel, seed, judged) for seed in range(arguments.seeds)]
        lines += line("pinwheel", "BayesSCDC", judged, found)
    return lines


# --- faces -----------------------------------------------------------------------------------------------------------


def fit_faces(name: str, where: str, n_pairs: int, seed: int) -> dict[str, Any]:
    features, views = faces()
    said = annotated(views["pose"], n_pairs, where, seed)
    start = time.perf_counter()
    model = FACES[name]().fit(features, said)
    found = scores(model, views["pose"].to_numpy(), time.perf_counter() - start)
    return found | {"weights": model.annotators_["weight"].sort_index().tolist()}


def show_faces(arguments: argparse.Namespace) -> list[str]:
    lines = [f"624 faces by pose: NMI by the number of pairs each of five workers judged ({arguments.seeds} draws)"]
    for where, name in product(("all", "some"), FACES):
        row, in_order = [], []
        for n_pairs in N_PAIRS:
            found = [kept(arguments, fit_faces, name, where, n_pairs, seed) for seed in range(arguments.seeds)]
            row.append(f"{n_pairs}: {np.mean([one['nmi'] for one in found]):.3f}")
            in_order += [bool((np.diff(one["weights"]) < 0).all()) for one in found if n_pairs == max(N_PAIRS)]
        what = "all faces judged" if where == "all" else "100 faces judged"
        lines.append(f"{name:10s} {what}   {'   '.join(row)}   weights in order {sum(in_order)} of {len(in_order)}")
    return lines


# --- digits ----------------------------------------------------------------------------------------------------------


def fit_digits(name: str, seed: int, judged: bool) -> dict[str, Any]:
    crowd = load_mnist_crowd(all_images=True)
    pixels = pd.DataFrame(np.asarray(crowd.data, float) / 255, index=crowd.annotations.items)
    start = time.perf_counter()
    model = DIGITS[name](seed, judged).fit(pixels, crowd.annotations if judged else None)
    seconds = time.perf_counter() - start
    return scores(model, np.asarray(crowd.target), seconds) | {"epochs": int(model.n_iter_)}


def show_digits(arguments: argparse.Namespace) -> list[str]:
    lines = ["60 000 digits; 48 workers grouped 2759 of them"]
    for name, judged in product(arguments.models, (True, False)):
        found = [kept(arguments, fit_digits, name, seed, judged) for seed in range(arguments.seeds)]
        lines += line("digits", name, judged, found)
    return lines


PARTS: dict[str, Callable[[argparse.Namespace], list[str]]] = {
    "pinwheel": show_pinwheel,
    "faces": show_faces,
    "digits": show_digits,
}

if __name__ == "__main__":
    main()
