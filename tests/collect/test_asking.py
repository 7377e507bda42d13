"""People who are asked one question after the other, through HTTP: for labels, and whether two cards are the same."""

import csv
import io
import re
from html import unescape

import numpy as np
import pandas as pd
import pytest

from consilience import Labels, Pairs, read_annotations
from consilience.collect.results.consensus import advice_on_labels
from consilience.collect.results.quality import flags_in
from consilience.collect.settings.model import StudySettings
from consilience.collect.settings.panel import Panel, Question
from consilience.collect.settings.sentences import TEXTS
from consilience.collect.settings.study_kinds import DIFFERENT, SAME, cards_of, list_cards, number_pair
from consilience.collect.settings.training import RightSort, Training
from consilience.collect.wording.wording import Wording
from consilience.collect.worker import Worker
from consilience.errors import InputError
from tests.pages import Page

from .collecting import joined, slow_with_postgresql

CLASSES = ("cat", "dog", "bird")
NAMES = [f"animal {number}" for number in range(24)]
GOLD = RightSort.of_groups({name: [f"{name} {number}" for number in range(3)] for name in CLASSES})


def asking(store, kind="labels", names=NAMES, **settings):
    """Return an open study in which people are asked."""
    usual = {"categories": CLASSES} if kind == "labels" else {"stop_rule": "none"}
    settings = usual | settings
    return store.open_study(store.create_study("Animals", names, kind=kind, settings=StudySettings(**settings)).id)


def right(study, number):
    """The group of the right answer, by a rule: the remainder of the number of a card tells its class."""
    cards = [card % 3 for card in cards_of(number)]
    if study.kind == "labels":
        return f"c{cards[0] + 1}"
    return "c1" if cards[0] == cards[1] else "c2"


def answer_set(store, study, assignment, rule=right):
    changes = [
        {"sequence": place, "kind": "move", "items": [number], "group": rule(study, number)}
        for place, number in enumerate(assignment.items, 1)
    ]
    store.record_changes(assignment.id, assignment.participant, "tab", changes)
    return store.submit(assignment.id, assignment.participant)


def answers(store, study, rule=right, n_sets=1, seed=0):
    """Let a new person answer sets."""
    person, rng = joined(store, study), np.random.default_rng(seed)
    for _ in range(n_sets):
        assignment = store.assignment_for(person, rng)
        answer_set(store, study, assignment, rule)
    return person


def come(visit, study):
    browser = visit()
    assert browser.get(f"/join/{study.join_token}").headers["location"] == "/sort"
    return browser


def fields(page):
    """The hidden fields of the form of a question."""
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="(\d+)">', page))


def heading(page):
    return unescape(re.search(r"<h1[^>]*>(.*?)</h1>", page, re.S)[1])


def choose(browser, group):
    """Answer the question that is shown."""
    answer = browser.post("/sort/move", data=fields(browser.get("/sort").text) | {"group": group})
    assert (answer.status_code, answer.headers["location"]) == (303, "/sort")


# ---- a person's way


@pytest.mark.parametrize("kind", ["labels", "pairs"])
def test_a_person_answers_a_set_goes_back_and_hands_in(visit, sqlite_store, kind):
    study = asking(sqlite_store, kind, subset_size=4)
    browser = come(visit, study)
    assert f"You will see {'one card' if kind == 'labels' else 'two cards'} at a time" in browser.get("/sort").text
    browser.post("/sort/begin")
    shown = browser.get("/sort").text
    assert "Question 1 of 4" in shown
    buttons = re.findall(r'name="group" value="(\w+)" data-keys="([^"]*)"', shown)
    keys = [("c1", "s 1"), ("c2", "d 2")] if kind == "pairs" else [(f"c{n}", f"{n}") for n in (1, 2, 3)]
    assert buttons == [*keys, ("c0", "0")]
    for group in ("c1", "c2", "c0"):
        choose(browser, group)
    back = browser.get("/sort?question=2").text
    assert "Question 2 of 4" in back
    assert re.search(r'value="c2" data-keys="[^"]*" aria-pressed="true"', back)
    browser.post("/sort/move", data=fields(back) | {"group": "c1"})
    assert "Question 4 of 4" in browser.get("/sort").text  # where they were
    unanswered = browser.post("/sort/submit", data=fields(browser.get("/sort").text))
    assert (unanswered.status_code, "not answered yet: 1" in unanswered.text) == (422, True)
    choose(browser, "c2")
    last = browser.get("/sort").text
    assert heading(last) == "All questions of this set are answered"
    assert "Question 3 of 4" in browser.get("/sort?question=3").text
    assert browser.post("/sort/submit", data=fields(last)).status_code == 303
    assert heading(browser.get("/sort").text) == "Thank you!"
    late = browser.post("/sort/move", data=fields(back) | {"group": "c2"})  # a tab that was left behind
    assert late.status_code == 409
    (row,) = sqlite_store.submitted(study.id)
    said = {number: group["id"] for group in row.groups for number in group["items"]}
    assert [said.get(number) for number in row.items] == ["c1", "c1", None, "c2"]


