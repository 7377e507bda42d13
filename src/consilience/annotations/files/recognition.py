"""Recognition of a table: long by the names of its columns, or else wide by its contents."""

from __future__ import annotations

from consilience.annotations.files.layout import Asked, Long, Wide
from consilience.annotations.files.long_frames import guess_columns
from consilience.annotations.files.long_tables import long_table
from consilience.annotations.files.table import Table
from consilience.annotations.files.wide_tables import require_header, wide_table
from consilience.errors import AnnotationError


def recognise(table: Table, asked: Asked) -> Long | Wide:
    """Recognise the layout of a table.

    Raises
    ------
    AnnotationError
        The layout is not recognised, is ambiguous, or has no annotations.
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
