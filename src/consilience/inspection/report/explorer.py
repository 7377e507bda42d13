"""The part of a report that can be explored: the tree with its cut, the matrix, the map and the table of the items.

All figures are computed here and put into the page as data; the script that draws them only looks them up. Without
scripts, the page shows the figures of the section instead.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from markupsafe import Markup

from consilience.analysis.certainty import Certainty
from consilience.analysis.clustering import FoundClusters
from consilience.analysis.cuts import FEWEST, MOST, CutJudge, Tree
from consilience.analysis.dissimilarity import CoOccurrence
from consilience.analysis.group_words import GroupWords
from consilience.analysis.names import name_text
from consilience.analysis.standardisation import StandardNames
from consilience.analysis.words import current_words
from consilience.annotations import Groupings
from consilience.inference.memberships import Memberships, count_presented, together
from consilience.inspection.plots.style import (
    COLOURS,
    GLOW,
    HEAT,
    MARKERS,
    NO_DATA,
    NO_DATA_DARK,
    marker_outline,
    marker_scale,
)
from consilience.inspection.report.album import Album
from consilience.inspection.report.item_tables import cluster_cell
from consilience.inspection.report.map_data import MapControls, map_data
from consilience.inspection.report.sorts_data import sorts_data
from consilience.inspection.report.svg import themed_colour
from consilience.inspection.report.tables import (
    Cell,
    Column,
    ReportTable,
    name_cell,
    number,
    percent,
    row,
    set_apart_constants,
)
from consilience.metrics.clusterings import ari

EXPLORED = "What belongs together"  # heading of the section
MOST_CUTS = 100  # clusters of the finest cut
LEAVES = "Moves by itself: in how many other panels it leaves its cluster while the rest of that stays together. "
NEAREST = 3  # items that the table lists next to each


@dataclass(frozen=True)
class Explorer:
    """What the script of the page needs.

    data : JSON, which is safe inside a script element.
    noun, nouns : what clusters are called.
    table : all items: the text alternative of the tree, the matrix and the map.
    has_sorts : whether the items can be coloured by the groups of one person.
    has_names : whether any of the groups has a name.
    """

    kind: ClassVar[str] = "explorer"

    data: Markup
    n_items: int
    noun: str
    nouns: str
    table: ReportTable
    controls: MapControls
    has_sorts: bool = False
    has_names: bool = False

    @classmethod
    def of(
        cls,
        co_occurrence: CoOccurrence,
        items: pd.DataFrame,
        album: Album,
        certainty: Certainty | None = None,
        group_words: GroupWords | None = None,
        about: tuple[str, str] = ("", ""),
        groupings: Groupings | None = None,
        standard: StandardNames | None = None,
        outlined: bool = False,
    ) -> Explorer | None:
        """Gather it for the items that have annotations and a cluster; None if there are too few or too many of them.

        items : the table of `item_frame`; `leaves`, if it is there, is how often each leaves its cluster on its own.
        album : the pictures of the items.
        certainty : for the ellipses on the map.
        group_words : that are written on the map.
        about : sentences on the axes and on the ellipses of the map, which are put below it.
        groupings : whose groups the items can be coloured by, of the same items in the same order.
        standard : the standard names of their groups.
        outlined : whether the map shows the outlines of the clusters at first.
        """
        words, places, clusters = current_words(), co_occurrence.places, cast(FoundClusters, co_occurrence.clusters)
        if not FEWEST <= len(places) <= MOST:
            return None
        memberships = co_occurrence.memberships.of_items(places)
        tree = Tree.of(co_occurrence.dissimilarities(places))
        codes = clusters.codes[places]
        rows = np.lexsort((np.arange(len(places)), codes[tree.order]))  # by cluster, then as in the tree
        data = {
            "items": [name_text(name) for name in co_occurrence.items[places[tree.order]]],
            "pictures": [album.number(place) for place in places[tree.order].tolist()],
            "clusters": codes[tree.order].tolist(),
            "noun": clusters.noun,
            "nouns": clusters.nouns,
            "readers": {"item": words.item, "items": words.items},
            "names": clusters.shown,
            "rows": rows.tolist(),
            **_tree_data(tree),
            **_cuts_data(tree, CutJudge(memberships), codes),
            **map_data(co_occurrence, places[tree.order], certainty, group_words),
            **_counts_data(memberships.of_items(tree.order)),
            "sorts": []
            if groupings is None
            else sorts_data(groupings, places[tree.order], codes[tree.order], standard),
            "standard": [] if standard is None else list(map(name_text, standard.names)),
            "look": _look(),
        }
        shown = places[tree.order[rows]]
        table = _items_table(items.iloc[shown], clusters, memberships.of_items(tree.order[rows]), len(items))
        controls = MapControls(len(data["axes"]), bool(data["ellipses"]), bool(data["words"]), *about, outlined)
        has = bool(data["sorts"]), bool(data["standard"])
        return cls(_json(data), len(places), clusters.noun, clusters.nouns, table, controls, *has)


def _json(data: dict[str, Any]) -> Markup:
    """Write JSON in which nothing can end the script element around it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace("&", "\\u0026").replace("\u2028", " "))


