"""OrdinalRatings: brute force, bound, recovery, special cases; what is told of items and raters; the fall-back."""

import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from consilience import Labels
from consilience.consensus import DawidSkene, OrdinalRatings
from consilience.consensus.labels import ordinal_ratings as core
from consilience.consensus.labels.equal_spread import LARGEST_LEVEL
from consilience.errors import AnnotationWarning, InputError, UnannotatedWarning
from consilience.inference.product_distributions import encode_labels
from consilience.simulation import simulate_ratings

LEVELS = list(range(1, 6))


def crowd(seed=0, n_items=60, **options):
    rng = np.random.default_rng(seed)
    values = rng.normal(3, 1.2, n_items).clip(0.51, 5.49)
    return values, simulate_ratings(values, **({"n_annotators": 5} | options), random_state=rng)


def problem_of(labels):
    grid = core.ValueGrid.of(labels.n_classes, float(labels.label.mean()))
    shares = np.bincount(labels.label, minlength=labels.n_classes) + 1.0
    return core.RatingsProblem(encode_labels(labels, len(grid.values)), grid, shares / shares.sum())


def start_of(labels):
    problem = problem_of(labels)
    return problem, core.init(problem, labels.n_annotators, problem.grid.origin, 1.0)


def log_likelihood_of_item(labels, item, state, problem):
    """ln p(labels of an item): the integral over its value, which is not cut into cells."""
    raters, o, rows = state.raters, problem.grid.origin, labels.item == item

    def density(x):
        total = norm.pdf(x, state.mean, state.spread)
        for j, k in zip(labels.annotator[rows], labels.label[rows], strict=True):
            seen = norm(o + raters.slope[j] * (x - o) + raters.bias[j], raters.noise[j])
            low = seen.cdf(k - 0.5) if k else 0.0
            high = seen.cdf(k + 0.5) if k < labels.n_classes - 1 else 1.0
            total *= (1 - raters.lapse[j]) * (high - low) + raters.lapse[j] * problem.shares[k]
        return total

    return np.log(quad(density, state.mean - 8 * state.spread, state.mean + 8 * state.spread, limit=200)[0])


def test_bound_is_the_integral_over_the_values():
    """On cells so narrow that the likelihood is the same within each, the sum over them is the integral."""
    _, labels = crowd(n_items=6, n_annotators=3)
    problem, state = start_of(labels)
    for _ in range(5):
        state = core.step(state, problem)
    exact = sum(log_likelihood_of_item(labels, n, state, problem) for n in range(6))
    found = core.lower_bound(state, problem) - core.log_prior(state, problem.grid)
    assert found == pytest.approx(exact, abs=0.15)  # cells of a seventh of a level; those of the ends are wider


@pytest.mark.parametrize("seed", range(4))
def test_no_step_lowers_the_bound(seed):
    _, labels = crowd(seed, n_annotators=6, annotators_per_item=3)
    problem, state = start_of(labels)
    bounds = []
    for _ in range(25):
        state = core.step(state, problem)
        bounds.append(core.lower_bound(state, problem))
    assert np.diff(bounds).min() >= -1e-9 * np.abs(bounds).max()  # rounding


def test_scores_are_the_derivatives():
    grid = core.ValueGrid.of(5, 2.2)
    parameters, h = np.array([[0.8, 0.3, np.log(0.6)], [1.2, -0.5, 0.1]]), 1e-6
    score, _ = core.score_of_labels(parameters, grid)
    middle = slice(10, 25)  # where no probability is cut off at the least
    for place in range(3):
        ends = []
        for sign in (1, -1):
            a, b, s = (parameters + sign * h * np.eye(3)[place]).T
            ends.append(np.log(core.attentive(a, b, np.exp(s), grid)))
        numeric = (ends[0] - ends[1]) / (2 * h)
        np.testing.assert_allclose(score[:, middle, :, place], numeric[:, middle], rtol=1e-3, atol=1e-4)


def test_moments_within_cells():
    edges = np.array([-np.inf, -1.0, 0.5, np.inf])
    first, second = core.moments_within(edges, 0.3, 1.4)
    for cell, (low, high) in enumerate(pairwise(edges)):
        mass = norm.cdf(high, 0.3, 1.4) - norm.cdf(low, 0.3, 1.4)
        for power, found in ((1, first), (2, second)):
            expected = quad(lambda x, p=power: x**p * norm.pdf(x, 0.3, 1.4), low, high)[0] / mass
            assert found[cell] == pytest.approx(expected, abs=1e-6)


