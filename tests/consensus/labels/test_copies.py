"""Copies among annotators: the score by hand, who is found and who is not, and how they weigh together."""

import itertools

import numpy as np
import pandas as pd
import pytest

import consilience
from consilience import Labels
from consilience.consensus import DawidSkene, MajorityVote, ProductMixture, SpectralEM, StagewiseEM
from consilience.consensus.labels import copies as science
from consilience.consensus.labels.copies import find_copies
from consilience.consensus.labels.copy_tables import Table, Tables, explained_at_most, explained_share, explanations
from consilience.errors import AnnotationWarning, InputError
from consilience.inference.product_distributions import shared_weights
from consilience.simulation import simulate_copies, simulate_labels

MODELS = [MajorityVote, DawidSkene, ProductMixture, SpectralEM, StagewiseEM]
N_ITEMS, N_CLASSES = 400, 4


def truth_of(seed):
    return np.random.default_rng(seed).integers(N_CLASSES, size=N_ITEMS)


def crowd(seed, accuracies, true=None):
    true = truth_of(seed) if true is None else true
    return simulate_labels(true, n_annotators=len(accuracies), accuracy=accuracies, random_state=seed)


def with_copies(seed, n_copies, *, alike=0.95, accuracy=0.35):
    labels = crowd(seed, [0.7] * 6 + [accuracy])
    return simulate_copies(labels, "annotator 7", n_copies=n_copies - 1, alike=alike, random_state=seed)


def made_model(model, **parameters):
    return model(**parameters, **({"random_state": 0} if "random_state" in model().get_params() else {}))


# ---- the score


def brute_force(labels, group):
    """Tables of `Tables` from loops over the labels of each item; annotators of group 0 are members."""
    rows = list(zip(labels.item.tolist(), labels.annotator.tolist(), labels.label.tolist(), strict=True))
    tables = np.zeros((3, labels.n_classes, labels.n_classes))
    for (i, a, k), (j, b, m) in itertools.permutations(rows, 2):
        if i != j or a == b:
            continue
        both = (group[a] == 0, group[b] == 0)
        if both == (True, True):
            tables[0, k, m] += 1
        elif both == (True, False):
            tables[1, k, m] += 1
        elif both == (False, False):
            tables[2, k, m] += 1
    return tables


def test_tables_count_the_pairs_of_labels_of_an_item():
    labels = simulate_labels(truth_of(0)[:15], n_annotators=6, annotators_per_item=4, accuracy=0.5, random_state=0)
    group = np.array([0, -1, 0, -1, -1, 0])
    found = Tables.of(labels, np.arange(labels.n_rows), group == 0, np.arange(6))
    members, across, others = brute_force(labels, group)
    np.testing.assert_array_equal(found.members.counts, members)
    np.testing.assert_array_equal(found.across.counts, across)
    np.testing.assert_array_equal(found.others.counts, others)
    np.testing.assert_array_equal(found.others_apart.counts, others)
    one_person = Tables.of(labels, np.arange(labels.n_rows), group == 0, np.array([0, 1, 2, 1, 1, 5]))
    assert one_person.others.total == 0
    np.testing.assert_array_equal(one_person.others_apart.counts, others)


def test_common_items_and_equal_labels(monkeypatch):
    monkeypatch.setattr(science, "LEAST", 3)
    labels = simulate_labels(truth_of(1)[:20], n_annotators=5, annotators_per_item=3, accuracy=0.6, random_state=1)
    matrix = labels.to_matrix().to_numpy()
    pairs = science.common_items(labels)
    found = {(a, b): (n, s) for a, b, n, s in zip(pairs.first, pairs.second, pairs.n_items, pairs.agreement)}
    for a, b in itertools.combinations(range(5), 2):
        both = pd.notna(matrix[:, a]) & pd.notna(matrix[:, b])
        if both.sum() >= 3:
            n_items, agreement = found.pop((a, b))
            assert n_items == both.sum()
            assert agreement == pytest.approx((matrix[both, a] == matrix[both, b]).mean())
    assert not found


