"""107 people sorted 20 animals, each by a known principle: the views that MCVC finds, and the principles."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from benchmarks.experiments import Cell, Part, Record
from benchmarks.experiments.statistics import mean_sd
from consilience.datasets import load_cardsort_animals
from consilience.metrics import ami
from consilience.semisupervised import MCVC

N_SEEDS = 5
N_CLUSTERS = (4, 6, 8, 10)
MIXED = "Mixed division"
REAL, BIOLOGICAL = "Real and mythical", "Biological"


def cells() -> Iterator[Cell]:
    for k in N_CLUSTERS:
        for seed in range(N_SEEDS):
            yield Cell("animals", f"{k} clusters at most", "MCVC", seed, MCVC(k, random_state=seed))


def compute(cell: Cell) -> dict[str, Any]:
    """Compare the views of MCVC with the principles that people named."""
    animals = load_cardsort_animals()
    model = clone(cell.estimator).fit(None, animals.annotations)
    view = model.annotators_["view"]
    principle = animals.annotator_info["principle"].loc[view.index]
    single = (principle != MIXED).to_numpy()
    table = pd.crosstab(principle, view)
    labels = [model.view_labels_[v] for v in model.view_labels_]
    return {
        "bound": model.lower_bound_,
        "ami": ami(principle, view),
        "ami_single": ami(principle[single], view[single]),
        "principles": list(table.index),
        "table": table.to_numpy(),
        "clusters": [[sorted(own.index[own == k]) for k in sorted(set(own))] for own in labels],
    }


def best_fit(record: Record) -> pd.Series:
    """Return the row with the highest bound."""
    rows = record.frame("animals")
    return rows.loc[rows["bound"].idxmax()]


def counts_of(row: pd.Series) -> pd.DataFrame:
    """Return how many people of each principle hold each view."""
    return pd.DataFrame(row["table"], index=row["principles"])


def table(record: Record) -> list[str]:
    rows = record.frame("animals")
    lines = [
        "20 animals sorted by 107 people: views of MCVC beside the principles by which they say they sorted; 'single'",
        f"leaves out those whose principle is {MIXED!r}; mean ± sd of {N_SEEDS} seeds",
        "",
        f"    {'':22s}{'bound':>18s}{'views':>14s}{'AMI':>16s}{'AMI, single':>16s}",
    ]
    for data, own in rows.groupby("data", sort=False):
        views = f"{own['clusters'].map(len).min()} to {own['clusters'].map(len).max()}"
        lines.append(
            f"    {data:22s}{mean_sd(own['bound'], 1):>18s}{views:>14s}{mean_sd(own['ami']):>16s}"
            f"{mean_sd(own['ami_single']):>16s}"
        )
    best = best_fit(record)
    table = counts_of(best)
    lines += [
        "",
        f"the highest bound ({best['data']}, seed {best['draw']}): people of each principle who hold each view",
        "",
    ]
    lines.append(f"    {'':26s}" + "".join(f"{f'view {view}':>8s}" for view in table) + "  in the commonest")
    for principle, counts in table.iterrows():
        share = f"{counts.max() / counts.sum():18.0%}"
        lines.append(f"    {principle:26s}" + "".join(f"{count:8d}" for count in counts) + share)
    lines.append(f"    {'of one principle':26s}" + "".join(f"{share:8.0%}" for share in table.max() / table.sum()))
    lines.append("")
    for view, clusters in enumerate(best["clusters"]):
        members = " | ".join(", ".join(cluster) for cluster in clusters)
        lines += wrap(f"view {view}: {members}", 116, initial_indent="    ", subsequent_indent=" " * 12)
    return lines


def quotes(record: Record) -> dict[str, Any]:
    """Count the fits in which the view by real and mythical stands alone, and who sorted by biology."""
    rows, best = record.frame("animals"), best_fit(record)
    biological = np.sort(counts_of(best).loc[BIOLOGICAL])[::-1]
    mixed = np.sort(counts_of(best).loc[MIXED])[::-1]
    return {
        "fits": len(rows),
        "real": int(rows.apply(has_view_of_real_and_mythical, axis=1).sum()),
        "biological": int(biological.sum()),
        "in_two": int(biological[:2].sum()),
        "mixed": int(mixed.sum()),
        "mixed_in_two": int(mixed[:2].sum()),
        "best": {"ami": best["ami"], "single": best["ami_single"], "views": len(best["clusters"])},
    }


def has_view_of_real_and_mythical(row: pd.Series) -> bool:
    """Whether all who sorted by real and mythical hold one view, and nobody else does."""
    table = counts_of(row)
    own = table.loc[REAL]
    return bool((own > 0).sum() == 1 and table[own.idxmax()].sum() == own.sum())


PART = Part("animals", cells, compute)
