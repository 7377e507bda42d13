"""Collecting groupings in the browser: the application that serves it, and the store behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from consilience.collect.app import create_app
    from consilience.collect.store import Store

__all__ = ["Store", "create_app"]

__dir__ = __all__.copy


def __getattr__(name: str) -> Any:
    """Import what is public when it is first used, since the web framework takes its time."""
    if name == "Store":
        from consilience.collect.store import Store

        return Store
    if name == "create_app":
        from consilience.collect.app import create_app

        return create_app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
