"""Compute the experiments of the papers, write their pages, and check them.

    python -m benchmarks.papers [PAGE ...]              compute what is missing or out of date, and write the pages
    python -m benchmarks.papers --check [PAGE ...]      say what is out of date, and where pages and record differ
    python -m benchmarks.papers --changed [NAME ...]    after changes of code that change figures; see sentinels.py
    python -m benchmarks.papers --write [PAGE ...]      after changes of tables, plots or sentences
    python -m benchmarks.papers --confirm [PAGE ...]    before a release: compute some rows again, and compare

An interrupted run continues where it stopped.
"""

from __future__ import annotations

import os
import sys

from benchmarks.papers import PAGES

os.environ.setdefault("OMP_NUM_THREADS", "1")  # each fit on one core, and the same figures whatever the machine's cores

KERNELS = {"kernels": "HASWELL"}
"""Pages that are computed under another kernel of BLAS, which must be chosen before NumPy is imported."""


def main() -> int:
    """Run the command line."""
    from benchmarks.experiments.command import Command  # NumPy is imported only now, with one thread

    return Command("benchmarks.papers", PAGES, __doc__.split("\n\n")[0], KERNELS, has_sentinels=True).main()


if __name__ == "__main__":
    sys.exit(main())
