"""Which settings for people from a panel a study can have."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any

from consilience.collect.settings.cleaning import clean_text
from consilience.collect.settings.conditions import OR, Condition, Quota, range_of
from consilience.collect.settings.kinds import Whole, checked_fields, checked_value
from consilience.collect.settings.panel import CODE, ENDINGS, PLACEHOLDER, QUESTIONS, Completion, Panel, Question
from consilience.errors import InputError

MOST_QUESTIONS = 50  # at one moment
MOST_OPTIONS = 100
MOST_CONDITIONS = 100  # of screening, and quotas
LONGEST_VALUE = 500  # of a condition; as of a parameter of an address
PEOPLE = Whole(most=1_000_000, may_be_none=False)  # of a quota
LONGEST_QUESTION = 1000  # characters
LONGEST_OPTION = 200
LONGEST_ANSWER = 5000
LONGEST_CODE = 100
LONGEST_URL = 2000
CALLED = {"consent": "The text of the consent page"}  # where a sentence begins with it
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
# What follows the host may hold parameters; the host may not, so that no link of a participant leads elsewhere.
URL = re.compile(r"https://[A-Za-z0-9.-]+(:[0-9]{1,5})?([/?#][^\s\\\"'<>]*)?")


def checked_panel(panel: Any, parameters: Sequence[str]) -> Panel:
    """Return the settings with their texts cleaned.

    Raises InputError: a value is wrong, or needs a parameter that is not stored.

    parameters : those that the study stores.
    """
    if not isinstance(panel, Panel):
        raise InputError("'panel' must be an object.")
    values = checked_fields(panel, CALLED)
    if panel.identified_by and panel.identified_by not in parameters:
        raise InputError(
            f"People are known again by {str(panel.identified_by)[:60]!r}, which must be one of the stored parameters."
        )
    unknown = next((name for name in panel.required_parameters if name not in parameters), None)
    if unknown is not None:
        raise InputError(f"A link must have {unknown[:60]!r}, which must be one of the stored parameters.")
    found = replace(
        panel,
        **values,
        before=_checked_questions(panel.before, (), parameters),
        after=_checked_questions(panel.after, panel.before, parameters),
        endings=_checked_endings(panel.endings, parameters),
        required_parameters=tuple(dict.fromkeys(panel.required_parameters)),
    )
    return replace(
        found,
        screening=tuple(
            _checked_condition(one, found.before, parameters) for one in _few(panel.screening, "screening")
        ),
        quotas=_checked_quotas(_few(panel.quotas, "quotas"), found.before, parameters),
    )


def _checked_questions(
    questions: Sequence[Question], earlier: Sequence[Question], parameters: Sequence[str]
) -> tuple[Question, ...]:
    if len(questions) > MOST_QUESTIONS:
        raise InputError(f"At most {MOST_QUESTIONS} questions can be asked at a time. Got {len(questions)}.")
    found = tuple(_checked_question(one) for one in questions)
    return tuple(
        one
        if one.shown_if is None
        else replace(one, shown_if=_checked_condition(one.shown_if, (*earlier, *found[:place]), parameters))
        for place, one in enumerate(found)
    )


def _checked_question(question: Question) -> Question:
    name = question.name
    if not (isinstance(name, str) and NAME.fullmatch(name)):
        raise InputError(
            f"The name of a question must be letters, digits and '_', such as 'age'. Got {str(name)[:60]!r}."
        )
    if question.kind not in QUESTIONS:
        raise InputError(f"The kind of the question {name!r} must be one of {', '.join(QUESTIONS)}.")
    if not isinstance(question.required, bool):
        raise InputError(f"'required' of the question {name!r} must be true or false.")
    text = clean_text(question.text, f"The text of the question {name!r}", LONGEST_QUESTION)
    if not text:
        raise InputError(f"The question {name!r} has no text.")
    _require_limits(question)
    return replace(question, text=text, options=_checked_options(question))


def _checked_options(question: Question) -> tuple[str, ...]:
    if not isinstance(question.options, tuple):
        raise InputError(f"The options of the question {question.name!r} must be a list.")
    what = f"An option of the question {question.name!r}"
    options = tuple(clean_text(one, what, LONGEST_OPTION, one_line=True) for one in question.options)
    wanted = question.kind in ("choice", "choices")
    if wanted and not (2 <= len(options) <= MOST_OPTIONS and all(options)):
        raise InputError(f"The question {question.name!r} needs from 2 to {MOST_OPTIONS} options.")
    if options and not wanted:
        raise InputError(f"The question {question.name!r} asks for a {question.kind} and has no options.")
    return options


def _require_limits(question: Question) -> None:
    limits = [one for one in (question.least, question.most) if one is not None]
    if any(isinstance(one, bool) or not isinstance(one, int | float) or not abs(one) <= 1e15 for one in limits):
        raise InputError(f"The limits of the question {question.name!r} must be numbers.")
    if len(limits) == 2 and limits[0] > limits[1]:
        raise InputError(f"The limits of the question {question.name!r} leave nothing between them.")
    if limits and question.kind not in ("number", "text"):
        raise InputError(f"The question {question.name!r} asks for a choice and has no limits.")
    if question.kind == "text" and any(one < 0 or one > LONGEST_ANSWER for one in limits):
        raise InputError(f"The answer to {question.name!r} can have from 0 to {LONGEST_ANSWER:,} characters.")


def _few(conditions: Sequence[Any], what: str) -> Sequence[Any]:
    if len(conditions) > MOST_CONDITIONS:
        raise InputError(f"{what!r} can have at most {MOST_CONDITIONS} conditions. Got {len(conditions)}.")
    return conditions


def _checked_condition(condition: Condition, asked: Sequence[Question], parameters: Sequence[str]) -> Condition:
    """Return a condition on what is known when it is looked at: answers to some questions, and stored parameters."""
    what = f"A value of the condition on {str(condition.name)[:60]!r}"
    values = tuple(clean_text(one, what, LONGEST_VALUE, one_line=True) for one in condition.values)
    if not values or not all(values) or any(OR in one for one in values):
        raise InputError(f"{what} must be a text without {OR!r}.")
    question = next((one for one in asked if one.name == condition.name), None)
    if question is not None:
        _require_answers(question, values)
    elif condition.name not in parameters:
        raise InputError(
            f"A condition is on {str(condition.name)[:60]!r}, which must be a question that is asked before, or a "
            "stored parameter."
        )
    return replace(condition, values=values)


def _require_answers(question: Question, values: Sequence[str]) -> None:
    """Refuse values of a condition that are no answers to a question."""
    if question.kind == "text":
        raise InputError(f"The question {question.name!r} asks for a text, on which there is no condition.")
    if question.kind == "number":
        wrong = next((one for one in values if range_of(one) is None), None)
        expected = "a number, or a range such as '18 to 30'"
    else:
        wrong = next((one for one in values if one not in question.options), None)
        expected = "one of its options"
    if wrong is not None:
        raise InputError(f"A condition on the question {question.name!r} must name {expected}. Got {wrong[:60]!r}.")
    if question.kind == "number":
        _require_possible(question, values)


def _require_possible(question: Question, values: Sequence[str]) -> None:
    """Refuse numbers that nobody can give, and would only learn what to answer from the limits."""
    lowest = -inf if question.least is None else question.least
    highest = inf if question.most is None else question.most
    for one in values:
        least, most = range_of(one) or (None, None)
        if (least is not None and least > highest) or (most is not None and most < lowest):
            raise InputError(
                f"A condition on the question {question.name!r} names {one[:60]!r}, which its limits forbid anybody to "
                "answer. Widen the limits, such as '1 to 120'."
            )


def _checked_quotas(quotas: Sequence[Quota], asked: Sequence[Question], parameters: Sequence[str]) -> tuple[Quota, ...]:
    found: dict[Condition, Quota] = {}
    for one in quotas:
        condition = _checked_condition(one.condition, asked, parameters)
        if condition in found:
            raise InputError(f"Two quotas are of those with {str(condition)[:100]!r}.")
        most = checked_value(PEOPLE, one.most, f"The quota of those with {str(condition)[:100]!r}")
        found[condition] = Quota(condition.name, condition.values, most)
    return tuple(found.values())


def _checked_endings(endings: Mapping[str, Completion], parameters: Sequence[str]) -> dict[str, Completion]:
    unknown = next((name for name in endings if name not in ENDINGS), None)
    if unknown is not None:
        raise InputError(f"People can end as {', '.join(ENDINGS)}. Got {str(unknown)[:60]!r}.")
    return {name: _checked_ending(name, endings[name], parameters) for name in ENDINGS if name in endings}


def _checked_ending(name: str, ending: Completion, parameters: Sequence[str]) -> Completion:
    code = clean_text(ending.code, f"The code of those who end as {name!r}", LONGEST_CODE, one_line=True)
    url = clean_text(ending.url, f"The address of those who end as {name!r}", LONGEST_URL, one_line=True)
    if url and not URL.fullmatch(url):
        raise InputError(f"The address to return to must begin with https:// and the name of a server. Got {url!r}.")
    if re.search("[{}]", PLACEHOLDER.sub("", url)):
        raise InputError(f"The braces in the address {url!r} do not belong together.")
    missing = next((one for one in PLACEHOLDER.findall(url) if one not in (*parameters, CODE)), None)
    if missing is not None:
        raise InputError(f"The address {url!r} needs {missing!r}, which must be one of the stored parameters.")
    if CODE in PLACEHOLDER.findall(url) and not code and CODE not in parameters:
        raise InputError(f"The address {url!r} needs a code.")
    return Completion(code, url)
