"""Paper 4: judged pairs of faces (paper 5, section 5.2), several views of the faces, and principles of card sorters.

    python benchmarks/papers/multiple_views.py [--parts faces views animals planted] [--seeds 3] [--cache FOLDER]
        [--out docs/papers/multiple_views.txt] [--figures docs/papers]

faces    624 CMU faces, pose as truth, 20 principal components; 5 annotators of accuracies .95 to .75 judge 200 to 2000
         pairs each, half of them of one pose: NMI with the pose of MECC and of every competitor.
views    the same faces, judged by 5 annotators each by pose, by person and by eyewear: what MCVC makes of them.
animals  107 people sorted 20 animals and said by which principle: the views that MCVC finds, beside the principles.
planted  two views, 3 clusters each, of 600 items of 6 features, 10 annotators each: how often MCVC finds both.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from matplotlib.figure import Figure
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

from consilience import Pairs
from consilience.datasets import load_cardsort_animals, load_cmu_faces
from consilience.inspection.style import colour, marker, plain_text, tidy
from consilience.metrics import ami, nmi
from consilience.semisupervised import MCVC, MECC, ITMLClustering, MPCKMeans, SemiCrowd
from consilience.simulation import simulate_pairs

ACCURACIES = [0.95, 0.9, 0.85, 0.8, 0.75]
N_PAIRS = (200, 500, 1000, 1500, 2000)
VIEWS = ("pose", "person", "eyes")
MODELS: dict[str, Callable[[], Any]] = {
    "MECC": lambda: MECC(4, random_state=0),
    "MPCKMeans": lambda: MPCKMeans(4, random_state=0),
    "ITML, k-means": lambda: ITMLClustering(4, random_state=0),
    "SemiCrowd": lambda: SemiCrowd(4, random_state=0),
}


def main() -> None:
    """Run the parts asked for, print what comes out."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cache", type=Path, default=Path("benchmarks/results/multiple_views"))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--figures", type=Path)
    arguments = parser.parse_args()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    blocks = []
    for part in arguments.parts:
        compute, show = PARTS[part]
        path = arguments.cache / f"{part}.json"
        if not path.exists():
            path.write_text(json.dumps(compute(arguments)))
        results = json.loads(path.read_text())
        blocks.append("\n".join(show(results)))
        print(blocks[-1], end="\n\n\n", flush=True)
        if part == "faces" and arguments.figures:
            with plain_text():
                draw_faces(results).savefig(arguments.figures / "multiple_views_faces.svg", metadata={"Date": None})
    if arguments.out:
        arguments.out.write_text("\n\n\n".join(blocks) + "\n", encoding="utf-8")


def everywhere(function: Callable[..., Any], tasks: list[tuple], jobs: int) -> list[Any]:
    """Call the function for every task, in processes."""
    return Parallel(jobs)(delayed(_quietly)(function, task) for task in tasks)


def _quietly(function: Callable[..., Any], task: tuple) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*task)


