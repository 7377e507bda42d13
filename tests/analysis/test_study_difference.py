"""The difference of two studies: measures by brute force, errors as seldom as stated, and what is named."""

from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from consilience import Groupings, Labels, Pairs
from consilience.analysis.studies.agreement import agreement_table
from consilience.analysis.studies.clusters import matched_to
from consilience.analysis.studies.detectable import _swap_items, _swaps
from consilience.analysis.studies.permutation import Permutations, assignments, moved_items, p_values_of_all
from consilience.analysis.studies.prepared import TwoStudies
from consilience.analysis.studies.togetherness import Togetherness, ends, places_with, square
from consilience.errors import InputError
from consilience.inspection import study_difference

N_ITEMS = 12


def study(rng, n_people, moved=(), n_items=N_ITEMS, share=1.0, prefix="p"):
    """Sorts of items into three groups with errors; some items are in another group than usual."""
    truth = np.arange(n_items) % 3
    truth[list(moved)] = (truth[list(moved)] + 1) % 3
    cells = np.where(rng.random((n_items, n_people)) < 0.2, rng.integers(3, size=(n_items, n_people)), truth[:, None])
    cells = np.char.add("group ", cells.astype(str)).astype(object)
    cells[rng.random(cells.shape) > share] = None
    names = [f"{prefix}{number}" for number in range(n_people)]
    return Groupings.from_matrix(pd.DataFrame(cells, index=[f"card {i}" for i in range(n_items)], columns=names))


def repeated(rng, n_people):
    """Partial sorts, two by each person."""
    rows = []
    for person in range(n_people):
        for time in range(2):
            some = rng.permutation(N_ITEMS)[:8]
            rows += [(f"card {i}", f"p{person}", f"t{time}", f"g{rng.integers(3)}") for i in some]
    frame = pd.DataFrame(rows, columns=["item", "annotator", "grouping", "group"])
    return Groupings.from_frame(frame, items=[f"card {i}" for i in range(N_ITEMS)])


def counted_by_hand(groupings):
    """How often each person put each pair together, and had it in one grouping."""
    together, occasions = ({} for _ in range(2))
    for (who, _), part in groupings.to_frame().groupby(["annotator", "grouping"]):
        rows = list(zip(part["item"], part["group"], strict=True))
        for (one, in_one), (other, in_other) in combinations(rows, 2):
            key = (who, frozenset([one, other]))
            occasions[key] = occasions.get(key, 0) + 1
            together[key] = together.get(key, 0) + (in_one == in_other)
    return together, occasions


def two(first, second, **options):
    return TwoStudies.of(first, second, ("first", "second"), **{"same_people": False} | options)


@pytest.mark.parametrize("make", [study, repeated])
def test_pairs_are_counted_as_by_hand(make):
    groupings = make(np.random.default_rng(0), 5)
    table, items = Togetherness.of(groupings), groupings.items
    together, occasions = counted_by_hand(groupings)
    s, o = table.sums(np.eye(5), np.arange(table.n_pairs))
    for place, (a, b) in enumerate(zip(*ends(N_ITEMS), strict=True)):
        for person, who in enumerate(groupings.annotators):
            key = (who, frozenset([items[a], items[b]]))
            assert s[person, place] == together.get(key, 0)
            assert o[person, place] == occasions.get(key, 0)
    assert table.is_complete == (make is study)
    m = s.sum(0) / np.maximum(o.sum(0), 1)
    expected = ((s - m * o) ** 2).sum(0) / np.maximum(o.sum(0), 1)
    np.testing.assert_allclose(table.spread(np.arange(table.n_pairs)), expected, atol=1e-12)


def test_places_of_pairs_agree():
    low, high = ends(7)
    for item in range(7):
        places = places_with(item, 7)
        assert (np.where(low[places] == item, high[places], low[places]) == np.delete(np.arange(7), item)).all()
    matrix = square(np.arange(21.0), 7, np.nan)
    assert all(matrix[a, b] == matrix[b, a] == place for place, (a, b) in enumerate(zip(low, high, strict=True)))


