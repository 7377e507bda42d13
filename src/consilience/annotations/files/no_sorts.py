"""Wide tables that hold neither groups nor labels, with what they seem to be: percentages, rankings, questionnaires, …

Each function looks for one kind of table and raises an AnnotationError that says so. Where the cells alone cannot be
sure, ``kind="groupings"`` overrides it.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np

from consilience.annotations.files.layout import ReadingRequest, first_list, quote
from consilience.annotations.files.table import Table
from consilience.annotations.files.values import is_number
from consilience.annotations.files.vocabulary import COUNTS, NO_PERSON, normal, role_of_name
from consilience.annotations.keywords import columns_of_a_long_table, spell
from consilience.errors import AnnotationError

PERCENT = re.compile(r"[-+]?\d+(?:[.,]\d+)?\s*%|%\s*\d+")
PATH = re.compile(r"[^>›»→/\\]+(?:\s*(?:>|›|»|→)\s*[^>›»→]+)+|/?\w[^/]*(?:/[^/]+){2,}/?")
AGGREGATES = {
    *COUNTS,
    *("agreement", "agreement %", "agreement rate", "agreement score", "popularity", "popular", "frequency", "times"),
    *("frequency %", "times sorted", "times placed", "unique cards", "cards", "sorted by", "support", "votes", "share"),
    *("number of cards", "total cards", "percent", "proportion", "rate", "n cards", "n participants", "participants"),
    *(
        "number of times",
        "occurrences",
        "co occurrence",
        "cooccurrence",
        "similarity",
        "placements",
        "highest agreement",
    ),
    *(
        "häufigkeit",
        "anzahl",
        "übereinstimmung",
        "fréquence",
        "accord",
        "frecuencia",
        "acuerdo",
        "frequenza",
        "accordo",
    ),
    *("average position", "mean position", "position", "top category", "most popular", "sorted into", "median rank"),
}
PERSONAL = re.compile(
    r"\b(age|gender|sex|country|nationality|city|region|state|zip|postcode|language|occupation|profession|job|role|title"
    r"|company|employer|department|team|industry|education|degree|income|salary|email|e mail|phone|telephone|mobile"
    r"|name|surname|address|birth\w*|born|ethnicity|race|religion|marital\w*|children|household|device|browser|os|platform"
    r"|segment|cohort|persona|tenure|wave|user (type|group)|customer (type|group)"
    r"|screen|consent|incentive|reward|payment|recruit\w*|source|panel|experience|expertise|seniority|handedness|vision"
    r"|alter|geschlecht|beruf|âge|sexe|edad|sexo|età|sesso|leeftijd|geslacht|wiek|yaş|возраст|пол|年龄|年齢|性别|性別)\b"
)
OF_THINGS = re.compile(
    r"\b(description|price|cost|url|link|sku|stock|quantity|qty|author|year|publisher|brand|manufacturer|status|assignee"
    r"|priority|created|updated|due|owner|severity|version|size|colou?r|weight|height|width|length|sprint|epic|points"
    r"|estimate|isbn|genre|type|format|language|duration|views|likes|followers|rank|order|sequence|notes?|comments?)\b"
)
SCALES = re.compile(
    r"(sus|umux( lite)?|nps|csat|ueq|tlx|nasa tlx|panas|bfi|phq|gad|csuq|sumi|attrakdiff|ssq|pss)( ?q?\d+| score| .*)?"
)
QUESTION = re.compile(r".*[?？؟][\s*:.]*$", re.DOTALL)
RANKED = re.compile(
    r"(\d+ ?(st|nd|rd|th|er|e)|first|second|third|fourth|fifth|erste|zweite|dritte)[ .]*"
    r"(choice|rank|preference|place|pick|wahl|choix)"
    r"|(choice|rank|preference|pick|place|wahl|rang|choix) ?\d+"
)
OF_EVENTS = {"event", "action", "event type", "action type", "interaction", "operation", "move", "x", "y"}
TIMES_OF_EVENTS = {"time", "timestamp", "time stamp", "ts", "datetime", "elapsed", "ms", "time ms"}
OF_PARTS = [  # columns that say which part of an item a row is about
    *(
        {"start", "end"},
        {"begin", "end"},
        {"startoffset", "endoffset"},
        {"startchar", "endchar"},
        {"beginchar", "endchar"},
    ),
    *({"x", "y", "width", "height"}, {"x", "y", "w", "h"}, {"left", "top", "width", "height"}),
    *({"xmin", "ymin", "xmax", "ymax"}, {"x1", "y1", "x2", "y2"}, {"left", "top", "right", "bottom"}),
]
LARGEST_PLACE = 1e7  # in a text or a picture; larger numbers are times
FEWEST = 3
NEARLY_ALL = 0.8
MARKS = {"x", "✓", "✔", "✗", "1", "yes", "true", "y", "•", "●", "ja", "oui", "sí", "si"}


def refuse_no_sorts(table: Table, request: ReadingRequest) -> None:
    """Raise an AnnotationError for a table that holds no groups or labels, and say what it seems to be.

    Only what the names of columns and single cells show is judged here; see also `refuse_rankings` and the others,
    which need to know where the annotators are.
    """
    if request.kind is not None or request.columns:
        return
    columns = [name for name in table.columns if name not in request.ignore]
    roles = {found.role for name in columns if (found := role_of_name(name)) is not None}
    if len(columns) < 2 or not len(table.frame) or first_list(table.frame.iloc[:, 0]) is not None:
        return
    texts = table.texts
    _refuse_aggregates(columns, texts)
    _refuse_parts(columns, texts)
    if "annotator" in roles and roles & {"group", "label", "same"}:
        return  # a long table, whatever else it has
    _refuse_events(columns)
    _refuse_percentages(columns, texts)
    _refuse_paths(columns, texts)
    _refuse_choices(columns)
    _refuse_questions(columns, texts)
    _refuse_properties(columns, texts)
    _refuse_marks(table, columns, texts)


def say_no_sort(what: str) -> str:
    """Return the sentence on a table that is no sort, with what to do if it is one."""
    return f"{what} If it does contain groups, give {spell(kind='groupings')}."


def _share(texts: list[list[str]], pattern: re.Pattern[str]) -> float:
    filled = [text for column in texts for text in column if text]
    return sum(pattern.fullmatch(text) is not None for text in filled) / max(len(filled), 1)


def _refuse_events(columns: list[Any]) -> None:
    names = {normal(name) for name in columns}
    if names & TIMES_OF_EVENTS and names & (OF_EVENTS - {"x", "y"}):
        raise AnnotationError(
            say_no_sort(
                f"This is a log of events ({quote(columns)}), which may move a card several times. Keep each card's "
                "last place, in a table with the columns participant, card and group."
            )
        )


def _refuse_parts(columns: list[Any], texts: dict[Any, list[str]]) -> None:
    """Refuse labels of spans of texts and of boxes in pictures."""
    heads = {name: normal(name).replace(" ", "") for name in columns}
    may_be = set().union(*OF_PARTS)
    places = {head: name for name, head in heads.items() if head in may_be and _holds_places(texts[name])}
    part: set[str] = next((names for names in OF_PARTS if names <= places.keys()), set())
    found = [places[name] for name in places if name in part]
    if found and any((head := role_of_name(name)) is not None and head.role == "label" for name in columns):
        raise AnnotationError(
            f"Each row labels a part of an item, which {quote(found)} name, and not the whole. If they do label whole "
            f"items, give {spell(kind='labels')}."
        )


def _holds_places(texts: list[str]) -> bool:
    return _is_numeric(texts) and all(abs(float(text)) < LARGEST_PLACE for text in texts if is_number(text))


def _refuse_percentages(columns: list[Any], texts: dict[Any, list[str]]) -> None:
    if _share([texts[name] for name in columns[1:]], PERCENT) > 0.5:
        raise AnnotationError(
            "This is a table of percentages, such as of the people who put each card into each category. Individual "
            "groupings cannot be recovered from it; export each person's groups."
        )


def _refuse_aggregates(columns: list[Any], texts: dict[Any, list[str]]) -> None:
    """Refuse results that are counted over people: as many columns of counts as of anything else, or more."""
    found = [name for name in columns[1:] if normal(name) in AGGREGATES and _is_numeric(texts[name])]
    rest = [name for name in columns if name not in found]
    heads = {head.role for name in rest if (head := role_of_name(name)) is not None}
    if {"item", "group"} <= heads and any(normal(name) in COUNTS for name in found):
        return  # `long_table` says the same of it
    are_sure = any(role_of_name(name) is None for name in found)
    if are_sure and "annotator" not in heads and (len(rest) <= 2 or len(found) >= len(rest) / 2):
        raise AnnotationError(
            f"This is a table of results over all people: {quote(found)} count or average them. Individual groupings "
            "cannot be recovered from it; export each person's groups."
        )


def _is_numeric(texts: list[str]) -> bool:
    filled = [text for text in texts if text]
    return bool(filled) and sum(is_number(text.rstrip("%").strip()) for text in filled) > NEARLY_ALL * len(filled)


def _refuse_paths(columns: list[Any], texts: dict[Any, list[str]]) -> None:
    if _share([texts[name] for name in columns[1:]], PATH) > 0.5:
        raise AnnotationError(
            say_no_sort(
                "This is a table of paths, such as those of a tree test: its cells are steps from page to page."
            )
        )


def _refuse_choices(columns: list[Any]) -> None:
    ranked = [name for name in columns[1:] if RANKED.fullmatch(normal(name))]
    if len(ranked) > 1 and len(ranked) >= len(columns[1:]) / 2:
        raise AnnotationError(say_no_sort(f"This is a table of ranked choices ({quote(ranked)}). Ranks are no groups."))


def _refuse_questions(columns: list[Any], texts: dict[Any, list[str]]) -> None:
    """Refuse questionnaires: several different questions. One question about each card is a sort."""
    others = columns[1:]
    asked = [name for name in others if QUESTION.match(str(name))]
    scales = [name for name in others if SCALES.fullmatch(normal(name))]
    if len(scales) > len(others) / 2:
        raise AnnotationError(
            say_no_sort(f"This is a questionnaire ({quote(scales)}); its columns are ratings, not groups.")
        )
    if asked and len(asked) >= len(others) / 2 and not _share_their_words(asked):
        raise AnnotationError(
            say_no_sort(
                f"This is a questionnaire ({quote(asked)}): its columns are different questions, not cards or people."
            )
        )


def _share_their_words(names: list[Any]) -> bool:
    """Whether questions differ in a part only, as those about one card each do."""
    words = [str(name).casefold().split() for name in names]
    if len(words) < 2:
        return False

    def common(words: list[list[str]]) -> int:
        count = 0
        for place in zip(*words):
            if len(set(place)) > 1:
                break
            count += 1
        return count

    begin, end = common(words), common([each[::-1] for each in words])
    return begin > 0 and begin + end >= 0.6 * float(np.mean([len(each) for each in words]))


def _refuse_properties(columns: list[Any], texts: dict[Any, list[str]]) -> None:
    """Refuse lists of people or things with properties: no value stands in two columns, as groups of cards do."""
    others = columns[1:]
    of_people = [name for name in others if PERSONAL.search(normal(name))]
    of_things = [name for name in others if OF_THINGS.search(normal(name)) and name not in of_people]
    known = [name for name in others if name in [*of_people, *of_things] or normal(name) in NO_PERSON]
    if (
        len(known) < 0.6 * len(others)
        or not (of_people or of_things)
        or _share_values([texts[name] for name in others])
    ):
        return
    head = role_of_name(columns[0])
    about_people = len(of_people) >= len(of_things) and (head is None or head.role != "item")
    if about_people:
        raise AnnotationError(say_no_sort(f"This is a list of people, with what is known of each ({quote(columns)})."))
    raise AnnotationError(of_records(columns))


def of_records(columns: list[Any]) -> str:
    """Say that a table holds things with properties, and how to read it if it does not."""
    return (
        f"The table looks like records with properties ({quote(columns)}), not like groups. If its rows say who put "
        f"which item where, name the columns: {columns_of_a_long_table()}. If its columns are people or items: "
        f"{spell(kind='groupings', ignore=...)}."
    )


def of_the_people(table: Table, key: Any, others: list[Any]) -> list[Any]:
    """Return the columns of a table with a row for each person that are properties of people, such as age group.

    Their names say so, and their values stand in no other column, unlike the groups of cards that are called so.
    """
    head = None if key is None else role_of_name(key)
    if head is None or head.role != "annotator":
        return []
    personal = [name for name in others if PERSONAL.search(normal(name))]
    if not personal:
        return []
    texts = {name: {text.casefold() for text in table.texts[name] if text} for name in others}
    n_columns = Counter(text for held in texts.values() for text in held)
    found = [name for name in personal if texts[name] and all(n_columns[text] == 1 for text in texts[name])]
    return found if len(found) < len(others) else []


def _share_values(columns: list[list[str]]) -> bool:
    """Whether a value occurs in two columns."""
    seen: set[str] = set()
    for texts in columns:
        values = {text.casefold() for text in texts if text}
        if values & seen:
            return True
        seen |= values
    return False


def _refuse_marks(table: Table, columns: list[Any], texts: dict[Any, list[str]]) -> None:
    """Refuse tables whose columns are categories, of which each row marks one."""
    others = columns[1:]
    held = {text.casefold() for name in others for text in texts[name]}
    marks = held - {"", "0", "no", "false", "n", "-"}
    if len(others) < FEWEST or len(table.frame) <= FEWEST or len(marks) != 1 or not marks <= MARKS:
        return
    marked = np.array([[text.casefold() in marks for text in texts[name]] for name in others]).sum(0)
    if (marked == 1).mean() > 0.9:
        raise AnnotationError(
            say_no_sort(
                "This table marks one of its columns in each row, so its columns are categories, not people. Make a "
                "table with the columns participant, card and category."
            )
        )
