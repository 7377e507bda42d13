"""What works on labels of people: the models of labels, those of crowd-kit and CROWDLAB, against the vote.

Nine recorded sets, three of them again with two and three labels an item, pictures of which the labels were counted,
simulated crowds in which one annotator in eight labels at random, and simulated crowds who rate, or whose items have
features. Draws are numbered: settings may be chosen on even ones, and the odd ones are reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from benchmarks.crowdlab import Crowdlab
from benchmarks.experiments import Cell, Page, Part, Record
from benchmarks.experiments.page import before_comma
from benchmarks.experiments.statistics import Difference, mean_sd, paired
from benchmarks.people.label_crowds import (
    COUNTED,
    FEATURED,
    N_COUNTED,
    RATED,
    RECORDED,
    SIMULATED,
    THINNED,
    Crowd,
    counted,
    featured,
    rated,
    recorded,
    simulated,
    thinned,
    unlabelled,
)
from benchmarks.people.label_methods import (
    CROWDLAB,
    DEFAULT,
    LIMIT,
    MODELS,
    N_BINS,
    OF_FEATURES,
    OF_RATINGS,
    PEERS,
    RATINGS,
    SEEDED,
    SMALLEST,
    VOTE,
    WithFeatures,
    figures,
)

DRAWS = (1, 3, 5, 7, 9)
PARTS = {
    "recorded": RECORDED,
    "thinned": tuple(THINNED),
    "counted": tuple(COUNTED),
    "simulated": tuple(SIMULATED),
    "ratings": RATED,
    "features": FEATURED,
    "unlabelled": FEATURED,
}
ORDERED = "adult"  # the recorded set whose classes have an order
SLOW = {"crowd-kit GLAD": ("adult", "fact_eval"), "crowd-kit MMSR": ("adult",)}  # more than a minute a fit
SLOWER = ("crowd-kit GLAD", "crowd-kit MACE")  # of simulated crowds, only those with three labels an item
ESTIMATORS = MODELS | OF_RATINGS | OF_FEATURES
OF_PEOPLE_UNKNOWN = (  # the others compare annotators with one another, of whom each gave one label
    *(name for name in MODELS if name not in ("StagewiseEM", "SpectralEM")),
    "crowd-kit DawidSkene",
    "crowd-kit OneCoinDawidSkene",
    "crowd-kit Wawa",
    CROWDLAB,
)
METHODS = {
    "counted": OF_PEOPLE_UNKNOWN,
    "ratings": (VOTE, DEFAULT, CROWDLAB, *OF_RATINGS),
    "features": ("DawidSkeneClassifier", CROWDLAB, DEFAULT, VOTE),
    "unlabelled": (*(name for name in OF_FEATURES if name != CROWDLAB), VOTE),
}
USED = (type(MODELS[VOTE]),)  # every method is compared with the vote
MARGIN = 0.01  # below the vote by more is worse
SIZES = ("n_items", "n_annotators", "n_labels", "n_classes", "n_truths")


def methods_of(part: str, data: str) -> Iterator[str]:
    """Yield the methods that are run on a data set."""
    if part in METHODS:
        yield from METHODS[part]
        return
    yield from MODELS
    yield CROWDLAB
    if data == ORDERED:
        yield RATINGS
    for name in (f"crowd-kit {peer}" for peer in PEERS):
        is_left_out = part == "simulated" and name in SLOWER and SIMULATED[data].each != 3
        if data not in SLOW.get(name, ()) and not is_left_out:
            yield name
    if part == "simulated":
        yield LIMIT


def cells_of(part: str) -> Iterator[Cell]:
    for data in PARTS[part]:
        for draw in DRAWS[:1] if part == "recorded" else DRAWS:
            for name in methods_of(part, data):
                model = clone(ESTIMATORS[name]) if name in ESTIMATORS else None
                seed = {"random_state": draw} if name in SEEDED else {}
                if model is not None:
                    uses = (*USED, Crowdlab) if name == CROWDLAB else USED
                    yield Cell(part, data, name, draw, model.set_params(**seed), uses=uses)
                else:
                    yield Cell(part, data, name, draw, settings=seed, uses=USED)


def computed(cell: Cell, crowd: Crowd) -> dict[str, Any]:
    """Return the figures of a method, and the sizes of the crowd."""
    labels = crowd.labels
    counts = (labels.n_items, labels.n_annotators, labels.n_rows, labels.n_classes, (crowd.truth >= 0).sum())
    return dict(zip(SIZES, map(int, counts))) | figures(cell.model, crowd, cell.estimator, dict(cell.settings))


def compute_recorded(cell: Cell) -> dict[str, Any]:
    return computed(cell, recorded(cell.data))


def compute_thinned(cell: Cell) -> dict[str, Any]:
    return computed(cell, thinned(cell.data, cell.draw))


def compute_counted(cell: Cell) -> dict[str, Any]:
    return computed(cell, counted(cell.data, cell.draw))


def compute_simulated(cell: Cell) -> dict[str, Any]:
    return computed(cell, simulated(cell.data, cell.draw))


def compute_ratings(cell: Cell) -> dict[str, Any]:
    return computed(cell, rated(cell.data, cell.draw))


def compute_features(cell: Cell) -> dict[str, Any]:
    return computed_beside(cell, *featured(cell.data, cell.draw))


def compute_unlabelled(cell: Cell) -> dict[str, Any]:
    return computed_beside(cell, *unlabelled(cell.data, cell.draw))


def computed_beside(cell: Cell, crowd: Crowd, features: np.ndarray) -> dict[str, Any]:
    """Return the figures of a method that may read features."""
    if cell.model in OF_FEATURES:
        cell = replace(cell, estimator=WithFeatures(cell.estimator, features))
    return computed(cell, crowd)


# ---- tables


def table_of(record: Record, part: str, data: str) -> list[str]:
    """Return the methods on one data set, by accuracy."""
    rows = record.frame(part, data=data)
    size = rows.iloc[0]
    several = part != "recorded"
    people = f"about {rows['n_annotators'].mean():.0f}" if part in ("thinned", "counted") else size["n_annotators"]
    classes = "" if part == "simulated" else f", {size['n_classes']} classes"
    which = "without labels" if part == "unlabelled" else "with a known class"
    truths = "" if size["n_truths"] == size["n_items"] else f", {size['n_truths']} of them {which}"
    draws = f"; mean ± sd of {rows['draw'].nunique()} draws" if several else ""
    lines = [
        f"{data}: {size['n_items']} items{truths}, {people} annotators, {size['n_labels']} labels{classes}{draws}",
        f"{'':34s}{'accuracy':>15s}{'less the vote':>17s}{'log loss':>15s}{'ECE':>15s}{'ties':>7s}{'seconds':>10s}",
    ]
    means = rows.groupby("model", sort=False)["accuracy"].mean().sort_values(ascending=False, kind="stable")
    for name in means.index:
        own = rows[rows["model"] == name]
        accuracy, loss, calibration = (
            spread(own[figure], several) for figure in ("accuracy", "log_loss", "calibration")
        )
        lead = lead_of(own)
        against = "" if name == VOTE else f"{lead.mean:+.3f} ± {lead.error:.3f}"
        failed = own["no_answer"].ne("").sum()
        note = f"   no answer in {failed} of {len(own)}" if failed else ""
        ties = signed(own["ties"].mean(), False)
        lines.append(
            f"{name:34s}{accuracy:>15s}{against:>17s}{loss:>15s}{calibration:>15s}{ties:>7s}"
            f"{own['seconds'].median():10.2f}{note}"
        )
    return lines


def lead_of(rows: pd.DataFrame) -> Difference:
    """Return the lead over the vote with its standard error: over draws, or over items if there is one draw."""
    if len(rows) == 1:
        return Difference(rows["lead"].iloc[0], rows["lead_error"].iloc[0])
    return paired(rows["lead"], np.zeros(len(rows)))


def spread(values: pd.Series, several: bool) -> str:
    """Return a figure, or its mean and standard deviation over draws."""
    if values.isna().any():
        return "-"
    return mean_sd(values) if several else f"{values.iloc[0]:.3f}"


def means_of(record: Record, part: str) -> pd.DataFrame:
    """Return one row for each data set and method: means over draws, and the log loss less the vote's."""
    rows = record.frame(part)
    by_fit = rows.groupby(["data", "model"], sort=False)
    found = by_fit[["accuracy", "lead", "log_loss", "calibration", "ties"]].mean().join(by_fit["seconds"].median())
    found["verdict"] = [lead_of(own).verdict for _, own in by_fit]
    vote = found.xs(VOTE, level="model")["log_loss"].rename("loss_of_vote")
    found = found.reset_index().join(vote, on="data")
    return found.assign(loss=found["log_loss"] - found["loss_of_vote"])


