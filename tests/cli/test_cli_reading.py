"""Reading annotations on the command line: every option, standard input, and the notes."""

import ast
import gzip
import inspect
import json
import re
from pathlib import Path

import click
import pandas as pd
import pytest

import consilience
from consilience import Groupings, Labels, Pairs, read_annotations
from consilience.cli import main
from consilience.cli.keywords import VALUES, as_options
from consilience.cli.options import READING
from consilience.cli.program import ReadingOption
from consilience.errors import AnnotationError, InputError
from consilience.workflows import FitRequest, fit
from consilience.workflows.jobs import CardSortOptions
from tests.click_runner import invoke

LONG = "a,b,c,d\nale,Ann,x,1\nstout,Ann,x,2\nale,Bo,y,1\nstout,Bo,y,1\n"
PAIRS = "u,v,w,x\nale,stout,Ann,yes\nale,porter,Ann,no\nale,porter,Bo,no\n"
ROLES = ("--item", "a", "--annotator", "b")
SIDES = ("--item", "u", "--item-b", "v", "--annotator", "w")
TRUTH = {"item_a": ["ale", "ale", "ale"], "item_b": ["stout", "porter", "porter"], "annotator": ["Ann", "Ann", "Bo"]}
WITH_OPTIONS = ("fit", "compare", "fuse", "report", "predict", "convert")


def labels(items, annotators, said):
    return Labels.from_frame(pd.DataFrame({"item": items, "annotator": annotators, "label": said}), missing=[])


def pairs(*same):
    return Pairs.from_frame(pd.DataFrame(TRUTH | {"same": same}))


def groupings(*rows):
    return Groupings.from_frame(pd.DataFrame(rows, columns=["item", "annotator", "grouping", "group"]))


BEERS = ["ale", "stout", "ale", "stout"]
PEOPLE = ["Ann", "Ann", "Bo", "Bo"]
CASES = {
    "kind": (
        "item,Ann,Bo\nale,1,1\nstout,2,1\n",
        ("--kind", "labels"),
        labels(BEERS, PEOPLE, [1, 2, 1, 1]),
    ),
    "item, annotator, label": (LONG, (*ROLES, "--label", "d"), labels(BEERS, PEOPLE, [1, 2, 1, 1])),
    "grouping, group": (
        LONG,
        (*ROLES, "--grouping", "c", "--group", "d"),
        groupings(("ale", "Ann", "x", 1), ("stout", "Ann", "x", 2), ("ale", "Bo", "y", 1), ("stout", "Bo", "y", 1)),
    ),
    "item-b, same": (PAIRS, (*SIDES, "--same", "x"), pairs(True, False, False)),
    "ignore": (
        "item,Ann,time 1,time 2,Bo\nale,1,a,b,1\nstout,2,a,a,1\n",
        ("--kind", "labels", "--ignore", "time*"),
        labels(BEERS, PEOPLE, [1, 2, 1, 1]),
    ),
    "ignore twice": (
        'item,Ann,"hops, dry",note,Bo\nale,1,a,b,1\nstout,2,a,a,1\n',
        ("--kind", "labels", "--ignore", "hops, dry", "--ignore", "note"),
        labels(BEERS, PEOPLE, [1, 2, 1, 1]),
    ),
    "transpose": (
        "x,ale,stout,porter\nAnn,1,2,1\nBo,1,1,1\n",
        ("--transpose", "--kind", "labels"),
        labels([*BEERS, "porter", "porter"], [*PEOPLE, "Ann", "Bo"], [1, 2, 1, 1, 1, 1]),
    ),
    "no-transpose": (
        "annotator,ale,stout\nAnn,1,2\nBo,1,1\n",
        ("--no-transpose", "--kind", "labels"),
        labels(["Ann", "Ann", "Bo", "Bo"], ["ale", "stout", "ale", "stout"], [1, 2, 1, 1]),
    ),
    "missing": (
        "item,annotator,label\nale,Ann,NA\nale,Bo,b\nstout,Bo,none\nstout,Ann,c\n",
        ("--missing", "NA", "--missing", "none"),
        labels(["ale", "stout"], ["Bo", "Ann"], ["b", "c"]),
    ),
    "missing -1": (
        "item,annotator,label\nale,Ann,-1\nale,Bo,1\nstout,Bo,0\nstout,Ann,0\n",
        ("--missing", "-1"),
        labels(["ale", "stout", "stout"], ["Bo", "Bo", "Ann"], [1, 0, 0]),
    ),
    "nothing missing": (
        "item,annotator,label\nale,Ann,NA\nale,Bo,b\nstout,Bo,\nstout,Ann,c\n",
        ("--missing", ""),
        labels(["ale", "ale", "stout"], ["Ann", "Bo", "Ann"], ["NA", "b", "c"]),
    ),
    "same-if": (
        "item_a,item_b,annotator,same\nale,stout,Ann,5\nale,porter,Ann,4\nale,porter,Bo,1\n",
        ("--same-if", ">=5"),
        pairs(True, False, False),
    ),
}


