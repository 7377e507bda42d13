"""The pictures of a report: each is in the page once, however often it is shown."""

from __future__ import annotations

import base64
from typing import Any

from markupsafe import Markup

from consilience.analysis.names import as_text, name_text
from consilience.inspection.pictures import Pictures, fitted_to

SIDE = 64  # CSS pixels of a picture where it is defined


class Album:
    """Which pictures are shown, in the order in which they first are.

    A picture is defined once, and every place where it is shown refers to it by its number.
    """

    def __init__(self, pictures: Pictures | None):
        self.pictures = pictures
        self.numbers: dict[int, int] = {}  # by place of the item
        self.places: dict[str, int | None] = {}  # by text of the name; None if two items look the same
        for place, name in enumerate(() if pictures is None else pictures.items):
            text = name_text(name)
            self.places[text] = None if text in self.places else place

    def number(self, place: int) -> int:
        """Return the number of the picture of the item at a place, -1 if there is none."""
        if self.pictures is None or self.pictures.thumbnails[place] is None:
            return -1
        return self.numbers.setdefault(place, len(self.numbers))

    def of(self, name: str) -> Markup:
        """Return the picture of an item, by the text of its name; empty if there is none."""
        place = self.places.get(name)
        number = -1 if place is None else self.number(place)
        if number < 0:
            return Markup("")
        picture = '<svg class="thumb" viewBox="0 0 {0} {0}" role="img" aria-label="Picture of {1}">{2}</svg>'
        use = Markup('<use href="#picture-{}"/>').format(number)
        return Markup(picture).format(SIDE, as_text(name), use)

    def definitions(self) -> Markup:
        """Return the pictures that are shown, as the last part of the page."""
        if self.pictures is None or not self.numbers:
            return Markup("")
        shown = [self.pictures.thumbnails[place] for place in self.numbers]
        images = [
            Markup('<image id="picture-{}" width="{}" height="{}" href="{}"/>').format(
                number, SIDE, SIDE, _address(found)
            )
            for number, found in enumerate(fitted_to([found for found in shown if found is not None]))
        ]
        return Markup('<svg class="album" aria-hidden="true"><defs>{}</defs></svg>').format(Markup("").join(images))


def _address(found: Any) -> str:
    kind = "svg+xml" if found.is_vector else "webp"
    return f"data:image/{kind};base64,{base64.b64encode(found.content).decode()}"