def population(members, others, shares):
    """Tables of infinitely many items: each has a class, and two labels from either mean matrix (classes × labels)."""

    def joint(one, other):
        return Table(one.T @ np.diag(shares) @ other * 1e9)

    within_others = joint(others, others)
    return Tables(joint(members, members), joint(members, others), within_others, within_others, 10**9)


def test_independent_people_are_explained_whatever_their_confusion():
    """(1) and (2): exact for any matrices, if both know all classes; also if only one side does."""
    rng = np.random.default_rng(0)
    shares = np.array([0.5, 0.3, 0.2])
    for _ in range(10):
        others = 0.6 * np.eye(3) + 0.4 * rng.dirichlet(np.ones(3), 3)
        members = 0.9 * np.eye(3) + 0.1 * rng.dirichlet(np.ones(3), 3)
        coarse = np.array([[1, 0, 0], [1, 0, 0], [0, 0, 1]])  # two classes look the same
        for mine, theirs in [(members, others), (coarse, others), (members, others[[0, 0, 2]])]:
            tables = population(mine, theirs, shares)
            assert explained_share(explanations(tables), tables.members.kappa) == pytest.approx(
                tables.members.kappa, abs=1e-4
            )


def test_copies_are_explained_by_the_square_of_their_quality():
    """An annotator of quality k (accuracy .35 of 4 classes: k = .133) explains k² of the others' agreement."""
    accuracy, alike = 0.35, 0.95
    own = accuracy * np.eye(4) + (1 - accuracy) / 3 * (1 - np.eye(4))
    others = 0.7 * np.eye(4) + 0.1 * (1 - np.eye(4))
    copying = alike * np.eye(4) + (1 - alike) / 4
    joint = copying.T @ np.diag(np.full(4, 0.25)) @ copying  # given the label that both copy
    tables = population(own @ copying, others, np.full(4, 0.25))
    tables = Tables(Table(joint * 1e9), tables.across, tables.others, tables.others_apart, tables.n_items)
    assert tables.members.kappa == pytest.approx(alike**2)
    quality = (4 * accuracy - 1) / 3
    assert explained_share(explanations(tables), tables.members.kappa) == pytest.approx(
        (quality * alike) ** 2, rel=1e-3
    )


def test_others_who_do_not_agree_explain_everything():
    assert explained_share(np.array([0.1, 0.0, 0.0]), 0.9) == 1
    assert explained_share(np.array([0.1, 0.02, -0.01]), 0.9) == 1


def test_the_limit_of_a_ratio():
    """Without error it is the ratio; with error, the largest ratio that a linear contrast does not exclude."""
    found, kappa = np.array([0.1, 0.06, 0.2]), 0.9
    assert explained_at_most(found, np.zeros((3, 3)), kappa) == pytest.approx(explained_share(found, kappa))
    covariance = np.diag([1e-8, 4e-4, 9e-4])
    share = explained_at_most(found, covariance, kappa) / kappa
    contrast = share * found[2] - found[1]
    assert contrast == pytest.approx(science.SURE * np.sqrt(share**2 * covariance[2, 2] + covariance[1, 1]))
    assert explained_at_most(found, np.diag([0, 0, 0.02]), kappa) == 1  # the others' agreement may be noise


# ---- who is found


@pytest.mark.parametrize("n_copies", [2, 3, 6])
def test_copies_are_found(n_copies):
    for seed in (0, 2, 4):
        found = find_copies(with_copies(seed, n_copies))
        assert [found.members(number) for number in range(len(found))] == [list(range(6, 6 + n_copies))]
        assert found.evidence.expected[0] < 0.4 < 0.85 < found.evidence.agreement[0]


