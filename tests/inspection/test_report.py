"""The report is parsed as a browser would: its contents are right, and nothing in it is dangerous or malformed."""

import base64
import hashlib
import html
import io
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import kruskal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import consilience
from consilience import Groupings, Labels
from consilience.analysis import findings
from consilience.analysis.clustering import FoundClusters
from consilience.analysis.group_names import count_makers
from consilience.errors import InputError
from consilience.inspection import annotator_agreement, report
from consilience.inspection.report import sections
from consilience.inspection.report.subject import Subject
from consilience.semisupervised import PartitionLabelModel
from tests.pages import draw
from tests.quick_cases import some_quick

HOSTILE = [
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "</text></svg><iframe src='http://example.org'>",
    "{{ 7 * 7 }} & {% raw %}",
    "$x^{$ \\frac",
    "\u202eright to left",
    "名前は長いとても長い名前です" * 20,
    "two\nlines\x00\x1b[31m",
    "]]>--><!-- &lt;b&gt;",
]


@pytest.fixture(scope="module")
def iris_page(iris, read):
    pipeline, X, groupings = iris
    rng = np.random.default_rng(0)
    scores = pd.DataFrame({"like": X.iloc[:, 0] ** 2, "noise": rng.normal(size=150), "text": "x"}, index=X.index)
    scores.iloc[3, 0] = np.nan
    return read(draw(pipeline, groupings, X=X, scores=scores, certainty=None)), scores


@pytest.fixture(scope="module")
def crowd_page(crowd, read):
    return read(report(*crowd, certainty=None))


@pytest.fixture(scope="module")
def sorts_page(sorts, read):
    return read(report(*sorts))


@pytest.fixture(scope="module")
def hostile_page(read):
    rng = np.random.default_rng(0)
    cells = np.array(HOSTILE, dtype=object)[rng.integers(len(HOSTILE), size=(len(HOSTILE), len(HOSTILE)))]
    groupings = Groupings.from_matrix(cells, items=HOSTILE, annotators=HOSTILE)
    X = pd.DataFrame(rng.normal(size=(len(HOSTILE), 2)), index=HOSTILE, columns=HOSTILE[:2])
    model = PartitionLabelModel(max_clusters=6, prior_variance=1.0, n_init=1, random_state=0).fit(X, groupings)
    scores = X.set_axis(HOSTILE[2:4], axis=1)
    return read(draw(model, groupings, X=X, scores=scores, title=HOSTILE[0]))


@pytest.fixture(params=some_quick(["hostile", "iris", "crowd"]))
def page(request):
    found = request.getfixturevalue(f"{request.param}_page")
    return found[0] if isinstance(found, tuple) else found


