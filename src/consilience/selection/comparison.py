"""Comparison of models without the truth, by held-out judgements.

Part of the annotations is held out, every model is fitted to the rest, and each held-out same/different judgement is
predicted: from whether the model's clusters put the two items together, by the model's own
`predict_same(item_a, item_b, annotator)`, or by its `forecast_same(item_a, item_b)` for new people (see
`consilience.selection.prediction`). All models get the same folds and judgements.

| symbol | name in code | shape |
|---|---|---|
| y, whether the annotator put both items together | same | (judgements,) |
| p, the model's probability of "same" | probability | (judgements, models) |
| −ln p or −ln (1 − p) | loss | (judgements, models) |

The mean loss is `metrics.same_log_loss`. The difference of two models is that of their losses on the same judgement.
The standard error of a mean over blocks of dependent judgements, where block c has n_c values that sum to s_c, is
sqrt(C / (C − 1) Σ_c (s_c − n_c mean)²) / Σ_c n_c.

Decided here
------------
Which judgements count as dependent, and how they are drawn, is described in `consilience.selection.folds`.

By default, judgements are predicted from the clusters. Models differ in how they model annotators as much as in the
clusters that they find, and the best model of annotators need not have the best clusters: on digits, the ranking by
clusters agreed far more closely with the truth.

Probabilities are clipped: one within `clip` (1 % by default) of 0 or 1 is moved to that distance. Else a model with
hard clusters and without error rates would lose 36 nats by one error, and the mean would only count such errors.

An annotator without kept annotations is predicted as the crowd is, or by the model as a new person.

Two baselines are in every table, and never `chosen`. "chance" predicts for each judgement the share of "same" in the
kept annotations: a model that is not better has learned nothing. "co-occurrence" predicts how often others put the two
items together, smoothed: with many people it may be better than any clusters, since people do not see clusters.

A winner needs a lead over the second of more than two standard errors of the paired difference; else `best` is None.
Co-occurrence does not count, having no clusters; `verdict` says whether it is ahead.
`chosen` is the first model of the table in any case. If many settings are compared, the score of the first is slightly
too good: the more settings, the more luck.

Seconds are the mean of `fit` over all folds except the first. There, memory is measured instead: the peak that Python
and NumPy allocate, by tracemalloc, which slows Python down; memory of C libraries and other processes is not included.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from consilience.annotations import Annotations, Groupings, Labels, Pairs
from consilience.annotations.display import table as as_html
from consilience.annotations.fit_arguments import read_beside
from consilience.annotations.types import AnnotationsLike, FeaturesLike, RandomSource
from consilience.errors import InputError
from consilience.estimators.parameters import is_number, is_whole
from consilience.inference.losses import log_losses
from consilience.inference.progress import counting, showing
from consilience.inference.randomness import check_random_state, spawn_seeds
from consilience.metrics.clusterings import same_log_loss
from consilience.selection.candidates import CHANCE, CO_OCCURRENCE, Candidate, name_models, reads_tags
from consilience.selection.folds import LEVELS, HeldOut, hold_out
from consilience.selection.prediction import WAYS, by_co_occurrence

__all__ = ["Comparison", "compare"]


CLEAR = 2.0  # standard errors of a clear lead
WIDEST = 90  # characters of a note in the printed table
HELD_OUT = {
    "groupings": "whole groupings",
    "judgements": "parts of each annotator's annotations",
    "tags": "parts of each annotator's tags",
}
HEAD = ["model", "log loss", "behind the first", "accuracy", "seconds", "MB", ""]
COLUMNS = ["log_loss", "log_loss_se", "difference", "difference_se", "accuracy", "accuracy_se"]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """How well models predicted held-out judgements.

    Attributes
    ----------
    table : DataFrame, one row per model, the lowest log loss first
        ``log_loss`` and ``log_loss_se``, nats per judgement; ``difference`` to the first row and ``difference_se``, of
        the losses on the same judgements; ``accuracy``, the share of judgements given a probability above one half, and
        ``accuracy_se``; ``seconds`` per fit; ``megabytes``, the peak of a fit; ``n_judgements``; ``note``. A model that
        could not be fitted, or does not read these annotations, has no numbers and the reason as its note.
    best : str or None
        The first row except "co-occurrence", if its lead over the second is more than two standard errors of the
        difference; "chance" if no model is better.
    chosen : str or None
        The first model of the table except the baselines; None if no model could be compared.
    judgements : DataFrame, one row per judgement
        item_a, item_b, annotator, same, and the fold in which it was held out.
    probabilities : DataFrame, shape (n_judgements, n models with numbers)
        Each model's probability of "same".
    level : {"groupings", "judgements", "tags"}
        The unit that was held out.
    n_folds : int
    n_possible : int
        Number of judgements from which these were drawn.
    blocks : str
        Blocks over which standard errors are computed: "annotators", "groupings" or "parts of groupings".
    n_blocks : int
    """

    table: pd.DataFrame
    best: str | None
    chosen: str | None
    judgements: pd.DataFrame
    probabilities: pd.DataFrame
    level: str
    n_folds: int
    n_possible: int
    blocks: str
    n_blocks: int

    def __str__(self) -> str:
        rows = [HEAD, *self._rows()]
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
        return "\n".join([self._caption(), *lines, self.verdict])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html(self._caption(), HEAD, self._rows(), below=self.verdict)

    def _caption(self) -> str:
        out = f"{len(self.judgements):,} of {self.n_possible:,} judgements held out in {self.n_folds} folds"
        return f"{out} of {HELD_OUT[self.level]}; standard errors over {self.n_blocks} {self.blocks}"

    def _rows(self) -> list[list[str]]:
        return [_cells(str(name), row) for name, row in self.table.iterrows()]

    @property
    def verdict(self) -> str:
        """Sentence that names the best model, and one on co-occurrence if it is ahead."""
        if self.chosen is None:
            return "No model could be compared."
        ahead = self.table.index[0] == CO_OCCURRENCE
        further = " Co-occurrence, which has no clusters, predicts these judgements better." if ahead else ""
        first, second = self.table.index[self.table["log_loss"].notna()].drop(CO_OCCURRENCE)[:2]
        if first == CHANCE:
            return f"No model is better than chance; {self.chosen} comes nearest.{further}"
        if self.best is not None:
            return f"{self.best} is the best: its lead over {second} is more than two standard errors.{further}"
        return f"{self.chosen} is first, but {second} may be as good: the lead is within two standard errors.{further}"


def compare(
    models: Any,
    annotations: AnnotationsLike,
    X: FeaturesLike | None = None,
    *,
    by: Any = "clusters",
    n_folds: Any = 5,
    level: Any = "auto",
    max_pairs: Any = 20_000,
    clip: Any = 0.01,
    memory: Any = True,
    random_state: RandomSource = None,
    verbose: Any = False,
) -> Comparison:
    """Compare models, numbers of clusters or parameters by held-out judgements.

    Parameters
    ----------
    models : dict of name to estimator, or list of estimators
        With `responsibilities_`, or with `predict_same` if `by` is "model"; in a Pipeline, the last step counts. They
        are cloned, never fitted themselves. A `random_state` that is None is set. With a `TagConsensus` among them,
        labels are tags.
    annotations : Groupings, Pairs, Labels, or a table or matrix of them
        A matrix is read as groupings; for labels of one vocabulary, use `Labels`. Each model gets a kind that it reads:
        the annotations as they are, or converted to pairs or groupings if that is possible.
    X : DataFrame or array, shape (n_items, n_features), optional
        For models that take features; a DataFrame is matched by the names in its index.
    by : {"clusters", "model", "forecast"}, default="clusters"
        How a judgement is predicted. "clusters": from whether the model's clusters put the two items together, and from
        how closely annotators follow these clusters, which is counted in the same way for all models; ranks
        clusterings. "model": from the model's own `predict_same`; this also scores its model of annotators, and a good
        clustering can lose to a worse one of a model that describes annotators better.
    n_folds : int, default=5
        Number of folds, and of fits of each model.
    level : {"auto", "groupings", "judgements", "tags"}, default="auto"
        The unit to hold out. "groupings": all groupings of some annotators, or whole groupings if there are fewer
        annotators than folds; measures how well new people are predicted. "judgements": some items of every
        annotator, some labels, or some judgements of pairs; every annotator stays known. "tags": likewise, of labels
        that are tags. All tags that an annotator gave an item are one set, two items are the same if they got the same
        tags, and models of classes see each set as a class. "auto": tags if a model reads them; groupings if most
        annotators gave several or there are at least 50 in total; else judgements.
    max_pairs : int, default=20_000
        Largest number of judgements to draw, with the share of "same" of all.
    clip : float, default=0.01
        Probabilities are clipped to [clip, 1 - clip].
    memory : bool, default=True
        Whether to measure memory in the first fold, which makes Python slower there.
    random_state : int, RandomState, Generator or None, default=None
        An int makes the result reproducible.
    verbose : bool, default=False
        Whether to show a progress bar: in a notebook, or in a terminal on standard error.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        A parameter is wrong, or the annotations cannot be divided. An error of a single model becomes a note instead.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from consilience.selection import compare
    >>> from consilience.consensus import SubsetFusion
    >>> from consilience.simulation import simulate_crowd
    >>> crowd = simulate_crowd(load_iris().target, items_each=60, random_state=0)
    >>> models = {f"{k} clusters": SubsetFusion(n_clusters=k, refine=False) for k in (2, 3, 5)}
    >>> compare(models, crowd, n_folds=2, random_state=0).chosen
    '3 clusters'
    """
    compared = [Candidate(name, model) for name, model in name_models(models).items()]
    if annotations is None:
        raise InputError("compare needs annotations. Got None.")
    if not isinstance(annotations, Groupings | Pairs | Labels):
        annotations = read_beside(annotations, X, "groupings", "compare", None)
    _check(by, n_folds, level, max_pairs, clip)
    tagger = next((found.name for found in compared if reads_tags(found.model)), None)
    if isinstance(annotations, Labels) and tagger is not None:
        if level not in ("auto", "tags"):
            raise InputError(
                f"The 'level' parameter of compare must be 'auto' or 'tags' with {tagger}, to which a tag that is held "
                f"out alone is an answer of no. Got {level!r} instead."
            )
        level = "tags"
    source = check_random_state(random_state)
    seeds = spawn_seeds(source, n_folds + 1)
    rng = np.random.default_rng(seeds[-1])
    held = hold_out(annotations, int(n_folds), level, int(max_pairs), rng, of_items=_numbers(X, annotations))
    baselines = {name: np.empty(len(held.fold)) for name in (CHANCE, CO_OCCURRENCE)}
    for candidate in compared:
        candidate.probability = np.full(len(held.fold), np.nan)
    with showing("compare", shown=bool(verbose)), counting("fits", n_folds * len(compared)) as fits:
        for fold in range(n_folds):
            kept = held.kept(fold)
            there = np.flatnonzero(held.fold == fold)
            baselines[CHANCE][there] = share_same(kept)
            baselines[CO_OCCURRENCE][there] = by_co_occurrence(held, kept, there)
            for candidate in compared:
                fits.say(candidate.name)
                if not candidate.failure:
                    candidate.run(held, kept, X, fold, seeds[fold], by=by, memory=memory and fold == 0)
                fits.update()
    return _comparison(held, compared, baselines, clip)


def _numbers(X: Any, annotations: Annotations) -> np.ndarray | None:
    """Return numeric features that identify items; None if there are none, or if rows and items differ."""
    if X is None:
        return None
    by_name = isinstance(X, pd.DataFrame) and annotations.named and X.index.is_unique
    rows = X.reindex(annotations.items) if by_name else X
    numbers = np.asarray(rows.select_dtypes("number") if isinstance(rows, pd.DataFrame) else rows)
    usable = numbers.ndim > 1 and numbers.dtype.kind in "biuf" and len(numbers) == annotations.n_items
    return numbers.reshape(len(numbers), -1) if usable else None


def share_same(annotations: Annotations) -> float:
    """Return the share of "same" among all judgements; one half if there are none."""
    if isinstance(annotations, Pairs):
        together, total = int(annotations.same.sum()), annotations.n_rows
    else:
        groupings: Any = annotations.to_groupings() if isinstance(annotations, Labels) else annotations
        group = groupings.incidence.indices
        sizes = np.bincount(group, minlength=groupings.n_groups)
        whole = np.bincount(groupings.grouping_of_group, sizes, groupings.n_groupings)
        together, total = int((sizes * (sizes - 1) // 2).sum()), int((whole * (whole - 1) / 2).sum())
    return together / total if total else 0.5


def standard_error(values: Float[np.ndarray, " judgements"], block: Int[np.ndarray, " judgements"]) -> float:
    """Return the error of the mean if the judgements of a block are dependent; NaN for a single block."""
    sums = np.bincount(block, values - values.mean())
    n = len(sums)
    return math.sqrt(n / (n - 1) * (sums**2).sum()) / len(values) if n > 1 else math.nan


def _comparison(held: HeldOut, compared: list[Candidate], baselines: dict[str, np.ndarray], clip: float) -> Comparison:
    """Return the losses and their table."""
    same = held.judgements.same
    scored = baselines | {e.name: e.probability for e in compared if not e.failure}
    loss = {name: log_losses(same, p, clip) for name, p in scored.items()}
    total = {name: same_log_loss(same, p, clip=clip) for name, p in scored.items()}
    # of equal ones, models come before baselines
    order = sorted(scored, key=lambda name: (total[name], name in baselines))
    rows = {}
    for name in order:
        right = np.where(scored[name] == 0.5, 0.5, (scored[name] > 0.5) == same)
        behind = loss[name] - loss[order[0]]
        row = [total[name], standard_error(loss[name], held.block), behind.mean(), standard_error(behind, held.block)]
        rows[name] = [*row, right.mean(), standard_error(right, held.block)]
    rows |= {candidate.name: [math.nan] * len(COLUMNS) for candidate in compared if candidate.failure}
    table = pd.DataFrame.from_dict(rows, orient="index", columns=COLUMNS).rename_axis("model")
    costs = {e.name: (np.mean(e.seconds) if e.seconds else math.nan, e.megabytes, e.note) for e in compared}
    costs[CHANCE] = (0.0, 0.0, "the share of 'same' in the annotations kept")
    costs[CO_OCCURRENCE] = (0.0, 0.0, "how often others put the two items together, smoothed")
    table["seconds"], table["megabytes"] = ([float(costs[name][i]) for name in table.index] for i in (0, 1))
    table["n_judgements"] = np.where(table["log_loss"].notna(), len(same), 0)
    table["note"] = [costs[name][2] for name in table.index]
    items = held.annotations.items
    return Comparison(
        table=table,
        best=_winner(loss, [name for name in order if name != CO_OCCURRENCE], held.block),
        chosen=next((name for name in order if name not in baselines), None),
        judgements=pd.DataFrame(
            {
                "item_a": items.take(held.judgements.item_a),
                "item_b": items.take(held.judgements.item_b),
                "annotator": held.annotations.annotators.take(held.annotator),
                "same": same,
                "fold": held.fold,
            }
        ),
        probabilities=pd.DataFrame({name: scored[name] for name in order}),
        level=held.level,
        n_folds=held.n_folds,
        n_possible=held.n_possible,
        blocks=held.blocks,
        n_blocks=int(held.block.max()) + 1,
    )


def _winner(loss: dict[str, np.ndarray], order: list[str], block: Int[np.ndarray, " judgements"]) -> str | None:
    """Return the first name if its lead over the second is clear."""
    if len(order) < 2:
        return None
    lead = loss[order[1]] - loss[order[0]]
    return order[0] if lead.mean() > CLEAR * standard_error(lead, block) else None


def _cells(name: str, row: pd.Series) -> list[str]:
    """Return a row of the table as text."""
    if math.isnan(row["log_loss"]):
        return [name, "-", "-", "-", "-", "-", row["note"]]
    pairs = [_with_error(row[mean], row[mean + "_se"]) for mean in ("log_loss", "difference", "accuracy")]
    if row["difference"] == 0:
        pairs[1] = "-"
    note = row["note"] if len(row["note"]) <= WIDEST else row["note"][: WIDEST - 1] + "…"
    return [name, *pairs, f"{row['seconds']:.2f}", f"{row['megabytes']:.1f}", note]


def _with_error(value: float, error: float) -> str:
    """Format a value and its standard error with three decimals, or more if the error is smaller."""
    decimals = 3 if not 0 < error < 0.0005 else min(1 - math.floor(math.log10(error)), 9)
    return f"{value:.{decimals}f} ± {error:.{decimals}f}"


def _check(by: Any, n_folds: Any, level: Any, max_pairs: Any, clip: Any) -> None:
    for name, value, expected, holds in (
        ("by", by, f"one of {', '.join(map(repr, WAYS))}", isinstance(by, str) and by in WAYS),
        ("n_folds", n_folds, "an int of at least 2", is_whole(n_folds, 2)),
        ("level", level, f"one of {', '.join(map(repr, LEVELS))}", isinstance(level, str) and level in LEVELS),
        ("max_pairs", max_pairs, "a positive int", is_whole(max_pairs, 1)),
        ("clip", clip, "a number above 0 and below 0.5", is_number(clip) and clip < 0.5),
    ):
        if not holds:
            raise InputError(f"The '{name}' parameter of compare must be {expected}. Got {value!r} instead.")
