"""The strategies by the names that a session accepts."""

from __future__ import annotations

from consilience.active.informative import Informative
from consilience.active.strategies import (
    ExploitOneVsRest,
    ExploitPairwise,
    Explore,
    ExploreExploitTradeoff,
    Random,
    Strategy,
)

STRATEGIES: dict[str, type[Strategy]] = {
    "random": Random,
    "explore": Explore,
    "exploit-pairwise": ExploitPairwise,
    "exploit-one-vs-rest": ExploitOneVsRest,
    "explore-exploit": ExploreExploitTradeoff,
    "informative": Informative,
}
