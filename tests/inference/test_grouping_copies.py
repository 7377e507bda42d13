"""Copies among annotators who group: counts by hand, who is found and who is not, and what is read of them."""

import itertools

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from consilience import Groupings
from consilience.inference import grouping_copies as science
from consilience.inference.grouping_copies import common_items, find_copies, given_copies, memberships_read
from consilience.inference.memberships import Memberships
from consilience.inference.telling_items import share_that_tells, tell_little
from consilience.simulation import simulate_crowd

N_ITEMS = 120


def truth_of(seed):
    return np.random.default_rng([seed, 0]).permutation(np.arange(N_ITEMS) % 4)


def people(seed, accuracies, true=None):
    true = truth_of(seed) if true is None else true
    crowd = simulate_crowd(true, n_annotators=len(accuracies), accuracy=accuracies, random_state=seed)
    return crowd.to_matrix().to_numpy()


def with_copies(seed, n_copies, moved=2):
    """Six people at .8, a sort at random, and copies of it."""
    rng = np.random.default_rng([seed, 1])
    first = rng.integers(4, size=N_ITEMS)
    columns = [first]
    for _ in range(n_copies):
        columns.append(first.copy())
        columns[-1][rng.choice(N_ITEMS, moved, replace=False)] = rng.integers(4, size=moved)
    return np.column_stack([people(seed, [0.8] * 6), np.array(columns, dtype=object).T])


def memberships(matrix):
    return Memberships.of(matrix if isinstance(matrix, Groupings) else Groupings.from_matrix(matrix))


def several_groupings(seed):
    """Three annotators with two groupings each of different items."""
    rng = np.random.default_rng(seed)
    sorts = []
    for _ in range(6):
        items, group = rng.choice(12, 9, replace=False), rng.integers(3, size=9)
        sorts.append([items[group == g].tolist() for g in range(3)])
    return Groupings.from_lists(sorts, annotators=list("aabbcc"), items=range(12))


@pytest.mark.parametrize("dense", [0.0, 2.0])
@pytest.mark.parametrize("cells", [0, 1 << 23])
def test_pairs_by_brute_force(monkeypatch, dense, cells):
    """T, A, B and P of (1) from loops over pairs of items; the same from dense and from sparse tables."""
    monkeypatch.setattr(science, "DENSE", dense)
    monkeypatch.setattr(science, "DENSE_CELLS", cells)
    groupings = several_groupings(0)
    pairs = common_items(memberships(groupings))
    frame = groupings.to_frame()
    place = {name: dict(zip(of["item"], of["group"])) for name, of in frame.groupby("grouping")}
    owner = dict(zip(frame["grouping"], frame["annotator"]))
    for row, (a, b) in enumerate(itertools.combinations("abc", 2)):
        assert (groupings.annotators[pairs.first[row]], groupings.annotators[pairs.second[row]]) == (a, b)
        excess = possible = attainable = 0.0
        for h, k in itertools.product(place, place):
            if (owner[h], owner[k]) == (a, b):
                both = list(itertools.combinations(sorted(place[h].keys() & place[k].keys()), 2))
                if both:
                    in_h, in_k = (np.array([place[x][i] == place[x][j] for i, j in both]) for x in (h, k))
                    chance = in_h.sum() * in_k.sum() / len(both)
                    excess += (in_h & in_k).sum() - chance
                    possible += (in_h.sum() + in_k.sum()) / 2 - chance
                    attainable += min(in_h.sum(), in_k.sum()) - chance
        assert (pairs.excess[row], pairs.possible[row], pairs.attainable[row]) == pytest.approx(
            (excess, possible, attainable)
        )


def test_agreement_of_two_sorts_is_the_adjusted_rand_index():
    sorts = people(0, [0.5, 0.7, 0.9])
    pairs = common_items(memberships(sorts))
    for a, b, kappa in zip(pairs.first, pairs.second, pairs.kappa):
        assert kappa == pytest.approx(adjusted_rand_score(sorts[:, a].astype(str), sorts[:, b].astype(str)))


