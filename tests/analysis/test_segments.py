"""RV coefficients and segments of a panel against their definitions, and against panels whose segments are known."""

import numpy as np
import pandas as pd
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.metrics import adjusted_rand_score

from consilience import Groupings, Labels, Pairs
from consilience.analysis.one_panel import OnePanel, mean_rv, ward_groups
from consilience.analysis.rv import ScalarProducts, SortTable
from consilience.analysis.segments import simulate_shares, top_branch
from consilience.consensus.groupings import distatis
from consilience.errors import InputError
from consilience.inference.memberships import Memberships
from consilience.inspection import panel_segments, plot_annotator_map, rv_coefficients
from consilience.inspection.plots.style import colour, marker


def a_panel(seed, n_people=10, n_items=9, missing=0.0):
    """Random sorts, with a truth that half of the items follow."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n_items) % 3
    cells = np.where(rng.random((n_people, n_items)) < 0.5, rng.integers(4, size=(n_people, n_items)), truth).T
    cells = pd.DataFrame(cells, index=[f"item {i}" for i in range(n_items)]).astype(object)
    return Groupings.from_matrix(cells.mask(rng.random(cells.shape) < missing), items=cells.index)


def two_schools(seed, sizes=(10, 6), n_items=18, accuracy=0.85):
    """People who hold one of two independent clusterings of the items, and the school of each."""
    rng = np.random.default_rng(seed)
    school = rng.permutation(np.repeat([0, 1], sizes))
    held = np.stack([np.arange(n_items) % 3, np.arange(n_items) // 6])[school]
    cells = np.where(rng.random(held.shape) < accuracy, held, rng.integers(3, size=held.shape))
    return Groupings.from_matrix(cells.T, annotators=[f"person {i}" for i in range(len(school))]), school


def by_definition(groupings):
    """RV coefficients from dense matrices: centred over each annotator's items, compared over the common ones."""
    cells = groupings.to_matrix()
    matrices, seen = [], []
    for name in groupings.annotators:
        column = cells[name]
        known = column.notna().to_numpy()
        same = (column.to_numpy()[:, None] == column.to_numpy()) & known & known[:, None]
        centring = np.diag(known.astype(float)) - np.outer(known, known) / known.sum()
        matrices.append(centring @ same @ centring)
        seen.append(known)
    found = np.full((len(matrices),) * 2, np.nan)
    for a, (first, in_first) in enumerate(zip(matrices, seen)):
        for b, (second, in_second) in enumerate(zip(matrices, seen)):
            common = np.ix_(in_first & in_second, in_first & in_second)
            of = np.sqrt((first[common] ** 2).sum() * (second[common] ** 2).sum())
            if (in_first & in_second).sum() >= 3 and of > 1e-9:
                found[a, b] = np.trace(first[common] @ second[common]) / of
    return found


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_rv_coefficients_are_those_of_the_definition(missing):
    groupings = a_panel(1, missing=missing)
    found = rv_coefficients(groupings)
    np.testing.assert_allclose(found, by_definition(groupings), atol=1e-12)
    assert found.index.equals(groupings.annotators.rename("annotator"))


def test_weights_are_those_of_distatis():
    groupings = a_panel(3)
    products = ScalarProducts.of(SortTable.of(groupings))
    np.testing.assert_allclose(products.weights, distatis.weights(Memberships.of(groupings)), atol=1e-9)
    values, vectors = products.eigenpairs
    np.testing.assert_allclose(vectors * values @ vectors.T, products.rv, atol=1e-12)
    places, shares = products.places(2)
    np.testing.assert_allclose(places, vectors[:, :2] * np.sqrt(values[:2]))
    np.testing.assert_allclose(shares, values[:2] / values[values > 0].sum())


@pytest.mark.parametrize(("n_items", "n_people"), [(9, 100), (3, 8)])
def test_axes_of_many_people_are_those_of_their_coefficients(n_items, n_people):
    products = ScalarProducts.of(SortTable.of(a_panel(3, n_people, n_items)))
    products = products.some(np.flatnonzero(products.squares))
    values, vectors = products.eigenpairs
    assert len(values) < len(products.products)
    np.testing.assert_allclose(products.rv @ vectors, vectors * values[: vectors.shape[1]], atol=1e-9)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(products.rv)[::-1][: len(values)], atol=1e-9)


