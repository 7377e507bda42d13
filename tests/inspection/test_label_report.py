"""The report of a model of labels alone: classes by name instead of numbered clusters, and annotators' errors."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import entr

from consilience import Groupings, Labels, analysis, load, save
from consilience.analysis.fitted import own_annotations
from consilience.annotations import concat
from consilience.consensus import DawidSkene, MajorityVote, OrdinalRatings, ProductMixture, TagConsensus
from consilience.errors import InputError
from consilience.inspection import report
from consilience.inspection.report.tables import percent
from consilience.metrics import krippendorff_alpha
from consilience.simulation import simulate_ratings
from tests.inspection.test_first_screen import lists

pytestmark = pytest.mark.filterwarnings("ignore::consilience.errors.UnannotatedWarning")  # of the last two items
CLASSES = ["owl", "cat", "dog", "yak"]


@pytest.fixture
def page(named_page):
    return named_page  # with certainty: test_certainty_report.py


def findings(page):
    return next(e for e in page.root.all("ul") if e.attributes.get("class") == "findings").text


def test_sections_and_title(page):
    keys = [section.attributes["id"] for section in page.root.all("section")]
    assert keys == ["clusters", "votes", "annotators", "figures", "placements", "given", "fit", "settings"]
    (h1,) = page.root.all("h1")
    assert h1.text == "42 items in 4 classes by 6 annotators"
    assert "cluster" not in page.root.text.replace("n_clusters_", "").split("main {")[-1]
    figures = [figure.attributes["id"] for figure in page.root.all("figure")]
    assert figures == [f"{key}-figure" for key in ("plane", "accuracy", "confusion", "agreement", "bound")]


def test_what_was_given(page, animals):
    table = dict(page.table("given"))
    assert table["Labels"] == str(animals.n_rows)
    assert table["4 classes"] == "owl, cat, dog, yak"
    assert table["Items without labels"] == "2"


def test_classes_by_name_also_the_one_without_items(page, named):
    model, _ = named
    head, *rows = page.table("clusters")
    assert [row[0] for row in rows] == CLASSES
    sizes = [(model.labels_ == name).sum() for name in CLASSES]
    assert [int(row[head.index("Size")]) for row in rows] == sizes
    assert rows[3][1:] == ["0", "–", "0%", "–", "–"]
    surest = model.items_[np.argsort(-model.responsibilities_[:, 1], kind="stable")][: sizes[1]]
    assert set(rows[1][head.index("Items, most certain first")].split(", ")) == set(surest)
    each = ", ".join(f"{name} ({size})" for name, size in zip(CLASSES[:3], sizes[:3]))
    assert f"Items by class: {each} and yak (0). 2 items have no labels and no class." in findings(page)
    file = page.file("labels.csv")
    assert file.columns.tolist() == ["item", "label", "probability", "next_label", "next_probability", "n_annotators"]
    assert file["label"].fillna("none").tolist() == [*model.labels_[:40], "none", "none"]
    second = np.argsort(-model.responsibilities_, axis=1, kind="stable")[:, 1]
    assert file["next_label"].fillna("none").tolist() == [*model.classes_[second[:40]], "none", "none"]


def test_least_certain_items_with_their_labels(animals, read):
    labels, model = animals, MajorityVote().fit(animals)
    head, *rows = read(report(model, labels, certainty=None)).table("uncertain")
    order = np.argsort(model.responsibilities_[:40].max(1), kind="stable")  # the others have no class
    assert [row[0] for row in rows] == model.items_[order[: len(rows)]].tolist()
    assert [row[1] for row in rows] == model.labels_[order[: len(rows)]].tolist()
    annotations = labels.to_matrix()
    for row in rows:
        counts = annotations.loc[row[0]].dropna().value_counts()
        shown = row[head.index("Labels given")]
        if counts.empty:
            assert shown == "none"
        else:
            assert {part.rsplit(" ", 1)[0]: int(part.rsplit(" ", 1)[1]) for part in shown.split(", ")} == dict(counts)


def test_annotators_the_weakest_last(page, named):
    model, _ = named
    head, *rows = page.table("annotators")
    quality = model.annotators_
    assert [row[0] for row in rows] == quality.sort_values("accuracy", ascending=False).index.tolist()
    for row in rows:
        mine = quality.loc[row[0]]
        assert int(row[head.index("Labels")]) == mine["n_labels"]
        assert float(row[head.index("Accuracy")].rstrip("%")) == pytest.approx(100 * mine["accuracy"], abs=0.51)
        ends = [percent(mine[name]) for name in ("accuracy_low", "accuracy_high")]
        interval = "" if row[0] == "Di" else " to ".join(ends)  # whose labels are all the same
        assert row[head.index("Accuracy, 90% interval")] == interval
        assert float(row[head.index("Information (bits)")]) == pytest.approx(mine["information"], abs=0.0051)
    remarks = {row[0]: row[head.index("Remark")] for row in rows}
    assert (remarks["Al"], remarks["Bea"], remarks["Cy"], remarks["Flo"]) == ("", "", "", "")
    assert remarks["Di"] == "always the same label"
    assert remarks["Ed"] in {"no better than guessing", "almost uninformative"}
    entropy = entr(model.responsibilities_.mean(0)).sum() / np.log(2)
    assert f"always right would tell {entropy:.2f}" in page.section("annotators").text


def test_most_frequent_error_is_counted_in_the_labels(page, named):
    model, labels = named
    head, *rows = page.table("annotators")
    errors = {row[0]: row[head.index("Most frequent error (labels)")] for row in rows}
    matrix = labels.to_matrix()
    tops = model.classes_[model.responsibilities_.argmax(1)]
    assert errors["Cy"] == f"dog for owl ({((matrix['Cy'] == 'dog') & (tops == 'owl')).sum()})"
    others = pd.Series(tops)[(matrix["Di"] == "cat").to_numpy()].value_counts().drop("cat")
    assert errors["Di"] == f"cat for {others.idxmax()} ({others.max()})"
    assert errors["Flo"] == "–"


def test_confusion_matrices_are_in_a_file(page, named):
    model, _ = named
    file = page.file("confusion.csv").set_index(["annotator", "class"])
    assert "as the model estimates them, drawn towards the average where labels are few." in page.root.text
    assert file.columns.tolist() == CLASSES
    np.testing.assert_allclose(file, model.confusion_matrices_, atol=5e-5)
    assert len(file) == 24


def test_findings_name_the_least_accurate(page, named):
    model, labels = named
    quality = model.annotators_
    share = np.average(quality["agreement"], weights=quality["n_labels"])
    assert f"About {share:.0%} of the {labels.n_rows} labels name the item's class" in findings(page)
    assert f"the least accurate annotators are {quality['accuracy'].idxmin()} (" in findings(page)
    sure = (model.responsibilities_[:40].max(1) >= 0.9).sum()
    assert f"({sure} of 42) belong to their class with a probability of at least 0.9" in findings(page)


def test_agreement_beyond_chance_is_told_of_labels(page, named):
    model, labels = named
    alpha = krippendorff_alpha(labels, n_draws=200)
    told = f"Krippendorff's alpha {alpha.value:.2f} ({alpha.low:.2f} to {alpha.high:.2f})"
    assert told in page.section("annotators").text
    found = analysis.findings(model, labels)
    assert told in str(found)
    assert found.facts["reliability"].keys() == {"krippendorff_alpha", "fleiss_kappa", "cohen_kappa"}
    assert found.facts["reliability"]["krippendorff_alpha"]["value"] == alpha.value


def test_votes_are_not_probabilities(animals, read):
    vote = MajorityVote().fit(animals)
    page = read(report(vote, animals, certainty=None))
    assert f"No class leads for {vote.n_ties_} items" in findings(page)
    assert "probability of its class" not in page.section("figures").text.lower()
    assert page.table("certainty")[0][0] == "Share of votes of its class"
    assert page.table("uncertain")[0][2:4] == ["Labels given", "Share of votes"]
    assert page.section("fit") is None
    assert dict(page.table("parameters"))["copies"] == "'auto'"  # it has no other


def test_components_without_names_of_labels(animals, read):
    model = ProductMixture(n_clusters=3, n_init=2, random_state=0).fit(animals)
    page = read(report(model, animals))
    assert [row[0] for row in page.table("clusters")[1:]] == ["0", "1", "2"]
    head, *rows = page.table("annotators")
    assert head == ["Annotator", "Labels", "Information (bits)", "Remark"]
    bits = [float(row[2]) for row in rows]
    assert bits == sorted(bits, reverse=True)
    assert "no label is right or wrong" in findings(page)


def test_features_and_scores_of_a_model_that_uses_none(named, read):
    model, labels = named
    size = pd.Series(model._cluster_codes(), index=labels.items) + np.linspace(0, 0.1, 42)
    X = pd.DataFrame({"size": size, "noise": np.random.default_rng(0).normal(size=42)})
    page = read(report(model, labels, X=X.sample(frac=1, random_state=0), scores=X[["size"]]))
    head, first, second = page.table("features")
    assert head[2:] == CLASSES
    assert (first[0], second[0]) == ("size", "noise")
    assert first[5] == "–"  # nothing is a yak
    means = [float(cell.split(" ")[0]) for cell in first[2:5]]
    np.testing.assert_allclose(means, [X["size"][model.labels_ == name].mean() for name in CLASSES[:3]], atol=0.051)
    assert page.table("association")[1][-1] == "yes"
    assert dict(page.table("given"))["Features (not used by the model)"] == "2"
    file = page.file("features.csv").set_index("feature")
    assert file.loc["noise", "mean_owl"] == pytest.approx(X["noise"][model.labels_ == "owl"].mean())


def test_labels_in_any_form_are_equivalent(named):
    model, labels = named
    matrix = labels.to_matrix()
    shuffled = labels[np.random.default_rng(0).permutation(42)]
    for given in (matrix, shuffled, labels.to_frame()):  # the long table lacks the items that nobody labelled
        found = own_annotations(model, given)
        assert found == labels
        assert found.classes.tolist() == CLASSES  # including the class without labels
        assert found.items.equals(model.items_)
    array = matrix.to_numpy()
    assert own_annotations(DawidSkene().fit(array), array) == Labels.from_matrix(array)


def test_annotators_of_the_history_are_listed_even_without_labels(named, animals, read):
    model, _ = named
    others = animals.restrict(annotators=["Al", "Bea", "Cy"])
    again = DawidSkene().fit(others, history=model.confusion_counts_)
    page = read(report(again, others))
    head, *rows = page.table("annotators")
    remarks = {row[0]: row[head.index("Remark")] for row in rows}
    assert set(remarks) == set(model.annotators_.index)
    assert {name for name, remark in remarks.items() if remark == "no labels here"} == {"Di", "Ed", "Flo"}


@pytest.mark.slow
def test_many_classes_and_annotators(read):
    rng = np.random.default_rng(0)
    cells = np.where(rng.random((300, 130)) < 0.1, rng.integers(20, size=(300, 130)), np.arange(300)[:, None] % 20)
    cells = np.where(rng.random(cells.shape) < 0.1, cells, -1)
    labels = Labels.from_matrix(cells, missing=-1)
    page = read(report(DawidSkene().fit(labels), labels))
    assert len(page.table("annotators")) == 1 + 100 + 1
    assert len(page.file("annotators.csv")) == 130
    assert "20 classes of 15 to 15 items." in findings(page)
    assert "the 5 of 130 annotators with the most labels" in page.section("annotators").text


def test_hostile_class_names_are_text(read):
    names = ["<script>alert(1)</script>", "$x^{$", "two\nlines\x00", "annotator", "class"]
    cells = np.array(names, dtype=object)[np.arange(30)[:, None] % 5].repeat(3, axis=1)
    page = read(report(DawidSkene().fit(cells), cells))
    assert [e.attributes for e in page.elements if e.tag == "script"] == [{"type": "module"}]  # our own
    assert sorted(row[0] for row in page.table("clusters")[1:]) == sorted(
        ["<script>alert(1)</script>", "$x^{$", "two lines�", "annotator", "class"]
    )
    assert page.file("confusion.csv").columns[:2].tolist() == ["annotator_", "class_"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (Groupings.from_matrix([["a"]]), r"DawidSkene reads Labels.* Got Groupings"),
        (pd.DataFrame({"item": ["item 0"], "annotator": ["Zoe"], "label": ["cat"]}), "'Zoe' is not in the fit"),
        (pd.DataFrame({"item": ["item 0"], "annotator": ["Al"], "label": ["cat"]}), "'Bea' is not in the annotations"),
        (
            pd.DataFrame({"item": ["item 0"], "annotator": ["Al"], "label": ["bat"]}),
            "The label 'bat' is not in the fit",
        ),
    ],
)
def test_other_annotations_are_refused(named, given, message):
    with pytest.raises(InputError, match=message):
        report(named[0], given)


def test_profiles_and_tests_of_the_estimator_go_by_class(named):
    model, labels = named
    X = pd.DataFrame({"size": model._cluster_codes() * 10.0}, index=labels.items)
    profile = model.cluster_profile(X)
    assert profile.index.tolist() == CLASSES[:3]
    assert profile["size", "mean"].tolist() == [0.0, 10.0, 20.0]
    assert profile["items", ""].tolist() == [(model.labels_ == name).sum() for name in CLASSES[:3]]
    assert model.association(X).loc["size", "p_value"] < 1e-6


def test_repeated_labels_of_an_item_by_one_annotator_are_counted(animals, read):
    place = {name: getattr(animals, name)[:1] for name in ("item", "annotator")}
    other = (animals.label[:1] + 1) % 4
    annotations = concat([animals, replace(animals, **place, label=other)])
    given = dict(read(report(MajorityVote().fit(annotations), annotations)).table("given"))
    assert given["Labels"] == str(animals.n_rows + 1)
    assert given["Repeated labels of an item by the same annotator, all counted"] == "1"
    counts = np.bincount(annotations.annotator)
    assert given["Labels per annotator"] == f"{counts.min()} to {counts.max()}, mean {counts.mean():.1f}"


def test_ratings_have_values_and_raters_in_the_report():
    ratings = simulate_ratings(np.linspace(1, 5, 40), n_annotators=5, random_state=0)
    page = str(report(OrdinalRatings().fit(ratings), ratings))
    for text in ("Values of the items", "values.csv", "raters.csv", "of levels with an order"):
        assert text in page, text
    page = str(report(OrdinalRatings(annotator_model="equal").fit(ratings), ratings))
    assert "The values are means of the labels, with the same spread for all raters" in page
    assert "raters.csv" not in page


@pytest.mark.parametrize("said", [[[3, 3], [3, 3], [3, 3]], [[1, 2]]], ids=["one level", "one item"])
def test_a_report_of_one_level_or_one_item(said):
    labels = Labels.from_matrix(said, annotators=["Ann", "Bo"])
    assert "Values of the items" in str(report(OrdinalRatings().fit(labels), labels))


def test_who_labels_at_random_is_told_by_name(read):
    """Of nine people of nine labels in ten right and one who draws labels, the latter is odd, and nobody else is."""
    rng = np.random.default_rng(0)
    truth = rng.integers(4, size=60)
    said = np.where(rng.random((60, 10)) < 0.1, rng.integers(4, size=(60, 10)), truth[:, None])
    said[:, 3] = rng.integers(4, size=60)
    labels = Labels.from_matrix(np.array(list("abcd"))[said], annotators=[f"P{p}" for p in range(10)])
    shown = read(report(DawidSkene().fit(labels), labels, certainty=None, words="cards,participants"))
    assert (
        "1 of 10 participants stands out: P3 (no closer to the classes than chance)."
        in shown.section("annotators").text
    )
    without = labels.leave_out(["P3"])
    shown = read(report(DawidSkene().fit(without), without, certainty=None, words="cards,participants"))
    assert "Nobody stands out, so no participant needs leaving out." in shown.section("annotators").text


@pytest.mark.filterwarnings("ignore:DawidSkene. no item has two labels")
@pytest.mark.parametrize("words", ["items,experts", "cards,participants"])
def test_nobody_is_said_to_be_right_so_often_where_no_item_has_two_labels(read, words):
    said = [["ab"[n % 2] if bool(n % 3) == is_ann else None for is_ann in (True, False)] for n in range(24)]
    labels = Labels.from_matrix(said, annotators=["Ann", "Bo"])
    shown = read(report(DawidSkene().fit(labels), labels, words=words))
    assert "so that nothing tells how often a label, or the class of" in findings(shown)
    assert "%" not in findings(shown)
    assert [row[0] for row in shown.table("annotators")][1:] == ["Ann", "Bo"]
    assert "%" not in shown.section("annotators").text
    figures = [figure.attributes["id"] for figure in shown.root.all("figure")]
    assert not {"accuracy-figure", "confusion-figure"} & {*figures}


def test_items_of_known_classes_are_marked_and_not_in_doubt(read):
    rows = [(f"text {k}", f"P{p}", "spam" if k % 2 else "ham") for p in range(9) for k in range(40)]
    labels = Labels.from_frame(pd.DataFrame(rows, columns=["item", "annotator", "label"]))
    gold = pd.Series({"text 0": "spam", "text 1": "spam"})  # the first is ham to everybody
    shown = read(report(DawidSkene().fit(labels, gold=gold), labels, certainty=None))
    cells = {row[0]: row[1] for row in shown.table("votes")[1:]}
    assert {name for name, cell in cells.items() if cell.endswith("(known)")} == set(gold.index)
    assert "1 of the 2 classes that were known is not the one most annotators named." in shown.section("votes").text
    about, cards = {name: rest for name, *rest in lists(shown)}["spam"]
    assert about == "21 items, none in doubt"
    assert "text 0" in cards.split(", ")


@pytest.mark.parametrize(
    ("model", "gold"),
    [(DawidSkene(), {"text 1": "spam", "text 2": "ham"}), (TagConsensus(), {"text 1": ["spam"], "text 2": []})],
)
def test_a_saved_model_still_says_which_classes_were_known(model, gold, read, tmp_path):
    rows = [(f"text {k}", f"P{p}", "spam" if k % 2 else "ham") for p in range(5) for k in range(10)]
    labels = Labels.from_frame(pd.DataFrame(rows, columns=["item", "annotator", "label"]))
    save(model.fit(labels, gold=gold), tmp_path / "model.zip")
    table = read(report(load(tmp_path / "model.zip"), labels, certainty=None)).table("given")
    assert ["Items whose class was known (gold)", "2"] in table
