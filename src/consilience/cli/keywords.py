"""Translation of the library's keywords in messages into command-line options."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from consilience.annotations.keywords import Writer

VALUES = {
    **dict.fromkeys(("item", "item_b", "annotator", "grouping", "group", "label", "same", "ignore"), "COL"),
    **{"kind": "KIND", "missing": "VALUE", "same_if": "COND", "encoding": "NAME", "sheet": "NAME", "gold": "FILE"},
    **{"transpose": "", "exact": ""},
}
"""Placeholder for the value of an option, by its keyword; keywords not listed have no option."""


def as_options(keywords: Mapping[str, Any]) -> str:
    """Write keywords as options: ... stands for any value, and None writes the option without a value.

    Examples
    --------
    >>> as_options({"missing": [], "item_b": ..., "kind": "labels"})
    "--missing '' --item-b COL --kind labels"
    >>> as_options({"transpose": False}), as_options({"ignore": ["Q1", "Q2*"]}), as_options({"items": ...})
    ('--no-transpose', "--ignore Q1 --ignore 'Q2*'", '')
    """
    return " ".join(_as_option(name, value) for name, value in keywords.items() if name in VALUES)


def _as_option(name: str, value: Any) -> str:
    option = f"--{name.replace('_', '-')}"
    if value is None or value is True:
        return option
    if value is False:
        return option.replace("--", "--no-")
    if value is ...:
        return f"{option} {VALUES[name]}".rstrip()
    values = value if isinstance(value, list) else [value]
    return " ".join(f"{option} {shlex.quote(str(one))}" for one in values or [""])


OPTIONS = Writer(as_options)
