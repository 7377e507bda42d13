"""Paper 3, Figs. 1 to 5: fusion of subset groupings and active composition, beside peers and on recorded people.

    python benchmarks/papers/subset_groupings.py [--parts fusions strategies difficulty large rates replay]
        [--runs 10] [--draws 20] [--jobs 2] [--out docs/papers/subset_groupings.txt] [--figures docs/papers]

Protocol (Veeramachaneni & O'Reilly, section 6): Gaussian data of 8 features, 10 clusters, no two nearer than τ (σi +
σj)/2; agents that cluster a subset on some of the features (`ClusteringPopulation`: k-means or Ward, 3 to 6 groups for
subsets of 8, 5 to 10 for 50, on 4 to 8 features, a new agent for every answer). Case 1: 100 items, subsets of 8. Case
2: 1000 items, 100 subsets of 50. The number of clusters is given to all, and NMI with the truth is what is shown.

fusions     NMI of every fusion and peer on the same groupings, simulated and of people
strategies  Figs. 2 and 4: NMI and stability as case 1 grows, and the subsets needed for a level
difficulty  Fig. 1: dynamic, static and complete presentation over τ, 500 subsets of case 1
large       Figs. 3 and 4: case 2
rates       Fig. 5: 1, 2, 4 or 8 subsets between updates, case 2
replay      strategies choosing among what people were really shown, answered by what they said

"knowing the clusters" composes subsets of two items from each of four clusters, by the truth: no strategy can know as
much. Results of finished parts are kept in the folder --cache and not computed again.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from matplotlib.figure import Figure
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from consilience import Groupings
from consilience.active import ActiveSession
from consilience.consensus import SubsetFusion
from consilience.datasets import load_dogs_birds, load_mnist_crowd, load_orchestra
from consilience.inference.memberships import Memberships, presented, together
from consilience.inspection.style import colour, marker, plain_text, tidy
from consilience.metrics import ari, nmi
from consilience.simulation import (
    ClusteringPopulation,
    ReplayAgent,
    complete,
    gaussian_clusters,
    present,
    random_subsets,
    simulate_crowd,
)

K = 10
CASE_1 = {"n_items": 100, "size": 8, "n_groups": (3, 6)}
CASE_2 = {"n_items": 1000, "size": 50, "n_groups": (5, 10)}
TAUS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20)
LEVELS = {2: (0.3, 0.35, 0.4), 5: (0.5, 0.6, 0.7, 0.8, 0.9), 10: (0.5, 0.6, 0.7, 0.8, 0.9)}
SUBSETS = {2: 200, 5: 300, 10: 160}
OURS, ORACLE = "informative", "knowing the clusters"
STRATEGIES = ("random", "explore", "exploit-pairwise", "exploit-one-vs-rest", "explore-exploit", OURS)
FUSIONS: dict[str, dict[str, Any]] = {
    "SubsetFusion()": {},
    'SubsetFusion(normalize="presented")': {"normalize": "presented"},
    "degree, k-means (as HBGF)": {"refine": False},
    "presented, k-means (C/P)": {"normalize": "presented", "refine": False},
    "None, k-means (the paper's)": {"normalize": None, "refine": False},
}
LARGEST_DENSE = 3000  # items of which peers may hold all pairs


def main() -> None:
    """Run the parts asked for, print the tables, draw the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--runs", type=int, default=10, help="draws of the data in the figures")
    parser.add_argument("--draws", type=int, default=20, help="draws for the subsets needed")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cache", type=Path, default=Path("benchmarks/results/subset_groupings"))
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
        lines, figure = show(json.loads(path.read_text()))
        blocks.append("\n".join(lines))
        print(blocks[-1], end="\n\n\n", flush=True)
        if figure is not None and arguments.figures:
            with plain_text():
                figure.savefig(arguments.figures / f"subset_groupings_{part}.svg", metadata={"Date": None})
    if arguments.out:
        arguments.out.write_text("\n\n\n".join(blocks) + "\n", encoding="utf-8")


def everywhere(function: Callable[..., Any], tasks: Iterable[tuple], jobs: int) -> list[Any]:
    """Call the function for every task, in processes with one BLAS thread each."""
    return Parallel(jobs)(delayed(_quietly)(function, task) for task in tasks)


def _quietly(function: Callable[..., Any], task: tuple) -> Any:
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*task)


