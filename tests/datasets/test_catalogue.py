"""The list of data sets, the dispatcher, the shape that all Bunches share, and what happens without data."""

import doctest
import re

import numpy as np
import pandas as pd
import pytest

import consilience.datasets
from consilience.annotations import Groupings, Labels
from consilience.datasets import list_datasets, load_dataset, load_faces, load_free_sort, load_mnist_crowd, load_uci
from consilience.errors import InputError, MissingDataError
from tests.quick_cases import quick_in_turn

NAMES = list_datasets()["name"].tolist()
BUNDLED = ["digits", "iris", "wine"]
LOADERS = [name for name in consilience.datasets.__all__ if name.startswith("load_")]


def test_the_list_has_a_row_for_each_data_set():
    sets = list_datasets()
    assert sets.columns.tolist() == [
        "name",
        "loader",
        "n_items",
        "n_features",
        "n_classes",
        "n_annotators",
        "available",
        "description",
    ]
    assert sets["name"].is_unique
    assert sets["available"].dtype == bool
    assert sets.set_index("name").loc[BUNDLED, "available"].all()
    assert sets["n_items"].notna().all()


def test_every_loader_is_in_the_list():
    called = set(list_datasets()["loader"].str.partition("(")[0])
    assert called == set(LOADERS) - {"load_dataset"}


def test_calls_in_the_list_say_which_data_set_is_meant():
    calls = list_datasets().set_index("name")["loader"]
    assert calls[["iris", "seeds", "orchestra_scenes", "mnist_crowd"]].tolist() == [
        "load_iris()",
        'load_uci("seeds")',
        'load_orchestra("scenes")',
        "load_mnist_crowd()",
    ]


@pytest.mark.parametrize("name", quick_in_turn(NAMES, 0))
def test_loaded_data_sets_agree_with_the_list(load, name):
    said = list_datasets().set_index("name").loc[name]
    bunch = load(name)
    n_items = len(bunch.item_names)
    assert n_items == said["n_items"]
    assert bunch.item_names.is_unique
    assert bunch.item_names.name == "item"
    assert said["description"] in bunch.DESCR
    if pd.isna(said["n_features"]):
        assert bunch.data is None
        assert bunch.feature_names is None
    else:
        assert bunch.data.shape == (n_items, said["n_features"])
        assert bunch.data.index.equals(bunch.item_names)
        assert bunch.data.columns.tolist() == bunch.feature_names
        assert np.isfinite(bunch.data.to_numpy(float)).all()
    if pd.isna(said["n_classes"]):
        assert bunch.target is None
        assert bunch.target_names is None
    else:
        known = ~np.isnan(bunch.target)
        assert np.unique(bunch.target[known]).tolist() == list(range(said["n_classes"]))
        assert bunch.target.dtype == (int if known.all() else float)
        assert bunch.target.shape == (n_items,)
        assert len(bunch.target_names) == said["n_classes"]
    if pd.isna(said["n_annotators"]):
        assert bunch.annotations is None
    else:
        assert isinstance(bunch.annotations, Groupings | Labels)
        assert bunch.annotations.n_annotators == said["n_annotators"]
        assert bunch.annotations.items.equals(bunch.item_names)
        assert bunch.annotations.named
    if bunch.get("images") is not None:
        np.testing.assert_array_equal(bunch.images.reshape(n_items, -1), bunch.data)
    if "annotator_info" in bunch:
        assert sorted(bunch.annotator_info.index) == sorted(bunch.annotations.annotators)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in BUNDLED])
def test_without_the_variable_the_error_names_the_file_and_its_source(name, monkeypatch):
    monkeypatch.delenv("CONSILIENCE_DATA", raising=False)
    with pytest.raises(MissingDataError) as caught:
        load_dataset(name)
    message = str(caught.value)
    assert message.startswith(f"The data set '{name}' needs the file '")
    assert "environment variable CONSILIENCE_DATA, which is not set; the data come from the GitHub repositor" in message
    assert "\n" not in message
    assert not list_datasets().set_index("name").loc[name, "available"]


def test_bundled_sets_need_no_folder(monkeypatch):
    monkeypatch.delenv("CONSILIENCE_DATA", raising=False)
    for name in BUNDLED:
        assert len(load_dataset(name).item_names) > 0
    assert load_uci("iris").data.equals(load_dataset("iris").data)


def test_a_folder_without_the_file_is_named(folder):
    with pytest.raises(
        MissingDataError, match=rf"'uci/glass\.csv'.*but '{re.escape(str(folder))}' does not contain it"
    ):
        load_uci("glass")


def test_a_folder_that_does_not_exist_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("CONSILIENCE_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(MissingDataError, match="nowhere' is not a folder"):
        load_mnist_crowd()


def test_a_folder_in_the_home_of_the_user_is_found(folder, monkeypatch):
    monkeypatch.setenv("HOME", str(folder.parent))
    monkeypatch.setenv("USERPROFILE", str(folder.parent))
    monkeypatch.setenv("CONSILIENCE_DATA", f"~/{folder.name}")
    with pytest.raises(MissingDataError, match=rf"but '{re.escape(str(folder))}' does not contain it"):
        load_uci("glass")


def test_a_set_is_available_only_with_all_its_files(folder):
    (folder / "crowd-labels").mkdir()
    (folder / "crowd-labels" / "dog_crowd.txt").touch()
    assert not list_datasets().set_index("name").loc["dog", "available"]
    (folder / "crowd-labels" / "dog_truth.txt").touch()
    assert list_datasets().set_index("name").loc["dog", "available"]


@pytest.mark.parametrize("loader", [load_dataset, load_uci, load_faces, load_free_sort])
def test_an_unknown_name_lists_the_known_ones(loader):
    with pytest.raises(InputError, match=f"{loader.__name__} has no data set 'irish'; choose one of "):
        loader("irish")


@pytest.mark.parametrize("name", quick_in_turn(LOADERS, 0, every=2))
def test_examples_that_need_data_are_true(load, name):
    """The loaders' doctests skip examples that need the data folder; here they run if the data are there."""
    doc = getattr(consilience.datasets, name).__doc__
    for called in list_datasets().query("loader.str.startswith(@name)")["name"]:
        load(called)
    example = doctest.DocTestParser().get_doctest(doc.replace("# doctest: +SKIP", ""), {}, name, None, 0)
    results = doctest.DocTestRunner(verbose=False).run(example)
    assert results.attempted > 0
    assert results.failed == 0
