"""Sections of a report on free sorts as sensory science reads them: words of the items, and who sorts like whom.

The words of groups with the items they go with, on the map of the items; the map of the annotators by their RV
coefficients, and the segments of the panel.
"""

from __future__ import annotations

from typing import cast

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as MatplotlibFigure

from consilience.analysis.group_words import LEVEL, GroupWords
from consilience.analysis.names import join_names, join_some, name_text, quantify
from consilience.analysis.panels import FEWEST_USERS, N_SIMULATIONS, are_compared
from consilience.analysis.rv import ScalarProducts, SortTable
from consilience.analysis.segments import ENOUGH, PanelSegments
from consilience.inspection.plots.annotator_map import draw_products
from consilience.inspection.plots.point_labels import n_named, say_unwritten
from consilience.inspection.plots.style import Sheet
from consilience.inspection.plots.word_map import plot_word_map
from consilience.inspection.report import participants
from consilience.inspection.report.annotators import DISTATIS, cut
from consilience.inspection.report.compromise_sections import HEADING as COMPROMISE
from consilience.inspection.report.map_data import words_file
from consilience.inspection.report.subject import Figure, Section, Subject
from consilience.inspection.report.svg import swatch
from consilience.inspection.report.tables import (
    Cell,
    Column,
    Download,
    ReportTable,
    download,
    may_fit,
    name_cell,
    names_cell,
    number,
    percent,
    row,
)

MOST_WORDS = 40  # rows of the table
MOST_ITEMS = 5  # of a word in the table
N_AXES = 3  # of the annotators
SAME = 5e-4  # difference of coordinates that are not told apart in a table
NAMED = 5  # annotators at chance in a caption
MOST_PAIRS = 6  # of items, of each segment
READABLE, MEDIUM = 720, 560  # CSS pixels that names of items need, and those of annotators


def words_section(subject: Subject) -> Section | None:
    """Return the section on words; None if there are none."""
    found, words = subject.group_words, subject.words
    if found is None:
        return None
    goes_with = found.of_items()
    n_certain = goes_with["word"].nunique()
    sentence = (
        "Words, here, are names of groups, or their parts between commas or semicolons, as written: a longer name that "
        f"only contains one does not count. {quantify(len(found.words), 'is', 'are')} used by at least {FEWEST_USERS} "
        f"{words.annotators} each. "
    )
    if n_certain:
        goes = "goes" if n_certain == 1 else "go"
        sentence += f"{n_certain:,} of them {goes} with some {words.items} more often than by chance."
    else:
        sentence += (
            f"No link of a word with {words.items} is certain once the number of words and {words.items} is allowed "
            "for; the table shows the nearest."
        )
    blocks: list[ReportTable | Figure] = [_words_table(subject, found, goes_with)]
    if subject.groupings.n_items > 2 and subject.co_occurrence is not None:
        ax = plot_word_map(subject, words=found, ax=Sheet())
        caption = (
            f"The map of the {words.items}, with words in grey italics, the larger, the more {words.annotators} use "
            f"them: each at the mean of the {words.items} of which it was said, weighted by how many "
            f"{words.annotators} said it. A word in the middle may be said of everything, or of {words.items} on "
            f"opposite sides. Point at {words.an_item} to read its name."
        )
        file = words_file(subject.co_occurrence, found)
        sheet = cast(MatplotlibFigure, ax.figure)
        drawn = Figure.of(
            "word-map",
            sheet,
            f"Scatter plot. {caption}",
            caption,
            file,
            readable=READABLE,
            named=lambda: say_unwritten(ax),
        )
        blocks.append(drawn)
    return Section("words", f"Words for the {words.items}", [sentence], blocks)


