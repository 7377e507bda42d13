"""How often the 95 % intervals of `odd_one_out` contain the true share of right answers, on simulated judges.

``python -m benchmarks.odd_one_out`` prints the coverage over all answers and by cluster: the mean over 24 kinds of
studies, and the lowest and highest of the kinds. The method was chosen on even seeds; the default is odd ones.

A judge p is right about a question q of cluster c with probability 1/4 + 3/4 σ(a_c + u_p + w_pc + v_q), where u, w and
v are normal with standard deviations 0.8, 0.5 and 0.8; in half of the kinds, a fifth of the judges guess. The true
share is the expectation over judges and questions.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
from scipy.special import expit

from consilience.metrics import odd_one_out, odd_one_out_questions

SPREADS = (0.8, 0.5, 0.8)  # standard deviations of u, w and v
EASE = {"hard": (-2.0, 0.5), "middling": (-0.5, 2.0), "easy": (2.5, 4.5)}  # range of a_c
SIZES = {"even": (8, 8, 8, 8), "uneven": (20, 10, 5, 4, 3, 2)}


@dataclass(frozen=True)
class Kind:
    """A kind of study: `guessing` is the share of judges who guess."""

    n_judges: int
    ease: str
    sizes: str
    guessing: float
    each: int = 16  # questions a judge answers


def kinds() -> list[Kind]:
    """Return the kinds of studies."""
    return [Kind(*values) for values in product((8, 40), EASE, SIZES, (0.0, 0.2))]


def expected(ease: np.ndarray, guessing: float) -> np.ndarray:
    """Return the share right in each cluster, over all judges and questions."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    scale = np.sqrt(np.square(SPREADS).sum())
    seen = expit(ease[:, None] + scale * nodes) @ (weights / weights.sum())
    return 0.25 + 0.75 * (1 - guessing) * seen


def study(kind: Kind, seed: int) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray]:
    """Return questions, answers, and the true share of each cluster."""
    rng = np.random.default_rng([seed, kind.n_judges, list(EASE).index(kind.ease), len(kind.sizes), kind.guessing > 0])
    labels = np.repeat(np.arange(len(SIZES[kind.sizes])), SIZES[kind.sizes])
    questions = odd_one_out_questions(labels, 32, random_state=rng)
    ease = rng.uniform(*EASE[kind.ease], len(SIZES[kind.sizes]))
    of_judge, of_question = (
        rng.normal(0, spread, size)
        for spread, size in zip((SPREADS[0], SPREADS[2]), (kind.n_judges, len(questions)), strict=True)
    )
    of_both = rng.normal(0, SPREADS[1], (kind.n_judges, len(ease)))
    guess = rng.random(kind.n_judges) < kind.guessing
    clusters, odds = (questions[name].to_numpy(dtype=int) for name in ("cluster", "odd"))
    rows = []
    for judge in range(kind.n_judges):
        for number in rng.choice(len(questions), kind.each, replace=False):
            cluster = clusters[number]
            seen = expit(ease[cluster] + of_judge[judge] + of_both[judge, cluster] + of_question[number])
            right = rng.random() < (0.25 if guess[judge] else 0.25 + 0.75 * seen)
            rows.append((number, judge, odds[number] if right else odds[number] % 4 + 1))
    return questions, pd.DataFrame(rows, columns=["question", "annotator", "answer"]), expected(ease, kind.guessing)


def covered(kind: Kind, seed: int) -> tuple[float, float, float, float]:
    """Return whether the interval over all contains the truth, the share of clusters whose does, and both widths."""
    questions, answers, true = study(kind, seed)
    found = odd_one_out(questions, answers)
    table = found.clusters.dropna()
    over_all = true[questions.loc[answers["question"], "cluster"].to_numpy(dtype=int)].mean()
    inside = table["right_low"].le(true[table.index]) & table["right_high"].ge(true[table.index])
    whole = found.overall["right_low"] <= over_all <= found.overall["right_high"]
    width = found.overall["right_high"] - found.overall["right_low"]
    return float(whole), float(inside.mean()), float(width), float((table["right_high"] - table["right_low"]).mean())


def main() -> None:
    """Print the coverage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=10, help="of each kind")
    parser.add_argument("--first-seed", type=int, default=1, help="every second seed from here")
    options = parser.parse_args()
    seeds = range(options.first_seed, options.first_seed + 2 * options.draws, 2)
    found = {kind: np.mean([covered(kind, seed) for seed in seeds], axis=0) for kind in kinds()}
    sys.stdout.write(f"{len(found)} kinds of studies, {options.draws} draws each\n")
    for name, column in (("over all", 0), ("by cluster", 1)):
        values = np.array([value[column] for value in found.values()])
        width = np.mean([value[column + 2] for value in found.values()])
        line = f"{name}: coverage {values.mean():.2f} ({values.min():.2f} to {values.max():.2f}), width {width:.2f}"
        sys.stdout.write(line + "\n")
    for judges in (8, 40):
        rows = np.mean([value for kind, value in found.items() if kind.n_judges == judges], axis=0)
        sys.stdout.write(f"{judges:2d} judges: over all {rows[0]:.2f}, by cluster {rows[1]:.2f}\n")


if __name__ == "__main__":
    main()
