"""Items with a known class are weighed to be like all items."""

import numpy as np

from benchmarks import few_labels
from benchmarks.people.label_crowds import Crowd
from consilience import Labels


def test_weighed_items_have_the_most_frequent_labels_of_all(monkeypatch):
    """Eight items, of which a, tied in one, has 5.5: of the known ones it has one of three."""
    said = [["a", "a"]] * 5 + [["a", "b"]] + [["b", "b"]] * 2
    crowd = Crowd(Labels.from_matrix(said), np.array([0, -1, -1, -1, -1, -1, 1, 0]))
    monkeypatch.setattr(few_labels, "recorded", lambda name: crowd)
    np.testing.assert_allclose(few_labels.weights_of("adult"), [5.5, 1.25, 1.25])