def test_recovers_raters_and_values_from_its_own_simulator():
    bias, slope = np.array([-0.8, -0.4, 0.0, 0.4, 0.8]), np.array([0.7, 1.2, 1.0, 0.8, 1.3])
    values, labels = crowd(n_items=600, bias=bias, slope=slope, noise=0.5, lapse=[0.0, 0.0, 0.0, 0.0, 0.3])
    model = OrdinalRatings().fit(labels)
    raters = model.annotators_
    assert model.annotator_model_ == "individual"
    assert not model.reason_
    np.testing.assert_allclose(raters["bias"] - raters["bias"].mean(), bias, atol=0.2)
    np.testing.assert_allclose(raters["slope"] / raters["slope"].mean(), slope, atol=0.2)
    assert raters["lapse"].idxmax() == "annotator 5"
    assert np.abs(model.values_ - values).mean() < 0.3
    plain = OrdinalRatings(annotator_model="equal").fit(labels)
    assert np.abs(model.values_ - values).mean() < np.abs(plain.values_ - values).mean()


def test_turned_levels_turn_the_result():
    _, labels = crowd()
    frame = labels.to_frame()
    turned = Labels.from_frame(frame.assign(label=6 - frame["label"]), items=labels.items).as_ratings(LEVELS)
    for how in ("individual", "equal"):
        here, there = (OrdinalRatings(annotator_model=how, tol=1e-10).fit(each) for each in (labels, turned))
        np.testing.assert_allclose(there.responsibilities_, here.responsibilities_[:, ::-1], atol=1e-5)
        np.testing.assert_allclose(there.values_, 6 - here.values_, atol=1e-5)
        np.testing.assert_allclose(there.annotators_["bias"], -here.annotators_["bias"], atol=1e-4)


def test_shifted_levels_shift_the_values():
    _, labels = crowd()
    frame = labels.to_frame()
    shifted = Labels.from_frame(frame.assign(label=frame["label"] * 10 + 100), items=labels.items)
    model = OrdinalRatings().fit(labels)
    far = OrdinalRatings(levels=[10 * level + 100 for level in LEVELS]).fit(shifted)
    np.testing.assert_allclose(far.values_, 10 * model.values_ + 100, atol=1e-8)
    np.testing.assert_array_equal(far.labels_, 10 * model.labels_ + 100)


def test_equal_raters_have_the_mean():
    _, labels = crowd()
    model = OrdinalRatings(annotator_model="equal").fit(labels)
    np.testing.assert_allclose(model.values_, labels.to_frame().groupby("item")["label"].mean())
    assert model.reason_ == "annotator_model='equal'"
    assert len(model.notes_) == 1


@pytest.mark.parametrize("how", ["individual", "equal"])
def test_fitted_items_are_predicted_as_they_were_fitted(how):
    _, labels = crowd()
    model = OrdinalRatings(annotator_model=how).fit(labels)
    np.testing.assert_allclose(model.predict_proba(labels), model.responsibilities_, atol=1e-9)
    np.testing.assert_allclose(model.predict_value(labels), model.values_, atol=1e-9)
    np.testing.assert_array_equal(model.predict(labels), model.labels_)
    assert model.score(labels) < 0
    low, high = model.intervals_.T
    assert ((low <= model.values_ + 0.05) & (model.values_ - 0.05 <= high)).all()  # ends are read off to a twentieth
    assert model.thresholds_.shape == (5, 4)


@pytest.mark.parametrize("how", ["individual", "equal"])
def test_gold_items_have_their_level(how):
    _, labels = crowd()
    gold = {labels.items[0]: 5, labels.items[1]: 1}
    model = OrdinalRatings(annotator_model=how).fit(labels, gold=gold)
    assert model.labels_[:2].tolist() == [5, 1]
    assert model.values_[:2].tolist() == [5, 1]
    np.testing.assert_array_equal(model.responsibilities_[:2], np.eye(5)[[4, 0]])


def test_few_other_labels_lead_to_the_mean():
    labels = Labels.from_matrix(np.where(np.random.default_rng(0).random((50, 4)) < 0.9, 1, 4)).as_ratings(LEVELS)
    model = OrdinalRatings().fit(labels)
    assert (labels.label == 0).mean() > LARGEST_LEVEL
    assert model.annotator_model_ == "equal"
    assert "of the labels are 1" in model.reason_


def test_noise_as_large_as_the_spread_leads_to_the_mean():
    _, labels = crowd(n_items=100, noise=4.0)
    model = OrdinalRatings().fit(labels)
    assert model.annotator_model_ == "equal"
    assert "noise of a label" in model.reason_


def test_two_levels_lead_to_the_mean():
    assert "three levels" in OrdinalRatings().fit([[0, 1, 1], [0, 0, 1], [1, 1, 1]]).reason_