def test_an_answer_survives_a_reload_and_places_out_of_range_show_the_next_question(visit, sqlite_store):
    study = asking(sqlite_store)
    browser = come(visit, study)
    browser.post("/sort/begin")
    choose(browser, "c2")
    shown = browser.get("/sort").text
    for query in ("", "?question=0", "?question=9", "?question=99999999", "?question=x", "?question=٣"):
        again = browser.get(f"/sort{query}").text
        assert fields(again) == fields(shown)
    assert sqlite_store.board_state(int(fields(shown)["assignment"])).version == 1


@pytest.mark.parametrize("group", ["c4", "g1", "c0x", "new", "c00"])
def test_other_answers_are_refused(visit, sqlite_store, group):
    study = asking(sqlite_store)
    browser = come(visit, study)
    browser.post("/sort/begin")
    refused = browser.post("/sort/move", data=fields(browser.get("/sort").text) | {"group": group})
    assert refused.status_code == 422


def test_nobody_can_say_unsure_on_a_board(sqlite_store):
    study = sqlite_store.open_study(sqlite_store.create_study("A", ["a", "b"]).id)
    given = sqlite_store.assignment_for(joined(sqlite_store, study), np.random.default_rng(0))
    change = {"sequence": 1, "kind": "move", "items": [0], "group": "c0"}
    with pytest.raises(InputError, match="must be the id of a group"):
        sqlite_store.record_changes(given.id, given.participant, "tab", [change])


def test_a_second_set_is_offered_and_a_question_is_asked_once(visit, sqlite_store):
    for kind in ("labels", "pairs"):
        study = asking(sqlite_store, kind, NAMES[:5], subset_size=2, per_participant=2)
        browser = come(visit, study)
        browser.post("/sort/begin")
        pages = []
        for _ in range(2):
            choose(browser, "c1")
            choose(browser, "c0")
            browser.post("/sort/submit", data=fields(browser.get("/sort").text))
            pages.append(browser.get("/sort").text)
            browser.post("/sort/begin")
        assert [heading(page) for page in pages] == ["Set 2 of 2", "Thank you!"]
        assert ["Answer the next set" in page for page in pages] == [True, False]
        assert "<p>Your answers have been handed in.</p>" in pages[0]
        asked = [number for one in sqlite_store.submitted(study.id) for number in one.items]
        assert len(set(asked)) == 4


# ---- hostile classes


def test_classes_of_any_kind_are_shown_as_text(visit, sqlite_store):
    names = (
        "<script>alert(1)</script>",
        "a & b",
        "{braces}",
        'say "yes"',
        "x" * 200,
        "=1+1",
        "قط",
        *(f"{n} apples" for n in range(43)),
    )
    study = asking(sqlite_store, categories=names)
    browser = come(visit, study)
    browser.post("/sort/begin")
    shown = browser.get("/sort").text
    assert "<script>alert" not in shown
    assert [unescape(name) for name in re.findall(r"<bdi[^>]*>(.*?)</bdi></button>", shown)] == list(names)
    keys = re.findall(r'value="c[1-9]\d*" data-keys="([^"]*)"', shown)
    assert keys == [*"123456789", *[""] * 41]  # no keys beyond the ninth
    choose(browser, "c50")
    assert sqlite_store.board_state(1).groups[49].items


