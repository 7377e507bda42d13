"""Paper 3, Figs. 1 to 5: fusion of subset groupings and active composition, with peers and on recorded groupings.

Protocol (Veeramachaneni & O'Reilly, section 6): Gaussian data of 8 features, 10 clusters, no two closer than τ (σi +
σj)/2; agents that cluster a subset on some of the features (`ClusteringPopulation`: k-means or Ward, 3 to 6 groups for
subsets of 8, 5 to 10 for 50, on 4 to 8 features, a new agent for every answer). Case 1: 100 items, subsets of 8. Case
2: 1000 items, 100 subsets of 50. All methods get the number of clusters; results are NMI with the truth.

fusions     NMI of every fusion and peer on the same groupings, simulated and recorded
ensembles   settings of KCC and CSPA, for their pages
strategies  Figs. 2 and 4: NMI and stability as case 1 grows, and the subsets needed for a level
replay      strategies that choose among recorded subsets, with the recorded answers
difficulty  Fig. 1: dynamic, static and complete presentation over τ, 500 subsets of case 1
large       Figs. 3 and 4: case 2
rates       Fig. 5: 1, 2, 4 or 8 subsets between updates, case 2

"knowing the clusters" composes subsets of two items from each of four clusters, by the truth, which no strategy
knows. The parts are in `subset_parts`.
"""

from __future__ import annotations

from benchmarks.experiments import Page, Part
from benchmarks.papers.subset_parts.difficulty import cells_of_difficulty, compute_difficulty
from benchmarks.papers.subset_parts.fusions import (
    cells_of_ensembles,
    cells_of_fusions,
    compute_ensembles,
    compute_fusions,
)
from benchmarks.papers.subset_parts.replay import cells_of_replay, compute_replay
from benchmarks.papers.subset_parts.strategies import (
    cells_of_large,
    cells_of_rates,
    cells_of_strategies,
    compute_curve,
    compute_rates,
)

PARTS = (
    Part("fusions", cells_of_fusions, compute_fusions),
    Part("ensembles", cells_of_ensembles, compute_ensembles),
    Part("strategies", cells_of_strategies, compute_curve),
    Part("replay", cells_of_replay, compute_replay),
    Part("difficulty", cells_of_difficulty, compute_difficulty),
    Part("large", cells_of_large, compute_curve),
    Part("rates", cells_of_rates, compute_rates),
)
PAGE = Page("subset_groupings", PARTS, tables=lambda record: {})
