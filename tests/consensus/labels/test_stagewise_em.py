"""Stagewise EM against its paper's facts, explicit sums and numerical derivatives."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import chi2

from consilience import Labels
from consilience.annotations import concat
from consilience.consensus.labels import stagewise_em as stagewise
from consilience.consensus.labels.stagewise_em import (
    Stage,
    StagewiseSettings,
    duplicate,
    has_settled,
    init,
    largest_entry,
    moved_apart,
    perturbation,
    split_hessian,
    step,
)
from consilience.consensus.labels.stagewise_evidence import PosteriorTerms, StagewiseEvidence
from consilience.simulation import simulate_labels, sparse_crowd


def random_labels(seed, n_items=60, n_annotators=4, n_labels=3, missing=0.0):
    """Labels of items of hidden classes by annotators who are right six times in ten."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(n_labels, size=n_items)
    right = rng.random((n_items, n_annotators)) < 0.6
    said = np.where(right, hidden[:, None], rng.integers(n_labels, size=right.shape)).astype(float)
    said[rng.random(said.shape) < missing] = np.nan
    return Labels.from_matrix(said, classes=range(n_labels))


def random_stage(evidence, n_components, members, seed=0):
    """Some parameters, and the posteriors that they give."""
    rng, (n_annotators, n_labels) = np.random.default_rng(seed), evidence.study.counts.shape
    weights = np.log(rng.dirichlet(np.full(n_components, 5.0)))
    table = np.log(rng.dirichlet(np.full(n_labels, 3.0), (n_annotators, n_components)))
    table = table.transpose(0, 2, 1).reshape(-1, n_components)
    return stage_of(evidence, weights, table, members)


def stage_of(evidence, weights, table, members):
    q = evidence.posterior(PosteriorTerms.by(weights, table, members, evidence.study.n_labels))
    return Stage(weights, table, members, q, 0.0, False, np.inf, np.empty((0, 4)))


def total_information(weights, table, labels, members, pairs=None):
    """N Σ_y f(y) Σ_{i<j} I(i, j | y) under f(y | x_S), by sums over items, from parameters in any shape."""
    n_labels, n_annotators = labels.n_classes, labels.n_annotators
    said = np.zeros((n_annotators, len(labels), n_labels))
    said[labels.annotator, labels.item, labels.label] = 1
    score = np.tile(weights, (len(labels), 1))
    for i in members:
        score += said[i] @ table[i * n_labels : (i + 1) * n_labels]
    q = softmax(score, axis=1)
    total = 0.0
    for i in range(n_annotators):
        for j in range(i + 1, n_annotators):
            if pairs is not None and (i, j) not in pairs:
                continue
            for k in range(q.shape[1]):
                joint = said[i].T @ (q[:, k, None] * said[j])
                n = joint.sum()
                expected = np.outer(joint.sum(1), joint.sum(0)) / n
                seen = joint > 0
                total += (joint[seen] * np.log(joint[seen] / expected[seen])).sum()
    return total


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_information_is_that_of_explicit_sums(missing):
    labels = random_labels(0, missing=missing)
    evidence = StagewiseEvidence.in_memory(labels, 2, 0.001)
    stage = random_stage(evidence, 2, (0, 2))
    information, total = evidence.information(stage.q)
    expected = total_information(stage.log_weights, stage.log_table, labels, (0, 2))
    np.testing.assert_allclose((information * total).sum(), expected, rtol=1e-4)


def test_duplicating_a_component_preserves_information():
    """Theorem 4: copying a component leaves Σ I(i, j | Y) as it was, before the copies move apart."""
    labels = random_labels(1)
    evidence = StagewiseEvidence.in_memory(labels, 3, 0.001)
    stage = random_stage(evidence, 2, (0, 1, 3))
    copied = duplicate(stage, 1)
    before = total_information(stage.log_weights, stage.log_table, labels, (0, 1, 3))
    after = total_information(copied.log_weights, copied.log_table, labels, (0, 1, 3))
    np.testing.assert_allclose(after, before, rtol=1e-9)
    halved = evidence.posterior(copied.given(3))[:, [1, 2]]
    np.testing.assert_allclose(halved, stage.q[:, [1, 1]] / 2, atol=1e-12)
    np.testing.assert_allclose(np.exp(copied.log_weights).sum(), 1)


