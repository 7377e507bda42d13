"""Recognition of a table: long by the names of its columns, or else wide by its contents."""

from __future__ import annotations

from consilience.annotations.files.layout import Long, ReadingRequest, Wide
from consilience.annotations.files.long_frames import guess_columns
from consilience.annotations.files.long_tables import long_table
from consilience.annotations.files.no_sorts import refuse_no_sorts
from consilience.annotations.files.table import Table
from consilience.annotations.files.wide_tables import require_header, wide_table
from consilience.errors import AnnotationError


def recognise(table: Table, request: ReadingRequest) -> Long | Wide:
    """Recognise the layout of a table.

    Raises AnnotationError: the layout is not recognised, is ambiguous, or has no annotations.
    """
    try:
        found = long_table(table, request)
        if found is not None:
            return found
        require_header(table)
        refuse_no_sorts(table, request)
        return wide_table(table, request)
    except AnnotationError as error:
        guess = guess_columns(table, table.columns)
        if request.columns or not guess.crosses:
            raise
        raise AnnotationError(guess.refusal(request.kind)) from error
