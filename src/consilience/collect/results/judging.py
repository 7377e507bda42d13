"""How far judges see the clusters: shares of right answers with their intervals, a drawing, and who guesses."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pandas as pd
from markupsafe import Markup
from scipy.stats import binom

from consilience.collect.results.exporting import ONE_AT_A_TIME
from consilience.collect.settings.model import Study
from consilience.collect.store import Store
from consilience.collect.store.judging import N_SHOWN, Judging
from consilience.metrics import OddOneOut, odd_one_out

LEVEL = 0.05  # at which a judge is worse than the others, and not better than chance
LONGEST_IN_DRAWING = 36  # characters of the name of a cluster


@dataclass(frozen=True)
class Judge:
    """Somebody who answered.

    right : share of right answers; those who could not say count as a quarter.
    seconds : median time of an answer.
    guesses : whether they are no better than chance, and worse than the others; see `results_of`.
    """

    id: str
    answers: int
    cannot_say: int
    right: float
    seconds: float
    guesses: bool


@dataclass(frozen=True)
class JudgingResults:
    """What is known of the clusters.

    progress : see `Store.judging_progress`.
    found : its clusters are called by their names.
    judges : in the order of their first answers.
    """

    judging: Judging
    progress: dict[str, int]
    found: OddOneOut
    judges: list[Judge]

    def as_json(self) -> dict[str, Any]:
        """Return the results as JSON values, with None where there is no interval."""
        return {
            "source": self.judging.source,
            "progress": self.progress,
            "level": self.found.level,
            "overall": _rows(self.found.overall.to_frame().T)[0],
            "clusters": _rows(self.found.clusters.reset_index()),
            "pairs": _rows(self.found.pairs.reset_index()) if len(self.found.pairs) else [],
            "judges": [vars(one) for one in self.judges],
        }


def results_of(store: Store, study: Study) -> JudgingResults:
    """Return the results of a judging study, without previews and people who are left out.

    A judge *guesses* if a judge who is right as often as the others would have so few right answers with a probability
    below 5 %, and somebody who guesses would have as many with one above 5 %.

    Raises NotFoundError: it is no judging study.
    """
    table = store.answers_frame(study.id, identifiers=False)
    table = table[~table["preview"] & ~table["excluded"]]
    judging = store.judging(study.id)
    names = [one.name for one in judging.clusters]
    questions = pd.DataFrame(
        [
            (one.number, one.items.index(one.odd) + 1, names[one.cluster], names[one.odd_cluster])
            for one in store.odd_questions(study.id)
        ],
        columns=["question", "odd", "cluster", "odd_cluster"],
    ).set_index("question")
    found = odd_one_out(questions, table)
    return JudgingResults(judging, store.judging_progress(study.id), found, _judges(table, found))


def drawing_of(results: JudgingResults) -> Markup | None:
    """Return the shares right by cluster as a drawing for a page, None if nobody has answered."""
    from matplotlib.figure import Figure

    from consilience.inspection import plot_odd_one_out
    from consilience.inspection.plots.style import plain_text
    from consilience.inspection.report.svg import inline_svg

    found = results.found
    if found.clusters.empty:
        return None
    long = LONGEST_IN_DRAWING
    short = {name: name if len(name) <= long else f"{name[: long - 1]}…" for name in found.clusters.index}
    with ONE_AT_A_TIME, plain_text():  # the settings of matplotlib are those of the process
        figure = Figure(figsize=(5.2, 1.2 + 0.3 * (len(short) + 1)), layout="constrained")
        plot_odd_one_out(found, names=short, ax=figure)
        return inline_svg(figure, "judged", "Share of right answers over all and by cluster, as in the table")


def _judges(table: pd.DataFrame, found: OddOneOut) -> list[Judge]:
    right = (table["answer"] == table["odd"]).fillna(False).astype(bool)
    known = pd.DataFrame(
        {"judge": table["annotator"], "right": right, "said": table["answer"].notna(), "seconds": table["seconds"]}
    )
    totals, share = known[["right", "said"]].sum(), found.annotators["right"].to_dict()
    judges = []
    for person, mine in known.groupby("judge", sort=False):
        n_said, n_right = int(mine["said"].sum()), int(mine["right"].sum())
        others = (int(totals["right"]) - n_right, int(totals["said"]) - n_said)
        judges.append(
            Judge(
                str(person),
                len(mine),
                len(mine) - n_said,
                float(share[person]),
                float(mine["seconds"].median()),
                guesses(n_right, n_said, *others),
            )
        )
    return judges


def guesses(n_right: int, n_said: int, n_right_of_others: int, n_said_of_others: int) -> bool:
    """Whether somebody's right answers are as few as those of who guesses, and too few for one of the others.

    Examples
    --------
    >>> guesses(3, 12, 90, 100), guesses(9, 12, 90, 100), guesses(3, 12, 30, 100)
    (True, False, False)
    """
    if n_said == 0 or n_said_of_others == 0:
        return False
    chance, others = 1 / N_SHOWN, n_right_of_others / n_said_of_others
    return bool(binom.cdf(n_right, n_said, others) < LEVEL < binom.sf(n_right - 1, n_said, chance))


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(table.to_json(orient="records", double_precision=6))
    return rows
