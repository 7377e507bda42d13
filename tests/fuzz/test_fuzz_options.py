"""Commands with options at random do their work, or say in one sentence why not, with the documented exit code."""

from random import Random

import pytest

from consilience.annotations import read_annotations
from consilience.cli import main
from tests.click_runner import invoke
from tests.fuzz.outcome import OTHER, REFUSED, RIGHT, WRONG, report

FILES = {
    "long.csv": "card,participant,category,time\nant,p1,x,1\nbee,p1,x,2\ncow,p1,y,3\nant,p2,a,1\nbee,p2,b,2\n",
    "wide.csv": "product,J1,J2\nale,1,2\nbock,1,2\nstout,2,1\nporter,2,1\n",
    "labels.csv": "task,worker,label\nt1,u,0\nt1,v,1\nt2,u,1\nt2,v,1\nt3,u,0\n",
    "pairs.csv": "left,right,worker,grade\na,b,u,4\na,c,u,1\nb,c,v,2\nb,d,v,3\na,d,u,4\n",
    "minus.csv": "item;A;B\na;1;-1\nb;2;3\nc;1;3\nd;2;1\n",
}
COLUMNS = [
    "card",
    "participant",
    "category",
    "time",
    "product",
    "J1",
    "task",
    "label",
    "left",
    "grade",
    "nowhere",
    "",
    "J*",
]
VALUES = {
    **dict.fromkeys(
        ("--item", "--item-b", "--annotator", "--grouping", "--group", "--label", "--same", "--ignore"), COLUMNS
    ),
    "--kind": ["groupings", "labels", "pairs", "rows", ""],
    "--missing": ["-1", "1", "", "x", "NA", "nan", "∞"],
    "--same-if": [">=3", "=yes", "3", ">=x", "", "<=", "!=1", ">1e400"],
    "--encoding": ["utf-8", "cp1252", "utf-16", "klingon", "", "utf-8\0"],
    "--sheet": ["Sheet1", ""],
    "--to": ["pairs", "groupings", "labels"],
}
FLAGS = ["--transpose", "--no-transpose"]


def command(random, folder):
    """Return a random command."""
    name = random.choice(list(FILES))
    options = []
    for _ in range(random.randint(0, 3)):
        option = random.choice([*VALUES, *FLAGS])
        options += [option] if option in FLAGS else [option, random.choice(VALUES[option])]
    out = random.choice(["out.csv", "out.json", "out.tsv", "out.parquet", "out.xyz"])
    return ["convert", str(folder / name), str(folder / out), *options]


def outcome(result, arguments, folder):
    """Say what became of a command: its output can be read, or it ended in one line."""
    lines = [line for line in result.stderr.splitlines() if not line.startswith("Note: ")]
    if result.exit_code == 2 and len(lines) == 1 and lines[0].startswith("Error: "):
        return REFUSED, lines[0]
    if result.exit_code != 0 or lines:
        return OTHER, f"exit code {result.exit_code}: {result.stderr[-500:]} {result.exception!r}"
    said = read_annotations(arguments[2], missing=[])
    return (RIGHT if said.n_rows else WRONG), repr(said)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("n", [25, pytest.param(10_000, marks=pytest.mark.slow)])
def test_options_work_or_are_refused(n, tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    random, found = Random(20_261_124), []
    for _ in range(n):
        arguments = command(random, tmp_path)
        result = invoke(main, arguments)
        found.append((*outcome(result, arguments, tmp_path), " ".join(arguments)))
    assert not [kind for kind, _, _ in found if kind in (WRONG, OTHER)], report(found)
    assert sum(kind == RIGHT for kind, _, _ in found) > n / 10, report(found)
