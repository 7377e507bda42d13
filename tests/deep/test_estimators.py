"""SCDC and BayesSCDC through their public interface: small fits, so that compiling takes most of the time."""

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pandas as pd
import pytest
from sklearn.base import clone

import consilience
from consilience import Groupings, Pairs, load, save
from consilience.deep import SCDC, BayesSCDC, restarts
from consilience.deep.compilation import MOST_BYTES, keep_compiled
from consilience.deep.model import Data
from consilience.deep.training import survey
from consilience.errors import InputError
from consilience.metrics.clusterings import nmi
from consilience.simulation import simulate_pairs
from tests.quick_cases import some_quick

SMALL = {"n_latent": 2, "hidden": (16,), "n_epochs": 3, "warm_epochs": 2, "batch_size": 16, "random_state": 0}


def tanh(values):
    """An activation that can be pickled, as those of JAX 0.10 cannot."""
    return jnp.tanh(values)


def straight(values):
    return values


def blobs(n_items=60, seed=0):
    """Three blobs in four dimensions, standardised."""
    rng = np.random.default_rng(seed)
    z = np.arange(n_items) % 3
    X = rng.normal(size=(n_items, 4)) + 6 * rng.normal(size=(3, 4))[z]
    X = pd.DataFrame((X - X.mean(0)) / X.std(0), index=[f"item {i}" for i in range(n_items)])
    return X, z


def judged(X, z, n_annotated=30, n_annotators=3, accuracy=0.9):
    """Pairs of the first items."""
    some = pd.Series(z[:n_annotated], index=X.index[:n_annotated])
    return simulate_pairs(some, n_annotators, 60, accuracy, random_state=0)


@pytest.fixture(scope="module")
def study():
    X, z = blobs()
    return X, judged(X, z), z


@pytest.fixture(scope="module")
def plain(study):
    X, said, _ = study
    return BayesSCDC(4, **SMALL).fit(X, said)


@pytest.fixture(scope="module", params=some_quick([BayesSCDC, SCDC]))
def fitted(request, study, plain):
    X, said, _ = study
    return plain if request.param is BayesSCDC else SCDC(4, **SMALL).fit(X, said)


class TestFitted:
    def test_common_attributes(self, fitted, study):
        X, said, _ = study
        assert fitted.labels_.shape == (60,)
        assert fitted.responsibilities_.shape == (60, fitted.n_clusters_)
        np.testing.assert_allclose(fitted.responsibilities_.sum(1), 1, rtol=1e-6)
        assert list(fitted.items_) == list(X.index)
        assert sorted(fitted.annotators_.index) == sorted(said.annotators)
        assert fitted.annotators_["n_pairs"].tolist() == [60, 60, 60]
        assert (np.diff(np.bincount(fitted.labels_)) <= 0).all()
        assert len(fitted.losses_) == len(fitted.clusters_left_) == fitted.n_iter_ == 3
        assert np.isfinite(fitted.lower_bound_)

    def test_credible_intervals_hold_the_means(self, fitted):
        table = fitted.annotators_
        for name in ("sensitivity", "specificity"):
            assert (table[f"{name}_low"] < table[name]).all()
            assert (table[name] < table[f"{name}_high"]).all()

    def test_predictions_for_new_items(self, fitted, study):
        X, _, _ = study
        proba = fitted.predict_proba(X.iloc[:7])
        assert proba.shape == (7, fitted.n_clusters_)
        np.testing.assert_allclose(proba.sum(1), 1, rtol=1e-6)
        np.testing.assert_array_equal(fitted.predict(X.iloc[:7]), proba.argmax(1))
        assert fitted.transform(X.iloc[:7]).shape == (7, 2)
        np.testing.assert_allclose(fitted.predict_proba(X)[:7], proba, atol=1e-6)  # whatever else is asked for

    def test_unjudged_items_are_clustered_by_their_features(self, fitted, study):
        X, _, _ = study
        np.testing.assert_allclose(fitted.responsibilities_[30:], fitted.predict_proba(X.iloc[30:]), atol=1e-4)

    def test_a_cluster_is_the_mixture_of_its_components(self, fitted):
        cluster, weight = fitted.components_["cluster"].to_numpy(), fitted.components_["weight"].to_numpy()
        assert weight.sum() == pytest.approx(1)
        for k in range(fitted.n_clusters_):
            share = weight[cluster == k]
            assert fitted.weights_[k] == pytest.approx(share.sum())
            mean = np.average(fitted.component_means_[cluster == k], axis=0, weights=share)
            np.testing.assert_allclose(fitted.means_[k], mean)
            off = fitted.component_means_[cluster == k] - mean
            spread = fitted.component_covariances_[cluster == k] + off[:, :, None] * off[:, None, :]
            np.testing.assert_allclose(fitted.covariances_[k], np.average(spread, axis=0, weights=share), atol=1e-9)

    def test_outliers_have_probabilities(self, fitted, study):
        far = 100 * study[0].iloc[:3]
        proba = fitted.predict_proba(far)
        np.testing.assert_allclose(proba.sum(1), 1, rtol=1e-6)
        assert (proba >= 0).all()

    def test_samples(self, fitted):
        features, clusters = fitted.sample(20, random_state=0)
        assert features.shape == (20, 4)
        assert set(clusters) <= set(range(fitted.n_clusters_))
        again, _ = fitted.sample(20, random_state=0)
        np.testing.assert_array_equal(features, again)
        assert (fitted.sample(3, cluster=0)[1] == 0).all()

    def test_samples_of_an_unknown_cluster_raise(self, fitted):
        with pytest.raises(InputError, match="'cluster' must be an int from 0 to"):
            fitted.sample(1, cluster=9)
        with pytest.raises(InputError, match="'n_samples' must be a positive int"):
            fitted.sample(0)

    def test_probability_of_the_same_cluster(self, fitted, study):
        X, said, _ = study
        within = (fitted.responsibilities_[0] * fitted.responsibilities_[3]).sum()
        assert fitted.predict_same(X.index[0], X.index[3]) == pytest.approx(within)
        own = fitted.annotators_.loc[said.annotators[0]]
        expected = within * own["sensitivity"] + (1 - within) * (1 - own["specificity"])
        assert fitted.predict_same(X.index[0], X.index[3], said.annotators[0]) == pytest.approx(expected)
        with pytest.raises(InputError, match="'nobody' was not fitted"):
            fitted.predict_same(X.index[0], X.index[3], "nobody")

    def test_pickles_and_saves(self, fitted, study, tmp_path):
        X, _, _ = study
        save(fitted, tmp_path / "model.zip")
        for copy in (pickle.loads(pickle.dumps(fitted)), load(tmp_path / "model.zip")):
            np.testing.assert_array_equal(copy.predict_proba(X), fitted.predict_proba(X))

    def test_order_of_items_changes_nothing(self, fitted, study):
        X, said, _ = study
        shuffled = np.random.default_rng(1).permutation(60)
        again = type(fitted)(4, **SMALL).fit(X.iloc[shuffled], said)
        np.testing.assert_array_equal(again.responsibilities_, fitted.responsibilities_[shuffled])


