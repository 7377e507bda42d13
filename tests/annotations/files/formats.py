"""Files of other tools: a small one of each, the expected annotations, and where its layout is documented.

The contents are invented; headers, quotation marks, separators and the form of cells are those of the tools. Text files
are in `samples`, other files are made here.
"""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

SAMPLES = Path(__file__).parent / "samples"
ONE_TOOL = "the code of a card-sorting tool that writes it"


@dataclass(frozen=True)
class Format:
    """A file of a tool.

    Attributes
    ----------
    tool : str
    file : str
        Name in `samples`, or name of the file that is made.
    source : str
        Where the layout is documented.
    rows : list of tuples
        The expected rows: (item, annotator, group) or (item, annotator, grouping, group) of groupings, (item,
        annotator, label) of labels, (item_a, item_b, annotator, same) of pairs.
    kind : str
        Of `rows`: groupings, labels, pairs.
    items : tuple
        Items other than those of the rows, without annotations.
    options : dict
        Keywords of `read_annotations` that are needed.
    refused : str
        The error message without options.
    left_out : tuple of str
        The warnings.
    make : callable, optional
        Makes the file's bytes.
    """

    tool: str
    file: str
    source: str
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    kind: str = "groupings"
    items: tuple[Any, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    refused: str = ""
    left_out: tuple[str, ...] = ()
    make: Callable[[], bytes] | None = None

    def write(self, folder: Path) -> Path:
        """Write the file into a folder."""
        path = folder / self.file
        path.write_bytes((SAMPLES / self.file).read_bytes() if self.make is None else self.make())
        return path


def of(person: Any, **groups: str) -> list[tuple[Any, ...]]:
    """Return one person's groups of items whose names contain no spaces."""
    return [(item, person, name.replace("_", " ")) for name, items in groups.items() for item in items.split()]


def cells(
    file: str, delimiter: str = ",", blank: tuple[str, ...] = ("", "NA"), typed: Callable[[str], Any] = int
) -> Any:
    """Return the rows of a table of items × annotators, read by the csv module."""
    with (SAMPLES / file).open(encoding="utf-8", newline="") as text:
        header, *lines = csv.reader(text, delimiter=delimiter)
    people = [typed(name) if name.isdecimal() else name for name in header[1:]]
    return [
        (line[0], person, typed(cell)) for line in lines for person, cell in zip(people, line[1:]) if cell not in blank
    ]


def numbers(file: str, delimiter: str, blank: int | None = None, transpose: bool = False) -> list[tuple[int, int, int]]:
    """Return the rows of a table of integers without names: rows are items, or annotators."""
    lines = [[int(cell) for cell in line.split(delimiter)] for line in (SAMPLES / file).read_text().splitlines()]
    held = [(row, column, cell) for row, line in enumerate(lines) for column, cell in enumerate(line) if cell != blank]
    return [(column, row, cell) for row, column, cell in held] if transpose else held


BASE = np.array([[0, 0, 0, 0, 1, 1, 1, 1, 0, 1], [1, 1, 0, 0, 2, 2, 3, 3, 4, 5], [0, 1, 2, 3, 4, 5, 6, 7, 7, 7]], float)
BASE[0, 9] = BASE[1, 0] = np.nan
VOTES = np.array([[0, -1, 1], [1, 1, -1], [-1, 0, 0], [0, 0, -1], [2, -1, 2], [2, 2, -1]])


def array(values: np.ndarray) -> Callable[[], bytes]:
    """Return the bytes of an array as NumPy saves it."""

    def make() -> bytes:
        file = io.BytesIO()
        np.save(file, values)
        return file.getvalue()

    return make


def archive() -> bytes:
    """Return doccano's export of a project of two people: one file for each."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as zipped:
        zipped.writestr("ana.jsonl", (SAMPLES / "doccano-ana.jsonl").read_text(encoding="utf-8"))
        zipped.writestr(
            "ben.jsonl",
            '{"id": 1, "text": "Fine day", "label": ["negative"]}\n'
            '{"id": 2, "text": "Late again", "label": ["negative"]}\n',
        )
    return file.getvalue()


SORTING = [("", "J1", "J2", "J3", "J4"), ("juice A", 1, 2, 1, 1), ("juice B", 1, 2, 2, 2), ("juice C", 3, 1, 2, None)]
SORTING += [("juice D", 2, 1, 3, 2), ("juice E", 4, 3, 3, 1), ("juice F", 3, 3, 1, 2), ("juice G", 4, 1, 4, 3)]
VOCABULARY = [("", "sweet", "bitter"), *((row[0], n % 3, n % 2) for n, row in enumerate(SORTING[1:]))]


def workbook() -> bytes:
    """Return a sorting and, in a second sheet, the frequency of each word."""
    from openpyxl import Workbook

    book = Workbook()
    book.active.title = "Sorting"
    book.create_sheet("Vocabulary")
    for name, rows in (("Sorting", SORTING), ("Vocabulary", VOCABULARY)):
        for row in rows:
            book[name].append(row)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


SHEET = [
    (row[0], person, cell) for row in SORTING[1:] for person, cell in zip(SORTING[0][1:], row[1:]) if cell is not None
]
CARDS = {"P-7f3a": ["Orders", "Orders", "Shop", "Shop"], "P-91bc": ["Help", "My things", "My things", "Help"]}
TITLES = ["Returns", "Track a parcel", "Gift cards", "Opening hours"]
IDEAS = ["1. Train the staff", "2. Ask patients", "3. Share the code", "4. Test on old data"]
PICTURES = "https://ex.org/{}.jpg"


def pictures(worker: str, sheet: str, *groups: tuple[int, int]) -> list[tuple[Any, ...]]:
    """Return the groups of the pictures on one sheet."""
    return [(PICTURES.format(number), worker, sheet, group) for number, group in groups]


CARD_SORTING = [
    Format(
        "kardSort, Casolysis",
        "kardsort.csv",
        "katoss/cardsort: docs/example-data.csv, README",
        [
            *of(1, trees="Oak Pine", flowers="Rose Tulip"),
            *of(2, Garden="Rose Tulip", Forest="Oak Pine"),
            *[("Oak", 3, "tall (5)"), ("Pine", 3, "tall (6)"), ("Rose", 3, "7")],
        ],
    ),
    Format(
        "card sorts, long",
        "card-sort-long.csv",
        ONE_TOOL,
        [
            ("Returns", "p1", "Orders"),
            ("Track a parcel", "p1", "Orders"),
            ("Gift cards", "p1", "Shop"),
            ("Returns", "p2", "Help"),
            ("Track a parcel", "p2", "My things"),
        ],
    ),
    Format(
        "card sorts, a row per participant",
        "card-sort-responses.csv",
        ONE_TOOL,
        [(card, who, group) for who, groups in CARDS.items() for card, group in zip(TITLES, groups)]
        + [("Returns", "P-d002", "Service"), ("Gift cards", "P-d002", "Service")],
        left_out=(
            "columns not read as items left out: 'Status', 'Started At', 'Completed At', 'Duration (seconds)' "
            "(rename one to read it)",
        ),
    ),
    Format(
        "card sorts, called SynCaps format",
        "card-sort-syncaps.csv",
        ONE_TOOL,
        [(card, who, group) for who, groups in zip((1, 2), CARDS.values()) for card, group in zip(TITLES, groups)],
    ),
    Format(
        "cards × categories",
        "card-category-counts.csv",
        ONE_TOOL,
        refused="This seems to be a table of counts, of how many people put each item into each category.",
    ),
    Format(
        "agreement on categories",
        "category-agreement.csv",
        ONE_TOOL,
        refused="This is a table of counts: 'Count' is the number of people who put an item into a group.",
    ),
    Format(
        "similarity matrix",
        "similarity-matrix.csv",
        ONE_TOOL,
        refused="This is a table of similarities: its rows and columns are the same items.",
    ),
    Format(
        "one person's lists, a column per group",
        "Ana.csv",
        "kikobr/open-card-sorter: card-sorting/Alfredo.csv",
        of("Ana", Forest="Oak Pine", Garden="Rose Tulip Lily"),
    ),
    Format(
        "Mural board",
        "mural.csv",
        "documentation and code of two programs that read it",
        [("Pay & go", "mural", "BUYING"), ("Find a shop", "mural", "FINDING"), ("Opening hours", "mural", "FINDING")],
        items=("Unclear",),
    ),
]

FREE_SORTING = [
    Format(
        "FreeSortR",
        "freesortr.csv",
        "cran/FreeSortR: man/ReadSortFile.Rd",
        cells("freesortr.csv", ";"),
    ),
    Format(
        "FreeSortR with terms",
        "freesortr-terms.csv",
        "cran/FreeSortR: man/ReadSortFile.Rd",
        cells("freesortr-terms.csv", ";", typed=str),
    ),
    Format("SensoMineR", "sensominer.csv", "cran/SensoMineR: man/fast.Rd", cells("sensominer.csv", ";")),
    Format(
        "SensoMineR with words",
        "sensominer-words.csv",
        "cran/SensoMineR: man/fast.Rd, man/perfume.Rd",
        cells("sensominer-words.csv", ";", typed=str),
    ),
    Format(
        "DistatisR, by write.csv",
        "distatisr.csv",
        "HerveAbdi/DistatisR: R/DistanceFromSort.R; jameswoodcock/main-sort-analysis: data/dataRD.csv",
        cells("distatisr.csv"),
        left_out=("2 cells with 'NA' read as missing",),
    ),
    Format(
        "DistatisR, a small table",
        "distatisr-small.csv",
        "as above",
        cells("distatisr-small.csv"),
        refused="The table can be read in two ways: 8 items in the rows, named by the column '', and 6 annotators",
        options={"transpose": False},
    ),
    Format(
        "DistatisR workbook",
        "sorting.xlsx",
        "HerveAbdi/DistatisR: R/read.df.excel.R, R/OrangeJuiceSorting.R",
        SHEET,
        make=workbook,
    ),
    Format("ClustBlock", "clustblock.csv", "cran/ClustBlock: R/preprocess_FreeSort.R", cells("clustblock.csv")),
    Format(
        "products × assessors",
        "sorting-r.csv",
        "jlahne/r-opus-v2: data/sorting_r1.csv",
        [
            (wine, who, group)
            for wine, groups in {
                "CHIANTI": "G2 G1 G1 G3",
                "RIOJA": "G2 G1 G2 G1",
                "MALBEC": "G1 G2 G2 G2",
                "SHIRAZ": "G3 G2 G1 G2",
            }.items()
            for who, group in zip((263, 1331, 1400, 1401), groups.split())
        ],
    ),
    Format(
        "... with a description",
        "sorting-description.csv",
        "the table above with a column of texts",
        [
            (product, who, group)
            for product, groups in {
                "ale": (1, 2, 1),
                "stout": (2, 1, 1),
                "porter": (2, 1, 2),
                "wheat": (1, 2, 2),
            }.items()
            for who, group in zip(("Ann", "Bo", "Cy"), groups)
        ],
        left_out=("columns not read as annotators left out: 'description' (rename one to read it)",),
    ),
    Format(
        "words × products, counted",
        "vocabulary.csv",
        "cran/FreeSortR: AromaTerms; DistatisR's sheet Vocabulary",
        refused="This seems to be a table of counts, of how many people put each item into each category.",
    ),
    Format(
        "R's write.table",
        "write-table.txt",
        "R: write.table",
        refused="The first line has only one column",
    ),
]

PILES = [
    Format(
        "RCMap",
        "SortedCards.csv",
        "haimbar/RCMap: sampleproject/SortedCards.csv, Documentation.Rmd",
        [
            (item, who, group)
            for who, group, items in [
                (1, "Community", (1, 4)),
                (1, "Program Process", (2, 5, 6, 7)),
                (1, "?", (3,)),
                (2, "staff", (1, 2)),
                (2, "money", (3, 4, 5)),
                (4, "none 1", (6, 7)),
            ]
            for item in items
        ],
        left_out=(
            "1 cell with '?' read as a group like any other (missing='?' if missing, missing=[] if a group is meant)",
        ),
    ),
    Format(
        "PyConceptMap",
        "SortedCards-header.csv",
        "chhaviiiii/concept_mapping: sample_data/SortedCards.csv",
        [
            (item, who, group)
            for who, group, items in [
                (1, "Pile 1", (1, 4, 7, 10)),
                (1, "Pile 2", (2, 5, 8)),
                (2, "Pile 1", (1, 2, 10)),
                (2, "Pile 2", (4, 5, 7, 8)),
            ]
            for item in items
        ],
    ),
    Format(
        "concept mapping, long",
        "SortedCards-long.csv",
        "chhaviiiii/concept_mapping: data/rcmap_august11_2025/SortedCards.csv",
        [(1, 1, "A"), (2, 1, "A"), (3, 1, "B"), (1, 2, "x"), (2, 2, "y"), (3, 2, "y")],
    ),
    Format(
        "pile sorts, long",
        "pile-sort.csv",
        "the code of a program that reads Subject, Item, Pile",
        [
            ("taro", "S1", 1),
            ("yam", "S1", 1),
            ("perch", "S1", 2),
            ("taro", "S2", 1),
            ("yam", "S2", 2),
            ("perch", "S2", 1),
        ],
    ),
    Format(
        "pile sorts without a header",
        "pile-sort-no-header.csv",
        "johnjung/planning_tools: sample_data/beer_flavor_wheel.csv",
        refused="The first line seems to contain data instead of names of columns, since 'A' occurs again",
    ),
    Format(
        "Google Forms, a question for each card",
        "google-forms.csv",
        "public code that reads such sheets (headings such as 'Rank the projects [Tide Clock]')",
        [
            ("Opening hours", "anna@example.com", "Visit"),
            ("Fees", "anna@example.com", "Money"),
            ("Toys", "anna@example.com", "Fun"),
            ("Opening hours", "bo@example.com", "Plan"),
            ("Fees", "bo@example.com", "Plan"),
            ("Toys", "bo@example.com", "Children"),
        ],
        left_out=("1 column other than the question 'Where would you look for it?' left out",),
    ),
    Format(
        "Qualtrics",
        "qualtrics.csv",
        "chhaviiiii/concept_mapping: data (an export of Qualtrics)",
        [
            *((idea, "R_aaa", f"Group {group}") for idea, group in zip(IDEAS, (1, 1, 2, 2))),
            *((idea, "R_bbb", f"Group {group}") for idea, group in zip(IDEAS, (3, 1, 3))),
        ],
        left_out=("16 columns other than the cards left out",),
    ),
    Format(
        "Qualtrics, several questions",
        "qualtrics-several.csv",
        "as above",
        [
            *((idea, "R_aaa", f"Group {group}") for idea, group in zip(IDEAS, (1, 1, 2, 2))),
            *((idea, "R_bbb", f"Group {group}") for idea, group in zip(IDEAS, (3, 1, 3))),
        ],
        refused="This survey of Qualtrics has several questions: Q1, Q2.",
        options={"ignore": "Q2*"},
        left_out=("20 columns other than the cards left out",),
    ),
]

LABELS = [
    Format(
        "crowd-kit",
        "crowd-kit.csv",
        "Toloka/crowd-kit: crowdkit/datasets/_loaders.py",
        [(1, "w1", 0), (1, "w2", 1), (2, "w1", 0), (2, "w3", 0)],
        "labels",
    ),
    Format(
        "crowd-kit's data sets",
        "crowd_labels.csv",
        "Toloka/crowd-kit: crowdkit/datasets/_loaders.py",
        [("t1", "w1", "cat"), ("t1", "w2", "dog"), ("t2", "w1", "cat"), ("t2", "w3", "cat")],
        "labels",
    ),
    Format(
        "... known classes",
        "gt.csv",
        "Toloka/crowd-kit: crowdkit/datasets/_loaders.py",
        refused="The table gives each item one label, in 'label', but no annotator",
    ),
    Format(
        "... comparisons",
        "crowd-kit-pairwise.csv",
        "Toloka/crowd-kit: crowdkit/aggregation/pairwise/bradley_terry.py",
        refused="The judgements say which of two items was preferred, not whether they are the same",
    ),
    Format(
        "Toloka",
        "toloka.tsv",
        "Toloka/docs: en/guide/concepts/result-of-eval.md, accept.md",
        [
            (PICTURES.format(number), worker, label)
            for worker, labels in {"w1": ("cat", "dog"), "w2": ("cat", "cat")}.items()
            for number, label in zip((1, 2), labels)
        ],
        "labels",
        left_out=("1 row of rejected assignments left out",),
    ),
    Format(
        "Toloka, pairs",
        "toloka-pairs.tsv",
        "Toloka/docs: en/guide/concepts/result-of-eval.md",
        [("1.jpg", "2.jpg", "w1", True), ("1.jpg", "2.jpg", "w2", False), ("1.jpg", "3.jpg", "w1", False)],
        "pairs",
    ),
    Format(
        "Toloka, preferences",
        "toloka-preference.tsv",
        "Toloka/docs: en/guide/concepts/result-of-eval.md",
        refused="The answers in 'OUTPUT:result' say which of two items was preferred",
    ),
    Format(
        "Toloka, grouping tasks",
        "toloka-groups.tsv",
        "Toloka/crowdclustering: crowd_clustering_aggregation/aggregation.py, configs",
        [
            *pictures("w1", "a1", (1, 1), (2, 5), (3, 1)),
            *pictures("w1", "a2", (2, 1), (4, 1)),
            *pictures("w2", "a3", (1, 2), (2, 2), (3, 3)),
        ],
    ),
    Format(
        "Toloka, grouping tasks as CSV",
        "toloka-groups.csv",
        "Toloka/crowdclustering: crowd_clustering_aggregation/aggregation.py",
        [*pictures("w1", "a1", (1, 1), (2, 5), (3, 1)), *pictures("w2", "a2", (1, 2), (3, 2), (4, 3))],
    ),
    Format(
        "Toloka, tasks",
        "toloka-tasks.tsv",
        "nlpub/russe-wsi-toloka: tasks.py",
        refused="This is a file of Toloka tasks; it has no answers. Download the results.",
    ),
    Format(
        "Mechanical Turk",
        "mturk.csv",
        "result files in public repositories; Amazon's documentation",
        [
            ("Good, and cheap.\nAgain!", "A1AAAAAAAAAAAA", "Positive"),
            ("Good, and cheap.\nAgain!", "A2BBBBBBBBBBBB", "Positive"),
            ("Too late", "A1AAAAAAAAAAAA", "Negative"),
            ("Too late", "A2BBBBBBBBBBBB", "Neutral"),
        ],
        "labels",
        left_out=("2 rows of rejected assignments left out",),
    ),
    Format(
        "Mechanical Turk, crowd-radio-group",
        "mturk-radio.csv",
        "Amazon's documentation: crowd-radio-group",
        [("1.jpg", "A1AAAAAAAAAAAA", "cat"), ("1.jpg", "A2BBBBBBBBBBBB", "dog"), ("2.jpg", "A1AAAAAAAAAAAA", "dog")],
        "labels",
    ),
    Format(
        "Mechanical Turk, crowd-classifier-multi-select",
        "mturk-select.csv",
        "Amazon's documentation: crowd-classifier-multi-select",
        [
            ("1.jpg", "A1AAAAAAAAAAAA", "cat"),
            ("1.jpg", "A1AAAAAAAAAAAA", "dog"),
            ("1.jpg", "A2BBBBBBBBBBBB", "cat"),
            ("2.jpg", "A1AAAAAAAAAAAA", "dog"),
        ],
        "labels",
    ),
    Format(
        "Mechanical Turk, boxes",
        "mturk-boxes.csv",
        "Amazon's documentation: crowd-bounding-box",
        refused="'Answer.taskAnswers' in line 2 does not contain a single answer",
    ),
    Format(
        "Mechanical Turk, several answers",
        "mturk-several.csv",
        "a result file in a public repository",
        [("H1", "A1AAAAAAAAAAAA", 3), ("H1", "A2BBBBBBBBBBBB", 2)],
        "labels",
        refused="several columns of answers: 'Answer.Balance1', 'Answer.ColorHarmony1'",
        options={"label": "Answer.Balance1"},
    ),
    Format(
        "Turkle",
        "turkle.csv",
        "a result file in a public repository",
        [("1.jpg", "ana", "cat"), ("1.jpg", "ben", "dog"), ("2.jpg", "ana", "dog")],
        "labels",
    ),
    Format(
        "Appen, full report",
        "appen.csv",
        "headers of reports in public repositories; matthew9655/csc2611-lab: DUPS/README.txt",
        [(701, 31, "positive"), (701, 32, "neutral"), (702, 31, "negative")],
        "labels",
        left_out=("1 row of flagged contributors (_tainted) left out",),
    ),
    Format(
        "Appen, aggregated report",
        "appen-aggregated.csv",
        "a report in a public repository",
        refused="This is Appen's aggregated report, which names no annotators; download the full report.",
    ),
    Format(
        "Label Studio, Choices",
        "label-studio-choices.json",
        "HumanSignal/label-studio: docs/source/includes/task_format.md",
        [(1, 1, "cat"), (1, "ben@example.org", "dog"), (2, 1, "cat"), (2, 1, "dog")],
        "labels",
        left_out=("1 annotation that was cancelled left out",),
    ),
    Format(
        "Label Studio, completions",
        "label-studio-completions.json",
        "HumanSignal/label-studio-sdk: converter",
        [(1, 1, "cat"), (1, 2, "dog"), (2, 1, "dog")],
        "labels",
    ),
    Format(
        "Label Studio, Choices on pairs",
        "label-studio-pairs.json",
        "labelstud.io: tags/choices, tags/pairwise",
        [("a hat", "a cap", 1, True), ("a hat", "a cap", 2, False), ("a hat", "an oar", 1, False)],
        "pairs",
    ),
    Format(
        "Label Studio, Ranker with buckets",
        "label-studio-ranker.json",
        "HumanSignal/label-studio: docs/source/tags/ranker.md",
        [
            ("mdn", 1, 7, "best"),
            ("wiki", 1, 7, "best"),
            ("blog", 1, 7, "ads"),
            ("mdn", 2, 7, "best"),
            ("blog", 2, 7, "ads"),
            ("shop", 2, 7, "ads"),
        ],
    ),
    Format(
        "Label Studio, Ranker without buckets",
        "label-studio-ranker-order.json",
        "labelstud.io: tags/ranker",
        refused="The Ranker 'rank' of task 7 has no buckets: it ranks items instead of grouping them.",
    ),
    Format(
        "Label Studio, Pairwise",
        "label-studio-pairwise.json",
        "labelstud.io: tags/pairwise",
        refused="say which of two items was preferred, not whether they are the same; use Choices instead",
    ),
    Format(
        "Label Studio, JSON-MIN",
        "label-studio-min.json",
        "HumanSignal/label-studio-sdk: converter",
        [(1, 1, "cat"), (1, 2, "dog"), (2, 1, "cat"), (2, 1, "dog")],
        "labels",
    ),
    Format(
        "Label Studio, JSON-MIN of pairs",
        "label-studio-min-pairs.json",
        "HumanSignal/label-studio-sdk: converter",
        [("a hat", "a cap", 1, True), ("a hat", "a cap", 2, False), ("a hat", "an oar", 1, False)],
        "pairs",
    ),
    Format(
        "Label Studio, JSON-MIN of Pairwise",
        "label-studio-min-pairwise.json",
        "HumanSignal/label-studio-sdk: converter",
        refused="This export of Label Studio contains results of Pairwise, which say which of two items was preferred",
    ),
    Format(
        "Label Studio, JSON-MIN of a Ranker",
        "label-studio-min-ranker.json",
        "HumanSignal/label-studio-sdk: converter",
        refused="This export of Label Studio contains results of a Ranker in a short form; export JSON",
    ),
    Format(
        "Label Studio, CSV",
        "label-studio.csv",
        "HumanSignal/label-studio-sdk: src/label_studio_sdk/converter/exports/csv2.py",
        [(1, 1, "cat"), (1, 2, "dog"), (2, 1, "cat"), (2, 1, "dog")],
        "labels",
    ),
    Format(
        "Prodigy, choice",
        "prodigy-choice.jsonl",
        "prodi.gy: docs/api-interfaces",
        [
            ("Fine day", "tweets-ana", "Positive 👍"),
            ("Fine day", "tweets-ben", "Negative 👎"),
            ("Late again", "tweets-ana", "Negative 👎"),
        ],
        "labels",
        left_out=("1 line that was ignored or rejected left out",),
    ),
    Format(
        "Prodigy, binary",
        "prodigy-binary.jsonl",
        "prodi.gy: docs/api-interfaces",
        [
            ("You won't believe it", "news-ana", "CLICKBAIT"),
            ("You won't believe it", "news-ben", "not CLICKBAIT"),
            ("Rain tomorrow", "news-ana", "not CLICKBAIT"),
        ],
        "labels",
        left_out=("1 line that was ignored or rejected left out",),
    ),
    Format(
        "Prodigy, spans",
        "prodigy-spans.jsonl",
        "prodi.gy: docs/api-interfaces",
        refused="contains neither a choice nor a label (text classification); spans and comparisons cannot be",
    ),
    Format(
        "doccano, a file per person",
        "doccano.zip",
        "doccano/doccano: backend/data_export",
        [(1, "ana", "positive"), (1, "ben", "negative"), (2, "ben", "negative")],
        "labels",
        make=archive,
    ),
    Format(
        "doccano, one file",
        "doccano-ana.jsonl",
        "doccano/doccano: backend/data_export",
        [(1, "doccano-ana", "positive")],
        "labels",
        items=(2,),
        left_out=("all labels are by 'doccano-ana', from the file's name; doccano's archive has one file per person",),
    ),
    Format(
        "doccano, spans",
        "doccano-spans.jsonl",
        "doccano/doccano: backend/data_export",
        refused="of doccano contains spans of text, not labels of the whole; they cannot be clustered",
    ),
    Format(
        "WUG, DURel",
        "judgments.csv",
        "Garrafao/WUGs: durel_system/upload_formats/README.md",
        [
            ("arm-1", "arm-2", "ana", True),
            ("arm-1", "arm-2", "ben", True),
            ("arm-1", "arm-3", "ana", False),
            ("arm-2", "arm-3", "ana", False),
        ],
        "pairs",
        left_out=(
            "judgements of 0, which mean that the annotator could not decide, are left out",
            "judgements of 1 to 4: same if above the middle, 2.5 (same_if=…)",
            "1 row without a judgement left out",
        ),
    ),
    Format(
        "WUG, columns without a name",
        "judgments-unnamed.csv",
        "Garrafao/WUGs: durel_system/upload_formats/test_english/judgments/graft_nn.csv",
        [
            ("arm-1", "arm-2", "ana", True),
            ("arm-1", "arm-2", "ben", True),
            ("arm-1", "arm-3", "ana", False),
            ("arm-2", "arm-3", "ana", False),
        ],
        "pairs",
        left_out=("judgements of 1 to 4: same if above the middle, 2.5 (same_if=…)",),
    ),
    Format(
        "cleanlab, long",
        "cleanlab-long.csv",
        "docs.cleanlab.ai: cleanlab/multiannotator",
        [(0, "a1", 0), (0, "a2", 1), (1, "a1", 2), (2, "a2", 2)],
        "labels",
    ),
    Format(
        "cleanlab, wide",
        "cleanlab-wide.csv",
        "docs.cleanlab.ai: cleanlab/multiannotator",
        [
            (0, "a1", 0),
            (0, "a2", 1),
            (1, "a1", 2),
            (1, "a3", 2),
            (2, "a2", 2),
            (2, "a3", 0),
            (3, "a1", 1),
            (3, "a2", 1),
            (3, "a3", 1),
        ],
        "labels",
        options={"kind": "labels"},
    ),
    Format(
        "cleanlab, wide, without a name",
        "cleanlab-wide-unnamed.csv",
        "docs.cleanlab.ai: cleanlab/multiannotator",
        [
            (0, "a1", 0),
            (0, "a2", 1),
            (1, "a1", 2),
            (1, "a3", 2),
            (2, "a2", 2),
            (2, "a3", 0),
            (3, "a1", 1),
            (3, "a2", 1),
            (3, "a3", 1),
        ],
        "labels",
        refused="The table can be read in two ways: 4 items in the rows, named by the column '', and 3 annotators",
        options={"kind": "labels", "transpose": False},
    ),
    Format(
        "peerannot",
        "answers.json",
        "peerannot/peerannot: datasets/toy-data/answers.json",
        [("0", "0", 1), ("0", "1", 0), ("0", "2", 1), ("1", "0", 2), ("1", "2", 0), ("3", "1", 1), ("3", "2", 1)],
        "labels",
    ),
    Format(
        "peerannot, text",
        "answers.txt",
        "peerannot/peerannot: datasets/toy-data/answers.txt",
        numbers("answers.txt", " ", blank=-1),
        "labels",
        refused="The table can be read in two ways: 12 items in the rows and 6 annotators in the columns",
        options={"kind": "labels", "transpose": False},
        left_out=("10 cells with -1 read as missing (missing=[] if -1 is a label)",),
    ),
    Format(
        "peerannot, text of up to four annotators",
        "answers-small.txt",
        "peerannot/peerannot: datasets/toy-data/answers.txt",
        refused="The first line contains numbers, 1, 0, 1, 1, instead of names of columns",
    ),
    Format(
        "truth inference",
        "truth-inference.csv",
        "zhydhkcws/crowd_truth_infer: README, datasets",
        [(36618, 896, 0), (36618, 12, 1), (7, 896, 3), (7, 40, 3)],
        "labels",
    ),
    Format(
        "... known classes",
        "truth.csv",
        "zhydhkcws/crowd_truth_infer: datasets/s4_Dog data/truth.csv",
        refused="The table gives each item one label, in 'truth', but no annotator",
    ),
    Format(
        "Get-Another-Label",
        "get-another-label.txt",
        "ipeirotis/Get-Another-Label: data/AdultContent/test-unlabeled.txt",
        refused="The first line seems to contain data instead of names of columns, since 'worker1' occurs again",
    ),
    Format(
        "Snorkel, label matrix",
        "votes.npy",
        "Snorkel's documentation: LFApplier",
        [(int(row), int(column), int(VOTES[row, column])) for row, column in zip(*np.nonzero(VOTES >= 0))],
        "labels",
        refused="The table can be read in two ways: 6 items in the rows and 3 annotators in the columns",
        options={"kind": "labels", "transpose": False},
        left_out=("6 cells with -1 read as missing (missing=[] if -1 is a label)",),
        make=array(VOTES),
    ),
]

CLUSTERINGS = [
    Format(
        "ClusterEnsembles",
        "base_clusters.csv",
        "827916600/ClusterEnsembles: ClusterEnsembles/tests/data/create_test_data.py",
        numbers("base_clusters.csv", ",", transpose=True),
    ),
    Format(
        "ClusterEnsembles, array",
        "base_clusters.npy",
        "827916600/ClusterEnsembles: README.md",
        [(int(item), int(row), int(BASE[row, item])) for row, item in zip(*np.nonzero(~np.isnan(BASE)))],
        make=array(BASE),
    ),
    Format(
        "ConsensusClusterPlus, a class per sample",
        "consensusClass.csv",
        "ConsensusClusterPlus: its R code",
        refused="The first line seems to contain data instead of names of columns, since 's1' has the form",
    ),
]

SECTIONS = {
    "Card sorting": CARD_SORTING,
    "Free sorting": FREE_SORTING,
    "Concept mapping, pile sorts and surveys": PILES,
    "Labels and pairs": LABELS,
    "Clusterings": CLUSTERINGS,
}


def formats() -> Iterator[Format]:
    """Yield all formats."""
    for found in SECTIONS.values():
        yield from found
