"""What the pages of a participant show: the templates, and everything that they are given.

The functions here take a study, its cards and the state of a board, and return the context of a template; they read and
write nothing. A study needs ``title``, ``kind``, ``board`` and ``settings``, of which the languages, the texts,
``group_names``, ``all_sorted``, ``least_in_group``, ``most_in_group``, ``required_cards``, ``categories`` and
``meanings`` are read. A state is what the server answers to every change::

    {"assignment": "a1", "version": 4, "groups": [{"id": "g1", "name": "Birds", "items": [3, 5]}], "unsorted": [1, 2]}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from markupsafe import Markup

from consilience.collect.serving import environment
from consilience.collect.settings.checks import LONGEST_NAME
from consilience.collect.settings.languages import name_language
from consilience.collect.wording.wording import Wording

N_COLOURS = 9  # of groups, in board.css; more groups take them again


@dataclass(frozen=True)
class PageCard:
    """What a participant sees of an item.

    number : the item's number in the study.
    text : text of the card; empty if it shows its picture alone.
    picture, small : addresses of the picture, whole and small.
    alt : what the picture shows, for those who cannot see it.
    description : what the card means, for those who ask.
    required : whether it must be sorted.
    language : that of the text, empty if it is that of the page.
    """

    number: int
    text: str = ""
    picture: str | None = None
    small: str | None = None
    alt: str = ""
    description: str = ""
    required: bool = False
    language: str = ""


def render(name: str, context: Mapping[str, Any]) -> str:
    """Return a page of the participant, by the name of its template without endings."""
    return environment().get_template(f"participant/{name}.html.j2").render(context)


def wording_of(study: Any, language: str | None = None) -> Wording:
    """Return the sentences of a study in one of its languages, by default the first."""
    language = language or study.settings.language
    settings = study.settings
    own = settings.texts_for(language), settings.translations.get(language), settings.language
    found = Wording(language, *own)
    found.direction = settings.direction_in(language)
    return found


def page_context(
    study: Any, *, language: str | None = None, preview: bool = False, notice: str = "", choose: bool = False
) -> dict[str, Any]:
    """Return what every page shows.

    language : one of the study's; by default the first.
    preview : whether the page says that answers do not count.
    notice : a sentence at the top: why the last form was refused.
    choose : whether there is a menu of languages, if the study has several.
    """
    wording, offered = wording_of(study, language), study.settings.offered if choose else ()
    return {
        "study": study,
        "title": wording.own(study.title),
        "t": wording,
        "lang": wording.language,
        "dir": wording.direction,
        "languages": [(one, name_language(one)) for one in offered] if len(offered) > 1 else [],
        "preview": preview,
        "notice": notice,
    }


def instructions_context(
    study: Any, instructions: Markup | str = "", *, admitted: bool = False, practised: bool = False, **page: Any
) -> dict[str, Any]:
    """Return the context of ``instructions``, the page before the first set.

    ``instructions`` that are `Markup` stand as they are: they must have been sanitised; a string is escaped. To those
    who were ``admitted``, or have ``practised``, the page says that the sort counts from now on. The rest is for
    `page_context`.
    """
    return {**page_context(study, **page), "instructions": instructions, "admitted": admitted, "practised": practised}


def thanks_context(study: Any, *, more: tuple[int, int] | None = None, **page: Any) -> dict[str, Any]:
    """Return the context of ``thanks``, or of the page between two sets.

    more : which set is next, of how many; None at the end. The rest is for `page_context`.
    """
    return {**page_context(study, **page), "more": more}


def message_context(
    study: Any, message: str, words: Mapping[str, Any] | None = None, *, sentence: str = "", **page: Any
) -> dict[str, Any]:
    """Return the context of ``message``, by its key in the texts, such as ``not_open`` or ``nothing_left``.

    ``words`` are those that its text has in braces; a ``sentence`` stands in place of the text. The rest is for
    `page_context`.
    """
    context = page_context(study, **page)
    said = sentence or context["t"].fill(f"{message}_text", **(words or {}))
    return {**context, "message": message, "text": said}


def board_context(
    study: Any,
    cards: Sequence[PageCard],
    state: Mapping[str, Any],
    *,
    number: int = 1,
    total: int = 1,
    stage: str = "",
    instructions: Markup | str = "",
    **page: Any,
) -> dict[str, Any]:
    """Return the context of ``board``, for both boards, with scripts and without.

    cards : in the order in which they are presented.
    state : state of the board.
    number, total : which of the participant's sets this is.
    stage : {"", "practice", "admission"}; what it is, if not one of the sort proper.
    instructions : as for `instructions_context`.
    page : for `page_context`.
    """
    context = page_context(study, **page)
    texts, settings = context["t"], study.settings
    shown = [asdict(card) | {"label": label_of(card, place, texts)} for place, card in enumerate(cards, 1)]
    by_number = {card["number"]: card for card in shown}
    groups = [
        _show_group(group, place, settings.meanings, texts) | {"cards": [by_number[item] for item in group["items"]]}
        for place, group in enumerate(state["groups"], 1)
    ]
    may_name = settings.group_names != "none" and study.kind != "closed"
    data = {
        "board": study.board,
        "kind": study.kind,
        "groupNames": settings.group_names if may_name else "none",
        "allSorted": settings.all_sorted,
        "least": settings.least_in_group or 0,
        "most": settings.most_in_group or len(cards),
        "meanings": {group["id"]: group["meaning"] for group in groups if group["meaning"]},
        "called": {group["id"]: group["title"] for group in groups if group["named_by_study"]},
        "longestName": LONGEST_NAME,
        "colours": N_COLOURS,
        "cards": shown,
        "state": dict(state),
        "texts": texts.for_scripts(),
    }
    return context | {
        "cards": shown,
        "groups": groups,
        "group_of": {card["number"]: group for group in groups for card in group["cards"]},
        "unsorted": [by_number[item] for item in state["unsorted"]],
        "state": state,
        "number": number,
        "total": total,
        "stage": stage,
        "instructions": instructions,
        "may_name": may_name,
        "may_make": study.kind != "closed",
        "longest_name": LONGEST_NAME,
        "next_colour": len(groups) % N_COLOURS + 1,
        "data": data,
    }


def _show_group(group: Mapping[str, Any], place: int, meanings: Mapping[str, str], texts: Wording) -> dict[str, Any]:
    """Return what the board shows of a group, but its cards."""
    name, by_study = group["name"] or "", named_by_study(group["id"])
    called = texts.own(name) if by_study else name
    return {
        "id": group["id"],
        "number": place,
        "colour": (place - 1) % N_COLOURS + 1,
        "name": name,
        "title": called or texts.fill("group", number=place),
        "named_by_study": by_study,
        "meaning": texts.own(meanings.get(name, "")) if by_study else "",
    }


def label_of(card: PageCard, place: int, texts: Wording) -> str:
    """Return what a card is called where it cannot be seen: its text, or else what its picture shows, or its place."""
    return card.text or card.alt or texts.fill("card", number=place)


def named_by_study(group: str) -> bool:
    """Whether a group is one of the study's categories, by its id."""
    return group.startswith("c")