def test_several_sorts_of_a_person_are_added_up():
    cells = a_panel(5, n_people=4).to_matrix()
    long = cells.rename_axis("item").reset_index().melt("item", var_name="sort", value_name="group")
    long["annotator"] = np.where(long["sort"].isin([0, 1]), "Ann", long["sort"].astype(str))
    both = ScalarProducts.of(SortTable.of(Groupings.from_frame(long.rename(columns={"sort": "grouping"}))))
    each = ScalarProducts.of(SortTable.of(Groupings.from_matrix(cells)))
    np.testing.assert_allclose(both.products[0], each.products[0] + each.products[1])


def test_people_who_put_all_together_have_no_rv_and_no_weight():
    cells = a_panel(2).to_matrix().set_axis([f"person {i}" for i in range(10)], axis=1)
    groupings = Groupings.from_matrix(cells.rename(columns={"person 9": "person 10"}).assign(**{"person 9": 0}))
    found = rv_coefficients(groupings)
    assert found["person 9"].isna().all()
    assert found.drop(index="person 9", columns="person 9").notna().to_numpy().all()
    assert ScalarProducts.of(SortTable.of(groupings)).weights[-1] == 0
    segments = panel_segments(groupings, n_simulations=19, random_state=0)
    assert segments.annotators.loc["person 9", "segment"] == -1
    assert np.isnan(segments.annotators.loc["person 9", "rv_panel"])


def test_many_hierarchies_at_once_are_those_of_scipy():
    rng = np.random.default_rng(0)
    points, held, n_groups = rng.normal(size=(20, 15, 3)), rng.random((20, 15)) < 0.8, rng.integers(1, 6, 20)
    for mine, each, points_of, number in zip(ward_groups(points, held, n_groups), held, points, n_groups):
        expected = fcluster(linkage(points_of[each], "ward"), number, "maxclust")
        assert adjusted_rand_score(expected, mine[each]) == 1
        assert (mine[~each] == -1).all()


def test_the_top_branch_explains_what_is_left_between_two_means():
    groupings, school = two_schools(1)
    products = ScalarProducts.of(SortTable.of(groupings))
    branch = top_branch(products)
    assert {tuple(school[part]) for part in branch.parts} == {(0,) * 10, (1,) * 6}
    vectors = products.products.reshape(16, -1)
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def squares(members):
        return ((vectors[members] - vectors[members].mean(0)) ** 2).sum()

    within = sum(squares(part) for part in branch.parts)
    assert branch.explained == pytest.approx(1 - within / squares(np.arange(16)))


def test_one_or_two_people_are_set_apart():
    groupings, _ = two_schools(3, sizes=(12, 2))
    found = panel_segments(groupings, n_simulations=39, random_state=3)
    assert found.n_segments == 1
    assert top_branch(ScalarProducts.of(SortTable.of(groupings).of_annotators(np.arange(5)))) is None
    assert found.tests["n_smaller"].ge(3).all()


def test_simulated_panels_are_as_alike_as_the_panel():
    groupings = a_panel(7, n_people=14, n_items=12, missing=0.2)
    sorts = SortTable.of(groupings)
    real, rng = ScalarProducts.of(sorts), np.random.default_rng(0)
    panel = OnePanel.like(sorts, real, rng)
    drawn = [panel.draw(rng) for _ in range(40)]
    assert np.mean([mean_rv(each) for each in drawn]) == pytest.approx(mean_rv(real), abs=0.03)
    np.testing.assert_array_equal(drawn[0].seen, real.seen)
    assert len(simulate_shares(sorts, real, 5, rng)) == 5


