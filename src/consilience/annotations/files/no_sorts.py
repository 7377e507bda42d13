"""Wide tables that hold neither groups nor labels, with what they seem to be: percentages, rankings, questionnaires, …

Each function looks for one kind of table and raises an AnnotationError that says so. Where the cells alone cannot be
sure, ``kind="groupings"`` overrides it.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations.files.layout import ReadingRequest, first_list, quote
from consilience.annotations.files.orientation import n_with_gaps
from consilience.annotations.files.table import Table
from consilience.annotations.files.values import is_number
from consilience.annotations.files.vocabulary import COUNTS, NO_PERSON, normal, role_of_name
from consilience.annotations.keywords import columns_of_a_long_table, spell
from consilience.annotations.names import Coded
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
FEWEST_LEVELS, FEWEST_PEOPLE = 4, 3  # of numbers that may be ratings
MANY_WITH_GAPS, ALIKE = 0.2, 0.3  # share of people, correlation of their numbers: see `of_ratings`
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
    texts = {name: _texts(table.frame[name]) for name in columns}
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


def _texts(column: pd.Series) -> list[str]:
    return [
        "" if cell is None or cell != cell else str(cell).strip()
        for cell in np.asarray(column.array[:2000], dtype=object)
    ]


def _no(what: str) -> str:
    return f"{what} If it does contain groups, give {spell(kind='groupings')}."


def _share(texts: list[list[str]], pattern: re.Pattern[str]) -> float:
    filled = [text for column in texts for text in column if text]
    return sum(pattern.fullmatch(text) is not None for text in filled) / max(len(filled), 1)


def _refuse_events(columns: list[Any]) -> None:
    names = {normal(name) for name in columns}
    if names & TIMES_OF_EVENTS and names & (OF_EVENTS - {"x", "y"}):
        raise AnnotationError(
            _no(
                f"This is a log of events ({quote(columns)}), which may move a card several times. Keep each card's "
                "last place, in a table with the columns participant, card and group."
            )
        )


def _refuse_parts(columns: list[Any], texts: dict[Any, list[str]]) -> None:
    """Refuse labels of spans of texts and of boxes in pictures."""
    places = {normal(name).replace(" ", ""): name for name in columns if _holds_places(texts[name])}
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
            _no("This is a table of paths, such as those of a tree test: its cells are steps from page to page.")
        )


def _refuse_choices(columns: list[Any]) -> None:
    ranked = [name for name in columns[1:] if RANKED.fullmatch(normal(name))]
    if len(ranked) > 1 and len(ranked) >= len(columns[1:]) / 2:
        raise AnnotationError(_no(f"This is a table of ranked choices ({quote(ranked)}). Ranks are no groups."))


def _refuse_questions(columns: list[Any], texts: dict[Any, list[str]]) -> None:
    """Refuse questionnaires: several different questions. One question about each card is a sort."""
    others = columns[1:]
    asked = [name for name in others if QUESTION.match(str(name))]
    scales = [name for name in others if SCALES.fullmatch(normal(name))]
    if len(scales) > len(others) / 2:
        raise AnnotationError(_no(f"This is a questionnaire ({quote(scales)}); its columns are ratings, not groups."))
    if asked and len(asked) >= len(others) / 2 and not _share_their_words(asked):
        raise AnnotationError(
            _no(f"This is a questionnaire ({quote(asked)}): its columns are different questions, not cards or people.")
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
        raise AnnotationError(_no(f"This is a list of people, with what is known of each ({quote(columns)})."))
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
    texts = {name: {text.casefold() for text in _texts(table.frame[name]) if text} for name in others}
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
            _no(
                "This table marks one of its columns in each row, so its columns are categories, not people. Make a "
                "table with the columns participant, card and category."
            )
        )


def refuse_decimals(cells: Coded, request: ReadingRequest) -> None:
    """Raise an AnnotationError if all cells are numbers and some have decimals, as ratings and measurements do."""
    names = [str(name).strip().replace(",", ".", 1) for name in cells.names]
    if request.kind is not None or not names or not all(map(is_number, names)):
        return
    fractions = [shown for name, shown in zip(names, cells.names) if float(name) % 1]
    if fractions:
        raise AnnotationError(
            _no(
                f"This seems to be a table of ratings or measurements, since its numbers have decimals, such as "
                f"{fractions[0]}. They are no groups; give them as features."
            )
        )


def refuse_rankings(cells: Coded, n_columns: int, request: ReadingRequest, *, in_rows: bool) -> None:
    """Raise an AnnotationError if nearly all annotators gave every item another number, from 1 to n.

    A few people who put every card into a group of its own are no ranking.
    """
    if request.kind is not None or not pd.api.types.is_integer_dtype(cells.names) or not len(cells.names):
        return
    values = np.append(cells.names.to_numpy(np.int64), -1)[cells.codes].reshape(-1, n_columns)
    by_person = values if in_rows else values.T
    n_filled = (by_person >= 0).sum(1)
    by_person = by_person[n_filled >= FEWEST]
    if len(by_person) < 2 or by_person.shape[1] <= FEWEST:
        return
    ordered = np.sort(by_person, axis=1)
    differ = ((ordered[:, 1:] != ordered[:, :-1]) | (ordered[:, 1:] < 0)).all(1)
    whole = np.array([n_with_gaps(row[None]) == 0 for row in by_person])
    if (differ & whole).mean() >= NEARLY_ALL:
        raise AnnotationError(
            f"This is a table of rankings: nearly everybody gave each item another number, from 1 to n. Ranks are no "
            f"groups. If everybody kept all items apart, give {spell(kind='groupings')}."
        )


def refuse_similar_to_themselves(table: Table, key: Any, others: list[Any]) -> None:
    """Raise an AnnotationError for a square table of numbers that is symmetric, or whose sides share their names."""
    texts = []
    for name in others if len(others) >= FEWEST else ():
        texts.append(_texts(table.frame[name]))
        held = [text.rstrip("%").strip() for text in texts[-1] if text]
        if not all(is_number(text) or text in {"-", "x", "X", "—"} for text in held):
            return  # of tens of thousands of columns, not all are read
    if not any(text for column in texts for text in column):
        return
    rows = [] if key is None else [str(name).strip().casefold() for name in table.frame[key]]
    shared = set(rows) & {str(name).strip().casefold() for name in others}
    share_names = len(shared) >= NEARLY_ALL * (max(len(rows), len(others)) - 1) and len(shared) > 1
    if share_names or _is_symmetric(texts):
        raise AnnotationError(
            "This is a table of similarities: its rows and columns are the same items. Individual groupings cannot be "
            "recovered from it; export each person's groups."
        )


def _is_symmetric(texts: list[list[str]]) -> bool:
    n = len(texts)
    if any(len(column) != n for column in texts) or n <= FEWEST:
        return False
    values = np.array(
        [[float(t.rstrip("%")) if is_number(t.rstrip("% ")) else np.nan for t in column] for column in texts]
    )
    below, above = np.tril_indices(n, -1), np.triu_indices(n, 1)
    diagonal = np.diag(values)
    diagonal = diagonal[~np.isnan(diagonal)]
    one_triangle = np.isnan(values[below]).all() != np.isnan(values[above]).all()
    symmetric = np.array_equal(values[below], values.T[below], equal_nan=True) and not np.isnan(values[below]).all()
    constant = len(set(diagonal.tolist())) <= 1
    is_extreme = not len(diagonal) or diagonal[0] in {np.nanmax(values), np.nanmin(values)}
    return bool(constant and is_extreme and (one_triangle or symmetric) and len(set(values[below].tolist())) > 1)


def refuse_properties_of_people(cells: Coded, n_columns: int, request: ReadingRequest, *, in_rows: bool) -> None:
    """Raise an AnnotationError if no two columns share a value, in a table with a row for each person."""
    if request.kind is not None or request.transpose is not None or not in_rows:
        return
    codes = cells.codes.reshape(-1, n_columns)
    if n_columns < 2 or len(codes) < FEWEST:
        return
    used = [set(column[column >= 0].tolist()) for column in codes.T]
    if sum(map(len, used)) == len(set().union(*used)) and any(len(values) > 1 for values in used):
        raise AnnotationError(
            "The columns share no value, so that nobody put two of them together: they seem to be properties of "
            "people or questions to them, not items. If everybody kept all items apart, give "
            f"{spell(transpose=True)}."
        )


def of_ratings(item: Coded, owner: Coded, group: Coded) -> str | None:
    """Ask whether groups that are numbers are ratings, None if people seem to have numbered their piles.

    Who numbers piles leaves no number out. Of 19 recorded sorts with numbers, at most one person in a hundred did; and
    where all went up to the same number, two people's numbers correlated by at most .17.
    """
    if not pd.api.types.is_integer_dtype(group.names) or len(group.names) < FEWEST_LEVELS:
        return None
    rows = np.flatnonzero(~(item.missing | owner.missing | group.missing))
    who, what, level = owner.codes[rows], item.codes[rows], group.names.to_numpy(np.int64)[group.codes[rows]]
    of_person = pd.DataFrame({"who": who, "level": level}).groupby("who")["level"].agg(["min", "max", "nunique"])
    if len(of_person) < FEWEST_PEOPLE:
        return None
    with_gaps = (of_person["min"] > 1) | (of_person["max"] - of_person["min"] + 1 > of_person["nunique"])
    low, high = int(level.min()), int(level.max())
    if with_gaps.mean() >= MANY_WITH_GAPS:
        why = f"{int(with_gaps.sum()):,} of {len(with_gaps):,} annotators leave some of {low} to {high} out"
    elif _are_numbered_as_they_came(who, level):
        return None
    elif (of_person["max"] == high).mean() >= NEARLY_ALL and _correlate(what, who, level) >= ALIKE:
        why = f"nearly everybody goes up to {high}, for the same items"
    else:
        return None
    return (
        f"the groups are numbers, and {why}; are they ratings? Ratings are no groups, as 3 is near 4 "
        f"({spell(kind='labels')} if they are classes that all share)"
    )


def _are_numbered_as_they_came(person: np.ndarray, level: np.ndarray) -> bool:
    """Whether nearly everybody's first items of the numbers stand in the order of these, unlike ratings."""
    first = pd.DataFrame({"person": person, "level": level}).drop_duplicates()
    rises = first.groupby("person")["level"].agg(lambda levels: levels.is_monotonic_increasing)
    return bool(rises.mean() >= NEARLY_ALL)


