"""Plots and the report of the deep models, with a stand-in whose parameters are set."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from consilience import Pairs
from consilience.errors import InputError
from consilience.estimators.base import CrowdEstimator
from consilience.inspection import plot_latent, plot_training, report
from consilience.inspection.plots.style import colour, marker
from consilience.simulation import simulate_pairs

SIZES = (30, 20, 10)


class StandIn(CrowdEstimator):
    """Has the attributes of a fitted `BayesSCDC`; the latent space is that of the first features."""

    def __init__(self, n_latent=2, n_features=6):
        self.n_latent = n_latent
        self.n_features = n_features

    def fit(self, X=None, y=None):
        rng = np.random.default_rng(0)
        self.labels_, self.n_clusters_ = np.repeat(np.arange(len(SIZES)), SIZES), len(SIZES)
        self.items_ = pd.Index([f"item {i}" for i in range(sum(SIZES))])
        self.weights_ = np.array(SIZES) / sum(SIZES)
        self.means_ = np.vstack([np.zeros(self.n_latent), 4 * np.eye(self.n_latent, 2).T[:2]])
        roots = np.tril(rng.normal(size=(3, self.n_latent, self.n_latent))) * 0.5 + 0.5 * np.eye(self.n_latent)
        self.covariances_ = roots @ roots.swapaxes(1, 2)
        self.responsibilities_ = 0.9 * np.eye(3)[self.labels_] + 0.1 / 3
        self.losses_, self.clusters_left_ = np.array([9.0, 7.0, 6.5, 6.4]), np.array([8, 5, 3, 3])
        self.restart_bounds_, self.lower_bound_, self.n_iter_ = np.array([-400.0, -384.0]), -384.0, 4
        names = pd.Index(["Ann", "Bo", "Cy"], name="annotator")
        table = {
            "n_pairs": [40] * 3,
            "sensitivity": [0.6, 0.9, 0.5],
            "specificity": [0.7, 0.9, 0.4],
            "weight": [1.2, 4.3, -0.4],
        }
        self.annotators_ = pd.DataFrame(table, index=names)
        return self

    def transform(self, X):
        return np.asarray(X)[:, : self.n_latent]

    def sample(self, n_samples=1, cluster=None, random_state=None):
        rng = np.random.default_rng(random_state)
        return np.full((n_samples, self.n_features), cluster / 2) + 0.01 * rng.random((n_samples, 1)), cluster


def features_of(model):
    """A table of features: the latent positions, then noise."""
    rng = np.random.default_rng(1)
    roots = np.linalg.cholesky(model.covariances_)[model.labels_]
    latent = model.means_[model.labels_] + np.einsum("nij,nj->ni", roots, rng.normal(size=(60, model.n_latent)))
    noise = rng.normal(size=(60, model.n_features - model.n_latent))
    columns = [f"pixel {i}" for i in range(model.n_features)]
    return pd.DataFrame(np.hstack([latent, noise]), index=model.items_, columns=columns)


@pytest.fixture
def judged():
    truth = np.repeat(np.arange(3), SIZES)
    frame = simulate_pairs(truth[:40], 3, 40, 0.9, random_state=0).to_frame()
    frame["annotator"] = frame["annotator"].map(
        {f"annotator {i + 1}": name for i, name in enumerate(["Ann", "Bo", "Cy"])}
    )
    frame[["item_a", "item_b"]] = "item " + frame[["item_a", "item_b"]].astype(str)
    return Pairs.from_frame(frame, items=StandIn().fit().items_)


# ---- the latent space


def assert_at_two_deviations(ellipse, mean, covariance):
    rim = ellipse.get_patch_transform().transform(ellipse.get_path().vertices[::3]) - mean  # between are control points
    np.testing.assert_allclose(np.einsum("ni,ij,nj->n", rim, np.linalg.inv(covariance), rim), 4)


def test_items_are_at_their_latent_means_within_ellipses_of_their_cluster():
    model = StandIn().fit()
    X = features_of(model)
    ax = plot_latent(model, X)
    for cluster in range(3):
        (line,) = (line for line in ax.lines if line.get_label() == f"cluster {cluster}")
        np.testing.assert_array_equal(line.get_xydata(), X.to_numpy()[model.labels_ == cluster, :2])
        assert (line.get_marker(), line.get_markerfacecolor()) == (marker(cluster), colour(cluster))
    ellipses = [patch for patch in ax.patches if isinstance(patch, Ellipse)]
    assert len(ellipses) == 3
    for ellipse, mean, covariance in zip(ellipses, model.means_, model.covariances_, strict=True):
        assert_at_two_deviations(ellipse, mean, covariance)


def test_many_latent_dimensions_by_their_principal_components():
    model = StandIn(n_latent=5).fit()
    X = features_of(model)
    ax = plot_latent(model, X)
    expected = PCA(2).fit(X.to_numpy()[:, :5])
    line = next(line for line in ax.lines if line.get_label() == "cluster 0")
    seen = expected.transform(X.to_numpy()[:30, :5])
    np.testing.assert_allclose(np.abs(line.get_xydata()), np.abs(seen), atol=1e-8)  # signs are free
    ellipse = ax.patches[0]
    plane = PCA(2, random_state=0).fit(X.to_numpy()[:, :5])
    covariance = plane.components_ @ model.covariances_[0] @ plane.components_.T
    assert_at_two_deviations(ellipse, plane.transform(model.means_[:1])[0], covariance)
    assert ax.get_xlabel().startswith("component 1 (")


def test_one_latent_dimension_against_the_cluster():
    model = StandIn(n_latent=1)
    model.fit()
    ax = plot_latent(model, features_of(model))
    line = next(line for line in ax.lines if line.get_label() == "cluster 2")
    assert set(line.get_ydata()) == {2}
    (span,) = ax.collections[1].get_segments()
    deviation = np.sqrt(model.covariances_[1, 0, 0])
    np.testing.assert_allclose(span, [[4 - 2 * deviation, 1], [4 + 2 * deviation, 1]])


def test_items_without_judgements_are_hollow_and_rows_matched_by_name(judged):
    model = StandIn().fit()
    X = features_of(model)
    ordered, shuffled = (
        plot_latent(model, table, judged, ax=Figure()) for table in (X, X.sample(frac=1, random_state=0))
    )
    for one, other in zip(ordered.lines, shuffled.lines, strict=True):
        np.testing.assert_array_equal(one.get_xydata(), other.get_xydata())
    hollow = sum(len(line.get_xdata()) for line in ordered.lines if line.get_label().endswith("no annotations"))
    assert hollow == (judged.summary().annotators_per_item == 0).sum() >= 20


def test_items_of_a_pipeline_are_where_its_last_step_puts_them():
    X = features_of(StandIn().fit()).to_numpy()
    pipeline = make_pipeline(StandardScaler(), StandIn()).fit(X)
    line = next(line for line in plot_latent(pipeline, X).lines if line.get_label() == "cluster 1")
    np.testing.assert_allclose(line.get_xydata(), ((X - X.mean(0)) / X.std(0))[30:50, :2])


def test_a_sample_of_many_items_is_drawn():
    model = StandIn().fit()
    ax = plot_latent(model, features_of(model), max_items=25)
    assert sum(len(line.get_xdata()) for line in ax.lines) == 25
    assert ax.get_xlabel().splitlines()[1:] == ["25 of 60 items, chosen at random"]


def test_a_model_without_latent_space_is_refused(sorts):
    with pytest.raises(InputError, match="PartitionLabelModel has no latent space"):
        plot_latent(sorts[0], None)


# ---- training


def test_training_by_epoch():
    model = StandIn().fit()
    of_loss, of_clusters = plot_training(make_pipeline("passthrough", model))
    np.testing.assert_array_equal(of_loss.lines[0].get_xydata(), np.column_stack([[1, 2, 3, 4], model.losses_]))
    np.testing.assert_array_equal(of_clusters.lines[0].get_ydata(), model.clusters_left_)
    assert of_clusters.get_ylim()[0] == 0


def test_a_model_without_epochs_is_refused(sorts):
    with pytest.raises(InputError, match="PartitionLabelModel has no losses of epochs"):
        plot_training(sorts[0])


# ---- together


def test_the_report_of_a_deep_model_shows_its_latent_space_and_its_training(read, judged, tmp_path):
    model = StandIn(n_latent=3).fit()
    path = tmp_path / "report.html"
    report(model, judged, X=features_of(model), path=path)
    page = read(path.read_text(encoding="utf-8"))
    clusters, fit = page.section("clusters").text, page.section("fit").text
    assert (
        "The items in the latent space that the model learned, along the two directions of largest variance of its 3"
        in clusters
    )
    assert "items without annotations are hollow; ellipses reach two standard deviations" in clusters
    assert "Training took 4 epochs. The best of 2 restarts was kept." in fit
    assert {"Ann", "Bo", "Cy"} <= {row[0] for row in page.table("annotators")}


def test_the_report_of_sweeps_without_a_test_of_convergence(read, judged, tmp_path):
    model = StandIn().fit()
    del model.losses_
    model.lower_bounds_ = np.array([-900.0, -500.0, -501.0, -384.0])
    path = tmp_path / "report.html"
    report(model, judged, path=path)
    assert "it should rise and level off (4 sweeps)" in read(path.read_text(encoding="utf-8")).section("fit").text
