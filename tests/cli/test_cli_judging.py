"""``consilience study judge``: strangers judge the clusters of a study, or of a table."""

import json

import pandas as pd
import pytest

pytest.importorskip("sqlalchemy", reason="Needs consilience[collect]")
pytest.importorskip("alembic", reason="Needs consilience[collect]")
pytest.importorskip("PIL", reason="Needs consilience[collect]")

from PIL import Image

from consilience.collect.store import Store, database
from tests.collect.judges import TABLE, ask_judges, judged_sort


@pytest.fixture(autouse=True)
def no_wait_for_the_disk(monkeypatch):
    monkeypatch.setitem(database.PRAGMAS, "synchronous", 0)


@pytest.fixture
def store(tmp_path):
    """The store that the commands use."""
    found = Store.open(f"sqlite:///{tmp_path}/consilience.db")
    yield found
    found.close()


@pytest.fixture
def table(tmp_path):
    (tmp_path / "animals.csv").write_text(TABLE)
    return "animals.csv"


def made(run, *arguments):
    return json.loads(run("study", "judge", *arguments, "--json").stdout)


def test_the_clusters_of_a_study_are_judged(run, store):
    source, _ = judged_sort(store)
    found = made(run, source.id, "--open")
    assert (found["kind"], found["status"], found["title"]) == ("judging", "open", source.title)
    assert found["join"] == f"/join/{store.study(found['id']).join_token}"
    assert found["settings"]["per_participant"] == 12
    assert found["results"]["source"] == source.id
    ask_judges(store, store.study(found["id"]), 6, knows=1.0, guessers=0)
    shown = run("study", "show", found["id"]).stdout
    assert "judges        6 (0 left out, 0 withdrew)\nanswers       72 to 24 questions\nright         100% (" in shown
    assert "  Cluster 1: 100% (" in shown
    assert "72 answers  A study" in run("study", "list").stdout
    assert json.loads(run("study", "show", found["id"], "--json").stdout)["results"]["overall"]["right"] == 1


def test_a_table_with_all_settings(run, store, table, tmp_path):
    (tmp_path / "how.md").write_text("Was passt nicht?")
    (tmp_path / "texts.json").write_text('{"judge_unsure": "Weiß nicht"}')
    found = made(
        run,
        *("--clusters", table, "--title", "Tiere", "--questions", 30, "--per-participant", 7, "--answers", 4),
        *("--instructions", "how.md", "--texts", "texts.json", "--language", "de", "--direction", "ltr"),
        *("--parameter", "PID"),
    )
    settings = found["settings"]
    assert (found["title"], found["questions"], found["status"]) == ("Tiere", 30, "draft")
    assert (settings["per_participant"], settings["answers_wanted"], settings["language"]) == (7, 4, "de")
    assert settings["instructions"] == "Was passt nicht?"
    assert settings["texts"] == {"judge_unsure": "Weiß nicht"}
    assert settings["parameters"] == ["PID"]
    text = run("study", "judge", "--clusters", table).stdout
    assert "animals\ndraft, 3 clusters of 20 cards, judged\n" in text
    assert "consilience study open" in text


def test_pictures_of_a_folder(run, store, tmp_path):
    (tmp_path / "shapes").mkdir()
    for number in range(5):
        Image.new("L", (20, 20 + number)).save(tmp_path / "shapes" / f"s{number}.png")
    rows = "".join(f"s{number},{'tall' if number > 1 else 'short'}\n" for number in range(5))
    (tmp_path / "shapes.csv").write_text(f"name,cluster\n{rows}s9,\n")
    result = run("study", "judge", "--clusters", "shapes.csv", "--images", "shapes", "--json")
    assert result.stderr == "Note: Cards without a cluster, which were left out: 1.\n"
    found = json.loads(result.stdout)
    assert all(item.picture for item in store.items(found["id"]))


def test_the_table_of_answers(run, store, table, tmp_path):
    found = made(run, "--clusters", table, "--open")
    ask_judges(store, store.study(found["id"]), 2)
    run("study", "export", found["id"], "--out", "answers.csv")
    assert len(pd.read_csv(tmp_path / "answers.csv")) == 24
    run("study", "export", found["id"], "--table", "participants", "--out", "people.csv")
    assert pd.read_csv(tmp_path / "people.csv")["answers"].tolist() == [12, 12]


def test_errors_are_one_sentence(fails, store, table):
    source, study = judged_sort(store)
    assert fails("study", "judge") == "Give either a study or a table of clusters with --clusters."
    assert fails("study", "judge", source.id, "--clusters", table).startswith("Give either a study or a table")
    assert fails("study", "judge", "nothing") == "There is no study 'nothing'."
    assert fails("study", "judge", study.id).startswith("This is a study in which clusters are judged already")
    assert fails("study", "judge", source.id, "--images", "x").startswith("--images needs the table of --clusters")
    assert fails("study", "judge", "--clusters", table, "--images", "x") == "x: There is no such folder of pictures."
    assert fails("study", "export", study.id, "--out", "report.html").startswith("The report is about sorts")
