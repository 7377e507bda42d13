"""Must-links and cannot-links of contradictory crowds, against explicit counting."""

from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilience import Groupings, Labels, Pairs
from consilience.errors import InputError
from consilience.semisupervised import constraints as module
from consilience.semisupervised.constraints import (
    Constraints,
    annotator_table,
    colour_classes,
    entailed,
    independent_share,
    log_odds,
    neighbourhoods,
    read_pairs,
    same_by_clusters,
)
from consilience.simulation.pairs import simulate_pairs

N = 7


def pairs_of(rows, items=range(N)):
    frame = pd.DataFrame(rows, columns=["item_a", "item_b", "annotator", "same"])
    return Pairs.from_frame(frame, items=list(items))


def rng(seed=0):
    return np.random.RandomState(seed)


judgements = st.lists(
    st.tuples(st.integers(0, N - 1), st.integers(0, N - 1), st.integers(0, 4), st.booleans()),
    min_size=1,
    max_size=40,
    unique_by=lambda row: (min(row[:2]), max(row[:2]), row[2]),
).map(lambda rows: [row for row in rows if row[0] != row[1]] or [(0, 1, 0, True)])


@given(judgements)
def test_judgements_of_a_pair_are_counted_together(rows):
    votes = defaultdict(list)
    for a, b, _, same in rows:
        votes[min(a, b), max(a, b)].append(1 if same else -1)
    found = Constraints.of(pairs_of(rows))
    expected = {pair: sum(v) for pair, v in sorted(votes.items()) if sum(v)}
    assert list(zip(found.item_a.tolist(), found.item_b.tolist())) == list(expected)
    np.testing.assert_array_equal(np.where(found.must, found.weight, -found.weight), list(expected.values()))
    assert found.n_judgements == len(rows)
    assert found.n_contradicted == sum(len(set(v)) > 1 for v in votes.values())
    assert found.n_ties == sum(sum(v) == 0 for v in votes.values())
    assert bool(found.notes) == (found.n_contradicted > 0)


def test_worth_decides_against_the_number_of_votes():
    pairs = pairs_of([(0, 1, "a", 1), (0, 1, "b", 0), (0, 1, "c", 0)])
    found = Constraints.of(pairs, np.array([3.0, 0.5, 0.5]))
    assert (found.must.tolist(), found.weight.tolist(), found.n_contradicted, found.n_ties) == ([True], [2.0], 1, 0)


@given(judgements)
def test_no_two_items_of_a_colour_share_a_constraint(rows):
    found = Constraints.of(pairs_of(rows))
    colour = colour_classes(found, rng())
    assert (colour[found.item_a] != colour[found.item_b]).all()
    held = np.isin(np.arange(N), np.r_[found.item_a, found.item_b])
    np.testing.assert_array_equal(colour >= 0, held)
    degree = np.bincount(np.r_[found.item_a, found.item_b], minlength=N)
    assert colour.max(initial=-1) <= degree.max()  # an item takes the first colour that no neighbour has


def test_all_items_of_a_clique_have_colours_of_their_own():
    clique = Groupings.from_matrix(np.zeros((40, 1))).to_pairs()
    assert sorted(colour_classes(Constraints.of(clique), rng())) == list(range(40))


def test_a_chain_that_a_cannot_link_contradicts_is_no_neighbourhood():
    rows = [(0, 1, "a", 1), (1, 2, "a", 1), (3, 4, "a", 1), (4, 5, "a", 1), (3, 5, "a", 0)]
    np.testing.assert_array_equal(neighbourhoods(Constraints.of(pairs_of(rows))), [0, 0, 0, -1, -1, -1, -1])


