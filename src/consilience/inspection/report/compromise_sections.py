"""Section of a report on the compromise of a panel, as DISTATIS finds it, with the assessors' places around it."""

from __future__ import annotations

from typing import cast

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as MatplotlibFigure

from consilience.analysis.compromise import CompromiseMap, PanelTables
from consilience.analysis.compromise_chance import PanelAgreement
from consilience.analysis.names import join_names, join_some, name_text
from consilience.analysis.panels import N_SIMULATIONS
from consilience.inspection.plots.compromise import MOST_PARTIAL, draw_compromise
from consilience.inspection.plots.point_labels import say_unwritten
from consilience.inspection.plots.style import Sheet
from consilience.inspection.report.annotators import DISTATIS, cut
from consilience.inspection.report.axis_ends import say_ends
from consilience.inspection.report.figure_files import small
from consilience.inspection.report.item_tables import cluster_cell
from consilience.inspection.report.map_data import say_hardly_shown
from consilience.inspection.report.subject import Figure, Section, Subject
from consilience.inspection.report.tables import Column, ReportTable, download, name_cell, number, percent, row

READABLE = 720  # CSS pixels that names of items need
MOST_NAMED = 6  # people left out who are named
PLACES = 4  # decimals of files
DRAWN = 2  # dimensions
RISE = 0.3  # rank correlation of weights and numbers of groups that is said
HEADING = "The compromise of the panel"


def section(subject: Subject) -> Section | None:
    """Return the section; None unless readers know DISTATIS, or items were placed on sheets."""
    found = subject.compromise
    if found is None:
        return None
    words = subject.words
    what = f"{_say_what(subject, found)} {_say_percentages(subject, found)}"
    sentences = [what, _say_axes(subject, found), *_say_agreement(subject)]
    if len(found.left_out):
        who = join_some(list(map(name_text, found.left_out)), MOST_NAMED)
        sentences.append(f"Not in it, since they left out some {words.items}: {who}.")
    blocks: list[ReportTable | Figure] = [_map(subject, found), _table(subject, found)]
    if subject.napping is not None or len(found.left_out):  # else “How alike the assessors sort” has them
        blocks.append(_weights(subject, found))
    return Section("compromise", HEADING, sentences, blocks)


def _say_what(subject: Subject, found: CompromiseMap) -> str:
    words = subject.words
    if subject.napping is None:
        return (
            f"The sorts of the {words.annotators}, each weighted by its RV coefficients with the others (DISTATIS), "
            f"which are not corrected for chance{_rise_with_groups(subject, found)}; the map in “What belongs "
            "together” counts all alike."
        )
    return (
        f"{len(found.weights):,} tables are weighted by the RV coefficients of each with the others (DISTATIS): each "
        f"{words.annotator}'s sheet and groups, each divided by its first eigenvalue, added. The map in “What belongs "
        "together” counts all alike, and does not use the sheets."
    )


def _rise_with_groups(subject: Subject, found: CompromiseMap) -> str:
    """Say how far the weights rise with the number of groups; nothing if they do not, or all made as many."""
    annotations = subject.groupings
    n_groups = pd.Series(np.bincount(annotations.annotator_of_group), annotations.annotators).loc[found.weights.index]
    rise = 0.0 if (n_groups == n_groups.iloc[0]).all() else n_groups.corr(found.weights, method="spearman")
    return f" and rise with the number of groups (rank correlation {number(rise)})" if rise > RISE else ""


def say_what_sheets_enter(subject: Subject) -> list[str]:
    """Say at the head of a report what the sheets are in; nothing if there are none."""
    if subject.napping is None:
        return []
    return [
        f"{subject.clusters.nouns.capitalize()}, certainty and tests are of the groups only: the sheets, on which the "
        f"{subject.words.items} were placed, enter “{HEADING}” alone."
    ]


def _say_agreement(subject: Subject) -> list[str]:
    """Say how alike sheets and groups are, and two people, beside chance."""
    words, found = subject.words, cast(PanelAgreement, subject.panel_agreement)
    sentences = []
    if found.own.notna().any():
        least = found.own.idxmin()
        sentences.append(
            f"Sheets and groups: the RV coefficient of {words.an_annotator}'s sheet with the own groups is "
            f"{number(found.own.mean())} on average, and least for {name_text(least)} ({number(found.own.min())}); "
            "that of the compromise of the sheets alone with the compromise of the groups alone is "
            f"{number(found.compromises)}."
        )
    of = {"groups": "groups", "sheets": "sheets", "both": "both together"}
    means = [
        f"{number(rv)} for {of[name]} (by chance {number(by_chance)})"
        for name, rv, by_chance in found.mean_rv.itertuples()
    ]
    return [
        *sentences,
        f"The mean RV coefficient of two {words.annotators} is {join_names(means)}. By chance: if the {words.items} of "
        "each changed places at random.",
    ]


def _say_axes(subject: Subject, found: CompromiseMap) -> str:
    """Say how many dimensions show more than chance, which of them are shown, and what these oppose."""
    words, tests = subject.words, subject.compromise_axes
    if tests is None:
        return "Whether its dimensions show more than chance was not tested; the test of axes is of the other map."
    n, shown = int(tests["real"].sum()), found.scores.shape[1]
    against = f"Compared with tables in which the {words.items} change places at random"
    if not n:
        return f"{against}, none of its dimensions shows more than chance: do not read anything into places."
    first = "the first dimension shows" if n == 1 else f"the first {n:,} dimensions show"
    rest = join_names([f"{axis:,}" for axis in range(n + 1, shown + 1)])
    later = "" if n == len(tests) else f"; {f'what {rest} show' if rest else 'what later ones show'} may be chance"
    ends = say_ends(
        "Dimension",
        found.scores.index,
        found.scores.to_numpy()[:, :n],
        found.cos2.to_numpy()[:, :n],
        subject.group_words,
    )
    return (
        f"{against}, {first} more than chance{later}. The map draws dimensions 1 and 2; the table has {shown:,}. {ends}"
    )


