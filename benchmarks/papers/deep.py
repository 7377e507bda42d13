"""Paper 5: the pinwheel, partly annotated faces, and handwritten digits with a real crowd.

pinwheel  500 points in five arms; 20 workers of accuracy .9 judge 49 pairs each of 100 of them, or there are none.
          BayesSCDC, the best of ten restarts by the bound; with our settings, and with the paper's.
faces     624 CMU faces, pose as truth, 20 principal components; five workers of accuracies .95 to .75 judge 200 to 2000
          pairs each, of all faces or of a hundred: the deep models, on the draws of `multiple_views`.
peers     the same with settings of the other methods chosen on other draws.
digits    60 000 pictures of MNIST; 48 workers grouped 2759 of them, 36 at a time, or there are no annotations.
"""

from __future__ import annotations

from typing import Any

from benchmarks.experiments import Page, Record
from benchmarks.papers.deep_parts import digits, faces, pinwheel


def tables(record: Record) -> dict[str, str]:
    blocks = [part.table(record) for part in (pinwheel, faces, digits)]
    return {"deep.txt": "\n\n\n".join("\n".join(block) for block in blocks) + "\n"}


def quotes(record: Record) -> dict[str, Any]:
    return {part.PART.name: part.quotes(record) for part in (pinwheel, faces, digits)}


PAGE = Page(
    "deep",
    parts=(faces.OF_PEERS, pinwheel.PART, faces.PART, digits.PART),
    tables=tables,
    quotes=quotes,
    plots={"deep_faces.svg": faces.draw, "deep_digits.png": digits.draw},
    others=("multiple_views",),
)
