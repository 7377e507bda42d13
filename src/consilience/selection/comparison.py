"""Comparing models without the truth, by what annotators say that the models were not told.

Part of what people said is held out, every model is fitted to the rest, and each held-out same/different judgement is
foreseen: from whether the model's clusters put the two items together, or by the model's own
`predict_same(item_a, item_b, annotator)` (`foreseeing`). All models meet the same folds and the same judgements.

| symbol | name in code | shape |
|---|---|---|
| y, whether the annotator put both into one group | same | (judgements,) |
| p, what the model expected | probability | (judgements, models) |
| −ln p or −ln (1 − p) | loss | (judgements, models) |

The mean loss is `metrics.same_log_loss`. A difference between two models is that of their losses on the same judgement.
The standard error of a mean over blocks c of dependent judgements, of which block c holds n_c that sum to s_c, is
sqrt(C / (C − 1) Σ_c (s_c − n_c mean)²) / Σ_c n_c.

Decided here
------------
What counts as dependent, and how judgements are drawn, is said in `held_out`.

The clusters foresee by default. Models differ in how they see people as much as in what they find, and who knows people
best need not have the best clusters: on digits the ranking by clusters agreed with the truth far more closely.

Nobody is believed beyond `clip`: a probability nearer than 1 % to 0 or 1 is moved there. A model whose clusters are
hard and that has no error rates would otherwise pay 36 nats for one slip, and the mean would tell how often that
happens and nothing else.

An annotator of whom nothing was kept is foreseen as `annotator=None`.

"chance" says for each judgement the share of "same" in what was kept. It is in every table: what is not better than
this has learned nothing. It can be first, but is never `chosen`.

A winner needs a lead over the second of more than two standard errors of the paired difference; else `best` is None.
`chosen` is the first model of the table in any case. Where many settings compete, the first is a little too
good: the more there are, the more luck helps one.

Seconds are the mean of `fit` over the folds but the first. In the first, memory is measured: the peak that Python and
NumPy allocate in it, by tracemalloc, which slows Python down; what C libraries and other processes take is not seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int

from consilience.annotations import Annotations, Groupings, Labels, Pairs
from consilience.annotations.display import table as as_html
from consilience.annotations.fit_arguments import read_beside
from consilience.annotations.types import AnnotationsLike, FeaturesLike, RandomSource
from consilience.errors import InputError
from consilience.estimators.parameters import is_number, is_whole
from consilience.inference.progress import counting, showing
from consilience.inference.randomness import check_random_state, spawn_seeds
from consilience.metrics.clusterings import same_log_loss
from consilience.selection.candidates import CHANCE, Entrant, named
from consilience.selection.folds import LEVELS, HeldOut, hold_out
from consilience.selection.prediction import WAYS

__all__ = ["Comparison", "compare"]


def __dir__() -> list[str]:
    return sorted(__all__)


CLEAR = 2.0  # standard errors of a lead
WIDEST = 90  # characters of a note in the printed table
HEAD = ["model", "log loss", "behind the first", "accuracy", "seconds", "MB", ""]
COLUMNS = ["log_loss", "log_loss_se", "difference", "difference_se", "accuracy", "accuracy_se"]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """How well models foresaw judgements that they were not told.

    Attributes
    ----------
    table : DataFrame, one row a model, the lowest log loss first
        ``log_loss`` and ``log_loss_se``, nats a judgement; ``difference`` to the first row and ``difference_se``, of
        the losses on the same judgements; ``accuracy``, the share of judgements foreseen by more than one half, and
        ``accuracy_se``; ``seconds`` a fit; ``megabytes``, the peak of a fit; ``n_judgements``; ``note``. A model that
        could not be fitted, or does not read these annotations, has no numbers and the reason as its note.
    best : str or None
        The first row, if its lead over the second is more than two standard errors of the difference. "chance" where
        guessing wins.
    chosen : str or None
        The first model of the table, "chance" left out. None if no model could be compared.
    judgements : DataFrame, one row a judgement
        item_a, item_b, annotator, same, and the fold in which it was hidden.
    probabilities : DataFrame, shape (n_judgements, n models with numbers)
        What each model expected.
    level : {"groupings", "judgements"}
        What was held out.
    n_folds : int
    n_possible : int
        Judgements from which these were drawn.
    blocks : str
        Over what the standard errors are taken: "annotators", "groupings" or "parts of groupings".
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
        how = "whole groupings" if self.level == "groupings" else "parts of what each annotator said"
        return f"{out} of {how}; standard errors over {self.n_blocks} {self.blocks}"

    def _rows(self) -> list[list[str]]:
        return [_cells(str(name), row) for name, row in self.table.iterrows()]

    @property
    def verdict(self) -> str:
        """Who wins, in a sentence."""
        scored = self.table.index[self.table["log_loss"].notna()]
        if self.chosen is None:
            return "No model could be compared."
        if scored[0] == CHANCE:
            return f"No model is better than chance; {self.chosen} comes nearest."
        if self.best is not None:
            return f"{self.best} is the best: its lead over {scored[1]} is more than two standard errors."
        return f"{self.chosen} is first, but {scored[1]} may be as good: the lead is within two standard errors."


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
    """Compare models, numbers of clusters or parameters by judgements that are held out.

    Parameters
    ----------
    models : dict of name to estimator, or list of estimators
        With `responsibilities_`, or with `predict_same` if `by` is "model"; the last step of a Pipeline counts. They
        are cloned, never fitted themselves. Where their `random_state` is None it is set.
    annotations : Groupings, Pairs, Labels, or a table or matrix of them
        A matrix is read as groupings; labels of one vocabulary are given as `Labels`. Models get the kind that they
        read: as it is, or as pairs or groupings where these can be made of it.
    X : DataFrame or array, shape (n_items, n_features), optional
        For models that take features; a DataFrame is matched by the names in its index.
    by : {"clusters", "model"}, default="clusters"
        From what a judgement is foreseen. "clusters": from whether the model's clusters put the two items together,
        and from how people kept to these clusters, which is counted in the same way for all models; ranks clusterings.
        "model": from the model's own `predict_same`; how well it knows people counts as well, and a good clustering
        can lose to a worse one by a model that knows people better.
    n_folds : int, default=5
        Each model is fitted so many times.
    level : {"auto", "groupings", "judgements"}, default="auto"
        What is held out at a time. "groupings": whole groupings; tells how well new ones are foreseen. "judgements":
        some items of every grouping, some labels, or some judgements of pairs; every annotator stays known. "auto":
        groupings where most annotators gave several or where there are 50 in all, else judgements.
    max_pairs : int, default=20_000
        At most so many judgements are drawn, "same" and "apart" as they fall.
    clip : float, default=0.01
        Probabilities are moved into [clip, 1 - clip].
    memory : bool, default=True
        Measure memory in the first fold, in which Python is then slower.
    random_state : int, RandomState, Generator or None, default=None
    verbose : bool, default=False
        Show a progress bar: in a notebook, or in a terminal on standard error.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        Wrong parameters, or annotations that cannot be divided. What stops a single model becomes a note instead.

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
    entrants = [Entrant(name, model) for name, model in named(models).items()]
    if annotations is None:
        raise InputError("compare needs annotations. Got None.")
    if not isinstance(annotations, Groupings | Pairs | Labels):
        annotations = read_beside(annotations, X, "groupings", "compare", None)
    _check(by, n_folds, level, max_pairs, clip)
    source = check_random_state(random_state)
    seeds = spawn_seeds(source, n_folds + 1)
    rng = np.random.default_rng(seeds[-1])
    held = hold_out(annotations, int(n_folds), level, int(max_pairs), rng, of_items=_numbers(X, annotations))
    chance = np.empty(len(held.fold))
    for entrant in entrants:
        entrant.probability = np.full(len(held.fold), np.nan)
    with showing("compare", shown=bool(verbose)), counting("fits", n_folds * len(entrants)) as fits:
        for fold in range(n_folds):
            kept = held.kept(fold)
            chance[held.fold == fold] = share_same(kept)
            for entrant in entrants:
                fits.say(entrant.name)
                if not entrant.failure:
                    entrant.run(held, kept, X, fold, seeds[fold], by=by, memory=memory and fold == 0)
                fits.update()
    return _comparison(held, entrants, chance, clip)


def _numbers(X: Any, annotations: Annotations) -> np.ndarray | None:
    """What features say in numbers of each item, to tell items apart; None if nothing, or if rows and items differ."""
    if X is None:
        return None
    by_name = isinstance(X, pd.DataFrame) and annotations.named and X.index.is_unique
    rows = X.reindex(annotations.items) if by_name else X
    numbers = np.asarray(rows.select_dtypes("number") if isinstance(rows, pd.DataFrame) else rows)
    usable = numbers.ndim > 1 and numbers.dtype.kind in "biuf" and len(numbers) == annotations.n_items
    return numbers.reshape(len(numbers), -1) if usable else None


def share_same(annotations: Annotations) -> float:
    """Share of "same" among all judgements; one half where there are none."""
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
    """Error of the mean, where the judgements of a block are dependent; NaN for a single block."""
    sums = np.bincount(block, values - values.mean())
    n = len(sums)
    return math.sqrt(n / (n - 1) * (sums**2).sum()) / len(values) if n > 1 else math.nan


def _comparison(held: HeldOut, entrants: list[Entrant], chance: np.ndarray, clip: float) -> Comparison:
    """Losses, and the table of them."""
    same = held.judgements.same
    scored = {CHANCE: chance} | {e.name: e.probability for e in entrants if not e.failure}
    loss = {name: losses(same, p, clip) for name, p in scored.items()}
    total = {name: same_log_loss(same, p, clip=clip) for name, p in scored.items()}
    order = sorted(scored, key=lambda name: (total[name], name == CHANCE))
    rows = {}
    for name in order:
        right = np.where(scored[name] == 0.5, 0.5, (scored[name] > 0.5) == same)
        behind = loss[name] - loss[order[0]]
        row = [total[name], standard_error(loss[name], held.block), behind.mean(), standard_error(behind, held.block)]
        rows[name] = [*row, right.mean(), standard_error(right, held.block)]
    rows |= {entrant.name: [math.nan] * len(COLUMNS) for entrant in entrants if entrant.failure}
    table = pd.DataFrame.from_dict(rows, orient="index", columns=COLUMNS).rename_axis("model")
    costs = {e.name: (np.mean(e.seconds) if e.seconds else math.nan, e.megabytes, e.note) for e in entrants}
    costs[CHANCE] = (0.0, 0.0, "the share of 'same' in what was kept")
    table["seconds"], table["megabytes"] = ([float(costs[name][i]) for name in table.index] for i in (0, 1))
    table["n_judgements"] = np.where(table["log_loss"].notna(), len(same), 0)
    table["note"] = [costs[name][2] for name in table.index]
    items = held.annotations.items
    return Comparison(
        table=table,
        best=_winner(table),
        chosen=next((name for name in order if name != CHANCE), None),
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


def losses(
    same: Bool[np.ndarray, " judgements"], probability: Float[np.ndarray, " judgements"], clip: float
) -> Float[np.ndarray, " judgements"]:
    """Loss of each judgement; their mean is `metrics.same_log_loss`."""
    p = np.clip(probability, clip, 1 - clip)
    return -np.log(np.where(same, p, 1 - p))


def _winner(table: pd.DataFrame) -> str | None:
    """Name of the first row, if its lead over the second is clear."""
    if table["log_loss"].notna().sum() < 2:
        return None
    second = table.iloc[1]
    return str(table.index[0]) if second["difference"] > CLEAR * second["difference_se"] else None


def _cells(name: str, row: pd.Series) -> list[str]:
    """A row of the table, as text."""
    if math.isnan(row["log_loss"]):
        return [name, "-", "-", "-", "-", "-", row["note"]]
    pairs = [_with_error(row[mean], row[mean + "_se"]) for mean in ("log_loss", "difference", "accuracy")]
    if row["difference"] == 0:
        pairs[1] = "-"
    note = row["note"] if len(row["note"]) <= WIDEST else row["note"][: WIDEST - 1] + "…"
    return [name, *pairs, f"{row['seconds']:.2f}", f"{row['megabytes']:.1f}", note]


def _with_error(value: float, error: float) -> str:
    """A value and its standard error, to three decimals, or to as many as show an error that is smaller."""
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
