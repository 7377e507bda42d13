"""Delimited text: the reader finds the same cells as the standard library's csv, or refuses with the line."""

import csv
import gzip
import io
import random
import time

import pytest

from consilience.annotations.files.text import read_text
from consilience.errors import AnnotationError

LINE_ENDS = ("\n", "\r\n", "\r")
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32")
CELLS = (
    *(
        "a",
        "b c",
        " d",
        "e ",
        "7",
        "007",
        "7.0",
        "-1",
        "True",
        "nan",
        "NA",
        "",
        " ",
        "é",
        "naïve",
        "猫",
        "\u00a0",
        "1e5",
    ),
    *(
        "1,5",
        "x;y",
        "p|q",
        "t\tu",
        'say "so"',
        '"',
        "''",
        "two\nlines",
        "two\r\nlines",
        "old\rmac",
        "#no",
        "\\n",
        "=1+1",
    ),
    *("0x1F", "1_000", "inf", "2024-01-01", "null", "None", "0", "00", "+1", "9" * 25),
)


def table_of(content, name="table.csv", encoding=None):
    content = content.encode() if isinstance(content, str) else content
    return read_text(lambda: io.BytesIO(content), name, encoding)


def rows_of(table):
    return table.frame.to_numpy(object).tolist()


def written(rows, delimiter, end, quoting=csv.QUOTE_MINIMAL):
    if any("\r" in cell or "\n" in cell for row in rows for cell in row):
        quoting = csv.QUOTE_ALL  # csv quotes only its own line end
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows(rows)
    return text.getvalue()


def drawn(rng):
    """Draw rows of any cells below a header, without columns whose last cell is always blank."""
    n_columns = rng.randint(2, 5)
    header = [f"column {i}" for i in range(n_columns)]
    rows = [[rng.choice(CELLS) for _ in header] for _ in range(rng.randint(1, 9))]
    return [header, *rows]


@pytest.mark.parametrize("seed", range(150))
def test_cells_are_those_of_csv(seed):
    rng = random.Random(seed)
    rows = drawn(rng)
    delimiter, end, encoding = rng.choice(",;\t|"), rng.choice(LINE_ENDS), rng.choice(ENCODINGS)
    quoting = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    text = written(rows, delimiter, end, quoting)
    if rng.random() < 0.3:
        text = text.removesuffix(end)
    if rng.random() < 0.3:
        text = f"sep={delimiter}{end}{text}"
    if rng.random() < 0.3:
        text = end + text.replace(end, end * 2) if not any(end in cell for row in rows for cell in row) else text
    if text.startswith(end) and "sep=" in text:
        text = text.removeprefix(end)
    name = "table.tsv" if delimiter == "\t" else "table.csv"
    table = table_of(text.encode(encoding), name, encoding if encoding[-2:] in ("le", "be") else None)
    assert table.delimiter == delimiter
    assert rows_of(table) == rows[1:]
    assert table.columns == rows[0]
    lines = [line for line, row in lines_of(text, delimiter) if row != rows[0]]
    assert [table.where(row) for row in range(len(rows) - 1)] == [f"line {line}" for line in lines]


def lines_of(text, delimiter):
    """Return the 1-based line where each row of cells begins, and the row, as counted by csv."""
    reader, start, found = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), 1, []
    for row in reader:
        if row and not row[0].startswith("sep=") and any(row[1:]) | (len(row) > 1):
            found.append((start, row))
        start = reader.line_num + 1
    return found


@pytest.mark.parametrize("seed", range(100))
def test_rows_of_different_length_are_refused_with_their_line(seed):
    rng = random.Random(seed)
    rows = drawn(rng)
    at, delimiter, end = rng.randrange(1, len(rows)), rng.choice(",;|"), rng.choice(LINE_ENDS)
    good = written(rows, delimiter, end)
    blank = rng.choice(["", " "])
    wide = [*rows[:at], [*rows[at], blank], *rows[at + 1 :]]  # delimiters at the end of one line only
    odd = rng.choice([[*rows[at], "z"], rows[at][:-1] or ["a"], [*rows[at], "", "z"]])
    assert rows_of(table_of(written(wide, delimiter, end))) == rows_of(table_of(good)) == rows[1:]
    if len(odd) == 1:
        odd = ["a"]
    line = next(line for line, row in lines_of(good, delimiter) if row == rows[at])
    with pytest.raises(AnnotationError, match=rf"^Line {line} has {len(odd)} cells, but the first line names"):
        table_of(written([*rows[:at], odd, *rows[at + 1 :]], delimiter, end))


