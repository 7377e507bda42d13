"""Small fitted models, reports with sketches for figures, and a reader of pages that accepts nothing malformed."""

import base64
import io
import sys
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from markupsafe import Markup
from matplotlib.figure import Figure
from matplotlib.text import Text
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from consilience import Groupings, Labels
from consilience.analysis import panels
from consilience.consensus import DawidSkene, SubsetFusion
from consilience.errors import AnnotationWarning
from consilience.estimators.base import CrowdEstimator
from consilience.inspection import report
from consilience.inspection.plots.style import Sheet
from consilience.inspection.report import fusion_sections, sensory_sections, subject
from consilience.inspection.report.svg import inline_svg
from consilience.semisupervised import PartitionLabelModel
from consilience.simulation import simulate_experts

LAYOUT = ("get_layout_engine", "draw_without_rendering")  # what takes long on a sheet that is not drawn

VIOLATIONS = {"resultTypes": ["violations"]}  # what axe describes; all that passes too takes longer
VOID = {"meta", "br", "hr", "img", "input", "link", "area", "base", "col", "embed", "source", "track", "wbr"}


@dataclass
class Element:
    tag: str
    attributes: dict
    children: list = field(default_factory=list)

    def all(self, tag):
        """Every element of the tag within, in order."""
        for child in self.children:
            if isinstance(child, Element):
                if child.tag == tag:
                    yield child
                yield from child.all(tag)

    @property
    def text(self):
        """All text within, with white space as single blanks; nothing of scripts within."""
        shown = (child for child in self.children if isinstance(child, str) or child.tag != "script")
        parts = (child if isinstance(child, str) else child.text for child in shown)
        return " ".join("".join(parts).split())


class Page(HTMLParser):
    """Reads a page into a tree; every element must be closed, in the right order."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.source = page
        self.root = Element("", {})
        self.open = [self.root]
        self.feed(page)
        self.close()
        assert len(self.open) == 1, f"{self.open[-1].tag} is not closed"

    def handle_starttag(self, tag, attrs):
        assert len({name for name, _ in attrs}) == len(attrs), f"{tag} has an attribute twice"
        element = Element(tag, dict(attrs))
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.open[-1].children.append(Element(tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open[-1].tag == tag, f"{tag} closes {self.open[-1].tag}"
        self.open.pop()

    def handle_data(self, data):
        self.open[-1].children.append(data)

    @property
    def elements(self):
        """Every element of the page."""
        waiting = [self.root]
        while waiting:
            element = waiting.pop()
            waiting += [child for child in element.children if isinstance(child, Element)]
            if element.tag:
                yield element

    def section(self, key):
        """Return the section with that key, None if there is none."""
        return next((e for e in self.root.all("section") if e.attributes["id"] == key), None)

    def table(self, key):
        """Return a table as lists of the texts of its cells, the head first."""
        block = next(e for e in self.root.all("div") if e.attributes.get("id") == f"{key}-table")
        return [
            [cell.text for cell in row.children if isinstance(cell, Element)]
            for row in next(block.all("table")).all("tr")
        ]

    def tables(self):
        """Return the keys of all tables."""
        ids = (element.attributes.get("id", "") for element in self.root.all("div"))
        return [key.removesuffix("-table") for key in ids if key.endswith("-table")]

    def file(self, name):
        """Return a CSV file inside the page."""
        link = next(e for e in self.root.all("a") if e.attributes.get("download") == name)
        return pd.read_csv(io.BytesIO(base64.b64decode(link.attributes["href"].partition("base64,")[2])))


def sketch(figure, key, description, *, readable=0):
    """Stand for a figure in a page: its description and its texts, without a drawing."""
    texts = (text.get_text() for text in figure.findobj(Text) if text.get_visible())
    written = Markup("").join(Markup("<text>{}</text>").format(text) for text in texts if text)
    return Markup('<svg role="img" aria-label="{}">{}</svg>').format(description, written)


@pytest.fixture(scope="session")
def thorough(pytestconfig):
    """Whether everything is tried, as in `make test-all`."""
    return pytestconfig.getoption("--check-every-call")


@pytest.fixture(scope="session")
def looked_at(thorough):
    """What axe looks at: of each table the first rows, which takes a third of the time, or everything."""
    return None if thorough else {"exclude": [["tbody tr:nth-child(n+8)"]]}


@pytest.fixture(scope="package", autouse=True)
def sketches(thorough):
    """Have sketches for figures in reports, and fewer draws and simulations, unless everything is tried.

    To draw the figures takes half of the time of a report; `draw` draws them where a test looks at them. Fixtures that
    write reports must not have a wider scope, or they would be made before this one.
    """
    with pytest.MonkeyPatch.context() as patch:
        if not thorough:
            patch.setattr(subject, "inline_svg", sketch)
            for name in LAYOUT:
                patch.setattr(Sheet, name, lambda sheet: None)
            module = sys.modules["consilience.analysis.findings"]  # the name in the package is the function
            patch.setattr(module, "N_DRAWS", 10)
            for module in (panels, fusion_sections, sensory_sections):
                patch.setattr(module, "N_SIMULATIONS", 39)
        yield


@contextmanager
def drawn_figures():
    """Draw figures into reports."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subject, "inline_svg", inline_svg)
        for name in LAYOUT:
            patch.setattr(Sheet, name, getattr(Figure, name))
        yield


def draw(*models, **options):
    """Write a report with its figures drawn."""
    with drawn_figures():
        return report(*models, **options)


@pytest.fixture(scope="package")
def sorts_drawn(sorts):
    """The report on `sorts`, with its figures."""
    return draw(*sorts)