@pytest.mark.parametrize(("content", "options", "expected"), CASES.values(), ids=CASES)
def test_an_option_decides_how_a_file_is_read(content, options, expected, run, tmp_path):
    (tmp_path / "in.csv").write_text(content)
    run("convert", "in.csv", "out.csv", *options)
    again = read_annotations(tmp_path / "out.csv", missing=[])
    assert type(again) is type(expected)
    assert set(again.items) == set(expected.items)
    assert again.reindex(expected.items) == expected
    plain = invoke(main, ["convert", "in.csv", "plain.csv"])  # without the options the result differs
    assert plain.exit_code == 2 or read_annotations(tmp_path / "plain.csv", missing=[]) != again


def test_a_given_encoding_is_used(run, tmp_path):
    (tmp_path / "in.csv").write_bytes("item,annotator,label\nбіле,Ann,1\n".encode("cp1251"))
    run("convert", "in.csv", "out.csv", "--encoding", "cp1251")
    assert read_annotations(tmp_path / "out.csv").items.tolist() == ["біле"]


def test_a_named_sheet_is_used(run, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for name, value in (("first", 1), ("second", 2)):
        sheet = book.create_sheet(name)
        sheet.append(["item", "annotator", "label"])
        sheet.append(["ale", "Ann", value])
    book.save(tmp_path / "in.xlsx")
    result = run("convert", "in.xlsx", "out.csv", "--sheet", "second")
    assert read_annotations(tmp_path / "out.csv").classes.tolist() == [2]
    assert "sheet" not in result.stderr
    with pytest.raises(AnnotationError, match="The sheets 'first', 'second' all hold annotations"):
        read_annotations(tmp_path / "in.xlsx")


def test_keywords_and_reading_options_correspond():
    keywords = set(inspect.signature(read_annotations).parameters) - {"path", "items"}
    assert set(READING) == keywords
    for name in WITH_OPTIONS:
        options = [option for option in main.commands[name].params if isinstance(option, ReadingOption)]
        assert {option.name for option in options} == keywords, name


def parameters_in(group):
    """Yield the parameters of all commands of a group."""
    for command in group.commands.values():
        yield from parameters_in(command) if isinstance(command, click.Group) else command.params


def test_messages_name_options_that_exist():
    flags = {one.name: {*one.opts, *one.secondary_opts} for one in parameters_in(main)}
    assert VALUES.keys() < flags.keys()
    for name in VALUES:
        assert as_options({name: ...}).split()[0] in flags[name]
    assert as_options({"transpose": False}) in flags["transpose"]
    calls = [
        node
        for module in Path(consilience.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "spell"
    ]
    keywords = {keyword.arg for call in calls for keyword in call.keywords}
    assert keywords >= {"kind", "missing", "transpose", "clusters", "model", "settings", "leave_out", "pilot"}
    assert keywords - {None} <= {one.name for one in parameters_in(main)}


def test_messages_of_the_library_contain_no_options():
    root = Path(consilience.__file__).parent
    for module in root.rglob("*.py"):
        if module.relative_to(root).parts[0] != "cli":
            tree = ast.parse(module.read_text(encoding="utf-8"))
            prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
            texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
            for text in texts:
                assert id(text) in prose or not re.search(r"(?<![\w-])--[a-z]", text.value), (module, text.value)


@pytest.mark.parametrize("command", ["convert", "fit"])
def test_the_command_line_writes_options_and_python_keywords(command, run, tmp_path):
    (tmp_path / "in.csv").write_text("item,annotator,label\nale,Ann,-1\nale,Bo,1\nstout,Bo,0\nstout,Ann,0\n")
    more = ("out.csv",) if command == "convert" else ()
    told = run(command, "in.csv", *more, code=2).stderr
    assert "--missing -1 if it is missing, --missing '' if it is an answer" in told
    assert "missing=" not in told
    with pytest.raises(AnnotationError, match=r"missing=-1 if it is missing, missing=\[\] if it is an answer"):
        read_annotations(tmp_path / "in.csv")


@pytest.mark.parametrize("name", WITH_OPTIONS)
def test_help_has_a_heading_for_the_options_on_reading(name, run):
    shown = run(name, "--help").stdout
    options, on_reading = shown.split("\nReading options:\n")
    assert "  --traceback " in options.split("\nOptions:\n")[1]
    assert "--same-if COND" in on_reading
    assert "--same-if" not in options
    assert "--out" not in on_reading.split("\n\n")[0]


def test_messages_name_the_options_of_the_command_that_runs():
    """`n_items` is --items where a study is planned, and what names the source is an argument."""
    with click.Context(main.commands["plan"]):
        assert as_options({"n_items": None}) == "--items"
        assert as_options({"items": ...}) == ""  # those of read_annotations, for which there is no option
        assert as_options({"pilot": None}) == "PILOT"
    with click.Context(main.commands["site"].commands["fuse"]):
        assert as_options({"items": None}) == "--items"
    with click.Context(main.commands["report"]):  # whose MODEL is a file
        assert as_options({"model": "KCC"}) == "--model KCC"


@pytest.mark.parametrize(
    ("job", "message"),
    [
        (FitRequest(annotations="sorts.csv", model="KCC", gold="gold.csv"), "KCC takes no gold; "),
        (
            FitRequest(annotations="sorts.csv", model="auto", settings={"n_clusters": 3}),
            r"^settings=\{'n_clusters': …\} belongs to one model, but 'auto' compares many; name one by model\.$",
        ),
        (FitRequest(annotations="sorts.csv", model="DawidSkene"), "read the file with kind='labels'"),
        (
            FitRequest(annotations="sorts.csv", model="KCC", clusters="auto"),
            r"Give clusters=…, .* \(clusters=\(2, 8\)\)",
        ),
        (
            FitRequest(annotations="sorts.csv", given_labels="x"),
            "given_labels: There is no file 'x'; .* features names",
        ),
        (
            FitRequest(annotations="sorts.csv", card_sort=CardSortOptions(leave_out=["Ann,Bo"])),
            "^leave_out names all 2",
        ),
    ],
)
def test_messages_of_workflows_name_parameters_to_python(job, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("sorts.csv").write_text("item,Ann,Bo\nale,1,2\nstout,1,2\nporter,2,1\n")
    with pytest.raises(InputError, match=message):
        fit(job)


def test_options_that_are_not_given_are_not_passed_on(run, monkeypatch, tmp_path):
    given = []

    def read(path, gold_classes, **reading):
        given.append((str(path), reading))
        return read_annotations(path)

    monkeypatch.setattr("consilience.workflows.reading.read_with_gold", read)
    (tmp_path / "in.csv").write_text("item,annotator,label\nale,Ann,1\n")
    run("convert", "in.csv", "out.csv")
    run("convert", "in.csv", "out.csv", "--no-transpose", "--missing", "", "--ignore", "x", "--ignore", "y,z")
    run("convert", "in.csv", "out.csv", "--missing", "", "--missing", "none", "--transpose")
    assert given == [
        ("in.csv", {}),
        ("in.csv", {"ignore": ("x", "y,z"), "transpose": False, "missing": []}),
        ("in.csv", {"transpose": True, "missing": ["none"]}),
    ]


# ---- standard input


@pytest.fixture
def piped(tmp_path, monkeypatch):
    """Run the program with bytes on standard input: bytes, arguments → result."""
    monkeypatch.chdir(tmp_path)

    def call(content, *arguments, code=0):
        result = invoke(main, [str(argument) for argument in arguments], input=content)
        assert result.exit_code == code, result.stdout + result.stderr
        return result

    return call


@pytest.mark.parametrize("packed", [False, True])
def test_a_dash_is_standard_input(packed, piped, tmp_path):
    content = b"item,annotator,label\nale,Ann,7\n"
    piped(gzip.compress(content) if packed else content, "convert", "-", "out.csv")
    assert read_annotations(tmp_path / "out.csv") == labels(["ale"], ["Ann"], [7])


@pytest.mark.parametrize(("command", "more"), [("fit", ()), ("compare", ()), ("fuse", ()), ("convert", ("out.csv",))])
def test_an_empty_standard_input_is_bad_input(command, more, piped):
    result = piped(b"", command, "-", *more, code=2)
    assert result.stderr == "Error: standard input: The file is empty; the first line must name the columns.\n"


@pytest.mark.slow
def test_fit_report_and_predict_take_standard_input(study, piped, quick_report):
    crowd = b"task,worker,label\n" + b"".join(b"t%d,w%d,%d\n" % (i, j, i % 2) for i in range(6) for j in range(3))
    piped(crowd, "fit", "-", "--out", "out")
    result = piped(crowd, "predict", "out/model.zip", "-")
    assert result.stdout.splitlines()[1].startswith("t0,0,")
    piped(crowd, "report", "out/model.zip", "-")
    sorts = (study / "sorts.csv").read_bytes()
    assert "standard input: DawidSkene reads labels" in piped(sorts, "fit", "-", "--model", "DawidSkene", code=2).stderr
    (study / "other.csv").write_text("item,size\nx,1\ny,2\n")
    result = piped(sorts, "fit", "-", "--features", "other.csv", code=2)
    assert "No item of standard input (such as 'item 0') is in other.csv (such as 'x')." in result.stderr


def test_standard_input_cannot_be_two_tables(piped):
    result = piped(b"item,Ann\n", "fit", "-", "--features", "-", code=2)
    assert result.stderr.startswith("Error: Standard input is one table; give the file of")


# ---- notes

CROWD = "task,worker,label,seconds\n" + "".join(f"t{i},w{j},{i % 2},{i}\n" for i in range(6) for j in range(3))
READ_AS = "6 tasks × 3 workers, 2 classes, long table of labels (task, worker, label)"


def test_how_a_file_was_read_is_noted_once_and_first(run, quick_report, tmp_path):
    (tmp_path / "crowd.csv").write_text(CROWD + "t0,w3,,1\n,,,\n")
    result = run("fit", "crowd.csv", "--model", "MajorityVote")
    notes = result.stderr.splitlines()
    assert notes[:4] == [
        "Note: read as: 6 tasks × 4 workers, 2 classes, long table of labels (task, worker, label).",
        "Note: Columns not used: 'seconds'.",
        "Note: 1 row without any entry left out.",
        "Note: 1 row without a label left out.",
    ]
    assert len(set(notes)) == len(notes)
    found = json.loads((tmp_path / "consilience-report" / "summary.json").read_text(encoding="utf-8"))
    assert found["read_as"] == READ_AS.replace("3 workers", "4 workers")
    assert found["notes"][:3] == [note.removeprefix("Note: ") for note in notes[1:4]]


def test_left_out_rows_are_noted_too(run, quick_report, tmp_path):
    (tmp_path / "crowd.csv").write_text(CROWD + "t0,w0,0,0\n")
    result = run("fit", "crowd.csv", "--model", "MajorityVote")
    (told,) = [line for line in result.stderr.splitlines() if "exact duplicate" in line]
    assert told.startswith("Note: 1 exact duplicate of a label is left out: the annotator 'w0' gives the item 't0'")
    found = json.loads((tmp_path / "consilience-report" / "summary.json").read_text(encoding="utf-8"))
    assert told.removeprefix("Note: ") in found["notes"]


def test_every_command_notes_how_the_file_was_read(run, quick_report, tmp_path):
    (tmp_path / "crowd.csv").write_text(CROWD)
    told = f"Note: read as: {READ_AS}.\nNote: Columns not used: 'seconds'.\n"
    assert run("fit", "crowd.csv", "--model", "MajorityVote", "--out", "out").stderr.startswith(told)
    assert run("report", "out/model.zip", "crowd.csv").stderr == told
    assert run("convert", "crowd.csv", "long.csv").stderr == told
    assert run("fit", "crowd.csv", "--model", "DawidSkene", "--out", "out").stderr.startswith(told)
    assert run("predict", "out/model.zip", "crowd.csv").stderr == told
    assert run("fuse", "crowd.csv").stderr.startswith(told)
    compared = run("compare", "crowd.csv", "--models", "MajorityVote", "--folds", "2", "--json")
    assert compared.stderr.startswith(told)
    found = json.loads(compared.stdout)
    assert (found["read_as"], found["notes"]) == (READ_AS, ["Columns not used: 'seconds'."])


def test_the_file_is_named_once_in_an_error(fails, tmp_path):
    (tmp_path / "in.csv").write_text("item,annotator,label\nale,Ann,NA\nale,Bo,b\n")
    assert fails("fit", "in.csv").count("in.csv") == 1
