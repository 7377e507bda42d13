"""What a study asks of people from a panel, as fields of a form; questions are lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from consilience.collect.admin.setting_forms import shown_value, value_in
from consilience.collect.creation.cards import read_rows
from consilience.collect.forms import lines_of, parameters_of, text_of
from consilience.collect.settings.conditions import Quota, condition_of, limits_in
from consilience.collect.settings.kinds import declared_in
from consilience.collect.settings.panel import ENDINGS, MOMENTS, QUESTIONS, Completion, Panel, Question
from consilience.errors import InputError

PANEL = declared_in(Panel)
REQUIRED = "*"
IF = " if "  # between the name of a question and the condition under which it is asked
LONGEST_NUMBER = 9  # digits
PEOPLE = ":"  # between the condition of a quota and its number
CHOICES = ("choice", "choices")


def panel_in(form: Mapping[str, Any]) -> Panel:
    """Return the panel that a form says. Raises InputError: a question or a number cannot be read."""
    endings = {name: Completion(text_of(form, f"code-{name}"), text_of(form, f"url-{name}")) for name in ENDINGS}
    values: dict[str, Any] = {name: value_in(form, name, kind, getattr(Panel, name)) for name, kind in PANEL.items()}
    values |= {moment: tuple(map(question_of, lines_of(form, moment))) for moment in MOMENTS}
    return Panel(
        **values,
        screening=tuple(map(condition_of, lines_of(form, "screening"))),
        quotas=tuple(map(quota_of, lines_of(form, "quotas"))),
        endings={name: ending for name, ending in endings.items() if ending.code or ending.url},
        identified_by=text_of(form, "identified_by"),
        required_parameters=parameters_of(form, "required_parameters"),
    )


def fields_of_panel(panel: Panel) -> dict[str, str]:
    """Return what the fields of the form hold."""
    endings = {name: panel.endings.get(name, Completion()) for name in ENDINGS}
    return {
        **{name: shown_value(kind, getattr(panel, name)) for name, kind in PANEL.items()},
        **{moment: "\n".join(map(line_of, panel.questions(moment))) for moment in MOMENTS},
        "screening": "\n".join(map(str, panel.screening)),
        "quotas": "\n".join(f"{one.condition}{PEOPLE} {one.most}" for one in panel.quotas),
        **{f"code-{name}": ending.code for name, ending in endings.items()},
        **{f"url-{name}": ending.url for name, ending in endings.items()},
        "identified_by": panel.identified_by,
        "required_parameters": ", ".join(panel.required_parameters),
    }


def quota_of(line: str) -> Quota:
    """Return the quota that a line says: a condition, a colon and a number of people.

    Raises InputError: it cannot be read.

    Examples
    --------
    >>> quota_of("age = 18 to 30: 50")
    Quota(name='age', values=('18 to 30',), most=50)
    """
    text, _, most = line.rpartition(PEOPLE)
    if not (most.strip().isascii() and most.strip().isdecimal() and len(most) <= LONGEST_NUMBER):
        raise InputError(f"A quota must be a condition, a colon and how many people. Got {line[:60]!r}.")
    condition = condition_of(text)
    return Quota(condition.name, condition.values, int(most))


def question_of(line: str) -> Question:
    """Return the question that a line says: name, text, kind, and options or limits, with semicolons between them.

    Examples
    --------
    >>> age = question_of("age*; How old are you?; number; 18 to 99")
    >>> age.name, age.text, age.kind, age.required, age.least, age.most
    ('age', 'How old are you?', 'number', True, 18.0, 99.0)
    >>> question_of("diet; What do you eat?; choices; Meat; Fish").options
    ('Meat', 'Fish')
    >>> str(question_of("fish if diet = Fish; Which fish do you eat?").shown_if)
    'diet = Fish'
    """
    rows = read_rows(line, "The line of a question", delimiter=";", skipinitialspace=True)
    cells = [cell.strip() for row in rows[:1] for cell in row]
    name, text, kind, *rest = [*cells, *[""] * (3 - len(cells))]
    kind, rest = kind or "text", [cell for cell in rest if cell]
    if not text:
        raise InputError(f"A question must be a name, a semicolon and its text. Got {line[:60]!r}.")
    if kind not in QUESTIONS:
        raise InputError(
            f"The kind of the question {name[:60]!r} must be one of {', '.join(QUESTIONS)}. Got {kind[:60]!r}."
        )
    name, follows, condition = name.partition(IF)
    shown_if = condition_of(condition) if follows else None
    required = name.endswith(REQUIRED)
    name = name.removesuffix(REQUIRED).rstrip()
    if kind in CHOICES:
        return Question(name, text, kind, required, tuple(rest), shown_if=shown_if)
    return Question(name, text, kind, required, (), *_limits_of(rest, name), shown_if=shown_if)


def line_of(question: Question) -> str:
    """Return a question as a line.

    Examples
    --------
    >>> line_of(Question("age", "How old are you?", "number", True, least=18))
    'age*; How old are you?; number; 18 to'
    """
    limits = [question.least, question.most]
    shown = " ".join(
        ("" if limits[0] is None else f"{limits[0]:g}", "to", "" if limits[1] is None else f"{limits[1]:g}")
    )
    rest = [*question.options, *([shown.strip()] if limits != [None, None] else [])]
    kind = [question.kind] if rest or question.kind != "text" else []
    follows = "" if question.shown_if is None else f"{IF}{question.shown_if}"
    cells = [f"{question.name}{REQUIRED * question.required}{follows}", question.text, *kind, *rest]
    return "; ".join(_quote(" ".join(cell.split())) for cell in cells)


def _limits_of(cells: list[str], name: str) -> tuple[float | None, float | None]:
    if not cells:
        return None, None
    found = limits_in(cells[0])
    if found is None or len(cells) > 1:
        raise InputError(
            f"The limits of the question {name[:60]!r} must be such as '1 to 120'. Got {'; '.join(cells)[:60]!r}."
        )
    return found


def _quote(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if ";" in cell or cell.startswith('"') else cell
