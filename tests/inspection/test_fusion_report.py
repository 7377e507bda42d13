"""The report of a fusion of groupings."""

from copy import copy
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from consilience import Groupings
from consilience.analysis.annotator_frames import AT_CHANCE, are_far_below, frame_of_fusion
from consilience.analysis.group_names import cluster_names
from consilience.consensus import SubsetFusion
from consilience.errors import InputError
from consilience.inspection import annotator_agreement, plot_clusters, report
from consilience.inspection.report import exact_group_sections
from consilience.inspection.report.annotators import of_fusion
from consilience.inspection.report.participants import odd_in_short
from consilience.inspection.report.subject import Subject
from consilience.metrics.clusterings import ari
from tests.inspection.test_report import (
    HOSTILE,
    test_every_figure_and_table_is_accessible,
    test_ids_are_unique_and_every_reference_has_its_target,
    test_links_of_contents_lead_to_the_sections,
    test_the_page_is_self_contained_and_allows_no_script_but_its_own,
)
from tests.pages import draw
from tests.quick_cases import some_quick

__all__ = [
    "test_every_figure_and_table_is_accessible",
    "test_ids_are_unique_and_every_reference_has_its_target",
    "test_links_of_contents_lead_to_the_sections",
    "test_the_page_is_self_contained_and_allows_no_script_but_its_own",
]

FOLLOWS = "Follows the clusters"


@pytest.fixture(scope="module")
def fusion_page(fusion, read):
    return read(draw(*fusion, certainty=None))


@pytest.fixture(scope="module")
def subsets_page(subsets, read):
    stability = pd.DataFrame({"n_groupings": [50, 100], "stability": [0.5, 0.9]})
    return read(draw(*subsets, stability=stability, certainty=None))


@pytest.fixture(scope="module")
def hostile_page(read):
    names = ["<b>bold</b>", 'say "so"']
    cells = np.array([[names[0]] * 5 + [HOSTILE[1]]] * 5 + [[names[1]] * 5 + [HOSTILE[2]]] * 4, dtype=object)
    groupings = Groupings.from_matrix(cells, items=HOSTILE, annotators=HOSTILE[:6])
    return read(draw(SubsetFusion(random_state=0).fit(groupings), groupings))


@pytest.fixture(params=some_quick(["fusion", "subsets", "hostile"], 2))
def page(request):
    return request.getfixturevalue(f"{request.param}_page")


def figures(page):
    return [figure.attributes["id"].removesuffix("-figure") for figure in page.root.all("figure")]


def test_sections_and_figures(fusion_page, subsets_page):
    keys = [section.attributes["id"] for section in fusion_page.root.all("section")]
    assert keys == [
        *("clusters", "evidence", "annotators", "represented", "figures"),
        *("names", "exact-groups", "pairs", "standard-names", "placements", "words"),
        *("given", "separated", "number", "axes", "cuts", "panel", "settings"),
    ]
    assert figures(fusion_page) == [
        *("map", "map-1-3", "co-occurrence", "dendrogram", "agreement", "word-map", "rv-map")
    ]
    assert figures(subsets_page) == [
        *("map", "map-1-3", "co-occurrence", "cluster-shares", "dendrogram", "agreement", "stability")
    ]
    assert "items are drawn" not in subsets_page.section("evidence").text
    assert "How many clusters, and how stable they are" in subsets_page.root.text


def test_items_that_nobody_saw_are_listed(fusion, fusion_page):
    model, _ = fusion
    assert "1 item is in no grouping, and so in no cluster: yeti." in fusion_page.section("figures").text
    (findings,) = (e for e in fusion_page.root.all("ul") if e.attributes.get("class") == "findings")
    for note in model.notes_:
        assert note in findings.text
    rows = fusion_page.table("clusters")[1:]
    assert sum(int(row[2]) for row in rows) == 9
    table = fusion_page.file("clusters.csv").set_index("item")
    assert table.loc["yeti", "cluster"] == -1
    assert table["cluster"].tolist() == model.labels_.tolist()
    order = fusion_page.file("co-occurrence.csv").set_index("item")
    pd.testing.assert_frame_equal(order, model.co_occurrence(order.index.tolist()).round(4), check_names=False)


