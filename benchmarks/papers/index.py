"""The papers' claims at a glance, from the records of all pages."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from benchmarks.experiments import Page, Record
from benchmarks.papers import PAGES

TITLES = {
    "partition_labels": "Chen et al. 2018, partition labels",
    "stagewise": "Zhao & Zucker, stagewise learning",
    "subset_groupings": "Veeramachaneni & O'Reilly, subset groupings",
    "multiple_views": "Chang et al. 2017, multiple views",
    "deep": "Luo et al. 2018, deep generative models",
}


def quotes(record: Record) -> dict[str, Any]:
    """Collect the claims of every page that is made from the record, and count the verdicts."""
    found = {}
    for name in filter(PAGES.__contains__, TITLES):
        page = import_module(f"benchmarks.papers.{name}").PAGE
        found[name] = (TITLES[name], page.claims(Record(name, record.path.parent)))
    verdicts = [claim.verdict.split(":")[0] for _, claims in found.values() for claim in claims]
    return {"pages": found, "count": verdicts.count, "claims": len(verdicts)}


PAGE = Page("index", parts=(), tables=lambda record: {}, quotes=quotes, others=tuple(TITLES))
