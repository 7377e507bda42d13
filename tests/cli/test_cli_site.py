"""``consilience site``: from tables to summaries, and from summaries to one clustering."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from consilience import read_annotations
from tests.sites.made import whole_table


@pytest.fixture
def tables(tmp_path):
    """Write the tables of three sites, with 120 of 150 items and other columns each; return the truth."""
    table, truth = whole_table()
    rng = np.random.default_rng(0)
    for number, name in enumerate(("north", "south", "east")):
        rows = np.sort(rng.choice(len(table), 120, replace=False))
        here = table.iloc[rows, [number, number + 1, number + 2, number + 3]]
        here.rename_axis("item").to_csv(tmp_path / f"{name}.csv")
    return truth


@pytest.fixture
def summaries(run, tmp_path, tables):
    for name in ("north", "south", "east"):
        run("site", "summarise", tmp_path / f"{name}.csv", "--site", name, "--out", tmp_path / f"{name}.json")
    return [tmp_path / f"{name}.json" for name in ("north", "south", "east")]


def test_from_tables_to_clusters(run, tmp_path, tables, summaries):
    out = tmp_path / "study"
    result = run("site", "fuse", *summaries, "--out", out)
    assert "items of 3 sites in 3 clusters" in result.stdout
    found = pd.read_csv(out / "clusters.csv", index_col="item")
    assert adjusted_rand_score(tables[found.index], found["cluster"]) == 1
    assert found["cluster"].min() == 1
    assert found["n_sites"].sum() == 3 * 120
    assert pd.read_csv(out / "sites.csv")["site"].tolist() == ["north", "south", "east"]
    assert read_annotations(out / "groupings.csv").n_rows == 3 * 2 * 120  # two groupings by each site
    assert "sites" in (out / "report.html").read_text()


def test_what_is_disclosed_is_printed_and_shown(run, tmp_path, summaries):
    shown = run("site", "show", summaries[0]).stdout
    assert "The names of 120 items." in shown
    as_json = json.loads(run("site", "show", summaries[0], "--json").stdout)
    assert as_json["discloses"] == json.loads(summaries[0].read_text())["discloses"]
    assert as_json["bytes"] == summaries[0].stat().st_size


def test_hashed_names_are_named_again_by_who_has_the_key(run, tmp_path, tables, monkeypatch):
    monkeypatch.setattr("consilience.workflows.sites.report", lambda *_, path, **__: path.write_text("report"))
    (tmp_path / "key").write_text("a secret of sixteen bytes or more\n")
    (tmp_path / "items.txt").write_text("\n".join(tables.index[:10]) + "\n")
    paths = []
    for name in ("north", "south"):
        paths.append(tmp_path / f"{name}.json")
        run(
            *("site", "summarise", tmp_path / f"{name}.csv", "--site", name, "--key-file", tmp_path / "key"),
            *("--out", paths[-1]),
        )
        assert "item 0" not in paths[-1].read_text()
    options = ("--key-file", tmp_path / "key", "--items", tmp_path / "items.txt", "--out", tmp_path / "study")
    result = run("site", "fuse", *paths, *options)
    assert "Names found for" in result.stderr
    names = pd.read_csv(tmp_path / "study" / "clusters.csv")["item"]
    held = {name for name in tables.index[:10] if name in set(names)}
    assert len(held) >= 9
    assert (names.str.len() == 64).sum() == len(names) - len(held)


def test_groups_of_an_own_clusterer(run, tmp_path, tables):
    path = tmp_path / "north.csv"
    table = pd.read_csv(path)
    table.assign(own=np.where(np.arange(len(table)) % 2, "odd", "even")).to_csv(path, index=False)
    out = tmp_path / "north.json"
    run("site", "summarise", path, "--site", "north", "--groups-from", "own", "--out", out)
    held = json.loads(out.read_text())
    by_name = dict(zip(held["items"], held["groups"][0], strict=True))
    assert [by_name[name] for name in table["item"]] == [n % 2 for n in range(len(table))]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["summarise", "none.csv", "--site", "a", "--out", "a.json"], "There is no file none.csv"),
        (["summarise", "north.csv", "--site", "a", "--groups", "x", "--out", "a.json"], "neither 'auto' nor numbers"),
        (["summarise", "north.csv", "--site", " ", "--out", "a.json"], "name of a site must be a line"),
        (["summarise", "north.csv", "--site", "a", "--groups-from", "x", "--out", "a.json"], "no column 'x'"),
        (["summarise", "north.csv", "--site", "a", "--out", "north.csv"], "would overwrite the input"),
        (["fuse", "north.csv", "south.csv"], "north.csv: This is no JSON text"),
        (["fuse", "north.csv", "south.csv", "--items", "north.csv"], "--key-file and --items belong together"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(fails, tmp_path, tables, arguments, message):
    assert message in fails("site", *arguments)
    assert not (tmp_path / "a.json").exists()
