"""Where single people put each item, against a count by hand over everybody's groups."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from consilience import Groupings
from consilience.analysis.item_places import count_apart, count_places

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
    parts = counts / np.bincount(CODES)
    return "part" if own and len(own) >= counts.max() else int(np.lexsort((-np.arange(3), parts, counts))[-1])


def others(row, item):
    """Return the other clusters with which somebody put an item: with half of them, or else with most of one."""
    group = [CODES[other] for other in range(6) if other != item and row[other] == row[item]]
    found = {place(row, item)} - {"alone", "own", "part"}
    for cluster in {0, 1, 2} - {CODES[item]}:
        wanted = sum(row[other] is not None for other in np.flatnonzero(cluster == CODES))
        if group.count(cluster) and 2 * group.count(cluster) >= wanted:
            found.add(cluster)
    return found


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
        instead, both = np.zeros((2, 3), dtype=int)
        for row in filter(lambda row: row[item] is not None, rows):
            counted = both if place(row, item) in ("own", "part") else instead
            counted[sorted(others(row, item))] += 1
        most = max(range(3), key=lambda cluster: (instead[cluster], both[cluster], -cluster))
        assert figures["n_in_other"] == instead[most] + both[most]
        assert figures["n_in_both"] == both[most]
        own = [row for row in rows if row[item] is not None and place(row, item) in ("own", "part")]
        assert figures["n_joined"] == sum(bool(others(row, item)) for row in own)
        assert figures["other"] == (most if (instead + both).any() else -1)


@given(sorts)
def test_those_who_keep_a_part_apart_are_those_by_hand(rows):
    part, rest = [0, 1], [2, 3, 4, 5]

    def holds(row, items):
        names = [row[item] for item in items if row[item] is not None]
        return next((name for name in set(names) if 2 * names.count(name) > len(names)), None)

    apart = [(holds(row, part), holds(row, rest)) for row in rows]
    known = [pair for pair in apart if None not in pair]
    expected = (sum(one != other for one, other in known), sum(one == other for one, other in known))
    found = count_apart(Groupings.from_matrix(list(map(list, zip(*rows, strict=True)))), np.array(part), np.array(rest))
    assert found == expected
