"""Would fewer clusters do, or more? Cuts of the tree of the items, compared by agreement and silhouette."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from consilience.annotations import Groupings
from consilience.errors import InputError
from consilience.inference.clusters import agreement_with
from consilience.inspection.names import counted, listed
from consilience.inspection.plots.dissimilarity import CoOccurrence
from consilience.inspection.report.cuts import Judge, Tree
from consilience.inspection.report.explorer import FEWEST, MOST
from consilience.inspection.report.subject import Section, Subject
from consilience.inspection.report.tables import Cell, Column, Table, download, number, row

MOST_CLUSTERS, BEYOND = 12, 4  # clusters of the finest cut: 12, or 4 more than the report's
LITTLE = 0.02  # agreement below the best that makes no difference to a reader
BEST = "best"
AS_GOOD = "nearly as good"


@dataclass(frozen=True)
class CutFigures:
    """Cuts of the tree into 2, 3, … clusters, and how well each fits the groups of each person.

    Attributes
    ----------
    n_clusters : of each cut
    of_annotator : adjusted Rand index of each cut with each person's groups; NaN if undefined.
    silhouette : of each cut
    """

    n_clusters: Int[np.ndarray, " cuts"]
    of_annotator: Float[np.ndarray, "cuts annotators"]
    silhouette: Float[np.ndarray, " cuts"]

    @classmethod
    def of(cls, tree: Tree, judge: Judge, most: int) -> CutFigures:
        """Cut a tree into 2 to `most` clusters, as far as heights allow."""
        numbers = [k for k in tree.numbers_of_clusters(most) if k > 1]
        agreement, silhouette = [], []
        for k in numbers:
            cluster = np.empty(tree.n_leaves, dtype=int)
            cluster[tree.order] = tree.cut(k)
            agreement.append(agreement_with(judge.memberships, cluster))
            silhouette.append(judge.silhouette(cluster))
        shape = (len(numbers), judge.memberships.n_annotators)
        return cls(np.array(numbers, dtype=int), np.reshape(agreement, shape), np.array(silhouette, dtype=float))

    @property
    def agreement(self) -> Float[np.ndarray, " cuts"]:
        """Mean over people of the agreement; NaN if nobody's is defined."""
        known = np.isfinite(self.of_annotator)
        total = np.where(known, self.of_annotator, 0.0).sum(1)
        return np.divide(total, known.sum(1), out=np.full(len(total), np.nan), where=known.any(1))

    def shortfall(self) -> tuple[Float[np.ndarray, " cuts"], Float[np.ndarray, " cuts"]]:
        """Return how far the agreement of each cut is below that of the best, and its standard error over people."""
        best = int(np.nanargmax(self.agreement))
        apart = self.of_annotator[best] - self.of_annotator
        known = np.isfinite(apart)
        n = np.maximum(known.sum(1), 1)
        mean = np.where(known, apart, 0.0).sum(1) / n
        variance = np.where(known, (apart - mean[:, None]) ** 2, 0.0).sum(1) / np.maximum(n - 1, 1)
        return mean, np.sqrt(variance / n)

    def marks(self) -> list[str]:
        """Say which cut agrees best with people, and which are within 0.02 or one standard error of it."""
        if not np.isfinite(self.agreement).any():
            return [""] * len(self.n_clusters)
        below, error = self.shortfall()
        best = int(np.nanargmax(self.agreement))
        near = np.isfinite(self.agreement) & (below <= np.maximum(error, LITTLE))
        return [BEST if cut == best else AS_GOOD if near[cut] else "" for cut in range(len(near))]


