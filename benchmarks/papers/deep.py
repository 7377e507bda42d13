"""Paper 5: the pinwheel, partly annotated faces, and handwritten digits with a real crowd.

    python benchmarks/papers/deep.py [--parts pinwheel faces digits] [--seeds N] [--cache FOLDER]
        [--out docs/papers/deep.txt] [--figures docs/papers]

pinwheel  500 points in five arms; 20 workers of accuracy .9 judge 49 pairs each of 100 of them, or there are none.
          BayesSCDC, the best of ten restarts by the bound; with our settings, and with the paper's.
faces     624 CMU faces, pose as truth, 20 principal components; five workers of accuracies .95 to .75 judge 200 to 2000
          pairs each, of all faces or of a hundred: the deep models, on the draws of `multiple_views.py`.
digits    60 000 pictures of MNIST; 48 workers grouped 2759 of them, 36 at a time, or there are no annotations.

Results are kept in the folder --cache, a file for each fit, and not computed again. The figure of the faces shows the
best of the other methods as well if `multiple_views.py --parts faces` has been run.
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

import jax
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from multiple_views import ACCURACIES, METHODS, N_PAIRS, PLACES, annotated, faces, table_of_faces
from paper_plots.deep import plot_samples, plot_worker_weights

from consilience import load, save
from consilience.datasets import load_mnist_crowd
from consilience.deep import SCDC, BayesSCDC, DeepMCVC
from consilience.inspection.plots.style import FAINT, SMALL, colour, marker, plain_text, tidy
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
NETWORKS = {"hidden": (40, 40)}
LISTENING = {"init": "judgements", "n_latent": 20, "annotated_weight": 10.0, "batch_size": 128, "random_state": 0}
PICTURES = {"likelihood": "bernoulli", "annotated_weight": 10.0}
PINWHEEL: dict[str, Callable[[int], Any]] = {
    "BayesSCDC": lambda seed: BayesSCDC(15, n_latent=2, n_init=10, **NETWORKS, batch_size=50, random_state=seed),
    "as published": lambda seed: BayesSCDC.as_published("pinwheel", n_init=10, random_state=seed),
}
DIGITS: dict[str, Callable[[int, bool], Any]] = {
    "BayesSCDC": lambda seed, judged: BayesSCDC(
        50 if judged else 10, warm_epochs=12 if judged else 30, n_epochs=10, **PICTURES, random_state=seed
    ),
    "SCDC": lambda seed, judged: SCDC(
        10, warm_epochs=12 if judged else 30, n_epochs=10, n_candidates=2, **PICTURES, random_state=seed
    ),
}
FACES: dict[str, Callable[[], Any]] = {
    "DeepMCVC": lambda: DeepMCVC(4, max_views=1, random_state=0),
    "BayesSCDC": lambda: BayesSCDC(12, hidden=(80, 80), n_epochs=200, **LISTENING),
    "SCDC": lambda: SCDC(4, **NETWORKS, **LISTENING),
}
DRAWS = {
    "pinwheel": {"BayesSCDC": 10, "as published": 10},
    "faces": {"DeepMCVC": 3, "BayesSCDC": 3, "SCDC": 3},
    "digits": {"BayesSCDC": 5, "SCDC": 2},
}

Fitted = tuple[Any, np.ndarray, float]
"""A model, the true clusters, and the seconds that the fit took."""


def main() -> None:
    """Run the chosen parts and print the results."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--seeds", type=int, help="draws; by default those of DRAWS")
    parser.add_argument("--models", nargs="+", choices=list(DIGITS), default=list(DIGITS), help="of the part digits")
    parser.add_argument("--cache", type=Path, default=Path("benchmarks/results/deep"))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--figures", type=Path, help="folder to draw the figures in")
    arguments = parser.parse_args()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    blocks = []
    for part in arguments.parts:
        blocks.append("\n".join(PARTS[part](arguments)))
        print(blocks[-1], end="\n\n\n", flush=True)
        if part in FIGURES and arguments.figures:
            with plain_text():
                FIGURES[part](arguments)
    if arguments.out:
        arguments.out.write_text("\n\n\n".join(blocks) + "\n", encoding="utf-8")


