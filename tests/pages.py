"""A reader of pages that accepts nothing malformed, sketches in place of figures in reports, and a browser."""

import base64
import io
import shutil
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser

import pandas as pd
import pytest
from markupsafe import Markup
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import FixedFormatter

from consilience.analysis import panels
from consilience.inspection import report
from consilience.inspection.plots.style import Sheet
from consilience.inspection.report import fusion_sections, sensory_sections, subject
from consilience.inspection.report.svg import inline_svg

LAYOUT = ("get_layout_engine", "draw_without_rendering")  # what takes long on a sheet that is not drawn

BROWSERS = ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome")
"""The first that is installed tries pages; the second, which has no windows, takes little more than half the time."""
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
    texts = (text.get_text() for text in texts_in(figure) if text.get_visible())
    written = Markup("").join(Markup("<text>{}</text>").format(text) for text in texts if text)
    return Markup('<svg role="img" aria-label="{}">{}</svg>').format(description, written)


def texts_in(artist):
    """Yield every text of a figure; ticks that nobody named have none yet, and would be made if they were asked for."""
    for child in artist.get_children():
        is_bare = isinstance(child, Axis) and not isinstance(child.get_major_formatter(), FixedFormatter)
        yield from [child.label] if is_bare else texts_in(child)
    if isinstance(artist, Text):
        yield artist


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


@contextmanager
def chromium():
    """Start Chromium by Playwright, whose loop runs in this thread meanwhile: other tests need theirs."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("no Chromium is installed (Debian: apt-get install chromium)")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def browser():
    """Chromium, started once for the tests of a file."""
    with chromium() as found:
        yield found
