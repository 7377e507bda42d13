"""Training: settings that cannot be scored are refused, scores and chances are right, and feedback names the cards."""

import itertools
import json
import re

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, cohen_kappa_score

from consilience.collect.creation.training import read_right_sort
from consilience.collect.participant.feedback import feedback_of
from consilience.collect.settings.model import Item, StudySettings
from consilience.collect.settings.training import RightCard, RightSort, Training
from consilience.collect.settings.training_checks import with_checked_training
from consilience.collect.store.scoring import chance_of_passing, score_of, score_of_answer
from consilience.collect.store.standing import number_cards
from consilience.errors import InputError
from tests.quick_cases import some_quick

ITEMS = [Item(number, f"item {number}") for number in range(6)]
ANIMALS = RightSort.of_groups({"Birds": ["owl", "robin"], "Fish": ["trout", "shark"], "Mammals": ["wolf"]})
RNG = np.random.default_rng(3)


def sort_of(*sizes):
    return RightSort.of_groups({f"g{place}": [f"{place}.{n}" for n in range(size)] for place, size in enumerate(sizes)})


def test_scores_are_those_of_scikit_learn():
    for _ in range(50):
        right, given = RNG.integers(3, size=(2, 9))
        assert score_of(right.tolist(), given.tolist(), closed=False) == pytest.approx(
            adjusted_rand_score(right, given)
        )
        assert score_of(right.tolist(), given.tolist(), closed=True) == pytest.approx(cohen_kappa_score(right, given))
    assert score_of(["a", "a"], ["a", "a"], closed=True) == 1


def test_a_card_that_is_left_unsorted_is_alone_or_wrong():
    right = {0: "a", 1: "a", 2: "b", 3: "b"}
    answer = [{"id": "c1", "name": "a", "items": [0, 1]}, {"id": "c2", "name": "b", "items": [2]}]
    expected = adjusted_rand_score([0, 0, 1, 1], [0, 0, 1, 2])
    assert score_of_answer(right, answer, closed=False) == pytest.approx(expected)
    expected = cohen_kappa_score(["a", "a", "b", "b"], ["a", "a", "b", "none"])
    assert score_of_answer(right, answer, closed=True) == pytest.approx(expected)


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize(("sizes", "mark"), some_quick([((3, 3), 0.5), ((2, 2, 2), 0.3), ((4, 2, 1), 0.2)], 2))
def test_the_exact_chance_is_that_of_all_sorts(sizes, mark, closed):
    sort = sort_of(*sizes)
    names = list(dict.fromkeys(sort.labels))
    scores = [score_of(sort.labels, given, closed=closed) for given in itertools.product(names, repeat=len(sort.cards))]
    found = chance_of_passing([sort], mark, 3, categories=names if closed else None)
    expected = np.mean([score >= mark - 1e-9 for score in scores])
    assert found.exact
    assert found.once == pytest.approx(expected)
    assert found.ever == pytest.approx(1 - (1 - expected) ** 3)


def test_the_chance_of_two_sorts_is_that_of_their_mean():
    one, other = sort_of(2, 2), sort_of(3, 1)
    scores = [
        [score_of(sort.labels, given, closed=False) for given in itertools.product("ab", repeat=4)]
        for sort in (one, other)
    ]
    expected = np.mean([(a + b) / 2 >= 0.5 for a in scores[0] for b in scores[1]])
    assert chance_of_passing([one, other], 0.5).once == pytest.approx(expected)


def test_large_sorts_are_simulated():
    found = chance_of_passing([sort_of(5, 5, 5, 5, 5, 5)], 0.1)
    assert not found.exact
    assert 0 <= found.once < 0.05
    several = chance_of_passing([sort_of(4, 4, 4)] * 5, 0.2)
    assert not several.exact
    assert several.once < chance_of_passing([sort_of(4, 4, 4)], 0.2).once


