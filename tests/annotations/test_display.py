"""How results are displayed at the end of a notebook cell: a short table, in which users' markup is escaped."""

from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from consilience import Groupings, Labels, Pairs, registry
from consilience.active import ActiveSession
from consilience.annotations.display import (
    LONGEST,
    MOST_NAMES,
    MOST_ROWS,
    facts,
    listed_in_short,
    names_in_short,
    table,
)
from consilience.consensus import CSPA, KCC, DawidSkene, MajorityVote, SubsetFusion
from consilience.datasets import load_digits, load_iris
from consilience.errors import UnannotatedWarning
from consilience.inference import iterate
from consilience.selection.comparison import compare
from consilience.simulation import gaussian_clusters, simulate_crowd

EVIL = "<script>document.title = 'ran'</script>"
MANY = 3000


class Shown(HTMLParser):
    """The rows of a table as text, and every tag of the page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.rows, self.text = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in {"td", "th"}:
            self.rows[-1].append("")

    def handle_data(self, data):
        self.text.append(data)
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


@pytest.fixture(scope="module")
def crowd():
    names = [EVIL, *(f"item {i}" for i in range(1, MANY))]
    kind = pd.Series(np.arange(MANY) % 4, index=names)
    return simulate_crowd(kind, n_annotators=8, items_each=600, random_state=0)


@pytest.fixture(scope="module")
def session(crowd):
    session = ActiveSession(crowd.items, fusion=SubsetFusion(n_clusters=4, refine=False, random_state=0))
    session.tell(crowd)
    session.ask(3, size=40)
    return session


def results(crowd, session):
    labels = Labels.from_frame(crowd.to_frame()[["item", "annotator", "group"]].rename(columns={"group": "label"}))
    models = [CSPA(4, random_state=0), SubsetFusion(n_clusters=4, refine=False, random_state=0)]
    few = crowd.restrict(items=crowd.items[:60])
    return {
        "Groupings": crowd,
        "Labels": labels,
        "Pairs": few.to_pairs(),
        "Summary": crowd.summary(),
        "Reading": crowd.reading,
        "Comparison": compare(models, few, n_folds=2, random_state=0),
        "ActiveSession": session,
        "Subset": session.pending_[0],
        "Forecast": session.groupings_needed(),
        "Decision": session.should_stop(),
        "data set": load_digits(),
        "clusters": gaussian_clusters(n_items=500, random_state=0),
    }


def test_results_are_short_tables_in_a_notebook(crowd, session):
    for name, result in results(crowd, session).items():
        assert len(repr(result)) < 1500, name
        shown = Shown(result._repr_html_())
        assert 1 <= len(shown.rows) < 50, name
        assert len(result._repr_html_()) < 6000, name
        assert set(shown.tags) <= {"div", "p", "table", "thead", "tbody", "tr", "th", "td"}, name  # EVIL is text
        assert "color" not in result._repr_html_(), name  # colours are those of the page, dark or light


def test_the_first_rows_are_those_of_the_long_table(crowd):
    shown = Shown(crowd._repr_html_())
    head = crowd.to_frame().head(MOST_ROWS)
    assert shown.rows[0] == ["item", "annotator", "grouping", "group"]
    assert shown.rows[1:-1] == head.astype(str).to_numpy().tolist()[:-1]
    assert shown.text[-1] == f"… and {crowd.n_rows - MOST_ROWS:,} more rows"
    assert EVIL in shown.rows[1]


@pytest.mark.parametrize(
    "few",
    [
        Groupings.from_matrix([["p"], ["q"]]),
        Groupings.from_matrix([[None], [None]]),
        Labels.from_matrix([["p"], ["q"]]),
        Pairs.from_frame(pd.DataFrame({"item_a": ["a"], "item_b": ["b"], "annotator": ["Ann"], "same": [True]})),
    ],
    ids=repr,
)
def test_short_annotations_are_shown_whole(few):
    shown = Shown(few._repr_html_())
    assert shown.rows[1:] == few.to_frame().astype(str).to_numpy().tolist()
    assert "more rows" not in "".join(shown.text)


def test_a_comparison_shows_what_it_prints(crowd):
    few = crowd.restrict(items=crowd.items[:60])
    result = compare({EVIL: CSPA(4), "KCC": KCC(4)}, few, n_folds=2, random_state=0)
    shown = Shown(result._repr_html_())
    assert [row[0] for row in shown.rows[1:]] == list(result.table.index)
    assert shown.text[-1] == result.verdict
    assert "script" not in shown.tags
    assert repr(result) == str(result)


def shown_above_the_diagram(model):
    """Return the rows above scikit-learn's own HTML, which must still be there."""
    parameters_alone = clone(model)._repr_html_()
    bundle = model._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    above, style, _ = bundle["text/html"].partition("<style>")
    assert model._repr_html_().startswith(above + style)
    assert parameters_alone.startswith("<style>")
    assert "sk-estimator" in bundle["text/html"]
    assert bundle["text/plain"] == repr(model) == repr(clone(model))
    return Shown(above)


