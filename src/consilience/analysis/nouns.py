"""Forms of English nouns: plural, singular, possessive, after an article."""

from __future__ import annotations

import re

from consilience.annotations.files.vocabulary import plural as regular_plural

IRREGULAR = {
    "people": "person",
    "men": "man",
    "women": "woman",
    "children": "child",
    "feet": "foot",
    "teeth": "tooth",
    "mice": "mouse",
    "geese": "goose",
    "sheep": "sheep",
    "fish": "fish",
    "species": "species",
    "series": "series",
    "stimuli": "stimulus",
    "fungi": "fungus",
    "nuclei": "nucleus",
    "alumni": "alumnus",
    "criteria": "criterion",
    "phenomena": "phenomenon",
    "media": "medium",
    "analyses": "analysis",
    "hypotheses": "hypothesis",
    "diagnoses": "diagnosis",
    "theses": "thesis",
    "indices": "index",
    "leaves": "leaf",
    "wolves": "wolf",
    "loaves": "loaf",
    "lenses": "lens",
    "buses": "bus",
    "viruses": "virus",
    "gases": "gas",
    "quizzes": "quiz",
    "movies": "movie",
    "cookies": "cookie",
    "selfies": "selfie",
    "brownies": "brownie",
    "smoothies": "smoothie",
    "pies": "pie",
    "ties": "tie",
    "shoes": "shoe",
    "caches": "cache",
    "niches": "niche",
}
ENDINGS = (("sses", "ss"), ("xes", "x"), ("shes", "sh"), ("ches", "ch"), ("zzes", "zz"), ("oes", "o"), ("ies", "y"))
NO_PLURAL = ("ss", "us", "is")  # endings of words in the singular
A_DESPITE_VOWEL = re.compile(r"uni(?!m|n)|us|ut(?!t)|ur[ia]|eu|ew|one\b|once\b")
AN_DESPITE_CONSONANT = re.compile(r"hour|heir|honest|honou?r")


def last_word(noun: str) -> str:
    """Return the last word of a noun, in lower case: what it is, as in "wine samples"."""
    return noun.split(" ")[-1].casefold()


def capital(text: str) -> str:
    """Return a text whose first letter is a capital; the others stay as they are."""
    return text[:1].upper() + text[1:]


def with_article(noun: str) -> str:
    """Return a noun after "a" or "an", by how it is spoken.

    Examples
    --------
    >>> [with_article(noun) for noun in ("card", "expert", "user", "utterance", "hour", "MRI scan")]
    ['a card', 'an expert', 'a user', 'an utterance', 'an hour', 'an MRI scan']
    """
    first, lower = noun.split(" ")[0], noun.casefold()
    if len(first) > 1 and first.isupper():
        spoken_vowel = first[0] in "AEFHILMNORSX"
    else:
        spoken_vowel = lower[0] in "aeiou" and not A_DESPITE_VOWEL.match(lower)
        spoken_vowel = spoken_vowel or AN_DESPITE_CONSONANT.match(lower) is not None
    return f"{'an' if spoken_vowel else 'a'} {noun}"


def possessive(plural: str) -> str:
    """Return a plural in the possessive.

    Examples
    --------
    >>> possessive("cards"), possessive("people")
    ("cards'", "people's")
    """
    return f"{plural}'" if plural.endswith("s") else f"{plural}'s"


def singular(plural: str) -> str | None:
    """Return the singular of an English plural, None if it is not known.

    Examples
    --------
    >>> [singular(word) for word in ("cards", "people", "stories", "test boxes", "Karten", "glass")]
    ['card', 'person', 'story', 'test box', None, None]
    """
    before, blank, last = plural.rpartition(" ")
    lower = last.casefold()
    found = IRREGULAR.get(lower)
    if found is not None:
        found = last[:1] + found[1:] if last[:1].casefold() == found[0] else found
    elif lower.endswith("s") and not lower.endswith(NO_PLURAL) and len(lower) > 2:
        ending, instead = next(((old, new) for old, new in ENDINGS if lower.endswith(old)), ("s", ""))
        found = last[: -len(ending)] + instead
    return None if not found else f"{before}{blank}{found}"


def plural_of(singular: str) -> str:
    """Return the plural of an English noun.

    Examples
    --------
    >>> [plural_of(word) for word in ("card", "person", "stimulus")]
    ['cards', 'people', 'stimuli']
    """
    irregular = {one: more for more, one in IRREGULAR.items()}
    return irregular.get(singular) or regular_plural(singular)