def kept(arguments: argparse.Namespace, compute: Callable[..., Any], *task: Any) -> dict[str, Any]:
    """Return the scores of a fit, computed once; the model is stored with them."""
    path = place(arguments, compute, *task)
    if not path.exists():
        model, truth, seconds = compute(*task)
        save(model, path.with_suffix(".zip"))
        path.write_text(json.dumps(scores(model, truth, seconds)))
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def place(arguments: argparse.Namespace, compute: Callable[..., Any], *task: Any) -> Path:
    """Return the path of the scores of a fit."""
    return Path(arguments.cache / f"{'-'.join([compute.__name__, *map(str, task)])}.json")


def scores(model: Any, truth: np.ndarray, seconds: float) -> dict[str, Any]:
    """Return the scores of a fit that are reported."""
    return {
        "weights": model.annotators_["weight"].sort_index().tolist(),
        "epochs": int(model.n_iter_),
        "accuracy": clustering_accuracy(truth, model.labels_),
        "nmi": nmi(truth, model.labels_),
        "ami": ami(truth, model.labels_),
        "clusters": int(model.n_clusters_),
        "bound": model.lower_bound_,
        "seconds": seconds,
    }


def line(part: str, name: str, judged: bool, results: list[dict[str, Any]]) -> list[str]:
    """Return mean and deviation over seeds, with the paper's values."""
    table = pd.DataFrame(results).drop(columns="weights", errors="ignore")
    mean, spread = table.mean(), table.std(ddof=1)
    who = "with annotations" if judged else "nobody judged"
    return [
        f"{name:12s} {who:17s} accuracy {mean['accuracy']:.3f} ± {spread['accuracy']:.3f}   NMI {mean['nmi']:.3f} ± "
        f"{spread['nmi']:.3f}   AMI {mean['ami']:.3f}   clusters {mean['clusters']:.1f}   {mean['seconds']:.0f} s   "
        f"({len(table)} seeds; paper {PAPER[part, name if name in DIGITS else 'BayesSCDC', judged]})"
    ]


# --- pinwheel --------------------------------------------------------------------------------------------------------


