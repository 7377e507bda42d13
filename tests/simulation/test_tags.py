import numpy as np
import pandas as pd
import pytest

from consilience.annotations.tags import TagSets
from consilience.errors import InputError
from consilience.simulation import simulate_tags


def test_exact_annotators_give_the_tags_that_there_are():
    truth = pd.DataFrame([[True, True], [False, True], [False, False]], columns=["red", "big"], index=list("abc"))
    labels = simulate_tags(truth, n_annotators=2, sensitivity=1.0, specificity=1.0)
    assert labels.items.tolist() == list("abc")
    assert labels.to_frame().groupby("item")["label"].agg(set).tolist() == [{"red", "big"}, {"big"}, {"(no tag)"}]


def test_rates_are_those_that_were_given():
    truth = np.random.default_rng(0).random((4000, 2)) < 0.5
    labels = simulate_tags(
        truth, n_annotators=2, sensitivity=[[0.9, 0.6], [0.7, 0.8]], specificity=[0.95, 0.7], random_state=0
    )
    sets = TagSets.of(labels)
    gave = np.zeros((4000, 2, 2))
    gave[sets.item, sets.annotator, sets.tag] = 1
    for tag, rates in enumerate([[0.9, 0.7], [0.6, 0.8]]):
        np.testing.assert_allclose(gave[truth[:, tag], :, tag].mean(0), rates, atol=0.05)  # five standard errors
        np.testing.assert_allclose(1 - gave[~truth[:, tag], :, tag].mean(0), [0.95, 0.7], atol=0.05)


def test_likeness_draws_the_rates_of_an_annotator_together():
    truth = np.repeat([[True] * 30], 400, axis=0)

    def spread(likeness):
        sets = TagSets.of(simulate_tags(truth, n_annotators=20, likeness=likeness, random_state=0))
        counts = np.bincount(sets.annotator * 30 + sets.tag, minlength=600).reshape(20, 30)
        return (counts / 400).std(1).mean()

    assert spread(3.0) > 4 * spread(1e4)


def test_wrong_parameters_are_refused():
    with pytest.raises(InputError, match="cells True or False"):
        simulate_tags([[0.5, 1.0]])
    with pytest.raises(InputError, match="The 'sensitivity' parameter of simulate_tags must be a number from 0 to 1"):
        simulate_tags([[1, 0]], sensitivity=1.5)
    with pytest.raises(InputError, match="one for each of the 3 annotators"):
        simulate_tags([[1, 0]], n_annotators=3, specificity=[0.5, 0.5])
    with pytest.raises(InputError, match="The 'likeness' parameter of simulate_tags must be a positive number"):
        simulate_tags([[1, 0]], likeness=0)
