"""Ratings of items: means by hand, intervals against those of people's own means, correlations and the go-zone."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text
from scipy import stats

from consilience import Groupings
from consilience.consensus import MajorityVote, SubsetFusion
from consilience.errors import InputError
from consilience.inspection import item_ratings, plot_go_zone, plot_pattern_match

ITEMS = ["a", "b", "c", "d", "e", "f"]


@pytest.fixture(scope="module")
def fusion():
    """Three clusters of two items each."""
    sorts = [[["a", "b"], ["c", "d"], ["e", "f"]]] * 3
    return SubsetFusion(n_clusters=3, random_state=0).fit(Groupings.from_lists(sorts))


def rated_by(values, people=("p", "q", "r", "s")):
    """Return a long table of the ratings on two scales, of an array of shape (people, items, 2)."""
    rows = [
        (item, person, *values[p, i])
        for p, person in enumerate(people)
        for i, item in enumerate(ITEMS[: len(values[p])])
    ]
    return pd.DataFrame(rows, columns=["item", "annotator", "importance", "feasibility"])


@pytest.fixture
def values():
    return np.random.default_rng(0).integers(1, 6, size=(4, 6, 2)).astype(float)


def test_means_counts_and_errors_of_the_items(fusion, values):
    found = item_ratings(fusion, rated_by(values)).items
    np.testing.assert_allclose(found["importance"], values[:, :, 0].mean(0))
    assert found["importance_n"].tolist() == [4] * 6
    given = item_ratings(fusion, rated_by(values)).given.loc["importance"]
    assert given.tolist() == [4, values[:, :, 0].min(), values[:, :, 0].max(), 24, 0]
    np.testing.assert_allclose(found["feasibility_se"], stats.sem(values[:, :, 1], axis=0))


def test_if_everybody_rated_everything_the_interval_is_that_of_the_peoples_own_means(fusion, values):
    found = item_ratings(fusion, rated_by(values))
    of_a = fusion.labels_[fusion.items_.get_loc("a")]
    own = values[:, :2, 0].mean(1)
    low, high = stats.t.interval(0.95, 3, own.mean(), stats.sem(own))
    np.testing.assert_allclose(found.means.loc[(of_a, "importance"), ["mean", "low", "high"]], [own.mean(), low, high])


def test_missing_ratings_change_the_weights_and_not_the_item_counts(fusion, values):
    values[1:, 0, 0] = np.nan  # one person rated a, four rated b
    found = item_ratings(fusion, rated_by(values))
    of_a = fusion.labels_[fusion.items_.get_loc("a")]
    row = found.means.loc[(of_a, "importance")]
    moved = (values[:, 1, 0] - values[:, 1, 0].mean()) / 4 / 2  # what each person moves the mean by
    error = np.sqrt(4 / 3 * (moved**2).sum())
    assert row["mean"] == pytest.approx((values[0, 0, 0] + values[:, 1, 0].mean()) / 2)
    assert row["high"] - row["mean"] == pytest.approx(stats.t.ppf(0.975, 3) * error)
    assert (row["n_items"], row["n_annotators"]) == (2, 4)


def test_differences_are_those_of_people_who_rated_both(fusion, values):
    """If everybody rated everything, each is the paired t-interval of people's own means."""
    values += np.arange(4)[:, None, None]  # some rate all higher
    found = item_ratings(fusion, rated_by(values))
    every = found.differences[found.differences["scale"] == "importance"]
    means = found.means["mean"].xs("importance", level="scale").sort_values(ascending=False, kind="stable")
    first, second, third = means.index
    assert every[["higher", "lower"]].to_numpy().tolist() == [[first, second], [first, third], [second, third]]
    for higher, lower, difference, low, high in every.iloc[:, 1:].itertuples(index=False):
        own = [values[:, fusion.labels_ == code, 0].mean(1) for code in (higher, lower)]
        paired = stats.ttest_rel(*own).confidence_interval(0.95)
        assert (difference, low, high) == pytest.approx((np.mean(own[0] - own[1]), paired.low, paired.high))


def test_those_who_rated_one_of_two_clusters_move_the_difference_by_that_one(fusion, values):
    mine = [fusion.labels_ == code for code in range(3)]
    values[2:, mine[0]] = np.nan  # two people rated cluster 0, four the others
    every = item_ratings(fusion, rated_by(values)).differences.query("scale == 'importance'")
    own = [np.nan_to_num(values[:, items, 0].mean(1) - np.nanmean(values[:, items, 0])) for items in mine]
    for higher, lower, low, high in every[["higher", "lower", "low", "high"]].itertuples(index=False):
        moved = own[higher] / (2 if higher == 0 else 4) - own[lower] / (2 if lower == 0 else 4)
        expected = stats.t.ppf(0.975, 3) * np.sqrt(4 / 3 * (moved**2).sum())
        assert (high - low) / 2 == pytest.approx(expected)
    means_only = item_ratings(fusion, pd.DataFrame({"importance": np.arange(6.0)}, index=ITEMS)).differences
    assert means_only["difference"].tolist() == [2, 4, 2]
    assert means_only[["low", "high"]].isna().all(axis=None)


