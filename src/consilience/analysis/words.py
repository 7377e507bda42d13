"""What a reader calls items and annotators: cards and participants, products and assessors, patients and experts.

Reports, plots and summaries speak of items and annotators in the words of `current_words`, which `use_words` sets for a
``with`` block, as matplotlib's ``rc_context`` sets a style.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from consilience.analysis.names import width
from consilience.analysis.nouns import capital, last_word, plural_of, possessive, singular, with_article
from consilience.annotations.files.vocabulary import WORDS as KNOWN
from consilience.annotations.files.vocabulary import pair_sides, role_of_name
from consilience.errors import InputError

LONGEST = 30  # columns of a word
MARKS = " -&'’."  # single ones may stand between letters
TAKEN = {  # words that mean something else in a report
    *("cluster", "class", "group", "grouping", "label", "pair", "judgement", "view", "subset", "clusters", "classes"),
    *("groups", "groupings", "labels", "pairs", "judgements", "views", "subsets"),
}
SPELLED_OUT = {"img": "image", "pic": "picture", "doc": "document"}  # names of columns that are no words
SORTERS = {  # they say what they think goes together, which is neither right nor wrong
    *("participant", "respondent", "user", "customer", "visitor", "consumer", "interviewee", "informant", "sorter"),
    *(
        "assessor",
        "panelist",
        "panellist",
        "taster",
        "teilnehmer",
        "befragte",
        "participante",
        "partecipante",
        "deelnemer",
    ),
}
SORTED = {
    "card",
    "statement",
    "product",
    "karte",
    "carte",
    "tarjeta",
    "carta",
    "kaart",
    "aussage",
    "produkt",
    "produit",
}
OF_SENSES = {  # words of sensory science
    *(
        "assessor",
        "panelist",
        "panellist",
        "taster",
        "judge",
        "consumer",
        "product",
        "sample",
        "stimulus",
        "wine",
        "beer",
    ),
    *("food", "perfume", "smell", "aroma", "spice", "juice"),
}
UNSAID = {"item", "annotator", "use", "email", "username"}  # names of columns that do not say what is in them
_OWN = re.compile(r"\b(an? |An? )?([Ii]tem|[Aa]nnotator)(s?)\b((?<=s)'(?!s))?")
_READ_AS = re.compile(r"(?:^|of pairs of )[\d,]+ ([^\d,×]+) × [\d,]+ ([^\d,×]+),")
_SIDES = re.compile(r"long table of pairs \(([^,()]+), ([^,()]+),")  # the columns of both items of a pair


def _require_word(word: Any) -> None:
    if not isinstance(word, str) or not _is_word(word) or width(word) > LONGEST:
        raise InputError(
            f"A word for items or annotators must have 1 to {LONGEST} letters or digits, begin with a letter, and have "
            f"nothing but single blanks, hyphens, apostrophes, full stops and & between them. Got {_cut(word)}."
        )
    if word.casefold() in TAKEN:
        raise InputError(f"{word!r} means something else in a report; give another word for items or annotators.")


def _is_word(text: str) -> bool:
    """Whether a text has letters and digits only, begins with a letter, and has no two marks in a row."""
    as_one = ["m" if letter in MARKS else "a" if _is_letter(letter) else "" for letter in text]
    return bool(text) and text[0].isalpha() and "" not in as_one and "mm" not in "".join(as_one) and as_one[-1] == "a"


def _is_letter(character: str) -> bool:
    """Whether it is a letter, a digit, or belongs to the letter before it, as a vowel sign does."""
    return character.isalnum() or unicodedata.category(character) in ("Mn", "Mc")


def _cut(value: Any) -> str:
    text = str(value)
    return repr(text if len(text) <= 2 * LONGEST else f"{text[: 2 * LONGEST]}…")


@dataclass(frozen=True)
class Words:
    """What the reader calls an item and an annotator, in the singular and the plural.

    Properties with a capital begin a sentence, a heading or a cell.

    Parameters
    ----------
    item, items, annotator, annotators : str
        Up to 30 letters and digits each, with single blanks, hyphens, apostrophes, full stops and ``&`` between them.

    Raises
    ------
    InputError
        A word is empty, too long, has other characters, or has another meaning in a report, such as "clusters"; or
        both are the same.

    Examples
    --------
    >>> from consilience.inspection import Words
    >>> words = Words.of("cards,participants")
    >>> words
    Words(item='card', items='cards', annotator='participant', annotators='participants')
    >>> f"{words.Items} that no {words.annotator} sorted"
    'Cards that no participant sorted'
    """

    item: str = "item"
    items: str = "items"
    annotator: str = "annotator"
    annotators: str = "annotators"

    def __post_init__(self) -> None:
        for word in (self.item, self.items, self.annotator, self.annotators):
            _require_word(word)
        for one, other in ((self.item, self.annotator), (self.items, self.annotators)):
            if one.casefold() == other.casefold():
                raise InputError(f"Items and annotators need different words. Got {one!r} for both.")

    @classmethod
    def of(cls, words: Any, read_as: str = "") -> Words:
        """Return the words that a user gave, else those by which the columns of the file are named.

        Parameters
        ----------
        words : Words, str or None
            As text: the plurals of both, separated by a comma, such as ``"cards,participants"``. Where the singular
            does not follow from the plural, it is given after a slash: ``"Karten/Karte,Personen/Person"``.
        read_as : str
            How the annotations were read, ``annotations.reading.how``: used if `words` is None.

        Raises
        ------
        InputError
            The text is of another form, or a singular is not known.

        Examples
        --------
        >>> Words.of(None, "20 cards × 107 participants, long table of groupings (participant, card, category)").items
        'cards'
        """
        if isinstance(words, Words):
            return words
        if words is None:
            return _guess_words(read_as)
        if not isinstance(words, str):
            raise InputError(f"The 'words' parameter must be text such as 'cards,participants'. Got {words!r} instead.")
        parts = words.split(",")
        if len(parts) != 2:
            raise InputError(
                f"Words are two plurals separated by a comma, such as 'cards,participants'. Got {_cut(words)}."
            )
        (item, items), (annotator, annotators) = map(_forms, parts)
        _require_order(item, annotator)
        return cls(item, items, annotator, annotators)

    @property
    def Item(self) -> str:  # noqa: N802
        """`item` with a capital."""
        return capital(self.item)

    @property
    def Items(self) -> str:  # noqa: N802
        """`items` with a capital."""
        return capital(self.items)

    @property
    def Annotator(self) -> str:  # noqa: N802
        """`annotator` with a capital."""
        return capital(self.annotator)

    @property
    def Annotators(self) -> str:  # noqa: N802
        """`annotators` with a capital."""
        return capital(self.annotators)

    @property
    def items_own(self) -> str:
        """`items` in the possessive: "cards'", "people's"."""
        return possessive(self.items)

    @property
    def annotators_own(self) -> str:
        """`annotators` in the possessive."""
        return possessive(self.annotators)

    @property
    def an_item(self) -> str:
        """`item` after "a" or "an"."""
        return with_article(self.item)

    @property
    def an_annotator(self) -> str:
        """`annotator` after "a" or "an"."""
        return with_article(self.annotator)

    @property
    def An_item(self) -> str:  # noqa: N802
        """`item` after "A" or "An"."""
        return capital(self.an_item)

    @property
    def An_annotator(self) -> str:  # noqa: N802
        """`annotator` after "A" or "An"."""
        return capital(self.an_annotator)

    @property
    def are_of_a_sort(self) -> bool:
        """Whether they are those of a card sort or free sort, whose people are neither right nor wrong."""
        return last_word(self.annotator) in SORTERS or last_word(self.item) in SORTED

    @property
    def are_sensory(self) -> bool:
        """Whether they are those of sensory science, whose readers know DISTATIS by its name."""
        return last_word(self.annotator) in OF_SENSES or last_word(self.item) in OF_SENSES

    def n_items(self, number: int) -> str:
        """Return "1 card", "1,797 cards"."""
        return f"{number:,} {self.item if number == 1 else self.items}"

    def n_annotators(self, number: int) -> str:
        """Return "1 participant", "107 participants"."""
        return f"{number:,} {self.annotator if number == 1 else self.annotators}"

    def told(self, sentence: str, names: Iterable[Any] = ()) -> str:
        """Return a sentence about items and annotators in these words.

        Parameters
        ----------
        sentence : str
        names : iterable of str
            Names of items and annotators, which stay as they are even if they contain such a word.

        Examples
        --------
        >>> words = Words.of("cards,experts")
        >>> words.told("The annotators item 1 and Bo put each item into a group; an annotator counts once.", ["item 1"])
        'The experts item 1 and Bo put each card into a group; an expert counts once.'
        """
        if self == DEFAULT:
            return sentence
        kept = sorted({str(name) for name in names if _OWN.search(str(name))}, key=len, reverse=True)
        if not kept:
            return self._told(sentence)
        pieces = re.split(f"({'|'.join(map(re.escape, kept))})", sentence)  # every second one is a name
        return "".join(piece if place % 2 else self._told(piece) for place, piece in enumerate(pieces))

    def _told(self, sentence: str) -> str:
        return _OWN.sub(self._replacement, sentence)

    def _replacement(self, found: re.Match[str]) -> str:
        article, noun, several, own = found.groups()
        is_item = noun.casefold() == "item"
        one, more = (self.item, self.items) if is_item else (self.annotator, self.annotators)
        word = with_article(one) if article else more if several else one
        word = possessive(more) if own else word
        return capital(word) if (article or noun)[0].isupper() else word


DEFAULT = Words()
_CURRENT: ContextVar[Words] = ContextVar("_CURRENT", default=DEFAULT)


def current_words() -> Words:
    """Return the words of the innermost `use_words`; items and annotators outside of any."""
    return _CURRENT.get()


@contextmanager
def use_words(words: Words | str) -> Iterator[Words]:
    """Call items and annotators by other words, in what is drawn and written within a ``with`` block.

    Parameters
    ----------
    words : Words or str
        See `Words.of`.

    Yields
    ------
    Words
        The words in use within the block.

    Examples
    --------
    >>> from consilience.inspection import plot_annotators, use_words
    >>> from consilience.semisupervised import PartitionLabelModel
    >>> sorts = [["p", "x"], ["p", "x"], ["q", "y"], ["q", "y"]]
    >>> model = PartitionLabelModel(prior_variance=1.0, n_init=1, random_state=0).fit(None, sorts)
    >>> with use_words("cards,participants") as words:
    ...     words.annotators
    'participants'
    """
    chosen = Words.of(words)
    before = _CURRENT.set(chosen)
    try:
        yield chosen
    finally:
        _CURRENT.reset(before)


def _forms(part: str) -> tuple[str, str]:
    """Return the singular and the plural of "cards" or "cards/card"."""
    plural, slash, one = (text.strip() for text in part.partition("/"))
    for word in (plural, one) if slash else (plural,):
        _require_word(word)
    found = one if slash else singular(plural)
    if found is None:
        raise InputError(
            f"The singular of {plural!r} is not known; give both forms, plural/singular, as in cards/card."
        )
    return found, plural


def _require_order(item: str, annotator: str) -> None:
    """Raise an InputError if the words are those of annotators and items, in this order."""
    first, second = role_of_name(item), role_of_name(annotator)
    if first and second and (first.role, second.role) == ("annotator", "item"):
        raise InputError(
            f"The word for items comes first, that for annotators second. Got {item!r} for items and {annotator!r} for "
            "annotators."
        )


def read_as(annotations: Any) -> str:
    """Return how annotations were read, "" if not from a table."""
    reading = getattr(annotations, "reading", None)
    return "" if reading is None else reading.how


def _guess_words(read_as: str) -> Words:
    """Return the words by which the columns of a file are named, as far as they say what is in it."""
    found, sides = _READ_AS.search(read_as), _SIDES.search(read_as)
    said = list(found.groups()) if found else []
    if said and sides:
        said[0] = next((shared for _, _, shared in pair_sides(list(sides.groups()))), "")
    given: dict[str, str] = {}
    for role, text in zip(("item", "annotator"), said):
        seen = role_of_name(text)
        if seen is None or seen.role != role or seen.noun not in KNOWN or seen.noun in UNSAID or seen.noun in TAKEN:
            continue
        one = SPELLED_OUT.get(seen.noun, seen.noun)
        given |= {role: one, f"{role}s": plural_of(one)}
    return Words(**given)
