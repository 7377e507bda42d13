"""What a report says of a fusion of groupings: how the items lie, how many clusters there are, who sorts otherwise."""

from __future__ import annotations

from typing import Any, cast

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as MatplotlibFigure

from consilience.errors import InputError
from consilience.inspection.names import counted, listed, name_text
from consilience.inspection.plots.co_occurrence import ordered_items, plot_co_occurrence, plot_dendrogram
from consilience.inspection.plots.dissimilarity import Evidence
from consilience.inspection.plots.fusion import plot_item_map, plot_silhouette_curve, plot_stability
from consilience.inspection.plots.matrix import MOST_NAMED
from consilience.inspection.plots.point_labels import n_named
from consilience.inspection.plots.style import Sheet
from consilience.inspection.report import fusion_tables
from consilience.inspection.report.subject import Figure, Section, Subject
from consilience.inspection.report.tables import Download, download, number

READABLE_CURVE = 340  # that a curve needs
GIVEN = "what was said and the other items' clusters, so that many groupings of an item make it all but certain"
OUTLIERS = 5  # names in the findings
READABLE = 720  # CSS pixels that names of items need
MOST_LEAVES = 80  # items that a dendrogram shows


def in_short(subject: Subject) -> list[str]:
    """How clear the clusters are, who stands out, and what the evidence does not allow to say."""
    estimator, frame = subject.estimator, subject.annotators
    findings = []
    if estimator.n_clusters_ > 1:
        findings.append(
            f"The silhouette of the clusters is {number(estimator.silhouette_)}: 1 would be as clear as can be, 0 none."
        )
    odd = frame[frame["remark"] != ""][::-1]
    if len(odd):
        names = [f"{name_text(name)} ({remark.partition(':')[0]})" for name, remark in odd["remark"].items()]
        left = len(names) - OUTLIERS
        shown = names if left <= 0 else [*names[:OUTLIERS], f"{left:,} more"]
        verb = "stands" if len(odd) == 1 else "stand"
        findings.append(f"{len(odd):,} of {counted(len(frame), 'annotator')} {verb} out: {listed(shown)}.")
    return [*findings, *estimator.notes_]


def names_section(subject: Subject) -> Section | None:
    """What people call the clusters; None where groups have no names that several use."""
    table = fusion_tables.names_table(subject.names, subject.answer)
    return None if table is None else Section("names", "What people call the clusters", [], [table])


def evidence_section(subject: Subject) -> Section | None:
    """How the items lie to each other: map, matrix and tree; None where no item of a cluster is in a grouping."""
    try:
        evidence = Evidence.of(*_said(subject), "The report")
    except InputError:  # nothing was said of the items that have a cluster
        return None
    n_items, n_clusters = len(evidence.places), len(subject.answer.names)
    drawn_by_features = subject.features is not None  # else the items are in the plane above by what was said
    blocks = [_map(subject, n_items)] if subject.can.fuses or drawn_by_features else []
    blocks.append(_co_occurrence(subject, evidence, n_items))
    if n_items > MOST_NAMED and n_clusters > 1:
        blocks.append(_of_clusters(subject))
    if (n_items if n_items <= MOST_LEAVES else n_clusters) > 1:
        blocks.append(_tree(subject, n_items))
    return Section("evidence", "What belongs together", [], blocks)


def _said(subject: Subject) -> tuple[Any, Any]:
    """Model and what plots of the evidence need beside it."""
    return subject.model, None if subject.can.fuses else subject.annotations


