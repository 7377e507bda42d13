"""What was changed of a study, in words, for the log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from consilience.collect.settings.model import SECRET, Study

LONGEST_VALUE = 60  # characters of a value that is told
LONGEST_CHANGES = 2000  # of all


def describe_changes(before: Study, after: Study) -> str:
    """Return what differs between two states of a study, with short values, but those that only editors see.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from datetime import UTC, datetime
    >>> from consilience.collect.settings.model import StudySettings
    >>> study = Study("s", "Fruit", "open", "piles", "draft", StudySettings(), 9, "", 0, datetime.now(UTC))
    >>> describe_changes(study, replace(study, title="Nuts", settings=StudySettings(subset_size=4)))
    'title: "Fruit" → "Nuts"; subset_size: null → 4'
    """
    old, new = dict(_values_of(_as_json(before))), dict(_values_of(_as_json(after)))
    names = [name for name in old | new if old.get(name) != new.get(name)]
    return "; ".join(_describe(name, old.get(name), new.get(name)) for name in names)[:LONGEST_CHANGES]


def _as_json(study: Study) -> dict[str, Any]:
    plain = {name: getattr(study, name) for name in ("title", "kind", "board", "status", "n_items")}
    return plain | study.settings.as_json()


def _values_of(content: dict[str, Any], within: str = "") -> Iterator[tuple[str, Any]]:
    """Yield what an object holds, by its names; those of an object in it follow a dot."""
    for name, value in content.items():
        if isinstance(value, dict):
            yield from _values_of(value, f"{within}{name}.")
        else:
            yield f"{within}{name}", value


def _describe(name: str, old: Any, new: Any) -> str:
    if name.startswith(SECRET):
        return name
    shown = [json.dumps(value, ensure_ascii=False) for value in (old, new)]
    return f"{name}: {' → '.join(shown)}" if max(map(len, shown)) <= LONGEST_VALUE else name
