"""The sentences of one study in one language, with numbers and lists filled in as that language writes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, reduce
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from consilience.collect.settings.languages import catalogue_for, direction_of, name_language
from consilience.collect.settings.sentences import SINGULARS
from consilience.collect.settings.texts import own_texts
from consilience.collect.wording.catalogues import translation_of

if TYPE_CHECKING:
    from babel import Locale


class Wording(dict[str, str]):
    """All sentences that a participant reads, by key; those that hold words in braces are filled by `fill`.

    language : a tag, such as ``pt-BR``; where there is no catalogue of it, sentences are English.
    replaced : the study's own sentences in this language; see `consilience.collect.settings.texts.own_texts`.
    translations : what the study itself says, such as its title, a question or a card, in this language.
    written_in : the language in which the study says what is not translated; by default this one.

    Beside them it has the ``direction`` of writing, "ltr" or "rtl", and the ``name`` by which its speakers call it.

    Examples
    --------
    >>> Wording("en").fill("how_few", count=1)
    'Put at least 1 card into each group.'
    >>> Wording("de", {"start": "Los"})["start"]
    'Los'
    """

    def __init__(
        self,
        language: str,
        replaced: Mapping[str, Any] | None = None,
        translations: Mapping[str, str] | None = None,
        written_in: str = "",
    ) -> None:
        self.language, self.direction, self.name = language, direction_of(language), name_language(language)
        self._said = translation_of(catalogue_for(language))
        self._translations, self._written_in = translations or {}, written_in or language
        own = own_texts(replaced)
        super().__init__(self._said.last | own)
        self._forms = {key: self._said.texts[key] for key in SINGULARS if key not in own}

    def fill(self, key: str, **values: Any) -> str:
        """Return a sentence with its words in braces filled in, the one for a number where it depends on one."""
        text = self[key]
        if key in self._forms:
            text = self._forms[key][self._said.form(values[SINGULARS[key][0]])]
        return text.format(**{name: self.write(value) for name, value in values.items()})

    def own(self, text: str) -> str:
        """Return what the study says in this language, or as it was written where that is not translated."""
        return self._translations.get(text, text)

    def foreign_language(self, text: str) -> str:
        """Return the language in which `own` says a text, empty if it is that of the page."""
        is_own = text in self._translations or self._written_in == self.language
        return "" if is_own else self._written_in

    def mark(self, text: str) -> Markup:
        """Return the attribute of a tag around such a text, which names its language where that is another."""
        language = self.foreign_language(text)
        return Markup(' lang="{}"').format(language) if language else Markup()

    def write(self, value: Any) -> str:
        """Return a number as the language writes it, and anything else as it is."""
        if not isinstance(value, int | float):
            return str(value)
        from babel.numbers import format_decimal

        return format_decimal(value, locale=locale_of(self.language), numbering_system="latn")

    def join(self, names: Iterable[str]) -> str:
        """Return names one after another."""
        return reduce(lambda first, second: self["listed"].format(first=first, second=second), names)

    def for_scripts(self) -> dict[str, Any]:
        """Return the sentences as scripts read them: several for those that depend on a number, and which is whose."""
        return {**self, **self._forms, "": self._said.forms}


@cache
def locale_of(language: str) -> Locale:
    """Return how a language writes numbers; as English does where that is not known."""
    from babel import Locale, UnknownLocaleError

    for tag in (language, language.partition("-")[0]):
        try:
            return Locale.parse(tag, sep="-")
        except (UnknownLocaleError, ValueError):
            continue
    return Locale("en")
