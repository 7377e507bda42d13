"""Gold items in every model of labels: their class is fixed, and is evidence about annotators."""

import warnings

import numpy as np
import pandas as pd
import pytest

from consilience import Labels
from consilience.consensus import DawidSkene, MajorityVote, ProductMixture, SpectralEM, StagewiseEM
from consilience.errors import InputError
from consilience.simulation import simulate_labels, sparse_crowd

NAMES = np.array(["ash", "beech", "cherry"])
MODELS = {
    "DawidSkene": DawidSkene(),
    "MajorityVote": MajorityVote(),
    "ProductMixture": ProductMixture(),
    "ProductMixture from random starts": ProductMixture(init="random", n_init=3, random_state=0),
    "SpectralEM": SpectralEM(n_init=2, n_starts=20, random_state=0),
    "StagewiseEM": StagewiseEM(),
    "StagewiseEM, all": StagewiseEM(refine="all"),
    "StagewiseEM, stages": StagewiseEM(refine=None, max_iter=60),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())


def crowd(seed, n_items=300):
    true = NAMES[np.random.default_rng(seed).integers(3, size=n_items)]
    return simulate_labels(true, n_annotators=12, accuracy=0.65, random_state=seed), true


def refitted(model, labels, **known):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return type(model)(**model.get_params()).fit(labels, **known)


def test_words_of_abstention_are_classes_if_a_gold_item_is_of_one():
    frame = pd.DataFrame([["skip", "skip", "no"], ["no", "no", "no"], ["skip", "no", "skip"], ["no", "unsure", "no"]])
    with pytest.warns(UserWarning, match="'skip', 'unsure' read as missing"):
        assert MajorityVote().fit(frame).classes_.tolist() == ["no"]
    for annotations in (frame, frame.to_numpy()):
        with pytest.warns(UserWarning, match="1 cell with 'unsure' read as missing"):
            vote = MajorityVote().fit(annotations, gold={0: "skip"})
        assert vote.classes_.tolist() == ["no", "skip"]
        assert vote.labels_.tolist() == ["skip", "no", "skip", "no"]
        with pytest.warns(UserWarning, match="'unsure' read as missing"):
            assert (vote.predict(annotations) == ["skip", "no", "skip", "no"]).all()


@every_model
def test_gold_is_fixed_whatever_the_labels(model):
    labels, true = crowd(0)
    wrong = NAMES[(pd.Index(NAMES).get_indexer(true[:20]) + 1) % 3]
    found = refitted(model, labels, gold=dict(zip(labels.items[:20], wrong, strict=True)))
    np.testing.assert_array_equal(found.labels_[:20], wrong)
    np.testing.assert_array_equal(found.responsibilities_[:20], (wrong[:, None] == NAMES).astype(float))
    assert found.classes_.tolist() == NAMES.tolist()
    if getattr(model, "init", None) != "random":  # whose components have their names from gold alone
        assert (found.labels_[20:] == true[20:]).mean() > 0.8
    free = refitted(model, labels).predict(labels)
    if type(model).__name__ == "MajorityVote":  # knows nothing of gold
        np.testing.assert_array_equal(found.predict(labels), free)


@every_model
def test_an_empty_gold_changes_nothing(model):
    labels, _ = crowd(1)
    one, two = refitted(model, labels), refitted(model, labels, gold={})
    np.testing.assert_array_equal(one.labels_, two.labels_)
    np.testing.assert_array_equal(one.responsibilities_, two.responsibilities_)


@every_model
def test_gold_of_an_item_without_labels_is_its_class(model):
    labels, true = crowd(2)
    more = Labels.from_frame(labels.to_frame(), items=[*labels.items, "extra"])
    found = refitted(model, more, gold={"extra": "cherry", 0: true[0]})
    assert found.labels_[-1] == "cherry"


@every_model
def test_the_order_of_items_and_gold_changes_nothing(model):
    labels, true = crowd(3)
    gold = pd.Series(true, index=labels.items)[::7]
    order = np.random.default_rng(0).permutation(len(labels))
    there = refitted(model, labels, gold=gold)
    here = refitted(model, labels[order], gold=gold.sample(frac=1, random_state=0))
    np.testing.assert_array_equal(here.labels_series_.loc[list(there.items_)], there.labels_)


