"""Faces judged by pose, by person and by eyewear: the views that MCVC finds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from benchmarks.experiments import Cell, Part, Record
from benchmarks.papers.view_parts.faces import ACCURACIES, faces
from consilience import Pairs
from consilience.inference import iterate
from consilience.inference.pair_evidence import PairEvidence
from consilience.metrics import nmi
from consilience.semisupervised import MCVC, mcvc
from consilience.simulation import simulate_pairs

N_DRAWS = 5
UNSEEN = range(N_DRAWS, 2 * N_DRAWS)  # of the setting with 20 clusters, on whose other draws starts were developed
VIEWS = ("pose", "person", "eyes")
TRUTH = "truth"
USUAL: dict[str, Any] = {"clusters": 4, "components": 20, "pairs": 2000, "max_views": 4, "n_init": 50}  # the default
OTHERS: tuple[dict[str, Any], ...] = (
    {"clusters": 20},
    {"clusters": 8},
    {"clusters": 4},
    {"pairs": 200},
    {"pairs": 500},
    {"components": 40},
    {"n_init": 5},
    {"max_views": "auto"},
    {"clusters": 20, "n_init": TRUTH},
    {"clusters": 8, "n_init": TRUTH},
)


def cells() -> Iterator[Cell]:
    for other in OTHERS:
        setting = USUAL | other
        data = ", ".join(f"{setting[name]} {name}" for name in USUAL)
        from_truth = setting["n_init"] == TRUTH
        model = MCVC(setting["clusters"], max_views=setting["max_views"], n_init=setting["n_init"], random_state=0)
        for seed in (*range(N_DRAWS), *(UNSEEN if other == {"clusters": 20} else ())):
            estimator = None if from_truth else model
            name = "MCVC from the truth" if from_truth else "MCVC"
            yield Cell("views", data, name, seed, estimator, settings={"of": setting}, uses=(MCVC,))


def judged_by_views(views: pd.DataFrame, n_pairs: int, seed: int) -> Pairs:
    """Return the judgements of five annotators per view, named by the view and a number."""
    parts = []
    for number, view in enumerate(VIEWS):
        part = simulate_pairs(views[view], 5, n_pairs, ACCURACIES, random_state=100 * seed + number).to_frame()
        parts.append(part.assign(annotator=view + " " + part["annotator"].astype(str)))
    return Pairs.from_frame(pd.concat(parts), items=views.index)


def compute(cell: Cell) -> dict[str, Any]:
    """Fit MCVC to faces judged in three ways."""
    setting = cell.settings["of"]
    if cell.estimator is None:
        return from_truth(setting, cell.draw)
    features, views = faces(setting["components"])
    judged = judged_by_views(views, setting["pairs"], cell.draw)
    start = time.perf_counter()
    model = clone(cell.estimator).fit(features, judged)
    seconds = time.perf_counter() - start
    held = model.annotators_["view"]
    return {
        "seconds": seconds,
        "members": model.views_["n_annotators"].tolist(),
        "n_clusters": model.views_["n_clusters"].tolist(),
        "ari": adjusted_rand_score(held.index.str.split().str[0], held),
        "bound": model.lower_bound_,
        "nmi": {view: max(nmi(views[view], model.view_labels_[v]) for v in model.view_labels_) for view in VIEWS},
    }


def from_truth(setting: dict[str, Any], seed: int) -> dict[str, Any]:
    """Start MCVC at the true views, to distinguish views that starts miss from those that the bound does not favour."""
    features, views = faces(setting["components"])
    judged, n_clusters = judged_by_views(views, setting["pairs"], seed), setting["clusters"]
    start = time.perf_counter()
    problem = mcvc.MCVCProblem.of(features.to_numpy(), PairEvidence.of(judged), mcvc.MCVCPrior(), n_clusters)
    state = mcvc.init(problem, setting["max_views"], 1, rng=np.random.default_rng(0))
    eta, phi = state.eta.copy(), np.full_like(state.phi, 1e-12)
    for column, view in enumerate(VIEWS):
        eta[:, :, column] = 0.9 * np.eye(n_clusters)[pd.factorize(views[view])[0] % n_clusters] + 0.1 / n_clusters
        phi[judged.annotators.str.startswith(view), 0, column] = 1.0
    state = replace(state, eta=eta, phi=phi)
    for _ in range(10):  # weights that go with these clusters, before clusters move
        state = problem.update_weights(state, np.arange(len(VIEWS)))
    state = mcvc.update_annotators(problem, state, problem.agreement(state))
    trace = iterate(state, partial(mcvc.step, problem), lambda s: float(s.bounds.sum()), max_iter=500, tol=1e-6)
    labels = trace.state.eta[:, :, : len(VIEWS)].argmax(1)
    held = trace.state.phi[:, 0].argmax(1)
    return {
        "seconds": time.perf_counter() - start,
        "members": np.bincount(held)[: len(VIEWS)].tolist(),
        "n_clusters": [len(np.unique(own)) for own in labels.T],
        "ari": adjusted_rand_score(judged.annotators.str.split().str[0], held),
        "bound": trace.lower_bound,
        "nmi": {view: nmi(views[view].to_numpy(), own) for view, own in zip(VIEWS, labels.T)},
    }


def results(record: Record) -> pd.DataFrame:
    """Return the rows with a column for each setting and the NMI of each view."""
    rows = record.frame("views")
    settings = pd.DataFrame([dict(zip(USUAL, setting_of(data))) for data in rows["data"]], index=rows.index)
    found = pd.DataFrame(rows["nmi"].tolist(), index=rows.index).add_prefix("nmi_")
    return pd.concat([rows, settings, found], axis=1)


def setting_of(data: str) -> list[str]:
    return [part.split()[0] for part in data.split(", ")]


def table(record: Record) -> list[str]:
    rows = results(record)
    lines = [
        f"faces judged by {', '.join(VIEWS)}, five annotators each: MCVC. ARI of the annotators' views and criteria;",
        "NMI of each criterion with the view most like it; annotators and clusters of each view found",
        "",
        "".join(f"{name:>11s}" for name in ("clusters", "components", "pairs", "views", "starts", "draw", "ARI"))
        + "".join(f"{view:>9s}" for view in VIEWS)
        + f"{'bound':>9s}{'seconds':>9s}  {'annotators':12s} clusters",
    ]
    for _, own in rows.groupby("data", sort=False):
        for _, row in own.iterrows():
            lines.append(
                "".join(f"{row[name]:>11s}" for name in USUAL)
                + f"{row['draw']:11d}{row['ari']:11.3f}"
                + "".join(f"{row[f'nmi_{view}']:9.3f}" for view in VIEWS)
                + f"{row['bound']:9.0f}{row['seconds']:9.1f}  "
                f"{' '.join(map(str, row['members'])):12s} {' '.join(map(str, row['n_clusters']))}"
            )
        values = "".join(f"{own[f'nmi_{view}'].mean():9.3f}" for view in VIEWS)
        spread = "".join(f"{own[f'nmi_{view}'].std():9.3f}" for view in VIEWS)
        lines.append(f"{'mean':>66s}{own['ari'].mean():11.3f}{values}{own['bound'].mean():9.0f}")
        lines += [f"{'sd':>66s}{own['ari'].std():11.3f}{spread}{own['bound'].std():9.0f}", ""]
    return lines[:-1]


def quotes(record: Record) -> dict[str, Any]:
    rows = results(record)
    unseen = rows[rows["draw"].isin(UNSEEN)]
    rows = rows.drop(unseen.index)
    exact = (rows["ari"] == 1) & rows["members"].map(lambda members: members == [5, 5, 5])
    found = {k: rows[is_setting(rows, clusters=k)] for k in (20, 8, 4)}
    truth = {k: rows[is_setting(rows, clusters=k, n_init=TRUTH)].set_index("draw") for k in (20, 8)}
    few = {n: rows[is_setting(rows, pairs=n)] for n in (200, 500)}
    bounds = {k: own.set_index("draw")["bound"] for k, own in found.items()}
    return {
        "draws": N_DRAWS,
        "three_views": {k: int(exact[own.index].sum()) for k, own in found.items()},
        "perfect": {k: int(((own["nmi_pose"] == 1) & (own["nmi_eyes"] == 1)).sum()) for k, own in found.items()},
        "all_persons": int((found[20]["nmi_person"] == 1).sum()),
        "unseen": len(unseen),
        "unseen_persons": int((unseen["nmi_person"] == 1).sum()),
        "truth_behind": (bounds[20] - truth[20]["bound"]).tolist(),
        "eight_ahead": int((bounds[8] > bounds[20]).sum()),
        "split": int((~exact[found[4].index]).sum()),
        "split_40": int((~exact[is_setting(rows, components=40)]).sum()),
        "split_5": int((~exact[is_setting(rows, n_init=5)]).sum()),
        "few_eyes": few[200]["nmi_eyes"].tolist(),
        "few_ari": few[200]["ari"].tolist(),
        "three_of_500": int(exact[few[500].index].sum()),
    }


def is_setting(rows: pd.DataFrame, **others: Any) -> pd.Series:
    """Return which rows have the usual setting except for some of it."""
    wanted = USUAL | others
    return pd.concat([rows[name] == str(value) for name, value in wanted.items()], axis=1).all(axis=1)


PART = Part("views", cells, compute)
