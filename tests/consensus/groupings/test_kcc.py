"""KCC: distances, centroids and utility against their definitions, sweeps that never go up, crowds of known truth."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score, mutual_info_score

from consilience import Groupings
from consilience.consensus.groupings import kcc, kcc_utilities
from consilience.consensus.groupings.kcc_estimator import KCC
from consilience.errors import InputError, UnannotatedWarning
from consilience.metrics.clusterings import nmi
from consilience.simulation import simulate_crowd
from tests.subset_groupings import arguments, lists_of, made, seen

UTILITIES = [("categorical", 2.0), ("entropy", 2.0), ("cosine", 2.0), ("lp", 5.0), ("lp", 8.0)]


def phi(m, utility, p):
    """φ of a vector of shares, as the paper has it."""
    if utility == "categorical":
        return float(sum(s**2 for s in m))
    if utility == "entropy":
        return float(sum(s * np.log(s) for s in m if s > 0))
    power = 2 if utility == "cosine" else p
    return float(sum(s**power for s in m) ** (1 / power))


def distance(j, m, utility, p):
    """f(e_j, m), as the paper has it."""
    if utility == "categorical":
        return float(((np.eye(len(m))[j] - m) ** 2).sum())
    if utility == "entropy":
        return float(-np.log(m[j]))
    if utility == "cosine":
        return float(1 - m[j] / np.sqrt((m**2).sum()))
    return float(1 - (m[j] / (m**p).sum() ** (1 / p)) ** (p - 1))


def blocks_of(given_groupings, cluster, n_clusters):
    """Of each grouping: group of each held item, centroid block of each cluster, overall block, by loops."""
    for grouping in lists_of(given_groupings):
        group_of = {i: j for j, group in enumerate(grouping) for i in group}
        overall = np.array([len(group) for group in grouping]) / max(len(group_of), 1)
        blocks = []
        for k in range(n_clusters):
            mine = [group_of[i] for i in group_of if cluster[i] == k]
            blocks.append(np.bincount(mine, minlength=len(grouping)) / len(mine) if mine else overall)
        yield group_of, blocks, overall


def problem_of(given_groupings, utility, p, *, normalize=False, n_clusters=2):
    return kcc.KCCProblem.of(seen(given_groupings), utility, p, normalize=normalize, n_clusters=n_clusters)


def items_of(given_groupings):
    return kcc.ItemsInMemory.of(seen(given_groupings).in_group)


def updated(problem, given_groupings, cluster):
    return kcc.update(problem, items_of(given_groupings).count(cluster, problem.n_clusters))


def nearest(problem, given_groupings, shares):
    return kcc.nearest(seen(given_groupings).in_group, problem.table(shares))


def drawn_clusters(given_groupings, seed, n_clusters):
    """Clusters at random of all items, and of those that some grouping holds."""
    cluster = np.random.default_rng(seed).integers(n_clusters, size=len(given_groupings))
    return cluster, cluster[np.diff(given_groupings.incidence.indptr) > 0]


@pytest.mark.parametrize(("utility", "p"), UTILITIES)
@settings(max_examples=10)
@given(drawn=arguments(), seed=st.integers(0, 99), normalize=st.booleans())
def test_distances_centroids_and_utility_are_those_of_the_paper(utility, p, drawn, seed, normalize):
    groupings = made(drawn)
    everywhere, cluster = drawn_clusters(groupings, seed, 3)
    problem = problem_of(groupings, utility, p, normalize=normalize, n_clusters=3)
    state = updated(problem, groupings, cluster)
    n, total, constant, expected = len(cluster), 0.0, 0.0, []
    for g, (group_of, blocks, overall) in enumerate(blocks_of(groupings, everywhere, 3)):
        own = groupings.grouping_of_group == g
        np.testing.assert_allclose(state.shares[own], np.reshape(blocks, (3, -1)).T, atol=1e-12)
        scale = abs(phi(overall, utility, p))
        w = 1.0 if not normalize else 1 / scale if scale > 1e-9 else 0.0
        total += w * sum(distance(j, blocks[everywhere[i]], utility, p) for i, j in group_of.items())
        sizes = np.bincount([everywhere[i] for i in group_of], minlength=3)
        gained = sum(size * phi(block, utility, p) for size, block in zip(sizes, blocks))
        expected.append(w * (gained - len(group_of) * phi(overall, utility, p)) / n)
        constant += w * len(group_of) * ((utility != "entropy") - phi(overall, utility, p))
    np.testing.assert_allclose(kcc.utility_of_groupings(problem, state), expected, atol=1e-9)
    assert kcc.objective(problem, state) == pytest.approx(total, abs=1e-8)
    # the identity of the paper: the sum of distances is a constant minus n times the utility
    assert total == pytest.approx(constant - n * sum(expected), abs=1e-8)


@pytest.mark.parametrize(("utility", "p"), UTILITIES)
@settings(max_examples=10)
@given(drawn=arguments(), seed=st.integers(0, 99))
def test_an_item_joins_the_nearest_centroid_over_its_groupings(utility, p, drawn, seed):
    groupings = made(drawn)
    everywhere, cluster = drawn_clusters(groupings, seed, 2)
    problem = problem_of(groupings, utility, p)
    state = updated(problem, groupings, cluster)
    table = seen(groupings).in_group @ problem.table(state.shares)
    expected = np.zeros((len(groupings), 2))
    for group_of, blocks, _ in blocks_of(groupings, everywhere, 2):
        for i, j in group_of.items():
            for k in range(2):
                block = np.maximum(blocks[k], 1e-12) if utility == "entropy" else blocks[k]
                expected[i, k] += distance(j, block, utility, p)
    held = np.diff(groupings.incidence.indptr) > 0
    np.testing.assert_allclose(table, expected[held], atol=1e-9)
    new = nearest(problem, groupings, state.shares)
    filled = np.bincount(table.argmin(1), minlength=2).min() > 0
    if filled:
        np.testing.assert_array_equal(new, table.argmin(1))


@pytest.mark.parametrize(("utility", "p"), UTILITIES)
@settings(max_examples=15)
@given(
    drawn=arguments(max_items=12, max_groupings=8),
    seed=st.integers(0, 99),
    n_clusters=st.integers(1, 4),
    normalize=st.booleans(),
)
def test_no_sweep_raises_the_sum_of_distances(utility, p, drawn, seed, n_clusters, normalize):
    groupings = made(drawn)
    _, cluster = drawn_clusters(groupings, seed, n_clusters)
    problem = problem_of(groupings, utility, p, normalize=normalize, n_clusters=n_clusters)
    state = updated(problem, groupings, cluster)
    for _ in range(6):
        after = updated(problem, groupings, nearest(problem, groupings, state.shares))
        assert kcc.objective(problem, after) <= kcc.objective(problem, state) + 1e-9
        state = after


@pytest.mark.parametrize(("utility", "p"), UTILITIES)
def test_the_mean_over_items_in_the_grouping_is_the_best_centroid(utility, p):
    """Any other shares of a block that holds items have a larger sum of distances."""
    groupings = made(([[[0, 1, 2], [3, 4]], [[0, 3], [1], [5]]], ["x", "y"], 6))
    problem = problem_of(groupings, utility, p)
    cluster = np.array([0, 0, 0, 0, 1, 1])
    state = updated(problem, groupings, cluster)

    def total(shares):
        return (seen(groupings).in_group @ problem.table(shares))[np.arange(6), cluster].sum()

    assert total(state.shares) == pytest.approx(kcc.objective(problem, state))
    rng = np.random.default_rng(0)
    for _ in range(20):
        other = np.concatenate([rng.dirichlet(np.ones(size), 2).T for size in (2, 3)])
        for mixed in (0.02, 0.5):
            assert total((1 - mixed) * state.shares + mixed * other) > total(state.shares) - 1e-12


def test_utility_of_entropy_is_mutual_information():
    rng = np.random.default_rng(0)
    said, cluster = rng.integers(3, size=30), rng.integers(4, size=30)
    groupings = Groupings.from_matrix(said)
    problem = problem_of(groupings, "entropy", 2.0, n_clusters=4)
    found = kcc.utility_of_groupings(problem, updated(problem, groupings, cluster))
    assert found[0] == pytest.approx(mutual_info_score(said, cluster))


def test_complete_groupings_with_category_utility_are_plain_kmeans():
    """Same start, same sweeps, same centres as scikit-learn's k-means on the 0/1 columns."""
    rng = np.random.default_rng(1)
    truth = np.arange(60) % 3
    said = np.where(rng.random((60, 7)) < 0.35, rng.integers(4, size=(60, 7)), truth[:, None])
    groupings = Groupings.from_matrix(said)
    problem = problem_of(groupings, "categorical", 2.0, n_clusters=3)
    start = rng.integers(3, size=60)
    items = items_of(groupings)
    trace = kcc.run(problem, items, lambda: items.count(start, 3), max_iter=100)
    columns = groupings.incidence.toarray()
    centres = np.stack([columns[start == k].mean(0) for k in range(3)])
    peer = KMeans(3, init=centres, n_init=1, algorithm="lloyd", tol=0).fit(columns)
    np.testing.assert_array_equal(trace.state.assigned.cluster, peer.labels_)
    np.testing.assert_allclose(trace.state.shares.T, peer.cluster_centers_, atol=1e-9)
    assert -trace.lower_bound == pytest.approx(peer.inertia_)


