"""Paper 4: several views, planted, of faces and of card sorters; and judged pairs of faces (paper 5, section 5.2).

planted  two views of 600 items with 6 features, 3 clusters and 10 annotators each: how often MCVC finds both.
views    624 CMU faces, judged by 5 annotators each by pose, by person and by eyewear: the views that MCVC finds.
faces    the same faces, pose as truth, 20 principal components; 5 annotators of accuracies .95 to .75 judge 200 to 2000
         pairs each, half of them of one pose, of all faces or of a hundred: NMI with the pose of all methods.
animals  107 people sorted 20 animals, each by a known principle: the views that MCVC finds, and the principles.
"""

from __future__ import annotations

from typing import Any

from benchmarks.experiments import Claim, Page, Record
from benchmarks.papers.view_parts import animals, faces, planted, views

PARTS = (planted, animals, faces, views)


def tables(record: Record) -> dict[str, str]:
    return {"multiple_views.txt": "\n\n\n".join("\n".join(part.table(record)) for part in PARTS) + "\n"}


def quotes(record: Record) -> dict[str, Any]:
    return {part.PART.name: part.quotes(record) for part in PARTS}


def claims(record: Record) -> list[Claim]:
    """Say what our experiments show of each claim; the papers' own data are not at hand."""
    found = quotes(record)
    two, three, by_pose = found["planted"], found["views"], found["faces"]
    n_above = by_pose["verdicts"].count("above")
    return [
        Claim(
            "MCVC finds two planted views and who holds which", "no figure at hand",
            f"{two['right']} of {two['draws']} draws", "met" if two["right"] == two["draws"] else "missed",
        ),
        Claim(
            "MCVC finds three views of the faces (pose, person, eyes)", "no figure at hand",
            f"{three['three_views'][20]} of {three['draws']} draws with 20 clusters, {three['three_views'][8]} with 8",
            "met" if three["three_views"][20] == three["draws"] else "missed: a view is split in the others",
        ),
        Claim(
            "MECC and MCVC are better than methods of pairs (faces by pose, all faces annotated)", "curves",
            f"above in {n_above} of {by_pose['n_pairs']} comparisons, level in {by_pose['verdicts'].count('level')}",
            "met" if n_above + by_pose["verdicts"].count("level") == by_pose["n_pairs"] else "missed",
        ),
    ]  # fmt: skip


PAGE = Page(
    "multiple_views",
    parts=tuple(part.PART for part in PARTS),
    tables=tables,
    quotes=quotes,
    claims=claims,
    plots={"multiple_views_faces.svg": faces.draw},
)
