"""Every text of a participant can be replaced, and a text that would not work is refused with a sentence."""

import re
from pathlib import Path

import pytest

import consilience.collect
from consilience.collect.settings.languages import direction_of
from consilience.collect.settings.sentences import TEXTS
from consilience.collect.settings.texts import MOST_LETTERS, own_texts, placeholders
from consilience.collect.wording.wording import Wording
from consilience.errors import InputError

FOLDER = Path(consilience.collect.__file__).parent
PATTERNS = ("templates/participant/*.j2", "static/board/*.js", "participant/*.py")
SOURCES = [path for pattern in PATTERNS for path in FOLDER.glob(pattern)]


def test_texts_of_a_study_replace_english_ones_and_empty_ones_do_not():
    found = Wording("en", {"start": " Los! ", "undo": "", "group": "Gruppe {number}"})
    assert found["start"] == "Los!"
    assert found["undo"] == TEXTS["undo"]
    assert found.fill("group", number=3) == "Gruppe 3"
    assert set(found) == set(TEXTS)


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        ({"begin": "Los"}, "There is no text 'begin'."),
        ({"strat": "Los"}, "There is no text 'strat'. Did you mean 'start'?"),
        ({"start": "x" * (MOST_LETTERS + 1)}, f"must be a string of at most {MOST_LETTERS} letters"),
        ({"start": 3}, "must be a string"),
        ({"group": "Gruppe"}, "braces of the text 'group' must be {number}. Got 'Gruppe' instead."),
        ({"start": "Los {name}"}, "braces of the text 'start' must be none"),
        ({"group": "Gruppe {number"}, "do not belong together"),
        ({"group": "{number.real}"}, "braces around something else"),
        ({"group": "{number!r}"}, "braces around something else"),
        ({"group": "{number:9999999999}"}, "braces around something else"),
    ],
)
def test_a_text_that_does_not_work_is_refused(texts, sentence):
    with pytest.raises(InputError, match=re.escape(sentence)):
        own_texts(texts)


def test_texts_can_be_formatted_without_markup():
    for key, text in TEXTS.items():
        assert "<" not in text, key
        assert text.format(**dict.fromkeys(placeholders(text), 1)), key


def test_every_text_is_used_and_every_text_that_is_used_exists():
    source = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES)
    used = set(re.findall(r"\bt(?:exts)?\.([a-z_]+)", source)) | set(re.findall(r'"([a-z_]+)"', source))
    computed = r"answer_(least|most)_(number|text)|questions_(before|after)"
    computed += r"|task_(open|closed|hybrid|labels|pairs)|how_(piles|sheet)(_touch)?|(moved|taken_out)_(one|many)"
    computed += r"|question_(labels|pairs)|same|different|\w+_asked"
    computed += r"|\w+_text|closed|nothing_left|screened_out|quota_full"
    unused = {key for key in TEXTS if key not in used and not re.fullmatch(computed, key)}
    assert unused == set()
    source = re.sub(r'\bt\.fill\("', "t.", source)
    asked = set(re.findall(r"\bt\.([a-z_]+)", source)) - {"join", "mark", "name", "own"} | set(
        re.findall(r'\btext\("([a-z_]+)"', source)
    )
    asked |= set(re.findall(r'\bsay\("([a-z_]+)"', source))
    assert len(asked) > 60  # else the search above is wrong
    assert asked <= set(TEXTS)


@pytest.mark.parametrize(("language", "direction"), [("en", "ltr"), ("ar", "rtl"), ("he-IL", "rtl"), ("az", "ltr")])
def test_direction_follows_the_language(language, direction):
    assert direction_of(language) == direction


def test_who_replaced_the_text_for_a_mouse_alone_gets_it_for_touch_too():
    assert own_texts({"how_piles": "Hier entlang."})["how_piles_touch"] == "Hier entlang."
    both = own_texts({"how_piles": "Klicken.", "how_piles_touch": "Tippen."})
    assert (both["how_piles"], both["how_piles_touch"]) == ("Klicken.", "Tippen.")
    assert own_texts() == {}
