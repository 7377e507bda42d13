"""A setting that is declared is in the API, in the form and on the command line, with the same limits."""

import re
import subprocess
import sys

import click
import pytest

from consilience.active.named_strategies import STRATEGIES
from consilience.cli.study_commands import create, judge
from consilience.collect.settings.kinds import Choice, Number, Whole, checked_value
from consilience.collect.settings.model import OF_JUDGES, OF_SORTS, SETTINGS, StudySettings
from consilience.errors import InputError


def test_each_setting_is_on_the_command_line():
    for command, settings in ((create, OF_SORTS), (judge, OF_JUDGES)):
        options = {one.name: one for one in command.params}
        assert settings.keys() <= options.keys()
        for name, kind in settings.items():
            if isinstance(kind, Whole | Number):
                assert (options[name].type.least, options[name].type.most) == (kind.least, kind.most)
            if isinstance(kind, Choice):
                assert isinstance(options[name].type, click.Choice)
                assert list(options[name].type.choices) == list(kind.words)


def test_each_setting_is_in_the_forms(admin):
    for address, settings in (("/admin/new", OF_SORTS), ("/admin/judging/new", OF_JUDGES)):
        shown = admin.get(address).text
        assert settings.keys() <= set(re.findall(r' name="(\w+)"', shown))
        for name, kind in settings.items():
            if isinstance(kind, Whole):
                assert re.search(rf'name="{name}" [^>]*min="{kind.least}" max="{kind.most}"', shown)


def test_each_setting_is_in_the_api_with_its_default(admin):
    models = pytest.importorskip("consilience.collect.api.models")
    assert models.Settings().model_dump().keys() == vars(StudySettings()).keys()
    assert StudySettings.of_json(models.Settings().model_dump()) == StudySettings()
    described = models.Settings.model_json_schema()["properties"]
    assert described["random_share"]["maximum"] == SETTINGS["random_share"].most
    assert all(described[name]["description"] for name in SETTINGS)


def test_strategies_are_those_of_a_session():
    assert SETTINGS["strategy"].words.keys() == STRATEGIES.keys()


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("subset_size", True, r"'x' must be a whole number from 2 to 5,000\. Got True\."),
        ("per_participant", None, r"'x' must be a whole number from 1 to 1,000\. Got None\."),
        ("random_share", float("nan"), r"'x' must be a number from 0 to 1\. Got nan\."),
        ("all_sorted", 1, r"'x' must be one of True, required, False\. Got 1\."),
        ("language", "pt_BR", r"'x' must be a language tag such as 'en' or 'pt-BR'\. Got 'pt_BR'\."),
        ("categories", "Fruit", r"'x' must be a list of at most 100 names\."),
        ("instructions", 3, r"'x' must be text\. Got 3\."),
    ],
)
def test_what_a_setting_may_not_be(name, value, sentence):
    with pytest.raises(InputError, match=f"^{sentence}$"):
        checked_value(SETTINGS[name], value, "'x'")


def test_options_are_made_without_the_packages_of_the_extra():
    """Else the command line would not start where studies cannot be served."""
    script = "import sys, consilience.cli.commands; print(*{'pydantic', 'fastapi', 'sqlalchemy'} & {*sys.modules})"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "\n"
