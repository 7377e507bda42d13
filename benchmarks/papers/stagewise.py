"""Paper 2, Figs. 3 to 5 and Table 1: informative sets in sparse crowds, and errors on real labels.

    python benchmarks/papers/stagewise.py [--slow] [--out docs/papers/stagewise.txt] [--figures docs/papers]

Protocol (Zhao & Zucker, section 4). Figs. 3 and 4: 100 annotators label 1000 items of 3 classes; annotator i of the
first 30 is right with a probability that falls from 0.7 to 0.45, the others draw labels from one distribution each.
Fig. 5: the first 5, 10, 15 or 20 of 100 annotators are right with probability 0.6; 20 draws of crowd, classes and
labels (the paper: 10). Table 1: real labels, where nothing is random except the groups of Spectral-EM, drawn ten
times. Known classes are used only to count errors.

Ours are compared with the methods of crowd-kit at their defaults, GLAD and MACE only with --slow: they take longest.
Its Wawa and ZeroBasedSkill cannot predict with scikit-learn 1.7 and later; their skills weigh crowd-kit's majority
vote, as their predict does. peerannot needs PyTorch to be imported, and this project does not: its methods are run
where it is installed, else left out, and the table says so.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import crowdkit.aggregation as crowdkit
import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from paper_plots.stagewise import plot_conditional_information, plot_stagewise
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from consilience import Labels
from consilience.consensus import DawidSkene, MajorityVote, SpectralEM, StagewiseEM
from consilience.consensus.labels import stagewise_em as stagewise
from consilience.datasets import load_crowd_labels
from consilience.errors import AnnotationWarning
from consilience.inspection.plots.style import INK, SMALL, colour, marker, tidy
from consilience.simulation import simulate_labels, sparse_crowd

N_ITEMS, N_ANNOTATORS, N_CLASSES = 1000, 100, 3
N_DRAWS = 20
ALPHAS = (0.05, 0.10, 0.15, 0.20)
ROUNDS = (0, 3, 5, 7)
DEFAULT, TRUE = "StagewiseEM", "true model"
MODELS = {
    DEFAULT: lambda: StagewiseEM(),
    "StagewiseEM(refine='all')": lambda: StagewiseEM(refine="all"),
    "StagewiseEM(refine=None)": lambda: StagewiseEM(refine=None),
    "DawidSkene(prior=None)": lambda: DawidSkene(prior=None),
    "DawidSkene": lambda: DawidSkene(),
    "SpectralEM": lambda: SpectralEM(random_state=0),
    "MajorityVote": lambda: MajorityVote(),
}
DATA = ("bluebird", "dog", "rte")
PUBLISHED = {
    "StagewiseEM(refine='all')": ("10.19", "16.73"),
    "StagewiseEM(refine=None)": ("12.04 |S| 11", "20.69 |S| 14"),
    "DawidSkene(prior=None)": ("11.11", "16.66"),
    "SpectralEM, lowest": ("11.11", ""),
    "SpectralEM, mean": ("11.57", ""),
    "SpectralEM, highest": ("12.04", ""),
}
PEERS = ("MajorityVote", "DawidSkene", "OneCoinDawidSkene", "MMSR", "Wawa", "ZeroBasedSkill", "KOS")
SLOW_PEERS = ("GLAD", "MACE")
PEERANNOT = ("dawid_skene", "iwmv", "wawa")


def draw(alpha: float, accuracy: float | np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray, Labels]:
    """Draw confusion matrices of an α-sparse crowd, classes, and the crowd's labels."""
    rng = np.random.default_rng([seed, round(100 * alpha)])
    crowd = sparse_crowd(N_ANNOTATORS, N_CLASSES, alpha=alpha, accuracy=accuracy, random_state=rng)
    classes = rng.integers(N_CLASSES, size=N_ITEMS)
    return crowd, classes, simulate_labels(classes, confusion=crowd, random_state=rng)


