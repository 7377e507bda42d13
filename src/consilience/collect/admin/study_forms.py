"""The settings of a study as fields of a form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from consilience.active.named_strategies import STRATEGIES
from consilience.collect.forms import lines_of, parameters_of, text_of, whole_of
from consilience.collect.settings.model import CLOSED, Study, StudySettings
from consilience.collect.settings.problems import Problems

ALL_SORTED: dict[str, bool | str] = {"ask": True, "required": "required", "free": False}
WHOLE = ("subset_size", "groupings_wanted", "per_participant", "max_per_item")
SHARES = ("random_share", "repeat_share")


def settings_of(
    form: Mapping[str, Any], problems: Problems, earlier: StudySettings | None = None
) -> tuple[str, str, StudySettings]:
    """Return the kind, the board and the settings that a form says; the store checks them.

    Parameters
    ----------
    form : mapping
    problems : Problems
        Takes the fields that cannot be read, for which the settings have what an empty field says.
    earlier : StudySettings, optional
        Whose other settings stay, since the form does not hold them.
    """
    kind, board = text_of(form, "kind") or "open", text_of(form, "board") or "piles"
    values: dict[str, Any] = {
        name: text_of(form, name) for name in ("instructions", "group_names", "strategy", "stop_rule")
    }
    values |= {"language": text_of(form, "language") or "en", "direction": text_of(form, "direction") or "ltr"}
    values = {name: value for name, value in values.items() if value or name == "instructions"}
    if kind == CLOSED:
        values |= {"strategy": "random", "stop_rule": "none"}  # all that a closed sort can have
    whole: dict[str, int | None] = dict.fromkeys((*WHOLE, *SHARES))
    for name in whole:
        with problems.at(name):
            whole[name] = whole_of(form, name)
    shares: dict[str, Any] = {name: percent / 100 for name in SHARES if (percent := whole[name]) is not None}
    return (
        kind,
        board,
        replace(
            earlier or StudySettings(),
            **values,
            **shares,
            subset_size=whole["subset_size"],
            groupings_wanted=whole["groupings_wanted"],
            per_participant=whole["per_participant"] or 1,
            max_per_item=whole["max_per_item"],
            categories=lines_of(form, "categories") if kind != "open" else (),
            all_sorted=ALL_SORTED.get(text_of(form, "all_sorted"), True),
            parameters=parameters_of(form),
        ),
    )


def fields_of(study: Study | None = None) -> dict[str, Any]:
    """Return what the fields of the form hold for a study, or for a new one."""
    settings = StudySettings() if study is None else study.settings
    shown = {name: _shown(getattr(settings, name)) for name in WHOLE}
    shown |= {name: str(round(100 * getattr(settings, name))) for name in SHARES}
    plain = ("instructions", "language", "direction", "group_names", "strategy", "stop_rule")
    return {
        **shown,
        **{name: getattr(settings, name) for name in plain},
        "title": "" if study is None else study.title,
        "kind": "open" if study is None else study.kind,
        "board": "piles" if study is None else study.board,
        "categories": "\n".join(settings.categories),
        "parameters": ", ".join(settings.parameters),
        "all_sorted": next(word for word, value in ALL_SORTED.items() if value == settings.all_sorted),
        "items": "",
    }


def given_again(form: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the fields held when a form was sent that has to be corrected."""
    return {name: text_of(form, name) if name in form else value for name, value in fields_of().items()}


def strategies() -> list[tuple[str, str]]:
    """Return the choices of strategies with a word on each."""
    hints = {"informative": " (what is least certain)", "random": " (any)"}
    return [(name, name + hints.get(name, "")) for name in STRATEGIES]


def _shown(value: Any) -> str:
    return "" if value is None else str(value)