def fit_until_interrupted(model, X, said, monkeypatch, n_epochs=2):
    """Interrupt a fit after some epochs, as Ctrl-C does."""
    advance = restarts.advance

    def interrupted(model, data, course, until):
        if course.n_epochs == n_epochs:
            raise KeyboardInterrupt
        return advance(model, data, course, until)

    with monkeypatch.context() as patch:
        patch.setattr(restarts, "advance", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, said)


def test_training_is_compiled_during_the_warm_start(study, monkeypatch):
    compiled, advance = [], restarts.advance

    def note(event, seconds, **details):
        if event == "/jax/core/compile/backend_compile_duration":
            compiled.append(event)

    def interrupted(*given):
        before = len(compiled)
        advance(*given)
        assert before > 0
        assert len(compiled) == before
        raise KeyboardInterrupt

    monkeypatch.setattr(restarts, "advance", interrupted)
    jax.monitoring.register_event_duration_secs_listener(note)
    try:
        with pytest.raises(KeyboardInterrupt):
            BayesSCDC(4, **SMALL | {"hidden": (17,)}).fit(*study[:2])  # of a size that no other test compiles
    finally:
        jax.monitoring.unregister_event_duration_listener(note)


class TestCheckpoint:
    def test_a_resumed_fit_equals_an_uninterrupted_one(self, plain, study, tmp_path, monkeypatch):
        X, said, _ = study
        file = tmp_path / "fit.npz"
        fit_until_interrupted(BayesSCDC(4, **SMALL, checkpoint=file), X, said, monkeypatch)
        monkeypatch.setattr(restarts, "begin", None)  # it must not start again
        resumed = BayesSCDC(4, **SMALL, checkpoint=str(file)).fit(X, said)
        assert resumed.state_.keys() == plain.state_.keys()
        for name, array in plain.state_.items():
            np.testing.assert_array_equal(resumed.state_[name], array, err_msg=name)
        np.testing.assert_array_equal(resumed.losses_, plain.losses_)

    def test_resumes_without_a_seed(self, study, tmp_path, monkeypatch):
        X, said, _ = study
        settings = SMALL | {"random_state": None, "checkpoint": tmp_path / "fit.npz"}
        whole = BayesSCDC(4, **settings).fit(X, said)
        monkeypatch.setattr(restarts, "begin", None)  # it must not start again
        resumed = BayesSCDC(4, **settings).fit(X, said)
        np.testing.assert_array_equal(resumed.responsibilities_, whole.responsibilities_)

    @pytest.mark.slow
    @pytest.mark.parametrize("blow", [signal.SIGINT, signal.SIGKILL])
    def test_a_killed_process_leaves_a_usable_checkpoint(self, blow, study, tmp_path):
        X, said, _ = study
        file, settings = tmp_path / "fit.npz", SMALL | {"n_epochs": 400}
        X.to_pickle(tmp_path / "X.pkl")
        said.to_frame().to_csv(tmp_path / "pairs.csv", index=False)
        script = (
            "import pandas as pd; from consilience.deep import BayesSCDC; from consilience import Pairs; "
            "said = Pairs.from_frame(pd.read_csv('pairs.csv')); "
            f"BayesSCDC(4, **{settings}, checkpoint='fit.npz').fit(pd.read_pickle('X.pkl'), said)"
        )
        source = str(Path(consilience.__file__).parent.parent)
        process = subprocess.Popen(
            [sys.executable, "-c", script],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": source},
            stderr=subprocess.PIPE,
        )
        while not file.exists() and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(blow)
        message = process.communicate()[1].decode()
        assert process.returncode not in (0, 1) or "KeyboardInterrupt" in message, message
        with np.load(file) as written:
            assert 0 < len(written["losses"]) < 400
        resumed = BayesSCDC(4, **settings, checkpoint=file).fit(
            X, Pairs.from_frame(pd.read_csv(tmp_path / "pairs.csv"))
        )
        whole = BayesSCDC(4, **settings).fit(X, said)
        for name, array in whole.state_.items():
            np.testing.assert_array_equal(resumed.state_[name], array, err_msg=name)

    def test_of_another_fit(self, study, tmp_path):
        X, said, _ = study
        file = tmp_path / "fit.npz"
        BayesSCDC(4, **SMALL, checkpoint=file).fit(X, said)
        with pytest.raises(InputError, match="is the checkpoint of a fit with other data or parameters"):
            BayesSCDC(4, **SMALL, checkpoint=file, annotated_weight=2.0).fit(X, said)
        with pytest.raises(InputError, match="is the checkpoint of a fit with other data or parameters"):
            BayesSCDC(4, **SMALL, checkpoint=file).fit(X + 1, said)

    def test_of_another_file_format(self, study, tmp_path):
        X, said, _ = study
        file = tmp_path / "notes.txt"
        file.write_text("milk, eggs")
        with pytest.raises(InputError, match="is not a checkpoint of a fit"):
            BayesSCDC(4, **SMALL, checkpoint=file).fit(X, said)