def test_an_empty_cluster_takes_the_item_farthest_from_its_own():
    groupings = Groupings.from_matrix([["a", "a"], ["a", "a"], ["a", "a"], ["a", "b"]])
    problem = problem_of(groupings, "categorical", 2.0)
    state = updated(problem, groupings, np.zeros(4, dtype=int))
    shares = np.column_stack([state.shares[:, 0], np.zeros(3)])
    far = kcc.update(problem, items_of(groupings).assign(problem.table(shares)))
    assert far.assigned.cluster.tolist() == [0, 0, 0, 1]
    assert kcc.objective(problem, far) == pytest.approx(0)


def test_weights_of_the_normalised_forms():
    blocks = kcc_utilities.blocks_of(np.array([0, 0, 1]), 2)
    overall = np.array([0.25, 0.75, 1.0])
    for utility, p, expected in [
        ("categorical", 2.0, [1 / 0.625, 1.0]),
        ("entropy", 2.0, [1 / -(0.25 * np.log(0.25) + 0.75 * np.log(0.75)), 0.0]),  # one group says nothing
        ("cosine", 2.0, [1 / np.sqrt(0.625), 1.0]),
        ("lp", 5.0, [1 / (0.25**5 + 0.75**5) ** 0.2, 1.0]),
    ]:
        np.testing.assert_allclose(kcc_utilities.weights(overall, blocks, utility, p, normalize=True), expected)
        np.testing.assert_array_equal(kcc_utilities.weights(overall, blocks, utility, p, normalize=False), 1)


