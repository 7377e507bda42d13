"""Words of groups against counts and probabilities found by enumeration, and where they lie on the map."""

from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import false_discovery_control, hypergeom, norm

from consilience import Groupings
from consilience.analysis.group_words import at_least
from consilience.errors import InputError
from consilience.inspection import group_words, plot_item_map, plot_word_map
from consilience.inspection.plots.point_labels import say_unwritten
from consilience.inspection.plots.style import colour

ITEMS = ["ale", "bock", "gose", "stout"]
CELLS = pd.DataFrame(
    {
        "Ann": ["Sweet; malty", "sweet, malty", "sour", "malty"],
        "Bo": ["SWEET ", "bitter", "sour;", "bitter"],
        "Cy": ["malty", "malty", "Sour", "malty"],
        "Di": ["1", "1", "2", "group 3"],
    },
    index=ITEMS,
)


@pytest.fixture(scope="module")
def words():
    return group_words(Groupings.from_matrix(CELLS), min_annotators=2)


def test_words_are_counted_by_annotators_and_groups(words):
    assert words.words.to_dict("index") == {
        "sour": {"n_annotators": 3, "n_groups": 3},
        "malty": {"n_annotators": 2, "n_groups": 4},
        "sweet": {"n_annotators": 2, "n_groups": 3},
    }
    assert words.counts.loc["malty"].tolist() == [2, 2, 0, 2]
    assert words.counts.loc["sweet"].tolist() == [2, 1, 0, 0]
    assert group_words(Groupings.from_matrix(CELLS), min_annotators=1).words.index[-1] == "bitter"
    whole = group_words(Groupings.from_matrix(CELLS), min_annotators=1, separators="")
    assert set(whole.words.index) == {"sour", "malty", "SWEET", "bitter", "sweet, malty"}  # two spellings of one


def test_p_values_are_those_of_all_orders_of_the_items(words):
    """Each person's cells are given to the items in every order."""
    orders = list(permutations(range(4)))
    for word in words.words.index:
        said = {name: np.array([word in cell.casefold() for cell in CELLS[name]]) for name in CELLS}
        for place, item in enumerate(ITEMS):
            of_person = [np.mean([one[list(order)][place] for order in orders]) for one in said.values()]
            observed = sum(one[place] for one in said.values())
            outcomes = product([0, 1], repeat=len(of_person))
            tail = sum(
                np.prod([p if hit else 1 - p for p, hit in zip(of_person, outcome)])
                for outcome in outcomes
                if sum(outcome) >= observed
            )
            test = words.tests.set_index(["word", "item"]).loc[(word, item)]
            assert test["n_annotators"] == observed
            assert test["expected"] == pytest.approx(sum(of_person))
            assert test["p_value"] == pytest.approx(tail)
    np.testing.assert_allclose(words.tests["p_corrected"], false_discovery_control(words.tests["p_value"]))
    assert words.tests["p_value"].is_monotonic_increasing


def test_v_tests_are_those_of_descfreq(words):
    """With the sums of the table of all words, also of those that are rare."""
    table = group_words(Groupings.from_matrix(CELLS), min_annotators=1).counts.loc[["sour", "malty", "sweet", "bitter"]]
    total = table.to_numpy().sum()
    for _, test in words.tests.iterrows():
        n, of_word, of_item = test["n_annotators"], table.loc[test["word"]].sum(), table[test["item"]].sum()
        more = n / of_word > of_item / total
        tail = hypergeom.sf(n - 1, total, of_word, of_item) if more else hypergeom.cdf(n, total, of_word, of_item)
        expected = norm.isf(min(tail, 0.5)) * (1 if more else -1)
        assert test["v_test"] == pytest.approx(expected)


def test_probabilities_differ_where_a_person_did_not_sort_the_item():
    cells = CELLS.copy()
    cells.loc["stout", "Ann"] = None
    tests = group_words(Groupings.from_matrix(cells), min_annotators=2).tests.set_index(["word", "item"])
    assert tests.loc[("malty", "ale"), "expected"] == pytest.approx(2 / 3 + 3 / 4)
    assert tests.loc[("malty", "stout"), "expected"] == pytest.approx(3 / 4)


def test_a_person_with_several_sorts_says_a_word_of_an_item_once():
    rows = [(item, "Ann", sort, "sweet" if item in ITEMS[:2] else "sour") for sort in (1, 2) for item in ITEMS]
    frame = pd.DataFrame(rows, columns=["item", "annotator", "grouping", "group"])
    found = group_words(Groupings.from_frame(frame), min_annotators=1)
    assert found.counts.loc["sweet"].tolist() == [1, 1, 0, 0]
    assert found.words.loc["sweet"].tolist() == [1, 2]
    assert found.tests.set_index(["word", "item"]).loc[("sweet", "ale"), "expected"] == pytest.approx(1 - 0.5**2)