def sha256(element):
    """Return the source in a policy that allows what is between the tags of an element."""
    (content,) = element.children
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def test_the_page_is_self_contained_and_allows_no_script_but_its_own(page):
    for element in page.elements:
        assert element.tag not in {
            "iframe",
            "object",
            "embed",
            "link",
            "base",
            "form",
            "img",
            "foreignobject",
        }
        for name, value in element.attributes.items():
            assert not name.startswith("on")
            if name in {"src", "href", "xlink:href", "action", "srcset", "poster"}:
                assert value.startswith(("#", "data:text/csv;", "data:image/png;"))
            assert name != "style"  # which the policy forbids
    *data, script = page.root.all("script")
    assert [e.attributes for e in data] in ([], [{"type": "application/json", "id": "explorer-data"}])
    assert script.attributes == {"type": "module"}
    (style,) = page.root.all("style")
    assert "url(" not in style.text
    assert "@import" not in style.text
    assert not re.search(r"https?:(?!//www\.w3\.org/)|\beval\b|innerHTML|\bfetch\b|import[ (]", script.children[0])
    (policy,) = (e for e in page.root.all("meta") if e.attributes.get("http-equiv") == "Content-Security-Policy")
    rules = dict(rule.split(maxsplit=1) for rule in policy.attributes["content"].split("; "))
    assert rules == {
        "default-src": "'none'",
        "script-src": sha256(script),
        "style-src": sha256(style),
        "img-src": "data: blob:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def test_ids_are_unique_and_every_reference_has_its_target(page):
    ids = [element.attributes["id"] for element in page.elements if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    for element in page.elements:
        for name, value in element.attributes.items():
            targets = (
                [value[1:]] if name == "href" and value.startswith("#") else re.findall(r"url\(#(.*?)\)", value or "")
            )
            assert set(targets) <= set(ids)


def test_every_figure_and_table_is_accessible(page):
    (html,) = page.root.all("html")
    assert html.attributes["lang"] == "en"
    assert len(list(page.root.all("h1"))) == 1
    for svg in page.root.all("svg"):
        if svg.attributes.get("class") in {"swatch", "axis"}:
            assert svg.attributes["aria-hidden"] == "true"
        else:
            assert svg.attributes["role"] == "img"
            assert len(svg.attributes["aria-label"]) > 20
    for table in page.root.all("table"):
        assert len(list(table.all("caption"))) == 1
        for row in table.all("tr"):
            head = next(child for child in row.children if not isinstance(child, str))
            assert head.attributes.get("scope") in {"col", "row"} or row.attributes.get("class") == "gap"
    assert len(list(page.root.all("figure"))) == len(list(page.root.all("figcaption"))) > 2


def test_links_of_contents_lead_to_the_sections(page):
    (contents,) = page.root.all("nav")
    targets = [link.attributes["href"][1:] for link in contents.all("a")]
    assert targets == [section.attributes["id"] for section in page.root.all("section")]


def test_hostile_names_are_text(hostile_page):
    shown = hostile_page.root.text
    for name in [*HOSTILE[:5], "�right to left"]:
        assert name in shown
    assert "49" not in hostile_page.section("figures").text  # 7 * 7
    assert "two lines��[31m" in shown
    assert "名前" in shown
    title, *of_points = hostile_page.root.all("title")
    assert title.text == HOSTILE[0]
    assert HOSTILE[0][:20] in {point.text[:20] for point in of_points}
    drawn = {text.text for svg in hostile_page.root.all("svg") for text in svg.all("text")}
    assert HOSTILE[0][:20] in {name[:20] for name in drawn}
    assert r"$x^{$ \frac" in drawn


def test_every_cluster_has_its_number_its_size_and_how_many_made_it(sorts, sorts_page):
    (model, groupings), page = sorts[:2], sorts_page
    head, *rows = page.table("clusters")
    assert [row[1] for row in rows] == [str(code) for code in range(model.n_clusters_)]  # their numbers in files
    makers = count_makers(groupings, model.labels_, model.n_clusters_)
    for cluster, row in enumerate(rows):
        assert row[2] == str((model.labels_ == cluster).sum())
        made = [row[head.index(f"{how} by")] for how in ("Much the same made", "Exactly made", "All in one group")]
        assert made == [str(n) for n in makers.loc[cluster, ["roughly", "exactly", "whole"]]]
    file = page.file("clusters.csv")
    assert file["item"].tolist() == model.items_.tolist()
    assert file["cluster"].tolist() == model.labels_.tolist()
    np.testing.assert_allclose(file["model_probability"], model.responsibilities_.max(1), atol=5e-5)


def test_names_that_annotators_share_describe_the_clusters(sorts_page):
    head, *rows = sorts_page.table("clusters")
    called = [row[head.index("Annotators who call it so")].lower() for row in rows]
    assert {"bird (2)", "fish (2)"} <= set(called)  # Ann's and Bo's; Cy's "flies" is used by one


@pytest.mark.slow
def test_confidence(iris, iris_page):
    model, page = iris[0][-1], iris_page[0]
    best = model.responsibilities_.max(1)
    sure = (best >= 0.9).sum()
    (findings,) = (e for e in page.root.all("ul") if e.attributes.get("class") == "findings")
    assert f"({sure} of 150) belong to their cluster with a probability of at least 0.9" in findings.text
    counts = [int(row[1]) for row in page.table("certainty")[1:]]
    expected = [
        (best >= 0.99).sum(),
        *(((low <= best) & (best < high)).sum() for low, high in [(0.9, 0.99), (0.7, 0.9), (0.5, 0.7), (0, 0.5)]),
    ]
    assert counts == expected
    worst = page.table("uncertain")[1:]
    assert [row[0] for row in worst] == model.items_[np.argsort(best, kind="stable")[: len(worst)]].tolist()
    unsure = (best < 0.995).sum()
    assert len(worst) == min(unsure, 15)
    block = page.section("figures").text
    assert (f"{unsure - 15} more below a probability of 0.995" in block) == (unsure > 15)


def test_the_data_section(iris, iris_page):
    groupings, table = iris[2], dict(iris_page[0].table("given"))
    assert table["Items"] == "150"
    assert table["Annotators"] == "6"
    assert table["Items without annotations"] == str(groupings.summary().n_unannotated_items)
    assert table["Labels (an item in a group)"] == str(groupings.n_rows)
    assert table["Features"] == "2"


def test_profiles_are_means_and_deviations_the_largest_share_first(iris, iris_page):
    pipeline, X, groupings = iris
    head, *rows = iris_page[0].table("features")
    profile = pipeline[-1].cluster_profile(X)
    share = {}
    for name, explained, *cells in rows:
        means = [cell.split(" ")[0] for cell in cells]
        np.testing.assert_allclose([float(mean) for mean in means], profile[name, "mean"], atol=0.051)
        deviations = [cell.split("(")[1].rstrip(")") for cell in cells]
        np.testing.assert_allclose([float(sd) for sd in deviations], profile[name, "sd"], atol=0.051)
        residual = X[name] - X[name].groupby(pipeline[-1].labels_).transform("mean")
        share[name] = 1 - residual.var() / X[name].var()
        assert float(explained) == pytest.approx(share[name], abs=0.0051)
    assert [row[0] for row in rows] == sorted(share, key=share.get, reverse=True)
    assert head[2:] == FoundClusters.of(pipeline[-1], groupings).shown


def test_association_names_the_score_that_differs(iris, iris_page):
    labels, (page, scores) = iris[0][-1].labels_, iris_page
    head, first, second = page.table("association")
    assert (first[0], second[0]) == ("like", "noise")
    assert (first[-1], second[-1]) == ("yes", "no")
    assert first[head.index("Items")] == "149"
    statistic, p_value = kruskal(*(scores["noise"][labels == cluster] for cluster in np.unique(labels)))
    assert float(second[head.index("p")]) == pytest.approx(p_value, rel=0.01)
    assert float(second[head.index("Kruskal-Wallis H")]) == pytest.approx(statistic, rel=0.01)
    assert "Left out because they are not numeric: text." in page.section("association").text


def test_one_distinction_is_shown_once_with_its_namings(sorts, sorts_page):
    model, page = sorts[0], sorts_page
    found = model.annotator_groups()
    shared = [key for key in page.tables() if key.startswith("distinction-")]
    assert len(shared) == (found.groupby("distinction")["n_groupings"].sum() > 1).sum() >= 2
    by_clusters = {}
    for key in shared:
        head, *rows = page.table(key)
        by_clusters[tuple(re.sub(r"Clusters?.", "", part) for part in head[1:])] = {row[0]: row[1:] for row in rows}
    robin = model.labels_[model.items_.get_loc("robin")]
    others = [cluster for cluster in range(model.n_clusters_) if cluster != robin]
    (cy_and_di,) = (rows for rows in by_clusters.values() if "Cy" in rows)
    assert sorted(cy_and_di) == ["Cy", "Di"]
    assert sorted(cy_and_di["Cy"]) == ["does not", "flies"]
    (parts,) = (parts for parts, rows in by_clusters.items() if "Cy" in rows)
    assert sorted(parts) == sorted([str(robin), ", ".join(map(str, others))])
    column = parts.index(str(robin))
    assert (cy_and_di["Cy"][column], cy_and_di["Di"][column]) == ("flies", "no")


def test_groups_that_no_cluster_matches_are_listed(sorts, sorts_page):
    model, _ = sorts
    unmatched = model.annotator_mapping_[model.annotator_mapping_["clusters"].map(len) == 0]
    assert unmatched["group"].tolist() == ["pets"]
    assert sorts_page.table("unmatched")[1:] == [["Ed", "pets", "1"]]


def test_guesses_are_marked():
    # the last annotator did not label the third kind of item, which the others separate
    cells = [["p", "p", "p", "x"]] * 8 + [["q", "q", "q", "y"]] * 8 + [["r", "r", "r", None]] * 8
    model = PartitionLabelModel(max_clusters=6, prior_variance=1.0, n_init=3, random_state=0).fit(None, cells)
    assert model.n_clusters_ == 3
    assert report(model, cells).count("(?)") == 1


def test_every_annotator_is_in_the_table_the_least_predicted_last(iris, iris_page):
    frame, page = iris[0][-1].annotators_, iris_page[0]
    head, *rows = page.table("annotators")
    assert sorted(row[0] for row in rows) == sorted(frame.index)
    shares = [[int(row[head.index(name)].rstrip("%")) / 100 for row in rows] for name in ("Predicted", "By guessing")]
    accuracy, by_guessing = np.array(shares)
    assert (np.diff((accuracy - by_guessing) / (1 - by_guessing)) < 0.03).all()  # figures are rounded
    for row in rows:
        assert float(row[head.index("Predicted")].rstrip("%")) == pytest.approx(
            100 * frame.loc[row[0], "accuracy"], abs=0.51
        )
        assert int(row[head.index("Labels")]) == frame.loc[row[0], "n_labels"]
    agreement = annotator_agreement(iris[2])
    mean = (agreement.sum() - 1) / 5
    shown = {row[0]: float(row[head.index("Agreement with others")].replace("−", "-")) for row in rows}
    np.testing.assert_allclose([shown[name] for name in mean.index], mean, atol=0.0051)


def test_annotators_without_information_are_remarked_on(read):
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 15)
    mostly = np.zeros(30)
    mostly[[3, 20]] = 1
    cells = np.column_stack([truth, truth, truth, np.zeros(30), rng.permutation(truth), mostly, np.full(30, -1)])
    groupings = Groupings.from_matrix(
        cells.astype(int), missing=-1, annotators=["good", "too", "three", "one", "luck", "lazy", "none"]
    )
    model = PartitionLabelModel(max_clusters=2, prior_variance=1.0, n_init=2, random_state=0).fit(None, groupings)
    assert len(np.unique(model.labels_[:15])) == len(np.unique(model.labels_[15:])) == 1
    rows = read(report(model, groupings)).table("annotators")[1:]
    remarks = {row[0]: row[-1] for row in rows}
    assert remarks == {
        "good": "",
        "too": "",
        "three": "",
        "one": "one group only",
        "luck": "sorts unlike most others, as if at random",
        "lazy": "no better than guessing",
        "none": "no labels",
    }
    assert rows[-1][0] == "none"


@pytest.mark.slow
def test_long_tables_are_cut_and_say_so(crowd, crowd_page):
    model, _ = crowd
    rows = crowd_page.table("annotators")
    assert len(rows) == 1 + 100 + 1
    assert rows[51] == ["20 more annotators between these"]
    file = crowd_page.file("annotators.csv")
    assert sorted(file["annotator"]) == sorted(model.annotators_.index)
    above = (file["accuracy"] - file["by_guessing"]) / (1 - file["by_guessing"])
    assert (np.diff(above.dropna()) < 1e-3).all()
    mapping = crowd_page.file("mapping.csv")
    assert len(mapping) == len(model.annotator_mapping_)
    agreement = crowd_page.file("agreement.csv")
    assert sorted(agreement["annotator"]) == sorted(model.annotators_.index)
    assert agreement["annotator"].tolist() == agreement.columns[1:].tolist()
    distinctions = [key for key in crowd_page.tables() if key.startswith("distinction-")]
    n_distinctions = model.annotator_groups()["distinction"].nunique()
    others = crowd_page.table("other-distinctions")[1:] if "other-distinctions" in crowd_page.tables() else []
    assert len(distinctions) <= 10
    left = n_distinctions - len(distinctions) - len(others)
    assert ("more distinction" in crowd_page.section("meaning").text) == (left > 0)


@pytest.mark.slow
def test_many_features_are_capped_by_how_much_they_differ(read):
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 20)
    X = pd.DataFrame(rng.normal(size=(40, 500)), columns=[f"f{i}" for i in range(500)])
    X["f321"] += 20 * truth
    cells = np.column_stack([truth, truth])
    model = PartitionLabelModel(max_clusters=6, prior_variance=0.01, n_init=1, random_state=0).fit(X, cells)
    page = read(report(model, cells, X=X))
    rows = page.table("features")[1:]
    assert len(rows) == 20
    assert rows[0][0] == "f321"
    assert "480 more that differ less between the clusters" in page.section("profiles").text
    assert sorted(page.file("features.csv")["feature"]) == sorted(X.columns)


