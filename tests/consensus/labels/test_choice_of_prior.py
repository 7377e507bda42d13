"""The cautious prior of DawidSkene: when it is taken, and by what."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.few_labels import Ordinary, habitual
from benchmarks.people.label_crowds import of_rows
from consilience import Labels
from consilience.analysis.certainty import certainty
from consilience.consensus import DawidSkene, MajorityVote
from consilience.consensus.labels import choice_of_prior, dawid_skene_estimator, samples
from consilience.consensus.labels.annotator_models import NO_PULL, Hierarchical
from consilience.consensus.labels.choice_of_prior import (
    ENOUGH,
    FEWEST,
    FEWEST_OF_CLASS,
    MANY,
    PULL,
    PULL_OF_ONE,
    WORTH_OF_KNOWN,
    JudgedLabels,
    are_too_few,
    can_tell,
    cautious_sizes,
    correlate_with_others,
    has_collapsed,
    note_on_few,
)
from consilience.consensus.labels.dawid_skene import imagined_by_pairs
from consilience.consensus.labels.pairs_of_labels import PairSums
from consilience.consensus.labels.weighted_labels import WeightedDawidSkene
from consilience.simulation import simulate_labels
from tests.consensus.labels.test_annotator_models import random_counts


def error(model, crowd):
    return (model.labels_ != crowd.truth).mean()


def correlate(before, annotator, label):
    return JudgedLabels.nothing(6, before.shape[1]).followed_by(before, annotator, label).correlation()


@pytest.mark.slow
def test_habits_do_not_gather_the_items_in_one_class():
    """Annotators with habits of their own, three labels an item: the ordinary prior lost more than half of this."""
    crowd = habitual(12)
    model = DawidSkene(calibrate=False).fit(crowd.labels)
    assert model.is_cautious_
    assert error(model, crowd) < 0.45
    assert error(model, crowd) < error(DawidSkene(prior=None, calibrate=False).fit(crowd.labels), crowd) + 0.01


def ordinary_crowd():
    return simulate_labels(np.arange(300) % 3, n_annotators=20, accuracy=0.75, annotators_per_item=3, random_state=0)


def test_an_ordinary_crowd_keeps_the_ordinary_prior():
    assert not DawidSkene(calibrate=False).fit(ordinary_crowd()).is_cautious_


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
def test_renaming_classes_and_annotators_leaves_the_correlation(seed, n_classes):
    rng = np.random.default_rng(seed)
    before = rng.dirichlet(np.ones(n_classes), 40)
    annotator, label = rng.integers(6, size=40), rng.integers(n_classes, size=40)
    of_class, of_annotator, rows = rng.permutation(n_classes), rng.permutation(6), rng.permutation(40)
    renamed = correlate(before[:, np.argsort(of_class)][rows], of_annotator[annotator][rows], of_class[label][rows])
    assert renamed == pytest.approx(correlate(before, annotator, label), abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_correlation_is_greatest_for_the_class_itself(seed):
    """Two classes, annotators with any habits: a prediction that is the class goes best with the labels."""
    rng = np.random.default_rng(seed)
    truth, annotator = rng.integers(2, size=20_000), rng.integers(5, size=20_000)
    right = np.column_stack([rng.uniform(0.5, 1, 5), rng.uniform(0.5, 1, 5)])
    right[0] = 0.8, 0.8
    label = np.where(rng.random(20_000) < right[annotator, truth], truth, 1 - truth)
    worse = np.where(rng.random(20_000) < 0.3, 0, truth)  # errs to one side: habits and proportions change
    assert correlate(np.eye(2)[truth], annotator, label) > correlate(np.eye(2)[worse], annotator, label)


def test_nothing_goes_with_what_never_differs():
    assert correlate(np.tile([[0.7, 0.3]], (6, 1)), np.arange(6) % 2, np.arange(6) % 2) == 0
    assert correlate(np.zeros((0, 2)), np.zeros(0, dtype=int), np.zeros(0, dtype=int)) == 0


def test_items_in_chunks_have_the_same_correlation(monkeypatch):
    labels = habitual(12).labels
    counts = np.zeros((labels.n_annotators, labels.n_classes, labels.n_classes))
    q = np.random.default_rng(0).dirichlet(np.ones(labels.n_classes), len(labels))
    np.add.at(counts, (labels.annotator, labels.label), q[labels.item])
    given = (labels, Hierarchical.of(counts), np.zeros(labels.n_classes), q, np.full(len(labels), True))
    expected = correlate_with_others(*given)
    monkeypatch.setattr(choice_of_prior, "CHUNK_CELLS", 50)
    assert correlate_with_others(*given) == pytest.approx(expected, rel=1e-9)


def test_rounding_decides_nothing():
    assert not has_collapsed(-1e-17, 1e-17, MANY)
    assert not has_collapsed(-0.2, -0.1, MANY)
    assert has_collapsed(0.1, 0.2, MANY)
    assert not has_collapsed(0.2, 0.2, FEWEST)


@pytest.mark.parametrize(
    ("n_labels", "share"), [(0, 1), (MANY // 2, (1 + ENOUGH) / 2), (MANY, ENOUGH), (10 * MANY, ENOUGH)]
)
def test_small_differences_tell_of_few_labels_only(n_labels, share):
    assert has_collapsed(0.2 * share - 1e-6, 0.2, n_labels)
    assert not has_collapsed(0.2 * share + 1e-6, 0.2, n_labels)


@pytest.mark.parametrize(
    ("n_items", "each", "expected"), [(FEWEST // 2, 2, True), (FEWEST // 2 - 1, 2, False), (50, 12, False)]
)
def test_few_labels_an_item_are_asked_if_they_are_many(n_items, each, expected):
    assert can_tell(PairSums.of(Labels.from_matrix(np.arange(n_items * each).reshape(n_items, each) % 3))) == expected


def test_cautious_sizes_are_shares_of_the_labels():
    labels = Labels.from_matrix([["a", "b"], ["a", "a"], ["b", None]])
    np.testing.assert_allclose(cautious_sizes(PairSums.of(labels)), 3 * np.array([3, 2]) / 5)


def mostly_one(crowd, n_several):
    """The labels of a crowd, of which the first items keep two, and the others one."""
    labels = crowd.labels
    place = np.arange(labels.n_rows) - labels.indptr[labels.item]
    return of_rows(labels, np.flatnonzero(place < np.where(labels.item < n_several, 2, 1)))


@pytest.mark.parametrize(
    ("seed", "kind", "before"),
    [
        (0, "3 classes", 0.09),
        pytest.param(0, "2 classes", 0.07, marks=pytest.mark.slow),
        pytest.param(4, "5 classes", 0.09, marks=pytest.mark.slow),
    ],
)
def test_single_labels_do_not_gather_the_items_in_one_class(seed, kind, before):
    """Sixty of 600 items have a second label: under the ordinary prior, errors are above the vote's by `before`."""
    crowd = habitual(seed, kind, 2)
    labels = mostly_one(crowd, 60)
    model, of_vote = DawidSkene(calibrate=False).fit(labels), error(MajorityVote().fit(labels), crowd)
    assert model.is_cautious_
    assert error(model, crowd) < of_vote + 0.01
    assert error(Ordinary(calibrate=False).fit(labels), crowd) > of_vote + before
    assert model.notes_ == [
        "Only 60 of 600 items have several labels, too few to tell how annotators err: most classes are those of the "
        "votes. Collect a second label of more items, or give gold."
    ]