def test_annotators_are_ranked_and_odd_ones_marked(fusion, fusion_page):
    _, groupings = fusion
    head, *rows = fusion_page.table("annotators")
    assert head == ["Annotator", "Groups", FOLLOWS, "Agreement with the clusters", "With the others", "Remark"]
    assert "The same in every row: Items sorted, 9." in fusion_page.section("annotators").text
    others = annotator_agreement(groupings).to_numpy(copy=True)
    np.fill_diagonal(others, np.nan)
    expected = pd.Series(np.nanmean(others, axis=1), groupings.annotators)
    assert expected[[row[0] for row in rows]].is_monotonic_increasing
    remarks = {row[0]: row[-1] for row in rows if row[-1]}
    assert remarks == {"Lumper": "one group only", "Random": "sorts unlike most others, as if at random"}
    assert "1 of 9 annotators stands out: Lumper (one group only)." in fusion_page.root.text
    assert "1 of the 8 annotators tested sorts at chance: " in fusion_page.root.text
    assert "of random sorts agree as well; gave no names). This one is kept, and counts little in the clusters" in (
        fusion_page.root.text
    )
    assert "groupings" not in fusion_page.tables()
    assert "Far less is" not in fusion_page.root.text  # of nobody


def test_outliers_are_below_the_fence_and_groupings_of_two_have_no_agreement():
    weight = [0.9, 0.88, 0.86, 0.84, 0.82, 0.8, 0.1]
    columns = {"n_groupings": 1, "n_items": [6] * 6 + [2], "n_groups": 2, "weight": weight, "agreement": 0.5}
    names = pd.Index(list("abcdefg"), name="annotator")
    model = SimpleNamespace(annotators_=pd.DataFrame(columns, index=names), refined_=True)
    groupings = Groupings.from_matrix([list("ppppppp"), list("qqqqqqq")], annotators=names)
    frame = frame_of_fusion(model, groupings, annotator_agreement(groupings))
    assert frame["agreement"].isna().tolist() == [False] * 6 + [True]
    assert frame["remark"].tolist() == [""] * 6 + ["every item alone"]
    model.annotators_.loc["g", "n_items"] = 6
    frame = frame_of_fusion(model, groupings, annotator_agreement(groupings))
    assert frame["remark"].tolist() == [""] * 6 + ["outlier: follows the clusters far less than most"]
    # quartiles .81 and .87; the six agree perfectly, one pair of items in one group for none
    closing = of_fusion(frame, refined=True).closing
    assert closing.startswith("Far less than most: below 0.720 of “Follows the clusters”, or ")


def test_groupings_are_ranked_where_annotators_gave_several(subsets, subsets_page):
    model, groupings = subsets
    whole = subsets_page.file("groupings.csv")
    assert len(whole) == groupings.n_groupings
    rows = subsets_page.table("groupings")[1:]
    assert len(rows) == 17  # eight at either end, and a line on the others
    matrix = groupings.to_matrix()
    best = whole.iloc[0]
    annotations = matrix[best["annotator"], best["grouping"]].dropna()
    label = pd.Series(model.labels_, index=model.items_)
    assert ari(label[annotations.index], annotations) == pytest.approx(best["agreement"], abs=1e-4)
    assert whole["agreement"].dropna().is_monotonic_decreasing


def test_group_names_by_hand():
    cells = np.array(
        [
            ["Cat ", "cat", "pets", "1", "all", "cát."],
            ["Cat ", "cat", "pets", "1", "all", None],
            ["Cat ", "dog", "pets", "2", "all", None],
            ["Dog", "dog", "x", "2", "all", "dog"],
        ],
        dtype=object,
    )
    groupings = Groupings.from_matrix(cells, missing=[None])
    found = cluster_names(groupings, np.array([0, 0, 1, -1]), 2)
    table = {(k, name.casefold()): (calls, any_) for k, name, calls, _, any_, _ in found.itertuples(index=False)}
    # cat: 2 of 3 items of the first, both of the second, the one item that the last sorted
    assert table[0, "cat"] == (3, 3)
    assert table[0, "pets"] == (1, 1)  # two of three
    assert table[0, "all"] == (1, 1)  # two of four are half
    assert table[1, "all"] == (0, 1)
    assert table[1, "cat"] == (0, 1)
    assert table[1, "dog"] == (1, 1)  # one of two
    half = {(k, name.casefold()): n for k, name, n in found[["cluster", "name", "n_for_half"]].itertuples(index=False)}
    assert half == {
        (0, "cat"): 3,
        (0, "pets"): 1,
        (0, "all"): 1,
        (1, "all"): 1,
        (1, "cat"): 1,
        (1, "dog"): 1,
        (1, "pets"): 1,
    }
    assert not any(name in {"1", "2", "x"} for _, name in table)  # numbers, and an item of no cluster
    assert found["name"][0] in {"Cat", "cat"}