def test_of_means_the_interval_is_over_items(fusion):
    table = pd.DataFrame({"importance": [1, 2, 3, 3, 4.0, np.nan]}, index=ITEMS)
    found = item_ratings(fusion, table)
    of_a, of_e = (fusion.labels_[fusion.items_.get_loc(name)] for name in "ae")
    np.testing.assert_allclose(
        found.means.loc[(of_a, "importance"), ["low", "high"]], stats.t.interval(0.95, 1, 1.5, 0.5)
    )
    assert found.means.loc[(of_e, "importance"), ["low", "high"]].isna().all()  # one item
    assert found.items.columns.tolist() == ["cluster", "importance"]
    assert found.compared is None
    assert not len(found.go_zone)


def test_correlations_and_quadrants(fusion, values):
    found = item_ratings(fusion, rated_by(values))
    means = values.mean(0)
    assert found.r_items == pytest.approx(np.corrcoef(means.T)[0, 1])
    by_cluster = means.reshape(3, 2, 2).mean(1)
    assert found.r_clusters == pytest.approx(np.corrcoef(by_cluster.T)[0, 1])
    over = means > means.mean(0)
    names = ["", "feasibility", "importance", "importance and feasibility"]
    assert found.items["above"].tolist() == [names[2 * first + second] for first, second in over]
    assert found.go_zone.tolist() == [name for name, both in zip(ITEMS, over.all(1)) if both]


def test_an_item_on_the_line_is_not_above_it_and_scales_that_do_not_vary_have_no_correlation(fusion):
    table = pd.DataFrame({"item": ITEMS, "x": [3] * 6, "y": range(6)})
    found = item_ratings(fusion, table)
    assert set(found.items["above"]) == {"", "y"}
    assert np.isnan(found.r_clusters)
    assert np.isnan(found.r_items)


def test_scales_can_be_chosen(fusion, values):
    found = item_ratings(fusion, rated_by(values), scales=["feasibility", "importance"])
    assert found.compared == ("feasibility", "importance")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t.assign(item=["z", *t["item"][1:]]), "The item 'z' of the ratings is not one of the model"),
        (lambda t: pd.concat([t, t[:1]]), "The item 'a' is rated twice by 'p', again in row 24"),
        (lambda t: t[["item", "annotator"]], "must have a column of numbers"),
        (lambda t: t.assign(importance=np.nan), "No item has a rating on the scale 'importance'"),
        (lambda t: t.assign(importance=np.inf), "The rating 'importance' of the item 'a' in row 0 is infinite"),
        (lambda t: t.rename(columns={"importance": "cluster"}), "called 'cluster'"),
        (lambda t: t.to_numpy(), "must be a DataFrame"),
    ],
)
def test_ratings_that_cannot_be_used(fusion, values, change, said):
    with pytest.raises(InputError, match=said):
        item_ratings(fusion, change(rated_by(values)))


def test_unknown_scales_and_classes_are_refused(fusion, values):
    with pytest.raises(InputError, match="columns of numbers called 'cost'"):
        item_ratings(fusion, rated_by(values), scales=["cost"])
    with pytest.raises(InputError, match="the model finds classes"):
        item_ratings(MajorityVote().fit([["x", "x"], ["y", "y"]]), rated_by(values))


def test_intervals_of_correlations_are_those_of_fisher(fusion, values):
    found = item_ratings(fusion, rated_by(values))
    means = found.items[["importance", "feasibility"]].to_numpy()
    interval = stats.pearsonr(*means.T).confidence_interval(0.95)
    assert found.r_items_interval == pytest.approx((interval.low, interval.high), abs=1e-6)
    assert np.isnan(found.r_clusters_interval).all()  # of three clusters


def test_items_of_the_go_zone_have_the_share_of_draws_of_other_raters(fusion, values):
    values[0, 3, 1] = np.nan
    found = item_ratings(fusion, rated_by(values))
    rng, inside = np.random.default_rng(0), np.zeros(6)
    for times in rng.multinomial(4, [1 / 4] * 4, size=500):
        drawn = np.repeat(values, times, axis=0)
        with np.errstate(invalid="ignore"):
            count = np.isfinite(drawn).sum(0)
            means = np.nansum(drawn, axis=0) / count
        inside += (means > np.nanmean(means, axis=0)).all(1)
    np.testing.assert_allclose(found.items["in_go_zone"], inside / 500)
    share = found.items["in_go_zone"][found.surest_of_go_zone].to_numpy()
    assert (np.diff(share) <= 0).all()
    assert set(found.surest_of_go_zone) == set(found.go_zone)
    assert found.given.loc["feasibility"].tolist()[-2:] == [24, 1]


