"""Reports of models that treat annotators as judges of pairs, and of those with several views."""

import numpy as np
import pandas as pd
import pytest

from consilience import Groupings, Pairs
from consilience.consensus import KCC, Crowdclustering
from consilience.inspection import plot_clusters, report
from consilience.semisupervised import MCVC, MECC, MPCKMeans
from consilience.simulation import simulate_pairs

KIND, SIZE = np.repeat([0, 1, 2], 10), np.tile([0, 0, 0, 1, 1], 6)
NAMES = [f"plant {i:02d}" for i in range(30)]
X = pd.DataFrame({"petal": 3.0 * KIND, "leaf": 2.0 * SIZE}, index=NAMES)
X += np.random.default_rng(0).normal(size=X.shape) / 4


def judged(classes, who, seed, accuracy=0.95):
    pairs = simulate_pairs(classes, 3, 60, accuracy, random_state=seed, items=NAMES).to_frame()
    return pairs.assign(annotator=who + pairs["annotator"].str[-1])


@pytest.fixture(scope="module")
def by_kind():
    return Pairs.from_frame(judged(KIND, "kind ", 0), items=NAMES)


@pytest.fixture(scope="module")
def two_views():
    annotations = Pairs.from_frame(pd.concat([judged(KIND, "kind ", 0), judged(SIZE, "size ", 1)]), items=NAMES)
    model = MCVC(n_clusters=4, n_init=6, random_state=0).fit(X, annotations)
    assert len(model.views_) == 2
    return model, annotations


def keys(page):
    return [section.attributes["id"] for section in page.root.all("section")]


@pytest.mark.slow
def test_views_are_shown_with_who_holds_them_and_their_clusters(two_views, read):
    model, annotations = two_views
    page = read(report(model, annotations, X=X))
    sections = ["clusters", "profiles", "views", "view-1", "annotators", "figures", "certainty"]
    assert keys(page) == [*sections, "given", "fit", "settings"]
    views = page.table("views")[1:]
    for view, row in enumerate(views):
        mine = model.annotators_[model.annotators_["view"] == view].sort_values("weight", ascending=False)
        assert row[:3] == [str(view), str(len(mine)), ", ".join(mine.index)]
        assert row[3:5] == [f"{mine[name].mean():.0%}" for name in ("sensitivity", "specificity")]
        assert row[6] == ", ".join(map(str, np.bincount(model.view_labels_[view])))
    crossed = pd.crosstab(model.view_labels_[0], model.view_labels_[1]).to_numpy()
    assert [list(map(int, row[1:])) for row in page.table("crossing-1")[1:]] == crossed.tolist()
    clusters = page.table("clusters-1")[1:]
    for cluster, row in enumerate(clusters):
        assert set(row[2].split(", ")) == set(model.items_[model.view_labels_[1] == cluster])
    assert page.table("features-1")[1][0] in ("petal", "leaf")
    assert "They are the clusters of view 0" in page.section("figures").text


def test_every_judge_is_in_the_table_view_by_view(two_views, read):
    model, annotations = two_views
    page = read(report(model, annotations))
    head, *rows = page.table("annotators")
    own = model.annotators_.reindex([row[0] for row in rows])
    assert own["view"].is_monotonic_increasing
    columns = {
        "Judgements": own["n_pairs"].map("{:.0f}".format),
        "View": own["view"].map("{:.0f}".format),
        "Put together": own["sensitivity"].map("{:.0%}".format),
        "Kept apart": own["specificity"].map("{:.0%}".format),
    }
    for name, expected in columns.items():
        if name in head:
            assert [row[head.index(name)] for row in rows] == expected.tolist()
        else:  # the same of everybody
            assert f"{name}, {expected.iloc[0]}" in page.section("annotators").text
            assert len(set(expected)) == 1


