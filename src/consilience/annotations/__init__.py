"""Annotations: groupings, same/different judgements and labels."""

from consilience.annotations.base import Annotations, Summary
from consilience.annotations.concatenate import concat
from consilience.annotations.files.reading import read_annotations
from consilience.annotations.files.table import Reading
from consilience.annotations.files.writing import write_annotations
from consilience.annotations.groupings import Groupings
from consilience.annotations.labels import Labels
from consilience.annotations.pairs import Pairs

__all__ = [
    "Annotations",
    "Groupings",
    "Labels",
    "Pairs",
    "Reading",
    "Summary",
    "concat",
    "read_annotations",
    "write_annotations",
]

__dir__ = __all__.copy
