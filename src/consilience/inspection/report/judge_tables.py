"""Tables of a report about annotators whom a model treats as judges of pairs, or weighs by a measure of its own."""

from __future__ import annotations

import numpy as np
import pandas as pd

from consilience.analysis.words import current_words
from consilience.annotations import Pairs
from consilience.inspection.report.item_tables import spread
from consilience.inspection.report.participants import odd_in_short
from consilience.inspection.report.subject import Subject
from consilience.inspection.report.tables import Column, ReportTable, percent, row


def given_table(pairs: Pairs, features: pd.DataFrame | None) -> ReportTable:
    """Return the table of how many judgements there are, and how far they contradict each other."""
    words = current_words()
    summary = pairs.summary()
    each = np.bincount(pairs.annotator, minlength=pairs.n_annotators)
    keys, pair = np.unique(pairs.item_a.astype(np.int64) * len(pairs) + pairs.item_b, return_inverse=True)
    judged, same = np.bincount(pair, minlength=len(keys)), np.bincount(pair, pairs.same, len(keys))
    several = judged > 1
    differ = several & (same > 0) & (same < judged)
    again = f"{several.sum():,}"
    if several.any():
        again += f"; the judgements of {percent(differ.sum() / several.sum())} of them differ"
    rows = [
        (words.Items, f"{summary.n_items:,}"),
        (words.Annotators, f"{summary.n_annotators:,}"),
        ("Judgements", f"{pairs.n_rows:,}"),
        (f"Share that put both {words.items} together", percent(pairs.same.mean()) if pairs.n_rows else "–"),
        (f"Judgements per {words.annotator}", spread(pd.Series(each))),
        ("Pairs judged", f"{len(keys):,} of {len(pairs) * (len(pairs) - 1) // 2:,}"),
        ("Pairs judged several times", again),
        (f"{words.Annotators} per {words.item}", spread(summary.annotators_per_item)),
        (f"{words.Items} without annotations", f"{summary.n_unannotated_items:,}"),
        ("Features", f"{features.shape[1]:,}" if features is not None else "none given to this report"),
    ]
    return ReportTable(
        "given", "The annotations", [Column("", "text"), Column("", "text")], [row(*pair) for pair in rows]
    )


def in_short(subject: Subject) -> list[str]:
    """Say how reliable the judgements are in a sentence; none if the model has no rates."""
    words, frame = current_words(), subject.annotators
    if not {"n_pairs", "sensitivity", "specificity"} <= set(frame):
        return []
    rates = []
    for name in ("sensitivity", "specificity"):
        known = frame[frame[name].notna() & (frame["n_pairs"] > 0)]
        if known.empty:
            return []
        rates.append(percent(float(np.average(known[name], weights=known["n_pairs"]))))
    cluster = "cluster of their view" if "view" in frame else "cluster"
    text = (
        f"{words.Annotators} put together {rates[0]} of the pairs of one {cluster}, and keep apart {rates[1]} of the "
        "others"
    )
    return [text + ".", *odd_in_short(subject)]
