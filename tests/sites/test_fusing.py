"""One clustering from the summaries of sites."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from consilience.errors import InputError
from consilience.sites import SiteSummary, fuse_sites, summarise_site
from consilience.sites.fusing import association, find_unrelated
from tests.sites.made import some_sites, whole_table

KEY = b"sixteen bytes or more"


def test_sites_with_different_columns_find_the_clusters_together():
    summaries, truth = some_sites(n_groups=3)
    found = fuse_sites(summaries, random_state=0)
    assert found.labels.nunique() == 3
    assert adjusted_rand_score(truth[found.labels.index], found.labels) == 1
    assert set(found.labels.index) == {item for one in summaries for item in one.items}
    assert found.sites["n_items"].tolist() == [100] * 4
    assert (found.sites["shared"] > 80).all()


@pytest.mark.slow
def test_the_order_of_the_sites_does_not_matter():
    summaries, _ = some_sites()
    one, other = fuse_sites(summaries, random_state=0), fuse_sites(summaries[::-1], random_state=0)
    assert adjusted_rand_score(one.labels, other.labels[one.labels.index]) == 1


@pytest.mark.slow
def test_hashed_names_give_the_same_clusters():
    plain, _ = some_sites()
    hashed, _ = some_sites(key=KEY)
    one, other = fuse_sites(plain, random_state=0), fuse_sites(hashed, random_state=0)
    assert sorted(one.labels.value_counts()) == sorted(other.labels.value_counts())


def mixed_up(seed: int = 5):
    """Return the summary of a site whose names belong to other rows."""
    table, _ = whole_table()
    shuffled = table.set_axis(np.random.default_rng(seed).permutation(table.index), axis=0)
    return summarise_site(shuffled, site="mixed up", n_groups=3, random_state=0)


def test_a_site_whose_names_are_wrong_is_left_out_and_named():
    summaries, truth = some_sites(n_groups=3)
    found = fuse_sites([*summaries, mixed_up()], random_state=0)
    assert found.left_out == ["mixed up"]
    assert adjusted_rand_score(truth[found.labels.index], found.labels) == 1
    assert "The groups of the site 'mixed up' have nothing to do with those of any other" in found.notes[0]
    assert found.sites.loc["mixed up", "weight"] == 0
    assert abs(found.sites.loc["mixed up", "agreement"]) < 0.05


def test_a_site_is_kept_on_request():
    summaries, _ = some_sites(n_groups=3)
    found = fuse_sites([*summaries, mixed_up()], keep_all=True, random_state=0)
    assert found.left_out == []
    assert found.sites.loc["mixed up", "weight"] > 0


def test_nobody_is_left_out_if_nobody_agrees():
    assert find_unrelated([mixed_up(1), replace(mixed_up(2), site="also mixed up")]) == []


def test_sites_at_random_are_left_out_and_others_are_not():
    n_wrong = n_right = 0
    for seed in range(20):
        summaries, _ = some_sites(seed, n_groups=3)
        left_out = find_unrelated([*summaries, mixed_up(seed)])
        n_wrong += len(set(left_out) - {"mixed up"})
        n_right += "mixed up" in left_out
    assert n_wrong == 0
    assert n_right >= 18  # by the level of the test, one in a hundred is missed


def groups_at_random(site, sizes, rng):
    """Return the summary of a site that put 24 items into groups of about these sizes, without looking."""
    groups = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))[:, None]
    return SiteSummary(site, tuple(f"item {n}" for n in range(24)), groups)


@pytest.mark.parametrize("n_cases", [150, pytest.param(2000, marks=pytest.mark.slow)])
def test_groups_at_random_are_associated_as_often_as_the_level_says(n_cases):
    """Of 24 items in small groups: by the distribution of chi-squared p was at most .0033 in .02 of such pairs."""
    rng = np.random.default_rng(0)
    sizes = [12, 4, 3, 2, 1, 1, 1]
    p_values = [
        association(groups_at_random("a", sizes, rng), groups_at_random("b", sizes, rng), n_shuffled=999)
        for _ in range(n_cases)
    ]
    for level in (0.0033, 0.01, 0.05, 0.2):
        expected = level * n_cases
        assert np.sum(np.array(p_values) <= level) <= expected + 3.5 * np.sqrt(expected) + 1, level


def test_a_site_that_shares_nothing_has_clusters_of_its_own():
    summaries, _ = some_sites(n_groups=3)
    table, _ = whole_table(9)
    summaries.append(summarise_site(table.add_prefix("far ", axis=0), site="far", n_groups=3, random_state=0))
    found = fuse_sites(summaries, random_state=0)
    assert any("'far' shares no item with another" in note for note in found.notes)
    far = found.labels[found.labels.index.str.startswith("far")]
    assert not set(far) & set(found.labels.drop(far.index))


def test_what_cannot_be_fused_is_named():
    summaries, _ = some_sites(n_groups=3)
    with pytest.raises(InputError, match=r"At least two summaries are needed\. Got 1"):
        fuse_sites(summaries[:1])
    with pytest.raises(InputError, match="Two summaries are by the site 'site 0'"):
        fuse_sites([summaries[0], *summaries])
    hashed, _ = some_sites(n_groups=3, key=KEY)
    with pytest.raises(InputError, match="'site 1' sent keyed hashes and 'site 0' sent names"):
        fuse_sites([summaries[0], hashed[1]])
    other_key, _ = some_sites(n_groups=3, key=b"another key, as long")
    with pytest.raises(InputError, match=r"No two sites share an item.*hashes differ if the keys do"):
        fuse_sites([hashed[0], other_key[1]])
