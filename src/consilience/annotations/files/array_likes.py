"""What users pass to `fit` instead of annotations: frames of any library, read by the importer, and arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v1 as nw
import pandas as pd

from consilience.annotations.base import Annotations
from consilience.annotations.files.exports import known_export
from consilience.annotations.files.frames import request_of, warn_of_transposed
from consilience.annotations.files.importer import statements, table_of_frame
from consilience.annotations.files.layout import ReadingRequest
from consilience.annotations.files.long_frames import guess_columns
from consilience.annotations.files.long_tables import long_table
from consilience.annotations.files.reading import KINDS
from consilience.annotations.files.statements import VALUE, Statements
from consilience.annotations.files.stray_rows import without_stray_rows
from consilience.annotations.files.table import Table
from consilience.annotations.files.tag_lists import with_tag_column
from consilience.annotations.files.vocabulary import role_of_name
from consilience.annotations.files.wide_frames import HoldsFeaturesError, HoldsGroupsError, key_of, wide_frame
from consilience.annotations.keywords import VALUES, if_every_column, of_frames, written_by
from consilience.annotations.labels import Labels
from consilience.annotations.names import is_default, warn_of
from consilience.errors import AnnotationError

NOBODY = pd.Index([])


@dataclass(frozen=True)
class Given:
    """Annotations, and the matrix from which they were made.

    matrix : DataFrame, array or list, optional; items × annotators; None if they were not made from a matrix.
    """

    annotations: Annotations
    matrix: Any = None


def annotations_of(
    given: Any,
    kind: str,
    model: str,
    *,
    items: pd.Index | None = None,
    missing: Any = None,
    known: pd.Index = NOBODY,
    gold_classes: Iterable[Any] = (),
    tags: bool = False,
    ratings: bool = False,
) -> Given:
    """Make annotations from what a user passed as such.

    Raises AnnotationError: a frame that is not recognised, is ambiguous, or contradicts itself; a lazy frame; or
    `missing` was given together with annotations.

    Warns AnnotationWarning: something was left out, or read as missing or otherwise than in an array.

    given : Groupings, Pairs, Labels, a frame, or an array-like
    kind : {"groupings", "labels"}; what the cells of a matrix are.
    model : name of the estimator, for messages.
    items : names of items; rows with these names are taken to be items without further checks.
    missing : a value, or a list of them, that means missing.
    known : known annotators; columns with these names are taken to be theirs without further checks.
    gold_classes : iterable of names; classes of gold items, of labels: "skip" among them is no abstention.
    tags : whether labels are tags, of which a cell of a frame may hold several, or none.
    ratings : whether labels are levels, which may be numbers with decimals.
    """
    if isinstance(given, Annotations):
        if missing is not None:
            raise AnnotationError(
                f"'missing' says which cells of a table or an array are blank, but {model} was given "
                f"{type(given).__name__}. Pass it to from_frame, from_matrix or read_annotations."
            )
        return Given(given)
    if isinstance(given, pd.Series) and isinstance(given.index, pd.MultiIndex):
        given = given.reset_index()
    if not is_frame(given, model):
        if kind == "labels":
            return Given(Labels._from_matrix(given, missing=missing, gold_classes=gold_classes), given)
        return Given(KINDS[kind].from_matrix(given, missing=missing), given)
    request = request_of({}, kind=None, missing=missing, gold_classes=gold_classes, tags=tags, ratings=ratings)
    table = table_of_frame(given, model)
    request = with_tag_column(table, request) if tags else request
    try:
        with written_by(of_frames(kind)):
            found, matrix = _statements(given, table, request, Wanted(kind, items, known))
            annotations = KINDS[found.kind]._from_statements(found, None)
            if isinstance(annotations, Labels):
                annotations = annotations.with_order_of(given)
    except (HoldsFeaturesError, HoldsGroupsError):
        raise
    except AnnotationError as error:
        raise AnnotationError(_with_remedy(str(error), kind)) from error
    warn_of(found.reading.warnings)
    return Given(annotations, matrix)


def is_frame(given: Any, model: str) -> bool:
    """Whether something is a frame of a library that narwhals supports. Raises AnnotationError: it is a lazy frame."""
    frame = nw.from_native(given, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise AnnotationError(
            f"{model} takes frames that hold their rows, but a {type(given).__name__} does not; give "
            "frame.collect() (or the equivalent in your library)."
        )
    return isinstance(frame, nw.DataFrame)


@dataclass(frozen=True)
class Wanted:
    """What a matrix contains, and what is known of its rows and columns; see `annotations_of`."""

    kind: str
    items: pd.Index | None
    known: pd.Index


def _statements(
    given: Any, table: Table, request: ReadingRequest, wanted: Wanted
) -> tuple[Statements, pd.DataFrame | None]:
    """Read a frame; also return its columns of annotators if it is a matrix."""
    unsure = [name for name in table.columns if name not in wanted.known]
    if unsure and (known_export(table, request, "frame") is not None or long_table(table, request) is not None):
        return statements(table, request), None
    if isinstance(given, pd.DataFrame) and given.index.nlevels > 1:
        raise AnnotationError(
            f"The rows of the frame have an index of {given.index.nlevels} levels, but items have one name each; join "
            "the levels into one."
        )
    _refuse_values_among_annotators(table, unsure, wanted.kind)
    if unsure and (stray := without_stray_rows(table)[1]):
        raise AnnotationError(
            f"Not all rows of the frame are annotations: {stray[0].replace(' left out', '')}; drop them."
        )
    table, key = _with_names_of_rows(given, table, unsure)
    layout = wide_frame(table, request, wanted.kind, key=key, known=wanted.known, items=wanted.items)
    if not layout.annotators_in_rows and not len(wanted.known):
        warn_of_transposed(given)
    found = statements(table, replace(request, kind=wanted.kind), layout=layout)
    return found, None if layout.annotators_in_rows else table.frame[layout.others]


def _with_names_of_rows(given: Any, table: Table, unsure: list[Any]) -> tuple[Table, Any]:
    """Find the column that names the rows: the index of a pandas frame if it has names, else one of the columns."""
    is_pandas = isinstance(given, pd.DataFrame)
    if is_pandas and table.frame.shape[1] > given.shape[1]:  # the index became a column
        return table, table.columns[0]
    key = key_of(table, unsure)
    if key is not None or not is_pandas or is_default(given.index):
        return table, key
    head = next(name for name in ("", "item", "item name") if name not in table.columns)
    frame = table.frame.reset_index(drop=True)
    frame.insert(0, head, given.index.to_numpy(object))
    return replace(table, frame=frame), head


def _refuse_values_among_annotators(table: Table, columns: list[Any], kind: str) -> None:
    """Raise an AnnotationError if a frame read as a matrix has a column named like groups, labels or judgements."""
    values = [name for name in columns if (found := role_of_name(name)) and found.role in VALUE.values()]
    if values and len(table.columns) > 1:
        guess = guess_columns(table, columns)
        if guess.has_both:
            raise AnnotationError(guess.refusal())
        raise AnnotationError(
            f"The frame has a column {str(values[0])!r}, as long tables have, but no columns with usual names for "
            f"items and annotators. Call the columns item, annotator and {VALUES[kind]}; or name them: "
            f"{guess.keywords()}.{if_every_column()}"
        )


def _with_remedy(message: str, kind: str) -> str:
    """Add to a message that suggests `from_frame` what to do if every column is an annotator."""
    if ".from_frame(" not in message or ".from_matrix(" in message:
        return message
    with written_by(of_frames(kind)):
        return f"{message}{if_every_column()}"
