"""A source of randomness of any kind: the same for the same state, and one sentence for what is none."""

import copy
import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from consilience import Groupings, registry, simulation
from consilience.active import ActiveSession
from consilience.consensus import KCC, Crowdclustering
from consilience.errors import InputError
from consilience.inference.randomness import check_random_state
from consilience.persistence import load, save
from consilience.selection.comparison import compare
from tests.quick_cases import quick_in_turn
from tests.test_estimator_contract import COMPILED, fit, small_study

DRAW = [
    name
    for name, known in registry.ESTIMATORS.items()
    if name not in COMPILED and "random_state" in inspect.signature(known.load()).parameters
]


def test_generators_go_on_and_states_repeat():
    rng = np.random.default_rng(0)
    first, second = check_random_state(rng).randint(1000, size=5), check_random_state(rng).randint(1000, size=5)
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(check_random_state(np.random.default_rng(0)).randint(1000, size=5), first)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::consilience.errors.AnnotationWarning")
@pytest.mark.parametrize("name", quick_in_turn(DRAW, 0, every=2))
def test_estimators_take_a_generator(name):
    X, annotations, _ = small_study()
    one, two = (fit(name, X, annotations, random_state=np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(one.responsibilities_, two.responsibilities_)


@pytest.mark.parametrize("name", [name for name in DRAW if name != "ProductMixture"])  # it starts from the votes
def test_estimators_refuse_what_is_no_seed(name):
    X, annotations, _ = small_study()
    with pytest.raises(InputError, match=r"random_state.* must be .*int.*Generator.*Got 'soon'"):
        fit(name, X, annotations, random_state="soon")


@pytest.mark.parametrize("seed", ["soon", -1, 2**40, 1.5])
def test_what_is_no_seed(seed):
    with pytest.raises(InputError, match=r"^'random_state' must be None, an int from 0 to"):
        check_random_state(seed)


def test_a_generator_is_cloned_and_saved(tmp_path):
    groupings = Groupings.from_matrix(np.random.default_rng(0).integers(3, size=(20, 3)))
    model = KCC(3, random_state=np.random.default_rng(5))
    np.testing.assert_array_equal(clone(model).fit_predict(groupings), clone(model).fit_predict(groupings))
    before = copy.deepcopy(model.fit(groupings).random_state)
    save(model, tmp_path / "model.zip")
    again = load(tmp_path / "model.zip").random_state
    assert isinstance(again, np.random.Generator)
    assert again.random() == before.random()
    assert isinstance(Crowdclustering(random_state=before).random_state, np.random.Generator)


def test_sessions_comparisons_and_simulators_take_generators():
    names = list("abcdef")

    def asked(rng):
        return [subset.items for subset in ActiveSession(names, random_state=rng).ask(3, 3)]

    assert asked(np.random.default_rng(1)) == asked(np.random.default_rng(1))
    groupings = Groupings.from_matrix(np.random.default_rng(0).integers(2, size=(20, 3)))
    tables = [
        compare([KCC(2)], groupings, n_folds=2, memory=False, random_state=np.random.default_rng(2)).probabilities
        for _ in range(2)
    ]
    pd.testing.assert_frame_equal(*tables)
    for simulate in (simulation.simulate_labels, simulation.simulate_crowd, simulation.simulate_experts):
        one, two = (simulate([0, 1, 2] * 20, random_state=np.random.default_rng(4)) for _ in range(2))
        assert one == two
        with pytest.raises(InputError, match=r"^'random_state' must be None, an int of at least 0"):
            simulate([0, 1, 2] * 20, random_state=-1)
