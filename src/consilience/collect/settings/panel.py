"""What a study asks of people from a panel beside their sorts: consent, questions, and how they come back and end."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields
from typing import Any, TypeVar
from urllib.parse import quote

from consilience.collect.settings.conditions import Condition, Quota
from consilience.collect.settings.kinds import Choice, Text, Whole
from consilience.errors import InputError

QUESTIONS = ("text", "number", "choice", "choices")
MOMENTS = ("before", "after")
SCREENED_OUT, QUOTA_FULL = "screened_out", "quota_full"
ENDINGS = ("complete", SCREENED_OUT, QUOTA_FULL, "not_admitted", "declined", "closed", "withdrawn")
PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_.-]*)\}")
UNFILLED = re.compile(r"[\[{<%$].*[\]}>%]", re.DOTALL)  # what a panel should have replaced in a link
CODE = "code"  # the placeholder of a return address that stands for the code


@dataclass(frozen=True)
class Question:
    """A question to participants, before the sorts or after them.

    name : unique in the study; what exports call it.
    text : the question as participants read it.
    kind : {"text", "number", "choice", "choices"}; whether the answer is a text, a number, one of the options, or any
        of them.
    required : whether it must be answered.
    options : what can be chosen.
    least, most : the smallest and the largest number that is accepted; of a text, how many characters.
    shown_if : it is asked only where this holds for the earlier answers, or the link.
    """

    name: str
    text: str
    kind: str = "text"
    required: bool = False
    options: tuple[str, ...] = ()
    least: int | float | None = None
    most: int | float | None = None
    shown_if: Condition | None = None

    def is_due(self, answers: Mapping[str, Any], parameters: Mapping[str, str]) -> bool:
        """Whether it is to be asked now: it was not yet, and what it depends on is so.

        answers : of the participant so far, by question.
        parameters : of their link.
        """
        if self.name in answers:
            return False
        return self.shown_if is None or self.shown_if.holds({**parameters, **answers})


@dataclass(frozen=True)
class Completion:
    """What a participant gets at the end.

    code : shown, to be entered on the panel's page.
    url : template of the address to return to: ``{code}`` and stored parameters in braces are filled in.
    """

    code: str = ""
    url: str = ""

    def filled(self, parameters: Mapping[str, str]) -> dict[str, str] | None:
        """Return the code and the address for a participant; None if there is neither.

        The address is empty if a parameter that it needs is missing.

        Examples
        --------
        >>> Completion("C1", "https://panel.example/?cc={code}&p={PID}").filled({"PID": "a b"})
        {'code': 'C1', 'url': 'https://panel.example/?cc=C1&p=a%20b'}
        """
        known = {**parameters, CODE: self.code}
        missing = [name for name in PLACEHOLDER.findall(self.url) if not known.get(name)]
        url = "" if missing else PLACEHOLDER.sub(lambda found: quote(known[found[1]], safe=""), self.url)
        return {"code": self.code, "url": url} if self.code or url else None


def is_unfilled(value: str) -> bool:
    """Whether a parameter of a link is still the placeholder that a panel should have replaced.

    Examples
    --------
    >>> [is_unfilled(value) for value in ("{{%PROLIFIC_PID%}}", "%SURVEY_CODE%", "5f0b2a", "50%")]
    [True, True, False, False]
    """
    return UNFILLED.fullmatch(value.strip()) is not None


@dataclass(frozen=True)
class Panel:
    """Consent, questions, endings, and what happens to people who come back; beside what is declared:

    before, after : asked before the first sort, and after the last.
    endings : codes and return addresses of those who are ``complete``, ``screened_out``, who found their
        ``quota_full``, who were ``not_admitted``, who ``declined`` to consent, who found the study ``closed`` or full,
        and who have ``withdrawn``.
    identified_by : the stored parameter by which people are known again, such as PROLIFIC_PID; empty if by their
        browser alone.
    required_parameters : stored parameters without which nobody comes in by the link of the study.
    screening : who does not take part: one of them holds for what they answered before the first sort, or for their
        link.
    quotas : how many may take part of those who answered so, or whose link says so.
    """

    consent: str = Text("Markdown of the consent page; without it there is none.", longest=50_000, rows=8).default("")
    before: tuple[Question, ...] = ()
    after: tuple[Question, ...] = ()
    endings: Mapping[str, Completion] = field(default_factory=dict)
    identified_by: str = ""
    returning: str = Choice(
        "What happens to people who open the link again.",
        words={
            "resume": "They continue where they were, with cards that are new to them",
            "restart": "They start again, and what they did before is left out",
            "turn away": "They are turned away",
        },
    ).default("resume")
    minutes: int | None = Whole(
        "Minutes without a change after which a subset is given to others.", unset="a day", most=100_000
    ).default(None)
    keep_days: int | None = Whole(
        "Days after which the parameters of a participant are erased.", unset="they are kept", most=3650
    ).default(None)
    required_parameters: tuple[str, ...] = ()
    screening: tuple[Condition, ...] = ()
    quotas: tuple[Quota, ...] = ()

    @property
    def chooses(self) -> bool:
        """Whether not everybody may take part."""
        return bool(self.screening or self.quotas)

    def lacking(self, parameters: Mapping[str, str]) -> list[str]:
        """Return what a link lacks: parameters that are required and missing, or whose placeholder was not replaced.

        parameters : those of the link that the study stores.
        """
        missing = [name for name in self.required_parameters if not parameters.get(name)]
        return list(dict.fromkeys([*missing, *(name for name, value in parameters.items() if is_unfilled(value))]))

    def questions(self, moment: str) -> tuple[Question, ...]:
        """Return the questions of a moment, "before" or "after"."""
        return self.before if moment == "before" else self.after

    def as_json(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
        return {
            **{one.name: getattr(self, one.name) for one in fields(self)},
            **{name: [_as_json(one) for one in getattr(self, name)] for name in LISTS},
            "endings": {name: asdict(ending) for name, ending in self.endings.items()},
            "required_parameters": list(self.required_parameters),
        }

    @classmethod
    def of_json(cls, values: Any) -> Panel:
        """Return settings from JSON values. Raises InputError: a key is unknown, or a value is of another type."""
        if isinstance(values, Panel):
            return values
        given = _require_known(cls, values, "'panel'")
        listed = {name: _make_list(kind, given[name], name) for name, kind in LISTS.items() if name in given}
        endings = given.get("endings", {})
        if not isinstance(endings, Mapping):
            raise InputError("'endings' must be an object of codes and addresses, by how people end.")
        made = {name: _make(Completion, one, f"The ending {name!r}") for name, one in endings.items()}
        required = tuple(given.get("required_parameters", ()))
        return cls(**{**given, **listed, "endings": made, "required_parameters": required})


Kind = TypeVar("Kind", Question, Completion, Condition, Quota)
LISTS: dict[str, Any] = {"before": Question, "after": Question, "screening": Condition, "quotas": Quota}
ONE_OF = {Question: "question", Condition: "condition", Quota: "quota"}
LISTED = ("options", "values")  # what is a list in JSON


def _as_json(one: Question | Condition | Quota) -> dict[str, Any]:
    found = {name: list(value) if name in LISTED else value for name, value in asdict(one).items()}
    if isinstance(one, Question) and one.shown_if is not None:
        found["shown_if"] = _as_json(one.shown_if)
    return found


def _make_list(kind: type[Kind], values: Any, name: str) -> tuple[Kind, ...]:
    word = ONE_OF[kind]
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise InputError(f"{name!r} must be a list of {word}s.")
    return tuple(_make(kind, one, f"{word.capitalize()} {number} of {name!r}") for number, one in enumerate(values, 1))


def _make(kind: type[Kind], values: Any, what: str) -> Kind:
    if isinstance(values, kind):
        return values
    given = _require_known(kind, values, what)
    needed = [one.name for one in fields(kind) if one.default is MISSING and one.name not in given]
    if needed:
        raise InputError(f"{what} must have a {needed[0]!r}.")
    made: dict[str, Any] = {name: tuple(value) if name in LISTED else value for name, value in given.items()}
    if made.get("shown_if") is not None:
        made["shown_if"] = _make(Condition, made["shown_if"], f"'shown_if' of {what[0].lower()}{what[1:]}")
    return kind(**made)


def _require_known(kind: type[Any], values: Any, what: str) -> dict[str, Any]:
    """Return values of a dataclass, none of whose keys is unknown."""
    if not isinstance(values, Mapping):
        raise InputError(f"{what} must be an object.")
    names = [one.name for one in fields(kind)]
    unknown = next((name for name in values if name not in names), None)
    if unknown is not None:
        raise InputError(f"{what} has no setting {str(unknown)[:60]!r}; there are {', '.join(names)}.")
    for name, value in values.items():
        _require_type(f"{name!r} of {what[0].lower()}{what[1:]}", name, value)
    return dict(values)


TYPES: dict[str, tuple[str, Any]] = {
    **dict.fromkeys(("consent", "identified_by", "returning", "name", "text", "kind", "code", "url"), ("text", str)),
    **dict.fromkeys(("minutes", "keep_days"), ("a whole number or null", int | None)),
    **dict.fromkeys(("least", "most"), ("a number or null", int | float | None)),
    "required": ("true or false", bool),
    **dict.fromkeys(("options", "values", "required_parameters"), ("a list of texts", list | tuple)),
}


def _require_type(what: str, name: str, value: Any) -> None:
    words, kind = TYPES.get(name, ("", object))
    wrong = not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool and words != "")
    if wrong or (kind == list | tuple and not all(isinstance(one, str) for one in value)):
        raise InputError(f"{what} must be {words}. Got {str(value)[:60]!r}.")