def test_what_a_slip_costs():
    sort = sort_of(4, 4)
    wrong = [1, 0, 0, 0, 1, 1, 1, 1]
    alone = [2, 0, 0, 0, 1, 1, 1, 1]
    scores = [adjusted_rand_score([0] * 4 + [1] * 4, given) for given in (wrong, alone)]
    found = chance_of_passing([sort], 0.6)
    assert (found.slip_least, found.slip_most) == pytest.approx((min(scores), max(scores)))
    assert not found.forgives_slip
    assert chance_of_passing([sort], min(scores)).forgives_slip
    twice = chance_of_passing([sort, sort], 0.6)
    assert twice.slip_least == pytest.approx((1 + min(scores)) / 2)
    closed = chance_of_passing([sort], 0.6, categories=["g0", "g1"])
    assert closed.slip_least == closed.slip_most == pytest.approx(cohen_kappa_score([0] * 4 + [1] * 4, wrong))


def test_feedback_names_what_was_missed_and_what_does_not_belong():
    right = {1: "Birds", 2: "Birds", 3: "Fish", 4: "Fish", 5: "Mammals"}
    answer = [{"id": "g1", "name": "", "items": [1, 2, 3]}, {"id": "g2", "name": "", "items": [5]}]
    birds, fish, mammals = feedback_of(right, answer, closed=False)
    assert [(one.card, one.right, one.missed, one.intruders) for one in birds.cards] == [
        (1, True, (), (3,)),
        (2, True, (), (3,)),
    ]
    assert [(one.card, one.right, one.missed, one.intruders) for one in fish.cards] == [
        (3, False, (4,), (1, 2)),
        (4, False, (3,), ()),
    ]
    assert mammals.cards[0].right
    named = [{"id": "c1", "name": "Birds", "items": [1, 3]}, {"id": "c2", "name": "Fish", "items": [2]}]
    birds, fish, mammals = feedback_of(right, named, closed=True)
    assert [(one.card, one.right, one.given) for one in (*birds.cards, *fish.cards, *mammals.cards)] == [
        *((1, True, "Birds"), (2, False, "Fish"), (3, False, "Birds"), (4, False, None), (5, False, None))
    ]


def test_a_card_in_the_wrong_group_is_wrong_and_those_around_it_are_not():
    right = {1: "Birds", 2: "Birds", 3: "Birds", 4: "Fish", 5: "Fish", 6: "Fish"}
    answer = [{"id": "g1", "name": "", "items": [6, 5, 4, 3]}, {"id": "g2", "name": "", "items": [2, 1]}]
    cards = [one for group in feedback_of(right, answer, closed=False) for one in group.cards]
    assert [one.card for one in cards if not one.right] == [3]
    one_pile = [{"id": "g1", "name": "", "items": [1, 2, 3, 4, 5, 6]}]
    cards = [one for group in feedback_of(right, one_pile, closed=False) for one in group.cards]
    assert sum(one.right for one in cards) == 3  # it stands for one of the two
    each = [{"id": f"g{item}", "name": "", "items": [item]} for item in right]
    cards = [one for group in feedback_of(right, each, closed=False) for one in group.cards]
    assert sum(one.right for one in cards) == 2


def test_a_card_that_belongs_alone_must_be_sorted():
    (group,) = [one for one in feedback_of({1: "a", 2: "b", 3: "b"}, [], closed=False) if one.name == "a"]
    assert not group.cards[0].right


def test_training_goes_through_json():
    training = Training(ANIMALS, (ANIMALS, sort_of(2, 2)), 0.7, 3, (sort_of(2, 1),), 0.2)
    settings = StudySettings(training=training)
    assert StudySettings.of_json(json.loads(json.dumps(settings.as_json()))) == settings
    assert StudySettings.of_json({}) == StudySettings()


@pytest.mark.parametrize(
    "values",
    [[], {"pass": 1}, {"gold": 3}, {"practice": [{"name": "a"}]}, {"admission": [[["a", "b"]]]}, {"practice": "x"}],
)
def test_json_that_is_no_training_is_refused(values):
    with pytest.raises(InputError):
        Training.of_json(values)


