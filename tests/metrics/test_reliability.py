"""Alpha and kappas by their definitions, by published examples, and against scikit-learn."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score, cohen_kappa_score

from consilience import Groupings, Labels, Pairs
from consilience.errors import InputError
from consilience.metrics import cohen_kappa, fleiss_kappa, krippendorff_alpha, split_half

NAN = None
PUBLISHED = [  # Krippendorff (2011), page 5: four observers, twelve units
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
    [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
]
FLEISS = [  # Fleiss (1971): ten items, fourteen raters, counts of five classes
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]
pytestmark = pytest.mark.filterwarnings("ignore::consilience.errors.AnnotationWarning")


def tiny(seed):
    rng = np.random.default_rng(seed)
    n_items, n_annotators, n_classes = rng.integers(2, [15, 6, 6])
    said = rng.integers(n_classes, size=(n_items, n_annotators))
    said[rng.random(said.shape) < rng.choice([0, 0.3, 0.6])] = -1
    said[0, 0] = 0
    return said, Labels.from_matrix(said, missing=-1, classes=range(n_classes))


def explicit_alpha(said, n_classes, level):
    """1 - observed / expected disagreement, by loops over pairs of labels."""
    units = [[int(c) for c in row if c >= 0] for row in said]
    units = [row for row in units if len(row) > 1]
    everything = [c for row in units for c in row]
    totals = np.bincount(everything, minlength=n_classes).astype(float) if everything else np.zeros(n_classes)

    def difference(c, k):
        if level == "nominal":
            return float(c != k)
        if level == "interval":
            return float((c - k) ** 2)
        low, high = min(c, k), max(c, k)
        return (totals[low : high + 1].sum() - (totals[c] + totals[k]) / 2) ** 2 if low < high else 0.0

    observed = sum(difference(c, k) / (len(row) - 1) for row in units for c, k in itertools.permutations(row, 2))
    expected = sum(difference(c, k) for c, k in itertools.permutations(everything, 2))
    return np.nan if expected == 0 else 1 - observed * (len(everything) - 1) / expected


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_the_published_example(level, alpha):
    labels = Labels.from_matrix(np.array(PUBLISHED, dtype=object).T, classes=[1, 2, 3, 4, 5])
    found = krippendorff_alpha(labels, level=level)
    assert found.value == pytest.approx(alpha, abs=5e-4)
    assert found.low < found.value < found.high <= 1
    assert found.n_items == 11


def test_the_example_of_fleiss():
    said = [np.repeat(np.arange(5), counts) for counts in FLEISS]
    assert fleiss_kappa(Labels.from_matrix(said)).value == pytest.approx(0.210, abs=5e-4)


@pytest.mark.parametrize("seeds", [range(25), pytest.param(range(25, 2000), marks=pytest.mark.slow)])
def test_by_definition(seeds):
    for seed in seeds:
        said, labels = tiny(seed)
        for level in ("nominal", "ordinal", "interval"):
            found = krippendorff_alpha(labels, level=level, n_draws=0)
            expected = explicit_alpha(said, labels.n_classes, level)
            assert found.value == pytest.approx(expected, abs=1e-12, nan_ok=True), (seed, level)
            assert bool(found.note) == np.isnan(expected)
        both = (said[:, :2] >= 0).all(1)
        if len(np.unique(said[both, :2])) > 1:
            two = Labels.from_matrix(said[:, :2], missing=-1, classes=range(labels.n_classes))
            expected = cohen_kappa_score(*said[both, :2].T)
            assert cohen_kappa(two, n_draws=0).value == pytest.approx(expected, abs=1e-12), seed


def test_groupings_agree_on_pairs():
    """Labels of pairs of items say the same; and Cohen's kappa of pairs is the adjusted Rand index."""
    rng = np.random.default_rng(0)
    sorts = rng.integers(3, size=(9, 4))
    sorts[:, 1] = np.where(rng.random(9) < 0.7, sorts[:, 0], sorts[:, 1])
    pairs = np.array([sorts[i] == sorts[j] for i, j in itertools.combinations(range(9), 2)]).astype(int)
    groupings = Groupings.from_matrix(sorts.astype(str))
    alpha, kappa = krippendorff_alpha(groupings), fleiss_kappa(groupings)
    assert alpha.value == pytest.approx(krippendorff_alpha(Labels.from_matrix(pairs)).value, abs=1e-12)
    assert kappa.value == pytest.approx(fleiss_kappa(Labels.from_matrix(pairs)).value, abs=1e-12)
    assert alpha.n_items == len(pairs)
    rand = adjusted_rand_score(sorts[:, 0], sorts[:, 1])
    assert cohen_kappa(Labels.from_matrix(pairs[:, :2])).value == pytest.approx(rand, abs=1e-12)