def test_values_of_a_lone_item_do_not_lead_the_profile(read, known):
    X = np.zeros((201, 2))
    X[:, 0] = np.repeat([0.0, 1.0, 0.5], [100, 100, 1]) + np.linspace(0, 0.3, 201)
    X[200, 1] = 1
    cells = np.repeat(["p", "q", "r"], [100, 100, 1])
    page = read(report(known(cells).fit(None, cells), cells, X=X))
    assert [row[0] for row in page.table("features")[1:]] == ["feature 0", "feature 1"]


def test_bound_and_settings(iris, iris_page):
    pipeline, page = iris[0], iris_page[0]
    assert "The best of 2 restarts was kept." in page.section("fit").text
    assert not [e for e in page.elements if e.attributes.get("id") == "variance-figure"]  # σ² was given
    settings = dict(page.table("parameters"))
    assert settings["random_state"] == "0"
    assert settings["previous step: standardscaler"] == "StandardScaler()"
    assert set(pipeline[-1].get_params()) <= set(settings)
    assert dict(page.table("versions"))["consilience"] == consilience.__version__
    assert dict(page.table("reached"))["n_iter_"] == str(pipeline[-1].n_iter_)


def test_prior_variance_is_drawn_where_it_was_searched(sorts_page):
    assert [e for e in sorts_page.elements if e.attributes.get("id") == "variance-figure"]
    assert sorts_page.section("profiles") is None
    assert sorts_page.section("association") is None


