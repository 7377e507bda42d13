"""The command line of a package of pages: compute what is missing or out of date, write the pages, and check them."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module

from benchmarks.experiments import page as pages
from benchmarks.experiments.confirming import confirm
from benchmarks.experiments.page import Page

CANNOT_CONFIRM = (
    "Seconds cannot be confirmed: code that gives the same answers may take longer. "
    "Measure what is out of date by python -m {package}."
)

Comparison = Callable[[Page, Sequence[str], float], tuple[list[str], bool]]


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
    has_sentinels : whether `--check` of all pages takes the sentinels, which are of all packages
    compare : measures the kept rows of some parts of a page again, with a limit of how many times as long they may
        take; returns what there is to say, and whether something is slower
    """

    package: str
    pages: Sequence[str]
    description: str
    kernels: Mapping[str, str] = field(default_factory=dict)
    is_timed: bool = False
    has_sentinels: bool = False
    compare: Comparison | None = None

    def main(self) -> int:
        """Run the command line, and return the exit status."""
        arguments = self.read()
        if arguments.changed is not None:
            return self.run_declaration(arguments)
        if self.compare is not None and arguments.compare:
            return self.run_comparison(arguments)
        found = [found for name in arguments.pages or self.pages for found in self.run(name, arguments)]
        if arguments.check and self.has_sentinels and not arguments.pages:
            found += self.check_sentinels(arguments.jobs)
        for line in found:
            print(line)
        return int(arguments.check and bool(found))

    def check_sentinels(self, n_jobs: int) -> list[str]:
        """Take all sentinels, and return where they differ from the record."""
        from benchmarks.experiments.declaring import problems, take_all
        from benchmarks.experiments.record import SentinelRecord
        from benchmarks.experiments.sentinels import all_sentinels

        return problems(take_all(all_sentinels(), n_jobs), SentinelRecord())

    def run_declaration(self, arguments: argparse.Namespace) -> int:
        """Declare that figures have changed, and return the exit status."""
        from benchmarks.experiments.declaring import UnknownSubjectError, declare  # imports the pages of all packages

        try:
            lines = declare(arguments.changed, arguments.jobs)
        except UnknownSubjectError as error:
            print(error, file=sys.stderr)
            return 2
        print(*lines or ["No sentinel differs from the record."], sep="\n")
        return 0

    def read(self) -> argparse.Namespace:
        parser = argparse.ArgumentParser(prog=f"python -m {self.package}", description=self.description)
        parser.add_argument("pages", nargs="*", metavar="PAGE", help=f"{', '.join(self.pages)}; by default all")
        parser.add_argument("--parts", nargs="+", help="compute or confirm these parts only, and write nothing")
        jobs = 1 if self.is_timed else 2
        parser.add_argument("--jobs", type=int, default=jobs, help=f"fits at a time; by default {jobs}")
        parser.add_argument("--again", action="store_true", help="compute all rows again")
        what = parser.add_mutually_exclusive_group()
        help = "exit with 1 if a page differs from its record, or a sentinel does; say what is out of date"
        what.add_argument("--check", action="store_true", help=help)
        what.add_argument("--write", action="store_true", help="write the pages from the record, and compute nothing")
        help = "compute the quickest row of each group again, and confirm the group or mark it as out of date"
        what.add_argument("--confirm", action="store_true", help=help)
        help = "record the sentinels of these models or functions anew, by default of all, and mark rows as out of date"
        what.add_argument("--changed", nargs="*", metavar="NAME", help=help)
        help = "with --confirm: compare with what the code of this commit gives on this machine, not with the record"
        parser.add_argument("--against", metavar="COMMIT", help=help)
        if self.compare is not None:
            help = "measure the kept rows again, and keep nothing; exit with 1 if something got slower"
            what.add_argument("--compare", action="store_true", help=help)
            help = "with --compare: how many times as long something must take to be slower; by default 1.5"
            parser.add_argument("--beyond", type=float, default=1.5, help=help)
        arguments = parser.parse_args()
        if unknown := set(arguments.pages) - set(self.pages):
            parser.error(f"There is no page {', '.join(sorted(unknown))}; there are {', '.join(self.pages)}.")
        if arguments.parts and len(arguments.pages or self.pages) != 1:
            parser.error("--parts needs the name of one page.")
        others = [name for name in ("check", "write", "confirm", "changed", "compare") if hasattr(arguments, name)]
        if arguments.again and any(getattr(arguments, name) not in (None, False) for name in others):
            *first, last = (f"--{name}" for name in others)
            parser.error(f"--again computes; give it without {', '.join(first)} and {last}.")
        if arguments.against and not arguments.confirm:
            parser.error("--against is for --confirm.")
        if self.is_timed and arguments.jobs != 1:
            parser.error(f"Seconds are measured one at a time: --jobs must be 1. Got {arguments.jobs} instead.")
        if self.is_timed and (arguments.confirm or arguments.changed is not None):
            parser.error(CANNOT_CONFIRM.format(package=self.package))
        return arguments

    def run_comparison(self, arguments: argparse.Namespace) -> int:
        """Compare kept rows with new ones, and return the exit status."""
        status = 0
        for name in arguments.pages or self.pages:
            page = import_module(f"{self.package}.{name}").PAGE
            parts = self.parts_of(page, arguments) or [part.name for part in page.parts if not part.is_optional]
            lines, is_slower = self.compare(page, parts, arguments.beyond)
            print(*lines, sep="\n")
            status |= is_slower
        return int(status)

    def parts_of(self, page: Page, arguments: argparse.Namespace) -> list[str]:
        """Return the parts that were named; end with 2 if the page has no such part."""
        parts = [part.name for part in page.parts]
        if unknown := set(arguments.parts or ()) - set(parts):
            print(f"{page.name} has no part {', '.join(sorted(unknown))}; it has {', '.join(parts)}.", file=sys.stderr)
            sys.exit(2)
        return list(arguments.parts or ())

    def run(self, name: str, arguments: argparse.Namespace) -> list[str]:
        """Compute, confirm or check one page, and return what there is to say."""
        page = import_module(f"{self.package}.{name}").PAGE
        self.parts_of(page, arguments)
        if arguments.check:
            for line in pages.notes(page):
                print(line)
            return list(pages.problems(page))
        if arguments.write:
            pages.write(page, page.record())
            return []
        kernel = self.kernels.get(name)
        if kernel and os.environ.get("OPENBLAS_CORETYPE") != kernel:
            command = [sys.executable, "-m", self.package, name, "--jobs", str(arguments.jobs)]
            command += [option for option in ("--confirm", "--again") if getattr(arguments, option.strip("-"))]
            command += ["--against", arguments.against] if arguments.against else []
            command += ["--parts", *arguments.parts] if arguments.parts else []
            subprocess.run(command, env=os.environ | {"OPENBLAS_CORETYPE": kernel}, check=True)
            return []
        if arguments.confirm:
            return confirm(page, arguments.against, arguments.parts)
        count = pages.compute(page, arguments.parts, arguments.jobs, arguments.again)
        if arguments.parts is None:
            pages.write(page, page.record())
        return [f"{name}: {count} rows computed"]
