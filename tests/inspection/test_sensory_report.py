"""The report on a free sort: words, the map of the annotators, segments, and a third axis, in a browser and without."""

import base64
import csv
import importlib.util
import io
import json
import os
import re
import textwrap
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from consilience import Groupings
from consilience.analysis import findings, panels
from consilience.analysis.dissimilarity import CoOccurrence
from consilience.analysis.item_spread import spread
from consilience.analysis.rv import ScalarProducts, SortTable
from consilience.analysis.segments import PanelSegments
from consilience.consensus import SubsetFusion
from consilience.inspection import certainty, group_words, panel_segments, report
from consilience.inspection.plots.certainty import RADIUS
from consilience.inspection.report import sensory_sections
from consilience.inspection.report.subject import Subject
from consilience.inspection.report.tables import download
from tests.pages import Page, draw

ROOT = Path(__file__).parents[2]
P_VALUES_APART = 0.03  # the standard error of a p-value of 199 panels
SHARES_APART = 0.1  # two standard errors of a difference of two shares of 100 draws
WORDS = (("sweet", "fruity"), ("Bitter; dry", "bitter"), ("smoky", "<b>smoky</b>, strong"))


@pytest.fixture(scope="module")
def sorts():
    """Sixteen products in three groups; twelve people who name them, and four who sort by something else."""
    rng = np.random.default_rng(1)
    truth, other = np.arange(16) % 3, np.arange(16) // 6
    columns = {}
    for person in range(16):
        group = np.where(rng.random(16) < 0.12, rng.integers(3, size=16), other if person > 10 else truth)
        columns[f"J{person + 1}"] = [WORDS[one][person % 2] if person <= 10 else f"G{one}" for one in group]
    return Groupings.from_matrix(pd.DataFrame(columns, index=[f"beer {i}" for i in range(16)]))


@pytest.fixture(scope="module")
def fitted(sorts):
    model = SubsetFusion(random_state=0).fit(sorts)
    return model, certainty(model, n_draws=30, random_state=0)


@pytest.fixture(scope="module")
def text(fitted):
    return draw(fitted[0], certainty=fitted[1])


@pytest.fixture(scope="module")
def page(text):
    return Page(text)


def element(page, tag, key):
    return next(each for each in page.root.all(tag) if each.attributes.get("id") == key)


def rows_of(page, key):
    table = next(element(page, "div", f"{key}-table").all("table"))
    return [[cell.text for cell in row.children if hasattr(cell, "tag")] for row in table.all("tr")]


def file_of(page, name):
    link = next(link for link in page.root.all("a") if link.attributes.get("download") == name)
    content = base64.b64decode(link.attributes["href"].partition("base64,")[2]).decode()
    return list(csv.reader(io.StringIO(content)))


def data_of(page):
    script = element(page, "script", "explorer-data")
    return json.loads("".join(child for child in script.children if isinstance(child, str)))


@pytest.mark.slow
def test_words_are_in_a_table(page, sorts):
    found = group_words(sorts)
    head, *rows = rows_of(page, "words")
    assert head[:2] == ["Word", "Annotators who write just this"]
    assert [row[:2] for row in rows] == [[w, f"{n}"] for w, n, _ in found.words.itertuples()]
    assert re.search(r"only contains one does not count. \d+ are used by at least", page.root.text)
    assert "<b>smoky</b>" in found.words.index  # and yet the page is well formed
    goes_with = found.of_items()
    assert len(goes_with)
    for row in rows:
        items = goes_with.loc[goes_with["word"] == row[0], "item"].tolist()
        assert all(item in row[3] for item in items[:5])
        assert items or row[3] == "–"
    head, *tests = file_of(page, "words.csv")
    assert head == ["word", "item", "n_annotators", "expected", "p_value", "p_corrected", "v_test"]
    assert len(tests) == len(found.words) * 16
    assert file_of(page, "word-map.csv")[0][:3] == ["word", "n_annotators", "n_groups"]


