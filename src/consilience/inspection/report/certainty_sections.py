"""The section of a report on certainty: what another group of as many people would repeat."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as MatplotlibFigure

from consilience.analysis.certainty import Certainty, can_be_weighed, few_people
from consilience.analysis.certainty_moves import LikelySplit
from consilience.analysis.clustering import FoundClusters
from consilience.analysis.item_places import count_apart
from consilience.analysis.item_spread import can_place
from consilience.analysis.names import join_names, join_some, name_text, quantify
from consilience.analysis.words import current_words
from consilience.annotations import Groupings, Labels, Pairs
from consilience.annotations.names import MISSING
from consilience.inspection.plots.certainty import plot_certainty_map
from consilience.inspection.plots.style import Sheet
from consilience.inspection.report.explorer import LEAVES
from consilience.inspection.report.item_tables import SELDOM_STAYS, cluster_cell
from consilience.inspection.report.label_tables import labels_of
from consilience.inspection.report.subject import Figure, Section, Subject
from consilience.inspection.report.tables import Cell, Column, ReportTable, download, name_cell, percent, row

DOUBTFUL_ITEMS, MOST_DOUBTFUL = 15, 100  # of a table; more than 15 if more seldom stay
WITHOUT_TRUST = "do not rely on single {items}, or ask more people."
NAMED = 3  # items in the findings
MOST_NUMBERS = 4  # of clusters in the findings
AGREED, MOST_NAMED = 2 / 3, 6  # share with its cluster below which an item is named, and how many are
STAYS = 0.9  # share of draws from which an item is not in the list of doubtful ones
FEW_OF_MANY = 0.3  # mean share of the items that people sorted
SMALL = 20  # people
LITTLE = 1 / 3  # of the way from chance to certainty, below which little would be repeated
MOST_COMPANIONS, MOST_SPLIT = 3, 8  # items named that are in a new cluster
COLUMNS = ["cluster", "singly", "repeats"]
ROUNDING = 1e-9  # of shares
READABLE = 720  # CSS pixels that names of items need


def in_short(subject: Subject) -> list[str]:
    """Say how much others would repeat, which items are the least certain, and what splits off."""
    words = current_words()
    found, clusters = cast(Certainty, subject.certainty), subject.clusters
    again = _say_of_all_pairs(found)
    if not np.isnan(found.repeats_together):
        again = (
            f"In {clusters.nouns} found from another {found.n_people:,} people, we expect "
            f"{percent(found.repeats_together)} of the pairs of {words.items} that are together here to be together "
            f"again ({percent(found.chance_together)} by chance)."
        )
    findings = [again, *_numbers_in_short(subject, found), *filter(None, [little_in_short(found)])]
    worst = _doubtful(subject).head(NAMED)
    if len(worst):
        names = [f"{name_text(item)} ({percent(share)})" for item, share in worst["singly"].items()]
        findings.append(
            f"Least certain, by how often it would move to another {clusters.noun} by itself: {join_names(names)}."
        )
    return findings + _split_in_short(subject)


def _say_of_all_pairs(found: Certainty) -> str:
    """Say how many of all pairs others would repeat, together or apart."""
    return (
        f"Of all pairs of {current_words().items}, together or apart, {percent(found.repeats)} come out the same (90% "
        f"interval: {percent(found.low)} to {percent(found.high)}; {percent(found.chance)} by chance)."
    )


def _split_in_short(subject: Subject) -> list[str]:
    """Say which part of a cluster is most likely to split off; nothing if none often does."""
    clusters = subject.clusters
    splits = [] if clusters.is_named else subject.moves.splits
    return [
        f"Most likely to divide: “{clusters.titles[split.cluster]}”, in {percent(split.share)} of panels"
        f"{_say_name(subject, split)}; {say_split(subject, split)}."
        for split in splits[:1]
    ]


def _say_name(subject: Subject, split: LikelySplit) -> str:
    return subject.name_of(split.items) if subject.clusters.called else ""


def say_split(subject: Subject, split: LikelySplit) -> str:
    """Name the items of a part that splits off, and say how many people keep it apart."""
    names = join_some([name_text(subject.annotations.items[place]) for place in split.items], MOST_SPLIT)
    if subject.places is None:
        return names
    rest = np.setdiff1d(np.flatnonzero(subject.clusters.codes == split.cluster), split.items)
    (n_apart, _), words = count_apart(subject.groupings, split.items, rest), current_words()
    return f"{n_apart:,} of {words.n_annotators(subject.annotations.n_annotators)} divide it, with {names} apart"


def is_little(found: Certainty) -> bool:
    """Whether of all pairs, others would repeat little more than by chance."""
    return beyond_chance(found) < LITTLE


def little_in_short(found: Certainty) -> str:
    """Say that of all pairs, others would repeat little more than by chance; nothing if they would repeat more."""
    if not is_little(found):
        return ""
    both = f"{percent(found.repeats)} would come out the same, {percent(found.chance)} by chance"
    return f"Of all pairs, {both}: {WITHOUT_TRUST.format(items=current_words().items)}"


def _numbers_in_short(subject: Subject, found: Certainty) -> list[str]:
    """Say how often each number of clusters came out; nothing for classes, whose number is given."""
    clusters = subject.clusters
    if clusters.is_named or len(found.n_clusters) < 2:
        return []
    share = found.n_clusters["share"].sort_values(ascending=False, kind="stable")
    first, most = int(share.index[0]), percent(float(share.iloc[0]))
    come = f"{quantify(first, clusters.noun, clusters.nouns)} {'comes' if first == 1 else 'come'} out in {most} of them"
    rest = [f"{k:,} in {percent(part)}" for k, part in share.iloc[1:MOST_NUMBERS].items()]
    rest += ["other numbers in the rest"] if len(share) > MOST_NUMBERS else []
    return [f"Of {found.n_draws:,} draws of other people, {join_names([come, *rest])}."]


def none_in_short(subject: Subject) -> list[str]:
    """Say that there is no certainty for so few people, or for models of this kind, if so."""
    if subject.certainty is not None:
        return []
    if few := few_people(subject.estimator, subject.annotations):
        return [few]
    if can_be_weighed(subject.estimator):
        return []
    kind = type(subject.estimator).__name__
    return [
        f"How far another group of people would repeat this is not known: the people of {kind} cannot be weighed, so "
        "it has no certainty over people, and its own probabilities are given these people."
    ]


def section(subject: Subject) -> Section | None:
    """Return the section; None if there is no certainty to state."""
    words = current_words()
    found, clusters = subject.certainty, subject.clusters
    if found is None:
        return None
    sentences = [
        f"The people who {_did(subject)} the {words.items} are a sample. {found.n_draws:,} times, they were weighed as "
        f"if another {found.n_people:,} people of the same kind had been asked, and the {clusters.nouns} were found "
        "again; nobody else was asked."
    ]
    sentences += [*how_rough(subject, found), _say_of_all_pairs(found)]
    blocks: list[ReportTable | Figure] = [_places(subject, found) or _bands(found, clusters)]
    blocks += filter(None, [_doubtful_items(subject, found), _numbers(found, clusters)])
    blocks += filter(None, [_map(subject, found)])
    return Section("certainty", "What another group of people would repeat", sentences, blocks)


def how_rough(subject: Subject, found: Certainty) -> list[str]:
    """Say where the figures were found to be off on crowds of this kind; see the page on certainty of the docs."""
    words, annotations = current_words(), subject.annotations
    sentences = []
    if subject.segments is not None and subject.segments.n_segments > 1:
        sentences.append(
            f"The {words.annotators} hold several views. Which of them prevails among others is a matter of chance, so "
            "these figures are too sure."
        )
    if isinstance(annotations, Groupings) and annotations.summary().coverage < FEW_OF_MANY:
        sentences.append(
            f"Everybody saw few of the {words.items}. For such sorts, others repeated more than was stated: these "
            "figures are not sure enough."
        )
    elif are_rough(subject, found):
        sentences.append(
            f"With no more than {SMALL} people, these figures are rough: of single free sorts of this size, they were "
            "off by up to 25 percentage points, in both directions."
        )
    return sentences


def are_rough(subject: Subject, found: Certainty) -> bool:
    """Whether these are figures of a small sort, of whose items everybody saw many."""
    sorts = subject.annotations
    return isinstance(sorts, Groupings) and found.n_people <= SMALL and sorts.summary().coverage >= FEW_OF_MANY


def beyond_chance(found: Certainty) -> float:
    """How far the share that is repeated goes from chance towards 1."""
    return (found.repeats - found.chance) / (1 - found.chance) if found.chance < 1 else 1.0


def leave_singly(subject: Subject) -> np.ndarray:
    """Share of the draws in which each item leaves its cluster on its own; see `Moves.moves_with_others`."""
    stays = cast(Certainty, subject.certainty).items["stays"].to_numpy()
    return np.asarray((1 - stays - subject.moves.moves_with_others(len(stays))).round(9)) + 0.0  # no −0


def are_in_doubt(subject: Subject, least: float) -> np.ndarray:
    """Whether each item leaves its cluster on its own in more draws than in which it may, to stay in that share."""
    return leave_singly(subject) > 1 - least + ROUNDING


def are_marked(subject: Subject) -> np.ndarray:
    """Whether each item is in doubt: others would often move it, or few of these people put it with its cluster."""
    few = _shares_with_own(subject).reindex(subject.annotations.items).to_numpy() < AGREED
    return are_in_doubt(subject, SELDOM_STAYS) | few


def _doubtful(subject: Subject) -> pd.DataFrame:
    """Return the items that often leave their cluster on their own, the most often first."""
    items = cast(Certainty, subject.certainty).items.assign(singly=leave_singly(subject))
    return items[are_in_doubt(subject, STAYS)].sort_values(
        ["singly", "stays", "repeats"], ascending=[False, True, True], kind="stable"
    )


def _did(subject: Subject) -> str:
    annotations = subject.annotations
    return "labelled" if isinstance(annotations, Labels) else "judged" if isinstance(annotations, Pairs) else "sorted"


def _about_staying(clusters: FoundClusters) -> str:
    """Say what it means that an item stays in its cluster, and what it does not."""
    words = current_words()
    return (
        f"{words.An_item} stays in its {clusters.noun} if it is in the one of the draw that is most like it; of two "
        f"{words.items}, one stays even if it is alone. Where two {clusters.nouns} are joined, the {words.items} of "
        "one, mostly the larger, stay, and those of the other count as elsewhere, though they are together: a high "
        f"share does not show that a {clusters.noun} stands alone, nor a low one that it falls apart."
    )


def _bands(found: Certainty, clusters: FoundClusters) -> ReportTable:
    """How many items stay in their cluster how often."""
    words = current_words()
    stays, repeats = found.items["stays"].to_numpy(), found.items["repeats"].to_numpy()
    rows = []
    for low, high in ((0.95, 1.01), (SELDOM_STAYS, 0.95), (0.5, SELDOM_STAYS), (0.0, 0.5)):
        inside = (stays >= low) & (stays < high)
        text = f"{low:.0%} or more" if high > 1 else f"{low:.0%} to {high:.0%}" if low else f"below {high:.0%}"
        mean = percent(repeats[inside].mean()) if inside.any() else "–"
        rows.append(row(text, f"{inside.sum():,}", percent(inside.mean()), mean))
    heads = [Column(f"Stays in its {clusters.noun}", "text"), Column(words.Items), Column("Share")]
    return ReportTable(
        "certainty",
        f"How certain the {words.items_own} {clusters.nouns} are",
        [*heads, Column("Pairs that come out the same")],
        rows,
        reading=f"{_about_staying(clusters)} Pairs come out the same if others, too, put both {words.items} together, "
        "or both apart.",
        download=download("certainty.csv", found.items.round(4), "item"),
    )


def places_in_short(subject: Subject) -> list[str]:
    """Name the items that fewer than two thirds put with their cluster, or left alone if it is one; nothing if none."""
    words, own = current_words(), _shares_with_own(subject)
    few = own[own < AGREED]
    if few.empty:
        return []
    names = join_some([f"{name_text(name)} {percent(share)}" for name, share in few.items()], MOST_NAMED)
    alone = f", or left alone if that is its {subject.clusters.noun}"
    return [
        f"{words.Items} that {words.annotators} place most differently, with the share who put each with its "
        f"{subject.clusters.noun} or part of it{alone if (subject.clusters.sizes == 1).any() else ''}: {names}."
    ]


def _shares_with_own(subject: Subject) -> pd.Series:
    """Return the share who put each item with its cluster or part of it, or left one alone that is; least first."""
    placed, clusters = subject.places, subject.clusters
    if placed is None:
        return pd.Series(dtype=float)
    single = np.append(clusters.sizes == 1, False)[clusters.codes]
    with_own = placed["n_with_cluster"] + placed["n_with_part"]
    own = pd.Series(np.where(single, placed["n_alone"], with_own), placed.index)
    kept = (clusters.codes >= 0) & (placed["n_sorted"] > 0).to_numpy()
    return (own[kept] / placed["n_sorted"][kept]).sort_values(kind="stable")


def _places(subject: Subject, found: Certainty) -> ReportTable | None:
    """Where people put the items that they place most differently, and how often another panel puts them there."""
    words, clusters, placed = current_words(), subject.clusters, subject.places
    if placed is None:
        return None
    own, rows = _shares_with_own(subject), []
    codes = dict(zip(found.items.index, clusters.codes, strict=True))
    shown = placed.loc[own.index[:DOUBTFUL_ITEMS]]
    columns = ["n_sorted", "n_with_cluster", "n_with_part", "n_alone", "other", "n_in_other", "n_in_both", "n_joined"]
    leaves = pd.Series(leave_singly(subject), found.items.index)
    for name, n_sorted, n_with, n_part, n_alone, other, n_other, n_both, n_joined in shown[columns].itertuples(
        name=None
    ):
        is_alone = clusters.sizes[codes[name]] == 1
        cells = [name_cell(name), cluster_cell(clusters, int(codes[name]))]
        cells += row(*(["–", "–"] if is_alone else [percent(n / n_sorted) for n in (n_with, n_part)]))
        cells += row(percent(n_joined / n_sorted), percent(n_alone / n_sorted))
        n_instead = n_other - n_both
        there = cluster_cell(clusters, other) if n_instead else Cell("–")
        cells.append(replace(there, more=f"{there.more} ({percent(n_instead / n_sorted)})") if n_instead else there)
        rows.append([*cells, Cell(percent(leaves[name]))])
    left, file = len(own) - len(rows), found.items.join(placed)
    return ReportTable(
        "places",
        f"The {words.items} that {words.annotators} place most differently",
        [
            Column(words.Item, "text", of_items=True),
            Column(clusters.noun.title(), clusters.kind),
            Column(f"With its {clusters.noun}"),
            *(Column("With part of it"), Column("And with another"), Column("Alone")),
            *(Column("Instead, most with", clusters.kind), Column("Moves by itself")),
        ],
        rows,
        reading=(
            f"Of the {words.annotators} who sorted the {words.item}. With its {clusters.noun}: in a group with at "
            f"least half of the others of it. With part of it: with fewer, but no other {clusters.noun} has more "
            f"{words.items} in that group. And with another: of all who sorted it, those with at least half of another "
            f"{clusters.noun} there, too. Instead: not with its own, but with at least half of another or most of what "
            f"else is there; the most common one. {LEAVES}Those that fewest put with their {clusters.noun} or part "
            "of it come first."
        ),
        more=f"{words.n_items(left)} that as many {words.annotators} put there, or more" if left > 0 else "",
        download=download("certainty.csv", file.round(4), "item"),
    )


def _doubtful_items(subject: Subject, found: Certainty) -> ReportTable | None:
    words = current_words()
    worst, clusters = _doubtful(subject), subject.clusters
    if worst.empty:
        return None
    given = None
    n_shown = max(DOUBTFUL_ITEMS, min(int(are_in_doubt(subject, SELDOM_STAYS).sum()), MOST_DOUBTFUL))
    if isinstance(subject.annotations, Labels):
        given = labels_of(subject.annotations, found.items.index.get_indexer(worst.index[:n_shown]))
    place = {name: code for code, name in enumerate(clusters.index)}
    rows: list[list[Cell]] = []
    shown = worst.head(n_shown)
    places = found.items.index.get_indexer(shown.index)
    for name, cluster, singly, repeats in shown[COLUMNS].itertuples(name=None):
        at = int(places[len(rows)])
        cells = [name_cell(name), cluster_cell(clusters, place[cluster]), *row(percent(singly), percent(repeats))]
        cells.append(_place_of_single(subject, at))
        rows.append(row(*cells, *([] if given is None else [given.iloc[len(rows)]])))
    kind = clusters.kind
    left = len(worst) - len(rows)
    return ReportTable(
        "uncertain",
        f"The least certain {words.items}",
        [
            Column(words.Item, "text", of_items=True),
            Column(clusters.noun.title(), kind),
            Column("Moves by itself"),
            *(Column("Pairs that come out the same"), Column("Then mostly in", kind)),
            *([] if given is None else [Column("Labels given", "wide")]),
        ],
        rows,
        reading=(
            f"{words.Items} that leave their {clusters.noun} by themselves in more than {1 - STAYS:.0%} of the draws, "
            f"the most often first; those above {1 - SELDOM_STAYS:.0%} are worth another look, or more people. By "
            f"itself: not with most of its {clusters.noun}, as where two are joined, nor with a part that often splits "
            "off. Then mostly in: of the draws in which it moves by itself; in brackets, in how many of all draws."
        ),
        more=f"{left:,} more that leave in more than {1 - STAYS:.0%} of the draws" if left > 0 else "",
    )


def _place_of_single(subject: Subject, item: int) -> Cell:
    """Say where an item is most often when it leaves its cluster on its own, and how often."""
    found = subject.moves.goes_singly_to(item)
    if found is None:
        return Cell("–")
    code, share = found
    if code == MISSING:
        return _new_place(subject, item, share)
    there = cluster_cell(subject.clusters, code)
    return replace(there, more=f"{there.more} ({percent(share)})")


def _new_place(subject: Subject, place: int, share: float) -> Cell:
    """Say how often an item is in a new cluster and mostly with whom there, or that it is alone."""
    others = subject.moves.companions(place).tolist()
    if not others:
        return Cell(f"alone ({percent(share)})")
    names = tuple(name_text(subject.items["item"].iloc[other]) for other in others[:MOST_COMPANIONS])
    text = f"a new {subject.clusters.noun} ({percent(share)}), mostly with "
    return Cell(text, names=names, more="…" if len(others) > MOST_COMPANIONS else "")


def _numbers(found: Certainty, clusters: FoundClusters) -> ReportTable | None:
    """How often each number of clusters came out; None for classes, whose number is given."""
    if clusters.is_named or len(found.n_clusters) < 2:
        return None
    used = int(np.count_nonzero(clusters.sizes))
    rows = [
        row(f"{number_of:,}{' (here)' if number_of == used else ''}", percent(share))
        for number_of, share in found.n_clusters["share"].items()
    ]
    return ReportTable(
        "numbers",
        "How many clusters others would lead to",
        [Column("Clusters", "text"), Column("Share of the draws")],
        rows,
        reading="If several numbers are about as frequent, the number of clusters is a matter of how fine you look.",
    )


def about_ellipses(subject: Subject) -> str:
    """Say what ellipses on the map are, and that they are not the test of which items are sorted differently."""
    words = current_words()
    said = (
        f"An ellipse holds the place of its {words.item} by 9 of 10 other groups of people, each {words.item} on its "
        f"own: whether ellipses overlap does not show whether two {words.items} are sorted differently."
    )
    if subject.separation is None:
        return said
    return f"{said} That is tested, for all pairs together, in “Which {words.items} are sorted differently”."


def _map(subject: Subject, found: Certainty) -> Figure | None:
    """The map with ellipses; None if they could not be told apart, since the map alone is drawn elsewhere."""
    words = current_words()
    if subject.co_occurrence is None or not can_place(subject.co_occurrence):
        return None
    ax = plot_certainty_map(subject, found, ax=Sheet())
    if not ax.patches:
        return None
    caption = (
        f"The {words.items} in the plane, close where people put them together. {about_ellipses(subject)} Where "
        f"ellipses of two clusters overlap, others may divide these {words.items} otherwise."
    )
    figure = cast(MatplotlibFigure, ax.figure)
    drawn = Figure.of("certainty-map", figure, "Scatter plot. " + caption, caption, readable=READABLE)
    return replace(drawn, still=True)
