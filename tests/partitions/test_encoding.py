"""States of any dataclasses become arrays and JSON, and the same states again; nothing else of a file is made."""

import json
from dataclasses import replace

import numpy as np
import pytest

from consilience.consensus.labels.annotator_models import Hierarchical, OneCoin
from consilience.consensus.labels.dawid_skene import DawidSkeneState
from consilience.inference.product_distributions import Expectation
from consilience.partitions.engine.encoding import decode_state, encode_state

COUNTS = np.random.default_rng(0).random((4, 3, 3)) * 10


def encoded_and_decoded(state):
    arrays = []
    text = json.dumps(encode_state(state, arrays))
    return decode_state(json.loads(text), arrays)


@pytest.mark.parametrize(
    "model", [Hierarchical.of(COUNTS), OneCoin.of(COUNTS, None)], ids=lambda one: type(one).__name__
)
def test_a_state_is_the_same_again(model):
    expected = Expectation(-np.inf, COUNTS.sum((0, 1)), COUNTS.reshape(-1, 3))
    state = DawidSkeneState(model, np.log([0.2, 0.3, 0.5]), 0.1 + 0.2, expected)
    again = encoded_and_decoded(state)
    assert type(again.model) is type(model)
    assert again.log_prior == state.log_prior
    assert again.expected.log_likelihood == -np.inf
    for part, whole in ((again.model, model), (again.expected, expected)):
        for name, value in vars(whole).items():
            np.testing.assert_array_equal(getattr(part, name), value)
            assert type(getattr(part, name)) is type(value)


def test_numbers_texts_and_what_holds_them_are_the_same_again():
    state = {"a": (1, 2.5, None), "b": [True, "text", {"large": 2**100}], "c": ()}
    assert encoded_and_decoded(state) == state


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("subprocess:Popen", "is not of this package"),
        ("consilience.errors:InputError", "is no dataclass"),
        ("consilience.registry:entry", "is no dataclass"),
    ],
)
def test_only_dataclasses_of_the_package_are_made(name, error):
    with pytest.raises(ValueError, match=error):
        decode_state({"class": name, "fields": {}}, [])


def test_what_was_not_encoded_is_refused():
    with pytest.raises(ValueError, match="no state"):
        decode_state({"strange": 1}, [])


def test_replacing_an_array_changes_no_other_state():
    state = Expectation(0.0, np.zeros(2), np.zeros((4, 2)))
    arrays = []
    held = encode_state((state, replace(state, sizes=np.ones(2))), arrays)
    first, second = decode_state(held, arrays)
    assert (first.sizes.sum(), second.sizes.sum()) == (0, 2)
