"""The content of the report on two studies, section by section."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from typing import Any, cast

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as MatplotlibFigure

import consilience
from consilience.analysis.names import join_names, name_text, quantify
from consilience.analysis.nouns import capital
from consilience.analysis.studies.detectable import POWER
from consilience.analysis.studies.permutation import LEVEL
from consilience.analysis.studies.study_difference import StudyDifference
from consilience.analysis.words import Words
from consilience.inspection.plots.matrix import MOST_NAMED
from consilience.inspection.plots.studies import plot_difference, plot_flow
from consilience.inspection.plots.style import Sheet
from consilience.inspection.report.subject import Figure, Section
from consilience.inspection.report.svg import swatch
from consilience.inspection.report.tables import (
    Cell,
    Column,
    ReportTable,
    download,
    name_cell,
    names_cell,
    number,
    percent,
    row,
)

NAMED = 8  # items in a sentence
MOST_ITEMS, MOST_PAIRS, MOST_MOVES = 25, 25, 40  # rows of tables
COMPANIONS = 3  # with whom an item is less, and more
MANY = 0.25  # share of the items
LEAST = 0.1  # change of a share that is worth naming
READABLE = 720


def headline(found: StudyDifference, words: Words) -> str:
    """Say what was compared."""
    one, other = map(name_text, found.names)
    return f"{one} and {other}: what changed among {words.n_items(len(found.items))}"


def findings(found: StudyDifference, words: Words) -> list[str]:
    """Return the answer in a few sentences."""
    sentences = [answer(found, words)]
    sentences += _say_moved(found, words) if found.differ else _power(found, words)
    if found.differ:
        n_pairs = int((found.pairs["p_value"] <= LEVEL).sum())
        sentences.append(
            f"{quantify(n_pairs, 'pair')} of {words.items} (of {len(found.pairs):,}) changed clearly."
            if n_pairs
            else f"No single pair of {words.items} changed clearly."
        )
    sentences += _likeness(found)
    for name, only in zip(found.names, (found.only_first, found.only_second), strict=True):
        if len(only):
            sentences.append(f"{words.n_items(len(only))} only in {name_text(name)}; not compared.")
    return sentences


def answer(found: StudyDifference, words: Words) -> str:
    """Say whether the studies differ."""
    one, other = map(name_text, found.names)
    chance = f"p = {p_text(found.p_value)}, {found.n_permutations:,} permutations"
    if found.differ:
        return f"{one} and {other} differ more than two random groups of these {words.annotators} would ({chance})."
    return (
        f"No difference between {one} and {other} was found: two random groups of these {words.annotators} differ as "
        f"much in {percent(found.p_value)} of the cases ({chance})."
    )


def _say_moved(found: StudyDifference, words: Words) -> list[str]:
    left = len(found.items) - len(found.moved)
    if not found.moved:
        return [f"No single one of the {words.items} stands out: several changed a little."]
    names = [name_text(name) for name in found.moved[:NAMED]]
    if len(found.moved) > NAMED:
        names.append(f"{len(found.moved) - NAMED:,} more")
    sentences = [f"{words.n_items(len(found.moved))} moved, the clearest first: {join_names(names)}."]
    if len(found.moved) > MANY * len(found.items):
        sentences.append("Where so many moved, it is less certain which did and which only lost their company.")
    if found.p_rest > LEVEL:
        text = f"The other {words.n_items(left)} are sorted alike, as far as these {words.annotators} can tell"
        sentences.append(f"{text} (p = {p_text(found.p_rest)}).")
    else:
        sentences.append(f"Among the other {words.n_items(left)} there are changes, too, but not clearly whose.")
    return sentences


def _power(found: StudyDifference, words: Words) -> list[str]:
    if found.power.empty:
        return []
    sizes = f"{found.n_people[0]:,} and {found.n_people[1]:,} {words.annotators}"
    if found.detectable is None:
        most, share = int(found.power.index[-1]), float(found.power["found"].iloc[-1])
        return [
            f"Do not conclude that the two are alike: so few {words.annotators} ({sizes}) would find a difference in "
            f"only {percent(share)} of simulated studies even if {words.n_items(most)} had changed places."
        ]
    return [
        f"{sizes} would have found a difference in at least {percent(POWER)} of simulated studies if "
        f"{words.n_items(found.detectable)} had changed places with {words.items} of other clusters. Smaller changes "
        "may have gone unnoticed."
    ]


def _likeness(found: StudyDifference) -> list[str]:
    if not np.isfinite(found.correlation):
        return []
    return [
        f"The shares of togetherness of the two correlate by {number(found.correlation)}; those of two random groups "
        "by "
        f"{number(found.usual_correlation)} on average, and by at least {number(found.low_correlation)} in 19 of 20 "
        "cases."
    ]


def sections(found: StudyDifference, words: Words) -> Iterator[Section]:
    """Yield the sections of the page."""
    yield Section("given", "The two studies", found.notes, [_given_section(found, words)])
    yield _items_section(found, words)
    yield _pairs_section(found, words)
    yield _clusters_section(found, words)
    yield _agreement_section(found, words)
    yield from filter(None, [_power_section(found, words), _only_section(found, words)])
    yield _settings(found)


def _given_section(found: StudyDifference, words: Words) -> ReportTable:
    only = (found.only_first, found.only_second)
    rows = [
        row(name_cell(name), f"{n:,}", f"{len(found.items):,}", f"{len(missing):,}")
        for name, n, missing in zip(found.names, found.n_people, only, strict=True)
    ]
    heads = [Column("Study", "text"), Column(words.Annotators), Column(f"{words.Items} in common"), Column("Only here")]
    more = ""
    if found.n_same_people:
        more = f"{words.n_annotators(found.n_same_people)} took part in both."
    return ReportTable("given", "What was compared", heads, rows, reading=more)


def _items_section(found: StudyDifference, words: Words) -> Section:
    one, other = map(name_text, found.names)
    place = {name: rank for rank, name in enumerate(found.moved)}
    excess = found.items["change"] - found.items["by_chance"]
    order = sorted(
        range(len(found.items)),
        key=lambda at: (place.get(found.items.index[at], len(place)), -np.nan_to_num(excess.iloc[at])),
    )
    shown = order[: max(MOST_ITEMS, len(found.moved))]
    first, second = (found.matrix(column).to_numpy() for column in ("first", "second"))
    rows = [_item_row(found, at, first[at], second[at]) for at in shown]
    left = len(order) - len(shown)
    table = ReportTable(
        "items",
        f"{words.Items}, those that moved most first",
        [
            Column(words.Item, "text"),
            Column("Moved", "line"),
            Column("Mean change of its pairs"),
            Column("By chance"),
            Column("p"),
            Column("Less often with", "wide"),
            Column("More often with", "wide"),
        ],
        rows,
        reading=f"The change is the mean, over the pairs of the {words.item} with all others, of how much the share of "
        f"{words.annotators} who put both together changed; beside it, what random groups of these {words.annotators} "
        f"differ by. The p-value is corrected for the number of {words.items}. The last columns name pairs whose share "
        f"changed by {percent(LEAST)} or more: {one} → {other}.",
        more=f"{left:,} more {words.items} (in items.csv)" if left > 0 else "",
        download=download("items.csv", found.items.round(4), "item"),
    )
    sentences = [] if found.differ else ["The studies do not differ as a whole, so none of these moves is certain."]
    return Section("moved", f"Which {words.items} moved", sentences, [table])


def _item_row(found: StudyDifference, at: int, first: np.ndarray, second: np.ndarray) -> list[Cell]:
    facts = found.items.iloc[at]
    names, change = found.items.index, np.nan_to_num(second - first)

    def companions(signed: np.ndarray) -> Cell:
        best = np.argsort(-signed, kind="stable")[:COMPANIONS]
        kept = [int(who) for who in best if signed[who] >= LEAST]
        return Cell(
            pairs=tuple((f"{percent(first[who])} → {percent(second[who])}", name_text(names[who])) for who in kept),
            text="" if kept else "–",
        )

    moved = bool(facts["moved"])
    cells: list[Any] = [name_cell(names[at]), "yes" if moved else "–"]
    cells += [percent(float(facts["change"])), percent(float(facts["by_chance"])), p_text(float(facts["p_value"]))]
    return row(*cells, companions(-change), companions(change))


def _pairs_section(found: StudyDifference, words: Words) -> Section:
    one, other = map(name_text, found.names)
    known = found.pairs[found.pairs["p_value"].notna()]
    rows = []
    for pair in known.head(MOST_PAIRS).itertuples(index=False):
        clear = float(cast(Any, pair.p_value)) <= LEVEL
        rows.append(
            row(
                Cell(names=(name_text(pair.item_a), name_text(pair.item_b))),
                percent(float(cast(Any, pair.first))),
                percent(float(cast(Any, pair.second))),
                Cell(points(float(cast(Any, pair.difference))), tone="flag" if clear else ""),
                f"{points(float(cast(Any, pair.low)))} to {points(float(cast(Any, pair.high)))}",
                p_text(float(cast(Any, pair.p_value))),
            )
        )
    left = len(found.pairs) - len(rows)
    table = ReportTable(
        "pairs",
        f"Pairs of {words.items} that changed most clearly",
        [
            Column("Pair", "names"),
            Column(f"Together in {one}"),
            Column(f"Together in {other}"),
            Column("Change, in points"),
            Column("95% interval"),
            Column("p"),
        ],
        rows,
        reading=f"The share of the {words.annotators} who had both {words.items} in one grouping and put them "
        "together. "
        "The interval is of each pair alone; the p-value is corrected for the number of pairs, and bold changes have "
        "one "
        f"of at most {LEVEL:g}.",
        more=f"{left:,} more pairs (in pairs.csv)" if left > 0 else "",
        download=download("pairs.csv", found.pairs.round(4)),
    )
    caption = (
        f"Blue: together more often in {other} than in {one}; orange: less often; the stronger the colour, the larger "
        f"the change. {words.Items} that are together in either study are next to each other. {words.An_item} that "
        "moved "
        "has an orange stripe where it was and a blue one where it went."
    )
    if len(found.items) > MOST_NAMED:
        caption += " Names and numbers are in pairs.csv."
    alternative = (
        f"Heat map of the change of the share of togetherness of each two of {words.n_items(len(found.items))}; the "
        "largest changes are in the table of pairs."
    )
    drawn = plot_difference(found, ax=Sheet())
    figure = Figure.of("difference", cast(MatplotlibFigure, drawn.figure), alternative, caption, readable=READABLE)
    return Section("pairs", f"Which pairs of {words.items} changed", [], [figure, table])


def _clusters_section(found: StudyDifference, words: Words) -> Section:
    one, other = map(name_text, found.names)
    n_elsewhere = int((found.items["first"] != found.items["second"]).sum())
    sentences = [
        f"Both studies were divided into clusters anew, and clusters with most {words.items} in common have one number "
        f"and one colour. {words.n_items(len(found.items) - n_elsewhere)} of {len(found.items):,} stay in their "
        "cluster."
    ]
    if not found.differ and n_elsewhere:
        sentences.append(
            "Two random groups of people lead to somewhat different clusters, too: since the studies do not differ "
            "as a "
            "whole, take the moves for chance."
        )
    drawn = plot_flow(found, ax=Sheet())
    flow = Figure.of(
        "flow",
        cast(MatplotlibFigure, drawn.figure),
        f"Flow of {words.items} from the clusters of {one} to those of {other}; the numbers are in the tables below.",
        f"Left the clusters of {one}, right those of {other}; the wider a band, the more {words.items}. Bands with a "
        "dark "
        "edge went to another cluster.",
        readable=READABLE,
    )
    blocks: list[ReportTable | Figure] = [flow, _cluster_table(found, words)]
    if n_elsewhere:
        blocks.append(_moves(found, words))
    return Section("clusters", "What moved from cluster to cluster", sentences, blocks)


def _cluster_table(found: StudyDifference, words: Words) -> ReportTable:
    one, other = map(name_text, found.names)
    flow = found.flow
    rows = []
    for cluster in found.clusters.index.tolist():
        facts = found.clusters.loc[cluster]
        stay = int(cast(Any, flow.loc[cluster, cluster])) if cluster in flow.index and cluster in flow.columns else 0
        rows.append(
            row(
                Cell(str(cluster), mark=swatch(cluster)),
                f"{facts['n_first']:,}",
                f"{facts['n_second']:,}",
                f"{stay:,}",
                name_cell(facts["called_first"] or "–"),
                name_cell(facts["called_second"] or "–"),
            )
        )
    return ReportTable(
        "clusters",
        "The clusters of both studies",
        [
            Column("Cluster", "line"),
            Column(f"{words.Items} in {one}"),
            Column(f"{words.Items} in {other}"),
            Column("In both"),
            Column(f"Called in {one}", "text"),
            Column(f"Called in {other}", "text"),
        ],
        rows,
        reading="The name that most people give to the cluster, if at least two do.",
    )


def _moves(found: StudyDifference, words: Words) -> ReportTable:
    one, other = map(name_text, found.names)
    moves = found.moves
    rows = [
        row(
            name_cell(name),
            _cluster_cell(found, facts["first"], "called_first"),
            _cluster_cell(found, facts["second"], "called_second"),
            percent(float(facts["probability"])),
            "yes" if facts["moved"] else "–",
        )
        for name, facts in moves.head(MOST_MOVES).iterrows()
    ]
    left = len(moves) - len(rows)
    return ReportTable(
        "moves",
        f"{words.Items} in another cluster",
        [
            Column(words.Item, "text"),
            Column(f"In {one}", "text"),
            Column(f"In {other}", "text"),
            Column("Probability"),
            Column(f"Among the {words.items} that moved", "line"),
        ],
        rows,
        reading=f"The probability is that other {words.annotators} of the same kind would again lead to these two "
        f"clusters. It is low for {words.items} between two clusters, which change sides by chance.",
        more=f"{left:,} more moves (in items.csv)" if left > 0 else "",
    )


def _cluster_cell(found: StudyDifference, cluster: int, column: str) -> Cell:
    called = found.clusters.loc[cluster, column]
    return Cell(str(cluster), names=(name_text(called),) if called else (), mark=swatch(int(cluster)))


def _agreement_section(found: StudyDifference, words: Words) -> Section:
    rows = [
        row(capital(name_text(name)), number(facts["agreement"]), f"{number(facts['low'])} to {number(facts['high'])}")
        for name, facts in found.agreement.iterrows()
    ]
    table = ReportTable(
        "agreement",
        f"Mean agreement of two {words.annotators}",
        [Column(f"Two {words.annotators}", "text"), Column("Agreement"), Column("95% interval")],
        rows,
        reading=f"Adjusted Rand index: 1 for the same groups, 0 for agreement by chance. If two {words.annotators} of "
        "different studies agree as much as two of one, the studies are alike; intervals are over people.",
        download=download("agreement.csv", found.agreement.round(4), "pair"),
    )
    return Section("agreement", f"How far {words.annotators} agree", [], [table])


def _power_section(found: StudyDifference, words: Words) -> Section | None:
    if found.power.empty:
        return None
    rows = [row(f"{size:,}", percent(share)) for size, share in found.power["found"].items()]
    table = ReportTable(
        "power",
        "How often a difference would be found",
        [Column(f"{words.Items} that change places"), Column("Share of simulated studies")],
        rows,
        reading=f"Simulated with the {words.annotators} of both studies, put into two groups at random: in one of "
        "them, "
        f"so many {words.items} change places with {words.items} of other clusters.",
    )
    return Section("power", "How small a difference would be found", [], [table])


def _only_section(found: StudyDifference, words: Words) -> Section | None:
    rows = [
        row(name_cell(name), names_cell(list(only), 60))
        for name, only in zip(found.names, (found.only_first, found.only_second), strict=True)
        if len(only)
    ]
    if not rows:
        return None
    heads = [Column("Study", "text"), Column(words.Items, "wide")]
    sentence = (
        f"They are not compared. That other {words.items} were present may by itself have changed how all were sorted."
    )
    return Section(
        "only", f"{words.Items} in one study only", [sentence], [ReportTable("only", "Not compared", heads, rows)]
    )


def _settings(found: StudyDifference) -> Section:
    rows = [
        row("permutations", f"{found.n_permutations:,}"),
        row("level of every claim", f"{LEVEL:g}"),
        *(row(name, version(name)) for name in ("numpy", "scipy", "scikit-learn", "pandas")),
        row("consilience", consilience.__version__),
    ]
    table = ReportTable("versions", "Settings and versions", [Column("", "text"), Column("", "wide")], rows)
    return Section("settings", "Settings and versions", [], [table])


def points(value: float) -> str:
    """Format a difference of shares in percentage points."""
    return "–" if not np.isfinite(value) else number(100 * value + 0.0, 0)


def p_text(value: float) -> str:
    """Format a p-value.

    Examples
    --------
    >>> [p_text(value) for value in (0.001, 0.0123, 0.4567, 1.0)]
    ['0.001', '0.012', '0.46', '1.00']
    """
    if pd.isna(value):
        return "–"
    return f"{value:.3f}" if value < 0.1 else f"{value:.2f}"
