"""Names that differ only in spelling or number, such as "Mammals", "mammals:" and "Mammal", brought to one form."""

from __future__ import annotations

import re
import unicodedata

APOSTROPHES = "'’‘`´ʼ"  # dropped, so that "men's" is "mens"; other punctuation is a blank
KEPT = "#%"  # punctuation that tells names apart, as in "C#"
LEAST_STEM = 3  # letters of a word without its ending
LEAST_WORD = 4  # letters of a word that may be a plural
GREEK = re.compile("[\u0370-\u03ff]")
# of folded words, which have no accents and no final sigma; the first that fits is replaced
GREEK_ENDINGS = (
    *(("ματα", "μ"), ("μα", "μ")),
    *((ending, "") for ending in ("ια", "εσ", "οσ", "οι", "α", "η", "ο", "ι")),
)
LATIN_ENDINGS = (("ies", "y"), *((f"{ending}es", ending) for ending in ("ss", "sh", "ch", "x", "z")))
NO_PLURAL = ("ss", "us", "is")
ARTICLES = frozenset(  # folded, of one language a line: English, German, Romance ones, Dutch and Scandinavian, Greek
    {"a", "an", "the"}
    | {"der", "die", "das", "den", "dem", "des", "ein", "eine", "einen"}
    | {"el", "la", "los", "las", "un", "una", "unos", "unas", "le", "les", "l", "une"}
    | {"il", "lo", "gli", "i", "uno", "o", "os", "as", "um", "uma"}
    | {"de", "het", "een", "det", "en", "et"}
    | {"ο", "η", "το", "οι", "τα", "του", "τησ", "των", "τον", "την", "τουσ", "τισ", "ενασ", "μια", "ενα"}
)
CONJUNCTIONS = frozenset(  # folded "and", of the same languages; an ampersand is punctuation, a plus sign is none
    {"and", "n", "und", "y", "e", "ed", "et", "en", "og", "och", "και", "κι", "κ", "+"}
)


def fold_name(name: str) -> str:
    """Return what all spellings of a name share: no case, accents, punctuation or superfluous blanks.

    Examples
    --------
    >>> fold_name("  Men’s CLOTHES / shoes:"), fold_name("Υποδήματα")
    ('mens clothes shoes', 'υποδηματα')
    """
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    return " ".join("".join(map(_folded_character, apart)).split())


def _folded_character(character: str) -> str:
    category = unicodedata.category(character)
    if category in ("Mn", "Cf") or character in APOSTROPHES:
        return ""
    return " " if category[0] in "PZC" and character not in KEPT else character


def has_accents(name: str) -> bool:
    """Whether a name has accents, as `fold_name` drops them.

    Examples
    --------
    >>> has_accents("Σπίτι"), has_accents("Σπιτι")
    (True, False)
    """
    return any(unicodedata.category(character) == "Mn" for character in unicodedata.normalize("NFKD", name))


def is_name(fold: str) -> bool:
    """Whether a folded name says what is in a group; numbers, "group 3" and single Latin letters do not.

    Examples
    --------
    >>> [is_name(fold) for fold in ("birds", "unnamed 3", "b", "鳥", "2", "")]
    [True, False, False, True, False, False]
    """
    if not any(character.isalpha() for character in fold) or fold[-1].isdecimal():
        return False
    return len(fold) > 1 or not fold.isascii()


def singular(fold: str) -> str:
    """Return what the singular and the plural of a folded name share, by common endings of English and Greek.

    Romance plurals in -s are covered too. Words that are no plural may come out alike: compare what they stand for.

    Examples
    --------
    >>> singular("hobbies"), singular("glass boxes"), singular("φορεματα") == singular("φορεμα")
    ('hobby', 'glass box', True)
    """
    return " ".join(map(_singular_word, fold.split()))


def without_article(fold: str) -> str:
    """Return a folded name without an article before it; alone, it is no article.

    Examples
    --------
    >>> without_article("the company"), without_article("die"), without_article("η εταιρεια")
    ('company', 'die', 'εταιρεια')
    """
    first, _, rest = fold.partition(" ")
    return rest if rest and first in ARTICLES else fold


def without_conjunctions(fold: str) -> str:
    """Return a folded name without "and" between its words.

    Examples
    --------
    >>> [without_conjunctions(fold) for fold in ("food and drink", "τροφιμα και ποτα", "e bikes")]
    ['food drink', 'τροφιμα ποτα', 'e bikes']
    """
    words = fold.split()
    return " ".join([*words[:1], *(word for word in words[1:-1] if word not in CONJUNCTIONS), *words[1:][-1:]])


def in_order(fold: str) -> str:
    """Return the words of a folded name in the order of the alphabet.

    Examples
    --------
    >>> in_order("food drink")
    'drink food'
    """
    return " ".join(sorted(fold.split()))


def one_letter_less(fold: str) -> set[str]:
    """Return what is left of a folded name without one of its letters.

    Two names that share such a rest, or one of which is a rest of the other, differ in one letter: it is missing,
    another, or in another place.

    Examples
    --------
    >>> sorted(one_letter_less("abca"))
    ['aba', 'abc', 'aca', 'bca']
    >>> bool(one_letter_less("accessories") & one_letter_less("accesseries"))
    True
    """
    return {fold[:place] + fold[place + 1 :] for place in range(len(fold))}


def _singular_word(word: str) -> str:
    if len(word) < LEAST_WORD:
        return word
    endings = GREEK_ENDINGS if GREEK.search(word) else LATIN_ENDINGS
    for ending, instead in endings:
        if word.endswith(ending) and len(word) - len(ending) + len(instead) >= LEAST_STEM:
            return word.removesuffix(ending) + instead
    if endings is LATIN_ENDINGS and word.endswith("s") and not word.endswith(NO_PLURAL):
        return word[:-1]
    return word
