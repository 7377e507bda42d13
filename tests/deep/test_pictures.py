"""Pictures as features, networks of convolutions, and networks of the user's."""

import warnings

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import consilience
from consilience.deep import SCDC, BayesSCDC, pictures
from consilience.deep.convolutions import ConvolutionalDecoder, ConvolutionalEncoder
from consilience.deep.networks import Perceptron, UserModule, apply, in_training, with_new_start
from consilience.errors import FeatureScaleWarning, InputError
from consilience.metrics import nmi

SMALL = {"n_latent": 2, "hidden": (16,), "n_epochs": 2, "warm_epochs": 2, "batch_size": 16, "random_state": 0}


def squares(n=40, seed=0, channels=()):
    """A bright square in one of two corners of pictures of nine by seven, with noise; of 8-bit integers."""
    rng = np.random.default_rng(seed)
    z = np.arange(n) % 2
    greys = rng.integers(0, 60, (n, 9, 7, *channels))
    greys[z == 0, :4, :3] += 180
    greys[z == 1, 5:, 4:] += 180
    return greys.astype(np.uint8), z


class Small(eqx.Module):
    """An encoder of pictures of nine by seven, with dropout."""

    layer: eqx.nn.Linear
    dropout: eqx.nn.Dropout

    def __init__(self, n_outputs=4, *, key=None):
        self.layer = eqx.nn.Linear(63, n_outputs, key=jax.random.key(0) if key is None else key)
        self.dropout = eqx.nn.Dropout(0.5)

    def __call__(self, picture, *, key=None):
        assert picture.shape == (9, 7)
        return self.layer(self.dropout(picture.ravel(), key=key))


# --- formats ---------------------------------------------------------------------------------------------------------


def test_a_table_stays_as_it_is():
    table = np.ones((3, 2), np.uint8)
    assert pictures.as_table(table, pictures.format_of(table)) is table
    assert pictures.as_table([[1.0]], pictures.format_of([[1.0]])) == [[1.0]]


@pytest.mark.parametrize("channels", [(), (3,)])
def test_greys_become_shares_of_white(channels):
    greys, _ = squares(channels=channels)
    known = pictures.format_of(greys)
    assert known == ((9, 7, *channels), 255)
    np.testing.assert_allclose(pictures.as_table(greys, known), greys.reshape(40, -1) / 255)
    np.testing.assert_array_equal(pictures.as_table(greys / 255.0, known), greys.reshape(40, -1) / 255)


def test_ones_and_zeros_are_not_divided():
    masks = (squares()[0] > 127).astype(np.uint8)
    assert set(np.unique(pictures.as_table(masks, pictures.format_of(masks)))) == {0, 1}


@pytest.mark.parametrize(
    ("shape", "message"), [((2, 3, 3, 3, 1), "n_items, height, width"), ((2, 0, 3), "n_items, height, width")]
)
def test_other_shapes_are_refused(shape, message):
    with pytest.raises(InputError, match=message):
        BayesSCDC(2, **SMALL).fit(np.zeros(shape))


def test_a_list_of_pictures_is_refused():
    greys, _ = squares()
    with pytest.raises(InputError, match=r"list of pictures. Pass one array of them, numpy.stack\(pictures\)"):
        BayesSCDC(2, **SMALL).fit(list(greys))


def test_new_pictures_must_have_the_shape_of_those_fitted():
    with pytest.raises(InputError, match=r"fitted on pictures of shape \(9, 7\). Got pictures of shape \(7, 9\)"):
        pictures.as_table(np.zeros((2, 7, 9)), pictures.Format((9, 7)))
    with pytest.raises(InputError, match="fitted on a table of features"):
        pictures.as_table(np.zeros((2, 7, 9)), pictures.Format())


def test_named_pictures_become_rows_with_names():
    greys, _ = squares(3)
    named = pd.Series(list(greys), index=["b", "a", "c"])
    known = pictures.format_of(named)
    assert known == pictures.format_of(greys)
    table = pictures.as_table(named, known)
    assert table.index.tolist() == ["b", "a", "c"]
    np.testing.assert_array_equal(table, pictures.as_table(greys, known))
    assert not pictures.is_pictures(pd.Series([1.0]))
    with pytest.raises(InputError, match=r"Picture 'c' has the shape \(3, 7\), but 'b' has \(9, 7\)"):
        pictures.format_of(pd.Series([greys[0], greys[1], greys[2, :3]], index=["b", "a", "c"]))