def _words_table(subject: Subject, found: GroupWords, goes_with: pd.DataFrame) -> ReportTable:
    words, rows = subject.words, []
    by_word = dict(iter(goes_with.groupby("word", sort=False)))
    is_repeated = bool((found.words["n_groups"] > found.words["n_annotators"]).any())
    for word, n_annotators, n_groups in found.words.head(MOST_WORDS).itertuples(name=None):
        counts = found.counts.loc[word]
        most = counts[counts > 0].sort_values(ascending=False, kind="stable")
        pairs = tuple((f"{count:,}", name_text(item)) for item, count in most.head(MOST_ITEMS).items())
        sure = by_word.get(word)
        if len(counts[counts > 0]) > MOST_ITEMS:
            pairs += (("", f"and {(counts > 0).sum() - MOST_ITEMS:,} more"),)
        beyond = Cell("–") if sure is None else names_cell(sure["item"].tolist(), MOST_ITEMS)
        lowest = found.tests.loc[found.tests["word"] == word, "p_corrected"].min()
        times = [f"{n_groups:,}"] if is_repeated else []
        cells = [name_cell(word), *times, f"{n_annotators:,}", Cell(pairs=pairs), beyond]
        rows.append(row(*cells, _p_value(lowest)))
    left = len(found.words) - len(rows)
    file, of_each = download("words.csv", found.tests.round(5)), "each of them"
    if not file.address:
        said = found.tests[found.tests["n_annotators"] > 0]
        file, of_each = download("words.csv", said.round(5)), "those that anybody said"
    return ReportTable(
        "words",
        f"Words, and the {words.items} they go with",
        [
            Column("Word", "text"),
            *([Column("Times used")] if is_repeated else []),
            Column(f"{words.Annotators} who use it"),
            Column(f"Said most often of ({words.annotators})", "wide"),
            Column("More often than by chance of", "names"),
            Column("Least corrected p"),
        ],
        rows,
        reading=(
            "Case and accents are ignored; other forms of a word, which “Standard names” merges, are counted apart. By "
            "chance: if the groups "
            f"of each {words.annotator} kept their sizes and words, but held random {words.items}; the p-values are "
            f"corrected for the number of words and {words.items} (false discovery rate {LEVEL:.0%}). The full table "
            f"has {of_each}, with the v-test of SensoMineR and FactoMineR, too."
        ),
        more=f"{left:,} rarer words" if left > 0 else "",
        download=file,
    )


def segments_in_short(subject: Subject) -> list[str]:
    """Say whether the panel is one, as far as that was tested."""
    found, words = subject.segments, subject.words
    if found is None or found.tests.empty:
        return []
    if found.n_segments < 2:
        p = _of_few(found.tests["p_value"].iloc[0], "= ")
        return [
            f"No segments are shown: of all ways to divide the {words.annotators} in two by their sorts, the best "
            f"explains no more of how they differ than chance (p {p}). Small segments, or such as differ in few "
            f"{words.items}, could be missed; groups that you know of are compared by the option where."
        ]
    sizes = found.segments["n_annotators"]
    mixed = join_names([f"{sizes[segment]:,}" for segment in _mixed_segments(subject, found)])
    but = f" (the {mixed} agree no more with each other than with another segment)" if mixed else ""
    return [
        f"The {words.annotators} are not one panel: segments of {join_names([f'{size:,}' for size in sizes])} sort "
        f"differently{but}, and the clusters are a compromise between them."
    ]


def _mixed_segments(subject: Subject, found: PanelSegments) -> list[int]:
    """Return the segments whose members agree no more with each other than with those of another one."""
    segment = found.annotators["segment"].reindex(subject.agreement.index).to_numpy()
    agreement = np.where(np.eye(len(segment), dtype=bool), np.nan, subject.agreement)
    of = [np.flatnonzero(segment == one) for one in range(found.n_segments)]
    mean = np.array([[np.nanmean(agreement[np.ix_(own, other)]) for other in of] for own in of])
    return [one for one in range(len(of)) if mean[one].argmax() != one]


def panel_section(subject: Subject) -> Section | None:
    """Return the section on the panel: the map of the annotators, their weights, and segments."""
    if not are_compared(subject.annotations, subject.clusters):
        return None
    groupings, words, found = subject.groupings, subject.words, subject.segments
    ax, file, table = _of_products(subject)
    caption = (
        f"The {words.annotators} by their RV coefficients{_of_groups(subject)}, close to each other if they sort alike "
        f"(DISTATIS). The further to the right, the higher are {words.an_annotator}'s coefficients with all others, "
        "which are not corrected for chance; the second dimension shows the largest difference that is left."
    )
    if found is not None and found.n_segments > 1:
        caption += " Each segment has its colour and shape."
    elif found is not None and not found.tests.empty:
        odd = participants.at_chance(subject)
        but = f", but for those who sort at chance ({join_some(list(map(name_text, odd)), NAMED)})" if odd else ""
        caption += f" No segments are shown: that some are apart here is no more than chance{but}."

    def say_named() -> str:
        point = f" Point at {words.an_annotator} to read the name." if n_named(ax) else ""
        some = f" {words.Annotators} are named where there is room, and all are in the table below.{point}"
        return some if n_named(ax) < groupings.n_annotators else ""

    sheet = cast(MatplotlibFigure, ax.figure)
    blocks: list[ReportTable | Figure] = [
        Figure.of("rv-map", sheet, f"Scatter plot. {caption}", caption, file, readable=MEDIUM, named=say_named),
        table,
    ]
    if found is None:
        sentence = f"Segments of the {words.annotators} are not looked for in so large a panel; panel_segments does."
        return Section("panel", f"How alike the {words.annotators} sort", [sentence], blocks)
    blocks += _segment_tables(subject, found)
    return Section("panel", f"How alike the {words.annotators} sort", [_verdict(subject, found)], blocks)


