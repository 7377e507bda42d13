"""Tables of a report about the items: the annotations, the clusters, how certain they are, what distinguishes them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from consilience.analysis.certainty_moves import Moves
from consilience.analysis.clustering import FoundClusters
from consilience.analysis.fitted import column_names
from consilience.analysis.names import name_text
from consilience.analysis.words import current_words
from consilience.annotations import Groupings
from consilience.inspection.report.svg import swatch
from consilience.inspection.report.tables import (
    Cell,
    Column,
    ReportTable,
    as_exact,
    download,
    name_cell,
    names_cell,
    number,
    percent,
    row,
    significant,
)
from consilience.metrics.profiles import association

SURE = 0.9
SELDOM_STAYS = (
    0.8  # share of the draws in which an item stays in its cluster, below which it is marked, or a mean of it
)
CERTAINTIES = ((0.99, 1.0), (0.9, 0.99), (0.7, 0.9), (0.5, 0.7), (0.0, 0.5))
UNCERTAIN, UNCERTAIN_ITEMS = 0.995, 15
FEW_ITEMS, SOME_ITEMS = 200, 8  # up to 200 items, each cluster lists all of its items, else 8
FEATURES = 20
SCORES = 40
NAMES_OF_CLUSTER = 3


def given_table(groupings: Groupings, features: pd.DataFrame | None, sheets: pd.DataFrame | None = None) -> ReportTable:
    """Return the table of how many annotations and features there are, and sheets, if items were placed on any."""
    words = current_words()
    summary = groupings.summary()
    several = groupings.n_groupings != groupings.n_annotators
    rows = [
        (words.Items, f"{summary.n_items:,}"),
        (words.Annotators, f"{summary.n_annotators:,}"),
        ("Groupings", f"{groupings.n_groupings:,}" if several else f"one per {words.annotator}"),
        ("Groups", f"{groupings.n_groups:,}"),
        (f"Labels ({words.an_item} in a group)", f"{summary.n_rows:,}"),
        (f"Coverage: mean share of the {words.items} that {words.an_annotator} labelled", percent(summary.coverage)),
        (f"Labels per {words.annotator}", spread(summary.items_per_annotator)),
        (f"{words.Annotators} per {words.item}", spread(summary.annotators_per_item)),
        ("Groups per grouping", spread(summary.groups_per_grouping)),
        (f"{words.Items} without annotations", f"{summary.n_unannotated_items:,}"),
        ("Features", f"{features.shape[1]:,}" if features is not None else "none given to this report"),
    ]
    if sheets is not None:
        rows.insert(2, ("Sheets", f"{sheets['annotator'].nunique():,}, of {len(sheets):,} places"))
    return ReportTable(
        "given",
        "The annotations",
        [Column("", "text"), Column("", "text")],
        [row(*pair) for pair in rows],
        reading=f"Clusters can be trusted only as far as {words.annotators} overlap: the more {words.annotators} per "
        f"{words.item}, the better.",
    )


def spread(counts: pd.Series | None) -> str:
    """Describe the range and the mean of counts."""
    if counts is None or not len(counts):
        return "none"
    if counts.min() == counts.max():
        return f"{counts.min():,} each"
    return f"{counts.min():,} to {counts.max():,}, mean {counts.mean():,.1f}"


def named_items(items: pd.DataFrame, clusters: FoundClusters) -> pd.DataFrame:
    """Return the table of `item_frame` with names instead of codes, as it is written to a file.

    If it says what other people would repeat, the columns of the model's own probabilities begin with ``model_``.
    """
    owner = "model_" if "stays" in items else ""
    columns = {"cluster": clusters.column, "next_cluster": f"{owner}next_{clusters.column}"}
    columns |= {name: owner + name for name in ("probability", "next_probability")}
    named = {name: clusters.names_of(items[name].to_numpy()) for name in ("cluster", "next_cluster") if name in items}
    table = items.round(4).assign(**named).rename(columns=columns)
    if clusters.called:
        place = table.columns.tolist().index(clusters.column)
        table.insert(place + 1, "name", clusters.called_of(items["cluster"].to_numpy()))
    return table


def clusters_table(
    items: pd.DataFrame,
    called: list[list[str]],
    clusters: FoundClusters,
    reading: str = "",
    cohesion: pd.DataFrame | None = None,
    moves: Moves | None = None,
    makers: pd.DataFrame | None = None,
) -> ReportTable:
    """Return the table of the size and certainty of each cluster, with the names annotators give it, if any.

    cohesion : of the clusters, see `cluster_cohesion`.
    moves : of the clusters in draws of other people, if items have a certainty.
    makers : how many people made each, see `group_names.count_makers`, in place of its items.
    """
    words = current_words()
    by = "repeats" if "repeats" in items else "probability" if "probability" in items else ""
    numbered = not clusters.is_named and clusters.kind != "number"  # their names do not say their numbers in files
    columns = [Column(clusters.noun.title(), clusters.kind), *([Column("Number")] if numbered else []), Column("Size")]
    columns += [Column(f"{words.Annotators} who call it so", "names")] if any(called) else []
    if makers is None:
        heading = f"{words.Items}, most certain first" if by else words.Items
        columns += [Column(heading, "wide", of_items=True), Column("Share")]
    else:
        columns += map(Column, ("Much the same made by", "Exactly made by", "All in one group by"))
    columns += [Column("Any two put together")] if cohesion is not None else []
    columns += [Column(head) for head in _heads_of_certainty(by, clusters)]
    most = SOME_ITEMS if len(items) > FEW_ITEMS else FEW_ITEMS
    rows = []
    unknown = np.full(len(clusters.index), np.nan)
    again, whole = (unknown, unknown) if moves is None else (moves.found_again, moves.found_whole)
    for cluster in range(len(clusters.index)):
        mine = items[items["cluster"] == cluster]
        cells = [cluster_cell(clusters, cluster), *([clusters.names[cluster]] if numbered else []), f"{len(mine):,}"]
        cells += [names_cell(called[cluster] or ["–"], NAMES_OF_CLUSTER)] if any(called) else []
        ordered = most_certain_first(mine)
        if makers is None:
            cells += [names_cell(ordered["item"].tolist() or ["–"], most, f" (in {clusters.file})")]
            cells += [percent(len(mine) / len(items))]
        else:
            cells += [f"{n:,}" for n in makers.loc[cluster, ["roughly", "exactly", "whole"]]]
            cells[-1] = "–" if len(mine) == 1 else cells[-1]
        cells += [] if cohesion is None else [_cohesion_cell(cohesion.iloc[cluster])]
        rows.append(row(*cells, *_certainty_of(mine, by, again[cluster], whole[cluster])))
    what = f"Each row is a cluster of {words.items} that belong together, given all annotations."
    if clusters.is_named:
        what = f"Each row is a class, with the {words.items} of which it is the most likely class."
    elif numbered:
        what += " Numbers are those of the files, from 0, the largest first."
    if by == "repeats":
        what += (
            f" The last two columns say what another group of people would repeat; orange: below {SELDOM_STAYS:.0%}. "
            f"Found again: share of the draws with much the same {clusters.noun}, not joined with another; whole: with "
            f"all of its {words.items}."
        )
    if makers is not None:
        what += (
            f" Much the same: of the {words.items} of a group and the {clusters.noun}, more than half are in both. "
            f"Exactly: just these {words.items} in one group; all in one group: whatever else is there."
        )
    if cohesion is not None:
        what += (
            f" Any two put together: how often two {words.items} of the cluster were put together, of the times they "
            f"were shown together; {percent(float(cohesion['chance'].max()))} over all {words.items}."
        )
        what += " Left over, in orange: hardly more often than that." if cohesion["left_over"].any() else ""
    files = ""
    if "stays" in items and "probability" in items:
        files = (
            f" In {clusters.file}, columns that begin with model_ are the {clusters.measure} that the model gives, as "
            f"if these {words.annotators} were all there are; repeats, stays and elsewhere are what other people would "
            "do."
        )
    return ReportTable(
        "clusters",
        clusters.nouns.title(),
        columns,
        rows,
        reading=(f"{what} {reading}" if any(called) else what) + files,
        download=download(clusters.file, named_items(items, clusters)),
    )


def most_certain_first(items: pd.DataFrame) -> pd.DataFrame:
    """Order items by how often they stay in their cluster, or else by its probability."""
    by = [column for column in ("stays", "repeats", "probability") if column in items][:2]
    return items.sort_values(by, ascending=False, kind="stable") if by else items


def _cohesion_cell(figures: pd.Series) -> Cell:
    left = bool(figures["left_over"])
    return Cell(percent(figures["together"]) + (" (left over)" if left else ""), tone="high" if left else "")


def _heads_of_certainty(by: str, clusters: FoundClusters) -> list[str]:
    """Heads of the columns on the certainty of a cluster, by the column of the items that says it."""
    if by == "repeats":
        return ["Found again", "Whole"]
    return [f"Mean {clusters.measure}", f"{clusters.measure.capitalize()} ≥ {SURE:g}"] if by else []


def _certainty_of(items: pd.DataFrame, by: str, *found_again: float) -> list[Cell]:
    """Cells on the certainty of a cluster of items, pale where it is low; see `_heads_of_certainty`."""
    if by == "repeats":
        return [Cell(percent(share), tone="high" if share < SELDOM_STAYS else "") for share in found_again]
    return row(number(items[by].mean()), percent((items[by] >= SURE).mean())) if by else []


def cluster_cell(clusters: FoundClusters, cluster: int) -> Cell:
    """Return the cell of a cluster's number or a class's name, with its marker in the plot."""
    mark = swatch(cluster)
    if clusters.kind == "number":
        return Cell(str(cluster), mark=mark)
    return Cell(names=(clusters.shown[cluster],), mark=mark)


def certainty_table(items: pd.DataFrame, clusters: FoundClusters, given: str = "") -> ReportTable:
    """Return the table of how many items are how certain; `given` says what the probability is conditioned on."""
    words = current_words()
    probability = items["probability"].to_numpy()
    rows = []
    for low, high in CERTAINTIES:
        inside = (probability >= low) & ((probability < high) | (high == 1.0))
        text = f"{low:g} to 1" if high == 1 else f"{low:g} to {high:g}" if low else f"below {high:g}"
        rows.append(row(text, f"{inside.sum():,}", percent(inside.mean())))
    return ReportTable(
        "certainty",
        f"How certain the {words.items_own} {clusters.nouns} are",
        [
            Column(f"{clusters.measure.capitalize()} of its {clusters.noun}", "text"),
            Column(words.Items),
            Column("Share"),
        ],
        rows,
        reading=_meaning_of_measure(clusters, given),
    )


def _meaning_of_measure(clusters: FoundClusters, given: str) -> str:
    words = current_words()
    if clusters.measure != "probability":
        return (
            f"The {clusters.measure} says how far {words.annotators} agree; it is not a probability that they are "
            "right."
        )
    usual = "the features and all annotations"
    if clusters.is_named:
        usual = f"all labels and how reliable it found each {words.annotator}"
    return f"The probability is the model's own, given {given or usual}."


def uncertain_items_table(
    items: pd.DataFrame, clusters: FoundClusters, labels_given: pd.Series | None = None
) -> ReportTable | None:
    """Return the table of the least certain items; `labels_given` holds the labels of each as text, by its place."""
    words = current_words()
    if "next_cluster" not in items:
        return None
    worst = items[items["probability"] < UNCERTAIN].sort_values("probability", kind="stable")
    if worst.empty:
        return None
    rows = []
    for place, (name, cluster, probability, other, its_probability, n_annotators) in zip(
        worst.index, worst.head(UNCERTAIN_ITEMS).itertuples(index=False, name=None)
    ):
        people = f"{n_annotators:,}" if labels_given is None else labels_given[place]
        cells = [name_cell(name), cluster_cell(clusters, cluster), people, number(probability)]
        rows.append(row(*cells, cluster_cell(clusters, other), number(its_probability)))
    left = len(worst) - len(rows)
    kind = clusters.kind
    heads = [(words.Item, "text"), (clusters.noun.title(), kind)]
    heads += [(words.Annotators, "number") if labels_given is None else ("Labels given", "wide")]
    heads += [(clusters.measure.capitalize(), "number"), ("Next best", kind), (f"Its {clusters.measure}", "number")]
    return ReportTable(
        "uncertain",
        f"The least certain {words.items}",
        [Column(head, kind, of_items=place == 0) for place, (head, kind) in enumerate(heads)],
        rows,
        reading=f"These {words.items} are worth another look, or another {words.annotator}.",
        more=f"{left:,} more below a {clusters.measure} of {UNCERTAIN:g} (in {clusters.file})" if left > 0 else "",
    )


def profile_table(frame: pd.DataFrame, clusters: FoundClusters, thing: str, most: int) -> ReportTable:
    """Return the table of every feature's mean and standard deviation by cluster, the largest η² first; Table 3."""
    words = current_words()
    numeric = frame.select_dtypes(["number", "bool"]).astype(float)[clusters.codes >= 0]
    codes = clusters.codes[clusters.codes >= 0]
    explained = variance_explained(numeric.to_numpy(), codes)
    order = np.argsort(-np.nan_to_num(explained, nan=-1), kind="stable")
    by_cluster = numeric.set_axis(range(numeric.shape[1]), axis=1).groupby(codes)
    everyone = range(len(clusters.index))
    means, deviations = by_cluster.mean().reindex(everyone).to_numpy(), by_cluster.std().reindex(everyone).to_numpy()
    overall, spread = numeric.mean().to_numpy(), numeric.std().to_numpy()
    names = column_names(numeric, thing)
    rows = []
    for feature in order[:most]:
        scale = spread[feature] if spread[feature] > 0 else 1.0
        cells = [
            Cell(
                f"{as_exact(mean, scale)} ({as_exact(deviation, scale)})" if np.isfinite(mean) else "–",
                tone=_tone((mean - overall[feature]) / scale),
            )
            for mean, deviation in zip(means[:, feature], deviations[:, feature], strict=True)
        ]
        rows.append(row(name_cell(names[feature]), number(explained[feature]), *cells))
    columns = [Column(name, mark=swatch(cluster)) for cluster, name in enumerate(clusters.shown)]
    whole = _profile_frame(names, explained, means, deviations, clusters)
    left = len(order) - len(rows)
    omitted = [name_text(name) for name in frame.columns.difference(numeric.columns, sort=False)]
    reading = (
        f"Mean of each {clusters.noun}, with the standard deviation in brackets. Blue cells are below the mean of all "
        f"{words.items} and orange cells above it, those of a stronger colour by more than a standard deviation. η² is "
        f"the share of the variance that lies between the {clusters.nouns} (those of at least 1% of the "
        f"{words.items}): near 1 the feature separates them, near 0 it does not."
    )
    if omitted:
        reading += f" Left out because they are not numeric: {', '.join(omitted[:10])}"
        reading += f" and {len(omitted) - 10} more." if len(omitted) > 10 else "."
    return ReportTable(
        f"{thing}s",
        f"{thing.title()}s of the {clusters.nouns}",
        [Column(thing.title(), "text"), Column("η²"), *columns],
        rows,
        reading=reading,
        more=f"{left:,} more that differ less between the {clusters.nouns}" if left > 0 else "",
        download=download(f"{thing}s.csv", whole),
    )


