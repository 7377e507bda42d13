"""The table of annotators, declared once for every kind of model, and what is said of how far they agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from consilience.inspection.names import counted, name_text, shortened
from consilience.inspection.report.tables import (
    Cell,
    Column,
    Download,
    Table,
    download,
    name_cell,
    number,
    percent,
    row,
    significant,
)

ANNOTATORS = 100  # rows of the table; of more, the middle is left out
LONGEST = 24  # letters of a class in a line


@dataclass(frozen=True)
class Quality:
    """A column of the table: what is said of every annotator.

    Attributes
    ----------
    names : columns of the frame of annotators whose values the cell is written of.
    head : of the column.
    write : the values as text.
    reading : how to read the column, in a sentence, if that is not plain.
    shown : whether the column is worth showing for a frame that has it.
    kind : of the column, see `Column`.
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

    Attributes
    ----------
    order : of the rows, in words.
    qualities : columns before the remark, those that fit.
    remark : kind of its column, see `Column`.
    always_remarks : whether there is such a column even if nothing is remarked.
    after : columns after it.
    closing : last sentence of how to read the table.
    """

    order: str
    qualities: tuple[Quality, ...]
    remark: str = "text"
    always_remarks: bool = True
    after: tuple[Quality, ...] = ()
    closing: str = ""


def annotators_table(frame: pd.DataFrame, ranking: Ranking) -> Table | None:
    """Figures of each annotator and a remark on those who stand out; None where nothing is known of anybody."""
    before, after = ([each for each in part if each.fits(frame)] for part in (ranking.qualities, ranking.after))
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
    columns, further = ([Column(each.head, each.kind) for each in part] for part in (before, after))
    columns += [Column("Remark", ranking.remark)] if remarked else []
    return Table(
        "annotators",
        f"The annotators, {ranking.order}",
        [Column("Annotator", "text"), *columns, *further],
        rows,
        reading=" ".join(filter(None, [*(each.reading for each in before), ranking.closing])),
        gap=gap,
        download=download("annotators.csv", frame.round(4), "annotator"),
    )


def cut(frame: pd.DataFrame) -> tuple[pd.DataFrame, tuple[int, str] | None]:
    """Leave out the middle of a table of too many annotators: what is left, and where and what to say of the rest."""
    half = ANNOTATORS // 2
    if len(frame) <= ANNOTATORS:
        return frame, None
    gap = (half, f"{len(frame) - ANNOTATORS:,} more annotators between these")
    return pd.concat([frame.iloc[:half], frame.iloc[-half:]]), gap


def remarks(*rules: tuple[Any, str]) -> list[str]:
    """Return for each annotator the text of the first rule that holds; "" where none does."""
    holds, texts = zip(*rules, strict=True)
    return np.select([np.asarray(each, dtype=bool) for each in holds], texts, "").tolist()


def _count(value: Any) -> str:
    return f"{int(value):,}"


def _several(frame: pd.DataFrame) -> bool:
    return bool((frame["n_groupings"] > 1).any())


def is_named(frame: pd.DataFrame) -> bool:
    """Whether classes have the names of labels, so that a label can be right."""
    return bool(frame["accuracy"].notna().all())


def _error(said: Any, instead_of: Any, times: float) -> str:
    if said is None or pd.isna(said):
        return "–"
    said, instead_of = (shortened(name_text(name), LONGEST) for name in (said, instead_of))
    return f"{said} for {instead_of} ({times:,.0f})"


GROUPINGS = Quality(("n_groupings",), "Groupings", _count)
SOME_GROUPINGS = replace(GROUPINGS, shown=_several)
LABELS = Quality(("n_labels",), "Labels", _count)
GROUPS = Quality(("n_groups",), "Groups", _count)
ITEMS = Quality(("n_items",), "Items sorted", _count)

OF_MAPPINGS = Ranking(
    "the weakest last",
    (
        LABELS,
        SOME_GROUPINGS,
        GROUPS,
        Quality(
            ("accuracy",),
            "Accuracy",
            percent,
            "Accuracy: share of the annotator's labels that the clusters predict.",
        ),
        Quality(
            ("by_guessing",),
            "By guessing",
            percent,
            "By guessing: what always saying the annotator's largest group would reach.",
        ),
        Quality(
            ("expected_accuracy",),
            "Expected",
            percent,
            "Expected: the model's estimate for labels to come, close to the prior where labels are few.",
        ),
        Quality(
            ("agreement",),
            "Agreement",
            number,
            "Agreement: mean adjusted Rand index with the other annotators, about 0 of who sorts at random.",
        ),
    ),
)

OF_JUDGES = Ranking(
    "the weakest last",
    (
        GROUPINGS,
        ITEMS,
        GROUPS,
        Quality(("n_pairs",), "Judgements", _count),
        Quality(("view",), "View", _count, "View: the one that the annotator holds most probably, and"),
        Quality(("holds",), "Probability", number, "with which probability."),
        Quality(
            ("accuracy",), "Accuracy", percent, "Accuracy: share of the judgements that are those of the clusters."
        ),
        Quality(
            ("sensitivity",),
            "Sensitivity",
            percent,
            "Sensitivity: how often two items of one cluster are put together.",
        ),
        Quality(
            ("specificity",),
            "Specificity",
            percent,
            "Specificity: how often items of two clusters are told apart.",
        ),
        Quality(
            ("bias",),
            "Bias",
            number,
            "Bias: how readily any two items are put together; 0 is neither readily nor reluctantly.",
        ),
        Quality(
            ("utility",),
            "Utility",
            significant,
            "Utility: the annotator's part of what the clusters have in common with all.",
        ),
        Quality(("weight",), "Weight", number, "Weight: what the annotator counts for in the model."),
        Quality(
            ("agreement",),
            "Agreement",
            number,
            "Agreement: adjusted Rand index with the clusters, 1 for the same groups, 0 as by chance.",
        ),
    ),
    remark="line",
    always_remarks=False,
)
OF_VIEWS = replace(OF_JUDGES, order="by view")

OF_LABELS = Ranking(
    "the weakest last",
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
            ("agreement",),
            "Right so far",
            percent,
            "Right so far: expected share of the labels given that are the item's class.",
            is_named,
        ),
        Quality(("information",), "Information (bits)", number),
    ),
    after=(
        Quality(("said", "instead_of", "times"), "Most frequent error (labels)", _error, shown=is_named, kind="line"),
    ),
)

WEIGHT = Quality(
    ("weight",),
    "Weight",
    number,
    "Weight: how far the annotator's groups follow the clusters, from 0 (groups at random) to 1 (never parts items of "
    "one cluster).",
)
SHARE = replace(
    WEIGHT,
    write=significant,
    reading="Weight: what the annotator's groupings count for in the fusion; all weights sum to 1.",
)
OF_FUSIONS = Ranking(
    "those of least weight last",
    (
        SOME_GROUPINGS,
        ITEMS,
        GROUPS,
        WEIGHT,
        Quality(
            ("agreement",),
            "Agreement",
            number,
            "Agreement: adjusted Rand index with the clusters, over the items sorted, and on average with each other "
            "annotator: 1 for the same groups, 0 as by chance; unknown of groupings of two items.",
        ),
        Quality(("with_others",), "With others", number),
    ),
    remark="line",
    closing="An outlier lies more than 1.5 interquartile ranges below the lower quartile of the weights.",
)
OF_SHARES = replace(OF_FUSIONS, qualities=tuple(SHARE if each is WEIGHT else each for each in OF_FUSIONS.qualities))


def of_labels(entropy: float) -> Ranking:
    """Ranking of annotators of classes whose entropy is so many bits."""
    tells = f"what one label tells of the class; a label that is always right would tell {number(entropy)}."
    return replace(OF_LABELS, closing=f"Information: {tells}")


def mean_with_others(agreement: pd.DataFrame) -> Float[np.ndarray, " annotators"]:
    """Mean agreement of each annotator with the others, NaN where none is known."""
    others = agreement.to_numpy(copy=True)
    np.fill_diagonal(others, np.nan)
    known = np.isfinite(others).sum(1)
    return np.divide(np.nansum(others, 1), known, out=np.full(len(known), np.nan), where=known > 0)


def agreement_sentences(agreement: pd.DataFrame) -> list[str]:
    """What is to be seen in the heat map of agreement, in words."""
    values = agreement.to_numpy()
    upper = np.triu_indices(len(values), 1)
    known = np.isfinite(values[upper])
    if len(values) < 2:
        return []
    if not known.any():
        return ["No two annotators have two items in common, so their agreement is unknown."]
    found = np.where(known, values[upper], -np.inf)
    names = [name_text(name) for name in agreement.index]
    best = int(found.argmax())
    sentences = [
        f"Two annotators agree with an adjusted Rand index of {number(values[upper][known].mean())} on average, "
        f"most of all {names[upper[0][best]]} and {names[upper[1][best]]} ({number(found[best])})."
    ]
    if (~known).any():
        sentences.append(f"{counted(int((~known).sum()), 'pair')} of annotators have fewer than two items in common.")
    return sentences


def agreement_file(agreement: pd.DataFrame, order: np.ndarray) -> Download:
    """The matrix of agreement in the order in which it is drawn, as a file."""
    return download("agreement.csv", agreement.iloc[order, order].round(3), "annotator")
