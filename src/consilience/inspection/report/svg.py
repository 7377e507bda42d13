"""Figures as SVG inside an HTML page: small, without ids that clash, with a text alternative."""

from __future__ import annotations

import io
import re
from functools import cache
from xml.etree import ElementTree as ET

import numpy as np
from markupsafe import Markup, escape
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from consilience.inspection.plots.point_labels import PointNames
from consilience.inspection.plots.style import FAINT, INK, colour, marker_outline

NEAR = 0.1  # points between a place and where it is drawn
READABLE = 560  # CSS pixels that most figures need
_URL = re.compile(r"url\(#([\w.-]+)\)")
_DECIMALS = re.compile(r"(\d+\.\d{2})\d+")
_FONT = re.compile(r"font-family:[^;]*;?\s*")
_DRAWN = ("d", "x", "y", "transform", "points", "width", "height", "cx", "cy")
_METADATA = dict.fromkeys(("Date", "Creator", "Format", "Type"))
_LINES = {INK.lower(): "ink", FAINT.lower(): "faint"}
_SHAPES = {**_LINES, "#ffffff": "paper", "#000000": "black"}  # the text in cells of a heat map stays black or white


def inline_svg(figure: Figure, key: str, description: str, *, readable: int = READABLE) -> Markup:
    """Draw a figure as an SVG element for an HTML page.

    figure : drawn under `style.plain_text`, so that its text stays text.
    key : unique on the page; the prefix of every id in the drawing.
    description : text alternative for those who cannot see the figure.
    readable : width in CSS pixels below which the figure scrolls instead of shrinking.

    Returns Markup: without namespaces, unused ids, fonts (the page's style sheet sets them) and decimals too small to
    see. Styles are attributes, which the page's policy allows, and colours of paper and ink are variables of its style
    sheet. Points that `name_points` names say their names when pointed at.
    """
    drawing = io.StringIO()
    FigureCanvasSVG(figure).print_svg(drawing, metadata=_METADATA)
    root = ET.fromstring(drawing.getvalue())
    _drop(root, "style", "metadata")
    used = {
        name for element in root.iter() for attribute in element.attrib.items() for name in _find_references(*attribute)
    }
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        bare = ((name.rpartition("}")[2], value) for name, value in element.attrib.items())
        element.attrib = {name: _value(name, value, key) for name, value in bare if name != "id" or value in used}
        element.text = (element.text or "").strip() or None
        element.tail = None
        _hoist_style(element)
    for element in root.iter():
        _unstyle(element)
    _title_points(root, figure)
    across = round(float(root.get("width", "0").removesuffix("pt")) * 96 / 72)  # points to pixels of CSS
    root.attrib = {
        "viewBox": root.get("viewBox", ""),
        "width": str(across),
        "class": f"least-{readable}" if across > readable else "rigid",
        "role": "img",
        "aria-label": description,
        "fill": themed_colour("#000000"),
        "stroke-linejoin": "round",
    }
    return Markup(ET.tostring(root, encoding="unicode"))


def _title_points(root: ET.Element, figure: Figure) -> None:
    """Give points the names that `name_points` gave them as titles."""
    height = float(root.get("viewBox", "0 0 0 0").split()[3])
    drawn = list(root.iter("use"))
    at = np.array([(element.get("x", 0), element.get("y", 0)) for element in drawn], dtype=float).reshape(-1, 2)
    for ax in figure.axes:
        for names in (artist for artist in ax.artists if isinstance(artist, PointNames)):
            places = ax.transData.transform(names.points) * 72 / figure.dpi * [1, -1] + [0, height]
            near = (np.abs(at[None] - places[:, None]) < NEAR).all(2)
            for number, place in np.argwhere(near).tolist():
                ET.SubElement(drawn[place], "title").text = names.texts[number].get_text()


@cache
def swatch(cluster: int) -> Markup:
    """Draw the marker of a cluster, as in the plots, at the size of a letter."""
    outline = "".join(
        letter + " ".join(f"{number:.2f}" for number in points) for letter, points in marker_outline(cluster)
    )
    return Markup(
        '<svg class="swatch" viewBox="-1.2 -1.2 2.4 2.4" aria-hidden="true"><path d="{}" fill="{}"/></svg>'
    ).format(escape(outline), themed_colour(colour(cluster)))


def themed_colour(value: str, *, text: bool = False) -> str:
    """Return a colour as a variable that the page's style sheet sets for dark screens, if it is of paper or ink.

    Examples
    --------
    >>> themed_colour("#ffffff"), themed_colour("#0072b2")
    ('var(--paper, #ffffff)', '#0072b2')
    """
    name = (_LINES if text else _SHAPES).get(value.lower())
    return value if name is None else f"var(--{name}, {value.lower()})"


def _drop(root: ET.Element, *tags: str) -> None:
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.rpartition("}")[2] in tags:
                parent.remove(child)


def _value(name: str, value: str, key: str) -> str:
    if name == "id":
        return f"{key}-{value}"
    if value.startswith("data:"):
        return value.replace("\n", "")
    if name in _DRAWN:
        return _DECIMALS.sub(r"\1", " ".join(value.split()))
    if name == "href":
        return f"#{key}-{value[1:]}"
    return _FONT.sub("", _URL.sub(rf"url(#{key}-\1)", value))


def _find_references(name: str, value: str) -> list[str]:
    """Return the ids that an attribute refers to."""
    return [value[1:]] if name.endswith("href") and value.startswith("#") else _URL.findall(value)


def _hoist_style(group: ET.Element) -> None:
    """Move a style that all points of a series share to the series."""
    styles = {child.get("style") for child in group}
    if len(group) > 1 and len(styles) == 1 and None not in styles and all(child.tag.endswith("use") for child in group):
        group.set("style", ";".join(filter(None, [group.get("style"), *styles])))
        for child in group:
            del child.attrib["style"]


def _unstyle(element: ET.Element) -> None:
    """Write the properties of a style as attributes; text without a colour is black."""
    text = element.tag in ("text", "tspan")
    properties = (part.split(":", 1) for part in element.attrib.pop("style", "").split(";") if ":" in part)
    for name, value in properties:
        name, value = name.strip(), value.strip()
        element.set(name, themed_colour(value, text=text) if name in ("fill", "stroke") else value)
    if element.tag == "text" and "fill" not in element.attrib:
        element.set("fill", "#000000")
