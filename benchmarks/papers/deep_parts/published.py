"""The settings of the paper and of its authors' program on the faces and the digits, as far as both give any.

Those of the pinwheel are in `pinwheel`. `SCDC` of the digits, with 50 clusters, is left out: ten epochs had not ended
after 25 minutes beside other fits. The paper's models have no steps that join clusters, so that the number of clusters
is that of components left.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.experiments import Cell, Part, Record
from benchmarks.papers.deep_parts import digits, faces
from benchmarks.papers.deep_parts.scores import SHORT, spread
from benchmarks.papers.view_parts.faces import DRAWS
from consilience.deep import SCDC, BayesSCDC

FACES = ("some, 2000 pairs", "all, 2000 pairs")
SEED, N_EPOCHS = 11, 10  # of the digits; the paper trains for 200 epochs


def cells() -> Iterator[Cell]:
    for data in FACES:
        for seed in DRAWS:
            yield Cell("published", data, "SCDC", seed, SCDC.as_published("faces", random_state=0))
    digits_model = BayesSCDC.as_published("mnist", n_epochs=N_EPOCHS, random_state=SEED)
    for data in (digits.JUDGED, digits.ALONE):
        yield Cell("published", data, "BayesSCDC", SEED, digits_model)


def compute(cell: Cell) -> dict[str, Any]:
    return faces.compute(cell) if cell.data in FACES else digits.compute(cell)


def table(record: Record) -> list[str]:
    rows = record.frame("published")
    lines = ["settings of the paper and of its authors' program; mean ± sd of draws, or one seed", ""]
    lines.append(
        f"{'':22s}{'':11s}{'accuracy':>16s}{'NMI':>16s}{'AMI':>16s}{'clusters':>10s}{'a fit':>9s}{'draws':>7s}"
    )
    for (data, name), own in rows.groupby(["data", "model"], sort=False):
        scores = "".join(f"{spread(own[score]):>16s}" for score in ("accuracy", "nmi", "ami"))
        clusters, seconds = own["clusters"].mean(), own["seconds"].mean()
        lines.append(f"{data:22s}{name:11s}{scores}{clusters:10.1f}{seconds:7.0f} s{len(own):7d}")
    return lines


def quotes(record: Record) -> dict[str, Any]:
    rows = record.frame("published")
    found = {
        f"{name}, {data}": {score: own[score].mean() for score in ("accuracy", "nmi", "ami", "clusters")}
        for (data, name), own in rows.groupby(["data", "model"])
    }
    return {"of": found, "epochs": N_EPOCHS}


PART = Part("published", cells, compute, short=SHORT, has_sentinel=False)
