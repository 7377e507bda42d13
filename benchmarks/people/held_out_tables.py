"""Tables and sentences of the pages on groupings and on pairs."""

from __future__ import annotations

from typing import Any

from benchmarks.experiments import Record


def tables(page: str, record: Record, parts: dict[str, tuple[str, ...]], titles: dict[str, str]) -> dict[str, str]:
    return {}


def quotes(record: Record, parts: dict[str, tuple[str, ...]], draws: tuple[int, ...]) -> dict[str, Any]:
    return {}