def test_an_item_that_all_raters_have_in_the_go_zone_is_in_it_in_all_draws(fusion):
    means = [(9, 9), (5.6, 9), (4.4, 9), (1, 4), (5, 1), (5, 1)]  # the lines are 5 and 5.5
    shift = np.array([1.2, -1.2, 1.2, -1.2])[:, None, None] * np.array([0, 1, 1, 0, 0, 0])[None, :, None]
    found = item_ratings(fusion, rated_by(np.array(means)[None] + shift))
    assert found.go_zone.tolist() == ["a", "b"]
    share = found.items["in_go_zone"]
    assert share["a"] == 1
    assert 0.5 < share["b"] < 1
    assert 0 < share["c"] < 0.5
    assert share[["d", "e", "f"]].tolist() == [0, 0, 0]


def test_means_alone_have_no_draws_and_the_order_of_heights(fusion):
    table = pd.DataFrame({"importance": [9, 1, 7, 2, 3, 8], "feasibility": [5, 1, 6, 2, 3, 9]}, index=ITEMS)
    found = item_ratings(fusion, table)
    assert "in_go_zone" not in found.items
    assert found.surest_of_go_zone.tolist() == ["f", "c", "a"]


def test_clusters_of_draws_have_the_ratings_of_their_own_items(fusion):
    """a and b lead; in the second draw they are with e and f, and in the third c is alone, d with e and f."""
    table = pd.DataFrame({"importance": [5.0, 5, 3, 4.9, 1, 1]}, index=ITEMS)
    found = item_ratings(fusion, table)
    own = dict(zip(fusion.items_, fusion.labels_, strict=True))
    draws = np.array([[0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 0, 0], [0, 0, 1, 2, 2, 2]])
    ends = found.ends_in_draws(draws).xs("importance", level="scale")
    np.testing.assert_allclose(ends.loc[[own["a"], own["c"], own["e"]], "highest"], [2 / 3, 1 / 3, 0])
    assert ends.loc[own["e"], "lowest"] > 0.6  # the second draw's are tied with a and b, the third's with d
    assert ends["lowest"].between(0, 1).all()


def test_lines_have_their_names_at_both_ends_and_marks_that_touch_are_side_by_side(fusion):
    means = np.array([(5.0, 1.0), (5.0, 1.0), (5.01, 9.0), (5.01, 9.0), (1.0, 5.0), (1.0, 5.0)])
    found = item_ratings(fusion, pd.DataFrame(means, ITEMS, ["importance", "feasibility"]))
    ax = plot_pattern_match(found)
    ax.figure.draw_without_rendering()
    assert sorted(text.get_text() for text in ax.texts) == sorted([*found.clusters.shown] * 2)
    left = sorted((line.get_xdata()[0] for line in ax.lines[: len(found.clusters.index)]), reverse=True)
    assert left[0] == left[1] == 0 > left[2]
    for side in ("left", "right"):
        boxes = [Text.get_window_extent(text) for text in ax.texts if text.get_ha() == side]
        heights = sorted((box.y0 + box.y1) / 2 for box in boxes)
        assert (np.diff(heights) > 0.8 * boxes[0].height).all()


def test_an_item_on_the_crossing_of_the_means_is_named_first(fusion):
    means = np.array([(5.0, 5.0), (9, 9), (8, 9), (1, 1), (2, 1), (5, 5)])
    ax = plot_go_zone(item_ratings(fusion, pd.DataFrame(means, ITEMS, ["importance", "feasibility"])))
    assert {text.get_text() for text in ax.texts[:2]} == {ITEMS[0], ITEMS[5]}


def test_marks_that_would_cover_each_other_are_side_by_side_on_their_own_side_of_the_line(fusion):
    means = np.array([(2.0, 3.0), (2, 3), (4, 3), (4, 3), (4, 3), (1, 5)])
    ax = plot_go_zone(item_ratings(fusion, pd.DataFrame(means, ITEMS, ["importance", "feasibility"])), labels=False)
    ax.figure.draw_without_rendering()
    drawn = np.vstack([line.get_xydata() for line in ax.lines if line.get_linestyle() == "None"])
    assert len(drawn) == 6
    pixels = ax.transData.transform(drawn)
    gaps = np.hypot(*(pixels[:, None] - pixels[None]).T)[np.triu_indices(6, 1)]
    assert gaps.min() > 0.8 * 7 * ax.figure.dpi / 72  # most of a mark
    line = means[:, 0].mean()
    assert (drawn[:, 0] > line).sum() == 3
    assert {tuple(place) for place in means} <= {tuple(place) for place in drawn}  # the first of each stays


def test_every_item_of_the_go_zone_is_named_where_there_is_room(fusion):
    means = np.array([(4.0, 4.0), (4.1, 4.02), (4.2, 3.98), (1, 1), (1, 5), (5, 1)])
    found = item_ratings(fusion, pd.DataFrame(means, ITEMS, ["importance", "feasibility"]))
    ax = plot_go_zone(found)
    ax.figure.draw_without_rendering()
    assert set(found.go_zone) <= {text.get_text() for text in ax.texts if text.get_visible()}