@pytest.mark.parametrize(
    ("classes", "keys", "unsure"),
    [
        (tuple("0123456789"), [*"0123456789"], "?"),
        (tuple("54321"), [*"54321"], "0"),
        (("7", "none"), ["7", ""], "0"),
        (("10", "12"), ["1", "2"], "0"),
    ],
)
def test_the_key_of_a_class_that_is_a_digit_is_this_digit(visit, sqlite_store, classes, keys, unsure):
    browser = come(visit, asking(sqlite_store, categories=classes))
    browser.post("/sort/begin")
    assert re.findall(r'name="group" value="c\d+" data-keys="([^"]*)"', browser.get("/sort").text) == [*keys, unsure]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"categories": ()}, r"^A study of labels needs from 2 to 50 classes\. Got 0\.$"),
        ({"categories": ("a",)}, r"^A study of labels needs from 2 to 50 classes\. Got 1\.$"),
        ({"categories": tuple(map(str, range(51)))}, r"from 2 to 50 classes\. Got 51\.$"),
        ({"categories": ("a", "a")}, "^Two categories have the name 'a'"),
        ({"categories": ("a", " ")}, "must not be empty"),
        ({"categories": ("a", "b\x00"), "least_in_group": 1}, "it has no 'least_in_group'"),
        ({"strategy": "explore"}, "must be one of informative, random"),
        ({"moves": True}, "needs a consent"),
        ({"subset_size": 25}, "from 2 to 24"),
        ({"per_participant": 3}, "are too many"),
    ],
)
def test_what_a_study_of_labels_may_not_be(sqlite_store, settings, sentence):
    with pytest.raises(InputError, match=sentence):
        asking(sqlite_store, **settings)


def test_what_a_study_of_pairs_may_not_be(sqlite_store):
    for settings, sentence in (
        ({"categories": ("a", "b")}, "such a study has no categories"),
        ({"stop_rule": "reliability"}, "no stop rule for pairs"),
        ({"names": NAMES[:3], "per_participant": 2}, "there are 3 questions: 2 sets of 3"),
    ):
        with pytest.raises(InputError, match=sentence):
            asking(sqlite_store, "pairs", **settings)


# ---- what is asked next


@pytest.mark.parametrize("kind", ["labels", "pairs"])
def test_the_worker_prepares_sets_of_what_is_least_certain(sqlite_store, kind):
    study = asking(sqlite_store, kind, subset_size=4, per_participant=2, random_share=0.0)
    for seed in range(6):
        answers(sqlite_store, study, seed=seed)
    Worker(sqlite_store, ahead=3).run()
    prepared = sqlite_store.prepared_subsets(study.id)
    assert [one.source for one in prepared] == ["informative"] * 3
    assert all(len(set(one.items)) == 4 and max(list_cards(one.items)) < study.n_items for one in prepared)
    person = joined(sqlite_store, study)
    given = sqlite_store.assignment_for(person, np.random.default_rng(9))
    assert given.source == "informative"
    assert set(given.items) == set(prepared[0].items)


def test_items_without_a_label_come_first_and_then_the_doubtful(sqlite_store):
    study = asking(sqlite_store, subset_size=6, random_share=0.0)
    person = joined(sqlite_store, study)
    first = sqlite_store.assignment_for(person, np.random.default_rng(0))
    answer_set(sqlite_store, study, first)
    Worker(sqlite_store, ahead=3).run()
    asked = {item for one in sqlite_store.prepared_subsets(study.id) for item in one.items}
    assert asked == set(range(24)) - set(first.items)


def test_a_person_who_goes_on_is_asked_what_they_did_not_see(sqlite_store):
    study = asking(sqlite_store, subset_size=4, per_participant=3, random_share=0.0)
    person = joined(sqlite_store, study)
    first = sqlite_store.assignment_for(person, np.random.default_rng(0))
    Worker(sqlite_store, ahead=2).run()
    mine = [one for one in sqlite_store.prepared_subsets(study.id) if one.participant == person.id]
    assert len(mine) == 1
    assert not set(mine[0].items) & set(first.items)


def test_random_sets_are_said_to_be(sqlite_store):
    for kind in ("labels", "pairs"):
        study = asking(sqlite_store, kind, subset_size=4, random_share=1.0)
        Worker(sqlite_store, ahead=4).run()
        assert [one.source for one in sqlite_store.prepared_subsets(study.id)] == ["random"] * 4


def test_a_card_is_not_shown_more_often_than_allowed(sqlite_store):
    study = asking(sqlite_store, "pairs", NAMES[:6], subset_size=3, max_per_item=2)
    for seed in range(4):
        person = joined(sqlite_store, study)
        given = sqlite_store.assignment_for(person, np.random.default_rng(seed))
        if given is not None:
            answer_set(sqlite_store, study, given)
        Worker(sqlite_store, ahead=2).run()
    assert sqlite_store.times_presented(study.id).max() <= 2 + 2  # a set may hold a card several times


