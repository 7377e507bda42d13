"""Whether the annotations agree more than by chance: a permutation test that needs no model.

A model that is fitted to random annotations finds clusters that explain them, so how well a model explains its data
does not distinguish noise from a finding. This test uses the annotations alone. Under the null hypothesis, what an
annotator says does not depend on the items it is about; so the items of each annotator are permuted at random, while
everything else (sizes of groups, shares of labels, who saw what) is kept, and the agreement is measured again.

| annotations | measure, high if annotators agree |
|---|---|
| groupings | two items that two annotators put together: Σ_gh n_gh² |
| labels | the same; and pairs of one label on an item: Σ_il n_il² |
| pairs | two annotators on one pair: Σ_ij Σ_u≠v x_iju x_ijv; triangles Σ x_ij x_jk x_ki and squares of pairs |
| groupings, labels and features | groups hold items with similar features: Σ_g ‖Σ_i∈g z_i‖² / n_g |
| pairs and features | −Σ x_ij ‖z_i − z_j‖² |

n_gh: items in both groups; n_il: number of labels l of item i; x_iju: 1 for "same" and 0 for "different", less the
annotator's mean; x_ij: their sum over annotators; z_i: the first principal components of the standardised features.

Decided here
------------
An annotator's items are permuted, with all annotations that the annotator gave them, among the items that are in the
same groupings of that annotator: agreement of annotators with themselves, as in a hierarchy of sorts, does not count.

Judgements of all pairs of some items (as a grouping implies) are consistent even if its groups are random, so the items
are permuted within them. Other judgements are permuted among the annotator's pairs.

A measure that no permutation changes (no two annotators share an item) is left out. The p-value is the smallest of the
measures', times their number (Bonferroni). If the annotations lie so far above the first 49 permutations that
Cantelli's bound on the p-value, 1 / (1 + z²), is below the level, no more of them are drawn, and the bound is taken.

Above three million products of memberships, or 100,000 memberships, a random sample of the groupings is used (at least
about four); above 100,000 labels a random sample of the items; above as many judgements of pairs a random sample of
these: enough to detect agreement.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.sparse import csr_array

from consilience.annotations import Annotations, Groupings, Labels, Pairs
from consilience.annotations.alignment import rows_of_items

LEVEL = 0.01  # share of studies of random annotations in which they seem to agree
N_PERMUTATIONS = 499
FIRST = 49  # permutations after which the outcome may already be clear
MOST_PRODUCTS = 3_000_000
MOST_JUDGEMENTS = 100_000
SMALL = 20_000  # cells of items and groups, up to which a product of dense tables takes a fraction of the time
MOST_COMPONENTS = 10  # of the features

# measures of the annotations, permuted if a generator is given
Measure = Callable[[np.random.Generator | None], dict[str, float]]


@dataclass(frozen=True)
class ChanceTest:
    """Outcome of the test.

    p_value : probability of at least this much agreement if annotations do not depend on the items.
    p_values : the p-value of each measure, not corrected for their number.
    """

    p_value: float
    p_values: dict[str, float]
    n_permutations: int

    @property
    def at_chance(self) -> bool:
        """Whether the annotations are consistent with random ones."""
        return self.p_value > LEVEL


def chance_test(annotations: Annotations, features: Any = None) -> ChanceTest | None:
    """Test whether annotators agree with each other, or with the features, more than by chance.

    features : DataFrame or array, shape (n_items, n_features), optional; indexed by item, or in the order of the items.

    Returns ChanceTest, or None if no measure applies: no two annotators share an item, and there are no features.
    """
    rng = np.random.default_rng(0)
    components = None
    if features is not None:
        components = _components(rows_of_items(features, annotations.items, "The table of features").to_numpy(float))
    measure = measure_of(annotations, components, rng)
    observed = measure(None)
    drawn = pd.DataFrame([measure(rng) for _ in range(FIRST)])
    # what is the same in random annotations, as with one group for all, tests nothing
    varying = [name for name in observed if drawn[name].max() - drawn[name].min() > 1e-9 * abs(drawn[name]).max()]
    if not varying:
        return None
    drawn, seen = drawn[varying], pd.Series(observed)[varying]
    z = (seen - drawn.mean()) / drawn.std()
    bound = _outcome(1 / (1 + z.clip(lower=0) ** 2), FIRST)  # Cantelli's inequality, which holds for every distribution
    if not bound.at_chance:
        return bound
    drawn = pd.concat([drawn, pd.DataFrame([measure(rng) for _ in range(N_PERMUTATIONS - FIRST)])[varying]])
    return _outcome((1 + (drawn >= seen - 1e-9 * abs(seen)).sum()) / (1 + len(drawn)), len(drawn))


def _outcome(p_values: pd.Series, n_permutations: int) -> ChanceTest:
    corrected = min(1.0, float(p_values.min()) * len(p_values))
    return ChanceTest(corrected, {str(name): float(p) for name, p in p_values.items()}, n_permutations)


def measure_of(annotations: Annotations, z: Float[np.ndarray, "items components"] | None, rng: Any) -> Measure:
    """Return the measures of the table above; `rng` draws a sample of annotations that are too many."""
    if isinstance(annotations, Pairs):
        return _of_pairs(annotations, z, rng)
    if isinstance(annotations, Labels):
        by_name, by_group = _of_names(annotations, rng), _of_groups(annotations.to_groupings(), z, rng)
        return lambda rng: by_name(rng) | by_group(rng)
    return _of_groups(annotations, z, rng)  # type: ignore[arg-type]


def _components(X: Float[np.ndarray, "items features"]) -> Float[np.ndarray, "items components"]:
    """Return the first principal components of the standardised features."""
    from sklearn.decomposition import PCA

    spread = X.std(0)
    Z = (X - X.mean(0))[:, spread > 0] / spread[spread > 0]
    if not Z.size:
        return np.zeros((len(X), 1))
    return PCA(min(MOST_COMPONENTS, *Z.shape), svd_solver="auto", random_state=0).fit_transform(Z)


def permute_within_strata(stratum: Int[np.ndarray, " cells"], rng: np.random.Generator) -> Int[np.ndarray, " cells"]:
    """Return a random permutation of cells within their strata, as the place of the cell that each becomes."""
    there = np.argsort(stratum, kind="stable")
    order = np.empty(len(stratum), np.intp)
    # strata are whole numbers, so that cells stay in theirs
    order[there] = np.argsort(stratum + rng.random(len(stratum)))
    return order


def _of_groups(groupings: Groupings, z: np.ndarray | None, rng: np.random.Generator) -> Measure:
    item, group = _few(groupings, rng)
    n_groups, annotator = groupings.n_groups, groupings.annotator_of_group
    cell_of_row, cell = _number_keys(annotator[group] * np.int64(groupings.n_items) + item)
    mark = np.random.default_rng(0).random(groupings.n_groupings)  # sums of random numbers identify sets of groupings
    occasions = np.bincount(cell_of_row, weights=mark[groupings.grouping_of_group[group]])
    # sums that are equal but for rounding are one stratum
    stratum, _ = _number_keys(np.rint(occasions * 2**40).astype(np.int64))
    stratum, _ = _number_keys((cell // groupings.n_items) * np.int64(stratum.max(initial=0) + 1) + stratum)
    item_of_cell = cell % groupings.n_items
    size = np.bincount(group, minlength=n_groups)
    scale = 1 / np.sqrt(np.maximum(size, 1))
    by_groups = (np.bincount(item) ** 2).sum() <= (size.astype(float) ** 2).sum()
    shape, is_small = (groupings.n_items, n_groups), groupings.n_items * n_groups <= SMALL

    def measure(rng: np.random.Generator | None) -> dict[str, float]:
        now = item_of_cell if rng is None else item_of_cell[permute_within_strata(stratum, rng)]
        if is_small:
            member: Any = np.zeros(shape)
            member[now[cell_of_row], group] = 1
        else:
            member = csr_array((np.ones(len(group)), (now[cell_of_row], group)), shape=shape)
        product = member.T @ member if by_groups else member @ member.T
        found = {"groups": float(((product if is_small else product.data) ** 2).sum())}
        if z is not None:
            found["features"] = float((((member.T @ z) * scale[:, None]) ** 2).sum())
        return found

    return measure


def _few(groupings: Groupings, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return item and group of each membership, of a random sample of the groupings if there are very many."""
    item, group = groupings.item_of_row, groupings.incidence.indices
    products = max((np.bincount(item).astype(float) ** 2).sum(), 1)
    share = min(np.sqrt(MOST_PRODUCTS / products), MOST_JUDGEMENTS / max(len(item), 1))
    if share >= 1:
        return item, group
    share = max(share, 4 / groupings.n_groupings)
    rows = (rng.random(groupings.n_groupings) < share)[groupings.grouping_of_group[group]]
    return item[rows], group[rows]


