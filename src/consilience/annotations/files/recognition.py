"""What a table holds: a long table by the names of its columns, or else a wide one by what stands in it."""

from __future__ import annotations

from consilience.annotations.files.layout import Asked, Long, Wide
from consilience.annotations.files.long_frames import guess_columns
from consilience.annotations.files.long_tables import long_table
from consilience.annotations.files.table import Table
from consilience.annotations.files.wide_tables import require_header, wide_table
from consilience.errors import AnnotationError


def recognise(table: Table, asked: Asked) -> Long | Wide:
    """Find out what a table holds.

    Raises
    ------
    AnnotationError
        Nothing that is recognised, two readings that are both plausible, or something that holds no annotations.
    """
    try:
        found = long_table(table, asked)
        if found is not None:
            return found
        require_header(table)
        return wide_table(table, asked)
    except AnnotationError as error:
        guess = guess_columns(table, table.columns)
        if asked.columns or not guess.crosses:
            raise
        raise AnnotationError(guess.refusal(asked.kind)) from error