@given(judgements)
def test_what_follows_is_what_all_clusterings_that_keep_the_constraints_share(rows):
    """Every entailed pair is forced, and added once; with contradictions only where there are none."""
    given_constraints = Constraints.of(pairs_of(rows))
    more = entailed(given_constraints, 1000)
    group = neighbourhoods(given_constraints)
    kept = slice(given_constraints.n_pairs)
    np.testing.assert_array_equal(more.item_a[kept], given_constraints.item_a)
    assert len({*zip(more.item_a.tolist(), more.item_b.tolist())}) == more.n_pairs
    together = {(i, j) for i in range(N) for j in range(i + 1, N) if group[i] == group[j] >= 0}
    links = {(group[a], group[b]) for a, b in np.stack([more.item_a, more.item_b], 1)[kept][~more.must[kept]]}
    apart = {
        (i, j)
        for i in range(N)
        for j in range(i + 1, N)
        if min(group[i], group[j]) >= 0 and {(group[i], group[j]), (group[j], group[i])} & links
    }
    said = {*zip(given_constraints.item_a.tolist(), given_constraints.item_b.tolist())}
    added = {(a, b): m for a, b, m in zip(more.item_a.tolist(), more.item_b.tolist(), more.must) if (a, b) not in said}
    assert added == dict.fromkeys(together - said, True) | dict.fromkeys(apart - said, False)


def test_nothing_is_entailed_past_the_limit():
    found = Constraints.of(pairs_of([(0, 1, "a", 1), (1, 2, "a", 1)]))
    assert entailed(found, 2) is found
    assert entailed(found, 3).n_pairs == 3


def test_table_and_log_odds_of_annotators():
    labels = np.array([0, 0, 0, 1, 1, 1, 1])
    rows = [(0, 1, "a", 1), (0, 2, "a", 0), (0, 3, "a", 0), (1, 3, "a", 0), (3, 4, "b", 0), (0, 6, "b", 1)]
    pairs = pairs_of(rows)
    table = annotator_table(pairs, labels)
    expected = pd.DataFrame(
        {
            "n_pairs": [4, 2],
            "n_together": [2, 1],
            "accuracy": [0.75, 0.0],
            "sensitivity": [0.5, 0.0],
            "specificity": [1.0, 0.0],
        },
        index=pd.Index(["a", "b"], name="annotator"),
    )
    pd.testing.assert_frame_equal(table, expected)
    # a: P(yes | together) = 2/4, P(yes | apart) = 1/4; b is more often wrong than right
    worth = dict(zip(zip(pairs.annotator.tolist(), pairs.same.tolist()), log_odds(pairs, labels)))
    assert worth[0, True] == pytest.approx(np.log(2))
    assert worth[0, False] == pytest.approx(np.log((3 / 4) / (2 / 4)))
    assert (worth[1, True], worth[1, False]) == (0, 0)
    together = np.array([True, False])
    np.testing.assert_allclose(same_by_clusters(together, table, "a"), [2 / 4, 1 / 4])
    np.testing.assert_array_equal(same_by_clusters(together, table), [1, 0])
    with pytest.raises(InputError, match="Annotator 'z' was not fitted"):
        same_by_clusters(together, table, "z")


def test_pairs_of_a_grouping_count_for_one_judgement_fewer_than_items():
    table = np.array([[0, 0], [0, 1], [1, None], [1, 1], [None, None]], dtype=object)
    pairs = Groupings.from_matrix(table, annotators=["a", "b"]).to_pairs()
    share = independent_share(pairs)
    np.testing.assert_allclose(share, np.where(pairs.annotator == 0, 3 / 6, 2 / 3))
    tree = pairs_of([(0, 1, "a", 1), (1, 2, "a", 1), (3, 4, "a", 0)])
    np.testing.assert_array_equal(independent_share(tree), [1, 1, 1])
    assert independent_share(tree.restrict(annotators=[])).shape == (0,)


def test_pairs_are_matched_with_the_features_by_name():
    X = pd.DataFrame(np.zeros((4, 1)), index=list("dcba"))
    frame = pd.DataFrame({"item_a": ["a"], "item_b": ["d"], "annotator": ["x"], "same": [1]})
    for annotations in (Pairs.from_frame(frame), frame):
        pairs, notes = read_pairs(annotations, X, "M", None, rng())
        assert (pairs.item_a[0], pairs.item_b[0], notes) == (0, 3, [])
        assert pairs.items.equals(X.index)


