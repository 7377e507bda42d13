"""What a site's table becomes: groups that hold no more than they say."""

import hashlib
import hmac
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score

from consilience.errors import InputError
from consilience.sites import summarise_site
from tests.sites.made import whole_table

KEY = b"sixteen bytes or more"


def test_groups_follow_separated_clusters():
    table, truth = whole_table()
    summary = summarise_site(table, site="a", random_state=0)
    assert summary.items == tuple(sorted(table.index))
    coarse, finer = summary.groups.T
    assert adjusted_rand_score(truth[list(summary.items)], coarse) == 1
    assert finer.max() + 1 == round((150 / 2) ** 0.5)


def test_the_order_of_the_table_is_not_told():
    table, _ = whole_table()
    shuffled = table.sample(frac=1, random_state=3)
    one = summarise_site(table, site="a", n_groups=3, random_state=0)
    other = summarise_site(shuffled, site="a", n_groups=3, random_state=0)
    assert one.as_json() == other.as_json()


def test_no_number_of_the_table_is_in_the_summary():
    table, _ = whole_table()
    text = json.dumps(summarise_site(table, site="a", random_state=0).as_json())
    assert "feature" not in text.replace("No features", "")
    assert "." not in text.replace("discloses", "").split('"items"')[1]


def test_several_numbers_make_several_groupings():
    table, _ = whole_table()
    summary = summarise_site(table, site="a", n_groups=[2, 5], random_state=0)
    assert [int(column.max()) + 1 for column in summary.groups.T] == [2, 5]


@pytest.mark.parametrize("least", [1, 5, 30])
def test_no_group_is_smaller_than_the_minimum(least):
    table, _ = whole_table()
    summary = summarise_site(table, site="a", n_groups=[3, 25], min_group_size=least, random_state=0)
    for column in summary.groups.T:
        assert np.bincount(column).min() >= least


def test_a_small_group_joins_the_nearest():
    values = np.r_[np.zeros(10), np.full(10, 10.0), [12.0, 12.0]]
    table = pd.DataFrame({"x": values}, index=[f"{n:02}" for n in range(22)])
    summary = summarise_site(table, site="a", n_groups=3, min_group_size=5, random_state=0)
    assert summary.groups[:, 0].tolist() == [0] * 10 + [1] * 12


def test_only_agreed_items_are_named_though_all_are_clustered():
    table, truth = whole_table()
    agreed = list(table.index[:30])
    summary = summarise_site(table, site="a", n_groups=3, only=[*agreed, "elsewhere"], random_state=0)
    assert summary.items == tuple(agreed)
    assert adjusted_rand_score(truth[agreed], summary.groups[:, 0]) == 1


def test_names_are_hashed_with_the_key():
    table, _ = whole_table()
    summary = summarise_site(table, site="a", key=KEY, random_state=0)
    expected = sorted(hmac.new(KEY, name.encode(), hashlib.sha256).hexdigest() for name in table.index)
    assert list(summary.items) == expected
    assert "item" not in " ".join(summary.items)


def test_own_clusterers_and_their_noise_label():
    table, truth = whole_table()
    summary = summarise_site(table, site="a", clusterer=AgglomerativeClustering(3))
    assert adjusted_rand_score(truth[list(summary.items)], summary.groups[:, 0]) == 1
    outlier = table.copy()
    outlier.iloc[0] = 1000.0
    noisy = summarise_site(outlier, site="a", clusterer=DBSCAN(eps=0.5), min_group_size=5)
    assert noisy.groups[0, 0] == -1
    assert "In 1 cases" in " ".join(noisy.disclosures())


def test_noise_keeps_each_group_as_often_as_epsilon_says():
    n, epsilon = 20_000, 1.5
    table = pd.DataFrame({"x": np.arange(n) % 4 * 100.0}, index=[f"{number:05}" for number in range(n)])
    summary = summarise_site(table, site="a", n_groups=4, epsilon=epsilon, random_state=0)
    true, told = np.arange(n) % 4, summary.groups[:, 0]
    table_of = pd.crosstab(true, told).to_numpy() / (n / 4)
    kept = table_of.max(1)
    expected = np.exp(epsilon) / (np.exp(epsilon) + 3)
    error = 4 * np.sqrt(expected * (1 - expected) / (n / 4))  # four standard errors
    np.testing.assert_allclose(kept, expected, atol=error)
    others = np.sort(table_of, axis=1)[:, :3]
    np.testing.assert_allclose(others, (1 - expected) / 3, atol=error)
    assert (table_of.max(0) / table_of.min(0)).max() < np.exp(epsilon) * 1.25


def test_groupings_share_epsilon():
    n = 20_000
    table = pd.DataFrame({"x": np.arange(n) % 2 * 100.0}, index=[f"{number:05}" for number in range(n)])
    summary = summarise_site(table, site="a", n_groups=[2, 2], epsilon=2.0, random_state=0)
    for column in summary.groups.T:
        kept = max(np.mean(column == np.arange(n) % 2), np.mean(column != np.arange(n) % 2))
        assert abs(kept - np.exp(1) / (np.exp(1) + 1)) < 0.015


def test_noise_differs_from_run_to_run():
    table, _ = whole_table()
    one, other = (summarise_site(table, site="a", n_groups=3, epsilon=1.0) for _ in range(2))
    assert adjusted_rand_score(one.groups[:, 0], other.groups[:, 0]) < 0.9


def bad_table(change):
    table = whole_table()[0]
    change(table)
    return table


def set_missing(table):
    table.iloc[4, 2] = np.nan


def set_text(table):
    table["town"] = "x"


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        (np.zeros((20, 2)), {}, "X must be a DataFrame whose index names the items. Got ndarray"),
        (bad_table(set_missing), {}, "column 'feature 2' of X has no finite number for the item 'item 004'"),
        (bad_table(set_text), {}, "column 'town' of X holds something other than numbers"),
        (whole_table()[0].set_axis(["a"] * 150, axis=0), {}, "item 'a' occurs twice in the index"),
        (whole_table()[0].iloc[:9], {}, "9 items are too few for two groups of at least 5"),
        (whole_table()[0], {"only": ["item 000"]}, "1 items are too few"),
        (whole_table()[0], {"only": "item 000"}, "'only' must be a list of names"),
        (whole_table()[0], {"n_groups": 150}, "'n_groups' must be 'auto', or integers from 2 to 149"),
        (whole_table()[0], {"n_groups": []}, "'n_groups' must not be an empty list"),
        (whole_table()[0], {"n_groups": 3, "clusterer": AgglomerativeClustering(3)}, "'n_groups' or a 'clusterer'"),
        (whole_table()[0], {"clusterer": "kmeans"}, "must have a method 'fit_predict'. Got str"),
        (whole_table()[0], {"epsilon": 0}, "'epsilon' must be a number above 0"),
        (whole_table()[0], {"key": b"short"}, "at least 16 bytes"),
        (whole_table()[0], {"min_group_size": 0}, "'min_group_size' must be a positive integer. Got 0"),
        (whole_table()[0][[]], {}, "X has no columns"),
    ],
)
def test_what_is_wrong_is_named(table, options, message):
    with pytest.raises(InputError, match=message):
        summarise_site(table, site="a", **options)