# ---- results


@pytest.mark.usefixtures("nobody_is_fast")
def test_nobody_disagrees_where_the_consensus_says_nothing(sqlite_store):
    study = asking(sqlite_store, subset_size=12)
    for seed in range(6):
        answers(sqlite_store, study, seed=seed)
    alone = sqlite_store.submitted(study.id)[0].items
    labels = [-1 if card in alone else card % 3 for card in range(24)]
    assert flags_in(sqlite_store, study, labels) == []


def advice_of(n_people, label_of):
    said = [(card, person, label_of(card)) for card in range(10) for person in range(n_people)]
    return advice_on_labels(Labels.from_frame(pd.DataFrame(said, columns=["item", "annotator", "label"])))


def test_of_few_people_or_cards_nobody_is_told_to_stop_too_early():
    two, four = (advice_of(n_people, lambda card: CLASSES[card % 3]) for n_people in (2, 4))
    assert (two["stop"], two["more"], four["stop"]) == (False, None, True)
    assert two["reason"].endswith("But 2 people may agree more, or less, than others by chance: ask at least 4.")
    rng = np.random.default_rng(0)
    assert "; 0.5 would be worth it." in advice_of(4, lambda _: rng.choice(CLASSES))["reason"]  # of one card in ten


@slow_with_postgresql
def test_labels_become_classes_a_table_and_a_report(store, tmp_path):
    study = asking(store, subset_size=8)
    for seed in range(9):
        answers(store, study, seed=seed)
    Worker(store).run()
    found = store.consensus(study.id)
    assert (found["kind"], found["categories"], found["n_answers"]) == ("labels", list(CLASSES), 72)
    assert all(label in (-1, item % 3) for item, label in enumerate(found["labels"]))
    assert set(found["advice"]) == {"stop", "reason", "reliability", "more", "target"}
    table = store.asked_frame(study.id)
    assert table.columns[:3].tolist() == ["item", "annotator", "label"]
    assert (table["seconds"] >= 0).all()
    path = tmp_path / "labels.csv"
    table.to_csv(path, index=False)
    read = read_annotations(path)
    assert isinstance(read, Labels)
    assert (read.n_rows, read.classes.tolist()) == (72, list(CLASSES))


@slow_with_postgresql
def test_pairs_become_clusters_and_a_table(store, tmp_path):
    study = asking(store, "pairs", NAMES[:18], subset_size=15)
    for seed in range(8):
        answers(store, study, seed=seed)
    Worker(store).run()
    found = store.consensus(study.id)
    assert (found["kind"], found["n_clusters"], found["n_answers"]) == ("pairs", 3, 120)
    clusters = [{item % 3 for item in one["items"]} for one in found["clusters"]]
    assert sorted(map(sorted, clusters)) == [[0], [1], [2]]
    path = tmp_path / "pairs.csv"
    store.asked_frame(study.id).to_csv(path, index=False)
    read = read_annotations(path)
    assert isinstance(read, Pairs)
    assert read.n_rows == 120


def test_the_file_is_named_for_what_it_holds_and_unsure_answers_are_missing(admin, sqlite_store):
    study = asking(sqlite_store, subset_size=4)
    answers(sqlite_store, study, rule=lambda study, number: "c0")
    file = admin.get(f"/admin/studies/{study.id}/export/csv?table=answers")
    assert f"study-{study.id}-labels.csv" in file.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(file.content.decode("utf-8-sig"))))
    assert [row["label"] for row in rows] == [""] * 4
    assert admin.get(f"/admin/studies/{study.id}/export/csv?table=sorts").status_code == 422
    assert admin.get(f"/admin/studies/{study.id}").status_code == 200
    Worker(sqlite_store).run()
    assert sqlite_store.consensus(study.id)["n_answers"] == 0  # nobody could say anything
    assert admin.get(f"/admin/studies/{study.id}/dashboard").status_code == 200