def test_delimiter_at_the_end_of_every_line():
    assert rows_of(table_of("item;J1;J2;\na;1;2;\nb;1;1;\n")) == [["a", "1", "2"], ["b", "1", "1"]]
    assert rows_of(table_of("item;J1;J2;;\na;1;2;;\nb;1;1\n")) == [["a", "1", "2"], ["b", "1", "1"]]


def test_longer_rows_below_consecutive_numbers_are_not_an_index():
    content = "item,annotator,label\n1,p,x,2024-01-01\n2,q,y,2024-01-02\n"
    with pytest.raises(AnnotationError, match=r"^Line 2 has 4 cells.* names 3 columns.*Every line is longer by one"):
        table_of(content)
    blank = table_of(content.replace("2024-01-01", "").replace("2024-01-02", ""))
    assert rows_of(blank) == [["1", "p", "x"], ["2", "q", "y"]]


def test_decimal_commas_with_semicolons():
    table = table_of("item;J1;J2\n1,5;2;3\n2,5;2;4\n")
    assert table.delimiter == ";"
    assert rows_of(table) == [["1,5", "2", "3"], ["2,5", "2", "4"]]


@pytest.mark.parametrize("line", ["sep=;", '"sep=;"', "SEP=;"])
def test_separator_line(line):
    table = table_of(f"{line}\r\nitem;a,b\r\nx;1,5\r\n")
    assert (table.delimiter, table.columns, rows_of(table)) == (";", ["item", "a,b"], [["x", "1,5"]])
    assert table.where(0) == "line 3"


@pytest.mark.parametrize("length", [131_072, 131_073, 1_000_000])
@pytest.mark.parametrize("extra", ["", ",,,z\n"])
def test_fields_of_any_length(length, extra):
    content = f"item,annotator,label\n{'x' * length},Ann,y\n{extra}"
    if extra:
        with pytest.raises(AnnotationError, match=r"^Line 3 has 4 cells"):
            table_of(content)
    else:
        assert rows_of(table_of(content)) == [["x" * length, "Ann", "y"]]
    assert csv.field_size_limit() == 131_072


def test_twelve_thousand_columns_take_seconds():
    names = [f"rater {i}" for i in range(12_000)]
    content = ",".join(["item", *names]) + "\n" + "".join(f"i{k}" + ",1" * 12_000 + "\n" for k in range(3))
    start = time.process_time()
    table = table_of(content)
    assert table.frame.shape == (3, 12_001)
    with pytest.raises(AnnotationError, match="The column 'rater 7' occurs twice"):
        table_of(content.replace("rater 11999", "rater 7"))
    assert time.process_time() - start < 20


def test_long_files_are_exact_text_to_the_last_row():
    rows = [
        f"{i:07d},Ann,{i % 7}" for i in range(300_000)
    ]  # pandas reads a long file in chunks, and infers types in each
    table = table_of("item,annotator,label\n" + "\n".join([*rows, "last,True,x"]))
    assert rows_of(table)[::100_000] == [[f"{i:07d}", "Ann", str(i % 7)] for i in range(0, 300_000, 100_000)] + [
        ["last", "True", "x"]
    ]


def test_quotation_marks_within_tabs_belong_to_the_text():
    table = table_of('item\tword\n1\t"so\n2\tthey" said\n3\t"whole ""cell"""\n')
    assert rows_of(table) == [["1", '"so'], ["2", 'they" said'], ["3", 'whole "cell"']]
    assert table.where(2) == "line 4"
    with pytest.raises(AnnotationError, match="Line 2 can be read in two ways: its quotation mark encloses"):
        table_of('item\tword\n1\t"so\n2\tthey"\n')
    assert rows_of(table_of('item\tword\n1\t"two\nlines"\n')) == [["1", "two\nlines"]]


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        ("cp1252", ["café", "naïve", "Ärger über Öl", "señor", "crème brûlée"]),
        ("cp1251", ["собака и кошка", "лошадь", "корова", "маленькие животные", "большие животные"]),
        ("cp1253", ["γάτα και σκύλος", "άλογο", "αγελάδα", "μικρά ζώα", "μεγάλα ζώα", "πουλιά και ψάρια"]),
    ],
)
def test_code_pages_are_detected_and_noted(encoding, words):
    content = "item,annotator,label\n" + "".join(f"{word},Ann,{word}\n" for word in words * 4)
    table = table_of(content.encode(encoding))
    assert [row[0] for row in rows_of(table)] == words * 4
    assert len(table.notes) == 1
    assert f"not in UTF-8 and was read as {encoding}" in table.notes[0]
    assert "encoding=…" in table.notes[0]
    assert rows_of(table_of(content.encode(encoding), encoding=encoding)) == rows_of(table)


