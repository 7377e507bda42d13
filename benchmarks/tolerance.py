"""When a fit stops: a share of the bound, as the loop of all models judges, against nats per datum.

    python benchmarks/tolerance.py partition-labels [DRAW ...]
    python benchmarks/tolerance.py others

A datum is a label, or the judgement of a pair. The first compares rules for restarts and mergers of
PartitionLabelModel, whose bound has the term ½ (D + 1) K ln 2πσ² of the weights' prior, with the experts of the paper's
protocol: NMI with the classes in the training and validation folds, clusters, sweeps of all runs together, and
processor seconds. Draws 0 and 2 were for the choice of a rule. The second prints how large the bound of other models is
for a datum, with their sweeps and results under both rules, at the same number as tolerance.
"""

import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

from benchmarks.papers.partition_label_parts.fits import load, split
from consilience.consensus import DawidSkene, ProductMixture
from consilience.datasets import load_crowd_labels
from consilience.inference import Trace, iterate
from consilience.inference.iterate import ROUNDING, Outcome
from consilience.metrics import nmi
from consilience.semisupervised import MCVC, MECC, PartitionLabelModel
from consilience.semisupervised import partition_label_model as model
from consilience.semisupervised import partition_label_model_estimator as estimator
from consilience.simulation import simulate_experts
from consilience.simulation.pairs import simulate_pairs

SETS = ("iris", "seeds", "Yale", "warpPIE10P")
SHARES = (0.1, 0.3, 1.0)
DRAWS = (1, 3)
RULES: dict[str, tuple[float, float] | None] = {  # nats per label of a sweep, and nats of a merger; NaN: as of a sweep
    "share of the bound": None,
    "1e-3 nats per label": (1e-3, np.nan),
    "the same, mergers 1 nat": (1e-3, 1.0),
    "1e-2, mergers 1 nat": (1e-2, 1.0),
}


class Rule:
    """Runs and mergers of PartitionLabelModel that are judged in nats; counts sweeps."""

    def __init__(self, nats: tuple[float, float] | None):
        self.nats = nats
        self.sweeps = 0

    def step(self, *arguments: Any) -> Any:
        self.sweeps += 1
        return STEP(*arguments)

    def least(self, evidence: model.PartitionLabelModelEvidence) -> float:
        """Return the nats by which a sweep has to raise the bound."""
        return self.nats[0] * sum(chunk.labels.nnz for chunk in evidence.chunks) if self.nats else 0.0

    def run(
        self,
        state: model.PartitionLabelModelState,
        evidence: model.PartitionLabelModelEvidence,
        prior: model.PartitionLabelModelPrior,
        *,
        max_iter: int,
        tol: float,
        **_: Any,
    ) -> Trace[model.PartitionLabelModelState]:
        bounds: list[float] = []

        def bound(after: model.PartitionLabelModelState) -> float:
            bounds.append(model.lower_bound(after, evidence, prior))
            return bounds[-1]

        def stands_still(_: model.PartitionLabelModelState) -> bool:
            return len(bounds) > 1 and bounds[-1] - bounds[-2] <= self.least(evidence)

        rule: dict[str, Any] = {"settled": stands_still} if self.nats else {"tol": tol}
        return iterate(state, lambda before: self.step(before, evidence, prior), bound, max_iter=max_iter, **rule)

    def merge(
        self,
        trace: Trace[model.PartitionLabelModelState],
        evidence: model.PartitionLabelModelEvidence,
        prior: model.PartitionLabelModelPrior,
        **settings: Any,
    ) -> Trace[model.PartitionLabelModelState]:
        """Join clusters as the model does, with a threshold in nats."""
        if self.nats is None:
            return MERGE(trace, evidence, prior, **settings)
        least = self.least(evidence) if np.isnan(self.nats[1]) else self.nats[1]
        fewest, tried = settings.pop("fewest"), set[tuple[int, int]]()
        while True:
            live = np.flatnonzero(trace.state.moments.design[-1] > model.LIVE)
            pairs = [pair for pair in model.alike(trace.state, evidence.cells, live)[: len(live)] if pair not in tried]
            joined = None
            for pair in pairs if len(live) > fewest else []:
                tried.add(pair)
                attempt = self.run(model.with_joined(trace.state, *pair), evidence, prior, **settings)
                if attempt.lower_bound - trace.lower_bound > least:
                    joined = replace(attempt, lower_bounds=(*trace.lower_bounds, attempt.lower_bound))
                    break
            if joined is None:
                return trace
            trace = joined


