"""Tables of people: which column names them, and what they answered, to keep some or to compare two segments."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from consilience.analysis.names import quantify
from consilience.annotations.files.table import Table
from consilience.annotations.files.vocabulary import normal, role_of_name
from consilience.annotations.keywords import spell
from consilience.annotations.names import MISSING, plain
from consilience.annotations.spelling import near_spelling
from consilience.errors import InputError
from consilience.workflows.notes import note
from consilience.workflows.sources import TableSource
from consilience.workflows.tables import names_as, read_table
from consilience.workflows.text import others

LISTED = 8  # answers in a message


@dataclass(frozen=True)
class Answers:
    """What people answered.

    frame : DataFrame of str or None, indexed by annotator; of the annotators that the table holds; answers that differ
        only in case are written in one way.
    path : the file, for messages
    annotators : all annotators
    """

    frame: pd.DataFrame
    path: TableSource
    annotators: pd.Index

    def column(self, name: str) -> str:
        """Return the name of a column as the table has it, and note how many of those in the table gave no answer.

        Raises InputError: there is no such column.
        """
        columns = list(map(str, self.frame))
        alike = [name] if name in columns else [column for column in columns if normal(column) == normal(name)]
        if len(alike) != 1:
            shown, near = ", ".join(map(repr, columns)), near_spelling(name, columns)
            raise InputError(f"{self.path}: There is no column {name!r}.{near} Found {shown}.")
        without = int(self.frame[alike[0]].isna().sum())
        if without:
            note(f"{self.path}: {quantify(without, 'annotator')} gave no answer in the column {alike[0]!r}.")
        return alike[0]

    def values(self, column: str) -> list[str]:
        """Return the different answers in a column, the commonest first."""
        return self.frame[column].value_counts().index.tolist()

    def parse(self, condition: str) -> tuple[str, list[str]]:
        """Return the column and the answers of a condition such as ``device=phone,tablet``.

        Raises InputError: it is no such condition, or nobody gave the answer.
        """
        name, equals, text = condition.partition("=")
        while equals and name.strip() not in self.frame and "=" in text:  # a name may contain the sign
            more, _, text = text.partition("=")
            name = f"{name}={more}"
        if not equals or not name.strip() or not text.strip():
            raise InputError(f"A condition must be a column, = and answers, such as device=phone. Got {condition!r}.")
        column = self.column(name.strip())
        known = {fold(value): value for value in self.values(column)}
        wanted = [text] if fold(text) in known else [part for part in text.split(",") if part.strip()]
        for answer in wanted:
            if fold(answer) not in known:
                shown = ", ".join([*map(repr, list(known.values())[:LISTED]), *(["…"] if len(known) > LISTED else [])])
                raise InputError(f"{self.path}: Nobody's {column!r} is {answer.strip()!r}. Found {shown}.")
        return column, [known[fold(answer)] for answer in wanted]

    def matching(self, column: str, answers: Iterable[str]) -> pd.Index:
        """Return the annotators who gave one of the answers, in the order of the annotations."""
        return self.annotators[self.frame[column].reindex(self.annotators).isin(list(answers)).to_numpy()]


def fold(answer: str) -> str:
    """Return an answer as it is compared: whatever its case, and the spaces around it."""
    return answer.strip().casefold()


def read_answers(path: TableSource, annotators: pd.Index) -> Answers:
    """Read a table of people: one column names them, every other holds their answers.

    People who are not among the annotators are left out, and noted. Raises InputError: there is no column of people,
    nobody in it is an annotator, or somebody has two answers.
    """
    table = read_table(path)
    person = person_column(table, path, table.columns[:1])  # tools export people with their ids first
    known, names = people_in(table, person, annotators)
    questions = [column for column in table.columns if column != person]
    if not questions:
        raise InputError(f"{path}: There is no column of answers besides {str(person)!r}.")
    frame = pd.DataFrame({str(column): _answers(table, column) for column in questions}).loc[known]
    different = frame.set_axis(names, axis=0).reset_index(names="").drop_duplicates()
    repeated = different[""].duplicated()
    if repeated.any():
        row = repeated.index[repeated][0]
        raise InputError(
            f"{path}: The annotator {plain(names[row])!r} has different answers, the second in "
            f"{table.where(known[row])}; give one row for each annotator."
        )
    frame = different.set_index("")
    require_some(frame.index, annotators, path, person, "answer")
    return Answers(frame[frame.index.isin(annotators)], path, annotators)


def _answers(table: Table, column: Any) -> pd.Series:
    """Return the cells of a column as text, those that differ only in case as the commonest of them; None if blank."""
    coded = table.column(column)
    names = [*(str(plain(name)).strip() for name in coded.names), None]  # MISSING is -1
    answers = pd.Series([names[code] for code in coded.codes], dtype=object)
    spelling: dict[str, str] = {}
    for answer in answers.value_counts().index:
        spelling.setdefault(fold(answer), answer)
    return answers.map(lambda answer: None if answer is None else spelling[fold(answer)])


def people_in(table: Table, person: Any, annotators: pd.Index) -> tuple[list[int], pd.Index]:
    """Return the rows of a table that name somebody, and whom, written as the annotators are."""
    coded = table.column(person)
    rows = (coded.codes != MISSING).nonzero()[0]
    return rows.tolist(), names_as(pd.Index(coded.names.take(coded.codes[rows])), annotators)


def require_some(names: pd.Index, annotators: pd.Index, path: TableSource, person: Any, what: str) -> None:
    """Require that somebody is among the annotators, and note who is not, and of whom there is nothing.

    what : a singular, such as "answer": what the table holds
    """
    absent = names[~names.isin(annotators)]
    if len(absent) == len(names):
        taken = f"Its column {str(person)!r} was taken for their names."
        raise InputError(f"{path}: None of the annotators has any {what} in it. {taken}")
    if len(absent):
        note(
            f"{path}: {plain(absent[0])!r}{others(len(absent), 'and')} gave no annotations; their {what}s are not used."
        )
    without = len(annotators) - (len(names) - len(absent))
    if without:
        note(f"{path}: {quantify(without, 'annotator')} {'has' if without == 1 else 'have'} no {what} in it.")


def person_column(table: Table, path: TableSource, rest: list[Any]) -> Any:
    """Return the column that names people: the one that is called so, or the only one that may.

    rest : columns that may name people

    Raises InputError: none is called so, or several are.
    """
    named = [one for one in table.columns if (called := role_of_name(one)) is not None and called.role == "annotator"]
    found = named if len(named) == 1 else rest
    if len(found) != 1:
        shown = ", ".join(map(str, table.columns))
        raise InputError(f"{path}: One column must be called 'annotator', or be the only other. Found {shown}.")
    return found[0]


def people_where(path: TableSource, where: Iterable[str], annotators: pd.Index) -> pd.Index:
    """Return the annotators who meet all conditions, in the order of the annotations.

    Raises InputError: the table or a condition cannot be used, or nobody meets all conditions.
    """
    answers = read_answers(path, annotators)
    kept = annotators
    for condition in where:
        kept = kept.intersection(answers.matching(*answers.parse(condition)), sort=False)
    if kept.empty:
        raise InputError(f"{path}: No annotator meets all of {spell(where=list(where))}.")
    return kept


def two_segments(path: TableSource, by: str, annotators: pd.Index) -> dict[str, pd.Index]:
    """Return the annotators of two segments by their names.

    by : ``device=phone,desktop`` for two answers, ``device=phone`` for one and all others, ``device`` if there are two

    Raises InputError: the table cannot be used, or there are not two segments.
    """
    answers = read_answers(path, annotators)
    if "=" in by:
        column, wanted = answers.parse(by)
    else:
        column = answers.column(by.strip())
        wanted = answers.values(column)
    values = answers.values(column)
    if len(wanted) == 1 and len(values) > 1:
        rest = [value for value in values if value not in wanted]
        return {wanted[0]: answers.matching(column, wanted), f"not {wanted[0]}": answers.matching(column, rest)}
    if len(wanted) != 2:
        shown, example = ", ".join(map(repr, values[:LISTED])), f"{column}={','.join(values[:2])}"
        raise InputError(
            f"{path}: Two segments can be compared, and the column {column!r} has {quantify(len(wanted), 'answer')}: "
            f"{shown}. Name two of them, as in {spell(by=example)}."
        )
    return {value: answers.matching(column, [value]) for value in wanted}