@pytest.fixture(scope="module")
def crowd():
    truth = np.random.default_rng(0).permutation(np.arange(90) % 5 % 3)
    return truth, simulate_crowd(truth, n_annotators=25, items_each=30, accuracy=0.8, random_state=0)


@pytest.fixture(scope="module")
def model(crowd):
    return KCC(3, random_state=0).fit(crowd[1])


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize(("utility", "p"), UTILITIES)
def test_recovers_clusters(utility, p, normalize, crowd):
    truth, groupings = crowd
    model = KCC(3, utility=utility, p=p, normalize=normalize, random_state=0).fit(groupings)
    assert nmi(truth, model.labels_) > 0.9
    assert model.converged_


def test_recovers_clusters_from_complete_groupings_without_spectral_coordinates():
    truth = np.arange(100) % 4
    groupings = simulate_crowd(truth, n_annotators=15, items_each=100, accuracy=0.75, random_state=0)
    assert nmi(truth, KCC(4, init="k-means++", random_state=0).fit_predict(groupings)) > 0.95


def test_fitted_attributes(model, crowd):
    _, groupings = crowd
    assert model.n_clusters_ == 3
    assert (np.diff(np.bincount(model.labels_)) <= 0).all()
    np.testing.assert_array_equal(model.responsibilities_.argmax(1), model.labels_)
    np.testing.assert_array_equal(model.responsibilities_.sum(1), 1)
    problem = problem_of(groupings, "lp", 5.0, n_clusters=3)
    state = updated(problem, groupings, model.labels_)
    np.testing.assert_allclose(model.centroids_, state.shares)
    assert model.objective_ == pytest.approx(kcc.objective(problem, state))
    assert model.utility_ == pytest.approx(kcc.utility_of_groupings(problem, state).sum())
    keys = groupings.vocabulary.group_keys()
    assert model.centroids_.index.tolist() == keys
    table = model.annotators_
    assert table["utility"].sum() == pytest.approx(model.utility_)
    frame = groupings.to_frame()
    names = dict(zip(model.items_, model.labels_))
    for annotator, rows in frame.groupby("annotator"):
        assert table.loc[annotator, ["n_groupings", "n_items"]].tolist() == [1, len(rows)]
        expected = adjusted_rand_score(rows["group"].astype(str), rows["item"].map(names))
        assert table.loc[annotator, "agreement"] == pytest.approx(expected)


@pytest.mark.parametrize(("utility", "p"), UTILITIES)
def test_predict_reproduces_the_fitted_clusters(utility, p, crowd):
    _, groupings = crowd
    model = KCC(3, utility=utility, p=p, normalize=True, random_state=0).fit(groupings)
    np.testing.assert_array_equal(model.predict(groupings), model.labels_)