def test_names_of_groups_are_shown_and_escaped(fusion_page, hostile_page):
    rows = {row[0]: row[1] for row in fusion_page.table("names")[1:]}
    assert any(name.casefold() == "bird" for name in rows)
    assert any(text.startswith("5 bird") or text.startswith("5 Bird") for text in rows.values())
    text = hostile_page.section("names").text
    assert "<b>bold</b>" in text
    assert 'say "so"' in text
    assert "<b>bold</b>" not in hostile_page.source
    assert "&lt;b&gt;bold" in hostile_page.source


def test_numbers_are_no_names(subsets_page):
    assert subsets_page.section("names") is None


def test_one_number_of_clusters_is_a_sentence(read):
    groupings = Groupings.from_matrix([["a", "x"], ["a", "x"], ["b", "y"], ["b", "y"]])
    page = read(report(SubsetFusion(random_state=0).fit(groupings), groupings))
    assert "2 clusters: no other number was considered, since the groupings leave no doubt about it." in page.root.text
    assert "silhouette" not in figures(page)
    page = read(report(SubsetFusion(1, refine=False, random_state=0).fit(groupings), groupings))
    assert "1 cluster: no other number was considered, since the number was given." in page.root.text


def test_two_numbers_of_clusters_are_a_sentence_and_no_curve(fusion, read):
    model = copy(fusion[0])
    model.n_clusters_curve_ = pd.DataFrame({"silhouette": [0.25, 0.5]}, index=pd.Index([2, 3], name="n_clusters"))
    page = read(report(model, certainty=None))
    assert "Only 2 and 3 clusters were considered, with silhouettes of 0.25 and 0.50." in page.root.text
    assert "silhouette" not in figures(page)


@pytest.mark.slow
def test_features_and_scores_leave_out_items_of_no_cluster(fusion, read):
    model, groupings = fusion
    X = pd.DataFrame({"size": np.arange(10.0), "mass": np.arange(10.0) ** 2}, index=model.items_)
    page = read(report(model, groupings, X=X, scores=X))
    seen = X[model.labels_ >= 0]
    whole = page.file("features.csv").set_index("feature")
    for k in range(model.n_clusters_):
        assert whole.loc["size", f"mean_{k}"] == seen["size"][model.labels_[model.labels_ >= 0] == k].mean()
    assert page.table("association")[1][1] == "9"
    assert "plane" in figures(page)
    pd.testing.assert_index_equal(model.cluster_profile(X).index, pd.RangeIndex(3), check_names=False, exact=False)
    assert model.cluster_profile(X)["items"].sum().item() == 9
    assert model.association(X)["n_items"].tolist() == [9, 9]
    ax = plot_clusters(model, X, groupings)
    crosses = next(line for line in ax.lines if line.get_label() == "no cluster")
    assert np.column_stack(crosses.get_data()).tolist() == [X.loc["yeti"].tolist()]


def test_stability_that_cannot_be_drawn(fusion):
    with pytest.raises(InputError, match="stability curve"):
        report(*fusion, stability=pd.DataFrame({"n": [1]}))


def test_groups_and_whole_sorts_that_several_made_are_named(read):
    rows = [["ant", "bee"], ["cow", "pig"]]
    sorts = Groupings.from_lists([[*rows, ["emu"]], [*rows, ["emu"]], [["ant", "bee", "cow"], ["pig"], ["emu"]]])
    page = read(report(SubsetFusion(n_clusters=2, random_state=0).fit(sorts), certainty=None))
    text = page.section("exact-groups").text
    assert "2 groups were made exactly so by 2 annotators each, none by more." in text
    assert "2 of 3 annotators who sorted all items made one and the same sort" in text
    assert [row[:2] for row in page.table("whole-sorts")[1:]] == [["2", "3"]]
    assert page.file("whole-sorts.csv")["groups"].tolist() == ["ant, bee; cow, pig; emu"]


