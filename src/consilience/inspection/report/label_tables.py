"""Tables of a report about labels whose names annotators share: the labels, and how good each annotator is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from consilience.analysis.capabilities import attributes
from consilience.analysis.names import name_text, quantify
from consilience.analysis.words import current_words
from consilience.annotations import Labels
from consilience.estimators.annotator_tables import cells_with_labels
from consilience.inspection.report.item_tables import spread
from consilience.inspection.report.tables import Column, Download, ReportTable, download, names_cell, percent, row

CONFUSION, COUNTS = "confusion.csv", "counts.csv"
CLASSES = 30  # named in the table of the labels
MOST_LABELS = 3  # different labels of an item that are listed


def given_table(labels: Labels, features: pd.DataFrame | None, n_known: int = 0) -> ReportTable:
    """Return the table of how many labels there are, of which classes, and of how many items these were known."""
    words = current_words()
    summary = labels.summary()
    rows: list[tuple[str, Any]] = [
        (words.Items, f"{summary.n_items:,}"),
        (words.Annotators, f"{summary.n_annotators:,}"),
        ("Labels", f"{summary.n_rows:,}"),
        (quantify(labels.n_classes, "class", "classes").capitalize(), names_cell(list(labels.classes), CLASSES)),
        (f"Coverage: mean share of the {words.items} that {words.an_annotator} labelled", percent(summary.coverage)),
        (f"Labels per {words.annotator}", spread(_counts(labels.annotator, labels.n_annotators))),
        (f"Labels per {words.item}", spread(_counts(labels.item, labels.n_items))),
        (f"{words.Items} without labels", f"{summary.n_unannotated_items:,}"),
    ]
    if n_further := summary.n_rows - int(summary.annotators_per_item.sum()):
        rows.append(
            (f"Repeated labels of {words.an_item} by the same {words.annotator}, all counted", f"{n_further:,}")
        )
    if n_known:
        rows.append((f"{words.Items} whose class was known (gold)", f"{n_known:,}"))
    if features is not None:
        rows.append(("Features (not used by the model)", f"{features.shape[1]:,}"))
    return ReportTable(
        "given",
        "The labels",
        [Column("", "text"), Column("", "wide")],
        [row(*pair) for pair in rows],
        reading=f"Classes can be trusted only as far as {words.annotators} overlap: the more labels per {words.item}, "
        "the better.",
    )


def _counts(codes: np.ndarray, n: int) -> pd.Series:
    return pd.Series(np.bincount(codes, minlength=n))


def labels_of(labels: Labels, places: np.ndarray) -> pd.Series:
    """Return the labels of some items as text, the most frequent first, by place of the item."""
    found = {}
    for place in places:
        counts = np.bincount(labels.label[labels.item == place], minlength=labels.n_classes)
        given = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
        texts = [f"{name_text(labels.classes[label])} {counts[label]:,}" for label in given[:MOST_LABELS]]
        more = f", {len(given) - MOST_LABELS} more" if len(given) > MOST_LABELS else ""
        found[place] = ", ".join(texts) + more or "none"
    return pd.Series(found, dtype=object)


def confusion_tables(estimator: Any) -> dict[str, pd.DataFrame]:
    """Return confusion matrices and counts by file name, one row per annotator and class.

    Where most cells have no labels, only those with labels are listed, with their counts beside them.
    """
    if (cells := cells_with_labels(estimator)) is not None:
        return {CONFUSION: cells}
    tables = attributes(estimator, ("confusion_matrices_", "confusion_counts_"))
    return {file: index_as_columns(table) for file, table in zip((CONFUSION, COUNTS), tables.values())}


def confusion_file(estimator: Any) -> Download:
    """Return all confusion matrices as a file, one row per annotator and class."""
    return download(CONFUSION, index_as_columns(estimator.confusion_matrices_.round(4)))


def what_is_listed(estimator: Any) -> str:
    """Say which cells of the confusion matrices are told, where most have no labels; nothing elsewhere."""
    cells = cells_with_labels(estimator)
    if cells is None:
        return ""
    n_cells = len(estimator.annotators_) * estimator.n_clusters_**2
    return (
        f"Of the {n_cells:,} cells of the confusion matrices, {CONFUSION} lists the {len(cells):,} that have labels; "
        "the matrices are not drawn."
    )


def index_as_columns(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with its index in the first columns; "_" is added to a name that is also that of a label."""
    keys = []
    for level in map(str, table.index.names):
        name = level
        while name in table.columns:
            name += "_"
        keys.append(pd.Series(table.index.get_level_values(level), name=name))
    return pd.concat([*keys, table.reset_index(drop=True)], axis=1)
