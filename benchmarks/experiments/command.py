"""The command line of a package of pages: compute what is missing or stale, write the pages, and check them."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module

from benchmarks.experiments import page as pages

CANNOT_CONFIRM = (
    "Seconds cannot be confirmed: code that gives the same answers may take longer. "
    "Measure what is stale by python -m {package}."
)


@dataclass(frozen=True)
class Command:
    """What the command line of a package knows.

    Attributes
    ----------
    package : where the modules of the pages are, such as "benchmarks.papers"
    pages : their names
    description : what the help says first
    kernels : pages that are computed under another kernel of BLAS, which must be chosen before NumPy is imported
    is_timed : whether the figures are seconds: rows are computed one at a time, and none is confirmed
    """

    package: str
    pages: Sequence[str]
    description: str
    kernels: Mapping[str, str] = field(default_factory=dict)
    is_timed: bool = False

    def main(self) -> int:
        """Run the command line, and return the exit status."""
        arguments = self.read()
        found = [found for name in arguments.pages or self.pages for found in self.run(name, arguments)]
        for line in found:
            print(line)
        return int(arguments.check and bool(found))

    def read(self) -> argparse.Namespace:
        parser = argparse.ArgumentParser(prog=f"python -m {self.package}", description=self.description)
        parser.add_argument("pages", nargs="*", metavar="PAGE", help=f"{', '.join(self.pages)}; by default all")
        parser.add_argument("--parts", nargs="+", help="compute these parts only, and write nothing")
        jobs = 1 if self.is_timed else 2
        parser.add_argument("--jobs", type=int, default=jobs, help=f"fits at a time; by default {jobs}")
        parser.add_argument("--again", action="store_true", help="compute rows that are neither missing nor stale too")
        what = parser.add_mutually_exclusive_group()
        fault = "missing or differs from the page" if self.is_timed else "stale"
        what.add_argument("--check", action="store_true", help=f"compute nothing; exit with 1 if something is {fault}")
        what.add_argument("--confirm", action="store_true", help="rerun the quickest row of each group of stale rows")
        arguments = parser.parse_args()
        if unknown := set(arguments.pages) - set(self.pages):
            parser.error(f"There is no page {', '.join(sorted(unknown))}; there are {', '.join(self.pages)}.")
        if arguments.parts and len(arguments.pages or self.pages) != 1:
            parser.error("--parts needs the name of one page.")
        if arguments.again and (arguments.check or arguments.confirm):
            parser.error("--again computes; give it without --check and --confirm.")
        if self.is_timed and arguments.jobs != 1:
            parser.error(f"Seconds are measured one at a time: --jobs must be 1. Got {arguments.jobs} instead.")
        if self.is_timed and arguments.confirm:
            parser.error(CANNOT_CONFIRM.format(package=self.package))
        return arguments

    def run(self, name: str, arguments: argparse.Namespace) -> list[str]:
        """Compute, confirm or check one page, and return what there is to say."""
        page = import_module(f"{self.package}.{name}").PAGE
        parts = [part.name for part in page.parts]
        if unknown := set(arguments.parts or ()) - set(parts):
            print(f"{name} has no part {', '.join(sorted(unknown))}; it has {', '.join(parts)}.", file=sys.stderr)
            sys.exit(2)
        if arguments.check:
            for line in pages.notes(page):
                print(line)
            return list(pages.problems(page))
        kernel = self.kernels.get(name)
        if kernel and os.environ.get("OPENBLAS_CORETYPE") != kernel:
            command = [sys.executable, "-m", self.package, name, "--jobs", str(arguments.jobs)]
            command += [option for option in ("--confirm", "--again") if getattr(arguments, option.strip("-"))]
            subprocess.run(command, env=os.environ | {"OPENBLAS_CORETYPE": kernel}, check=True)
            return []
        if arguments.confirm:
            return pages.confirm(page)
        count = pages.compute(page, arguments.parts, arguments.jobs, arguments.again)
        if arguments.parts is None:
            pages.write(page, page.record())
        return [f"{name}: {count} rows computed"]