def _say_percentages(subject: Subject, found: CompromiseMap) -> str:
    """Say of which maps the shares of first dimensions are, and which are those of DISTATIS."""
    words, of_agreement = subject.words, cast(PanelTables, subject.panel_tables).weighed.places(1)[1][0]
    of_map = "" if subject.axes is None else f"the {percent(subject.axes['share'].iloc[0])} "
    return (
        f"As shares of first dimensions in DISTATIS, quote {percent(found.shares.iloc[0])} of the compromise, for the "
        f"{words.items}, and {percent(of_agreement)} of the RV coefficients, for how alike the {words.annotators} "
        f"sort; {of_map}of that other map {'is' if of_map else 'are'} of distances that are 1 − the share of those who "
        "put two together, where the compromise has squared distances, which leave more to later dimensions."
    )


def _map(subject: Subject, found: CompromiseMap) -> Figure:
    words = subject.words
    ax = draw_compromise(found, subject.clusters, ax=Sheet())
    drawn = len(found.partial) <= MOST_PARTIAL
    thin = f" Thin lines lead to where each {words.annotator} would place {words.an_item} (partial scores)."
    caption = f"The compromise map. Each cluster has its colour and shape.{thin if drawn else ''}"
    caption += say_hardly_shown(found.scores.index, found.hardly_shown().to_numpy())
    frame = found.scores.join(found.cos2.rename(columns=lambda name: f"cos2_{name}")).round(PLACES)
    frame.insert(0, subject.clusters.column, subject.clusters.names_of(subject.clusters.codes))
    figure, file = cast(MatplotlibFigure, ax.figure), small(download("compromise.csv", frame, "item"))
    described = f"Scatter plot. {caption}"
    return Figure.of("compromise", figure, described, caption, file, readable=READABLE, named=lambda: say_unwritten(ax))


def _table(subject: Subject, found: CompromiseMap) -> ReportTable:
    words, clusters = subject.words, subject.clusters
    n_axes = found.scores.shape[1]
    each = found.partial.to_numpy().reshape(len(found.scores), -1, n_axes)
    around = (each - found.scores.to_numpy()[:, None])[..., :DRAWN]
    spread = np.sqrt((around**2).sum(2) @ found.weights.to_numpy())
    in_plane = found.cos2.to_numpy()[:, :DRAWN].sum(1)
    rows = [
        row(
            name_cell(item),
            cluster_cell(clusters, int(clusters.codes[place])) if clusters.codes[place] >= 0 else "–",
            *(number(value) for value in found.scores.iloc[place]),
            number(in_plane[place]),
            number(spread[place]),
        )
        for place, item in enumerate(found.scores.index)
    ]
    heads = [f"Dimension {axis} ({percent(share)})" for axis, share in enumerate(found.shares, 1)]
    tests = subject.compromise_axes
    each_p = "" if tests is None else ", ".join(map(number, tests["p_value"].iloc[:n_axes]))
    of_chance = each_p and f" p against chance, never below {1 / (N_SIMULATIONS + 1):g}: {each_p}."
    return ReportTable(
        "compromise",
        f"Places of the {words.items} in the compromise",
        [
            Column(words.Item, "text", of_items=True),
            Column("Cluster", clusters.kind),
            *map(Column, heads),
            *(Column("Shown by the plane"), Column(f"Spread of the {words.annotators}")),
        ],
        rows,
        reading=(
            f"In brackets: the share of the variance that a dimension shows.{of_chance} Shown by the plane (cos²): how "
            f"much of the {words.item}'s squared distance from the centre, over all dimensions, the plane has. Spread: "
            f"how far from its place the {words.annotators} would put it in the plane, in its unit (root of the "
            "weighted mean square); small, too, where the plane hardly shows it. The file has the partial scores."
        ),
        download=download("partial-scores.csv", found.partial.round(PLACES).reset_index()),
    )


def _weights(subject: Subject, found: CompromiseMap) -> ReportTable:
    words = subject.words
    own = cast(PanelAgreement, subject.panel_agreement).own
    with_sheets = bool(own.notna().any())
    frame = pd.DataFrame({"weight": found.weights, "rv": found.rv, **({"rv_own": own} if with_sheets else {})})
    frame = frame.sort_values("weight", ascending=False, kind="stable")
    shown, gap = cut(frame)
    of = "sheet and groups together" if subject.napping is not None else f"those who sorted all {words.items}"
    order = "those of the highest weight first"
    heads = [DISTATIS.head, "RV with the compromise", *(["RV of sheet with own groups"] if with_sheets else [])]
    return ReportTable(
        "compromise-weights",
        f"The {words.annotators} in the compromise, {order}",
        [Column(words.Annotator, "text"), *map(Column, heads)],
        [
            row(name_cell(name), f"{weight:.1%}", *map(number, others))
            for name, weight, *others in shown.itertuples(name=None)
        ],
        order=order,
        reading=(
            f"Of {of}. All weights sum to 100%. RV coefficient: 1 for the same table; it is not corrected for chance."
        ),
        gap=gap,
        download=download("compromise-weights.csv", frame.round(PLACES), "annotator"),
    )
