"""Preprocessing of features, as steps of a scikit-learn pipeline that is saved with the model.

| step | what | when |
|---|---|---|
| columns | `SimpleImputer` of numbers; of text the most frequent, then `OneHotEncoder` | if asked for |
| scale | `StandardScaler` of the numbers | unless asked not to |
| model | | |

Decided here
------------
Indicator columns stay 0 and 1: scaled to variance 1, a rare value would become the most influential feature. A value
that did not occur when the model was fitted has 0 in all indicators of its column.
The report shows features as the first step returns them, in the units of the file. So it is given the pipeline without
that step, and the output of that step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from consilience.analysis.fitted import parts_of
from consilience.annotations.keywords import spell
from consilience.annotations.names import plain
from consilience.errors import InputError
from consilience.workflows.cells import ColumnReader, read_cells, with_decimal_points
from consilience.workflows.features import categorical_columns
from consilience.workflows.item_columns import FEATURE_ITEM, item_column
from consilience.workflows.jobs import FeatureOptions
from consilience.workflows.notes import note
from consilience.workflows.sources import TableSource
from consilience.workflows.tables import names_in, read_table
from consilience.workflows.text import others

COLUMNS, SCALE = "columns", "scale"


def steps_for(table: pd.DataFrame, options: FeatureOptions, *, standardize: bool) -> list[tuple[str, Any]]:
    """Return the unfitted steps that precede a model.

    Raises InputError: two columns, at least one of them an indicator, would have the same name.
    """
    text = categorical_columns(table)
    numbers = [name for name in table.columns if name not in text]
    _require_names(table, text)
    steps: list[tuple[str, Any]] = []
    if text:
        filled = SimpleImputer(strategy=options.impute) if options.impute else "passthrough"
        encoder: Any = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        if options.impute:
            encoder = make_pipeline(SimpleImputer(strategy="most_frequent"), encoder)
        parts = [("numbers", filled, numbers), ("text", encoder, text)]
        transformer = ColumnTransformer(parts if numbers else parts[1:], verbose_feature_names_out=False)
        steps.append((COLUMNS, transformer.set_output(transform="pandas")))
    elif options.impute:
        steps.append((COLUMNS, SimpleImputer(strategy=options.impute).set_output(transform="pandas")))
    if standardize and numbers:
        scaler: Any = StandardScaler()
        if text:
            parts = [("standardize", scaler, numbers)]
            scaler = ColumnTransformer(parts, remainder="passthrough", verbose_feature_names_out=False)
        steps.append((SCALE, scaler.set_output(transform="pandas")))
    return steps


def _require_names(table: pd.DataFrame, text: list[str]) -> None:
    names = [name for name in table.columns if name not in text]
    names += [f"{name}_{value}" for name in text for value in table[name].dropna().unique()]
    twice = pd.Index(names)[pd.Index(names).duplicated()]
    if len(twice):
        raise InputError(f"Two features would be called {twice[0]!r}, one of them for a category; rename a column.")


def behind(steps: list[tuple[str, Any]], model: Any) -> Any:
    """Return a model preceded by steps, or the model itself if there are none."""
    return Pipeline([*steps, (type(model).__name__.lower(), model)]) if steps else model


def reads_probabilities(model: Any) -> bool:
    """Whether the features of a model are probabilities, which must not be scaled."""
    return bool(getattr(model, "reads_probabilities", False))


def legible(steps: list[tuple[str, Any]], table: pd.DataFrame | None) -> pd.DataFrame | None:
    """Return features as numbers, filled and encoded, for the report of a model that does not use them."""
    encode = dict(steps).get(COLUMNS)
    return table if table is None or encode is None else encode.fit_transform(table)


def as_shown(estimator: Any, table: pd.DataFrame | None) -> tuple[Any, pd.DataFrame | None]:
    """Return a fitted estimator without the step that fills and encodes features, and its output, for the report.

    estimator : fitted estimator, or Pipeline that ends in one
    table : features as that step takes them, or None
    """
    if table is None or not needs_of(estimator).prepares:
        return estimator, table
    rest = Pipeline(estimator.steps[1:]) if len(estimator.steps) > 2 else estimator[-1]
    return rest, pd.DataFrame(estimator[0].transform(table), index=table.index)


@dataclass(frozen=True)
class Needs:
    """Requirements of a fitted estimator on a table of features.

    names : list of str, or None if features are matched by position
    categories : dict of column to array; the values that occurred when an encoder was fitted, for each encoded column.
    may_miss : frozenset of str; columns whose missing values are filled.
    prepares : whether the first step of the pipeline fills or encodes.
    """

    names: list[str] | None
    categories: Mapping[str, np.ndarray]
    may_miss: frozenset[str]
    prepares: bool


def needs_of(estimator: Any) -> Needs:
    """Return the requirements of a fitted estimator on a table of features."""
    found = getattr(estimator, "feature_names_in_", None)
    names = None if found is None else [str(name) for name in found]
    first = estimator.steps[0][1] if hasattr(estimator, "steps") else None
    if isinstance(first, SimpleImputer):
        return Needs(names, {}, frozenset(names or ()), prepares=True)
    if not isinstance(first, ColumnTransformer) or names is None:
        return Needs(names, {}, frozenset(), prepares=False)
    categories: dict[str, np.ndarray] = {}
    may_miss: set[str] = set()
    prepares = False
    for _, inner, chosen in first.transformers_:
        columns = _names_of(chosen, names)
        for part in parts_of(inner):
            prepares |= isinstance(part, SimpleImputer | OneHotEncoder)
            if isinstance(part, SimpleImputer):
                may_miss.update(columns)
            if isinstance(part, OneHotEncoder):
                categories |= dict(zip(columns, part.categories_, strict=True))
    return Needs(names, categories, frozenset(may_miss), prepares)


def _names_of(chosen: Any, names: list[str]) -> list[str]:
    """Return the names of the columns given to a part of a ColumnTransformer."""
    columns = [chosen] if isinstance(chosen, str | int) else list(chosen) if not isinstance(chosen, slice) else chosen
    if isinstance(columns, slice):
        return names[columns]
    if columns and all(isinstance(column, bool | np.bool_) for column in columns):
        return [name for name, taken in zip(names, columns) if taken]
    return [column if isinstance(column, str) else names[column] for column in columns]


def read_for(
    path: TableSource, estimator: Any, *, chosen: str | None = None, items: pd.Index | None = None
) -> pd.DataFrame:
    """Read the features that a fitted estimator needs, in its order, from a file that may hold more.

    Raises InputError: a column is missing, or a cell cannot be used; the message gives column, item and line.

    estimator : fitted
    chosen : name of the column of items, or None to find it
    items : Index of the known items, or None
    """
    table, needs = with_decimal_points(read_table(path, items)), needs_of(estimator)
    by_name = {str(name): name for name in table.columns}
    wanted = [by_name[name] for name in needs.names or () if name in by_name]
    item = item_column(table, path, items=items, chosen=chosen, besides=wanted, parameter=FEATURE_ITEM)
    names = [str(name) for name in table.columns if name != item] if needs.names is None else needs.names
    absent = [name for name in names if name not in by_name]
    if absent:
        more = others(len(absent), ", nor")
        raise InputError(f"{path}: There is no column {absent[0]!r}{more}; the model needs it.")
    left_out = len(table.columns) - len(names) - 1
    if left_out > 0:
        note(f"Columns of {path} that are not features of the model, left out: {left_out:,}.")
    reader = ColumnReader(table, path, names_in(table, item, path))
    columns = {name: _column(reader, by_name[name], name, needs) for name in names}
    return pd.DataFrame(columns, index=reader.items)


def _column(reader: ColumnReader, column: Any, name: str, needs: Needs) -> np.ndarray:
    """Return one column, as text if it is encoded; a value not seen in the fit is noted."""
    known = needs.categories.get(name)
    blanks = name in needs.may_miss
    remedy = f" The model was fitted without {spell(impute=None)} and cannot fill it."
    if known is None or known.dtype.kind not in "OUT":
        cells = read_cells(reader.table.frame[column])
        return reader.numbers(column, cells, blanks=blanks, remedy=remedy)
    texts = reader.categories(column, blanks=blanks, remedy=remedy)
    strange = np.flatnonzero(~(pd.isna(texts) | pd.Series(texts).isin(known).to_numpy()))
    if len(strange):
        where = reader.at(column, int(strange[0]))
        rest = others(len(strange), ", as are those of")
        note(f"{where} is {plain(texts[strange[0]])!r}{rest}; no item that the model was fitted to had this value.")
    return texts