def test_the_true_model_leaves_no_information():
    """Proposition 2: at the true parameters I(i, j | Y) vanishes as the number of items grows, where Y is observed.

    It is estimated too high by (R - 1)² / 2n for each component, and by nothing else.
    """
    n_items, n_labels = 40_000, 3
    classes = np.arange(n_items) % n_labels
    crowd = sparse_crowd(12, n_labels, alpha=0.5, accuracy=0.7, random_state=0)
    labels = simulate_labels(classes, confusion=crowd, random_state=1)
    evidence = StagewiseEvidence.in_memory(labels, n_labels, 0.001)
    table = np.log(crowd).transpose(0, 2, 1).reshape(-1, n_labels)
    q = stage_of(evidence, np.full(3, -np.log(3)), table, tuple(range(12))).q
    information, total = evidence.information(q)
    conditional = stagewise.conditional(information, total)
    one_component, _ = evidence.information(np.ones((n_items, 1)))
    experts = (evidence.study.pairs.first < 6) & (evidence.study.pairs.second < 6)
    assert one_component[0, experts].min() > 0.02  # experts agree because of the classes ...
    assert conditional.max() < 10 * 4 * n_labels / (2 * n_items)  # ... and of nothing else


@pytest.mark.parametrize(("n_components", "missing"), [(1, 0.0), (2, 0.0), (3, 0.3)])
@pytest.mark.parametrize("repeats", [False, True])
def test_the_hessian_is_the_numerical_one(n_components, missing, repeats):
    """Second differences of Σ I, all else frozen, along (δ, -δ) for δ that keep the probabilities summing to 1."""
    labels = random_labels(2, n_items=200, missing=missing)
    if repeats:  # every third label is given again, as another class
        place = {name: getattr(labels, name)[::3] for name in ("item", "annotator")}
        labels = concat([labels, replace(labels, **place, label=(labels.label[::3] + 1) % 3)])
    evidence = StagewiseEvidence.in_memory(labels, n_components + 1, 0.001)
    members, pair, component = (0, 1, 2), (0, 2), n_components - 1
    stage = random_stage(evidence, n_components, members)
    hessian = split_hessian(stage, component, pair, evidence)
    rows = np.concatenate([np.arange(i * 3, i * 3 + 3) for i in pair])
    pairs = {(0, 1), (0, 2), (1, 2)}
    weights = np.append(stage.log_weights, stage.log_weights[component])
    weights[[component, -1]] -= np.log(2)
    table = np.exp(np.column_stack([stage.log_table, stage.log_table[:, component]]))

    def moved(one, other):
        """Σ I with the copies' probabilities moved by any two vectors."""
        there = table.copy()
        there[rows, component] += one
        there[rows, -1] += other
        return total_information(weights, np.log(there), labels, members, pairs)

    rng = np.random.default_rng(3)
    start = moved(0, 0)
    for _ in range(4):
        direction = rng.normal(size=(2, 3))
        direction = (direction - direction.mean(1, keepdims=True)).ravel()
        size = 1e-3
        second = (moved(size * direction, -size * direction) - start) / size**2 * 2
        np.testing.assert_allclose(direction @ hessian @ direction, second, rtol=5e-3, atol=1e-2)
        # a saddle point: no slope along the antisymmetric directions
        slope = (moved(size * direction, -size * direction) - moved(-size * direction, size * direction)) / (2 * size)
        np.testing.assert_allclose(slope, 0, atol=1e-6)


