"""What the models of judged pairs alone share, by their base `PairConsensus`."""

import numpy as np
import pytest

from consilience import Groupings, Pairs
from consilience.consensus import CorrelationClustering, Crowdclustering
from consilience.errors import InputError
from consilience.simulation import simulate_pairs


@pytest.mark.parametrize("model", [CorrelationClustering, Crowdclustering])
def test_annotations_with_no_pairs_or_too_many_are_refused(model, monkeypatch):
    pairs = simulate_pairs(np.arange(60) % 3, 5, 400, random_state=1)
    nothing = Pairs.from_frame(pairs.to_frame()[:0], items=range(3))
    for annotations in (nothing, [["a"]], Groupings.from_lists([[["a"]], [["b"]]])):
        with pytest.raises(InputError, match="needs judgements of pairs, and the annotations hold none"):
            model().fit(annotations)
    monkeypatch.setattr(model, "_most_pairs", 100)
    for annotations in (pairs, Groupings.from_lists([[list(range(30))]])):
        with pytest.raises(InputError, match=r"at most 100, and the annotations hold (2000|435)\."):
            model().fit(annotations)