def number_section(subject: Subject) -> Section:
    """How the number of clusters was found, and how stable they are if that is known."""
    estimator = subject.estimator
    curve, number_used = estimator.n_clusters_curve_, counted(int(estimator.n_clusters_), "cluster")
    blocks, sentences = [], []
    if len(curve) > 1:
        caption = (
            "How clear the clusters are for each number of them, by the silhouette in what was said; in the ring what "
            f"is in use, {number_used}."
        )
        file = download("silhouette.csv", curve.round(4), "n_clusters")
        ax = plot_silhouette_curve(estimator, ax=Sheet())
        blocks.append(_figure("silhouette", ax, "Line plot. " + caption, caption, file, readable=READABLE_CURVE))
    else:
        found = isinstance(estimator.n_clusters, str)
        why = "the groupings leave no doubt about it" if found else "their number was given"
        sentences.append(f"{number_used.capitalize()}: no other number was considered, since {why}.")
    heading = "How many clusters"
    if subject.stability is not None:
        caption = (
            "How far the clusters of a growing number of groupings agree, by normalised mutual information (1: the "
            "same clusters). Where it levels off near 1, more groupings would change little."
        )
        file = download("stability.csv", subject.stability.round(4))
        ax = plot_stability(subject.stability, ax=Sheet())
        blocks.append(_figure("stability", ax, "Line plot. " + caption, caption, file, readable=READABLE_CURVE))
        heading += ", and how stable they are"
    return Section("number", heading, sentences, blocks)


def _map(subject: Subject, n_items: int) -> Figure:
    ax = plot_item_map(*_said(subject), ax=Sheet())
    scaled = ax.get_xlabel().startswith("dimension")
    caption = (
        "The items in the plane, the closer the more often those who saw both put them together (classical scaling; "
        "each axis tells its share of the variance)."
        if scaled
        else "The items by the two directions in which the coordinates vary most that the clusters were found in. Most "
        "pairs were never shown together, and then chains of groupings say how close two items are."
    )
    caption += " A colour and a shape for each cluster."
    if 0 < n_named(ax) < n_items:
        caption += " Items are named where there is room."
    return _figure("map", ax, "Scatter plot. " + caption, caption)


def _co_occurrence(subject: Subject, evidence: Evidence, n_items: int) -> Figure:
    ax = plot_co_occurrence(*_said(subject), ax=Sheet())
    n_drawn = len(ax.images[0].get_array())  # type: ignore[arg-type]
    caption = (
        "How often two items were put together, of the times they were shown together: the darker, the more often. "
        "Frames are the clusters."
    )
    if n_drawn < n_items:
        caption += f" Drawn are {n_drawn:,} of {n_items:,} items, chosen at random."
    file = None
    if n_drawn == n_items:
        order = ordered_items(evidence, n_items)
        names = evidence.items[order]
        file = download("co-occurrence.csv", pd.DataFrame(evidence.shares(order), names, names).round(4), "item")
    return _figure("co-occurrence", ax, f"Heat map of {n_drawn:,} items. {caption}", caption, file)


def _of_clusters(subject: Subject) -> Figure:
    ax = plot_co_occurrence(*_said(subject), by_cluster=True, ax=Sheet())
    caption = (
        "The same for clusters: the share over all pairs of items of two clusters, or of one along the diagonal, that "
        "were shown together."
    )
    return _figure("cluster-shares", ax, f"Heat map of {len(subject.answer.names)} clusters. {caption}", caption)


def _tree(subject: Subject, n_items: int) -> Figure:
    ax = plot_dendrogram(*_said(subject), max_items=MOST_LEAVES, ax=Sheet())
    what = "items" if n_items <= MOST_LEAVES else "clusters"
    caption = (
        f"The hierarchy of the {what} (average linkage): branches that meet far to the left were put together nearly "
        "always."
    )
    if what == "items":
        caption += (
            " Coloured branches hold items of one cluster, grey ones of several. The tree was not used to find the "
            "clusters, so that it may cut across them: marks are the clusters, also where an item lies in a branch of "
            "another."
        )
    return _figure("dendrogram", ax, f"Dendrogram of the {what}. {caption}", caption)


def _figure(
    key: str, ax: Axes, description: str, caption: str, file: Download | None = None, *, readable: int = READABLE
) -> Figure:
    return Figure.of(key, cast(MatplotlibFigure, ax.figure), description, caption, file, readable=readable)
