"""How far people who did not sort see the clusters: how often they find the one item of four that does not belong.

Answers of one annotator are alike, and so are answers to one question. With y the answers (1 right, 0 wrong), m_c the
share right in cluster c, s_c = m_c (1 - m_c), and e = y - m_c, the correlation of answers by the same annotator is
estimated by moments,

    ρ = (Σ_g k_g / (k_g - 1) Σ T² - n / (n - 1) Σ e²) / Σ sqrt(s s'),

where T are the sums of e over the answers of an annotator, k_g is the number of annotators, and the last sum runs over
ordered pairs of different answers of the same annotator; in the same way for questions. The variance of a share is

    (Σ s + ρ_annotator Σ sqrt(s s') + ρ_question Σ sqrt(s s')) / n²,

and its interval that of Clopper & Pearson for as many independent answers as have this variance, as Korn & Graubard
(1998) propose for surveys, with Student's t in place of the normal quantile.

Decided here
------------
Few answers tell little about correlations: `IMAGINED` pairs with the correlation `USUAL` are added to each estimate,
weighted as pairs of answers of which half are right. For the share in a cluster, the correlation of an annotator's
answers is that within clusters, since people may know one cluster and not another; over all, that of all their answers.
An answer "cannot say" counts as a guess: right with probability 1/4.

References
----------
Korn & Graubard (1998). Confidence intervals for proportions with small expected number of positive counts estimated
from survey data. Survey Methodology 24.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.stats import beta, norm, t

from consilience.annotations.display import show_value
from consilience.annotations.names import plain
from consilience.errors import InputError
from consilience.metrics.odd_one_out_questions import N_SHOWN

__all__ = ["OddOneOut", "odd_one_out"]

CHANCE = 1 / N_SHOWN
USUAL = 0.1  # correlation that is assumed without answers
IMAGINED = 20.0  # pairs of answers with this correlation
LEAST_ANSWERS = 20  # to a pair of clusters that is listed
COUNTS = ["answers", "annotators", "questions", "cannot_say"]
SHARES = ["right", "right_low", "right_high"]
BEYOND = ["beyond_chance", "beyond_chance_low", "beyond_chance_high"]


@dataclass(frozen=True)
class OddOneOut:
    """How often people found the item that does not belong.

    All tables have the columns ``answers``, ``annotators``, ``questions`` and ``cannot_say``, which count; ``right``,
    the share of right answers; ``beyond_chance``, the same on a scale on which 0 is guessing and 1 always right; and
    both with ``_low`` and ``_high``, the interval. It is NaN with fewer than two annotators or two questions.

    Attributes
    ----------
    overall : Series
        Over all questions that were answered.
    clusters : DataFrame
        Indexed by the cluster of the three items.
    pairs : DataFrame
        Indexed by two clusters, whichever of them had three items; pairs with few answers are left out. A low share
        means that people do not tell the two clusters apart.
    annotators : DataFrame
        Indexed by annotator: ``answers``, ``cannot_say``, ``right``.
    level : float
        Of the intervals.
    """

    overall: pd.Series
    clusters: pd.DataFrame
    pairs: pd.DataFrame
    annotators: pd.DataFrame = field(repr=False)
    level: float = 0.95


def odd_one_out(questions: Any, answers: Any, *, level: float = 0.95, least_answers: int = LEAST_ANSWERS) -> OddOneOut:
    """Return how often people found the item that does not belong: over all, by cluster, and by pair of clusters.

    Parameters
    ----------
    questions : DataFrame
        From `odd_one_out_questions`, or with its columns ``odd``, ``cluster`` and ``odd_cluster``, indexed by question.
    answers : DataFrame
        One row an answer, with the columns ``question``; ``annotator``; and ``answer``, the position of the item that
        was chosen, from 1 to 4. It is missing if somebody could not say, which counts as a guess.
    level : float, default=0.95
        Of the intervals.
    least_answers : int, default=20
        Answers that a pair of clusters needs to be listed.

    Returns
    -------
    OddOneOut
        The intervals are for other people and other questions about the same clusters.

    Raises
    ------
    InputError
        A column is missing, an answer is none of 1 to 4 or about no question, or somebody answered a question twice.

    See Also
    --------
    odd_one_out_questions : Questions with known answers.

    Examples
    --------
    >>> import pandas as pd
    >>> from consilience.metrics import odd_one_out, odd_one_out_questions
    >>> questions = odd_one_out_questions([0] * 5 + [1] * 5, 10, random_state=0)
    >>> answers = pd.DataFrame(
    ...     [(number, who, odd) for who in ("Ann", "Bo", "Cy") for number, odd in questions["odd"].items()],
    ...     columns=["question", "annotator", "answer"],
    ... )
    >>> answers.loc[:2, "answer"] = None  # Ann could not say
    >>> odd_one_out(questions, answers).overall[["answers", "cannot_say", "right", "beyond_chance"]].tolist()
    [30.0, 3.0, 0.925, 0.9]
    """
    if not 0 < level < 1:
        raise InputError(f"'level' must be a number between 0 and 1. Got {show_value(level)} instead.")
    table = _score_answers(questions, answers)
    by_annotator = table.groupby("annotator", sort=False)
    annotators = pd.DataFrame(
        {
            "answers": by_annotator.size(),
            "cannot_say": by_annotator["unsure"].sum(),
            "right": by_annotator["score"].mean(),
        }
    )
    if table.empty:
        nothing = pd.Series(np.nan, index=SHARES + BEYOND)
        empty = pd.DataFrame(columns=COUNTS + SHARES + BEYOND, dtype=float)
        overall = pd.concat([pd.Series(0.0, index=COUNTS), nothing])
        return OddOneOut(overall, empty.rename_axis(index="cluster"), empty, annotators, level)
    within, across = _correlations(table), _correlations(table, all_clusters=True)
    clusters = {name: _row(part, within, level) for name, part in table.groupby("cluster", sort=True)}
    pairs = {
        name: _row(part, within, level)
        for name, part in table.groupby(["first", "second"], sort=True)
        if len(part) >= least_answers
    }
    return OddOneOut(
        _row(table, across, level),
        _frame_rows(clusters, ["cluster"]),
        _frame_rows(pairs, ["first", "second"]),
        annotators,
        level,
    )


@dataclass(frozen=True)
class _Correlations:
    """Correlation of two answers of one annotator, and of two answers to one question."""

    annotator: float
    question: float


def _score_answers(questions: Any, answers: Any) -> pd.DataFrame:
    """Return one row per answer: annotator and question, cluster, the two clusters in order, score, whether unsure."""
    _require_columns(questions, "questions", ["odd", "cluster", "odd_cluster"])
    _require_columns(answers, "answers", ["question", "annotator", "answer"])
    if not questions.index.is_unique:
        raise InputError("The index of 'questions' must name each question once.")
    unknown = ~answers["question"].isin(questions.index)
    if unknown.any():
        raise InputError(f"'answers' are about a question that is not in 'questions': {_first(answers, unknown)}.")
    chosen = pd.to_numeric(answers["answer"], errors="coerce")
    unsure = answers["answer"].isna().to_numpy()
    wrong = ~(chosen.isin(range(1, N_SHOWN + 1)).to_numpy() | unsure)
    if wrong.any():
        raise InputError(
            f"An answer must be a position from 1 to 4, or missing. Got {_first(answers, wrong, 'answer')}."
        )
    twice = answers.duplicated(["question", "annotator"])
    if twice.any():
        raise InputError(
            f"Annotator {_first(answers, twice, 'annotator')} answered question {_first(answers, twice)} twice."
        )
    asked = questions.loc[answers["question"]]
    right = asked["odd"].to_numpy() == chosen.to_numpy()
    return pd.DataFrame(
        {
            "annotator": answers["annotator"].to_numpy(),
            "question": answers["question"].to_numpy(),
            "cluster": asked["cluster"].to_numpy(),
            "score": np.where(unsure, CHANCE, right),
            "unsure": unsure,
        }
    ).assign(**_in_order(asked))


def _in_order(asked: pd.DataFrame) -> dict[str, np.ndarray]:
    """Return the two clusters of each question, in an order that does not tell which had three items."""
    one, other = asked["cluster"].to_numpy(), asked["odd_cluster"].to_numpy()
    try:
        swapped = np.asarray(one > other, dtype=bool)
    except TypeError:  # names of several types
        swapped = one.astype(str) > other.astype(str)
    return {"first": np.where(swapped, other, one), "second": np.where(swapped, one, other)}


def _require_columns(table: Any, name: str, columns: list[str]) -> None:
    if not isinstance(table, pd.DataFrame):
        raise InputError(f"'{name}' must be a DataFrame. Got {type(table).__name__} instead.")
    missing = [column for column in columns if column not in table]
    if missing:
        raise InputError(f"'{name}' has no column {missing[0]!r}; it needs {', '.join(columns)}.")


def _first(answers: pd.DataFrame, wrong: Any, column: str = "question") -> str:
    return show_value(plain(answers[column].iloc[int(np.asarray(wrong).argmax())]))


def _correlations(table: pd.DataFrame, *, all_clusters: bool = False) -> _Correlations:
    """Estimate correlations within clusters; `all_clusters` takes those of an annotator over all clusters."""
    mean = table.groupby("cluster")["score"].transform("mean").to_numpy()
    error, scale = table["score"].to_numpy() - mean, np.sqrt(mean * (1 - mean))
    cluster = pd.factorize(table["cluster"])[0]
    everywhere = np.zeros_like(cluster) if all_clusters else cluster
    return _Correlations(
        _correlation(error, scale, pd.factorize(table["annotator"])[0], everywhere),
        _correlation(error, scale, pd.factorize(table["question"])[0], cluster),
    )


def _correlation(
    error: Float[np.ndarray, " answers"],
    scale: Float[np.ndarray, " answers"],
    unit: Int[np.ndarray, " answers"],
    stratum: Int[np.ndarray, " answers"],
) -> float:
    """Return the correlation of two answers of the same unit in the same stratum."""
    products = pairs = 0.0
    for number in np.unique(stratum):
        mine = stratum == number
        units = np.unique(unit[mine], return_inverse=True)[1]
        n_units, n = int(units.max()) + 1, int(mine.sum())
        if n_units > 1:
            sums = np.bincount(units, error[mine])
            products += n_units / (n_units - 1) * float(sums @ sums) - n / (n - 1) * float(error[mine] @ error[mine])
            pairs += _pairs(scale[mine], units)
    imagined = IMAGINED / 4  # in units of p (1 − p), which is at most 1/4
    return float(np.clip((products + imagined * USUAL) / (pairs + imagined), 0, 1))


def _pairs(scale: Float[np.ndarray, " answers"], units: Int[np.ndarray, " answers"]) -> float:
    """Sum the products of the scales over ordered pairs of different answers of the same unit."""
    sums = np.bincount(units, scale)
    return max(float(sums @ sums - scale @ scale), 0.0)


def _row(part: pd.DataFrame, correlations: _Correlations, level: float) -> pd.Series:
    """Return the counts, the share and its interval of some answers."""
    share = float(part["score"].mean())
    counts = [len(part), part["annotator"].nunique(), part["question"].nunique(), int(part["unsure"].sum())]
    shares = np.array([share, *_interval(part, share, correlations, level)])
    return pd.Series([*counts, *shares, *((shares - CHANCE) / (1 - CHANCE))], COUNTS + SHARES + BEYOND, dtype=float)


def _interval(part: pd.DataFrame, share: float, correlations: _Correlations, level: float) -> tuple[float, float]:
    """Return the interval of Korn and Graubard."""
    n, units = len(part), [pd.factorize(part[name])[0] for name in ("annotator", "question")]
    n_units = [int(codes.max()) + 1 for codes in units]
    if min(n_units) < 2:
        return np.nan, np.nan
    mean = part.groupby("cluster")["score"].transform("mean").to_numpy()
    varies = 0 < share < 1 and bool((mean * (1 - mean)).any())
    scale = np.sqrt(mean * (1 - mean)) if varies else np.full(n, 0.5)
    own = float(scale @ scale)
    shared = [
        rho * _pairs(scale, codes)
        for rho, codes in zip((correlations.annotator, correlations.question), units, strict=True)
    ]
    variance = own + sum(shared)
    independent = min(n * (n * (share * (1 - share) if varies else 0.25) / variance), n)
    parts = [(own, n - 1), *zip(shared, (size - 1 for size in n_units), strict=True)]
    freedom = variance**2 / sum(value**2 / size for value, size in parts)
    tail = (1 - level) / 2
    independent *= (norm.ppf(tail) / t.ppf(tail, freedom)) ** 2
    right, wrong = share * independent, (1 - share) * independent
    low = 0.0 if right == 0 else float(beta.ppf(tail, right, wrong + 1))  # beta.ppf is NaN at a parameter of 0
    high = 1.0 if wrong == 0 else float(beta.ppf(1 - tail, right + 1, wrong))
    return low, high


def _frame_rows(rows: dict[Any, pd.Series], names: list[str]) -> pd.DataFrame:
    """Return rows as a table, with whole numbers where something is counted."""
    index = pd.MultiIndex.from_tuples(rows, names=names) if len(names) > 1 else pd.Index(list(rows), name=names[0])
    table = pd.DataFrame(list(rows.values()), columns=COUNTS + SHARES + BEYOND)
    return table.set_axis(index, axis=0).astype(dict.fromkeys(COUNTS, int))