def test_a_file_of_words_that_would_be_too_large_has_those_that_were_said(sorts, fitted, monkeypatch):
    found = group_words(sorts)
    said = found.tests[found.tests["n_annotators"] > 0]
    assert 0 < len(said) < len(found.tests)
    most = (len(said.round(5).to_csv()) + len(found.tests.round(5).to_csv())) // 2
    monkeypatch.setattr(sensory_sections, "download", partial(download, most=most))
    subject = Subject.of(findings(fitted[0], certainty=None))
    table = sensory_sections.words_section(subject).blocks[0]
    assert table.download.address
    assert table.download.n_rows == len(said)
    assert "The full table has those that anybody said" in table.reading


def test_segments_that_agree_no_more_among_themselves_than_with_others_are_said_to():
    """Of six who sort alike, and six each in a way of their own who are called a segment, the latter are mixed."""
    people = [f"p{i}" for i in range(12)]
    of_alike, of_others, between = 0.8, 0.1, 0.2
    agreement = np.full((12, 12), between)
    agreement[:6, :6], agreement[6:, 6:] = of_alike, of_others
    segment = pd.Series(np.repeat([0, 1], 6), people)
    described = pd.DataFrame({"segment": segment}, people), pd.DataFrame({"n_annotators": [6, 6]})
    tests = pd.DataFrame({"p_value": [0.01]})
    subject = Subject(None, None, Groupings.from_matrix(np.zeros((3, 12))))
    found = PanelSegments(*described, tests, pd.DataFrame(), pd.DataFrame(), 0.4)
    vars(subject).update(agreement=pd.DataFrame(agreement, people, people), segments=found)
    said = "segments of 6 and 6 sort differently (the 6 agree no more with each other than with another segment)"
    assert said in sensory_sections.segments_in_short(subject)[0]
    agreement[6:, 6:] = 0.3
    vars(subject)["agreement"] = pd.DataFrame(agreement, people, people)
    assert "segments of 6 and 6 sort differently, and" in sensory_sections.segments_in_short(subject)[0]


@pytest.mark.slow
def test_segments_are_described(page, sorts, fitted):
    expected = panel_segments(sorts, n_simulations=panels.N_SIMULATIONS, clusters=fitted[0].labels_, random_state=0)
    assert expected.segments["n_annotators"].tolist() == [11, 5]
    rows = rows_of(page, "segments")[1:]
    assert [row[:2] for row in rows] == [["0", "11"], ["1", "5"]]
    assert "J12, J13, J14, J15, J16" in rows[1][-1]
    findings = next(each for each in page.root.all("ul") if each.attributes.get("class") == "findings")
    assert "The annotators are not one panel: segments of 11 and 5 sort differently" in findings.text
    rows = rows_of(page, "segment-pairs")[1:]
    first = expected.pairs.iloc[0]
    assert rows[0][1] == f"{first['item_a']}, {first['item_b']}"
    assert len(file_of(page, "segments.csv")[0]) == 4
    rows = rows_of(page, "segment-tests")[1:]
    assert rows[0][0] == "16"
    assert rows[0][-1] == "yes"


@pytest.mark.slow
def test_the_map_of_annotators_is_in_words(page, sorts):
    products = ScalarProducts.of(SortTable.of(sorts))
    places, shares = products.places(3)
    head, *rows = file_of(page, "annotators-rv.csv")
    found = pd.DataFrame(rows, columns=head).set_index("annotator").astype(float).loc[sorts.annotators]
    np.testing.assert_allclose(found["weight"], products.weights, atol=1e-4)
    np.testing.assert_allclose(found[[f"dimension_{i}" for i in (1, 2, 3)]], places, atol=1e-4)
    assert f"Dimension 2 ({shares[1]:.0%})" in rows_of(page, "panel")[0]
    assert file_of(page, "rv.csv")[0][0] == "annotator"