def test_two_groups_are_found():
    labels = simulate_copies(with_copies(1, 3), "annotator 1", n_copies=2, alike=1.0, random_state=1)
    found = find_copies(labels)
    names = [labels.annotators.take(found.members(number)).tolist() for number in range(2)]
    assert len(found) == 2
    assert names[0] == ["annotator 1", "annotator 1 (copy 1)", "annotator 1 (copy 2)"]
    assert names[1] == ["annotator 7", "annotator 7 (copy 1)", "annotator 7 (copy 2)"]


def schools(seed, accuracy):
    other = crowd(seed + 1, [accuracy] * 6)
    matrix = np.hstack([crowd(seed, [accuracy] * 6).to_matrix(), other.to_matrix()])
    return Labels.from_matrix(matrix)


@pytest.mark.parametrize(
    "make",
    [
        lambda seed: crowd(seed, [0.7] * 7),
        lambda seed: crowd(seed, [0.9] * 5),
        lambda seed: crowd(seed, [0.97] * 6 + [0.5] * 6),
        lambda seed: crowd(seed, [0.99] * 2 + [0.5] * 6),
        lambda seed: crowd(seed, [0.97] * 6 + [0.25] * 6),
        lambda seed: schools(seed, 0.8),
        lambda seed: schools(seed, 0.97),
        lambda seed: crowd(seed, [0.97] * 2),
    ],
    ids=["equals", "excellent", "experts", "two experts", "experts among guessers", "schools", "sure schools", "two"],
)
def test_nobody_is_found_among_independent_people(make):
    for seed in range(0, 20, 2):
        assert not len(find_copies(make(seed)))


def test_people_who_always_say_the_same_are_no_copies():
    labels = crowd(0, [0.7] * 6).to_matrix()
    for lazy in ("x", "y", "z"):
        labels[lazy] = 0
    assert not len(find_copies(Labels.from_matrix(labels)))


def test_known_classes_overrule():
    """Three who share what eight others mistake look like copies; known classes tell that they are right."""
    rng, true = np.random.default_rng(0), truth_of(0)
    mistaken = np.where(rng.random(N_ITEMS) < 0.25, (true + rng.integers(1, 4, N_ITEMS)) % 4, true)
    trained, others = crowd(0, [0.97] * 3, true), crowd(1, [0.8] * 8, mistaken)
    labels = Labels.from_matrix(np.hstack([trained.to_matrix(), others.to_matrix()]))
    assert find_copies(labels).members(0) == [0, 1, 2]
    known = np.where(np.arange(N_ITEMS) < 60, true, -1)
    assert not len(find_copies(labels, known))
    gold = dict(zip(range(60), true[:60].tolist(), strict=True))
    with pytest.warns(AnnotationWarning, match="weigh together"):
        together = DawidSkene().fit(labels)
    assert len(together.copies_) == 1
    assert not len(DawidSkene().fit(labels, gold=gold).copies_)


def test_copies_in_a_sparse_crowd(monkeypatch):
    """Among 300 annotators of whom each labels some 80 of 2000 items, two hand in the same labels of 100 items."""
    true = np.random.default_rng(0).integers(3, size=2000)
    labels = simulate_labels(true, n_annotators=300, annotators_per_item=12, accuracy=0.7, random_state=0)
    mine = simulate_labels(true[:100], n_annotators=1, accuracy=0.5, random_state=1).to_frame()
    table = pd.concat([labels.to_frame(), *(mine.assign(annotator=name) for name in ("x", "y"))])
    labels = Labels.from_frame(table)
    found = find_copies(labels)
    assert labels.annotators.take(found.members(0)).tolist() == ["x", "y"]
    assert len(found) == 1
    monkeypatch.setattr(science, "MOST_PAIRS", int((np.diff(labels.indptr) ** 2).sum() * 0.7))
    found = find_copies(labels)  # on a sample of the items
    assert found.evidence.n_items[0] == pytest.approx(70, abs=2)


# ---- how they weigh