def test_those_who_gave_gold_are_asked_for_more():
    of_few = PairSums.of(mostly_one(habitual(0), 60))
    assert note_on_few(of_few, has_gold=False)[0].endswith(", or give gold.")
    assert note_on_few(of_few, has_gold=True)[0].endswith(", or give more gold.")
    model = DawidSkene(subtypes=1, calibrate=False).fit(mostly_one(habitual(0), 60), gold={599: 0})
    assert model.notes_ == note_on_few(of_few, has_gold=True)


def pulls_of_fits(labels, monkeypatch, **given):
    """The pull of each fit within one, and the model."""
    learn, pulls = DawidSkene.learn, []

    def spy(self, start, evidence, *loop):
        pulls.append(evidence.pull)
        return learn(self, start, evidence, *loop)

    monkeypatch.setattr(DawidSkene, "learn", spy)
    return pulls, DawidSkene(calibrate=False).fit(labels, **given)


def test_subtypes_are_chosen_under_the_pull_of_the_fit(monkeypatch):
    """A sample has only items with several labels, which are enough to tell in themselves."""
    labels = mostly_one(habitual(0), 60)
    assert not are_too_few(PairSums.of(labels[np.arange(60)]))
    monkeypatch.setattr(dawid_skene_estimator, "MOST_LABELS", 500)
    pulls, model = pulls_of_fits(labels, monkeypatch)
    assert set(pulls) == {PULL_OF_ONE} == {tuple(model._pull)}
    assert len(pulls) == 2


