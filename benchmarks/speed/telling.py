"""Cost of adding an answer to a session, as answers accumulate.

    python benchmarks/speed/telling.py [--answers 1450] [--items 300]

Subsets of 8 items out of 300 are answered one after the other by people who sort them without error into 6 clusters.
Each line gives medians of the processor time over the answers since the line before: of `tell`, of `ask` by the
strategy "random" for a named annotator, and of `ask` by the strategy "explore" for nobody in particular.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from consilience.active import ActiveSession
from consilience.inference.threads import one_blas_thread

N_CLUSTERS, SIZE, EVERY = 6, 8, 145


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Cost of adding an answer to a session, as answers accumulate.")
    parser.add_argument("--answers", type=int, default=1450)
    parser.add_argument("--items", type=int, default=300)
    arguments = parser.parse_args()
    names = [f"item {i}" for i in range(arguments.items)]
    cluster = dict(zip(names, np.random.default_rng(0).integers(N_CLUSTERS, size=len(names)).tolist()))
    named, anyone = (ActiveSession(names, strategy=strategy, random_state=0) for strategy in ("random", "explore"))
    print(f"{len(names)} items\n{'answers':>7}  {'tell':>8}  {'ask Ann':>8}  {'ask':>8}")
    spent: list[tuple[float, float, float]] = []
    with one_blas_thread():
        for n_told in range(1, arguments.answers + 1):
            spent.append(_one_more(named, anyone, cluster))
            if n_told % EVERY == 0:
                print(f"{n_told:7d}  " + "  ".join(f"{1000 * value:5.1f} ms" for value in np.median(spent, axis=0)))
                spent = []


def _one_more(named: ActiveSession, anyone: ActiveSession, cluster: dict[str, int]) -> tuple[float, float, float]:
    """Return processor seconds of adding an answer by a new annotator, and of composing subsets."""
    begun = time.process_time()
    (subset,) = anyone.ask(1, SIZE)
    asked = time.process_time()
    answer = {item: cluster[item] for item in subset.items}
    told = time.process_time()
    anyone.tell(answer, subset=subset)
    after = time.process_time()
    named.tell(answer)
    again = time.process_time()
    (of_ann,) = named.ask(1, SIZE, annotators=["Ann"])
    ended = time.process_time()
    named.withdraw(of_ann)
    return after - told, ended - again, asked - begun


if __name__ == "__main__":
    main()
