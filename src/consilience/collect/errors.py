"""Errors of a store of studies, beside invalid input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from consilience.errors import InputError


class NotFoundError(InputError):
    """There is no such study, participant, assignment, picture or token."""


class NotOpenError(InputError):
    """A study or an assignment does not accept this any more, or not yet."""


class FieldsError(InputError):
    """One or several fields are wrong.

    problems : a sentence for each, by its name.
    """

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__(" ".join(problems.values()))
        self.problems = dict(problems)


class BoardError(InputError):
    """A board cannot be changed, or handed in, as it is.

    text : key of the sentence that says it to participants, in `consilience.collect.settings.sentences`.
    words : its words in braces: numbers, or lists of names, where a number stands for the group or card at this
        place.
    """

    def __init__(self, sentence: str, text: str, **words: int | Sequence[str | int]) -> None:
        super().__init__(sentence)
        self.text, self.words = text, words


class UnsortedError(InputError):
    """Cards are left unsorted, and the participant did not confirm that they are meant to be.

    count : how many cards.
    """

    def __init__(self, count: int) -> None:
        cards = "1 card is" if count == 1 else f"{count} cards are"
        super().__init__(f"{cards} not in a group yet.")
        self.count = count
