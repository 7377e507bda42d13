"""Whole reports in the reader's words: nothing is called an item or an annotator."""

import json
import re
import warnings
from html import escape
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from matplotlib.text import Text

from consilience import Groupings, Pairs, read_annotations
from consilience.consensus import CorrelationClustering, MajorityVote, SubsetFusion
from consilience.errors import AnnotationWarning
from consilience.inspection import Words, plot_confusion, report, use_words
from consilience.semisupervised import MCVC, MECC
from consilience.simulation import simulate_pairs
from tests.inspection.test_deep_plots import StandIn, features_of
from tests.inspection.test_judge_report import KIND, SIZE, judged
from tests.inspection.test_judge_report import X as PLANTS
from tests.quick_cases import quick_in_turn

OWN = re.compile(r"\b(items?|annotators?)\b(?![-\w]*\.csv)", re.IGNORECASE)  # annotators.csv is the name of a file
RARE = "wagtails,tinkers"
READ_ALOUD = ("aria-label", "aria-roledescription", "title", "alt", "placeholder", "label")


def texts(element, own_text=lambda text: text):
    """All that readers see or hear of a page, with the text of users taken away."""
    for name in READ_ALOUD:
        if name in element.attributes:
            yield own_text(element.attributes[name])
    for child in element.children:
        if isinstance(child, str):
            yield own_text(child)
        elif child.tag not in ("script", "style"):
            yield from texts(child, own_text)


def words_left(page, own_text=lambda text: text):
    return [" ".join(text.split()) for text in texts(page.root, own_text) if OWN.search(text)]


def _views():
    given = Pairs.from_frame(pd.concat([judged(KIND, "kind ", 0), judged(SIZE, "size ", 1)]), items=PLANTS.index)
    return MCVC(n_clusters=4, n_init=6, random_state=0).fit(PLANTS, given), given, PLANTS


def _deep():
    model = StandIn().fit()
    frame = simulate_pairs(model.labels_[:40], 3, 40, 0.9, random_state=0).to_frame()
    people = {f"annotator {i + 1}": name for i, name in enumerate(["Ann", "Bo", "Cy"])}
    frame["annotator"] = frame["annotator"].map(people)
    frame[["item_a", "item_b"]] = "item " + frame[["item_a", "item_b"]].astype(str)
    return model, Pairs.from_frame(frame, items=model.items_), features_of(model)


