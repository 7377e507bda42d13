"""Where single people put each item, against a count by hand over everybody's groups."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from consilience import Groupings
from consilience.analysis.item_places import count_places

CODES = np.array([0, 0, 0, 1, 1, 2])
sorts = st.lists(st.lists(st.sampled_from([None, "a", "b", "c"]), min_size=6, max_size=6), min_size=1, max_size=6)


def place(row, item):
    """Say where somebody put an item: with its cluster, alone, or with which other."""
    group = [other for other in range(6) if other != item and row[other] == row[item]]
    wanted = [other for other in range(6) if other != item and row[other] is not None and CODES[other] == CODES[item]]
    own = [other for other in group if CODES[other] == CODES[item]]
    if not group:
        return "alone"
    if own and 2 * len(own) >= len(wanted):
        return "own"
    counts = np.bincount([CODES[other] for other in group if other not in own], minlength=3)
    return "part" if own and len(own) >= counts.max() else "elsewhere"


@given(sorts)
def test_places_are_those_by_hand(rows):
    found = count_places(Groupings.from_matrix(list(map(list, zip(*rows, strict=True)))), CODES, 3)
    for item in range(6):
        places = [place(row, item) for row in rows if row[item] is not None]
        counts = [
            sum(row[item] is not None and row[item] == row[other] for row in rows) * (CODES[item] != CODES[other])
            for other in range(6)
        ]
        figures = found.iloc[item]
        assert figures["n_sorted"] == len(places)
        names = {"n_with_cluster": "own", "n_with_part": "part", "n_alone": "alone"}
        assert figures[[*names]].tolist() == [places.count(name) for name in names.values()]
        assert figures["n_with_next"] == max(counts)
        assert figures["next"] == (int(np.argmax(counts)) if max(counts) else None)