def test_only_some_of_many_annotators_are_drawn(crowd, monkeypatch):
    monkeypatch.setattr(sections, "MOST_DRAWN", 70)
    figure = sections._agreement(Subject.of(findings(*crowd, certainty=None)))
    assert "Only the 70 of 120 annotators with the most items are drawn." in figure.caption
    content = base64.b64decode(figure.download.address.partition("base64,")[2])
    file = pd.read_csv(io.BytesIO(content)).set_index("annotator")
    n_items = crowd[1].summary().items_per_annotator
    assert len(file) == 70
    assert n_items[file.index].min() >= n_items.drop(file.index).max()
    whole = annotator_agreement(crowd[1])
    np.testing.assert_allclose(file, whole.loc[file.index, file.index], atol=5e-4)


def test_names_that_collide_with_those_of_columns(read):
    table = pd.DataFrame({"annotator": ["p", "p", "q", "q"], "accuracy": ["x", "x", "y", "y"], "item": ["u", "v"] * 2})
    cells = Groupings.from_matrix(table)
    model = PartitionLabelModel(prior_variance=1.0, n_init=1, random_state=0).fit(None, cells)
    scores = pd.DataFrame([[1.0, 2.0, 3.0]] * 4, columns=["a b", "a\nb", "item"])
    page = read(report(model, cells, scores=scores))
    assert sorted(page.file("annotators.csv")["annotator"]) == ["accuracy", "annotator", "item"]
    assert sorted(row[0] for row in page.table("scores")[1:]) == ["a b", "a b", "item"]


