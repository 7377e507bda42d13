"""Wide tables with several columns for each person or task, such as J1_X, J1_Y and J1_group.

Napping gives each person's coordinates, and often groups beside them; tree tests and first-click tests give the result,
path and time of each task. The columns of groups are read; a table without them holds no groups.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from consilience.annotations.files.layout import ReadingRequest, quote
from consilience.annotations.files.table import Table
from consilience.annotations.files.tool_export import Export
from consilience.annotations.files.values import quantify
from consilience.annotations.files.vocabulary import normal, role_of_name
from consilience.annotations.keywords import spell
from consilience.errors import AnnotationError

COORDINATES = {"x", "y", "z", "x coordinate", "y coordinate", "coord x", "coord y", "xcoord", "ycoord", "posx", "posy"}
COORDINATES |= {"pos x", "pos y", "left", "top", "lat", "lon", "latitude", "longitude", "dim1", "dim2"}
OF_TASKS = {
    *(
        "result",
        "outcome",
        "path",
        "path taken",
        "success",
        "directness",
        "first click",
        "clicks",
        "time",
        "time taken",
    ),
    *("duration", "time s", "time seconds", "seconds", "score", "correct", "rt", "reaction time", "response time"),
    *("difficulty", "ease", "confidence", "comment", "comments", "comfort", "destination", "destination selected"),
    *("ergebnis", "pfad", "dauer", "résultat", "chemin", "durée", "resultado", "ruta", "tiempo", "risultato"),
    *("status", "skipped", "rating", "text", "notes", "order", "position", "rank", "likes", "dislikes", "liking"),
}
GROUPS = {"g", "c", "grp", "gr", "gp", "cl"}
SHARE = 0.6  # of the columns, which a grid must fill


@dataclass(frozen=True)
class Grid:
    """Columns by property, then by the thing that has it: a person or a task.

    columns : dict of str to dict of str to column name
    """

    columns: dict[str, dict[str, Any]]

    @property
    def groups(self) -> str | None:
        """The property that is a group; None if there is none, or several."""
        found = [name for name in self.columns if _is_group(name)]
        if len(found) != 1 and len(rest := [name for name in self.columns if name not in COORDINATES | OF_TASKS]) == 1:
            found = rest if self.has_coordinates else found
        return found[0] if len(found) == 1 else None

    @property
    def has_coordinates(self) -> bool:
        """Whether two properties are coordinates."""
        return len(COORDINATES & self.columns.keys()) > 1


def _is_group(name: str) -> bool:
    found = role_of_name(name)
    return name in GROUPS or (found is not None and found.role in {"group", "label"} and name not in OF_TASKS)


def property_grid(columns: list[Any]) -> Grid | None:
    """Find columns that are properties of numbered things, None if they are not.

    Examples
    --------
    >>> list(property_grid(["product", "J1_X", "J1_Y", "J1_group", "J2_X", "J2_Y", "J2_group"]).columns)
    ['x', 'y', 'group']
    >>> property_grid(["card", "Ann", "Bo"]) is None
    True
    """
    for split in (_after, _before):
        parts = {column: found for column in columns if (found := split(column)) is not None}
        of_property: dict[str, dict[str, Any]] = {}
        for column, (thing, name) in parts.items():
            of_property.setdefault(name, {})[thing] = column
        known = COORDINATES | OF_TASKS
        kept = {name: held for name, held in of_property.items() if len(held) > 1}
        if len(kept) < 2 or not any(name in known for name in kept):
            continue
        count = Counter(thing for held in kept.values() for thing in held)
        is_grid = sum(count.values()) >= SHARE * (len(columns) - 1) and max(count.values()) > 1
        if is_grid and (len(known & kept.keys()) > 1 or any(map(_is_group, kept))):
            return Grid(kept)
    return None


def _after(column: Any) -> tuple[str, str] | None:
    """Split J1_group into the thing and its property, None if it has no such parts."""
    parts = re.fullmatch(r"(.*?\d+)[ :]+([^\W\d].*)", normal(column))
    return (parts[1], parts[2].strip(" :")) if parts else None


def _before(column: Any) -> tuple[str, str] | None:
    """Split X1 or group_1 into the thing and its property, None if it has no such parts."""
    parts = re.fullmatch(r"([^\W\d][^\d]*?) ?(\d+)", normal(column))
    return (parts[2], parts[1].strip(" :")) if parts else None


def groups_of_grid(table: Table, request: ReadingRequest) -> Export | None:
    """Read the columns of groups that stand beside other properties of each person; None if the table is no grid.

    Raises AnnotationError: the properties are coordinates, or results of tasks, and no groups.
    """
    if request.columns or request.kind == "pairs":
        return None
    grid = property_grid([column for column in table.columns if column not in request.ignore])
    if grid is None:
        return None
    held = [column for columns in grid.columns.values() for column in columns.values()]
    if grid.groups is None:
        if grid.has_coordinates:
            raise AnnotationError(
                f"This is a table of coordinates ({quote(held)}), as napping gives them. Coordinates are no groups; "
                "export the groups that people formed, or give the coordinates as features."
            )
        raise AnnotationError(
            f"This is a table of several results for each task or person ({quote(held)}), as tree tests, first-click "
            f"tests and questionnaires give them, not of groups. Leave out all but the groups: {spell(ignore=...)}."
        )
    chosen = grid.columns[grid.groups]
    left_out = [column for column in held if column not in chosen.values()]
    frame = table.frame.drop(columns=left_out)
    note = f"{quantify(len(left_out), 'column')} beside those of groups left out: {quote(left_out)}"
    return Export("groups beside other data", replace(table, frame=frame), request, {}, (note,))