def _of_products(subject: Subject) -> tuple[Axes, Download | None, ReportTable]:
    """Return what shows the scalar products, which take much memory: map, file of coefficients, and table."""
    names = subject.groupings.annotators
    products = ScalarProducts.of(SortTable.of(subject.groupings))
    ax = draw_products(products, names, subject.segments, ax=Sheet())
    file = None
    if may_fit(len(names) ** 2):  # else computed for nothing
        file = download("rv.csv", pd.DataFrame(products.rv, names, names).round(4), "annotator")
    return ax, file if file and file.address else None, _annotators_table(subject, products)


def _verdict(subject: Subject, found: PanelSegments) -> str:
    """Say whether the panel is one."""
    words = subject.words
    of = "The" if subject.napping is None else "Of the groups alone, the"
    mean = f"{of} mean RV coefficient of two {words.annotators} is {number(found.rv)}."
    if found.tests.empty:
        return f"{mean} There are too few {words.annotators} who sort alike to look for segments."
    first = found.tests.iloc[0]
    against = (
        f"the two best parts explain {percent(first['explained'])} of what divides them, against "
        f"{percent(first['expected'])} in simulated panels without segments (p {_of_few(first['p_value'], '= ')})"
    )
    if found.n_segments > 1:
        return f"{mean} They are not one panel: {against}. The parts were tested in the same way."
    return f"{mean} Nothing shows that they are more than one panel: {against}."


def _of_groups(subject: Subject) -> str:
    """Say that sheets, if there are any, are not in a figure."""
    return "" if subject.napping is None else ", of the groups alone"


def _annotators_table(subject: Subject, products: ScalarProducts) -> ReportTable:
    words, found = subject.words, subject.segments
    places, shares = products.places(N_AXES)
    names = subject.groupings.annotators
    rv_panel = products.with_matrix(products.compromise(products.weights))
    frame = pd.DataFrame({"weight": products.weights, "rv_panel": rv_panel}, index=names)
    same = bool(
        np.allclose(rv_panel, places[:, 0], atol=SAME, equal_nan=True)
    )  # as it is if everybody sorted all items
    drawn = range(1 if same else 0, N_AXES)
    for axis in range(N_AXES):
        frame[f"dimension_{axis + 1}"] = places[:, axis]
    several = found is not None and found.n_segments > 1
    if found is not None:
        frame.insert(0, "segment", found.annotators["segment"].to_numpy())
    frame = frame.sort_values("weight", ascending=False, kind="stable")
    shown, gap = cut(frame)
    rows = []
    for name, figures in shown.iterrows():
        segment = [_segment_cell(int(figures["segment"]))] if several else []
        cells = [f"{figures['weight']:.1%}", number(figures["rv_panel"])]
        cells += [number(figures[f"dimension_{axis + 1}"]) for axis in drawn]
        rows.append(row(name_cell(name), *segment, *cells))
    columns = [Column(words.Annotator, "text"), *([Column("Segment")] if several else []), Column(DISTATIS.head)]
    columns += [Column("RV with the compromise" + (f" = dimension 1 ({shares[0]:.0%})" if same else ""))]
    columns += [Column(f"Dimension {axis + 1} ({shares[axis]:.0%})") for axis in drawn]
    elsewhere = ""
    if subject.compromise is not None and subject.napping is not None:
        elsewhere = f" Weights of sheets and groups together are in “{COMPROMISE}”."
    elif subject.compromise is not None and len(subject.compromise.left_out):
        elsewhere = f" Weights of those who sorted all {words.items} are in “{COMPROMISE}”."
    return ReportTable(
        "panel",
        f"The {words.annotators} on the map{_of_groups(subject)}, those of the highest weight first",
        columns,
        rows,
        order="those of the highest weight first",
        reading=(
            f"Weight: the part of the {words.annotator} in the compromise of DISTATIS{_of_groups(subject)}; all "
            f"weights sum to 100%.{elsewhere} The "
            f"{subject.clusters.nouns} and the map of the {words.items} do not use it. RV coefficient: 1 for the same "
            "groups; it is not corrected for chance, so it is above 0 for random groups, and the more so the more "
            f"groups there are: {words.an_annotator} at chance can have a high one. "
            + (f"That with the compromise is also the {words.annotator}'s place on dimension 1. " if same else "")
            + "In brackets: the share of the variance that a dimension of the map shows."
        ),
        gap=gap,
        download=download("annotators-rv.csv", frame.round(4), "annotator"),
    )


