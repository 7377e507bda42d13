"""Tables of a report about labels whose names annotators share: the labels, and how good each annotator is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import entr

from consilience.analysis.names import counted, name_text
from consilience.analysis.words import current_words
from consilience.annotations import Labels
from consilience.inspection.report.annotators import is_named, remarks
from consilience.inspection.report.item_tables import spread
from consilience.inspection.report.tables import (
    Column,
    Download,
    Table,
    download,
    names_cell,
    percent,
    row,
)

CLASSES = 30  # named in the table of the labels
MOST_LABELS = 3  # different labels of an item that are listed
CHANCE = 0.01  # that any annotator who draws labels at the crowd's shares is said to give always the same one
INFORMATIVE = 0.05  # share of the entropy of the classes that informative labels tell at least


def given_table(labels: Labels, features: pd.DataFrame | None) -> Table:
    """Return the table of how many labels there are, of which classes."""
    words = current_words()
    summary = labels.summary()
    rows: list[tuple[str, Any]] = [
        (words.Items, f"{summary.n_items:,}"),
        (words.Annotators, f"{summary.n_annotators:,}"),
        ("Labels", f"{summary.n_rows:,}"),
        (counted(labels.n_classes, "class", "classes").capitalize(), names_cell(list(labels.classes), CLASSES)),
        (f"Coverage: mean share of the {words.items} that {words.an_annotator} labelled", percent(summary.coverage)),
        (f"Labels per {words.annotator}", spread(_counts(labels.annotator, labels.n_annotators))),
        (f"Labels per {words.item}", spread(_counts(labels.item, labels.n_items))),
        (f"{words.Items} without labels", f"{summary.n_unannotated_items:,}"),
    ]
    if n_further := summary.n_rows - int(summary.annotators_per_item.sum()):
        rows.append(
            (f"Repeated labels of {words.an_item} by the same {words.annotator}, all counted", f"{n_further:,}")
        )
    if features is not None:
        rows.append(("Features (not used by the model)", f"{features.shape[1]:,}"))
    return Table(
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


def annotator_frame(estimator: Any, labels: Labels) -> pd.DataFrame:
    """Return the figures of every annotator, the most accurate first.

    The columns are those of ``annotators_``; ``said``, ``instead_of`` and ``times``: the most frequent wrong label, the
    class it is given for, and the expected number of such labels; and ``remark``.
    """
    frame = estimator.annotators_.copy()
    share = estimator.responsibilities_.mean(0)
    guess, entropy = share.max(), entr(share).sum() / np.log(2)
    lone = _always_the_same(labels).reindex(frame.index, fill_value=False)
    frame["said"], frame["instead_of"], frame["times"] = None, None, np.nan
    if is_named(frame):
        found = _errors(estimator, labels).reindex(frame.index)
        frame[found.columns] = found
    # bits times labels: the mutual information that random labels appear to have
    chance = (len(share) - 1) * (labels.n_classes - 1) / (2 * np.log(2))
    little = INFORMATIVE * entropy
    seldom_wrong = frame["accuracy"].isna() | (frame["accuracy"] > guess)
    frame["remark"] = remarks(
        (frame["n_labels"] == 0, "no labels here"),
        (lone, "always the same label"),
        (seldom_wrong & (frame["information"] < little), "almost uninformative"),
        (seldom_wrong, ""),
        (frame["information"] >= little + chance / frame["n_labels"], "often wrong, but informative"),
        (True, "no better than guessing"),
    )
    return frame.sort_values(["accuracy", "information"], ascending=False, kind="stable", na_position="last")


def _errors(estimator: Any, labels: Labels) -> pd.DataFrame:
    """Return the wrong label that each annotator gives most often, by the expected number of such labels."""
    names = estimator._cluster_names()
    place = names.get_indexer(labels.classes)  # of the class that a label names
    best = pd.DataFrame({"said": None, "instead_of": None, "times": 0.0}, index=labels.annotators, dtype=object)
    cell = labels.annotator * labels.n_classes + labels.label
    for true in range(len(names)):
        weights = estimator.responsibilities_[labels.item, true]
        counts = np.bincount(cell, weights, labels.n_annotators * labels.n_classes).reshape(-1, labels.n_classes)
        counts[:, place == true] = 0
        label = counts.argmax(1)
        times = counts[np.arange(len(counts)), label]
        worse = (times > best["times"].to_numpy(float)) & (times >= 0.5)
        best.loc[worse, "said"] = labels.classes.take(label[worse]).to_numpy(object)
        best.loc[worse, "instead_of"] = names[true]
        best.loc[worse, "times"] = times[worse]
    return best.astype({"times": float})


def _always_the_same(labels: Labels) -> pd.Series:
    """Return which annotators gave only one label, and more of it than the label's share among all makes probable."""
    counts = np.bincount(
        labels.annotator * labels.n_classes + labels.label, minlength=labels.n_annotators * labels.n_classes
    ).reshape(-1, labels.n_classes)
    total = counts.sum(1)
    by_chance = (counts.sum(0) / max(labels.n_rows, 1))[counts.argmax(1)] ** total
    rare = by_chance * np.count_nonzero(total) <= CHANCE
    return pd.Series((counts.max(1) == total) & rare, index=labels.annotators)


def confusion_file(estimator: Any) -> Download:
    """Return all confusion matrices as a file, one row per annotator and class."""
    return download("confusion.csv", keyed(estimator.confusion_matrices_.round(4)))


def keyed(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with its index in the first columns; "_" is added to a name that is also that of a label."""
    keys = []
    for level in map(str, table.index.names):
        name = level
        while name in table.columns:
            name += "_"
        keys.append(pd.Series(table.index.get_level_values(level), name=name))
    return pd.concat([*keys, table.reset_index(drop=True)], axis=1)