def test_the_perturbation_is_the_eigenvector_of_the_whole_hessian():
    """All four vectors free, as in the paper: the smallest eigenvalue belongs to (δ, -δ)."""
    labels = random_labels(4, n_items=300)
    evidence = StagewiseEvidence.in_memory(labels, 2, 0.001)
    stage = random_stage(evidence, 1, (0, 2))
    found = perturbation(stage, 0, (0, 2), evidence)
    rows = np.concatenate([np.arange(0, 3), np.arange(6, 9)])
    weights = np.full(2, -np.log(2))
    table = np.exp(np.column_stack([stage.log_table, stage.log_table]))
    centred = np.linalg.svd(np.eye(3) - 1 / 3)[0][:, :2]
    basis = np.kron(np.eye(4), centred)  # μ_k0, μ_k2, μ_new,0, μ_new,2, each within its simplex

    def information(step):
        there = table.copy()
        there[rows, 0] += (basis @ step)[:6]
        there[rows, 1] += (basis @ step)[6:]
        return total_information(weights, np.log(there), labels, (0, 2), {(0, 2)})

    size, n = 1e-3, basis.shape[1]
    hessian = np.empty((n, n))
    unit = np.eye(n) * size
    for a in range(n):
        for b in range(n):
            corners = [information(s * unit[a] + t * unit[b]) for s, t in [(1, 1), (1, -1), (-1, 1), (-1, -1)]]
            hessian[a, b] = (corners[0] - corners[1] - corners[2] + corners[3]) / (4 * size**2)
    values, vectors = np.linalg.eigh(hessian)
    assert values[0] < 0
    numerical = basis @ vectors[:, 0]
    np.testing.assert_allclose(numerical[:6], -numerical[6:], atol=1e-3)
    cosine = abs(found.ravel() @ numerical[:6]) / np.linalg.norm(numerical[:6])
    assert cosine > 0.999


def test_a_split_stays_within_the_simplices():
    labels = random_labels(5)
    evidence = StagewiseEvidence.in_memory(labels, 3, 0.001)
    stage = random_stage(evidence, 2, (0, 1))
    rng = np.random.default_rng(0)
    direction = rng.normal(size=(2, 3))
    copied = moved_apart(duplicate(stage, 0), 0, (0, 1), direction - direction.mean(1, keepdims=True))
    probability = np.exp(copied.log_table).reshape(-1, 3, 3)
    np.testing.assert_allclose(probability.sum(1), 1)
    assert probability.min() > 0
    np.testing.assert_allclose(probability[:2, :, [0, 2]].mean(2), np.exp(stage.log_table).reshape(-1, 3, 2)[:2, :, 0])


class TestLargestEntry:
    def test_is_the_largest_after_bias_correction(self):
        labels = random_labels(6, n_items=500)
        evidence = StagewiseEvidence.in_memory(labels, 2, 0.001)
        information, total = evidence.information(random_stage(evidence, 2, (0, 1)).q)
        found = largest_entry(information, total, evidence.study, StagewiseSettings(2, weighted=True))
        entry = (information - 4 / (2 * total)) * total / 500
        assert (found.component, found.pair) == np.unravel_index(entry.argmax(), entry.shape)

    def test_weights_of_components_count_if_requested(self):
        """A small component's pair is the largest by its own information, a large one's by (13)."""
        evidence = StagewiseEvidence.in_memory(random_labels(7, n_items=400), 2, 0.001)
        n_pairs = len(evidence.study.degrees)
        total = np.array([[380.0], [20.0]]) * np.ones(n_pairs)
        information = np.full((2, n_pairs), 0.001)
        information[0, 0], information[1, 1] = 0.2, 1.0
        assert largest_entry(information, total, evidence.study, StagewiseSettings(2, weighted=True)).component == 0
        assert largest_entry(information, total, evidence.study, StagewiseSettings(2, weighted=False)).component == 1

    def test_noise_gives_no_entry(self):
        """Independent labels: of 20 draws of 45 pairs less than one entry in 45 * 20 is beyond the 0.001 quantile."""
        found = 0
        for seed in range(20):
            said = np.random.default_rng(seed).integers(3, size=(300, 10))
            evidence = StagewiseEvidence.in_memory(Labels.from_matrix(said), 1, 0.001)
            information, total = evidence.information(np.ones((300, 1)))
            found += largest_entry(information, total, evidence.study, StagewiseSettings(1, weighted=True)) is not None
        assert found <= 4  # 0.9 are expected

    def test_threshold_is_the_quantile_of_the_labels_used(self):
        """An annotator who uses two of three labels leaves fewer degrees of freedom."""
        said = np.random.default_rng(0).integers(3, size=(200, 3))
        said[:, 2] %= 2
        evidence = StagewiseEvidence.in_memory(Labels.from_matrix(said), 1, 0.001)
        np.testing.assert_array_equal(evidence.study.degrees, [4, 2, 2])
        np.testing.assert_allclose(evidence.study.threshold, chi2.isf(0.001, [4, 2, 2]))


