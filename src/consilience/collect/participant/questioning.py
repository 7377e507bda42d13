"""Answers to the questions of a study: read from a form, checked, and told what is wrong with each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.datastructures import FormData

from consilience.collect.settings.cleaning import clean, whole
from consilience.collect.settings.panel import Question
from consilience.collect.settings.panel_checks import LONGEST_ANSWER
from consilience.collect.wording.wording import Wording

Answer = str | int | float | list[str] | None


def given_in(form: FormData, questions: Sequence[Question]) -> dict[str, list[str]]:
    """Return what was sent for each question, by its name."""
    return {
        one.name: [
            clean(value).strip() for value in form.getlist(f"answer-{one.name}") if isinstance(value, str) and value
        ]
        for one in questions
    }


def read_answers(
    questions: Sequence[Question], given: Mapping[str, list[str]], texts: Wording
) -> tuple[dict[str, Answer], dict[str, str]]:
    """Return the answers, and for each question that is not answered as it must be one sentence.

    given : what was sent for each.
    texts : the sentences of the study.
    """
    answers: dict[str, Answer] = {}
    wrong: dict[str, str] = {}
    for one in questions:
        values = [value for value in given.get(one.name, []) if value]
        if not values:
            answers[one.name] = None
            if one.required:
                wrong[one.name] = texts["answer_required"]
        elif problem := _problem(one, values, texts):
            wrong[one.name] = problem
        else:
            answers[one.name] = _answer(one, values)
    return answers, wrong


def _answer(question: Question, values: list[str]) -> Answer:
    if question.kind == "choices":
        return [option for option in question.options if option in values]
    return whole(_number(values[0])) if question.kind == "number" else values[0]


def _problem(question: Question, values: list[str], texts: Wording) -> str | None:
    if question.kind in ("choice", "choices"):
        known = all(value in question.options for value in values)
        return None if known and (question.kind == "choices" or len(values) == 1) else texts["answer_choice"]
    measured: float | None = len(values[0])
    if question.kind == "number":
        measured = _number(values[0])
        if measured is None:
            return texts["answer_number"]
    least, most = question.least, question.most
    if question.kind == "text":
        most = LONGEST_ANSWER if most is None else most
    if least is not None and measured is not None and measured < least:
        return texts.fill(f"answer_least_{question.kind}", least=least)
    if most is not None and measured is not None and measured > most:
        return texts.fill(f"answer_most_{question.kind}", most=most)
    return None


def _number(text: str) -> float | None:
    """Read a number, with a point or a comma, in digits of any script; None if it is none."""
    try:
        found = float(text.replace(",", ".").replace("٫", ".")) if len(text) <= 30 and "_" not in text else math.nan
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def show_questions(
    questions: Sequence[Question], given: Mapping[str, list[str]], wrong: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return what the page of questions shows of each."""
    return [
        {
            "number": number,
            "question": one,
            "given": given.get(one.name, []),
            "wrong": wrong.get(one.name, ""),
            "longest": int(one.most) if one.kind == "text" and one.most is not None else LONGEST_ANSWER,
        }
        for number, one in enumerate(questions, 1)
    ]
