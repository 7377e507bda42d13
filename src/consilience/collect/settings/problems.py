"""Gathering what is wrong with each field of a form, so that all of it can be said at once."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from consilience.collect.errors import FieldsError, NotOpenError
from consilience.errors import InputError


class Problems:
    """Sentences on what is wrong, by field; the first of each field stays.

    Examples
    --------
    >>> problems = Problems()
    >>> with problems.at("title"):
    ...     raise InputError("The title of a study must not be empty.")
    >>> problems.found
    {'title': 'The title of a study must not be empty.'}
    """

    def __init__(self) -> None:
        self.found: dict[str, str] = {}

    @contextlib.contextmanager
    def at(self, field: str) -> Iterator[None]:
        """Keep the error of a block as that of a field, or of the fields that the error names."""
        try:
            yield
        except NotOpenError:  # no fault of what was sent
            raise
        except FieldsError as error:
            self.found = self.found | error.problems | self.found
        except InputError as error:
            self.found.setdefault(field, str(error))

    def any_at(self, *fields: str) -> bool:
        """Whether one of some fields is wrong."""
        return not self.found.keys().isdisjoint(fields)

    def require_none(self) -> None:
        """Raise all that was found. Raises FieldsError: something was."""
        if self.found:
            raise FieldsError(self.found)
