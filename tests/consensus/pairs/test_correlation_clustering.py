"""Partitions of judged pairs: gains by their definition, the best of all partitions, no step that lowers F."""

import numpy as np
import pytest
from scipy.special import betaln, gammaln

from consilience.consensus.pairs import correlation_clustering as core
from consilience.consensus.pairs import correlation_search as search
from consilience.consensus.pairs.correlation_clustering import CorrelationClusteringProblem, CorrelationClusteringState


def random_problem(seed, *, n_items=12, n_annotators=2, n_judgements=30, unjudged=None, n_clusters=None):
    """Judgements of random pairs by annotators who are right three times in four; every item is judged."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(3, size=n_items)
    chain = np.column_stack([np.arange(n_items - 1), np.arange(1, n_items)])
    more = np.sort(rng.integers(n_items, size=(n_judgements, 2)), axis=1)
    first, second = np.concatenate([chain, more[more[:, 0] < more[:, 1]]]).T
    annotator = rng.integers(n_annotators, size=len(first))
    same = (classes[first] == classes[second]) ^ (rng.random(len(first)) < 0.25)
    problem = CorrelationClusteringProblem.of(
        first,
        second,
        annotator,
        same,
        shape=(n_items, n_annotators),
        reliability=(4.0, 1.0),
        n_clusters=n_clusters,
        rng=rng,
    )
    if unjudged is not None:
        object.__setattr__(problem, "unjudged", unjudged)
    return problem


def any_rates(problem, seed=0):
    return np.random.default_rng(seed).uniform(1.0, 9.0, size=(2, problem.n_annotators, 2))


def by_definition(problem, cluster, log_odds):
    """F under fixed rates, but for a constant, pair by pair."""
    value = problem.prior_of[len(set(cluster.tolist()))]
    judged = {(i, j): w for i, j, w in zip(problem.first.tolist(), problem.second.tolist(), log_odds.tolist())}
    for i in range(problem.n_items):
        for j in range(i + 1, problem.n_items):
            if cluster[i] == cluster[j]:
                value += judged.get((i, j), problem.unjudged)
    return value


def partitions(n_items):
    """All partitions, as codes in which each new cluster has the next number."""
    codes = [[0]]
    for _ in range(n_items - 1):
        codes = [[*code, k] for code in codes for k in range(max(code) + 2)]
    return np.array(codes)


def best_run(problem):
    starts = search.starts(problem, 3, np.random.default_rng(0))
    traces = [search.run(problem, start, max_iter=100, tol=1e-9) for start in starts]
    return max(traces, key=lambda trace: trace.lower_bound)


@pytest.mark.parametrize("unjudged", [0.0, -0.7])
@pytest.mark.parametrize("seed", range(3))
def test_gains_are_differences_of_the_objective(seed, unjudged):
    problem = random_problem(seed, unjudged=unjudged)
    log_odds = core.log_odds_of_pairs(problem, any_rates(problem, seed))
    cluster = np.unique(np.random.default_rng(seed).integers(5, size=12), return_inverse=True)[1]
    before, n_clusters = by_definition(problem, cluster, log_odds), cluster.max() + 1
    assert core.value_of_clusters(cluster, log_odds, problem) == pytest.approx(before)

    low, high, gain = search.merge_gains(cluster, log_odds, problem)
    assert len(gain) > 0
    for one, other, of_merge in zip(low, high, gain):
        after = by_definition(problem, np.where(cluster == other, one, cluster), log_odds)
        prior = problem.prior_of[n_clusters - 1] - problem.prior_of[n_clusters]
        assert of_merge + prior == pytest.approx(after - before)

    weights, everything = problem.matrix(log_odds - problem.unjudged), np.arange(12)
    target, gain = search.move_gains(cluster, weights, everything, problem)
    for item, (to, of_move) in enumerate(zip(target, gain)):
        near = {int(cluster[j]) for i, j in zip(problem.first, problem.second) if i == item}
        near |= {int(cluster[i]) for i, j in zip(problem.first, problem.second) if j == item}
        possible = (near - {int(cluster[item])}) | ({-1} if (cluster == cluster[item]).sum() > 1 else set())
        changes = {}
        for place in possible:
            moved = cluster.copy()
            moved[item] = n_clusters if place < 0 else place
            changes[place] = by_definition(problem, moved, log_odds) - before
        assert of_move == pytest.approx(max(changes.values()))
        assert changes[int(to)] == pytest.approx(of_move)


@pytest.mark.parametrize("change", [search.merge, search.move, search.split])
@pytest.mark.parametrize("seed", range(10))
def test_no_change_of_the_partition_lowers_the_objective(change, seed):
    problem = random_problem(seed, unjudged=-0.3 * (seed % 2))
    log_odds = core.log_odds_of_pairs(problem, any_rates(problem, seed))
    cluster = np.unique(np.random.default_rng(seed).integers(4, size=12), return_inverse=True)[1]
    changed = change(cluster, log_odds, problem)
    assert by_definition(problem, changed, log_odds) >= by_definition(problem, cluster, log_odds) - 1e-9
    assert set(changed) == set(range(changed.max() + 1))


def test_objective_is_the_log_evidence_of_the_judgements_given_the_clusters():
    """Against the Beta-binomial probabilities of right judgements, annotator by annotator."""
    problem = random_problem(1, unjudged=-0.2)
    cluster = np.arange(12) % 3
    expected = problem.prior_of[3]
    for annotator in range(2):
        for within in (True, False):
            right, wrong = 4.0, 1.0
            for pair, by, same in zip(problem.pair, problem.annotator, problem.same):
                if by == annotator and (cluster[problem.first[pair]] == cluster[problem.second[pair]]) == within:
                    right, wrong = (right + 1, wrong) if same == within else (right, wrong + 1)
            expected += betaln(right, wrong) - betaln(4.0, 1.0)
    n_within = sum(cluster[i] == cluster[j] for i in range(12) for j in range(i))
    n_judged = (cluster[problem.first] == cluster[problem.second]).sum()
    expected += -0.2 * (n_within - n_judged)
    state = CorrelationClusteringState(cluster, core.rates(problem, core._within(problem, cluster)))
    assert core.objective(state, problem) == pytest.approx(expected)


@pytest.mark.parametrize("seeds", [range(20), pytest.param(range(20, 2000), marks=pytest.mark.slow)])
def test_the_answer_is_the_best_of_all_partitions(seeds):
    """877 partitions of 7 items, each with its own optimal rates; a quarter of the judgements are wrong."""
    codes = partitions(7)
    assert len(codes) == 877
    np.testing.assert_array_equal(np.concatenate(list(search.all_partitions(7, 100))), codes)
    for seed in seeds:
        problem = random_problem(seed, n_items=7, n_judgements=40, unjudged=-0.3 if seed % 2 else None)
        values = search.ObjectiveOfPartitions.of(problem)(codes)
        assert best_run(problem).lower_bound == pytest.approx(values.max())
        if seed < 3:
            states = (
                CorrelationClusteringState(code, core.rates(problem, core._within(problem, code))) for code in codes
            )
            np.testing.assert_allclose(values, [core.objective(state, problem) for state in states])


@pytest.mark.parametrize(
    ("n_items", "bell"), [(1, 1), (2, 2), (9, 21_147), pytest.param(12, 4_213_597, marks=pytest.mark.slow)]
)
def test_every_partition_is_listed_once(n_items, bell):
    """As many as Bell's number, all different, and each new cluster has the next number."""
    seen = np.zeros(0, dtype=np.int64)
    for codes in search.all_partitions(n_items, 100_000):
        highest = np.maximum.accumulate(codes, axis=1)
        assert (codes[:, 0] == 0).all()
        assert (codes[:, 1:] <= highest[:, :-1] + 1).all()
        seen = np.append(seen, codes.astype(np.int64) @ np.int64(n_items) ** np.arange(n_items))
    assert len(np.unique(seen)) == len(seen) == bell


