"""Forms of answers, annotators and candidates that a session accepts, and its messages for others."""

import numpy as np
import pandas as pd
import pytest

from consilience import Labels
from consilience.active import ActiveSession
from consilience.errors import InputError

NAMES = ["ant", "bee", "cow", "dog", "elk", "fly"]
INSECTS = ["ant", "bee", "fly"]


def session(**parameters):
    return ActiveSession(NAMES, random_state=0, **parameters)


@pytest.mark.parametrize(
    "answer",
    [
        [["ant", "bee"], ["cow"]],
        (("ant", "bee"), ("cow",)),
        {"insects": ["ant", "bee"], "others": ["cow"]},
        {"insects": pd.Index(["ant", "bee"]), "others": np.array(["cow"])},
        {"ant": "insects", "bee": "insects", "cow": "others"},
        pd.Series(["insects", "insects", "others"], index=["ant", "bee", "cow"]),
        pd.Series(["insects", "insects", "others", None], index=["ant", "bee", "cow", "dog"]),
    ],
    ids=["lists", "tuples", "piles", "arrays", "groups of items", "Series", "missing"],
)
def test_answers_in_every_form(answer):
    groupings = session().tell(answer).groupings_
    assert groupings.to_pairs().to_frame()["same"].tolist() == [True, False, False]
    named = [] if isinstance(answer, list | tuple) else ["insects", "others"]
    assert list(groupings.group_names) == (named or [1, 2])


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (["ant", "bee"], "^Each group of an answer must be a list of items. Got 'ant' for group 1; use lists"),
        ({"insects": ["ant"], "others": "cow"}, "^Each group .* Got 'cow' for group 'others'"),
        (
            pd.Series([["ant"], "x"], index=["bee", "cow"]),
            "a list of items for each group, or one group",
        ),
        ("ant", "^An answer must be a list of groups, each a list of items, or Groupings. Got str instead"),
        (None, "Got NoneType instead"),
        (7, "Got int instead"),
        (pd.DataFrame({"item": ["ant"], "group": ["x"]}), "Got DataFrame instead.*use Groupings.from_matrix"),
        (Labels.from_matrix([["x"]], items=["ant"]), "Got Labels instead"),
    ],
    ids=["flat", "one flat", "mixed", "text", "nothing", "number", "table", "labels"],
)
def test_other_forms_of_answers_are_refused(answer, sentence):
    with pytest.raises(InputError, match=sentence):
        session().tell(answer)


def test_other_subsets_and_annotators_are_refused():
    for call in (session().withdraw, lambda subset: session().tell([["ant"]], subset=subset)):
        with pytest.raises(InputError, match=r"^'subset' must be a Subset, as returned by ask"):
            call(1)
    with pytest.raises(InputError, match=r"^An annotator must be one name. Got a list"):
        session().tell([["ant"]], annotator=["p1"])


def test_one_annotator_for_one_subset():
    assert [subset.annotator for subset in session().ask(1, 2, annotators="p1")] == ["p1"]
    assert [subset.annotator for subset in session().ask(2, 2, annotators=iter(["p1", "p2"]))] == ["p1", "p2"]
    assert [subset.annotator for subset in session().ask(2, 2, annotators=pd.Series(["p1", "p2"]))] == ["p1", "p2"]


@pytest.mark.parametrize(
    ("annotators", "sentence"),
    [
        ("p1", r"^'annotators' must have one annotator for each of 2 subsets. Got 1: \['p1'\]"),
        ({"p1", "p2"}, "^'annotators' must be a list of names. Got a set"),
        ({"p1": 1, "p2": 2}, "^'annotators' must be a list of names. Got a dict"),
        ([["p1"], ["p2"]], "^An annotator must be one name. Got a list"),
    ],
    ids=["text", "set", "dict", "lists"],
)
def test_other_forms_of_annotators_are_refused(annotators, sentence):
    with pytest.raises(InputError, match=sentence):
        session().ask(2, 2, annotators=annotators)


def test_candidates_by_name_and_other_forms_refused():
    assert session().ask(candidates={"insects": INSECTS})[0].items == INSECTS
    asked = session().ask(2, 3)
    assert session().ask(candidates=asked)[0].items in [subset.items for subset in asked]
    for candidates in (INSECTS, "ant", pd.DataFrame([INSECTS]), 7):
        with pytest.raises(InputError, match=r"^'candidates' must be a list of lists of items"):
            session().ask(candidates=candidates)


def exhausted(session, **ask):
    session.ask(1, 4, **ask)
    with pytest.raises(InputError) as caught:
        session.ask(1, 4, **ask)
    return str(caught.value)


def test_advice_is_what_can_be_done():
    seen = exhausted(session(), annotators=["p1"])
    assert seen.endswith("A subset holds 4: choose another annotator, or stop.")
    often = exhausted(session(max_per_item=1))
    assert often.endswith("holds 4: raise 'max_per_item', or stop.")
