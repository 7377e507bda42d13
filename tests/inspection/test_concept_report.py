"""The sections of concept mapping: ratings of clusters and items, and bridging values."""

import numpy as np
import pandas as pd
import pytest

from consilience import Groupings
from consilience.analysis import findings
from consilience.analysis.names import join_names
from consilience.consensus import MajorityVote, SubsetFusion
from consilience.errors import InputError
from consilience.inspection import bridging_values, certainty, item_ratings, report
from consilience.inspection.report.certainty_sections import leave_singly
from consilience.inspection.report.concept_sections import _shares_outside
from consilience.inspection.report.subject import Subject
from consilience.inspection.report.tables import number, percent

ITEMS = ["buses", "trains", "trees", "<b>parks</b>", "=1+1", "clinic"]
SORTS = [[ITEMS[:2], ITEMS[2:4], ITEMS[4:]]] * 4 + [[ITEMS[:3], ITEMS[3:]], [ITEMS[:2], ITEMS[2:]]]


@pytest.fixture(scope="module")
def model():
    return SubsetFusion(n_clusters=3, random_state=0).fit(Groupings.from_lists(SORTS))


@pytest.fixture(scope="module")
def ratings():
    values = np.random.default_rng(0).integers(1, 6, size=(6, 5, 2))
    rows = [(item, f"p{p}", *values[i, p]) for i, item in enumerate(ITEMS) for p in range(5)]
    return pd.DataFrame(rows, columns=["item", "annotator", "importance", "<i>cost</i>"])


@pytest.fixture(scope="module")
def page(model, ratings, read):
    return read(report(model, certainty=None, ratings=ratings, words="statements,participants"))


def test_the_map_of_statements_shows_outlines_at_first(page, model, read):
    assert 'data-show="outlines" aria-pressed="true"' in page.source
    assert 'data-show="outlines" aria-pressed="false"' in read(report(model, certainty=None)).source


def test_the_table_of_clusters_has_means_with_intervals(page, model, ratings, read):
    found = item_ratings(model, ratings)
    head, *rows = page.table("ratings")
    assert head == ["Cluster", "importance", "<i>cost</i>"]
    first = found.means.loc[(0, "importance")]
    assert rows[0][1] == "{:.2f} ({:.2f} to {:.2f})".format(*first[["mean", "low", "high"]])
    assert rows[-1][:2] == ["All", f"{found.overall.iloc[0]:.2f}"]
    assert len(page.file("cluster-ratings.csv")) == 6
    text = page.section("ratings").text
    assert "Ratings given: importance by 5 people, from 1 to 5; <i>cost</i> by 5 people, from 1 to 5." in text
    some = ratings.assign(importance=ratings["importance"].where(ratings.index > 2))
    partly = read(report(model, certainty=None, ratings=some)).section("ratings").text
    assert "Ratings given: importance by 5 people, from 1 to 5, 3 of 30 not given; <i>cost</i>" in partly
    assert "95% interval over the raters" in text
    assert "is above that of all statements for importance, for <i>cost</i>, or for both" in text


def test_the_table_of_items_is_in_the_order_of_the_first_scale(page, model, ratings):
    found = item_ratings(model, ratings).items
    _, *rows = page.table("rated-items")
    assert [row[0] for row in rows] == found.sort_values("importance", ascending=False, kind="stable").index.tolist()
    file = page.file("ratings.csv")
    assert set(file.columns) >= {"cluster", "importance_n", "importance_se", "above", "bridging"}
    assert "'=1+1" in set(file["item"])


def test_bridging_values_follow_the_ratings_next_to_the_map_bridges_first(page):
    values = bridging_values(Groupings.from_lists(SORTS))
    _, *rows = page.table("bridging")
    assert [float(row[2]) for row in rows] == sorted(values.round(2), reverse=True)
    keys = [section.attributes["id"] for section in page.root.all("section")]
    assert keys.index("bridging") == keys.index("ratings") + 1 == keys.index("evidence") + 2
    assert "The formula is ours" in page.section("bridging").text
    assert len(page.table("bridging-clusters")) == 4


