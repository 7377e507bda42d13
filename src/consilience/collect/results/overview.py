"""What the dashboard shows of a consensus, as JSON: the report's drawings, tables and sentences, made by the worker."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from consilience.analysis.certainty import few_people
from consilience.annotations import Groupings
from consilience.collect.results.consensus import WORDS, fusion_of
from consilience.collect.results.exporting import fit_study
from consilience.collect.settings.model import Study
from consilience.collect.store import Store, Submitted
from consilience.collect.store.results import groupings_of
from consilience.errors import AnnotationWarning
from consilience.inspection.report.overview import overview
from consilience.inspection.report.subject import Figure
from consilience.inspection.report.tables import Cell, ReportTable
from consilience.metrics.clusterings import nmi

MOST_PEOPLE = 50  # that are ranked on the page
FEWEST, STEPS = 4, 8  # groupings, and points, of the curve of stability


def overview_of(store: Store, study: Study, rows: Sequence[Submitted], consensus: Mapping[str, Any]) -> dict[str, Any]:
    """Draw the consensus of answers.

    rows : those that count, at least one.
    consensus : what the worker found in these, see `consilience.collect.results.consensus`.

    Returns JSON values: ``consensus``, without its rounds; ``warnings`` of the fit and ``findings``, sentences;
    ``figures``, and ``stability`` or None, each with ``key``, ``drawing`` (an SVG element) and ``caption``;
    ``certainty``, None or ``sentences`` and ``tables``; ``too_few``, why there is none if these are too few people, or
    ""; ``ranking``, a table of the first people, or None, and ``n_people``. A table has ``caption``, ``columns``
    (``head``, ``kind`` and ``of_items``), ``rows`` of cells, ``reading`` and ``more``; a cell ``mark`` (an SVG element
    or empty), ``text``, ``names`` and ``tone``.
    """
    items = store.items(study.id)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", AnnotationWarning)
        model, annotations = fit_study(study, rows, items)
    stability = None if study.has_fixed_groups else _stability(study, rows, model.labels_)
    found = overview(model, annotations, words=WORDS, stability=stability, most_people=MOST_PEOPLE)
    certainty = found.certainty
    blocks = [] if certainty is None else certainty.blocks
    ellipses = [one for one in blocks if isinstance(one, Figure)]  # the same map, with more on it
    figures = [*ellipses, *(one for one in found.figures if not (ellipses and one.key == "map"))]
    return {
        "consensus": {name: value for name, value in consensus.items() if name not in ("rounds", "quality")},
        "warnings": [
            WORDS.told(str(one.message), [*annotations.items, *annotations.annotators])
            for one in warned
            if issubclass(one.category, AnnotationWarning)
        ],
        "findings": [str(one) for one in found.findings],
        "figures": [_figure(one) for one in figures],
        "stability": None if found.stability is None else _figure(found.stability),
        "certainty": None
        if certainty is None
        else {
            "sentences": list(certainty.sentences),
            "tables": [_table(one) for one in blocks if isinstance(one, ReportTable)],
        },
        "too_few": few_people(model, annotations),
        "ranking": None if found.ranking is None else _table(found.ranking),
        "n_people": len(found.people),
    }


def _stability(study: Study, rows: Sequence[Submitted], labels: np.ndarray) -> pd.DataFrame | None:
    """Return how far the clusters from the first groupings agree with those from all; None if these are few."""
    if len(rows) <= FEWEST:
        return None
    numbers = np.unique(np.geomspace(FEWEST, len(rows) - 1, STEPS).round().astype(int))
    found = [(int(number), _agreement(study, rows[:number], labels)) for number in numbers]
    return pd.DataFrame([*found, (len(rows), 1.0)], columns=["n_groupings", "stability"]).dropna()


def _agreement(study: Study, rows: Sequence[Submitted], labels: np.ndarray) -> float:
    groupings: Groupings = groupings_of(rows, [str(number) for number in range(study.n_items)])
    mine = fusion_of(study).fit(groupings).labels_
    both = (mine >= 0) & (labels >= 0)
    return float(nmi(mine[both], labels[both])) if both.any() else float("nan")


def _figure(found: Figure) -> dict[str, str]:
    return {"key": found.key, "drawing": str(found.drawing), "caption": str(found.caption)}


def _table(found: ReportTable) -> dict[str, Any]:
    return {
        "key": found.key,
        "caption": str(found.caption),
        "columns": [{"head": one.head, "kind": one.kind, "of_items": one.of_items} for one in found.columns],
        "rows": [[_cell(one) for one in row] for row in found.rows],
        "reading": str(found.reading),
        "more": str(found.more),
    }


def _cell(found: Cell) -> dict[str, Any]:
    return {"mark": str(found.mark), "text": found.text, "names": list(found.names), "tone": found.tone}
