"""Checks of what users send for a study, the limits of each part, and sentences that name what is wrong."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from consilience.collect.settings.cleaning import brief, clean, clean_text, line
from consilience.collect.settings.group_checks import checked_descriptions, require_possible_sizes, require_unlike_names
from consilience.collect.settings.kinds import Choice, checked_value
from consilience.collect.settings.languages import LANGUAGES
from consilience.collect.settings.model import (
    BOARD,
    CLOSED,
    HYBRID,
    JUDGING,
    KIND,
    MOST_ITEMS,
    OPEN,
    QUESTIONS,
    SETTINGS,
    Item,
    StudySettings,
)
from consilience.collect.settings.panel_checks import checked_panel
from consilience.collect.settings.problems import Problems
from consilience.collect.settings.question_checks import require_askable
from consilience.collect.settings.study_kinds import ASKED, LABELS, MOST_CLASSES, PAIRS, count_questions, size_of_sets
from consilience.collect.settings.texts import own_texts
from consilience.errors import InputError

MOST_TEXTS = 500
MOST_TRANSLATIONS = 20_000  # of title, instructions, questions and cards into one language
LONGEST_INSTRUCTIONS = 50_000  # characters
LONGEST_NAME = 200  # characters of the name of an item, a category or a group
LONGEST_TEXT = 2000  # of the text of an item, its alternative text, or a sentence that a participant reads
LONGEST_TITLE = 300
LONGEST_PARAMETER = 500  # of the value of an URL parameter
PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
CALLED = {"instructions": "The instructions"}  # where a sentence begins with it


def checked_title(title: Any) -> str:
    """Return the title of a study, cleaned. Raises InputError: it is empty or too long."""
    found = clean_text(title, "The title", LONGEST_TITLE, one_line=True)
    if not found:
        raise InputError("The title of a study must not be empty.")
    return found


def checked_items(items: Any) -> list[Item]:
    """Return items in order, their texts cleaned and numbered from 0.

    Raises InputError: there are fewer than two or too many, a name is missing, or two items have the same.

    items : iterable of Item, or of str
    """
    found = [_checked_item(item, number) for number, item in enumerate(items)]
    if not 2 <= len(found) <= MOST_ITEMS:
        raise InputError(f"A study must have from 2 to {MOST_ITEMS:,} items. Got {len(found):,}.")
    seen: dict[str, int] = {}
    for item in found:
        if item.name in seen:
            raise InputError(f"Items {seen[item.name] + 1} and {item.number + 1} have the same name: {item.name!r}.")
        seen[item.name] = item.number
    return found


def _checked_item(item: Any, number: int) -> Item:
    if isinstance(item, str):
        item = Item(number, item)
    if not isinstance(item, Item):
        raise InputError(f"Item {number + 1} must be an Item or a name. Got {brief(item)}.")
    where = f"of item {number + 1}"
    name = clean_text(item.name, f"The name {where}", LONGEST_NAME, one_line=True)
    if not name:
        raise InputError(f"The name {where} is empty.")
    text = clean_text(item.text, f"The text {where}", LONGEST_TEXT)
    alt = clean_text(item.alt, f"The alternative text {where}", LONGEST_TEXT, one_line=True)
    return Item(
        number,
        name,
        text or ("" if item.picture else name),
        item.picture,
        alt or clean_text(text, "The text", LONGEST_TEXT, one_line=True) or ("" if item.picture else name),
        clean_text(item.description, f"The description {where}", LONGEST_TEXT),
    )


def checked_settings(
    settings: StudySettings, kind: Any, board: Any, n_items: int, old: StudySettings | None = None
) -> StudySettings:
    """Return settings that a study of this kind can have, their texts cleaned.

    old : settings of the study so far, whose names stay as they are.

    Raises FieldsError: a setting has a wrong value, or two contradict each other; it has a sentence for each.
    """
    problems = Problems()
    values: dict[str, Any] = {}
    if kind != JUDGING:
        with problems.at("kind"):
            checked_value(KIND, kind, "'kind'")
    with problems.at("board"):
        asked = kind == JUDGING or kind in ASKED
        checked_value(Choice(words={QUESTIONS: ""}) if asked else BOARD, board, "'board'")
    most = count_questions(str(kind), n_items)
    for name, declared in (SETTINGS | {"subset_size": replace(SETTINGS["subset_size"], most=most)}).items():
        with problems.at(name):
            values[name] = checked_value(declared, getattr(settings, name), CALLED.get(name, f"{name!r}"))
    _require_possible(settings, kind, n_items, problems)
    with problems.at("languages"):
        values["languages"] = _checked_languages(settings.language, values.get("languages", ()))
    with problems.at("texts"):
        values["texts"] = _checked_texts(settings.texts)
    with problems.at("texts_in"):
        values["texts_in"] = {
            language: _checked_texts(said) for language, said in _said_in_languages(settings.texts_in, "texts_in")
        }
    with problems.at("translations"):
        values["translations"] = {
            language: _checked_translations(said)
            for language, said in _said_in_languages(settings.translations, "translations")
        }
    with problems.at("categories"):
        values["categories"] = _checked_categories(values.get("categories", ()), kind)
    if not problems.any_at("categories"):
        with problems.at("descriptions"):
            values["descriptions"] = checked_descriptions(values.get("descriptions", ()), values["categories"])
    with problems.at("parameters"):
        values["parameters"] = _checked_parameters(values.get("parameters", ()))
    with problems.at("panel"):
        values["panel"] = checked_panel(settings.panel, values.get("parameters", ()))
    problems.require_none()
    found = replace(settings, **values)
    require_unlike_names(found, old)
    return found


def checked_parameters(parameters: Mapping[str, Any], wanted: Sequence[str]) -> dict[str, str]:
    """Return the parameters of an address that a study stores, cleaned and cut."""
    return {
        name: line(value[:LONGEST_PARAMETER])
        for name in wanted
        if isinstance(value := parameters.get(name), str) and line(value)
    }


def _require_possible(settings: StudySettings, kind: str, n_items: int, problems: Problems) -> None:
    """Gather what contradicts itself among settings that are right one by one."""
    if kind == JUDGING:
        with problems.at("kind"):
            _require_no_sorts(settings)
        return
    with problems.at("answers_wanted"):
        if settings.answers_wanted is not None:
            raise InputError("'answers_wanted' is about questions, which a sort does not ask; use 'groupings_wanted'.")
    with problems.at("moves"):
        if settings.moves is True and not str(settings.panel.consent).strip():
            raise InputError("The table of moves needs a consent, which says that it is made; write its text first.")
    if not problems.any_at("subset_size", "per_participant", "repeat_share"):
        with problems.at("per_participant"):
            _require_enough(settings, kind, n_items)
        with problems.at("repeat_share"):
            _require_repeats(settings)
    if not problems.any_at("subset_size", "least_in_group", "most_in_group"):
        with problems.at("least_in_group"):
            require_possible_sizes(settings, kind, n_items)
    if kind in ASKED:
        require_askable(settings, kind, problems)
    with problems.at("strategy"):
        if kind == CLOSED and settings.strategy != "random":
            raise InputError(
                f"A closed sort has random subsets: the strategy must be 'random'. Got {brief(settings.strategy)}."
            )
    with problems.at("stop_rule"):
        if kind == CLOSED and settings.stop_rule != "none":
            raise InputError("There is no stop rule for closed sorts: 'stop_rule' must be 'none'.")


def _require_enough(settings: StudySettings, kind: str, n_items: int) -> None:
    size, most = size_of_sets(kind, settings.subset_size, n_items), count_questions(kind, n_items)
    if size * settings.per_participant > most and settings.repeat_share == 0:
        once = "is asked a question twice" if kind in ASKED else "sorts an item twice"
        raise InputError(
            f"Nobody {once}, and there are {most:,} {'questions' if kind in ASKED else 'items'}: "
            f"{settings.per_participant:,} {'sets' if kind in ASKED else 'subsets'} of {size:,} for each participant "
            "are too many."
        )


def _require_repeats(settings: StudySettings) -> None:
    if settings.repeat_share == 1 or (settings.repeat_share and settings.per_participant == 1):
        raise InputError(
            "'repeat_share' must be below 1, and needs participants who may sort at least two subsets "
            "('per_participant')."
        )


def _require_no_sorts(settings: StudySettings) -> None:
    """Refuse settings of a judging study that are about sorts."""
    usual = StudySettings()
    of_sorts = ("categories", "descriptions", "least_in_group", "most_in_group", "required_cards", "subset_size")
    for name in (*of_sorts, "groupings_wanted", "max_per_item", "repeat_share", "moves", "training"):
        if getattr(settings, name) != getattr(usual, name):
            raise InputError(f"In a judging study nobody sorts: it has no {name!r}.")


def _checked_texts(texts: Any) -> dict[str, str]:
    if not isinstance(texts, Mapping) or len(texts) > MOST_TEXTS:
        raise InputError(f"'texts' must be at most {MOST_TEXTS} sentences by their keys.")
    found = {
        clean_text(key, "The key of a text", LONGEST_NAME, one_line=True): clean_text(
            text, f"The text {clean(str(key))!r}", LONGEST_TEXT
        )
        for key, text in texts.items()
    }
    own_texts(found)  # which refuses what pages could not show
    return found


def _checked_languages(language: Any, languages: Sequence[Any]) -> tuple[str, ...]:
    unknown = next((one for one in languages if not isinstance(one, str) or one not in LANGUAGES), None)
    if unknown is not None:
        raise InputError(f"There are no pages in the language {brief(unknown)}; there are {', '.join(LANGUAGES)}.")
    return tuple(one for one in dict.fromkeys(languages) if one != language)


def _said_in_languages(found: Any, name: str) -> list[tuple[str, Any]]:
    """Return sentences with their language, where there are any; those of one not offered any more are kept."""
    if not isinstance(found, Mapping):
        raise InputError(f"{name!r} must be sentences, by language.")
    unknown = next((one for one in found if one not in LANGUAGES), None)
    if unknown is not None:
        raise InputError(f"There are no pages in the language {brief(unknown)}; there are {', '.join(LANGUAGES)}.")
    return [(language, said) for language, said in found.items() if said]


def _checked_translations(found: Any) -> dict[str, str]:
    if not isinstance(found, Mapping) or len(found) > MOST_TRANSLATIONS:
        raise InputError(f"'translations' must be at most {MOST_TRANSLATIONS:,} sentences by what was written.")
    return {
        clean_text(written, "What is translated", LONGEST_INSTRUCTIONS): clean_text(
            said, f"The translation of {brief(written)}", LONGEST_INSTRUCTIONS
        )
        for written, said in found.items()
        if said
    }


def _checked_categories(categories: Sequence[Any], kind: str) -> tuple[str, ...]:
    found = tuple(clean_text(name, "The name of a category", LONGEST_NAME, one_line=True) for name in categories)
    if not all(found):
        raise InputError("The name of a category must not be empty.")
    least = {HYBRID: 1, CLOSED: 2, LABELS: 2}.get(kind, 0)
    if kind == LABELS and not least <= len(found) <= MOST_CLASSES:
        raise InputError(f"A study of labels needs from {least} to {MOST_CLASSES} classes. Got {len(found)}.")
    if found and kind == PAIRS:
        raise InputError("People say of pairs whether they are the same: such a study has no categories.")
    if len(found) < least:
        raise InputError(f"A sort of the kind {kind!r} needs at least {least} categories. Got {len(found)}.")
    if found and kind == OPEN:
        raise InputError("An open sort has no categories; a hybrid one has some, and participants may add groups.")
    return found


def _checked_parameters(parameters: Sequence[Any]) -> tuple[str, ...]:
    for name in parameters:
        if not (isinstance(name, str) and PARAMETER.fullmatch(name)):
            raise InputError(f"{brief(name)} cannot be the name of a parameter of an address, such as PROLIFIC_PID.")
    return tuple(dict.fromkeys(parameters))
