"""How much the published figures move with another kernel of BLAS, which OpenBLAS chooses by the processor.

Fits of the other pages are computed again under the kernel of an older processor, with everything else the same. Sums
are then rounded in another order: where a method has ties, starts or signs that hang on the last bit, its figure moves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any

import pandas as pd

from benchmarks.experiments import Cell, Page, Part, Record
from benchmarks.experiments.environment import kernel
from benchmarks.experiments.page import kernels_of
from benchmarks.experiments.statistics import paired

KERNEL = "Haswell"  # SSE and AVX2, against AVX-512
CHOSEN: tuple[tuple[str, str, Callable[[Cell], bool]], ...] = (
    ("stagewise", "errors", lambda cell: cell.model != "true model"),
    ("multiple_views", "faces", lambda cell: " 500 pairs" in cell.data),
    ("partition_labels", "model", lambda cell: cell.data.startswith(("iris", "seeds", "breast_tissue"))),
    ("partition_labels", "competitors", lambda cell: cell.data.startswith(("iris", "seeds"))),
)
FIGURES = {
    "errors": ("error",),
    "faces": ("nmi",),
    "model": ("training", "validation"),
    "competitors": ("training", "validation"),
}
"""The figures of each part that are compared."""
LEAST = 0.002  # smaller changes of a mean are counted, not listed


@cache
def parts_of(page: str) -> dict[str, Part]:
    return {part.name: part for part in import_module(f"benchmarks.papers.{page}").PAGE.parts}


def cells() -> Iterator[Cell]:
    for page, name, is_chosen in CHOSEN:
        part = parts_of(page)[name]
        for cell in filter(is_chosen, part.cells()):
            data = f"{page}, {name}, {cell.data}"
            yield replace(cell, part="kernels", data=data, uses=(part.compute, *cell.uses))


def compute(cell: Cell) -> dict[str, Any]:
    """Compute a cell of another page under the kernel."""
    if KERNEL not in kernel():
        raise RuntimeError(f"Set OPENBLAS_CORETYPE={KERNEL.upper()} before Python starts; the kernel is {kernel()}.")
    _, part, data = cell.data.split(", ", 2)
    compute_part, *uses = cell.uses
    found = compute_part(replace(cell, part=part, data=data, uses=tuple(uses)))
    return {"seconds": found.pop("seconds")} | found if "seconds" in found else found


def compared(record: Record) -> pd.DataFrame:
    """Return each fit with its figure under both kernels."""
    rows = record.frame("kernels")
    rows[["page", "of", "setting"]] = rows["data"].str.split(", ", n=2, expand=True).to_numpy()
    tables = []
    for (page, name), own in rows.groupby(["page", "of"], sort=False):
        then = Record(page, record.path.parent).frame(name).set_index(["data", "model", "draw"])
        keys = pd.MultiIndex.from_frame(own[["setting", "model", "draw"]])
        for figure in FIGURES[name]:
            tables.append(own.assign(figure=own[figure], usual=then[figure].reindex(keys).to_numpy(), name=figure))
    columns = ["page", "of", "setting", "model", "draw", "name", "figure", "usual"]
    return pd.concat(tables)[columns].dropna(subset=["figure", "usual"])


def changes(record: Record) -> pd.DataFrame:
    """Return the mean change of each method on each setting, with its standard error, the largest first."""
    found = []
    for (page, part, setting, model, name), own in compared(record).groupby(
        ["page", "of", "setting", "model", "name"], sort=False
    ):
        gap = paired(own["figure"], own["usual"])
        found.append(
            {
                "page": page,
                "part": part,
                "setting": setting,
                "model": model,
                "name": name,
                "usual": own["usual"].mean(),
                "other": own["figure"].mean(),
                "change": gap.mean,
                "error": gap.error,
                "largest": (own["figure"] - own["usual"]).abs().max(),
                "moved": int((own["figure"] != own["usual"]).sum()),
                "draws": len(own),
            }
        )
    return pd.DataFrame(found).sort_values("change", key=abs, ascending=False, kind="stable")


def tables(record: Record) -> dict[str, str]:
    rows = changes(record)
    shown = rows[rows["change"].abs() >= LEAST]
    usual = kernels_of(Record(CHOSEN[0][0], record.path.parent))
    lines = [
        f"Means that move by {LEAST} or more; draws that move at all, and the largest change of one",
        "",
        f"{'page':18s}{'setting':22s}{'method':28s}{'figure':11s}{usual:>9s}{KERNEL:>9s}{'change ± se':>17s}"
        f"{'moved':>10s}{'largest':>9s}",
    ]
    for _, row in shown.iterrows():
        change = f"{row['change']:+.3f} ± {row['error']:.3f}"
        moved = f"{row['moved']} of {row['draws']}"
        lines.append(
            f"{row['page']:18s}{row['setting']:22s}{row['model']:28s}{row['name']:11s}{row['usual']:9.3f}"
            f"{row['other']:9.3f}{change:>17s}{moved:>10s}{row['largest']:9.3f}"
        )
    lines += ["", f"{len(shown)} of {len(rows)} means are listed; {int((rows['moved'] == 0).sum())} do not move at all"]
    return {"kernels.txt": "\n".join(lines) + "\n"}


def quotes(record: Record) -> dict[str, Any]:
    rows = changes(record)
    shown = rows[rows["change"].abs() >= LEAST]
    return {
        "least": LEAST,
        "kernel": kernels_of(Record(CHOSEN[0][0], record.path.parent)),
        "means": len(rows),
        "listed": len(shown),
        "still": int((rows["moved"] == 0).sum()),
        "significant": int((rows["change"].abs() > 2 * rows["error"]).sum()),
        "methods": sorted(set(shown["model"])),
        "fits": len(record.frame("kernels")),
        "largest": rows.iloc[0].to_dict(),
    }


PAGE = Page(
    "kernels",
    parts=(Part("kernels", cells, compute, has_sentinel=False),),
    tables=tables,
    quotes=quotes,
    others=tuple(dict.fromkeys(page for page, *_ in CHOSEN)),
)
