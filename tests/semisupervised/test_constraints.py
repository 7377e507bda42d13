"""Must-links and cannot-links of contradictory crowds, against explicit counting."""

from collections import defaultdict

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from consilience import Groupings, Pairs
from consilience.semisupervised.constraints import Constraints, add_entailed, colour_classes, neighbourhoods

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
def test_judgements_of_a_pair_are_combined(rows):
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


def test_worth_can_outweigh_the_number_of_votes():
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


def test_all_items_of_a_clique_have_different_colours():
    clique = Groupings.from_matrix(np.zeros((40, 1))).to_pairs()
    assert sorted(colour_classes(Constraints.of(clique), rng())) == list(range(40))


def test_a_chain_with_a_cannot_link_is_not_a_neighbourhood():
    rows = [(0, 1, "a", 1), (1, 2, "a", 1), (3, 4, "a", 1), (4, 5, "a", 1), (3, 5, "a", 0)]
    np.testing.assert_array_equal(neighbourhoods(Constraints.of(pairs_of(rows))), [0, 0, 0, -1, -1, -1, -1])


@given(judgements)
def test_entailed_pairs_hold_in_all_clusterings_that_satisfy_the_constraints(rows):
    """Every entailed pair is forced and added once; only chains without contradictions entail pairs."""
    given_constraints = Constraints.of(pairs_of(rows))
    more = add_entailed(given_constraints, 1000)
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
    assert add_entailed(found, 2) is found
    assert add_entailed(found, 3).n_pairs == 3
