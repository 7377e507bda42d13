"""Active composition: which subset of items to present or which item to label next, when to stop, how many to ask."""

from consilience.active.assignments import Subset
from consilience.active.informative import Informative
from consilience.active.label_forecast import LabelForecast
from consilience.active.label_session import LabelQuestion, LabelSession
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
    "LabelForecast",
    "LabelQuestion",
    "LabelSession",
    "Plan",
    "Random",
    "Situation",
    "Strategy",
    "Subset",
    "plan",
]

__dir__ = __all__.copy