@pytest.mark.parametrize(
    ("n_items", "seeds"),
    [
        (10, range(8)),
        *(pytest.param(n, range(60), marks=pytest.mark.slow) for n in (10, 11)),
        pytest.param(12, range(20), marks=pytest.mark.slow),
    ],
)
def test_the_answer_for_some_items_more_is_the_best_of_all_partitions(n_items, seeds, monkeypatch):
    """Up to 4,213,597 partitions; searches that do not compare them all find none better, but sometimes a worse one."""
    for seed in seeds:
        problem = random_problem(seed, n_items=n_items, n_judgements=60)
        best = best_run(problem).lower_bound
        with monkeypatch.context() as patched:
            patched.setattr(search, "MOST_ENUMERATED", 9)
            assert best_run(problem).lower_bound <= best + 1e-9
        assert core.objective(search.best_of_all(problem), problem) == pytest.approx(best)


@pytest.mark.slow
def test_more_items_than_are_enumerated_nearly_always_have_the_best_partition(monkeypatch):
    """115,975 partitions of 10 items; local optima remain."""
    (codes,), missed = search.all_partitions(10, 200_000), 0
    monkeypatch.setattr(search, "MOST_ENUMERATED", 9)
    for seed in range(20):
        problem = random_problem(seed, n_items=10, n_judgements=60)
        missed += best_run(problem).lower_bound < search.ObjectiveOfPartitions.of(problem)(codes).max() - 1e-9
    assert missed <= 1


