"""Samples of items: evenly spaced, of about the size asked for, and everything where that is little."""

import numpy as np

from consilience import Labels
from consilience.consensus.labels import samples
from consilience.consensus.labels.samples import sampled_items


def test_items_with_about_so_many_labels(monkeypatch):
    rng = np.random.default_rng(0)
    said = np.where(rng.random((400, 4)) < 0.6, rng.integers(2, size=(400, 4)), -1)
    labels = Labels.from_matrix(said, missing=-1, classes=[0, 1])
    wanted = np.diff(labels.indptr) > 1
    np.testing.assert_array_equal(sampled_items(labels, wanted), np.flatnonzero(wanted))
    monkeypatch.setattr(samples, "MOST_LABELS", 200)
    items = sampled_items(labels, wanted)
    assert wanted[items].all()
    assert 170 < np.diff(labels.indptr)[items].sum() < 230
    assert (np.diff(items) > 0).all()
    assert np.diff(items).max() < 20  # from the whole range