def test_features_without_a_number(sorts, read):
    model, groupings = sorts
    X = pd.DataFrame({"kind": "animal", "home": "zoo"}, index=groupings.items)
    page = read(report(model, groupings, X=X, scores=X))
    assert len(page.table("features")) == len(page.table("association")) == 1
    assert "Left out because they are not numeric: kind, home." in page.section("profiles").text


def test_a_missing_seed_is_reported():
    cells = [["p"], ["p"], ["q"], ["q"]]
    model = PartitionLabelModel(prior_variance=1.0, n_init=1).fit(None, cells)
    assert "No random_state was set" in report(model, cells)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_that_did_not_converge_is_reported(sorts):
    _, groupings = sorts
    model = PartitionLabelModel(max_clusters=6, prior_variance=1.0, n_init=1, max_iter=1, random_state=0).fit(
        None, groupings
    )
    assert f"The fit did not converge in {model.n_iter_} sweeps: raise max_iter." in report(model, groupings)


def test_one_cluster_and_one_annotator(read):
    rng = np.random.default_rng(0)
    cells = rng.integers(2, size=30)
    X = rng.normal(size=(30, 2))
    model = PartitionLabelModel(max_clusters=1, prior_variance=1.0, n_init=1, random_state=0).fit(X, cells)
    page = read(report(model, cells, X=X, scores=X[:, 0]))
    assert [row[0] for row in page.table("clusters")[1:]] == ["0"]
    (h1,) = page.root.all("h1")
    assert h1.text == "1 cluster of 30 items by 1 annotator"
    assert page.table("association")[1][2:5] == ["–", "–", "–"]


def test_page_is_written_and_deterministic(sorts, sorts_drawn, tmp_path):
    assert draw(*sorts, path=str(tmp_path / "r.html")) == tmp_path / "r.html"
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == sorts_drawn