def test_sums_of_people_by_enumeration():
    probability = np.random.default_rng(0).random((5, 3))
    for item, count in product(range(3), range(6)):
        outcomes = [hits for hits in product([0, 1], repeat=5) if sum(hits) >= count]
        own = probability[:, item]
        expected = sum(np.prod(np.where(hits, own, 1 - own)) for hits in outcomes)
        found = at_least(np.full(3, count), probability)[item]
        assert found == pytest.approx(expected)


def test_words_that_go_with_items_are_found_and_shuffled_ones_are_not():
    rng = np.random.default_rng(1)
    cells = np.array([["sweet"] * 3 + ["sour"] * 3 + ["odd"] * 6] * 12).T
    found = group_words(Groupings.from_matrix(cells, items=range(12)))
    pairs = set(found.of_items()[["word", "item"]].itertuples(index=False, name=None))
    assert pairs >= {(word, item) for word, items in (("sweet", range(3)), ("sour", range(3, 6))) for item in items}
    assert not any(word == "sweet" and item > 2 for word, item in pairs)
    false = 0
    for _ in range(20):
        shuffled = np.stack([rng.permutation(column) for column in cells.T], axis=1)
        false += len(group_words(Groupings.from_matrix(shuffled, items=range(12))).of_items()) > 0
    assert false <= 3


def test_places_are_weighted_means(words):
    points = np.array([[0.0, 0], [3, 0], [0, 6], [np.nan, np.nan]])
    places = words.places(points)
    np.testing.assert_allclose(places[words.words.index.get_loc("sweet")], [1, 0])
    np.testing.assert_allclose(places[words.words.index.get_loc("malty")], [1.5, 0])
    assert np.isnan(words.places(np.full((4, 2), np.nan))).all()


def test_no_words():
    found = group_words(Groupings.from_matrix(CELLS[["Di"]]))
    assert (len(found.words), len(found.tests), len(found.of_items())) == (0, 0, 0)
    assert found.counts.shape == (0, 4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"min_annotators": 0}, "'min_annotators' .* must be a positive int. Got 0"),
        ({"separators": None}, "'separators'"),
    ],
)
def test_parameters_out_of_range_are_named(arguments, message):
    with pytest.raises(InputError, match=message):
        group_words(Groupings.from_matrix(CELLS), **arguments)


def test_the_map_has_words_at_their_places():
    groupings = Groupings.from_matrix(CELLS)
    found = group_words(groupings, min_annotators=2)
    points = np.column_stack(plot_item_map(groupings, axes=(1, 3)).lines[0].get_data())
    ax = plot_word_map(groupings, words=found, axes=(1, 3))
    crosses = next(line for line in ax.lines if line.get_label() == "_words")
    np.testing.assert_allclose(np.column_stack(crosses.get_data()), found.places(points))
    assert [text.get_text() for text in ax.texts] == [*found.words.index, *ITEMS]
    assert [text.get_fontstyle() for text in ax.texts] == ["italic"] * 3 + ["normal"] * 4
    assert ax.texts[0].get_fontsize() > ax.texts[1].get_fontsize()
    assert [text.get_text() for text in plot_word_map(groupings, words=found, max_words=1).texts] == ["sour", *ITEMS]
    assert not plot_word_map(groupings, words=found, labels=False).texts
    with pytest.raises(InputError, match="other items"):
        plot_word_map(Groupings.from_matrix(CELLS.iloc[:3]), words=found)
    with pytest.raises(InputError, match="'max_words'"):
        plot_word_map(groupings, max_words=0)


@pytest.mark.parametrize("n_people", [3, 30])
def test_words_of_equally_many_people_are_no_larger_than_names(n_people):
    cells = np.repeat([["sweet"], ["sweet"], ["sour"], ["sour"]], n_people, axis=1)
    ax = plot_word_map(Groupings.from_matrix(cells, items=["a", "b", "c", "d"]))
    sizes = {text.get_fontsize() for text in ax.texts}
    assert len(ax.texts) == 6
    assert len(sizes) == 1


def test_the_most_frequent_word_is_written_before_names_of_items():
    items = [f"thing {number}" for number in range(30)]
    groupings = Groupings.from_matrix([["common"] * 4] * 28 + [["rare"] * 4] * 2, items=items)
    ax = plot_word_map(groupings)
    ax.figure.draw_without_rendering()
    assert ax.texts[0].get_text() == "common"
    assert ax.texts[0].get_visible()
    assert ax.texts[0].get_color() not in {colour(cluster) for cluster in range(12)}
    said = say_unwritten(ax)
    hidden = [text.get_text() for text in ax.texts if not text.get_visible()]
    assert said.startswith(f" Without room for a name: {hidden[0]}, " if hidden else "")
