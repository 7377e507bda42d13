"""DISTATIS on subsets: weights of groupings by their agreement, and coordinates of items, from sparse matrices only.

H. Abdi, D. Valentin, S. Chollet & C. Chrea (2007), Analyzing assessors and products in sorting tasks: DISTATIS, theory
and applications, Food Quality and Preference 18(4), as used for groupings of subsets by K. Veeramachaneni & U.-M.
O'Reilly, Clustering using subset groupings, Algorithm 1.

    C_h[i, j]  1 if grouping h puts i and j together, C_h[i, i] = 1; an item that is not in h forms its own group
    S_h        ½ Ξ C_h Ξ, Ξ = I − 11ᵀ/n, divided by its first eigenvalue λ_h
    R_hl       tr(S_h S_l) / sqrt(tr(S_h²) tr(S_l²))
    w          first eigenvector of R, scaled to sum 1
    S          Σ_h w_h S_h;   F = V Λ^(1/2) of its leading eigenpairs

======== ===================== ============================
paper    name here             shape
======== ===================== ============================
C_h      ``memberships``       items × groups, all h stacked
2 λ_h    ``first_eigenvalues`` groupings
R        ``agreement``         operator on groupings
w        ``weights``           groupings
F        ``coordinates``       items × components
======== ===================== ============================

No items × items or groupings × groupings matrix is formed. With d_h(x) the size of x's group in h (1 if h
leaves x out) and e_h = d_h − 1,

    tr(C_h C_l)    = n + X_hl,   X_hl the ordered pairs that both h and l put together
    1ᵀ C_h C_l 1   = Σ_x d_h(x) d_l(x) = n + s_h + s_l + Σ_x e_h(x) e_l(x),   s_h = Σ_x e_h(x)
    tr(Ξ C_h Ξ C_l) = n − 1 + X_hl − (s_h + s_l)/n + s_h s_l/n² − (2/n) Σ_x e_h(x) e_l(x)

Decided here
------------
X is computed from the pairs that each grouping puts together, or from the groups that two groupings share, whichever
has fewer entries: the former where groups are small, the latter where items are in few groups. λ_h comes from the only
part of the spectrum that is not known in advance: C_h is a multiple of the identity on the differences within a group,
so that the rest has one dimension for each group, and centring subtracts a matrix of rank one from it. A grouping that
puts all items together carries no information: S_h = 0, its weight is 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator

from consilience.annotations.pairs import pairs_within
from consilience.inference.memberships import Memberships
from consilience.inference.spectral import leading_eigenpairs

BISECTIONS = 64  # halvings of an interval shorter than n: exact to the last bit
NEGLIGIBLE = 1e-9  # relative size below which a value is rounding

Weights = Float[np.ndarray, " groupings"]
Product = Callable[[np.ndarray], np.ndarray]


def first_eigenvalues(memberships: Memberships) -> Weights:
    """Largest eigenvalue of Ξ C_h Ξ for every grouping h, 2 λ_h above.

    It is that of diag(d) − v vᵀ/n with an entry d = v for each group and one for the items not in h (d = 1, v² their
    number); the largest root of 1 = Σ v²/(d − x)/n lies between the two largest d.

    Returns ndarray, shape (n_groupings,): 0 where a grouping puts all items together.
    """
    n_groupings = memberships.n_groupings
    alone = memberships.n_items - memberships.grouping_sizes
    one, two = np.flatnonzero(alone > 0), np.flatnonzero(alone > 1)  # all items not in h but one stay at d = 1
    grouping = np.concatenate([memberships.grouping_of_group, one, two])
    d = np.concatenate([memberships.group_sizes, np.ones(len(one) + len(two))])
    v_squared = np.concatenate([memberships.group_sizes.astype(float) ** 2, alone[one], np.zeros(len(two))])
    largest, second = _two_largest(d, grouping, n_groupings)
    low, high = second, largest
    with np.errstate(divide="ignore", invalid="ignore"):  # where the two largest are equal, which is handled below
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            beyond = np.bincount(grouping, v_squared / (d - middle[grouping]), n_groupings) > memberships.n_items
            low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    root = np.where(largest > second, high, largest)
    return np.where(root < NEGLIGIBLE * largest, 0.0, root)


def agreement(memberships: Memberships) -> LinearOperator:
    """R as an operator on vectors over groupings."""
    n_items, n_groupings = memberships.n_items, memberships.n_groupings
    size = memberships.group_sizes
    extra = size[memberships.group] - 1.0
    indices, indptr = memberships.in_grouping.indices, memberships.in_grouping.indptr
    more = csr_array((extra, indices, indptr), shape=memberships.in_grouping.shape)
    more_back = more.T.tocsr()
    total = np.bincount(indices, extra, n_groupings)
    shared, shared_norm = _pairs_both_put_together(memberships)
    square = np.bincount(indices, extra**2, n_groupings)
    norm = n_items - 1 + shared_norm - 2 * total / n_items + (total / n_items) ** 2 - 2 * square / n_items
    speaks = norm > NEGLIGIBLE * n_items
    scale = np.where(speaks, 1 / np.sqrt(np.where(speaks, norm, 1.0)), 0.0)

    def product(vector: np.ndarray) -> np.ndarray:
        a = scale * np.ravel(vector)
        all_of_it, weighted = a.sum(), total @ a
        result = (n_items - 1) * all_of_it + shared(a)
        result -= (total * all_of_it + weighted) / n_items - total * weighted / n_items**2
        return np.asarray(scale * (result - 2 / n_items * (more_back @ (more @ a))))

    return LinearOperator((n_groupings, n_groupings), matvec=product, dtype=np.float64)


def weights(memberships: Memberships) -> Weights:
    """First eigenvector of R, scaled to sum 1; all equal if R = 0, since then no grouping carries information."""
    value, vector = leading_eigenpairs(agreement(memberships), 1)
    w = np.abs(vector[:, 0])  # R ≥ 0 has a first eigenvector without sign changes
    return w / w.sum() if value[0] > NEGLIGIBLE else np.full(len(w), 1 / len(w))


def coordinates(
    memberships: Memberships, w: Weights, n_components: int, *, tol: float = 0.0
) -> tuple[Float[np.ndarray, "items components"], Float[np.ndarray, " components"]]:
    """F, and the eigenvalues of S.

    w : weights of the groupings.
    n_components : leading eigenpairs to take.
    tol : relative accuracy of the eigenvalues; 0 means machine precision.
    """
    first = first_eigenvalues(memberships)
    factor = np.divide(w, first, out=np.zeros_like(w), where=first > 0)
    of_group = factor[memberships.grouping_of_group]
    in_group, back = memberships.in_group, memberships.in_group.T.tocsr()
    left_out = factor.sum() - memberships.in_grouping @ factor

    def product(vectors: np.ndarray) -> np.ndarray:
        columns = vectors.reshape(len(vectors), -1)
        centred = columns - columns.mean(0)
        fused = in_group @ (of_group[:, None] * (back @ centred)) + left_out[:, None] * centred
        return np.asarray(fused - fused.mean(0)).reshape(vectors.shape)

    size = memberships.n_items
    operator = LinearOperator((size, size), matvec=product, matmat=product, dtype=np.float64)
    values, vectors = leading_eigenpairs(operator, n_components, tol=tol)
    return vectors * np.sqrt(np.maximum(values, 0.0)), values


def _two_largest(
    size: Float[np.ndarray, " groups"], grouping: Int[np.ndarray, " groups"], n_groupings: int
) -> tuple[Weights, Weights]:
    """Largest and second largest size in each grouping, 0 if there is none."""
    order = np.lexsort((-size, grouping))
    start = np.searchsorted(grouping[order], np.arange(n_groupings + 1))
    counts = np.diff(start)
    # beyond the end, for groupings without groups, or with one
    falling = np.append(size[order], [0.0, 0.0])
    return np.where(counts > 0, falling[start[:-1]], 0.0), np.where(counts > 1, falling[start[:-1] + 1], 0.0)


def _pairs_both_put_together(memberships: Memberships) -> tuple[Product, Weights]:
    """Return the product of X with a vector, and the diagonal of X."""
    size = memberships.group_sizes.astype(float)
    norm = np.bincount(memberships.grouping_of_group, size * (size - 1), memberships.n_groupings)
    # both ways count the same: list the fewer of pairs within groups and pairs of memberships of an item
    few_pairs = (size**2).sum() <= (memberships.times_seen.astype(float) ** 2).sum()
    return (_by_pairs if few_pairs else _by_shared_groups)(memberships), norm


def _by_pairs(memberships: Memberships) -> Product:
    order = np.argsort(memberships.group, kind="stable")
    first, second = pairs_within(memberships.group_sizes)
    item, grouping = memberships.item[order], memberships.grouping[order]
    names, pair = np.unique(item[first] * memberships.n_items + item[second], return_inverse=True)
    put = csr_array((np.ones(len(pair)), (grouping[first], pair)), shape=(memberships.n_groupings, len(names)))
    back = put.T.tocsr()
    return lambda a: 2 * (put @ (back @ a))


def _by_shared_groups(memberships: Memberships) -> Product:
    shared = csr_array(memberships.in_group.T.tocsr() @ memberships.in_group)
    shared.data *= shared.data - 1
    shared.eliminate_zeros()
    of_group = memberships.grouping_of_group
    return lambda a: np.bincount(of_group, shared @ a[of_group], len(a))
