"""Sections of a report on concept mapping: ratings of the items by cluster, and which items are anchors or bridges."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pandas as pd
from jaxtyping import Float
from matplotlib.figure import Figure as MatplotlibFigure

from consilience.analysis.bridging import count_bridged_axes
from consilience.analysis.dissimilarity import CoOccurrence
from consilience.analysis.item_ratings import N_DRAWS, ItemRatings
from consilience.analysis.names import as_text, join_names, name_text, quantify
from consilience.analysis.words import current_words
from consilience.inference.memberships import together
from consilience.inspection.plots.item_ratings import plot_go_zone, plot_pattern_match
from consilience.inspection.plots.point_labels import say_unwritten
from consilience.inspection.plots.style import Sheet
from consilience.inspection.report.certainty_sections import leave_singly
from consilience.inspection.report.figure_files import small
from consilience.inspection.report.item_tables import cluster_cell
from consilience.inspection.report.subject import Figure, Section, Subject
from consilience.inspection.report.tables import Cell, Column, ReportTable, download, name_cell, number, percent, row

MOST_ITEMS = 200  # rows of a table
PLACES = 4  # decimals of files
HIGHEST, LISTED = 3, 40  # items of the go-zone that the findings name, and the section
FEW_CLUSTERS = 20  # with a correlation that says "only"
AT_MEAN = 0.01  # ratings from the mean
SHARE, LIKELY = "in_go_zone", 0.25  # column of the shares of draws, and the least that is told of items outside
DRAWN = f"{N_DRAWS} draws of other raters"
SEEN = 0.05  # difference of two clusters that a reader sees


def ratings_section(subject: Subject) -> Section | None:
    """Return the section on the ratings of the items; None if there are none."""
    rated = subject.ratings
    if rated is None:
        return None
    ends = rated.ends_in_draws(subject.certainty.draws) if subject.certainty else None
    blocks: list[ReportTable | Figure] = [_means_table(rated)]
    blocks += [] if ends is None else [_ends_table(rated, ends)]
    if rated.compared is not None:
        blocks += [_pattern(rated), _go_zone(rated)]
    return Section("ratings", "Ratings", _sentences(rated), [*blocks, _items_table(subject, rated)])


def bridging_section(subject: Subject) -> Section | None:
    """Return the section on bridging values; None unless the items are statements, or have ratings."""
    values, words, clusters = subject.bridging, current_words(), subject.clusters
    if not subject.is_concept_map or values is None or not values.notna().any():
        return None
    codes = clusters.codes
    order = np.argsort(-np.nan_to_num(values.to_numpy(), nan=-1.0), kind="stable")
    singly = leave_singly(subject) if subject.certainty else None
    outside = _shares_outside(subject)
    rows = [
        row(
            name_cell(values.index[place]),
            _cluster(subject, int(codes[place])),
            number(values.iloc[place]),
            percent(outside[place]),
            *([] if singly is None else [percent(singly[place])]),
        )
        for place in order[:MOST_ITEMS].tolist()
    ]
    frame = values.to_frame().round(PLACES)
    frame.insert(0, clusters.column, clusters.names_of(codes))
    frame["outside"] = outside.round(PLACES)
    which = "" if subject.axes is None else " (those that show more than random sorts would, two at least)"
    reading = (
        f"Near 0: an anchor, put together with {words.items} that are near it on the map. Near 1: a bridge, put "
        f"together with {words.items} far from it. Values compare the {words.items} of this study only: the least has "
        "0, and the largest 1. The formula is ours, as the method's authors give none: the mean distance to the other "
        f"{words.items} on the first {count_bridged_axes(subject.axes)} axes of the map above{which}, weighted by how "
        f"often they were put together. Put together outside: of all the times that the {words.item} was put with "
        f"another, those with one of another {clusters.noun}; this does not depend on where the map has room."
    )
    also = [Column(f"Put together outside its {clusters.noun}")]
    also += [] if singly is None else [Column("Moves by itself")]
    by_item = ReportTable(
        "bridging",
        f"Bridging values of the {words.items}, bridges first",
        [Column(words.Item, "text", of_items=True), Column("Cluster", clusters.kind), Column("Bridging value"), *also],
        rows,
        reading=reading,
        order="bridges first",
        more=_say_left(len(order), "bridging.csv"),
        download=download("bridging.csv", frame, "item"),
    )
    found = pd.DataFrame({"bridging": values.to_numpy(), "outside": outside})
    means = found.groupby(codes).mean().reindex(range(len(clusters.index)))
    contradicts = _contradict(means["bridging"].to_numpy(), means["outside"].to_numpy())
    by_cluster = ReportTable(
        "bridging-clusters",
        f"How far the {clusters.nouns} are tied to others",
        [Column("Cluster", clusters.kind), *([] if contradicts else [Column("Mean bridging value")]), *also],
        [
            row(
                cluster_cell(clusters, code),
                *([] if contradicts else [number(mean)]),
                percent(share),
                *([] if singly is None else [percent(float(np.mean(singly[codes == code])))]),
            )
            for code, mean, share in means.itertuples(name=None)
        ],
        reading=(
            f"The mean bridging values are left out: they would put some {clusters.nouns} in another order than the "
            "share outside, since distances also depend on where the map has room."
            if contradicts
            else ""
        ),
    )
    sentence = (
        f"A bridge was put together with {words.items} that are far from it on the axes that count "
        f"({count_bridged_axes(subject.axes)}, of which the map draws two), an anchor with near ones; whether a "
        f"{clusters.noun} holds together, “Put together outside its {clusters.noun}” tells."
    )
    return Section("bridging", "Anchors and bridges", [sentence], [by_cluster, by_item])


def _contradict(bridging: Float[np.ndarray, " clusters"], outside: Float[np.ndarray, " clusters"]) -> bool:
    """Whether a reader would see one cluster above another by one of the two, and below it by the other."""
    above, below = (values[:, None] - values > SEEN for values in (bridging, -outside))
    return bool((above & below).any())


def _shares_outside(subject: Subject) -> Float[np.ndarray, " items"]:
    """Share of the times that each item was put with another in which that was of another cluster; NaN for none."""
    counts = together(cast(CoOccurrence, subject.co_occurrence).memberships).toarray()
    np.fill_diagonal(counts, 0)
    codes, total = subject.clusters.codes, counts.sum(1)
    other = (counts * (codes[:, None] != codes)).sum(1)
    return np.divide(other, total, out=np.full(len(total), np.nan), where=total > 0)


def ratings_frame(rated: ItemRatings, bridging: pd.Series | None = None) -> pd.DataFrame:
    """Return the ratings of the items as they are written to a file, with their bridging values if these are known."""
    frame = rated.items.round(PLACES)
    if rated.clusters.called:
        frame.insert(1, "name", rated.clusters.called_of(rated.clusters.codes))
    return frame if bridging is None else frame.assign(bridging=bridging.reindex(frame.index).round(PLACES).to_numpy())


def in_short(subject: Subject) -> list[str]:
    """Say how many items are in the go-zone, and which are highest; nothing if two scales are not compared."""
    rated = subject.ratings
    if rated is None or rated.compared is None:
        return []
    return [_list_go_zone(rated, HIGHEST)]


def _list_go_zone(rated: ItemRatings, most: int) -> str:
    """Say how many items are in the go-zone, and which: in how many draws of other raters, if that is known."""
    words, (first, second) = current_words(), map(as_text, rated.compared or ())
    n, listed = len(rated.go_zone), _with_shares(rated, rated.surest_of_go_zone[:most])
    what = (
        f"{n:,} of {words.n_items(len(rated.items))} {'is' if n == 1 else 'are'} in the go-zone, above the mean of "
        f"both {first} and {second}"
    )
    if SHARE not in rated.items:
        by = "by the lesser of their distances above the two means"
        order = f"; the highest, {by}" if n > most else f", the highest first, {by}" if n > 1 else ""
        return f"{what}{order}: {join_names(listed)}." if n else f"{what}."
    order = f"; the {most} in which it is surest" if n > most else ""
    return f"{what}{order}, with the share of {DRAWN} in which it is so: {join_names(listed)}." if n else f"{what}."


def _say_outsiders(rated: ItemRatings) -> str:
    """Name the items outside the go-zone that many draws of other raters have in it."""
    if SHARE not in rated.items:
        return ""
    share = rated.items[SHARE].drop(rated.go_zone).sort_values(ascending=False, kind="stable")
    likely = share.index[share >= LIKELY]
    if not len(likely):
        return f" No other is in it in at least {percent(LIKELY)} of these draws."
    are = "is" if len(likely) == 1 else "are"
    return f" Of the others, only {join_names(_with_shares(rated, likely))} {are} in it in at least {percent(LIKELY)}."


def _with_shares(rated: ItemRatings, items: pd.Index) -> list[str]:
    """Name items with the share of draws in which they are in the go-zone, if it is known."""
    if SHARE not in rated.items:
        return list(map(name_text, items))
    return [f"{name_text(item)} ({percent(rated.items.loc[item, SHARE])})" for item in items]


def _sentences(rated: ItemRatings) -> list[str]:
    """Say which items are above both means, and what else is compared; nothing of one scale."""
    if rated.compared is None:
        return []
    first, second = map(as_text, rated.compared)
    more = ""
    if len(rated.scales) > 2:
        more = " Further scales are in the tables; the first two columns of the file are compared."
    of_items = _correlation_of_items(rated)
    match = [f"Pearson's r of {first} and {second} is {of_items}."] if of_items else []
    return [f"{_list_go_zone(rated, LISTED)}{_say_outsiders(rated)}{more}", *match]


def _say_ends(rated: ItemRatings, scale: str) -> str:
    """Say which cluster is rated highest and which lowest on a scale, which others may be, and which is not."""
    found = rated.differences[rated.differences["scale"] == scale]
    titles = dict(zip(rated.clusters.index, rated.clusters.titles, strict=True))
    sides = [("highest", "higher", "lower", "above", 0), ("lowest", "lower", "higher", "below", -1)]
    said = []
    for end, own, other, beyond, place in sides[: len(found)]:
        name = found[own].iloc[place]
        steps = found[found[own] == name].sort_values("difference", kind="stable")
        unsure = (steps["low"] <= 0).to_numpy()
        told = [*np.flatnonzero(unsure), *np.flatnonzero(~unsure)[:1]]
        each = [
            f"{number(step['difference'])} {beyond} “{titles[step[other]]}”{_say_interval(step, end, other)}"
            for _, step in steps.iloc[told].iterrows()
        ]
        said.append(f"{end} is “{titles[name]}”, {join_names(each)}")
    return f"{as_text(scale)}: {'; '.join(said)}." if said else ""


def _say_interval(step: pd.Series, end: str, other: str) -> str:
    """Write the interval of a difference, and whether the other cluster may be as high, or as low; empty if unknown."""
    if not np.isfinite(step["low"]):
        return ""
    verdict = f"may be as {end.removesuffix('est')}" if step["low"] <= 0 else other
    return f" ({number(step['low'])} to {number(step['high'])}: {verdict})"


def _correlation_of_clusters(rated: ItemRatings) -> str:
    n = int(rated.pattern.iloc[:, :2].notna().all(axis=1).sum())
    few = "only " if n < FEW_CLUSTERS else ""
    return _say_correlation(rated.r_clusters, rated.r_clusters_interval, quantify(n, "cluster"), few)


def _correlation_of_items(rated: ItemRatings) -> str:
    n = int(rated.items[list(rated.scales[:2])].notna().all(axis=1).sum())
    return _say_correlation(rated.r_items, rated.r_items_interval, current_words().n_items(n))


def _say_correlation(r: float, interval: tuple[float, float], over: str, few: str = "") -> str:
    """Write a correlation with its interval; empty if it is unknown."""
    if not np.isfinite(r):
        return ""
    low, high = interval
    if not np.isfinite(low):
        return f"{number(r)} over {few}{over} (too few for an interval)"
    verdict = ": not distinguishable from 0" if low < 0 < high else ""
    ends = f"{number(low)} to {number(high)}"
    return f"{number(r)} over {few}{over} (95% interval, if these {over} were a sample of many: {ends}{verdict})"


def _means_table(rated: ItemRatings) -> ReportTable:
    words, clusters = current_words(), rated.clusters
    by_people = bool(rated.means["n_annotators"].any())
    rows = [
        row(cluster_cell(clusters, code), *(_mean_cell(rated, name, scale) for scale in rated.scales))
        for code, name in enumerate(clusters.index)
    ]
    rows.append(row("All", *(number(value) for value in rated.overall)))
    over = "the raters" if by_people else words.items
    narrower = "; to compare two, take the interval of their difference, given here" if by_people else ""
    reading = (
        f"The mean over the {words.items} of a cluster, each counted once, with its 95% interval over {over}{narrower}."
        f" {_who_rated(rated)}"
    )
    said = " ".join(filter(None, (_say_ends(rated, scale) for scale in rated.scales)))
    return ReportTable(
        "ratings",
        "Mean ratings of the clusters",
        [Column("Cluster", clusters.kind), *(Column(as_text(scale)) for scale in rated.scales)],
        rows,
        reading=f"{said} {reading}".strip(),
        download=download("cluster-ratings.csv", rated.means.round(PLACES).reset_index()),
    )


def _ends_table(rated: ItemRatings, ends: pd.DataFrame) -> ReportTable:
    """Return the table of how often each cluster is rated highest and lowest if others had sorted."""
    clusters, words, shares = rated.clusters, current_words(), [ends[end].to_dict() for end in ends]
    heads = [Column(f"{as_text(scale)}: {end}") for scale in rated.scales for end in ends]
    rows = [
        row(
            cluster_cell(clusters, code),
            *(percent(share[name, scale]) for scale in rated.scales for share in shares),
        )
        for code, name in enumerate(clusters.index)
    ]
    return ReportTable(
        "rating-ends",
        "How often each cluster is rated highest, or lowest, if others sort",
        [Column("Cluster", clusters.kind), *heads],
        rows,
        reading=(
            f"The share of draws of other {words.annotators}, with these ratings. A cluster has the mean of the one of "
            f"the draw that has most of its {words.items}, so two that are joined may both be the highest."
        ),
    )


def _who_rated(rated: ItemRatings) -> str:
    """Say how many people rated, from which rating to which, and how many ratings are missing."""
    said = [
        f"{as_text(scale)} {_by(each['n_annotators'])}, from {each['lowest']:g} to {each['highest']:g}"
        + (f", {each['n_missing']:,} of {each['n_ratings']:,} not given" if each["n_missing"] else "")
        for scale, each in rated.given.to_dict("index").items()
    ]
    return f"Ratings given: {'; '.join(said)}."


def _by(n_raters: int) -> str:
    return f"by {quantify(n_raters, 'person', 'people')}" if n_raters else "as means"


def _mean_cell(rated: ItemRatings, cluster: Any, scale: str) -> str:
    found = rated.means.loc[(cluster, scale)]
    if not np.isfinite(found["low"]):
        return number(found["mean"])
    return f"{number(found['mean'])} ({number(found['low'])} to {number(found['high'])})"


def _pattern(rated: ItemRatings) -> Figure:
    first, second = map(as_text, cast("tuple[str, str]", rated.compared))
    r = _correlation_of_clusters(rated)
    match = f" Pearson's r of the two columns of means is {r}." if r else ""
    caption = (
        f"Pattern match: the mean of each cluster for {first} and for {second}, in the same units. Lines that lie "
        f"on each other are clusters rated alike; a line that crosses others changes its rank.{match}"
    )
    ax = plot_pattern_match(rated, ax=Sheet(), legend=False)
    file = small(download("pattern-match.csv", rated.pattern.iloc[:, :2].round(PLACES), "cluster"))
    return Figure.of("pattern", cast(MatplotlibFigure, ax.figure), f"Ladder graph. {caption}", caption, file)


def _go_zone(rated: ItemRatings) -> Figure:
    words, (first, second) = current_words(), map(as_text, cast("tuple[str, str]", rated.compared))
    ax = plot_go_zone(rated, ax=Sheet())
    middle = rated.overall
    caption = (
        f"Go-zone: each of the {words.items} by its mean for {first} and for {second}. The dashed lines are the means "
        f"over all {words.items}, {number(middle.iloc[0])} and {number(middle.iloc[1])}; the shaded quadrant is above "
        "both. Marks that would cover each other are set side by side."
    )
    compared = rated.items[["cluster", *rated.scales[:2], "above"]].round(PLACES)
    file = small(download("go-zone.csv", compared, "item"))
    sheet, described = cast(MatplotlibFigure, ax.figure), f"Scatter plot. {caption}"
    return Figure.of("go-zone", sheet, described, caption, file, named=lambda: say_unwritten(ax))


def _items_table(subject: Subject, rated: ItemRatings) -> ReportTable:
    words, clusters, items = current_words(), rated.clusters, rated.items
    first = rated.scales[0]
    order = np.argsort(-np.nan_to_num(items[first].to_numpy(), nan=-np.inf), kind="stable")
    head = [Column(words.Item, "text", of_items=True), Column("Cluster", clusters.kind)]
    head += [Column(as_text(scale)) for scale in rated.scales]
    head += [Column("Above the mean", "text")] if rated.compared else []
    head += [Column("In the go-zone")] if SHARE in items else []
    rows = []
    for place in order[:MOST_ITEMS].tolist():
        each = items.iloc[place]
        cells = [name_cell(items.index[place]), _cluster(subject, int(clusters.codes[place]))]
        cells += [Cell(number(each[scale])) for scale in rated.scales]
        cells += [Cell(_say_above(rated, each))] if rated.compared else []
        cells += [Cell(percent(each[SHARE]))] if SHARE in items else []
        rows.append(cells)
    by = f"by {as_text(first)}"
    return ReportTable(
        "rated-items",
        f"Mean ratings of the {words.items}, {by}",
        head,
        rows,
        reading=_how_to_read_above(rated),
        order=by,
        more=_say_left(len(order), "ratings.csv"),
        download=download("ratings.csv", ratings_frame(rated, subject.bridging), "item"),
    )


def _how_to_read_above(rated: ItemRatings) -> str:
    if rated.compared is None:
        return ""
    words, (first, second) = current_words(), map(as_text, rated.compared)
    return (
        f"Above the mean: whether the mean of the {words.item} is above that of all {words.items} for {first}, for "
        f"{second}, or for both. At the mean: by less than {AT_MEAN:g} above or below it."
        + (f" In the go-zone: in this share of {DRAWN}." if SHARE in rated.items else "")
    )


def _say_above(rated: ItemRatings, each: pd.Series) -> str:
    """Say of which scales an item is above the mean, and of which it is so near that this tells nothing."""
    at = [as_text(scale) for scale in rated.scales[:2] if abs(each[scale] - rated.overall[scale]) < AT_MEAN]
    return name_text(each["above"] or "–") + (f" (at the mean: {join_names(at)})" if at else "")


def _cluster(subject: Subject, code: int) -> Cell:
    return Cell("–") if code < 0 else cluster_cell(subject.clusters, code)


def _say_left(n_items: int, file: str) -> str:
    left = n_items - MOST_ITEMS
    return f"{left:,} more (in {file})" if left > 0 else ""