@pytest.mark.slow
def test_partial_fit_continues(study):
    X, said, _ = study
    model = BayesSCDC(4, **SMALL)
    for n_epochs in (1, 2):
        model.partial_fit(X, said)
        assert model.n_iter_ == n_epochs
    first = model.predict_proba(X)
    model.partial_fit(X.iloc[:40], said)  # fewer items
    assert model.labels_.shape == (40,)
    assert not np.array_equal(model.predict_proba(X), first)
    with pytest.raises(InputError, match="needs the annotators that were fitted before"):
        model.partial_fit(X)


@pytest.mark.slow
def test_restarts_keep_the_highest_bound(study):
    X, said, _ = study
    model = BayesSCDC(4, **SMALL, n_init=3).fit(X, said)
    assert model.restart_bounds_.shape == (3,)
    assert len(set(model.restart_bounds_)) == 3
    assert model.lower_bound_ == model.restart_bounds_.max()


@pytest.mark.slow
def test_names_of_groups_change_nothing(study):
    X, _, z = study
    names = np.array(["a", "b", "c"])
    there = Groupings.from_matrix(np.where(np.arange(60) < 20, names[z], None)[:, None], items=X.index)
    here = Groupings.from_matrix(np.where(np.arange(60) < 20, names[::-1][z], None)[:, None], items=X.index)
    one, other = (BayesSCDC(4, **SMALL).fit(X, said) for said in (there, here))
    np.testing.assert_array_equal(one.responsibilities_, other.responsibilities_)


