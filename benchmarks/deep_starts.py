"""Which restart of BayesSCDC to keep on small data, and from which start: the bound against judgements held out.

    python -m benchmarks.deep_starts [--data wine iris ...] [--draws 0 1 2] [--restarts 5]

People sort a third of the items each, as in `benchmarks.papers.deep_parts.defaults`. A fifth of each person's
memberships is held out; `restarts` fits start from a mixture of the positions, and as many from the judgements. Prints
the NMI of the restart that the bound chooses among those from the mixture, among those from the judgements, and among
all; of those that predict the judgements held out best; and of the best, which nobody could know.
"""

from __future__ import annotations

import argparse

import jax
import numpy as np
import pandas as pd

from benchmarks.papers.deep_parts.defaults import TASKS, crowd, items
from consilience import Groupings
from consilience.deep import BayesSCDC
from consilience.metrics import nmi

HELD_OUT = 0.2
SMALL = [name for name, task in TASKS.items() if task.people and task.is_small and task.items != "digits"]
STARTS = ("mixture", "judgements")


def divided(said: Groupings, seed: int) -> tuple[Groupings, Groupings]:
    """Return the memberships to train on, and those held out."""
    table = said.to_frame()
    held_out = np.random.default_rng(seed).random(len(table)) < HELD_OUT
    return Groupings.from_frame(table[~held_out]), Groupings.from_frame(table[held_out])


def restarts(data: str, draw: int, n_restarts: int) -> pd.DataFrame:
    """Return start, bound, score of judgements held out, and NMI of each restart."""
    task = TASKS[data]
    features, truth = items(task.items, draw)
    said = crowd(task, truth, draw)
    assert said is not None
    known, others = divided(said, draw)
    rows = []
    for start in STARTS:
        for number in range(n_restarts):
            model = BayesSCDC(likelihood=task.likelihood, init=start, n_init=1, random_state=100 * draw + number)
            model.fit(features, known.reindex(features.index))
            held_out = others.restrict(items=others.items)
            score = model.score(features.loc[others.items], held_out)
            rows.append((start, model.lower_bound_, score, nmi(truth, model.labels_)))
    jax.clear_caches()
    return pd.DataFrame(rows, columns=["start", "bound", "score", "nmi"])


def chosen(found: pd.DataFrame) -> dict[str, float]:
    """Return the NMI of the restart that each rule keeps."""
    of = {start: found[found["start"] == start] for start in STARTS} | {"all": found}
    kept = {f"bound, {name}": rows.loc[rows["bound"].idxmax(), "nmi"] for name, rows in of.items()}
    kept |= {f"held out, {name}": rows.loc[rows["score"].idxmax(), "nmi"] for name, rows in of.items()}
    return kept | {"best": found["nmi"].max()}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", choices=SMALL, nargs="+", default=SMALL)
    parser.add_argument("--draws", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--restarts", type=int, default=5)
    given = parser.parse_args()
    for data in given.data:
        rows = {}
        for draw in given.draws:
            rows[draw] = chosen(restarts(data, draw, given.restarts))
            print(data, draw, {name: round(value, 3) for name, value in rows[draw].items()}, flush=True)
        print(pd.DataFrame(rows).T.mean().rename(f"{data}, mean").round(3).to_string(), flush=True)


if __name__ == "__main__":
    main()