def test_a_fitted_model_shows_its_results(crowd):
    seen = crowd.items[(crowd.summary().annotators_per_item > 0).to_numpy()][:800]
    model = KCC(4, random_state=0).fit(crowd.restrict(items=seen))
    shown, sizes = shown_above_the_diagram(model), np.bincount(model.labels_).tolist()
    assert shown.text[0] == "KCC found:"
    assert shown.rows[0] == ["clusters", f"4, of {sizes[0]}, {sizes[1]}, {sizes[2]} and {sizes[3]} items"]
    members = [seen[model.labels_ == cluster] for cluster in np.argsort([-size for size in sizes], kind="stable")]
    assert [row[1] for row in shown.rows[1:5]] == [listed_in_short(names) for names in members]
    assert sorted(row[0] for row in shown.rows[1:5]) == [f"cluster {number}" for number in range(4)]
    assert shown.rows[5:7] == [["items", "800"], ["annotators", "8"]]
    assert shown.rows[7][0] == "converged"
    assert shown.rows[7][1].startswith("yes after ")


def test_a_fitted_model_shows_that_it_stopped_early(crowd):
    with pytest.warns(ConvergenceWarning):
        model = DawidSkene(max_iter=1).fit(Labels.from_matrix([["p", "q"], ["q", "q"], ["p", "p"], ["q", "p"]]))
    assert ["converged", "no, stopped after 1 sweeps"] in shown_above_the_diagram(model).rows


def test_a_fitted_model_counts_items_without_a_cluster():
    said = Labels.from_matrix([["p", "p"], ["q", "q"], [None, None]])
    with pytest.warns(UnannotatedWarning):
        labels = MajorityVote().fit(said)
    assert shown_above_the_diagram(labels).rows[:4] == [
        ["classes", "2, of 1 and 1 items"],
        ["class p", "0"],
        ["class q", "1"],
        ["items", "3, 1 of them in none"],
    ]
    fusion = SubsetFusion(2, random_state=0).fit(said.to_groupings())
    assert shown_above_the_diagram(fusion).text[-1] == " ".join(fusion.notes_)


@pytest.mark.parametrize("known", registry.ESTIMATORS.values(), ids=lambda known: known.name)
def test_an_unfitted_model_shows_only_its_diagram(known):
    assert known.load()()._repr_html_().startswith("<style>")


def test_text_is_shown_if_scikit_learn_is_set_to_text(crowd):
    with config_context(display="text"):
        model = CSPA(4, random_state=0).fit(crowd.restrict(items=crowd.items[:40]))
        assert model._repr_mimebundle_() == {"text/plain": "CSPA(n_clusters=4, random_state=0)"}
        assert not hasattr(model, "_repr_html_")


def test_a_session_shows_its_progress(session):
    assert repr(session) == "ActiveSession(3000 items, 8 groupings, 3 subsets pending, 0 rounds of consensus)"
    bundle = session._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert sum(map(len, bundle.values())) < 1000
    assert ["groupings", "8"] in Shown(bundle["text/html"]).rows
    assert ["strategy", "informative"] in Shown(ActiveSession(["a", "b"])._repr_html_()).rows
    assert repr(clone(session)).startswith("ActiveSession(3000 items, 0 groupings")


def test_a_subset_is_short_in_a_list_and_whole_alone(session):
    subset = session.pending_[0]
    assert repr(subset).endswith(f"… {40 - MOST_NAMES} more])")
    assert len(Shown(subset._repr_html_()).rows) == 40
    assert repr(ActiveSession(["a", "b"]).ask(1, 2, annotators=["Ann"])[0]).endswith(", annotator='Ann')")


def test_a_data_set_shows_its_contents():
    iris = load_iris()
    assert repr(iris) == (
        "DataBunch(data, feature_names, target, target_names, item_names, annotations, DESCR): "
        + iris.DESCR.split("\n")[0]
    )
    rows = dict(Shown(iris._repr_html_()).rows[1:])
    assert rows["data"] == "DataFrame of shape (150, 4)"
    assert rows["annotations"] == "nothing"
    assert iris["data"] is iris.data  # a Bunch as before


def test_a_trace_does_not_list_every_bound():
    trace = iterate(np.zeros(5000), lambda state: state + 1, lambda state: float(state[0]), max_iter=400)
    assert repr(trace).startswith(
        "Trace(n_iter=400, lower_bound=400, converged=False, reason='The objective still improved"
    )


def test_cells_are_escaped_and_truncated():
    shown = Shown(table("<i>", ["<b>"], [["x" * 5000], [1.23456789], [True]], below="&"))
    assert shown.text[0] == "<i>"
    assert shown.rows[0] == ["<b>"]
    assert len(shown.rows[1][0]) == LONGEST
    assert shown.rows[2] == ["1.235"]
    assert 'style="text-align: right' in table("", [], [[2]])
    assert 'style="text-align: left' in facts("", {"yes": True})
    assert names_in_short(["a", "b"], 2) == "['a', 'b']"
