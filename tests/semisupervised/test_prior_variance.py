import numpy as np
import pytest
from scipy.sparse import csr_array

from consilience.semisupervised import prior_variance
from consilience.semisupervised.prior_variance import N_FOLDS, search, split

VARIANCES = np.array([0.1, 1.0, 10.0, 100.0])
SIGNS = np.array([1, -1, 1, -1, 0, 0])


@pytest.fixture
def folds():
    return split(csr_array(np.ones((6, 3))), np.random.RandomState(0))


def by_item(candidate, fold):
    """Held-out labels under the candidates: the first two are far behind, the last by less than its standard error."""
    far = -2.0 + 0.3 * SIGNS
    return [far, far, np.full(6, -1.0), -1.01 + 0.3 * SIGNS][candidate] * (fold + 1)


def searched(folds):
    asked = []

    def evaluate(candidate, fold):
        asked.append((candidate, fold))
        return by_item(candidate, fold)

    return search(VARIANCES, folds, evaluate, n_jobs=1), asked


def test_a_candidate_far_behind_and_not_next_to_the_best_is_not_tried_on_further_folds(folds):
    _, asked = searched(folds)
    assert asked == [(candidate, 0) for candidate in range(4)] + [(c, fold) for fold in (1, 2) for c in (1, 2, 3)]


def test_the_difference_of_a_candidate_given_up_stands_for_all_folds(folds):
    found, _ = searched(folds)
    whole = np.array([sum(by_item(candidate, fold) for fold in range(N_FOLDS)) for candidate in (1, 2, 3)]) / 18
    np.testing.assert_allclose(found.by_item[1:], whole)
    # one nat for each item in the first fold, which has a third of the labels
    np.testing.assert_allclose(found.by_item[0], whole[1] + 3 * (0.3 * SIGNS - 1) / 18)


def test_the_choice_is_that_of_the_whole_search(folds, monkeypatch):
    some = searched(folds)[0]
    monkeypatch.setattr(prior_variance, "FAR_BEHIND", 1e9)
    whole, asked = searched(folds)
    assert len(asked) == N_FOLDS * len(VARIANCES)
    assert some.variance == whole.variance == 10.0
