"""What comes with the items besides features: labels to be checked, and pictures.

Each is a file of its own, or a column of the table of features, which is then no feature.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from consilience.analysis.label_quality import LabelQuality
from consilience.annotations import Labels
from consilience.annotations.files.sources import STANDARD_INPUT
from consilience.annotations.files.table import Table
from consilience.annotations.keywords import spell
from consilience.errors import InputError
from consilience.inspection.pictures import Pictures, pictures_of
from consilience.inspection.report.quality_sections import quality_file
from consilience.workflows.item_columns import FEATURE_ITEM, item_column
from consilience.workflows.jobs import FeatureOptions
from consilience.workflows.notes import note
from consilience.workflows.sources import TableSource
from consilience.workflows.tables import named_as, names_as, names_in, read_table

GIVEN, PICTURES = "given_labels", "pictures"  # names of the parameters
GIVEN_FILE = "given-labels.csv"
LABEL_COLUMNS = ("label", "class", "given", "given label", "given_label")
PICTURE_COLUMNS = ("picture", "pictures", "image", "photo", "path", "file", "filename", "file_name")


@dataclass(frozen=True)
class Place:
    """Where something about the items is: a file or a folder, or a column of the table of features."""

    path: TableSource
    column: str | None
    parameter: str

    @property
    def asked(self) -> str:
        """The parameter as the reader of a message gives it."""
        return spell(**{self.parameter: None})


@dataclass(frozen=True)
class Extras:
    """Where given labels and pictures are, if there are any."""

    given: Place | None
    pictures: Place | None

    @classmethod
    def of(cls, given_labels: str | None, pictures: str | None, features: TableSource | None) -> Extras:
        """Tell files from columns. Raises InputError: there is no such file or column."""
        return cls(_place(given_labels, features, GIVEN), _place(pictures, features, PICTURES))

    @property
    def paths(self) -> list[Path]:
        """The files, which must not be overwritten."""
        paths = [place.path for place in (self.given, self.pictures) if place is not None]
        return [path for path in paths if isinstance(path, Path) and path.is_file()]

    def without(self, options: FeatureOptions) -> FeatureOptions:
        """Return options on features that leave out the columns of these."""
        columns = [place.column for place in (self.given, self.pictures) if place is not None and place.column]
        return replace(options, besides=tuple(columns))

    def given_labels(self, annotations: Any, options: FeatureOptions) -> pd.Series | None:
        """Read the given labels, by item."""
        if self.given is None:
            return None
        if not isinstance(annotations, Labels):
            needs = f"{spell(given_labels=None)} needs labels, whose names all annotators share"
            raise InputError(f"{needs}; see {spell(kind='labels')}.")
        found = _column_of(self.given, annotations.items, options, LABEL_COLUMNS)
        if not found.index.isin(annotations.items).any():
            raise InputError(
                f"{self.given.path}: None of the {len(annotations):,} items of the annotations has a given label in it."
            )
        return pd.Series(names_as(pd.Index(found.to_numpy()), annotations.classes).to_numpy(object), found.index)

    def read_pictures(self, items: pd.Index, options: FeatureOptions) -> Pictures | None:
        """Read the pictures, and note which items have none."""
        if self.pictures is None:
            return None
        place = self.pictures
        if isinstance(place.path, Path) and place.path.is_dir():
            found = pictures_of(items, place.path)
        else:
            paths = _column_of(place, items, options, PICTURE_COLUMNS)
            folder = place.path.parent if isinstance(place.path, Path) else Path()
            found = pictures_of(items, paths.map(str), folder=folder)
        if text := found.in_words():
            note(f"Pictures: {text}")
        return found


def _place(value: str | None, features: TableSource | None, parameter: str) -> Place | None:
    if value is None:
        return None
    path = Path(value)
    if value and path.exists() and (parameter == PICTURES or not path.is_dir()):
        return Place(path, None, parameter)
    asked = spell(**{parameter: None})
    if features is None:
        what = "file or folder" if parameter == PICTURES else "file"
        remedy = f"if it is a column, {spell(features=None)} names its table"
        raise InputError(f"{asked}: There is no {what} {value!r}; {remedy}.")
    if str(features) == STANDARD_INPUT:
        raise InputError(f"{asked} {value}: A column can be read from a file of features only, not standard input.")
    for name in read_table(features).columns:
        if str(name).strip() == value.strip():
            return Place(features, str(name), parameter)
    near = get_close_matches(value, map(str, read_table(features).columns), n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise InputError(f"{asked}: {value!r} is neither a file nor a column of {features}.{hint}")


def _column_of(place: Place, items: pd.Index, options: FeatureOptions, usual: tuple[str, ...]) -> pd.Series:
    """Return the values of a column by item, without those that are missing."""
    table = read_table(place.path, items)
    item = item_column(
        table,
        place.path,
        items=items,
        chosen=None if place.column is None else options.feature_item,
        besides=[] if place.column is None else [name for name in table.columns if str(name) == place.column],
        parameter=FEATURE_ITEM if place.column is not None else "",
    )
    column = _find_wanted(table, item, place, usual)
    names, values = names_in(table, item, place.path), table.column(column)
    known = np.flatnonzero(~np.asarray(values.missing, dtype=bool))
    found = pd.DataFrame({"value": values.names.take(values.codes[known]).astype(object)}, index=names[known])
    if found.empty:
        raise InputError(f"{place.path}: The column {str(column)!r}, named by {place.asked}, is empty.")
    return named_as(found, items)["value"]


def _find_wanted(table: Table, item: Any, place: Place, usual: tuple[str, ...]) -> Any:
    """Return the column of the values: the one that was named, or has a usual name, or is the only other."""
    rest = [name for name in table.columns if name != item]
    if place.column is not None:
        return next(name for name in rest if str(name) == place.column)
    called = [name for name in rest if str(name).strip().casefold() in usual]
    if len(called) != 1 and len(rest) != 1:
        raise InputError(
            f"{place.path}: One column, that of {place.asked}, must be called {usual[0]!r}. Found "
            f"{', '.join(map(str, table.columns))}."
        )
    return (called or rest)[0]


def file_of(found: LabelQuality | None) -> dict[str, pd.DataFrame]:
    """Return the table of given labels by its file name, if any were checked."""
    return {} if found is None else {GIVEN_FILE: quality_file(found).reset_index()}