@pytest.mark.parametrize(("most", "sampled"), [(1000, True), (500, False)])
def test_a_sample_decides_unless_matrices_have_more_cells_than_it_has_labels(most, sampled, monkeypatch):
    """The crowd has 1,800 labels, and matrices of 540 cells."""
    labels = habitual(12).labels
    assert labels.n_annotators * labels.n_classes**2 == 540
    for module in (samples, choice_of_prior, dawid_skene_estimator):
        monkeypatch.setattr(module, "MOST_LABELS", most)
    sizes, learn = [], DawidSkene.learn

    def spy(self, start, evidence, *loop):
        sizes.append(evidence.onehot.n_items)
        return learn(self, start, evidence, *loop)

    monkeypatch.setattr(DawidSkene, "learn", spy)
    DawidSkene(calibrate=False, subtypes=1).fit(labels)
    of_sample = most // 3
    assert sizes == ([of_sample, of_sample, 600] if sampled else [600, 600])


def test_pairs_are_counted_once(monkeypatch):
    counted, count = [], PairSums.of
    monkeypatch.setattr(PairSums, "of", lambda *given: counted.append(given) or count(*given))
    pulls, model = pulls_of_fits(habitual(12).labels, monkeypatch)
    assert pulls == [NO_PULL, PULL]
    assert model.is_cautious_
    assert len(counted) == 1
    DawidSkene(prior=None, calibrate=False).fit(ordinary_crowd())
    assert len(counted) == 1


def test_what_tells_is_counted_for_each_class():
    labels, half = mostly_one(habitual(0), 149), mostly_one(habitual(0), 300)  # 2 · 149 labels of three classes
    known = np.full(len(labels), -1)
    assert PairSums.of(labels).n_compared == 2 * 149
    assert are_too_few(PairSums.of(labels))
    assert are_too_few(PairSums.of(labels, known))
    known[-1] = 0
    assert 2 * 149 + WORTH_OF_KNOWN > 3 * FEWEST_OF_CLASS
    assert not are_too_few(PairSums.of(labels, known))
    assert not are_too_few(PairSums.of(half))
    assert not are_too_few(PairSums.of(ordinary_crowd()))


@pytest.mark.parametrize("seed", range(5))
def test_updates_raise_the_bound_with_a_prior_of_the_concentration(seed):
    rng = np.random.default_rng(seed)
    model = Hierarchical.of(random_counts(rng, 6, 3), PULL)
    bounds = [model._own_bound()]
    for _ in range(10):
        model = model.update(model.counts)
        bounds.append(model._own_bound())
    assert (np.diff(bounds) >= -1e-8).all()


def test_the_prior_keeps_the_concentration_from_growing_without_limit():
    """Annotators who are all alike: without a prior s goes to its limit."""
    counts = np.tile(1.0 + 9 * np.eye(3), (30, 1, 1))
    ordinary, cautious = Hierarchical.of(counts), Hierarchical.of(counts, PULL)
    for _ in range(20):
        ordinary, cautious = ordinary.update(counts), cautious.update(counts)
    assert ordinary.concentration.min() > 1000
    assert cautious.concentration.max() < 200


def draws_under(model, labels, monkeypatch):
    """The pull and the imagined items under which certainty draws."""
    read, of = [], WeightedDawidSkene.of

    def spy(encoded, q, sizes, **settings):
        read.append((settings["pull"], sizes))
        return of(encoded, q, sizes, **settings)

    with monkeypatch.context() as patched:
        patched.setattr(WeightedDawidSkene, "of", spy)
        certainty(model, labels, n_draws=2, random_state=0)
    return read[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("crowd", "pull", "sizes_of"),
    [
        (lambda: habitual(12).labels, PULL, cautious_sizes),
        (lambda: mostly_one(habitual(0), 60), PULL_OF_ONE, cautious_sizes),
        (ordinary_crowd, NO_PULL, imagined_by_pairs),
    ],
)
def test_certainty_draws_under_the_same_prior(crowd, pull, sizes_of, monkeypatch):
    labels = crowd()
    read, sizes = draws_under(DawidSkene().fit(labels), labels, monkeypatch)
    assert read == pull
    np.testing.assert_allclose(sizes, sizes_of(PairSums.of(labels)))


def test_a_file_of_an_earlier_version_is_weighed_under_the_prior_that_it_had(monkeypatch):
    """That version took the cautious prior only where labels showed a collapse, though few labels were compared."""
    labels = mostly_one(habitual(0), 60)
    model = DawidSkene(subtypes=1, calibrate=False, copies=None).fit(labels)
    assert draws_under(model, labels, monkeypatch)[0] == PULL_OF_ONE
    del model._pull
    assert draws_under(model, labels, monkeypatch)[0] == PULL
    model.is_cautious_ = False
    assert draws_under(model, labels, monkeypatch)[0] == NO_PULL
