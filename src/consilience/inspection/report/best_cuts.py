"""Would fewer clusters do, or more? Cuts of the tree of the items, compared by agreement and silhouette."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from consilience.annotations import Groupings
from consilience.errors import InputError
from consilience.inference.clusters import agreement_with
from consilience.inspection.names import counted, listed, name_text
from consilience.inspection.plots.dissimilarity import CoOccurrence
from consilience.inspection.report.cuts import Judge, Tree, matched_numbers
from consilience.inspection.report.explorer import FEWEST, MOST
from consilience.inspection.report.subject import Section, Subject
from consilience.inspection.report.tables import Cell, Column, Table, download, number, row
from consilience.inspection.words import current_words
from consilience.metrics.clusterings import ari

MOST_CLUSTERS, BEYOND = 12, 4  # clusters of the finest cut: 12, or 4 more than the report's
LITTLE = 0.02  # agreement below the best that makes no difference to a reader
NAMED = 8  # items that a cut puts elsewhere, in a sentence
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
    clusters : of each item in each cut
    """

    n_clusters: Int[np.ndarray, " cuts"]
    of_annotator: Float[np.ndarray, "cuts annotators"]
    silhouette: Float[np.ndarray, " cuts"]
    clusters: Int[np.ndarray, "cuts items"]

    @classmethod
    def of(cls, tree: Tree, judge: Judge, most: int) -> CutFigures:
        """Cut a tree into 2 to `most` clusters, as far as heights allow."""
        numbers = [k for k in tree.numbers_of_clusters(most) if k > 1]
        agreement, silhouette, clusters = [], [], []
        for k in numbers:
            cluster = np.empty(tree.n_leaves, dtype=int)
            cluster[tree.order] = tree.cut(k)
            agreement.append(agreement_with(judge.memberships, cluster))
            silhouette.append(judge.silhouette(cluster))
            clusters.append(cluster)
        shape = (len(numbers), judge.memberships.n_annotators)
        return cls(
            np.array(numbers, dtype=int),
            np.reshape(agreement, shape),
            np.array(silhouette, dtype=float),
            np.reshape(np.array(clusters, dtype=int), (len(numbers), tree.n_leaves)),
        )

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

    def like(self, codes: Int[np.ndarray, " items"]) -> Float[np.ndarray, " cuts"]:
        """Adjusted Rand index of each cut with given clusters."""
        return np.array([ari(codes, cluster) for cluster in self.clusters])

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
    own = Own(n_found, judge.agreement(codes), judge.silhouette(codes), codes, co_occurrence.items[places])
    return Section("cuts", "Fewer clusters, or more", sentences(found, own), [table(found, own)])


@dataclass(frozen=True)
class Own:
    """The report's own clusters, with which the cuts are compared.

    Attributes
    ----------
    n_clusters, agreement, silhouette : as of a cut
    codes : cluster of each item
    items : their names
    """

    n_clusters: int
    agreement: float
    silhouette: float
    codes: Int[np.ndarray, " items"]
    items: pd.Index


def compared(found: CutFigures, own: Own) -> list[str]:
    """Say how the cut into as many clusters as the report has differs from them; nothing if there is none."""
    cut = np.flatnonzero(found.n_clusters == own.n_clusters)
    if not len(cut):
        return []
    words, n = current_words(), counted(own.n_clusters, "cluster")
    codes = np.unique(own.codes, return_inverse=True)[1]
    cluster = found.clusters[int(cut[0])]
    elsewhere = np.flatnonzero(matched_numbers(cluster, codes, own.n_clusters)[cluster] != codes)
    if not len(elsewhere):
        return [f"The cut into {n} has the same {words.items} in each as the report's {n}."]
    names, left = [name_text(name) for name in own.items[elsewhere[:NAMED]]], len(elsewhere) - NAMED
    shown = listed([*names, f"{left:,} more"] if left > 0 else names)
    be = "is" if len(elsewhere) == 1 else "are"
    return [
        f"The report's {n} (of the model) and the cut into {n} (of the tree) are not the same: {shown} {be} elsewhere. "
        "All other sections are about the report's."
    ]


def sentences(found: CutFigures, own: Own) -> list[str]:
    """Answer whether fewer clusters, or more, would do."""
    n_found, agreement = own.n_clusters, own.agreement
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
    return [*answers, *compared(found, own)]


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


def _skipped(found: CutFigures) -> str:
    """Say why numbers of clusters are missing; empty if none is."""
    given = found.n_clusters.tolist()
    missing = [k for k in range(2, max(given)) if k not in given]
    if not missing:
        return ""
    return f" No cut leaves {_ranges(missing)} clusters, where several branches meet at the same height."


def table(found: CutFigures, own: Own) -> Table:
    """Return the table of the cuts, with the report's own clusters last."""
    rows = []
    below, error = found.shortfall()
    marks, like = found.marks(), found.like(own.codes)
    clearest = int(np.nanargmax(found.silhouette)) if np.isfinite(found.silhouette).any() else -1
    for cut, k in enumerate(found.n_clusters.tolist()):
        tone = "low" if marks[cut] else ""
        less = number(0.0, 3) if marks[cut] == BEST else f"{number(below[cut], 3)} ± {number(error[cut], 3)}"
        rows.append(
            row(
                f"{k} of the cut (tree)",
                Cell(number(found.agreement[cut]), tone=tone),
                less,
                Cell(number(found.silhouette[cut]), tone="low" if cut == clearest else ""),
                number(like[cut]),
                Cell(marks[cut]),
            )
        )
    report = f"{own.n_clusters} of the report (model)"
    rows.append(row(report, number(own.agreement), "–", number(own.silhouette), number(1.0), ""))
    frame = pd.DataFrame(
        {
            "n_clusters": found.n_clusters,
            "agreement": found.agreement,
            "below_best": below,
            "standard_error": error,
            "silhouette": found.silhouette,
            "like_report": like,
        }
    )
    return Table(
        "cuts",
        "The tree cut into fewer or more clusters",
        [
            Column("Clusters", "line"),
            Column("Agreement"),
            Column("Below the best"),
            Column("Silhouette"),
            Column("Like the report's"),
            Column("How good", "line"),
        ],
        rows,
        reading=(
            "Agreement: mean adjusted Rand index of the clusters with the groups of each person, 1 for the same groups "
            "and 0 for agreement by chance. Below the best: the mean difference to the best cut, with its standard "
            f"error over people; within {LITTLE:g} or one standard error, a cut is nearly as good. Silhouette: 1 for "
            "clusters that are perfectly clear, 0 for none. Like the report's: adjusted Rand index with the clusters "
            "that the model found, 1 for the same ones. Coloured are the best agreement, those that are nearly as "
            f"good, and the best silhouette.{_skipped(found)}"
        ),
        download=download("cuts.csv", frame.round(4)),
    )
