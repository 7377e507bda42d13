"""Tables and sentences of the pages on groupings and on pairs.

A set is a recording, or a kind of simulated crowds. Differences from co-occurrence have standard errors over people in
recordings, where each person is held out once; over draws in simulations, where each draw is another crowd. Those of
NMI from average linkage have standard errors over draws. Within two of them, a difference is level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.experiments import Record
from benchmarks.experiments.statistics import Difference, paired
from benchmarks.people.grouping_crowds import ITEMS_EACH, MOST_WORKERS, N_CLASSES, N_ITEMS
from benchmarks.people.grouping_methods import BASE, BASELINES, CO_OCCURRENCE, KMEANS, LIMIT, LINKAGE
from benchmarks.people.held_out import CLIP, N_BINS, N_FOLDS, pooled, pooled_calibration_error

SIMULATED = ("simulated", "small")  # parts
WAYS = {"own": "as the method predicts", "clusters": "by its clusters", "forecast": "as it forecasts"}
TOLERATED, FAR = 0.001, 0.01  # nats by which a forecast may be behind; those above the second are named
VERDICTS = {"below": "better", "level": "level", "above": "worse"}  # of a loss


@cache
def results(record: Record, part: str) -> pd.DataFrame:
    """Return one row for each set and method."""
    rows = record.frame(part)
    fits = dict(iter(rows.groupby(["data", "model"], sort=False)))
    found = [{"data": data, "model": name} | of_method(own, part) for (data, name), own in fits.items()]
    if "nmi" in rows:
        for row, own in zip(found, fits.values()):
            row |= lead_in_nmi(own, fits.get((row["data"], LINKAGE)))
    return pd.DataFrame(found)


def lead_in_nmi(own: pd.DataFrame, linkage: pd.DataFrame | None) -> dict[str, Any]:
    """Return the NMI of a method less that of average linkage, where there is a truth."""
    if linkage is None or own["nmi"].isna().any():
        return {"nmi_lead": np.nan, "nmi_error": np.nan, "nmi_verdict": ""}
    lead = paired(own["nmi"], linkage.set_index("draw")["nmi"].loc[own["draw"]])
    return {"nmi_lead": lead.mean, "nmi_error": lead.error, "nmi_verdict": lead.verdict}


def of_method(rows: pd.DataFrame, part: str) -> dict[str, Any]:
    """Return the figures of one method on one set, over its draws."""
    found: dict[str, Any] = {}
    people = rows["n_held_out"].to_numpy(float)
    for way in WAYS:
        if f"{way}_loss" not in rows or rows[f"{way}_loss"].isna().any():
            continue
        gap = gap_of(rows, way, part)
        found |= {
            f"{way}_loss": np.average(rows[f"{way}_loss"], weights=None if part in SIMULATED else people),
            f"{way}_gap": gap.mean,
            f"{way}_error": gap.error,
            f"{way}_verdict": VERDICTS[gap.verdict],
            f"{way}_ece": pooled_calibration_error(people, np.array(rows[f"{way}_bins"].tolist())),
        }
    for name in ("nmi", "ari", "n_clusters", "groups", "told", "n_people", "n_items", "n_judgements"):
        if name in rows and rows[name].notna().all():
            found[name] = rows[name].astype(float).mean()
    found["best"] = min(found.get(f"{way}_gap", np.inf) for way in WAYS)
    return found | {"seconds": rows["seconds"].median(), "failed": int((rows["no_answer"] != "").sum())}


def gap_of(rows: pd.DataFrame, way: str, part: str) -> Difference:
    """Return the log loss less that of co-occurrence."""
    gaps = rows[f"{way}_gap"].to_numpy(float)
    if part in SIMULATED:
        return paired(gaps, np.zeros(len(gaps)))
    return pooled(rows["n_held_out"].to_numpy(float), gaps, rows[f"{way}_spread"].to_numpy(float))


# ---- tables


def tables(page: str, record: Record, parts: Mapping[str, Sequence[str]], titles: Mapping[str, str]) -> dict[str, str]:
    """Return the text files of a page."""
    whole = {part: results(record, part) for part in parts}
    found = {f"{page}.txt": [table_of_summary(whole[part], titles[part]) for part in parts]}
    for part, sets in parts.items():
        found[f"{page}_{part}.txt"] = [table_of(whole[part], data) for data in sets]
    return {name: "\n\n\n".join("\n".join(lines) for lines in blocks) + "\n" for name, blocks in found.items()}


def table_of(rows: pd.DataFrame, data: str) -> list[str]:
    """Return the methods on one set, by the lowest of their log losses."""
    rows = rows[rows["data"] == data].sort_values("best", kind="stable")
    has_truth = "nmi" in rows and rows["nmi"].notna().any()
    first = rows.iloc[0]
    groups = "" if np.isnan(first.get("groups", np.nan)) else f", {first['groups']:.1f} groups in a grouping"
    sizes = f"{first['n_items']:.0f} items, {first['n_people']:.0f} people, {first['n_judgements']:.0f} judgements"
    truth = f"{'NMI':>14s}{'- linkage':>17s}{'ARI':>7s}" if has_truth else ""
    lines = [
        f"{data}: {sizes}{groups}; told: {first['told']:.0f} clusters",
        f"{'':25s}" + "".join(f"{title:>32s}" for title in WAYS.values()),
        f"{'':25s}"
        + len(WAYS) * f"{'log loss':>9s}{'- co-occurr.':>16s}{'ECE':>7s}"
        + f"{truth}{'clusters':>10s}{'seconds':>9s}",
    ]
    for _, row in rows.iterrows():
        text = f"{row['model']:25s}"
        for way in WAYS:
            gap = difference(row, f"{way}_gap", f"{way}_error") if row["model"] != CO_OCCURRENCE else ""
            text += f"{number(row, f'{way}_loss'):>9s}{gap:>16s}{number(row, f'{way}_ece'):>7s}"
        if has_truth:
            lead = difference(row, "nmi_lead", "nmi_error") if row["model"] != LINKAGE else ""
            text += f"{number(row, 'nmi'):>14s}{lead:>17s}{number(row, 'ari'):>7s}"
        failed = f"   error in {row['failed']} fits" if row["failed"] else ""
        lines.append(f"{text}{number(row, 'n_clusters', 1):>10s}{row['seconds']:9.2f}{failed}")
    return lines


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Return for each method its means over sets, and on how many its loss is better, level and worse."""
    by_method = rows.groupby("model", sort=False)
    means = [name for name in rows if rows[name].dtype.kind in "fi" and name != "failed"]
    found = by_method[means].mean()
    found["sets"], found["failed"] = by_method.size(), by_method["failed"].sum()
    for way in WAYS:
        for verdict in VERDICTS.values():
            found[f"{way}_{verdict}"] = by_method[f"{way}_verdict"].agg(
                lambda own, verdict=verdict: (own == verdict).sum()
            )
    return found.sort_values("best", kind="stable")