@pytest.mark.parametrize("seed", range(20))
def test_no_sweep_lowers_the_objective(seed):
    problem = random_problem(seed, n_items=30, n_judgements=150)
    trace = best_run(problem)
    assert trace.converged
    assert (np.diff(trace.lower_bounds) >= -1e-9 * abs(trace.lower_bound)).all()


def test_prior_of_the_number_of_clusters():
    """ln K! − n ln K, of which no step upwards is larger than the log-odds of "different"."""
    majority = np.repeat([1.0, -1.0], [10, 40])
    prior = core.log_prior(100, majority, None)
    assert len(prior) == 102
    exact = gammaln(np.arange(1, 101) + 1) - 100 * np.log(np.arange(1, 101))
    steps, most = np.diff(exact), np.log(41 / 11)  # of the shares of "different" and "same", one of each added
    np.testing.assert_allclose(np.diff(prior[1:101]), np.minimum(steps, most))
    assert steps[:20].max() < most < steps.max()  # both cases occur
    asked = core.log_prior(100, majority, 7)
    assert asked[1:].argmax() + 1 == 7
    assert asked[7] == pytest.approx(prior[7])


def test_unjudged_pairs_count_only_where_judgements_follow_the_clusters():
    """Complete cliques and stray pairs: u is clearly negative. Random pairs, and complete batches: it is 0."""
    rng = np.random.default_rng(0)
    classes = np.repeat(np.arange(100), 4)
    a, b = np.triu_indices(400, 1)
    clique = classes[a] == classes[b]

    def found(chosen, of=classes):
        majority = np.where(of[a] == of[b], 1.0, -1.0)[chosen]
        return core.log_odds_of_unjudged(400, a[chosen], b[chosen], majority, np.random.default_rng(0))

    assert found(clique | (rng.random(len(a)) < 0.02)) < -2
    few = rng.integers(4, size=400)
    assert found(rng.random(len(a)) < 0.05, few) == 0
    batch = rng.permutation(400) // 20
    assert found(batch[a] == batch[b], few) == pytest.approx(0, abs=1e-9)


def test_one_wrong_same_does_not_join_two_cliques():
    """Two clusters of four whose pairs were all judged, and one wrong "same" between them, among many such clusters."""
    classes = np.repeat(np.arange(50), 4)
    a, b = np.triu_indices(200, 1)
    rng = np.random.default_rng(1)
    chosen = (classes[a] == classes[b]) | (rng.random(len(a)) < 0.04)
    a, b = a[chosen], b[chosen]
    same = classes[a] == classes[b]
    wrong = ~same & (rng.random(len(a)) < 0.05)
    assert wrong.sum() > 20
    problem = CorrelationClusteringProblem.of(
        a,
        b,
        np.zeros(len(a), dtype=int),
        same | wrong,
        shape=(200, 1),
        reliability=(8.0, 2.0),
        n_clusters=None,
        rng=rng,
    )
    cluster = best_run(problem).state.cluster
    assert cluster.max() + 1 == 50
    assert len(np.unique(50 * cluster + classes)) == 50
