"""The section of a report on labels that came with the items: which of them are likely wrong."""

from __future__ import annotations

import numpy as np
import pandas as pd

from consilience.analysis.label_quality import CHECKED, LabelQuality, in_words
from consilience.analysis.names import name_text
from consilience.analysis.words import current_words
from consilience.inspection.report.subject import Section, Subject
from consilience.inspection.report.tables import Cell, Column, ReportTable, download, name_cell, number, percent, row

FILE = "given-labels.csv"
MOST_ROWS = 300
MOST_CLASSES = 40
MOST_CSV = 1_000_000  # bytes
CERTAIN = 0.995


def in_short(subject: Subject) -> list[str]:
    """Say how many of the given labels are wrong."""
    return [] if subject.quality is None else in_words(subject.quality)[:1]


def section(subject: Subject) -> Section | None:
    """Return the section; None if no labels were given."""
    found = subject.quality
    if found is None:
        return None
    sentences = [
        *in_words(found),
        f"The given labels were judged as those of one more {current_words().annotator}, of unknown accuracy, who did "
        "not see the others' labels. If they were made from these annotations, they agree with them anyway, and "
        "nothing here tells how often they are wrong.",
        "On real crowds whose given labels were made wrong at random, the range held the true number in 90 of 100 "
        "cases; where all wrong labels were of one kind, in 69 to 75.",
    ]
    tables = [_issues(found), _classes(found)]
    return Section("given-labels", "The given labels", sentences, [table for table in tables if table is not None])


def quality_file(found: LabelQuality) -> pd.DataFrame:
    """Return the table of all items as it is written to a file, those most likely wrong first."""
    first = found.issues.index
    rest = found.items.index[~found.items["state"].isin(found.issues["state"].unique())]
    table = found.items.loc[first.append(rest)] if len(first) else found.items
    strange = pd.DataFrame({"state": "not among the items"}, index=found.others.rename("item"))
    return pd.concat([table, strange.reindex(columns=table.columns)]) if len(strange) else table


def _issues(found: LabelQuality) -> ReportTable | None:
    issues = found.issues
    if issues.empty:
        return None
    doubtful = issues[~(issues["probability"] >= CERTAIN)]
    shown = doubtful.head(MOST_ROWS)
    rows = [
        row(
            name_cell(name),
            Cell(names=(name_text(given),)),
            number(right) if state == CHECKED else Cell("unknown label", tone="flag"),
            Cell(names=(name_text(label),)) if label is not None else "–",
            number(alone),
            f"{votes:,} of {total:,}",
        )
        for name, given, label, right, alone, votes, total, state in shown.itertuples(name=None)
    ]
    file = download(FILE, quality_file(found).round(4), "item", most=MOST_CSV)
    left = len(issues) - len(rows)
    return ReportTable(
        "given-labels",
        "Given labels that may be wrong",
        [
            Column(current_words().Item, "text", of_items=True),
            Column("Given label", "text"),
            Column("Right with probability"),
            Column("Annotations say", "text"),
            Column("By annotations alone"),
            Column(f"{current_words().Annotators} who gave it", "text"),
        ],
        rows,
        reading=current_words().told(
            "Those most likely wrong first. The probability that the given label is right takes into account what "
            "annotators say, how reliable they are, and how often given labels are right in general; the column before "
            "the last is the probability of the given label without the last of these."
        ),
        more=f"{left:,} more"
        + (f", right with a probability of {CERTAIN:g} or more" if left and len(shown) < MOST_ROWS else "")
        if left
        else "",
        download=file,
    )


def _classes(found: LabelQuality) -> ReportTable | None:
    """How often each given label is wrong, and what it should be most often."""
    checked = found.items[found.items["state"] == CHECKED]
    if checked.empty:
        return None
    wrong = 1 - checked["probability"]
    frame = pd.DataFrame({"given": checked["given"], "label": checked["label"], "wrong": wrong})
    rows, order = [], wrong.groupby(checked["given"].to_numpy(), sort=False).mean().sort_values(ascending=False)
    for given in order.index[:MOST_CLASSES]:
        mine = frame[(frame["given"] == given).to_numpy()]
        other = mine[(mine["label"] != given).to_numpy()]
        likely = other.groupby("label", sort=False)["wrong"].sum().sort_values(ascending=False)
        instead = Cell(names=(name_text(likely.index[0]),)) if len(likely) and likely.iloc[0] >= 0.5 else Cell("–")
        total = float(mine["wrong"].sum())
        rows.append(
            row(
                Cell(names=(name_text(given),)),
                f"{len(mine):,}",
                number(total, 1),
                percent(np.round(total / len(mine), 4)),
                instead,
            )
        )
    left = len(order) - len(rows)
    return ReportTable(
        "given-classes",
        "How often each given label is wrong",
        [
            Column("Given label", "text"),
            Column(current_words().Items),
            Column("Wrong (expected)"),
            Column("Share"),
            Column("Most often instead", "text"),
        ],
        rows,
        more=f"{left:,} more labels" if left else "",
    )