@pytest.fixture(scope="package")
def named_page(named):
    """The page on `named`, without certainty."""
    return Page(report(*named, certainty=None))


@pytest.fixture(scope="session")
def read():
    return Page


@pytest.fixture(scope="session")
def iris():
    """Pipeline, features by name, annotations: two features, some items without annotations."""
    data = load_iris(as_frame=True)
    X = data.data.iloc[:, 2:].set_axis([f"iris {i}" for i in range(150)], axis=0)
    experts = simulate_experts(data.target, n_annotators=6, observed=0.6, items=X.index, random_state=1)
    experts = experts.restrict(items=X.index[20:]).reindex(X.index)
    model = PartitionLabelModel(max_clusters=8, prior_variance=10.0, n_init=2, random_state=0)
    model = make_pipeline(StandardScaler(), model).set_output(transform="pandas")
    return model.fit(X, experts), X, experts


SORTS = pd.DataFrame(
    {
        "Ann": ["bird"] * 3 + ["fish"] * 3 + ["beast"] * 3,
        "Bo": ["Bird"] * 3 + ["Fish"] * 3 + ["Beasts"] * 3,
        "Cy": ["flies"] * 3 + ["does not"] * 6,
        "Di": ["no"] * 3 + ["yes"] * 6,
        "Ed": ["air", "air", "air", "sea", "sea", "sea", "land", "land", "pets"],
    },
    index=["robin", "finch", "gull", "cod", "eel", "carp", "cow", "pig", "dog"],
)


@pytest.fixture(scope="session")
def sorts():
    """Model without features, and its annotations: three groups, two of five annotators merge two of them."""
    groupings = Groupings.from_matrix(SORTS)
    return PartitionLabelModel(n_init=2, random_state=0).fit(None, groupings), groupings


@pytest.fixture(scope="session")
def fusion():
    """Fusion of card sorts and its groupings: seven sort, one makes a single group, one sorts at random."""
    columns = dict.fromkeys(("Ann", "Bo", "Cy", "Di"), SORTS["Ann"])
    columns["Ed"] = SORTS["Bo"]
    columns["Flo"] = ["air"] * 3 + ["sea"] * 3 + ["land", "land", "pets"]
    columns["Gus"] = SORTS["Ed"]
    columns["Lumper"] = ["all"] * 9
    columns["Random"] = [*"pqrpqrpqr"]
    table = pd.DataFrame(columns, index=SORTS.index).reindex([*SORTS.index, "yeti"])
    groupings = Groupings.from_matrix(table.astype(object).where(table.notna(), None))
    return SubsetFusion(random_state=0).fit(groupings), groupings


@pytest.fixture(scope="session")
def subsets():
    """Fusion and groupings of 6 of 90 items each, in 3 clusters: 10 annotators, 20 groupings each."""
    rng = np.random.default_rng(0)
    rows = []
    for grouping in range(200):
        seen = rng.choice(90, 6, replace=False)
        group = np.where(rng.random(6) < 0.1, rng.integers(3, size=6), seen % 3)
        rows.append(
            pd.DataFrame({"item": seen, "annotator": f"a{grouping % 10}", "grouping": grouping, "group": group})
        )
    groupings = Groupings.from_frame(pd.concat(rows), items=range(90))
    return SubsetFusion(random_state=0).fit(groupings), groupings


@pytest.fixture(scope="session")
def crowd():
    """Model and annotations of 120 annotators with two groupings each on 24 items in 3 clusters."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 8)
    rows = []
    for annotator in range(120):
        for grouping in range(2):
            seen = rng.choice(24, 10, replace=False)
            group = np.where(rng.random(10) < 0.1, rng.integers(3, size=10), truth[seen])
            rows.append(
                pd.DataFrame({"item": seen, "annotator": f"a{annotator}", "grouping": grouping, "group": group})
            )
    groupings = Groupings.from_frame(pd.concat(rows), items=range(24))
    model = PartitionLabelModel(max_clusters=6, n_init=2, prior_variance=3.0, random_state=0)
    return model.fit(None, groupings), groupings


@pytest.fixture(scope="session")
def animals():
    """Labels of 42 items, 14 of each of three classes; no label of a fourth class, and none of the last two items.

    Al and Bea are nearly always right, Cy labels owls as dogs, Di all as cats, Ed at random; Flo labels two items.
    """
    rng = np.random.default_rng(0)
    truth = np.tile([0, 1, 2], 14)

    def erring(share):
        return np.where(rng.random(42) < share, rng.integers(3, size=42), truth)

    codes = np.column_stack(
        [erring(0.05), erring(0.1), np.where(truth == 0, 2, truth), np.ones(42, int), rng.integers(3, size=42), truth]
    )
    cells = np.array(["owl", "cat", "dog"], dtype=object)[codes]
    cells[2:, 5] = None
    cells[40:] = None
    return Labels.from_matrix(
        cells,
        items=[f"item {i}" for i in range(42)],
        annotators=["Al", "Bea", "Cy", "Di", "Ed", "Flo"],
        classes=["owl", "cat", "dog", "yak"],
    )


@pytest.fixture(scope="session")
def named(animals):
    """Model of labels alone, and its annotations."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnnotationWarning)  # of items without labels, and of Di, whose labels are equal
        return DawidSkene().fit(animals), animals


class Known(CrowdEstimator):
    """A consensus model that is given its clusters, and has nothing else to report."""

    def __init__(self, answer=()):
        self.answer = answer

    def fit(self, X, y=None):
        names, self.labels_ = np.unique(self.answer, return_inverse=True)
        self.n_clusters_ = len(names)
        self.items_ = pd.RangeIndex(len(self.answer))
        return self


@pytest.fixture(scope="session")
def known():
    return Known