def test_weights_of_a_group_sum_to_one_on_each_item():
    item, group = np.array([0, 0, 0, 1, 1, 2]), np.array([4, 4, -1, 4, 2, -1])
    np.testing.assert_allclose(shared_weights(item, group), [0.5, 0.5, 1, 1, 1, 1])
    assert shared_weights(item, np.full(6, -1)) is None


@pytest.mark.parametrize("model", MODELS)
def test_exact_copies_of_an_annotator_are_that_annotator(model):
    """Special case: with maximum likelihood, three identical annotators weigh as one of them."""
    labels = crowd(3, [0.7] * 5 + [0.35])
    names = ["annotator 6", "annotator 6 (copy 1)", "annotator 6 (copy 2)"]
    thrice = simulate_copies(labels, "annotator 6", n_copies=2, alike=1.0, random_state=0)
    settings = {"prior": None, "calibrate": False} if model is DawidSkene else {}
    alone = made_model(model, copies=None, **settings).fit(labels)
    together = made_model(model, copies=[names], **settings).fit(thrice)
    assert together.copies_["annotators"].tolist() == [names]
    # the order of the annotators decides the divisions of SpectralEM
    tolerance = 0.05 if model is SpectralEM else 1e-5
    np.testing.assert_allclose(together.responsibilities_, alone.responsibilities_, atol=tolerance)
    figures = together.annotators_.loc[[*labels.annotators[:5], names[2]], "n_labels"]
    assert figures.tolist() == [N_ITEMS] * 6
    for name in names:
        ours, theirs = (fit.confusion_matrices_.loc[who] for fit, who in ((together, name), (alone, names[0])))
        np.testing.assert_allclose(ours, theirs, atol=tolerance)


@pytest.mark.filterwarnings("ignore:StagewiseEM fell back:consilience.errors.AnnotationWarning")
@pytest.mark.parametrize(
    ("model", "n_copies"),
    [
        pytest.param(model, n_copies, marks=() if turn % 2 == number else pytest.mark.slow)
        for turn, model in enumerate(MODELS)
        for number, n_copies in enumerate([3, 6])
    ],
)
def test_copies_do_not_outvote_the_others(model, n_copies):
    """Error at most .02 above that of the crowd with one of them."""
    for seed in (1, 3):
        true = truth_of(seed)
        one = made_model(model).fit(crowd(seed, [0.7] * 6 + [0.35]))
        with pytest.warns(AnnotationWarning, match="agree like that"):
            fitted = made_model(model).fit(with_copies(seed, n_copies))
        assert (fitted.labels_ != true).mean() <= (one.labels_ != true).mean() + 0.02
        apart = made_model(model, copies=None).fit(with_copies(seed, n_copies))
        np.testing.assert_array_equal(fitted.labels_apart_, apart.labels_)


def test_the_bound_rises_with_weights():
    for settings in ({}, {"confusion": "one-coin"}, {"prior": None}):
        with pytest.warns(AnnotationWarning, match="agree like that"):
            model = DawidSkene(**settings).fit(with_copies(0, 6))
        assert (np.diff(model.lower_bounds_) >= -1e-6).all()


def test_the_warning_names_them_and_says_what_to_do():
    with pytest.warns(AnnotationWarning) as caught:
        model = DawidSkene().fit(with_copies(0, 3))
    (warning,) = (one for one in caught if one.category is AnnotationWarning)  # there are few annotators, too
    n_changed = (model.labels_ != model.labels_apart_).sum()
    names = "'annotator 7', 'annotator 7 (copy 1)' and 'annotator 7 (copy 2)'"
    assert str(warning.message).startswith(f"DawidSkene: The annotators {names} give the same label to 9")
    assert f"{n_changed} of {N_ITEMS} items have another class if all weigh alone" in str(warning.message)
    assert "copies=None" in str(warning.message)


