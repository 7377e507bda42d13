"""The forms of practice, admission and gold, and of consent, questions and codes."""

import pytest

from consilience.collect.admin.panel_forms import fields_of_panel, line_of, panel_in, question_of
from consilience.collect.admin.training_forms import fields_of_training, lines_of_sort, training_in
from consilience.collect.settings.model import Item
from consilience.collect.settings.panel import Completion, Panel, Question
from consilience.collect.settings.training import RightCard, RightSort, Training
from consilience.errors import InputError

from .collecting import begun, joined, sort
from .test_admin import made

ITEMS = [Item(0, "c0", "Red apple"), Item(1, "c1", "Pear"), Item(2, "c2", "pear"), Item(3, "plum", "Plum")]
PRACTICE = 'Red: cherry, "red, apple"\nBlue: sky, sea'


def groups_of(sort):
    return [(card.name, card.group) for card in sort.cards]


# ---- practice, admission, gold


def test_cards_are_called_by_their_names_or_by_what_they_say():
    text = "Fruit: red apple, PLUM, Pear\nOther: nut"
    practice = training_in({"practice": text}, ITEMS, Training()).practice
    # two cards say pear: it is neither
    assert groups_of(practice) == [("c0", "Fruit"), ("plum", "Fruit"), ("Pear", "Fruit"), ("nut", "Other")]


@pytest.mark.parametrize(
    "names", [["owl", "a, b"], ['say "hi"', "c: d"], ["  x", "y;z"], ["1", "-2"], ["Käse", "日本"], ["a  b", "#c"]]
)
def test_a_sort_survives_its_form(names):
    names = [" ".join(name.split()) for name in names]
    expected = RightSort(
        tuple(
            RightCard(name, group)
            for group in ("G: 1", 'H "h", i', "J")
            for name in [f"{group}{names[0]}", names[1] + group]
        )
    )
    found = training_in({"practice": lines_of_sort(expected)}, [], Training()).practice
    assert found == expected


def test_a_training_survives_its_form_with_the_pictures_of_its_cards():
    own = RightCard("cherry", "Red", "A cherry", "hash", "A red ball")
    sorts = [RightSort((own, RightCard("c0", "Red"), RightCard("sky", "Blue")))]
    sorts.append(RightSort.of_groups({"A": ["c1", "x"], "B": ["y"]}))
    training = Training(sorts[0], tuple(sorts), 0.75, 3, (sorts[1],), 0.2)
    assert training_in(fields_of_training(training), ITEMS, training) == training


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"practice": "owl, robin"}, "a group, a colon and its cards"),
        ({"admission": "Birds: owl\n: robin"}, "A line of the admission"),
        ({"gold": "Birds:"}, "'Birds' of the gold has no cards"),
        ({"practice": "A: a, b\nB: c\n\nA: d\nB: e"}, "There is one practice; take out"),
        ({"mark": "high"}, "'mark' must be a number"),
        ({"tries": "2.5"}, "'tries' must be a whole number"),
    ],
)
def test_what_cannot_be_read_is_said(fields, sentence):
    with pytest.raises(InputError, match=sentence):
        training_in(fields, ITEMS, Training())


def test_a_researcher_sets_up_training_on_the_page(admin, sqlite_store):
    study = made(admin, sqlite_store, items="apple\npear\nnut\nfig")
    address = f"/admin/studies/{study.id}/training"
    fields = {"practice": PRACTICE, "admission": "Sweet: apple, pear\nDry: nut, oat\n\nA: fig, x\nB: y", "mark": "0.7"}
    fields |= {"tries": "3", "gold": "Sweet: fig, pear\nDry: nut", "gold_share": "20"}
    assert admin.post(address, data=fields).status_code == 303
    training = sqlite_store.study(study.id).settings.training
    assert [groups_of(one)[0] for one in training.admission] == [("apple", "Sweet"), ("fig", "A")]
    assert (training.mark, training.tries, training.gold_share, len(training.gold)) == (0.7, 3, 0.2, 1)
    assert training.practice.cards[1] == RightCard("red, apple", "Red", "red, apple", None, "red, apple")
    page = admin.get(address).text
    assert "Saved." in page
    assert "A person gets 0.25 on average, so most people get none" in page  # with a set each: .2 / (1 - .2)
    assert "Not cards of the study: <bdi>cherry</bdi>, <bdi>red, apple</bdi>" in page
    assert "Who sorts at random passes with a probability of" in page
    assert "Each sort has from 3 to 60 cards, with at least two groups, one of them of two cards or more." in page
    assert "Red: cherry, &#34;red, apple&#34;\nBlue: sky, sea</textarea>" in page
    answer = admin.post(address, data=fields | {"gold": "Sweet: fig"})
    assert answer.status_code == 422
    assert "Gold sort 1 must have from 3 to 60 cards. Got 1." in answer.text
    assert "Sweet: fig</textarea>" in answer.text
    admin.post(address, data={})
    assert sqlite_store.study(study.id).settings.training == Training(gold_share=0.0)