def _segment_cell(segment: int) -> Cell:
    return Cell("–") if segment < 0 else Cell(str(segment), mark=swatch(segment))


def _segment_tables(subject: Subject, found: PanelSegments) -> list[ReportTable | Figure]:
    if found.tests.empty:
        return []
    tests = ReportTable(
        "segment-tests",
        "Whether the panel has segments",
        [
            Column(subject.words.Annotators),
            *map(Column, ("Smaller part", "Explained", "By chance", "p", "Level")),
            Column("Split"),
        ],
        [
            row(
                f"{n:,}",
                f"{smaller:,}",
                percent(explained),
                percent(expected),
                _of_few(p),
                _p_value(level),
                "yes" if split else "no",
            )
            for n, smaller, explained, expected, p, level, split in found.tests.itertuples(index=False, name=None)
        ],
        reading=(
            "A part of the panel is split if its two best parts explain more of its sum of squares than in simulated "
            f"panels, whose members see all {subject.words.items} alike but err as much, and make as many groups. "
            "Levels are such that at most about 5 of 100 panels without segments are split. p counts the panel itself "
            f"among {N_SIMULATIONS} simulated ones, so it is never below {1 / (N_SIMULATIONS + 1):g}; once {ENOUGH} "
            "explain as much, no more are simulated, and p is their share, which is then rough."
        ),
    )
    if found.n_segments < 2:
        return [tests]
    return [_segments_table(subject, found), *filter(None, [_pairs_table(subject, found)]), tests]


def _segments_table(subject: Subject, found: PanelSegments) -> ReportTable:
    words, rows = subject.words, []
    for segment, (_, figures) in enumerate(found.segments.iterrows()):
        names = found.annotators.index[found.annotators["segment"] == segment].tolist()
        cells = [number(figures[column]) for column in ("rv", "rv_panel", "rv_segment")]
        cells += [f"{int(figures['n_clusters']):,}", number(figures["agreement"])]
        rows.append(row(_segment_cell(segment), f"{len(names):,}", *cells, names_cell(names, 12)))
    return ReportTable(
        "segments",
        "The segments",
        [
            Column("Segment"),
            Column(words.Annotators),
            Column("RV of two members"),
            Column("RV with the panel"),
            Column("RV with the segment"),
            Column("Clusters"),
            Column("Agreement with the panel's"),
            Column("Who", "wide"),
        ],
        rows,
        reading=(
            "RV with the panel and with the segment: mean coefficient of the members with the compromise of all, and "
            "with that of their segment. Clusters: of the members' groups alone; their agreement with the clusters of "
            "this report is 1 if they are the same, and 0 by chance."
        ),
        download=download("segments.csv", found.items, "item"),
    )


def _pairs_table(subject: Subject, found: PanelSegments) -> ReportTable | None:
    if found.pairs.empty:
        return None
    shown = found.pairs.groupby("segment").head(MOST_PAIRS)
    rows = [
        row(_segment_cell(int(segment)), Cell(names=(name_text(a), name_text(b))), percent(share), percent(others))
        for segment, a, b, share, others, _ in shown.itertuples(index=False, name=None)
    ]
    return ReportTable(
        "segment-pairs",
        "What distinguishes the segments",
        [Column("Segment"), Column("Put together", "wide"), Column("By the segment"), Column("By the others")],
        rows,
        reading=f"The pairs of {subject.words.items} on which a segment differs most from the others.",
        download=download("segments-pairs.csv", found.pairs.round(4)),
    )


def _of_few(p: float, equal: str = "") -> str:
    """Format a p-value that is rough where it is large, since few panels were simulated then."""
    return "> 0.5" if p > 0.5 else f"{equal}{number(p, 3)}"


def _p_value(p: float) -> str:
    return "< 0.001" if p < 0.001 else number(p, 3)