def _of_names(labels: Labels, rng: np.random.Generator) -> Measure:
    rows = (rng.random(labels.n_items) * labels.n_rows < MOST_JUDGEMENTS)[labels.item]
    item_of_row, annotator, label = labels.item[rows], labels.annotator[rows], labels.label[rows]

    def measure(rng: np.random.Generator | None) -> dict[str, float]:
        item = item_of_row if rng is None else item_of_row[permute_within_strata(annotator, rng)]
        count = np.bincount(item * np.int64(labels.n_classes) + label).astype(float)
        return {"names": float((count**2).sum())}

    return measure


def _of_pairs(pairs: Pairs, z: np.ndarray | None, rng: np.random.Generator) -> Measure:
    rows = np.arange(pairs.n_rows)
    if len(rows) > MOST_JUDGEMENTS:
        rows = np.sort(rng.choice(rows, MOST_JUDGEMENTS, replace=False))
    a, b, annotator = pairs.item_a[rows], pairs.item_b[rows], pairs.annotator[rows]
    same = pairs.same[rows].astype(float)
    share = np.bincount(annotator, weights=same) / np.maximum(np.bincount(annotator), 1)
    x = same - share[annotator]
    grouping, _ = _number_keys(pairs.annotator.astype(np.int64) * len(pairs.groupings) + pairs.grouping)
    whole = _complete(grouping[rows], a, b)
    cliques = _Cliques(grouping[rows][whole], a[whole], b[whole], pairs.n_items)
    stratum = np.where(whole, rows + pairs.n_annotators, annotator)  # judgements of cliques are not permuted

    def measure(rng: np.random.Generator | None) -> dict[str, float]:
        now, there = x, (a, b)
        if rng is not None:
            now = x[permute_within_strata(stratum, rng)]
            there = (a.copy(), b.copy())
            there[0][whole], there[1][whole] = cliques.shuffled(rng)
        return _pair_measures(now, *there, annotator, pairs.n_items, z)

    return measure


