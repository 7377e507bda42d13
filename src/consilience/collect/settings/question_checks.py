"""Whether people can be asked one question after the other as the settings of a study say."""

from __future__ import annotations

from consilience.collect.settings.cleaning import brief
from consilience.collect.settings.model import StudySettings
from consilience.collect.settings.problems import Problems
from consilience.collect.settings.study_kinds import PAIRS
from consilience.errors import InputError

OF_GROUPS = ("least_in_group", "most_in_group", "required_cards", "moves")
STRATEGIES = ("informative", "random")


def require_askable(settings: StudySettings, kind: str, problems: Problems) -> None:
    """Gather settings that make no sense where nobody moves cards into groups."""
    usual = StudySettings()
    for name in OF_GROUPS:
        with problems.at(name):
            if getattr(settings, name) != getattr(usual, name):
                raise InputError(f"In a study of {kind} people answer questions: it has no {name!r}.")
    with problems.at("strategy"):
        if settings.strategy not in STRATEGIES:
            raise InputError(
                f"The strategy of a study of {kind} must be one of {', '.join(STRATEGIES)}. Got "
                f"{brief(settings.strategy)}."
            )
    with problems.at("stop_rule"):
        if kind == PAIRS and settings.stop_rule != "none":
            raise InputError("There is no stop rule for pairs: 'stop_rule' must be 'none'.")