@pytest.mark.slow
def test_judgements_find_what_features_hide():
    """Two pairs of clusters overlap in one of six features; annotators distinguish them on a third of the items."""
    rng = np.random.default_rng(0)
    z = np.arange(300) % 4
    X = rng.normal(size=(300, 6)) * 0.5
    X[:, 0] += 3 * (z // 2)
    X[:, 1] += 1.2 * (z % 2)
    X = pd.DataFrame((X - X.mean(0)) / X.std(0))
    some = pd.Series(z[:100])
    judged = simulate_pairs(some, 5, 300, 0.9, random_state=0).reindex(range(300))
    settings = {"n_latent": 3, "hidden": (40, 40), "batch_size": 64, "n_epochs": 60, "random_state": 0}
    guided = BayesSCDC(8, **settings, init="judgements").fit(X, judged)
    alone = BayesSCDC(8, **settings).fit(X)
    assert nmi(z[:100], guided.labels_[:100]) == pytest.approx(1)  # 30 judgements of each item leave no doubt
    # two clusters that are 1.2 apart at a standard deviation of .5 are best classified with an error of 11.5 %, which
    # is an NMI of .74 for all four; three standard errors of 200 items below, it is .66
    assert nmi(z[100:], guided.labels_[100:]) > 0.65
    assert nmi(z, guided.labels_) > nmi(z, alone.labels_) + 0.1
    # as the clusters of judged items are right, reliabilities are the shares of right judgements among those drawn
    # (not .9), with one of each kind from the prior; a single judgement changes a weight by .06
    same_class = z[judged.item_a] == z[judged.item_b]
    weight = np.zeros(5)
    for chosen in (same_class, ~same_class):
        hits = same_class == judged.same
        right, wrong = (np.bincount(judged.annotator[chosen & (hits == hit)], minlength=5) for hit in (True, False))
        weight += np.log((1 + right) / (1 + wrong))
    np.testing.assert_allclose(guided.annotators_["weight"], weight, atol=0.03)


@pytest.mark.parametrize(
    ("model", "sizes"),
    [
        (BayesSCDC, {"n_epochs": 10, "n_init": 1}),
        pytest.param(BayesSCDC, {"n_epochs": 20}, marks=pytest.mark.slow),
        pytest.param(SCDC, {"n_epochs": 20}, marks=pytest.mark.slow),
    ],
)
@pytest.mark.slow
def test_start_from_judgements_finds_clusters_of_low_variance(model, sizes):
    """Three distant blobs that do not matter, and within each the two classes by which annotators judge."""
    rng = np.random.default_rng(0)
    heap, z = np.divmod(np.arange(180) % 6, 2)
    X = rng.normal(size=(180, 4))
    X[:, :2] += 12 * np.array([[0, 0], [1, 0], [0, 1]])[heap]
    X[:, 2] += 4 * z
    X = pd.DataFrame((X - X.mean(0)) / X.std(0))
    said = simulate_pairs(pd.Series(z[:60]), 3, 200, 0.9, random_state=0).reindex(range(180))
    settings = SMALL | {"n_latent": 4, "init": "judgements", "annotated_weight": 10.0} | sizes
    fitted = model(4, **settings).fit(X, said)
    assert nmi(z, fitted.labels_) > 0.7
    assert nmi(heap, fitted.labels_) < 0.1


@pytest.mark.slow
def test_blobs_that_annotators_put_together_are_one_cluster():
    """Blobs at the corners of a square; those on a diagonal form a cluster."""
    rng = np.random.default_rng(0)
    heap = np.arange(200) % 4
    X = pd.DataFrame(np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])[heap] + 0.15 * rng.normal(size=(200, 2)))
    cluster = pd.Series(heap % 2)
    said = simulate_pairs(cluster[:60], 3, 200, 0.9, random_state=0).reindex(X.index)
    settings = SMALL | {"hidden": (16, 16), "n_epochs": 40, "warm_epochs": 40}
    model = BayesSCDC(4, n_init=3, **settings).fit(X, said)
    assert model.n_clusters_ == 2
    assert len(model.components_) > 2
    assert nmi(cluster, model.labels_) > 0.95
    assert nmi(cluster, model.predict(X.to_numpy())) > 0.95
    drawn, of = model.sample(200, random_state=0)
    assert (model.predict(drawn) == of).mean() > 0.9


UNMERGED = {"init": "random", "merge_clusters": False, "n_init": 1}  # a merger sets the velocity to 0
AS_PUBLISHED = UNMERGED | {"rate": "published", "rate_momentum": 0.9, "full_gradient": True, "max_sweeps": 4}


@pytest.fixture(scope="module")
def driven(study):
    """A fit whose steps have momentum and the full gradient."""
    X, said, _ = study
    return BayesSCDC(4, **SMALL | AS_PUBLISHED, start_variance=9.0).fit(X, said)


