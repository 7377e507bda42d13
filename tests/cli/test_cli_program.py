"""The program as a whole: help, version, exit codes, speed, interruptions and closed pipes."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

import consilience
from consilience.cli import main
from consilience.cli.messages import as_click
from consilience.cli.option_types import parse_value
from consilience.errors import InputError
from consilience.workflows.text import printable
from tests.cli.conftest import further
from tests.click_runner import invoke

PROGRAM = (sys.executable, "-m", "consilience")


def commands(group=main, path=()):
    for name, command in group.commands.items():
        yield (*path, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


@pytest.mark.parametrize("path", [(), *commands()], ids=" ".join)
def test_every_command_has_help_with_an_example_that_can_be_parsed(path, run):
    text = run(*path, "--help").stdout
    assert "Example:\n" in text
    command = main
    for name in path:
        command = command.commands[name]
    for option in command.params:
        assert isinstance(option, click.Argument) or option.help, option.name
    lines = re.findall(r"^    consilience (.+)$", text, re.MULTILINE)
    assert lines
    for line in lines:
        words = line.split()
        target, context = main, click.Context(main)
        while isinstance(target, click.Group):
            target = target.commands[words.pop(0)]
        assert target.make_context(target.name, words, parent=context).params


def test_commands_are_those_of_the_design():
    assert {" ".join(path) for path in commands()} == {
        *("site", "site summarise", "site show", "site fuse"),
        *(
            "help",
            "fit",
            "fit-partitions",
            "fuse",
            "compare",
            "report",
            "predict",
            "difference",
            "plan",
            "ask",
            "convert",
            "datasets",
        ),
        *("simulate", "simulate experts", "simulate crowd", "simulate agents"),
        *("serve", "study", "study create", "study list", "study show", "study open", "study close", "study import"),
        *("study copy", "study pack", "study unpack", "account", "account list", "account add", "account reset"),
        *("study export", "study judge", "study panel", "store", "store backup", "store verify", "store restore"),
    }


def test_no_command_shows_the_help(run):
    assert run().stdout == run("--help").stdout
    assert run("simulate").stdout == run("simulate", "--help").stdout


def test_version(run):
    assert run("--version").stdout == f"consilience, version {consilience.__version__}\n"


def test_unknown_commands_and_options(fails):
    assert fails("fitt").startswith("No such command 'fitt'.")
    assert fails("--nothing").startswith(click.NoSuchOption("--nothing").format_message())
    assert fails("simulate", "robots").startswith("No such command 'robots'.")


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("fit", "--help"), ("simulate", "crowd", "--help")])
def test_help_imports_nothing_heavy(arguments):
    result = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "consilience", *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    imported = set(re.findall(r"\|\s+(\S+)$", result.stderr, re.MULTILINE))
    assert "consilience.cli.commands" in imported
    assert not imported & {"numpy", "pandas", "scipy", "sklearn", "matplotlib", "narwhals"}


def test_bugs_are_reported_as_such_with_exit_code_1(study, fails, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("one\n two")

    monkeypatch.setattr("consilience.workflows.fitting.require_folder_for", fail)
    assert fails("fit", "sorts.csv", code=1) == (
        "This is a bug in consilience; please report it: RuntimeError: one two (--traceback shows where it arose)"
    )


def test_traceback_is_shown_if_asked_for(study, monkeypatch):
    result = invoke(main, ["fit", str(study / "absent.csv"), "--traceback"])
    assert result.exit_code == 2
    assert result.stderr.startswith("Traceback (most recent call last):")
    assert result.stderr.splitlines()[-1] == f"Error: There is no file {study / 'absent.csv'}."


def test_a_full_disk_is_a_failure(study, fails, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device", "out/model.zip")

    monkeypatch.setattr("consilience.workflows.fitting.require_folder_for", full)
    assert fails("fit", "sorts.csv", code=1) == "There is no space left to write out/model.zip."


@pytest.mark.parametrize(
    ("error", "said", "code"),
    [
        (InputError("Line 3 holds 2 cells."), "Line 3 holds 2 cells.", 2),
        (FileNotFoundError(2, "No such file or directory", "x"), "There is no file x.", 2),
        (IsADirectoryError(21, "Is a directory", "x"), "x is a folder; give the name of a file.", 2),
        (NotADirectoryError(20, "Not a directory", b"x"), "A part of the path x is not a folder.", 2),
        (PermissionError(13, "Permission denied", "x"), "There is no permission to read or write x.", 2),
        (OSError(30, "Read-only file system", Path("x")), "x cannot be written: its file system is read-only", 2),
        (OSError(36, "File name too long", "x" * 300), f"The file name {'x' * 100}…{'x' * 100} is longer", 2),
        (OSError(28, "No space left on device"), "There is no space left to write the output.", 1),
        (OSError(28, "No space left", "x", None, "y"), "There is no space left to write x or y.", 1),
        (OSError("odd"), "The output cannot be read or written.", 1),
        (MemoryError(), "There is not enough memory: give fewer items, features or annotators, or ask for", 1),
        (FloatingPointError("The bound is nan."), "The bound is nan. The numbers are too large or too small for", 1),
        (KeyError("a"), "This is a bug in consilience; please report it: KeyError: 'a' (--traceback shows", 1),
        (ValueError("a\n   b"), "This is a bug in consilience; please report it: ValueError: a b (--trace", 1),
    ],
)
def test_errors_are_sentences_with_the_documented_code(error, said, code):
    found = as_click(error)
    assert found.format_message().startswith(said)
    assert found.exit_code == code


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, é, 漢", "plain, é, 漢"),
        ("\x1b[31mred\x1b[0m\x07", r"\x1b[31mred\x1b[0m\x07"),
        ("\x9b31m\x7f", r"\x9b31m\x7f"),
        ("a\u202eb\u2028c", r"a\u202eb\u2028c"),
        ("\udcff.csv", r"\udcff.csv"),
        ("two\n\tlines", "two\n\tlines"),
    ],
)
def test_output_contains_no_terminal_control_characters(text, shown):
    assert printable(text) == shown


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("-3", -3),
        ("0.5", 0.5),
        ("1e-3", 0.001),
        ("TRUE", True),
        ("false", False),
        ("None", None),
        ("auto", "auto"),
        ('[["Ann", "Bo"]]', [["Ann", "Bo"]]),
        ("[Ann", "[Ann"),
    ],
)
def test_values_of_settings(text, value):
    found = parse_value(text)
    assert found == value
    assert type(found) is type(value)


def test_an_interruption_exits_130_without_a_traceback(study, run, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("consilience.workflows.fitting.require_folder_for", interrupt)
    result = run("fit", "sorts.csv", "--model", "SubsetFusion", code=130)
    assert further(result.stderr) == ["Interrupted."]


def test_an_interrupted_process_exits_130():
    waiting = (
        "import time; from consilience.cli import main; import consilience.workflows.data_sets as s; "
        "s.describe_data_sets = lambda *_, **__: (print('ready', flush=True), time.sleep(60)); main(['datasets'])"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", waiting], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.split() == ["Interrupted."]


@pytest.mark.slow
def test_a_closed_pipe_is_quiet():
    process = subprocess.Popen([*PROGRAM, "datasets"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 1
    assert errors == ""


@pytest.mark.slow
def test_a_process_exits_with_the_code():
    done = subprocess.run([*PROGRAM, "fit", "absent.csv"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "Error: There is no file absent.csv.\n")


@pytest.mark.parametrize(
    ("typed", "suggested"), [("--cluster", " Did you mean '--clusters'?"), ("--truth", ""), ("--by", "")]
)
def test_options_are_suggested_for_more_than_their_dashes(fails, typed, suggested):
    said = fails("fit", "sorts.csv", typed, "3")
    plain = str.maketrans("", "", ":.'")  # Click 8.1 writes a colon, later ones quotes
    assert said.translate(plain) == f"No such option {typed}{suggested}".translate(plain)