def test_the_map_has_three_axes_without_scripts(page, fitted):
    still = element(page, "figure", "map-1-3-figure")
    assert still.attributes["class"] == "block still"
    labels = " ".join(each.text for each in still.all("text"))
    assert "dimension 1 (" in labels
    assert "dimension 3 (" in labels
    evidence = CoOccurrence.of(fitted[0], None, "test")
    head, *rows = file_of(page, "map.csv")
    assert head[1:5] == ["axis_1", "axis_2", "axis_3", "cluster"]
    centres, covariances = spread(evidence, fitted[1])
    found = pd.DataFrame(rows, columns=head).set_index("item").drop(columns=["cluster", "name"]).astype(float)
    np.testing.assert_allclose(found[[f"ellipse_centre_{i}" for i in (1, 2, 3)]], centres, rtol=1e-3, atol=1e-4)
    for (name, of_item), covariance in zip(found.iterrows(), covariances[:, [0, 2]][:, :, [0, 2]]):
        long, wide = of_item["ellipse_1_3_half_length"], of_item["ellipse_1_3_half_width"]
        angle = np.radians(of_item["ellipse_1_3_degrees"])
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        form = turn @ np.diag([long**2, wide**2]) @ turn.T
        np.testing.assert_allclose(form, RADIUS**2 * covariance, rtol=2e-3, atol=1e-5, err_msg=name)


def test_no_words_or_segments_where_there_are_none():
    cells = pd.DataFrame([["1", "2", "1"], ["1", "2", "2"], ["2", "1", "2"], ["2", "1", "1"]])
    text = report(SubsetFusion(random_state=0).fit(Groupings.from_matrix(cells)), certainty=None)
    assert 'id="words"' not in text
    assert 'id="panel"' not in text
    assert 'data-show="words"' not in text
    assert 'data-show="ellipses"' not in text


def assert_same_output(output, shown, within):
    """Compare word by word; fractions may differ by this much.

    The simulations begin from numbers whose last digits depend on the kernels of BLAS: those for SkylakeX give a
    p-value of .130 where those for Haswell give .155.
    """
    for found, expected in zip(output.split(), shown.split(), strict=True):
        if re.fullmatch(r"-?\d*\.\d+", found) and re.fullmatch(r"-?\d*\.\d+", expected):
            assert abs(float(found) - float(expected)) <= within
        else:
            assert found == expected


@pytest.mark.slow  # as the examples of most pages
def test_the_page_on_free_sorts_shows_what_the_data_give(tmp_path, monkeypatch, capsys):
    """Its code is run in order; each block of text after one is its output."""
    folder = os.environ.get("CONSILIENCE_DATA", "")
    if not (Path(folder) / "free-sort" / "smoothies8_sensominer_raw.csv").is_file():
        pytest.skip("needs the folder of real data, CONSILIENCE_DATA")
    spec = importlib.util.spec_from_file_location("sensory_pictures", ROOT / "tools" / "sensory_pictures.py")
    pictures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pictures)
    pictures.smoothies().rename_axis("").to_csv(tmp_path / "smoothies.csv")
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "free-sorts.rst").read_text(encoding="utf-8")
    block = r"\.\. code-block:: (python|text)\n\n((?:   .*\n|\n)+)"
    given, code, output, n_shown = {}, "", "", 0
    for kind, content in re.findall(block, page[page.index("Fit, and open") :]):
        if kind == "python":
            code = content
            exec(textwrap.dedent(code), given)
            output = capsys.readouterr().out
        else:
            assert_same_output(output, content, within=SHARES_APART if "certainty(" in code else P_VALUES_APART)
            n_shown += 1
    assert n_shown == 7
    text = "".join(page.split("$ consilience fit")[1].split("Everything below")[0])
    assert given["model"].n_clusters_ == 3
    repeated = re.search(r"would repeat (\d+)% of the pairs", text)[1]
    assert abs(int(repeated) / 100 - given["found"].repeats) <= 0.03