class TestSteps:
    """Steps of the components and their shares with momentum, the full gradient and few sweeps."""

    @pytest.mark.slow
    def test_are_finite_and_differ_from_the_convex_ones(self, driven, study):
        X, said, _ = study
        plain = BayesSCDC(4, **SMALL, **UNMERGED).fit(X, said)
        assert np.isfinite(driven.losses_).all()
        assert np.isfinite(driven.lower_bound_)
        assert not np.allclose(driven.losses_, plain.losses_)
        assert driven.state_.keys() - plain.state_.keys() == {
            ".posterior.velocity.concentration",
            *(f".posterior.velocity.components.{name}" for name in ("linear", "outer", "strength", "degrees")),
        }

    @pytest.mark.slow
    def test_settings_given_as_they_are_by_default_change_nothing(self, plain, study):
        X, said, _ = study
        given = {"rate": 0.1, "rate_momentum": 0, "full_gradient": False, "max_sweeps": 20, "start_variance": 3}
        other = BayesSCDC(4, **SMALL, **given).fit(X, said)
        assert plain.state_.keys() == other.state_.keys()
        for name, array in plain.state_.items():
            np.testing.assert_array_equal(other.state_[name], array, err_msg=name)

    @pytest.mark.slow
    def test_are_cloned_saved_and_loaded(self, driven, study, tmp_path):
        X, _, _ = study
        assert clone(driven).get_params() == driven.get_params()
        save(driven, tmp_path / "model.zip")
        copy = load(tmp_path / "model.zip")
        assert copy.get_params() == driven.get_params()
        np.testing.assert_array_equal(copy.predict_proba(X), driven.predict_proba(X))
        assert copy.state_[".posterior.velocity.concentration"].any()

    @pytest.mark.slow
    def test_a_resumed_fit_continues_with_its_velocity(self, driven, study, tmp_path, monkeypatch):
        X, said, _ = study
        settings = SMALL | AS_PUBLISHED | {"start_variance": 9.0, "checkpoint": tmp_path / "fit.npz"}
        fit_until_interrupted(BayesSCDC(4, **settings), X, said, monkeypatch)
        monkeypatch.setattr(restarts, "begin", None)  # it must not start again
        resumed = BayesSCDC(4, **settings).fit(X, said)
        for name, array in driven.state_.items():
            np.testing.assert_array_equal(resumed.state_[name], array, err_msg=name)

    def test_a_fit_with_other_settings_is_another(self):
        """So that it does not continue a checkpoint with these."""
        for name, value in {
            "rate_momentum": 0.5,
            "full_gradient": True,
            "max_sweeps": 4,
            "start_variance": 9.0,
        }.items():
            assert BayesSCDC(**{name: value})._identity(0)[name] == value

    @pytest.mark.slow
    def test_merged_components_start_at_rest(self, study):
        X, said, _ = study
        model = BayesSCDC(4, **SMALL | {"n_epochs": 1}, rate_momentum=0.9).fit(X, said)  # merged after its only epoch
        assert not model.state_[".posterior.velocity.concentration"].any()

    @pytest.mark.slow
    def test_components_taken_from_a_mixture_can_be_saved(self, study, tmp_path):
        X, _, _ = study
        model = BayesSCDC(4, **SMALL, rate_momentum=0.9).fit(X)
        save(model, tmp_path / "model.zip")
        np.testing.assert_array_equal(load(tmp_path / "model.zip").predict_proba(X), model.predict_proba(X))

    @pytest.mark.parametrize(("n_items", "rate"), [(500, 0.02), (60_000, 1 / 6000), (5, 1.0)])
    def test_the_published_rate_depends_on_the_number_of_items(self, n_items, rate):
        data = Data(jnp.zeros((n_items, 1)), jnp.arange(n_items), jnp.empty(0, int), None)
        assert BayesSCDC(n_latent=1, rate="published")._model(1).first_rate(data) == pytest.approx(rate)
        assert BayesSCDC(n_latent=1, rate=0.3)._model(1).first_rate(data) == 0.3

    @pytest.mark.parametrize(
        ("name", "value", "expected"),
        [
            ("rate", "auto", "'published' or a number in (0, 1]. Got 'auto' instead."),
            ("rate_momentum", 1.0, "a number in [0, 1). Got 1.0 instead."),
            ("full_gradient", 1, "True or False. Got 1 instead."),
            ("max_sweeps", 0, "a positive int. Got 0 instead."),
            ("start_variance", 0.0, "a positive number. Got 0.0 instead."),
        ],
    )
    def test_wrong_parameters_raise(self, name, value, expected, study):
        X, said, _ = study
        with pytest.raises(InputError) as caught:
            BayesSCDC(**{name: value}).fit(X, said)
        assert str(caught.value) == f"The '{name}' parameter of BayesSCDC must be {expected}"


class TestPublishedSettings:
    @pytest.mark.slow
    def test_models_train(self, study):
        X, said, _ = study
        changes = {"hidden": (16,), "n_epochs": 3, "random_state": 0}
        model = BayesSCDC.as_published("pinwheel", **changes).fit(X, said)
        assert (model.n_latent, model.optimiser, model.init, model.n_epochs) == (2, "momentum", "random", 3)
        assert (model.rate, model.rate_momentum, model.max_sweeps, model.start_variance) == ("published", 0.9, 4, 9.0)
        assert model.concentration == 1.05
        assert model.lower_bound_ > -1000
        other = BayesSCDC.as_published("pinwheel", **changes | {"random_state": 1}).fit(X, said)
        assert np.abs(model.component_means_[0] - other.component_means_[0]).max() > 0.01

    def test_are_those_of_an_experiment(self):
        assert SCDC.as_published("faces").n_clusters == 4
        with pytest.raises(InputError, match=r"No published settings for 'moon'. There are some for pinwheel, mnist."):
            BayesSCDC.as_published("moon")


BOTH = pytest.mark.parametrize("model", [BayesSCDC, SCDC])
# each fit compiles for its own shapes
ONE_IS_QUICK = pytest.mark.parametrize("model", [BayesSCDC, pytest.param(SCDC, marks=pytest.mark.slow)])


