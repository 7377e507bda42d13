"""Canonical order: the same for all orders and names of the same annotations."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience import Groupings, Labels, Pairs
from consilience.annotations import refinement
from consilience.annotations.canonical import arrange, arrange_items
from consilience.annotations.refinement import Links, Structure, canonical_places, places_of_rows
from tests.scrambled import scramble

NAMES = st.sampled_from(["ant", "bee", "cow", "dog", "elk", "fly", "gnu"])
WHO = st.sampled_from(["Ann", "Bo", "Cy"])
LABEL = st.sampled_from(["p", "q"])


@st.composite
def some_groupings(draw):
    n_items, n_annotators = draw(st.integers(1, 7)), draw(st.integers(1, 4))
    cell = st.sampled_from([None, "p", "q"])
    rows = draw(
        st.lists(st.lists(cell, min_size=n_annotators, max_size=n_annotators), min_size=n_items, max_size=n_items)
    )
    return partial(Groupings.from_matrix, np.array(rows, dtype=object))


@st.composite
def some_occasions(draw):
    """Groupings of which annotators may give several."""
    keys = draw(st.lists(st.tuples(NAMES, WHO, st.integers(0, 2)), min_size=1, max_size=14, unique=True))
    frame = pd.DataFrame(keys, columns=["item", "annotator", "grouping"])
    frame["group"] = draw(st.lists(LABEL, min_size=len(keys), max_size=len(keys)))
    return partial(Groupings.from_frame, frame)


@st.composite
def some_labels(draw):
    rows = draw(st.lists(st.tuples(NAMES, WHO, LABEL), min_size=1, max_size=14, unique=True))
    return partial(Labels.from_frame, pd.DataFrame(rows, columns=["item", "annotator", "label"]))


@st.composite
def some_pairs(draw):
    pair = st.tuples(NAMES, NAMES).filter(lambda two: two[0] != two[1])
    rows = draw(st.lists(st.tuples(pair, WHO, st.integers(0, 1), st.booleans()), min_size=1, max_size=10))
    columns = {"item_a": [p[0] for p, *_ in rows], "item_b": [p[1] for p, *_ in rows]}
    rest = {name: [row[place] for row in rows] for place, name in enumerate(("annotator", "grouping", "same"), 1)}
    return partial(Pairs.from_frame, pd.DataFrame(columns | rest))


def content(said):
    """Return the content of annotations as numbers, without names."""
    if isinstance(said, Groupings):
        return said.incidence.toarray(), said.grouping_of_group, said.annotator_of_grouping
    if isinstance(said, Labels):
        return said.item, said.annotator, said.label
    return said.item_a, said.item_b, said.annotator, said.grouping, said.same


def assert_same_content(one, two):
    for here, there in zip(content(one), content(two), strict=True):
        np.testing.assert_array_equal(here, there)


ANY = st.one_of(some_groupings(), some_occasions(), some_labels(), some_pairs())


@settings(max_examples=300)
@given(ANY, st.integers(0, 2**31))
def test_order_and_names_change_nothing(make, seed):
    said = make()
    other = scramble(said, np.random.default_rng(seed)).annotations
    assert_same_content(arrange(said).ordered, arrange(other).ordered)


@settings(max_examples=100)
@given(ANY, st.integers(0, 2**31))
def test_order_alone_does_not_change_positions(make, seed):
    said = make()
    other = scramble(said, np.random.default_rng(seed), rename=()).annotations
    one, two = arrange(said).ordered, arrange(other).ordered
    assert list(one.items) == list(two.items)
    assert list(one.annotators) == list(two.annotators)
    assert_same_content(one, two)


@settings(max_examples=100)
@given(ANY, st.integers(0, 2**31), st.integers(1, 3))
def test_features_go_with_their_items(make, seed, n_values):
    said = make()
    rng = np.random.default_rng(seed)
    features = rng.integers(n_values, size=(len(said), 2)).astype(float)
    other = scramble(said, rng)
    one, two = arrange(said, features), arrange(other.annotations, features[other.items])
    np.testing.assert_array_equal(features[one.items], features[other.items][two.items])
    assert_same_content(one.ordered, two.ordered)


@settings(max_examples=100)
@given(ANY)
def test_arranged_annotations_are_equal(make):
    said = make()
    arranged = arrange(said)
    assert arranged.given is (None if isinstance(said, Labels) else said)
    assert list(arranged.ordered.items) == list(said.items[arranged.items])
    assert list(arranged.ordered.annotators) == list(said.annotators[arranged.annotators])
    if isinstance(said, Pairs):  # whose groupings are numbered
        assert_same_content(_without_groupings(arranged.ordered.reindex(said.items)), _without_groupings(said))
    else:
        assert arranged.ordered.reindex(said.items) == said
    if isinstance(said, Groupings):
        keys = said.vocabulary.group_keys()
        assert arranged.ordered.vocabulary.group_keys() == [keys[group] for group in arranged.groups]
        keys = said.vocabulary.grouping_keys()
        assert arranged.ordered.vocabulary.grouping_keys() == [keys[grouping] for grouping in arranged.groupings]


def _without_groupings(pairs):
    frame = pairs.to_frame().drop(columns="grouping", errors="ignore")
    frame["same"] = frame["same"].astype(int)
    return Pairs.from_frame(frame.sort_values(list(frame), kind="stable"), items=pairs.items)


@pytest.mark.parametrize("n_groups", [2, 5])
def test_symmetric_groupings(n_groups):
    """All annotators make the same groups of the same size: items, groups and annotators are interchangeable."""
    said = Groupings.from_matrix(np.repeat(np.arange(n_groups), 4)[:, None].repeat(6, axis=1))
    one = arrange(said).ordered
    for seed in range(5):
        assert_same_content(one, arrange(scramble(said, np.random.default_rng(seed)).annotations).ordered)


def test_symmetric_groupings_of_many_items():
    """More items than can be put first one by one."""
    said = Groupings.from_matrix(np.repeat(np.arange(20), 50)[:, None].repeat(60, axis=1))
    other = scramble(said, np.random.default_rng(0)).annotations
    assert_same_content(arrange(said).ordered, arrange(other).ordered)


def test_a_ring_of_pairs():
    """All pairs look alike; which ones are neighbours must not depend on names."""
    n = 9
    frame = pd.DataFrame({"item_a": np.arange(n), "item_b": (np.arange(n) + 1) % n, "annotator": "Ann", "same": True})
    said = Pairs.from_frame(frame)
    one = arrange(said).ordered
    for seed in range(10):
        assert_same_content(one, arrange(scramble(said, np.random.default_rng(seed)).annotations).ordered)


def test_classes_distinguish_symmetric_annotators():
    """Two annotators label one item each, one with each class: only the names of the classes distinguish them."""
    one = Labels.from_matrix([["cat", None], [None, "dog"]])
    two = Labels.from_matrix([[None, "dog"], ["cat", None]])
    assert_same_content(arrange(one).ordered, arrange(two).ordered)


def test_classes_keep_their_order():
    labels = Labels.from_matrix([["cat", "dog"], ["cat", "cat"]], classes=["dog", "emu", "cat"])
    assert arrange(labels).ordered.classes.tolist() == ["dog", "emu", "cat"]


def test_twins_are_ordered_by_name():
    said = Groupings.from_matrix([["p"], ["p"], ["p"], ["q"]], items=["cow", "ant", "bee", "dog"])
    names = list(arrange(said).ordered.items)
    assert [name for name in names if name != "dog"] == ["ant", "bee", "cow"]


def test_names_that_cannot_be_compared():
    said = Groupings.from_matrix([["p"], ["p"], ["p"]], items=["cow", 3, ("a", 1)])
    moved = said[[2, 0, 1]]
    assert list(arrange(said).ordered.items) == list(arrange(moved).ordered.items)


def test_items_without_annotations():
    features = np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0], [-0.0, 1.0]])
    arranged = arrange_items(pd.Index(["d", "c", "b", "a"]), features)
    moved = arrange_items(pd.Index(["a", "b", "c", "d"]), features[::-1])
    names = [list(one.names[one.items]) for one in (arranged, moved)]
    assert names[0] == names[1]
    assert names[0] in (["a", "c", "b", "d"], ["b", "d", "a", "c"])


def test_places_of_rows():
    values = np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0], [0.0, 1.0 + 1e-16], [0.0, np.nextafter(1, 2)], [-1.0, 9.0]])
    assert places_of_rows(values).tolist() == [1, 1, 5, 1, 4, 0]


@given(st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=4), min_size=1, max_size=12))
def test_positions_of_rows_match_sorted_rows(rows):
    found = places_of_rows(np.array(rows, dtype=float))
    assert found.tolist() == [sorted(rows).index(row) for row in rows]


def test_places_of_rows_without_columns():
    assert places_of_rows(np.empty((3, 0))).tolist() == [0, 0, 0]


def test_the_unit_of_a_feature_makes_no_difference():
    said = Groupings.from_matrix([["p"]] * 9)
    X = np.random.default_rng(0).normal(size=(9, 2))
    assert list(arrange(said, X).items) == list(arrange(said, X * [1000.0, 0.01]).items)


def test_refinement_distinguishes_what_walks_distinguish():
    """The nodes of a path: alike from both ends, until one end is put first."""
    path = Links.of(np.arange(4), np.arange(1, 5), roles=(0, 0))
    structure = Structure(np.zeros(5, dtype=int), np.zeros(5, dtype=np.uint64), (path,))
    places = canonical_places(structure, lambda nodes: nodes)
    assert len(set(places)) == 5


def test_twins_share_a_position():
    star = Links.of(np.zeros(4, dtype=int), np.arange(1, 5))
    structure = Structure(np.array([0, 1, 1, 1, 1]), np.zeros(5, dtype=np.uint64), (star,))
    places = canonical_places(structure, lambda nodes: nodes)
    assert len(set(places[1:])) == 1
    assert places[0] != places[1]


def test_without_links():
    structure = Structure(np.zeros(3, dtype=int), np.array([5, 6, 5], dtype=np.uint64), ())
    places = canonical_places(structure, lambda nodes: nodes)
    assert places[0] == places[2] != places[1]


def test_few_rounds_still_order_by_names(monkeypatch):
    """If rounds do not suffice, the order of the rows still makes no difference."""
    monkeypatch.setattr(refinement, "WORK", 0)
    monkeypatch.setattr(refinement, "LEAST_ROUNDS", 1)
    said = Groupings.from_matrix(np.repeat(np.arange(3), 4)[:, None].repeat(3, axis=1))
    one = arrange(said).ordered
    two = arrange(scramble(said, np.random.default_rng(1), rename=()).annotations).ordered
    assert list(one.items) == list(two.items)
    assert one == two


def test_links_summed_in_parts_give_the_same_order(monkeypatch):
    said = Labels.from_matrix(np.random.default_rng(0).integers(3, size=(30, 4)))
    whole = arrange(said)
    monkeypatch.setattr(refinement, "CHUNK", 7)
    parts = arrange(said)
    assert list(parts.items) == list(whole.items)
    assert list(parts.annotators) == list(whole.annotators)


def test_names_of_items_decide_last():
    """Symmetric items are ordered by name."""
    alone = Groupings.from_matrix([["p"], ["q"], ["r"], ["s"]], items=["dog", "ant", "cow", "bee"])
    assert list(arrange(alone).ordered.items) == ["ant", "bee", "cow", "dog"]
    halves = Groupings.from_matrix([["p"], ["q"], ["p"], ["q"]], items=["dog", "ant", "cow", "bee"])
    assert list(arrange(halves).ordered.items) == ["ant", "bee", "cow", "dog"]