@pytest.mark.parametrize(
    ("training", "sentence"),
    [
        (Training(mark=1.5), r"^'mark' of the training must be a number from 0 to 1\. Got 1\.5\.$"),
        (Training(gold_share=0.6), r"^'gold_share' of the training must be a number from 0 to 0\.5\. Got 0\.6\.$"),
        (Training(tries=0), r"^'tries' of the training must be a whole number from 1 to 10\. Got 0\.$"),
        (Training(admission=(ANIMALS,) * 6), r"^There can be at most 5 admission sorts\. Got 6\.$"),
        (Training(sort_of(1, 1)), r"^The practice sort must have from 3 to 60 cards\. Got 2\.$"),
        (Training(RightSort((*ANIMALS.cards, RightCard("owl", "Fish")))), r"holds the card 'owl' twice\.$"),
        (Training(RightSort((*ANIMALS.cards, RightCard("x", " ")))), r"^Card 6 of the practice sort needs a name and"),
        (
            Training(RightSort((*ANIMALS.cards, RightCard("x", "Fish", picture="0")))),
            r"'x' of the practice sort is not",
        ),
    ],
)
def test_training_that_cannot_be_scored_is_refused(training, sentence):
    for kind, called in (("open", "sort"), ("pairs", "set")):
        with pytest.raises(InputError, match=sentence.replace("sort", called)):
            with_checked_training(StudySettings(training=training), kind, ITEMS, set())


@pytest.mark.parametrize(
    ("kind", "needed", "is_enough"),
    [
        ("open", "at least two groups, one of them of two cards or more: else no score says much.", False),
        ("closed", "cards of at least two categories: else one answer is right throughout.", True),
        ("labels", "cards of at least two classes: else one answer is right throughout.", True),
        ("pairs", "two cards that are the same, and one that differs: else one answer is right throughout.", False),
    ],
)
def test_what_right_answers_need_depends_on_what_people_do(kind, needed, is_enough):
    called = "set" if kind in ("labels", "pairs") else "sort"

    def check(**training):
        settings = StudySettings(categories=("g0", "g1", "g2"), training=Training(**training))
        return with_checked_training(settings, kind, ITEMS, set())

    with pytest.raises(InputError, match=f"^Admission {called} 2 needs {re.escape(needed)}$"):
        check(admission=(sort_of(2, 1), sort_of(4)))
    alone = (sort_of(1, 1, 1),)
    if is_enough:  # each class once: whoever presses one key is right of one card in three
        assert score_of(alone[0].labels, ["g0"] * 3, closed=True) == pytest.approx(0)
        (gold,) = check(gold=alone).training.gold
        assert gold.labels == alone[0].labels
    else:
        with pytest.raises(InputError, match=f"^Gold {called} 1 needs {re.escape(needed)}$"):
            check(gold=alone)


def test_the_groups_of_a_closed_sort_are_its_categories():
    settings = StudySettings(categories=("Birds", "Fish"), training=Training(ANIMALS))
    for kind, called, word in (("closed", "sort", "category"), ("labels", "set", "class")):
        said = f"^The practice {called} puts 'wolf' into 'Mammals', which is no {word} of the study"
        with pytest.raises(InputError, match=said):
            with_checked_training(settings, kind, ITEMS, set())
    assert with_checked_training(settings, "hybrid", ITEMS, set()).training.practice.sizes == (2, 2, 1)


def test_cards_of_the_study_are_shown_as_there_and_others_are_numbered_after_them():
    sort, pictures = read_right_sort("name;text;Group\nitem 3;other words;A\nx;Extra, card;A\nitem 0;;B")
    assert pictures == []
    checked = with_checked_training(StudySettings(training=Training(sort)), "open", ITEMS, set()).training.practice
    assert checked.cards == (
        RightCard("item 3", "A"),
        RightCard("x", "A", "Extra, card", None, "Extra, card"),
        RightCard("item 0", "B"),
    )
    found = number_cards(checked, ITEMS)
    assert list(found) == [3, 7, 0]
    assert found[3] == ITEMS[3]
    assert found[7].text == "Extra, card"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("owl\nrobin", r"^The first line must name the columns"),
        ("name,text\na,b", r"^The first line must name the columns"),
        ("", r"^The first line must name the columns"),
        ("name,group\nowl,Birds\nrobin,", r"^The card 'robin' has no group"),
        ("name,group", r"^There are no cards yet"),
    ],
)
def test_tables_without_groups_are_refused(text, sentence):
    with pytest.raises(InputError, match=sentence):
        read_right_sort(text)