def test_without_copies_there_is_one_reading():
    model = DawidSkene().fit(crowd(0, [0.7] * 7))
    assert len(model.copies_) == 0
    np.testing.assert_array_equal(model.labels_apart_, model.labels_)


@pytest.mark.filterwarnings("ignore:StagewiseEM fell back:consilience.errors.AnnotationWarning")
def test_new_items_weigh_copies_together():
    labels = with_copies(0, 3)
    for model in (DawidSkene, MajorityVote, StagewiseEM):
        with pytest.warns(AnnotationWarning, match="agree like that"):
            fitted = made_model(model).fit(labels)
        np.testing.assert_allclose(fitted.predict_proba(labels), fitted.responsibilities_, atol=1e-9)
        np.testing.assert_array_equal(fitted.predict(labels), fitted.labels_)


def test_order_and_names_change_nothing():
    labels = with_copies(0, 3)
    turned = Labels.from_matrix(labels.to_matrix().iloc[::-1, ::-1])
    with pytest.warns(AnnotationWarning):
        one = DawidSkene().fit(labels)
    with pytest.warns(AnnotationWarning):
        other = DawidSkene().fit(turned)
    pd.testing.assert_frame_equal(one.copies_, other.copies_)
    np.testing.assert_array_equal(one.labels_apart_, other.labels_apart_[::-1])
    np.testing.assert_array_equal(one.responsibilities_, other.responsibilities_[::-1])
    np.testing.assert_array_equal(one._copy_group, other._copy_group[::-1])


def test_history_has_further_annotators():
    labels = with_copies(0, 3)
    with pytest.warns(AnnotationWarning):
        first = DawidSkene().fit(labels)
    some = Labels.from_matrix(labels.to_matrix().iloc[:, 2:])
    with pytest.warns(AnnotationWarning):
        second = DawidSkene().fit(some, history=first.confusion_counts_)
    assert second.confusion_counts_.to_numpy().sum() == pytest.approx(N_ITEMS * 7 + N_ITEMS * 5)  # copies count as one
    assert second.predict(labels).shape == (N_ITEMS,)


def test_saved_and_loaded(tmp_path):
    labels = with_copies(0, 3)
    with pytest.warns(AnnotationWarning):
        model = DawidSkene().fit(labels)
    consilience.save(model, tmp_path / "model.zip")
    again = consilience.load(tmp_path / "model.zip")
    pd.testing.assert_frame_equal(again.copies_, model.copies_)
    np.testing.assert_array_equal(again.predict_proba(labels), model.predict_proba(labels))


@pytest.mark.parametrize(
    ("copies", "message"),
    [
        ("yes", "The 'copies' parameter of MajorityVote must be 'auto', None or a list of lists of two or more"),
        ([["annotator 1"]], "must be 'auto', None or a list of lists"),
        ([["annotator 1", "annotator 2"], ["annotator 2", "annotator 3"]], "must be 'auto', None or a list of lists"),
        ([["annotator 1", "Ann"]], "must name annotators of the annotations. Got 'Ann', who is none of them."),
    ],
)
def test_what_copies_may_be(copies, message):
    with pytest.raises(InputError, match=message.replace(".", r"\.")):
        MajorityVote(copies=copies).fit(crowd(0, [0.7] * 7))


def test_given_groups_with_little_in_common():
    """Groups that the user names need no evidence."""
    labels = Labels.from_matrix([["a", "a", "b"], ["b", "b", None]], annotators=["x", "y", "z"])
    vote = MajorityVote(copies=[["x", "y"]]).fit(labels)
    np.testing.assert_allclose(vote.responsibilities_, [[0.5, 0.5], [0, 1]])
    assert vote.n_ties_ == 1
    assert vote.copies_.loc[0, "n_items"] == 2
    assert vote.copies_.loc[0, ["expected", "dependence"]].isna().all()  # there are no two others to compare with
    assert vote.copies_.loc[0, "p_value"] == 1