def test_predicts_new_items_by_known_groups(model, crowd):
    _, groupings = crowd
    frame = groupings.to_frame()
    new = frame[frame["item"].isin([3, 4])].assign(item=lambda rows: "new " + rows["item"].astype(str))
    order = new["item"].unique()
    expected = [model.labels_[list(model.items_).index(int(name[4:]))] for name in order]
    named = Groupings.from_frame(new, items=[*order, "nobody saw this"])
    assert model.predict(named).tolist() == [*expected, -1]
    with pytest.raises(InputError, match=r"Group 'other' of grouping .* by annotator .* was not fitted"):
        model.predict(Groupings.from_frame(new.assign(group="other")))
    with pytest.raises(NotFittedError):
        KCC(3).predict(named)


def test_predict_same(model):
    items = list(model.items_)
    same = model.predict_same(items[:40], items[40:80])
    np.testing.assert_array_equal(same, model.labels_[:40] == model.labels_[40:80])
    annotator = model.annotators_.index[2]
    shares = model.centroids_.xs(annotator, level="annotator").to_numpy()
    a, b = model.labels_[:2]
    expected = (shares[:, a] * shares[:, b]).sum()
    assert model.predict_same(items[0], items[1], annotator=annotator) == pytest.approx(expected)
    with pytest.raises(InputError, match="Annotator 'x' was not fitted"):
        model.predict_same(items[0], items[1], annotator="x")


def test_items_in_no_grouping():
    with pytest.warns(UnannotatedWarning, match="^1 item has no annotations and no cluster .label -1.: 2\\.$"):
        model = KCC(2, random_state=0).fit([["a", "p"], ["a", "p"], [None, None], ["b", "q"]])
    assert model.labels_.tolist() == [0, 0, -1, 1]
    np.testing.assert_allclose(model.responsibilities_[2], [2 / 3, 1 / 3])


def test_order_of_items_and_names_of_groups_change_nothing(model, crowd):
    _, groupings = crowd
    place = np.random.default_rng(3).permutation(len(groupings))
    np.testing.assert_array_equal(KCC(3, random_state=0).fit(groupings[place]).labels_, model.labels_[place])
    frame = groupings.to_frame()
    frame["group"] = "g" + frame["group"].astype(str).str[::-1]
    renamed = KCC(3, random_state=0).fit(Groupings.from_frame(frame, items=groupings.items))
    np.testing.assert_array_equal(renamed.labels_, model.labels_)
    side_by_side = KCC(3, n_jobs=2, random_state=0).fit(groupings)
    np.testing.assert_array_equal(side_by_side.labels_, model.labels_)


def test_more_clusters_than_distinguishable_items():
    model = KCC(3, random_state=0).fit([["a"], ["a"], ["b"], ["b"]])
    assert model.n_clusters_ == 2
    assert model.centroids_.shape == (2, 2)
    assert model.objective_ == pytest.approx(0)


def test_names_of_every_kind():
    frame = pd.DataFrame({"item": [("x", 1), "x", 2.5], "annotator": [("u",), ("u",), ("u",)], "group": ["a", 1, "a"]})
    model = KCC(2, random_state=0).fit(Groupings.from_frame(frame))
    assert model.predict(Groupings.from_frame(frame)).tolist() == model.labels_.tolist() == [0, 1, 0]


def test_warns_when_sweeps_run_out(crowd):
    with pytest.warns(ConvergenceWarning, match="KCC: The objective still improved after max_iter=1 sweeps. Raise"):
        KCC(3, init="k-means++", max_iter=1, random_state=0).fit(crowd[1])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "The 'n_clusters' parameter of KCC must be a positive int. Got 0 instead."),
        ({"n_clusters": 4}, "must be at most the number of items that are in some grouping .n_samples = 3.. Got 4"),
        ({"utility": "U_H"}, "The 'utility' parameter of KCC must be 'categorical', 'entropy', 'cosine' or 'lp'"),
        ({"p": 1}, "The 'p' parameter of KCC must be a number above 1. Got 1 instead."),
        ({"normalize": "yes"}, "The 'normalize' parameter of KCC must be True or False"),
        ({"init": "random"}, "The 'init' parameter of KCC must be 'spectral' or 'k-means"),
        ({"n_init": 0}, "The 'n_init' parameter of KCC must be an int from 1 to 1,000,000"),
        ({"max_iter": 1.5}, "The 'max_iter' parameter of KCC must be a positive int"),
    ],
)
def test_invalid_parameters(parameters, message):
    with pytest.raises(InputError, match=message):
        KCC(**({"n_clusters": 2} | parameters)).fit([["a"], ["b"], ["a"]])


def test_blocks_of_groupings_without_groups():
    found = kcc_utilities.blocks_of(np.array([0, 2, 2]), 4)
    assert isinstance(found, csr_array)
    np.testing.assert_array_equal(found.toarray(), [[1, 0, 0], [0, 0, 0], [0, 1, 1], [0, 0, 0]])