def _complete(grouping: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Whether each judgement belongs to a grouping of at least three items in which all pairs were judged."""
    n_pairs = np.bincount(grouping)
    seen = np.unique(np.stack([np.concatenate([grouping, grouping]), np.concatenate([a, b])]), axis=1)[0]
    n_items = np.bincount(seen, minlength=len(n_pairs))
    return ((n_pairs == n_items * (n_items - 1) / 2) & (n_items > 2))[grouping]


class _Cliques:
    """All pairs of the items of some groupings, whose items can be permuted within each grouping."""

    def __init__(self, grouping: np.ndarray, a: np.ndarray, b: np.ndarray, n_items: int) -> None:
        self.cell_of_end, cell = _number_keys(np.tile(grouping, 2) * np.int64(n_items) + np.concatenate([a, b]))
        self.grouping, self.item = cell // n_items, cell % n_items

    def shuffled(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return both ends of each pair after a permutation."""
        first, second = np.split(self.item[permute_within_strata(self.grouping, rng)][self.cell_of_end], 2)
        return first, second


def _pair_measures(
    x: np.ndarray, a: np.ndarray, b: np.ndarray, annotator: np.ndarray, n_items: int, z: np.ndarray | None
) -> dict[str, float]:
    pair_of_row, pair = _number_keys(np.minimum(a, b) * np.int64(n_items) + np.maximum(a, b))
    total = np.bincount(pair_of_row, weights=x)
    own = np.bincount(_number_keys(pair_of_row * np.int64(annotator.max(initial=0) + 1) + annotator)[0], weights=x)
    ends = (np.concatenate([pair // n_items, pair % n_items]), np.concatenate([pair % n_items, pair // n_items]))
    X = csr_array((np.concatenate([total, total]), ends), shape=(n_items, n_items))
    paths = X @ X
    squares = (paths.data**2).sum() - (paths.diagonal() ** 2).sum()
    degenerate = X.multiply(X) @ X.multiply(X)
    found = {
        "same pairs": float((total**2).sum() - (own**2).sum()),
        "triangles": float(paths.multiply(X).sum()),
        "squares": float(squares - degenerate.sum() + degenerate.diagonal().sum()),
    }
    if z is not None:
        found["features"] = float(-(x * ((z[a] - z[b]) ** 2).sum(1)).sum())
    return found


def _number_keys(keys: Int[np.ndarray, " rows"]) -> tuple[np.ndarray, np.ndarray]:
    """Return the place of each key among the distinct ones, and these in order."""
    distinct, place = np.unique(keys, return_inverse=True)
    return place, distinct
