"""Groupings of subsets for tests: drawn by hypothesis, written out as the dense definitions, drawn from the mixture."""

import numpy as np
from hypothesis import strategies as st

from consilience import Groupings
from consilience.inference.memberships import Memberships


@st.composite
def arguments(draw, *, min_items=1, max_items=8, max_groupings=6):
    """What `made` makes groupings of: subsets that overlap, repeat, are singletons, complete or empty, by one to three
    annotators; groups without items. Some item is in some group.
    """
    n_items = draw(st.integers(min_items, max_items))
    some = st.lists(st.integers(-1, 2), min_size=n_items, max_size=n_items)
    whole = st.lists(st.integers(0, 2), min_size=n_items, max_size=n_items)
    one = st.integers(0, n_items - 1).map(lambda i: [0 if j == i else -1 for j in range(n_items)])
    alike = st.sampled_from([[0] * n_items, list(range(n_items)), [-1] * n_items])
    rows = st.lists(st.one_of(some, some, whole, one, alike), min_size=1, max_size=max_groupings - 1)
    rows = draw(rows.filter(lambda drawn: any(max(row) >= 0 for row in drawn)))
    if draw(st.booleans()):
        rows.append(draw(st.sampled_from(rows)))
    keep_empty = draw(st.booleans())
    lists = [[[i for i in range(n_items) if row[i] == g] for g in range(max(row) + 1)] for row in rows]
    if not keep_empty:
        lists = [[group for group in grouping if group] for grouping in lists]
    by = draw(st.lists(st.sampled_from("xyz"), min_size=len(lists), max_size=len(lists)))
    return lists, by, n_items


def made(drawn):
    """Groupings of what was drawn: not within the strategy, where beartype may throw no dice."""
    lists, by, n_items = drawn
    return Groupings.from_lists(lists, annotators=by, items=range(n_items))


def lists_of(given):
    """Places of the items of each group of each grouping."""
    found = [[] for _ in range(given.n_groupings)]
    members = given.incidence.toarray()
    for group, grouping in enumerate(given.grouping_of_group):
        found[grouping].append(np.flatnonzero(members[:, group]).tolist())
    return found


def dense(given):
    """C_h and P_h of the definitions, (groupings, items, items), with C_h[i, i] = 1; P_h only where h holds both."""
    n_items = len(given)
    together, presented = (np.zeros((given.n_groupings, n_items, n_items)) for _ in range(2))
    together[:] = np.eye(n_items)
    for h, grouping in enumerate(lists_of(given)):
        held = [i for group in grouping for i in group]
        presented[h][np.ix_(held, held)] = 1
        for group in grouping:
            together[h][np.ix_(group, group)] = 1
    return together, presented


def seen(given):
    """Memberships of the items that some grouping holds."""
    memberships = Memberships.of(given)
    return memberships.of_items(np.flatnonzero(memberships.times_seen))


def drawn_from_mixture(cluster, concentration, *, n_each, size, n_labels=4, seed=0):
    """Groupings of random subsets by annotators "a0", "a1", … of given concentrations, `n_each` by each."""
    rng = np.random.default_rng(seed)
    lists, by = [], []
    for number, c in enumerate(concentration):
        for _ in range(n_each):
            subset = rng.choice(len(cluster), size, replace=False)
            phi = rng.dirichlet(np.full(n_labels, c / n_labels), int(max(cluster)) + 1)
            group = np.array([rng.choice(n_labels, p=phi[cluster[item]]) for item in subset])
            lists.append([subset[group == g].tolist() for g in np.unique(group)])
            by.append(f"a{number}")
    return Groupings.from_lists(lists, annotators=by, items=range(len(cluster)))


def pairs_in_piles(n_people=30, seed=0):
    """Sixteen items in eight pairs that nobody separates; people make four piles of two pairs, mostly the same."""
    rng = np.random.default_rng(seed)
    said = []
    for _ in range(n_people):
        pile = np.arange(8) // 2
        if rng.random() < 0.6:  # two pairs change places
            a, b = rng.choice(8, 2, replace=False)
            pile[[a, b]] = pile[[b, a]]
        said.append(pile[np.arange(16) // 2])
    return Groupings.from_matrix(np.column_stack(said).astype(str))