def section(subject: Subject) -> Section | None:
    """Return the section on cuts into fewer or more clusters; None if the items cannot be explored."""
    if not isinstance(subject.annotations, Groupings) or subject.clusters.is_named:
        return None
    try:
        co_occurrence = CoOccurrence.of(subject.model, None if subject.can.fuses else subject.annotations, "The report")
    except InputError:  # there are no annotations of the items that have a cluster
        return None
    places = co_occurrence.places
    if not FEWEST <= len(places) <= MOST:
        return None
    judge = Judge.of(co_occurrence.memberships.of_items(places))
    codes = subject.clusters.codes[places]
    n_found = len(np.unique(codes))
    found = CutFigures.of(Tree.of(co_occurrence.dissimilarities(places)), judge, max(MOST_CLUSTERS, n_found + BEYOND))
    if not np.isfinite(found.agreement).any():
        return None
    own = (n_found, judge.agreement(codes), judge.silhouette(codes))
    return Section("cuts", "Fewer clusters, or more", sentences(found, own), [table(found, own)])


def sentences(found: CutFigures, own: tuple[int, float, float]) -> list[str]:
    """Answer whether fewer clusters, or more, would do."""
    n_found, agreement, _ = own
    marks = found.marks()
    best = marks.index(BEST)
    k, most = int(found.n_clusters[best]), float(found.agreement[best])
    text = f"Cuts of the tree agree best with people's groups at {counted(k, 'cluster')} ({number(most)})"
    near = found.n_clusters[[mark == AS_GOOD for mark in marks]].tolist()
    answers = [f"{text}; every other number agrees clearly less."]
    if near:
        answers = [f"{text}; {_ranges(near)} would do nearly as well."]
    clearest = int(np.nanargmax(found.silhouette)) if np.isfinite(found.silhouette).any() else best
    if clearest != best:
        answers.append(
            f"By the silhouette, {counted(int(found.n_clusters[clearest]), 'cluster')} "
            f"are the clearest ({number(found.silhouette[clearest])})."
        )
    answers.append(
        f"The agreement of this report's {counted(n_found, 'cluster')}, which need not follow the tree, is "
        f"{number(agreement)}."
    )
    return answers


def _ranges(numbers: list[int]) -> str:
    """List numbers in a sentence, three or more in a row as a range."""
    texts, first = [], 0
    for place, number_ in enumerate(numbers):
        if place + 1 < len(numbers) and numbers[place + 1] == number_ + 1:
            continue
        run = numbers[first : place + 1]
        texts += [f"{run[0]} to {run[-1]}"] if len(run) > 2 else list(map(str, run))
        first = place + 1
    return listed(texts)


def table(found: CutFigures, own: tuple[int, float, float]) -> Table:
    """Return the table of the cuts, with the report's own clusters last."""
    rows = []
    below, error = found.shortfall()
    marks = found.marks()
    clearest = int(np.nanargmax(found.silhouette)) if np.isfinite(found.silhouette).any() else -1
    for cut, k in enumerate(found.n_clusters.tolist()):
        tone = "low" if marks[cut] else ""
        less = "" if marks[cut] == BEST else f"{number(below[cut], 3)} ± {number(error[cut], 3)}"
        rows.append(
            row(
                f"{k}",
                Cell(number(found.agreement[cut]), tone=tone),
                less,
                Cell(number(found.silhouette[cut]), tone="low" if cut == clearest else ""),
                Cell(marks[cut]),
            )
        )
    rows.append(row(f"{own[0]} (of this report)", number(own[1]), "", number(own[2]), ""))
    frame = pd.DataFrame(
        {
            "n_clusters": found.n_clusters,
            "agreement": found.agreement,
            "below_best": below,
            "standard_error": error,
            "silhouette": found.silhouette,
        }
    )
    return Table(
        "cuts",
        "The tree cut into fewer or more clusters",
        [
            Column("Clusters"),
            Column("Agreement"),
            Column("Below the best"),
            Column("Silhouette"),
            Column("How good", "line"),
        ],
        rows,
        reading=(
            "Agreement: mean adjusted Rand index of the clusters with the groups of each person, 1 for the same groups "
            "and 0 for agreement by chance. Below the best: the mean difference to the best cut, with its standard "
            f"error over people; within {LITTLE:g} or one standard error, a cut is nearly as good. Silhouette: 1 for "
            "clusters that are perfectly clear, 0 for none. The best are coloured."
        ),
        download=download("cuts.csv", frame.round(4)),
    )
