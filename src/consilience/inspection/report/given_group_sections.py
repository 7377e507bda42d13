"""Section of a report on a hybrid sort: the groups that were given, and those that people made beside them."""

from __future__ import annotations

from consilience.analysis.given_groups import GivenGroups, compare_given_groups
from consilience.analysis.names import name_text, quantify
from consilience.annotations import Groupings
from consilience.errors import InputError
from consilience.inspection.report.subject import Section, Subject
from consilience.inspection.report.tables import Column, ReportTable, download, name_cell, percent, row

ROWS = 40  # of a table
HEADING = "Groups given, and groups of one's own"


def section(subject: Subject) -> Section | None:
    """Return the section; None if no groups were given.

    Raises InputError: groups were given for labels or pairs.
    """
    given = subject.given_groups or (subject.as_written.reading.given if subject.as_written.reading else ())
    if not given:
        return None
    if not isinstance(subject.as_written, Groupings):
        raise InputError("Groups that were given are for hybrid sorts, which are groupings; a closed sort is labels.")
    found = compare_given_groups(subject.as_written, given)
    return Section(
        "given-groups", HEADING, [_in_short(subject, found)], [_groups(subject, found), _items(subject, found)]
    )


def _in_short(subject: Subject, found: GivenGroups) -> str:
    words = subject.words
    total, own = found.groups["n_placements"].sum(), found.groups.loc[~found.groups["given"], "n_placements"].sum()
    n_given = int(found.groups["given"].sum())
    if not found.n_makers:
        return f"Nobody made a group beside the {n_given:,} given."
    made = quantify(found.n_own_groups, "group of their own", "groups of their own")
    return (
        f"{found.n_makers:,} of {words.n_annotators(found.n_annotators)} made {made} beside the {n_given:,} given, "
        f"with {percent(own / total)} of all that was sorted."
    )


def _groups(subject: Subject, found: GivenGroups) -> ReportTable:
    words = subject.words
    rows = [
        row(name_cell(name), "given" if given else "own", *(f"{number:,}" for number in counts))
        for name, given, *counts in found.groups.head(ROWS).itertuples(name=None)
    ]
    left = len(found.groups) - len(rows)
    return ReportTable(
        "given-groups",
        "How the groups were used",
        [
            Column("Group", "text"),
            Column("Given or own", "line"),
            Column(words.Annotators),
            Column(words.Items),
            Column("Times used"),
        ],
        rows,
        reading=(
            f"{words.Annotators}: who put {words.an_item} there. Times used: over all of them, each {words.item} "
            "counted. Groups of one's own have their standard names."
        ),
        more=quantify(left, "rarer group") if left > 0 else "",
        download=download("given-groups.csv", found.groups, "group"),
    )


def _items(subject: Subject, found: GivenGroups) -> ReportTable:
    words = subject.words
    order = found.items.assign(share=found.items["n_own"] / found.items["n_annotators"].clip(lower=1))
    order = order.sort_values("share", ascending=False, kind="stable")
    rows = []
    for item, n, given, n_given, n_own, own, share in order.head(ROWS).itertuples(name=None):
        in_given = f"{n_given:,} of {n:,}"
        cells = [name_cell(item), f"{n_own:,} of {n:,}", percent(share), name_text(own) if own else "–"]
        rows.append(row(*cells, name_text(given) if given else "–", in_given))
    left = len(order) - len(rows)
    return ReportTable(
        "given-items",
        f"{words.Items} that {words.annotators} put into groups of their own",
        [
            Column(words.Item, "text", of_items=True),
            Column("In own groups", "line"),
            Column("Share"),
            Column("Mostly called", "text"),
            Column("Commonest group given", "text"),
            Column("Put there by", "line"),
        ],
        rows,
        reading=f"{words.Items} at the top fit the groups given the least.",
        order="",
        more=words.n_items(left) if left > 0 else "",
        download=download("given-items.csv", found.items, "item"),
    )