# --- fusions ---------------------------------------------------------------------------------------------------------


def fuse(name: str, groupings: Groupings, n_clusters: int) -> np.ndarray:
    """Clusters of the items; those without groupings are a cluster of their own."""
    if name in FUSIONS:
        return SubsetFusion(n_clusters, random_state=0, **FUSIONS[name]).fit_predict(groupings)
    memberships = Memberships.of(groupings)
    if memberships.n_items > LARGEST_DENSE:
        raise MemoryError
    counted, of = together(memberships).toarray(), presented(memberships).toarray()
    if name == "average linkage of C/P (as CSPA)":
        share = counted / np.maximum(of, 1)
        distance = squareform(1 - share, checks=False)
        return fcluster(linkage(distance, "average"), n_clusters, "maxclust")
    np.fill_diagonal(counted, memberships.times_seen)
    return KMeans(n_clusters, n_init=10, random_state=0).fit_predict(counted)


PEERS = ("average linkage of C/P (as CSPA)", "k-means on the rows of C")
ROWS = (*FUSIONS, *PEERS)


def simulated(n_items: int, size: int, n_groups: tuple[int, int], tau: float, n_subsets: int, seed: int):
    data = gaussian_clusters(n_items, n_clusters=K, separation=tau, random_state=seed)
    agents = ClusteringPopulation(data.data, n_groups=n_groups, random_state=seed)
    items = list(data.data.index)
    subsets = random_subsets(items, size, n_subsets, random_state=seed)
    return present(agents, subsets, items=items), data.target


def noisy(n_items: int, n_subsets: int, seed: int):
    classes = np.arange(n_items) % K
    crowd = simulate_crowd(classes, n_annotators=n_subsets, items_each=50, accuracy=0.85, merge=0.2, random_state=seed)
    return crowd, classes


def random_tasks(bunch):
    """Of Orchestra the answers to its 205 random tasks."""
    info = bunch.annotator_info
    return bunch.annotations.restrict(annotators=info.index[info["sample"] == "random_samples"]), bunch.target


def whole(bunch):
    return bunch.annotations, bunch.target


CROWDS: dict[str, Callable[..., Any]] = {
    "case 1, tau 5, 150 subsets": lambda seed: simulated(*CASE_1.values(), 5, 150, seed),
    "case 1, tau 5, 400 subsets": lambda seed: simulated(*CASE_1.values(), 5, 400, seed),
    "case 1, tau 5, 1000 subsets": lambda seed: simulated(*CASE_1.values(), 5, 1000, seed),
    "case 1, tau 2, 400 subsets": lambda seed: simulated(*CASE_1.values(), 2, 400, seed),
    "case 2, tau 5": lambda seed: simulated(*CASE_2.values(), 5, 100, seed),
    "case 2, tau 2": lambda seed: simulated(*CASE_2.values(), 2, 100, seed),
    "noisy agents, 1000 items, 100 x 50": lambda seed: noisy(1000, 100, seed),
    "noisy agents, 10 000 items, 2000 x 50": lambda seed: noisy(10_000, 2000, seed),
}
PEOPLE: dict[str, Callable[[], Any]] = {
    "orchestra scenes, 205 random": lambda: random_tasks(load_orchestra("scenes")),
    "orchestra scenes, all": lambda: whole(load_orchestra("scenes")),
    "orchestra ImageNet, 205 random": lambda: random_tasks(load_orchestra("imagenet")),
    "orchestra ImageNet, all": lambda: whole(load_orchestra("imagenet")),
    "mnist-crowd": lambda: whole(load_mnist_crowd()),
    "dogs3": lambda: whole(load_dogs_birds("dogs3")),
    "birds5": lambda: whole(load_dogs_birds("birds5")),
}


def scores(crowd: str, seed: int) -> dict[str, list[float]]:
    """NMI and ARI of every fusion on one set of groupings, over the items that some grouping holds."""
    groupings, truth = CROWDS[crowd](seed) if crowd in CROWDS else PEOPLE[crowd]()
    seen = Memberships.of(groupings).times_seen > 0
    truth = np.asarray(truth)
    found = {}
    for name in ROWS:
        try:
            labels = fuse(name, groupings, len(np.unique(truth)))
        except MemoryError:
            continue
        found[name] = [nmi(truth[seen], labels[seen]), ari(truth[seen], labels[seen])]
    return found


