"""Judging studies without a database or a page: clusters, questions, who is asked what, and who guesses."""

from itertools import pairwise

import numpy as np
import pytest

from consilience.collect.creation.cards import read_cards
from consilience.collect.results.judging import guesses
from consilience.collect.settings.model import JUDGING, Participant, Study, StudySettings
from consilience.collect.store.database import now
from consilience.collect.store.judging import Asked, Cluster, compose_questions, next_question, usual_number
from consilience.collect.store.judging_checks import checked_clusters
from consilience.errors import InputError

CLUSTERS = (Cluster("a", (0, 1, 2, 3, 4)), Cluster("b", (5, 6, 7, 8)), Cluster("c", (9,)))


def study(**settings):
    found = StudySettings(**({"per_participant": 6} | settings))
    return Study("s", "S", JUDGING, "questions", "open", found, 10, "join", 7, now())


def person(name="p1", preview=False):
    return Participant(name, "s", None, {}, preview, False, now())


def test_questions_show_three_items_of_one_cluster_and_one_of_another():
    questions = compose_questions(CLUSTERS, 20, seed=3)
    assert [one.number for one in questions] == list(range(20))
    members = [set(one.items) for one in CLUSTERS]
    for one in questions:
        assert one.odd in one.items
        assert one.odd in members[one.odd_cluster]
        assert set(one.items) - {one.odd} <= members[one.cluster]
        assert len(set(one.items)) == 4
        assert one.cluster != one.odd_cluster
    assert compose_questions(CLUSTERS, 20, seed=3) == questions
    assert {one.cluster for one in questions} == {0, 1}  # the third has one item only


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [((3, 3), 6), ((10, 10), 24), ((10,) * 5, 40), ((3, 1), 1), ((1, 1), 1), ((20,) * 200, 1000)],
)
def test_the_usual_number_of_questions_fits_the_clusters(sizes, expected):
    edges = np.cumsum((0, *sizes))
    clusters = [Cluster(str(n), tuple(range(low, high))) for n, (low, high) in enumerate(pairwise(edges))]
    assert usual_number(clusters) == expected


def test_the_questions_with_the_fewest_answers_come_first_and_the_order_is_reproducible():
    questions = compose_questions(CLUSTERS, 12, seed=3)
    counts = dict.fromkeys(range(12), 2) | {4: 0, 9: 1}
    chosen, shown = next_question(study(), person(), questions, counts, [])
    assert chosen.number == 4
    assert sorted(shown) == sorted(chosen.items)
    assert next_question(study(), person(), questions, counts, []) == (chosen, shown)
    first = Asked(4, 1, shown, now(), now())
    assert next_question(study(), person(), questions, counts, [first])[0].number == 9
    orders = {next_question(study(), person(f"p{n}"), questions, counts, [])[1] for n in range(40)}
    assert len(orders) > 12  # of the 24


def test_a_judge_sees_new_cards_where_there_is_a_choice():
    questions = compose_questions((Cluster("a", tuple(range(8))), Cluster("b", tuple(range(8, 16)))), 24, seed=0)
    first, shown = next_question(study(), person(), questions, {}, [])
    second, _ = next_question(study(), person(), questions, {}, [Asked(first.number, 1, shown, now(), now())])
    least = min(len({*first.items} & {*one.items}) for one in questions if one != first)
    assert len({*first.items} & {*second.items}) == least


def test_nobody_is_asked_twice_nor_too_much():
    questions, asked = compose_questions(CLUSTERS, 12, seed=3), []
    counts = dict.fromkeys(range(12), 0)
    while (found := next_question(study(), person(), questions, counts, asked)) is not None:
        asked.append(Asked(found[0].number, len(asked) + 1, found[1], now(), now()))
    assert len(asked) == len({one.question for one in asked}) == 6
    full = dict.fromkeys(range(12), 3)
    assert next_question(study(answers_wanted=3), person(), questions, full, []) is None
    assert next_question(study(answers_wanted=3), person(), questions, full | {5: 2}, [])[0].number == 5
    assert next_question(study(answers_wanted=3), person(preview=True), questions, full, []) is not None


@pytest.mark.parametrize(
    ("clusters", "sentence"),
    [
        ((Cluster("a", (0, 1, 2, 3)),), r"^From 2 to 500 clusters can be judged\. Got 1\.$"),
        ((Cluster("a", (0, 1)), Cluster(" a ", (2, 3))), r"^Two clusters have the name 'a'\.$"),
        ((Cluster("a", (0, 1)), Cluster("b", (2,))), r"^Every item of a judging study must be in one cluster\.$"),
        ((Cluster("a", (0, 1, 2)), Cluster("b", (2, 3))), r"^Every item of a judging study must be in one cluster\.$"),
        ((Cluster("a", (0, 1)), Cluster("\x00", (2, 3))), r"^The name of a cluster must not be empty\.$"),
    ],
)
def test_clusters_that_cannot_be_judged(clusters, sentence):
    with pytest.raises(InputError, match=sentence):
        checked_clusters(clusters, 4)


@pytest.mark.parametrize("head", ["name,cluster", "item;Cluster", "text\tgroup"])
def test_a_table_says_which_cards_belong_together(head):
    mark = next(one for one in ",;\t" if one in head)
    read = read_cards(f"{head}\nant{mark}insects\ncod{mark}\n", clusters=True)
    assert [(card.text, card.cluster) for card in read.cards] == [("ant", "insects"), ("cod", "")]
    plain = read_cards(f"{head}\nant{mark}insects\n")
    assert plain.cards[0].cluster == ""
    assert len(plain.notes) == 1  # the column was not used


def test_who_guesses_is_told_from_who_finds_hard_questions_hard():
    assert guesses(3, 12, 170, 200)
    assert not guesses(11, 12, 170, 200)
    assert not guesses(3, 12, 60, 200)  # as bad as everybody
    assert not guesses(0, 0, 170, 200)  # could not say
    assert not guesses(3, 12, 0, 0)  # alone
    rng = np.random.default_rng(0)
    flagged = [guesses(int(rng.binomial(12, share)), 12, 160, 200) for share in (0.25,) * 300 + (0.8,) * 300]
    assert np.mean(flagged[:300]) > 0.9
    assert np.mean(flagged[300:]) < 0.03