def summary(record: Record, part: str) -> pd.DataFrame:
    """Return for each method its means over data sets, and those less the vote's on the same data sets."""
    rows = means_of(record, part)
    by_method = rows.groupby("model", sort=False)
    found = by_method[["accuracy", "lead", "log_loss", "loss", "calibration", "ties", "seconds"]].mean()
    found["sets"] = by_method.size()
    found["worse"] = by_method["lead"].agg(lambda lead: int((lead < -MARGIN).sum()))
    found["better"] = by_method["lead"].agg(lambda lead: int((lead > MARGIN).sum()))
    return found.sort_values("lead", ascending=False, kind="stable")


TITLES = {
    "recorded": "recorded sets",
    "thinned": "recorded crowds with few labels",
    "counted": "crowds of whom nothing is known",
    "simulated": "kinds of simulated crowds",
    "ratings": "kinds of simulated ratings",
    "features": "kinds of features, items with labels",
    "unlabelled": "kinds of features, items without labels",
}


def table_of_summary(record: Record, part: str) -> list[str]:
    draws = "" if part == "recorded" else f", of {len(DRAWS)} draws each"
    lines = [
        f"{len(PARTS[part])} {TITLES[part]}{draws}",
        f"{'':34s}{'':>5s}{'accuracy':>18s}{'':13s}{'log loss':>12s}",
        f"{'':34s}{'sets':>5s}{'mean':>9s}{'- vote':>9s}{'better':>8s}{'worse':>7s}{'mean':>8s}{'- vote':>9s}"
        f"{'ECE':>8s}{'ties':>7s}{'seconds':>10s}",
    ]
    for name, row in summary(record, part).iterrows():
        loss, lead = signed(row["log_loss"], False), signed(row["loss"])
        calibration, ties = signed(row["calibration"], False), signed(row["ties"], False)
        lines.append(
            f"{name:34s}{row['sets']:5.0f}{row['accuracy']:9.3f}{row['lead']:+9.3f}{row['better']:8.0f}"
            f"{row['worse']:7.0f}{loss:>8s}{lead:>9s}{calibration:>8s}{ties:>7s}{row['seconds']:10.2f}"
        )
    return lines


