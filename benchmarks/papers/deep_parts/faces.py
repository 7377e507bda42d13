"""Faces by pose, on the draws of the page on several views: the deep models, and all peers with settings chosen.

Settings are chosen for the peers as they were for the deep models: on other draws, with the true poses.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from benchmarks.experiments import Cell, Part, Record
from benchmarks.experiments.page import before_comma
from benchmarks.experiments.statistics import mean_sd, paired
from benchmarks.papers.deep_parts.scores import SHORT, scores
from benchmarks.papers.paper_plots.deep import draw_worker_weights
from benchmarks.papers.view_parts import faces as peers
from benchmarks.papers.view_parts.faces import ACCURACIES, DRAWS, N_PAIRS, PLACES, annotated, by_draw, faces
from consilience.consensus import CSPA
from consilience.deep import SCDC, BayesSCDC, DeepMCVC
from consilience.inspection.plots.style import FAINT, SMALL, colour, marker, tidy
from consilience.semisupervised import MCVC, MECC, InductiveConsensus, ITMLClustering, MPCKMeans, SemiCrowd

LISTENING: dict[str, Any] = {
    "init": "judgements", "n_latent": 20, "annotated_weight": 10.0, "implied_pairs": "all", "batch_size": 128,
    "n_init": 1, "random_state": 0,
}  # fmt: skip
MODELS = {
    "DeepMCVC": DeepMCVC(4, max_views=1, random_state=0),
    "BayesSCDC": BayesSCDC(12, hidden=(80, 80), n_epochs=200, **LISTENING),
    "SCDC": SCDC(4, hidden=(40, 40), **LISTENING),
}
AT_DEFAULTS = {
    "BayesSCDC, defaults": BayesSCDC(random_state=0),
    "SCDC, defaults": SCDC(4, random_state=0),
}
N_DEFAULTS = 2  # draws at the defaults
CHOOSING = range(100, 103)  # draws on which the settings of peers are chosen
AT = (500, 2000)  # numbers of pairs at which they are
GRIDS: dict[str, list[Any]] = {
    "MCVC": [MCVC(4, max_views=1, reliability_prior=(a, 1.0), random_state=0) for a in (1.0, 3.0, 10.0, 30.0)],
    "MECC": [
        MECC(4, implied_pairs=implied, reliability_prior=(a, 1.0), random_state=0)
        for implied in ("independent", "all")
        for a in (3.0, 10.0)
    ],
    "MPCKMeans": [
        MPCKMeans(4, metric=metric, closure=closure, random_state=0)
        for metric in ("diagonal", "full")
        for closure in (False, True)
    ],
    "ITMLClustering": [ITMLClustering(4, slack=slack, random_state=0) for slack in (0.01, 0.1, 1.0, 10.0)],
    "SemiCrowd": [SemiCrowd(4, ridge=ridge, d1=d1, random_state=0) for ridge in (0.01, 1.0) for d1 in (0.6, 0.8)],
    "CSPA, logistic regression": [
        InductiveConsensus(CSPA(4, random_state=0), LogisticRegression(C=c, max_iter=1000))
        for c in (0.01, 0.1, 1.0, 10.0)
    ],
}


def cells() -> Iterator[Cell]:
    for where in PLACES:
        for n_pairs in N_PAIRS:
            for seed in DRAWS:
                for name, model in MODELS.items():
                    yield Cell("faces", peers.data_of(where, n_pairs), name, seed, model)
        for seed in DRAWS[:N_DEFAULTS]:
            for name, model in AT_DEFAULTS.items():
                yield Cell("faces", peers.data_of(where, max(N_PAIRS)), name, seed, model)


def compute(cell: Cell) -> dict[str, Any]:
    where, n_pairs = cell.data.split(", ")
    features, views = faces()
    pairs = annotated(views["pose"], int(n_pairs.split()[0]), where, cell.draw)
    start = time.perf_counter()
    model = clone(cell.estimator).fit(features, pairs)
    return scores(model, views["pose"].to_numpy(), time.perf_counter() - start)


def cells_of_peers() -> Iterator[Cell]:
    for where in PLACES:
        for n_pairs in AT:
            for seed in (*CHOOSING, *DRAWS):
                for name, grid in GRIDS.items():
                    for place, model in enumerate(grid):
                        yield Cell("peers", peers.data_of(where, n_pairs), f"{name} #{place}", seed, model)


def results(record: Record) -> pd.DataFrame:
    """Return the rows of the deep models with those of the peers on the same draws."""
    rows = peers.results(record)
    others = peers.results(Record("multiple_views", record.path.parent))
    return pd.concat([rows, others], ignore_index=True)


def chosen(record: Record) -> pd.DataFrame:
    """Return the NMI of each peer with the setting that was best on the draws for choosing, by place and pairs."""
    rows = record.frame("peers")
    rows = rows.assign(peer=rows["model"].str.split(" #").str[0], for_choosing=rows["draw"].isin(CHOOSING))
    means = rows[rows["for_choosing"]].groupby(["data", "peer", "model"])["nmi"].mean()
    best = means.groupby(["data", "peer"]).idxmax().map(lambda key: key[2])
    reported = rows[~rows["for_choosing"]]
    wanted = reported.set_index(["data", "peer"]).index.map(best)
    return reported[reported["model"].to_numpy() == wanted.to_numpy()]


def best_peer(record: Record, where: str, n_pairs: int) -> pd.Series:
    """Return by draw the NMI of the peer that is best on average, at its defaults or with the settings chosen."""
    others = peers.results(Record("multiple_views", record.path.parent))
    found = by_draw(others, where).loc[n_pairs]
    found = found.drop(columns=[peers.TRUE_POSES], errors="ignore")
    if n_pairs in AT:
        own = chosen(record)
        own = own[own["data"] == peers.data_of(where, n_pairs)]
        found = found.join(own.pivot_table(index="draw", columns="peer", values="nmi").add_suffix(", chosen"))
    return found[found.mean().idxmax()]


def table(record: Record) -> list[str]:
    rows = record.frame("faces")
    lines = [
        "624 faces by pose: NMI by pairs that each of five annotators judged, "
        f"mean ± sd of {len(DRAWS)} draws (at defaults {N_DEFAULTS})"
    ]
    for where, title in PLACES.items():
        lines += ["", f"{title:28s}" + "".join(f"{n_pairs:>16d}" for n_pairs in N_PAIRS)]
        for name in (*MODELS, *AT_DEFAULTS):
            own = rows[rows["model"] == name].set_index("data")
            data = [peers.data_of(where, n_pairs) for n_pairs in N_PAIRS]
            lines.append(
                f"{name:28s}"
                + "".join(f"{mean_sd(own.loc[one, 'nmi']) if one in own.index else '':>16s}" for one in data)
            )
        for name in MODELS:
            gaps = [gap(record, name, where, n_pairs) for n_pairs in N_PAIRS]
            lines.append(
                f"{name + ' above best peer':28s}" + "".join(f"{one.mean:+9.3f} ± {one.error:.3f}" for one in gaps)
            )
    lines += [
        "",
        "peers with settings chosen on other draws, and at their defaults: NMI at " + " and ".join(map(str, AT)),
    ]
    own = chosen(record)
    defaults = peers.results(Record("multiple_views", record.path.parent))
    for where, title in PLACES.items():
        lines += ["", f"{title:28s}" + "".join(f"{n_pairs:>16d}{'defaults':>16s}" for n_pairs in AT)]
        for name in GRIDS:
            values = []
            for n_pairs in AT:
                data = peers.data_of(where, n_pairs)
                values.append(mean_sd(own.loc[(own["data"] == data) & (own["peer"] == name), "nmi"]))
                values.append(mean_sd(defaults.loc[(defaults["data"] == data) & (defaults["model"] == name), "nmi"]))
            lines.append(f"{name:28s}" + "".join(f"{value:>16s}" for value in values))
    return lines


def gap(record: Record, name: str, where: str, n_pairs: int) -> Any:
    """Compare a deep model with the best peer on the same draws."""
    own = by_draw(peers.results(record), where).loc[n_pairs, name]
    return paired(own, best_peer(record, where, n_pairs).reindex(own.index))


def quotes(record: Record) -> dict[str, Any]:
    gaps = {(name, where, n): gap(record, name, where, n) for name in MODELS for where in PLACES for n in N_PAIRS}
    rows = record.frame("faces")
    most = rows[rows["data"].str.endswith(f", {max(N_PAIRS)} pairs") & rows["model"].isin(list(MODELS))]
    in_order = most["weights"].map(lambda weights: bool((np.diff(weights) < 0).all()))
    means = by_draw(peers.results(record), "all").groupby("pairs").mean()
    truth = by_draw(peers.results(Record("multiple_views", record.path.parent)), "some")[peers.TRUE_POSES]
    own_of_some = by_draw(peers.results(record), "some")
    return {
        "draws": len(DRAWS),
        "draws_at_defaults": N_DEFAULTS,
        "verdicts": {
            where: {name: [gaps[name, where, n].verdict for n in N_PAIRS] for name in MODELS} for where in PLACES
        },
        "gaps": gaps,
        "n_pairs": len(N_PAIRS),
        "in_order": int(in_order.sum()),
        "fits": len(in_order),
        "mean": {name: means[name].to_dict() for name in MODELS},
        "above_true_poses": sum(
            paired(own_of_some.loc[n, name], truth.loc[n]).verdict == "above" for name in MODELS for n in N_PAIRS
        ),
        "comparisons": len(MODELS) * len(N_PAIRS),
        "defaults": {where: of_defaults(rows, where) for where in PLACES},
    }


def of_defaults(rows: pd.DataFrame, where: str) -> dict[str, float]:
    """Return the mean NMI of models at their defaults."""
    own = rows[(rows["data"] == peers.data_of(where, max(N_PAIRS))) & rows["model"].isin(list(AT_DEFAULTS))]
    found: dict[str, float] = own.groupby("model")["nmi"].mean().to_dict()
    return found


def draw(record: Record) -> Figure:
    """Draw the paper's figure 3: NMI by pairs, and the weight of a judgement of each annotator."""
    figure = Figure(figsize=(8.2, 3.1), layout="constrained")
    axes = figure.subplots(1, 3, width_ratios=[1, 1, 0.8])
    for axis, where in zip(axes, PLACES):
        found = by_draw(peers.results(record), where)
        for number, name in enumerate(MODELS):
            look: dict[str, Any] = {"color": colour(number), "marker": marker(number), "ms": 4, "lw": 1}
            own = found[name].groupby("pairs")
            axis.errorbar(N_PAIRS, own.mean(), own.std(), elinewidth=0.6, label=name, **look)
        best = [best_peer(record, where, n_pairs).mean() for n_pairs in N_PAIRS]
        axis.plot(N_PAIRS, best, color=FAINT, linestyle="dashed", lw=1, label="best of the others")
        axis.set_title(PLACES[where], fontsize=9)
        axis.set_xlabel("pairs judged by each annotator", fontsize=SMALL)
        axis.set_ylim(0, 1.02)
        tidy(axis)
    axes[0].set_ylabel("NMI with the pose", fontsize=SMALL)
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower left", ncols=4, fontsize=SMALL, frameon=False
    )
    row = record.rows["faces", peers.data_of("all", max(N_PAIRS)), "DeepMCVC", DRAWS[0]]
    true = np.array([2 * np.log(p / (1 - p)) for p in ACCURACIES])
    draw_worker_weights(pd.Series(row["figures"]["weights"]), true, ax=axes[2])
    return figure


PART = Part("faces", cells, compute, short=SHORT, alike=before_comma)
OF_PEERS = Part("peers", cells_of_peers, peers.compute)
