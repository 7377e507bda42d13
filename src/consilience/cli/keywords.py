"""Translation of parameters in messages into the options of the command that runs.

Messages of the library and of workflows name parameters; `consilience.annotations.keywords` writes them as Python does,
and here they are written as options.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

import click

from consilience.annotations.keywords import Writer

VALUES = {
    **dict.fromkeys(("item", "item_b", "annotator", "grouping", "group", "label", "same", "ignore"), "COL"),
    **{"kind": "KIND", "missing": "VALUE", "same_if": "COND", "encoding": "NAME", "sheet": "NAME"},
    **{"gold": "FILE", "people": "FILE", "where": "COL=ANSWER", "by": "COL"},
    **{"feature_item": "COL", "clusters": "N"},
}
"""Placeholder for any value of a parameter."""
FLAGS = {"settings": "--set"}  # options that are not called like their parameter, of commands that lack them, too
WITHOUT = frozenset({"items"})  # parameters without an option, unless the command declares one


def as_options(keywords: Mapping[str, Any]) -> str:
    """Write parameters as options: ... stands for any value, and None writes the option without a value.

    Examples
    --------
    >>> as_options({"missing": [], "item_b": ..., "kind": "labels"})
    "--missing '' --item-b COL --kind labels"
    >>> as_options({"transpose": False}), as_options({"ignore": ["Q1", "Q2*"]}), as_options({"items": ...})
    ('--no-transpose', "--ignore Q1 --ignore 'Q2*'", '')
    >>> as_options({"settings": {"max_clusters": 40}}), as_options({"settings": {"tol": ...}, "clusters": (2, 8)})
    ('--set max_clusters=40', '--set tol --clusters 2:8')
    """
    return " ".join(filter(None, (_as_option(name, value) for name, value in keywords.items())))


def _as_option(name: str, value: Any) -> str:
    declared = _find_declared(name)
    if isinstance(declared, click.Argument) and value is None:
        return declared.human_readable_name
    if name in WITHOUT and declared is None:
        return ""
    option = FLAGS.get(name, f"--{name.replace('_', '-')}")
    if isinstance(declared, click.Option):
        option = max(declared.opts, key=len)
    if value is None or value is True:
        return option
    if value is False:
        return option.replace("--", "--no-", 1)
    if value is ...:
        return f"{option} {VALUES.get(name, '')}".rstrip()
    if isinstance(value, tuple):
        return f"{option} {':'.join(map(str, value))}"
    if isinstance(value, Mapping):
        pairs = (key if of is ... else f"{key}={of}" for key, of in value.items())
        return " ".join(f"{option} {shlex.quote(pair)}" for pair in pairs)
    values = value if isinstance(value, list) else [value]
    return " ".join(f"{option} {shlex.quote(str(one))}" for one in values or [""])


def _find_declared(name: str) -> click.Parameter | None:
    """Return the parameter of the command that runs, None if it has none of this name or no command runs."""
    context = click.get_current_context(silent=True)
    declared = () if context is None else context.command.params
    return next((parameter for parameter in declared if parameter.name == name), None)


OPTIONS = Writer(as_options)