class TestHardCases:
    def settings(self, **changes):
        return SMALL | {"n_epochs": 2} | changes

    @pytest.mark.slow
    @ONE_IS_QUICK
    def test_without_judgements(self, model, study):
        X, _, _ = study
        fitted = model(4, **self.settings()).fit(X)
        assert len(fitted.annotators_) == 0
        assert fitted.labels_.shape == (60,)

    @BOTH
    @pytest.mark.slow
    def test_one_judgement_and_fewer_items_than_a_batch(self, model):
        X, _ = blobs(n_items=5)
        frame = pd.DataFrame({"item_a": ["item 0"], "item_b": ["item 3"], "annotator": ["x"], "same": [True]})
        fitted = model(2, **self.settings()).fit(X, Pairs.from_frame(frame))
        assert fitted.annotators_["n_pairs"].tolist() == [1]
        assert np.isfinite(fitted.responsibilities_).all()

    @BOTH
    @pytest.mark.slow
    def test_one_cluster(self, model, study):
        X, said, _ = study
        fitted = model(1, **self.settings()).fit(X, said)
        assert fitted.n_clusters_ == 1
        assert (fitted.responsibilities_ == 1).all()

    @BOTH
    @pytest.mark.slow
    def test_contradictory_annotators(self, model, study):
        X, said, _ = study
        frame = said.to_frame()
        against = frame.assign(same=~frame["same"].astype(bool), annotator=frame["annotator"].astype(str) + " turned")
        both = Pairs.from_frame(pd.concat([frame, against], ignore_index=True), items=X.index)
        fitted = model(4, **self.settings()).fit(X, both)
        assert np.isfinite(fitted.responsibilities_).all()

    @BOTH
    @pytest.mark.slow
    def test_one_annotator_judged_everything(self, model, study):
        X, _, z = study
        fitted = model(4, **self.settings()).fit(X, Groupings.from_matrix(z[:, None], items=X.index))
        assert np.isfinite(fitted.responsibilities_).all()

    @BOTH
    @pytest.mark.slow
    def test_constant_features(self, model):
        X = pd.DataFrame(np.zeros((20, 3)))
        assert np.isfinite(model(3, **self.settings()).fit(X).responsibilities_).all()

    @pytest.mark.slow
    @ONE_IS_QUICK
    def test_features_of_huge_scale_raise_or_fit(self, model, study):
        X, said, _ = study
        try:
            fitted = model(4, **self.settings()).fit(X * 1e18, said)
        except FloatingPointError as error:
            assert "Standardise the features" in str(error)  # noqa: PT017
        else:
            assert np.isfinite(fitted.responsibilities_).all()

    @BOTH
    def test_bernoulli_needs_features_from_0_to_1(self, model, study):
        X, said, _ = study
        with pytest.raises(InputError, match="A Bernoulli likelihood needs features from 0 to 1"):
            model(4, **self.settings(likelihood="bernoulli")).fit(X, said)

    @BOTH
    def test_start_from_judgements_without_judgements_raises(self, model, study):
        with pytest.raises(InputError, match="init='judgements' needs annotations"):
            model(3, **SMALL, init="judgements").fit(study[0])

    @BOTH
    def test_annotations_without_a_pair(self, model, study):
        X, _, _ = study
        alone = Groupings.from_matrix(np.where(np.arange(60) == 0, "a", None)[:, None], items=X.index)
        with pytest.raises(InputError, match="judge no pair of items"):
            model(4, **self.settings()).fit(X, alone)

    @BOTH
    @pytest.mark.parametrize(
        ("name", "value"),
        [("n_clusters", 0), ("hidden", ()), ("n_epochs", "all"), ("rate", 2.0), ("likelihood", "poisson"),
         ("implied_pairs", "some"), ("optimiser", "sgd"), ("reliability_prior", 1.0),
         ("annotated_weight", -1), ("warm_epochs", -1), ("trust_epochs", -1)],
    )  # fmt: skip
    def test_invalid_parameters(self, model, study, name, value):
        X, said, _ = study
        with pytest.raises(InputError, match=f"The '{name}' parameter of {model.__name__} must be"):
            model(**{name: value}).fit(X, said)


def halves(n_items):
    """Pictures of twelve pixels with ones in one of two halves, and the halves."""
    rng = np.random.default_rng(0)
    z = np.arange(n_items) % 2
    shape = np.repeat(np.eye(2)[z], 6, axis=1)
    return (rng.random(shape.shape) < 0.1 + 0.8 * shape).astype(float), z


@pytest.fixture(scope="module")
def joined():
    """Fits without judgements, with and without joining, of pictures of two kinds."""
    X, z = halves(120)
    settings = SMALL | {"n_epochs": 40, "warm_epochs": "auto", "likelihood": "bernoulli"}
    return X, z, *(BayesSCDC(8, **settings, merge_clusters=merge).fit(X) for merge in (True, False))


