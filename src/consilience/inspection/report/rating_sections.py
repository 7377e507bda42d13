"""The section of a report on ratings: values of the items, and how the raters differ."""

from __future__ import annotations

from typing import cast

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as MatplotlibFigure

from consilience.analysis.names import join_names, name_text
from consilience.analysis.words import current_words
from consilience.inspection.plots.point_labels import n_named
from consilience.inspection.plots.ratings import MOST_ITEMS, plot_raters, plot_values
from consilience.inspection.plots.style import Sheet
from consilience.inspection.report.figure_files import small
from consilience.inspection.report.subject import Figure, Section, Subject
from consilience.inspection.report.tables import Column, ReportTable, download, name_cell, number, percent, row

MOST_RATERS = 100  # rows of the table
NAMED = 5  # weak raters in a sentence
OF_RATERS = ["bias", "slope", "noise", "lapse", "reliability"]


def in_short(subject: Subject) -> list[str]:
    """Say what the values are if raters have no parameters of their own, and who is weak."""
    if not subject.can.has_values:
        return []
    return [*subject.told(subject.can.notes), *_on_weak(subject.estimator.annotators_)]


def section(subject: Subject) -> Section | None:
    """Return the section; None for labels that are no ratings."""
    if not subject.can.has_values:
        return None
    words, model = current_words(), subject.estimator
    width = float(np.diff(model.intervals_, axis=1).mean())
    sentences = [
        f"The value of {words.an_item} is where it lies on the scale. Half of the 90 % intervals are on average "
        f"{number(width / 2)} wide.",
        *subject.told(subject.can.notes),
    ]
    blocks: list[Figure | ReportTable] = [_values(subject)]
    if model.annotator_model_ == "individual":
        blocks += [_raters(subject), _table(model.annotators_)]
    return Section("values", f"Values of the {words.items}", sentences, blocks)


def _on_weak(raters: pd.DataFrame) -> list[str]:
    weak = raters[raters["weak"] & (raters["n_labels"] > 0)].sort_values("reliability", kind="stable")
    if weak.empty or len(weak) == len(raters):
        return []
    words = current_words()
    names = [f"{name_text(name)} ({percent(share)})" for name, share in weak["reliability"].head(NAMED).items()]
    more = [f"{len(weak) - NAMED} more"] if len(weak) > NAMED else []
    return [
        f"Less than a quarter of the variance of what {words.n_annotators(len(weak))} "
        f"{'says' if len(weak) == 1 else 'say'} is due to the {words.items}: {join_names(names + more)}."
    ]


def _values(subject: Subject) -> Figure:
    words, model = current_words(), subject.estimator
    ax = plot_values(subject.model, ax=Sheet())
    shown = min(MOST_ITEMS, len(model.values_))
    some = f"{shown} of {len(model.values_):,} {words.items}" if shown < len(model.values_) else f"The {words.items}"
    caption = (
        f"{some} by value: the dot is the value, the line its 90 % interval, and the darker a level, the more probable "
        "it is."
    )
    table = pd.DataFrame(model.responsibilities_, columns=[f"p({name_text(level)})" for level in model.classes_])
    ends = {"value": model.values_, "low": model.intervals_[:, 0], "high": model.intervals_[:, 1]}
    table = pd.concat([pd.DataFrame(ends), table], axis=1).set_index(pd.Index(model.items_, name=words.item))
    file = small(download("values.csv", table.round(4), words.item))
    return Figure.of("values", cast(MatplotlibFigure, ax.figure), f"Heat map with points. {caption}", caption, file)


def _raters(subject: Subject) -> Figure:
    words = current_words()
    ax = plot_raters(subject.model, ax=Sheet())
    caption = (
        f"Each {words.annotator} by bias and noise, the stronger the colour, the larger the share of the variance that "
        f"is due to the {words.items}. Squares are weak."
    )
    some, sheet = " The most unusual are named, where there is room.", cast(MatplotlibFigure, ax.figure)
    described = f"Scatter plot. {caption}"
    return Figure.of("raters", sheet, described, caption, named=lambda: some if n_named(ax) else "")


def _table(raters: pd.DataFrame) -> ReportTable:
    words = current_words()
    order = raters.sort_values("reliability", kind="stable")
    rows = [
        row(name_cell(name, "flag" if each["weak"] else ""), *(number(each[key]) for key in OF_RATERS))
        for name, each in order.head(MOST_RATERS).iterrows()
    ]
    return ReportTable(
        "raters",
        f"How the {words.annotators} differ, the weakest first",
        [Column(words.Annotator, "text"), *(Column(key.capitalize(), "number") for key in OF_RATERS)],
        rows,
        reading=f"Bias: how many levels higher than the crowd an average {words.item} is rated. Slope: by which "
        f"differences between {words.items} are stretched. Noise: in levels. Lapse: probability of a label that has "
        f"nothing to do with the {words.item}. Reliability: share of the variance of labels that is due to the "
        f"{words.items}.",
        download=download("raters.csv", order[["n_labels", *OF_RATERS, "weak"]].round(4), words.annotator),
    )
