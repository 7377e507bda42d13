"""Tables of the page on partition labels, and its figure."""

from __future__ import annotations

from itertools import product
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from benchmarks.experiments import Record
from benchmarks.experiments.statistics import mean_sd, paired
from benchmarks.papers.partition_label_parts.fits import (
    DPGMM,
    FITTED,
    KMEANS,
    METHODS,
    MIXTURES,
    MODEL,
    N_FOLDS,
    PUBLISHED,
    SHARES,
    TITLES,
    WHERE,
    name_and_share,
)
from consilience.inspection.plots.style import SMALL, colour, marker, tidy


def results(record: Record) -> pd.DataFrame:
    """Return figures by data set, method, share of labels and fold; methods that use no labels have all shares."""
    with_labels = pd.concat([record.frame(part) for part in FITTED], ignore_index=True)
    with_labels[["data", "share"]] = [name_and_share(data) for data in with_labels["data"]]
    without = record.frame("features").merge(pd.DataFrame({"share": SHARES}), how="cross")
    return pd.concat([with_labels, without]).set_index(["data", "model", "share", "draw"]).sort_index()


def comparisons(record: Record) -> pd.DataFrame:
    """Compare the model with each other method: a row for each data set, method, share and kind of folds.

    `verdict` says where the model is: ahead, level or behind, by paired differences over the folds.
    """
    found, rows = results(record), []
    words = {"above": "ahead", "level": "level", "below": "behind"}
    for (name, method, share), other in found.groupby(level=["data", "model", "share"]):
        own = found.loc[(name, MODEL, share)]
        for where in WHERE:
            if method != MODEL and other[where].notna().all():
                gap = paired(own[where], other[where])
                rows.append((name, method, share, where, gap.mean, words[gap.verdict]))
    return pd.DataFrame(rows, columns=["data", "method", "share", "where", "gap", "verdict"])


def count(verdicts: pd.Series) -> tuple[int, int, int]:
    """Return how often the model is ahead, level and behind."""
    ahead, level, behind = ((verdicts == word).sum() for word in ("ahead", "level", "behind"))
    return int(ahead), int(level), int(behind)


def table_of_clusters(record: Record) -> list[str]:
    found = results(record)["clusters"]
    lines = [
        f"Table 1: number of clusters, mean ± sd over {N_FOLDS} folds; [published, sd in parentheses];",
        "* outside published mean ± (sd + 1)",
        "",
        f"{'data':20s} {'classes':>7s} {'DPGMM':>18s}"
        + "".join(f"{f'{share:.0%} of labels':>27s}" for share in SHARES),
    ]
    for name, (n_classes, dpgmm, published) in PUBLISHED.items():
        line = f"{name:20s} {n_classes:7d} {mean_sd(found[name, DPGMM, SHARES[0]], 1):>11s} [{dpgmm:4.1f}]"
        for share, (mean, sd) in zip(SHARES, published):
            own = found[name, MODEL, share]
            mark = " " if is_near(own.mean(), mean, sd) else "*"
            line += f"{mean_sd(own, 1) + mark:>14s} [{mean:4.1f} ({sd:.1f})]"
        lines.append(line)
    return lines


def is_near(found: float, mean: float, sd: float) -> bool:
    """Whether a value is within sd + 1 of the mean, up to rounding."""
    return abs(found - mean) <= sd + 1 + 1e-9


def table_of_mixtures(record: Record) -> list[str]:
    rows = pd.concat([record.frame("features", model=DPGMM), record.frame("mixtures")])
    found = rows.set_index(["data", "model"])["clusters"].sort_index()
    titles = [TITLES.get(name, name) for name in PUBLISHED]
    lines = [f"DPGMM with other settings: number of clusters, mean ± sd over {N_FOLDS} folds", ""]
    lines.append(f"{'':22s}" + "".join(f"{title:>15s}" for title in titles))
    lines.append(f"{'published':22s}" + "".join(f"{dpgmm:>9.1f}{'':6s}" for _, dpgmm, _ in PUBLISHED.values()).rstrip())
    for title in (DPGMM, *MIXTURES):
        lines.append(f"{title:22s}" + "".join(f"{mean_sd(found[name, title], 1):>15s}" for name in PUBLISHED))
    return lines