@pytest.fixture(scope="module")
def explored(text, browser, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(text, encoding="utf-8")
    opened = browser.new_page(viewport={"width": 1280, "height": 900})
    troubles = []
    opened.on("pageerror", lambda error: troubles.append(str(error)))
    opened.goto(path.as_uri())
    yield opened
    opened.close()
    assert troubles == []


def settled(explored):
    explored.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def points_on_screen(explored):
    found = explored.eval_on_selector_all(
        "#map-panel path[data-item]",
        "all => all.map((e) => e.getAttribute('transform').match(/-?[\\d.]+/g).slice(0, 2))",
    )
    return np.array(found, dtype=float)


@pytest.mark.parametrize("axes", [(1, 2), (1, 3), (2, 3)])
def test_two_of_three_axes_are_chosen(explored, page, axes):
    button = explored.locator(f"[data-axes='{axes[0]} {axes[1]}']")
    button.click()
    settled(explored)
    assert button.get_attribute("aria-pressed") == "true"
    assert explored.locator("[data-axes][aria-pressed=true]").count() == 1
    data = data_of(page)
    points = np.array(data["points"])[:, [axes[0] - 1, axes[1] - 1]] * [1, -1]
    screen = points_on_screen(explored)
    unit = np.ptp(screen, axis=0) / np.ptp(points, axis=0)
    assert unit[0] == pytest.approx(unit[1], rel=0.02)
    np.testing.assert_allclose((screen - screen.mean(0)) / unit[0], points - points.mean(0), atol=0.02)
    drawn = " ".join(explored.locator("#map-panel .map-holder text").all_text_contents())
    assert f"→ {data['axes'][axes[0] - 1]}" in drawn
    assert f"↑ {data['axes'][axes[1] - 1]}" in drawn


def test_ellipses_are_shown_and_saved(explored, page):
    explored.locator("[data-axes='1 3']").click()
    button = explored.locator("[data-show=ellipses]")
    assert button.get_attribute("aria-pressed") == "false"
    button.click()
    settled(explored)
    assert explored.locator("#map-panel ellipse[visibility=visible]").count() == 16
    data = data_of(page)
    form = np.array(data["ellipses"])[:, 3:]
    largest = [np.linalg.eigvalsh([[xx, xz], [xz, zz]])[1] for xx, _, xz, _, _, zz in form]
    long = explored.eval_on_selector_all("#map-panel ellipse", "all => all.map((e) => Number(e.getAttribute('rx')))")
    ratio = np.array(long) / np.sqrt(largest)
    np.testing.assert_allclose(ratio, ratio[0], rtol=0.01)
    with explored.expect_download() as saved:
        explored.locator("#map-panel [data-file=csv]").click()
    head, *rows = list(csv.reader(io.StringIO(Path(saved.value.path()).read_text(encoding="utf-8"))))
    given, *whole = file_of(page, "map.csv")
    assert head == given
    for row, other in zip(rows, whole, strict=True):
        assert row[0] == other[0]
        name = head.index("name")
        assert row[name] == other[name]
        numbers = [[float(x) for x in each[1:name] + each[name + 1 :]] for each in (row, other)]
        assert numbers[0] == numbers[1]
    half = dict(zip(data["items"], np.sqrt(largest)))
    found = {row[0]: float(row[head.index("ellipse_1_3_half_length")]) for row in rows}
    ratio = np.array([found[name] / half[name] for name in found])
    np.testing.assert_allclose(ratio, ratio[0], rtol=0.01)
    button.click()
    settled(explored)
    assert explored.locator("#map-panel ellipse[visibility=visible]").count() == 0


def test_words_are_written_amid_their_items(explored, page):
    explored.locator("[data-axes='1 2']").click()
    explored.locator("[data-show=words]").click()
    settled(explored)
    written = explored.locator("#map-panel text.word[visibility=visible]").all_text_contents()
    words = [word for word, *_ in data_of(page)["words"]]
    assert written
    assert set(written) <= set(words)
    boxes = [each.bounding_box() for each in explored.locator("#map-panel .map-holder text[visibility=visible]").all()]
    for place, one in enumerate(boxes):
        for other in boxes[:place]:
            across = min(one["x"] + one["width"], other["x"] + other["width"]) - max(one["x"], other["x"])
            down = min(one["y"] + one["height"], other["y"] + other["height"]) - max(one["y"], other["y"])
            assert across < 3 or down < 5  # boxes of text have room above and below the letters
    explored.set_viewport_size({"width": 390, "height": 800})
    settled(explored)
    assert explored.evaluate("document.documentElement.scrollWidth") <= 390
