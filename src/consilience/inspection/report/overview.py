"""The core of a report for a page that others lay out: its findings, drawings and tables, without the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from consilience.analysis.findings import findings
from consilience.analysis.words import Words, current_words, use_words
from consilience.inspection.plots.fusion import stability_rows
from consilience.inspection.plots.style import plain_text
from consilience.inspection.report import annotators, certainty_sections, fusion_sections, label_sections
from consilience.inspection.report.findings_in_short import key_findings
from consilience.inspection.report.participants import AS_IF_RANDOM, nobody_odd, random_reading
from consilience.inspection.report.sections import ranking_of
from consilience.inspection.report.subject import Figure, Section, Subject
from consilience.inspection.report.tables import ReportTable, percent

DRAWN = ("map", "co-occurrence", "cluster-shares", "dendrogram")


@dataclass(frozen=True)
class Overview:
    """Parts of the report on a fusion of groupings, or on a model that finds classes.

    findings : the main results in sentences; that nobody stands out is left to the page, which knows more about people.
    clusters : titles of the clusters or classes, in the order of their numbers.
    figures : map, matrix and tree of the items, or how accurate the annotators are and what they confuse.
    stability : the curve of stability, if one was given.
    certainty : what another group of people would repeat.
    people : DataFrame, one row for each annotator; the figures of the table of annotators, the weakest first.
    ranking : the first rows of that table, in the same order.
    """

    findings: Sequence[str]
    clusters: Sequence[str]
    figures: Sequence[Figure]
    stability: Figure | None
    certainty: Section | None
    people: pd.DataFrame
    ranking: ReportTable | None


def overview(
    model: Any,
    annotations: Any,
    *,
    words: Words | str | None = None,
    stability: pd.DataFrame | None = None,
    most_people: int = 50,
) -> Overview:
    """Gather findings, drawings and tables of a report.

    model : fitted SubsetFusion or DawidSkene
    annotations : what it was fitted to.
    words, stability : as for `report`
    most_people : rows of the ranking of annotators.
    """
    curve = None if stability is None else stability_rows(stability)
    subject = Subject.of(findings(model, annotations, words=words), stability=curve)
    with plain_text(), use_words(subject.words):
        people = _people(subject)
        return Overview(
            [rest for one in key_findings(subject) if (rest := one.removesuffix(nobody_odd()).rstrip())],
            subject.clusters.titles,
            _figures(subject),
            None if subject.stability is None else fusion_sections.stability_figure(subject.stability),
            certainty_sections.section(subject),
            people,
            annotators.annotators_table(people.head(most_people), _ranking(subject, people)),
        )


def _figures(subject: Subject) -> list[Figure]:
    if subject.can.names_classes:
        return label_sections.quality_figures(subject)
    if subject.co_occurrence is None:
        return []
    return [one for one in fusion_sections.evidence_figures(subject, subject.co_occurrence) if one.key in DRAWN]


def _people(subject: Subject) -> pd.DataFrame:
    """Return the table of annotators, the weakest first, with the probability that they sort at random if known."""
    frame, random = subject.annotators.iloc[::-1], subject.random_sorters
    if random is None or random["probability"].isna().all():
        return frame
    return frame.assign(random_probability=random["probability"].reindex(frame.index).to_numpy())


def _ranking(subject: Subject, people: pd.DataFrame) -> annotators.Ranking:
    ranking = ranking_of(subject)
    order = ranking.order.replace("last", "first")
    if "random_probability" not in people:
        return replace(ranking, order=order)
    words = current_words()
    said = random_reading(words)
    random = annotators.Quality(("random_probability",), AS_IF_RANDOM, _share, said[said.index(AS_IF_RANDOM) :].strip())
    return replace(ranking, order=order, qualities=(*ranking.qualities, random))


def _share(value: float) -> str:
    return "–" if pd.isna(value) else percent(value)