def table_of_verdicts(record: Record) -> list[str]:
    rows = comparisons(record)
    lines = [
        "NMI of the model against each other method: in how many data sets it is ahead / level / behind, by paired",
        f"differences over {N_FOLDS} folds; level: within two standard errors",
    ]
    for where in WHERE:
        lines += [
            "",
            f"{where + ' folds':18s}" + "".join(f"{f'{share:.0%}':>13s}" for share in SHARES) + f"{'all':>17s}",
        ]
        for method in METHODS:
            own = rows[(rows["method"] == method) & (rows["where"] == where)]
            if own.empty:
                continue
            groups = [own["verdict"][own["share"] == share] for share in SHARES]
            line = "".join(f"{' / '.join(map(str, count(group))):>13s}" for group in groups)
            lines.append(f"{method:18s}{line}{' / '.join(map(str, count(own['verdict']))):>17s}")
    return lines


def table_of_nmi(record: Record, where: str) -> list[str]:
    found, rows = results(record)[where].dropna(), comparisons(record)
    rows = rows[rows["where"] == where].replace({"verdict": {"ahead": "-", "level": "=", "behind": "+"}})
    marks = dict(zip(zip(rows["data"], rows["method"], rows["share"]), rows["verdict"]))
    lines = [
        f"Fig. 3, {where} folds: NMI, mean ± sd over {N_FOLDS} folds",
        "+ ahead of the model, - behind, = level with it, by paired differences",
        "",
        f"{'data':20s}{'method':20s}" + "".join(f"{f'{share:.0%}':^17s}" for share in SHARES).rstrip(),
    ]
    present = set(found.index.droplevel(["share", "draw"]))
    for name, method in product(PUBLISHED, METHODS):
        if (name, method) in present:
            cells = (
                f"{mean_sd(found[name, method, share])} {marks.get((name, method, share), ' '):3s}" for share in SHARES
            )
            lines.append(f"{name:20s}{method:20s}{''.join(cells)}".rstrip())
    return lines


def draw(record: Record) -> Figure:
    """Draw Fig. 3: a column for each data set, training folds above validation folds."""
    means = results(record)[list(WHERE)].groupby(level=["data", "model", "share"]).mean()
    figure = Figure(figsize=(1.65 * len(PUBLISHED) + 0.6, 4.6), layout="constrained")
    axes = figure.subplots(len(WHERE), len(PUBLISHED), sharex=True, sharey="col")
    drawn = {}
    for (row, where), (column, name) in product(enumerate(WHERE), enumerate(PUBLISHED)):
        axis = axes[row, column]
        for method in METHODS:
            if (name, method) in means.index.droplevel("share") and means.loc[(name, method), where].notna().all():
                drawn[method] = axis.plot(SHARES, means.loc[(name, method), where], **look_of(method))[0]
        tidy(axis)
        axis.tick_params(labelsize=SMALL - 1)
        axis.set_xticks([0.1, 0.5, 1.0], ["10 %", "50 %", "100 %"])
        axis.set_title(TITLES.get(name, name) if row == 0 else "", fontsize=SMALL)
        axis.set_ylabel(f"NMI, {where} folds" if column == 0 else "", fontsize=SMALL)
    figure.legend(drawn.values(), drawn, loc="outside lower center", ncols=5, fontsize=SMALL, frameon=False)
    return figure


def look_of(method: str) -> dict[str, Any]:
    """Return line styles: heavy for the model, dashed for methods that use no labels."""
    number = METHODS.index(method)
    look = {"color": colour(number), "marker": marker(number), "ms": 3, "lw": 2 if method == MODEL else 0.9}
    return look | {"linestyle": "dashed" if method in (KMEANS, DPGMM) else "solid"}
