"""Usual column names in users' tables, and what such columns contain."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

ITEM = (
    "item object card statement question task product sample use image picture photo document doc stimulus instance "
    "example sentence text word concept term query record unit passage snippet clip video audio tweet comment post "
    "article site page entity patient specimen case wine beer food img pic"
)
ANNOTATOR = (
    "annotator participant worker user rater assessor performer sorter coder judge panelist panellist expert "
    "respondent labeler labeller reviewer contributor evaluator grader crowdworker subject person informant "
    "interviewee student username email physician pathologist radiologist doctor nurse teacher"
)
GROUPING = "grouping sort session sorting trial round occasion"
GROUP = "group category pile cluster bucket folder theme"
LABEL = "label answer value response judgment judgement annotation rating class vote choice verdict decision"
SAME = "same match matching equal together similar similarity sim duplicate linked relation relatedness"

OTHER_LANGUAGES = {  # German, French, Spanish, Italian
    "item": "karte karten begriff produkt produkte probe muster aussage bild objekt carte produit échantillon mot "
    "objet énoncé tarjeta producto muestra imagen objeto carta prodotto campione",
    "annotator": "vp vpn teilnehmer teilnehmerin proband probandin prüfer bewerter befragte nutzer participante juge "
    "sujet évaluateur dégustateur personne juez evaluador usuario sujeto persona partecipante giudice utente",
    "grouping": "durchgang runde sitzung séance tour ronda sesión sessione",
    "group": "gruppe kategorie stapel haufen groupe catégorie grupo categoría montón gruppo categoria",
    "label": "antwort urteil bewertung réponse étiquette respuesta etiqueta risposta etichetta",
}

WORDS = {
    word: role
    for role, words in [
        ("item", ITEM),
        ("annotator", ANNOTATOR),
        ("grouping", GROUPING),
        ("group", GROUP),
        ("label", LABEL),
        ("same", SAME),
    ]
    for word in words.split()
}
FOREIGN = {word: role for role, words in OTHER_LANGUAGES.items() for word in words.split()}
WEAK = {  # words that also name other columns about items, people and their answers
    *("comment", "text", "post", "word", "site", "page", "entity", "clip", "value", "response", "person", "subject"),
    *("email", "username", "rating", "round", "theme", "folder", "code"),
}
CANONICAL = {"item", "annotator", "grouping", "group", "label", "same", "item a", "item b"}
IDENTIFIERS = {
    "id",
    "uid",
    "guid",
    "ids",
    "no",
    "nr",
    "number",
    "num",
    "code",
    "index",
    "key",
    "uuid",
    "hash",
    "identifier",
}
TEXTS = {"name", "names", "label", "title", "text", "string"}
BY_SOMEBODY = re.compile(r"(created|labell?ed|annotated|completed|reviewed|rated|judged|sorted|coded) by")
OPPOSITES = {"dissimilarity", "dissimilar", "distance", "difference", "different", "unlike"}
SIDES = [
    ("ltable", "rtable"),
    ("l", "r"),
    ("lhs", "rhs"),
    ("a", "b"),
    ("1", "2"),
    ("i", "j"),
    ("x", "y"),
    ("left", "right"),
    ("first", "second"),
    ("one", "two"),
]
NEUTRAL = {
    "",
    "id",
    "ids",
    "index",
    "name",
    "names",
    "nr",
    "no",
    "number",
    "key",
    "row",
    "rows",
    "unnamed: 0",
    "unnamed 0",
    "x",
}
NO_PERSON = {
    *(
        "description",
        "descriptions",
        "comment",
        "comments",
        "note",
        "notes",
        "remark",
        "remarks",
        "explanation",
        "reason",
    ),
    *(
        "time",
        "timestamp",
        "date",
        "datetime",
        "duration",
        "duration in seconds",
        "duration seconds",
        "seconds",
        "minutes",
    ),
    *("start", "end", "start date", "end date", "start time", "end time", "started", "started at", "completed at"),
    *("recorded date", "created at", "updated at", "submitted at", "finished", "progress", "status", "completed"),
    *("age", "gender", "sex", "country", "language", "user language", "ip address", "location"),
    *("location latitude", "location longitude", "distribution channel", "external reference", "recipient last name"),
    *("recipient first name", "recipient email", "occupation", "education", "url", "link", "device", "browser"),
    *("total", "totals", "sum", "mean", "average", "median", "std", "count", "counts", "frequency", "n", "percentage"),
    *("truth", "gold", "gold label", "true label", "true class", "ground truth", "target", "consensus", "majority"),
    *("majority vote", "correct", "correct answer", "reference", "split", "weight", "confidence", "most frequent"),
    *("mode", "cond", "condition", "seed", "lastpage", "last page", "startlanguage", "start language", "submitdate"),
    *("date submitted", "startdate", "datestamp", "zeitstempel", "kommentar", "bemerkung", "bemerkungen", "alter"),
    *("geschlecht", "horodateur", "commentaire", "commentaires", "âge", "sexe", "marca temporal", "edad", "sexo"),
    *("redcap event name", "redcap repeat instrument", "redcap repeat instance", "redcap survey identifier"),
    *("created time", "last edited time", "due date", "due", "attachment count", "number of groups", "groups used"),
}
KNOWN_CLASSES = {"truth", "gold", "gold label", "true label", "true class", "ground truth", "target", "correct answer"}
COUNTS = {"count", "counts", "frequency", "percentage", "percent", "percentage %", "n", "number of participants"}
TOTALS = {"total", "totals", "sum", "grand total", "gesamt", "summe", "subtotal", "mean", "average"}
TIMES = {
    *("time", "timestamp", "date", "datetime", "session", "created", "created at", "submitted at", "submit time"),
    *(
        "accept time",
        "updated at",
        "started",
        "started at",
        "assignment",
        "assignment id",
        "trial",
        "hit",
        "hitid",
        "hit id",
    ),
}


@dataclass(frozen=True)
class Named:
    """What the name of a column says about its contents.

    Attributes
    ----------
    role : {"item", "annotator", "grouping", "group", "label", "same"}
    noun : str
        The word that was recognised, in the singular.
    part : {"", "identifier", "text"}
        Whether the column contains identifiers, texts, or either.
    """

    role: str
    noun: str
    part: str = ""


@lru_cache(maxsize=32_768)
def normal(name: Any) -> str:
    """Return a name in lower case, with single spaces between words.

    Examples
    --------
    >>> [normal(name) for name in ("Card_Label", "participantID", " Sort.ID ", "HITId", 7)]
    ['card label', 'participant id', 'sort id', 'hit id', '7']
    """
    text = unicodedata.normalize("NFKC", str(name))
    text = re.sub(r"(?<=[a-zß-ÿ0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text)  # itemId and HTMLText become words
    return re.sub(r"[\s_.\-/()#]+", " ", text).strip().casefold()


def named(name: Any) -> Named | None:
    """Return what the name of a column says about its contents, None if it is not recognised.

    Examples
    --------
    >>> named("card_label")
    Named(role='item', noun='card', part='text')
    >>> named("UserID")
    Named(role='annotator', noun='user', part='identifier')
    >>> named("seconds") is None
    True
    """
    words = normal(name).split()
    part = ""
    if words and words[0] in {"is", "are", "the"}:
        words = words[1:]
    if words in (["email", "address"], ["e", "mail"], ["e", "mail", "address"]):
        words = ["email"]
    if BY_SOMEBODY.fullmatch(" ".join(words)):
        return Named("annotator", "annotator")
    if len(words) == 3 and words[1:] == ["row", "id"]:  # data row id
        return Named("item", "item", "identifier")
    if words and words[0] in OPPOSITES:
        return Named("same", "same")
    if len(words) == 3 and words[1] == "in":  # cards in pile
        words = words[:1]
    if len(words) == 2 and words[1] in IDENTIFIERS | TEXTS:
        part = "identifier" if words[1] in IDENTIFIERS else "text"
        words = words[:1]
    if len(words) == 1:
        glued = re.fullmatch(r"(\w{3,}?)(id|name|no|nr)", words[0])
        if not part and glued and _singular(glued[1]) in WORDS and words[0] not in WORDS:
            words, part = [glued[1]], "text" if glued[2] == "name" else "identifier"
        noun = _singular(words[0])
        if noun in WORDS:
            return Named(WORDS[noun], noun, part)
        if words[0] in FOREIGN:
            return Named(FOREIGN[words[0]], FOREIGN[words[0]], part)
    return None


def _singular(word: str) -> str:
    if word in WORDS:
        return word
    for ending, instead in (("ies", "y"), ("es", ""), ("s", ""), ("i", "us")):
        if word.endswith(ending) and word.removesuffix(ending) + instead in WORDS:
            return word.removesuffix(ending) + instead
    return word


def plural(noun: str) -> str:
    """Return the plural of a noun.

    Examples
    --------
    >>> [plural(noun) for noun in ("card", "category", "stimulus", "class")]
    ['cards', 'categories', 'stimuli', 'classes']
    """
    if noun.endswith("us"):
        return noun[:-2] + "i"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "ch", "x")) else "s")


def is_plural(name: Any) -> bool:
    """Whether the name of a column begins with the plural of a known word, such as cards.

    Examples
    --------
    >>> is_plural("Cards in pile"), is_plural("stimulus"), is_plural("card")
    (True, False, False)
    """
    word = (normal(name).split() or [""])[0]
    return word not in WORDS and _singular(word) in WORDS


def with_article(noun: str) -> str:
    """Return a noun with "a" or "an" before it.

    Examples
    --------
    >>> with_article("answer"), with_article("user"), with_article("card")
    ('an answer', 'a user', 'a card')
    """
    return f"{'an' if noun[:1] in 'aeio' else 'a'} {noun}"


def paired(columns: list[Any]) -> list[tuple[Any, Any, str]]:
    """Return pairs of columns whose names differ only in a side, such as left and right, with the word that they share.

    Examples
    --------
    >>> paired(["item_a", "item_b", "annotator", "same"])
    [('item_a', 'item_b', 'item')]
    >>> paired(["left", "right", "worker", "label"])
    [('left', 'right', '')]
    """
    split: dict[tuple[str, str], Any] = {}
    for column in columns:
        words = re.sub(r"(?<=[a-z])(?=[12]\b)", " ", normal(column)).split()
        for place in {0, len(words) - 1} if words else ():
            rest = " ".join([*words[:place], *words[place + 1 :]])
            split.setdefault((rest, words[place]), column)
    return [
        (split[rest, one], split[rest, other], rest)
        for rest, one in list(split)
        for first, other in SIDES
        if one == first and (rest, other) in split
    ]
