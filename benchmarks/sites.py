"""What is lost if only groupings leave the sites, against pooling all data and against each site alone.

    python benchmarks/sites.py [--data digits wine …] [--seeds 1 3 5 7 9]

Developed on even seeds, reported on odd ones. In each setting five sites (or as many as said) see some of the items and
some of the columns. All figures are adjusted mutual information with the classes of the data set, over all items that a
site has. "pooled" is k-means on the whole table, told the number of classes, the bound that moving the data would give;
"alone" is the mean over sites of k-means on the site's table, told the number; "fused" is `fuse_sites` of the default
summaries, "told" the same with the number of classes. Bytes are those of the summaries, and of the tables as CSV.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.preprocessing import StandardScaler

from consilience.sites import fuse_sites, summarise_site

DATA: dict[str, Callable[..., tuple[np.ndarray, np.ndarray]]] = {
    "digits": load_digits,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "iris": load_iris,
}


@dataclass(frozen=True)
class Setting:
    """How sites see a data set: shares of items and columns, and what is wrong with some."""

    items: tuple[float, ...] = (0.6,) * 5
    columns: float = 0.5
    noisy: int = 0  # sites whose columns have as much noise again
    wrong: int = 0  # sites whose names belong to other rows
    epsilon: float | None = None


SETTINGS = {
    "60 % of the items, half of the columns": Setting(),
    "30 % of the items, half of the columns": Setting(items=(0.3,) * 5),
    "60 % of the items, all columns": Setting(columns=1.0),
    "10 sites, a fifth of the columns": Setting(items=(0.6,) * 10, columns=0.2),
    "unequal sites (10 to 90 %)": Setting(items=(0.1, 0.2, 0.4, 0.7, 0.9)),
    "two of five with noise": Setting(noisy=2),
    "one of five wrong": Setting(wrong=1),
    "noise of epsilon 8": Setting(epsilon=8.0),
    "noise of epsilon 4": Setting(epsilon=4.0),
}


def tables_of(table: pd.DataFrame, setting: Setting, rng: np.random.Generator) -> list[pd.DataFrame]:
    """Return the tables of the sites."""
    found = []
    n_columns = max(2, round(setting.columns * table.shape[1]))
    for number, share in enumerate(setting.items):
        rows = np.sort(rng.choice(len(table), max(20, round(share * len(table))), replace=False))
        here = table.iloc[rows, np.sort(rng.choice(table.shape[1], n_columns, replace=False))].copy()
        if number < setting.noisy:
            here += rng.normal(size=here.shape) * here.std().to_numpy()
        if number < setting.wrong:
            here.index = rng.permutation(here.index)
        found.append(here)
    return found


def agreement(truth: pd.Series, labels: pd.Series) -> float:
    """Return the adjusted mutual information of labels with the classes of their items."""
    return float(adjusted_mutual_info_score(truth[labels.index], labels))


def by_kmeans(table: pd.DataFrame, number: int, seed: int) -> pd.Series:
    """Return the clusters of k-means on scaled columns."""
    model = KMeans(number, n_init=10, random_state=seed)
    return pd.Series(model.fit_predict(StandardScaler().fit_transform(table)), index=table.index)


def one_run(name: str, setting: Setting, seed: int) -> dict[str, float]:
    """Return the figures of one draw."""
    values, classes = DATA[name](return_X_y=True)
    names = pd.Index([f"item {number:04}" for number in range(len(values))])
    table, truth = pd.DataFrame(values, index=names), pd.Series(classes, index=names)
    number = truth.nunique()
    tables = tables_of(table, setting, np.random.default_rng(seed))
    summaries = [
        summarise_site(one, site=f"site {place}", epsilon=setting.epsilon, random_state=seed)
        for place, one in enumerate(tables)
    ]
    fused = fuse_sites(summaries, random_state=seed)
    told = fuse_sites(summaries, number, random_state=seed)
    alone = [agreement(truth, by_kmeans(one, number, seed)) for one in tables]
    return {
        "pooled": agreement(truth, by_kmeans(table, number, seed)),
        "alone": float(np.mean(alone)),
        "fused": agreement(truth, fused.labels),
        "told": agreement(truth, told.labels),
        "clusters": fused.labels.nunique(),
        "left_out_rightly": sum(f"site {place}" in fused.left_out for place in range(setting.wrong)),
        "left_out_wrongly": len(fused.left_out)
        - sum(f"site {place}" in fused.left_out for place in range(setting.wrong)),
        "bytes_summaries": sum(len(json.dumps(one.as_json(), separators=(",", ":"))) for one in summaries),
        "bytes_tables": sum(len(one.to_csv()) for one in tables),
    }


def main() -> None:
    """Print a table for each data set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", choices=list(DATA), default=list(DATA))
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 3, 5, 7, 9])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    wrong = rightly = wrongly = sites = 0
    for name in options.data:
        print(f"\n{name}, means over seeds {', '.join(map(str, options.seeds))}")
        print(f"{'setting':40} pooled  alone  fused   told  clusters  bytes sent  of tables")
        for called, setting in SETTINGS.items():
            runs = pd.DataFrame([one_run(name, setting, seed) for seed in options.seeds])
            mean = runs.mean()
            print(
                f"{called:40} {mean['pooled']:6.3f} {mean['alone']:6.3f} {mean['fused']:6.3f} {mean['told']:6.3f} "
                f"{mean['clusters']:9.1f} {mean['bytes_summaries']:11,.0f} {mean['bytes_tables']:10,.0f}",
                flush=True,
            )
            wrong += setting.wrong * len(runs)
            sites += (len(setting.items) - setting.wrong) * len(runs)
            rightly += int(runs["left_out_rightly"].sum())
            wrongly += int(runs["left_out_wrongly"].sum())
    print(f"\nWrong sites left out: {rightly} of {wrong}. Others left out: {wrongly} of {sites:,}.")


if __name__ == "__main__":
    main()