def test_groupings_labels_and_arrays_give_the_same_pairs():
    table = [["p", "q"], ["p", None], ["q", "q"]]
    X = np.zeros((3, 1))
    found = [read_pairs(a, X, "M", None, rng())[0] for a in (Groupings.from_matrix(table), Labels.from_matrix(table))]
    array = read_pairs(np.array(table, dtype=object), X, "M", None, rng())[0]
    for pairs in (*found, array):
        np.testing.assert_array_equal(pairs.item_a, [0, 0, 0, 1])
        np.testing.assert_array_equal(pairs.item_b, [1, 2, 2, 2])
        np.testing.assert_array_equal(pairs.same, [True, False, True, False])


@pytest.mark.parametrize("kind", ["pairs", "groupings"])
def test_too_many_judgements_are_refused_or_drawn(kind, monkeypatch):
    monkeypatch.setattr(module, "LARGEST", 50)
    said = Groupings.from_matrix(np.random.default_rng(0).integers(3, size=(12, 2)))
    X, annotations = np.zeros((12, 1)), said.to_pairs() if kind == "pairs" else said
    with pytest.raises(InputError, match="hold 132 judgements of pairs, and M takes 50 at most"):
        read_pairs(annotations, X, "M", None, rng())
    drawn, notes = read_pairs(annotations, X, "M", 30, rng())
    assert drawn.n_rows == 30
    assert notes == ["Of 132 judgements of pairs, 30 were drawn at random."]
    whole = said.to_pairs()
    known = {*zip(whole.item_a.tolist(), whole.item_b.tolist(), whole.annotator.tolist(), whole.same.tolist())}
    assert {*zip(drawn.item_a.tolist(), drawn.item_b.tolist(), drawn.annotator.tolist(), drawn.same.tolist())} <= known


def test_pairs_drawn_from_groupings_are_uniform():
    said = Groupings.from_matrix(np.array([[0, 0], [0, 1], [1, None], [1, 1]], dtype=object))
    counts = np.zeros((4, 4))
    for seed in range(400):
        drawn, _ = read_pairs(said, np.zeros((4, 1)), "M", 3, rng(seed))
        np.add.at(counts, (drawn.item_a, drawn.item_b), 1)
    whole = np.zeros((4, 4))
    np.add.at(whole, (said.to_pairs().item_a, said.to_pairs().item_b), 400 / 3)  # 3 of 9 each
    np.testing.assert_allclose(counts, whole, atol=54)  # 4 standard errors of at most 13.4


@pytest.mark.parametrize(
    ("annotations", "X", "message"),
    [
        (None, np.zeros((3, 1)), "requires y to be passed"),
        (simulate_pairs([0, 0, 1, 1], 1, 2, random_state=0), np.zeros((3, 1)), "X has 3 rows and the pairs 4 items"),
        (pairs_of([("a", "b", "x", 1)], "ab"), pd.DataFrame({"f": [1, 2]}, index=["p", "q"]), "No item of the pairs"),
        (pairs_of([("a", "b", "x", 1)], "ab"), pd.DataFrame({"f": [1, 2]}, index=["a", "a"]), "more than one row"),
        (pairs_of([("a", "b", "x", 1)], "ab"), pd.DataFrame({"f": [1, 2]}, index=["a", "q"]), "not in the list"),
        (
            Pairs.from_frame(pd.DataFrame({"item_a": [1], "item_b": [0], "annotator": ["x"], "same": [1]})),
            np.zeros((2, 1)),
            "stand in the order of a table's rows",
        ),
    ],
)
def test_refuses_what_does_not_match(annotations, X, message):
    with pytest.raises(InputError, match=message):
        read_pairs(annotations, X, "M", None, rng())