@pytest.mark.parametrize("make", [study, repeated])
def test_the_measures_are_those_of_the_formulae(make):
    rng = np.random.default_rng(1)
    both = two(make(rng, 6), make(rng, 4))
    in_first = assignments(both.first, both.partner, 8, rng)
    found = Permutations.of(both.table, in_first)
    s, o = both.table.sums(np.eye(10), np.arange(both.table.n_pairs))
    low, high = ends(N_ITEMS)
    for row, z in enumerate(in_first.astype(bool)):
        o_1, o_2 = o[z].sum(0), o[~z].sum(0)
        seen = (o_1 > 0) & (o_2 > 0)
        m_1, m_2 = (s[part].sum(0)[seen] / o[part].sum(0)[seen] for part in (z, ~z))
        q = np.zeros(len(seen))
        q[seen] = (m_1 - m_2) ** 2 / (1 / o_1[seen] + 1 / o_2[seen])
        t = [q[(low == item) | (high == item)].sum() for item in range(N_ITEMS)]
        np.testing.assert_allclose(found.by_item[row], t)
        spread = both.table.spread(np.arange(len(q)))
        assert found.largest_z2[row] == pytest.approx((q / np.where(spread > 1e-9, spread, np.inf)).max())
        assert found.correlation[row] == pytest.approx(np.corrcoef(m_1, m_2)[0, 1])


def test_the_p_value_is_that_of_all_exchanges():
    """With three people a side there are 20 exchanges; the permutations give the same share as listing all."""
    rng = np.random.default_rng(3)
    both = two(study(rng, 3), study(rng, 3, moved=[0]))
    every = np.array([np.isin(np.arange(6), chosen) for chosen in combinations(range(6), 3)]).astype(float)
    exact = Permutations.of(both.table, every)  # its first row is the observed one
    assert (every[0] == both.first).all()
    drawn = Permutations.of(both.table, assignments(both.first, both.partner, 4000, rng))
    of_sum = [p_values_of_all(found.measures[0])[0] for found in (drawn, exact)]
    assert of_sum[0] == pytest.approx(of_sum[1], abs=0.04)


def test_people_who_took_part_twice_are_exchanged_with_themselves():
    first = np.repeat([True, False], [4, 3])
    partner = np.array([4, 5, -1, -1, 0, 1, -1])
    table = assignments(first, partner, 400, np.random.default_rng(0))
    assert (table.sum(1) == 4).all()
    assert (table[:, [0, 1]] + table[:, [4, 5]] == 1).all()
    assert table[1:, 0].mean() == pytest.approx(0.5, abs=0.1)
    assert table[1:, 6].mean() == pytest.approx(2 / 3, abs=0.1)  # two places of the first study for three people
    assert (table[0] == first).all()


def test_studies_of_one_population_seldom_differ():
    """Of 40 studies, 2 differ on average by chance, and more than 7 with a probability of 0.001."""
    n_claims = 0
    for draw in range(40):
        rng = np.random.default_rng(draw)
        both = two(study(rng, 8), study(rng, 10, prefix="q"))
        in_first = assignments(both.first, both.partner, 99, rng)
        measured = Permutations.of(both.table, in_first)
        claims = [measured.p_value <= 0.05, len(moved_items(both.table, in_first, measured).items) > 0]
        n_claims += any(claims) or measured.p_of_pairs.min() <= 0.05
    assert n_claims <= 7


def test_what_moved_is_named_and_nothing_else():
    rng = np.random.default_rng(5)
    found = study_difference(study(rng, 20), study(rng, 20, moved=[4]), random_state=0)
    assert found.differ
    assert found.moved == ["card 4"]
    assert found.p_rest > 0.05
    assert found.items["moved"].sum() == 1
    assert found.items.index[found.items["change"].argmax()] == "card 4"
    assert found.moves.index.tolist() == ["card 4"]
    assert found.items.loc["card 4", "probability"] > 0.8
    clear = found.pairs[found.pairs["p_value"] <= 0.05]
    assert len(clear) >= 4
    assert ((clear["item_a"] == "card 4") | (clear["item_b"] == "card 4")).all()


