"""``consilience simulate agents``: groupings of subsets, and the true clusters of the items."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from consilience import read_annotations
from consilience.metrics.clusterings import nmi


def test_items_are_drawn(run, tmp_path):
    result = run(
        *("simulate", "agents", "--items", "30", "--clusters", "3", "--dimensions", "5", "--separation", "10"),
        *("--subsets", "40", "--subset-size", "6", "--groups", "2-3", "--features-each", "5", "--seed", "4"),
        *("--out", "said.csv", "--truth-out", "truth.csv", "--features-out", "features.csv"),
    )
    said = read_annotations(tmp_path / "said.csv")
    truth, features = (pd.read_csv(tmp_path / name, index_col="item") for name in ("truth.csv", "features.csv"))
    assert (said.n_items, said.n_groupings, said.n_annotators, said.n_rows) == (30, 40, 40, 240)
    assert set(said.summary().groups_per_grouping) == {2, 3}
    assert truth["class"].value_counts().tolist() == [10, 10, 10]
    assert features.shape == (30, 5)
    # clusters so far apart that everybody's groups are unions or parts of them
    pairs = said.to_pairs().to_frame()
    alike = truth["class"].loc[pairs["item_a"]].to_numpy() == truth["class"].loc[pairs["item_b"]].to_numpy()
    assert pairs["same"].to_numpy()[alike].mean() > 0.6 > 0.4 > pairs["same"].to_numpy()[~alike].mean()
    assert result.stdout == (
        f"said.csv: {said!r}\ntruth.csv: 3 clusters of 30 items\nfeatures.csv: 5 features of 30 items\n"
    )


def test_the_seed_determines_the_result(run, tmp_path):
    for name, seed in (("one", 1), ("two", 1), ("other", 2)):
        run(
            "simulate",
            "agents",
            "--items",
            "20",
            "--clusters",
            "2",
            "--subsets",
            "5",
            "--seed",
            seed,
            "-o",
            f"{name}.csv",
        )
    one, two, other = (read_annotations(tmp_path / f"{name}.csv") for name in ("one", "two", "other"))
    assert one == two
    assert one != other


def test_items_of_a_table(run, tmp_path):
    iris = load_iris(as_frame=True)
    table = iris.data.assign(kind=iris.target_names[iris.target]).rename_axis("item").reset_index()
    table.to_csv(tmp_path / "iris.csv", index=False)
    arguments = ("--subsets", "30", "--subset-size", "9", "--annotators", "3", "--algorithm", "ward", "--groups", "3")
    run(
        "simulate",
        "agents",
        "--features",
        "iris.csv",
        "--classes",
        "kind",
        *arguments,
        "-o",
        "a.csv",
        "--truth-out",
        "t.csv",
    )
    said = read_annotations(tmp_path / "a.csv")
    assert (said.n_items, said.n_annotators, said.n_groupings) == (150, 3, 30)
    assert pd.read_csv(tmp_path / "t.csv")["class"].tolist() == table["kind"].tolist()
    scores = []
    for _, groups in said.to_frame().groupby("grouping"):
        scores.append(nmi(iris.target[groups["item"]].to_numpy(), groups["group"].to_numpy()))
    assert np.mean(scores) > 0.6  # agents see the features
    table.drop(columns="kind").to_csv(tmp_path / "bare.csv", index=False)
    run("simulate", "agents", "--features", "bare.csv", *arguments, "-o", "b.csv")
    assert read_annotations(tmp_path / "b.csv") == said
    run("simulate", "agents", "--features", "iris", *arguments, "-o", "c.csv", "--truth-out", "t.csv")
    assert read_annotations(tmp_path / "c.csv") == said
    assert pd.read_csv(tmp_path / "t.csv")["class"].tolist() == table["kind"].tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--items", "3", "--features", "x.csv"),
            "--items is for items drawn at random; with --features leave it out.",
        ),
        (("--classes", "kind"), "--classes needs --features."),
        (("--features", "x.csv", "--truth-out", "t.csv"), "--truth-out needs --classes, the column of features"),
        (("--features", "x.csv", "--classes", "kind"), "x.csv: There is no column 'kind' of classes. Found item, size"),
        (("--features", "y.csv"), "y.csv: 'size' of the item 'b' in line 3 is 'big'. Expected a finite number."),
        (("--features", "absent.csv"), "There is no file absent.csv."),
        (("--features", "absent.csv", "--classes", "x"), "'absent.csv' is neither a file nor a data set"),
        (("--groups", "6-3"), "Invalid value for '--groups': '6-3' is neither a positive integer nor a range"),
        (("--groups", "0"), "Invalid value for '--groups': '0' is neither a positive integer"),
        (("--annotators", "0"), "Invalid value for '--annotators': '0' is not between 1 and 1000000."),
        (("--subset-size", "500"), "The 'size' parameter of random_subsets must be"),
        (("--clusters", "1"), "The 'n_clusters' parameter of gaussian_clusters must be at least 2. Got 1 instead."),
        (("--separation", "0"), "Invalid value for '--separation': '0' is not between 0.1 and 20."),
        (("--truth-out", "nowhere/t.csv"), "The folder nowhere does not exist."),
        (("--algorithm", "x"), "Invalid value for '--algorithm': 'x' is not one of 'kmeans', 'ward', 'average'"),
    ],
)
def test_errors(arguments, message, fails, tmp_path):
    (tmp_path / "x.csv").write_text("item,size\na,1\nb,2\n")
    (tmp_path / "y.csv").write_text("item,size\na,1\nb,big\n")
    assert fails("simulate", "agents", "-o", "out.csv", *arguments).startswith(message)
    assert not (tmp_path / "out.csv").exists()


def test_out_is_needed(fails):
    assert fails("simulate", "agents") == "Missing option '-o' / '--out'."