def test_groups_made_exactly_are_all_listed_the_commonest_first(read, monkeypatch):
    whole, apart = [["ant", "bee", "cow"], ["pig", "emu"]], [["ant", "bee"], ["cow", "pig"], ["emu"]]
    sorts = Groupings.from_lists([whole, whole, apart, apart, [["ant", "bee"], ["cow"], ["pig", "emu"]]])
    model = SubsetFusion(n_clusters=2, random_state=0).fit(sorts)
    page = read(report(model, certainty=None))
    head, *rows = page.table("exact-groups")
    assert head[1:] == ["Made by", "Items", "Which", "Within a group of"]
    made = [(share, who, tuple(sorted(which.split(", "))), within) for share, who, _, which, within in rows]
    assert made[:2] == [("60%", "3 of 5", ("emu", "pig"), "–"), ("60%", "3 of 5", ("ant", "bee"), "3 items, by 2")]
    assert made[2:] == [("40%", "2 of 5", ("ant", "bee", "cow"), "–"), ("40%", "2 of 5", ("cow", "pig"), "–")]
    assert (
        "4 groups were made exactly so by at least two annotators; most often that of"
        in page.section("exact-groups").text
    )
    monkeypatch.setattr(exact_group_sections, "ROWS", 3)
    text = read(report(model, certainty=None)).section("exact-groups").text
    assert "The 3 commonest groups that at least two annotators made exactly" in text
    assert "Not shown: 1 rarer group." in text


def test_whoever_agrees_far_less_with_the_others_is_to_be_looked_at_though_no_weight_is_low():
    names = list("abcdefg")
    agreement = pd.DataFrame(0.3, names, names)
    agreement["g"] = agreement.loc["g"] = 0.06
    columns = {"n_groupings": 1, "n_items": 6, "n_groups": 2, "weight": 0.8, "agreement": 0.5}
    groupings = Groupings.from_matrix([[0] * 7] * 2, annotators=names)
    frame = frame_of_fusion(
        SimpleNamespace(annotators_=pd.DataFrame(columns, names), refined_=True), groupings, agreement
    )
    assert frame["remark"].tolist() == [""] * 6 + ["agrees far less with the others than most"]
    tests = pd.DataFrame({"p_value": 0.001, "tested": True}, index=names)
    subject = Subject(None, None, groupings)
    vars(subject).update(annotators=frame, random_sorters=tests)
    less = (
        "g (agrees far less with the others than most; agreement with the others 0.06; 0.1% of random sorts agree as "
    )
    less += "well; 2 of 2 in one group)"
    look = "Look at the groups before you leave anybody out."
    assert odd_in_short(subject) == [f"1 of 7 annotators stands out: {less}. {look}"]
    vars(subject)["annotators"] = frame.assign(remark=["one group only", *frame["remark"].iloc[1:]])
    one = "a (one group only; 2 of 2 in one group)"
    assert odd_in_short(subject) == [f"2 of 7 annotators stand out: {less} and {one}. {look}"]
    vars(subject)["annotators"] = frame.assign(remark="")
    assert odd_in_short(subject) == ["Nobody stands out, so no annotator needs leaving out."]
    vars(subject)["random_sorters"] = tests.assign(tested=[True] * 6 + [False])
    assert odd_in_short(subject) == []
    chance = frame.assign(remark=[""] * 6 + [AT_CHANCE])
    vars(subject).update(annotators=chance, random_sorters=tests.assign(p_value=[0.001] * 6 + [0.5]))
    assert odd_in_short(subject) == []  # who is at chance is said elsewhere


def test_unknown_agreement_is_not_far_below_the_others():
    assert are_far_below(pd.Series([0.3, 0.31, 0.32, 0.33, 0.34, 0.06, np.nan])).tolist() == [False] * 5 + [True, False]


@pytest.mark.slow
def test_one_person_has_one_remark_on_chance_in_all_tables(read):
    rng = np.random.default_rng(4)
    truth = np.arange(20) % 4
    careful = [np.where(rng.random(20) < 0.3, rng.integers(4, size=20), truth) for _ in range(10)]
    sorts = Groupings.from_matrix(np.column_stack([*careful, rng.permutation(truth), rng.permutation(truth)]))
    page = read(report(SubsetFusion(random_state=0).fit(sorts), certainty=None))
    at_chance = {row[0] for row in page.table("people")[1:] if any("at chance" in cell for cell in row)}
    remarks = {row[0]: row[-1] for row in page.table("annotators")[1:]}
    said = ("sorts unlike most others, as if at random", "at chance: not shown to agree better than random sorts")
    assert {name for name, remark in remarks.items() if remark in said} == at_chance
    assert 1 <= len(at_chance) <= 3
    first = [row[0] for row in page.table("people")[1:] if row[0] in at_chance][:2]
    assert f'names separated by commas or a file of names: "{",".join(first)}".' in page.section("represented").text
