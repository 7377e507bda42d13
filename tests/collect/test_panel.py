"""What a study may ask of people from a panel: settings that contradict themselves are refused with one sentence."""

import re

import pytest

from consilience.collect.participant import questioning
from consilience.collect.settings.model import StudySettings
from consilience.collect.settings.panel import Completion, Panel, Question
from consilience.collect.settings.panel_checks import checked_panel
from consilience.collect.wording.wording import Wording
from consilience.errors import InputError

AGE = Question("age", "How old are you?", "number", required=True, least=18, most=99)
DIET = Question("diet", "What do you eat?", "choices", options=("Meat", "Fish", "Plants"))
PROLIFIC = "https://app.prolific.com/submissions/complete?cc={code}"


def test_settings_survive_json():
    panel = Panel(
        consent="Please.",
        before=(AGE,),
        after=(DIET,),
        endings={"complete": Completion("C1", PROLIFIC)},
        identified_by="PID",
        keep_days=30,
        required_parameters=("PID",),
    )
    settings = StudySettings(parameters=("PID",), panel=panel)
    assert StudySettings.of_json(settings.as_json()) == settings
    assert StudySettings.of_json({}).panel == Panel()


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([], "'panel' must be an object."),
        ({"agree": 1}, "'panel' has no setting 'agree'; there are consent, "),
        ({"before": "age"}, "'before' must be a list of questions."),
        ({"before": [{"name": "age"}]}, "Question 1 of 'before' must have a 'text'."),
        ({"endings": ["C1"]}, "'endings' must be an object"),
        ({"consent": 3}, "'consent' of 'panel' must be text. Got '3'."),
        ({"minutes": True}, "'minutes' of 'panel' must be a whole number or null. Got 'True'."),
        (
            {"before": [{"name": "a", "text": "?", "options": [1]}]},
            "'options' of question 1 of 'before' must be a list",
        ),
        ({"before": [{"name": "a", "text": "?", "required": 1}]}, "'required' of question 1 of 'before' must be true"),
        ({"required_parameters": "PID"}, "'required_parameters' of 'panel' must be a list of texts."),
        ({"required_parameters": [1]}, "'required_parameters' of 'panel' must be a list of texts."),
        ({"endings": {"complete": "C1"}}, "The ending 'complete' must be an object."),
        ({"screening": "age"}, "'screening' must be a list of conditions."),
        ({"screening": [{"name": "age"}]}, "Condition 1 of 'screening' must have a 'values'."),
        (
            {"screening": [{"name": "age", "values": [1]}]},
            "'values' of condition 1 of 'screening' must be a list of te",
        ),
        ({"quotas": [{"name": "age", "values": ["1"]}]}, "Quota 1 of 'quotas' must have a 'most'."),
    ],
)
def test_json_of_another_shape_is_refused(values, sentence):
    with pytest.raises(InputError, match=re.escape(sentence)):
        StudySettings.of_json({"panel": values})


@pytest.mark.parametrize(
    ("panel", "sentence"),
    [
        (Panel(returning="ban"), "'returning' must be one of resume, restart, turn away. Got 'ban'."),
        (Panel(identified_by="WHO"), "known again by 'WHO', which must be one of the stored parameters"),
        (
            Panel(required_parameters=("PID", "WHO")),
            "A link must have 'WHO', which must be one of",
        ),
        (Panel(minutes=0), "'minutes' must be a whole number from 1 to 100,000. Got 0."),
        (Panel(keep_days=True), "'keep_days' must be a whole number"),
        (Panel(consent="x" * 50_001), "The text of the consent page has 50,001 characters"),
        (Panel(before=(AGE,) * 51), "At most 50 questions"),
        (Panel(before=(Question("my age", "?"),)), "must be letters, digits and '_', such as 'age'. Got 'my age'."),
        (Panel(before=(Question("a", "?", "date"),)), "The kind of the question 'a' must be one of text, number"),
        (Panel(before=(Question("a", " "),)), "The question 'a' has no text."),
        (Panel(before=(Question("a", "?", "choice", options=("x",)),)), "'a' needs from 2 to 100 options"),
        (Panel(before=(Question("a", "?", options=("x", "y")),)), "asks for a text and has no options"),
        (Panel(before=(Question("a", "?", "number", least=2, most=1),)), "leave nothing between them"),
        (Panel(before=(Question("a", "?", "choice", options=("x", "y"), most=1),)), "asks for a choice and has no lim"),
        (Panel(before=(Question("a", "?", most=9000),)), "can have from 0 to 5,000 characters"),
        (
            Panel(endings={"over": Completion("C")}),
            "end as complete, screened_out, quota_full, not_admitted, declined, closed, withdrawn.",
        ),
        (Panel(endings={"complete": Completion("C", "http://a.example")}), "must begin with https://"),
        (Panel(endings={"complete": Completion("C", "https://{PID}.example")}), "and the name of a server"),
        (Panel(endings={"complete": Completion("C", "https://a.example/{")}), "do not belong together"),
        (Panel(endings={"complete": Completion("C", "https://a.example/{SONA}")}), "needs 'SONA', which must be one"),
        (Panel(endings={"complete": Completion("", PROLIFIC)}), "needs a code"),
    ],
)
def test_settings_that_cannot_be_are_refused(panel, sentence):
    with pytest.raises(InputError, match=re.escape(sentence)):
        checked_panel(panel, ("PID",))


def test_values_in_return_addresses_are_encoded_and_a_missing_one_leaves_the_code():
    ending = Completion("C&1", "https://a.example/?cc={code}&p={PID}")
    assert ending.filled({"PID": "x&y=1/é"}) == {
        "code": "C&1",
        "url": "https://a.example/?cc=C%261&p=x%26y%3D1%2F%C3%A9",
    }
    assert ending.filled({}) == {"code": "C&1", "url": ""}
    assert Completion().filled({}) is None


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        (["44"], 44.0),
        ([" "], None),
        (["44,5"], 44.5),
        (["nan"], None),
        (["1_9"], None),
        (["17"], None),
        (["100"], None),
    ],
)
def test_numbers_are_read_and_held_to_their_limits(given, answer):
    given = {"age": [value.strip() for value in given]}
    answers, wrong = questioning.read_answers([AGE], given, Wording("en"))
    assert answers.get("age") == answer
    assert bool(wrong) == (answer is None)


def test_each_wrong_answer_has_a_sentence_of_its_own():
    name = Question("name", "Name?", least=2, most=4)
    one = Question("one", "One?", "choice", options=("a", "b"))
    questions = [AGE, DIET, name, one]
    answers, wrong = questioning.read_answers(
        questions, {"age": ["17"], "diet": ["Plants", "Meat"], "name": ["abcde"], "one": ["c"]}, Wording("en")
    )
    assert answers == {"diet": ["Meat", "Plants"]}
    assert wrong == {
        "age": "Please enter a number that is not below 18.",
        "name": "Please write at most 4 characters.",
        "one": "Please choose one of these.",
    }
    answers, wrong = questioning.read_answers(questions, {}, Wording("en"))
    assert answers == dict.fromkeys(["age", "diet", "name", "one"])
    assert wrong == {"age": "Please answer this question."}