def _tree_data(tree: Tree) -> dict[str, Any]:
    """Return a row for each node above the leaves.

    It holds the height of the node, the heights of its two branches, their places across the leaves, the first leaf and
    the end of its range, and its two branches: the places of items among the leaves, or as many as the leaves and the
    number of a node above them.
    """
    n = tree.n_leaves
    across = np.append(tree.start[:n].astype(float), np.zeros(n - 1))
    for node, (first, second) in enumerate(tree.children.tolist(), start=n):
        across[node] = (across[first] + across[second]) / 2
    first, second = tree.children.T
    nodes = np.column_stack(
        [
            tree.height[n:],
            tree.height[first],
            tree.height[second],
            across[first],
            across[second],
            tree.start[n:],
            tree.start[n:] + tree.size[n:],
            *np.where(tree.children < n, tree.start[tree.children], tree.children).T,
        ]
    )
    return {"nodes": nodes.round(5).tolist()}


def _cuts_data(tree: Tree, judge: CutJudge, codes: Int[np.ndarray, " items"]) -> dict[str, Any]:
    """Return the splits with their numbers, the figures of every cut, and those of the report's clusters."""
    n_clusters = len(np.unique(codes))
    cuts = judge.cuts(tree, MOST_CUTS)
    nearest = min(range(len(cuts)), key=lambda place: abs(cuts[place].n_clusters - n_clusters))
    base, splits = tree.painted(codes[tree.order])
    return {
        "base": base,
        "splits": splits[: cuts[-1].n_clusters - 1].tolist(),
        "cuts": [
            [
                cut.n_clusters,
                *(round(cut.low, 5), round(cut.high, 5)),
                number(cut.agreement),
                number(ari(codes[tree.order], tree.cut(cut.n_clusters))),
            ]
            for cut in cuts
        ],
        "like": nearest,
        "report": [n_clusters, number(judge.agreement(codes)), number(1.0)],
    }


def _counts_data(memberships: Memberships) -> dict[str, Any]:
    """Return how often each pair of items was put together and presented: upper triangles, row by row, in base 64."""
    counts = [matrix(memberships).toarray() for matrix in (together, count_presented)]
    upper = np.triu_indices(memberships.n_items, 1)
    largest = max(int(count.max()) for count in counts)
    size = 1 if largest < 2**8 else 2 if largest < 2**16 else 4
    texts = [base64.b64encode(count[upper].astype(f"<u{size}").tobytes()).decode() for count in counts]
    return {"bytes": size, "together": texts[0], "presented": texts[1]}


def _look() -> dict[str, Any]:
    """Return the colours and shapes of the clusters, and the colours of the matrix on light and on dark paper."""
    outlines = [
        "".join(letter + " ".join(f"{value:.2f}" for value in points) for letter, points in marker_outline(shape))
        for shape in range(len(MARKERS))
    ]
    return {
        "colours": [themed_colour(colour) for colour in COLOURS],
        "shapes": [[outline, marker_scale(shape)] for shape, outline in enumerate(outlines)],
        "heat": [HEAT, GLOW],
        "unknown": [NO_DATA, NO_DATA_DARK],
    }


def _items_table(items: pd.DataFrame, clusters: FoundClusters, memberships: Memberships, n_items: int) -> ReportTable:
    """Return the table of the items that are in a grouping, with those that each was most often put together with."""
    words = current_words()
    sure = next((name for name in ("leaves", "probability") if name in items), "")
    heading = "Moves by itself" if sure == "leaves" else clusters.measure.capitalize()
    counts, of = together(memberships).toarray(), count_presented(memberships).toarray()
    share = np.divide(counts, of, out=np.full(of.shape, -1.0), where=of > 0)
    np.fill_diagonal(share, -2.0)
    names = [name_text(name) for name in items["item"]]
    columns = [Column(words.Item, "text", of_items=True), Column(clusters.noun.title(), clusters.kind)]
    columns += [Column(heading)] if sure else []
    columns += [Column(words.Annotators), Column("Most often put together with", "wide", of_items=True)]
    rows = []
    for place, (name, cluster, n_annotators) in enumerate(
        items[["item", "cluster", "n_annotators"]].itertuples(index=False, name=None)
    ):
        shown = [(percent if sure == "leaves" else number)(items[sure].iloc[place])] if sure else []
        cells = [name_cell(name), cluster_cell(clusters, cluster), *shown, f"{n_annotators:,}"]
        rows.append(row(*cells, _nearest(share[place], names)))
    constant = ""
    if len(set(items["cluster"])) > 1:  # the script needs that column
        columns, rows, constant = set_apart_constants(columns, rows)
    return ReportTable(
        "items",
        f"All {n_items:,} {words.items}"
        if len(items) == n_items
        else f"The {len(items):,} {words.items} that are in a grouping",
        columns,
        rows,
        reading=(
            f"{constant}{LEAVES if sure == 'leaves' else ''}At first by {clusters.noun}, with similar {words.items} "
            f"next to each other. The last column is the share of the times that both {words.items} were shown in "
            "which they were put together."
        ),
    )


def _nearest(share: Float[np.ndarray, " items"], names: list[str]) -> Cell:
    """Cell with the items that have the largest positive shares."""
    order = np.argsort(-share, kind="stable")
    nearest = order[:NEAREST]
    found = tuple((percent(share[item]), names[item]) for item in nearest.tolist() if share[item] > 0)
    n_tied = int((share[order[NEAREST:]] == share[nearest[-1]]).sum()) if len(found) == NEAREST else 0
    found += (("", f"and {n_tied:,} more as often"),) if n_tied else ()
    return Cell(pairs=found) if found else Cell("–")
