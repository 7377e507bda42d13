"""Commands with hostile options, paths and names, run in this process: what they print, and with which exit code.

A command does its work, or says in one sentence why not. What it prints steers no terminal, and no text or warning of
another library is in it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import warnings
from inspect import signature
from pathlib import Path
from random import Random
from typing import Any

from consilience import registry
from consilience.cli import main
from tests.click_runner import invoke
from tests.fuzz.outcome import OTHER, REFUSED, RIGHT
from tests.fuzz.saved_models import SETTINGS, pool, study

LONG = "x" * 300
NUMBERS = ["-1", "0", "1", "2", "3", "12", "1" * 400, "9" * 5000, "2147483648", "-0", "+2", "1_0", "٣", "²", "0x10"]
REALS = ["1e308", "-1e308", "1e-308", "1e12", "0.5", "nan", "inf", "-inf", "1e400", ".", "1e", "0,5"]
WORDS = [
    "",
    " ",
    "abc",
    "None",
    "true",
    "auto",
    "1,2",
    "(1, 2)",
    "é",
    "\x1b[31mred",
    "a\nb",
    "<b>x</b>",
    "\udcff",
    "a" * 5000,
]
NAMES = [
    *(
        "plain",
        "é",
        "漢字",
        "two words",
        "\x1b[31mred\x1b[0m",
        "a\nb",
        "\x07",
        "<script>alert(1)</script>",
        "&amp;",
        '"quoted"',
    ),
    *(
        "=1+1",
        "-1",
        "0",
        "1e308",
        "\u202eright",
        "\u2028",
        "a" * 1000,
        "NaN ",
        "'",
        "\\",
        "%s",
        "{}",
        "{0}",
        "\x9b31m",
        "$x$",
    ),
]
PATHS = [
    *(
        "nowhere.csv",
        "folder",
        "folder/",
        ".",
        "..",
        "",
        "/",
        LONG,
        f"{LONG}.csv",
        "\x1b[31m.csv",
        "a\nb.csv",
        "\udcff.csv",
    ),
    *(
        "/dev/null",
        "sorts.csv/deeper.csv",
        "no/such/folder/x.csv",
        "é.csv",
        "~",
        "loop.csv",
        "<b>.csv",
        "model.zip",
        "-x.csv",
    ),
]
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
SENTENCE_END = re.compile(r"([.?)]|No such option: \S+)\s*$")  # click 8.1 ends its own without a full stop
FOREIGN = re.compile(
    r"Traceback|Error: .*(Error|Exception|Errno)\b|\w+Warning\b|defect|not enough memory|0x[0-9a-f]{6}"
)
QUICK = ["MajorityVote", "DawidSkene", "KCC", "CSPA", "SubsetFusion", "MPCKMeans", "PartitionLabelModel", "MECC"]
ODD_MODELS = ["SpectralEM", "StagewiseEM", "ProductMixture", "SemiCrowd", "auto", "KMeans", "", "kcc"]
SLOW = {"n_init", "max_iter", "n_starts", "max_pairs"}  # parameters that may rightly ask for much work


def prepare(folder: Path) -> None:
    """Write good files of every kind, models, and a report that takes no time."""
    import consilience.workflows.fitting
    import consilience.workflows.saved_models

    os.chdir(folder)
    os.environ["CONSILIENCE_DATA"] = str(folder)
    features, said = study()
    features.rename_axis("item").to_csv("features.csv")
    features.assign(b=[1e12, *features["b"][1:]]).rename_axis("item").to_csv("outlier.csv")
    features.assign(b=[1e308, *features["b"][1:]]).rename_axis("item").to_csv("huge.csv")
    features.assign(c=list("xyz" * 4)).rename_axis("item").to_csv("texts.csv")
    said.rename_axis("item").to_csv("sorts.csv")
    said.rename_axis("task").melt(ignore_index=False, var_name="worker", value_name="label").to_csv("labels.csv")
    rows = [f"item {i},item {j},{'xyz'[(i + j) % 3]},{int(i // 4 == j // 4)}" for i in range(12) for j in range(i)]
    Path("pairs.csv").write_text("\n".join(["item_a,item_b,annotator,same", *rows]))
    for name, content in pool(compiled=False).items():
        Path(f"{name}.zip").write_bytes(content)
    shutil.copy("PartitionLabelModel.zip", "model.zip")
    Path("folder").mkdir(exist_ok=True)
    if not Path("loop.csv").is_symlink():
        Path("loop.csv").symlink_to("loop.csv")

    def report(*_: Any, path: Path, **__: Any) -> None:
        Path(path).write_text("report", encoding="utf-8")

    consilience.workflows.fitting.report = report  # type: ignore[assignment]
    consilience.workflows.saved_models.write_report = report  # type: ignore[assignment]


def hostile_file(random: Random) -> str:
    """Write a file of labels or groupings with hostile names; give its name."""
    names = random.sample(NAMES, 8)
    kind = random.choice(["csv", "json"])
    rows = [
        {"item": item, "annotator": by, random.choice(["label", "group"]): name}
        for item in names[:4]
        for by, name in zip(names[4:6], random.choices(names[6:], k=2))
    ]
    key = next(iter(set(rows[0]) - {"item", "annotator"}))
    rows = [{"item": row["item"], "annotator": row["annotator"], key: list(row.values())[2]} for row in rows]
    if kind == "json":
        Path("hostile.json").write_text(json.dumps(rows), encoding="utf-8")
        return "hostile.json"
    quoted = [",".join('"' + str(cell).replace('"', '""') + '"' for cell in row.values()) for row in rows]
    Path("hostile.csv").write_text("\n".join([",".join(rows[0]), *quoted]), encoding="utf-8")
    return "hostile.csv"


def value(random: Random) -> str:
    """A value of an option."""
    return random.choice(random.choice([NUMBERS, REALS, WORDS, NAMES]))


def source(random: Random) -> str:
    """A file of annotations, mostly a good one."""
    if random.random() < 0.2:
        return hostile_file(random)
    return random.choice(PATHS) if random.random() < 0.06 else random.choice(["sorts.csv", "labels.csv", "pairs.csv"])


def table(random: Random) -> str:
    """A table of features, mostly a good one."""
    good = ["features.csv", "features.csv", "outlier.csv", "huge.csv", "texts.csv"]
    return random.choice(PATHS) if random.random() < 0.08 else random.choice(good)


def out(random: Random, ending: str = ".csv") -> str:
    """A file to write, mostly one that can be written."""
    return (
        random.choice(PATHS) if random.random() < 0.12 else f"out{random.choice([ending] * 6 + ['.tsv', '.xyz', ''])}"
    )


def fit(random: Random) -> list[str]:
    """A fit."""
    model = random.choice(QUICK) if random.random() < 0.93 else random.choice(ODD_MODELS)
    words = [
        "fit",
        source(random),
        "--model",
        model,
        "--out",
        "study" if random.random() < 0.9 else random.choice(PATHS),
    ]
    if random.random() < 0.5:
        words += ["--features", table(random)]
    settings = {key: val for key, val in SETTINGS.get(model, {}).items() if isinstance(val, int | float | str)}
    if random.random() < 0.35 and model in registry.ESTIMATORS:
        key = random.choice([*signature(registry.estimator(model)).parameters, "nothing", ""])
        settings[key] = random.choice(NUMBERS[:5]) if key in SLOW else value(random)
    for key, setting in settings.items():
        words += ["--set", f"{key}={setting}"]
    for option in ("--clusters", "--seed", "--jobs", "--scores", "--gold", "--history", "--impute", "--categorical"):
        if random.random() < 0.04:
            words += [option, value(random) if option in ("--clusters", "--seed", "--jobs") else table(random)]
    words += ["--kind", random.choice(["labels", "groupings", "pairs"])] if random.random() < 0.2 else []
    return (
        words + (["--json"] if random.random() < 0.2 else []) + (["--no-standardize"] if random.random() < 0.2 else [])
    )


def fuse(random: Random) -> list[str]:
    """A fusion."""
    words = ["fuse", source(random), "--out", "fused" if random.random() < 0.9 else random.choice(PATHS)]
    for option in ("--clusters", "--seed", "--normalize", "--item", "--missing", "--encoding", "--sheet"):
        words += [option, value(random)] if random.random() < 0.05 else []
    return words


def convert(random: Random) -> list[str]:
    """A conversion."""
    words = ["convert", source(random), out(random, random.choice([".csv", ".json", ".parquet"]))]
    words += ["--to", random.choice(["pairs", "labels", "groupings", "x"])] if random.random() < 0.3 else []
    for option in (
        "--item",
        "--annotator",
        "--group",
        "--label",
        "--same",
        "--same-if",
        "--missing",
        "--ignore",
        "--encoding",
    ):
        words += [option, value(random)] if random.random() < 0.05 else []
    return words


def predict(random: Random) -> list[str]:
    """A prediction."""
    model = (
        random.choice(PATHS)
        if random.random() < 0.15
        else f"{random.choice([*SETTINGS, 'pipeline', 'columns', 'session', 'unfitted'])}.zip"
    )
    fits = source if model.removesuffix(".zip") in OF_LABELS else table
    words = ["predict", model, (fits if random.random() < 0.8 else random.choice([table, source]))(random)]
    words += ["--out", out(random)] if random.random() < 0.5 else []
    words += ["--feature-item", value(random)] if random.random() < 0.1 else []
    return words + (["--proba"] if random.random() < 0.5 else [])


def report(random: Random) -> list[str]:
    """A report."""
    model = (
        random.choice(PATHS)
        if random.random() < 0.15
        else f"{random.choice([*SETTINGS, 'pipeline', 'session', 'unfitted'])}.zip"
    )
    words = ["report", model, source(random), "--out", out(random, ".html")]
    words += ["--features", table(random)] if random.random() < 0.5 else []
    return words + (["--scores", table(random)] if random.random() < 0.2 else [])


def simulate(random: Random) -> list[str]:
    """A simulation."""
    what = random.choice(["experts", "crowd", "agents"])
    numbers = {
        "experts": ["--annotators", "--observed", "--flip", "--seed"],
        "crowd": ["--annotators", "--items-each", "--accuracy", "--merge", "--seed"],
        "agents": [
            *("--items", "--clusters", "--dimensions", "--separation", "--subsets", "--subset-size", "--annotators"),
            *("--groups", "--features-each", "--algorithm", "--seed"),
        ],
    }
    words = ["simulate", what, "--out", out(random)]
    if what == "agents":
        words += ["--features", table(random)] if random.random() < 0.3 else ["--items", "30", "--subsets", "5"]
    else:
        words += [
            random.choice(["texts.csv", table(random), "iris", value(random)]),
            "--class-column",
            random.choice(["c", "x", ""]),
        ]
    for option in numbers[what]:
        words += [option, value(random)] if random.random() < 0.05 else []
    return words


def datasets(random: Random) -> list[str]:
    """Data sets."""
    words = ["datasets", *random.sample(["iris", "digits", *WORDS], random.randint(0, 1))]
    words += ["--out", out(random)] if random.random() < 0.4 else []
    words += ["--what", random.choice(["features", "classes", "annotations", "x"])] if random.random() < 0.3 else []
    return words + (["--json"] if random.random() < 0.3 else [])


def compare(random: Random) -> list[str]:
    """A comparison of quick models."""
    words = [
        "compare",
        source(random),
        "--models",
        random.choice(["KCC,CSPA", "MajorityVote", "KMeans", "", "KCC,\x1b"]),
    ]
    words += [
        "--folds",
        random.choice(["2", "2", value(random)]),
        "--clusters",
        random.choice(["2", "2:3", value(random)]),
    ]
    for option in ("--max-pairs", "--seed", "--set", "--by"):
        words += [option, value(random)] if random.random() < 0.05 else []
    return words + (["--json"] if random.random() < 0.3 else [])


def nonsense(random: Random) -> list[str]:
    """Words at random."""
    words = ["fit", "fuse", "--set", "--clusters", "--help", "--version", "--", "-", "--seed", "sorts.csv", "simulate"]
    return [random.choice(words) if random.random() < 0.6 else value(random) for _ in range(random.randint(0, 5))]


OF_LABELS = {
    *("MajorityVote", "DawidSkene", "OrdinalRatings", "TagConsensus", "ProductMixture", "SpectralEM", "StagewiseEM")
}
COMMANDS = [fit] * 6 + [fuse] * 3 + [convert] * 4 + [predict] * 5 + [report] * 2 + [simulate] * 4
COMMANDS += [datasets, compare, nonsense]


def case(random: Random, folder: Path) -> tuple[str, str, str]:
    """Run a command: outcome, what was said, and the command."""
    words = random.choice(COMMANDS)(random)
    for left in ("study", "fused", "~", "é.csv", "-x.csv", *Path().glob("out*")):
        remove(Path(left))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        result = invoke(main, words)
    return (*outcome(result, words), " ".join(repr(word[:60]) for word in words))


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def outcome(result: Any, words: list[str]) -> tuple[str, str]:
    """Say what became of a command."""
    told = f"exit {result.exit_code}: {result.stderr[-400:]!r} {result.exception!r}"
    lines = result.stderr.splitlines()
    problems = [line for line in lines if not line.startswith(("Note: ", "Warning: "))]
    is_table = words[:1] == ["predict"]  # on standard output, as it is
    printed = result.stderr + ("" if is_table else result.stdout)
    if CONTROL.search(printed) or FOREIGN.search(result.stderr):
        return OTHER, told
    if result.exit_code == 0:
        return (RIGHT if not problems else OTHER), told
    if result.exit_code == 1:
        return (RIGHT if problems[-1:] and problems[-1].startswith("Error: Undecided:") else OTHER), told
    is_sentence = len(problems) == 1 and problems[0].startswith("Error: ") and bool(SENTENCE_END.search(problems[0]))
    return (REFUSED if result.exit_code == 2 and is_sentence else OTHER), told
