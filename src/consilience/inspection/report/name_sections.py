"""Sections of a report on the names that people gave their groups: standard names, the results matrix, agreement."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from consilience.analysis.names import join_some, name_text, quantify
from consilience.analysis.standardisation import StandardNames
from consilience.analysis.words import current_words
from consilience.analysis.written_names import FEWEST, SAME_ITEMS
from consilience.annotations import Groupings, Labels, Pairs
from consilience.inspection.report.subject import Section, Subject
from consilience.inspection.report.tables import Cell, Column, ReportTable, download, name_cell, percent, row

AT_LEAST = 2  # people who use the commonest name, or there is nothing to say
MOST_ITEMS = 500  # of the annotations of such a report
LEAST_COVERAGE = 0.5  # mean share of the items that somebody who chose among given names placed
GRID, MERGED = 80, 8  # standard names of the grid; names listed for each reason
MATRIX_NAMES, MATRIX_ITEMS = 15, 100  # columns and rows of the matrix
TABLE, RIVALS = 100, 2  # names or items of a table; names of an item of which none leads
CONTENTS = 5  # items listed under a name
NAMED, TIED = 6, 1e-9  # names or items in a sentence; agreement that differs by less is equal
HEAD = 40  # letters of a name over a column
SHADES = (0.0, 0.1, 0.25, 0.5, 0.75)  # shares of people above which a cell has the next shade


def sections(subject: Subject) -> Iterator[Section]:
    """Yield the sections on names; none if no name is used by several people, or there are very many items."""
    found = subject.standard_names
    if found is None or isinstance(subject.annotations, Pairs) or not worth_showing(subject.annotations, found):
        return
    if isinstance(subject.annotations, Groupings):
        yield Section("standard-names", "Standard names", _on_grid(subject, found), [grid_table(found)])
    tables = [placements_table(found), names_table(found), items_table(found)]
    yield Section("placements", _heading(subject), _on_placements(subject, found), tables)


def counted_as_one() -> str:
    """Say which names are counted as one, in the same words wherever names are counted."""
    return (
        "Most spellings and plurals, and word order, are counted as one name; translations and synonyms are not, "
        f"unless at least {FEWEST} people each put nearly the same {current_words().items} under them, and fewer than "
        "half wrote several words with a comma or semicolon between."
    )


def worth_showing(annotations: Groupings | Labels, found: StandardNames) -> bool:
    """Whether several people use a name, and the items are not too many; if all chose from given names, sorted most."""
    several = bool((found.n_annotators >= AT_LEAST).any())
    sorted_most = not isinstance(annotations, Labels) or annotations.summary().coverage >= LEAST_COVERAGE
    return several and sorted_most and len(found.placements) <= MOST_ITEMS


def _heading(subject: Subject) -> str:
    is_closed = isinstance(subject.annotations, Labels)
    return "Popular placements" if is_closed else f"Which {subject.words.items} under which names"


def _on_grid(subject: Subject, found: StandardNames) -> list[str]:
    n_groups, n_named = len(found.code_of_group), int((found.code_of_group >= 0).sum())
    merged = f"as people wrote them became {quantify(len(found.names), 'standard name')}"
    same = "are all different: none was merged" if len(found.grid) == len(found.names) else merged
    sentences = [f"{quantify(len(found.grid), 'name')} {same}."]
    of_group = (
        subject.annotations.annotator_of_group if isinstance(subject.annotations, Groupings) else np.zeros(0, int)
    )
    n_namers = len(np.unique(of_group[found.code_of_group >= 0])) if len(of_group) else 0
    if 0 < n_namers < subject.annotations.n_annotators:
        who = subject.words.n_annotators(subject.annotations.n_annotators)
        sentences.append(f"{n_namers:,} of {who} named their groups; names and their agreement are theirs.")
    if n_named < n_groups:
        rest = quantify(n_groups - n_named, "group has no name", "groups have no name")
        sentences.append(f"{rest}, or only a number or a single letter, of {n_groups:,}.")
    if subject.corrections:
        by_file = int(found.grid["why"].isin(("by file", "left out by file")).sum())
        sentences.append(f"Corrections were given; they changed {quantify(by_file, 'name')}.")
    sentences.append(
        "The machine merges carefully and knows no language. To correct it, save standard-names.csv, change its column "
        "“standard”, and give it to the next fit as its names. A spelling that has a row of its own "
        "keeps what that row says. Clusters are then called by the standard names."
    )
    return sentences


def _on_placements(subject: Subject, found: StandardNames) -> list[str]:
    figures = found.of_names
    least_users = FEWEST if (figures["n_annotators"] >= FEWEST).sum() > 1 else AT_LEAST
    several = figures[figures["n_annotators"] >= least_users]
    if several.empty:
        return []
    most = several["agreement"].max()
    return [
        f"Of the names that at least {least_users} people use, they agree most on what belongs under "
        f"{_name_tied(several.index[several['agreement'] > most - TIED])} ({percent(most)})."
    ]


def _name_tied(names: pd.Index) -> str:
    return join_some(list(map(name_text, names)), NAMED)


def _of_one_each(rarer: pd.DataFrame) -> str:
    n_single = int((rarer["n_annotators"] == 1).sum())
    return "" if not n_single else f"{', all' if n_single == len(rarer) else ', most'} of them of one person each"


def grid_table(found: StandardNames) -> ReportTable:
    """Return the table of standard names, with the names merged into each and why."""
    merged = {str(name): rows for name, rows in found.grid.groupby("standard", sort=False)}
    figures = found.of_names
    shown = figures[(figures["n_annotators"] >= AT_LEAST) | (figures["n_names"] > 1)].head(GRID)
    rows = []
    for name, n_names, n_annotators, n_items, agreement in shown.itertuples(name=None):
        rows.append(
            row(
                name_cell(name),
                _merged_cell(merged[str(name)], str(name)),
                *(f"{n_names:,}", f"{n_annotators:,}", f"{n_items:,}", percent(agreement)),
            )
        )
    left, words = len(figures) - len(shown), current_words()
    return ReportTable(
        "standard-names",
        "Standard names, and the names merged into each",
        [Column("Standard name", "text"), Column("Merged, and why", "wide"), *map(Column, ["Names", *_counts()])],
        rows,
        reading=(
            f"{counted_as_one()} Same spelling: but for case, accents, blanks and punctuation. Ending, article, "
            "conjunction (“and”), word order, one letter: what differs between the words, if their "
            f"{words.items} overlap. Same {words.items}: they overlap by at least {SAME_ITEMS:.0%}. Names that one "
            "person used for two groups stay apart. Agreement: see “The standard names”."
        ),
        more=f"{quantify(left, 'more name')}{_of_one_each(figures.drop(shown.index))}" if left > 0 else "",
        download=download("standard-names.csv", found.grid),
    )


def _counts() -> tuple[str, ...]:
    words = current_words()
    return f"{words.Annotators} who use it", words.Items, "Agreement"


def _merged_cell(grid: pd.DataFrame, standard: str) -> Cell:
    """Cell with the names merged into a standard name, by the reason."""
    others = grid[grid["name"] != standard]
    pairs = []
    for why, rows in others.groupby("why", sort=False):
        names = rows["name"].tolist()
        left = len(names) - MERGED
        text = ", ".join(map(name_text, names[:MERGED])) + (f" and {left:,} more" if left > 0 else "")
        pairs.append((f"{current_words().told(str(why))}:", text))
    return Cell(pairs=tuple(pairs)) if pairs else Cell("–")


def placements_table(found: StandardNames) -> ReportTable:
    """Return the results matrix: how many people put each item under each of the commonest names."""
    n_shown = max(int((found.n_annotators >= AT_LEAST).sum()), 1)
    counts = found.placements.iloc[:, : min(n_shown, MATRIX_NAMES)]
    order = _by_commonest(counts)
    shown = counts.iloc[order[:MATRIX_ITEMS]]
    people = found.n_annotators_of_item[order].tolist()
    rows = []
    for (item, *numbers), n_annotators in zip(shown.itertuples(name=None), people):
        cells = [_shade(number, n_annotators) for number in numbers]
        rows.append(row(name_cell(item), f"{n_annotators:,}", *cells))
    words = current_words()
    heads = [Column(_head(name), "count") for name in counts.columns]
    more = []
    if len(found.names) > counts.shape[1]:
        more.append(quantify(len(found.names) - counts.shape[1], "rarer name"))
    if len(order) > MATRIX_ITEMS:
        more.append(words.n_items(len(order) - MATRIX_ITEMS))
    return ReportTable(
        "placements",
        f"Results matrix: how many people put {words.an_item} under a name",
        [Column(words.Item, "text"), Column("Named by", "count"), *heads],
        rows,
        reading=(
            "Each cell counts people; the stronger its colour, the larger their share of those who put the "
            f"{words.item} into a group with a name (named by). {words.Items} are in the order of "
            "their commonest name, names in the order of the people who use them."
        ),
        more=" and ".join(more),
        download=download("placements.csv", found.placements, "item"),
    )


def _head(name: object) -> str:
    text = name_text(name)
    return text if len(text) <= HEAD else text[: HEAD - 1].rstrip() + "…"


def _by_commonest(counts: pd.DataFrame) -> np.ndarray:
    """Order items by their commonest name, then by how many people put them there."""
    values = counts.to_numpy()
    most = values.max(1, initial=0)
    first = np.where(most > 0, values.argmax(1), values.shape[1])
    return np.lexsort((-most, first))


def _shade(number: int, people: int) -> Cell:
    """Cell with a number of people, shaded by their share; blank for 0."""
    if not number:
        return Cell("")
    shade = int(np.searchsorted(SHADES, number / people, side="left"))
    return Cell(f"{number:,}", tone=f"shade-{shade}")


def names_table(found: StandardNames) -> ReportTable:
    """Return the table of standard names with the agreement of their people and the items most put there."""
    figures = found.of_names
    shown = figures[figures["n_annotators"] >= AT_LEAST].head(TABLE)
    rows = []
    for place, (name, _, n_annotators, n_items, agreement) in enumerate(shown.itertuples(name=None)):
        cells = (f"{n_annotators:,}", f"{n_items:,}", percent(agreement))
        rows.append(row(name_cell(name), *cells, _contents(found, place)))
    left, words = len(figures) - len(shown), current_words()
    return ReportTable(
        "name-agreement",
        f"The standard names, and how far their people agree on the {words.items}",
        [Column("Name", "text"), *map(Column, _counts()), Column(f"{words.Items} most put there", "wide")],
        rows,
        reading=(
            f"Agreement: the mean, over the {words.items} that anybody put under the name, of the share of the people "
            f"who use the name that put the {words.item} there; 100% if all of them put the same {words.items} there. "
            f"{words.Items} stand with that share."
        ),
        more=f"{quantify(left, 'name')} of one person each" if left > 0 else "",
        download=download("name-agreement.csv", figures.round(4), "name"),
    )


def _contents(found: StandardNames, place: int) -> Cell:
    counts = found.placements.iloc[:, place].to_numpy()
    first = np.argsort(-counts, kind="stable")[:CONTENTS]
    share = counts / found.n_annotators[place]
    pairs = [(percent(share[item]), name_text(found.placements.index[item])) for item in first if counts[item]]
    return Cell(pairs=tuple(pairs))


def items_table(found: StandardNames) -> ReportTable:
    """Return the table of items with their commonest name and how far people agree on it, the least agreed first."""
    figures = found.of_items.sort_values("agreement", kind="stable", na_position="last")
    rows = []
    for item, name, n_annotators, agreement, n_names in figures.head(TABLE).itertuples(name=None):
        common = Cell("–")
        if n_annotators:
            counts = found.placements.loc[item].sort_values(ascending=False, kind="stable")
            near = counts[counts > 0].head(RIVALS)
            common = Cell(pairs=tuple((f"{count:,}", name_text(rival)) for rival, count in near.items()))
        if name is not None:
            common = Cell(names=(name_text(name),))
        rows.append(row(name_cell(item), common, f"{n_annotators:,}", percent(agreement), f"{n_names:,}"))
    left, words = len(figures) - len(rows), current_words()
    return ReportTable(
        "item-agreement",
        f"The {words.items}, those on whose name people agree least first",
        [
            Column(words.Item, "text"),
            Column("Commonest name", "text"),
            *map(Column, ("Named by", "Agreement", "Names")),
        ],
        rows,
        order="those on whose name people agree least first",
        reading=(
            f"Agreement: the share of the people who put the {words.item} into a group with a name that put it under "
            f"its commonest name. Where that leads the next by no more people than chance gives (the root of their "
            f"sum), the {RIVALS} commonest are there, each with its people. Names: under how many anybody put it."
        ),
        more=f"{words.n_items(left)} on which people agree more" if left > 0 else "",
        download=download("commonest-names.csv", figures.round(4), "item"),
    )