@pytest.mark.slow
def test_components_that_share_items_are_joined_without_judgements(joined):
    X, z, model, _ = joined
    assert model.n_clusters_ == 2
    assert nmi(z, model.labels_) > 0.9
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_allclose(model.predict_proba(X), model.responsibilities_, atol=1e-4)
    assert model.lower_bound_ <= model.restart_bounds_.max() + 1e-3


@pytest.mark.slow
def test_every_component_is_a_cluster_if_none_is_joined(joined):
    *_, model = joined
    assert model.components_["cluster"].is_unique
    assert model.lower_bound_ == model.restart_bounds_.max()


@pytest.mark.slow
def test_components_that_training_emptied_are_taken_from_a_mixture(joined):
    """Equal components, which tell nothing, draw the positions together; but these still show both kinds."""
    X, z, model, _ = joined
    data, arranged = model._study(X, None, None, reset=False)
    inner, fit = model._model(12), model._fit()
    equal = jax.tree.map(lambda part: part[:1].repeat(len(part), 0), fit.posterior)
    spoiled = fit._replace(posterior=equal._replace(joined=jnp.eye(8)))
    found = survey(inner, data, spoiled)
    mended, after = inner.joined(data, spoiled, found)
    truth = z[np.asarray(arranged.items)][np.asarray(data.rows)]
    before, now = (nmi(truth, np.asarray(one.responsibilities.argmax(1))) for one in (found, after))
    assert before < 0.1
    assert now > 0.7
    assert not np.allclose(mended.posterior.concentration, spoiled.posterior.concentration)


@pytest.mark.slow
def test_few_items_are_noted(study):
    X, said, _ = study
    model = BayesSCDC(4, **SMALL).fit(X, said)
    assert model.notes_ == [
        "60 items are few for a network to learn from. Compare the clusters with those of PartitionLabelModel or MECC."
    ]


@pytest.mark.slow
def test_no_more_latent_dimensions_than_features(study):
    X, said, _ = study
    model = BayesSCDC(4, **SMALL | {"n_latent": "auto"}).fit(X, said)
    assert model.transform(X).shape == (60, 4)


@pytest.mark.slow
def test_bernoulli_pictures():
    pixels, z = halves(40)
    settings = SMALL | {"n_init": 1, "n_epochs": 40, "warm_epochs": "auto"}
    model = BayesSCDC(3, **settings, likelihood="bernoulli").fit(pixels)
    assert nmi(z, model.labels_) > 0.9
    features, _ = model.sample(5)
    assert ((features >= 0) & (features <= 1)).all()


@pytest.mark.slow
def test_custom_networks(study, tmp_path):
    X, said, _ = study
    encoder = eqx.nn.MLP(4, 4, 8, 1, tanh, straight, key=jax.random.key(0))
    decoder = eqx.nn.MLP(2, 8, 8, 1, tanh, straight, key=jax.random.key(1))
    model = BayesSCDC(4, **SMALL, encoder=encoder, decoder=decoder).fit(X, said)
    assert model.transform(X).shape == (60, 2)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
    assert model._model(4) == model._model(4)  # otherwise every call would compile again
    file, others = tmp_path / "fit.npz", eqx.nn.MLP(2, 8, 8, 1, tanh, straight, key=jax.random.key(2))
    BayesSCDC(4, **SMALL, encoder=encoder, decoder=decoder, checkpoint=file).fit(X, said)
    with pytest.raises(InputError, match="is the checkpoint of a fit with other data or parameters"):
        BayesSCDC(4, **SMALL, encoder=encoder, decoder=others, checkpoint=file).fit(X, said)


@pytest.mark.slow
def test_all_candidates_give_the_sum_over_all_clusters(study):
    X, said, _ = study
    one, other = (SCDC(4, **SMALL, n_candidates=n).fit(X, said) for n in (None, 4))
    np.testing.assert_allclose(one.responsibilities_, other.responsibilities_, atol=1e-5)
    fewer = SCDC(4, **SMALL, n_candidates=2).fit(X, said)
    assert ((fewer.responsibilities_ > 0).sum(1) <= 2).all()


@pytest.mark.slow
def test_reliabilities_are_fixed_during_trust_epochs(study):
    X, said, _ = study
    trusted = BayesSCDC(4, **SMALL, trust_epochs=3).fit(X, said).annotators_
    np.testing.assert_allclose(trusted[["sensitivity", "specificity"]], 10 / 11, rtol=1e-5)
    learned = BayesSCDC(4, **SMALL, trust_epochs=2).fit(X, said).annotators_
    assert (learned["sensitivity"] != trusted["sensitivity"]).all()


