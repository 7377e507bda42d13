"""Options of card sorts: people left out, by name or by answers, corrections of standard names, and people's times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from consilience.analysis.findings import Findings
from consilience.analysis.given_groups import compare_given_groups
from consilience.analysis.name_corrections import NAME, STANDARD, corrections_from, require_known
from consilience.analysis.names import quantify
from consilience.analysis.standardisation import standard_names, written_names
from consilience.annotations import Groupings, Labels, Pairs
from consilience.annotations.keywords import spell
from consilience.annotations.names import plain
from consilience.annotations.spelling import near_spelling
from consilience.errors import InputError
from consilience.inspection.report.name_sections import worth_showing
from consilience.workflows.durations import read_seconds
from consilience.workflows.inputs import Material
from consilience.workflows.jobs import CardSortOptions
from consilience.workflows.notes import note
from consilience.workflows.outputs import write_table
from consilience.workflows.people import people_where
from consilience.workflows.tables import read_table

NAMES_FILE, PLACEMENTS = "standard-names.csv", "placements.csv"
LISTED = 5  # names in a note


@dataclass(frozen=True)
class CardSort:
    """What the options of card sorts ask for.

    left_out : names of the people who were left out of the fit
    corrections : standard names of names that people wrote, or None
    seconds : how long each person took, or None
    given_groups : names of the groups that everybody was given in a hybrid sort
    """

    left_out: list[Any] = field(default_factory=list)
    corrections: dict[str, str] | None = None
    seconds: pd.Series | None = None
    given_groups: tuple[str, ...] = ()

    @property
    def keywords(self) -> dict[str, Any]:
        """Arguments of `consilience.inspection.report`."""
        return {"names": self.corrections, "left_out": self.left_out, "seconds": self.seconds}

    def of_fitted(self, annotations: Any) -> CardSort:
        """Keep only corrections of names that those who are left gave.

        Raises InputError: there are corrections, and the annotations are no groupings.
        """
        if self.corrections is None:
            return self
        if not isinstance(annotations, Groupings):
            kind = type(annotations).__name__.lower()
            raise InputError(
                f"{spell(names=None)} corrects the names of groups; the model reads {kind}, which have none."
            )
        known = written_names(annotations)
        return replace(self, corrections={name: to for name, to in self.corrections.items() if name in known})


def read_card_sort(material: Material, options: CardSortOptions) -> tuple[Material, CardSort]:
    """Leave people out of what was read, and read what is known of them and their names; see `for_card_sort`."""
    annotations, found = for_card_sort(material.annotations, options)
    return replace(material, annotations=annotations), found


def for_card_sort(annotations: Any, options: CardSortOptions) -> tuple[Any, CardSort]:
    """Leave people out of annotations, and read corrections of names, and how long people took.

    Raises InputError: there is no such person or file, nobody gave a group one of the names, or nobody meets the
    conditions.
    """
    if options.people is None and options.where:
        raise InputError(f"{spell(where=None)} needs the answers of the annotators: {spell(people=...)}.")
    if options.people is not None and not options.where:
        raise InputError(f"{spell(people=None)} is read for {spell(where=...)}, which is not given.")
    corrections, names = None, options.names
    if names is not None:
        corrections = read_corrections(names)
        try:
            require_known(corrections, _names_in(annotations))
        except InputError as error:
            raise InputError(f"{names}: {error}") from error
        for text in _left_behind(annotations, corrections):
            note(text)
    seconds = None if options.seconds is None else read_seconds(options.seconds, annotations.annotators)
    left_out = people(options.leave_out, annotations.annotators)
    if left_out:
        shown = ", ".join(repr(plain(name)) for name in left_out[:LISTED]) + (", …" if len(left_out) > LISTED else "")
        note(f"Left out of the fit: {len(left_out):,} of {quantify(annotations.n_annotators, 'annotator')}, {shown}.")
        annotations = annotations.leave_out(left_out)
    if options.people is not None:
        kept = people_where(options.people, options.where, annotations.annotators)
        shown = spell(where=list(options.where))
        note(f"{shown}: {len(kept):,} of {quantify(annotations.n_annotators, 'annotator')} in the fit.")
        others = annotations.annotators.difference(kept, sort=False).tolist()
        annotations, left_out = annotations.leave_out(others), [*left_out, *others]
    return annotations, CardSort(left_out, corrections, seconds, given_names(options.given_groups, annotations))


def _left_behind(annotations: Any, corrections: Mapping[str, str]) -> list[str]:
    """Say which names stay with a standard name from which the corrections move others, since their rows say so."""
    if not isinstance(annotations, Groupings):
        return []
    texts = []
    for standard, names in standard_names(annotations).grid.groupby("standard", sort=False)["name"]:
        moved = [name for name in names if corrections.get(name, standard) != standard]
        kept = [name for name in names if corrections.get(name) == standard]
        if moved and kept:
            more = f" and {quantify(len(kept) - 1, 'other spelling')}" if len(kept) > 1 else ""
            stay = "stay" if len(kept) > 1 else "stays"
            to = repr(corrections[moved[0]]) if corrections[moved[0]] else "no name"
            texts.append(
                f"{moved[0]!r} becomes {to}, but {kept[0]!r}{more} {stay} with {standard!r}: each row of the "
                "corrections is for one spelling."
            )
    return texts


def _names_in(annotations: Groupings | Labels | Pairs) -> set[str]:
    if isinstance(annotations, Pairs):
        raise InputError(
            f"Judgements of pairs have no groups whose names could be corrected; leave out {spell(names=None)}."
        )
    return written_names(annotations.to_groupings() if isinstance(annotations, Labels) else annotations)


def people(given: Iterable[str], annotators: pd.Index) -> list[Any]:
    """Return the names of the annotators that are listed, separated by commas, or in files with a name in each line.

    Raises InputError: there is no such annotator, and no such file; or nobody would be left.
    """
    known = {str(plain(name)): name for name in annotators}
    wanted: dict[str, str] = {}
    for text in given:
        if text in known or not Path(text).is_file():
            parts = [text] if text in known else text.split(",")
            wanted |= {part.strip(): "" for part in parts if part.strip()}
        else:
            wanted |= dict.fromkeys(_lines(Path(text)), f"{text}: ")
    for name, where in wanted.items():
        if name not in known:
            file = "" if where else ", and no file of that name"
            raise InputError(f"{where}There is no annotator {name!r} to leave out{file}.{near_spelling(name, known)}")
    if wanted and len(wanted) == len(known):
        raise InputError(f"{spell(leave_out=None)} names all {len(known):,} annotators; nobody is left.")
    return [known[name] for name in wanted]


def given_names(given: Iterable[str], annotations: Any) -> tuple[str, ...]:
    """Return the names of the groups of a hybrid sort, separated by commas, or in files with a name in each line.

    Raises InputError: the annotations are no groupings, or nobody used any of the groups.
    """
    names: list[str] = []
    for text in given:
        names += _lines(Path(text)) if Path(text).is_file() else [part.strip() for part in text.split(",")]
    names = list(dict.fromkeys(filter(None, names)))
    if not names:
        return ()
    if not isinstance(annotations, Groupings):
        raise InputError(
            f"{spell(given_groups=None)} is for hybrid sorts, which are groupings; a closed sort is labels."
        )
    used = compare_given_groups(annotations, names).groups
    idle = used.index[used["given"] & (used["n_annotators"] == 0)].tolist()
    if len(idle) == len(names):
        raise InputError(f"{spell(given_groups=names[0])}: Nobody made a group of this name, nor of the others given.")
    if idle:
        note(f"Nobody used the given {'group' if len(idle) == 1 else 'groups'} {', '.join(map(repr, idle))}.")
    return tuple(names)


def _lines(path: Path) -> list[str]:
    try:
        return [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: This is no text in UTF-8 with a name in each line.") from error


def read_corrections(path: Path) -> dict[str, str]:
    """Read corrections: the columns name and standard, as in the standard-names.csv of a fit; others are not used.

    Raises InputError: a column or a name is missing, or a name is given two standard names.
    """
    table = read_table(path)
    columns = {str(column).strip().casefold(): column for column in table.columns}
    if not {NAME, STANDARD} <= set(columns):
        found = ", ".join(map(str, table.columns))
        raise InputError(f"{path}: Expected the columns 'name' and 'standard', as in {NAMES_FILE}. Found {found}.")
    cells = [table.frame[columns[column]].tolist() for column in (NAME, STANDARD)]
    try:
        return corrections_from(zip(*cells, strict=True), table.where)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def write_names(found: Findings, annotations: Any, folder: Path) -> list[str]:
    """Write the grid of standard names and the results matrix to a folder; return the names of the files.

    annotations : as they were read; labels have other standard names than the groupings for which a model takes them.
    """
    is_same = isinstance(found.as_written, type(annotations))
    names = found.standard_names if is_same else standard_names(annotations)
    if names is None or isinstance(annotations, Pairs) or not worth_showing(annotations, names):
        return []
    files = {PLACEMENTS: names.placements.reset_index()}
    if isinstance(annotations, Groupings):
        files = {NAMES_FILE: names.grid} | files
    for name, table in files.items():
        write_table(table, folder / name)
    return list(files)
