"""What readers call items and annotators."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilience import Groupings, read_annotations
from consilience.analysis.nouns import plural_of, singular, with_article
from consilience.analysis.words import DEFAULT, LONGEST, current_words
from consilience.annotations.files.vocabulary import ANNOTATOR, ITEM
from consilience.errors import InputError
from consilience.inspection import Words, use_words


def test_by_default_they_are_items_and_annotators():
    assert Words.of(None) == Words() == current_words() == Words("item", "items", "annotator", "annotators")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cards,participants", ("card", "cards", "participant", "participants")),
        (
            " wine samples , trained assessors ",
            ("wine sample", "wine samples", "trained assessor", "trained assessors"),
        ),
        ("stories,people", ("story", "stories", "person", "people")),
        ("Karten/Karte,Personen/Person", ("Karte", "Karten", "Person", "Personen")),
        ("चित्र/चित्र,लोग/व्यक्ति", ("चित्र", "चित्र", "व्यक्ति", "लोग")),
        ("stimuli,children's doctors", ("stimulus", "stimuli", "children's doctor", "children's doctors")),
    ],
)
def test_two_plurals_are_two_words_with_their_singulars(text, words):
    assert Words.of(text) == Words(*words)


@pytest.mark.parametrize(
    "noun", [*ITEM.split(), *ANNOTATOR.split(), "glass", "box", "house", "person", "child", "prize"]
)
def test_singulars_of_plurals_are_the_words_themselves(noun):
    assert singular(plural_of(noun)) == noun


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cards", "two plurals separated by a comma, such as 'cards,participants'. Got 'cards'"),
        ("cards,people,tables", "two plurals"),
        ("", "two plurals"),
        ("cards,", "letters or digits"),
        ("<b>,people", "Got '<b>'"),
        ("$x$,people", "Got '\\$x\\$'"),
        ("=cards,people", "Got '=cards'"),
        ("card  s,people", "single blanks"),
        (f"{'c' * LONGEST}s,people", f"1 to {LONGEST} letters"),
        ("Karten,people", "singular of 'Karten' is not known; give both forms"),
        ("clusters,people", "'clusters' means something else"),
        ("cards,Cards", "different words"),
        ("participants,cards", "word for items comes first"),
    ],
)
def test_other_text_is_refused_in_one_sentence(text, said):
    with pytest.raises(InputError, match=said):
        Words.of(text)
    with pytest.raises(InputError):
        Words.of(7)


def test_words_begin_sentences_and_follow_articles():
    words = Words.of("images,users")
    assert (words.Items, words.Annotator, words.an_item, words.An_annotator) == ("Images", "User", "an image", "A user")
    assert (words.n_items(1), words.n_items(1797), words.n_annotators(2)) == ("1 image", "1,797 images", "2 users")
    assert [with_article(noun) for noun in ("MRI scan", "uninformed judge", "unit")] == [
        "an MRI scan",
        "an uninformed judge",
        "a unit",
    ]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (("participant id", "card label", "category label"), ("cards", "participants")),
        (("UserID", "Product", "group"), ("products", "users")),
        (("patient", "expert", "group"), ("patients", "experts")),
        (("worker", "img", "pile"), ("images", "workers")),
        (("item", "rater", "group"), ("items", "raters")),
        (("person", "stimulus", "group"), ("stimuli", "people")),
        (("email", "karte", "group"), ("items", "annotators")),
    ],
)
def test_they_are_guessed_from_the_columns_of_the_file(tmp_path, columns, words):
    text = [",".join(columns)]
    of_person = columns[0] not in ("patient", "item")
    for person in "AB":
        for thing in range(4):
            pair = (person, f"t{thing}") if of_person else (f"t{thing}", person)
            text.append(",".join([*pair, f"g{thing % 2}"]))
    path = tmp_path / "sorts.csv"
    path.write_text("\n".join(text) + "\n")
    annotations = read_annotations(path, kind="groupings")
    found = Words.of(None, annotations.reading.how)
    assert (found.items, found.annotators) == words


def test_they_are_guessed_of_wide_tables_and_of_pairs(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("product,Ann,Bo\nale,1,2\nstout,1,\nporter,2,2\n")
    wide = Words.of(None, read_annotations(path).reading.how)
    assert (wide.items, wide.annotators) == ("products", "annotators")
    path.write_text("image_a,image_b,worker,same\nx,y,A,1\ny,z,A,0\nx,z,B,0\n")
    pairs = Words.of(None, read_annotations(path).reading.how)
    assert (pairs.items, pairs.annotators) == ("images", "workers")


def test_nothing_is_guessed_from_what_is_not_a_file():
    groupings = Groupings.from_frame(pd.DataFrame({"item": ["a", "b"], "annotator": "Ann", "group": 1}))
    assert Words.of(None, "" if groupings.reading is None else groupings.reading.how) == DEFAULT
    assert Words.of(None, "cards × participants") == DEFAULT


def test_they_hold_within_the_block():
    with use_words("cards,people") as words:
        assert current_words() is words
        with use_words(Words()):
            assert current_words() == DEFAULT
        assert current_words() is words
    assert current_words() == DEFAULT


def test_sentences_of_models_are_retold_except_for_names():
    words = Words.of("cards,experts")
    told = words.told("Items that an annotator, item 1, gave: an item and annotators 3.", ["item 1", "annotators 3"])
    assert told == "Cards that an expert, item 1, gave: a card and annotators 3."
    assert Words().told("An item.") == "An item."


@given(st.text(st.characters(categories=["L", "N", "Z", "P", "S", "M"]), min_size=1, max_size=12))
def test_any_text_is_a_word_or_refused(text):
    try:
        words = Words(text, text + "s", "person", "people")
    except InputError:
        return
    assert not set(words.items) & set('<>"$=,;/\n')
    assert words.items[0].isalpha()