def table_of_summary(rows: pd.DataFrame, title: str) -> list[str]:
    """Return the means of the methods over sets, by the lowest of their mean differences from co-occurrence."""
    found = summary(rows)
    has_truth = "nmi" in found and found["nmi"].notna().any()
    found["best"] = found[[f"{way}_gap" for way in WAYS]].min(axis=1)
    found = found.sort_values("best", kind="stable")
    one = f"{'loss':>8s}{'- co':>8s}{'b':>4s}{'l':>3s}{'w':>3s}{'ECE':>6s}"
    truth = f"{'NMI':>8s}{'- link':>8s}{'ARI':>6s}" if has_truth else ""
    groups = found.get("groups", pd.Series(dtype=float)).max()
    people = "" if np.isnan(groups) else f"; {rows.drop_duplicates('data')['groups'].mean():.1f} groups in a grouping"
    lines = [
        f"{title}{people}",
        f"{'':25s}{'':5s}" + "".join(f"{title:>32s}" for title in WAYS.values()),
        f"{'':25s}{'sets':>5s}{len(WAYS) * one}{truth}{'clusters':>10s}{'seconds':>9s}",
    ]
    for name, row in found.iterrows():
        text = f"{name:25s}{row['sets']:5.0f}"
        for way in WAYS:
            text += f"{number(row, f'{way}_loss'):>8s}"
            is_reference = name == CO_OCCURRENCE or number(row, f"{way}_loss") == "-"
            counts = "".join(
                f"{row[f'{way}_{verdict}']:{width}.0f}" for verdict, width in zip(VERDICTS.values(), (4, 3, 3))
            )
            text += f"{'':18s}" if is_reference else f"{row[f'{way}_gap']:+8.3f}{counts}"
            text += f"{number(row, f'{way}_ece', 2):>6s}"
        if has_truth:
            lead = f"{row['nmi_lead']:+.3f}" if name != LINKAGE and not np.isnan(row["nmi_lead"]) else ""
            text += f"{number(row, 'nmi'):>8s}{lead:>8s}{number(row, 'ari', 2):>6s}"
        lines.append(f"{text}{number(row, 'n_clusters', 1):>10s}{row['seconds']:9.2f}")
    return lines


def number(row: Mapping[str, Any], name: str, digits: int = 3) -> str:
    value = row.get(name, np.nan)
    return "-" if np.isnan(value) else f"{value:.{digits}f}"


def difference(row: Mapping[str, Any], mean: str, error: str) -> str:
    value = row.get(mean, np.nan)
    return "" if np.isnan(value) else f"{value:+.3f} ± {row[error]:.3f}"


# ---- what the sentences quote