@pytest.mark.parametrize("kind", ["labels", pytest.param("pairs", marks=pytest.mark.slow)])  # which is fitted 100 times
@pytest.mark.usefixtures("nobody_is_fast")
def test_the_dashboard_shows_what_was_found_and_who_is_weak(admin, sqlite_store, kind):
    study = asking(sqlite_store, kind, NAMES[:12], subset_size=10, per_participant=1)
    for seed in range(10):
        answers(sqlite_store, study, seed=seed)
    wrong = answers(
        sqlite_store,
        study,
        rule=lambda study, number: (
            f"c{3 - int(right(study, number)[1])}" if kind == "pairs" else f"c{int(right(study, number)[1]) % 3 + 1}"
        ),
    )
    sqlite_store.request_overview(study.id, at_once=True)
    Worker(sqlite_store).run()
    assert not sqlite_store.failures(study.id)
    page = admin.get(f"/admin/studies/{study.id}/dashboard").text
    assert "Agrees with the consensus in 0 of 10 answers" in page
    assert wrong.id in page
    if kind == "labels":
        assert "Stays in its class" in page
        assert all(name in page for name in CLASSES)
    else:
        assert "cluster 3" in page


def test_the_dashboard_of_one_persons_labels_says_of_the_only_percentage_what_it_is(admin, sqlite_store):
    study = asking(sqlite_store, names=NAMES[:12], subset_size=12, per_participant=1)
    answers(sqlite_store, study)
    sqlite_store.request_overview(study.id, at_once=True)
    Worker(sqlite_store).run()
    page = Page(admin.get(f"/admin/studies/{study.id}/dashboard").text)
    shown = {part: " ".join(page.section(part).text.split()) for part in ("clusters", "drawings", "ranked")}
    warned = "no card has two labels by different participants, so that nothing tells how often a label is right. The "
    assert f"{warned}probabilities assume 73%." in shown["clusters"]
    shares = re.findall(r"\S*[\d.]+%", shown["clusters"])
    assert shares == ["73%", "33%", "33%", "33%"]  # the last are those of the cards in each class
    assert "%" not in shown["drawings"] + shown["ranked"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["labels", "pairs"])
def test_there_is_a_report(admin, sqlite_store, kind):
    study = asking(sqlite_store, kind, NAMES[:12], subset_size=10)
    for seed in range(6):
        answers(sqlite_store, study, seed=seed)
    report = admin.get(f"/admin/studies/{study.id}/export/html")
    assert (report.status_code, "<h1" in report.text) == (200, True)


# ---- gold and practice


@pytest.mark.parametrize("kind", ["labels", "pairs"])
@pytest.mark.usefixtures("nobody_is_fast")
def test_gold_is_mixed_in_scored_and_flagged(sqlite_store, kind):
    training = Training(gold=(GOLD,), gold_share=0.5)
    study = asking(sqlite_store, kind, subset_size=6, training=training)

    def of_gold(given, careful):
        names = {number: card.name for number, card in sqlite_store.cards(given).items()}
        for place, number in enumerate(given.items, 1):
            groups = [names[card].split()[0] for card in cards_of(number)]
            best = CLASSES.index(groups[0]) + 1 if kind == "labels" else 1 if len({*groups}) == 1 else 2
            group = best if careful else best % 2 + 1
            change = {"sequence": place, "kind": "move", "items": [number], "group": f"c{group}"}
            sqlite_store.record_changes(given.id, given.participant, "tab", [change])
        sqlite_store.submit(given.id, given.participant)

    people = [joined(sqlite_store, study) for _ in range(6)]
    for seed, person in enumerate(people):
        given = sqlite_store.assignment_for(person, np.random.default_rng(seed))
        assert given.source == "gold"
        of_gold(given, careful=seed > 0)
        answer_set(sqlite_store, study, sqlite_store.assignment_for(person, np.random.default_rng(seed)))
    scores = {one.participant: one.gold for one in sqlite_store.consistency(study.id)}
    assert [scores[one.id] for one in people[1:]] == [1.0] * 5
    assert scores[people[0].id] < 0.1
    Worker(sqlite_store).run()
    flags = sqlite_store.consensus(study.id)["quality"]["flags"]
    assert [(one["participant"], one["kind"]) for one in flags] == [(people[0].id, "gold")]


def test_who_handed_in_gold_only_is_not_said_to_have_handed_in_nothing(admin, sqlite_store):
    study = asking(sqlite_store, subset_size=6, training=Training(gold=(GOLD,), gold_share=0.5))
    given = sqlite_store.assignment_for(joined(sqlite_store, study), np.random.default_rng(0))
    assert given.source == "gold"
    answer_set(sqlite_store, study, given, rule=lambda *_: "c1")
    page = admin.get(f"/admin/studies/{study.id}/dashboard").text
    assert "Nobody has handed in a set that counts yet: those of gold do not." in page
    assert "Nobody has handed in yet." not in page


