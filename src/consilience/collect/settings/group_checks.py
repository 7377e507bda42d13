"""Whether groups can be as a study says: what categories mean, how many cards a group has, and which must be in one."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from consilience.annotations.files.classes import fold_word
from consilience.collect.errors import FieldsError
from consilience.collect.settings.cleaning import clean_text
from consilience.collect.settings.model import CLOSED, LONGEST_DESCRIPTION, MEANS, Item, StudySettings
from consilience.collect.settings.problems import Problems
from consilience.errors import InputError


def checked_descriptions(descriptions: Sequence[str], categories: Sequence[str]) -> tuple[str, ...]:
    """Return descriptions of categories, cleaned, each as a name, an equals sign and a text.

    Raises InputError: one describes no category, or one that has a description.
    """
    found: dict[str, str] = {}
    for line in descriptions:
        line = clean_text(line, "A description", LONGEST_DESCRIPTION, one_line=True)
        named = [name for name in categories if line.startswith(name) and line[len(name) :].lstrip().startswith("=")]
        name = max(named, key=len, default="")
        text = line[len(name) :].lstrip().removeprefix("=").strip()
        stranger, equals, rest = (part.strip() for part in line.partition("="))
        if not name and categories and stranger and equals and rest:
            groups = ", ".join(categories)[:200]
            raise InputError(f"{stranger[:60]!r} has a description, and is none of the categories: {groups}.")
        if not name or not text:
            raise InputError(f"A description must be such as 'Mains = Eaten warm', of a category. Got {line[:60]!r}.")
        if name in found:
            raise InputError(f"The category {name!r} has two descriptions.")
        found[name] = f"{name}{MEANS}{text}"
    return tuple(found.values())


def require_unlike_names(settings: StudySettings, old: StudySettings | None) -> None:
    """Refuse categories, questions and options that are new and too like each other. Raises FieldsError: some are."""
    before = {} if old is None else _names_of(old)
    problems = Problems()
    for (field, what), names in _names_of(settings).items():
        if names != before.get((field, what)):
            with problems.at(field):
                require_unlike(names, what)
    problems.require_none()


def _names_of(settings: StudySettings) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the names that must be told apart, by their field and what they are called."""
    questions = (*settings.panel.before, *settings.panel.after)
    options = {("panel", f"options of the question {one.name!r}"): one.options for one in questions}
    names = tuple(one.name for one in questions)
    return {("categories", "categories"): settings.categories, ("panel", "questions"): names} | options


def require_unlike(names: Sequence[str], what: str) -> None:
    """Refuse names of which two look the same, or are read as one class by `consilience.read_annotations`.

    Raises InputError: they differ in the case of a word or in the form of letters, if at all.
    """
    seen: dict[str, str] = {}
    for name in names:
        shown = "".join(letter for letter in name if unicodedata.category(letter) != "Cf")  # marks are not seen
        other = seen.setdefault(fold_word(shown) or unicodedata.normalize("NFC", shown), name)
        if other != name:
            raise InputError(f"Two {what} have the same name but for case or form of letters: {other!r} and {name!r}.")
    if len(seen) < len(names):
        raise InputError(f"Two {what} have the name {next(name for name in names if names.count(name) > 1)!r}.")


def require_known_cards(settings: StudySettings, items: Sequence[Item]) -> None:
    """Refuse to require cards that a study does not have. Raises FieldsError: there is one."""
    names = {item.name for item in items}
    unknown = next((name for name in settings.required_cards if name not in names), None)
    if unknown is not None:
        raise FieldsError({"required_cards": f"There is no card with the name {unknown[:60]!r}, which must be sorted."})


def require_possible_sizes(settings: StudySettings, kind: str, n_items: int) -> None:
    """Refuse limits of how many cards a group has that no sort can keep.

    Raises InputError: they contradict each other, the number of cards, or that all cards must be sorted.
    """
    least, most = settings.least_in_group, settings.most_in_group
    size = n_items if settings.subset_size is None else settings.subset_size
    if least is not None and least > size:
        raise InputError(f"A group cannot have {least:,} cards or more: people sort {size:,} at a time.")
    if least is not None and most is not None and least > most:
        raise InputError(f"A group cannot have {least:,} cards or more and {most:,} or fewer.")
    room = None if most is None or kind != CLOSED else most * len(settings.categories)
    if room is not None and settings.all_sorted == "required" and room < size:
        raise InputError(f"All {size:,} cards must be sorted, and the categories have room for {room:,}.")