def listed(names: Sequence[str]) -> str:
    """Return names as a sentence lists them."""
    if not names:
        return "none"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def short(gap: float, digits: int = 3) -> str:
    """Return a difference as the pages write it, such as +.005."""
    text = f"{gap:+.{digits}f}"
    return text.replace("0.", ".", 1) if abs(gap) < 1 else text


def sets_where(rows: pd.DataFrame, name: str, column: str, verdict: str, gap: str) -> str:
    """Return the sets where a method's difference is so, with the difference."""
    own = rows[(rows["model"] == name) & (rows[column] == verdict)]
    return listed([f"{data} ({short(value)})" for data, value in zip(own["data"], own[gap])])


def quotes_of(rows: pd.DataFrame) -> dict[str, Any]:
    """Return what the sentences on one part quote."""
    found = summary(rows)
    models = [name for name in found.index if name not in (*BASELINES, LIMIT)]
    of_models = rows[rows["model"].isin(models)]
    whole = [name for name in models if found["sets"][name] == found["sets"].max()]
    clusterings = [*whole, LINKAGE, KMEANS]
    answer: dict[str, Any] = {
        "sets": int(found["sets"].max()),
        "table": found.to_dict("index"),
        "models": len(models),
        "all_worse": {
            way: int((of_models[f"{way}_verdict"] == "worse").groupby(of_models["data"]).all().sum()) for way in WAYS
        },
        "any_better": {
            way: int((of_models[f"{way}_verdict"] == "better").groupby(of_models["data"]).any().sum()) for way in WAYS
        },
        "best_by_clusters": found["clusters_gap"][clusterings].idxmin(),
        "best_model_by_clusters": found["clusters_gap"][whole].idxmin(),
        "best_model_as_predicted": found["own_gap"][whole].idxmin(),
        "better_by_clusters": {
            name: sets_where(rows, name, "clusters_verdict", "better", "clusters_gap") for name in found.index
        },
        "worse_by_clusters": {
            name: sets_where(rows, name, "clusters_verdict", "worse", "clusters_gap") for name in found.index
        },
        "failed": listed([f"{name} in {count:.0f}" for name, count in found["failed"].items() if count]),
        "first_by_clusters": first_counts(rows[rows["model"].isin(clusterings)], "clusters_gap", False),
    }
    forecasts = of_models.dropna(subset="forecast_gap")
    behind = forecasts["forecast_gap"] > np.maximum(TOLERATED, forecasts["forecast_error"])
    far = forecasts[behind & (forecasts["forecast_gap"] > FAR)]
    answer |= {
        "mean_gap": {way: of_models[f"{way}_gap"].mean() for way in WAYS},
        "mean_gap_to_clusters": (forecasts["forecast_gap"] - forecasts["clusters_gap"]).mean(),
        "n_forecasts": len(forecasts),
        "n_behind": int(behind.sum()),
        "far_behind": listed(
            [f"{row['model']} on {row['data']} ({short(row['forecast_gap'])})" for _, row in far.iterrows()]
        ),
    }
    if "nmi" in found:
        answer |= {
            "most_like_classes": found["nmi"][clusterings].idxmax(),
            "first_by_nmi": first_counts(rows[rows["model"].isin(clusterings)], "nmi", True),
            "nmi_above": {name: sets_where(rows, name, "nmi_verdict", "above", "nmi_lead") for name in found.index},
            "nmi_below": {name: sets_where(rows, name, "nmi_verdict", "below", "nmi_lead") for name in found.index},
            "nmi": {data: dict(zip(own["model"], own["nmi"])) for data, own in rows.groupby("data")},
        }
    return answer


def first_counts(rows: pd.DataFrame, column: str, is_highest: bool) -> str:
    """Return how often each method is the first, ties shared by all that tie."""
    best = rows.groupby("data")[column].transform("max" if is_highest else "min")
    counts = rows[np.isclose(rows[column], best, atol=5e-4)].groupby("model").size().sort_values(ascending=False)
    return listed([f"{name} on {count}" for name, count in counts.items()])


def quotes(record: Record, parts: Mapping[str, Sequence[str]], draws: Sequence[int]) -> dict[str, Any]:
    """Return what the sentences of a page quote."""
    return {part: quotes_of(results(record, part)) for part in parts} | {
        "draws": listed(list(map(str, draws))),
        "folds": N_FOLDS,
        "clip": f"{CLIP:g}".replace("0.", ".", 1),
        "bins": N_BINS,
        "limit": LIMIT,
        "base": BASE,
        "plain": CO_OCCURRENCE,
        "linkage": LINKAGE,
        "kmeans": KMEANS,
        "n_items": N_ITEMS,
        "n_classes": N_CLASSES,
        "items_each": ITEMS_EACH,
        "most_workers": MOST_WORKERS,
        "signed": short,
    }
