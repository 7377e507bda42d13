"""Measure seconds and memory against peers and against the machine, write the page, and check it.

    python -m benchmarks.speed                    measure what is missing or out of date, and write the page
    python -m benchmarks.speed --check            say what is out of date, and where page and record differ
    python -m benchmarks.speed --parts NAME ...   the same for these parts, optional ones too
    python -m benchmarks.speed --again            measure everything again
    python -m benchmarks.speed --compare          say what takes longer than when it was kept; --parts, --beyond 1.5

An interrupted run continues where it stopped.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarks.speed import PAGES

if TYPE_CHECKING:
    from benchmarks.experiments import Page

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one core, whatever the machine's, unless a model is told otherwise


def main() -> int:
    """Run the command line."""
    from benchmarks.experiments.command import Command  # NumPy is imported only now, with one thread

    def compare(page: Page, parts: Sequence[str], beyond: float) -> tuple[list[str], bool]:
        from benchmarks.speed import comparing

        return comparing.compare(page, page.record(), parts, beyond=beyond)

    return Command("benchmarks.speed", PAGES, __doc__.split("\n\n")[0], is_timed=True, compare=compare).main()


if __name__ == "__main__":
    sys.exit(main())