class TestSteps:
    def test_one_component_has_the_frequencies_of_the_labels(self):
        labels = Labels.from_matrix([["a", "b"], ["a", "a"], ["b", "a"], ["a", None]])
        evidence = StagewiseEvidence.in_memory(labels, 2, 0.001)
        state = init(evidence)
        smoothed = np.array([3.01 / 4.02, 1.01 / 4.02, 2.01 / 3.02, 1.01 / 3.02])
        np.testing.assert_allclose(np.exp(state.log_table[:, 0]), smoothed)
        counts = np.array([3, 1, 2, 1])
        np.testing.assert_allclose(state.log_likelihood, counts @ np.log(smoothed))

    def test_only_members_affect_the_posterior(self):
        labels = random_labels(8)
        evidence = StagewiseEvidence.in_memory(labels, 2, 0.001)
        stage = random_stage(evidence, 2, (1,))
        said = labels.to_matrix().to_numpy(int)
        expected = softmax(stage.log_weights + stage.log_table[3 + said[:, 1]], axis=1)
        np.testing.assert_allclose(stage.q, expected)

    def test_the_first_round_takes_the_best_pair_and_splits(self):
        crowd = sparse_crowd(20, 3, alpha=0.2, accuracy=0.8, random_state=0)
        labels = simulate_labels(np.arange(900) % 3, confusion=crowd, random_state=0)
        evidence = StagewiseEvidence.in_memory(labels, 3, 0.001)
        first = step(init(evidence), evidence, StagewiseSettings(3, weighted=True))
        assert set(first.members) <= {0, 1, 2, 3}
        assert len(first.members) == 2
        assert first.q.shape == (900, 2)
        assert not has_settled(first)

    def test_it_goes_on_splitting_within_the_set(self):
        """Two annotators and three classes: after the first split nobody new can enter."""
        rng = np.random.default_rng(0)
        classes = np.arange(3000) % 3
        wrong = rng.random((3000, 2)) < 0.05
        said = np.where(wrong, rng.integers(3, size=wrong.shape), classes[:, None])
        evidence = StagewiseEvidence.in_memory(Labels.from_matrix(said), 3, 0.001)
        trace = stagewise.run(evidence, StagewiseSettings(3, weighted=True), max_iter=60)
        assert trace.state.members == (0, 1)
        assert len(trace.state.log_weights) == 3
        assert len(trace.state.record) == trace.n_iter + 1

    def test_settles_if_there_is_nothing_to_find(self):
        said = np.random.default_rng(3).integers(2, size=(400, 5))
        evidence = StagewiseEvidence.in_memory(Labels.from_matrix(said), 2, 1e-9)
        trace = stagewise.run(evidence, StagewiseSettings(2, weighted=True), max_iter=20)
        assert trace.converged
        assert trace.state.members == ()
        assert trace.n_iter <= 2