def compute_fusions(arguments: argparse.Namespace) -> Any:
    tasks = [*product(CROWDS, range(arguments.runs)), *((crowd, 0) for crowd in PEOPLE)]
    return [[crowd, found] for (crowd, _), found in zip(tasks, everywhere(scores, tasks, arguments.jobs))]


def show_fusions(results: Any) -> tuple[list[str], None]:
    rows = [
        {"crowd": crowd, "fusion": name, "nmi": both[0], "ari": both[1]}
        for crowd, found in results
        for name, both in found.items()
    ]
    frame = pd.DataFrame(rows)
    lines = ["NMI / ARI with the truth, number of clusters given; means over the draws where simulated", ""]
    for crowd, part in frame.groupby("crowd", sort=False):
        mean = part.groupby("fusion", sort=False)[["nmi", "ari"]].mean()
        lines.append(f"{crowd}" + (f" ({part.groupby('fusion').size().max()} draws)" if crowd in CROWDS else ""))
        lines += [f"    {name:36s} {row['nmi']:.3f} / {row['ari']:.3f}" for name, row in mean.iterrows()]
    return lines, None


# --- strategies ------------------------------------------------------------------------------------------------------


def ask_and_tell(
    strategy: str, case: dict[str, Any], tau: float, seed: int, n_subsets: int, every: int, rate: int = 1
) -> list[list[float]]:
    """NMI with the truth and stability, every so many subsets."""
    data = gaussian_clusters(case["n_items"], n_clusters=K, separation=tau, random_state=seed)
    agents = ClusteringPopulation(data.data, n_groups=case["n_groups"], random_state=seed)
    items = list(data.data.index)
    session = ActiveSession(
        items,
        strategy="random" if strategy == ORACLE else strategy,
        fusion=SubsetFusion(K, random_state=0),
        random_state=seed,
    )
    rng = np.random.default_rng(seed)
    curve = []
    for asked in range(rate, n_subsets + 1, rate):
        if strategy == ORACLE:
            subsets = [two_of_each_of_four(items, data.target, rng) for _ in range(rate)]
        else:
            subsets = [subset.items for subset in session.ask(rate, case["size"])]
            for subset in session.pending_:
                session.withdraw(subset)
        names = [f"answer {asked - rate + number}" for number in range(rate)]
        session.tell(present(agents, subsets, items=items, annotators=names))
        if asked % every < rate:
            labels = session.consensus().labels_
            curve.append([asked, nmi(data.target, labels), session.stability_["stability"].iloc[-1]])
    return curve


def two_of_each_of_four(items: list[Any], classes: np.ndarray, rng: np.random.Generator) -> list[Any]:
    """Two items of each of four clusters, all at random."""
    chosen = [rng.choice(np.flatnonzero(classes == k), 2, replace=False) for k in rng.choice(K, 4, replace=False)]
    return [items[place] for place in np.concatenate(chosen)]


def compute_strategies(arguments: argparse.Namespace) -> Any:
    tasks = []
    for tau, strategy in product(SUBSETS, (*STRATEGIES, ORACLE)):
        n_runs = arguments.draws if strategy in ("random", OURS) else arguments.runs
        tasks += [(strategy, CASE_1, tau, 100 + seed, SUBSETS[tau], 20) for seed in range(n_runs)]
    curves = everywhere(ask_and_tell, tasks, arguments.jobs)
    return [[task[2], task[0], curve] for task, curve in zip(tasks, curves)]


def needed(curve: np.ndarray, level: float) -> float:
    """Subsets at which NMI first reaches a level, interpolated; infinite if it does not."""
    reached = np.flatnonzero(curve[:, 1] >= level)
    if not len(reached):
        return np.inf
    place = reached[0]
    before = curve[place - 1, :2] if place else np.zeros(2)
    return float(np.interp(level, [before[1], curve[place, 1]], [before[0], curve[place, 0]]))


def medians(curves: list[np.ndarray], levels: Iterable[float]) -> list[float]:
    return [float(np.median([needed(curve, level) for curve in curves])) for level in levels]


