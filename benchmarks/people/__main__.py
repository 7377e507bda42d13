"""Compute what works on data of people, write its pages, and check them.

    python -m benchmarks.people [PAGE ...]              compute what is missing or out of date, and write the pages
    python -m benchmarks.people --check [PAGE ...]      say what is out of date, and where pages and record differ
    python -m benchmarks.people --changed [NAME ...]    after changes of code that change figures; see sentinels.py
    python -m benchmarks.people --write [PAGE ...]      after changes of tables, plots or sentences
    python -m benchmarks.people --confirm [PAGE ...]    before a release: compute some rows again, and compare

An interrupted run continues where it stopped.
"""

from __future__ import annotations

import os
import sys

from benchmarks.people import PAGES

os.environ.setdefault("OMP_NUM_THREADS", "1")  # each fit on one core, and the same figures whatever the machine's cores


def main() -> int:
    """Run the command line."""
    from benchmarks.experiments.command import Command  # NumPy is imported only now, with one thread

    return Command("benchmarks.people", PAGES, __doc__.split("\n\n")[0]).main()


if __name__ == "__main__":
    sys.exit(main())
