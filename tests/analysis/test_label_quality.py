"""Given labels checked by annotators, and the votes of each item."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from consilience import Labels
from consilience.analysis.label_quality import in_words
from consilience.consensus import DawidSkene, MajorityVote, ProductMixture
from consilience.errors import InputError
from consilience.inference import wrong_labels as core
from consilience.inspection import item_votes, label_quality, report
from consilience.inspection.report.quality_sections import quality_file
from consilience.simulation import simulate_labels

pytestmark = pytest.mark.filterwarnings("ignore::consilience.errors.UnannotatedWarning")
NAMES = np.array(["cat", "dog", "owl"], dtype=object)


@pytest.fixture(scope="module")
def study():
    """Labels of 300 items in three classes by ten annotators, their model, and the truth."""
    rng = np.random.default_rng(3)
    truth = rng.integers(3, size=300)
    labels = simulate_labels(truth, n_annotators=10, annotators_per_item=5, random_state=3)
    labels = Labels.from_frame(
        labels.to_frame().assign(label=lambda frame: NAMES[frame["label"].astype(int)]), items=range(300)
    )
    return DawidSkene().fit(labels), labels, NAMES[truth]


@pytest.fixture(scope="module")
def corrupted(study):
    """Given labels of which some are wrong, and which."""
    rng = np.random.default_rng(5)
    given = study[2].copy()
    wrong = rng.random(300) < 0.1
    given[wrong] = [rng.choice(NAMES[name != NAMES]) for name in given[wrong]]
    return given, wrong


def test_probabilities_are_those_of_the_sum_over_all_parameters(monkeypatch):
    probability = np.array([[0.9, 0.1], [0.3, 0.7], [0.6, 0.4], [1.0, 0.0]])
    given = np.array([0, 1, 1, 1])
    for name, values in {"ERRORS": [0.05, 0.3], "TEMPERATURES": [1.0, 2.0], "SHARED": [0.0, 0.1]}.items():
        monkeypatch.setattr(core, name, np.array(values))
    found = core.wrong_labels(probability, given)
    total, right = 0.0, np.zeros(4)
    for error, temperature, shared in itertools.product(core.ERRORS, core.TEMPERATURES, core.SHARED):
        prior = np.exp(-0.5 * (np.log(temperature) / 0.35) ** 2 - shared / 0.06) * error
        joint, each = prior, []
        for p, label in zip(probability, given, strict=True):
            q = np.maximum(p, 1e-9) ** (1 / temperature)
            q = (1 - shared) * q / q.sum() + shared / 2
            is_right, is_wrong = (1 - error) * q[label], error * q[1 - label]
            joint *= is_right + is_wrong
            each.append(is_right / (is_right + is_wrong))
        total += joint
        right += joint * np.array(each)
    np.testing.assert_allclose(found.right, right / total, rtol=1e-6)
    assert 0 <= found.low <= (1 - found.right).sum() <= found.high <= 4


def test_wrong_labels_are_found_and_counted(study, corrupted):
    model, labels, _ = study
    given, wrong = corrupted
    found = label_quality(model, labels, given)
    assert found.n_checked == 300
    assert found.low <= wrong.sum() <= found.high
    assert abs(found.n_wrong - wrong.sum()) < 15
    first = found.issues.index[: wrong.sum()]
    assert wrong[first].mean() > 0.7
    np.testing.assert_allclose(found.n_wrong, (1 - found.items["probability"]).sum())
    assert found.n_doubtful == (found.items["probability"] < 0.5).sum()
    matrix = labels.to_matrix()
    item = found.issues.index[0]
    assert found.items.loc[item, "votes_for"] == (matrix.loc[item] == given[item]).sum()
    assert found.items.loc[item, "n_votes"] == 5


def test_right_labels_are_not_called_wrong(study):
    model, labels, truth = study
    found = label_quality(model, labels, truth)
    assert found.low == 0
    assert found.n_wrong < 9
    assert found.n_doubtful == 0


def test_order_and_names_do_not_matter(study, corrupted):
    model, labels, _ = study
    given = pd.Series(corrupted[0])
    found = label_quality(model, labels, given)
    shuffled = label_quality(model, labels, given.sample(frac=1, random_state=0))
    pd.testing.assert_frame_equal(found.items, shuffled.items)
    assert (found.low, found.high) == (shuffled.low, shuffled.high)
    as_dict = label_quality(model, labels, dict(given.items()))
    pd.testing.assert_frame_equal(found.items, as_dict.items)


def test_nothing_is_dropped_silently(named):
    model, labels = named  # the last two items have no labels
    given = pd.Series({f"item {i}": "cat" for i in range(42)})
    given["item 0"], given["item 1"], given["item 2"], given["nobody's"] = "moose", None, "  ", "dog"
    found = label_quality(model, labels, given)
    states = found.items["state"]
    assert states["item 0"] == "unknown label"
    assert states[["item 1", "item 2"]].tolist() == ["no given label"] * 2
    assert states[["item 40", "item 41"]].tolist() == ["no annotations"] * 2
    assert (states == "checked").sum() == found.n_checked == 37
    assert found.items["probability"].notna().tolist() == (states == "checked").tolist()
    assert found.issues.index[0] == "item 0"
    assert found.others.tolist() == ["nobody's"]
    assert in_words(found)[-1] == (
        "Not checked: 1 item has a given label that is none of the model's classes, 2 items have a given label, but no "
        "annotations, 2 items have no given label and 1 given label is of an item that the model does not know "
        '("nobody\'s").'
    )
    file = quality_file(found)
    assert sorted(map(str, file.index)) == sorted([*map(str, labels.items), "nobody's"])
    assert file.loc["nobody's", "state"] == "not among the items"


@pytest.mark.parametrize(
    ("given", "what"),
    [
        (["cat"] * 41, "one for each of the 42 items in order. Got an array of shape \\(41,\\)"),
        (pd.Series(["cat", "dog"], index=["item 3", "item 3"]), "two given labels for the item 'item 3'"),
        ({"x": "cat"}, "None of the 1 given label is of an item of the model"),
    ],
)
def test_given_labels_that_cannot_be_used(named, given, what):
    with pytest.raises(InputError, match=what):
        label_quality(*named, given)


def test_models_without_named_classes_are_refused(sorts, animals):
    with pytest.raises(InputError, match="such as DawidSkene"):
        label_quality(*sorts, ["a"] * 9)
    with pytest.raises(InputError, match="not the classes that annotators name"):
        label_quality(ProductMixture(n_clusters=2, random_state=0).fit(animals), animals, ["cat"] * 42)


def test_no_label_that_can_be_checked(named):
    found = label_quality(*named, {"item 3": "moose"})
    assert (found.n_checked, found.n_wrong, found.low, found.high) == (0, 0, 0, 0)
    assert in_words(found)[0] == "No given label could be checked."


def test_counts_of_votes_give_rough_figures(animals):
    found = label_quality(MajorityVote().fit(animals), animals, ["cat"] * 42)
    assert not found.has_probabilities
    assert "rough figures" in in_words(found)[0]


def test_a_wide_range_says_that_nothing_tells_who_errs(study, corrupted):
    found = label_quality(*study[:2], corrupted[0])
    said = "nothing tells whether given labels or annotators err"
    wide, narrow = (replace(found, low=10, high=high) for high in (41, 40))
    assert said in in_words(wide)[0]
    assert said not in in_words(narrow)[0]


def test_votes_of_each_item(named):
    model, labels = named
    table, matrix = item_votes(model, labels), labels.to_matrix()
    assert table.index.tolist() == labels.items.tolist()
    for item in labels.items[:40]:
        counts = matrix.loc[item].value_counts()
        row = table.loc[item]
        assert row["n_votes"] == counts.sum()
        assert all(row[f"votes: {name}"] == counts.get(name, 0) for name in labels.classes)
        assert row["tied"] == ((counts == counts.max()).sum() > 1)
        assert counts[row["majority"]] == counts.max()
        assert row["differs"] == (counts.get(row["label"], 0) < counts.max())
        share = counts / counts.sum()
        assert row["disagreement"] == pytest.approx(-(share * np.log2(share)).sum())
    assert table["label"].iloc[40:].isna().all()
    assert (table["n_votes"].iloc[40:] == 0).all()
    assert not table["differs"].iloc[40:].any()
    columns = [f"probability: {name}" for name in model.classes_]
    np.testing.assert_array_equal(table[columns], model.responsibilities_)
    assert table["differs"].any()  # else this would test little


def test_votes_need_labels(sorts):
    with pytest.raises(InputError, match="finds classes from labels"):
        item_votes(*sorts)


def test_the_page_lists_the_items_in_doubt_first(named, named_page):
    (model, labels), page = named, named_page
    head, *rows = page.table("votes")
    assert len(rows) == 42
    probability = head.index("Probability of the model")
    shares = [float(row[probability]) for row in rows if row[probability] != "–"]
    assert shares == sorted(shares)
    by_item = {row[0]: row for row in rows}
    matrix = labels.to_matrix()
    item = next(name for name in labels.items[:40] if len(matrix.loc[name].dropna().unique()) > 1)
    for label, who in matrix.loc[item].groupby(matrix.loc[item]):
        assert f"{label} ({len(who)}) {', '.join(who.index)}" in by_item[item][head.index("Who gave which label")]
    assert by_item["item 41"][head.index("Who gave which label")] == "none"
    file = page.file("votes.csv").set_index("item")
    expected = item_votes(model, labels)
    assert file["n_votes"].to_dict() == expected["n_votes"].to_dict()
    assert file.index[:40].tolist() != labels.items[:40].tolist()


def test_the_page_has_the_given_labels(study, corrupted, read):
    model, labels, _ = study
    given, _ = corrupted
    found = label_quality(model, labels, given)
    page = read(report(model, labels, certainty=None, given_labels=found))
    head, *rows = page.table("given-labels")
    assert [row[0] for row in rows] == [str(name) for name in found.issues.index[: len(rows)]]
    assert rows[0][head.index("Right with probability")] == f"{found.issues['probability'].iloc[0]:.2f}"
    assert in_words(found)[0] in page.root.text
    head, *classes = page.table("given-classes")
    assert sum(float(row[2]) for row in classes) == pytest.approx(found.n_wrong, abs=0.2)
    assert len(page.file("given-labels.csv")) == 300


def test_without_given_labels_the_page_has_none(named_page):
    assert named_page.section("given-labels") is None


def test_hostile_names_are_harmless_in_page_and_file(read):
    cells = [["<b>x</b>", "<b>x</b>", "=1+1"], ["=1+1"] * 3, ["=1+1", "<b>x</b>", "=1+1"]]
    labels = Labels.from_matrix(cells, items=["=A1", "<script>alert(1)</script>", "-b"], annotators=["a", "<i>b", "=c"])
    model = DawidSkene().fit(labels)
    page = read(report(model, labels, certainty=None, given_labels=["=1+1", "<u>no</u>", "<b>x</b>"]))
    assert not list(page.root.all("i"))
    assert not list(page.root.all("u"))
    assert "<script>alert" not in page.source
    assert "'=A1" in page.file("votes.csv")["item"].tolist()
    assert "'=1+1" in page.file("given-labels.csv")["given"].tolist()
