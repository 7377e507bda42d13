"""Hierarchical sorts in wide tables: a column for each level of each person, such as S1L1 and S1L2.

Decided here
------------
Names alone are not enough, as Paul1 and Paul2 may be two people: for everybody who has several levels, each level must
divide the groups of the one before, in the same direction throughout, and at least two people must have several.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int

from consilience.annotations.names import MISSING, Coded

LEVEL = re.compile(
    r"(?P<who>.*[^\s._-])(?:(?<=\d)L|[\s._-]+L|[\s._-]*(?:level|lev|niveau|stufe|step))[\s._-]*(?P<level>\d{1,2})",
    re.IGNORECASE,
)
FEWEST = 2  # people with several levels


def find_levels(columns: list[Any], cells: Coded) -> tuple[Coded, Coded] | None:
    """Return the person and the level of each column of a wide table; None unless they are levels.

    columns : names of the columns
    cells : the groups, row by row
    """
    found = [LEVEL.fullmatch(str(name).strip()) for name in columns]
    if not all(found):
        return None
    names = [match["who"] for match in found if match]
    levels = [int(match["level"]) for match in found if match]
    who, people = pd.factorize(pd.Index(names, dtype=object))
    depth, depths = pd.factorize(pd.Index(levels), sort=True)
    groups = cells.codes.reshape(-1, len(columns))
    several = [places for person in range(len(people)) if len(places := np.flatnonzero(who == person)) > 1]
    if len(several) < FEWEST or len(set(zip(names, levels, strict=True))) < len(columns):
        return None
    ordered = [places[np.argsort(depth[places])] for places in several]
    for direction in (1, -1):
        if all(_are_nested(groups, places[::direction]) for places in ordered):
            return Coded(who, pd.Index(people)), Coded(depth, pd.Index([f"level {level}" for level in depths]))
    return None


def _are_nested(groups: Int[np.ndarray, "rows columns"], places: Int[np.ndarray, " levels"]) -> bool:
    """Whether each of some columns divides the groups of the one before."""
    for coarse, fine in pairwise(places):
        both = (groups[:, coarse] != MISSING) & (groups[:, fine] != MISSING)
        pairs = np.unique(groups[both][:, [fine, coarse]], axis=0)
        if len(np.unique(pairs[:, 0])) < len(pairs):
            return False
    return True
