"""Whether a new study can be made: everything that is wrong with its title, its items and its settings, at once."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

from consilience.collect.settings.checks import checked_items, checked_settings, checked_title
from consilience.collect.settings.group_checks import require_known_cards
from consilience.collect.settings.model import MOST_ITEMS, Item, StudySettings
from consilience.collect.settings.problems import Problems
from consilience.collect.settings.training_checks import with_checked_training
from consilience.errors import InputError


def checked_study(
    title: Any, items: Iterable[Item | str], kind: str, board: str, settings: StudySettings, held: Container[str]
) -> tuple[str, list[Item], StudySettings]:
    """Return what a new study consists of, cleaned.

    Raises FieldsError: something is wrong: a sentence for each of title, items and settings.

    title, items, kind, board, settings : as for `Studies.create_study`.
    held : hashes of the pictures that it will have.
    """
    problems = Problems()
    found: list[Item] = []
    with problems.at("title"):
        title = checked_title(title)
    with problems.at("items"):
        found = checked_items(items)
        require_pictures(found, held)
    with problems.at("settings"):
        settings = checked_settings(settings, kind, board, len(found) or MOST_ITEMS)
        if found:
            require_known_cards(settings, found)
            settings = with_checked_training(settings, kind, found, held)
    problems.require_none()
    return title, found, settings


def require_pictures(items: Iterable[Item], held: Container[str]) -> None:
    """Refuse items that show a picture whose hash is not held. Raises InputError: there is one."""
    for item in items:
        if item.picture is not None and item.picture not in held:
            raise InputError(f"The picture of item {item.name!r} is not in the study.")