def show_strategies(results: Any) -> tuple[list[str], Figure]:
    lines, figure = [], Figure(figsize=(9, 5.6), layout="constrained")
    axes = figure.subplots(2, len(SUBSETS), sharex="col")
    for column, (tau, levels) in enumerate(LEVELS.items()):
        found = by_strategy(results, tau)
        reference = medians(found["random"], levels)
        lines += [f"case 1, tau {tau}: median subsets until NMI reaches a level, and their ratio to random's", ""]
        lines.append(" " * 28 + "".join(f"{level:>14.2f}" for level in levels) + "   draws")
        for strategy, curves in found.items():
            numbers = medians(curves, levels)
            cells = [
                f"{number:7.0f} ({number / other:.2f})" if np.isfinite([number, other]).all() else f"{number:14.0f}"
                for number, other in zip(numbers, reference)
            ]
            lines.append(f"    {strategy:24s}" + "".join(f"{cell:>14s}" for cell in cells) + f"   {len(curves)}")
        lines.append("")
        draw_curves(axes[:, column], found, f"τ = {tau}")
    label(axes)
    return lines, figure


def by_strategy(results: Any, tau: float) -> dict[str, list[np.ndarray]]:
    found: dict[str, list[np.ndarray]] = {}
    for this, strategy, curve in results:
        if this == tau:
            found.setdefault(strategy, []).append(np.array(curve, dtype=float))
    return found


def draw_curves(axes: Any, found: dict[str, list[np.ndarray]], title: str) -> None:
    """Mean NMI above, mean stability below."""
    for number, (strategy, curves) in enumerate(found.items()):
        mean = np.nanmean(np.stack(curves)[:, 1:], axis=0)
        for row, axis in enumerate(axes):
            axis.plot(
                mean[:, 0], mean[:, 1 + row], color=colour(number), marker=marker(number), ms=3, lw=1, label=strategy
            )
            axis.set_ylim(0, 1)
            tidy(axis)
    axes[0].set_title(title, fontsize=9)
    axes[-1].set_xlabel("subsets", fontsize=8)


def label(axes: Any) -> None:
    axes[0, 0].set_ylabel("NMI with the truth", fontsize=8)
    axes[1, 0].set_ylabel("stability", fontsize=8)
    axes[0, -1].legend(fontsize=6, frameon=False, loc="lower right")


def compute_difficulty(arguments: argparse.Namespace) -> Any:
    tasks = [
        (how, tau, seed)
        for tau, how, seed in product(TAUS, ("exploit-pairwise", OURS, "random", "complete"), range(arguments.runs))
    ]
    return [[how, tau, found] for (how, tau, _), found in zip(tasks, everywhere(at_500, tasks, arguments.jobs))]


def at_500(how: str, tau: float, seed: int) -> list[float]:
    """NMI after 500 presentations, of our fusion and of the paper's."""
    data = gaussian_clusters(100, n_clusters=K, separation=tau, random_state=seed)
    agents = ClusteringPopulation(
        data.data, n_groups=(8, 12) if how == "complete" else CASE_1["n_groups"], random_state=seed
    )
    items = list(data.data.index)
    if how == "complete":
        groupings = complete(agents, items, 500)
    else:
        session = ActiveSession(items, strategy=how, fusion=SubsetFusion(K), random_state=seed)
        for _ in range(500):
            subset = session.ask(1, CASE_1["size"])[0]
            session.tell(agents(subset.items), subset=subset)
        groupings = session.groupings_
    return [nmi(data.target, fuse(name, groupings, K)) for name in ("SubsetFusion()", "None, k-means (the paper's)")]


def show_difficulty(results: Any) -> tuple[list[str], Figure]:
    frame = pd.DataFrame([[how, tau, *found] for how, tau, found in results], columns=["how", "tau", "ours", "paper"])
    mean = frame.groupby(["how", "tau"], sort=False).mean().unstack("tau")  # noqa: PD010
    figure = Figure(figsize=(7.5, 3), layout="constrained")
    lines = []
    for axis, (fusion, name) in zip(
        figure.subplots(1, 2, sharey=True), (("ours", "SubsetFusion()"), ("paper", "the paper's fusion"))
    ):
        lines += [f"case 1, 500 presentations, {name}: NMI over tau (means of {len(frame) // mean.size} draws)", ""]
        lines.append(" " * 24 + "".join(f"{tau:>7g}" for tau in TAUS))
        for number, how in enumerate(mean.index):
            values = mean.loc[how, fusion]
            lines.append(f"    {how:20s}" + "".join(f"{value:7.3f}" for value in values))
            axis.semilogx(TAUS, values, color=colour(number), marker=marker(number), ms=4, lw=1, label=how)
        lines.append("")
        axis.set_title(name, fontsize=9)
        axis.set_xlabel("τ", fontsize=8)
        tidy(axis)
    figure.axes[0].set_ylabel("NMI after 500 presentations", fontsize=8)
    figure.axes[0].legend(fontsize=7, frameon=False)
    return lines, figure


