"""What a study itself says to participants, sentence by sentence: what can be translated into its other languages."""

from __future__ import annotations

from collections.abc import Iterable

from consilience.collect.settings.model import Item, Study
from consilience.collect.settings.panel import MOMENTS


def list_written(study: Study, items: Iterable[Item]) -> dict[str, list[str]]:
    """Return what was written, each once, by what it belongs to.

    items : the cards of the study.
    """
    settings = study.settings
    asked = [one for moment in MOMENTS for one in settings.panel.questions(moment)]
    found = {
        "The study": [study.title, settings.instructions, settings.panel.consent],
        "Questions": [text for one in asked for text in (one.text, *one.options)],
        "Categories": [text for name in settings.categories for text in (name, settings.meanings.get(name, ""))],
        "Cards": [text for item in items for text in (item.text, item.alt, item.description)],
    }
    part_of: dict[str, str] = {}
    for part, texts in found.items():
        for text in filter(None, texts):
            part_of.setdefault(text, part)
    return {part: texts for part in found if (texts := [text for text, belongs in part_of.items() if belongs == part])}