def _correlate(item: np.ndarray, person: np.ndarray, level: np.ndarray) -> float:
    """Return the mean product of two people's standardised numbers of an item."""
    rows = pd.DataFrame({"person": person, "item": item, "level": level.astype(float)})
    by_person = rows.groupby("person")["level"]
    spread = by_person.transform("std", ddof=0)
    rows["score"] = ((rows["level"] - by_person.transform("mean")) / spread.where(spread > 0, 1)).to_numpy()
    total = rows.groupby("item")["score"].agg(["sum", "count"])
    n_pairs = (total["count"] * (total["count"] - 1)).sum()
    return float(((total["sum"] ** 2).sum() - (rows["score"] ** 2).sum()) / max(n_pairs, 1))


def of_q_sort(cells: Coded, n_columns: int, *, in_rows: bool) -> str | None:
    """Note that piles have an order, as in a Q-sort: everybody has as many items in each of five or more piles."""
    if not pd.api.types.is_integer_dtype(cells.names) or len(cells.names) < 5 or cells.has_missing:
        return None
    values = cells.names.to_numpy(np.int64)[cells.codes].reshape(-1, n_columns)
    by_person = values if in_rows else values.T
    if len(by_person) < 2 or by_person.shape[1] < 8:
        return None
    ordered = np.sort(by_person, axis=1)
    forced = (ordered == np.median(ordered, axis=0)).all(1).mean() >= NEARLY_ALL
    signed = values.min() < -1 and values.max() > 0 and -values.min() == values.max()
    if not (
        signed or (forced and len(set(ordered[0].tolist())) >= 5 and len(set(ordered[0].tolist())) < ordered.shape[1])
    ):
        return None
    return (
        f"the piles {values.min()} to {values.max()} seem to have an order, as in a Q-sort; it is not used: piles are "
        "read as groups"
    )
