"""Do sentinels see what changes a figure? Each fault of ``planted/models.toml`` is planted in a copy of the package.

    python tools/planted_sentinels.py              # a table: figures of rows that changed, sentinels that saw it
    python tools/planted_sentinels.py 3 7

Of each estimator that a fault concerns, the quickest rows of the record that it fits are computed, each of another
family of settings, with the fault and without, and all its sentinels are taken. A figure changed if it differs by more
than 1e-6 of its size.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from planted_changes import ROOT, changes, copy_of_tracked_files

QUICKEST, LONGEST = 3, 20.0  # rows of an estimator, and seconds that one of them may have taken
PROGRAM = """
import json, sys, warnings
from benchmarks.experiments import sentinels
from benchmarks.experiments.page import rounded

warnings.simplefilter("ignore")
subjects, n_rows, longest = json.loads(sys.argv[1])
taken = {key: sentinels.take(one) for key, one in sentinels.all_sentinels().items() if one.subject in subjects}
rows = {}
for subject in subjects:
    of_family = {}
    for page, part, cell in sentinels.cells():
        families = [] if cell.estimator is None else [
            sentinels.family_of(one) for one in sentinels.estimators_in(cell.estimator) if type(one).__name__ == subject
        ]
        seconds = page.record().rows[cell.key]["seconds"] if families and not part.is_optional else longest
        if seconds < min(longest, of_family.get(families[0] if families else "", (longest,))[0]):
            of_family[families[0]] = (seconds, str((page.name, *cell.key)), part, cell)
    for _, key, part, cell in sorted(of_family.values(), key=lambda one: one[0])[:n_rows]:
        try:
            figures = part.compute(cell)
        except Exception as error:
            figures = {"error": repr(error)}
        rows[key] = {name: rounded(value) for name, value in figures.items() if name != "seconds"}
print(json.dumps({"sentinels": taken, "rows": rows}))
"""


def figures_of(root, subjects):
    """Return the sentinels and the rows of estimators by the code in a folder."""
    command = [sys.executable, "-P", "-c", PROGRAM, json.dumps([sorted(subjects), QUICKEST, LONGEST])]
    path = {"PYTHONPATH": os.pathsep.join(map(str, (root / "src", root))), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=root, env=os.environ | path, stdout=subprocess.PIPE, text=True, check=False)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {"sentinels": {}, "rows": {}}


def differ(one, other, relative):
    """Whether figures differ by more than a share of their size."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() != other.keys() or any(differ(one[name], other[name], relative) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) != len(other) or any(differ(a, b, relative) for a, b in zip(one, other, strict=True))
    if isinstance(one, float) and isinstance(other, float) and one == one and other == other:
        return abs(one - other) > relative * max(abs(one), abs(other)) + 1e-12
    return one != other and (one == one or other == other)


def seen(now, then):
    """Return the keys of the entries that differ."""
    return [key for key in then if differ(now.get(key), then[key], 1e-6)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("numbers", type=int, nargs="*", help="of the changes; by default all")
    wanted = parser.parse_args().numbers
    chosen = [change for change in changes("models") if not wanted or change.number in wanted]
    lines, missed, moved, usual = [], 0, 0, {}
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        root = Path(folder)
        copy_of_tracked_files(root)
        for change in chosen:
            subjects = frozenset(change.estimators)
            usual.setdefault(subjects, None)
            usual[subjects] = usual[subjects] or figures_of(root, subjects)
            path, text = root / change.path, (ROOT / change.path).read_text(encoding="utf-8")
            path.write_text(change.planted(text), encoding="utf-8")
            found = figures_of(root, subjects)
            path.write_text(text, encoding="utf-8")
            rows = seen(found["rows"], usual[subjects]["rows"])
            sentinels = seen(found["sentinels"], usual[subjects]["sentinels"])
            moved += bool(rows)
            missed += bool(rows) and not sentinels
            then = usual[subjects]
            counts = f"{len(rows)} of {len(then['rows'])}", f"{len(sentinels)} of {len(then['sentinels'])}"
            lines.append(f"| {change.number} | `{change.file}` | {change.breaks} | {counts[0]} | {counts[1]} |")
            sys.stderr.write(lines[-1] + "\n")
    head = ["| # | file | what breaks | rows that changed | sentinels that saw it |", "|---|---|---|---|---|"]
    sys.stdout.write("\n".join([*head, *lines]) + "\n\n")
    sys.stdout.write(f"{moved} of {len(chosen)} faults change a row; sentinels miss {missed} of these.\n")


if __name__ == "__main__":
    main()
