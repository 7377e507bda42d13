"""What a new person would say, of every model of groupings and pairs."""

import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from consilience import Groupings, load, registry, save
from consilience.consensus import CSPA, KCC, Crowdclustering, SubsetFusion
from consilience.errors import InputError
from consilience.estimators.forecasts import on_number_of_clusters
from consilience.semisupervised import InductiveConsensus, PartitionLabelModel
from consilience.simulation import simulate_crowd
from tests.quick_cases import COMPILED, QUICK, quick_in_turn, some_quick

LABEL_MODELS = {name for name, known in registry.ESTIMATORS.items() if known.reads == ("labels",)}
NAMES = [
    pytest.param(name, marks=pytest.mark.slow) if name in COMPILED else name
    for name in registry.ESTIMATORS
    if name not in LABEL_MODELS
]
ITEMS = [f"item {place}" for place in range(12)]


@pytest.fixture
def sorts():
    """Eight people who sort twelve items, mostly into two groups."""
    rng = np.random.default_rng(0)
    lists = []
    for _ in range(8):
        group = (np.arange(12) % 2 + (rng.random(12) < 0.15)) % 2
        lists.append([[ITEMS[place] for place in np.flatnonzero(group == own)] for own in (0, 1)])
    return Groupings.from_lists(lists, annotators=[f"person {place}" for place in range(8)])


def fitted(name, sorts):
    model = registry.estimator(name)(**QUICK[name] | ({"max_iter": 500} if name == "Crowdclustering" else {}))
    if "X" not in inspect.signature(model.fit).parameters:
        return model.fit(sorts)
    rng = np.random.default_rng(1)
    features = rng.normal(size=(12, 2)) + 3 * (np.arange(12) % 2)[:, None]
    return model.fit(pd.DataFrame(features, index=ITEMS), sorts)


@pytest.mark.parametrize("name", quick_in_turn(NAMES, 0, every=2))
def test_every_model_of_groupings_or_pairs_forecasts(name, sorts):
    model = fitted(name, sorts)
    items = model.items_.tolist()
    pairs = [(a, b) for a in items for b in items]
    together = model.forecast_same(*map(list, zip(*pairs, strict=True))).reshape(12, 12)
    assert ((together > 0) & (together <= 1)).all()
    np.testing.assert_array_equal(together, together.T)
    np.testing.assert_array_equal(np.diag(together), 1)
    even = np.array([int(str(item).split()[-1]) % 2 for item in items])
    same, off = even[:, None] == even, ~np.eye(12, dtype=bool)
    assert together[same & off].mean() > 0.6 > 0.4 > together[~same].mean()


def test_models_of_labels_do_not(sorts):
    for name in LABEL_MODELS:
        assert not hasattr(registry.estimator(name), "forecast_same")
        assert not hasattr(InductiveConsensus(registry.estimator(name)()), "forecast_same")


def test_names_or_lists(sorts):
    model = CSPA(2).fit(sorts)
    found = model.forecast_same(ITEMS[:3], ITEMS[3:6])
    assert found.shape == (3,)
    assert model.forecast_same(ITEMS[1], ITEMS[4]) == found[1]
    with pytest.raises(InputError, match="item 77"):
        model.forecast_same("item 77", "item 1")
    with pytest.raises(InputError, match="two lists of names of one length"):
        model.forecast_same(ITEMS[:2], ITEMS[:3])


def test_a_model_that_is_fitted_again_forecasts_anew(sorts):
    model = KCC(2, n_init=2, random_state=0).fit(sorts)
    before = model.forecast_same(ITEMS[0], ITEMS[1])
    half = sorts.restrict(annotators=[f"person {place}" for place in range(4)])
    again = model.fit(half).forecast_same(ITEMS[0], ITEMS[1])
    assert again == clone(model).fit(half).forecast_same(ITEMS[0], ITEMS[1])
    assert again != before


@pytest.mark.parametrize(
    "name", some_quick(["CSPA", "MECC", "PartitionLabelModel", "Crowdclustering", "InductiveConsensus"], 2)
)
@pytest.mark.parametrize("kind", ["groupings", "pairs"])
def test_forecasts_survive_saving(name, kind, sorts, tmp_path):
    given = sorts if kind == "groupings" else sorts.to_pairs()
    if kind not in registry.ESTIMATORS[name].reads:
        pytest.skip(f"{name} does not read {kind}")
    model = fitted(name, given)
    save(model, tmp_path / "model.zip")
    expected = model.forecast_same(ITEMS[:6], ITEMS[6:])
    for loaded in (load(tmp_path / "model.zip"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(loaded.forecast_same(ITEMS[:6], ITEMS[6:]), expected)


def test_a_model_saved_by_an_earlier_version_says_why_it_cannot(sorts):
    model = CSPA(2).fit(sorts)
    del model._given
    with pytest.raises(InputError, match="This CSPA has no annotations to forecast from"):
        model.forecast_same("item 0", "item 1")


def test_subset_fusion_keeps_its_groupings_once(sorts):
    model = SubsetFusion(2, random_state=0).fit(sorts)
    assert not hasattr(model, "_given")
    first = model.forecast_same(ITEMS[0], ITEMS[2])
    model.partial_fit(Groupings.from_lists([[[ITEMS[0]], [ITEMS[2]]]], annotators=["newcomer"]))
    assert model.forecast_same(ITEMS[0], ITEMS[2]) < first


@pytest.mark.slow
def test_crowdclustering_keeps_groupings_and_not_their_pairs(sorts):
    model = Crowdclustering(n_init=1, max_clusters=2, random_state=0).fit(sorts)
    assert isinstance(model._given, Groupings)


@pytest.fixture(scope="module")
def eighths():
    truth = np.arange(40) % 8
    return simulate_crowd(truth, n_annotators=12, items_each=40, accuracy=0.95, random_state=0), truth


def test_people_who_make_many_more_or_fewer_groups_than_there_are_clusters_are_noted(eighths):
    crowd, truth = eighths
    truth = truth[crowd.items.astype(int)]
    assert on_number_of_clusters(crowd, truth) == []
    (found,) = on_number_of_clusters(crowd, truth % 2)
    assert found.startswith("People made 8.0 groups on average, of items that are in 2 clusters.")
    assert "for more" in found
    (found,) = on_number_of_clusters(crowd, np.arange(40))
    assert "of items that are in 40 clusters" in found
    assert "for fewer" in found


@pytest.mark.slow
def test_the_note_on_groups_is_one_of_the_models(eighths):
    for model in (SubsetFusion(2, refine=False, random_state=0), PartitionLabelModel(n_clusters=2, random_state=0)):
        found = model.fit(None, eighths[0]) if isinstance(model, PartitionLabelModel) else model.fit(eighths[0])
        assert [text for text in found.notes_ if "groups on average" in text and "for more" in text]


def test_groups_are_counted_among_the_items_that_people_saw():
    """People who see four of many items make at most four groups, however many clusters there are."""
    truth = np.arange(200) % 20
    crowd = simulate_crowd(truth, n_annotators=50, items_each=4, accuracy=1.0, random_state=0)
    assert on_number_of_clusters(crowd, truth[crowd.items.astype(int)]) == []