STEP, MERGE = model.step, model.merge


@contextmanager
def judged_by(nats: tuple[float, float] | None) -> Iterator[Rule]:
    rule = Rule(nats)
    with (
        patch.object(model, "run", rule.run),
        patch.object(estimator, "run", rule.run),
        patch.object(estimator, "merge", rule.merge),
    ):
        yield rule


def partition_labels(draws: Sequence[int]) -> None:
    rows = []
    for name in SETS:
        X, classes = load(name)
        for share in SHARES:
            for draw in draws:
                train, test = split(X, draw % 5)
                scale = StandardScaler().fit(X[train])
                experts = simulate_experts(classes, observed=share, random_state=100 * draw + 2)[train]
                for title, nats in RULES.items():
                    with judged_by(nats) as rule:
                        begun = time.process_time()
                        fitted = PartitionLabelModel(random_state=draw).fit(scale.transform(X[train]), experts)
                    rows.append(
                        {"data": name, "labels": share, "rule": title, "clusters": fitted.n_clusters_}
                        | {"training": nmi(classes[train], fitted.labels_), "sweeps": rule.sweeps}
                        | {"validation": nmi(classes[test], fitted.predict(scale.transform(X[test])))}
                        | {"seconds": time.process_time() - begun}
                    )
        print(table(rows, name).to_string(), flush=True)
    print(table(rows).to_string())


def table(rows: list[dict[str, Any]], name: str | None = None) -> pd.DataFrame:
    """Return means over draws: of one data set by share, or of all."""
    frame = pd.DataFrame(rows)
    by = ["rule"] if name is None else ["data", "labels", "rule"]
    frame = frame if name is None else frame[frame["data"] == name]
    return frame.groupby(by, sort=False).mean(numeric_only=True).drop(columns="labels", errors="ignore").round(3)


def others() -> None:
    """Print what other models find under both rules."""
    for name in ("bluebird", "dog", "rte", "sentiment"):
        labels = load_crowd_labels(name).annotations
        compare(f"DawidSkene, {name}", DawidSkene(), (labels,), labels.n_rows)
        compare(f"ProductMixture, {name}", ProductMixture(2, random_state=1), (labels,), labels.n_rows)
    X, species = load_iris(return_X_y=True)
    pairs = simulate_pairs(species, 5, 400, [0.95, 0.9, 0.85, 0.8, 0.75], random_state=1)
    for paired in (MCVC(3, random_state=1), MECC(3, random_state=1)):
        compare(f"{type(paired).__name__}, iris", paired, (StandardScaler().fit_transform(X), pairs), pairs.n_rows)


def compare(title: str, unfitted: Any, arguments: tuple, n_data: int) -> None:
    share = unfitted.fit(*arguments)
    size, found = abs(share.lower_bound_) / n_data, (share.n_iter_, share.lower_bound_, np.array(share.labels_))
    with patch("consilience.inference.iterate._outcome", in_nats(n_data)):
        nats = unfitted.fit(*arguments)
    differ = int((found[2] != nats.labels_).sum())
    print(
        f"{title:24s} {n_data:7,} data; bound {size:6.3f} nats per datum; sweeps {found[0]} and {nats.n_iter_}; "
        f"bound {nats.lower_bound_ - found[1]:+.4f}; {differ} of {len(found[2])} items elsewhere",
        flush=True,
    )


def in_nats(n_data: int) -> Callable[[Sequence[float], float], Outcome | None]:
    """Return the rule of the loop, with nats per datum instead of shares of the bound."""

    def outcome(bounds: Sequence[float], tol: float) -> Outcome | None:
        if len(bounds) < 2:
            return None
        gain = bounds[-1] - bounds[-2]
        if gain < -ROUNDING * max(abs(bounds[-1]), abs(bounds[-2])):
            return Outcome.FELL
        return Outcome.CONVERGED if gain <= tol * n_data else None

    return outcome


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1] == "others":
        others()
    else:
        partition_labels([int(draw) for draw in sys.argv[2:]] or DRAWS)
