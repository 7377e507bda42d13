"""The files of `deploy` fit each other and the program; none holds a secret."""

import re
from pathlib import Path

import click
import pytest

from consilience.cli import main

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
if not DEPLOY.exists():
    pytest.skip("the files of deploy are in the repository only", allow_module_level=True)
SERVICE = {"build", "image", "restart", "environment", "depends_on", "networks", "ports", "volumes", "healthcheck"}


@pytest.fixture(scope="module")
def compose():
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def test_compose_names_only_what_it_defines(compose):
    assert set(compose) == {"services", "networks", "volumes"}
    for service in compose["services"].values():
        assert set(service) <= SERVICE
        assert ("build" in service) != ("image" in service)
        assert set(service["networks"]) <= set(compose["networks"])
        for other, condition in service["depends_on"].items() if "depends_on" in service else ():
            assert condition == {"condition": "service_healthy"}
            has_check = "healthcheck" in compose["services"][other] or "build" in compose["services"][other]
            assert has_check  # that of the built one is in its Dockerfile
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            assert (DEPLOY / source).is_file() if source.startswith(".") else source in compose["volumes"]
    build = compose["services"]["consilience"]["build"]
    assert (DEPLOY / build["context"]).resolve() == ROOT
    assert (ROOT / build["dockerfile"]).is_file()


def test_the_proxy_alone_is_reached_from_outside_and_believed(compose):
    services = compose["services"]
    assert [name for name, service in services.items() if "ports" in service] == ["proxy"]
    trusted = services["consilience"]["environment"]["FORWARDED_ALLOW_IPS"]
    assert services["proxy"]["networks"]["inside"]["ipv4_address"] == trusted


def test_variables_are_explained_and_no_secret_is_committed():
    used = set(re.findall(r"\$\{([A-Z_]+)", (DEPLOY / "compose.yaml").read_text()))
    example = dict(re.findall(r"^([A-Z_]+)=(.*)$", (DEPLOY / ".env.example").read_text(), re.MULTILINE))
    assert used == set(example)
    assert example["POSTGRES_PASSWORD"] == ""
    assert "deploy/.env" in (ROOT / ".gitignore").read_text().split()


def test_the_public_address_is_that_of_the_proxy(compose):
    services = compose["services"]
    assert services["consilience"]["environment"]["CONSILIENCE_PUBLIC_URL"].startswith("https://${SITE:")
    assert services["proxy"]["environment"]["SITE"].startswith("${SITE:")
    unit = (DEPLOY / "consilience.service").read_text()
    file = re.search(r"^EnvironmentFile=-(.*)$", unit, re.MULTILINE)[1]
    docs = (ROOT / "docs" / "collect" / "operating.rst").read_text()
    assert f"echo CONSILIENCE_PUBLIC_URL=https://sort.example.org > {file}" in docs


def test_the_source_does_not_stay_in_the_image():
    last = re.split(r"^FROM ", (DEPLOY / "Dockerfile").read_text(), flags=re.MULTILINE)[-1]
    assert not re.search(r"^(COPY|ADD)\b", last, re.MULTILINE)  # a layer keeps what a later one removes


def test_commands_can_be_parsed():
    words = re.findall(r'^CMD \["consilience", (.*)\]$', (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    assert parsed(re.findall(r'"([^"]*)"', words[0]))["port"] == 8000
    assert parsed(command_of("consilience.service").split())["port"] == 8000
    store, command, file = re.search(r"^(\w+) (\w+) (.*)'$", command_of("consilience-backup.service")).groups()
    assert parsed([command, file], main.commands[store])["file"].suffix == ".backup"


def test_the_daily_backup_is_of_the_database_that_is_served():
    served, backed_up = ((DEPLOY / name).read_text() for name in ("consilience.service", "consilience-backup.service"))
    for setting in ("User", "Environment", "UMask"):
        line = re.search(rf"^{setting}=.*$", served, re.MULTILINE)[0]
        assert line in backed_up.splitlines()
    folder = re.search(r"^WorkingDirectory=(.*)$", served, re.MULTILINE)[1]
    assert f"WorkingDirectory={folder}/backups" in backed_up.splitlines()


def command_of(unit):
    return re.search(r"^ExecStart=.*\bbin/consilience (.*)$", (DEPLOY / unit).read_text(), re.MULTILINE)[1]


def parsed(words, group=main):
    command = group.commands[words[0]]
    return command.make_context(words[0], list(words[1:]), parent=click.Context(group)).params
