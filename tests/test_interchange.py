"""What a model found in the forms of other tools: the values they expect, and nothing for items of no cluster."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from consilience import Groupings, Labels, registry
from consilience.consensus import KCC, DawidSkene, MajorityVote, TagConsensus
from consilience.errors import InputError, UnannotatedWarning
from consilience.interchange import to_argilla, to_cleanlab, to_columns, to_crowdkit, to_label_studio, to_obs
from tests.quick_cases import some_quick

SAID = pd.DataFrame(
    [["cat", "cat", "cat"], ["dog", "dog", "cat"], ["dog", "dog", "dog"], ["cat", "cat", "dog"]],
    ["i1", "i2", "i3", "i4"],
    ["a", "b", "c"],
)
TEXTS = {name: {"text": f"Text of {name}"} for name in [*SAID.index, "i5"]}


@pytest.fixture(scope="module")
def model():
    """Classes of five items, of which nobody labelled the last."""
    with pytest.warns(UnannotatedWarning, match="'i5'"):
        return DawidSkene().fit(Labels.from_matrix(SAID.reindex([*SAID.index, "i5"])))


@pytest.fixture(scope="module")
def without_probabilities():
    return KCC(2, random_state=0).fit(Groupings.from_matrix(SAID))


def test_columns_hold_plain_values(model, without_probabilities):
    columns = to_columns(model)
    assert list(columns) == ["item", "label", "probability", "probabilities"]
    assert {len(values) for values in columns.values()} == {5}
    assert json.loads(json.dumps(columns)) == columns
    assert columns["label"] == ["cat", "dog", "dog", "cat", None]
    assert columns["probability"][0] == model.responsibilities_[0].max()
    assert columns["probability"][4] is None
    assert list(to_columns(without_probabilities)) == ["item", "cluster"]


def test_cleanlab_gets_places_of_classes_and_rows_that_sum_to_one(model, without_probabilities):
    found = to_cleanlab(model)
    assert found.items.tolist() == ["i1", "i2", "i3", "i4"]
    assert found.classes[found.labels].tolist() == ["cat", "dog", "dog", "cat"]
    np.testing.assert_allclose(found.pred_probs.sum(1), 1)
    with pytest.raises(InputError, match="KCC has no probabilities"):
        to_cleanlab(without_probabilities)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of crowd-kit
def test_crowdkit_gets_what_its_aggregators_return(without_probabilities):
    aggregation = pytest.importorskip("crowdkit.aggregation")
    frame = SAID.rename_axis("task").reset_index().melt("task", var_name="worker", value_name="label")
    vote = aggregation.MajorityVote()
    labels, probabilities = to_crowdkit(MajorityVote().fit(SAID))
    pd.testing.assert_series_equal(labels, vote.fit_predict(frame), check_dtype=False, check_index_type=False)
    theirs = vote.fit_predict_proba(frame)
    np.testing.assert_allclose(probabilities.loc[theirs.index, theirs.columns], theirs)
    assert to_crowdkit(without_probabilities)[1] is None


def test_tasks_of_label_studio(model):
    tasks = to_label_studio(model, TEXTS, from_name="animal", to_name="text")
    assert json.loads(json.dumps(tasks)) == tasks
    (prediction,) = tasks[1]["predictions"]
    assert tasks[1]["data"] == {"text": "Text of i2"}
    assert prediction["result"][0]["value"] == {"choices": ["dog"]}
    assert (prediction["result"][0]["from_name"], prediction["model_version"]) == ("animal", "DawidSkene")
    assert prediction["score"] == model.responsibilities_[1].max()
    assert tasks[4]["predictions"] == []


def test_tags_are_lists():
    """Each tool gets the tags of an item, as places, as choices, or as a list of names."""
    said = pd.DataFrame(
        {"item": [*"aabbcc"], "annotator": [*"xy"] * 3, "tag": ["red|big", "big|red", "", "", "big", "big"]}
    )
    model = TagConsensus().fit(said)
    assert model.labels_.tolist() == ["big, red", "(no tag)", "big"]
    cleanlab = to_cleanlab(model)
    assert (cleanlab.labels, cleanlab.classes.tolist()) == ([[0, 1], [], [0]], ["big", "red"])
    np.testing.assert_array_equal(cleanlab.pred_probs, model.probabilities_)
    assert to_columns(model)["tags"] == [["big", "red"], [], ["big"]]
    shown = {item: {"text": item} for item in "abc"}
    studio = [task["predictions"][0]["result"][0]["value"]["choices"] for task in to_label_studio(model, shown)]
    assert studio == [["big", "red"], [], ["big"]]
    assert [record["label"] for record in to_argilla(model, shown)] == studio


def test_records_of_argilla(model):
    records = to_argilla(model, TEXTS, question="animal")
    assert records[0].keys() == {"id", "text", "animal", "animal.suggestion.agent", "animal.suggestion.score"}
    assert (records[0]["id"], records[0]["animal"]) == ("i1", "cat")
    assert records[4] == {"id": "i5", "text": "Text of i5"}


@pytest.mark.parametrize("write", [to_columns, to_cleanlab, to_crowdkit, to_obs])
def test_only_what_was_fitted_is_handed_on(write):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        write(DawidSkene())
    with pytest.raises(TypeError, match="not an estimator"):
        write("DawidSkene")


@pytest.mark.parametrize("write", [to_label_studio, to_argilla])
def test_an_item_without_fields_is_named(model, write):
    with pytest.raises(InputError, match="'i5'"):
        write(model, {name: fields for name, fields in TEXTS.items() if name != "i5"})


def test_a_field_that_would_be_overwritten_is_named(model):
    with pytest.raises(InputError, match="'id' of item 'i1'"):
        to_argilla(model, {name: {"id": 1} for name in TEXTS})


def test_observations_are_joined_by_their_names(model, without_probabilities):
    obs = to_obs(model, prefix="experts")
    assert obs["experts_label"].cat.categories.tolist() == ["cat", "dog"]
    joined = pd.DataFrame({"sex": ["f", "m"]}, ["i5", "i2"]).join(obs)
    assert joined["experts_label"].isna().tolist() == [True, False]
    numbered = to_obs(KCC(2, random_state=0).fit(SAID.reset_index(drop=True).T.reset_index(drop=True).T))
    assert numbered.index.tolist() == ["0", "1", "2", "3"]
    assert list(to_obs(without_probabilities)) == ["consilience_cluster"]


@pytest.mark.parametrize("name", some_quick(["MCVC", "MetaClustering", "CorrelationClustering", "SubsetFusion"], 2))
def test_models_of_every_kind(name):
    rng = np.random.default_rng(0)
    sorts = np.where(rng.random((12, 6)) < 0.8, np.arange(12)[:, None] % 3, rng.integers(3, size=(12, 6)))
    features = [None] if name == "MCVC" else []
    fitted = registry.estimator(name)(random_state=0).fit(*features, Groupings.from_matrix(sorts))
    columns = to_columns(fitted)
    assert {len(values) for values in columns.values()} == {12}
    assert columns["cluster"] == [None if code < 0 else code for code in fitted.labels_.tolist()]
