"""Compute the experiments of the papers, write their pages, and check them.

    python -m benchmarks.papers [PAGE ...]              compute what is missing or stale, and write the pages
    python -m benchmarks.papers --check [PAGE ...]      say what is stale, and where pages and record differ
    python -m benchmarks.papers --confirm [PAGE ...]    after changes of code that should change no figure

An interrupted run continues where it stopped.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from importlib import import_module

from benchmarks.papers import PAGES

os.environ.setdefault("OMP_NUM_THREADS", "1")  # each fit on one core, and the same figures whatever the machine's cores

KERNELS = {"kernels": "HASWELL"}
"""Pages that are computed under another kernel of BLAS, which must be chosen before NumPy is imported."""


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description=__doc__.split("\n\n")[0])
    parser.add_argument("pages", nargs="*", metavar="PAGE", help=f"{', '.join(PAGES)}; by default all")
    parser.add_argument("--parts", nargs="+", help="compute these parts only, and write nothing")
    parser.add_argument("--jobs", type=int, default=2, help="fits at a time")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="compute nothing; exit with 1 if something is stale")
    what.add_argument("--confirm", action="store_true", help="rerun the quickest row of each group of stale rows")
    arguments = parser.parse_args()
    if unknown := set(arguments.pages) - set(PAGES):
        parser.error(f"There is no page {', '.join(sorted(unknown))}; there are {', '.join(PAGES)}.")
    if arguments.parts and len(arguments.pages) != 1:
        parser.error("--parts needs the name of one page.")
    found = [found for name in arguments.pages or PAGES for found in run(name, arguments)]
    print("\n".join(found))
    return int(arguments.check and bool(found))


def run(name: str, arguments: argparse.Namespace) -> list[str]:
    """Compute, confirm or check one page, and return what there is to say."""
    from benchmarks.experiments import page as pages

    page = import_module(f"benchmarks.papers.{name}").PAGE
    parts = [part.name for part in page.parts]
    if unknown := set(arguments.parts or ()) - set(parts):
        print(f"{name} has no part {', '.join(sorted(unknown))}; it has {', '.join(parts)}.", file=sys.stderr)
        sys.exit(2)
    if arguments.check:
        return list(pages.problems(page))
    kernel = KERNELS.get(name)
    if kernel and os.environ.get("OPENBLAS_CORETYPE") != kernel:
        command = [sys.executable, "-m", "benchmarks.papers", name, "--jobs", str(arguments.jobs)]
        command += ["--confirm"] if arguments.confirm else []
        subprocess.run(command, env=os.environ | {"OPENBLAS_CORETYPE": kernel}, check=True)
        return []
    if arguments.confirm:
        return pages.confirm(page)
    count = pages.compute(page, arguments.parts, arguments.jobs)
    if arguments.parts is None:
        pages.write(page, page.record())
    return [f"{name}: {count} rows computed"]


if __name__ == "__main__":
    sys.exit(main())
