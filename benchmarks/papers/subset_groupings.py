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

from typing import Any

from benchmarks.experiments import Page, Part, Record
from benchmarks.papers.subset_parts import difficulty, fusions, replay, strategies


def tables(record: Record) -> dict[str, str]:
    blocks = [
        fusions.table_of_fusions(record),
        fusions.table_of_leads(record),
        strategies.table_of_strategies(record),
        difficulty.table_of_difficulty(record),
        strategies.table_of_large(record),
        strategies.table_of_rates(record),
        replay.table_of_replay(record),
    ]
    return {
        "subset_groupings.txt": "\n\n\n".join("\n".join(block) for block in blocks) + "\n",
        "subset_groupings_kcc.txt": "\n".join(fusions.table_of_kcc(record)) + "\n",
        "subset_groupings_cspa.txt": "\n".join(fusions.table_of_cspa(record)) + "\n",
    }


def quotes(record: Record) -> dict[str, Any]:
    """Count what the sentences of the page quote."""
    return {
        "fusions": fusions.quotes_of_fusions(record),
        "strategies": strategies.quotes_of_strategies(record),
        "difficulty": difficulty.quotes_of_difficulty(record),
        "large": strategies.quotes_of_large(record),
        "rates": strategies.quotes_of_rates(record),
        "replay": replay.quotes_of_replay(record),
    }


PAGE = Page(
    "subset_groupings",
    (
        Part("fusions", fusions.cells_of_fusions, fusions.compute_fusions),
        Part("ensembles", fusions.cells_of_ensembles, fusions.compute_ensembles),
        Part("strategies", strategies.cells_of_strategies, strategies.compute_curve),
        Part("replay", replay.cells_of_replay, replay.compute_replay),
        Part("difficulty", difficulty.cells_of_difficulty, difficulty.compute_difficulty),
        Part("large", strategies.cells_of_large, strategies.compute_curve),
        Part("rates", strategies.cells_of_rates, strategies.compute_rates),
    ),
    tables,
    quotes,
    {
        "subset_groupings_difficulty.svg": difficulty.draw_difficulty,
        "subset_groupings_strategies.svg": strategies.draw_strategies,
        "subset_groupings_large.svg": strategies.draw_large,
        "subset_groupings_rates.svg": strategies.draw_rates,
        "subset_groupings_replay.svg": replay.draw_replay,
    },
)
