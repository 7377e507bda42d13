"""The compromise map of DISTATIS and its partial scores, against their definition."""

import numpy as np
import pandas as pd
import pytest

from consilience import Groupings, Pairs
from consilience.consensus import SubsetFusion
from consilience.errors import InputError
from consilience.inspection import compromise_map, rv_coefficients


@pytest.fixture(scope="module")
def sorts():
    rng = np.random.default_rng(4)
    truth = np.arange(9) % 3
    cells = [np.where(rng.random(9) < 0.3, rng.integers(3, size=9), truth) for _ in range(6)]
    return Groupings.from_matrix(np.array(cells).T, items=list("abcdefghi"), annotators=list("uvwxyz"))


def sheets(items, annotators, seed=0):
    rng = np.random.default_rng(seed)
    rows = [(item, who, *rng.normal(size=2)) for who in annotators for item in items]
    return pd.DataFrame(rows, columns=["item", "annotator", "x", "y"])


def test_it_is_the_compromise_that_the_fusion_makes(sorts):
    """DISTATIS of complete sorts, computed another way, from sparse matrices."""
    found = compromise_map(sorts, n_axes=3)
    fused = SubsetFusion(normalize=None, refine=False, n_clusters=3, random_state=0).fit(sorts)
    n = min(3, fused.embedding_.shape[1])
    np.testing.assert_allclose(np.abs(found.scores.iloc[:, :n]), np.abs(fused.embedding_[:, :n]), atol=1e-8)
    np.testing.assert_allclose(found.weights, fused.annotators_["weight"].reindex(found.weights.index), atol=1e-8)


def test_places_are_the_weighted_means_of_the_partial_scores(sorts):
    found = compromise_map(sorts, n_axes=2)
    weighted = found.partial.mul(found.weights, axis=0, level="annotator").groupby(level="item").sum()
    np.testing.assert_allclose(weighted, found.scores, atol=1e-12)
    assert found.weights.sum() == pytest.approx(1)
    assert found.scores.shape == (9, 2)


def test_weights_are_those_of_the_rv_coefficients(sorts):
    first = np.abs(np.linalg.eigh(rv_coefficients(sorts))[1][:, -1])
    found = compromise_map(sorts)
    np.testing.assert_allclose(found.weights, first / first.sum(), atol=1e-12)
    rv = rv_coefficients(sorts).to_numpy()
    assert found.mean_rv == pytest.approx(rv[np.triu_indices(6, 1)].mean())


def test_coefficients_with_the_compromise_are_those_of_all_its_dimensions(sorts):
    found = compromise_map(sorts, sheets(sorts.items, sorts.annotators), n_axes=9)
    axes = int((found.shares > 0).sum())
    scores, places = found.scores.to_numpy()[:, :axes], found.partial.to_numpy().reshape(9, 6, -1)[..., :axes]
    whole = scores @ scores.T
    for person, rv in enumerate(found.rv):
        own = places[:, person] @ scores.T  # S_a, since F_a = S_a V Λ^(-1/2) and F = V Λ^(1/2), on the axes
        assert rv == pytest.approx(np.trace(own @ whole) / np.sqrt(np.trace(own @ own) * np.trace(whole @ whole)))


def test_the_same_sheet_of_everybody_is_the_compromise_but_for_a_turn(sorts):
    one = sheets(sorts.items, "u")
    found = compromise_map(coordinates=pd.concat([one, one.assign(annotator="v", x=3 - one["y"], y=one["x"] + 1)]))
    own = one[["x", "y"]].to_numpy() - one[["x", "y"]].to_numpy().mean(0)
    ratio = found.scores.to_numpy() @ found.scores.to_numpy().T / (own @ own.T)
    np.testing.assert_allclose(ratio, ratio[0, 0])
    assert found.shares.tolist()[:2] == pytest.approx([found.shares.iloc[0], 1 - found.shares.iloc[0]])
    assert found.shares.iloc[2] == 0