def test_a_closed_sort_checks_against_its_categories(admin, sqlite_store):
    study = made(admin, sqlite_store, kind="closed", categories="A\nB")
    address = f"/admin/studies/{study.id}/training"
    answer = admin.post(address, data={"practice": "A: apple, pear\nC: nut"})
    assert "which is no category of the study" in answer.text
    assert admin.post(address, data={"practice": "A: apple, pear\nB: nut"}).status_code == 303
    page = admin.get(address).text
    assert "one of your categories" in page
    assert "placeholder" not in page  # of cards that are none of the study's


def test_the_page_of_people_shows_how_they_did(admin, sqlite_store):
    fruit = RightSort.of_groups({"Red": ["cherry", "rose"], "Blue": ["sky", "sea"]})
    training = Training(practice=fruit, admission=(fruit,), mark=0.5, tries=1)
    study = begun(sqlite_store, training=training)
    page = f"/admin/studies/{study.id}/people"
    assert "Admission" not in admin.get(page).text
    for careless in (0, 1):
        person = joined(sqlite_store, study)
        for done in range(2):
            given = sqlite_store.assignment_for(person, rng())
            sqlite_store.see_answer(
                sort(sqlite_store, given, lambda item, odd=careless * done: (item - 12 - odd) % 4 // 2).id, person.id
            )
    shown = admin.get(page).text
    assert "1.00: admitted" in shown
    assert "-0.50: not admitted" in shown
    assert '<th scope="col">Practice</th><th scope="col">Admission</th><th scope="col">Ended' in shown.replace("\n", "")
    assert shown.count('<td class="number" data-head="Sorts">0</td>') == 2  # none of it counts as a sort
    assert {one.standing for one in sqlite_store.consistency(study.id)} == {"ready", "refused"}


def rng():
    import numpy as np

    return np.random.default_rng(0)


# ---- consent, questions, codes

QUESTIONS = (
    Question("age", "How old are you?", "number", True, (), 18.0, 99.0),
    Question("diet", "What do you eat; or drink?", "choices", False, ("Meat", 'Fish "n" chips; peas', "Plants")),
    Question("why", 'You say "no": why?', "text", False, (), None, 500.0),
    Question("note", "Anything else?"),
    Question("cold", "How cold is it?", "number", False, (), -40.0, None),
)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_survives_its_line(question):
    assert question_of(line_of(question)) == question


def test_a_panel_survives_its_form():
    endings = {"complete": Completion("C1", "https://panel.example/?c={code}"), "closed": Completion("C2")}
    panel = Panel("# Hello\n\nYou sort.", QUESTIONS[:2], QUESTIONS[2:], endings, "PID", "turn away", 30, 90, ("PID",))
    assert panel_in(fields_of_panel(panel)) == panel
    assert panel_in(fields_of_panel(Panel())) == Panel()


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("age", "a name, a semicolon and its text"),
        ("age; How old?; years", "must be one of text, number, choice, choices. Got 'years'"),
        ("age; How old?; number; many", "such as '1 to 120'"),
        ("age; How old?; number; 1 to 2; 3", "such as '1 to 120'"),
    ],
)
def test_a_question_that_cannot_be_read_is_said(line, sentence):
    with pytest.raises(InputError, match=sentence):
        question_of(line)


def test_a_researcher_sets_up_a_panel_on_the_page(admin, visit, sqlite_store):
    study = made(admin, sqlite_store, parameters="PROLIFIC_PID")
    address = f"/admin/studies/{study.id}/panel"
    fields = {"consent": "# What this is\n\nYou sort **cards**.", "before": "age*; How old are you?; number; 18 to 99"}
    fields |= {"code-complete": "C1ABC", "url-complete": "https://panel.example/?c={code}", "code-declined": "C2"}
    fields |= {"identified_by": "PROLIFIC_PID", "returning": "turn away", "minutes": "60", "keep_days": "90"}
    fields |= {"code-withdrawn": "C3", "required_parameters": "PROLIFIC_PID"}
    assert admin.post(address, data=fields).status_code == 303
    panel = sqlite_store.study(study.id).settings.panel
    assert panel.before == (Question("age", "How old are you?", "number", True, (), 18.0, 99.0),)
    assert list(panel.endings) == ["complete", "declined", "withdrawn"]
    assert panel.required_parameters == ("PROLIFIC_PID",)
    assert (panel.identified_by, panel.returning, panel.minutes, panel.keep_days) == (
        "PROLIFIC_PID",
        "turn away",
        60,
        90,
    )
    page = admin.get(address).text
    assert "Saved." in page
    assert "age*; How old are you?; number; 18 to 99</textarea>" in page
    assert '<option value="PROLIFIC_PID" selected>' in page
    answer = admin.post(address, data=fields | {"url-complete": "http://panel.example"})
    assert answer.status_code == 422
    assert "must begin with https://" in answer.text
    assert 'value="http://panel.example"' in answer.text

    admin.post(f"/admin/studies/{study.id}/open")
    browser = visit()
    browser.get(f"/join/{study.join_token}?PROLIFIC_PID=p1")
    assert "You sort <strong>cards</strong>." in browser.get("/sort").text
