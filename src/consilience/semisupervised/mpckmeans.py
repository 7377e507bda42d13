"""k-means with must-links, cannot-links and a learned metric.

Bilenko, Basu & Mooney (2004), Integrating Constraints and Metric Learning in Semi-Supervised Clustering, ICML.

Model
-----
Find clusters l, centroids μ and metrics A that minimise

    J = Σ_i (‖x_i - μ_{l_i}‖²_{A_{l_i}} - ln det A_{l_i})
        + Σ_{must, l_i ≠ l_j} w_ij f_M + Σ_{cannot, l_i = l_j} w_ij f_C
    f_M = ½ ‖x_i - x_j‖²_{A_{l_i}} + ½ ‖x_i - x_j‖²_{A_{l_j}},    f_C = s_{l_i}² - ‖x_i - x_j‖²_{A_{l_i}}

with ‖v‖²_A = vᵀ A v, and s_k the largest distance of two items in A_k. Distant items cost most if they are put apart
against a must-link, close ones if they are put together against a cannot-link.

Symbols
-------
    paper   here                shape
    X       features            (items, features)
    l       labels              (items,)
    μ       centres             (clusters, features)
    A       metric              (metrics, features) or (metrics, features, features); a root R with A = R Rᵀ
    w       constraints.weight  (pairs,)
    s²      separation          (clusters,)

Updates, a sweep
----------------
    1. l_i = argmin of J, one item after another, twice (iterated conditional modes).
    2. μ_k = mean of the items of cluster k.
    3. A = n (Σ (x - μ)(x - μ)ᵀ + Σ_violated must w v vᵀ + Σ_violated cannot w (u uᵀ - v vᵀ))⁻¹ with v = x_i - x_j and
       u the difference of the two items that are farthest apart; with metrics per cluster, each gets half of v vᵀ.

Decided here
------------
- Items that share no constraint are moved at once: those without any, then colour by colour of the graph of
  constraints. The result is the same as for one item after another.
- The search for the farthest two items starts from the item farthest from the mean: the farthest from it, the farthest
  from that, until the distance stops growing; s is at least the distance of any constrained pair.
- s depends on A, so 3. alone could raise J. The new A is accepted if J does not rise, else a step of ½, ¼ or ⅛ towards
  it, else the old A is kept.
- J has the additional term τ (tr(A S) - ln det A), S the variances of the features: τ imagined items (1, or with full
  metrics the number of features plus 1) pull A towards the scale of the features. Without them J would be unbounded
  below for a cluster of few items.
- w. The paper leaves it to the user (`weight` as a number: the weight of a judgement). For "auto" J is read as -2 ln p:
  a violated constraint costs, on average, twice the log-odds of the judgements, given the sensitivity and the
  specificity of each annotator. These follow from the clusters (of nearest centroids, so that a constraint does not
  confirm itself). They are estimated again after the fit, and the fit continues from there, twice.
- The pairs of a grouping follow from each other: with weights "auto", those of m items count as m - 1 judgements.
- Where judgements are contradictory, chains of must-links run through all clusters. Neighbourhoods are used as a start
  if at least half of the must-links are in neighbourhoods, which no cannot-link contradicts. The other starts are
  k-means along the directions in which pairs kept apart differ more than pairs put together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.linalg import eigh
from scipy.sparse import csr_array
from sklearn.cluster import KMeans, kmeans_plusplus

from consilience.inference.iterate import Trace, iterate
from consilience.semisupervised.constraints import Constraints, colour_classes, neighbourhoods

PASSES = 2  # over the items in a sweep
STEPS = (1.0, 0.5, 0.25, 0.125)  # shares of the step to the new metric
FLAT = 1e-6  # smallest eigenvalue of a covariance, relative to its largest
START_ROUNDS = 20  # of k-means
TRUSTED = 0.5  # share of must-links in neighbourhoods from which these are used as a start


@dataclass(frozen=True)
class Metric:
    """A root of each A, or its diagonal; one for all clusters, or one for each."""

    root: Float[np.ndarray, "metrics features *columns"]
    log_det: Float[np.ndarray, " metrics"]

    def of(self, rows: Float[np.ndarray, "rows features"], k: int) -> Float[np.ndarray, "rows features"]:
        """Rows in coordinates in which the metric of cluster k is Euclidean."""
        root = self.root[min(k, len(self.root) - 1)]  # one metric may be that of all clusters
        result: np.ndarray = rows * root if root.ndim == 1 else rows @ root
        return result


@dataclass(frozen=True)
class Colour:
    """Items of one colour, and their constraints: neighbours, indices of the constraints, and sums over both."""

    items: Int[np.ndarray, " items"]
    neighbour: Int[np.ndarray, " links"]
    pair: Int[np.ndarray, " links"]
    gather: csr_array


@dataclass(frozen=True)
class MPCKMeansProblem:
    """Features, constraints and their graph; spread: S, (features,); difference: x_i - x_j of each pair."""

    features: Float[np.ndarray, "items features"]
    spread: Float[np.ndarray, " features"]
    constraints: Constraints
    difference: Float[np.ndarray, "pairs features"]
    free: Int[np.ndarray, " free"]
    colours: tuple[Colour, ...]
    n_clusters: int
    metric: str | None
    per_cluster: bool

    @classmethod
    def of(
        cls, features: np.ndarray, constraints: Constraints, n_clusters: int, metric: str | None, per_cluster: bool
    ) -> MPCKMeansProblem:
        variance = features.var(0)
        colour = colour_classes(constraints, np.random.RandomState(0))  # fixed: equal data give an equal problem
        return cls(
            features=features,
            spread=np.where(variance > 0, variance, variance.mean() or 1.0),
            constraints=constraints,
            difference=features[constraints.item_a] - features[constraints.item_b],
            free=np.flatnonzero(colour < 0),
            colours=_colours(constraints, colour),
            n_clusters=n_clusters,
            metric=metric,
            per_cluster=per_cluster,
        )

    @property
    def imagined(self) -> float:
        """τ."""
        return {"diagonal": 1.0, "full": self.features.shape[1] + 1.0}.get(self.metric or "", 0.0)

    def first_metric(self) -> Metric:
        """Metric in which all features have variance 1; or the Euclidean distance."""
        spread = np.ones_like(self.spread) if self.metric is None else self.spread
        root = 1 / np.sqrt(spread)
        n = self.n_clusters if self.per_cluster and self.metric else 1
        root = np.diag(root) if self.metric == "full" else root
        return Metric(np.repeat(root[None], n, axis=0), np.full(n, -np.log(spread).sum()))


@dataclass(frozen=True)
class Costs:
    """Terms of J: ‖x_i - μ_k‖²_k - ln det A_k; ‖x_i - x_j‖²_k; s_k²."""

    item: Float[np.ndarray, "items clusters"]
    pair: Float[np.ndarray, "pairs clusters"]
    separation: Float[np.ndarray, " clusters"]


@dataclass(frozen=True)
class MPCKMeansState:
    """Clusters, centroids, metrics; J, without the constants of weights."""

    labels: Int[np.ndarray, " items"]
    centres: Float[np.ndarray, "clusters features"]
    metric: Metric
    objective: float


def init(labels: Int[np.ndarray, " items"], problem: MPCKMeansProblem) -> MPCKMeansState:
    """First state: means and metric of the given clusters."""
    metric = problem.first_metric()
    # places of clusters that start empty
    centres = update_centres(labels, problem.features[: problem.n_clusters], problem)
    state = MPCKMeansState(labels, centres, metric, objective(labels, costs(centres, metric, problem), metric, problem))
    return update_metric(state, problem)


def step(state: MPCKMeansState, problem: MPCKMeansProblem) -> MPCKMeansState:
    at = costs(state.centres, state.metric, problem)
    labels = state.labels
    for _ in range(PASSES):
        labels = assign(labels, at, problem)
    centres = update_centres(labels, state.centres, problem)
    at = replace(at, item=nearest(problem.features, centres, state.metric))
    value = objective(labels, at, state.metric, problem)
    return update_metric(MPCKMeansState(labels, centres, state.metric, value), problem)


def assign(labels: Int[np.ndarray, " items"], at: Costs, problem: MPCKMeansProblem) -> Int[np.ndarray, " items"]:
    """1.: assign each item to the cluster of lowest cost, given those of all others."""
    labels = labels.copy()
    labels[problem.free] = at.item[problem.free].argmin(1)
    must, weight = problem.constraints.must, problem.constraints.weight
    for colour in problem.colours:
        pair, there = colour.pair, labels[colour.neighbour]
        link, distance, row = must[pair], at.pair[pair], np.arange(len(pair))
        here = distance[row, there]
        cost = np.where(link[:, None], (distance + here[:, None]) / 2, 0.0)
        cost[row, there] = np.where(link, 0.0, at.separation[there] - here)
        labels[colour.items] = (at.item[colour.items] + colour.gather @ (weight[pair, None] * cost)).argmin(1)
    return labels


def update_centres(
    labels: Int[np.ndarray, " items"], before: Float[np.ndarray, "clusters features"], problem: MPCKMeansProblem
) -> Float[np.ndarray, "clusters features"]:
    """2.; the centroid of an empty cluster is kept."""
    n, size = len(labels), np.bincount(labels, minlength=problem.n_clusters)
    of = csr_array((np.ones(n), (labels, np.arange(n))), shape=(problem.n_clusters, n))
    return np.where(size[:, None] > 0, of @ problem.features / np.maximum(size, 1)[:, None], before)


def update_metric(state: MPCKMeansState, problem: MPCKMeansProblem) -> MPCKMeansState:
    """3., the largest of STEPS at which J does not rise."""
    if problem.metric is None:
        return state
    wanted = _covariances(state, problem)
    now = [_inverse(root) for root in state.metric.root]
    for share in STEPS:
        mixed = [share * new + (1 - share) * old for new, old in zip(wanted, now)] if share < 1 else wanted
        metric = _metric(mixed)
        value = objective(state.labels, costs(state.centres, metric, problem), metric, problem)
        if value <= state.objective:
            return replace(state, metric=metric, objective=value)
    return state


def objective(labels: Int[np.ndarray, " items"], at: Costs, metric: Metric, problem: MPCKMeansProblem) -> float:
    """J."""
    violated, cost = violations(labels, at, problem)
    total = at.item[np.arange(len(labels)), labels].sum() + (problem.constraints.weight * cost)[violated].sum()
    if problem.metric is not None:
        spread = problem.spread[:, None] if metric.root.ndim == 3 else problem.spread
        total += problem.imagined * ((metric.root**2 * spread).sum() - metric.log_det.sum())
    return float(total)


def violations(
    labels: Int[np.ndarray, " items"], at: Costs, problem: MPCKMeansProblem
) -> tuple[Bool[np.ndarray, " pairs"], Float[np.ndarray, " pairs"]]:
    """Which constraints are violated; f_M or f_C of every constraint, as if it were."""
    constraints = problem.constraints
    a, b, row = labels[constraints.item_a], labels[constraints.item_b], np.arange(constraints.n_pairs)
    together = (at.pair[row, a] + at.pair[row, b]) / 2
    return (a != b) == constraints.must, np.where(constraints.must, together, at.separation[a] - at.pair[row, a])


def costs(centres: Float[np.ndarray, "clusters features"], metric: Metric, problem: MPCKMeansProblem) -> Costs:
    n_pairs, n_metrics = len(problem.difference), len(metric.root)
    pair, separation = np.empty((n_pairs, n_metrics)), np.empty(n_metrics)
    for k in range(n_metrics):
        pair[:, k] = (metric.of(problem.difference, k) ** 2).sum(1)
        if n_pairs:
            separation[k] = max(_farthest(metric.of(problem.features, k))[2], pair[:, k].max())
    return Costs(
        item=nearest(problem.features, centres, metric),
        pair=np.broadcast_to(pair, (n_pairs, problem.n_clusters)),
        separation=np.broadcast_to(separation, problem.n_clusters),
    )


def nearest(
    rows: Float[np.ndarray, "rows features"], centres: Float[np.ndarray, "clusters features"], metric: Metric
) -> Float[np.ndarray, "rows clusters"]:
    """‖x_i - μ_k‖²_k - ln det A_k."""
    found = np.empty((len(rows), len(centres)))
    for k in range(len(centres)):
        away = metric.of(rows - centres[k], k)
        found[:, k] = np.einsum("nd,nd->n", away, away) - metric.log_det[min(k, len(metric.log_det) - 1)]
    return found


def _farthest(rows: Float[np.ndarray, "rows features"]) -> tuple[int, int, float]:
    """Two rows far from each other, and their squared distance."""
    one = int(((rows - rows.mean(0)) ** 2).sum(1).argmax())
    best = (one, one, 0.0)
    while True:
        distance = ((rows - rows[one]) ** 2).sum(1)
        other = int(distance.argmax())
        if distance[other] <= best[2]:
            return best
        best = (one, other, float(distance[other]))
        one = other


def _covariances(state: MPCKMeansState, problem: MPCKMeansProblem) -> list[np.ndarray]:
    """A⁻¹ of 3. for each metric; a vector where A is diagonal."""
    at = costs(state.centres, state.metric, problem)
    violated, _ = violations(state.labels, at, problem)
    constraints, labels = problem.constraints, state.labels
    weight, must = np.where(violated, constraints.weight, 0.0), constraints.must
    away = problem.features - state.centres[labels]
    found = []
    for k in range(len(state.metric.root)):
        if problem.per_cluster:
            mine = labels == k
            ends = ((labels[constraints.item_a] == k) * 0.5 + (labels[constraints.item_b] == k) * 0.5) * weight
        else:
            mine, ends = slice(None), weight
        one, other, _ = _farthest(state.metric.of(problem.features, k))
        far = (problem.features[one] - problem.features[other])[None]
        rows = [(away[mine], None), (problem.difference, np.where(must, ends, -ends)), (far, ends[~must].sum()[None])]
        n = len(away[mine]) + problem.imagined
        if problem.metric == "diagonal":
            total = sum((r**2).sum(0) if w is None else w @ r**2 for r, w in rows)
            found.append((total + problem.imagined * problem.spread) / n)
        else:
            total = sum(r.T @ r if w is None else (r.T * w) @ r for r, w in rows)
            found.append((total + problem.imagined * np.diag(problem.spread)) / n)
    return found


def _metric(covariances: list[np.ndarray]) -> Metric:
    """Roots of the inverses; eigenvalues below `FLAT` times the largest are raised to it."""
    roots, log_dets = [], []
    for covariance in covariances:
        if covariance.ndim == 1:
            values, vectors = covariance, None
        else:
            values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
        floor = FLAT * values.max() if vectors is not None else FLAT * np.abs(values)
        # cannot-links subtract, so that values can be negative
        values = np.maximum(values, np.maximum(floor, np.finfo(float).tiny))
        roots.append(1 / np.sqrt(values) if vectors is None else vectors / np.sqrt(values))
        log_dets.append(-np.log(values).sum())
    return Metric(np.stack(roots), np.array(log_dets))


def _inverse(root: np.ndarray) -> np.ndarray:
    """A⁻¹ of a root."""
    if root.ndim == 1:
        return 1 / root**2
    inverse = np.linalg.inv(root)
    result: np.ndarray = inverse.T @ inverse
    return result


def _colours(constraints: Constraints, colour: Int[np.ndarray, " items"]) -> tuple[Colour, ...]:
    item = np.concatenate([constraints.item_a, constraints.item_b])
    neighbour = np.concatenate([constraints.item_b, constraints.item_a])
    pair = np.tile(np.arange(constraints.n_pairs), 2)
    order = np.lexsort((item, colour[item]))
    item, neighbour, pair = item[order], neighbour[order], pair[order]
    edges = np.searchsorted(colour[item], np.arange(colour.max(initial=-1) + 2))
    found = []
    for start, stop in pairwise(edges.tolist()):
        items, length = np.unique(item[start:stop], return_counts=True)
        n = int(stop - start)
        gather = csr_array((np.ones(n), np.arange(n), np.r_[0, length.cumsum()]), shape=(len(items), n))
        found.append(Colour(items, neighbour[start:stop], pair[start:stop], gather))
    return tuple(found)


def run(first: MPCKMeansState, problem: MPCKMeansProblem, *, max_iter: int, tol: float) -> Trace[MPCKMeansState]:
    """Sweep until J decreases by less than `tol` times its size."""
    return iterate(first, lambda s: step(s, problem), lambda s: -s.objective, max_iter=max_iter, tol=tol)


def assign_nearest(
    centres: Float[np.ndarray, "clusters features"], problem: MPCKMeansProblem
) -> Int[np.ndarray, " items"]:
    """Nearest centre of each item, before there is a metric."""
    return nearest(problem.features, centres, problem.first_metric()).argmin(1)


def start_from_pairs(problem: MPCKMeansProblem, seed: int) -> Int[np.ndarray, " items"]:
    """k-means along the directions in which pairs kept apart differ more than pairs put together.

    The leading eigenvectors of the mean of v vᵀ over cannot-links minus that over must-links, relative to the
    covariance of the features; one fewer than clusters, each scaled by its eigenvalue. Unless there are both kinds of
    constraints, the features themselves.
    """
    rows = problem.first_metric().of(problem.features, 0)
    must, weight = problem.constraints.must, problem.constraints.weight
    if must.any() and not must.all():
        difference = problem.first_metric().of(problem.difference, 0)
        signed = np.where(must, -weight / weight[must].sum(), weight / weight[~must].sum())
        # eigh needs a positive definite covariance
        covariance = np.atleast_2d(np.cov(rows.T)) + FLAT * np.eye(rows.shape[1])
        values, vectors = eigh((difference.T * signed) @ difference, covariance)
        leading = slice(-max(problem.n_clusters - 1, 1), None)
        if values[-1] > 0:
            rows = rows @ (vectors[:, leading] * np.sqrt(np.maximum(values[leading], 0)))
    n_clusters = min(problem.n_clusters, len(np.unique(rows, axis=0)))
    centres, _ = kmeans_plusplus(rows, n_clusters, random_state=np.random.RandomState(seed))
    kmeans = KMeans(n_clusters, init=centres, n_init=1, max_iter=START_ROUNDS)
    return kmeans.fit_predict(rows).astype(np.intp)


def start_from_neighbourhoods(problem: MPCKMeansProblem, seed: int) -> Int[np.ndarray, " items"] | None:
    """Assign items to the nearest centroid of a neighbourhood: the largest, then those far from the chosen, by size.

    If there are fewer neighbourhoods than clusters, k-means++ chooses items as further centroids. None if less than
    half of the must-links are in neighbourhoods.
    """
    neighbourhood = neighbourhoods(problem.constraints)
    n = int(neighbourhood.max(initial=-1)) + 1
    members = neighbourhood >= 0
    must = problem.constraints.must
    if not n or members[problem.constraints.item_a[must]].mean() < TRUSTED:
        return None
    rng = np.random.RandomState(seed)
    sizes = np.bincount(neighbourhood[members], minlength=n)
    of = csr_array((np.ones(members.sum()), (neighbourhood[members], np.flatnonzero(members))), (n, len(members)))
    candidates = of @ problem.features / sizes[:, None]
    chosen = candidates[:1]
    for _ in range(1, problem.n_clusters):
        if len(chosen) < n:
            far = _to_nearest(candidates, chosen, problem) * sizes
            new = candidates[far.argmax()]
        else:
            far = _to_nearest(problem.features, chosen, problem)
            # if every item is at a centre, any will do
            new = problem.features[rng.choice(len(far), p=far / far.sum() if far.sum() > 0 else None)]
        chosen = np.concatenate([chosen, new[None]])
    return assign_nearest(chosen, problem)


def _to_nearest(rows: np.ndarray, chosen: np.ndarray, problem: MPCKMeansProblem) -> Float[np.ndarray, " rows"]:
    metric = problem.first_metric()
    one = Metric(metric.root[:1], np.zeros(1))  # distances alone, without ln det A
    return nearest(rows, chosen, one).min(1)


def price_constraints(problem: MPCKMeansProblem, state: MPCKMeansState) -> MPCKMeansProblem:
    """Scale constraints so that a violation costs twice its weight on average, for must-links and cannot-links each.

    The unit is the mean squared distance of items from their centroids along a feature, which a learned metric makes
    about 1.
    """
    constraints = problem.constraints
    at = costs(state.centres, state.metric, problem)
    _, cost = violations(state.labels, at, problem)
    log_det = np.broadcast_to(state.metric.log_det, problem.n_clusters)[state.labels]
    away = at.item[np.arange(len(state.labels)), state.labels] + log_det
    unit = away.mean() / problem.features.shape[1]
    price = np.zeros(constraints.n_pairs)
    for kind in (constraints.must, ~constraints.must):
        mean = cost[kind].mean() if kind.any() else 0.0
        price[kind] = 2 * unit / mean if mean > 0 else 0.0
    return replace(problem, constraints=replace(constraints, weight=constraints.weight * price))


def without_constraints(problem: MPCKMeansProblem) -> MPCKMeansProblem:
    """Set the cost of all constraints to 0."""
    constraints = problem.constraints
    return replace(problem, constraints=replace(constraints, weight=np.zeros(constraints.n_pairs)))
