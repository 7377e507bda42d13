"""How many people a study needs, by simulation."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from consilience import Groupings
from consilience.active import plan
from consilience.active.imagined_people import imagined_people, map_of, people_of
from consilience.active.planning import find_crossing
from consilience.active.stability import only
from consilience.consensus import KCC
from consilience.errors import InputError
from consilience.metrics import ami, mean_agreement
from consilience.simulation import gaussian_clusters, present, random_subsets, simulate_crowd

GUESS = {"n_items": 24, "n_clusters": 4, "agreement": 0.5}
FAST = KCC(n_clusters=4, n_init=2)  # much faster than the default
QUICK = {"n_draws": 2, "random_state": 0, "model": FAST}


def crowd(n_annotators, accuracy, *, seed=0, **told):
    classes = pd.Series(np.arange(24) % 4, index=[f"card {number}" for number in range(24)])
    return simulate_crowd(classes, n_annotators=n_annotators, accuracy=accuracy, random_state=seed, **told)


def all_sorted_by(people, n):
    return present([people.draw() for _ in range(n)], [list(people.items)] * n, items=people.items)


@pytest.mark.parametrize("agreement", [0.2, 0.5, 0.8])
def test_imagined_people_agree_as_told(agreement):
    people = imagined_people(40, n_clusters=5, agreement=agreement, rng=np.random.default_rng(0))
    assert mean_agreement(all_sorted_by(people, 60)) == pytest.approx(agreement, abs=0.06)


def test_people_of_a_pilot_agree_and_group_as_its_people_do():
    pilot = crowd(15, 0.75, merge=0.2)
    people = people_of(pilot, np.random.default_rng(0))
    groupings = all_sorted_by(people, 60)
    assert mean_agreement(groupings) == pytest.approx(mean_agreement(pilot), abs=0.06)
    assert groupings.items.equals(pilot.items)
    counts = np.bincount(groupings.grouping_of_group)
    assert set(counts) <= set(np.bincount(pilot.grouping_of_group))
    together = {frozenset(pair) for pair in [("card 0", "card 4"), ("card 1", "card 5"), ("card 2", "card 6")]}
    apart = {frozenset(pair) for pair in [("card 0", "card 1"), ("card 2", "card 3"), ("card 5", "card 7")]}
    share = {pair: share_together(groupings, *pair) for pair in together | apart}
    assert min(share[pair] for pair in together) > max(share[pair] for pair in apart)


def share_together(groupings, a, b):
    matrix = groupings.to_matrix()
    return (matrix.loc[a] == matrix.loc[b]).mean()


@pytest.mark.slow
def test_a_pilot_of_subsets_is_answered_in_subsets():
    task = gaussian_clusters(60, n_clusters=4, random_state=0)
    truth = dict(zip(task.data.index, task.target))

    def careful(items):
        return [[item for item in items if truth[item] == one] for one in {truth[item] for item in items}]

    pilot = present(careful, random_subsets(range(60), 10, 80, random_state=0), items=range(60))
    people = people_of(pilot, np.random.default_rng(0))
    assert people.size == 10
    assert plan(pilot=pilot, target=0.5, max_annotators=20, **QUICK).subset_size == 10
    with pytest.raises(InputError, match=r"at most 10, which people of the pilot sorted at a time.* Got 12"):
        plan(pilot=pilot, subset_size=12)


def test_the_map_of_a_pilot_is_near_its_probabilities():
    pilot = crowd(12, 0.9)
    places = map_of(pilot, np.random.default_rng(0))
    squared = ((places[:, None] - places[None]) ** 2).sum(axis=-1)
    same = np.equal.outer(np.arange(24) % 4, np.arange(24) % 4)
    assert squared[same].max() < squared[~same].min()


@pytest.mark.slow
def test_more_agreement_needs_fewer_people_and_a_higher_target_more():
    needed = {
        (agreement, target): plan(
            24, n_clusters=4, agreement=agreement, target=target, n_draws=3, model=FAST, random_state=0
        )
        for agreement, target in [(0.4, 0.5), (0.4, 0.8), (0.7, 0.8)]
    }
    numbers = {told: found.annotators for told, found in needed.items()}
    assert numbers[0.7, 0.8] < numbers[0.4, 0.8]
    assert numbers[0.4, 0.5] < numbers[0.4, 0.8]
    assert all(np.isfinite(list(numbers.values())))


@pytest.mark.slow
def test_studies_by_people_of_a_pilot_agree_as_those_by_its_people_do():
    people = imagined_people(24, n_clusters=4, agreement=0.25, rng=np.random.default_rng(5))
    found = plan(pilot=all_sorted_by(people, 40), target=0.7, n_draws=6, model=FAST, random_state=1).table["agreement"]
    agreements = [np.mean([agreement_of_two_studies(people, number) for _ in range(6)]) for number in found.index]
    assert np.mean(found - agreements) == pytest.approx(0, abs=0.1)


def agreement_of_two_studies(people, n_annotators):
    one, other = (clone(FAST).fit(all_sorted_by(people, n_annotators)).labels_ for _ in range(2))
    return ami(one, other)


@pytest.mark.slow
def test_subsets_need_as_many_more_people_as_they_are_smaller_or_more():
    whole, part = (plan(**GUESS, target=0.7, subset_size=size, **QUICK) for size in (24, 8))
    assert part.annotators > whole.annotators
    assert part.groupings == part.annotators
    assert part.groupings_per_item == pytest.approx(part.annotators / 3)
    twice = plan(**GUESS, target=0.7, subset_size=8, subsets_each=2, **QUICK)
    assert twice.groupings == 2 * twice.annotators
    assert twice.table.index[0] == 2  # people who see 24 items in all, of 24: each item once or twice
    assert part.table.index[0] == 3
    assert part.table["covered"].iloc[0] < 1


@pytest.mark.slow
def test_the_table_holds_what_was_simulated_up_to_the_target():
    found = plan(**GUESS, target=0.8, n_draws=3, model=FAST, random_state=0)
    table = found.table
    assert table.index.is_monotonic_increasing
    assert table.index.name == "annotators"
    assert (table["low"] <= table["agreement"]).all()
    assert (table["agreement"] <= table["high"]).all()
    assert (table["agreement"].iloc[-2:] >= 0.8).all()
    assert not (table["agreement"].iloc[-3:-1] >= 0.8).all()
    assert table.index[0] <= found.annotators <= table.index[-1]
    assert found.agreement == 0.5


def test_a_target_out_of_reach_is_infinite():
    found = plan(24, n_clusters=4, agreement=0.1, target=0.99, max_annotators=4, **QUICK)
    assert np.isinf(found.annotators)
    assert found.table.index.tolist() == [2, 3, 4]
    assert "inf" in found._repr_html_()


def test_the_number_is_read_from_a_curve_that_never_falls():
    numbers = np.array([2, 4, 8, 16])
    assert find_crossing(numbers, np.array([0.1, 0.3, 0.7, 0.9]), 0.7) == pytest.approx(8)
    assert find_crossing(numbers, np.array([0.1, 0.3, 0.7, 0.9]), 0.5) == pytest.approx(np.sqrt(32))
    assert find_crossing(numbers, np.array([0.1, 0.8, 0.6, 0.9]), 0.7) == pytest.approx(4)  # .8 and .6 are .7 twice
    assert find_crossing(numbers, np.array([0.6, 0.7, 0.8, 0.9]), 0.5) == 2
    assert np.isinf(find_crossing(numbers, np.array([0.1, 0.3, 0.7, 0.9]), 0.95))


@pytest.mark.slow
def test_plans_are_repeated_by_a_seed_and_take_another_model():
    one, same, other = (plan(**GUESS, target=0.5, n_draws=1, random_state=seed) for seed in (0, 0, 1))
    pd.testing.assert_frame_equal(one.table, same.table)
    assert not one.table["agreement"].equals(other.table["agreement"])
    kcc = plan(**GUESS, target=0.6, **QUICK)
    assert (kcc.table["n_clusters"] == 4).all()


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({}, "'n_items' parameter of plan must be an int from 3 to 3,000, or a 'pilot' be given. Got None"),
        (
            {"n_items": 20, "n_clusters": 4},
            r"'agreement' parameter of plan must be a number in .*, or a 'pilot' be given",
        ),
        (GUESS | {"agreement": 1}, "'agreement' parameter of plan must be"),
        (GUESS | {"n_clusters": 25}, "'n_clusters' parameter of plan must be at most 24, the number of items. Got 25"),
        (GUESS | {"target": 1}, "'target' parameter of plan must be"),
        (
            GUESS | {"subset_size": 25, "n_draws": 1},
            "'subset_size' parameter of plan must be at most 24, the number of items",
        ),
        (GUESS | {"subset_size": 1}, "'subset_size' parameter of plan must be an int of at least 2 or None. Got 1"),
        (GUESS | {"subsets_each": 0}, "'subsets_each' parameter of plan"),
        (GUESS | {"max_annotators": 1}, "'max_annotators' parameter of plan"),
        (GUESS | {"n_draws": 0}, "'n_draws' parameter of plan"),
        (GUESS | {"model": "SubsetFusion"}, "'model' parameter of plan must be an estimator or None"),
    ],
)
def test_wrong_parameters_are_named(told, message):
    with pytest.raises(InputError, match=message):
        plan(**told)


def test_pilots_that_tell_nothing_are_refused():
    pilot = crowd(3, 0.9)
    with pytest.raises(InputError, match="'pilot' of plan tells the 'agreement' too"):
        plan(pilot=pilot, agreement=0.5)
    with pytest.raises(InputError, match="plan"):
        plan(pilot=pilot.to_pairs())
    with pytest.raises(InputError, match="no two annotators grouped the same two items"):
        plan(pilot=only(pilot, np.array([0])))
    apart = Groupings.from_lists([[["a", "b"], ["c"]], [["d", "e"], ["f"]]])
    with pytest.raises(InputError, match="no two annotators grouped the same two items"):
        plan(pilot=apart)