def compute_large(arguments: argparse.Namespace) -> Any:
    strategies = [s for s in STRATEGIES if s != "exploit-one-vs-rest"]
    tasks = [
        (strategy, CASE_2, tau, seed, 100, 10)
        for tau, strategy, seed in product((2, 5), strategies, range(arguments.runs))
    ]
    curves = everywhere(ask_and_tell, tasks, arguments.jobs)
    return [[task[2], task[0], curve] for task, curve in zip(tasks, curves)]


def show_large(results: Any) -> tuple[list[str], Figure]:
    figure = Figure(figsize=(7.5, 5.2), layout="constrained")
    axes = figure.subplots(2, 2, sharex=True)
    lines = []
    for column, tau in enumerate((2, 5)):
        found = by_strategy(results, tau)
        n_runs = len(found["random"])
        lines += [
            f"case 2, tau {tau}: mean NMI after 20, 40, 60, 80, 100 subsets ({n_runs} draws); ± its standard error",
            "",
        ]
        for strategy, curves in found.items():
            values = np.stack(curves)[:, 1::2, 1]
            error = values.std(0, ddof=1)[-1] / np.sqrt(n_runs) if n_runs > 1 else np.nan
            lines.append(f"    {strategy:20s}" + "".join(f"{v:7.3f}" for v in values.mean(0)) + f"  ± {error:.3f}")
        lines.append("")
        draw_curves(axes[:, column], found, f"case 2, τ = {tau}")
    label(axes)
    return lines, figure


def compute_rates(arguments: argparse.Namespace) -> Any:
    tasks = [
        (strategy, CASE_2, tau, seed, 96, 96, rate)
        for rate, tau, strategy, seed in product(
            (1, 2, 4, 8), (1, 5), ("random", "exploit-pairwise", OURS), range(arguments.runs)
        )
    ]
    ends = everywhere(ask_and_tell, tasks, arguments.jobs)
    return [[task[6], task[2], task[0], curve[-1][1]] for task, curve in zip(tasks, ends)]


def show_rates(results: Any) -> tuple[list[str], Figure]:
    frame = pd.DataFrame(results, columns=["rate", "tau", "strategy", "nmi"])
    mean = frame.groupby(["tau", "strategy", "rate"], sort=False)["nmi"].mean().unstack("rate")  # noqa: PD010
    n_runs = frame.groupby(["tau", "strategy", "rate"]).size().max()
    lines = [f"case 2, 96 subsets: mean NMI by the number of subsets asked at once ({n_runs} draws)", ""]
    lines.append(" " * 30 + "".join(f"{rate:>8d}" for rate in mean.columns))
    figure = Figure(figsize=(7, 2.8), layout="constrained")
    axes = dict(zip((1, 5), figure.subplots(1, 2, sharey=False)))
    for number, ((tau, strategy), values) in enumerate(mean.iterrows()):
        lines.append(f"    tau {tau}  {strategy:18s}" + "".join(f"{value:8.3f}" for value in values))
        look = number % 3
        axes[tau].plot(mean.columns, values, color=colour(look), marker=marker(look), ms=4, lw=1, label=strategy)
        axes[tau].set_title(f"τ = {tau}", fontsize=9)
        axes[tau].set_xlabel("subsets asked at once", fontsize=8)
        axes[tau].set_xticks(list(mean.columns))
        axes[tau].set_ylim(0)
        tidy(axes[tau])
    axes[1].set_ylabel("NMI after 96 subsets", fontsize=8)
    axes[5].legend(fontsize=7, frameon=False)
    return lines, figure


# --- replay ----------------------------------------------------------------------------------------------------------


def recorded(name: str):
    """Groupings of people, the truth, subsets asked a round, rounds."""
    if name.startswith("orchestra"):
        return *random_tasks(load_orchestra(name.split()[1])), 8, 16
    bunch = load_dogs_birds(name)
    query, at_once = {"dogs3": ("radio-3", 300), "birds5": ("drag-5", 100)}[name]
    info = bunch.annotator_info
    return bunch.annotations.restrict(annotators=info.index[info["query"] == query]), bunch.target, at_once, 16