@pytest.mark.parametrize(("words", "shown"), [("statements,participants", True), ("cards,participants", False)])
def test_statements_have_bridging_values_without_ratings(model, words, shown):
    page = report(model, certainty=None, words=words)
    assert ('id="bridging"' in page) == shown
    assert 'id="ratings"' not in page


def test_one_scale_has_no_match_and_no_go_zone(model, ratings, read):
    page = report(model, certainty=None, ratings=ratings[["item", "annotator", "importance"]])
    assert read(page).table("rated-items")[0] == ["Item", "Cluster", "importance"]
    assert 'id="go-zone"' not in page
    assert 'id="pattern"' not in page


def test_classes_have_no_ratings(ratings):
    labels = [["x", "x"], ["y", "y"]]
    found = findings(MajorityVote().fit(labels), labels, certainty=None)
    with pytest.raises(InputError, match="the model finds classes"):
        report(found, ratings=ratings)


def test_both_tables_of_bridging_values_say_how_certain_the_clusters_are(model, read):
    found = certainty(model, n_draws=20, random_state=0)
    page = read(report(model, certainty=found, words="statements,participants"))
    outside = "Put together outside its cluster"
    alone = "Moves by itself"
    assert page.table("bridging-clusters")[0] == ["Cluster", "Mean bridging value", outside, alone]
    head, *rows = page.table("bridging")
    assert head[-1] == alone
    singly = leave_singly(Subject.of(findings(model, certainty=found)))
    assert {row[0]: row[-1] for row in rows} == dict(zip(model.items_, map(percent, singly), strict=True))
    own = dict(zip(model.items_, model.labels_, strict=True))
    for row in rows:
        with_it = [name for groups in SORTS for group in groups if row[0] in group for name in group if name != row[0]]
        share = np.mean([own[name] != own[row[0]] for name in with_it])
        assert row[head.index(outside)] == percent(share)


def test_mean_bridging_values_that_contradict_the_shares_outside_are_left_out(model, read):
    subject = findings(model, certainty=None, words="statements,participants")
    outside = pd.Series(_shares_outside(Subject.of(subject)), model.items_)
    for values, is_shown in ((outside, True), (1 - outside, False)):
        vars(subject)["bridging"] = values
        page = read(report(subject))
        assert ("Mean bridging value" in page.table("bridging-clusters")[0]) == is_shown
        assert ("The mean bridging values are left out" not in page.section("bridging").text) == is_shown


def test_correlations_have_intervals_and_items_near_the_lines_are_named(page, model, ratings):
    found = item_ratings(model, ratings)
    text = page.section("ratings").text
    assert f"is {number(found.r_clusters)} over only 3 clusters (too few for an interval)" in text
    low, high = found.r_items_interval
    sample = "95% interval, if these 6 statements were a sample of many"
    assert f"over 6 statements ({sample}: {number(low)} to {number(high)})." in text
    share = found.items["in_go_zone"]
    inside = [f"{item} ({percent(share[item])})" for item in found.surest_of_go_zone]
    assert f"with the share of 500 draws of other raters in which it is so: {join_names(inside)}." in text
    assert "No other is in it in at least 25% of these draws." in text
    assert share.drop(found.go_zone).max() < 0.25
    folds = [fold.text for fold in page.section("ratings").all("details")]
    assert not any("are in the go-zone" in fold or "is in the go-zone" in fold for fold in folds)
    listed = {row[0]: row[-1] for row in page.table("rated-items")[1:]}
    assert listed == {item: percent(part) for item, part in share.items()}


def test_items_that_many_draws_have_in_the_go_zone_are_named_although_they_are_outside(model, read):
    means, sway = [5, 2.9, 2.8, 1, 2, 4.5], [0, 1, 1, 0, 0, 0]  # the line is 3.03
    rows = [
        (item, p, *2 * [m + s * (-1) ** p]) for item, m, s in zip(ITEMS, means, sway, strict=True) for p in range(4)
    ]
    table = pd.DataFrame(rows, columns=["item", "annotator", "useful", "cheap"])
    share = item_ratings(model, table).items["in_go_zone"]
    first, second = (f"{item} ({percent(share[item])})" for item in ITEMS[1:3])
    text = read(report(model, certainty=None, ratings=table)).section("ratings").text
    assert f"Of the others, only {first} and {second} are in it in at least 25%." in text


