"""``consilience simulate``, ``convert`` and ``datasets``."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine

from consilience import Groupings, Labels, Pairs, read_annotations
from consilience.datasets import list_datasets
from consilience.simulation import simulate_crowd, simulate_experts


@pytest.fixture(autouse=True)
def no_data_folder(monkeypatch):
    monkeypatch.delenv("CONSILIENCE_DATA", raising=False)


def test_experts_match_the_library(run, tmp_path):
    result = run(
        *("simulate", "experts", "wine", "--annotators", "4", "--observed", "0.5", "--flip", "0.2", "--seed", "3"),
        *("--out", "experts.csv", "--features-out", "wine.csv"),
    )
    wine = load_wine()
    names = wine.target_names[wine.target]
    expected = simulate_experts(names, n_annotators=4, observed=0.5, flip=0.2, random_state=3)
    assert read_annotations(tmp_path / "experts.csv") == expected
    table = pd.read_csv(tmp_path / "wine.csv", index_col="item")
    assert (table.to_numpy() == wine.data).all()
    assert result.stdout == (f"experts.csv: {expected!r}\nwine.csv: 13 features of 178 items\n")


@pytest.mark.parametrize(("option", "accuracy"), [("0.7", 0.7), ("0.9,0.5,1", [0.9, 0.5, 1.0])])
def test_a_crowd_matches_the_library(option, accuracy, run, tmp_path):
    arguments = ("--annotators", "3", "--items-each", "40", "--merge", "0.5", "--seed", "1", "--accuracy", option)
    run("simulate", "crowd", "iris", *arguments, "-o", "crowd.json")
    expected = simulate_crowd(
        load_iris().target, n_annotators=3, items_each=40, accuracy=accuracy, merge=0.5, random_state=1
    )
    assert read_annotations(tmp_path / "crowd.json") == expected


def test_a_file_of_classes_is_a_source(run, tmp_path):
    table = pd.DataFrame({"name": list("abcdef"), "size": [1, 2, 3, 4, 5, 6.5], "kind": [1, 1, 2, 2, 3, 3]})
    table.to_csv(tmp_path / "things.tsv", sep="\t", index=False)
    run(
        *("simulate", "crowd", "things.tsv", "--class-column", "kind", "--accuracy", "1", "--annotators", "2"),
        *("-o", "crowd.csv", "--features-out", "features.csv"),
    )
    said = read_annotations(tmp_path / "crowd.csv")
    assert said.items.tolist() == list("abcdef")
    groups = said.to_matrix().apply(lambda column: pd.factorize(column)[0])
    assert groups.to_numpy().T.tolist() == [[0, 0, 1, 1, 2, 2]] * 2  # at accuracy 1 everybody sorts by class
    features = pd.read_csv(tmp_path / "features.csv")
    assert features.to_dict("list") == {"item": list("abcdef"), "size": table["size"].tolist()}


def test_simulated_annotations_can_be_fitted(run, quick, quick_report):
    run("simulate", "experts", "iris", "-o", "experts.csv", "--observed", "0.3", "--features-out", "iris.csv")
    result = run("fit", "experts.csv", "--features", "iris.csv", *quick)
    assert " clusters of 150 items by 10 annotators\n" in result.stdout


def test_simulate_errors(fails, tmp_path):
    out = ("-o", "x.csv")
    assert fails("simulate", "experts", "nothing", *out) == (
        "'nothing' is neither a file nor a data set; 'consilience datasets' lists the data sets."
    )
    assert fails("simulate", "experts", "iris") == "Missing option '-o' / '--out'."
    assert fails("simulate", "experts", "iris", "--flip", "2", *out) == (
        "Invalid value for '--flip': '2' is not between 0 and 1."
    )
    assert "'items_each' parameter" in fails("simulate", "crowd", "iris", "--items-each", "151", *out)
    assert fails("simulate", "crowd", "iris", "--accuracy", "0.5,high", *out) == (
        "Invalid value for '--accuracy': '0.5,high' is neither a number nor several separated by commas."
    )
    (tmp_path / "t.csv").write_text("item,class,size\na,x,1\nb,,2\nc,y,3\n")
    assert fails("simulate", "crowd", "t.csv", *out) == "t.csv: The item 'b' in line 3 has no 'class'."
    assert fails("simulate", "crowd", "t.csv", "--class-column", "kind", *out) == (
        "t.csv: There is no column 'kind' of classes. Found item, class, size; name it by --class-column."
    )
    assert fails("simulate", "crowd", "iris", "-o", "nowhere/x.csv") == "The folder nowhere does not exist."
    assert "seeds.csv" in fails("simulate", "crowd", "seeds", *out)
    assert "The file name must end in .csv" in fails("simulate", "crowd", "iris", "-o", "x.xlsx")


GROUPINGS = Groupings.from_lists([[["a", "b"], ["c"]], [["a"], ["b", "c"]]])
LABELS = Labels.from_matrix(pd.DataFrame({"u": ["p", "q"], "v": ["p", "p"]}, index=["a", "b"]))
PAIRS = Pairs.from_frame(pd.DataFrame({"item_a": ["a"], "item_b": ["b"], "annotator": ["u"], "same": [True]}))


@pytest.mark.parametrize(
    ("said", "to", "expected"),
    [
        (GROUPINGS, None, GROUPINGS),
        (GROUPINGS, "groupings", GROUPINGS),
        (GROUPINGS, "pairs", GROUPINGS.to_pairs()),
        (LABELS, "labels", LABELS),
        (LABELS, "groupings", LABELS.to_groupings()),
        (LABELS, "pairs", LABELS.to_pairs()),
        (PAIRS, "pairs", PAIRS),
    ],
)
@pytest.mark.parametrize("suffix", ["csv", "json"])
def test_convert(said, to, expected, suffix, run, tmp_path):
    said.to_frame().to_csv(tmp_path / "in.csv", index=False)
    result = run("convert", "in.csv", f"out.{suffix}", *(() if to is None else ("--to", to)))
    found = read_annotations(tmp_path / f"out.{suffix}")
    assert type(found) is type(expected)
    assert found == expected
    assert result.stdout == f"out.{suffix}: {expected!r}\n"


def test_convert_uses_the_reading_options(run, tmp_path):
    (tmp_path / "wide.csv").write_text("who,beer,Ann,Bo\nx,ale,1,2\ny,stout,1,\n")
    run("convert", "wide.csv", "out.csv", "--kind", "labels", "--item", "beer")
    found = read_annotations(tmp_path / "out.csv")
    assert isinstance(found, Labels)
    assert found.items.tolist() == ["ale", "stout"]


def test_convert_errors(fails, tmp_path):
    GROUPINGS.to_frame().to_csv(tmp_path / "groupings.csv", index=False)
    PAIRS.to_frame().to_csv(tmp_path / "pairs.csv", index=False)
    assert fails("convert", "groupings.csv", "x.csv", "--to", "labels").startswith("Groupings cannot become labels")
    assert fails("convert", "pairs.csv", "x.csv", "--to", "groupings").startswith("Pairs cannot become groupings")
    assert fails("convert", "pairs.csv", "x.csv", "--kind", "labels").startswith(
        "pairs.csv: A long table of labels needs"
    )
    assert "'x' is not one of" in fails("convert", "pairs.csv", "x.csv", "--to", "x")
    assert fails("convert", "absent.csv", "x.csv") == "There is no file absent.csv."
    assert "must end in" in fails("convert", "pairs.csv", "x.doc")
    assert fails("convert", "pairs.csv", "nowhere/x.csv") == "The folder nowhere does not exist."
    assert fails("convert", "pairs.csv") == "Missing argument 'OUT'."


def test_datasets_are_listed(run):
    listed = run("datasets").stdout.splitlines()
    assert len(listed) == len(list_datasets()) + 1
    assert listed[0].split() == ["name", "items", "features", "classes", "annotators", "available", "description"]
    assert listed[2].split()[:6] == ["iris", "150", "4", "3", "-", "yes"]
    found = json.loads(run("datasets", "--json").stdout)
    assert [row["name"] for row in found] == list_datasets()["name"].tolist()
    assert (found[1]["n_items"], found[1]["n_annotators"]) == (150, None)


def test_a_data_set_is_described(run):
    assert run("datasets", "iris").stdout.startswith("Sepals and petals of three species of iris\n")
    found = json.loads(run("datasets", "iris", "--json").stdout)
    assert (found["name"], found["n_features"]) == ("iris", 4)
    assert "Fisher" in found["details"]


def test_parts_of_a_data_set_are_written(run, tmp_path):
    assert run("datasets", "iris", "--out", "iris.csv").stdout == "iris.csv: features of iris\n"
    assert (pd.read_csv(tmp_path / "iris.csv", index_col="item").to_numpy() == load_iris().data).all()
    result = run("datasets", "iris", "--what", "classes", "--out", "classes.csv", "--json")
    assert json.loads(result.stdout) == {"name": "iris", "what": "classes", "file": "classes.csv"}
    classes = pd.read_csv(tmp_path / "classes.csv")
    assert (classes["class"] == np.repeat(["setosa", "versicolor", "virginica"], 50)).all()


def test_annotations_of_a_data_set_are_written(run, tmp_path, monkeypatch):
    from sklearn.utils import Bunch

    data_set = Bunch(annotations=GROUPINGS, data=None, target=None, DESCR="")
    monkeypatch.setattr("consilience.workflows.data_sets.load_dataset", lambda name: data_set)
    run("datasets", "some", "--out", "some.csv")
    assert read_annotations(tmp_path / "some.csv") == GROUPINGS


def test_datasets_writes_the_tables_of_the_tutorials(run, fails, tmp_path):
    written = run("datasets", "--tutorial", ".").stdout.splitlines()
    assert {"sorts.csv", "features.csv", "answers.csv"} <= set(written) == {path.name for path in tmp_path.iterdir()}
    assert run("datasets", "--tutorial", ".").stdout.splitlines() == written  # the same files may be there
    (tmp_path / "answers.csv").unlink()
    (tmp_path / "sorts.csv").write_text("of somebody else")
    assert "sorts.csv is already there" in fails("datasets", "--tutorial", ".")
    assert not (tmp_path / "answers.csv").exists()
    assert (tmp_path / "sorts.csv").read_text() == "of somebody else"
    assert fails("datasets", "iris", "--tutorial", ".") == "--tutorial needs neither NAME nor --out nor --what."


def test_datasets_errors(fails):
    assert fails("datasets", "nothing").startswith("load_dataset has no data set 'nothing'; choose one of digits")
    assert "CONSILIENCE_DATA, which is not set" in fails("datasets", "seeds")
    assert fails("datasets", "--out", "x.csv") == "--out needs the NAME of a data set."
    assert fails("datasets", "iris", "--what", "features") == "--what needs --out."
    assert (
        fails("datasets", "iris", "--what", "annotations", "-o", "x.csv") == "The data set 'iris' has no annotations."
    )
    assert fails("datasets", "iris", "-o", "nowhere/x.csv") == "The folder nowhere does not exist."
    assert "must end in" in fails("datasets", "iris", "-o", "x.doc")
