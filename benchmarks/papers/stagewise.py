"""Paper 2, Figs. 3 to 5 and Table 1: informative sets in sparse crowds, and errors on real labels.

Protocol (Zhao & Zucker, section 4). Figs. 3 and 4: 100 annotators label 1000 items of 3 classes; annotator i of the
first 30 is right with a probability that falls from 0.7 to 0.45, the others draw labels from one distribution each.
Fig. 5: the first 5, 10, 15 or 20 of 100 annotators are right with probability 0.6; 20 draws of crowd, classes and
labels (the paper: 10). Table 1: real labels; methods that draw random numbers are run from ten seeds. Known classes
are used only to count errors.

Ours are compared with the methods of crowd-kit at their defaults. Its Wawa and ZeroBasedSkill cannot predict with
scikit-learn 1.7 and later; their skills weigh crowd-kit's majority vote, as their predict does. peerannot needs PyTorch
to be imported, which this project does not use.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import crowdkit.aggregation as crowdkit
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.base import clone

from benchmarks.experiments import Cell, Claim, Page, Part, Record
from benchmarks.experiments.statistics import paired
from benchmarks.papers.paper_plots.stagewise import plot_conditional_information, plot_stagewise
from consilience import Labels
from consilience.consensus import DawidSkene, MajorityVote, SpectralEM, StagewiseEM
from consilience.consensus.labels import stagewise_em as stagewise
from consilience.datasets import load_crowd_labels
from consilience.inspection.plots.style import INK, SMALL, colour, marker, tidy
from consilience.simulation import simulate_labels, sparse_crowd

N_ITEMS, N_ANNOTATORS, N_CLASSES = 1000, 100, 3
N_DRAWS, N_SEEDS = 20, 10
ALPHAS = (0.05, 0.10, 0.15, 0.20)
SHOWN = 0  # the draw of Figs. 3 and 4
ROUNDS = (0, 3, 5, 7)
DEFAULT, TRUE, STAGES = "StagewiseEM", "true model", "StagewiseEM(refine=None)"
MODELS = {
    DEFAULT: StagewiseEM(),
    "StagewiseEM(refine='all')": StagewiseEM(refine="all"),
    STAGES: StagewiseEM(refine=None),
    "DawidSkene(prior=None)": DawidSkene(prior=None),
    "DawidSkene": DawidSkene(),
    "SpectralEM": SpectralEM(),
    "MajorityVote": MajorityVote(),
}
DATA = ("bluebird", "dog", "rte")
PUBLISHED = {  # error on bluebird and dog, %; the paper's size of the set
    "StagewiseEM(refine='all')": ("10.19", "16.73"),
    STAGES: ("12.04, |S| 11", "20.69, |S| 14"),
    "DawidSkene(prior=None)": ("11.11", "16.66"),
    "SpectralEM": ("11.57 (11.11 to 12.04)", ""),
}
PEERS = ("MajorityVote", "DawidSkene", "OneCoinDawidSkene", "MMSR", "Wawa", "ZeroBasedSkill", "KOS", "GLAD", "MACE")
RANDOM = ("SpectralEM", "crowd-kit MMSR", "crowd-kit KOS", "crowd-kit MACE")


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


def seeded(name: str, seed: int) -> Any:
    """Return an unfitted model, with the seed if it draws random numbers."""
    model = clone(MODELS[name])
    return model.set_params(random_state=seed) if "random_state" in model.get_params() else model


def number(annotator: str) -> int:
    """Return the number of a simulated annotator, from 1; lower is better."""
    return int(annotator.split()[1])


# ---- Figs. 3 and 4: rounds


def cells_of_rounds() -> Iterator[Cell]:
    for seed in range(N_DRAWS):
        yield Cell("rounds", "0.3-sparse", STAGES, seed, MODELS[STAGES])
        yield Cell("rounds", "0.3-sparse", TRUE, seed, uses=(StagewiseEM,))


def compute_rounds(cell: Cell) -> dict[str, Any]:
    """Return the trace, the members of S by number, and whether it converged; or the values of the true model."""
    crowd, labels = falling_crowd(cell.draw)
    if cell.model == TRUE:
        return values_of_truth(crowd, labels)
    model = clone(cell.estimator).fit(labels)
    trace = model.trace_
    return {
        "rounds": trace[["n_components", "log_likelihood", "information", "n_informative"]].to_numpy(),
        "entered": [[number(name) for name in row] for row in trace["entered"]],
        "settled": bool(model.converged_),
    }


def cells_of_information() -> Iterator[Cell]:
    for stop in ROUNDS:
        model = StagewiseEM(refine=None, max_iter=stop) if stop else StagewiseEM(n_clusters=1, refine=None)
        yield Cell("information", f"round {stop}", STAGES, SHOWN, model)


def compute_information(cell: Cell) -> dict[str, Any]:
    """Return conditional information of all pairs of annotators, row by row above the diagonal, and the set."""
    labels = falling_crowd(cell.draw)[1]
    model = clone(cell.estimator).fit(labels)
    table = model.conditional_information().to_numpy()
    informative = model.informative_set_ if hasattr(model, "informative_set_") else []
    return {
        "information": [float(f"{value:.3g}") for value in table[np.triu_indices(N_ANNOTATORS, 1)]],
        "set": [number(name) for name in informative],
    }


def trace_of(row: pd.Series) -> pd.DataFrame:
    columns = ["n_components", "log_likelihood", "information", "n_informative"]
    return pd.DataFrame(row["rounds"], columns=columns).assign(entered=row["entered"])


def summary_of_draws(record: Record) -> dict[str, Any]:
    """Summarise over all draws what Fig. 3 shows for one."""
    rows = record.frame("rounds")
    rows = rows[rows["model"] == STAGES]
    traces = [trace_of(row) for _, row in rows.iterrows()]
    complete = [trace["n_components"].iloc[-1] == N_CLASSES for trace in traces]
    found = [trace for trace, whole in zip(traces, complete) if whole]
    members = [[member for entered in trace["entered"] for member in entered] for trace in found]
    eight = np.array([entered[:8] for entered in members])
    return {
        "draws": len(rows),
        "complete": len(found),
        "incomplete": len(rows) - len(found),
        "grown": [int(trace["n_informative"].idxmax()) for trace in found],
        "sizes": [len(entered) for entered in members],
        "settled": int(rows["settled"][complete].sum()),
        "first_of_15": float((eight <= 15).mean()),
        "first_of_30": float((eight <= 30).mean()),
        "all_of_15": int((eight <= 15).all(axis=1).sum()),
    }


def table_of_rounds(record: Record) -> list[str]:
    rows = record.frame("rounds").query("draw == @SHOWN").set_index("model")
    lines = [f"Fig. 3: rounds of {STAGES} in a 0.3-sparse crowd, experts right from .7 to .45; draw {SHOWN}", ""]
    lines.append(f"{'round':>10s} {'classes':>8s} {'log likelihood':>15s} {'largest I':>10s} {'|S|':>4s}  entered")
    for place, row in trace_of(rows.loc[STAGES]).iterrows():
        entered = ", ".join(map(str, row["entered"]))
        lines.append(
            f"{place:>10d} {int(row['n_components']):8d} {row['log_likelihood']:15.1f} {row['information']:10.4f} "
            f"{int(row['n_informative']):4d}  {entered}".rstrip()
        )
    truth = rows.loc[TRUE]
    lines.append(f"{TRUE:>10s} {N_CLASSES:8d} {truth['log_likelihood']:15.1f} {truth['information']:10.4f}")
    found = summary_of_draws(record)
    grown, sizes = found["grown"], found["sizes"]
    return [
        *lines,
        "",
        f"{found['draws']} draws: {found['complete']} come to three classes; in these S stops growing in round "
        f"{min(grown)} to {max(grown)} (median {np.median(grown):g})",
        f"with {min(sizes)} to {max(sizes)} members (median {np.median(sizes):g}), and {found['settled']} settle "
        "within 20 rounds; of the first 8 members",
        f"{found['first_of_15']:.0%} are among the 15 best annotators, {found['first_of_30']:.0%} among the 30 experts",
    ]


def draw_rounds(record: Record) -> Figure:
    rows = record.frame("rounds").query("draw == @SHOWN").set_index("model")
    truth = {name: float(rows.loc[TRUE, name]) for name in ("log_likelihood", "information")}
    figure = Figure(figsize=(9.6, 2.9), layout="tight")
    plot_stagewise(trace_of(rows.loc[STAGES]), truth=truth, ax=figure)
    return figure


def information_after(record: Record) -> dict[int, tuple[pd.DataFrame, list[int]]]:
    """Return the table of all pairs, and the set, after each of `ROUNDS`; before the first, nobody has entered."""
    found = {}
    for _, row in record.frame("information").iterrows():
        table = np.full((N_ANNOTATORS, N_ANNOTATORS), np.nan)
        table[np.triu_indices(N_ANNOTATORS, 1)] = row["information"]
        names = range(1, N_ANNOTATORS + 1)
        table = np.where(np.isnan(table), table.T, table)
        stop = int(row["data"].split()[1])
        found[stop] = (pd.DataFrame(table, index=names, columns=names), row["set"] if stop else [])
    return found


def table_of_information(record: Record) -> list[str]:
    lines = [f"Fig. 4: mutual information of two annotators given the class, nats; draw {SHOWN}", ""]
    heads = ("round", "mean, experts", "mean, others", "largest, experts", "mean, S")
    lines.append("".join(f"{head:>18s}" for head in heads))
    for stop, (table, informative) in information_after(record).items():
        experts = table.index[:30]
        others = table.drop(index=experts, columns=experts)
        of_experts = table.loc[experts, experts]
        values = [np.nanmean(of_experts), np.nanmean(others), np.nanmax(of_experts)]
        if informative:
            values.append(np.nanmean(table.loc[informative, informative]))
        lines.append(f"{stop:18d}" + "".join(f"{value:18.4f}" for value in values))
    return lines


def draw_information(record: Record) -> Figure:
    """Draw the information after some rounds: of all, of the experts, and of the informative set."""
    figure = Figure(figsize=(10.4, 4.6), layout="constrained")
    grid = figure.subplots(2, 1 + len(ROUNDS))
    found = information_after(record)
    most = float(np.nanmax(found[0][0]))
    draw_matrix(found[0][0], found[0][0].index, grid[0, 0], "round 0, all", most)
    draw_matrix(found[0][0], [], grid[1, 0], "", most)
    for column, (stop, (table, informative)) in enumerate(found.items(), start=1):
        draw_matrix(table, table.index[:30], grid[0, column], f"round {stop}, experts", most)
        draw_matrix(table, informative, grid[1, column], f"round {stop}, S", most)
    bar = figure.colorbar(grid[0, 0].images[0], ax=list(grid.ravel()), shrink=0.7, aspect=30)
    bar.set_label("mutual information given the class (nats)", fontsize=SMALL, color=INK)
    bar.ax.tick_params(labelsize=SMALL)
    bar.outline.set_visible(False)
    return figure


def draw_matrix(table: pd.DataFrame, annotators: Sequence[int], ax: Axes, title: str, most: float) -> None:
    """Draw some annotators, by number if there are few; leave the axes empty if there are none."""
    if not len(annotators):
        ax.axis("off")
        return
    plot_conditional_information(table, annotators, ax=ax, vmax=most, labels=False, colorbar=False)
    ax.set_title(title, fontsize=9, color=INK)
    few = annotators if len(annotators) < 20 else []
    ax.set_yticks(range(len(few)), list(map(str, few)))


# ---- Fig. 5: errors in sparse crowds


def cells_of_errors() -> Iterator[Cell]:
    for alpha in ALPHAS:
        for seed in range(N_DRAWS):
            for name in MODELS:
                yield Cell("errors", f"{alpha:.2f}", name, seed, seeded(name, 0))
            yield Cell("errors", f"{alpha:.2f}", TRUE, seed)


def compute_errors(cell: Cell) -> dict[str, Any]:
    """Return the error, and of the informative set how many are experts and others."""
    alpha = float(cell.data)
    crowd, classes, labels = draw(alpha, 0.6, cell.draw)
    if cell.model == TRUE:
        return {"error": float((scores_under(crowd, labels).argmax(1) != classes).mean())}
    model = clone(cell.estimator).fit(labels)
    found = {"error": float((model.labels_ != classes).mean())}
    if isinstance(model, StagewiseEM):
        experts, members = set(labels.annotators[: round(alpha * N_ANNOTATORS)]), set(model.informative_set_)
        found |= {"experts": len(members & experts), "others": len(members - experts)}
        found |= {"classes": int(model.n_components_)}
    return found


def errors(record: Record) -> pd.DataFrame:
    """Return errors by α and draw, a column for each model."""
    return record.frame("errors").pivot_table(index=["data", "draw"], columns="model", values="error")


def exact_sets(record: Record) -> pd.DataFrame:
    """Return for each draw whether the set of the default is exactly the set of experts, and others in it."""
    rows = record.frame("errors").query("model == @DEFAULT").set_index(["data", "draw"])
    n_experts = rows.index.get_level_values("data").astype(float) * N_ANNOTATORS
    exact = (rows["experts"] == n_experts.to_numpy().round()) & (rows["others"] == 0)
    return pd.DataFrame({"exact": exact, "others": rows["others"]})


def table_of_errors(record: Record) -> list[str]:
    found = errors(record)

    def row(name: str, cells: Any) -> str:
        return f"{name:26s}" + "".join(f"{cell:>29s}" for cell in cells)

    lines = [f"Fig. 5: error over {N_DRAWS} draws of an α-sparse crowd: mean ± sd (best to worst)", ""]
    lines.append(row("", (f"α = {alpha:.2f}" for alpha in ALPHAS)))
    for name in (*MODELS, TRUE):
        cells = found[name].groupby("data").agg(["mean", "std", "min", "max"]).to_numpy()
        lines.append(row(name, (f"{mean:.3f} ± {sd:.3f} ({low:.3f} to {high:.3f})" for mean, sd, low, high in cells)))
    lines += ["", row("above the true model ± se", ("" for _ in ALPHAS)).rstrip()]
    for name in MODELS:
        gaps = [paired(found.loc[f"{alpha:.2f}", name], found.loc[f"{alpha:.2f}", TRUE]) for alpha in ALPHAS]
        lines.append(row(name, (f"{gap.mean:+.4f} ± {gap.error:.4f}" for gap in gaps)))
    sets = exact_sets(record).groupby("data").sum()
    lines += ["", row("S exactly the experts", (f"{n} of {N_DRAWS}" for n in sets["exact"]))]
    lines.append(row("others in S, all draws", (f"{n:.0f}" for n in sets["others"])))
    return lines


def draw_errors(record: Record) -> Figure:
    """Draw mean errors against α, shaded from the best to the worst."""
    figure = Figure(figsize=(7.6, 4.0), layout="constrained")
    ax = figure.subplots()
    for place, name in enumerate((*MODELS, TRUE)):
        cells = errors(record)[name].groupby("data").agg(["mean", "min", "max"])
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


# ---- Table 1: real labels


def cells_of_labels() -> Iterator[Cell]:
    for data in DATA:
        for name in MODELS:
            for seed in range(N_SEEDS if name in RANDOM else 1):
                yield Cell("labels", data, name, seed, seeded(name, seed))
        for name in (f"crowd-kit {peer}" for peer in PEERS if (peer, data) != ("KOS", "dog")):  # KOS: two labels only
            for seed in range(N_SEEDS if name in RANDOM else 1):
                yield Cell("labels", data, name, seed, settings={"random_state": seed} if name in RANDOM else {})


def compute_labels(cell: Cell) -> dict[str, Any]:
    """Return the wrong items, by position; the size of the informative set; items with a tie of votes."""
    bunch = load_crowd_labels(cell.data)
    labels, truth = bunch.annotations, np.asarray(bunch.target_names)[bunch.target]
    figures = {"n_items": len(labels), "n_annotators": labels.n_annotators}
    if cell.estimator is None:
        found = crowdkit_labels(cell.model.split()[1], labels, **cell.settings)
    else:
        model = clone(cell.estimator).fit(labels)
        found = np.asarray(model.labels_)
        if isinstance(model, StagewiseEM):
            figures["size"] = len(model.informative_set_)
        if isinstance(model, MajorityVote):
            figures["tied"] = n_tied(labels)
    return figures | {"wrong": np.flatnonzero(found != truth)}


def n_tied(labels: Labels) -> int:
    """Return how many items have as many votes for the most frequent class as for another."""
    table = labels.to_frame()
    votes = np.sort(pd.crosstab(table["item"], table["label"]).to_numpy(), axis=1)
    return int((votes[:, -1] == votes[:, -2]).sum())


def crowdkit_labels(name: str, labels: Labels, **settings: Any) -> np.ndarray:
    """Return the labels of a method of crowd-kit at its defaults, by item."""
    frame = labels.to_frame().set_axis(["task", "worker", "label"], axis=1)
    method = getattr(crowdkit, name)(**settings)
    if name in ("Wawa", "ZeroBasedSkill"):
        found = crowdkit.MajorityVote().fit_predict(frame, skills=method.fit(frame).skills_)
    else:
        found = method.fit_predict(frame)
    return found.reindex(labels.items).to_numpy()


def wrong_items(record: Record, data: str) -> dict[str, np.ndarray]:
    """Return for each method 100 where a seed has an item wrong, else 0, of shape (seeds, items)."""
    rows = record.frame("labels").query("data == @data")
    found = {}
    for name, own in rows.groupby("model", sort=False):
        wrong = np.zeros((len(own), own["n_items"].iloc[0]))
        for place, items in enumerate(own["wrong"]):
            wrong[place, items] = 100.0
        found[name] = wrong
    return found


def table_of_labels(record: Record) -> list[str]:
    rows = record.frame("labels").query("draw == 0").set_index(["data", "model"])
    lines = [
        f"Table 1: error, %, on real labels; random methods: mean ± sd (best to worst) of {N_SEEDS} seeds; |S| is the",
        "size of the set; points above StagewiseEM ± standard error of the paired difference over items",
    ]
    for place, data in enumerate(DATA):
        wrong = wrong_items(record, data)
        title = f"{data}, {rows.loc[(data, DEFAULT), 'n_annotators']} annotators"
        lines += ["", f"{title:28s}{'error':>30s}   {'[published]':26s}above StagewiseEM"]
        for name, items in wrong.items():
            error = items.mean(1)
            cell = f"{error.mean():.2f}"
            if len(items) > 1:
                cell += f" ± {error.std(ddof=1):.2f} ({error.min():.2f} to {error.max():.2f})"
            if not np.isnan(size := rows.loc[(data, name), "size"]):
                cell += f", |S| {size:.0f}"
            there = (*PUBLISHED.get(name, ("", "")), "")[place]
            gap = paired(items.mean(0), wrong[DEFAULT].mean(0))
            against = "" if name == DEFAULT else f"{gap.mean:+6.2f} ± {gap.error:.2f}"
            lines.append(f"{name:28s}{cell:>30s}   {f'[{there}]' if there else '':26s}{against}".rstrip())
    return lines


# ---- the page


def tables(record: Record) -> dict[str, str]:
    blocks = [table_of_rounds(record), table_of_information(record), table_of_errors(record), table_of_labels(record)]
    return {"stagewise.txt": "\n\n\n".join("\n".join(block) for block in blocks) + "\n"}


def quotes(record: Record) -> dict[str, Any]:
    """Count what the sentences of the page quote."""
    found, sets = errors(record), exact_sets(record)
    gaps = [paired(found.loc[f"{alpha:.2f}", DEFAULT], found.loc[f"{alpha:.2f}", TRUE]) for alpha in ALPHAS]
    stages = record.frame("errors").query("model == @STAGES").set_index(["data", "draw"])
    whole = stages["classes"] == N_CLASSES
    behind = (found[STAGES] - found[TRUE])[whole].groupby("data").mean()
    at_most = stages.loc[f"{ALPHAS[-1]:.2f}"]
    return {
        "seeds": N_SEEDS,
        "random": len(RANDOM),
        "constant": sum(is_constant(record, name) for name in RANDOM),
        "rounds": summary_of_draws(record),
        "alphas": len(ALPHAS),
        "level_with_truth": sum(gap.verdict == "level" for gap in gaps),
        "largest_gap": max(abs(gap.mean) for gap in gaps),
        "exact": int(sets["exact"].sum()),
        "sets": len(sets),
        "stuck": int((~whole).sum()),
        "stages_behind": behind.to_dict(),
        "few": (at_most["experts"] + at_most["others"])[whole.loc[f"{ALPHAS[-1]:.2f}"]].astype(int).tolist(),
        "mean": found.loc[f"{ALPHAS[0]:.2f}"].mean().to_dict(),
        "tied": int(record.frame("labels").query("data == 'rte'")["tied"].max()),
    } | quotes_of_labels(record)


def quotes_of_labels(record: Record) -> dict[str, Any]:
    """Count the methods below and above the default on real labels."""
    rows = record.frame("labels").query("draw == 0").set_index(["data", "model"])
    found: dict[str, dict[str, Any]] = {}
    for data in DATA:
        wrong = wrong_items(record, data)
        gaps = [paired(items.mean(0), wrong[DEFAULT].mean(0)) for name, items in wrong.items() if name != DEFAULT]
        verdicts = [gap.verdict for gap in gaps]
        refined = "StagewiseEM(refine='all')"
        counts = {
            "others": len(gaps),
            "best": verdicts.count("above"),
            "level": verdicts.count("level"),
            "below": sum(gap.mean < 0 for gap in gaps),
            "clearly_below": verdicts.count("below"),
            "error": {"refined": f"{wrong[refined].mean():.2f}", "stages": f"{wrong[STAGES].mean():.2f}"},
            "size": {"stages": int(rows.loc[(data, STAGES), "size"])},
        }
        for name, count in counts.items():
            found.setdefault(name, {})[data] = count
    return found


def is_constant(record: Record, name: str) -> bool:
    """Whether a random method has the same number of wrong items from every seed, on every data set."""
    rows = record.frame("labels").query("model == @name")
    return all(wrong.map(len).eq(len(wrong.iloc[0])).all() for _, wrong in rows.groupby("data")["wrong"])


def claims(record: Record) -> list[Claim]:
    """Compare with Figs. 3 to 5 and Table 1."""
    found, rounds = quotes(record), summary_of_draws(record)
    refined, stages = (wrong_items(record, "bluebird")[name] for name in ("StagewiseEM(refine='all')", STAGES))
    means = errors(record).groupby("data").mean()
    lowest = int((means[DEFAULT] < means[[name for name in MODELS if name != DEFAULT]].min(axis=1)).sum())
    return [
        Claim(
            "StageEM-refine, error on bluebird", "10.19 %", f"{refined.mean():.2f} %",
            "met" if f"{refined.mean():.2f}" == "10.19" else "missed",
        ),
        Claim(
            "StageEM, error on bluebird", "12.04 %", f"{stages.mean():.2f} %",
            "met" if stages.mean() <= 12.04 else f"missed: by {(stages.mean() - 12.04) / 100 * stages.shape[1]:.0f} of "
            f"{stages.shape[1]} items",
        ),
        Claim("errors on dog", "20.69 and 16.73 %", found["error"]["dog"]["stages"] + " and "
              + found["error"]["dog"]["refined"] + " %", "not comparable: another file of dog"),
        Claim(
            "the first eight to enter are among the 15 best (Fig. 4)", "all, in one draw",
            f"all in {rounds['all_of_15']} of {rounds['complete']} draws",
            "met" if 2 * rounds["all_of_15"] > rounds["complete"] else "missed",
        ),
        Claim(
            "size of the set after the stages (Fig. 3)", "fewer than about 10",
            f"{min(rounds['sizes'])} to {max(rounds['sizes'])}",
            "met" if max(rounds["sizes"]) < 10 else "missed: the paper gives no rule to stop",
        ),
        Claim(
            "lowest error in sparse crowds (Fig. 5)", "at every α, as curves",
            f"lowest mean at {lowest} of {found['alphas']} α; level with the true model at {found['level_with_truth']}",
            "met" if lowest == found["alphas"] else "missed",
        ),
    ]  # fmt: skip


PAGE = Page(
    "stagewise",
    parts=(
        Part("rounds", cells_of_rounds, compute_rounds),
        Part("information", cells_of_information, compute_information),
        Part("errors", cells_of_errors, compute_errors),
        Part("labels", cells_of_labels, compute_labels),
    ),
    tables=tables,
    quotes=quotes,
    claims=claims,
    plots={
        "stagewise_rounds.svg": draw_rounds,
        "stagewise_information.svg": draw_information,
        "stagewise_errors.svg": draw_errors,
    },
)