def test_blocks_of_groups_change_nothing(monkeypatch):
    sorts = memberships(people(1, [0.8] * 4))
    whole = common_items(sorts)
    monkeypatch.setattr(science, "AT_A_TIME", 50)
    np.testing.assert_array_equal(common_items(sorts).excess, whole.excess)


@pytest.mark.parametrize("n_copies", [1, 3, 6])
def test_copies_are_found(n_copies):
    for seed in range(3):
        found = find_copies(memberships(with_copies(seed, n_copies)))
        assert [found.members(number) for number in range(len(found))] == [list(range(6, 7 + n_copies))]
        assert found.evidence.kappa[0] > 0.85
        assert found.evidence.explained[0] < 0.1 < 0.8 < found.evidence.dependence[0]


@pytest.mark.parametrize(
    "make",
    [
        lambda seed: people(seed, [0.97] * 6),
        lambda seed: people(seed, [0.97] * 6 + [0.6] * 6),
        lambda seed: np.hstack([people(seed, [0.97] * 4), people(seed + 99, [0.97] * 4)]),
        lambda seed: np.hstack([people(seed, [0.8] * 5), people(seed + 99, [0.97] * 4, truth_of(seed) // 2)]),
        lambda seed: simulate_crowd(truth_of(seed), n_annotators=60, items_each=12, random_state=seed),
    ],
    ids=["all good", "good among poor", "schools", "coarse", "few items each"],
)
def test_independent_people_are_no_copies(make):
    for seed in range(5):
        assert not len(find_copies(memberships(make(seed))))


def test_groupings_of_one_annotator_are_not_compared():
    sorts = people(0, [0.8] * 8).copy()
    sorts[:, 7] = sorts[:, 6]
    owner = [*"abcdef", "g", "g"]
    twice = Groupings.from_lists(
        [[np.flatnonzero(column == group).tolist() for group in np.unique(column)] for column in sorts.T],
        annotators=owner,
        items=range(N_ITEMS),
    )
    assert not len(find_copies(Memberships.of(twice)))
    assert len(find_copies(memberships(sorts))) == 1  # by two annotators they are


def test_sorts_that_tell_nothing_are_no_copies():
    lumped = np.zeros((N_ITEMS, 2), dtype=object)
    lumped[:2] = 1
    alone = np.repeat(np.arange(N_ITEMS)[:, None], 2, axis=1).astype(object)
    assert not len(find_copies(memberships(np.hstack([people(0, [0.8] * 6), lumped, alone]))))


def test_of_copies_one_is_read_for_each_item():
    matrix = np.array([[0, 0, 1], [0, None, 1], [1, 1, 0], [None, 1, 0]], dtype=object)
    sorts = memberships(matrix)
    read = memberships_read(sorts, np.array([0, 0, -1]))
    kept = {(int(i), int(h)) for i, h in zip(sorts.item[read], sorts.grouping[read])}
    assert kept == {(0, 0), (1, 0), (2, 0), (3, 1), (0, 2), (1, 2), (2, 2), (3, 2)}
    assert memberships_read(sorts, np.full(3, -1)).all()


def test_given_groups_have_evidence_even_without_others():
    found = given_copies(memberships(people(0, [0.9] * 2)), [[0, 1]])
    assert np.isnan(found.evidence.explained[0])
    assert found.evidence.p_value[0] == 1
    assert found.evidence.n_items[0] == N_ITEMS


def test_items_that_tell_by_hand():
    """48 of 50 in one group: 50 · (1 - 1128 / 1225); all alone: none; two groups of 25: the pairs apart."""
    lumped, alone, halves = np.zeros(50, int), np.arange(50), np.arange(50) % 2
    lumped[:2] = [1, 2]
    share = share_that_tells(memberships(np.column_stack([lumped, alone, halves])))
    np.testing.assert_allclose(share, [1 - 1128 / 1225, 0, 1 - 600 / 1225])
    crowd = np.column_stack([lumped, alone, *[halves] * 4])
    assert tell_little(memberships(crowd)).tolist() == [True, True, *[False] * 4]
    assert not tell_little(memberships(np.column_stack([*[lumped] * 4, halves]))).any()  # as most do
