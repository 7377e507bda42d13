"""Values of parameters that are "auto"."""

import numpy as np
import pytest

from consilience.deep import SCDC, BayesSCDC, automatic
from consilience.simulation import simulate_pairs

QUICK = {"n_latent": 2, "batch_size": 16, "annotated_batch_size": 16, "warm_epochs": 2}
N_STEPS = 4  # of an epoch of 60 items
FEW_STEPS = 40  # over which losses are averaged, where that is made shorter


def blobs(n_items=60, *, seed=0):
    """Three clusters in two dimensions, and their classes."""
    rng = np.random.default_rng(seed)
    classes = np.arange(n_items) % 3
    return np.array([[-2.0, 0], [2, 0], [0, 3]])[classes] + 0.3 * rng.normal(size=(n_items, 2)), classes


def curve(*means, n_steps=50):
    """Losses that are constant over each window."""
    return np.repeat(means, automatic.WINDOW // n_steps)[:, None]


@pytest.mark.parametrize(("n_features", "expected"), [(2, (40, 40)), (50, (40, 40)), (51, (500, 500))])
def test_networks_are_narrow_for_few_features(n_features, expected):
    assert automatic.widths(n_features) == expected


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    return QUICK | {"checkpoint": tmp_path_factory.mktemp("fits") / "fit.npz", "random_state": 0}


@pytest.fixture(scope="module")
def automatic_end(settings):
    """A fit whose widths, restarts and end are automatic, with losses averaged over fewer steps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(automatic, "WINDOW", FEW_STEPS)
        return BayesSCDC(3, **settings).fit(blobs()[0])


@pytest.mark.slow
def test_a_fit_has_networks_of_these_widths(automatic_end):
    check_widths(automatic_end, "network")


@pytest.mark.slow
def test_so_has_one_of_scdc():
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = SCDC(3, n_latent=2, n_init=1, n_epochs=1, warm_epochs=1, random_state=0).fit(X)
    check_widths(model, "first")  # its encoder adds an offset for each cluster after the first layer


def check_widths(model, part):
    assert model.state_[f".parameters.encoder.{part}.layers[0].weight"].shape == (40, 2)
    assert model._model(51).hidden == (500, 500)


@pytest.mark.parametrize(("n_items", "n_features", "expected"), [(2000, 50, 10), (2001, 50, 1), (100, 51, 1)])
def test_small_data_have_restarts(n_items, n_features, expected):
    assert automatic.n_restarts(n_items, n_features) == expected


@pytest.mark.parametrize(
    ("n_steps", "n_features", "expected"),
    [(4, 50, 125), (4, 51, 375), (24, 784, 63), (235, 784, 12)],
)
def test_many_features_have_a_longer_warm_start(n_steps, n_features, expected):
    assert automatic.n_warm_epochs(n_steps, n_features) == expected


@pytest.mark.parametrize(
    ("losses", "expected"),
    [
        (curve(10, 5, 4.9), True),
        (curve(10, 5, 4.5), False),
        (curve(10, 5, 5.2), True),  # noise
        (curve(10, 4.9), False),  # two windows and a first epoch are the least
        (np.hstack([curve(10, 5, 4.9), curve(10, 9, 8)]), False),  # the second restart gains
        (np.hstack([curve(10, 5, 4.9), np.nan * curve(10, 9, 8)]), True),  # it has failed
    ],
)
def test_training_settles_when_no_restart_gains(losses, expected):
    assert automatic.has_settled(losses, n_steps=50) is expected


@pytest.mark.slow
def test_training_ends_early_unless_its_length_is_given(automatic_end):
    assert 2 * FEW_STEPS // N_STEPS < automatic_end.n_iter_ < automatic.most_epochs(N_STEPS)
    assert len(automatic_end.restart_bounds_) == automatic.RESTARTS
    given = BayesSCDC(3, **QUICK, n_epochs=automatic_end.n_iter_ + 5, random_state=0).fit(blobs()[0])
    assert given.n_iter_ == automatic_end.n_iter_ + 5


def test_training_goes_on_until_there_are_more_than_two_windows():
    assert not automatic.has_settled(np.zeros((6, 1)), n_steps=100)  # three epochs a window
    assert automatic.has_settled(np.zeros((7, 1)), n_steps=100)


@pytest.mark.slow
def test_losses_before_trust_do_not_count(monkeypatch):
    monkeypatch.setattr(automatic, "WINDOW", FEW_STEPS)
    X, classes = blobs()
    judged = simulate_pairs(classes, n_annotators=2, pairs_each=50, accuracy=0.9, random_state=0)
    model = BayesSCDC(3, **QUICK, n_init=1, trust_epochs=40, random_state=0).fit(X, judged)
    assert model.n_iter_ > 40 + 2 * FEW_STEPS // N_STEPS


@pytest.mark.slow
def test_a_fit_that_ended_early_is_resumed_at_its_end(automatic_end, settings, monkeypatch):
    monkeypatch.setattr(automatic, "WINDOW", FEW_STEPS)
    again = BayesSCDC(3, **settings).fit(blobs()[0])
    assert again.n_iter_ == automatic_end.n_iter_
    np.testing.assert_array_equal(again.responsibilities_, automatic_end.responsibilities_)
