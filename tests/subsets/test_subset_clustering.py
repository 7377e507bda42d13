"""SubsetClustering: scikit-learn's contract, what clusterers find whole, and what it says where subsets do not link."""

import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.cluster import DBSCAN, HDBSCAN, AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from consilience import Groupings
from consilience.consensus import KCC
from consilience.errors import InputError, SubsetWarning
from consilience.semisupervised import PartitionLabelModel
from consilience.subsets import SubsetClustering

KMEANS = KMeans(2, n_init=1)


class ByColumn(ClusterMixin, BaseEstimator):
    """Clusters that are written in a column."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y=None):
        self.labels_ = np.asarray(X)[:, self.column].astype(int)
        return self


@pytest.mark.filterwarnings("ignore::consilience.errors.SubsetWarning")  # of data without clusters
@parametrize_with_checks([SubsetClustering(KMEANS, subset_size=20, random_state=0)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::consilience.errors.SubsetWarning")
@parametrize_with_checks(
    [
        SubsetClustering(KMEANS, random_state=0),
        SubsetClustering(AgglomerativeClustering(3), "auto", subset_size=10, overlap=0.5, random_state=0),
    ]
)
def test_scikit_learns_checks_of_one_subset_and_of_a_number_that_is_looked_for(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(2000, centers=5, cluster_std=0.6, random_state=3)


NOT_CONNECTED = pytest.mark.filterwarnings("ignore:Graph is not fully connected")  # clusters far apart


@NOT_CONNECTED
@pytest.mark.parametrize(
    "clusterer",
    [
        KMeans(5, n_init=3),
        AgglomerativeClustering(5),
        SpectralClustering(5, affinity="nearest_neighbors", random_state=0),
        make_pipeline(StandardScaler(), KMeans(5, n_init=3)),
        GaussianMixture(5, n_init=5),
        HDBSCAN(min_cluster_size=10, copy=False),
    ],
    ids=lambda clusterer: type(clusterer).__name__,
)
def test_finds_what_the_clusterer_finds_in_all_items(blobs, clusterer):
    X, _ = blobs
    whole = clone(clusterer).fit_predict(X)
    model = SubsetClustering(clusterer, subset_size=200, random_state=0).fit(X)
    assert model.n_clusters_ == 5
    inside = (whole >= 0) & (model.labels_ >= 0)
    assert inside.mean() > 0.9  # HDBSCAN leaves a few out
    assert adjusted_rand_score(whole[inside], model.labels_[inside]) > 0.97


@NOT_CONNECTED
def test_clusters_that_no_centre_has():
    X, truth = make_moons(3000, noise=0.05, random_state=0)
    clusterer = SpectralClustering(2, affinity="nearest_neighbors")
    model = SubsetClustering(clusterer, subset_size=300, random_state=0).fit(X)
    assert adjusted_rand_score(truth, model.labels_) > 0.99


def test_repeats_correct_errors_of_single_subsets():
    X, truth = make_blobs(3000, centers=6, n_features=4, cluster_std=2.2, random_state=0)
    scores = [
        adjusted_rand_score(truth, SubsetClustering(
            AgglomerativeClustering(6), subset_size=300, n_repeats=n, random_state=0).fit_predict(X))
        for n in (1, 3)
    ]  # fmt: skip
    assert scores[1] > scores[0] + 0.02


def test_results_have_the_shapes_that_are_documented(blobs):
    X, _ = blobs
    frame = pd.DataFrame(X, index=[f"item {i}" for i in range(len(X))], columns=["a", "b"])
    model = SubsetClustering(KMeans(5, n_init=1), subset_size=200, random_state=0).fit(frame)
    np.testing.assert_array_equal(model.labels_, model.responsibilities_.argmax(1))
    np.testing.assert_allclose(model.responsibilities_.sum(1), 1)
    sizes = np.bincount(model.labels_)
    assert (np.diff(sizes) <= 0).all()  # numbered by size
    assert list(model.items_) == list(frame.index)
    assert list(model.feature_names_in_) == ["a", "b"]
    assert len(model.shared_) == 40
    assert list(model.subsets_) == ["n_items", "n_groups", "n_left_out", "agreement", "consistency"]
    assert (model.subsets_["n_items"] <= 200).all()
    assert model.labels_series_["item 7"] == model.labels_[7]
    same = model.predict_same(["item 0", "item 1"], ["item 0", "item 2"])
    of = model.responsibilities_
    np.testing.assert_allclose(same, [(of[0] * of[0]).sum(), (of[1] * of[2]).sum()])
    assert model.cluster_profile(frame)["items", ""].tolist() == sizes.tolist()
    with pytest.raises(InputError, match="has no annotators"):
        model.predict_same("item 0", "item 1", annotator="Ann")
    assert not hasattr(SubsetClustering(KMEANS), "responsibilities_")


@pytest.mark.slow
def test_processes_and_files_change_nothing(blobs, tmp_path):
    X, _ = blobs
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    parameters = {"subset_size": 400, "random_state": 0}
    one = SubsetClustering(KMeans(5, n_init=1), **parameters).fit(X)
    two = SubsetClustering(KMeans(5, n_init=1), n_jobs=2, **parameters).fit(mapped)
    np.testing.assert_array_equal(one.labels_, two.labels_)
    np.testing.assert_array_equal(one.responsibilities_, two.responsibilities_)


def test_the_clusterer_gets_subsets_and_seeds_of_its_own(blobs):
    seen = []

    class Spy(KMeans):
        def fit_predict(self, X, y=None, sample_weight=None):
            seen.append((len(X), X.dtype, self.random_state))
            return super().fit_predict(X)

    clusterer = Spy(5, n_init=1)
    SubsetClustering(clusterer, subset_size=500, random_state=0).fit(blobs[0].astype(np.float32))
    assert {dtype for _, dtype, _ in seen} == {np.dtype(np.float32)}
    assert max(length for length, _, _ in seen) <= 500
    seeds = [seed for _, _, seed in seen]
    assert len(set(seeds)) == len(seeds) > 10
    assert clusterer.random_state is None
    assert not hasattr(clusterer, "labels_")


def test_all_items_in_one_subset_are_clustered_whole(blobs):
    X, _ = blobs
    model = SubsetClustering(HDBSCAN(min_cluster_size=10, copy=False)).fit(X)
    whole = HDBSCAN(min_cluster_size=10, copy=False).fit_predict(X)
    assert adjusted_rand_score(whole, model.labels_) == 1
    np.testing.assert_array_equal(model.labels_ < 0, whole < 0)
    assert len(model.subsets_) == 1
    assert len(model.shared_) == 0
    np.testing.assert_allclose(model.responsibilities_.max(1)[whole >= 0], 1)
    everything_out = SubsetClustering(DBSCAN(eps=1e-9)).fit(X)
    assert everything_out.n_clusters_ == 0
    assert (everything_out.labels_ == -1).all()
    assert everything_out.responsibilities_.shape == (2000, 0)


def test_number_of_clusters_that_is_looked_for():
    X, _ = make_blobs(900, centers=[[0, 0], [9, 0], [0, 9]], cluster_std=0.3, random_state=0)
    for clusterer, n_clusters, found in [
        (KMeans(3, n_init=3), None, 3),  # that of the clusterer
        (make_pipeline(StandardScaler(), KMeans(3, n_init=3)), None, 3),
        (DBSCAN(), None, 3),  # which has no such parameter: that in which the subsets agree best
        (KMeans(9, n_init=3), 3, 3),
        (KMeans(3, n_init=3), "auto", 3),
    ]:
        model = SubsetClustering(clusterer, n_clusters, subset_size=200, overlap=0.4, random_state=0)
        assert model.fit(X).n_clusters_ == found, (clusterer, n_clusters)


def test_items_left_out_by_most_subsets_are_in_no_cluster():
    rng = np.random.default_rng(0)
    code = rng.integers(2, size=400)
    code[:50] = -1
    model = SubsetClustering(ByColumn(), subset_size=60, random_state=0).fit(np.c_[code, code].astype(float))
    np.testing.assert_array_equal(model.labels_ < 0, code < 0)
    np.testing.assert_allclose(model.responsibilities_[0], np.bincount(model.labels_[50:]) / 350)
    assert model.n_unlinked_ == 0
    assert model.notes_ == []


def test_groups_without_shared_items_are_counted_and_said():
    rng = np.random.default_rng(0)
    code = np.where(rng.random(2000) < 0.5, 0, rng.integers(1, 60, size=2000))  # many small clusters
    with pytest.warns(SubsetWarning, match=r"items are in no cluster \(-1\), since their groups have none of the 20"):
        model = SubsetClustering(ByColumn(), "auto", subset_size=100, random_state=0).fit(code[:, None].astype(float))
    assert model.n_unlinked_ == (model.labels_ < 0).sum() > 100
    assert not np.isin(model.shared_, np.flatnonzero(model.labels_ < 0)).any()


def test_data_without_clusters_are_said_to_have_none():
    X = np.random.default_rng(0).normal(size=(2000, 10))
    with pytest.warns(SubsetWarning, match="The subsets agree little, so that the clusters depend on chance"):
        model = SubsetClustering(KMeans(6, n_init=1), subset_size=300, random_state=0).fit(X)
    assert model.subsets_["agreement"].median() < 0.6


def test_subsets_too_sparse_for_the_clusterer_are_said():
    X, _ = make_blobs(3000, centers=3, random_state=0)
    with pytest.warns(SubsetWarning, match="subsets of 100 are too sparse"):
        SubsetClustering(DBSCAN(eps=0.15), subset_size=100, random_state=0).fit(X)
    with pytest.raises(InputError, match="DBSCAN left all of the 20 shared items out in every subset"):
        SubsetClustering(DBSCAN(eps=1e-9), subset_size=100, random_state=0).fit(X)


class GrumblerWarning(UserWarning):
    """A warning of a clusterer."""


class Grumbler(KMeans):
    """A clusterer that warns of every subset, and of some twice."""

    def fit_predict(self, X, y=None, sample_weight=None):
        warnings.warn("not converged", GrumblerWarning, stacklevel=2)
        if self.random_state % 2:
            warnings.warn("odd", GrumblerWarning, stacklevel=2)
            warnings.warn("odd", GrumblerWarning, stacklevel=2)
        return super().fit_predict(X)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_each_warning_of_the_clusterer_is_given_once(blobs, n_jobs):
    model = SubsetClustering(Grumbler(5, n_init=3), subset_size=400, n_jobs=n_jobs, random_state=0)
    with pytest.warns(GrumblerWarning) as caught:
        model.fit(blobs[0])
    n_subsets = len(model.subsets_)
    own = [one.message for one in caught if isinstance(one.message, GrumblerWarning)]  # JAX warns of forks, too
    texts = sorted(map(str, own))
    assert texts[0] == f"not converged (in {n_subsets} of {n_subsets} subsets)"
    assert len(texts) == 2
    assert texts[1].startswith("odd (in ")
    assert 0 < int(texts[1].split()[2]) < n_subsets


def test_clear_data_raise_no_warning(blobs):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SubsetClustering(KMeans(5, n_init=3), subset_size=200, random_state=0).fit(blobs[0])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"clusterer": None}, "must be a scikit-learn clusterer, such as SpectralClustering(8). Got None instead."),
        ({"clusterer": KMeans}, "must be a scikit-learn clusterer"),
        ({"clusterer": PartitionLabelModel()}, "must need features alone, no annotations. Got PartitionLabelModel()"),
        ({"clusterer": KCC(2)}, "must need features alone, no annotations. Got KCC(n_clusters=2)"),
        ({"clusterer": DBSCAN(metric="precomputed")}, "must take features, not distances or similarities"),
        ({"overlap": 0.0}, "The 'overlap' parameter of SubsetClustering must be a number in (0, 1). Got 0.0 instead."),
        ({"overlap": 1}, "must be a number in (0, 1)"),
        ({"subset_size": 3}, "must be an int of at least 4"),
        ({"n_repeats": 0}, "must be an int from 1 to 1,000"),
        ({"n_clusters": 0}, "must be 'auto', None or a positive int"),
        ({"n_jobs": 0}, "must be None, a positive int"),
    ],
)
def test_unsuitable_parameters_are_refused(parameters, message, blobs):
    with pytest.raises(InputError) as caught:
        SubsetClustering(**({"clusterer": KMEANS} | parameters)).fit(blobs[0])
    assert message in str(caught.value)


def test_annotations_and_missing_values_are_refused(blobs):
    with pytest.raises(InputError, match=r"reads no annotations. Got Groupings; SubsetFusion fuses groupings"):
        SubsetClustering(KMEANS).fit(Groupings.from_lists([[["a"], ["b"]]]))
    X = blobs[0].copy()
    X[3, 1] = np.nan
    with pytest.raises(InputError, match="Feature 1 of item 3 is missing"):
        SubsetClustering(KMEANS).fit(X)


@pytest.mark.slow
def test_memory_grows_with_the_number_of_items_and_no_faster():
    def peak(n_items):
        X = np.random.default_rng(0).integers(4, size=(n_items, 1)).astype(np.float32)
        tracemalloc.start()
        SubsetClustering(ByColumn(), 4, subset_size=500, random_state=0).fit(X)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(5_000)  # imports
    assert peak(80_000) < 1.3 * 4 * peak(20_000)