@pytest.mark.parametrize("kind", ["labels", "pairs"])
def test_practice_tells_what_was_expected(visit, sqlite_store, kind):
    study = asking(sqlite_store, kind, subset_size=4, training=Training(practice=GOLD))
    browser = come(visit, study)
    assert "Answer some questions to get to know the task" in browser.get("/sort").text
    browser.post("/sort/begin")
    while "Question" in (shown := browser.get("/sort").text) and "are answered" not in shown:
        choose(browser, "c0" if "Question 1 " in shown else "c1")
    browser.post("/sort/submit", data=fields(browser.get("/sort").text))
    told = browser.get("/sort").text
    total = 9 if kind == "labels" else 4
    assert re.search(rf"Answers that were as expected: \d of {total}\.", told)
    assert "You could not say." in told
    assert "You answered:" in told


# ---- the same as other studies

OF_SORTS = re.compile(
    r"\b(re)?sort(s|ed|ing|ers?)?\b|\bgroup(s|ed|ings?)?\b|\b(piles?|boards?|items?)\b", re.IGNORECASE
)
LOOKS = (
    "",
    "/settings",
    "/panel",
    "/texts",
    "/training",
    "/cards",
    "/people",
    "/dashboard",
    "/log",
    "/judging",
    "/delete",
)


def words_on(page):
    """What a page says: its texts, and those of attributes; without the kinds among which a form lets choose."""
    root = Page(page).root
    of_others = {"not-asked", "option"}
    waiting, found = [root], []
    while waiting:
        for one in waiting.pop().children:
            if isinstance(one, str):
                found.append(one)
            elif one.tag not in ("script", "style", "code") and not of_others & set(
                one.attributes.get("class", "").split()
            ):
                found += [one.attributes.get(name) or "" for name in ("aria-label", "placeholder", "title", "alt")]
                waiting.append(one)
    return [" ".join(text.split()) for text in found]


def way_of(browser):
    """The pages of a participant from consent to the end, and that to withdraw."""
    consent = browser.get("/sort").text
    yield consent
    version = re.search(r'name="version" value="(\w+)"', consent)[1]
    browser.post("/sort/consent", data={"decision": "agree", "agreed": "yes", "version": version})
    yield browser.get("/sort/withdraw").text
    while True:
        page = browser.get("/sort").text
        yield page
        step = re.search(r'action="/sort/(begin|move|submit|answer-seen|questions)"', page)
        if step is None:
            return
        more = {"group": "c1"} if step[1] == "move" else {"asked": "hard", "answer-hard": "1", "moment": "after"}
        assert browser.post(f"/sort/{step[1]}", data=fields(page) | more).status_code == 303


@pytest.mark.parametrize("kind", ["labels", "pairs"])
def test_no_page_speaks_of_sorts_or_groups(admin, visit, sqlite_store, monkeypatch, kind):
    panel = Panel(consent="Do you agree?", after=(Question("hard", "How hard was it?"),))
    training = Training(practice=GOLD, admission=(GOLD,), gold=(GOLD,), gold_share=0.5, mark=0.0)
    settings = {"subset_size": 4, "per_participant": 3, "panel": panel, "training": training}
    study, other = asking(sqlite_store, kind, **settings), asking(sqlite_store, kind, subset_size=8, per_participant=3)
    draft = sqlite_store.create_study("Draft", NAMES, kind=kind, settings=study.settings)
    read = set()
    with monkeypatch.context() as watched:
        watched.setattr(Wording, "__getitem__", lambda said, key: read.add(key) or dict.__getitem__(said, key))
        shown = list(way_of(come(visit, study)))
    texts = set(re.findall(r'name="text-(\w+)"', admin.get(f"/admin/studies/{study.id}/texts").text))
    assert read & set(TEXTS) <= texts  # where a study can replace them
    for seed in range(4):
        answers(sqlite_store, other, n_sets=3, seed=seed)
    joined(sqlite_store, other)
    Worker(sqlite_store).run()
    sqlite_store.close_study(study.id)
    for one in (study, other, draft):
        shown += [admin.get(f"/admin/studies/{one.id}{page}").text for page in LOOKS]
    shown += [admin.get("/admin").text]
    assert [text for page in shown for text in words_on(page) if OF_SORTS.search(text)] == []


