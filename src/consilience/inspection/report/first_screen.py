"""The first screen of a report, for notebooks: the answer, what makes it doubtful, clusters as lists, the picture."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from consilience.analysis.capabilities import Capabilities
from consilience.analysis.findings import Findings, findings
from consilience.analysis.words import use_words
from consilience.inspection.plots.style import plain_text
from consilience.inspection.report import answer
from consilience.inspection.report.cluster_sections import plane_figure
from consilience.inspection.report.findings_in_short import default_title
from consilience.inspection.report.fusion_sections import MOST_LEAVES, map_figure, tree_figure
from consilience.inspection.report.page import environment
from consilience.inspection.report.subject import ClusterLists, Figure, Subject

MOST_CLUSTERS, MOST_ITEMS = 12, 15  # clusters, and items of each, that are listed
MOST_DRAWN = 300  # items of a map or plane
LARGEST = 250_000  # bytes of a picture
MOST_CELLS = 200_000  # items × groupings


def first_screen_of(shown: Any) -> str:
    """Return `first_screen` of findings, or of a fitted model that keeps its annotations if these are not large.

    Empty otherwise. What another group of people would repeat takes seconds, and is not computed for a model alone.
    """
    if not isinstance(shown, Findings):
        kept = Capabilities.of(shown).groupings
        if kept is None or kept.n_items * kept.n_groupings > MOST_CELLS:
            return ""
        shown = findings(shown, certainty=None)
    return first_screen(shown)


def first_screen(found: Findings) -> str:
    """Return the first screen as HTML without styles of its own and without scripts, of at most some 300 kB."""
    subject = Subject.of(found)
    with plain_text(), use_words(subject.words):
        page: str = (
            environment()
            .get_template("first_screen.html.j2")
            .render(
                title=default_title(subject),
                lead=answer.lead(subject),
                cautions=answer.cautions(subject) if subject.certainty is not None else [],
                lists=_cut(answer.lists(subject)),
                picture=_picture(subject),
            )
        )
    return page


def _cut(lists: ClusterLists) -> ClusterLists:
    """Shorten long lists, and leave out the smallest of many clusters."""
    shown = [
        replace(each, items=each.items[:MOST_ITEMS], more="…" if len(each.items) > MOST_ITEMS or each.more else "")
        for each in lists.clusters[:MOST_CLUSTERS]
    ]
    left = len(lists.clusters) - len(shown)
    return ClusterLists(shown, f"{left:,} more." if left > 0 else "")


def _picture(subject: Subject) -> Figure | None:
    """Draw the tree, of many items the map, or the plane of features; None where that would be large."""
    n_items, co_occurrence = len(subject.items), subject.co_occurrence
    drawn = None
    if subject.features is not None and n_items <= MOST_DRAWN:
        drawn = plane_figure(subject)
    elif co_occurrence is not None and subject.groups and not subject.clusters.is_named:
        n_seen = len(co_occurrence.places)
        if 1 < n_seen <= MOST_LEAVES:
            drawn = tree_figure(subject, co_occurrence, n_seen)
        elif MOST_LEAVES < n_seen <= MOST_DRAWN:
            drawn = map_figure(subject, co_occurrence, n_seen)
    if drawn is None or len(drawn.drawing) > LARGEST:
        return None
    return replace(drawn, drawing=_fit_into_cell(drawn))


def _fit_into_cell(drawn: Figure) -> Markup:
    """Let a drawing shrink with the cell, and give it ids that no other drawing of the notebook has."""
    text = str(drawn.drawing)
    own = f"{drawn.key}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
    for before in ('"', "#"):
        text = text.replace(f"{before}{drawn.key}-", f"{before}{own}-")
    return Markup(text.replace(' width="', ' style="max-width: 100%; height: auto" width="', 1))
