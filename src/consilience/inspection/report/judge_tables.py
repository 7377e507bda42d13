"""Tables of a report about annotators whom a model takes for judges of pairs, or weighs by a figure of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations import Pairs
from consilience.inspection.capabilities import Capabilities
from consilience.inspection.names import counted
from consilience.inspection.report.annotator_tables import cut
from consilience.inspection.report.answer_tables import spread
from consilience.inspection.report.tables import (
    Cell,
    Column,
    Table,
    download,
    name_cell,
    number,
    percent,
    row,
    significant,
)

RANKED_BY = ("accuracy", "weight", "agreement", "utility")  # the first that the model has
NO_BETTER = "no better than guessing"
NO_ANNOTATIONS = "no annotations"


def _count(value: Any) -> str:
    return f"{int(value):,}"


FIGURES: dict[str, tuple[str, Callable[[Any], str], str]] = {
    "n_groupings": ("Groupings", _count, ""),
    "n_items": ("Items sorted", _count, ""),
    "n_groups": ("Groups", _count, ""),
    "n_pairs": ("Judgements", _count, ""),
    "view": ("View", _count, "View: the one that the annotator holds most probably, and"),
    "holds": ("Probability", number, "with which probability."),
    "accuracy": ("Accuracy", percent, "Accuracy: share of the judgements that are those of the clusters."),
    "sensitivity": ("Sensitivity", percent, "Sensitivity: how often two items of one cluster are put together."),
    "specificity": ("Specificity", percent, "Specificity: how often items of two clusters are told apart."),
    "bias": ("Bias", number, "Bias: how readily any two items are put together; 0 is neither readily nor reluctantly."),
    "utility": ("Utility", significant, "Utility: the annotator's part of what the clusters have in common with all."),
    "weight": ("Weight", number, "Weight: what the annotator counts for in the model."),
    "agreement": (
        "Agreement",
        number,
        "Agreement: adjusted Rand index with the clusters, 1 for the same groups, 0 as by chance.",
    ),
}


def given_table(pairs: Pairs, features: pd.DataFrame | None) -> Table:
    """How many judgements were given, and how far they contradict each other."""
    summary = pairs.summary()
    each = np.bincount(pairs.annotator, minlength=pairs.n_annotators)
    keys, pair = np.unique(pairs.item_a.astype(np.int64) * len(pairs) + pairs.item_b, return_inverse=True)
    judged, same = np.bincount(pair, minlength=len(keys)), np.bincount(pair, pairs.same, len(keys))
    several = judged > 1
    differ = several & (same > 0) & (same < judged)
    again = f"{several.sum():,}"
    if several.any():
        again += f"; on {percent(differ.sum() / several.sum())} of them judgements differ"
    rows = [
        ("Items", f"{summary.n_items:,}"),
        ("Annotators", f"{summary.n_annotators:,}"),
        ("Judgements of two items", f"{pairs.n_rows:,}"),
        ("Share of them that put both together", percent(pairs.same.mean()) if pairs.n_rows else "–"),
        ("Judgements of an annotator", spread(pd.Series(each))),
        ("Pairs of items judged", f"{len(keys):,} of {len(pairs) * (len(pairs) - 1) // 2:,}"),
        ("Pairs judged several times", again),
        ("Annotators of an item", spread(summary.annotators_per_item)),
        ("Items without annotations", f"{summary.n_unannotated_items:,}"),
        ("Features of an item", f"{features.shape[1]:,}" if features is not None else "none given to this report"),
    ]
    return Table("given", "The annotations", [Column("", "text"), Column("", "text")], [row(*pair) for pair in rows])


def annotator_frame(estimator: Any) -> pd.DataFrame:
    """Return ``annotators_`` with a remark on each, view by view, the weakest last."""
    frame = estimator.annotators_.copy()
    frame["remark"] = [_remark(figures) for _, figures in frame.iterrows()]
    by = next((name for name in RANKED_BY if name in frame), None)
    if by is not None:
        frame = frame.sort_values(by, ascending=False, kind="stable", na_position="last")
    if Capabilities.of(estimator).has_views:
        frame["holds"] = estimator.view_probabilities_.max(axis=1)
        return frame.sort_values("view", kind="stable")
    return frame.drop(columns="view", errors="ignore")


def _remark(figures: pd.Series) -> str:
    if any(figures.get(name, 1) == 0 for name in ("n_pairs", "n_items", "n_labels")):
        return NO_ANNOTATIONS
    rates = figures.get("sensitivity", np.nan) + figures.get("specificity", np.nan)
    if rates <= 1 or figures.get("agreement", 1.0) <= 0:
        return NO_BETTER
    return ""


def annotators_table(frame: pd.DataFrame) -> Table | None:
    """What the model says of each annotator; None where it says nothing that is known here."""
    known = [name for name in FIGURES if name in frame]
    if not known:
        return None
    remarked = bool((frame["remark"] != "").any())
    shown, gap = cut(frame)
    rows = []
    for annotator, figures in shown.iterrows():
        tone = "flag" if figures["remark"] else ""
        cells = [FIGURES[name][1](figures[name]) for name in known]
        rows.append(
            row(name_cell(annotator, tone), *cells, *([Cell(figures["remark"], tone=tone)] if remarked else []))
        )
    heads = [Column(FIGURES[name][0]) for name in known]
    order = "by view" if "view" in frame else "the weakest last"
    return Table(
        "annotators",
        f"The annotators, {order}",
        [Column("Annotator", "text"), *heads, *([Column("Remark", "line")] if remarked else [])],
        rows,
        reading=" ".join(filter(None, (FIGURES[name][2] for name in known))),
        gap=gap,
        download=download("annotators.csv", frame.round(4), "annotator"),
    )


def in_short(frame: pd.DataFrame) -> list[str]:
    """How reliable the judgements are, in a sentence; none where the model does not say."""
    if not {"n_pairs", "sensitivity", "specificity"} <= set(frame):
        return []
    rates = []
    for name in ("sensitivity", "specificity"):
        known = frame[frame[name].notna() & (frame["n_pairs"] > 0)]
        if known.empty:
            return []
        rates.append(percent(float(np.average(known[name], weights=known["n_pairs"]))))
    cluster = "cluster of their view" if "view" in frame else "cluster"
    text = f"Annotators put together {rates[0]} of the pairs of one {cluster}, and tell apart {rates[1]} of the others"
    odd = int((frame["remark"] == NO_BETTER).sum())
    if odd:
        text += f"; {counted(odd, 'annotator')} {'is' if odd == 1 else 'are'} {NO_BETTER}"
    return [text + "."]