@pytest.mark.parametrize("seed", [1, 3, 5])
def test_two_schools_are_two_segments(seed):
    groupings, school = two_schools(seed)
    found = panel_segments(groupings, n_simulations=39, random_state=seed)
    assert found.segments["n_annotators"].tolist() == [10, 6]
    assert adjusted_rand_score(school, found.annotators["segment"]) == 1
    assert found.tests["split"].tolist() == [True, *[False] * (len(found.tests) - 1)]
    assert (found.segments["rv_segment"] > found.segments["rv_panel"]).all()
    of_school = {0: np.arange(18) % 3, 1: np.arange(18) // 6}
    for segment in (0, 1):
        assert adjusted_rand_score(of_school[segment], found.items[segment]) > 0.6
    first = found.pairs[found.pairs["segment"] == 0].iloc[0]
    cells, inside = groupings.to_matrix(), school == 0
    together = (cells.loc[first["item_a"]] == cells.loc[first["item_b"]]).to_numpy()
    assert first["share"] == pytest.approx(together[inside].mean())
    assert first["share_others"] == pytest.approx(together[~inside].mean())


def test_one_clustering_is_one_panel():
    found = [panel_segments(a_panel(seed, 16, 12), n_simulations=19, random_state=seed) for seed in (1, 3, 5, 7, 9)]
    assert sum(each.n_segments > 1 for each in found) <= 1
    assert found[0].items.columns.tolist() == ["panel"]
    assert found[0].pairs.empty


def test_a_given_number_cuts_the_tree():
    groupings, _ = two_schools(1)
    found = panel_segments(groupings, n_segments=3, clusters=np.arange(18) % 3, random_state=0)
    assert found.n_segments == 3
    assert found.tests.empty
    assert found.annotators["segment"].value_counts().sort_index().tolist() == found.segments["n_annotators"].tolist()
    np.testing.assert_array_equal(found.items["panel"], np.arange(18) % 3)
    assert panel_segments(groupings, n_segments=1, random_state=0).n_segments == 1


@pytest.mark.slow
def test_a_seed_repeats_the_segments():
    groupings, _ = two_schools(5, accuracy=0.6)
    one, other = (panel_segments(groupings, n_simulations=19, random_state=4) for _ in range(2))
    pd.testing.assert_frame_equal(one.tests, other.tests)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_segments": 0}, "'n_segments' parameter of panel_segments must be 'auto' or an int from 1"),
        ({"n_segments": True}, "'n_segments' parameter"),
        ({"n_simulations": 5}, "'n_simulations' parameter of panel_segments must be an int of at least 19"),
        ({"clusters": [0.5] * 9}, "'clusters' parameter of panel_segments must be an array of 9 ints"),
    ],
)
def test_parameters_out_of_range_are_named(arguments, message):
    with pytest.raises(InputError, match=message):
        panel_segments(a_panel(1), **arguments)


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(InputError, match="Pairs"):
        rv_coefficients(
            Pairs.from_frame(pd.DataFrame([("a", "b", "x", 1)], columns=["item_a", "item_b", "annotator", "same"]))
        )
    with pytest.raises(InputError, match=r"at least 4 items\. Got 2"):
        panel_segments([["p", "x"], ["q", "y"]])
    many = Labels.from_matrix(np.zeros((3000, 3), dtype=int))
    with pytest.raises(InputError, match="too much memory for 3,000 items and 3 annotators"):
        rv_coefficients(many)


def test_the_map_shows_places_and_segments():
    groupings, _ = two_schools(1)
    found = panel_segments(groupings, n_segments=2, random_state=0)
    ax = plot_annotator_map(groupings, found, axes=(2, 3))
    places, shares = ScalarProducts.of(SortTable.of(groupings)).places(3)
    assert ax.get_xlabel() == f"dimension 2 ({shares[1]:.0%})"
    for segment in (0, 1):
        line = next(line for line in ax.lines if line.get_label().startswith(f"{segment}  ("))
        mine = (found.annotators["segment"] == segment).to_numpy()
        np.testing.assert_allclose(np.column_stack(line.get_data()), places[mine][:, [1, 2]])
        assert (line.get_marker(), line.get_markerfacecolor()) == (marker(segment), colour(segment))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0  (10)", "1  (6)"]
    with pytest.raises(InputError, match="other annotators"):
        plot_annotator_map(a_panel(1), found)
    with pytest.raises(InputError, match=r"'axes' parameter of plot_annotator_map .* Got \(1, 1\)"):
        plot_annotator_map(groupings, axes=(1, 1))
