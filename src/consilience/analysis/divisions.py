"""Whether people divide a cluster: a test of each cluster as a whole, beside those of its pairs (`separation`).

If nobody can tell the items of a cluster apart, they may change places in each person's sort. x_ij is the share of the
groupings with items i and j that put them together; the best division of the cluster in two has the largest

    t = (mean x_ij within the parts - mean x_ij between them) sqrt(W B / (W + B))

W and B being the numbers of such pairs: t² is the variance of x_ij that the division explains. It is looked for among
those that cut the order of the items along the first eigenvector of the centred x_ij, and compared with the best t of
draws in which the items of the cluster change places in each person's sort, looked for in the same way. The p-values of
all clusters are corrected together, by Holm's method.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from consilience.analysis.axes import change_places
from consilience.analysis.rv import SortTable
from consilience.annotations import Groupings
from consilience.inference.multiple_tests import correct_by_holm
from consilience.inference.threads import one_blas_thread

FEWEST_ITEMS = 4  # of a cluster
N_DRAWS = 499
MOST_CELLS = 300_000  # groupings × items² of a cluster, for draws of at most a second


@dataclass(frozen=True)
class Division:
    """The best division of a cluster in two.

    cluster : its number.
    part : places of the items of the smaller part.
    within, between : mean shares of the groupings that put two items of one part together, and two of both.
    p_value : share of the draws with as good a division, corrected for the number of clusters.
    """

    cluster: int
    part: Int[np.ndarray, " part"]
    within: float
    between: float
    p_value: float


def divide_clusters(groupings: Groupings, codes: Int[np.ndarray, " items"], *, seed: int = 0) -> list[Division]:
    """Divide each cluster of at least four items in two, and test the division; larger clusters than fit are left out.

    codes : cluster of each item, -1 for none.
    """
    sorts, rng = SortTable.of(groupings), np.random.default_rng(seed)
    found = []
    for cluster in np.unique(codes[codes >= 0]).tolist():
        items = np.flatnonzero(codes == cluster)
        if len(items) >= FEWEST_ITEMS and sorts.group.shape[0] * len(items) ** 2 <= MOST_CELLS:
            found.append(_divide(cluster, items, sorts, rng))
    corrected = correct_by_holm(np.array([each.p_value for each in found]))
    return [
        Division(each.cluster, each.part, each.within, each.between, float(p))
        for each, p in zip(found, corrected, strict=True)
    ]


def _divide(cluster: int, items: Int[np.ndarray, " cluster"], sorts: SortTable, rng: np.random.Generator) -> Division:
    group, m = sorts.group[:, items], len(items)
    held = group >= 0
    drawn = [group]
    for _ in range(N_DRAWS):
        key = rng.random((sorts.n_annotators, m))[sorts.annotator]  # the same for all groupings of a person
        drawn.append(change_places(group, key))
    of = held.T.astype(float) @ held
    shares = np.array([_count_together(one, held) for one in drawn]) / np.maximum(of, 1)
    with one_blas_thread():
        t, part, within, between = _best_divisions(shares)
    p_value = (t >= t[0] - 1e-9).mean()
    small = part[0] if 2 * part[0].sum() <= m else ~part[0]
    return Division(cluster, items[small], float(within[0]), float(between[0]), float(p_value))


def _count_together(
    group: Int[np.ndarray, "sorts items"], held: Bool[np.ndarray, "sorts items"]
) -> Float[np.ndarray, "items items"]:
    return ((group[:, :, None] == group[:, None]) & held[:, :, None]).sum(0).astype(float)


def _best_divisions(
    shares: Float[np.ndarray, "draws items items"],
) -> tuple[np.ndarray, Bool[np.ndarray, "draws items"], np.ndarray, np.ndarray]:
    """Return t of the best division of each draw, the items of one of its parts, and both mean shares."""
    n, m = shares.shape[:2]
    beside = ~np.eye(m, dtype=bool)
    x = np.where(beside, shares, 0.0)
    total = x.sum((1, 2)) / 2
    centred = np.where(beside, x - 2 * total[:, None, None] / (m * (m - 1)), 0.0)
    order = np.argsort(np.linalg.eigh(centred)[1][:, :, -1], axis=1, kind="stable")
    x = np.take_along_axis(np.take_along_axis(x, order[:, :, None], 1), order[:, None], 2)
    sizes = np.arange(1, m)
    first = np.cumsum(np.cumsum(x, 1), 2)[:, sizes - 1, sizes - 1] / 2  # pairs within the first items
    last = np.cumsum(np.cumsum(x[:, ::-1, ::-1], 1), 2)[:, m - sizes - 1, m - sizes - 1] / 2
    n_between = sizes * (m - sizes)
    n_within = m * (m - 1) // 2 - n_between
    within = (first + last) / n_within
    between = (total[:, None] - first - last) / n_between
    t = (within - between) * np.sqrt(n_within * n_between / (n_within + n_between))
    best, rows = t.argmax(1), np.arange(n)
    part = np.zeros((n, m), dtype=bool)
    np.put_along_axis(part, order, np.arange(m) <= best[:, None], 1)
    return t[rows, best], part, within[rows, best], between[rows, best]
