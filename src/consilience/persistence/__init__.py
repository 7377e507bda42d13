"""Saved models: one file of JSON and arrays, without pickle."""

from consilience.persistence.models import load, save

__all__ = ["load", "save"]


def __dir__() -> list[str]:
    return sorted(__all__)
