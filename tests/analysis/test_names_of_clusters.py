"""Names of clusters: what most people call them, each once."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilience import Groupings
from consilience.analysis.central_items import named_by_items
from consilience.analysis.clustering import FoundClusters
from consilience.analysis.group_names import chosen_names, cluster_names, count_makers
from consilience.consensus import SubsetFusion
from consilience.inspection import plot_clusters, report

COLUMNS = ["cluster", "name", "n_annotators"]


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.sampled_from(["ants", "bees", "x", "Öl", "flies", "moths"]), st.integers(0, 9)),
        unique_by=lambda row: row[:2],
    )
)
def test_no_two_clusters_have_the_same_name_and_every_name_is_given_by_two(rows):
    names = pd.DataFrame(rows, columns=COLUMNS).sort_values(
        ["cluster", "n_annotators", "name"], ascending=[True, False, True]
    )
    chosen = chosen_names(names, 5, 9)
    given = {(cluster, name): count for cluster, name, count in rows}
    taken = [name for name in chosen if name]
    assert len(taken) == len(set(taken))
    assert "x" not in taken  # a single letter says nothing
    for cluster, name in enumerate(chosen):
        most = {other: n for (k, other), n in given.items() if k == cluster and n >= 2 and other != "x"}
        if name:
            assert given[cluster, name] >= 2
            better = [other for other, n in most.items() if n > given[cluster, name]]
        else:
            better = list(most)
        # a name that more people give is that of another cluster, of which at least as many people use it
        for other in better:
            owner = chosen.index(other)
            assert owner != cluster
            assert given[owner, other] >= most[other]


def test_a_single_annotator_names_clusters_too():
    names = pd.DataFrame([(0, "ants", 1), (1, "bees", 1)], columns=COLUMNS)
    assert chosen_names(names, 2, 1) == ["ants", "bees"]
    assert chosen_names(names, 2, 2) == ["", ""]
    assert chosen_names(names.iloc[:0], 2, 1) == ["", ""]


def test_people_with_much_the_same_group_are_counted_whatever_they_call_it():
    cells = pd.DataFrame({"a": list("xxxyyy"), "b": list("xxyyyy"), "c": list("xyzxyz"), "d": [None] * 3 + list("xxy")})
    found = count_makers(Groupings.from_matrix(cells), np.array([0, 0, 0, 1, 1, -1]), 2)
    assert found.to_dict("list") == {"roughly": [2, 2], "whole": [1, 3], "exactly": [1, 1], "n_sorted": [3, 4]}


def test_spellings_and_numbers_of_a_name_count_together():
    cells = pd.DataFrame(
        {who: [name] * 3 + ["z1"] * 3 for who, name in zip("abcd", ["Bird", "birds", "BÍRDS ", "fowl"])}
    )
    found = cluster_names(Groupings.from_matrix(cells), np.repeat([0, 1], 3), 2)
    assert found[["cluster", "n_annotators"]].to_numpy().tolist() == [[0, 3], [0, 1]]
    assert found["wordings"].tolist() == [[("birds", 2), ("Bird", 1)], [("fowl", 1)]]


def test_forms_of_a_name_count_together_whoever_is_in_the_minority():
    """Of 203 people, two who agree are enough, and "the company" in three forms is one name."""
    forms = ["The company", "company", "Companies", "the compnay"]
    names = {f"p{place}": [forms[place % 4]] * 3 + [f"own {place}x"] * 3 for place in range(12)}
    found = cluster_names(Groupings.from_matrix(pd.DataFrame(names)), np.repeat([0, 1], 3), 2, above_half=True)
    assert found.loc[found["cluster"] == 0, "n_annotators"].tolist() == [12]
    others = {f"q{place}": ["mine " + "abcdefghijklmnopqrst"[place] * 2] * 6 for place in range(20)}
    two = {"a": ["Help"] * 3 + ["x1"] * 3, "b": ["help"] * 3 + ["x1"] * 3}
    with_others = Groupings.from_matrix(pd.DataFrame(two | others))
    found = cluster_names(with_others, np.repeat([0, 1], 3), 2, above_half=True)
    assert chosen_names(found, 2, 22) == ["Help", ""]


def test_clusters_that_nobody_named_have_their_most_central_items_as_a_name():
    cells = pd.DataFrame({"a": [0, 0, 0, 1, 1], "b": [0, 0, 1, 1, 1], "c": [0, 0, 0, 1, 2]}, index=list("vwxyz"))
    groupings = Groupings.from_matrix(cells)
    codes = np.array([0, 0, 0, 1, 1])
    assert named_by_items(groupings, codes, 2) == ["v, w", "y, z"]
    assert named_by_items(groupings.to_pairs(), codes, 2) == ["v, w", "y, z"]
    assert named_by_items(Groupings.from_matrix(cells.reset_index(drop=True)), codes, 2) == []  # numbers tell nothing
    found = FoundClusters.of(SubsetFusion(n_clusters=2, random_state=0).fit(groupings), groupings)
    assert sorted(found.shown) == ["v, w", "y, z"]
    assert found.called == ()  # nobody said so


def test_half_of_the_items_is_not_enough_for_a_name():
    cells = pd.DataFrame(
        {who: ["bird", "snake", "fish", "fish"] for who in "abc"}, index=["gull", "viper", "cod", "eel"]
    )
    groupings = Groupings.from_matrix(cells)
    codes = np.array([0, 0, 1, 1])
    assert chosen_names(cluster_names(groupings, codes, 2, above_half=True), 2, 3) == ["", "fish"]
    assert set(cluster_names(groupings, codes, 2).query("cluster == 0 and n_annotators == 3")["name"]) == {
        "bird",
        "snake",
    }


@pytest.fixture(scope="module")
def hostile():
    names = ["<b>bold</b>", "=1+1 $x$"]
    cells = pd.DataFrame({who: [names[0]] * 3 + [names[1]] * 3 for who in "abcd"}, index=list("uvwxyz"))
    groupings = Groupings.from_matrix(cells)
    return SubsetFusion(random_state=0).fit(groupings), groupings


def test_names_of_clusters_are_escaped_and_safe_in_files(hostile, read):
    source = report(*hostile, certainty=None)
    page = read(source)
    assert "<b>bold</b>" not in source.replace("\\u003c", "")
    assert {row[0] for row in page.table("clusters")[1:]} == {"<b>bold</b>", "=1+1 $x$"}
    assert set(page.file("clusters.csv")["name"]) == {"<b>bold</b>", "'=1+1 $x$"}
    data = json.loads(next(e for e in page.root.all("script") if e.attributes.get("id")).children[0])
    assert set(data["names"]) == set(names_of(hostile[1]))
    assert set(data["sorts"][0]["names"].values()) == set(names_of(hostile[1]))


def names_of(groupings):
    return map(str, groupings.group_names)


def test_names_are_in_plots_and_follow_the_items_not_their_order(fusion):
    model, groupings = fusion
    clusters = FoundClusters.of(model, groupings)
    assert any(clusters.called)
    assert not any("(" in title for title in clusters.titles)
    assert FoundClusters.of(model).called == ()
    turned = groupings.reindex(groupings.items[::-1])
    assert FoundClusters.of(model, turned).called == ()  # of another order, so that they cannot be told
    labels = [text.get_text() for text in plot_clusters(model, groupings=turned).get_legend().get_texts()]
    assert any(text.startswith(f"{name}: ") for text in labels for name in clusters.called if name)