def test_the_table_of_pairs_and_its_matrix():
    rng = np.random.default_rng(6)
    first, second = study(rng, 9), study(rng, 7, share=0.7)
    found = study_difference(first, second, n_draws=0, random_state=0)
    pair = found.pairs.sample(1, random_state=1).iloc[0]
    for groupings, column in ((first, "first"), (second, "second")):
        together, occasions = counted_by_hand(groupings)
        key = frozenset([pair["item_a"], pair["item_b"]])
        seen = [who for who, pair_of in occasions if pair_of == key]
        assert pair[f"n_{column}"] == len(seen)
        assert pair[column] == pytest.approx(np.mean([together[who, key] for who in seen]))
    assert pair["difference"] == pytest.approx(pair["second"] - pair["first"])
    known = found.pairs.dropna()
    assert ((known["low"] <= known["difference"]) & (known["difference"] <= known["high"])).all()
    matrix = found.matrix()
    assert matrix.loc[pair["item_b"], pair["item_a"]] == pair["difference"]
    assert matrix.equals(matrix.T)
    assert found.items["probability"].isna().all()
    with pytest.raises(InputError, match=r"must be one of first, second.* Got 'nothing' instead"):
        found.matrix("nothing")


def test_agreement_is_the_mean_index_of_two_people():
    rng = np.random.default_rng(7)
    first, second = study(rng, 5), study(rng, 4, prefix="q")
    found = study_difference(first, second, n_draws=0, random_state=0)
    one, other = (groupings.to_matrix().to_numpy().T for groupings in (first, second))
    within = [adjusted_rand_score(a, b) for a, b in combinations(one, 2)]
    between = [adjusted_rand_score(a, b) for a in one for b in other]
    assert found.agreement.loc["within first", "agreement"] == pytest.approx(np.mean(within))
    assert found.agreement.loc["between first and second", "agreement"] == pytest.approx(np.mean(between))
    assert (found.agreement["low"] < found.agreement["agreement"]).all()
    assert len(found.agreement) == 3


@pytest.mark.slow
def test_the_same_people_agree_with_themselves_and_show_smaller_changes():
    rng = np.random.default_rng(8)
    own = rng.integers(4, size=(N_ITEMS, 12))  # everybody sorts in a way of their own, twice
    names = [f"p{number}" for number in range(12)]
    index = [f"card {i}" for i in range(N_ITEMS)]
    before = pd.DataFrame(own.astype(str), index=index, columns=names)
    after = before.copy()
    after.loc["card 3"] = before.loc["card 0"]
    strangers = study_difference(Groupings.from_matrix(before), Groupings.from_matrix(after), n_draws=0, random_state=0)
    same = study_difference(
        Groupings.from_matrix(before), Groupings.from_matrix(after), same_people=True, n_draws=0, random_state=0
    )
    assert same.n_same_people == 12
    assert same.p_value < strangers.p_value
    assert same.agreement.loc["of a person with themselves", "agreement"] > 0.6
    assert any("count as different people" in text for text in strangers.notes)


def test_matched_clusters_keep_as_many_items_as_possible():
    rng = np.random.default_rng(9)
    for _ in range(20):
        one, other = rng.integers(4, size=(2, 15))
        one, other = (np.unique(codes, return_inverse=True)[1] for codes in (one, other))
        n = max(one.max(), other.max()) + 1
        best = max((np.array(order)[other] == one).sum() for order in permutations(range(n)))
        assert (matched_to(one, other) == one).sum() == best


def test_items_change_places_with_items_of_other_clusters():
    rng = np.random.default_rng(10)
    clusters = np.array([0] * 5 + [1] * 3 + [2] * 2)
    swaps = _swaps(clusters, rng)
    assert len(np.unique(swaps)) == swaps.size
    assert (clusters[swaps[:, 0]] != clusters[swaps[:, 1]]).all()
    matrix = rng.random((10, 10))
    *_, moved, _ = _swap_items((matrix, matrix, matrix, matrix), swaps[:1])
    a, b = swaps[0]
    others = np.setdiff1d(np.arange(10), [a, b])
    np.testing.assert_array_equal(moved[a, others], matrix[b, others])
    np.testing.assert_array_equal(moved[np.ix_(others, others)], matrix[np.ix_(others, others)])


@pytest.mark.slow
def test_more_people_find_smaller_differences():
    rng = np.random.default_rng(11)
    few = study_difference(study(rng, 3), study(rng, 3, prefix="q"), n_draws=0, random_state=0)
    many = study_difference(study(rng, 30), study(rng, 30, prefix="q"), n_draws=0, random_state=0)
    assert few.power["found"].iloc[0] < many.power["found"].iloc[0] == 1
    assert many.detectable == 2


