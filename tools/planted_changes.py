"""Plant faults in the package, one at a time, to see which tests notice them.

``planted/suite.toml`` lists faults all over ``src/consilience``, ``planted/models.toml`` faults in the mathematics of
the models, with the estimators whose figures they change. Each is a file, a text that occurs in it once, and the text
in its place.

    python tools/planted_changes.py --list
    python tools/planted_changes.py --check
    python tools/planted_changes.py --apply 7
    python tools/planted_changes.py --revert
    python tools/planted_changes.py --run 7 12 --out planted
    python tools/planted_changes.py --changes models --run --only near

``--run`` works on a copy of the tracked files, in which it plants one fault after the other, and runs tests until one
fails: first those that import the changed module or are called like it, in the folder of tests that mirrors its folder;
then this whole folder; then all tests, or those that ``--tests`` names. ``--only near`` ends after the first of these,
``--only folder`` after the second.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path("src/consilience")
LISTS = Path(__file__).with_name("planted")
STAGES = ("near", "folder", "all")
NO_TESTS = 5  # exit status of pytest
OUTCOME = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Change:
    """A fault: `old` occurs once in the file, and `new` takes its place."""

    number: int
    file: str
    old: str
    new: str
    breaks: str
    estimators: tuple[str, ...] = ()

    @property
    def path(self):
        """The file, from the root of the repository."""
        return PACKAGE / self.file

    def planted(self, text):
        """Return the content of the file with the fault.

        Raises
        ------
        ValueError
            The text does not occur exactly once.
        """
        if text.count(self.old) != 1:
            raise ValueError(f"{self.file}: {text.count(self.old)} times instead of once: {self.old.strip()!r}")
        return text.replace(self.old, self.new)


def changes(name):
    """Return the changes of a list, numbered from 1."""
    with (LISTS / f"{name}.toml").open("rb") as file:
        rows = tomllib.load(file)["change"]
    return [
        Change(number, **row | {"estimators": tuple(row.get("estimators", ()))}) for number, row in enumerate(rows, 1)
    ]


def problems(found, root=ROOT):
    """Return what is wrong with changes: texts that do not occur exactly once, or code that does not parse."""
    said = []
    for change in found:
        try:
            compile(change.planted((root / change.path).read_text(encoding="utf-8")), change.file, "exec")
        except (OSError, ValueError, SyntaxError) as error:
            said.append(f"{change.number}: {error}")
    return said


def committed(path):
    """Return the committed content of a file."""
    return subprocess.run(["git", "show", f"HEAD:{path}"], cwd=ROOT, capture_output=True, check=True).stdout.decode()


def apply(change):
    """Plant a fault in the working tree; refuse if the file differs from what is committed."""
    text = (ROOT / change.path).read_text(encoding="utf-8")
    if text != committed(change.path):
        sys.exit(f"{change.path} differs from what is committed; commit or restore it first.")
    (ROOT / change.path).write_text(change.planted(text), encoding="utf-8")


def revert(found):
    """Take back the faults of a list that were planted; leave every other difference from what is committed."""
    for change in found:
        text = committed(change.path)
        if (ROOT / change.path).read_text(encoding="utf-8") == change.planted(text):
            (ROOT / change.path).write_text(text, encoding="utf-8")
            sys.stdout.write(f"{change.number}: {change.path} is as committed again.\n")


def copy_of_tracked_files(folder):
    """Clone the repository, since some tests ask git, with the tracked files as they are in the working tree.

    The test of the lists is left out, which fails for every fault.
    """
    subprocess.run(["git", "clone", "--quiet", "--shared", ROOT, folder], check=True)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    (folder / "tests" / f"test_{Path(__file__).name}").unlink(missing_ok=True)


def tests_of(change, root, stage, everything):
    """Return the arguments of pytest at a stage: those that know the module, the mirrored folder, or all."""
    if stage == "all":
        return everything
    inside = Path(change.file)
    folder = next(
        (at for at in (root / "tests" / parent for parent in inside.parents) if at.is_dir() and at != root / "tests"),
        root / "tests",
    )
    if stage == "folder":
        return [str(folder.relative_to(root))]
    module = ".".join(("consilience", *inside.parent.parts, inside.stem))
    package, _, stem = module.rpartition(".")
    imports = re.compile(rf"\b{re.escape(module)}\b|from {re.escape(package)} import [^\n]*\b{stem}\b")
    called = re.compile(rf"test_{stem.removesuffix('_estimator').strip('_')}(_estimator|_browser)?\.py")
    found = [
        (not called.fullmatch(path.name), str(path.relative_to(root)))
        for path in (root / "tests").rglob("test_*.py")
        if folder in path.parents and (imports.search(path.read_text(encoding="utf-8")) or called.fullmatch(path.name))
    ]
    return [name for _, name in sorted(found)]


def run(change, root, only, everything, limit):
    """Plant a fault in a copy, run tests until one fails, and take it back; return the record of it."""
    path = root / change.path
    text = path.read_text(encoding="utf-8")
    path.write_text(change.planted(text), encoding="utf-8")
    record = {"number": change.number, "file": change.file, "breaks": change.breaks, "estimators": change.estimators}
    record |= {"stage": None, "caught": False, "test": None}
    begun = time.monotonic()
    try:
        for stage in STAGES[: STAGES.index(only) + 1]:
            tests = tests_of(change, root, stage, everything)
            if not tests:  # none knows the module
                continue
            outcome = first_failure(tests, root, limit)
            record |= {"stage": stage, "caught": outcome is not None, "test": outcome}
            if outcome is not None:
                break
    finally:
        path.write_text(text, encoding="utf-8")
    return record | {"seconds": round(time.monotonic() - begun)}


def first_failure(tests, root, limit):
    """Return the first test that fails, None if all pass; a run that takes too long fails, as it would for a user."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-rfE", "-p", "no:cacheprovider", *tests]
    environment = os.environ | {"PYTHONPATH": str(root / "src")}
    try:
        done = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return f"more than {limit} seconds"
    if done.returncode in (0, NO_TESTS):
        return None
    found = OUTCOME.search(done.stdout)
    return found[1] if found else (done.stdout + done.stderr).strip().splitlines()[-1]


