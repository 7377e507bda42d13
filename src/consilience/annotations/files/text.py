"""Delimited text as tables: encoding, delimiter, quotation marks, and the line of each row."""

from __future__ import annotations

import csv
import gzip
import io
import re
import sys
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice, takewhile
from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations.files.encodings import find_encoding
from consilience.annotations.files.table import OpenQuote, Table
from consilience.annotations.files.title_rows import of_titles
from consilience.annotations.keywords import spell
from consilience.errors import AnnotationError

DELIMITERS = ("\t", ";", ",", "|")
SEPARATOR_LINE = re.compile(r'"?sep=(.)"?', re.IGNORECASE)  # Excel's declaration of the delimiter, before the header
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|nan|NaN|NA|")
FEW_TYPED = 8  # most columns that are read a second time; if there are more, all are
WHOLE_OR_MISSING = re.compile(r"-?\d+(\.0+)?|nan|NaN|NA|")
MANY_COLUMNS = 1000  # which are held in one array: pandas holds each column of text by itself
MOST_GROUPS = 50  # most different numbers in a matrix without names
FEW_NUMBERS = 4  # columns of numbers without names, which may be those of a long table
END = "end of the text"
JUDGED = 50  # records from which the delimiter is detected
MOST_TITLES = 20  # lines before the header
LEAST = 3  # least number of cells in every line of a table below titles


def read_text(open_binary: Callable[[], Any], name: str = "", encoding: str | None = None) -> Table:
    """Read a table of delimited text.

    The delimiter is that of a ``sep=`` line; else the one of tab, semicolon, comma and vertical bar that splits the
    first records into equally many cells, and into most.

    Raises AnnotationError: the text is not a table, is empty or damaged, or has lines of different length.

    open_binary : callable; opens the bytes of the text, from the beginning, at every call.
    name : the file's name; ``.tsv`` and ``.tab`` mean tabs.
    encoding : by default UTF-8, or that of a byte order mark, or else the detected one, which is noted.
    """
    try:
        return _Text(open_binary, name, encoding).table()
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise AnnotationError(f"The compressed file is damaged or truncated ({error}).") from error
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise AnnotationError(
            f"The text is not in {error.encoding} (byte 0x{byte:02x} is invalid); give its encoding, "
            f"{spell(encoding=...)}."
        ) from error
    except UnicodeError as error:  # such as UTF-16 without its byte order mark
        raise AnnotationError(f"The text is not in {encoding}; give its encoding, {spell(encoding=...)}.") from error


