"""What was found is computed once, however many surfaces tell it, and printed as the command prints it."""

import sys
from collections import Counter
from html import escape

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from consilience import Groupings, Labels
from consilience.analysis import Findings, findings
from consilience.analysis.findings_text import as_lines
from consilience.cli import main
from consilience.consensus import CSPA, DawidSkene, MajorityVote, SubsetFusion
from consilience.errors import InputError
from consilience.inspection import (
    certainty,
    plot_certainty_map,
    plot_clusters,
    plot_co_occurrence,
    plot_dendrogram,
    plot_item_map,
    plot_word_map,
    report,
    use_words,
)
from consilience.inspection.report.findings_in_short import key_findings
from consilience.inspection.report.subject import Subject
from consilience.workflows import FitRequest, fit
from tests.click_runner import invoke
from tests.pages import Page
from tests.subset_groupings import pairs_in_piles

COUNTED = {
    "consilience.analysis.capabilities": "Capabilities",
    "consilience.analysis.clustering": "FoundClusters",
}
FUNCTIONS = ("cluster_names", "random_sorters", "annotator_agreement", "item_votes", "standard_names", "facts_of")


@pytest.fixture
def calls(monkeypatch):
    """Count how often statistics are computed: in `findings`, and capabilities and clusters anywhere."""
    counts, module = Counter(), sys.modules["consilience.analysis.findings"]

    def counting(name, function):
        def call(*arguments, **options):
            counts[name] += 1
            return function(*arguments, **options)

        return call

    for name in FUNCTIONS:
        monkeypatch.setattr(module, name, counting(name, getattr(module, name)))
    for home, name in COUNTED.items():
        made = getattr(sys.modules[home], name)
        monkeypatch.setattr(made, "of", counting(name, made.of))
    return counts


