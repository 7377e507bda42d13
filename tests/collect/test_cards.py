"""Cards from lists and tables, as people write them."""

import pytest

from consilience.collect.creation.cards import Card, decode_text, items_of, read_cards, read_uploads
from consilience.errors import InputError

from .test_pictures import encoded


def texts(text):
    return [card.text for card in read_cards(text).cards]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Apple\nPear", ["Apple", "Pear"]),
        ("Apple\r\n\r\n  Pear \r\n", ["Apple", "Pear"]),
        ("Salt, pepper\nOil; vinegar", ["Salt, pepper", "Oil; vinegar"]),
        ('"Salt, pepper"\n"say ""hi"""', ["Salt, pepper", 'say "hi"']),
        ("Photo, film\nBook", ["Photo, film", "Book"]),
        ("text\nApple\nPear", ["Apple", "Pear"]),
        ("Card Label\nApple\nPear", ["Apple", "Pear"]),
        ('name,text\na,"Salt, pepper"\nb,Oil', ["Salt, pepper", "Oil"]),
        ("NAME;TEXT\na;Salt, pepper", ["Salt, pepper"]),
        ("name\ttext\na\tSalt, pepper", ["Salt, pepper"]),
        ("id\na\nb", ["a", "b"]),
        ("name,text\na,Salt\n,\nb,Oil", ["Salt", "Oil"]),
    ],
)
def test_lists_and_tables(text, expected):
    assert texts(text) == expected
    assert texts("\ufeff" + text) == expected


def test_tables_in_the_encodings_of_spreadsheets():
    table = "text\nKäse\nBrötchen"
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "cp1252"):
        assert texts(decode_text(table.encode(encoding))) == ["Käse", "Brötchen"]
    for data in (b"PK\x03\x04", b"\xd0\xcf\x11\xe0", bytes(9), b"x" * 5_000_001):
        with pytest.raises(InputError, match=r"^(This is a spreadsheet|The table of cards)"):
            decode_text(data)


def test_cards_that_nobody_can_use_are_refused():
    for text in ("", "\n \n", "name,text\n,"):
        with pytest.raises(InputError, match="There are no cards yet"):
            read_cards(text)
    with pytest.raises(InputError, match="at most 5,000"):
        read_cards("\n".join(map(str, range(5001))))


def test_names_come_from_texts_and_are_distinct():
    read = read_cards("Apple\nApple\nApple (2)\n" + "x" * 500)
    items, _, _ = items_of(read, {})
    assert [item.name for item in items[:3]] == ["Apple", "Apple (2)", "Apple (2) (2)"]
    assert len(items[3].name) <= 200
    assert [item.text for item in items[:2]] == ["Apple", "Apple"]


def test_pictures_are_found_by_their_column_or_by_the_name_of_the_card():
    files = read_uploads(
        [("x/Apple.png", encoded()), ("pear one.PNG", encoded(size=(9, 9))), ("z.png", encoded(size=(8, 8)))]
    )
    read = read_cards("name,text,picture\napple,,\np,Pear,C:\\mine\\pear one.png\nq,Quince,")
    items, pictures, notes = items_of(read, files)
    assert [item.picture is not None for item in items] == [True, True, False]
    assert {one.hash for one in pictures} == {item.picture for item in items[:2]}
    assert notes == ("Pictures that no card uses: 'z.png'.",)
    with pytest.raises(InputError, match=r"The picture 'fig\.png' of the card 'Fig' was not uploaded"):
        items_of(type(read)([Card(text="Fig", picture="fig.png")]), files)
    with pytest.raises(InputError, match=r"Two pictures have the name 'a\.png'"):
        read_uploads([("a.png", b"1"), ("b/a.png", b"2")])