def test_a_new_study_is_made_by_its_kind(admin, sqlite_store):
    form = {"title": "Animals", "items": "\n".join(NAMES), "board": "sheet", "moves": "no"}
    for kind, more in (
        ("labels", {"categories": "cat\ndog"}),
        ("pairs", {"categories": "cat\ndog", "stop_rule": "reliability"}),
    ):
        made = admin.post("/admin/new", data=form | {"kind": kind} | more)
        assert made.status_code == 303
        study = sqlite_store.studies()[0]
        assert (study.kind, study.board) == (kind, "questions")
        page = admin.get(made.headers["location"]).text
        assert ("asked for labels" if kind == "labels" else "asked about pairs") in page
        assert admin.get(f"{made.headers['location']}/settings").status_code == 200
        assert admin.post(f"{made.headers['location']}/copy").status_code == 303
        assert sqlite_store.studies()[0].kind == kind
        file = admin.get(f"{made.headers['location']}/study.zip").content
        assert admin.post("/admin/new/file", files={"study_file": ("study.zip", file)}).status_code == 303
        assert sqlite_store.studies()[0].settings.categories == (("cat", "dog") if kind == "labels" else ())
        assert admin.post(f"{made.headers['location']}/preview").headers["location"] == "/sort"
    refused = admin.post("/admin/new", data=form | {"kind": "labels", "categories": "cat"})
    assert (refused.status_code, "needs from 2 to 50 classes" in refused.text) == (422, True)


def test_answers_are_brought_along(store, tmp_path):
    for kind, table in (
        ("labels", "item,annotator,label\nanimal 0,Ann,cat\nanimal 1,Ann,dog\nanimal 0,Bo,cat\n"),
        ("pairs", "item_a,item_b,annotator,same\nanimal 0,animal 1,Ann,yes\nanimal 2,animal 1,Ann,no\n"),
    ):
        study = asking(store, kind)
        path = tmp_path / f"{kind}.csv"
        path.write_text(table)
        count = store.import_groupings(study.id, read_annotations(path, kind=kind))
        frame = store.asked_frame(study.id)
        assert (count, len(frame)) == ((2, 3) if kind == "labels" else (1, 2))
        assert frame["annotator"].iloc[0] == "Ann"
        with pytest.raises(InputError, match="was imported before"):
            store.import_groupings(study.id, read_annotations(path, kind=kind))


@pytest.mark.parametrize("count", [2, 3])
def test_a_script_asks_and_answers(script, sqlite_store, count):
    for kind, group in (("labels", {"name": "dog"}), ("pairs", {"name": SAME})):
        study = asking(sqlite_store, kind, subset_size=3)
        base = f"/api/v1/studies/{study.id}"
        person = script.post(f"{base}/participants", json={}).json()["id"]
        subset = script.post(f"{base}/participants/{person}/subset").json()["subset"]
        assert (subset["pairs"] is None) == (kind == "labels")
        said = (
            {"pairs": subset["pairs"][:count]}
            if kind == "pairs"
            else {"items": [one["name"] for one in subset["items"][:count]]}
        )
        sent = script.put(f"{base}/assignments/{subset['assignment']}/grouping", json={"groups": [group | said]})
        assert sent.status_code == 200
        (row,) = sqlite_store.submitted(study.id)
        assert [len(one["items"]) for one in row.groups] == [count]
        swapped = {"items": ["animal 0"]} if kind == "pairs" else {"pairs": [["animal 0", "animal 1"]]}
        other = script.post(f"{base}/participants", json={}).json()["id"]
        subset = script.post(f"{base}/participants/{other}/subset").json()["subset"]
        wrong = script.put(f"{base}/assignments/{subset['assignment']}/grouping", json={"groups": [group | swapped]})
        assert (wrong.status_code, "or 'pairs' in a study" in wrong.json()["error"]) == (422, True)


def test_numbers_of_pairs_tell_their_cards():
    pairs = {number_pair(one, other): (one, other) for one in range(40) for other in range(one)}
    assert len(pairs) == 40 * 39 // 2
    assert all(set(cards_of(number)) == set(pair) for number, pair in pairs.items())
    assert GOLD.about_pairs(6).labels == [SAME] * 3 + [DIFFERENT] * 3
