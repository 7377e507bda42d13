"""Active composition: which subset of items to present next, when to stop, and how many people to ask."""

from consilience.active.assignments import Subset
from consilience.active.informative import Informative
from consilience.active.planning import Plan, plan
from consilience.active.session import ActiveSession
from consilience.active.stability import Decision, Forecast
from consilience.active.strategies import (
    ExploitOneVsRest,
    ExploitPairwise,
    Explore,
    ExploreExploitTradeoff,
    Random,
    Situation,
    Strategy,
)

__all__ = [
    "ActiveSession",
    "Decision",
    "ExploitOneVsRest",
    "ExploitPairwise",
    "Explore",
    "ExploreExploitTradeoff",
    "Forecast",
    "Informative",
    "Plan",
    "Random",
    "Situation",
    "Strategy",
    "Subset",
    "plan",
]


def __dir__() -> list[str]:
    return sorted(__all__)