REPLAYED = {
    "orchestra scenes": (0.2, 0.3, 0.35, 0.4),
    "orchestra imagenet": (0.2, 0.3, 0.35, 0.4, 0.45),
    "dogs3": (0.1, 0.2, 0.3),
    "birds5": (0.2, 0.3, 0.4, 0.5, 0.6),
}


def replay(name: str, strategy: str, seed: int) -> list[list[float]]:
    """NMI as the strategy chooses among the recorded subsets that have answers left."""
    groupings, truth, at_once, rounds = recorded(name)
    agent = ReplayAgent(groupings, random_state=seed)
    left = pd.Series([frozenset(subset) for subset in recorded_subsets(groupings)]).value_counts(sort=False)
    fusion = SubsetFusion(len(np.unique(truth)), random_state=0)
    session = ActiveSession(groupings.items, strategy=strategy, fusion=fusion, random_state=seed)
    curve = []
    for number in range(rounds):
        pool = [sorted(subset, key=str) for subset, answers in left.items() if answers]
        subsets = session.ask(min(at_once, len(pool)), candidates=pool)
        for subset in subsets:
            left[frozenset(subset.items)] -= 1
            session.withdraw(subset)
        names = [f"answer {number}.{place}" for place in range(len(subsets))]
        answers = present(agent, [s.items for s in subsets], items=list(groupings.items), annotators=names)
        session.tell(answers)
        curve.append([session.groupings_.n_groupings, nmi(truth, session.consensus().labels_)])
    return curve


def recorded_subsets(groupings: Groupings) -> list[list[Any]]:
    """Items of each grouping."""
    columns = Memberships.of(groupings).in_grouping.tocsc()
    return [
        list(groupings.items[columns.indices[a:b]]) for a, b in zip(columns.indptr[:-1], columns.indptr[1:]) if b > a
    ]


def compute_replay(arguments: argparse.Namespace) -> Any:
    tasks = list(product(REPLAYED, ("random", "explore", "exploit-pairwise", OURS), range(arguments.runs)))
    curves = everywhere(replay, tasks, arguments.jobs)
    return [[name, strategy, curve] for (name, strategy, _), curve in zip(tasks, curves)]


def show_replay(results: Any) -> tuple[list[str], Figure]:
    lines, figure = [], Figure(figsize=(9, 2.7), layout="constrained")
    for axis, (name, levels) in zip(figure.subplots(1, len(REPLAYED)), REPLAYED.items()):
        found: dict[str, list[np.ndarray]] = {}
        for this, strategy, curve in results:
            if this == name:
                found.setdefault(strategy, []).append(np.array(curve, dtype=float))
        reference = medians(found["random"], levels)
        lines += [
            f"{name}: median answers until NMI reaches a level, ratio to random's ({len(found['random'])} draws)",
            "",
        ]
        lines.append(" " * 24 + "".join(f"{level:>14.2f}" for level in levels))
        for number, (strategy, curves) in enumerate(found.items()):
            cells = [
                f"{value:7.0f} ({value / other:.2f})" if np.isfinite([value, other]).all() else f"{value:14.0f}"
                for value, other in zip(medians(curves, levels), reference)
            ]
            lines.append(f"    {strategy:20s}" + "".join(f"{cell:>14s}" for cell in cells))
            mean = np.stack(curves).mean(0)
            axis.plot(*mean.T, color=colour(number), marker=marker(number), ms=3, lw=1, label=strategy)
        lines.append("")
        axis.set_title(name, fontsize=9)
        axis.set_xlabel("answers", fontsize=8)
        tidy(axis)
    figure.axes[0].set_ylabel("NMI with the truth", fontsize=8)
    figure.axes[0].legend(fontsize=6, frameon=False)
    return lines, figure


PARTS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "fusions": (compute_fusions, show_fusions),
    "strategies": (compute_strategies, show_strategies),
    "difficulty": (compute_difficulty, show_difficulty),
    "large": (compute_large, show_large),
    "rates": (compute_rates, show_rates),
    "replay": (compute_replay, show_replay),
}


if __name__ == "__main__":
    main()