def faces() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Principal components of the pictures, each of deviation 1; true views."""
    bunch = load_cmu_faces()
    components = PCA(20, random_state=0).fit_transform(bunch.data)
    return pd.DataFrame(components / components.std(0), index=bunch.item_names), bunch.views


# --- faces -----------------------------------------------------------------------------------------------------------


def scores_of_faces(n_pairs: int, seed: int) -> dict[str, list[float]]:
    """NMI, AMI and seconds of each model."""
    features, views = faces()
    judged = simulate_pairs(views["pose"], 5, n_pairs, ACCURACIES, random_state=seed)
    ways = {"k-means": lambda: KMeans(4, n_init=10, random_state=0).fit_predict(features)}
    for name, model in MODELS.items():
        ways[name] = lambda model=model: model().fit(features, judged).labels_
    found = {}
    for name, way in ways.items():
        start = time.perf_counter()
        labels = way()
        seconds = time.perf_counter() - start
        found[name] = [nmi(views["pose"], labels), ami(views["pose"], labels), seconds]
    return found


def compute_faces(arguments: argparse.Namespace) -> Any:
    tasks = [(n_pairs, seed) for n_pairs in N_PAIRS for seed in range(arguments.seeds)]
    return [[*task, found] for task, found in zip(tasks, everywhere(scores_of_faces, tasks, arguments.jobs))]


def table_of_faces(results: Any) -> pd.DataFrame:
    rows = [
        {"pairs": n_pairs, "model": model, "nmi": values[0], "ami": values[1], "seconds": values[2]}
        for n_pairs, _, found in results
        for model, values in found.items()
    ]
    return pd.DataFrame(rows)


def show_faces(results: Any) -> list[str]:
    table = table_of_faces(results)
    n_seeds = table.groupby(["model", "pairs"]).size().max()
    lines = [
        f"faces, pose: NMI after so many pairs by each of five annotators ({n_seeds} draws); seconds at the most",
        "",
    ]
    mean = table.groupby(["model", "pairs"], sort=False)[["nmi", "seconds"]].mean().unstack("pairs")  # noqa: PD010
    lines.append(" " * 20 + "".join(f"{n_pairs:>8d}" for n_pairs in N_PAIRS))
    for model, row in mean.iterrows():
        lines.append(
            f"    {model:16s}" + "".join(f"{v:8.3f}" for v in row["nmi"]) + f"{row['seconds'].iloc[-1]:9.2f} s"
        )
    return lines


def draw_faces(results: Any) -> Figure:
    figure = Figure(figsize=(5.2, 3.2), layout="constrained")
    axis = figure.subplots()
    mean = table_of_faces(results).groupby(["model", "pairs"], sort=False)["nmi"].mean().unstack("pairs")  # noqa: PD010
    for number, (model, values) in enumerate(mean.iterrows()):
        axis.plot(values.index, values, color=colour(number), marker=marker(number), ms=4, lw=1, label=model)
    axis.set_xlabel("pairs judged by each of five annotators", fontsize=8)
    axis.set_ylabel("NMI with the pose", fontsize=8)
    axis.set_ylim(0, 1)
    axis.legend(fontsize=7, frameon=False)
    tidy(axis)
    return figure


# --- views -----------------------------------------------------------------------------------------------------------


def judged_by_views(views: pd.DataFrame, n_pairs: int, seed: int) -> Pairs:
    """Five annotators a view, called by the view and a number."""
    parts = []
    for number, view in enumerate(VIEWS):
        part = simulate_pairs(views[view], 5, n_pairs, ACCURACIES, random_state=100 * seed + number).to_frame()
        parts.append(part.assign(annotator=view + " " + part["annotator"].astype(str)))
    return Pairs.from_frame(pd.concat(parts), items=views.index)


def views_of_faces(n_clusters: int, seed: int) -> dict[str, Any]:
    """What MCVC makes of faces judged in three ways."""
    features, views = faces()
    start = time.perf_counter()
    model = MCVC(n_clusters, random_state=0).fit(features, judged_by_views(views, 2000, seed))
    seconds = time.perf_counter() - start
    held = model.annotators_["view"]
    return {
        "n_views": len(model.views_),
        "ari": adjusted_rand_score(held.index.str.split().str[0], held),
        "seconds": seconds,
        "nmi": {view: max(nmi(views[view], model.view_labels_[v]) for v in model.view_labels_) for view in VIEWS},
    }


def compute_views(arguments: argparse.Namespace) -> Any:
    tasks = [(n_clusters, seed) for n_clusters in (4, 20) for seed in range(arguments.seeds)]
    return [[*task, found] for task, found in zip(tasks, everywhere(views_of_faces, tasks, arguments.jobs))]


def show_views(results: Any) -> list[str]:
    lines = [f"faces judged by {', '.join(VIEWS)}, five annotators each, 2000 pairs: MCVC", ""]
    lines.append(f"    {'clusters':>8s} {'draw':>5s} {'views':>6s} {'annotators, ARI':>16s}   NMI {' / '.join(VIEWS)}")
    for n_clusters, seed, found in results:
        values = " / ".join(f"{found['nmi'][view]:.3f}" for view in VIEWS)
        lines.append(f"    {n_clusters:8d} {seed:5d} {found['n_views']:6d} {found['ari']:16.3f}   {values}")
    return lines


# --- animals ---------------------------------------------------------------------------------------------------------


def views_of_animals(n_clusters: int) -> dict[str, Any]:
    """Views of MCVC beside the principles that people said."""
    animals = load_cardsort_animals()
    model = MCVC(n_clusters, random_state=0).fit(None, animals.annotations)
    principle = animals.annotator_info["principle"].loc[model.annotators_.index]
    table = pd.crosstab(principle, model.annotators_["view"])
    clusters = [
        [sorted(labels.index[labels == k]) for k in sorted(set(labels))] for _, labels in model.view_labels_.items()
    ]
    return {
        "ari": adjusted_rand_score(principle, model.annotators_["view"]),
        "ami": ami(principle, model.annotators_["view"]),
        "principles": list(table.index),
        "table": table.to_numpy().tolist(),
        "clusters": clusters,
    }


def compute_animals(arguments: argparse.Namespace) -> Any:
    return [[n, found] for n, found in zip((4, 6, 8), everywhere(views_of_animals, [(4,), (6,), (8,)], arguments.jobs))]


def show_animals(results: Any) -> list[str]:
    lines = []
    for n_clusters, found in results:
        n_views = len(found["clusters"])
        lines += [
            f"20 animals sorted by 107 people, {n_clusters} clusters a view at most: {n_views} views; AMI of views and "
            f"principles {found['ami']:.3f}, ARI {found['ari']:.3f}",
            "",
            " " * 28 + "".join(f"{'view ' + str(view):>8s}" for view in range(n_views)),
        ]
        lines += [
            f"    {principle[:22]:24s}" + "".join(f"{count:8d}" for count in counts)
            for principle, counts in zip(found["principles"], found["table"])
        ]
        for view, clusters in enumerate(found["clusters"]):
            lines.append(f"    view {view}: " + " | ".join(", ".join(cluster) for cluster in clusters))
        lines.append("")
    return lines


# --- planted ---------------------------------------------------------------------------------------------------------


def planted(seed: int) -> dict[str, Any]:
    """Two views of 3 clusters, each told by three of six features."""
    rng = np.random.default_rng(seed)
    clusters = [rng.integers(3, size=600) for _ in range(2)]
    blocks = [3.5 * np.linalg.qr(rng.normal(size=(3, 3)))[0][own] + rng.normal(size=(600, 3)) for own in clusters]
    features = np.column_stack(blocks)
    parts = []
    for view, own in enumerate(clusters):
        accuracy = np.linspace(0.95, 0.70, 10)
        part = simulate_pairs(own, 10, 400, accuracy, random_state=10 * seed + view).to_frame()
        parts.append(part.assign(annotator=f"view {view} " + part["annotator"].astype(str)))
    judged = Pairs.from_frame(pd.concat(parts), items=range(600))
    start = time.perf_counter()
    model = MCVC(3, random_state=0).fit((features - features.mean(0)) / features.std(0), judged)
    return {
        "nmi": [max(nmi(own, model.view_labels_[v]) for v in model.view_labels_) for own in clusters],
        "ari": adjusted_rand_score(model.annotators_.index.str[:6], model.annotators_["view"]),
        "seconds": time.perf_counter() - start,
    }


def compute_planted(arguments: argparse.Namespace) -> Any:
    return everywhere(planted, [(seed,) for seed in range(10)], arguments.jobs)


def show_planted(results: Any) -> list[str]:
    right = sum(min(found["nmi"]) >= 0.95 and found["ari"] == 1 for found in results)
    lines = [
        f"two planted views: found with NMI of at least .95, every annotator in the right one, in {right} of 10",
        "",
    ]
    for seed, found in enumerate(results):
        values = " / ".join(f"{value:.3f}" for value in found["nmi"])
        lines.append(f"    draw {seed}: NMI {values}, annotators' ARI {found['ari']:.3f}, {found['seconds']:.1f} s")
    return lines


PARTS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "faces": (compute_faces, show_faces),
    "views": (compute_views, show_views),
    "animals": (compute_animals, show_animals),
    "planted": (compute_planted, show_planted),
}


if __name__ == "__main__":
    main()