@pytest.fixture(scope="module")
def kinds(iris, sorts, fusion, subsets, crowd, named):
    """Arguments of `report`, by kind."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnnotationWarning)  # of items without labels
        votes = MajorityVote().fit(named[1])
    model, X, experts = iris
    scores = pd.DataFrame({"age": np.arange(150.0)}, index=X.index)
    curve = pd.DataFrame({"n_groupings": [20, 200], "stability": [0.5, 0.9]})
    said = {"item_a": [*"aabbcd"], "item_b": [*"bcccda"], "annotator": [*"xyxyxy"], "same": [1, 1, 1, 1, 0, 0]}
    pairs = Pairs.from_frame(pd.DataFrame(said))
    wings = np.random.default_rng(0).normal(size=(4, 2)) + 6 * np.array([0, 0, 0, 1])[:, None]
    wings = pd.DataFrame(wings, index=[*"abcd"], columns=["left", "right"])
    return {
        "groupings and features": ((model, experts, X), {"scores": scores}),
        "groupings": (sorts, {}),
        "fusion": (fusion, {}),
        "fusion of subsets": (subsets, {"stability": curve}),
        "many annotators": (crowd, {"certainty": None}),
        "labels": (named, {}),
        "labels without certainty": (named, {"certainty": None}),
        "votes": ((votes, named[1]), {}),
        "pairs": ((CorrelationClustering(random_state=0).fit(pairs), pairs), {}),
        "pairs and features": ((MECC(n_clusters=2, n_init=1, random_state=0).fit(wings, pairs), pairs, wings), {}),
        "views": (_views(), {}),
        "deep": (_deep(), {}),
    }


KINDS = [
    *("groupings and features", "groupings", "fusion", "fusion of subsets", "many annotators", "labels"),
    *("labels without certainty", "votes", "pairs", "pairs and features", "views", "deep"),
]


@pytest.mark.parametrize("kind", quick_in_turn(KINDS, 0))
def test_no_item_and_no_annotator_is_left(kinds, read, kind):
    arguments, options = kinds[kind]
    page = read(report(*arguments, words=RARE, **options))
    names = re.compile(r"\bitem \d+\b")  # items of two fixtures are called "item 7"
    assert not words_left(page, lambda text: names.sub("", text))
    if kind in ("labels", "deep"):
        assert names.search(page.root.text)
    shown = page.root.text
    assert "wagtails" in shown
    assert "tinkers" in shown or "Tinkers" in shown


def test_the_data_of_the_explorer_has_the_words_and_leaves_names(read):
    cells = pd.DataFrame({"Ann": [1, 1, 2, 2], "Bo": [1, 1, 2, 2]}, index=["item x", "annotator", "items", "z"])
    groupings = Groupings.from_matrix(cells)
    page = read(report(SubsetFusion(random_state=0).fit(groupings), groupings, words=RARE, certainty=None))
    script = next(e for e in page.root.all("script") if e.attributes.get("id") == "explorer-data")
    data = json.loads(script.children[0])
    assert data["readers"] == {"item": "wagtail", "items": "wagtails"}
    assert sorted(data["items"]) == ["annotator", "item x", "items", "z"]
    assert {row[0] for row in page.table("items")[1:]} == {"annotator", "item x", "items", "z"}


def test_scripts_take_the_words_from_the_data():
    folder = files("consilience.inspection.report") / "static"
    texts = re.compile(r"""(["'`])((?:(?!\1).)*)\1""")
    for file in folder.iterdir():
        for line in file.read_text("utf-8").splitlines():
            code = line.partition("//")[0]
            if "/**" in code:
                continue
            for _, text in texts.findall(code):
                plain = re.sub(r"\$\{[^}]*\}|[#.\w-]*-(items?|table)[\w-]*|#items-table table", "", text)
                assert not OWN.search(plain), f"{file.name}: {text}"


@pytest.mark.slow
@settings(deadline=None, max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.from_regex(r"[a-zA-Zé][a-z0-9é]{0,4}[&'’\- ][a-z0-9é]{1,6}", fullmatch=True),
    st.from_regex(r"[A-Z]&[a-z]{1,6}", fullmatch=True),
)
def test_any_words_are_escaped(sorts, read, item, annotator):
    words = Words(item, f"{item}s", f"{annotator}r", f"{annotator}rs")
    source = report(*sorts, words=words, certainty=None)
    page = read(source)
    assert f"2 clusters of 9 {words.items} by 5 {words.annotators}" in page.root.text or words.items in page.root.text
    assert f"&{words.annotators[2:]}" not in source.replace("&amp;", "").split("<script")[0]
    assert escape(words.annotators) in source
    assert f"The {words.annotators}" in [e.text for e in page.root.all("h2")]


def test_plots_have_the_words_within_the_block(named):
    with use_words(RARE):
        drawn = plot_confusion(named[0])[0].figure
    assert any("wagtail" in text.get_text() for text in drawn.findobj(Text))
    assert not any(OWN.search(text.get_text()) for text in drawn.findobj(Text))


@pytest.mark.slow
def test_words_are_those_of_the_file_unless_others_are_given(tmp_path, read):
    path = tmp_path / "sort.csv"
    path.write_text("participant,card,pile\n" + "".join(f"p{i},c{j},g{j % 2}\n" for i in range(3) for j in range(4)))
    groupings = read_annotations(path)
    model = SubsetFusion(random_state=0).fit(groupings)
    assert "4 cards by 3 participants" in next(read(report(model, groupings)).root.all("title")).text
    assert "4 tiles by 3 experts" in next(read(report(model, groupings, words="tiles,experts")).root.all("title")).text
