"""What the report on a free sort of few products says of words, certainty, ties and what was not tested."""

import re
from dataclasses import replace

import pandas as pd
import pytest

from consilience import Groupings
from consilience.consensus import SubsetFusion
from consilience.inspection import certainty, report

PRODUCTS = ["kiwi", "lime", "plum", "fig", "pear", "nut"]
OTHER = ["odd", "wild", "green", "rough", "late", "mild", "warm", "thin", "flat", "dry", "faint", "pale"]
SORTS = [
    *[[0, 0, 0, 1, 1, 1]] * 5,
    *([0, 0, 1, 2, 2, 1], [0, 0, 2, 1, 1, 1], [0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, 1]),
    *([0, 1, 0, 2, 2, 2], [0, 0, 2, 1, 1, 2], [0, 1, 2, 0, 1, 2]),
]


@pytest.fixture(scope="module")
def found():
    columns = {}
    for person, sort in enumerate(SORTS):
        acid = "acid" if person < 2 else f"{OTHER[person]}; acid"
        names = [acid, f"banana {OTHER[person]}", f"sweet {OTHER[person]}"]
        columns[f"J{person}"] = [names[group] for group in sort]
    sorts = Groupings.from_matrix(pd.DataFrame(columns, index=PRODUCTS))
    model = SubsetFusion(n_clusters=2, random_state=0).fit(sorts)
    drawn = certainty(model, n_draws=20, random_state=0)
    stays, repeats = [0.7, 0.85, 0.95, 0.92, 0.6, 1.0], [0.9, 0.8, 0.7, 0.6, 0.95, 0.99]  # of another order
    return model, replace(drawn, items=drawn.items.assign(stays=stays, repeats=repeats))


@pytest.fixture(scope="module")
def page(found, read):
    return read(report(found[0], certainty=found[1], words="products,assessors"))


@pytest.fixture(scope="module")
def other(found, read):
    return read(report(found[0], certainty=None, words="cards,participants"))


def test_cards_have_the_words_that_are_said_of_their_products_more_often_than_by_chance(page):
    cards = [each.text for each in page.root.all("div") if each.attributes.get("class") == "listed"]
    said = [card.partition("; said more often than by chance: ")[2].partition(";")[0] for card in cards]
    words = page.file("words.csv")
    for card, told in zip(cards, said, strict=True):
        mine = words[[item in card.partition("of panels")[2] for item in words["item"]]]
        often = mine.loc[mine["p_corrected"] <= 0.05].groupby("word").size()
        assert set(re.split(", | and ", told)) - {""} <= set(often.index[2 * often > mine["item"].nunique()])
    assert any(said)


def test_others_are_told_of_whole_names_only(other):
    assert "said more often than by chance" not in other.root.text


def test_certainty_is_how_often_items_stay_in_findings_tables_and_cards(page):
    assert [row[0] for row in page.table("uncertain")[1:]] == ["pear", "kiwi", "lime"]
    least = "pear (40%), kiwi (30%) and lime (15%)"
    assert f"Least certain, by how often it would move to another cluster by itself: {least}." in page.root.text
    cards = [each.text for each in page.root.all("div") if each.attributes.get("class") == "listed"]
    orders = [sorted(filter(card.__contains__, PRODUCTS), key=card.rindex) for card in cards]
    assert sorted(orders) == [["nut", "fig", "pear"], ["plum", "lime", "kiwi"]]


def test_few_products_are_said_to_test_nobody_and_have_no_columns_of_it(page):
    assert "With 6 products and no more agreement than this, no assessor can be tested" in page.root.text
    assert "cannot be told" not in page.root.text
    head = page.table("people")[0]
    assert not {"Random sorts that agree as well", "As if at random"} & set(head)
    assert {"random_p_value", "tested"} <= set(page.file("annotators-agreement.csv"))


def test_what_is_sorted_differently_is_open_and_says_first_which_clusters_are_not(page, other):
    (how,) = (each for each in page.root.all("details") if each.attributes.get("class") == "how")
    assert "separated" not in {section.attributes["id"] for section in how.all("section")}
    section = next(each for each in page.root.all("section") if each.attributes["id"] == "separated")
    assert "6 of 15 pairs of products are demonstrably sorted differently" in section.text
    assert "no two products that are shown" not in section.text  # of two clusters
    (how,) = (each for each in other.root.all("details") if each.attributes.get("class") == "how")
    assert "separated" in {section.attributes["id"] for section in how.all("section")}


def test_all_items_and_names_that_tie_are_named(read):
    cells = [["sour", "sour", "bitter"], ["sour", "sour", "dark"], ["sweet", "mild", "sweet"], ["pink", "red", "blue"]]
    cells += [["tall", "big", "wide"], ["tall", "big", "wide"]]
    sorts = Groupings.from_matrix(pd.DataFrame(cells, index=PRODUCTS))
    text = read(report(SubsetFusion(n_clusters=3, random_state=0).fit(sorts), certainty=None)).root.text
    assert (
        "Of the names that at least 2 people use, they agree most on what belongs under sour and sweet (100%)." in text
    )
