"""Names of columns: which are recognised, in any case, number and spelling, and which are not."""

import pytest

from consilience.annotations.files.vocabulary import (
    ANNOTATOR,
    GROUP,
    GROUPING,
    ITEM,
    LABEL,
    NEUTRAL,
    NO_PERSON,
    SAME,
    WORDS,
    normal,
    pair_sides,
    plural,
    role_of_name,
)

ROLES = {"item": ITEM, "annotator": ANNOTATOR, "grouping": GROUPING, "group": GROUP, "label": LABEL, "same": SAME}
EVERY_WORD = [(word, role) for role, words in ROLES.items() for word in words.split()]


def test_no_word_has_two_roles():
    assert len(WORDS) == len(EVERY_WORD)
    assert not {normal(word) for word in NEUTRAL} & WORDS.keys()


@pytest.mark.parametrize(("word", "role"), EVERY_WORD)
def test_every_word_in_every_spelling(word, role):
    for name in (word, word.upper(), word.title(), f" {word} ", plural(word), plural(word).upper()):
        assert (role_of_name(name).role, role_of_name(name).noun) == (role, word), name
    for name in (
        f"{word}_id",
        f"{word}ID",
        f"{word.title()}Id",
        f"{word.upper()}_ID",
        f"{word}.id",
        f"{word} No",
        f"{word}#no",
    ):
        assert (role_of_name(name).role, role_of_name(name).part) == (role, "identifier"), name
    for name in (f"{word}_name", f"{word.title()}Name", f"{word} label", f"{word}-title"):
        assert (role_of_name(name).role, role_of_name(name).part) == (role, "text"), name


@pytest.mark.parametrize(
    "name",
    ["seconds", "time", "x", "", "id", "index", "1", "J1", "user language", "items per page", "Unnamed: 0", 7, None],
)
def test_other_names_are_not_recognised(name):
    assert role_of_name(name) is None


@pytest.mark.parametrize("name", sorted(NO_PERSON - set(WORDS)))
def test_names_of_other_data_have_no_role_in_a_long_table(name):
    assert role_of_name(name) is None or role_of_name(name).role in {"label", "item", "annotator"}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("WorkerId", "worker id"),
        ("INPUT:image", "input:image"),
        ("participant_ID", "participant id"),
        ("Card\u00a0Label", "card label"),
        ("\uff35ser", "user"),
        ("HITId", "hit id"),
        ("card-label", "card label"),
        ("is_same", "is same"),
    ],
)
def test_normal_names(name, expected):
    assert normal(name) == expected
    assert normal(normal(name)) == expected


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (["item_a", "item_b"], [("item_a", "item_b", "item")]),
        (["item1", "item2"], [("item1", "item2", "item")]),
        (["left_image", "right_image"], [("left_image", "right_image", "image")]),
        (["left", "right"], [("left", "right", "")]),
        (["Text A", "Text B", "text_id"], [("Text A", "Text B", "text")]),
        (["image_1", "image_2", "image_3"], [("image_1", "image_2", "image")]),
        (["first", "last"], []),
        (["item_a", "thing_b"], []),
        ([], []),
    ],
)
def test_sides_of_a_pair(columns, expected):
    assert pair_sides(columns) == expected


def test_plural_is_undone_by_reading():
    for word in WORDS:
        assert role_of_name(plural(word)).noun == word