def test_given_encoding_is_used():
    content = "item,label\ncafé,x\n"
    assert rows_of(table_of(content.encode("cp850"), encoding="cp850")) == [["café", "x"]]
    with pytest.raises(AnnotationError, match=r"not in utf-?8 \(byte 0xe9 is invalid\); give its encoding"):
        table_of(content.encode("latin-1"), encoding="utf-8")
    with pytest.raises(AnnotationError, match=r"^The text is not in utf-16; give its encoding, "):
        table_of(content.encode(), encoding="utf-16")
    with pytest.raises(AnnotationError, match="no text encoding 'klingon'"):
        table_of(content, encoding="klingon")
    assert table_of(content.encode("utf-16")).notes == ("the text is in UTF-16",)
    late = b"item,label\n" + b"".join(b"%d,x\n" % i for i in range(20_000)) + b"caf\xe9,x\n"
    assert rows_of(table_of(late))[-1] == ["café", "x"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("\n \n", "is empty"),
        ("item\na\n", "only one column, 'item'"),
        ("item,a,a\n1,2,3\n", "The column 'a' occurs twice"),
        ("item,,b\n1,2,3\n", "Column 2 has no name"),
        ('item,label\na,"x\nb,y\n', "Line 2 has|quotation mark"),
        ('item,label\na,x\nc,"x\nb,y\nb,y,z\n', "opens in line 3 is never closed"),
        ("1,2,0\n2,1,1\n", "first line contains numbers, 1, 2, 0"),
        (b"item,label\na\0b,x\n", "not text"),
        (b"\x00\x00\x01\x02" * 30, "not text"),
    ],
)
def test_files_that_are_not_tables_are_refused(content, message):
    with pytest.raises(AnnotationError, match=message):
        table_of(content)


def test_damaged_gzip():
    whole = gzip.compress(b"item,annotator,label\n" + b"a,Ann,x\n" * 1000)
    for damaged in (whole[: len(whole) // 2], whole[:20] + b"junk" + whole[24:]):
        with pytest.raises(AnnotationError, match="compressed file is damaged or truncated"):
            read_text(lambda damaged=damaged: gzip.GzipFile(fileobj=io.BytesIO(damaged)), "table.csv.gz")


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("titles", [["Our study"], ["Our study", "", "of, three; cards"], ['"A title\nof two lines"']])
@pytest.mark.parametrize("padding", [0, 2])
@pytest.mark.parametrize("end", LINE_ENDS)
def test_title_lines_are_left_out(delimiter, titles, padding, end):
    if len(titles) > 1:
        titles = [title if not title or delimiter == "\t" else f'"{title}"' for title in titles]
    titles = [title.replace("\n", end) + delimiter * padding * bool(title) for title in titles]
    above = end.join([*titles, ""])
    text = above + end.join(delimiter.join(row) for row in ("xyz", "123", "456")) + end
    table = table_of(text)
    assert (table.columns, rows_of(table), table.delimiter) == (["x", "y", "z"], [list("123"), list("456")], delimiter)
    assert "above the names of the columns left out, which" in table.notes[0]
    n_lines = above.count(end)
    assert [table.where(row) for row in (0, 1)] == [f"line {n_lines + 2}", f"line {n_lines + 3}"]
    with pytest.raises(AnnotationError, match=rf"^Line {n_lines + 4} has 4 cells, but line {n_lines + 1} names 3 col"):
        table_of(text + delimiter.join("7890") + end)


def test_title_after_the_separator_line_and_note():
    table = table_of("sep=;\nOur study\nx;y;z\n1;2;3\n")
    assert (rows_of(table), table.where(0)) == ([["1", "2", "3"]], "line 4")
    assert table.notes == ("1 line above the names of the columns left out, which says 'Our study'",)


@pytest.mark.parametrize(
    "text",
    [
        "title\nx,y\n1,2\n",  # two columns are not enough
        "title\n,y,z\n1,2,3\n",  # an unnamed column
        "title\nx,y,z\n1,2,3\n4\n",  # a short line
        "title\nx,y,z\n",  # no rows
        "title\n1,2,3\n4,5,6\n",  # no names
        "title\n" * 21 + "x,y,z\n1,2,3\n",
    ],
)
def test_files_without_a_table_below_a_title(text):
    with pytest.raises(AnnotationError, match="The first line has only one column, 'title'"):
        table_of(text)