def test_one_level_is_that_of_every_item():
    model = OrdinalRatings().fit([[3, 3], [3, 3]])
    assert model.labels_.tolist() == [3, 3]
    assert model.values_.tolist() == [3.0, 3.0]
    assert model.intervals_.tolist() == [[3.0, 3.0], [3.0, 3.0]]
    assert "three levels" in model.reason_


def test_one_rater_leads_to_the_mean():
    assert "no item has two labels" in OrdinalRatings().fit([[1], [2], [4], [2]]).reason_


def test_items_without_labels_are_said_once():
    with pytest.warns(UnannotatedWarning) as caught:
        OrdinalRatings().fit([[1, 2], [3, 3], [np.nan, np.nan]])
    assert len(caught) == 1


def test_levels_may_have_decimals_in_any_table():
    stars = np.array([[0.5, 1.5, 2], [1.5, 1.5, 2], [2, 2.5, 2.5], [2.5, 0.5, 2.5]])
    wide = pd.DataFrame(stars, index=list("wxyz"), columns=["Ann", "Bo", "Cy"])
    long = wide.rename_axis("item").reset_index().melt("item", var_name="annotator", value_name="label")
    found = [OrdinalRatings().fit(given) for given in (stars, wide, long)]
    for model in found:
        assert model.classes_.tolist() == [0.5, 1.5, 2.0, 2.5]
        np.testing.assert_allclose(model.values_, found[0].values_)
    assert found[1].predict(wide).tolist() == found[2].predict(long).tolist()


def test_declared_levels_are_levels():
    labels = Labels.from_matrix([[1, 2], [3, 3]], classes=[1, 2, 3, 4, 5])
    model = OrdinalRatings().fit(labels, gold={0: 5})
    assert model.labels_.tolist() == [5, 3]
    assert OrdinalRatings().fit(labels[[0]]).n_clusters_ == 5
    with pytest.raises(InputError, match="There are no levels"):
        OrdinalRatings(levels=[]).fit(labels)


def test_order_comes_from_categories_numbers_or_the_user():
    kind = pd.CategoricalDtype(["low", "medium", "high"], ordered=True)
    frame = pd.DataFrame([["low", "high"], ["low", "low"], ["high", "high"]], columns=["Ann", "Bo"])
    assert OrdinalRatings().fit(frame.astype(kind)).classes_.tolist() == ["low", "medium", "high"]
    assert OrdinalRatings(levels=["low", "medium", "high"]).fit(frame).n_clusters_ == 3
    assert OrdinalRatings().fit([[1, 4], [2, 2]]).classes_.tolist() == [1, 2, 3, 4]
    with pytest.raises(InputError, match=r"^OrdinalRatings: Labels that are not numbers, such as 'high'"):
        OrdinalRatings().fit(frame)
    with pytest.raises(InputError, match="'high' is not among the levels 'low', 'medium'"):
        OrdinalRatings(levels=["low", "medium"]).fit(frame)


def test_classes_without_order_are_warned_of_where_they_have_one():
    _, labels = crowd()
    with pytest.warns(AnnotationWarning, match="OrdinalRatings takes them as ratings"):
        DawidSkene().fit(labels)
    many = np.repeat(np.arange(60), 2).reshape(60, 2)
    with pytest.warns(AnnotationWarning, match="the classes are 60 numbers"):
        DawidSkene(copies=None, max_iter=2, tol=1.0).fit(many)
    with warnings.catch_warnings():
        warnings.simplefilter("error", AnnotationWarning)
        DawidSkene().fit(Labels.from_frame(labels.to_frame()))  # integers that nobody calls ordered


def test_numbers_in_text_are_levels():
    """As they are in the text of a file: half levels, and whole numbers of which one is missing."""
    frame = crowd(n_items=20)[1].to_frame()
    frame = frame[frame["label"] != 3]
    for scale in (1, 0.5):
        given = frame.assign(label=frame["label"] * scale)
        text = given.assign(label=given["label"].map(lambda number: f"{number:g}"))
        model, of_text = OrdinalRatings().fit(given), OrdinalRatings().fit(text)
        assert (
            of_text.classes_.tolist()
            == model.classes_.tolist()
            == Labels.from_frame(text).as_ratings().classes.tolist()
        )
        np.testing.assert_array_equal(of_text.predict(text), model.predict(given))
        assert of_text.score(text) == model.score(given)
    with pytest.raises(InputError, match=r"such as .*, have no order"):
        OrdinalRatings().fit(text.replace({"label": {"0.5": "low"}}))
