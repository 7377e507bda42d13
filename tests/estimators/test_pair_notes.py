"""Notes on one cluster, or each item alone, against what the judgements say."""

import numpy as np
import pytest

from consilience.consensus import Crowdclustering
from consilience.estimators.pair_notes import SUBSTANTIAL, notes_on_degenerate_clusters
from consilience.semisupervised import MECC
from consilience.simulation import simulate_pairs

ONE, ALONE, TWO = np.zeros(40, dtype=int), np.arange(40), np.arange(40) % 2


@pytest.mark.parametrize(
    ("labels", "n_same", "start"),
    [
        (ONE, 60, 'All 40 items are in one cluster, although 40% of the judgements say "different". Collect'),
        (ALONE, 60, 'Each of the 40 items is a cluster of its own, although 60% of the judgements say "same". Collect'),
        (np.append(ONE, -1), 60, "All 40 items"),
        (ONE, 100 * (1 - SUBSTANTIAL) + 1, None),
        (ALONE, 100 * SUBSTANTIAL - 1, None),
        (TWO, 60, None),
        (np.zeros(1, dtype=int), 60, None),
    ],
)
def test_degenerate_clusters_against_many_judgements(labels, n_same, start):
    notes = notes_on_degenerate_clusters(labels, n_same, 100)
    assert len(notes) == (start is not None)
    assert all(note.startswith(start) for note in notes)


def test_a_requested_number_is_no_surprise():
    assert notes_on_degenerate_clusters(ONE, 60, 100, n_clusters=1) == []
    assert notes_on_degenerate_clusters(ALONE, 60, 100, n_clusters=40) == []
    assert notes_on_degenerate_clusters(ONE, 60, 100, n_clusters=3)
    assert notes_on_degenerate_clusters(ONE, 0, 0) == []


def test_models_of_pairs_say_so():
    """Judgements by annotators who are hardly better than chance."""
    pairs = simulate_pairs(np.arange(40) % 4, 3, 60, 0.55, random_state=0)
    for model, args in ((MECC(n_init=5, random_state=0), (None, pairs)), (Crowdclustering(n_init=1), (pairs,))):
        model.fit(*args)
        assert model.n_clusters_ == 1
        (note,) = model.notes_
        assert note.startswith("All 40 items are in one cluster, although ")
