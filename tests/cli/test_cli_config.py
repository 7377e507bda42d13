"""Options in a file, quietness, and help by name."""

import pandas as pd
import pytest

from consilience.cli import main
from tests.cli.test_cli_program import commands


@pytest.fixture
def sorts(tmp_path):
    table = pd.DataFrame(
        {"Ann": list("xxxyyy"), "Bo": list("ppqqrr"), "Cy": list("uvuvuv")}, [f"card {number}" for number in range(6)]
    )
    table.index.name = "item"
    table.to_csv(tmp_path / "sorts.csv")


def write(folder, text):
    (folder / "study.toml").write_text(text, encoding="utf-8")
    return "--config", "study.toml"


def test_options_in_a_file_are_those_of_the_command_line(run, sorts, tmp_path):
    config = write(tmp_path, 'to = "pairs"\nignore = ["Cy"]\ntranspose = false\n')
    run("convert", "sorts.csv", "out.csv", *config)
    run("convert", "sorts.csv", "typed.csv", "--to", "pairs", "--ignore", "Cy", "--no-transpose")
    assert (tmp_path / "out.csv").read_text() == (tmp_path / "typed.csv").read_text()
    assert "Cy" not in (tmp_path / "out.csv").read_text()


def test_the_command_line_comes_first(run, sorts, tmp_path):
    config = write(tmp_path, 'to = "pairs"')
    run("convert", "sorts.csv", "out.csv", *config, "--to", "groupings")
    assert "item_a" not in (tmp_path / "out.csv").read_text()


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ("[set]\nn_clusters = 2\nrefine = false", {"n_clusters": 2, "refine": False}),
        ('set = ["n_clusters=2", "refine=false"]', {"n_clusters": 2, "refine": False}),
        ("clusters = 3\n[set]\nrandom_state = 7", {"n_clusters": 3, "random_state": 7}),
    ],
)
def test_values_mean_what_they_mean_when_typed(run, sorts, tmp_path, monkeypatch, text, parameters):
    asked = {}
    monkeypatch.setattr("consilience.cli.commands.say_fit", lambda **given: asked.update(given))
    run("fit", "sorts.csv", *write(tmp_path, text))
    typed = {"n_clusters": asked["clusters"], **asked["settings"]}
    assert {name: typed[name] for name in parameters} == parameters


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("clusters = 3\nclusters", "is not TOML"),
        ("cluster = 3", "has no option cluster. Did you mean clusters?"),
        ("clusters = true", "clusters: expected a value"),
        ("json = 1", "json: expected true or false, got 1"),
        ('clusters = "many"', "--clusters"),
        ('config = "other.toml"', "has no option config"),
    ],
)
def test_what_a_file_cannot_say_is_named(fails, sorts, tmp_path, text, message):
    assert message in fails("fit", "sorts.csv", *write(tmp_path, text))


def test_a_file_that_is_not_there(fails, sorts):
    assert "absent.toml" in fails("fit", "sorts.csv", "--config", "absent.toml")


def test_quiet_shows_results_and_errors_alone(run, sorts, tmp_path):
    loud = run("convert", "sorts.csv", "out.csv")
    quiet = run("convert", "sorts.csv", "out.csv", "--quiet")
    assert loud.stderr.startswith("Note: ")
    assert (quiet.stdout, quiet.stderr) == (loud.stdout, "")
    failed = run("convert", "absent.csv", "out.csv", "-q", code=2)
    assert failed.stderr == "Error: There is no file absent.csv.\n"


def test_help_names_a_command(run, fails):
    assert run("help").stdout == run("--help").stdout
    for path in [("fit",), ("study", "create"), ("study",)]:
        assert run("help", *path).stdout == run(*path, "--help").stdout
    assert "has no command brew" in fails("help", "brew")
    assert "has no command more" in fails("help", "fit", "more")


def test_the_version_has_a_short_form(run):
    assert run("-V").stdout == run("--version").stdout


def test_every_command_takes_them():
    for path in commands():
        command = main
        for name in path:
            command = command.commands[name]
        names = {name for option in command.params for name in option.opts}
        assert hasattr(command, "commands") or {"--config", "--quiet", "-q", "--traceback"} <= names