def variance_explained(
    values: Float[np.ndarray, "items features"], labels: Int[np.ndarray, " items"]
) -> Float[np.ndarray, " features"]:
    """Return η² of every feature, the share of its variance that lies between clusters; NaN for a constant.

    Clusters of less than 1 % of the items are left out, as long as two clusters remain: a value that a single item has
    says nothing about clusters.
    """
    large = np.bincount(labels) >= 0.01 * len(labels)
    counted_items = large[labels] if large.sum() > 1 else np.ones(len(labels), dtype=bool)
    known = np.isfinite(values) & counted_items[:, None]
    centre = np.where(known, values, 0).sum(0) / np.maximum(known.sum(0), 1)
    deviation = np.where(known, values - centre, 0)
    member = np.arange(labels.max() + 1)[:, None] == labels
    sums, counts = member @ deviation, member @ known.astype(float)
    between = np.divide(sums**2, counts, where=counts > 0, out=np.zeros_like(sums)).sum(0)
    total = (deviation**2).sum(0)
    floor = 1e-12 * known.sum(0) * centre**2  # below it, a column is constant but for rounding
    return np.divide(between, total, where=total > floor, out=np.full(len(total), np.nan))


def association_table(scores: pd.DataFrame, clusters: FoundClusters) -> ReportTable:
    """Return the table of tests whether outside scores differ between the clusters; Table 2."""
    words = current_words()
    numeric = scores.select_dtypes(["number", "bool"])
    known = clusters.codes >= 0
    tests = association(numeric.set_axis(range(numeric.shape[1]), axis=1)[known], clusters.codes[known])
    ordered = tests.set_axis(column_names(numeric, "score")).sort_values("p_value", kind="stable")
    rows = []
    for name, n_items, *figures in ordered.head(SCORES).itertuples(name=None):
        differs = "–" if np.isnan(figures[-1]) else "yes" if figures[-1] < 0.05 else "no"
        rows.append(row(name_cell(name), f"{n_items:,}", *map(significant, figures), differs))
    left = len(ordered) - len(rows)
    heads = (words.Items, "Kruskal-Wallis H", "p", "adjusted p")
    return ReportTable(
        "association",
        f"Outside scores against the {clusters.nouns}",
        [Column("Score", "text"), *map(Column, heads), Column("Differs", "text")],
        rows,
        reading=(
            "The model did not see these scores. A small adjusted p means that a score differs between the "
            f"{clusters.nouns}, so that they mean something beyond the annotations. p is adjusted for the number of "
            "scores (Benjamini-Hochberg); below 0.05 a score is said to differ."
        ),
        more=f"{left:,} more with larger p" if left > 0 else "",
        download=download("association.csv", ordered, "score"),
    )


def _tone(deviation: float) -> str:
    if not np.isfinite(deviation) or abs(deviation) < 0.25:
        return ""
    return ("high" if deviation > 0 else "low") + ("er" if abs(deviation) > 1 else "")


def _profile_frame(
    names: list[str], explained: np.ndarray, means: np.ndarray, deviations: np.ndarray, clusters: FoundClusters
) -> pd.DataFrame:
    columns = [pd.Series(names, name="feature"), pd.Series(explained.round(4), name="eta_squared")]
    for cluster, mean, deviation in zip(clusters.names, means, deviations, strict=True):
        columns += [pd.Series(mean, name=f"mean_{cluster}"), pd.Series(deviation, name=f"sd_{cluster}")]
    return pd.concat(columns, axis=1)
