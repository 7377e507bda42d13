import numpy as np

from consilience.analysis import findings
from consilience.analysis.tag_figures import doubtful_tags, item_tags, tag_figures
from consilience.consensus import TagConsensus
from consilience.simulation import simulate_tags

TRUTH = np.random.default_rng(0).random((50, 3)) < 0.4
SAID = simulate_tags(TRUTH, n_annotators=5, annotators_per_item=3, random_state=0)
MODEL = TagConsensus().fit(SAID)


def test_figures_of_tags_are_those_of_the_model():
    figures = tag_figures(MODEL)
    assert figures["n_items"].tolist() == MODEL.indicator_.sum(0).tolist()
    in_doubt = (MODEL.probabilities_ > 0.25) & (MODEL.probabilities_ < 0.75)
    assert figures["n_doubtful"].tolist() == in_doubt.sum(0).tolist()
    each = MODEL.rates_["sensitivity"].unstack()[list(MODEL.tags_)]
    weights = MODEL.annotators_["n_items"]
    np.testing.assert_allclose(figures["sensitivity"], each.mul(weights, axis=0).sum() / weights.sum())


def test_every_item_and_tag_has_its_answers():
    table, frame = item_tags(MODEL, SAID), SAID.to_frame()
    assert len(table) == 150
    assert table["n_seen"].tolist() == [3] * 150
    given = frame[frame["label"] != "(no tag)"].value_counts(["item", "label"])
    for row in table.itertuples():
        assert row.n_given == given.get((row.item, row.tag), 0)
    np.testing.assert_array_equal(table["present"].to_numpy().reshape(50, 3), MODEL.indicator_ == 1)


def test_the_most_doubtful_come_first():
    found = doubtful_tags(item_tags(MODEL, SAID), 1000)
    assert len(found) == tag_figures(MODEL)["n_doubtful"].sum() > 1
    assert ((found["probability"] - 0.5).abs().diff().dropna() >= -1e-3).all()  # the order is by three digits


def test_findings_tell_of_tags_and_not_of_agreement_in_classes():
    found = findings(MODEL, SAID, certainty=None)
    assert [row["tag"] for row in found.facts["tags"]] == MODEL.tags_.tolist()
    assert found.facts["reliability"] == {}
    assert found.votes is None
    assert str(found).startswith("50 items with 3 tags by 5 annotators\n")