def falling_crowd(seed: int) -> tuple[np.ndarray, Labels]:
    """Draw the crowd of Figs. 3 and 4, and its labels."""
    crowd, _, labels = draw(0.3, np.linspace(0.7, 0.45, 30), seed)
    return crowd, labels


def scores_under(crowd: np.ndarray, labels: Labels) -> np.ndarray:
    """Return the joint log probability of each item's labels and each class, for uniform classes, (items, classes)."""
    each = np.log(crowd)[labels.annotator, :, labels.label]
    return np.add.reduceat(each, labels.indptr[:-1]) - np.log(N_CLASSES)


def values_of_truth(crowd: np.ndarray, labels: Labels) -> dict[str, float]:
    """Return log likelihood of the true model, and largest conditional mutual information under its posteriors."""
    scores = scores_under(crowd, labels)
    totals = np.logaddexp.reduce(scores, axis=1)
    study = stagewise.Study.of(labels, N_CLASSES, StagewiseEM().entry_level)
    information = stagewise.conditional(*stagewise.conditional_information(np.exp(scores - totals[:, None]), study))
    return {"log_likelihood": float(totals.sum()), "information": float(information.max())}


def fit(model, labels: Labels):
    """Fit without warnings of few components or missing convergence, which are part of the comparison."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", AnnotationWarning)
        return model.fit(labels)


def number(annotator: str) -> int:
    """Return the number of a simulated annotator, from 1; lower is better."""
    return int(annotator.split()[1])


def rounds_of(seed: int) -> dict:
    """Return the classes found in a draw, the rounds until S stopped growing, its members, and whether it converged."""
    model = fit(StagewiseEM(refine=None), falling_crowd(seed)[1])
    return {
        "classes": model.n_components_,
        "grown": int(model.trace_["n_informative"].idxmax()),
        "members": np.array([number(name) for name in model.informative_set_]),
        "settled": model.converged_,
    }


def summary_of_draws() -> list[str]:
    """Summarise over all draws what Fig. 3 shows for one."""
    draws = pd.DataFrame([rounds_of(seed) for seed in range(N_DRAWS)])
    complete = draws[draws["classes"] == N_CLASSES]
    sizes, grown = complete["members"].map(len), complete["grown"]
    first = np.concatenate([members[:8] for members in complete["members"]])
    return [
        f"{N_DRAWS} draws: {len(complete)} come to three classes; in these S stops growing in round {grown.min()} to "
        f"{grown.max()} (median {grown.median():g})",
        f"with {sizes.min()} to {sizes.max()} members (median {sizes.median():g}), and "
        f"{complete['settled'].sum()} settle within 20 rounds; of the first 8 members",
        f"{(first <= 15).mean():.0%} are among the 15 best annotators, {(first <= 30).mean():.0%} among the 30 experts",
    ]


def figure_3(seed: int) -> tuple[list[str], Figure]:
    """Draw the trace of one draw against the true model, and summarise 20 draws."""
    crowd, labels = falling_crowd(seed)
    truth = values_of_truth(crowd, labels)
    model = fit(StagewiseEM(refine=None), labels)
    lines = ["Fig. 3: rounds of StagewiseEM(refine=None) in a 0.3-sparse crowd, experts right from .7 to .45", ""]
    lines.append(f"{'round':>10s} {'classes':>8s} {'log likelihood':>15s} {'largest I':>10s} {'|S|':>4s}  entered")
    for place, row in model.trace_.iterrows():
        entered = ", ".join(str(number(name)) for name in row["entered"])
        lines.append(
            f"{place:>10d} {row['n_components']:8d} {row['log_likelihood']:15.1f} {row['information']:10.4f} "
            f"{row['n_informative']:4d}  {entered}".rstrip()
        )
    lines.append(f"{TRUE:>10s} {N_CLASSES:8d} {truth['log_likelihood']:15.1f} {truth['information']:10.4f}")
    lines += ["", *summary_of_draws()]
    figure = Figure(figsize=(9.6, 2.9), layout="tight")
    plot_stagewise(model, truth=truth, ax=figure)
    return lines, figure


def states(labels: Labels) -> Iterator[tuple[int, StagewiseEM]]:
    """Yield the model after each of `ROUNDS`; before the first one all items are in one component."""
    for stop in ROUNDS:
        model = StagewiseEM(refine=None, max_iter=stop) if stop else StagewiseEM(n_clusters=1, refine=None)
        yield stop, fit(model, labels)


def figure_4(seed: int) -> tuple[list[str], Figure]:
    """Draw the conditional information after some rounds: of all, of the experts, and of the informative set."""
    _, labels = falling_crowd(seed)
    experts = labels.annotators[:30]
    figure = Figure(figsize=(10.4, 4.6), layout="constrained")
    grid = figure.subplots(2, 1 + len(ROUNDS))
    lines = ["Fig. 4: mutual information of two annotators given the class, nats", ""]
    heads = ("round", "mean, experts", "mean, others", "largest, experts", "mean, S")
    lines.append("".join(f"{head:>18s}" for head in heads))
    for column, (stop, model) in enumerate(states(labels), start=1):
        table = model.conditional_information()
        informative = model.informative_set_ if stop else []
        others = table.drop(index=experts, columns=experts)
        values = [np.nanmean(table.loc[experts, experts]), np.nanmean(others), np.nanmax(table.loc[experts, experts])]
        if informative:
            values.append(np.nanmean(table.loc[informative, informative]))
        lines.append(f"{stop:18d}" + "".join(f"{value:18.4f}" for value in values))
        if column == 1:
            most = float(np.nanmax(table))
            draw_information(table, labels.annotators, grid[0, 0], "round 0, all", most)
            draw_information(table, [], grid[1, 0], "", most)
        draw_information(table, experts, grid[0, column], f"round {stop}, experts", most)
        draw_information(table, informative, grid[1, column], f"round {stop}, S", most)
    bar = figure.colorbar(grid[0, 0].images[0], ax=list(grid.ravel()), shrink=0.7, aspect=30)
    bar.set_label("mutual information given the class (nats)", fontsize=SMALL, color=INK)
    bar.ax.tick_params(labelsize=SMALL)
    bar.outline.set_visible(False)
    return lines, figure


def draw_information(table: pd.DataFrame, annotators: Sequence[str], ax: Axes, title: str, most: float) -> None:
    """Draw some annotators, by number if there are few; leave the axes empty if there are none."""
    if not len(annotators):
        ax.axis("off")
        return
    plot_conditional_information(table, annotators, ax=ax, vmax=most, labels=False, colorbar=False)
    ax.set_title(title, fontsize=9, color=INK)
    few = annotators if len(annotators) < 20 else []
    ax.set_yticks(range(len(few)), [str(number(name)) for name in few])


def errors_of(alpha: float, seed: int) -> dict:
    """Return the errors of all models on one draw of Fig. 5, and whether the informative set is exactly the experts."""
    crowd, classes, labels = draw(alpha, 0.6, seed)
    fitted = {name: fit(make(), labels) for name, make in MODELS.items()}
    errors = {name: float((model.labels_ != classes).mean()) for name, model in fitted.items()}
    errors[TRUE] = float((scores_under(crowd, labels).argmax(1) != classes).mean())
    experts = set(labels.annotators[: round(alpha * N_ANNOTATORS)])
    found = set(fitted[DEFAULT].informative_set_)
    return {"alpha": alpha, "exact": found == experts, "others": len(found - experts)} | errors


def results_of_draws(n_jobs: int) -> pd.DataFrame:
    """Return the errors of every model in every draw of Fig. 5, one row per draw."""
    jobs = [delayed(errors_of)(alpha, seed) for alpha in ALPHAS for seed in range(N_DRAWS)]
    return pd.DataFrame(Parallel(n_jobs=n_jobs)(jobs))


def figure_5(n_jobs: int) -> tuple[list[str], Figure]:
    """Return the errors over the draws of sparse crowds: mean, best and worst."""
    results = results_of_draws(n_jobs)
    by_alpha = results.groupby("alpha")

    def row(name: str, cells: Iterable[str]) -> str:
        return f"{name:26s}" + "".join(f"{cell:>25s}" for cell in cells)

    lines = [f"Fig. 5: error over {N_DRAWS} draws of an α-sparse crowd, mean (best to worst)", ""]
    lines.append(row("", (f"α = {alpha:.2f}" for alpha in ALPHAS)))
    for name in (*MODELS, TRUE):
        cells = by_alpha[name].agg(["mean", "min", "max"]).to_numpy()
        lines.append(row(name, (f"{mean:.3f} ({least:.3f} to {most:.3f})" for mean, least, most in cells)))
    behind = (results[DEFAULT] - results[TRUE]).groupby(results["alpha"]).mean()
    lines += ["", row("default behind true model", (f"{gap:+.4f}" for gap in behind))]
    lines.append(row("S exactly the experts", (f"{n} of {N_DRAWS}" for n in by_alpha["exact"].sum())))
    lines.append(row("others in S, all draws", (str(n) for n in by_alpha["others"].sum())))
    return lines, error_curves(by_alpha)


def error_curves(by_alpha: Any) -> Figure:
    """Draw mean errors against α, shaded from the best to the worst."""
    figure = Figure(figsize=(7.6, 4.0), layout="constrained")
    ax = figure.subplots()
    for place, name in enumerate((*MODELS, TRUE)):
        cells = by_alpha[name].agg(["mean", "min", "max"])
        look = {"color": colour(place), "marker": marker(place)}
        if name == TRUE:
            look = {"color": INK, "ls": "--", "zorder": 5}
        ax.plot(ALPHAS, cells["mean"], ms=5, lw=1.4, label=name, **look)
        ax.fill_between(ALPHAS, cells["min"], cells["max"], color=look["color"], alpha=0.08, lw=0)
    ax.set_xticks(ALPHAS)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("share of experts α", color=INK)
    ax.set_ylabel("error", color=INK)
    tidy(ax)
    figure.legend(loc="outside right center", frameon=False, fontsize=9)
    return figure


def error(found: np.ndarray, truth: np.ndarray) -> float:
    """Share of wrong labels in percent."""
    return 100 * float((np.asarray(found) != truth).mean())


def ours(labels: Labels, truth: np.ndarray) -> dict[str, str]:
    """Errors of our models, with the sizes of informative sets."""
    cells = {}
    for name, make in MODELS.items():
        if name == "SpectralEM":
            draws = [error(fit(SpectralEM(random_state=seed), labels).labels_, truth) for seed in range(10)]
            summary = {"lowest": min(draws), "mean": float(np.mean(draws)), "highest": max(draws)}
            cells |= {f"SpectralEM, {which}": f"{value:.2f}" for which, value in summary.items()}
            continue
        model = fit(make(), labels)
        size = f" |S| {len(model.informative_set_)}" if name.startswith("Stagewise") else ""
        cells[name] = f"{error(model.labels_, truth):.2f}{size}"
    return cells


def crowdkit_labels(name: str, frame: pd.DataFrame) -> pd.Series:
    """Labels of a method of crowd-kit at its defaults, by task."""
    method = getattr(crowdkit, name)()
    if name in ("Wawa", "ZeroBasedSkill"):
        return crowdkit.MajorityVote().fit_predict(frame, skills=method.fit(frame).skills_)
    return method.fit_predict(frame)


def peerannot_labels(name: str, labels: Labels) -> np.ndarray:
    """Labels of a method of peerannot, by item."""
    from peerannot.models import agg_strategies

    answers: dict[int, dict[int, int]] = {item: {} for item in range(len(labels))}
    for item, annotator, label in zip(labels.item.tolist(), labels.annotator.tolist(), labels.label.tolist()):
        answers[item][annotator] = label
    method = agg_strategies[name](answers=answers, n_workers=labels.n_annotators, n_classes=labels.n_classes)
    method.run()
    return labels.classes.to_numpy()[np.asarray(method.get_answers(), dtype=int)]


def peers(labels: Labels, truth: np.ndarray, slow: bool) -> dict[str, str]:
    """Errors of the methods of other packages."""
    frame = labels.to_frame().set_axis(["task", "worker", "label"], axis=1)
    cells = {}
    for name in (*PEERS, *SLOW_PEERS):
        if name == "KOS" and labels.n_classes > 2:
            cells[f"crowd-kit {name}"] = "two labels only"
        elif name in SLOW_PEERS and not slow:
            cells[f"crowd-kit {name}"] = "with --slow"
        else:
            found = crowdkit_labels(name, frame).reindex(labels.items)
            cells[f"crowd-kit {name}"] = f"{error(found.to_numpy(), truth):.2f}"
    if has_peerannot():
        for name in PEERANNOT:
            cells[f"peerannot {name}"] = f"{error(peerannot_labels(name, labels), truth):.2f}"
    return cells


def has_peerannot() -> bool:
    return find_spec("peerannot") is not None and find_spec("torch") is not None


def table_1(slow: bool, n_jobs: int) -> list[str]:
    """Errors on real labels, ours, published and peers'."""
    heads, tasks = [], []
    for name in DATA:
        bunch = load_crowd_labels(name)
        labels, truth = bunch.annotations, np.asarray(bunch.target_names)[bunch.target]
        heads.append(f"{name} ({labels.n_annotators})")
        tasks += [delayed(ours)(labels, truth), delayed(peers)(labels, truth, slow)]
    found = Parallel(n_jobs=n_jobs)(tasks)
    columns = [mine | others for mine, others in zip(found[::2], found[1::2], strict=True)]
    lines = ["Table 1: error, %, on real labels (number of annotators); [published]; |S| is the size of the set", ""]
    lines.append(f"{'':28s}" + "".join(f"{head:>17s}{'':17s}" for head in heads).rstrip())
    for method in columns[0]:
        published = (*PUBLISHED.get(method, ("", "")), "")
        cells = [
            f"{column[method]:>17s}" + f"{f' [{there}]' if there else '':17s}"
            for column, there in zip(columns, published, strict=True)
        ]
        lines.append(f"{method:28s}" + "".join(cells).rstrip())
    if not has_peerannot():
        lines += ["", "peerannot is left out: it needs PyTorch, which is not installed"]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--slow", action="store_true", help="run crowd-kit's GLAD and MACE too, which take longest")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0, help="of the draw that Figs. 3 and 4 show")
    parser.add_argument("--out", type=Path, help="write the tables there too")
    parser.add_argument("--figures", type=Path, help="folder for the figures, as SVG")
    arguments = parser.parse_args()
    blocks = [table_1(arguments.slow, arguments.jobs)]
    figures: dict[str, Callable[[], tuple[list[str], Figure]]] = {
        "stagewise_rounds.svg": lambda: figure_3(arguments.seed),
        "stagewise_information.svg": lambda: figure_4(arguments.seed),
        "stagewise_errors.svg": lambda: figure_5(arguments.jobs),
    }
    for place, (name, make) in enumerate(figures.items()):
        lines, figure = make()
        if arguments.figures:
            with rc_context({"svg.hashsalt": "consilience"}):  # the same figure gives the same file
                figure.savefig(arguments.figures / name, metadata={"Date": None})
        blocks.insert(place, lines)
    text = "\n\n\n".join("\n".join(block) for block in blocks) + "\n"
    print(text)
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
