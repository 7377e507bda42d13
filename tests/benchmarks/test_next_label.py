"""CROWDLAB and ActiveLab are as cleanlab has them, and replays ask for each label once."""

import numpy as np
import pytest

from benchmarks.crowdlab import combine
from benchmarks.next_label import Crowd, active_lab_scores, replay
from consilience import Labels
from tests.quick_cases import some_quick

MATRIX = [
    [0, 0, 1, None],
    [1, 1, None, 1],
    [2, 0, None, None],
    [None, 2, 2, 1],
    [0, None, None, 0],
    [1, 2, 1, 1],
    [None, None, 2, None],
    [0, 1, 2, 0],
]
PROBABILITIES = np.array(
    [
        [0.7, 0.2, 0.1],
        [0.2, 0.6, 0.2],
        [0.3, 0.3, 0.4],
        [0.1, 0.2, 0.7],
        [0.8, 0.1, 0.1],
        [0.25, 0.5, 0.25],
        [0.2, 0.3, 0.5],
        [0.4, 0.3, 0.3],
    ]
)


def test_scores_are_those_of_cleanlab():
    # get_active_learning_scores of cleanlab 2.9.0; its search of a temperature counts labels of the type float in order
    # of appearance, and was given np.bincount instead
    found = active_lab_scores(Labels.from_matrix(MATRIX), PROBABILITIES)
    theirs = [0.8501286531, 0.7731868986, 0.4964248544, 0.7934504272, 0.8847320452, 0.6616415894, 0.6361901485]
    assert found == pytest.approx([*theirs, 0.5172889402], abs=1e-9)


def test_consensus_and_quality_are_those_of_cleanlab():
    found = combine(Labels.from_matrix(MATRIX), PROBABILITIES)  # get_label_quality_multiannotator of cleanlab 2.9.0
    assert found.consensus.tolist() == [0, 1, 2, 2, 0, 1, 2, 0]
    once = combine(Labels.from_matrix(MATRIX), PROBABILITIES, n_rounds=1)
    assert once.shares.argmax(1).tolist() == found.consensus.tolist()
    theirs = [0.7036766065, 0.6281148341, 0.4457938163, 0.6381711302, 0.7835555013, 0.5503943202, 0.5000001364]
    assert found.shares[np.arange(8), found.consensus] == pytest.approx([*theirs, 0.4726737603], abs=1e-9)


def test_scores_of_one_label_an_item_are_those_of_cleanlab():
    one_each = Labels.from_matrix([[0, None], [1, None], [None, 2], [None, 0]])
    found = active_lab_scores(one_each, PROBABILITIES[:4])
    assert found == pytest.approx([0.5777777778, 0.5111111111, 0.3777777778, 0.1777777778], abs=1e-9)


@pytest.mark.filterwarnings("ignore:DawidSkene. no item has two labels")
@pytest.mark.parametrize("strategy", some_quick(["session", "ActiveLab with ours"]))
def test_a_replay_goes_through_all_labels(strategy):
    rng = np.random.default_rng(0)
    truth = np.arange(20) % 2
    labels = Labels.from_matrix(np.where(rng.random((20, 3)) < 0.2, 1 - truth[:, None], truth[:, None]))
    order = np.lexsort([rng.random(labels.n_rows), labels.item])
    found = replay(Crowd(labels, order, truth), strategy, 0)
    assert found.curve[0][0] == 1
    assert found.curve[-1][0] == 3  # labels an item, none of them twice: a session would refuse it
    assert found.curve[-1][1] < 0.5
