"""A SubsetClustering comes back from its file as it was, and a damaged file is refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.datasets import make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from consilience import load, save
from consilience.errors import InputError, SavedModelError
from consilience.subsets import SubsetClustering
from tests.test_persistence import same

X, _ = make_blobs(500, centers=3, random_state=0)
MODELS = [
    SubsetClustering(KMeans(3, n_init=1), subset_size=100, random_state=0),
    SubsetClustering(make_pipeline(StandardScaler(), KMeans(3, n_init=1)), subset_size=100, random_state=0),
    SubsetClustering(HDBSCAN(copy=False), subset_size=200, overlap=0.4, random_state=0),
    SubsetClustering(KMeans(3, n_init=1)),  # of all items
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model.clusterer).__name__)
def test_comes_back_as_it_was(model, tmp_path):
    frame = pd.DataFrame(X, index=[f"item {i}" for i in range(500)], columns=["a", "b"])
    for one in (model, make_pipeline(StandardScaler(), model)):
        one.fit(frame)
        save(one, tmp_path / "model.zip")
        loaded = load(tmp_path / "model.zip")
        assert same(loaded, one)
        last = loaded[-1] if one is not model else loaded
        np.testing.assert_array_equal(last.responsibilities_, model.responsibilities_)
        first, second = model.items_[:2]
        assert last.predict_same(first, second) == model.predict_same(first, second)
        save(loaded, tmp_path / "again.zip")
        assert (tmp_path / "model.zip").read_bytes() == (tmp_path / "again.zip").read_bytes()


def test_unfitted_is_saved_too(tmp_path):
    save(MODELS[0], tmp_path / "model.zip")
    assert repr(load(tmp_path / "model.zip")) == repr(MODELS[0])


def test_a_clusterer_of_another_library_is_refused(tmp_path):
    class Mine(KMeans):
        pass

    with pytest.raises(InputError, match="The 'clusterer' of SubsetClustering cannot be saved"):
        save(SubsetClustering(Mine()), tmp_path / "model.zip")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("_groups", lambda v: v + 1000),
        ("shared_", lambda v: np.zeros_like(v)),
        ("shared_", lambda v: v + 1000),
        ("labels_", lambda v: v[:-1]),
        ("labels_", lambda v: v + 5),
        ("_scores", lambda v: v[:, :-1]),
        ("_scores", lambda v: v + 100),
        ("_prior", lambda v: v * np.nan),
        ("_of_shared", lambda v: v * 2),
        ("subsets_", lambda v: v.assign(n_items=-1)),
        ("n_unlinked_", lambda v: -1),
    ],
)
def test_contradictions_are_refused(name, change, tmp_path):
    model = SubsetClustering(KMeans(3, n_init=1), subset_size=100, random_state=0).fit(X)
    setattr(model, name, change(getattr(model, name)))
    with pytest.raises(InputError, match=f"SubsetClustering cannot be saved: The '{name}'|labels_"):
        save(model, tmp_path / "model.zip")


def test_a_damaged_parameter_is_refused(tmp_path):
    model = SubsetClustering(KMeans(3, n_init=1), subset_size=100, random_state=0).fit(X)
    model.overlap = 2.0
    with pytest.raises(InputError, match="The 'overlap' parameter of SubsetClustering"):
        save(model, tmp_path / "model.zip")
    with pytest.raises(SavedModelError):
        load(tmp_path / "model.zip")