def test_every_cluster_that_may_be_as_high_is_named_and_the_next_that_is_not(model, read):
    shift = np.array([-1, -0.5, 0.5, 1])
    means = dict(zip(ITEMS, [4, 4, 3.9, 3.9, 1, 1], strict=True))
    rows = [
        (item, p, mean + (shift[p] if place < 2 else 0))
        for place, (item, mean) in enumerate(means.items())
        for p in range(4)
    ]
    table = pd.DataFrame(rows, columns=["item", "annotator", "useful"])
    rated = item_ratings(model, table)
    found = certainty(model, n_draws=20, random_state=0)
    page = read(report(model, certainty=found, ratings=table, words="statements,participants"))
    titles = Subject.of(findings(model, certainty=None)).clusters.titles
    first, second, last = (titles[model.labels_[model.items_.get_loc(ITEMS[place])]] for place in (0, 2, 4))
    ends = rated.ends_in_draws(found.draws)
    share = percent(ends["highest"].xs("useful", level="scale")[model.labels_[model.items_.get_loc(ITEMS[0])]])
    text = page.section("ratings").text
    assert f"useful: highest is “{first}”, 0.10 above “{second}” (" in text
    assert ": may be as high) and 3.00 above" in text
    assert f"; lowest is “{last}”, " in text
    assert share in {cell for row in page.table("rating-ends")[1:] for cell in row}
    assert ": may be as low" not in text
    assert len(page.table("rating-ends")) == 4


def test_a_mean_that_is_nearly_that_of_all_is_marked(model, read):
    table = pd.DataFrame({"useful": [1, 2, 3, 4, 5, 3.005], "cheap": [3, 5, 1, 4, 3, 2]}, index=ITEMS)
    rows = read(report(model, certainty=None, ratings=table)).table("rated-items")[1:]
    marked = {row[0]: row[-1] for row in rows if "at the mean" in row[-1]}
    assert marked == {
        ITEMS[0]: "– (at the mean: cheap)",
        ITEMS[2]: "– (at the mean: useful)",
        ITEMS[4]: "useful (at the mean: cheap)",
        ITEMS[5]: "useful (at the mean: useful)",
    }


def test_a_correlation_that_may_be_0_is_said_to_be_none(model, read):
    table = pd.DataFrame({"useful": [1, 2, 3, 4, 5, 3], "cheap": [3, 5, 1, 4, 3, 2]}, index=ITEMS)
    text = read(report(model, certainty=None, ratings=table)).section("ratings").text
    assert ": not distinguishable from 0)" in text
    assert "standard error of their means" not in text  # of no raters


def test_the_findings_and_the_short_form_have_the_go_zone(page, model, ratings, read):
    found = item_ratings(model, ratings)
    n = len(found.go_zone)
    said = f"{n} of 6 statements {'is' if n == 1 else 'are'} in the go-zone, above the mean of both importance"
    assert said in page.root.text
    short = read(report(model, certainty=None, ratings=ratings, words="statements,participants", short=True))
    assert said in short.root.text
    assert [figure.attributes["id"] for figure in short.root.all("figure")] == ["map-figure", "pattern-figure"]
    assert len(short.table("ratings")) == len(page.table("ratings"))
    assert not list(short.root.all("a"))  # nothing to save on paper


def test_the_caption_of_the_map_has_the_stress_that_studies_give_and_its_own(page, model, read):
    places, found = np.arange(6), findings(model, certainty=None).co_occurrence
    first, second = found.plane_shares(places)
    shown = f"scaling show {first:.1%} and {second:.1%} of the variance, together {first + second:.1%}."
    least, own = number(found.least_stress(places)), number(found.stress(places))
    beside = f"with 0.17 to 0.34 (Rosas & Kane 2012), it would be {least}: no worse than usual, though ties"
    for said in (shown, f"of this plane is {own}; scaled to make it small, ", beside):
        assert said in page.root.text
    plain = read(report(model, certainty=None)).root.text
    assert f"{shown} Kruskal's stress-1 of their plane is {own} (0: the farther apart" in plain
