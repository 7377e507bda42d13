"""A process of its own with little memory, in which cases are run: ``python -m tests.fuzz.limited KIND N SEED FOLDER``.

Outcomes are printed as lines of JSON. A case that takes more memory than there is, or more than a minute of the
processor, is seen.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz.outcome import OTHER

SPARE = 600 << 20  # bytes more than the process has when it begins
LONGEST = 60  # seconds of a case, of the processor: machines of tests do much besides
STUCK = 600  # seconds of a case, of the clock
ROOT = Path(__file__).parents[2]


def outcomes_of(kind: str, n: int, seed: int, folder: Path, *more: str) -> list[tuple[str, str, str]]:
    """Run cases in a process with little memory; give their outcomes."""
    command = [sys.executable, "-m", "tests.fuzz.limited", kind, str(n), str(seed), str(folder), *more]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, errors="replace")
    found = [tuple(json.loads(line)) for line in done.stdout.splitlines() if line.startswith("[")]
    if done.returncode or len(found) != n:
        ended = f"ended with {done.returncode} after {len(found)} of {n} cases: {done.stderr[-2000:]}"
        found.append((OTHER, ended, ""))
    return found


def limit_memory() -> None:
    """Allow this process little more memory than it has."""
    has = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (has + SPARE, resource.RLIM_INFINITY))


def saved_models(n: int, seed: int, folder: Path, *more: str) -> Iterator[tuple[str, str, str]]:
    """Forged models, in turn of every kind."""
    from tests.fuzz import saved_models

    files = list(saved_models.pool(compiled="compiled" in more).items())
    limit_memory()
    random = Random(seed)
    for number in range(n):
        name, content = files[number % len(files)]
        kind, said, change = timed(saved_models.case, content, random, Path("model.zip"))
        yield kind, said, f"{number} {name} {change}"


def command_lines(n: int, seed: int, folder: Path, *more: str) -> Iterator[tuple[str, str, str]]:
    """Commands with hostile options, paths and names."""
    from tests.fuzz import command_lines

    command_lines.prepare(folder)
    limit_memory()
    random = Random(seed)
    for _ in range(n):
        yield timed(command_lines.case, random, folder)


def timed(run: Any, *arguments: Any) -> Any:
    """Run a case, which may take a minute."""
    for timer, bell, seconds in TIMERS:
        signal.signal(bell, _ring)
        signal.setitimer(timer, seconds)
    try:
        return run(*arguments)
    except TooLongError:
        return OTHER, f"takes more than {LONGEST} seconds", repr(arguments)[:500]
    finally:
        for timer, *_ in TIMERS:
            signal.setitimer(timer, 0)


class TooLongError(BaseException):
    """A case that does not end, which no command turns into a sentence."""


def _ring(*_: Any) -> None:
    raise TooLongError


TIMERS = ((signal.ITIMER_PROF, signal.SIGPROF, LONGEST), (signal.ITIMER_REAL, signal.SIGALRM, STUCK))


if __name__ == "__main__":
    kind, n, seed, folder, *more = sys.argv[1:]
    for outcome in {"saved_models": saved_models, "command_lines": command_lines}[kind](
        int(n), int(seed), Path(folder), *more
    ):
        print(json.dumps(outcome), flush=True)  # noqa: T201
