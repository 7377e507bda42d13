"""Saved models: one file of JSON and arrays, without pickle."""

from consilience.persistence.models import load, save

__all__ = ["load", "save"]

__dir__ = __all__.copy
