"""Reading annotations from a file of any kind."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from os import PathLike
from pathlib import PurePath
from typing import Any, Literal, TypedDict, Unpack, cast, overload

import narwhals.stable.v1 as nw

from consilience.annotations.files.containers import as_frame
from consilience.annotations.files.exports import known_export
from consilience.annotations.files.frames import request_of
from consilience.annotations.files.importer import statements, table_of_frame
from consilience.annotations.files.json_exports import answers_in_lists, known_records
from consilience.annotations.files.layout import ReadingRequest
from consilience.annotations.files.recognition import recognise
from consilience.annotations.files.sources import Records, Source, read_source
from consilience.annotations.files.statements import Statements
from consilience.annotations.files.table import Table
from consilience.annotations.files.workbooks import Workbook
from consilience.annotations.groupings import Groupings
from consilience.annotations.keywords import spell
from consilience.annotations.labels import Labels
from consilience.annotations.name_lists import list_names
from consilience.annotations.names import outside, warn_of
from consilience.annotations.pairs import Pairs
from consilience.annotations.types import FrameLike, Names
from consilience.errors import AnnotationError, AnnotationWarning, InputError

COLUMNS = ("item", "item_b", "annotator", "grouping", "group", "label", "same")
KINDS: dict[str, Any] = {"groupings": Groupings, "pairs": Pairs, "labels": Labels}
RATINGS, TAGS = "ratings", "tags"


class Options(TypedDict, total=False):
    """Keywords of `read_annotations` other than the kind."""

    items: Names | None
    item: str | None
    item_b: str | None
    annotator: str | None
    grouping: str | None
    group: str | None
    label: str | None
    same: str | None
    ignore: str | Iterable[str]
    transpose: bool | None
    missing: Any
    same_if: str | None
    exact: bool
    encoding: str | None
    sheet: str | None


@overload
def read_annotations(
    path: str | PathLike[str] | FrameLike, *, kind: Literal["groupings"], **options: Unpack[Options]
) -> Groupings: ...
@overload
def read_annotations(
    path: str | PathLike[str], *, kind: Literal["labels", "ratings", "tags"], **options: Unpack[Options]
) -> Labels: ...
@overload
def read_annotations(path: str | PathLike[str], *, kind: Literal["pairs"], **options: Unpack[Options]) -> Pairs: ...
@overload
def read_annotations(
    path: str | PathLike[str] | FrameLike, *, kind: str | None = None, **options: Unpack[Options]
) -> Groupings | Labels | Pairs: ...
def read_annotations(
    path: str | PathLike[str] | FrameLike,
    *,
    kind: str | None = None,
    items: Names | None = None,
    item: str | None = None,
    item_b: str | None = None,
    annotator: str | None = None,
    grouping: str | None = None,
    group: str | None = None,
    label: str | None = None,
    same: str | None = None,
    ignore: str | Iterable[str] = (),
    transpose: bool | None = None,
    missing: Any = None,
    same_if: str | None = None,
    exact: bool = False,
    encoding: str | None = None,
    sheet: str | None = None,
) -> Groupings | Labels | Pairs:
    r"""Read annotations from a file or a frame; its layout is recognised by the names and contents of its columns.

    - item, annotator, grouping, group (one of the middle two may be absent): `Groupings`
    - item_a, item_b, annotator, same, and optionally grouping: `Pairs`
    - item, annotator, label: `Labels`; with ``kind="ratings"``, in rising order of their numbers; with ``kind="tags"``,
      several for an item and annotator, or none
    - a table of items × annotators, or annotators × items, blank = missing: `Groupings`, or `Labels` with
      ``kind="labels"``
    - exports of many tools; :doc:`/formats` lists them

    Columns may have other names (card, question, task, …; participant, worker, rater, …; category, pile, …; answer,
    …), in any order and case, and there may be more of them. The attribute `reading` of the result says how the file
    was read. An ambiguous file is refused, and the message names the keyword that decides. Keywords override every
    guess.

    Files are delimited text, Excel workbooks (``.xlsx``), Parquet, NumPy arrays (``.npy``), or JSON, as a list or in
    lines; all of them may be compressed by gzip. Text is read as UTF-8 unless a byte order mark or its bytes show
    otherwise.

    Names keep the type that Parquet, Excel and JSON give them. In text a column whose names are all whole numbers (7,
    or 7.0, but not 007) holds integers; item_a and item_b count as one column, and so do all cells of a wide table.
    Every other column keeps the exact text.

    Parameters
    ----------
    path : path, or DataFrame of pandas, polars or another library that narwhals reads
        The file; ``"-"`` is standard input. If the kind is known, frames can also be read by `Groupings.from_frame`
        and `Labels.from_frame`.
    kind : {"groupings", "pairs", "labels", "ratings", "tags"}, optional
        What the file must contain. Ratings are labels that are numbers, such as 1 to 5: see `Labels.as_ratings`. Tags
        are labels of which an annotator may give an item several, one a row or as a list in a cell (``red|blue``,
        ``["red", "blue"]``); a row without any says that the item was seen and has none, and becomes "(no tag)".
    items : iterable of names, optional
        All items in order, including those without annotations. By default the rows of a wide table, else the
        items in order of first appearance.
    item, item_b, annotator, grouping, group, label, same : str, optional
        Names of columns.
    ignore : str or list of str
        Columns to leave out; ``*`` matches any characters.
    transpose : bool, optional
        Whether the rows of a wide table are annotators.
    missing : optional
        A value, or a list of them, that means missing, in addition to blank cells. By default -1 if it is the only
        negative integer, NaN, null and errors of spreadsheets such as #REF! in text, NA in text among numbers, and
        "unsure", "don't know" and the like among labels; ``missing=[]`` makes all these names. Marks such as ? and
        words such as "not seen" are names, with a warning.
    same_if : str, optional
        Judgements of pairs that mean "same", such as ``">=3"`` or ``"=yes"``. By default the meaning of the words,
        or, for grades, those above the middle of the scale that was used.
    exact : bool, default=False
        Whether classes of labels are kept apart that differ only in case, spaces or form of letters, such as Yes and
        yes, and a label such as "a,b" is the name of one class.
    encoding : str, optional
        Encoding of text, such as ``"cp1252"``.
    sheet : str, optional
        Sheet of a workbook; by default the one that contains annotations, or all of them if each is of one person.

    Returns
    -------
    Groupings, Pairs or Labels

    Raises
    ------
    AnnotationError
        The file contains no annotations that are recognised, or not those of `kind`, is ambiguous, or contradicts
        itself. The message names the file, and the line of text (the header is line 1) or the row of other files
        (the first is 0).
    InputError
        There is no such file, or the argument is neither a path nor a frame.
    MissingDependencyError
        pyarrow, for Parquet, or openpyxl, for workbooks, is not installed.

    Warns
    -----
    AnnotationWarning
        Something was left out or read as missing, looks like a missing value, or is unlike other annotators' columns;
        or annotators share hardly any labels, as if these were names of groups.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from consilience import read_annotations
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "sort.csv"
    ...     _ = path.write_text("product;Ann;Bo\nale;1;2\nstout;1;\n")
    ...     groupings = read_annotations(path)
    >>> groupings
    Groupings(2 items, 2 annotators, 2 groupings, 2 groups, 3 memberships)
    >>> print(groupings.reading.how)
    2 products × 2 annotators, wide table of groupings (a row per product, a column per annotator: the column 'product')
    """
    columns = {
        **{"item": item, "item_b": item_b, "annotator": annotator, "grouping": grouping},
        **{"group": group, "label": label, "same": same},
    }
    cells = {"missing": missing, "same_if": same_if, "exact": exact, "ignore": ignore, "transpose": transpose}
    return read_with_gold(path, (), kind=kind, items=items, encoding=encoding, sheet=sheet, **columns, **cells)


def read_with_gold(
    path: str | PathLike[str] | FrameLike,
    gold_classes: Iterable[Any],
    *,
    kind: str | None = None,
    items: Names | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    **options: Any,
) -> Groupings | Labels | Pairs:
    """Read annotations as `read_annotations` does, but words of abstention that gold items have are classes."""
    if kind is not None and kind not in (*KINDS, RATINGS, TAGS):
        known = ", ".join((*KINDS, RATINGS, TAGS))
        raise InputError(f"The 'kind' parameter of read_annotations must be one of {known}. Got {kind!r}.")
    if kind == RATINGS:
        return _read_ratings(path, items=items, encoding=encoding, sheet=sheet, **options)
    if kind == TAGS:
        kind, options = "labels", options | {"tags": True}
    items = None if items is None else list_names(items, "items")
    columns = {role: options.pop(role) for role in COLUMNS if role in options}
    request = request_of(columns, kind=kind, gold_classes=gold_classes, **options)
    if not isinstance(path, str | PathLike):
        found = _of_frame(path, request, encoding, sheet)
        annotations: Groupings | Labels | Pairs = KINDS[found.kind]._from_statements(found, items)
        warn_of(found.reading.warnings)
        return annotations.with_order_of(path) if isinstance(annotations, Labels) else annotations
    source = Source.of(path)
    try:
        found = _statements(source, request, encoding, sheet)
        more = {"classes": found.classes} if found.kind == "labels" and found.classes else {}
        annotations = KINDS[found.kind]._from_statements(found, items, **more)
    except AnnotationError as error:
        raise AnnotationError(f"{source.name}: {error}") from error
    for text in found.reading.warnings:
        warnings.warn(f"{source.name}: {text}.", AnnotationWarning, stacklevel=outside())
    return annotations


def _read_ratings(path: Any, **options: Any) -> Labels:
    labels = read_with_gold(path, (), kind="labels", ratings=True, **options)
    try:
        return cast(Labels, labels).as_ratings()
    except AnnotationError as error:
        source = Source.of(path).name if isinstance(path, str | PathLike) else "The frame"
        raise AnnotationError(f"{source}: {error}") from error


def _of_frame(frame: Any, request: ReadingRequest, encoding: str | None, sheet: str | None) -> Statements:
    for keyword, value in (("encoding", encoding), ("sheet", sheet)):
        if value is not None:
            raise AnnotationError(f"{spell(**{keyword: None})} is for files. Got a {type(frame).__name__}.")
    frame = as_frame(frame)
    native = nw.from_native(frame, pass_through=True)
    if not isinstance(native, nw.DataFrame | nw.LazyFrame):
        raise InputError(
            f"read_annotations takes the path of a file, or a DataFrame. Got {type(frame).__name__}. For arrays and "
            "lists use Groupings.from_matrix, Labels.from_matrix or Groupings.from_lists."
        )
    return statements(table_of_frame(frame, "read_annotations"), request)


def _statements(source: Source, request: ReadingRequest, encoding: str | None, sheet: str | None) -> Statements:
    held = read_source(source, encoding=encoding, sheet=sheet)
    name = PurePath(source.name.removesuffix(".gz")).name
    if isinstance(held, Workbook):
        return _of_sheets(held, request, name)
    if isinstance(held, Records):
        found = known_records(held, request, name)
        if found is not None:
            return statements(found.table, found.request, name, export=found)
        held = answers_in_lists(held) or held.table()
    return statements(held, request, name)


def _of_sheets(book: Workbook, request: ReadingRequest, name: str) -> Statements:
    """Read the sheet with annotations, or the sheets of one person each.

    A sheet with annotations and an error is not skipped. Raises AnnotationError: no sheet holds annotations, or several
    do.
    """
    if not request.columns.get("annotator") and (table := book.one_person_a_sheet()) is not None:
        return statements(table, request, name)
    errors: dict[str, AnnotationError] = {}
    found: dict[str, Statements] = {}
    for sheet in book.names:
        try:
            table = book.table(sheet)
        except AnnotationError as error:
            errors[sheet] = error
            continue
        try:
            read = statements(table, request, name)
            if len(book.names) == 1 or not _puts_nothing_together(read):
                found[sheet] = read
        except AnnotationError as error:
            if len(book.names) == 1:
                raise
            errors[sheet] = error
            if _holds_annotations(table, request, name):
                raise AnnotationError(f"Sheet {sheet!r}: {error}") from error
    if len(found) > 1:
        raise AnnotationError(
            f"The sheets {', '.join(map(repr, found))} all hold annotations. Choose one: "
            f"{spell(sheet=next(iter(found)))}."
        )
    if found:
        return next(iter(found.values()))
    if not errors:
        raise AnnotationError(
            f"No sheet holds annotations: in {', '.join(map(repr, book.names))} nobody put two things together."
        )
    sheet, first = next(iter(errors.items()))
    raise AnnotationError(f"Sheet {sheet!r}: {first}" if len(book.names) > 1 else str(first)) from first


def _puts_nothing_together(found: Statements) -> bool:
    """Whether nobody put two items together in a wide table, as in an overview of a study."""
    if not found.wide or found.kind == "pairs":
        return False
    value = found.columns["group" if found.kind == "groupings" else "label"]
    pairs = list(zip(found.columns["annotator"].codes.tolist(), value.codes.tolist()))
    return len(pairs) == len(set(pairs))


def _holds_annotations(table: Table, request: ReadingRequest, name: str) -> bool:
    """Whether a table is recognised, whatever errors its cells contain."""
    try:
        return known_export(table, request, name) is not None or recognise(table, request) is not None
    except AnnotationError:
        return False
