"""Images of clusters and weights of annotators are those of the model, a stand-in whose parameters are set."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.papers.paper_plots.deep import plot_samples, plot_worker_weights
from consilience.consensus import CSPA, MajorityVote
from consilience.errors import InputError
from tests.inspection.test_deep_plots import StandIn

GROUPINGS = [["p", "p"], ["p", "p"], ["q", "p"], ["q", "q"]]

# ---- samples


def sheet_of(ax):
    return np.ma.filled(ax.images[0].get_array(), np.nan)


def test_samples_stand_in_a_column_a_cluster_and_shine_by_its_share():
    ax = plot_samples(StandIn().fit(), (2, 3), n_rows=4, random_state=0)
    sheet = sheet_of(ax)
    assert sheet.shape == (4 * 3 - 1, 3 * 4 - 1)
    assert np.isnan(sheet[2::3]).all()  # nothing between images
    assert np.isnan(sheet[:, 3::4]).all()
    for cluster, brightness in enumerate([1.0, 0.75, 0.5]):  # shares of 1/2, 1/3 and 1/6; the faintest would have .25
        images = sheet[:, 4 * cluster : 4 * cluster + 3][np.arange(11) % 3 < 2]
        np.testing.assert_allclose(images / brightness, cluster / 2, atol=0.02)  # the features, but for their noise


def test_columns_of_samples_bear_the_clusters_and_their_shares():
    ax = plot_samples(StandIn().fit(), (2, 3))
    assert [text.get_text() for text in ax.get_xticklabels()] == ["0\n50%", "1\n33%", "2\n17%"]


def test_samples_depend_on_the_random_state_alone():
    model = StandIn().fit()
    one, same, other = (sheet_of(plot_samples(model, (2, 3), 2, seed, ax=Figure())) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, same)
    assert (np.nan_to_num(one) != np.nan_to_num(other)).any()


def test_samples_of_a_pipeline_are_pixels_again():
    pixels = np.random.default_rng(0).random((60, 12))
    pipeline = make_pipeline(StandardScaler(), PCA(6), StandIn()).fit(pixels)
    ax = plot_samples(pipeline, (2, 2, 3), n_rows=1)
    sheet = sheet_of(ax)
    assert sheet.shape == (2, 3 * 3 - 1, 4)
    drawn = pipeline[:-1].inverse_transform(np.full((1, 6), 0.5))[0].reshape(2, 2, 3)  # of cluster 1, but for its noise
    shown = sheet[:, 3:5, :3] / 0.75
    assert np.corrcoef(shown.ravel(), drawn.ravel())[0, 1] > 0.99


@pytest.mark.parametrize("shape", [6, (6,), (2, 3, 4), (2, 0), "23", (2.0, 3.0)])
def test_a_shape_that_is_none_is_refused(shape):
    with pytest.raises(InputError, match=r"'image_shape' .* must be \(height, width\)"):
        plot_samples(StandIn().fit(), shape)


def test_a_shape_of_other_features_is_refused_with_both_numbers():
    with pytest.raises(InputError, match="Images of 4 × 4 have 16 pixels; a sample has 6 features"):
        plot_samples(StandIn().fit(), (4, 4))


def test_a_model_without_samples_is_refused():
    with pytest.raises(InputError, match="MajorityVote draws no samples"):
        plot_samples(MajorityVote().fit(GROUPINGS), (2, 2))
    with pytest.raises(InputError, match=r"'n_rows' .* positive int. Got 0"):
        plot_samples(StandIn().fit(), (2, 3), 0)


# ---- weights of annotators


@pytest.mark.parametrize(
    "true", [[1.0, 4.4, 0.1], {"Cy": 0.1, "Ann": 1.0, "Bo": 4.4}, pd.Series([4.4, 0.1, 1.0], index=["Bo", "Cy", "Ann"])]
)
def test_weights_beside_the_true_ones_highest_first(true):
    ax = plot_worker_weights(StandIn().fit(), true)
    drawn = {line.get_label(): line.get_ydata() for line in ax.lines}
    np.testing.assert_array_equal(drawn["true"], [4.4, 1.0, 0.1])
    np.testing.assert_array_equal(drawn["estimated"], [4.3, 1.2, -0.4])
    assert [text.get_text() for text in ax.get_xticklabels()] == ["Bo", "Ann", "Cy"]


@pytest.mark.parametrize(
    ("true", "message"),
    [
        ([1.0, 2.0], r"one for each of 3 annotators. Got an array of shape \(2,\)"),
        ({"Ann": 1.0, "Bo": 2.0}, "none for annotator 'Cy'"),
        ([1.0, np.inf, 2.0], "weight of annotator 'Bo' is not finite"),
        (["a", "b", "c"], "must be numbers"),
        (pd.Series([1.0, 2.0, 3.0, 4.0], index=["Ann", "Bo", "Cy", "Bo"]), "names annotator 'Bo' twice"),
    ],
)
def test_wrong_true_weights_are_refused(true, message):
    with pytest.raises(InputError, match=message):
        plot_worker_weights(StandIn().fit(), true)


def test_models_that_weigh_no_judgements_are_refused():
    for model in (MajorityVote().fit(GROUPINGS), CSPA(n_clusters=2, random_state=0).fit(GROUPINGS)):
        with pytest.raises(InputError, match="does not estimate weights of judgements"):
            plot_worker_weights(model, [1.0])
    nobody = StandIn().fit()
    nobody.annotators_ = nobody.annotators_.iloc[:0]
    with pytest.raises(InputError, match="fitted without annotators"):
        plot_worker_weights(nobody, [])


def test_of_many_annotators_some_are_named():
    model = StandIn().fit()
    model.annotators_ = pd.concat([model.annotators_] * 30).set_axis([f"a{i}" for i in range(90)])
    ax = plot_worker_weights(model, np.arange(90.0))
    assert 10 < len(ax.get_xticklabels()) < 90
    assert ax.get_xlabel() == "90 annotators, by true weight"


def test_plots_draw_on_the_axes_given():
    for plot, argument in [(plot_samples, (2, 3)), (plot_worker_weights, [1, 2, 3])]:
        mine = Figure().subplots()
        assert plot(StandIn().fit(), argument, ax=mine) is mine
        assert mine.has_data()