@pytest.mark.parametrize(
    "model", [MODELS[name] for name in MODELS if name != "MajorityVote"], ids=lambda m: str(m)[:24]
)
def test_gold_shows_who_is_right(model):
    """Two camps, of which the larger is always wrong in the same way: gold of a third of the items tells."""
    rng = np.random.default_rng(4)
    true = rng.integers(2, size=300)
    said = np.column_stack([np.where(rng.random(300) < 0.1, 1 - true, true) for _ in range(4)])
    said = np.column_stack([said, *[1 - np.where(rng.random(300) < 0.1, 1 - true, true) for _ in range(6)]])
    found = refitted(model, said, gold=pd.Series(true)[::3])
    assert (found.labels_ == true).mean() > 0.95
    if type(model).__name__ != "StagewiseEM":
        assert (found.annotators_["accuracy"].to_numpy()[:4] > 0.8).all()


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        (["ash"], "gold must be a Series or a dict of classes by item. Got list instead."),
        ({"nowhere": "ash"}, "The gold item 'nowhere' is not among the items."),
        ({0: "oak"}, "The gold item 0 has the class 'oak', which nobody gave. Name all classes when you create the "),
    ],
)
@every_model
def test_gold_that_does_not_match(model, gold, message):
    with pytest.raises(InputError) as error:
        refitted(model, crowd(0)[0], gold=gold)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("model", [ProductMixture, StagewiseEM])
def test_components_that_are_not_classes_take_no_gold(model):
    with pytest.raises(InputError) as error:
        model(n_clusters=4).fit(crowd(0)[0], gold={0: "ash"})
    assert str(error.value) == (
        f"gold names classes, and the components of {model.__name__} are not classes: there are 4, and the labels have "
        "3. Leave out gold, or n_clusters."
    )


@pytest.mark.filterwarnings("ignore::consilience.errors.AnnotationWarning")
def test_stages_that_find_too_few_classes_take_no_gold():
    said = np.random.default_rng(1).integers(2, size=(300, 6))
    with pytest.raises(InputError, match=r"found 1 components for 2 classes\. Leave out gold"):
        StagewiseEM(refine=None, entry_level=1e-9).fit(said, gold={0: 1})


def test_spectral_em_takes_gold_of_a_class_that_nobody_named():
    labels, true = crowd(5)
    declared = Labels.from_frame(labels.to_frame(), classes=["ash", "beech", "cherry", "oak"])
    found = refitted(MODELS["SpectralEM"], declared, gold={0: "oak", 1: true[1]})
    assert found.labels_[:2].tolist() == ["oak", true[1]]
    assert np.isfinite(found.responsibilities_).all()


def test_gold_finds_experts_whom_the_labels_alone_do_not_show():
    """Six experts of sixty, of whose labels an item has one on average; a quarter of the items is of known class."""
    rng = np.random.default_rng(0)
    true = rng.integers(3, size=600)
    matrices = sparse_crowd(60, 3, alpha=0.1, accuracy=0.75, random_state=rng)
    labels = simulate_labels(true, confusion=matrices, annotators_per_item=10, random_state=rng)
    experts, rest = set(labels.annotators[:6]), np.arange(600) % 4 > 0
    alone = refitted(StagewiseEM(), labels)
    found = refitted(StagewiseEM(), labels, gold=pd.Series(true, index=labels.items)[~rest])
    assert not set(alone.informative_set_) & experts
    assert set(found.informative_set_) <= experts
    assert (found.labels_ == true)[rest].mean() > (alone.labels_ == true)[rest].mean() + 0.1


def test_ties_of_gold_items_do_not_count():
    said = [["a", "b"], ["a", "b"], ["a", "a"]]
    vote = MajorityVote().fit(said, gold={0: "b"})
    assert vote.n_ties_ == 1
    assert vote.labels_.tolist() == ["b", "a", "a"]
    # the second annotator was right about item 0, by what is known
    assert vote.confusion_matrices_.loc[(1, "b"), "b"] > 0.9