def pinwheel_points(seed: int, n_arms: int = 5, each: int = 100) -> tuple[np.ndarray, np.ndarray]:
    """Return standardised points along winding arms, and the arms."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n_arms * each, 2)) * [0.3, 0.05] + [1, 0]
    arm = np.repeat(np.arange(n_arms), each)
    angle = 2 * np.pi * arm / n_arms + 0.25 * np.exp(points[:, 0])
    turn = np.stack([np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle)], 1).reshape(-1, 2, 2)
    turned = np.einsum("ni,nij->nj", points, turn)
    return (turned - turned.mean(0)) / turned.std(0), arm


def fit_pinwheel(name: str, seed: int, judged: bool) -> Fitted:
    points, arm = pinwheel_points(seed)
    some = pd.Series(arm).sample(100, random_state=seed)
    pairs = simulate_pairs(some, 20, 49, 0.9, random_state=seed).reindex(pd.RangeIndex(500)) if judged else None
    start = time.perf_counter()
    model = PINWHEEL[name](seed).fit(pd.DataFrame(points), pairs)
    return model, arm, time.perf_counter() - start


def show_pinwheel(arguments: argparse.Namespace) -> list[str]:
    lines = ["pinwheel: 500 points in 5 arms, 15 clusters at most, best of ten restarts by the bound"]
    for name, judged in product(PINWHEEL, (True, False)):
        draws = range(arguments.seeds or DRAWS["pinwheel"][name])
        found = [kept(arguments, fit_pinwheel, name, seed, judged) for seed in draws]
        lines += line("pinwheel", name, judged, found)
    return lines


# --- faces -----------------------------------------------------------------------------------------------------------


def fit_faces(name: str, where: str, n_pairs: int, seed: int) -> Fitted:
    features, views = faces()
    pairs = annotated(views["pose"], n_pairs, where, seed)
    start = time.perf_counter()
    model = FACES[name]().fit(features, pairs)
    return model, views["pose"].to_numpy(), time.perf_counter() - start


def show_faces(arguments: argparse.Namespace) -> list[str]:
    lines = ["624 faces by pose: mean NMI by the number of pairs that each of five annotators judged"]
    for where, name in product(PLACES, FACES):
        found = {n_pairs: faces_of(arguments, name, where, n_pairs) for n_pairs in N_PAIRS}
        row = [f"{n_pairs}: {np.mean([one['nmi'] for one in fits]):.3f}" for n_pairs, fits in found.items()]
        in_order = [bool((np.diff(one["weights"]) < 0).all()) for one in found[max(N_PAIRS)]]
        what = f"{PLACES[where]} ({len(in_order)} draws)"
        lines.append(f"{name:10s} {what:35s} {'   '.join(row)}   weights in order {sum(in_order)} of {len(in_order)}")
    return lines


def faces_of(arguments: argparse.Namespace, name: str, where: str, n_pairs: int) -> list[dict[str, Any]]:
    """Return the scores of all draws."""
    draws = range(arguments.seeds or DRAWS["faces"][name])
    found = [kept(arguments, fit_faces, name, where, n_pairs, seed) for seed in draws]
    jax.clear_caches()  # code compiled for other numbers of pairs would fill the memory
    return found


def draw_faces(arguments: argparse.Namespace) -> None:
    """Draw the paper's figure 3: NMI by pairs, and the weight of a judgement of each annotator."""
    figure = Figure(figsize=(8.2, 3.1), layout="constrained")
    axes = figure.subplots(1, 3, width_ratios=[1, 1, 0.8])
    peers = Path("benchmarks/results/multiple_views/faces.json")
    others = table_of_faces(json.loads(peers.read_text())) if peers.exists() else None
    for axis, where in zip(axes, ("all", "some")):
        for number, name in enumerate(FACES):
            values = [[one["nmi"] for one in faces_of(arguments, name, where, n_pairs)] for n_pairs in N_PAIRS]
            look: dict[str, Any] = {"color": colour(number), "marker": marker(number), "ms": 4, "lw": 1}
            axis.errorbar(N_PAIRS, np.mean(values, 1), np.std(values, 1), elinewidth=0.6, label=name, **look)
        if others is not None:
            own = others[(others["where"] == where) & others["model"].isin(METHODS)]
            best = own.groupby(["pairs", "model"])["nmi"].mean().groupby("pairs").max()
            axis.plot(best.index, best, color=FAINT, linestyle="dashed", lw=1, label="best of the others")
        axis.set_title(PLACES[where], fontsize=9)
        axis.set_xlabel("pairs judged by each annotator", fontsize=SMALL)
        axis.set_ylim(0, 1.02)
        tidy(axis)
    axes[0].set_ylabel("NMI with the pose", fontsize=SMALL)
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower left", ncols=4, fontsize=SMALL, frameon=False
    )
    model = load(place(arguments, fit_faces, "DeepMCVC", "all", max(N_PAIRS), 0).with_suffix(".zip"))
    plot_worker_weights(model, [2 * np.log(p / (1 - p)) for p in ACCURACIES], ax=axes[2])
    figure.savefig(arguments.figures / "deep_faces.svg", metadata={"Date": None})


# --- digits ----------------------------------------------------------------------------------------------------------


def fit_digits(name: str, seed: int, judged: bool) -> Fitted:
    crowd = load_mnist_crowd(all_images=True)
    pixels = pd.DataFrame(np.asarray(crowd.data, float) / 255, index=crowd.annotations.items)
    start = time.perf_counter()
    model = DIGITS[name](seed, judged).fit(pixels, crowd.annotations if judged else None)
    return model, np.asarray(crowd.target), time.perf_counter() - start


def show_digits(arguments: argparse.Namespace) -> list[str]:
    lines = ["60 000 digits; 48 workers grouped 2759 of them"]
    for name, judged in product(arguments.models, (True, False)):
        draws = range(arguments.seeds or DRAWS["digits"][name])
        found = [kept(arguments, fit_digits, name, seed, judged) for seed in draws]
        lines += line("digits", name, judged, found)
    return lines


def draw_digits(arguments: argparse.Namespace) -> None:
    """Draw the paper's figure 4a: images of the clusters."""
    model = load(place(arguments, fit_digits, "BayesSCDC", 0, True).with_suffix(".zip"))
    figure = Figure(figsize=(9.5, 4.2), layout="tight")
    plot_samples(model, (28, 28), n_rows=6, random_state=0, ax=figure)
    figure.savefig(arguments.figures / "deep_digits.png", dpi=120)


PARTS: dict[str, Callable[[argparse.Namespace], list[str]]] = {
    "pinwheel": show_pinwheel,
    "faces": show_faces,
    "digits": show_digits,
}
FIGURES: dict[str, Callable[[argparse.Namespace], None]] = {"faces": draw_faces, "digits": draw_digits}

if __name__ == "__main__":
    main()