def test_the_data_section_counts_pairs(read):
    rows = [("a", "b", "x", 1), ("a", "b", "y", 0), ("a", "c", "x", 0), ("b", "c", "y", 0), ("b", "c", "x", 0)]
    frame = pd.DataFrame(rows, columns=["item_a", "item_b", "annotator", "same"])
    table = pd.DataFrame({"f": [0.0, 0.1, 5.0]}, index=["a", "b", "c"])
    page = read(report(MPCKMeans(random_state=0).fit(table, frame), frame, X=table))
    given = dict(page.table("given"))
    assert given["Judgements"] == "5"
    assert given["Share that put both items together"] == "20%"
    assert given["Judgements per annotator"] == "2 to 3, mean 2.5"
    assert given["Pairs judged"] == "3 of 3"
    assert given["Pairs judged several times"] == "2; the judgements of 50% of them differ"


def test_hard_clusters_have_no_probability_and_notes_are_shown(by_kind, read):
    model = MPCKMeans(3, random_state=0).fit(X, by_kind)
    page = read(report(model, by_kind, X=X))
    assert page.table("clusters")[0] == ["Cluster", "Number", "Size", "Items", "Share"]
    assert [row[0] for row in page.table("annotators")[1:]] == (
        model.annotators_.sort_values("accuracy", ascending=False, kind="stable").index.tolist()
    )
    for note in model.notes_:
        assert note in page.root.text


def test_who_guesses_is_flagged(read):
    annotations = pd.concat([judged(KIND, "kind ", 0), judged(KIND, "odd ", 1, 0.0)])
    model = MPCKMeans(3, random_state=0).fit(X, annotations)
    page = read(report(model, annotations, X=X))
    odd = {row[0]: row[-1] for row in page.table("annotators")[1:]}
    assert {name for name, remark in odd.items() if remark == "no better than guessing"} == {"odd 1", "odd 2", "odd 3"}
    assert "3 of 6 annotators stand out: odd " in page.section("annotators").text


@pytest.mark.slow
def test_without_features_items_have_the_coordinates_of_the_model(by_kind, read):
    model = Crowdclustering(n_init=1, random_state=0).fit(by_kind)
    page = read(report(model, by_kind))
    assert "largest variance of the coordinates that the model gives them" in page.section("clusters").text
    assert plot_clusters(model, groupings=by_kind).get_xlabel().startswith("component 1 (")


def test_groupings_serve_judges_too(read):
    cells = np.column_stack([KIND, KIND, SIZE]).astype(object)
    annotations = Groupings.from_matrix(cells, items=NAMES, annotators=["Ann", "Bo", "Cy"])
    page = read(report(MECC(n_clusters=4, n_init=2, random_state=0).fit(X, annotations), annotations, X=X))
    head, *rows = page.table("annotators")
    assert head == ["Annotator", "Judgements", "Put together", "Kept apart", "Weight", "Remark"]
    assert {row[0]: row[-1] for row in rows} == {"Ann": "", "Bo": "", "Cy": "nearer to chance than to the others"}
    page = read(report(KCC(3, random_state=0).fit(annotations), annotations))
    assert page.table("annotators")[0][:5] == [
        "Annotator",
        "Groupings",
        "Items sorted",
        "Utility",
        "Agreement with the clusters",
    ]
    assert "agreement-figure" in {e.attributes["id"] for e in page.root.all("figure")}


def test_nobody_is_said_to_stand_out_beside_somebody_at_chance(read):
    """Random sorts of the sizes of Cy's groups agree as well with the others, though MCVC does not rate Cy low."""
    rng = np.random.default_rng(0)
    cells = np.column_stack([*[KIND] * 7, rng.permutation(KIND)]).astype(str)
    annotations = Groupings.from_matrix(cells, items=NAMES)
    model = MCVC(n_clusters=3, n_init=1, random_state=0).fit(X, annotations)
    page = read(report(model, annotations, X=X, certainty=None))
    assert "1 of 8 annotators sorts at chance" in page.root.text
    assert "Nobody stands out" not in page.root.text