def test_items_of_one_study_only_are_listed_and_not_compared():
    rng = np.random.default_rng(12)
    first = study(rng, 8)
    second = study(rng, 8, n_items=10, prefix="q")
    found = study_difference(first, second, n_draws=0, random_state=0)
    assert found.only_first.tolist() == ["card 10", "card 11"]
    assert found.only_second.empty
    assert len(found.items) == 10
    assert len(found.pairs) == 45


def test_names_that_are_numbers_in_one_study_and_text_in_the_other_meet():
    cells = np.array([["a", "b"], ["a", "b"], ["b", "a"], ["b", "a"]])
    first = Groupings.from_matrix(pd.DataFrame(cells, index=[1, 2, 3, 4], columns=["x", "y"]))
    second = Groupings.from_matrix(pd.DataFrame(cells, index=["1", "2", "3", "4"], columns=["x", "y"]))
    found = study_difference(first, second, n_draws=0, random_state=0)
    assert found.items.index.tolist() == [1, 2, 3, 4]
    assert not found.differ


def test_labels_are_compared_by_the_items_that_share_them():
    cells = np.array([["cat", "dog"] * 4, ["cat", "dog"] * 4, ["dog", "cat"] * 4, ["dog", "cat"] * 4])
    labels = Labels.from_matrix(pd.DataFrame(cells, index=list("abcd"), columns=range(8)))
    found = study_difference(labels, labels, n_draws=0, random_state=0)
    assert found.p_value == 1
    assert any("names of the labels do not count" in text for text in found.notes)


@pytest.mark.slow
def test_the_order_of_items_and_people_changes_nothing():
    rng = np.random.default_rng(13)
    first, second = study(rng, 6), study(rng, 7, moved=[1, 2], prefix="q")
    found = study_difference(first, second, n_draws=0, random_state=0)
    again = study_difference(first, second[::-1], n_draws=0, random_state=0)
    pd.testing.assert_frame_equal(found.items.drop(columns=["second"]), again.items.drop(columns=["second"]))
    assert found.p_value == again.p_value


TINY = Groupings.from_lists([[["a", "b"], ["c"]]] * 3)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (
            (TINY, Groupings.from_lists([[["x", "y"], ["z"]]] * 3)),
            {},
            r"at least 3 items in common.*first has 'a'",
        ),
        ((TINY, Groupings.from_lists([[["a", "b"], ["c"]]])), {}, r"In second one did\."),
        ((TINY, TINY), {"names": ("a", "a")}, r"'names' parameter of study_difference must be two different names"),
        ((TINY, TINY), {"n_permutations": 10}, r"'n_permutations' parameter of study_difference"),
        ((TINY, TINY), {"n_draws": 1}, r"must be 0, or at least 2"),
        ((TINY, TINY), {"n_clusters": 0}, r"'n_clusters' parameter of study_difference"),
        ((TINY, TINY), {"same_people": "yes"}, r"'same_people' parameter of study_difference must be True or False"),
        ((TINY, TINY.to_pairs()), {}, r"reads partition labels, which Pairs do not contain"),
    ],
)
def test_what_cannot_be_compared_is_said_in_a_sentence(arguments, options, message):
    with pytest.raises(InputError, match=message):
        study_difference(*arguments, **options)


def test_the_same_people_must_be_in_both():
    other = Groupings.from_lists([[["a", "b"], ["c"]]] * 3, annotators=["x", "y", "z"])
    with pytest.raises(InputError, match=r"no annotator of before \(such as '0'\) is among those of after"):
        study_difference(TINY, other, names=("before", "after"), same_people=True)


def test_three_items_and_two_people_are_enough():
    found = study_difference(TINY, TINY, random_state=0)
    assert found.p_value == 1
    assert found.moved == []
    assert isinstance(TINY.to_pairs(), Pairs)


def test_intervals_of_agreement_are_wider_for_fewer_people():
    rng = np.random.default_rng(14)
    widths = []
    for n in (5, 40):
        both = two(study(rng, n), study(rng, n, prefix="q"))
        table = agreement_table(both.agreement, both.first, both.partner, ("a", "b"), 500, rng)
        widths.append((table["high"] - table["low"]).to_numpy())
    assert widths[0].mean() > 1.5 * widths[1].mean()
