"""SVG pictures that are safe inside a page: drawings only, without scripts, links, and anything from outside."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
MOST_BYTES = 1_000_000
MOST_USES = 20  # each may use a part that uses parts, so that a few more could draw millions
DRAWN = frozenset(
    (
        *("svg", "g", "defs", "symbol", "use", "title", "desc", "style", "switch"),
        *("path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text", "tspan", "textPath"),
        *("linearGradient", "radialGradient", "stop", "pattern", "clipPath", "mask", "marker", "filter"),
        *("feGaussianBlur", "feOffset", "feBlend", "feColorMatrix", "feComposite", "feFlood", "feMerge", "feMergeNode"),
    )
)
OUTSIDE = re.compile(r"url\(\s*(?!['\"]?#)|@import|expression\s*\(|javascript:|image-set\(|\\", re.IGNORECASE)


def safe_svg(content: bytes) -> bytes:
    """Return a drawing as it may stand in a page, without what other programs add to it.

    Raises ValueError: it is no SVG, or has anything but a drawing in it; the message says what.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError("it is not text in UTF-8") from error
    if len(content) > MOST_BYTES:
        raise ValueError("it is too large for a drawing")
    if re.search(r"<!ENTITY|<!DOCTYPE[^>]*\[", text, re.IGNORECASE):
        raise ValueError("it defines entities")
    if "<?xml-stylesheet" in text:
        raise ValueError("it has a style sheet from outside")
    try:
        root = ET.fromstring(text)
    except ET.ParseError as error:
        raise ValueError("it is not well-formed XML") from error
    if root.tag != f"{{{SVG}}}svg":
        raise ValueError("it is no SVG")
    if sum(element.tag == f"{{{SVG}}}use" for element in root.iter()) > MOST_USES:
        raise ValueError("it uses parts of itself too often")
    try:
        _require_safe(root)
    except RecursionError as error:
        raise ValueError("its elements are nested too deeply") from error
    ET.register_namespace("", SVG)
    ET.register_namespace("xlink", XLINK)
    return ET.tostring(root, encoding="unicode").encode()


def _require_safe(element: ET.Element) -> None:
    """Raise a ValueError for anything but a drawing; drop elements and attributes of other programs."""
    for child in list(element):
        namespace, _, name = child.tag.removeprefix("{").rpartition("}")
        if namespace != SVG or name == "metadata":
            element.remove(child)
        elif name not in DRAWN:
            raise ValueError(f"it has the element {name!r}")
        else:
            _require_safe(child)
    for attribute, value in list(element.attrib.items()):
        namespace, _, name = attribute.removeprefix("{").rpartition("}")
        if namespace not in ("", XLINK):
            del element.attrib[attribute]
        elif name.casefold().startswith("on"):
            raise ValueError(f"it has the script {name!r}")
        elif name == "href" and not value.strip().startswith("#"):
            raise ValueError("it refers to something outside")
        elif OUTSIDE.search(value):
            raise ValueError(f"its {name!r} refers to something outside")
    if element.tag == f"{{{SVG}}}style" and OUTSIDE.search("".join(element.itertext())):
        raise ValueError("its style refers to something outside")