def signed(value: float, sign: bool = True) -> str:
    return "-" if np.isnan(value) else f"{value:+.3f}" if sign else f"{value:.3f}"


def tables(record: Record) -> dict[str, str]:
    found = {"labels.txt": [table_of_summary(record, part) for part in PARTS]}
    for part, names in PARTS.items():
        found[f"labels_{part}.txt"] = [table_of(record, part, data) for data in names]
    return {name: "\n\n\n".join("\n".join(lines) for lines in blocks) + "\n" for name, blocks in found.items()}


# ---- what the sentences quote


def leads(rows: pd.DataFrame, is_so: Callable[[pd.DataFrame], pd.Series]) -> dict[str, str]:
    """Return for each method of ours the data sets where its lead over the vote is so, with the lead."""
    found = {}
    for name in ESTIMATORS:
        own = rows[rows["model"] == name]
        own = own[is_so(own)]
        found[name] = listed([f"{data} ({short(gap)})" for data, gap in zip(own["data"], own["lead"])])
    return found


def short(gap: float) -> str:
    """Return a difference as the pages write it, such as +.005."""
    return f"{gap:+.3f}".replace("0.", ".", 1)


def listed(names: list[str]) -> str:
    """Return names as a sentence lists them."""
    if not names:
        return "none"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def quotes_of(record: Record, part: str) -> dict[str, Any]:
    """Return what the sentences on one part quote."""
    found, rows, frame = summary(record, part), means_of(record, part), record.frame(part)
    whole = found[(found["sets"] == found["sets"].max()) & (found.index != LIMIT)]
    failed = frame[frame["no_answer"] != ""].groupby("model").size()
    return {
        "sets": int(found["sets"].max()),
        "table": found.to_dict("index"),
        "most_accurate": whole["accuracy"].idxmax(),
        "least_loss": whole["log_loss"].idxmin(),
        "never_worse": listed([name for name in whole.index if whole["worse"][name] == 0 and name != VOTE]),
        "worse": leads(rows, lambda own: own["lead"] < -MARGIN),
        "better": leads(rows, lambda own: own["lead"] > MARGIN),
        "clearly_worse": leads(rows, lambda own: own["verdict"] == "below"),
        "clearly_better": leads(rows, lambda own: own["verdict"] == "above"),
        "larger_loss": (rows["loss"] > 0).groupby(rows["model"]).sum().to_dict(),
        "failed": listed([f"{name} in {count}" for name, count in failed.items()]),
        "n_failed": int(failed.sum()),
        "n_fits": len(frame),
    }


def worse_of_kinds(record: Record, each: int) -> dict[str, int]:
    """Return in how many kinds of simulated crowds with so many labels an item each method is worse than the vote."""
    rows = means_of(record, "simulated")
    rows = rows[rows["data"].map({name: kind.each == each for name, kind in SIMULATED.items()})]
    return (rows["lead"] < -MARGIN).groupby(rows["model"]).sum().to_dict()


def quotes(record: Record) -> dict[str, Any]:
    return {part: quotes_of(record, part) for part in PARTS} | {
        "default": DEFAULT,
        "n_counted": N_COUNTED,
        "limit": LIMIT,
        "ordered": record.frame("recorded", data=ORDERED).set_index("model").to_dict("index"),
        "draws": listed(list(map(str, DRAWS))),
        "bins": N_BINS,
        "smallest": np.format_float_scientific(SMALLEST, exp_digits=1, trim="-"),
        "worse_by_each": {
            each: worse_of_kinds(record, each) for each in sorted({kind.each for kind in SIMULATED.values()})
        },
        "slow": {name: listed(list(sets)) for name, sets in SLOW.items()},
    }


PAGE = Page(
    "labels",
    parts=(
        Part("recorded", partial(cells_of, "recorded"), compute_recorded),
        Part("thinned", partial(cells_of, "thinned"), compute_thinned),
        Part("counted", partial(cells_of, "counted"), compute_counted, alike=before_comma),
        Part("simulated", partial(cells_of, "simulated"), compute_simulated),
        Part("ratings", partial(cells_of, "ratings"), compute_ratings),
        Part("features", partial(cells_of, "features"), compute_features),
        Part("unlabelled", partial(cells_of, "unlabelled"), compute_unlabelled),
    ),
    tables=tables,
    quotes=quotes,
    package="people",
)