def test_one_annotator_has_no_agreement_and_is_told():
    labels, groupings = Labels.from_matrix([["a"], ["b"]]), Groupings.from_matrix([["a"], ["b"]])
    for found in (krippendorff_alpha(labels), fleiss_kappa(labels), cohen_kappa(labels)):
        assert np.isnan([found.value, found.low, found.high]).all()
        assert found.note == "No item has labels of two annotators, so there is no agreement to measure."
    assert "No two items are in two groupings together" in krippendorff_alpha(groupings).note
    assert "All labels are equal" in krippendorff_alpha(Labels.from_matrix([["a", "a"], ["a", "a"]])).note


def test_intervals_hold_the_value_of_the_population():
    """Two annotators right four times in five, errors apart: 200 crowds of 100 items, 90 % intervals."""
    held = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        true = rng.integers(2, size=100)
        said = np.where(rng.random((100, 3)) < 0.8, true[:, None], 1 - true[:, None])
        found = krippendorff_alpha(Labels.from_matrix(said), n_draws=100, random_state=seed)
        held += found.low <= 0.36 <= found.high  # agree in .8² + .2² = .68, by chance in .5
    assert 165 <= held <= 195


def test_what_is_refused():
    with pytest.raises(InputError, match=r"krippendorff_alpha reads Labels, or Groupings\. Got list\."):
        krippendorff_alpha([["a", "b"]])
    with pytest.raises(InputError, match=r"level must be 'nominal', 'ordinal' or 'interval'\. Got 'ratio'\."):
        krippendorff_alpha(Labels.from_matrix([["a", "b"]]), level="ratio")
    with pytest.raises(InputError, match=r"level='interval' needs classes that are numbers\. Got 'a'\."):
        krippendorff_alpha(Labels.from_matrix([["a", "b"]]), level="interval")
    with pytest.raises(InputError, match=r"level must be 'nominal'\. Got 'ordinal'\."):
        krippendorff_alpha(Groupings.from_matrix([["a", "b"]]), level="ordinal")


def test_halves_are_correlated_by_hand():
    """Of four people there are three divisions; pairs that a half did not see are left out."""
    sorts = np.array([[*"aabbc"], [*"aabcc"], [*"abbcc"], [*"aaabb"]], dtype=object).T
    sorts[4, 0] = None
    together = [
        [np.nan if None in (row[i], row[j]) else row[i] == row[j] for i, j in itertools.combinations(range(5), 2)]
        for row in sorts.T
    ]
    r = []
    for other in (1, 2, 3):
        first = [0, other]
        halves = [np.nanmean(np.array(together, dtype=float)[mine], axis=0) for mine in (first, [*{1, 2, 3} - {other}])]
        r.append(np.corrcoef(halves)[0, 1])
    found = split_half(Groupings.from_matrix(sorts), n_divisions=3000)
    assert found.value == pytest.approx(2 * np.mean(r) / (1 + np.mean(r)), abs=0.01)
    assert (found.low, found.high) == pytest.approx((2 * min(r) / (1 + min(r)), 2 * max(r) / (1 + max(r))))
    assert found.n_items == 10


def test_what_two_halves_have_is_what_two_panels_have():
    """Panels of 16 people like those of a panel of 16: the correlation of the shares, on average over 20."""
    rng, found, expected = np.random.default_rng(0), [], []
    true = np.repeat(np.arange(5), 4)

    def panel():
        said = np.where(rng.random((20, 16)) < 0.6, true[:, None], rng.integers(5, size=(20, 16)))
        shares = (said[:, None] == said[None]).mean(2)
        return said, shares[np.triu_indices(20, 1)]

    for _ in range(20):
        said, shares = panel()
        found.append(split_half(Groupings.from_matrix(said.astype(str)), n_divisions=20).value)
        expected.append(np.corrcoef(shares, panel()[1])[0, 1])
    assert np.mean(found) == pytest.approx(np.mean(expected), abs=0.02)


def test_halves_that_have_no_correlation_say_why():
    few, equal = Groupings.from_matrix([["a"] * 3, ["b"] * 3]), Groupings.from_matrix([["a"] * 4, ["a"] * 4])
    assert split_half(few).note == "Halves of fewer than four annotators are not compared."
    assert "put together equally often" in split_half(equal).note
    assert np.isnan(split_half(equal).value)
    strangers = Groupings.from_lists([[["a", "b"]], [["c", "d"]], [["e", "f"]], [["g", "h"]]])
    assert "No two items are in two groupings together" in split_half(strangers).note
    with pytest.raises(InputError, match="split_half"):
        split_half(
            Pairs.from_frame(pd.DataFrame({"item_a": ["a"], "item_b": ["b"], "annotator": ["x"], "same": [True]}))
        )
