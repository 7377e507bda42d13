"""Counts and facts of the real card sorts and free sorts, and the readers on small files."""

import itertools

import numpy as np
import pandas as pd
import pytest

from consilience.datasets import (
    list_datasets,
    load_cardsort_animals,
    load_cardsort_greek_sites,
    load_free_sort,
)
from consilience.metrics.clusterings import ari

FREE_SORTS = [call.split('"')[1] for call in list_datasets()["loader"] if call.startswith("load_free_sort")]


def items_per_grouping(groupings):
    return groupings.to_frame().groupby(["annotator", "grouping"]).size().to_numpy()


def pairwise_ari(groupings):
    """Return the adjusted Rand index of all pairs of complete groupings, (n_groupings, n_groupings)."""
    shared = (groupings.incidence.T @ groupings.incidence).toarray()
    owner = np.eye(groupings.n_groupings)[groupings.grouping_of_group]
    both = owner.T @ (shared * (shared - 1) / 2) @ owner
    mine, total = np.diag(both), groupings.n_items * (groupings.n_items - 1) / 2
    by_chance, ceiling = np.outer(mine, mine) / total, np.add.outer(mine, mine) / 2
    return (both - by_chance) / (ceiling - by_chance)


# card sorts


def test_animals(load):
    animals = load("cardsort_animals")
    np.testing.assert_array_equal(items_per_grouping(animals.annotations), np.full(107, 20))  # each card placed once
    per_person = animals.annotations.summary().groups_per_grouping
    assert (per_person.min(), per_person.max()) == (2, 13)
    assert per_person.mean() == pytest.approx(5.1, abs=0.05)
    unnamed = np.char.startswith(animals.annotations.group_names.astype(str), "unnamed")
    assert (~unnamed).mean() == pytest.approx(0.18, abs=0.005)
    assert animals.annotator_info["principle"].value_counts().tolist() == [36, 35, 12, 8, 7, 4, 3, 2]
    assert {"Whale", "Unicorn", "Basilisk"} <= set(animals.item_names)


def test_people_of_one_principle_sort_alike(load):
    animals = load("cardsort_animals")
    people = animals.annotations.annotators[animals.annotations.annotator_of_grouping]
    principle = animals.annotator_info["principle"].reindex(people).to_numpy()
    agreement, (a, b) = pairwise_ari(animals.annotations), np.triu_indices(107, 1)
    alike = principle[a] == principle[b]
    assert agreement[a, b][alike].mean() == pytest.approx(0.534, abs=0.001)
    assert agreement[a, b][~alike].mean() == pytest.approx(0.313, abs=0.001)


@pytest.mark.parametrize(
    ("site", "n_cards", "n_persons", "mean_groups"), [("celestino", 59, 210, 8.0), ("skroutz", 54, 203, 8.6)]
)
def test_greek_sites(load, site, n_cards, n_persons, mean_groups):
    sorts = load(f"cardsort_{site}").annotations
    np.testing.assert_array_equal(items_per_grouping(sorts), np.full(n_persons, n_cards))
    assert sorts.summary().groups_per_grouping.mean() == pytest.approx(mean_groups, abs=0.05)
    assert all(isinstance(name, str) and name.strip() for name in sorts.group_names)


def test_the_reader_of_animals_names_unnamed_groups_within_a_person(folder):
    (folder / "cardsort-animals").mkdir()
    rows = [
        (1, "ant", 1, "small", "Size"),
        (1, "cow", 2, None, "Size"),
        (1, "bee", 3, None, "Size"),
        (2, "ant", 4, None, "Habitat"),
        (2, "cow", 4, None, "Habitat"),
        (2, "bee", 5, None, "Habitat"),
    ]
    frame = pd.DataFrame(rows, columns=["user", "card", "group_id", "group_name", "tag"])
    frame.to_csv(folder / "cardsort-animals" / "cardsort.csv", index=False)
    animals = load_cardsort_animals()
    wide = animals.annotations.to_matrix()
    assert wide["person 1"].to_dict() == {"ant": "small", "cow": "unnamed 1", "bee": "unnamed 2"}
    assert wide["person 2"].to_dict() == {"ant": "unnamed 1", "cow": "unnamed 1", "bee": "unnamed 2"}
    assert animals.annotator_info["principle"].to_dict() == {"person 1": "Size", "person 2": "Habitat"}


def test_the_reader_of_greek_sites_puts_texts_for_card_numbers(folder):
    (folder / "cardsort-greek-sites").mkdir()
    frame = pd.DataFrame({"user": 7, "card_id": [2, 1], "group_id": [1, 2], "group_name": ["άλφα", "βήτα"]})
    frame.to_csv(folder / "cardsort-greek-sites" / "skroutz.csv.gz", index=False)
    cards = pd.DataFrame({"card_id": [1, 2], "card": ["Εικόνα", "Ήχος"]})
    cards.to_csv(folder / "cardsort-greek-sites" / "skroutz_cards.csv", index=False)
    wide = load_cardsort_greek_sites("skroutz").annotations.to_matrix()
    assert wide["person 7"].to_dict() == {"Εικόνα": "βήτα", "Ήχος": "άλφα"}


