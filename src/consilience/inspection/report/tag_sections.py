"""The section of a report on tags: how many items have each, and which are in doubt."""

from __future__ import annotations

from typing import cast

import numpy as np
import pandas as pd

from consilience.analysis.names import join_names, name_text, quantify
from consilience.analysis.tag_figures import doubtful_tags, item_tags, tag_figures
from consilience.analysis.ties import sentences_on_ties
from consilience.analysis.words import current_words
from consilience.annotations import Labels
from consilience.inspection.report.subject import Section, Subject
from consilience.inspection.report.tables import Column, ReportTable, download, name_cell, number, percent, row

MOST_ROWS = 100
NAMED = 6  # tags, or weak annotators, in a sentence


def in_short(subject: Subject) -> list[str]:
    """Say how many items have each tag, how many answers are in doubt, and who is weak."""
    words, model = current_words(), subject.estimator
    figures = tag_figures(model)
    often = figures.sort_values("n_items", ascending=False, kind="stable")
    named = [f"{name_text(tag)} ({count:,})" for tag, count in often["n_items"].head(NAMED).items()]
    more = [f"{len(often) - NAMED} more"] if len(often) > NAMED else []
    n_none = int((model.indicator_.sum(1) == 0).sum())
    mean = number(float(model.indicator_.sum(1).mean()))
    sentences = [
        f"{words.Items} by tag: {join_names(named + more)}. {words.An_item} has {mean} tags on average, and "
        f"{n_none:,} {'has' if n_none == 1 else 'have'} none."
    ]
    n_doubtful = int(figures["n_doubtful"].sum())
    sentences.append(
        f"Of {quantify(model.probabilities_.size, 'answer')} to whether {words.an_item} has a tag, {n_doubtful:,} "
        f"{'is' if n_doubtful == 1 else 'are'} in doubt: probabilities between 25 % and 75 %."
    )
    sentences += sentences_on_ties(subject.can.n_ties, list(model.items_[model.undecided_]))
    return [*sentences, *_on_weak(model.annotators_)]


def _on_weak(people: pd.DataFrame) -> list[str]:
    weak = people[people["weak"] & (people["n_items"] > 0)]
    if weak.empty or len(weak) == len(people):
        return []
    words = current_words()
    names = [name_text(name) for name in weak.index[:NAMED]]
    more = [f"{len(weak) - NAMED} more"] if len(weak) > NAMED else []
    return [
        f"The tags of {words.n_annotators(len(weak))} tell little: they give nearly as many that are not there as that "
        f"are: {join_names(names + more)}."
    ]


def section(subject: Subject) -> Section | None:
    """Return the section; None for labels that are no tags."""
    if not subject.can.has_tags:
        return None
    words, model = current_words(), subject.estimator
    alike = model.likeness_
    sentences = [
        f"A tag that {words.an_annotator} did not give to {words.an_item} that they saw is an answer, too: no. "
        f"{_on_likeness(alike)}"
    ]
    return Section("tags", "The tags", sentences, [_table_of_tags(model), *_doubtful(subject)])


def _on_likeness(likeness: pd.Series) -> str:
    words = current_words()
    least = float(likeness.min())
    if least > 30:
        return f"{words.Annotators} see all tags about equally well: what one tag tells of them serves the others."
    if least < 5:
        return (
            f"How well {words.annotators} see a tag differs from tag to tag, so that each is judged nearly by itself."
        )
    return f"How well {words.annotators} see one tag tells in part how well they see the others."


def _table_of_tags(model: object) -> ReportTable:
    words = current_words()
    figures = tag_figures(model).sort_values("n_items", ascending=False, kind="stable")
    rows = [
        row(
            name_cell(tag),
            f"{int(each['n_items']):,}",
            f"{int(each['n_doubtful']):,}",
            *(percent(each[key]) for key in ("prevalence", "sensitivity", "specificity")),
        )
        for tag, each in figures.head(MOST_ROWS).iterrows()
    ]
    heads = (words.Items, "In doubt", "Prevalence", "Sensitivity", "Specificity")
    return ReportTable(
        "tag-figures",
        "Each tag, the most frequent first",
        [Column("Tag", "text"), *(Column(head, "number") for head in heads)],
        rows,
        reading=f"In doubt: {words.items} of which the probability of the tag is between 25 % and 75 %. Prevalence: "
        f"its mean probability. Sensitivity: how often the {words.annotators} give the tag where it is. Specificity: "
        f"how often they do not where it is not. Both are means, weighted by the {words.items} that they saw.",
        download=download("tag-figures.csv", figures.round(4), "tag"),
    )


def _doubtful(subject: Subject) -> list[ReportTable]:
    words = current_words()
    table = item_tags(subject.estimator, cast(Labels, subject.annotations))
    found = doubtful_tags(table, MOST_ROWS)
    if found.empty:
        return []
    rows = [
        row(
            name_cell(each.item),
            name_cell(each.tag),
            percent(float(cast(float, each.probability))),
            f"{each.n_given:,} of {each.n_seen:,}",
        )
        for each in found.itertuples()
    ]
    n_doubtful = int((np.abs(table["probability"] - 0.5) < 0.25).sum())
    some = "" if len(rows) == n_doubtful else f" The first {len(rows)} of {n_doubtful:,}."
    return [
        ReportTable(
            "doubtful-tags",
            "Tags in doubt, the most doubtful first",
            [
                Column(words.Item, "text"),
                Column("Tag", "text"),
                Column("Probability", "number"),
                Column("Given by", "line"),
            ],
            rows,
            reading=f"Given by: how many of the {words.annotators} who saw the {words.item} gave it the tag.{some}",
        )
    ]
