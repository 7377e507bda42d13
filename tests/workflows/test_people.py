"""Tables of what people answered: whom they keep, and which segments they make."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilience.errors import InputError
from consilience.workflows.notes import notes_to
from consilience.workflows.people import people_where, two_segments

ANNOTATORS = pd.Index(["Ann", "Bo", "Cy", "Di"])
ANSWERS = 'Participant ID,Device,a=b,age\nBo,phone,x,18\nAnn,Desktop ,"x,y",30\nghost,phone,x,18\nCy,Phone,,30\n'


@pytest.fixture
def answers(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text(ANSWERS, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("where", "kept"),
    [
        (["Device=phone"], ["Bo", "Cy"]),
        (["device = PHONE"], ["Bo", "Cy"]),
        (["Device=phone,desktop"], ["Ann", "Bo", "Cy"]),
        (["a=b=x"], ["Bo"]),
        (["a=b=x,y"], ["Ann"]),  # an answer with a comma
        (["age=30"], ["Ann", "Cy"]),
        (["age=30", "Device=phone"], ["Cy"]),
    ],
)
def test_who_gave_an_answer_is_kept_in_the_order_of_the_annotations(answers, where, kept):
    assert people_where(answers, where, ANNOTATORS).tolist() == kept


def test_who_is_not_counted_is_noted(answers):
    said = []
    with notes_to(said.append):
        people_where(answers, ["a=b=x"], ANNOTATORS)
    assert said == [
        f"{answers}: 'ghost' gave no annotations; their answers are not used.",
        f"{answers}: 1 annotator has no answer in it.",
        f"{answers}: 1 annotator gave no answer in the column 'a=b'.",
    ]


@pytest.mark.parametrize(
    ("by", "segments"),
    [
        ("device", {"phone": ["Bo", "Cy"], "Desktop": ["Ann"]}),
        ("device=desktop,phone", {"Desktop": ["Ann"], "phone": ["Bo", "Cy"]}),
        ("device=phone", {"phone": ["Bo", "Cy"], "not phone": ["Ann"]}),
    ],
)
def test_two_segments(answers, by, segments):
    found = two_segments(answers, by, ANNOTATORS)
    assert {name: kept.tolist() for name, kept in found.items()} == segments


@given(st.lists(st.sampled_from(["phone", " Phone", "tablet", "desk,top", ""]), min_size=2, max_size=12), st.randoms())
def test_each_answer_divides_people_whatever_their_order_and_spelling(tmp_path_factory, drawn, random):
    path = tmp_path_factory.mktemp("people") / "answers.csv"
    people = [f"p{number}" for number in range(len(drawn))]
    rows = list(zip(people, drawn, strict=True))
    random.shuffle(rows)
    pd.DataFrame(rows, columns=["annotator", "device"]).assign(language="en").to_csv(path, index=False)
    for answer in {text.strip().lower() for text in drawn} - {""}:
        expected = [who for who, text in zip(people, drawn, strict=True) if text.strip().lower() == answer]
        assert people_where(path, [f"device={answer}"], pd.Index(people)).tolist() == expected


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        (ANSWERS, "device", r"A condition must be a column, = and answers, such as device=phone. Got 'device'.$"),
        (ANSWERS, "=phone", "A condition must be"),
        (ANSWERS, "device=", "A condition must be"),
        (
            ANSWERS,
            "devise=phone",
            "There is no column 'devise'. The nearest name is 'Device'. Found 'Device', 'a=b', 'age'",
        ),
        (ANSWERS, "device=phone,watch", "Nobody's 'Device' is 'watch'. Found 'phone', 'Desktop'.$"),
        (ANSWERS, "age=18,30,", None),
        (
            "who,device\nx,phone\n",
            "device=phone",
            "None of the annotators has any answer in it. Its column 'who' was taken",
        ),
        ('[{"annotator": "Ann"}]', "device=phone", "There is no column of answers besides 'annotator'.$"),
        ("annotator,d\nAnn,1\nBo,1\nAnn,2\n", "d=1", "The annotator 'Ann' has different answers, the second in line 4"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path, text, where, message):
    path = tmp_path / ("answers.json" if text.startswith("[") else "answers.csv")
    path.write_text(text, encoding="utf-8")
    if message is None:
        assert len(people_where(path, [where], ANNOTATORS)) == 3
        return
    with pytest.raises(InputError, match=message):
        people_where(path, [where], ANNOTATORS)


def test_nobody_who_meets_all_conditions(answers):
    with pytest.raises(InputError, match=r"No annotator meets all of where=\['age=18', 'device=desktop'\]"):
        people_where(answers, ["age=18", "device=desktop"], ANNOTATORS)


def test_more_than_two_segments_are_refused(answers):
    with pytest.raises(InputError, match=r"'age' has 1 answer: '30'. Name two of them, as in by='age=30'"):
        two_segments(answers, "age", pd.Index(["Ann", "Cy"]))
    with pytest.raises(InputError, match=r"has 3 answers: .*Name two of them"):
        two_segments(answers, "device=phone,desktop,phone", ANNOTATORS)