def table(records):
    """Return a Markdown table of records."""
    lines = ["| # | file | what breaks | caught by |", "|---|---|---|---|"]
    for one in records:
        missed = f"not by {one['stage']}" if one["stage"] else "no tests were run"
        caught = f"{one['stage']}: `{one['test']}`" if one["caught"] else missed
        lines.append(f"| {one['number']} | `{one['file']}` | {one['breaks']} | {caught} |")
    n_caught = sum(one["caught"] for one in records)
    return "\n".join([*lines, "", f"{n_caught} of {len(records)} are caught."]) + "\n"


def run_all(chosen, options):
    """Run the tests against each change; print a table, and write it and a record of each to files if asked."""
    records = []
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        copy_of_tracked_files(Path(folder))
        for change in chosen:
            record = run(change, Path(folder), options.only, shlex.split(options.tests), options.limit)
            records.append(record)
            caught = record["test"] if record["caught"] else "not caught"
            sys.stderr.write(f"{change.number}: {caught}\n")
            if options.out:
                with options.out.with_suffix(".jsonl").open("a", encoding="utf-8") as file:
                    file.write(json.dumps(record) + "\n")
    sys.stdout.write(table(records))
    if options.out:
        options.out.with_suffix(".md").write_text(table(records), encoding="utf-8")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--changes", choices=("suite", "models"), default="suite", help="which list")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--list", action="store_true", help="list the changes")
    what.add_argument("--check", action="store_true", help="whether every text still occurs once")
    what.add_argument("--apply", type=int, metavar="N", help="plant a change in the working tree")
    what.add_argument("--revert", action="store_true", help="take back what was planted")
    what.add_argument("--run", type=int, nargs="*", metavar="N", help="run tests against these changes, or all")
    parser.add_argument("--only", choices=STAGES, default="all", help="the last of the stages to run")
    parser.add_argument("--tests", default="tests", metavar="ARGS", help="arguments of pytest at the last stage")
    parser.add_argument("--limit", type=int, default=3600, metavar="S", help="seconds that a stage may take")
    parser.add_argument("--out", type=Path, metavar="STEM", help="write STEM.md and append to STEM.jsonl")
    return parser.parse_args()


def main():
    options = arguments()
    found = changes(options.changes)
    wanted = options.run or ([options.apply] if options.apply is not None else [])
    if unknown := sorted(set(wanted) - {change.number for change in found}):
        sys.exit(f"There is no change {unknown[0]}; they are numbered from 1 to {len(found)}.")
    chosen = [change for change in found if not wanted or change.number in wanted]
    if options.list:
        for change in found:
            sys.stdout.write(
                f"{change.number:3} {change.file}: {change.breaks} {' '.join(change.estimators)}".rstrip() + "\n"
            )
    elif options.check:
        said = problems(found)
        sys.exit("\n".join(said) if said else 0)
    elif options.apply is not None:
        apply(chosen[0])
    elif options.revert:
        revert(found)
    else:
        run_all(chosen, options)


if __name__ == "__main__":
    main()
