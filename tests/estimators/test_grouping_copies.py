"""Copies among annotators who group, in the estimators that weigh them together."""

import numpy as np
import pandas as pd
import pytest

import consilience
from consilience import Groupings
from consilience.consensus import SubsetFusion
from consilience.errors import InputError
from consilience.metrics import nmi
from consilience.semisupervised import PartitionLabelModel
from tests.inference.test_grouping_copies import people, truth_of, with_copies

NAMES = [*(f"person {number}" for number in range(6)), "sort", "copy 1", "copy 2", "copy 3"]


def fitted(model, annotations, **parameters):
    if model is PartitionLabelModel:
        return model(random_state=0, n_init=2, max_clusters=12, **parameters).fit(None, annotations)
    return model(random_state=0, **parameters).fit(annotations)


def copied(seed=0, moved=2):
    return Groupings.from_matrix(with_copies(seed, 3, moved), annotators=NAMES)


MODELS = [SubsetFusion, PartitionLabelModel]


@pytest.mark.parametrize("model", MODELS)
def test_copies_weigh_together_and_are_named(model):
    found = fitted(model, copied())
    assert (nmi(truth_of(0), found.labels_) > 0.8, found.n_clusters_) == (True, 4)
    assert found.copies_["annotators"].tolist() == [["copy 1", "copy 2", "copy 3", "sort"]]
    assert found.notes_[0].startswith(
        "The annotators 'copy 1', 'copy 2', 'copy 3' and 'sort' sort 120 items more alike"
    )
    assert "copies=None" in found.notes_[0]
    assert sorted(found.annotators_.index) == sorted(NAMES)
    assert found.annotators_.drop(columns="consistency", errors="ignore").notna().all(axis=None)
    apart = fitted(model, copied(), copies=None)
    assert (len(apart.copies_), nmi(truth_of(0), apart.labels_) < 0.6) == (0, True)
    assert not any("copies" in note for note in apart.notes_)


@pytest.mark.parametrize("model", MODELS)
def test_exact_copies_of_an_annotator_are_that_annotator(model):
    """The groupings that are read are the same; draws start elsewhere, since the order of the items differs."""
    sorts = people(1, [0.9] * 6)
    once = fitted(model, Groupings.from_matrix(sorts, annotators=NAMES[:6]), copies=None)
    names = [NAMES[0], "again", "a third time"]
    thrice = Groupings.from_matrix(np.hstack([sorts, sorts[:, [0, 0]]]), annotators=[*NAMES[:6], *names[1:]])
    together = fitted(model, thrice, copies=[names])
    assert nmi(once.labels_, together.labels_) == pytest.approx(1)
    columns = {SubsetFusion: ["consistency", "weight", "agreement"], PartitionLabelModel: ["reliability", "accuracy"]}
    for column in columns[model]:
        of_all = together.annotators_[column]
        np.testing.assert_allclose(of_all[NAMES[:6]], once.annotators_.loc[NAMES[:6], column], atol=0.02)
        np.testing.assert_allclose(of_all[names], of_all[names[0]], atol=0.02)
    assert together.notes_[0] == (
        "The annotators 'a third time', 'again' and 'person 0' weigh together as one annotator, as requested."
    )


def test_tables_of_mappings_have_the_groups_of_all_copies():
    found = fitted(PartitionLabelModel, copied(moved=0))
    table = found.label_probabilities_
    np.testing.assert_allclose(table.loc["sort"], table.loc["copy 1"], atol=1e-6)
    assert found.annotators_.loc["copy 2", "reliability"] == found.annotators_.loc["sort", "reliability"]
    assert len(found.groupings_) == len(NAMES)


@pytest.mark.slow
def test_copies_with_features_and_unrefined():
    rng = np.random.default_rng(0)
    X = rng.normal(0, 2, (4, 3))[truth_of(0)] + rng.normal(size=(len(truth_of(0)), 3))
    found = PartitionLabelModel(prior_variance=1.0, n_init=2, random_state=0).fit(X, copied())
    assert (len(found.copies_), found.n_clusters_) == (1, 4)
    assert np.isfinite(found.score(X, copied()))
    plain = fitted(SubsetFusion, copied(), refine=False, normalize=None)
    assert plain.annotators_["weight"].sum() == pytest.approx(1)
    np.testing.assert_allclose(plain.annotators_.loc[NAMES[6:], "weight"], plain.annotators_.loc["sort", "weight"])


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.slow
def test_saved_and_restored(model, tmp_path):
    found = fitted(model, copied())
    consilience.save(found, tmp_path / "model.zip")
    pd.testing.assert_frame_equal(consilience.load(tmp_path / "model.zip").copies_, found.copies_)


def test_groupings_that_are_added_are_searched_for_copies():
    annotations = copied()
    model = SubsetFusion(random_state=0).fit(annotations.restrict(annotators=NAMES[:7]))
    assert not len(model.copies_)
    model.partial_fit(annotations.restrict(annotators=NAMES[7:]))
    assert (len(model.copies_), model.n_clusters_) == (1, 4)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("copies", "message"),
    [
        ("yes", "must be 'auto', None or a list of lists of two or more annotators"),
        ([["person 0"]], "must be 'auto', None or a list of lists"),
        ([["person 0", "nobody"]], "must name annotators of the annotations. Got 'nobody'"),
    ],
)
def test_what_copies_may_be(model, copies, message):
    with pytest.raises(InputError, match=message):
        fitted(model, copied(), copies=copies)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.slow
def test_sorts_that_tell_next_to_nothing_are_named(model):
    n_items = len(truth_of(0))
    lumped = np.zeros(n_items, dtype=object)
    lumped[:2] = [1, 2]
    sorts = np.column_stack([people(0, [0.8] * 6), lumped, np.arange(n_items)])
    found = fitted(model, Groupings.from_matrix(sorts, annotators=[*NAMES[:6], "lumper", "splitter"]))
    assert (
        "2 of 8 annotators tell next to nothing. They put nearly all items into one group: 'lumper'; leave nearly all "
        "items alone in a group: 'splitter'."
    ) in found.notes_
    if model is SubsetFusion:
        assert sorted(found.annotators_.index[-2:]) == ["lumper", "splitter"]
        assert found.annotators_["consistency"].idxmax() == "lumper"
