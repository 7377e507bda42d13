"""The table of annotators, declared once for every kind of model, and sentences on how far they agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Int
from scipy.sparse import csr_array

from consilience.analysis.annotator_frames import FAR_BELOW, is_named, lower_fence, weight_of_one
from consilience.analysis.names import name_text, quantify, shorten
from consilience.analysis.words import current_words
from consilience.annotations import Groupings
from consilience.inspection.report.tables import (
    Cell,
    Column,
    Download,
    ReportTable,
    download,
    name_cell,
    number,
    percent,
    row,
    set_apart_constants,
    significant,
)

ANNOTATORS = 100  # rows of the table; the middle of a longer one is left out
CELLS_AT_ONCE = 1 << 22  # of annotators by annotators
LEAST_IN_COMMON = 10  # items that two grouped, below which their agreement is mostly luck
TIED = 1e-9  # agreement that differs by less is equal
LONGEST = 24  # characters of a class name in a line


@dataclass(frozen=True)
class Quality:
    """A column of the table: one quantity of each annotator.

    names : columns of the data frame of annotators from which a cell is written.
    head : heading of the column.
    write : function that formats the values as text.
    reading : a sentence on how to read the column; empty if none is needed.
    shown : whether the column is worth showing, given a data frame that has it.
    kind : kind of the column, see `Column`.
    """

    names: tuple[str, ...]
    head: str
    write: Callable[..., str]
    reading: str = ""
    shown: Callable[[pd.DataFrame], bool] = lambda frame: True
    kind: str = "number"

    def fits(self, frame: pd.DataFrame) -> bool:
        """Whether the table of these annotators has the column."""
        return set(self.names) <= set(frame) and self.shown(frame)


@dataclass(frozen=True)
class Ranking:
    """The table of annotators of one kind of model.

    order : of the rows, in words.
    qualities : columns before the remark, as far as the data frame has them.
    remark : kind of the column of remarks, see `Column`.
    always_remarks : whether that column is there even if it is empty.
    after : columns after it.
    closing : last sentence on how to read the table.
    explained : the word of a remark without which that sentence is left out; empty if it is always there.
    """

    order: str
    qualities: tuple[Quality, ...]
    remark: str = "text"
    always_remarks: bool = True
    after: tuple[Quality, ...] = ()
    closing: str = ""
    explained: str = ""


def annotators_table(frame: pd.DataFrame, ranking: Ranking) -> ReportTable | None:
    """Return the table of annotators, with a remark on those who stand out; None if nothing is known about them."""
    words = current_words()
    before, after = (
        [each for each in part if each.fits(frame)] for part in ((*ranking.qualities, TIME), ranking.after)
    )
    if not before:
        return None
    remarked = ranking.always_remarks or bool((frame["remark"] != "").any())
    shown, gap = cut(frame)
    rows = []
    for annotator, figures in shown.iterrows():
        remark = figures["remark"]
        tone = "flag" if remark else ""
        first, last = ([each.write(*figures[list(each.names)]) for each in part] for part in (before, after))
        rows.append(row(name_cell(annotator, tone), *first, *([Cell(remark, tone=tone)] if remarked else []), *last))
    closing = ranking.closing if frame["remark"].str.contains(ranking.explained, regex=False).any() else ""
    columns, further = ([Column(words.told(each.head), each.kind) for each in part] for part in (before, after))
    columns += [Column("Remark", ranking.remark)] if remarked else []
    columns, rows, constant = set_apart_constants([Column(words.Annotator, "text"), *columns, *further], rows)
    return ReportTable(
        "annotators",
        f"The {words.annotators}, {ranking.order}",
        columns,
        rows,
        order=ranking.order,
        reading=constant + words.told(" ".join(filter(None, [*(each.reading for each in before), closing]))),
        gap=gap,
        download=download("annotators.csv", frame.round(4), "annotator"),
    )


def cut(frame: pd.DataFrame) -> tuple[pd.DataFrame, tuple[int, str] | None]:
    """Leave out the middle of a long table of annotators; return the rest, and the place and text of the gap."""
    words = current_words()
    half = ANNOTATORS // 2
    if len(frame) <= ANNOTATORS:
        return frame, None
    gap = (half, f"{len(frame) - ANNOTATORS:,} more {words.annotators} between these")
    return pd.concat([frame.iloc[:half], frame.iloc[-half:]]), gap


def _count(value: Any) -> str:
    return f"{int(value):,}"


def minutes(seconds: Any) -> str:
    """Format seconds as minutes; a dash if they are unknown."""
    return number(seconds / 60, 1)


def _error(label: Any, instead_of: Any, times: float) -> str:
    if label is None or pd.isna(label):
        return "–"
    label, instead_of = (shorten(name_text(name), LONGEST) for name in (label, instead_of))
    return f"{label} for {instead_of} ({times:,.0f})"


TIME = Quality(("seconds",), "Minutes", minutes)
GROUPINGS = Quality(("n_groupings",), "Groupings", _count)
SOME_GROUPINGS = replace(GROUPINGS, shown=lambda frame: bool((frame["n_groupings"] > 1).any()))
LABELS = Quality(("n_labels",), "Labels", _count)
GROUPS = Quality(("n_groups",), "Groups", _count)
ITEMS = Quality(("n_items",), "Items sorted", _count)

OF_MAPPINGS = Ranking(
    "those whose groups the clusters predict worst last",
    (
        LABELS,
        SOME_GROUPINGS,
        GROUPS,
        Quality(
            ("accuracy",), "Predicted", percent, "Predicted: share of the annotator's labels that the clusters predict."
        ),
        Quality(
            ("by_guessing",),
            "By guessing",
            percent,
            "By guessing: the share predicted by always naming the annotator's largest group.",
        ),
        Quality(
            ("expected_accuracy",),
            "Expected",
            percent,
            "Expected: the model's estimate for future labels, close to the prior where labels are few.",
        ),
        Quality(
            ("agreement",),
            "Agreement with others",
            number,
            "Agreement: mean with each of the other annotators, 1 for the same groups, about 0 for random ones.",
        ),
    ),
)

OF_JUDGES = Ranking(
    "those who agree least with the clusters last",
    (
        GROUPINGS,
        ITEMS,
        GROUPS,
        Quality(("n_pairs",), "Judgements", _count),
        Quality(("view",), "View", _count, "View: the one that the annotator most probably holds."),
        Quality(("holds",), "Probability", number, "Probability: that the annotator holds it."),
        Quality(("accuracy",), "Match", percent, "Match: share of the annotator's judgements that match the clusters."),
        Quality(
            ("sensitivity",),
            "Put together",
            percent,
            "Put together: how often two items of one cluster are (sensitivity).",
        ),
        Quality(
            ("specificity",),
            "Kept apart",
            percent,
            "Kept apart: how often two items of different clusters are (specificity).",
        ),
        Quality(
            ("bias",),
            "Bias",
            number,
            "Bias: how readily any two items are put together; 0 means no tendency either way.",
        ),
        Quality(
            ("utility",),
            "Utility",
            significant,
            "Utility: the annotator's part of the total, which measures how alike the clusters and all groupings are.",
        ),
        Quality(("weight",), "Weight", number, "Weight: how much the annotator counts in the model."),
        Quality(
            ("agreement",),
            "Agreement with the clusters",
            number,
            "Agreement: 1 for the same groups, 0 for agreement by chance.",
        ),
    ),
    remark="line",
    always_remarks=False,
)
OF_VIEWS = replace(OF_JUDGES, order="by view")

OF_LABELS = Ranking(
    "the least accurate last",
    (
        LABELS,
        Quality(
            ("accuracy",),
            "Accuracy",
            percent,
            "Accuracy: probability that the annotator's next label is right, by the confusion matrix.",
            is_named,
        ),
        Quality(
            ("accuracy_low", "accuracy_high"),
            "Accuracy, 90% interval",
            lambda low, high: "" if pd.isna(low) else f"{percent(low)} to {percent(high)}",
            shown=lambda frame: bool(frame["accuracy_low"].notna().any()),
        ),
        Quality(
            ("agreement",),
            "Right so far",
            percent,
            "Right so far: expected share of the annotator's labels that name the item's class.",
            is_named,
        ),
        Quality(("information",), "Information (bits)", number),
    ),
    after=(
        Quality(("said", "instead_of", "times"), "Most frequent error (labels)", _error, shown=is_named, kind="line"),
    ),
)

OF_TAGS = Ranking(
    "the least accurate last",
    (
        LABELS,
        Quality(("n_items",), "Items seen", _count),
        Quality(
            ("accuracy",), "Accuracy", percent, "Accuracy: probability of a right answer to whether an item has a tag."
        ),
        Quality(("sensitivity",), "Sensitivity", percent, "Sensitivity: probability of giving a tag that an item has."),
        Quality(
            ("specificity",),
            "Specificity",
            percent,
            "Specificity: probability of not giving a tag that an item has not.",
        ),
        Quality(("information",), "Information (bits an item)", number),
    ),
)

OF_CLOSED_SORTS = Ranking(
    "last those whose labels name the classes least",
    (
        LABELS,
        Quality(
            ("agreement",),
            "Name the class",
            percent,
            "Name the class: expected share of the annotator's labels that name the item's class.",
            is_named,
        ),
    ),
    after=(
        Quality(("said", "instead_of", "times"), "Most often elsewhere (labels)", _error, shown=is_named, kind="line"),
    ),
    remark="line",
    always_remarks=False,
)

OF_NOBODY_COMPARED = Ranking("whose labels nothing compares", (LABELS,), remark="line", always_remarks=False)

WEIGHT = Quality(
    ("weight",),
    "Follows the clusters",
    number,
    "Follows the clusters: how far the annotator's groups keep clusters whole and apart, as the model takes it, from 0 "
    "(random groups, or nearly all items in one group) to 1. With few items, it is near that of all, so that the "
    "agreement says more.",
)
SHARE = replace(
    WEIGHT,
    head="Part in the fusion",
    write=significant,
    reading="Part in the fusion: how much the annotator's groupings count in the fusion; all parts sum to 1.",
)
DISTATIS = Quality(
    ("distatis_weight",),
    "Weight in DISTATIS",
    lambda weight: f"{weight:.1%}" if np.isfinite(weight) else "–",
    "Weight in DISTATIS: the part of the annotator in “The compromise of the panel”; all sum to 100%. It is not "
    "corrected for chance.",
)
OF_FUSIONS = Ranking(
    "those who agree least with the others first",
    (
        SOME_GROUPINGS,
        ITEMS,
        GROUPS,
        WEIGHT,
        DISTATIS,
        Quality(
            ("agreement",),
            "Agreement with the clusters",
            number,
            "Agreement: with the clusters, over the items sorted; with the others: the mean with each. 1 means the "
            "same groups, 0 agreement by chance; unknown for groupings of two items.",
        ),
        Quality(("with_others",), "With the others", number),
    ),
    remark="line",
    explained="than most",
)
OF_SHARES = replace(OF_FUSIONS, qualities=tuple(SHARE if each is WEIGHT else each for each in OF_FUSIONS.qualities))


def of_fusion(frame: pd.DataFrame, *, refined: bool) -> Ranking:
    """Return the ranking of the annotators of a fusion, with the limits below which somebody is an outlier."""
    weight, others = map(lower_fence, (weight_of_one(frame, refined=refined), frame["with_others"]))
    which, of = ("less", "“Follows the clusters”") if refined else ("less, or smaller,", "the part of one grouping")
    return replace(
        OF_FUSIONS if refined else OF_SHARES,
        closing=f"Far {which} than most: below {significant(weight)} of {of}, or {significant(others)} of “With the "
        f"others”, each the lower quartile less {FAR_BELOW:g} interquartile ranges.",
    )


def of_labels(entropy: float) -> Ranking:
    """Return the ranking of annotators who label classes; `entropy` is that of the classes, in bits."""
    tells = f"what one label tells about the class; a label that is always right would tell {number(entropy)}."
    return replace(OF_LABELS, closing=f"Information: {tells}")


def n_in_common(groupings: Groupings) -> Int[np.ndarray, "annotators annotators"]:
    """Count the items that each two annotators have both grouped."""
    n, owner = groupings.n_annotators, groupings.annotator_of_group[groupings.incidence.indices]
    place = owner, groupings.item_of_row
    seen = csr_array((np.ones(len(owner), dtype=np.int32), place), shape=(n, groupings.n_items))
    seen.data[:] = 1  # once, in however many groupings
    common = np.empty((n, n), dtype=np.int16 if groupings.n_items < 1 << 15 else np.int32)
    at_once = max(1, CELLS_AT_ONCE // max(n, 1))
    for start in range(0, n, at_once):
        common[start : start + at_once] = (seen[start : start + at_once] @ seen.T).toarray()
    return common


def compares_most(common: Int[np.ndarray, "annotators annotators"], groupings: Groupings) -> bool:
    """Whether most two annotators have so many items in common that their agreement says something."""
    pairs = common[_is_pair(len(common))]
    return len(pairs) > 0 and float(np.median(pairs, overwrite_input=True)) >= min(
        LEAST_IN_COMMON, groupings.n_items / 2
    )


def _is_pair(n: int) -> Bool[np.ndarray, "{n} {n}"]:
    """Each two of n once, as a mask, which takes less memory than their numbers."""
    return np.triu(np.ones((n, n), dtype=bool), 1)


def agreement_sentences(agreement: pd.DataFrame, common: Int[np.ndarray, "annotators annotators"]) -> list[str]:
    """Describe the heat map of agreement in sentences; `common` counts the items that both grouped."""
    words = current_words()
    values = agreement.to_numpy()
    known = np.isfinite(values)
    known &= _is_pair(len(values))
    if len(values) < 2:
        return []
    if not known.any():
        return [f"No two {words.annotators} have two {words.items} in common, so their agreement is unknown."]
    told = common >= min(LEAST_IN_COMMON, int(common.max(where=known, initial=0)))  # of few items it is luck
    told &= known
    one = int(values.max(axis=1, where=told, initial=-np.inf).argmax())
    other = int(np.where(told[one], values[one], -np.inf).argmax())
    best = [name_text(agreement.index[place]) for place in (one, other)]
    n_tied = int(np.count_nonzero((values > values[one, other] - TIED) & told)) - 1
    too = f", as for {quantify(n_tied, 'other pair')}" if n_tied else ""
    n_unknown = len(values) * (len(values) - 1) // 2 - int(known.sum())
    sentences = [
        f"The agreement of two {words.annotators} (1: the same groups, 0: by chance) is "
        f"{number(values.mean(where=known))} on average, and highest for {best[0]} and {best[1]} "
        f"({number(values[one, other])}{too})."
    ]
    if n_unknown:
        sentences.append(
            f"{quantify(n_unknown, 'pair')} of {words.annotators} have fewer than two {words.items} in common."
        )
    return sentences


def agreement_file(agreement: pd.DataFrame, order: np.ndarray) -> Download:
    """Return the matrix of agreement as a file, in the order in which it is drawn."""
    return download("agreement.csv", agreement.iloc[order, order].round(3), "annotator")