# free sorts


@pytest.mark.parametrize("name", FREE_SORTS)
def test_free_sorts_are_complete(load, name):
    sorts = load(name).annotations
    np.testing.assert_array_equal(items_per_grouping(sorts), np.full(sorts.n_groupings, sorts.n_items))


# smallest, mean and largest number of groups, as counted when the files were collected
@pytest.mark.parametrize(
    ("name", "n_groupings", "fewest", "mean", "most"),
    [
        ("accents45_geller", 84, 4, 9.61, 16),
        ("amari12_lahne2018", 50, 3, 5.76, 10),
        ("aroma16_courcoux2014", 31, 3, 6.23, 12),
        ("beers8_abdi2007", 10, 4, 4.6, 5),
        ("beers9_lelievre2009_EV", 17, 3, 4.18, 6),
        ("beers9_lelievre2009_EBr1", 13, 3, 3.92, 5),
        ("beers9_lelievre2009_EBr2", 13, 2, 4.0, 5),
        ("beers9_lelievre2009_EBr3", 13, 3, 3.85, 6),
        ("beers9_lelievre2009_EBr4", 13, 3, 4.15, 6),
        ("cards16_children_hierarchical", 81, 2, 4.52, 8),
        ("kinship15_rosenberg1975", 85, 2, 4.98, 8),
        ("orange_juice10", 42, 2, 4.48, 8),
        ("perfume12_sensominer", 30, 3, 4.67, 7),
        ("smoothies8_sensominer", 24, 3, 3.79, 5),
        ("spices16_french", 21, 3, 5.86, 9),
        ("wines18_free_experts", 19, 2, 5.05, 9),
        ("wines18_ternary_experts", 19, 3, 3.0, 3),
    ],
)
def test_groups_of_free_sorts(load, name, n_groupings, fewest, mean, most):
    per_grouping = load(name).annotations.summary().groups_per_grouping
    assert (len(per_grouping), per_grouping.min(), per_grouping.max()) == (n_groupings, fewest, most)
    assert per_grouping.mean() == pytest.approx(mean, abs=0.005)


def test_judges_who_sorted_more_than_once(load):
    amari = load("amari12_lahne2018").annotations
    np.testing.assert_array_equal(np.bincount(amari.annotator_of_grouping), np.full(25, 2))
    assert set(amari.grouping_names) == {"r1", "r2"}
    cards = load("cards16_children_hierarchical").annotations
    assert np.bincount(cards.annotator_of_grouping).max() == 4
    assert set(cards.grouping_names) == {"L1", "L2", "L3", "L4"}


def test_levels_of_a_child_are_nested(load):
    wide = load("cards16_children_hierarchical").annotations.to_matrix()
    checked = 0
    for child in wide.columns.unique(0):
        levels = wide[child]
        for coarse, fine in itertools.pairwise(sorted(levels.columns)):
            assert levels.groupby(fine)[coarse].nunique().max() == 1
            checked += 1
    assert checked == 51


def test_truth_in_the_names_of_free_sorts(load):
    accents = load("accents45_geller")
    english = accents.target_names.tolist().index("english")
    assert np.bincount(accents.target)[english] == 15
    wines = load("wines18_ternary_experts")
    assert dict(zip(wines.target_names, np.bincount(wines.target), strict=True)) == {"red": 6, "rosé": 6, "white": 6}
    judged = [ari(wines.target, column.to_numpy()) for _, column in wines.annotations.to_matrix().items()]
    assert np.mean(judged) == pytest.approx(0.416, abs=0.001)


def test_relatives_are_grouped_together(load):
    kin = load("kinship15_rosenberg1975").annotations.to_matrix()
    assert (kin.loc["grandfather"] == kin.loc["grandmother"]).mean() == pytest.approx(0.87, abs=0.005)
    assert (kin.loc["brother"] == kin.loc["sister"]).mean() == pytest.approx(0.88, abs=0.005)


def test_item_info_of_free_sorts(load):
    assert load("wines18_free_experts").item_info.loc["P4", "name"] == "Bordeaux rosé"
    assert load("amari12_lahne2018").item_info.loc["Zwack", "country"] == "Hungary"
    spices = load("spices16_french").item_info["longNames"]
    assert spices["Gin_Pep"] == "GingerPepper"
    assert load("aroma16_courcoux2014").data.loc["Lemon", "Citrus"] == 7
    assert load("beers8_abdi2007").item_info is None


def test_the_reader_of_free_sorts(folder):
    (folder / "free-sort").mkdir()
    wide = pd.DataFrame({"item": ["x", "y"], "S1L1": [1, 1], "S1L2": [1, 2], "S10L1": [2, 1]})
    wide.to_csv(folder / "free-sort" / "cards16_children_hierarchical.csv", index=False)
    sorts = load_free_sort("cards16_children_hierarchical").annotations
    assert sorts.annotators.tolist() == ["S1", "S10"]
    matrix = sorts.to_matrix()
    assert matrix["S1", "L1"].tolist() == [1, 1]
    assert matrix["S1", "L2"].tolist() == [1, 2]
    assert matrix["S10", "L1"].tolist() == [2, 1]