class _Text:
    """Properties of a text file that can be found without reading it as a table."""

    def __init__(self, open_binary: Callable[[], Any], name: str, encoding: str | None):
        self.open_binary = open_binary
        self.encoding, note = find_encoding(open_binary, encoding)
        self.notes = [note] if note else []
        self.open_quotes: dict[str, OpenQuote] = {}
        self.skipped = 0  # lines before the header: ``sep=`` and titles
        self.delimiter = self._delimiter(name)
        self.has_titles = self._skip_titles()
        self.has_header = True
        self.header = self._header()
        self.unquoted = self.delimiter == "\t" and self._is_split_by_tabs_alone()
        if self.unquoted:
            self._refuse_cells_of_several_lines()

    @contextmanager
    def _lines(self) -> Iterator[Any]:
        # csv reads the ends of lines itself
        with self.open_binary() as file, io.TextIOWrapper(file, encoding=self.encoding, newline="") as text:
            first = text.read(1)
            if first != "\ufeff":  # a byte order mark, which most encodings leave in
                text.seek(0)
            for _ in range(self.skipped):
                text.readline()
            yield text

    def records(
        self, delimiter: str, *, unquoted: bool = False, is_strict: bool = False
    ) -> Iterator[tuple[int, list[str]]]:
        """Yield the 1-based line where each record starts, and its cells; blank lines are skipped."""
        with self._lines() as text:
            quoting: Any = csv.QUOTE_NONE if unquoted else csv.QUOTE_MINIMAL
            reader = csv.reader(text, delimiter=delimiter, quoting=quoting, strict=is_strict)
            line = 1
            try:
                for cells in _of_any_length(reader):
                    if cells and not (len(cells) == 1 and not cells[0].strip()):
                        yield line + self.skipped, cells
                    line = reader.line_num + 1
            except csv.Error as error:
                raise AnnotationError(f"Line {line + self.skipped} cannot be split into cells ({error}).") from error

    def _delimiter(self, name: str) -> str:
        with self._lines() as text:
            separator = SEPARATOR_LINE.fullmatch(text.readline(100).rstrip("\r\n").strip(" "))
        if separator:
            self.skipped = 1
            return separator[1]
        preferred = re.search(r"\.(tsv|tab)(\.gz)?$", name, re.IGNORECASE)
        scores = {delimiter: self._score(delimiter) for delimiter in DELIMITERS}
        if preferred and scores["\t"][1] > 1:
            return "\t"
        best = max(DELIMITERS, key=lambda delimiter: scores[delimiter])
        return " " if scores[best][1] < 2 and self._score(" ")[0] else best

    def _score(self, delimiter: str) -> tuple[bool, int]:
        """Return whether the delimiter splits the first records into equally many cells (2 or more), and how many."""
        try:
            lengths = [len(cells) for _, cells in islice(self.records(delimiter), JUDGED)]
        except AnnotationError:
            return False, 0
        return len(set(lengths)) == 1 and lengths[0] > 1, lengths[0] if lengths else 0

    def _skip_titles(self) -> bool:
        """Skip lines before the header that fill one cell, if all lines after them have three or more."""
        if len(_count_filled(next(self.records(self.delimiter), (1, []))[1])) != 1:
            return False
        for delimiter in sorted(DELIMITERS, key=lambda delimiter: delimiter != self.delimiter):
            line, titles = self._titles(delimiter)
            if titles:
                self.delimiter, self.skipped = delimiter, line - 1
                self.notes.append(of_titles(len(titles), "line", titles[0]))
                return True
        return False

    def _titles(self, delimiter: str) -> tuple[int, list[str]]:
        """Return the line of the header, and the titles before it; none if what follows is not a table."""
        try:
            records = list(islice(self.records(delimiter), MOST_TITLES + JUDGED))
        except AnnotationError:
            return 1, []
        titles = list(takewhile(lambda record: len(_count_filled(record[1])) == 1, records))
        table = records[len(titles) :]
        if not titles or len(titles) > MOST_TITLES or len(table) < 2:
            return 1, []
        header, shortest = _without_blank_end(table[0][1]), min(len(cells) for _, cells in table)
        is_header = len(header) >= LEAST and "" not in header and not all(map(_is_number, header))
        if shortest < LEAST or not is_header:
            return 1, []
        return table[0][0], [" ".join(_count_filled(cells)[0].split()) for _, cells in titles]

    def _header(self) -> list[str]:
        _, cells = next(self.records(self.delimiter), (1, []))
        header = _without_blank_end(cells)
        if not any(header):
            raise AnnotationError("The file is empty; the first line must name the columns.")
        if len(header) == 1:
            raise AnnotationError(
                f"The first line has only one column, {header[0][:60]!r}; columns are separated by comma, semicolon "
                "or tab."
            )
        if made := self._names_of_columns(header):
            self.has_header = False
            return made
        _require_names(header)
        return header

    def _names_of_columns(self, first: list[str]) -> list[str] | None:
        """Return names for the columns of a table without a header, None if the first line contains names.

        Raises AnnotationError: the first line contains only numbers, whose meaning is unknown.
        """
        if len(first) > 2 and not _is_number(first[1]) and _all_integers(first[2:]) and self._holds_piles(first):
            width = max(len(cells) for _, cells in self.records(self.delimiter))
            self.notes.append("no header: sorter, pile and statements, as in RCMap's SortedCards")
            return ["sorter", "pile", *(f"statement {i}" for i in range(1, width - 1))]
        if not all(map(_is_number, first)) or _is_running(first) or (not first[0] and _is_running(first[1:])):
            return None
        if len(first) > FEW_NUMBERS:
            held = {cell.strip() for _, cells in self.records(self.delimiter) for cell in cells}
            # few differ, as names of groups do but identifiers do not
            if len(held) <= MOST_GROUPS and all(WHOLE_OR_MISSING.fullmatch(cell) for cell in held):
                self.notes.append("no header: columns and rows are numbered from 0")
                return [str(i) for i in range(len(first))]
        raise AnnotationError(
            f"The first line contains numbers, {', '.join(first[:4])}{', …' if len(first) > 4 else ''}, instead of "
            "names of columns; insert a header before it, such as item,annotator,label."
        )

    def _holds_piles(self, first: list[str]) -> bool:
        """Whether every line is a sorter, the name of a pile, and numbers of items."""
        sorters: Counter[str] = Counter()
        sizes = set()
        for _, cells in self.records(self.delimiter):
            sorters[cells[0].strip()] += 1
            pile = [cell.strip() for cell in cells[2:] if cell.strip()]
            sizes.add(len(pile))
            if not _all_integers(pile) or len(set(pile)) < len(pile):
                return False
        return sorters[first[0]] > 1 and len(sizes) > 1

    def _is_split_by_tabs_alone(self) -> bool:
        """Whether all lines have as many tabs as the header, which has no quotation mark: no quotes enclose tabs."""
        n_tabs = None
        with self._lines() as text:
            for line in text:
                if line.strip():
                    if n_tabs is None and '"' in line:
                        return False
                    n_tabs = line.count("\t") if n_tabs is None else n_tabs
                    if line.count("\t") != n_tabs:
                        return False
        return True

    def _refuse_cells_of_several_lines(self) -> None:
        """Raise an AnnotationError if quotation marks may enclose cells that contain tabs and line breaks."""
        with self._lines() as text:
            if not any('"' in line for line in text):
                return
        n_columns, several = len(self.header), 0
        try:
            for line, cells in self.records(self.delimiter, is_strict=True):
                if len(cells) != n_columns:
                    return
                several = several or (line if any("\n" in cell or "\r" in cell for cell in cells) else 0)
        except AnnotationError:
            return
        if several:
            raise AnnotationError(
                f"Line {several} can be read in two ways: its quotation mark encloses a cell of several lines, or "
                "belongs to the text. Save the table as CSV (UTF-8), with commas."
            )

    def table(self) -> Table:
        frame = self._quickly()
        # a blank last cell may be one that is lacking: pandas does not tell
        if frame is None or (frame.iloc[:, -1] == "").any():
            frame = self._line_by_line()
        if self.delimiter == "|" and self.header[0] == "" and (frame.iloc[:, 0].str.strip() == "").all():
            # Markdown writes a bar before the first cell, and blanks around all
            frame = frame.iloc[:, 1:].apply(lambda column: column.str.strip())
        return Table(
            frame,
            self.line_of_row,
            is_text=True,
            notes=tuple(self.notes),
            delimiter=self.delimiter,
            spells_missing=True,
            open_quotes=self.open_quotes,
        )

    def _quickly(self) -> pd.DataFrame | None:
        """Read the table with pandas; None if lines differ in length or end in CR, or none names the columns.

        None also for very many columns, of which pandas makes as many arrays.
        """
        if not self.has_header or len(self.header) >= MANY_COLUMNS:
            return None
        with self._lines() as text:
            text.readline()
            if "\r" in np.atleast_1d(text.newlines):  # pandas 2 reads a line again if the next one begins with a blank
                return None
        try:
            frame = self._pandas()
            typed = [i for i in range(frame.shape[1]) if not pd.api.types.is_string_dtype(frame.iloc[:, i])]
            if len(typed) > FEW_TYPED:
                frame = self._pandas(dtype=str)
            elif typed:  # pandas read 007 as 7 or True as a truth value: read these columns as text
                exact = self._pandas(usecols=typed, dtype=str)
                for place, column in zip(typed, exact.columns):
                    frame.isetitem(place, exact[column].array)
        except (pd.errors.ParserError, pd.errors.ParserWarning):
            return None
        if frame.shape[1] != len(self.header):
            return None
        frame.columns = pd.Index(self.header)
        return self._without_marks(frame) if self.unquoted else frame

    def _pandas(self, **options: Any) -> pd.DataFrame:
        with warnings.catch_warnings(), self._lines() as text:
            warnings.simplefilter("ignore", pd.errors.DtypeWarning)  # columns of mixed types are read again, as text
            warnings.simplefilter("error", pd.errors.ParserWarning)  # a row longer than the header
            source: Any = text
            if self.encoding.startswith("utf-8") and not self.skipped:
                source = text.buffer
                source.seek(0)
            options["quoting"] = csv.QUOTE_NONE if self.unquoted else csv.QUOTE_MINIMAL
            # which texts mean "missing" is decided in values.py
            return pd.read_csv(source, sep=self.delimiter, na_filter=False, index_col=False, **options)

    def _without_marks(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Remove the quotation marks around cells that are fully enclosed in them."""
        for place, name in enumerate(self.header):
            column = frame.iloc[:, place]
            begins = column.str.startswith('"')
            if not begins.any():
                continue
            enclosed = column.str.fullmatch(r'"(?:[^"]|"")*"')
            if (begins & ~enclosed).any():
                row = int(np.argmax((begins & ~enclosed).to_numpy(bool)))
                self.open_quotes[name] = OpenQuote(column.iloc[row], partial(self.line_of_row, row))
            bare = column.where(~enclosed, column.str.slice(1, -1).str.replace('""', '"', regex=False))
            frame.isetitem(place, bare.array)
        return frame

    def _line_by_line(self) -> pd.DataFrame:
        """Read the table line by line: cells beyond the header must be blank.

        Raises AnnotationError: a line is shorter than the header, or longer.
        """
        n_columns = len(self.header)
        columns: list[list[str]] = [[] for _ in self.header]
        records = self.records(self.delimiter, unquoted=self.unquoted)
        if self.has_header:
            next(records)
        line, cells = 1, [""]
        for line, cells in records:
            if not self.has_header:
                cells = cells + [""] * (n_columns - len(cells))
            if len(cells) < n_columns or any(cell.strip() for cell in cells[n_columns:]):
                names = f"line {self.skipped + 1}" if self.has_titles else "the first line"
                raise AnnotationError(
                    f"Line {line} has {len(cells)} cells, but {names} names {n_columns} columns; put cells "
                    f"that contain the delimiter in quotation marks.{self._names_of_rows(n_columns)}"
                )
            for column, cell in zip(columns, cells):
                column.append(sys.intern(cell))
        if any("\n" in cell or "\r" in cell for cell in cells) and self._is_open():
            raise AnnotationError(f"A quotation mark that opens in line {line} is never closed; close or remove it.")
        if n_columns < MANY_COLUMNS:
            frame = pd.DataFrame(dict(zip(self.header, columns)), dtype=str)
        else:
            frame = pd.DataFrame(np.array(columns, dtype=object).T, columns=pd.Index(self.header), dtype=object)
        return self._without_marks(frame) if self.unquoted else frame

    def _names_of_rows(self, n_columns: int) -> str:
        """Say what to do if every line is longer than the header by one cell, as R writes tables."""
        lengths = {len(cells) for _, cells in islice(self.records(self.delimiter), 1, JUDGED)}
        if lengths != {n_columns + 1}:
            return ""
        return (
            " Every line is longer by one: if it begins with the name of its row, insert a name for that column at the "
            "beginning of the first line; if not, append one."
        )

    def _is_open(self) -> bool:
        """Whether the text ends within quotation marks, so that they would enclose a further line."""
        with self._lines() as text:
            last: list[str] = []
            # an open quote swallows the end
            for cells in _of_any_length(csv.reader(chain(text, [END]), delimiter=self.delimiter)):
                last = cells
            return not self.unquoted and last != [END]

    def line_of_row(self, row: int) -> str:
        """Describe the place of a row of the table by its 1-based line, the header being one."""
        start = -1 if self.has_header else 0
        for number, (line, _) in enumerate(self.records(self.delimiter, unquoted=self.unquoted), start=start):
            if number == row:
                return f"line {line}"
        raise IndexError(row)


def _require_names(header: list[str]) -> None:
    if "" in header[1:]:
        raise AnnotationError(f"Column {header.index('', 1) + 1} has no name; name it or drop it.")
    name, count = Counter(header).most_common(1)[0]
    if count > 1:
        raise AnnotationError(f"The column {name!r} occurs twice; rename one.")


def _without_blank_end(cells: list[str]) -> list[str]:
    """Strip cells, and drop blank ones at the end, which come from delimiters at the end of lines."""
    names = [cell.strip() for cell in cells]
    while len(names) > 1 and not names[-1]:
        names.pop()
    return names


def _count_filled(cells: list[str]) -> list[str]:
    return [cell for cell in cells if cell.strip()]


def _is_number(cell: str) -> bool:
    return NUMBER.fullmatch(cell.strip()) is not None


def _all_integers(cells: list[str]) -> bool:
    """Whether all cells that are not blank are integers, and there are any."""
    held = [cell.strip() for cell in cells if cell.strip()]
    return bool(held) and all(map(str.isdecimal, held))


def _is_running(cells: list[str]) -> bool:
    """Whether cells are 0, 1, 2, … or 1, 2, 3, …"""
    return cells in ([str(i) for i in range(start, start + len(cells))] for start in (0, 1))


def _of_any_length(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    """Yield the records of a reader of csv; the limit, which all readers share, is lifted only while one is read."""
    while True:
        # of the whole process, so it is restored before anything else is read
        limit = csv.field_size_limit(sys.maxsize)
        try:
            cells = next(reader, None)
        finally:
            csv.field_size_limit(limit)
        if cells is None:
            return
        yield cells