@pytest.mark.parametrize(
    ("values", "expected"), [(0, False), (1, False), (255, True), (254.5, False), (300, False), (-1, False)]
)
def test_greys_are_recognised(values, expected):
    table = np.zeros((2, 16))
    table[1, 3] = values
    assert pictures.looks_like_greys(table) == expected
    assert not pictures.looks_like_greys(table[:, :4])


# --- networks of convolutions ----------------------------------------------------------------------------------------


@pytest.mark.slow
@given(height=st.integers(1, 9), width=st.integers(1, 9), channels=st.integers(0, 3), n_each=st.integers(1, 2))
def test_convolutions_take_any_size(height, width, channels, n_each):
    shape = (height, width, channels) if channels else (height, width)
    size = int(np.prod(shape))
    encoder = ConvolutionalEncoder(shape, (5,), 4, key=jax.random.key(0))
    decoder = ConvolutionalDecoder(2, (5,), shape, n_each, key=jax.random.key(0))
    assert jax.eval_shape(encoder, jax.ShapeDtypeStruct((size,), float)).shape == (4,)
    assert jax.eval_shape(decoder, jax.ShapeDtypeStruct((2,), float)).shape == (n_each * size,)


def test_the_decoder_puts_pixels_where_the_encoder_reads_them():
    """A change of one channel of the last convolution changes the deviations alone, or one channel of a picture."""
    decoder = ConvolutionalDecoder(2, (), (5, 3, 2), 2, key=jax.random.key(0))
    latent = jnp.ones(2)
    before = decoder(latent).reshape(2, 5, 3, 2)
    for place, (number, channel) in enumerate(((0, 0), (0, 1), (1, 0), (1, 1))):
        changed = eqx.tree_at(
            lambda one, place=place: one.convolutions[-1].bias,
            decoder,
            replace_fn=lambda bias, place=place: bias + (jnp.arange(4) == place)[:, None, None],
        )
        difference = changed(latent).reshape(2, 5, 3, 2) - before
        expected = np.zeros((2, 5, 3, 2))
        expected[number, :, :, channel] = 1
        np.testing.assert_allclose(difference, expected, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("likelihood", ["bernoulli", "gaussian"])
def test_pictures_are_clustered_saved_and_drawn(likelihood, tmp_path):
    greys, z = squares(60, channels=(3,))
    settings = SMALL | {"n_epochs": 60, "warm_epochs": 20, "networks": "convolutional", "likelihood": likelihood}
    model = BayesSCDC(4, **settings).fit(greys)
    assert nmi(z, model.labels_) > 0.9
    assert model.image_shape_ == (9, 7, 3)
    np.testing.assert_array_equal(model.predict(greys), model.labels_)
    np.testing.assert_allclose(model.predict_proba(greys / 255.0), model.predict_proba(greys), atol=1e-5)
    for cluster in range(2):
        drawn, _ = model.sample(200, cluster=cluster, random_state=0)
        assert drawn.shape == (200, 9, 7, 3)
        away = [np.abs(drawn.mean(0) - greys[model.labels_ == one].mean(0) / 255).mean() for one in range(2)]
        assert np.argmin(away) == cluster
    consilience.save(model, tmp_path / "model.zip")
    copy = consilience.load(tmp_path / "model.zip")
    np.testing.assert_array_equal(copy.predict_proba(greys), model.predict_proba(greys))
    with pytest.raises(InputError, match="Got pictures of shape"):
        copy.predict(greys[:, :, :, 0])


def test_convolutions_need_pictures():
    with pytest.raises(InputError, match=r"needs pictures: an array of shape \(n_items, height, width\)"):
        BayesSCDC(2, **SMALL, networks="convolutional").fit(np.zeros((20, 63)))


@pytest.mark.slow
def test_greys_under_a_gaussian_are_noticed():
    greys = squares()[0].reshape(40, -1)
    with pytest.warns(FeatureScaleWarning, match="whole numbers from 0 to 255"):
        SCDC(2, **SMALL).fit(greys.astype(float))
    with pytest.raises(InputError, match="needs features from 0 to 1: divide by 255"):
        BayesSCDC(2, **SMALL, likelihood="bernoulli").fit(greys.astype(float))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SCDC(2, **SMALL).fit(squares()[0])


# --- networks of the user's ------------------------------------------------------------------------------------------


class TwoArrays(Small):
    def __call__(self, picture, *, key=None):
        return super().__call__(picture, key=key), picture


class Failing(Small):
    def __call__(self, picture, *, key=None):
        return self.layer(picture)


class Normalised(eqx.Module):
    mean: eqx.nn.StateIndex  # as BatchNorm has
    layer: eqx.nn.Linear

    def __init__(self):
        self.mean = eqx.nn.StateIndex(jnp.zeros(63))
        self.layer = eqx.nn.Linear(63, 4, key=jax.random.key(0))

    def __call__(self, value):
        return self.layer(value)


class Plain(eqx.Module):
    layer: eqx.nn.Linear

    def __call__(self, value):
        return self.layer(value)


class Empty(eqx.Module):
    def __call__(self, picture):
        return picture.ravel()[:4]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lambda picture: picture, "'encoder' must be an Equinox module with a __call__ method. Got function"),
        (lambda: Small(3), r"'encoder' returns an array of shape \(3,\), 3 numbers, .* Expected 4: 2 × n_latent"),
        (TwoArrays, r"'encoder' must return one array. For an input of shape \(9, 7\), it returns 2"),
        (Failing, r"'encoder' fails for an input of shape \(9, 7\): "),
        (Normalised, "'encoder' has a layer with a state, such as BatchNorm"),
        (Empty, "'encoder' has no weights to train"),
    ],
)
def test_a_module_that_does_not_fit_is_refused_before_training(make, message):
    with pytest.raises(InputError, match=message):
        BayesSCDC(2, **SMALL, encoder=make()).fit(squares()[0])