@pytest.fixture(scope="module")
def many():
    """Groupings of 60 items by 8 people."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(6), 10)
    cells = {
        who: np.where(rng.random(60) < 0.1, rng.integers(6, size=60), truth).astype(str).astype(object) + " kind"
        for who in "abcdefgh"
    }
    return Groupings.from_matrix(pd.DataFrame(cells))


def test_each_thing_is_computed_once_for_text_json_and_the_head_of_the_report(calls, many):
    found = findings(SubsetFusion(random_state=0).fit(many), many, certainty=None)
    calls.clear()  # to read annotations asks for capabilities, too
    for _ in range(2):
        assert str(found) == as_lines(found.facts)
        subject = Subject.of(found)
        with use_words(subject.words):
            key_findings(subject)
        found = subject  # which knows all that was computed for the first
    once = {name: calls[name] for name in ("cluster_names", "random_sorters", "facts_of", "annotator_agreement")}
    assert once == dict.fromkeys(once, 1)
    assert calls["FoundClusters"] == 1
    assert calls["Capabilities"] <= 4


def test_a_fit_tests_random_sorters_once(calls, many, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    many.to_frame().to_csv("sorts.csv", index=False)
    result = fit(FitRequest(annotations="sorts.csv", certainty_draws=0))
    page = (tmp_path / "consilience-report" / "report.html").read_text(encoding="utf-8")
    assert Page(page).root is not None
    assert calls["random_sorters"] == calls["cluster_names"] == calls["facts_of"] == 1
    # the verdict before the report, the certainty and the findings; no figure of the report
    assert calls["FoundClusters"] <= 3
    assert result.findings.facts.items() <= result.summary.items()


def test_findings_print_what_the_command_prints(many, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    many.to_frame().to_csv("sorts.csv", index=False)
    arguments = ["fit", "sorts.csv", "--certainty-draws", "20", "--seed", "0"]
    printed = invoke(main, arguments).stdout.splitlines()
    model = SubsetFusion(random_state=0).fit(many)
    found = findings(model, certainty=certainty(model, n_draws=20, random_state=0))
    assert str(found).splitlines() == printed[:-1]  # the last names the files
    assert printed[-1].startswith("Files in consilience-report: report.html, clusters.csv")


@pytest.mark.slow
def test_a_report_of_findings_is_that_of_their_model(sorts, monkeypatch):
    model, groupings = sorts
    found = findings(model, groupings, certainty=None, words="animals,people", left_out=["Zoe"])
    expected = report(model, groupings, certainty=None, words="animals,people", left_out=["Zoe"])
    assert report(found) == expected
    with pytest.raises(InputError, match="hold annotations and features already"):
        report(found, groupings)


PLOTS = (plot_clusters, plot_item_map, plot_co_occurrence, plot_dendrogram, plot_word_map)


@pytest.mark.parametrize("plot", PLOTS)
def test_a_plot_of_findings_is_that_of_their_model(plot, fusion, calls):
    model, groupings = fusion
    found = findings(model, groupings, certainty=None)
    expected = plot(model, groupings=groupings, ax=Figure())
    assert found.clusters.called
    calls.clear()
    drawn = plot(found, ax=Figure())
    assert calls["FoundClusters"] == 0
    assert same_drawing(drawn, expected)
    with pytest.raises(InputError, match=f"given to {plot.__name__} hold annotations and features already"):
        plot(found, groupings=groupings, ax=Figure())


def test_a_map_with_ellipses_takes_findings(many):
    model = SubsetFusion(random_state=0).fit(many)
    sure = certainty(model, n_draws=5, random_state=0)
    found = findings(model, many, certainty=sure)
    drawn = plot_certainty_map(found, sure, ax=Figure())
    assert same_drawing(drawn, plot_certainty_map(model, sure, ax=Figure()))


def same_drawing(one, other):
    """Whether two axes have the same points, texts and labels."""
    kinds = [[(type(part), np.asarray(part.get_xydata()).tolist()) for part in ax.lines] for ax in (one, other)]
    legends = [[text.get_text() for text in ax.get_legend().get_texts()] for ax in (one, other) if ax.get_legend()]
    texts = [[text.get_text() for text in ax.findobj(Text)] for ax in (one, other)]
    return kinds[0] == kinds[1] and texts[0] == texts[1] and legends[:1] == legends[1:]


def test_a_notebook_shows_findings_as_the_command_prints_them():
    labels = [["<b>", "<b>"], ["dog", "dog"]]
    found = findings(MajorityVote().fit(labels), labels, certainty=None)
    assert "<b>" in str(found)
    assert found._repr_html_().endswith(f"<pre>{escape(str(found))}</pre>")


def test_facts_are_those_of_the_kind_of_model(sorts, fusion, named):
    model, groupings = sorts
    mapped = findings(model, groupings, certainty=None)
    assert mapped.facts["accuracy"] == pytest.approx(
        np.average(model.annotators_["accuracy"], weights=model.annotators_["n_labels"])
    )
    assert mapped.facts["weakest_annotators"][0]["annotator"] in groupings.annotators
    fused = findings(fusion[0], certainty=None)
    assert fused.facts["silhouette"] == fusion[0].silhouette_
    assert fused.facts["n_items_without_cluster"] == 1  # the yeti
    labels = findings(*named, certainty=None)
    assert labels.facts["n_classes"] == 4
    assert labels.facts["n_known_classes"] == 0
    assert labels.votes.index.equals(named[0].items_)
    assert fused.votes is None


def test_findings_need_annotations_where_the_model_keeps_none(many):
    model = CSPA(n_clusters=6, random_state=0).fit(many)
    with pytest.raises(InputError, match=r"Give them too: findings\(model, groupings\)"):
        findings(model)
    with pytest.raises(InputError, match="parameter of findings must be 'auto', None"):
        findings(model, many, certainty="often")
    with pytest.raises(InputError, match="is said to be left out, but has annotations here"):
        findings(model, many, certainty=None, left_out=["a"])
    other = SubsetFusion(random_state=0).fit(many.restrict(many.items[:30]))
    with pytest.raises(InputError, match="certainty given to findings is of other items"):
        findings(model, many, certainty=certainty(other, n_draws=2, random_state=0))


def test_findings_are_words_for_the_reader(many):
    labels = [["cat", "cat", "cat"], ["dog", "cat", "dog"], ["dog", "dog", "dog"]]
    found = findings(MajorityVote().fit(labels), labels, certainty=None, words="cards,participants")
    assert isinstance(found, Findings)
    assert str(found).startswith("3 cards in 2 classes by 3 participants\n")


@pytest.mark.slow
def test_which_number_of_clusters_agrees_best_whether_it_was_found_or_given():
    sorts = pairs_in_piles()
    found = findings(SubsetFusion(random_state=0).fit(sorts), sorts, certainty=None)
    text = str(found)
    assert "\nFound 4 clusters, of 2 to 8 considered; smoothed silhouette" in text
    agreement = f"{found.facts['best_cut']['agreement']:.2f}"
    assert f"\nAnnotators agree with no cut of the tree better than with these 4 clusters ({agreement}).\n" in text
    asked = str(findings(SubsetFusion(8, random_state=0).fit(sorts), sorts, certainty=None))
    assert "\n8 clusters, as asked for; smoothed silhouette" in asked
    assert (
        f"\nAnnotators agree best with the tree cut into 4 clusters ({agreement}); with these 8 clusters (0." in asked
    )


@pytest.mark.filterwarnings("ignore:DawidSkene. no item has two labels")
def test_an_error_is_a_label_that_was_given():
    """One annotator's labels are the classes, however little sure; Cy says cat of two dogs; ties say nothing."""
    alone = Labels.from_matrix([["cat"], ["dog"], ["dog"]])
    assert findings(DawidSkene().fit(alone), alone, certainty=None).annotators["times"].tolist() == [0]
    cells = [["cat"] * 3, ["cat"] * 3, ["dog", "dog", "cat"], ["dog", "dog", "cat"], ["cat", "dog", None]]
    labels = Labels.from_matrix(cells, annotators=["Ann", "Bo", "Cy"])
    frame = findings(MajorityVote().fit(labels), labels, certainty=None).annotators
    assert frame.loc["Cy", ["said", "instead_of", "times"]].tolist() == ["cat", "dog", 2]
    assert frame.loc[["Ann", "Bo"], "times"].tolist() == [0, 0]
