"""Paper 4: several views, planted, of faces and of card sorters; and judged pairs of faces (paper 5, section 5.2).

planted  two views of 600 items with 6 features, 3 clusters and 10 annotators each: how often MCVC finds both.
views    624 CMU faces, judged by 5 annotators each by pose, by person and by eyewear: the views that MCVC finds.
faces    the same faces, pose as truth, 20 principal components; 5 annotators of accuracies .95 to .75 judge 200 to 2000
         pairs each, half of them of one pose, of all faces or of a hundred: NMI with the pose of all methods.
animals  107 people sorted 20 animals, each by a known principle: the views that MCVC finds, and the principles.
"""

from __future__ import annotations

from typing import Any

from benchmarks.experiments import Page, Record
from benchmarks.papers.view_parts import animals, faces, planted, views

PARTS = (planted, views, faces, animals)


def tables(record: Record) -> dict[str, str]:
    return {"multiple_views.txt": "\n\n\n".join("\n".join(part.table(record)) for part in PARTS) + "\n"}


def quotes(record: Record) -> dict[str, Any]:
    return {part.PART.name: part.quotes(record) for part in PARTS}


PAGE = Page(
    "multiple_views",
    parts=tuple(part.PART for part in PARTS),
    tables=tables,
    quotes=quotes,
    plots={"multiple_views_faces.svg": faces.draw},
)