@pytest.mark.slow
def test_arrays_frames_and_labels_are_equivalent(iris, read):
    _, X, groupings = iris
    cells = groupings.to_matrix()
    model = PartitionLabelModel(max_clusters=6, prior_variance=1.0, n_init=1, random_state=0)
    named = report(model.fit(X, cells), cells, X=X)
    assert report(model, groupings, X=X.sample(frac=1, random_state=0)) == named
    assert report(model, Labels.from_matrix(cells), X=X) == named
    assert report(model, groupings, X=X.to_numpy()) == named
    with pytest.raises(InputError, match="no index to name its rows"):
        report(model, groupings, X=pl.from_pandas(X))


def test_array_without_names(read):
    rng = np.random.default_rng(0)
    cells, X = np.repeat([[0, 1], [1, 0]], 10, axis=0), rng.normal(size=(20, 3))
    model = make_pipeline(
        StandardScaler(), PartitionLabelModel(max_clusters=6, prior_variance=1.0, n_init=1, random_state=0)
    )
    page = read(report(model.fit(X, cells), cells, X=X, scores=rng.normal(size=20)))
    assert sorted(row[0] for row in page.table("features")[1:]) == ["feature 0", "feature 1", "feature 2"]
    assert [row[0] for row in page.table("scores")[1:]] == ["score 0"]


def test_features_that_cannot_be_drawn_are_still_listed(sorts, read):
    model, groupings = sorts
    X = pd.DataFrame({"weight": [1.0] * 8 + [np.nan], "kind": "animal"}, index=groupings.items)
    page = read(report(model, groupings, X=X))
    assert page.table("features")[1][0] == "weight"
    assert "Left out because they are not numeric: kind." in page.section("profiles").text
    (plane,) = (e for e in page.root.all("figure") if e.attributes["id"] == "plane-figure")
    assert "by their annotations" in plane.text


def test_a_model_of_clusters_alone(read, known):
    cells = [["p", "x"], ["p", "y"], ["q", "y"]]
    page = read(report(known(["a", "a", "b"]).fit(None, cells), cells))
    keys = [section.attributes["id"] for section in page.root.all("section")]
    assert keys == ["clusters", "evidence", "annotators", "figures", "pairs", "given", "cuts", "settings"]
    assert page.table("clusters")[1:] == [["0", "2", "1", "1", "1", "50%"], ["1", "1", "1", "1", "–", "–"]]


@pytest.mark.parametrize(
    ("annotators", "message"),
    [
        (["Ann", "Bo", "Cy", "Di", "Flo"], "'Flo' is not in the fit"),
        (["Ann", "Bo", "Cy", "Di"], "'Ed' is not in the annotations"),
    ],
)
def test_other_annotators_are_refused(sorts, annotators, message):
    model, groupings = sorts
    others = Groupings.from_matrix(groupings.to_matrix().iloc[:, : len(annotators)].set_axis(annotators, axis=1))
    with pytest.raises(InputError, match=message):
        report(model, others)


def test_missing_annotations_are_requested(sorts, named, iris):
    for model in (sorts[0], named[0], iris[0]):
        with pytest.raises(InputError, match=r"does not keep its annotations. Give them too: report\(model, gr"):
            report(model)


@pytest.mark.slow
def test_a_fusion_keeps_the_annotations_of_its_report(fusion):
    assert report(fusion[0], certainty=None) == report(*fusion, certainty=None)


def test_other_items_are_refused(sorts):
    model, groupings = sorts
    with pytest.raises(InputError, match="shark"):
        report(model, Groupings.from_matrix(groupings.to_matrix().rename({"cod": "shark"})))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"X": np.zeros((8, 2))}, "X has 8 rows. Expected one for each of 9 items"),
        ({"scores": np.zeros(8)}, "The table of scores has 8 rows"),
        ({"scores": pd.DataFrame({"a": [1]}, index=["cod"])}, "no row for item 'robin', one of 8"),
    ],
)
def test_tables_that_do_not_fit_are_refused(sorts, given, message):
    with pytest.raises(InputError, match=message):
        report(*sorts, **given)


def test_a_notebook_renders_the_page():
    sorts = [["p", "x"], ["p", "x"], ["q", "y"], ["q", "y"]]
    model = PartitionLabelModel(prior_variance=1.0, n_init=1, random_state=0).fit(None, sorts)
    page = report(model, sorts)
    shown = page._repr_html_()
    assert shown.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
    assert html.unescape(shown.split('srcdoc="')[1].split('" width')[0]) == page


def test_a_path_instead_of_features():
    with pytest.raises(InputError, match=r"third argument of report is X.*'page\.html'; give a file as path="):
        report(PartitionLabelModel(), None, "page.html")
