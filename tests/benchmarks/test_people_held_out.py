"""Held-out people are divided, weighted and predicted as the pages on groupings and on pairs say."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.people import groupings, pairs
from benchmarks.people.co_occurrence import AMOUNTS, CoOccurrence, by_kmeans, by_linkage
from benchmarks.people.grouping_crowds import (
    AT_RANDOM,
    ITEMS_EACH,
    LARGEST,
    MERGE,
    N_CLASSES,
    N_ITEMS,
    OF_TWO,
    SIMULATED,
    SIMULATED_PAIRS,
    SMALL,
    recorded_pairs,
    shuffled,
    simulated,
    simulated_pairs,
    small_clusters,
    some_people,
)
from benchmarks.people.grouping_methods import (
    BASE,
    CO_OCCURRENCE,
    LIMIT,
    LINKAGE,
    OF_GROUPINGS,
    TOLD,
    by_clusters,
    figures,
    n_told,
)
from benchmarks.people.held_out import (
    CLIP,
    N_BINS,
    N_FOLDS,
    Crowd,
    Judgements,
    gaps_of_bins,
    held_out,
    judged,
    losses,
    of_people,
    pooled,
    pooled_calibration_error,
)
from benchmarks.people.held_out_tables import first_counts, gap_of, of_method, short, summary
from consilience import Groupings, Pairs
from consilience.consensus import SubsetFusion
from consilience.errors import MissingDataError

PAGES = (groupings.PAGE, pairs.PAGE)
SORTS = Groupings.from_lists(
    [[["ant", "bee"], ["cow"]], [["ant", "bee"]], [["ant"], ["bee", "cow"]]], annotators=["u", "v", "w"]
)


# ---- people who are held out


def test_over_the_reported_draws_every_person_is_held_out_once():
    for n_people in (8, 10, 107):
        times = sum(held_out(n_people, draw).astype(int) for draw in groupings.DRAWS)
        np.testing.assert_array_equal(times, 1)
        assert {held_out(n_people, draw).sum() for draw in groupings.DRAWS} <= {
            n_people // N_FOLDS,
            n_people // N_FOLDS + 1,
        }


def test_even_draws_divide_the_people_otherwise():
    odd, even = ({held_out(30, draw).tobytes() for draw in draws} for draws in ((1, 3, 5, 7, 9), (0, 2, 4, 6, 8)))
    assert len(odd) == len(even) == N_FOLDS
    assert not odd & even


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_only_odd_draws_are_reported(page):
    assert {cell.draw for _, cell in page.cells} == {1, 3, 5, 7, 9}


# ---- judgements


def test_judgements_are_of_the_pairs_that_a_person_saw_together():
    found = Judgements.of(SORTS)
    names = SORTS.items.to_numpy()
    told = set(zip(names[found.first], names[found.second], SORTS.annotators[found.person], found.same))
    assert told == {
        ("ant", "bee", "u", 1.0),
        ("ant", "cow", "u", 0.0),
        ("bee", "cow", "u", 0.0),
        ("ant", "bee", "v", 1.0),
        ("ant", "bee", "w", 0.0),
        ("ant", "cow", "w", 0.0),
        ("bee", "cow", "w", 1.0),
    }
    assert (found.first < found.second).all()


def test_the_items_of_a_pair_have_one_order():
    frame = pd.DataFrame({"item_a": [2, 1], "item_b": [1, 2], "annotator": ["u", "v"], "same": [True, False]})
    found = Judgements.of(Pairs.from_frame(frame, items=[1, 2]))
    assert found.first.tolist() == [0, 0]
    assert found.second.tolist() == [1, 1]


def test_people_count_equally():
    found = Judgements.of(SORTS)
    np.testing.assert_allclose(np.bincount(found.person, found.weight), 7 / 3)
    np.testing.assert_allclose(of_people(found, found.same), [1 / 3, 1.0, 1 / 3])


def test_log_loss_is_clipped():
    found = losses(np.array([1.0, 0.0, 1.0]), np.array([0.8, 0.8, 0.0]))
    np.testing.assert_allclose(found, -np.log([0.8, 0.2, CLIP]))


def test_a_person_with_few_judgements_counts_as_much_as_another():
    given = Judgements(np.zeros(4, int), np.arange(1, 5), np.array([0, 0, 0, 2]), np.array([1.0, 1.0, 1.0, 0.0]))
    probability, reference = np.full(4, 0.75), np.full(4, 0.5)
    found = judged(given, probability, reference)
    own = -np.log([0.75, 0.25])
    assert found["loss"] == pytest.approx(own.mean())
    assert found["gap"] == pytest.approx(own.mean() - np.log(2))
    assert found["spread"] == pytest.approx(((own - own.mean()) ** 2).sum())
    # half of the people's judgements are "together", where .75 was predicted
    assert np.abs(found["bins"]).sum() == pytest.approx(0.25)
    assert found["bins"].argmin() == int(0.75 * N_BINS)


def test_errors_of_draws_cancel_within_a_bin_only():
    given = Judgements(np.zeros(2, int), np.array([1, 2]), np.array([0, 1]), np.array([1.0, 0.0]))
    one, other = gaps_of_bins(given, np.array([0.75, 0.75])), gaps_of_bins(given, np.array([0.95, 0.25]))
    assert np.abs(one).sum() == pytest.approx(0.25)
    assert np.abs(other).sum() == pytest.approx((0.05 + 0.25) / 2)
    bins = np.array([one, -one])
    assert pooled_calibration_error(np.array([1.0, 1.0]), bins) == pytest.approx(0.0)
    assert pooled_calibration_error(np.array([3.0, 1.0]), bins) == pytest.approx(0.125)


def test_the_error_over_the_people_of_several_draws_is_that_of_all_together():
    rng = np.random.default_rng(0)
    parts = [rng.normal(size=size) for size in (3, 5, 4)]
    means = np.array([part.mean() for part in parts])
    spreads = np.array([((part - part.mean()) ** 2).sum() for part in parts])
    found, whole = pooled(np.array([3, 5, 4]), means, spreads), np.concatenate(parts)
    assert found.mean == pytest.approx(whole.mean())
    assert found.error == pytest.approx(whole.std(ddof=1) / np.sqrt(12))


# ---- baselines


def test_co_occurrence_is_smoothed_towards_the_base_rate():
    plain = CoOccurrence.learned(Judgements.of(SORTS), 3)
    assert plain.base == pytest.approx((1 / 3 + 1 + 1 / 3) / 3)
    first, second = np.array([0, 0, 1]), np.array([1, 2, 2])
    seen, together = np.array([3, 2, 2]), np.array([2, 0, 1])
    expected = (together + plain.amount * plain.base) / (seen + plain.amount)
    np.testing.assert_allclose(plain.probability(first, second), expected)
    np.testing.assert_allclose(plain.matrix()[first, second], expected)
    np.testing.assert_allclose(plain.matrix(), plain.matrix().T)


def test_pairs_that_nobody_saw_have_the_base_rate():
    given = Judgements(np.array([0, 0]), np.array([1, 2]), np.array([0, 1]), np.array([1.0, 0.0]))
    plain = CoOccurrence.learned(given, 4)
    np.testing.assert_allclose(plain.probability(np.array([1, 2]), np.array([2, 3])), plain.base)


@pytest.mark.parametrize(("spread", "most_smoothed"), [(0.0, True), (0.45, False)])
def test_co_occurrence_is_smoothed_more_if_pairs_do_not_differ(spread, most_smoothed):
    """If all pairs are put together equally often, counts only add noise; else they inform."""
    rng = np.random.default_rng(3)
    first, second = np.triu_indices(20, 1)
    share = 0.5 + spread * rng.choice([-1, 1], len(first))
    same = rng.random((30, len(first))) < share
    person = np.repeat(np.arange(30), len(first))
    given = Judgements(np.tile(first, 30), np.tile(second, 30), person, same.ravel().astype(float))
    amount = CoOccurrence.learned(given, 20).amount
    assert amount > AMOUNTS[-6] if most_smoothed else amount < 3


def test_smoothing_is_learned_by_predicting_each_person_from_the_others():
    """Somebody who repeats the own judgements is no evidence that others judge likewise."""
    rng = np.random.default_rng(0)
    first, second = np.triu_indices(8, 1)
    same = (rng.random((6, len(first))) < 0.5).repeat(5, axis=0).astype(float)  # six people, five times each
    person = np.repeat(np.arange(6), 5 * len(first))
    given = Judgements(np.tile(first, 30), np.tile(second, 30), person, same.ravel())
    assert CoOccurrence.learned(given, 8).amount > 50


def test_clusters_of_the_co_occurrence_are_those_of_its_blocks():
    similarity = np.full((6, 6), 0.1)
    similarity[:3, :3] = similarity[3:, 3:] = 0.9
    np.fill_diagonal(similarity, 1)
    for labels in (by_linkage(similarity, 2), by_kmeans(similarity, 2, 0)):
        assert len(set(labels[:3])) == len(set(labels[3:])) == 1
        assert labels[0] != labels[3]


# ---- methods


def test_by_clusters_predicts_the_rates_within_and_between_clusters():
    given = Judgements.of(SORTS)
    found = by_clusters(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), given, np.array([[0, 1], [0, 2]]))
    # people weigh 7/3 each, over 3, 1 and 3 judgements; of ant and bee, u and v say together and w does not
    within = ((7 / 9 + 7 / 3) + 1) / ((7 / 9 + 7 / 3 + 7 / 9) + 2)
    between = (7 / 9 + 1) / (4 * 7 / 9 + 2)
    np.testing.assert_allclose(found, [within, between])


def test_a_crowd_without_structure_is_not_predicted_better_than_by_the_base_rate():
    truth = np.zeros(N_ITEMS, dtype=int)
    rng = np.random.default_rng(0)
    lists = [[list(part) for part in np.array_split(rng.permutation(N_ITEMS)[:20], 4)] for _ in range(20)]
    crowd = Crowd(Groupings.from_lists(lists, items=range(N_ITEMS)), truth)
    for name in (CO_OCCURRENCE, BASE, LINKAGE):
        found = figures(name, crowd, 1, None, {})
        loss = found.get("own_loss", found.get("clusters_loss"))
        assert loss > -0.02 + found_entropy(4 / 19)


def found_entropy(share):
    return -share * np.log(share) - (1 - share) * np.log(1 - share)


def test_figures_of_a_crowd_that_agrees():
    crowd = simulated("all items, 16 people, separate, balanced", 2)
    everything = {name: figures(name, crowd, 2, None, {}) for name in (CO_OCCURRENCE, BASE, LINKAGE, LIMIT)}
    model = figures("SubsetFusion(told)", crowd, 2, SubsetFusion(), TOLD)
    assert everything[CO_OCCURRENCE]["own_gap"] == 0
    assert everything[LIMIT]["nmi"] == 1
    assert model["nmi"] == everything[LINKAGE]["nmi"] == 1
    assert model["n_clusters"] == model["told"] == N_CLASSES
    for found in (everything[LIMIT], everything[LINKAGE], model):
        assert found["clusters_loss"] < everything[CO_OCCURRENCE]["own_loss"] < everything[BASE]["own_loss"]
        assert found["clusters_gap"] == pytest.approx(found["clusters_loss"] - everything[CO_OCCURRENCE]["own_loss"])
    assert model["own_loss"] > model["clusters_loss"]  # the clusters are certain, and people are not


@pytest.mark.slow
def test_held_out_people_do_not_inform_the_methods():
    """With other answers of those who are held out, the clusters and the smoothing are the same."""
    crowd = simulated("all items, 16 people, separate, balanced", 2)
    out = crowd.annotations.annotators[held_out(16, 1)]
    other = Crowd(shuffled(crowd.annotations, out, np.random.default_rng(0)), crowd.truth)
    for name, model in ((CO_OCCURRENCE, None), ("SubsetFusion", SubsetFusion())):
        one, two = (figures(name, each, 1, model, {}) for each in (crowd, other))
        kept = [key for key in one if key in ("amount", "told", "nmi", "ari", "n_clusters")]
        assert [one[key] for key in kept] == [two[key] for key in kept]
        assert one["own_loss"] != two["own_loss"]


def test_a_fit_that_ends_with_an_error_has_the_base_rate():
    crowd = simulated("subsets, 16 people, separate, balanced", 2)
    failed, base = figures("SubsetFusion", crowd, 1, SubsetFusion(-1), {}), figures(BASE, crowd, 1, None, {})
    assert failed["no_answer"] == "InputError"
    assert failed["own_loss"] == base["own_loss"]
    assert failed["n_clusters"] == 1
    assert failed["nmi"] == 0


def test_methods_are_told_the_classes_or_the_groups_that_people_make():
    assert n_told(SORTS, np.array([0, 1, 2])) == 3
    assert n_told(SORTS, None) == 2  # 5 groups in 3 groupings


# ---- crowds


@pytest.mark.parametrize("name", SIMULATED)
def test_simulated_crowds_are_of_the_kind_that_their_name_says(name):
    kind, crowd = SIMULATED[name], simulated(name, 2)
    sizes = np.bincount(crowd.truth)
    assert crowd.annotations.n_items == len(crowd.truth) == N_ITEMS
    assert sizes.max() / N_ITEMS == pytest.approx(1 / N_CLASSES if kind.is_balanced else LARGEST, abs=0.01)
    assert crowd.annotations.n_annotators == kind.n_people
    each = crowd.annotations.to_frame().groupby("annotator").size()
    assert set(each) == {N_ITEMS if kind.sees_all else ITEMS_EACH}
    groups = crowd.annotations.n_groups / crowd.annotations.n_groupings
    if kind.sees_all:
        assert groups == pytest.approx(N_CLASSES - (N_CLASSES - 1) * MERGE * kind.is_merged, abs=0.6)


def test_one_simulated_person_in_eight_groups_at_random():
    crowd = simulated("all items, 64 people, separate, balanced", 2)
    found = Judgements.of(crowd.annotations)
    right = of_people(found, (found.same > 0) == (crowd.truth[found.first] == crowd.truth[found.second]))
    by_chance = (1 / N_CLASSES) ** 2 + (1 - 1 / N_CLASSES) ** 2
    first = crowd.annotations.annotators.get_indexer([f"annotator {m}" for m in range(1, 64 // AT_RANDOM + 1)])
    np.testing.assert_allclose(right[first], by_chance, atol=0.03)
    assert np.delete(right, first).min() > by_chance + 0.05


def test_shuffled_groups_keep_their_sizes():
    crowd = simulated("subsets, 16 people, merged, unbalanced", 4).annotations
    other = shuffled(crowd, crowd.annotators[3:4], np.random.default_rng(0))
    before, after = (each.to_frame().groupby(["annotator", "group"]).size() for each in (crowd, other))
    pd.testing.assert_series_equal(before, after)
    assert crowd.restrict(annotators=crowd.annotators[4:]) == other.restrict(annotators=crowd.annotators[4:])
    assert crowd != other


@pytest.mark.parametrize("name", SIMULATED_PAIRS)
def test_simulated_judgements_of_pairs_are_of_the_kind_that_their_name_says(name):
    kind, crowd = SIMULATED_PAIRS[name], simulated_pairs(name, 2)
    found = Judgements.of(crowd.annotations)
    assert np.bincount(found.person).tolist() == [kind.each] * kind.n_people
    right = of_people(found, (found.same > 0) == (crowd.truth[found.first] == crowd.truth[found.second]))
    n_at_random = kind.n_people // AT_RANDOM
    assert abs(right[:n_at_random].mean() - 0.5) < 3 * 0.5 / np.sqrt(n_at_random * kind.each)
    assert right[n_at_random:].mean() > 0.7


@pytest.mark.parametrize("name", SMALL)
def test_judgements_of_small_clusters_are_of_the_kind_that_their_name_says(name):
    crowd = small_clusters(name, 2)
    assert np.bincount(np.bincount(crowd.truth)).tolist() == [0, 40, 40, 40, 40, 40]
    found = Judgements.of(crowd.annotations)
    pairs, n_times = np.unique(np.column_stack([found.first, found.second]), axis=0, return_counts=True)
    assert set(n_times) == {SMALL[name]}
    within = crowd.truth[pairs[:, 0]] == crowd.truth[pairs[:, 1]]
    assert (within.sum(), (~within).sum()) == (40 * (1 + 3 + 6 + 10), 3200)
    right = of_people(found, (found.same > 0) == (crowd.truth[found.first] == crowd.truth[found.second]))
    assert abs(np.sort(right)[:3].mean() - 0.5) < 0.05
    assert np.sort(right)[3:].min() > 0.8


def test_recorded_judgements_are_answers_about_two_pictures():
    try:
        crowd = recorded_pairs("dogs3")
    except MissingDataError as error:
        pytest.skip(str(error))
    queries = {name.split(" worker")[0] for name in crowd.annotations.annotators}
    assert queries <= set(OF_TWO)
    assert len(crowd.truth) == crowd.annotations.n_items == 473
    assert crowd.annotations.to_frame().groupby(["annotator", "grouping"]).size().eq(1).all()


def test_some_people_are_the_same_every_time(monkeypatch):
    monkeypatch.setattr("benchmarks.people.grouping_crowds.MOST_WORKERS", 2)
    one, two = (some_people(SORTS, SORTS.annotators) for _ in range(2))
    assert one == two
    assert one.n_annotators == 2
    assert some_people(SORTS, SORTS.annotators[:1]).annotators.tolist() == ["u"]


# ---- tables


def rows_of(gaps, people=(2, 2, 2)):
    return pd.DataFrame(
        {
            "own_loss": np.array(gaps) + 0.5,
            "own_gap": gaps,
            "own_spread": [0.02] * len(gaps),
            "own_bins": [[0.1, -0.1]] * len(gaps),
            "n_held_out": people,
            "seconds": 1.0,
            "no_answer": "",
        }
    )


def test_differences_have_errors_over_people_in_recordings_and_over_draws_in_simulations():
    rows = rows_of([0.1, 0.2, 0.3])
    assert gap_of(rows, "own", "simulated").error == pytest.approx(0.1 / np.sqrt(3))
    assert gap_of(rows, "own", "sorts").error == pytest.approx(np.sqrt((3 * 0.02 + 2 * 0.02) / 5 / 6))


def test_a_lower_loss_is_better():
    assert of_method(rows_of([0.1, 0.2, 0.3]), "sorts")["own_verdict"] == "worse"
    assert of_method(rows_of([-0.3, -0.2, -0.3]), "sorts")["own_verdict"] == "better"
    assert of_method(rows_of([-0.1, 0.0, 0.1]), "sorts")["own_verdict"] == "level"
    assert of_method(rows_of([0.1, 0.2, 0.3]), "sorts")["own_ece"] == pytest.approx(0.2)


def test_sets_are_counted_by_verdict():
    sets = [of_method(rows_of(gaps), "sorts") for gaps in ([0.1, 0.2, 0.3], [-0.3, -0.2, -0.3], [0.1, 0.2, 0.2])]
    rows = pd.DataFrame(
        [
            {"data": place, "model": "m", "clusters_verdict": "", "forecast_verdict": "", **one}
            for place, one in enumerate(sets)
        ]
    )
    found = summary(rows).loc["m"]
    assert [found[f"own_{verdict}"] for verdict in ("better", "level", "worse")] == [1, 0, 2]
    assert found["sets"] == 3


def test_methods_that_tie_are_all_the_first():
    rows = pd.DataFrame({"data": [1, 1, 2, 2], "model": ["a", "b", "a", "b"], "nmi": [0.5, 0.5, 0.4, 0.2]})
    assert first_counts(rows, "nmi", True) == "a on 2 and b on 1"
    assert first_counts(rows, "nmi", False) == "b on 2 and a on 1"


def test_differences_are_written_with_their_sign():
    assert [short(0.0149), short(-0.5), short(1.25)] == ["+.015", "-.500", "+1.250"]


# ---- cells


def test_methods_that_are_left_out_are_the_slow_ones():
    run = {(cell.data, cell.model) for _, cell in groupings.PAGE.cells}
    everything = {(data, name) for sets in groupings.PARTS.values() for data in sets for name in OF_GROUPINGS}
    assert everything - run == {(data, name) for name, sets in groupings.SLOW.items() for data in sets}


def test_the_settings_say_what_a_method_is_told():
    told = {cell.model: cell.all_settings.get("n_clusters") for _, cell in groupings.PAGE.cells if cell.estimator}
    assert {name for name, number in told.items() if number == "told"} == {
        "SubsetFusion(told)",
        "CSPA(told)",
        "KCC(told)",
    }


# ---- other pages that quote these


def test_how_to_choose_quotes_the_pages():
    """Differences with a sign, such as +.023, stand in the pages on people too."""
    docs = Path(__file__).parents[2] / "docs"
    difference = re.compile(r"[+-]\.\d{3}\b")
    quoted = set(difference.findall((docs / "how-to-choose.rst").read_text("utf-8")))
    made = {text for page in (docs / "people").glob("*.rst") for text in difference.findall(page.read_text("utf-8"))}
    assert quoted
    assert quoted <= made