def test_sheets_and_groups_count_alike_and_the_unit_of_a_sheet_does_not(sorts):
    places = sheets(sorts.items, sorts.annotators)
    found = compromise_map(sorts, places)
    larger = places.assign(x=100 * places["x"], y=100 * places["y"])
    np.testing.assert_allclose(compromise_map(sorts, larger).partial, found.partial, atol=1e-9)
    assert not np.allclose(found.scores, compromise_map(sorts).scores)
    assert not np.allclose(found.scores, compromise_map(coordinates=places).scores)


def test_levels_of_a_sort_count_by_depth():
    levels = pd.DataFrame(
        [
            (who, level, item, group)
            for who in "uv"
            for level, groups in (("1", "aab"), ("2", "abc"))
            for item, group in zip("pqr", groups)
        ],
        columns=["annotator", "grouping", "item", "group"],
    )
    whole = compromise_map(Groupings.from_frame(levels))
    once = compromise_map(Groupings.from_frame(levels[levels["grouping"] == "1"]))
    apart = [np.linalg.norm(found.scores.loc["p"] - found.scores.loc["q"]) for found in (whole, once)]
    assert apart[0] > apart[1] == pytest.approx(0, abs=1e-9)


def test_who_left_an_item_out_is_left_out(sorts):
    matrix = sorts.to_matrix()
    matrix.loc["a", "u"] = None
    found = compromise_map(Groupings.from_matrix(matrix))
    assert found.left_out.tolist() == ["u"]
    assert "u" not in found.weights


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda places: places.rename(columns={"item": "product"}), "columns item and annotator"),
        (lambda places: places.assign(x="far"), "'x' of the coordinates must hold finite numbers"),
        (lambda places: places.assign(item=places["item"].replace("a", "A")), "the item 'A'"),
        (lambda places: pd.concat([places, places[:1]]), "'u' placed the item 'a' twice"),
        (lambda places: places[places["item"] != "a"], "0 such annotators"),
    ],
)
def test_what_is_no_sheet_is_refused(sorts, change, message):
    with pytest.raises(InputError, match=message):
        compromise_map(sorts, change(sheets(sorts.items, sorts.annotators)))


def test_no_data_are_refused(sorts):
    with pytest.raises(InputError, match="Got neither"):
        compromise_map()
    with pytest.raises(InputError):
        compromise_map(Pairs.from_frame([("a", "b", "u", True)]))


def test_the_compromise_runs_like_another_map_of_the_same_items(sorts):
    found = compromise_map(sorts)
    mirrored = found.scores * [-1, 1, -1]
    turned = found.run_like(mirrored.iloc[::-1, :2])
    np.testing.assert_array_equal(turned.scores, found.scores * [-1, 1, 1])
    np.testing.assert_array_equal(turned.partial, found.partial * [-1, 1, 1])
    np.testing.assert_array_equal(turned.run_like(turned.scores).scores, turned.scores)


def test_cosines_are_shares_of_the_squared_distance_from_the_centre(sorts):
    found = compromise_map(sorts, n_axes=9)
    np.testing.assert_allclose(found.cos2.sum(axis=1), 1.0)
    np.testing.assert_allclose(found.cos2, found.scores**2 / (found.scores**2).sum(axis=1).to_numpy()[:, None])
    np.testing.assert_allclose(compromise_map(sorts, n_axes=2).cos2, found.cos2.iloc[:, :2])


def test_items_that_the_plane_hardly_shows_are_told():
    """Three pairs and an item that is alone with half of the people: the plane holds the pairs, and not the item."""
    cells = np.array([[0, 0, 1, 1, 2, 2, 3]] * 6 + [[0, 0, 1, 1, 2, 2, k % 3] for k in range(6)]).T
    found = compromise_map(Groupings.from_matrix(cells, items=list("abcdefg")))
    assert found.hardly_shown().index[found.hardly_shown()].tolist() == ["g"]
    assert not found.hardly_shown((1, 3))["g"]
