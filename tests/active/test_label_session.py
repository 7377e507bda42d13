"""LabelSession: whom it asks about what, what it is told, and when it stops."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from consilience import Labels, load, save
from consilience.active import LabelQuestion, LabelSession
from consilience.active.label_choice import choose_questions
from consilience.consensus import DawidSkene, MajorityVote, ProductMixture, TagConsensus
from consilience.errors import AnnotationWarning, InputError
from consilience.simulation import simulate_labels
from tests.test_persistence import same

ITEMS = [f"i{number}" for number in range(12)]
QUICK = DawidSkene("one-coin", copies=None)
PEOPLE = ("Ann", "Bo", "Cy")
TRUTH = {item: "ab"[number % 2] for number, item in enumerate(ITEMS)}


def crowd(seed=0, items=ITEMS, people=PEOPLE):
    """Return a long table of labels of all items, one in five wrong."""
    rng = np.random.default_rng(seed)
    rows = [(item, who, "ab"[("ab".index(TRUTH[item]) + (rng.random() < 0.2)) % 2]) for item in items for who in people]
    return pd.DataFrame(rows, columns=["item", "annotator", "label"])


def session_of(table, **parameters):
    return LabelSession(ITEMS, **({"model": QUICK, "random_state": 0} | parameters)).tell(table)


def answer(session, questions, who=None):
    for question in questions:
        session.tell(TRUTH[question.item], question=question, annotator=who)


@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_nobody_is_asked_about_an_item_twice_and_a_call_repeats_no_item(data):
    session = LabelSession(ITEMS, model=QUICK, random_share=data.draw(st.sampled_from([0, 0.5, 1])), random_state=0)
    asked = set()
    for _ in range(3):
        annotators = data.draw(st.sampled_from([["Ann"], ["Ann", "Bo"], {"Ann": 1, "Bo": 0.1, "Cy": 3}]))
        number = data.draw(st.integers(1, 4))
        questions = session.ask(number, annotators=annotators)
        assert len({question.item for question in questions}) == number == len(questions)
        pairs = {(question.item, question.annotator) for question in questions}
        assert not pairs & asked
        assert {who for _, who in pairs} <= set(annotators)
        asked |= pairs
        some = data.draw(st.integers(0, number))
        answer(session, questions[:some])
        if some < number:
            session.tell(None, question=questions[some])  # they could not tell
    left = [item for item in ITEMS if (item, "Ann") not in asked]
    assert {question.item for question in session.ask(len(left), annotators=["Ann"])} == set(left)
    with pytest.raises(InputError, match="Only 0 of 1 questions can be asked"):
        session.ask(1, annotators=["Ann"])


@settings(max_examples=3, deadline=None)
@given(order=st.permutations(range(36)))
@pytest.mark.slow
def test_the_order_of_rows_changes_nothing(order):
    table = crowd()
    one, other = session_of(table), session_of(table.iloc[order[:18]]).tell(table.iloc[order[18:]])
    assert one.ask(5, annotators=["Di"]) == other.ask(5, annotators=["Di"])
    assert one.should_stop().reason == other.should_stop().reason
    assert one.labels_needed(0.01) == other.labels_needed(0.01)


def test_a_seed_makes_the_questions_reproducible():
    one, again, other = (LabelSession(range(1000), random_state=seed).ask(5) for seed in (1, 1, 2))
    assert [q.item for q in one] == [q.item for q in again] != [q.item for q in other]


def test_items_that_nobody_labelled_come_first_and_then_those_of_which_people_disagree():
    table = crowd()
    table["label"] = table["item"].map(TRUTH)
    table.loc[(table["item"] == "i7") & (table["annotator"] == "Bo"), "label"] = "a"
    session = session_of(table[table["item"] != "i4"], random_share=0)
    first, second = session.ask(2)
    assert [first.item, second.item] == ["i4", "i7"]
    assert first.gain > second.gain > 0


def test_who_errs_less_is_asked_unless_they_cost_too_much():
    labels = simulate_labels([0, 1] * 40, n_annotators=5, accuracy=[0.95, 0.95, 0.9, 0.55, 0.55], random_state=0)
    session = LabelSession(labels.items, model=QUICK, random_share=0, random_state=0)
    session.tell(labels[:60]).tell(labels.restrict(annotators=labels.annotators[2:4])[60:])
    good, bad = labels.annotators[[0, 4]]
    assert {question.annotator for question in session.ask(5, annotators=[bad, good])} == {good}
    for costs in ({bad: 1, good: 1000}, pd.Series({bad: 1.0, good: 1000.0})):
        assert {question.annotator for question in session.ask(5, annotators=costs)} == {bad}
    assert type(session.ask(1, annotators=np.array(["new"]))[0].annotator) is str
    names = pd.Series([bad, good, bad]).drop_duplicates()
    assert {question.annotator for question in session.ask(5, annotators=names)} == {good}


def test_nobody_gets_more_questions_than_they_can_answer():
    questions = session_of(crowd()).ask(6, annotators=["Di", "Ed"], most_each=3)
    assert pd.Series([question.annotator for question in questions]).value_counts().to_dict() == {"Di": 3, "Ed": 3}
    with pytest.raises(InputError, match="Only 6 of 7"):
        session_of(crowd()).ask(7, annotators=["Di", "Ed"], most_each=3)


def test_quotas_and_candidates_are_respected():
    session = session_of(crowd(), max_per_item=4)
    assert {question.item for question in session.ask(2, candidates=["i3", "i5"])} == {"i3", "i5"}
    assert len({question.item for question in session.ask(10)}) == 10
    with pytest.raises(InputError, match="Only 0 of 1"):
        session.ask(1)


def test_the_random_share_is_drawn_at_random():
    sessions = [LabelSession(ITEMS, random_share=0.5, random_state=seed) for seed in range(40)]
    drawn = [question.at_random for session in sessions for question in session.ask(5)]
    assert 70 < sum(drawn) < 130  # Binomial(200, .5)
    assert not any(question.at_random for question in LabelSession(ITEMS, random_share=0, random_state=0).ask(9))


def test_choices_are_the_best_allowed_pairs():
    value = np.array([[3.0, 9.0], [8.0, 1.0], [5.0, 5.0]])
    allowed = np.array([[True, False], [True, True], [True, True]])
    found = choose_questions(value, allowed, np.zeros(3, dtype=bool), np.random.default_rng(0))
    assert found[:2].tolist() in ([[1, 0], [2, 0]], [[1, 0], [2, 1]])  # a tie
    assert found[2].tolist() == [0, 0]


def test_answers_close_questions_by_item_and_annotator():
    session = session_of(crowd(people=("Ann", "Bo")))
    (own,) = session.ask(1, annotators=["Cy"], candidates=["i1"])
    session.ask(1, candidates=["i2"])
    session.tell({"i2": "a", "i3": "b"}, annotator="Cy")
    assert session.pending_ == [own]
    session.tell(pd.DataFrame({"item": ["i1"], "annotator": ["Cy"], "label": ["a"]}))
    assert session.pending_ == []
    assert session.labels_.n_rows == 24 + 3
    assert session.checks_["n_labels"].sum() == 1  # the latter half of two
    (late,) = session.ask(1)
    assert session.withdraw(late).pending_ == []


def test_unnamed_answers_are_of_new_annotators():
    session = LabelSession(ITEMS, random_state=0)
    session.tell({"i0": "a"}).tell({"i0": "b"}).tell({"i0": "a"}, annotator="answer 4").tell({"i0": "a"})
    assert len(set(session.labels_.annotators)) == 4


def test_wrong_predictions_are_said():
    rng = np.random.default_rng(0)
    session = LabelSession(range(60), classes=["a", "b"], random_share=1, random_state=0)
    session.tell(pd.DataFrame({"item": np.tile(range(60), 3), "annotator": np.repeat(list("xyz"), 60), "label": "a"}))
    session.tell(dict(zip(range(20), "ab" * 10)), annotator="w")
    session._fit()
    for question in session.ask(60, annotators=["v"]):
        session.tell("ab"[int(rng.random() < 0.9)], question=question)
    checks = session.checks_.loc["at random"]
    assert checks["n_labels"] == 30
    assert checks["observed"] < checks["expected"] - 2 * checks["standard_error"]
    assert "the model misleads" in session.should_stop().reason
    assert "misleads" not in session_of(crowd()).should_stop().reason


def test_it_does_not_stop_while_nothing_tells():
    session = LabelSession(ITEMS, random_state=0)
    assert session.should_stop(floor=1000).reason == "12 items have no label yet."
    answer(session, session.ask(12), "Ann")
    assert "No item has two labels" in session.should_stop(floor=1000).reason
    session.tell({item: TRUTH[item] for item in ITEMS[:5]}, annotator="Bo")
    few = session.should_stop(floor=1000)
    assert not few
    assert few.reason == "Only 5 of 12 items have two labels or more, too few to tell how often a label is right."
    session.tell({item: TRUTH[item] for item in ITEMS[5:]}, annotator="Bo")
    two = session.should_stop(floor=1000)
    assert not two
    assert two.reason.endswith("But 2 people may agree more, or less, than others by chance: ask at least 4.")
    for who in ("Cy", "Di"):
        session.tell(TRUTH, annotator=who)
    assert session.should_stop(floor=1000)
    assert not session.should_stop(floor=0)


def test_it_does_not_stop_because_it_gives_few_labels_no_credit():
    rng = np.random.default_rng(0)
    session = LabelSession(ITEMS, model=QUICK, random_state=0)
    for annotator in range(4):  # who guess
        session.tell(dict(zip(ITEMS, rng.choice(["a", "b"], len(ITEMS)).tolist())), annotator=annotator)
    few = session.should_stop(floor=10)
    assert not few
    assert few.reason.endswith("and 48 labels are too few to tell what 100 more would do.")
    assert session.should_stop(floor=10, n_labels=48)


def test_forecasts_fall_with_the_number_of_labels():
    session = session_of(crowd(people=("Ann", "Bo")))
    now = session.labels_needed(0.3).error
    few, many = session.forecast_error(5), session.forecast_error(50)
    assert now > few > many
    assert session.labels_needed(0.01).more >= session.labels_needed(0.05).more > 0


def test_it_says_that_one_class_cannot_be_wrong():
    session = LabelSession(ITEMS, model=QUICK, random_state=0).tell(dict.fromkeys(ITEMS, "a"), annotator="Ann")
    session.tell(dict.fromkeys(ITEMS, "a"), annotator="Bo")
    for call in (session.labels_needed, session.should_stop, lambda: session.forecast_error(5)):
        with pytest.warns(AnnotationWarning, match="All labels so far name the class 'a'"):
            call()


def test_the_consensus_is_the_model_fitted_to_all_labels():
    table = crowd()
    session = session_of(table)
    fitted = clone(QUICK).fit(Labels.from_frame(table, items=ITEMS))
    assert np.array_equal(session.consensus().responsibilities_, fitted.responsibilities_)
    assert session.consensus() is session.consensus()
    assert session._fit() is not session.tell({"i0": "a"}, annotator="Di")._fit()


def test_warnings_of_the_model_come_with_the_consensus():
    session = LabelSession(ITEMS, random_state=0)
    answer(session, session.ask(5), "Ann")
    session.ask(1)
    with pytest.warns(match="no item has two labels"):
        session.consensus()
    session.consensus()  # said once


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: LabelSession([]), "'items' parameter of LabelSession must hold at least one"),
        (
            lambda s: LabelSession(ITEMS, model=MajorityVote()),
            "'model' parameter of LabelSession must be a model of labels",
        ),
        (
            lambda s: LabelSession(ITEMS, model=TagConsensus()),
            "'model' parameter of LabelSession must be a model of labels",
        ),
        (lambda s: LabelSession(ITEMS, random_share=2), "'random_share' parameter of LabelSession must be"),
        (lambda s: LabelSession(ITEMS, model=DawidSkene(tol=-1)), "'tol' parameter of DawidSkene"),
        (lambda s: session_of(crowd(), model=ProductMixture(3, random_state=0)).ask(), "leave out 'n_clusters'"),
        (lambda s: s.ask(0), "'n_labels' must be a positive int"),
        (lambda s: s.ask(annotators={"Ann": 0}), "costs of 'annotators' must be positive"),
        (
            lambda s: s.ask(annotators=pd.Series([3, 4, 3]).drop_duplicates()),
            "list of names, or a dict of costs by name",
        ),
        (lambda s: s.ask(annotators=pd.Series([3, 4], index=[7, 9])), "list of names, or a dict of costs by name"),
        (lambda s: s.ask(annotators=["Ann", "Ann"]), "'annotators' must be different names"),
        (lambda s: s.ask(candidates=["x"]), "Item 'x' is not in the session"),
        (lambda s: s.tell("a"), "'labels' must be one label with a 'question'"),
        (lambda s: s.tell({"x": "a"}), "Item 'x' is not in the session"),
        (lambda s: s.tell({"i0": "a"}, annotator="Ann"), "already has a label of item 'i0' by annotator 'Ann'"),
        (
            lambda s: s.tell(pd.DataFrame({"item": ["i0"] * 2, "annotator": ["Di"] * 2, "label": ["a", "b"]})),
            "Annotator 'Di' gives item 'i0' two labels",
        ),
        (lambda s: s.tell("a", question=LabelQuestion(9, "i0")), "Question 9 is not pending"),
        (lambda s: s.tell("a", question="i0"), "'question' must be a LabelQuestion"),
        (lambda s: LabelSession(ITEMS, classes=["a"]).tell({"i0": "b"}), "'b'"),
        (lambda s: LabelSession(ITEMS).consensus(), "no labels yet"),
        (lambda s: s.should_stop(floor=-1), "'floor' must be"),
        (lambda s: s.labels_needed(1), "'target' must be"),
        (lambda s: s.forecast_error(0), "'n_labels' must be"),
    ],
)
def test_mistakes_are_explained(call, message):
    with pytest.raises(InputError, match=message):
        call(session_of(crowd()))


@pytest.mark.parametrize("model", [None, DawidSkene("one-coin")])
def test_a_saved_session_continues_where_it_was(model, tmp_path):
    session = session_of(crowd(people=("Ann", "Bo")), model=model)
    first, second, _ = session.ask(3, annotators=["Cy", "Di"])
    session.tell("a", question=first).tell(None, question=second)
    save(session, tmp_path / "session.zip")
    loaded = load(tmp_path / "session.zip")
    assert same(loaded, session)
    assert loaded.pending_ == session.pending_
    assert same(loaded.checks_, session.checks_)
    for one in (session, loaded):
        answer(one, one.ask(2, annotators=["Cy"]))
    assert same(loaded, session)
    assert loaded.ask(2) == session.ask(2)


def test_it_is_shown_in_short():
    session = session_of(crowd())
    session.ask(2)
    assert repr(session) == "LabelSession(12 items, 36 labels, 2 questions pending)"
    assert "DawidSkene" in session._repr_html_()
