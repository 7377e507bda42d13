"""Languages: those that pages of participants are in, how each is written, and which of them a browser asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

ENGLISH = "en"
LANGUAGES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        ENGLISH: ("English", "English"),
        "de": ("German", "Deutsch"),
        "fr": ("French", "Français"),
        "es": ("Spanish", "Español"),
        "it": ("Italian", "Italiano"),
        "pt": ("Portuguese", "Português"),
        "nl": ("Dutch", "Nederlands"),
        "pl": ("Polish", "Polski"),
        "tr": ("Turkish", "Türkçe"),
        "ru": ("Russian", "Русский"),
        "ar": ("Arabic", "العربية"),
        "hi": ("Hindi", "हिन्दी"),
        "zh": ("Chinese, simplified", "简体中文"),
        "ja": ("Japanese", "日本語"),
        "ko": ("Korean", "한국어"),
    }
)
"""By code: the name in English, and in the language itself."""
FROM_RIGHT_TO_LEFT = frozenset({"ar", "arc", "ckb", "dv", "fa", "he", "ks", "ps", "sd", "ug", "ur", "yi"})
TRADITIONAL = frozenset({"hant", "tw", "hk", "mo"})  # Chinese that is not simplified, by script or country
LONGEST_HEADER = 1000  # characters of what a browser asks for that are read


def direction_of(language: str) -> str:
    """Return ``rtl`` for languages that are written from right to left, by their code, else ``ltr``.

    Examples
    --------
    >>> direction_of("fa-IR"), direction_of("de")
    ('rtl', 'ltr')
    """
    return "rtl" if language.replace("_", "-").split("-")[0].lower() in FROM_RIGHT_TO_LEFT else "ltr"


def catalogue_for(language: str) -> str:
    """Return the code of the language of `LANGUAGES` in which pages are shown to readers of a language.

    Examples
    --------
    >>> [catalogue_for(tag) for tag in ("de-AT", "pt-BR", "zh-CN", "zh-TW", "fi")]
    ['de', 'pt', 'zh', 'en', 'en']
    """
    code, *rest = language.lower().split("-")
    return code if code in LANGUAGES and not (code == "zh" and TRADITIONAL.intersection(rest)) else ENGLISH


def name_language(language: str) -> str:
    """Return what speakers of a language call it, or its code.

    Examples
    --------
    >>> name_language("de"), name_language("pt-BR"), name_language("fi")
    ('Deutsch', 'Português (BR)', 'fi')
    """
    code, _, rest = language.partition("-")
    if code.lower() not in LANGUAGES:
        return language
    return LANGUAGES[code.lower()][1] + (f" ({rest})" if rest else "")


def choose_language(accepted: str, offered: Sequence[str]) -> str:
    """Return the one of some languages that a browser likes best; the first if it likes none.

    accepted : the header ``Accept-Language``.
    offered : tags, the usual one first.

    Examples
    --------
    >>> choose_language("fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5", ["en", "de", "fr"])
    'fr'
    >>> choose_language("da, en-GB;q=0.8", ["de", "en"]), choose_language("da", ["de", "en"])
    ('en', 'de')
    """
    for wanted in _by_weight(accepted[:LONGEST_HEADER]):
        exact = [one for one in offered if one.lower() == wanted]
        found = exact or [one for one in offered if _language_in(one) == _language_in(wanted)]
        if found:
            return found[0]
    return offered[0]


def _language_in(tag: str) -> str:
    return tag.partition("-")[0].lower()


def _by_weight(accepted: str) -> list[str]:
    """Return the tags of a header, those liked best first; what is not liked at all is left out."""
    weights: dict[str, float] = {}
    for part in accepted.lower().split(","):
        tag, _, parameters = part.partition(";")
        try:
            weight = float(parameters.strip().removeprefix("q=") or 1)
        except ValueError:
            weight = 0
        if 0 < weight <= 1 and tag.strip():
            weights.setdefault(tag.strip(), weight)
    return sorted(weights, key=lambda tag: -weights[tag])
