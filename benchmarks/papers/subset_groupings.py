"""Paper 3, Figs. 1 to 5: fusion of subset groupings and active composition, with peers and on recorded groupings.

    python benchmarks/papers/subset_groupings.py [--parts fusions strategies difficulty large rates replay]
        [--runs 10] [--draws 20] [--jobs 2] [--out docs/papers/subset_groupings.txt] [--figures docs/papers]

Protocol (Veeramachaneni & O'Reilly, section 6): Gaussian data of 8 features, 10 clusters, no two closer than τ (σi +
σj)/2; agents that cluster a subset on some of the features (`ClusteringPopulation`: k-means or Ward, 3 to 6 groups for
subsets of 8, 5 to 10 for 50, on 4 to 8 features, a new agent for every answer). Case 1: 100 items, subsets of 8. Case
2: 1000 items, 100 subsets of 50. All methods get the number of clusters; results are NMI with the truth.

fusions     NMI of every fusion and peer on the same groupings, simulated and real
strategies  Figs. 2 and 4: NMI and stability as case 1 grows, and the subsets needed for a level
difficulty  Fig. 1: dynamic, static and complete presentation over τ, 500 subsets of case 1
large       Figs. 3 and 4: case 2
rates       Fig. 5: 1, 2, 4 or 8 subsets between updates, case 2
replay      strategies that choose among recorded subsets, with the recorded answers

"knowing the clusters" composes subsets of two items from each of four clusters, by the truth, which no strategy
knows. The parts are in `subset_parts`. Results of finished ones are kept in the folder --cache and not computed again.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from subset_parts.difficulty import compute_difficulty, show_difficulty
from subset_parts.fusions import compute_fusions, show_fusions
from subset_parts.replay import compute_replay, show_replay
from subset_parts.strategies import (
    compute_large,
    compute_rates,
    compute_strategies,
    show_large,
    show_rates,
    show_strategies,
)

from consilience.inspection.plots.style import plain_text

PARTS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "fusions": (compute_fusions, show_fusions),
    "strategies": (compute_strategies, show_strategies),
    "difficulty": (compute_difficulty, show_difficulty),
    "large": (compute_large, show_large),
    "rates": (compute_rates, show_rates),
    "replay": (compute_replay, show_replay),
}


def main() -> None:
    """Run the chosen parts, print the tables, draw the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--runs", type=int, default=10, help="draws of the data in the figures")
    parser.add_argument("--draws", type=int, default=20, help="draws for the subsets needed")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cache", type=Path, default=Path("benchmarks/results/subset_groupings"))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--figures", type=Path)
    arguments = parser.parse_args()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    blocks = []
    for part in arguments.parts:
        compute, show = PARTS[part]
        path = arguments.cache / f"{part}.json"
        if not path.exists():
            path.write_text(json.dumps(compute(arguments)))
        lines, figure = show(json.loads(path.read_text()))
        blocks.append("\n".join(lines))
        print(blocks[-1], end="\n\n\n", flush=True)
        if figure is not None and arguments.figures:
            with plain_text():
                figure.savefig(arguments.figures / f"subset_groupings_{part}.svg", metadata={"Date": None})
    if arguments.out:
        arguments.out.write_text("\n\n\n".join(blocks) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
