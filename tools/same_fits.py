"""Do fits, their tables of partitions and their reports stay the same, to the last bit, when code is moved?

    python tools/same_fits.py --keep before.json       # before the change
    python tools/same_fits.py --compare before.json    # after it: says what differs, and exits with 1

- Every estimator in every configuration of `tests/saved_files.py`: all that it learned and the lower bounds, and
  probabilities of pairs. Equal to the last bit.
- Every model that partitions fit: all that it learned, within 1e-9.
- `report.html` and `summary.json` of `consilience fit` for 12 studies: equal byte by byte.

Names of estimators restrict it to their fits, in memory and over partitions. Run both on one machine and with the same
versions of libraries.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from benchmarks.experiments.sentinels import numbers_of  # noqa: E402
from consilience.consensus import KCC, DawidSkene, ProductMixture, StagewiseEM, SubsetFusion  # noqa: E402
from consilience.partitions import PartitionedItems, PartitionedTable, fit  # noqa: E402
from consilience.semisupervised import MCVC, MECC, PartitionLabelModel  # noqa: E402
from tests.partitions import item_tables, made, view_tables  # noqa: E402
from tests.saved_files import makers  # noqa: E402

CLOSE = 1e-9
TUTORIAL = ROOT / "src" / "consilience" / "datasets" / "tutorial_tables"
STUDIES = {
    "wines": [str(TUTORIAL / "answers.csv"), "--features", str(TUTORIAL / "features.csv")],
    "wines, consensus": [str(TUTORIAL / "answers.csv")],
    "wines, KCC": [str(TUTORIAL / "answers.csv"), "--model", "KCC", "--set", "n_clusters=3"],
    "wines, MCVC": [str(TUTORIAL / "answers.csv"), "--features", str(TUTORIAL / "features.csv"), "--model", "MCVC",
                    "--set", "n_clusters=3", "--set", "n_init=1"],
    "sorts": [str(TUTORIAL / "sorts.csv")],
    "sorts, CSPA": [str(TUTORIAL / "sorts.csv"), "--model", "CSPA", "--set", "n_clusters=4"],
    "sorts, three": [str(TUTORIAL / "sorts.csv"), "--set", "n_clusters=3"],
    "labels": ["labels.csv"],
    "labels, MajorityVote": ["labels.csv", "--model", "MajorityVote"],
    "labels, StagewiseEM": ["labels.csv", "--model", "StagewiseEM"],
    "pairs": ["pairs.csv"],
    "pairs, CorrelationClustering": ["pairs.csv", "--model", "CorrelationClustering"],
}  # fmt: skip


def digest_of_model(model):
    """Return a digest of every number and name that a model learned, by attribute."""
    last = model[-1] if hasattr(model, "steps") else model
    learned = {name: value for name, value in sorted(vars(last).items()) if name.endswith("_") or name == "_log_table"}
    return {name: digest(numbers_of(value).tobytes()) for name, value in learned.items()}


def digest(content):
    return hashlib.sha256(content).hexdigest()[:16]


def fits(names):
    return {stem: digest_of_model(make()) for stem, make in makers() if is_asked_for(stem, names)}


def is_asked_for(fit, names):
    return not names or re.split(r"\W", fit)[0] in names


def partitioned(names):
    """Return the numbers that each model learned from partitions, by attribute."""
    long, items, views = made.cut(made.crowd(), 3), item_tables.items(), view_tables.items()
    one_table, features = PartitionedTable(long), {"features": view_tables.FEATURES, "annotators": view_tables.SORTERS}
    several = PartitionedItems([views[number::3] for number in range(3)], **features)
    models = {
        "DawidSkene": (DawidSkene(subtypes=1), one_table),
        "DawidSkene one-coin": (DawidSkene("one-coin", subtypes=1), one_table),
        "KCC": (KCC(3, random_state=0), one_table),
        "ProductMixture": (ProductMixture(3, copies=None, random_state=0), one_table),
        "StagewiseEM": (StagewiseEM(copies=None), one_table),
        "SubsetFusion": (SubsetFusion(refine=True, copies=None, random_state=0), one_table),
        "PartitionLabelModel": (
            PartitionLabelModel(**item_tables.SETTINGS), item_tables.table_of([items[:90], items[90:]])
        ),
        "MCVC": (MCVC(**view_tables.SETTINGS), several),
        "MECC": (MECC(**view_tables.SETTINGS), several),
        "MCVC of labels": (MCVC(**view_tables.SETTINGS), one_table),
    }  # fmt: skip
    return {name: learned(fit(*arguments)) for name, arguments in models.items() if is_asked_for(name, names)}


def learned(model):
    own = {name: numbers_of(value) for name, value in sorted(vars(model).items()) if name.endswith("_")}
    return {name: numbers.tolist() for name, numbers in own.items()}


def reports(folder):
    """Return a digest of each file that the program writes about each study."""
    made.crowd(60, 5).to_csv(folder / "labels.csv", index=False)
    pairs_of_a_crowd().to_csv(folder / "pairs.csv", index=False)
    found = {}
    for number, (name, arguments) in enumerate(STUDIES.items()):
        out = folder / f"out {number}"
        command = [sys.executable, "-m", "consilience", "fit", *arguments, "--out", str(out)]
        environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        found[name] = {"said": digest(done.stdout.replace(str(out), "").encode()), "exit": done.returncode}
        if done.returncode:
            sys.stderr.write(f"{name}: {done.stderr}\n")
        files = sorted(path for path in out.glob("*.*") if path.is_file())
        found[name] |= {path.name: digest(path.read_bytes().replace(str(out).encode(), b"")) for path in files}
        found[name].pop("model.zip", None)  # holds times of writing
    return found


def pairs_of_a_crowd():
    rng = np.random.default_rng(0)
    cluster, (first, second) = rng.integers(3, size=30), rng.integers(30, size=(2, 600))
    same = (cluster[first] == cluster[second]) ^ (rng.random(600) < 0.1)
    columns = {"item_a": first, "item_b": second, "annotator": rng.integers(6, size=600), "same": same}
    table = pd.DataFrame(columns).query("item_a != item_b")
    return table.astype({"item_a": str, "item_b": str, "annotator": str})


def take(names):
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {"fits": fits(names), "partitions": partitioned(names)}
        return found if names else found | {"reports": reports(Path(folder))}


def differences(before, after):
    """Yield what differs: a fit, a fit of partitions, or a report, with the attributes or files."""
    for kind in after:
        for name in after[kind]:
            one, other = before[kind].get(name, {}), after[kind].get(name, {})
            is_same = are_close if kind == "partitions" else lambda a, b: a == b
            parts = [part for part in one.keys() | other.keys() if not is_same(one.get(part), other.get(part))]
            if parts:
                yield f"{kind}, {name}: {', '.join(sorted(parts))}"


def are_close(one, other):
    return (
        one is not None
        and other is not None
        and len(one) == len(other)
        and np.allclose(one, other, rtol=CLOSE, atol=CLOSE, equal_nan=True)
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="ESTIMATOR", help="by default all, and the reports")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--keep", type=Path, metavar="FILE", help="write the digests there")
    what.add_argument("--compare", type=Path, metavar="FILE", help="compare with digests that were kept")
    asked = parser.parse_args()
    now = take(set(asked.names))
    if asked.keep:
        asked.keep.write_text(json.dumps(now), encoding="utf-8")
        counts = ", ".join(f"{len(found)} {kind}" for kind, found in now.items())
        sys.stdout.write(f"Kept {counts}.\n")
        return 0
    said = list(differences(json.loads(asked.compare.read_text(encoding="utf-8")), now))
    sys.stdout.write("\n".join(said or ["Nothing differs."]) + "\n")
    return bool(said)


if __name__ == "__main__":
    sys.exit(main())