@pytest.mark.parametrize("estimator", [BayesSCDC, SCDC])
def test_a_decoder_that_does_not_fit_is_refused(estimator):
    decoder = eqx.nn.Linear(2, 63, key=jax.random.key(0))
    with pytest.raises(InputError, match=r"'decoder' returns an array of shape \(63,\).* Expected 126: 2 × n_features"):
        estimator(2, **SMALL, decoder=decoder).fit(squares()[0])


def test_dropout_differs_between_rows_and_keys_in_training_alone():
    network = UserModule(Small(), (9, 7))
    rows = jnp.ones((3, 63))
    once, again = (apply(in_training(network, jax.random.key(key)), rows) for key in (0, 1))
    assert not np.allclose(once, again)
    assert not np.allclose(once[0], once[1])
    outside = apply(network, rows)
    np.testing.assert_array_equal(outside[0], outside[1])
    np.testing.assert_allclose(outside[0], Small().layer(rows[0]), rtol=1e-5)


def test_a_module_without_a_key_is_called_without_one():
    network = UserModule(Plain(eqx.nn.Linear(63, 4, key=jax.random.key(0))))
    rows = jnp.ones((2, 63))
    np.testing.assert_array_equal(apply(in_training(network, jax.random.key(0)), rows), apply(network, rows))


def test_restarts_after_the_first_begin_with_weights_in_another_order():
    network = UserModule(Small(), (9, 7))
    first, second = (with_new_start(network, jax.random.key(3), jnp.int32(restart)) for restart in (0, 1))
    given, kept, moved = (one.arrays.layer.weight for one in (network, first, second))
    np.testing.assert_array_equal(kept, given)
    assert not np.allclose(moved, given)
    np.testing.assert_array_equal(np.sort(moved, axis=None), np.sort(given, axis=None))
    np.testing.assert_array_equal(second.arrays.layer.bias, network.arrays.layer.bias)


def test_other_networks_get_no_new_start():
    network = Perceptron([3, 2], key=jax.random.key(0))
    changed = with_new_start(network, jax.random.key(3), jnp.int32(1))
    np.testing.assert_array_equal(changed.layers[0].weight, network.layers[0].weight)


@pytest.mark.slow
def test_a_fit_with_dropout_predicts_without():
    greys, _ = squares()
    model = BayesSCDC(2, **SMALL, n_init=2, encoder=Small(), likelihood="bernoulli").fit(greys)
    assert len(set(model.restart_bounds_)) == 2
    np.testing.assert_array_equal(model.predict_proba(greys), model.predict_proba(greys))
    np.testing.assert_allclose(model.predict_proba(greys), model.responsibilities_, atol=1e-4)