class TestOptimiser:
    """A transformation of Optax instead of a name."""

    @pytest.mark.slow
    @pytest.mark.parametrize("model", [BayesSCDC, pytest.param(SCDC, marks=pytest.mark.slow)])
    def test_equivalent_transformation_gives_the_same_fit(self, model, study):
        X, said, _ = study
        one, other = (model(4, **SMALL, optimiser=how).fit(X, said) for how in ("adam", optax.adam(1e-3)))
        assert one.state_.keys() == other.state_.keys()
        for name, array in one.state_.items():
            np.testing.assert_array_equal(other.state_[name], array, err_msg=name)
        np.testing.assert_array_equal(other.predict_proba(X), one.predict_proba(X))
        assert clone(other).optimiser == other.optimiser

    @pytest.mark.slow
    def test_it_updates_the_parameters(self, study):
        """A transformation without steps leaves the networks unchanged; one with decay gets the parameters."""
        X, said, _ = study
        still, other = (
            BayesSCDC(4, **SMALL, **UNMERGED, optimiser=how).fit(X, said)
            for how in (optax.set_to_zero(), optax.adamw(1e-3, weight_decay=0.1))
        )
        begun = still._model(4).untrained(jax.random.key(0))
        weight = ".parameters.encoder.network.layers[0].weight"
        assert still.state_[weight].shape == begun.encoder.network.layers[0].weight.shape
        assert np.abs(still.state_[weight] - other.state_[weight]).max() > 1e-3
        offsets = [array for name, array in still.state_.items() if name.endswith("bias")]
        assert len(offsets) > 2
        assert not any(array.any() for array in offsets)

    @pytest.mark.slow
    def test_a_checkpoint_keeps_its_state(self, study, tmp_path):
        X, said, _ = study
        settings = SMALL | UNMERGED | {"optimiser": optax.adamw(1e-2), "checkpoint": tmp_path / "fit.npz"}
        whole = BayesSCDC(4, **settings).fit(X, said)
        again = BayesSCDC(4, **(settings | {"optimiser": optax.adamw(1e-2)})).fit(X, said)
        np.testing.assert_array_equal(again.responsibilities_, whole.responsibilities_)
        assert again.n_iter_ == whole.n_iter_
        with pytest.raises(InputError, match="other data or parameters"):
            BayesSCDC(4, **(settings | {"optimiser": optax.sgd(1e-2)})).fit(X, said)

    def test_it_cannot_be_saved(self, study, tmp_path):
        model = BayesSCDC(4, **SMALL, optimiser=optax.adam(1e-3))
        with pytest.raises(
            InputError, match=r"^The 'optimiser' of BayesSCDC cannot be saved: it contains a value of type"
        ):
            save(model, tmp_path / "model.zip")
        assert not (tmp_path / "model.zip").exists()

    @pytest.mark.parametrize(
        ("settings", "sentence"),
        [
            (
                {"optimiser": "sgd"},
                "The 'optimiser' parameter of SCDC must be 'adam', 'momentum' or an optax.GradientTransformation. Got "
                "'sgd' instead.",
            ),
            (
                {"optimiser": optax.adam(1e-2), "learning_rate": 1e-2},
                "The 'learning_rate' parameter of SCDC is not used with an optax.GradientTransformation, which has its "
                "own. Got 0.01; leave it at 0.001.",
            ),
        ],
        ids=["unknown", "two rates"],
    )
    def test_invalid_ones_raise(self, settings, sentence, study):
        X, said, _ = study
        with pytest.raises(InputError) as caught:
            SCDC(4, **(SMALL | settings)).fit(X, said)
        assert str(caught.value) == sentence


@pytest.fixture(scope="module")
def cache_folder(tmp_path_factory):
    """A folder for caches."""
    return tmp_path_factory.mktemp("caches")


@pytest.fixture(scope="module")
def settings_of_jax(cache_folder):
    """Settings that importing the deep models changes, and the folder of `keep_compiled`, in a process of its own."""
    script = (
        "import json, jax, equinox, optax; before = dict(jax.config.values); import consilience.deep; "
        "after = dict(jax.config.values); changed = [name for name in after if before.get(name) != after[name]]; "
        "from consilience.deep.compilation import keep_compiled; keep_compiled(); "
        "jax.jit(lambda x: x + 1)(1.0).block_until_ready(); "  # with what bounds the folder
        "print(json.dumps([changed, jax.config.jax_compilation_cache_dir, jax.config.jax_compilation_cache_max_size]))"
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}
    own = {"PYTHONPATH": str(Path(consilience.__file__).parent.parent), "XDG_CACHE_HOME": str(cache_folder)}
    found = subprocess.run([sys.executable, "-c", script], env=kept | own, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


def test_importing_the_deep_models_changes_no_setting_of_jax(settings_of_jax):
    assert settings_of_jax[0] == []


def test_compiled_code_is_cached_if_requested(settings_of_jax, cache_folder):
    assert settings_of_jax[1:] == [str(cache_folder / "consilience" / "jax"), MOST_BYTES]


@pytest.mark.slow
def test_compiled_code_stays_in_another_cache():
    before = jax.config.jax_compilation_cache_dir
    assert before  # of the tests
    keep_compiled()
    assert jax.config.jax_compilation_cache_dir == before
