"""Comparison of models by held-out judgements: against enumeration, on hand-made models, and on simulated crowds."""

import itertools
import re
import tracemalloc
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from consilience import Groupings, Labels, Pairs
from consilience.annotations import concat
from consilience.annotations.judgements import AnnotationRows, draw
from consilience.consensus import KCC, DawidSkene, MajorityVote, SubsetFusion, TagConsensus
from consilience.errors import InputError
from consilience.inference.randomness import spawn_seeds
from consilience.metrics.clusterings import same_log_loss
from consilience.selection import prediction
from consilience.selection.candidates import as_read, candidates, measure_work, name_models, seed_model
from consilience.selection.comparison import compare, share_same, standard_error
from consilience.selection.folds import hold_out, level_of, without_rows
from consilience.selection.prediction import by_clusters, shares, shares_of_labels
from consilience.semisupervised import MECC, DawidSkeneClassifier, InductiveConsensus, MPCKMeans, PartitionLabelModel
from consilience.simulation import simulate_crowd, simulate_labels, simulate_tags
from tests.quick_cases import some_quick
from tests.scrambled import scramble

CLASSES = np.repeat([0, 1, 2], 8)
NAMES = [f"item {i:02d}" for i in range(24)]


class Knows(BaseEstimator):
    """Predicts by a given clustering, with one probability for items of one cluster and one for others."""

    def __init__(self, clusters=None, within=0.9, across=0.1, warn=False, refuse=None):
        self.clusters = clusters
        self.within = within
        self.across = across
        self.warn = warn
        self.refuse = refuse

    def fit(self, annotations):
        if self.refuse:
            raise InputError(self.refuse)
        if self.warn:
            import warnings

            warnings.warn("It did not settle.", ConvergenceWarning, stacklevel=2)
        self.fitted_ = annotations
        self.calls_ = []
        return self

    def predict_same(self, item_a, item_b, annotator=None):
        self.calls_.append((annotator, len(item_a)))
        together = [self.clusters[a] == self.clusters[b] for a, b in zip(item_a, item_b)]
        return np.where(together, self.within, self.across)


@pytest.fixture
def crowd():
    """12 annotators who sort 16 of 24 items each, of three classes."""
    return simulate_crowd(CLASSES, n_annotators=12, items_each=16, accuracy=0.9, items=NAMES, random_state=0)


@pytest.fixture
def sheets():
    """Four annotators with five groupings of six items each."""
    rng, lists = np.random.default_rng(1), []
    for _ in range(20):
        some = rng.choice(24, 6, replace=False)
        lists.append([[NAMES[i] for i in some if CLASSES[i] == k] for k in range(3)])
    return Groupings.from_lists(lists, annotators=["d", "b", "a", "c"] * 5, items=NAMES)


def every_judgement(groupings):
    """Return all judgements by enumeration: {(annotator, grouping, item, item): same}."""
    found = {}
    for keys, part in groupings.to_frame().groupby(["annotator", "grouping"]):
        for (_, one), (_, two) in itertools.combinations(part.iterrows(), 2):
            found[(*keys, *sorted((one["item"], two["item"])))] = one["group"] == two["group"]
    return found


# ---- drawn and held-out judgements


def test_all_judgements_are_drawn_if_they_are_few(sheets):
    judgements, n_possible = draw(sheets, AnnotationRows.of(sheets), 10_000, np.random.default_rng(0))
    expected = every_judgement(sheets)
    assert n_possible == len(expected) == 20 * 15
    frame = sheets.to_frame()
    for side, row in ((judgements.item_a, judgements.row_a), (judgements.item_b, judgements.row_b)):
        assert frame["item"].iloc[row].tolist() == sheets.items[side].tolist()
    keys = frame.iloc[judgements.row_a][["annotator", "grouping"]].to_numpy().tolist()
    assert frame.iloc[judgements.row_b][["annotator", "grouping"]].to_numpy().tolist() == keys
    pairs = [sorted(pair) for pair in zip(sheets.items[judgements.item_a], sheets.items[judgements.item_b])]
    assert {(*key, *pair): same for key, pair, same in zip(keys, pairs, judgements.same)} == expected


def test_a_sample_has_no_repeats_and_the_share_of_same_of_the_whole(crowd):
    judgements, n_possible = draw(crowd, AnnotationRows.of(crowd), 300, np.random.default_rng(0))
    everything = every_judgement(crowd)
    assert n_possible == len(everything) == 12 * 120
    assert len(judgements.same) == 300
    assert len({*zip(judgements.row_a, judgements.row_b)}) == 300
    assert judgements.same.sum() == round(300 * sum(everything.values()) / len(everything))
    frame = crowd.to_frame()
    for a, b, same in zip(judgements.row_a, judgements.row_b, judgements.same):
        one, two = frame.iloc[a], frame.iloc[b]
        assert one["annotator"] == two["annotator"]
        assert (one["group"] == two["group"]) == same
    assert share_same(crowd) == sum(everything.values()) / len(everything)
    assert share_same(crowd.to_pairs()) == share_same(crowd)


def test_a_draw_is_uniform(crowd):
    """Each judgement of 1440 is in a sample of 300 with probability 0.21; 100 samples, 5 standard deviations."""
    times = dict.fromkeys(every_judgement(crowd), 0)
    frame = crowd.to_frame()
    keys = list(frame[["annotator", "grouping", "item"]].itertuples(index=False, name=None))
    for seed in range(100):
        judgements, _ = draw(crowd, AnnotationRows.of(crowd), 300, np.random.default_rng(seed))
        for a, b in zip(judgements.row_a, judgements.row_b):
            times[(*keys[a][:2], *sorted((keys[a][2], keys[b][2])))] += 1
    p = 300 / 1440
    assert np.abs(np.array([*times.values()]) - 100 * p).max() < 5 * np.sqrt(100 * p * (1 - p))


def test_whole_groupings_are_held_out_if_annotators_gave_several(sheets):
    held = hold_out(sheets, 5, "auto", 10_000, np.random.default_rng(0))
    assert held.level == "groupings"
    grouping = AnnotationRows.of(sheets).occasion
    for number in np.unique(grouping):
        assert len(np.unique(held.fold_of_row[grouping == number])) == 1
    for fold in range(5):
        kept = held.kept(fold)
        assert kept.n_groupings == 16  # a fold takes one of each annotator's five
        assert kept.summary().groups_per_grouping.groupby(level="annotator").size().tolist() == [4] * 4
        assert kept.items.equals(sheets.items)
        left = {*map(tuple, kept.to_frame().to_numpy().tolist())}
        assert left < {*map(tuple, sheets.to_frame().to_numpy().tolist())}
        assert len(left) == 96
    drawn_from = grouping[held.judgements.row_a]
    assert (held.fold == held.fold_of_row[held.judgements.row_a]).all()
    assert (drawn_from == grouping[held.judgements.row_b]).all()


def test_otherwise_items_of_every_grouping_are_held_out(crowd):
    held = hold_out(crowd, 4, "auto", 10_000, np.random.default_rng(0))
    assert held.level == "judgements"
    assert len(held.fold) == held.n_possible == 12 * 120  # each once
    for fold in range(4):
        kept = held.kept(fold)
        assert kept.annotators.tolist() == crowd.annotators.tolist()
        assert kept.summary().items_per_annotator.tolist() == [12] * 12  # 16 items in 4 folds
        hidden = held.fold_of_row == fold
        one, two = (hidden[row][held.fold == fold] for row in (held.judgements.row_a, held.judgements.row_b))
        assert (one | two).all()  # no judgement is wholly in the kept part
    assert level_of(crowd.restrict(annotators=crowd.annotators[:3]), AnnotationRows.of(crowd)) == "judgements"


def test_many_groupings_are_held_out_whole_even_one_per_annotator():
    many = simulate_crowd(CLASSES, n_annotators=50, items_each=5, random_state=0)
    assert hold_out(many, 5, "auto", 100, np.random.default_rng(0)).level == "groupings"
    assert hold_out(many, 5, "judgements", 100, np.random.default_rng(0)).level == "judgements"


def test_pairs_and_labels_are_held_out_one_by_one(sheets):
    pairs = sheets.to_pairs()
    who = ["item_a", "item_b", "annotator"]
    n_each = pairs.to_frame().drop_duplicates(who).groupby("annotator").size()  # a pair of several sheets counts once
    held = hold_out(pairs, 5, "auto", 10_000, np.random.default_rng(0))
    assert held.level == "judgements"
    assert (held.judgements.row_a == held.judgements.row_b).all()
    assert sorted(held.judgements.row_a) == list(range(pairs.n_rows))
    frames = []
    for fold in range(5):
        kept = held.kept(fold).to_frame()
        n_kept = kept.drop_duplicates(who).groupby("annotator").size()
        assert (abs(n_kept - 0.8 * n_each) <= 1).all()
        frames.append(kept)
    everything = pairs.to_frame().value_counts()
    assert (pd.concat(frames).value_counts() == 4 * everything.reindex(pd.concat(frames).value_counts().index)).all()

    labels = Labels.from_matrix([["p", "q"], ["p", None], ["r", "q"], ["p", "r"], ["p", "q"]], annotators=["x", "y"])
    held = hold_out(labels, 3, "auto", 100, np.random.default_rng(0))
    assert held.n_possible == 10 + 6
    for fold in range(3):
        kept = held.kept(fold)
        assert isinstance(kept, Labels)
        assert kept.classes.equals(labels.classes)
        assert kept.n_rows == 6
    frame = labels.to_frame()
    for a, b, same in zip(held.judgements.row_a, held.judgements.row_b, held.judgements.same):
        assert (frame["label"].iloc[a] == frame["label"].iloc[b]) == same


def test_of_tags_all_that_an_annotator_gave_an_item_is_held_out():
    truth = np.random.default_rng(0).random((12, 3)) < 0.4
    tags = simulate_tags(truth, n_annotators=4, annotators_per_item=3, random_state=0)
    held = hold_out(tags, 3, "tags", 500, np.random.default_rng(0))
    said = tags.to_frame().groupby(["item", "annotator"])["label"].agg(frozenset)
    items, annotators = held.annotations.items, held.annotations.annotators
    first, second = (items.take(item) for item in (held.judgements.item_a, held.judgements.item_b))
    for a, b, who, same in zip(first, second, annotators.take(held.annotator), held.judgements.same):
        assert same == (said[a, who] == said[b, who])
    parts = [held.kept_tags(fold).to_frame() for fold in range(3)]
    for fold, part in enumerate(parts):
        of_part = part.groupby(["item", "annotator"])["label"].agg(frozenset)
        whole = held.kept(fold).to_frame().set_index(["item", "annotator"]).index
        assert of_part.to_dict() == said.loc[whole].to_dict()
    assert pd.concat(parts).value_counts().eq(2).all()


@pytest.mark.filterwarnings("ignore::consilience.errors.AnnotationWarning")
@pytest.mark.filterwarnings("ignore::consilience.errors.CalibrationWarning")
def test_tags_that_are_independent_are_no_classes_and_those_that_are_one_class_each_are():
    rng = np.random.default_rng(0)
    apart = simulate_tags(rng.random((80, 3)) < 0.4, n_annotators=8, annotators_per_item=5, random_state=0)
    exclusive = simulate_labels(
        rng.integers(4, size=80), n_annotators=8, accuracy=0.7, annotators_per_item=5, random_state=0
    )
    tags = {"tags": TagConsensus(max_iter=30, tol=1e-3), "posterior": TagConsensus(False, max_iter=30, tol=1e-3)}
    models = tags | {"classes": DawidSkene(copies=None, subtypes=1)}
    settings = {"n_folds": 2, "memory": False, "random_state": 0, "by": "model"}
    found = compare(models, apart, **settings)
    assert found.level == "tags"
    assert found.chosen == "tags"
    loss = found.table["log_loss"]
    assert loss["tags"] == pytest.approx(loss["posterior"])  # calibration predicts the truth, not what people say
    assert compare(models, exclusive, **settings).best == "classes"


def test_groupings_are_no_tags(sheets):
    with pytest.raises(InputError, match=r"level='tags' needs Labels\. Got Groupings instead\."):
        compare([SubsetFusion()], sheets, level="tags")


@pytest.mark.parametrize("level", ["judgements", "groupings"])
def test_a_tag_that_is_held_out_alone_would_be_an_answer_of_no(level):
    tags = simulate_tags(np.eye(4, dtype=bool)[[0, 1, 2, 3] * 4], n_annotators=4, random_state=0)
    with pytest.raises(InputError, match=rf"must be 'auto' or 'tags' with TagConsensus.*Got '{level}' instead\.$"):
        compare([MajorityVote(), TagConsensus()], tags, level=level, n_folds=2)


def test_empty_annotators_and_groupings_are_dropped(sheets):
    of_a = (sheets.to_frame()["annotator"] != "a").to_numpy()
    kept = without_rows(sheets, of_a)
    assert kept.annotators.tolist() == ["d", "b", "c"]
    assert kept == sheets.restrict(annotators=["b", "c", "d"])
    one = (sheets.to_frame()["grouping"] == 0).to_numpy()
    assert without_rows(sheets, one).to_frame().equals(sheets.to_frame()[one].reset_index(drop=True))
    assert without_rows(sheets, one).n_groupings == 1


# ---- scores


def test_losses_are_those_of_predict_same_on_held_out_judgements(sheets):
    clusters = dict(zip(NAMES, CLASSES))
    clusters["item 00"] = 2
    found = compare({"known": Knows(clusters)}, sheets, by="model", random_state=0)
    judgements = found.judgements
    together = judgements["item_a"].map(clusters) == judgements["item_b"].map(clusters)
    p = np.where(together, 0.9, 0.1)
    np.testing.assert_array_equal(found.probabilities["known"], p)
    row = found.table.loc["known"]
    assert row["log_loss"] == same_log_loss(judgements["same"], p)
    assert row["accuracy"] == (together == judgements["same"]).mean()
    assert row["n_judgements"] == len(judgements) == 300
    expected = every_judgement(sheets)
    names = zip(judgements["annotator"], map(sorted, zip(judgements["item_a"], judgements["item_b"])))
    assert sorted((who, *pair) for who, pair in names) == sorted((who, a, b) for who, _, a, b in expected)


def test_chance_is_the_share_of_same_in_the_kept_annotations(sheets):
    found = compare({"known": Knows(dict(zip(NAMES, CLASSES)))}, sheets, by="model", random_state=0)
    for fold, part in found.judgements.groupby("fold"):
        rest = found.judgements[found.judgements["fold"] != fold]  # all judgements were drawn
        np.testing.assert_allclose(found.probabilities["chance"][part.index], rest["same"].mean(), rtol=1e-12)
    assert found.best == found.chosen == "known"


def test_standard_errors_count_a_block_as_one(sheets, crowd):
    rng = np.random.default_rng(0)
    values, block = rng.normal(size=60), np.repeat(np.arange(12), 5)
    means = values.reshape(12, 5).mean(1)
    assert standard_error(values, block) == pytest.approx(means.std(ddof=1) / np.sqrt(12), rel=1e-12)
    assert np.isnan(standard_error(values, np.zeros(60, dtype=int)))
    doubled = standard_error(np.repeat(values, 2), np.repeat(block, 2))  # repetition adds no evidence
    assert doubled == pytest.approx(standard_error(values, block), rel=1e-12)
    assert (compare({"m": Knows(dict(zip(NAMES, CLASSES)))}, crowd, by="model", random_state=0)).blocks == "annotators"
    of_four = compare({"m": Knows(dict(zip(NAMES, CLASSES)))}, sheets, by="model", random_state=0)
    assert (of_four.blocks, of_four.n_blocks) == ("groupings", 20)
    few = crowd.restrict(annotators=crowd.annotators[:3])
    of_few = compare({"m": Knows(dict(zip(NAMES, CLASSES)))}, few, by="model", random_state=0)
    assert of_few.blocks == "parts of groupings"


def test_differences_are_paired(crowd):
    right, shifted = dict(zip(NAMES, CLASSES)), dict(zip(NAMES, np.roll(CLASSES, 3)))
    models = {"shifted": Knows(shifted), "right": Knows(right), "timid": Knows(right, 0.88, 0.12)}
    found = compare(models, crowd, by="model", random_state=0)
    assert found.table.index.tolist()[0] == found.chosen
    same = found.judgements["same"].to_numpy()
    loss = {name: -np.log(np.where(same, found.probabilities[name], 1 - found.probabilities[name])) for name in models}
    _, block = np.unique(found.judgements["annotator"], return_inverse=True)
    for name in models:
        behind = loss[name] - loss[found.chosen]
        row = found.table.loc[name]
        assert row["difference"] == pytest.approx(behind.mean(), abs=1e-12)
        assert row["difference_se"] == pytest.approx(standard_error(behind, block), abs=1e-12)
    of_pair, alone = found.table.loc["timid", "difference_se"], found.table.loc["timid", "log_loss_se"]
    assert of_pair < alone / 3  # almost the same model errs in the same places


def test_there_is_a_winner_only_if_the_lead_is_clear(crowd):
    right = dict(zip(NAMES, CLASSES))
    same = compare({"one": Knows(right), "two": Knows(right)}, crowd, by="model", random_state=0)
    assert same.best is None
    assert same.chosen == "one"
    assert "may be as good" in str(same)
    clear = compare({"right": Knows(right), "blind": Knows(right, 0.3, 0.3)}, crowd, by="model", random_state=0)
    assert clear.best == clear.chosen == "right"
    assert "right is the best" in str(clear)
    wrong = compare({"wrong": Knows(right, 0.1, 0.9)}, crowd, by="model", random_state=0)
    assert (wrong.best, wrong.chosen) == ("chance", "wrong")
    assert "No model is better than chance" in str(wrong)


def test_probabilities_are_clipped(crowd):
    sure = {"sure": Knows(dict(zip(NAMES, CLASSES)), 1.0, 0.0)}
    found = compare(sure, crowd, by="model", clip=0.05, random_state=0)
    same = found.judgements["same"]
    assert found.table.loc["sure", "log_loss"] == same_log_loss(same, found.probabilities["sure"], clip=0.05)
    model = Knows(dict(zip(NAMES, CLASSES)), 0.5, 0.5)
    halves = compare({"m": model}, crowd, by="model", random_state=0).table.loc["m"]
    assert (halves["accuracy"], halves["log_loss"]) == (0.5, pytest.approx(np.log(2)))


def test_predict_same_is_called_once_for_each_annotator_and_fold(crowd):
    asked = []

    class Watched(Knows):
        def predict_same(self, item_a, item_b, annotator=None):
            asked.append((annotator, len(item_a)))
            return super().predict_same(item_a, item_b, annotator)

    known = {"m": Watched(dict(zip(NAMES, CLASSES)))}
    compare(known, crowd, by="model", n_folds=3, random_state=0)
    assert len(asked) == 3 * 12
    assert sum(count for _, count in asked) == 12 * 120
    assert {who for who, _ in asked} == {*crowd.annotators}
    asked.clear()
    compare(known, crowd, by="model", n_folds=3, level="groupings", random_state=0)
    assert asked == [(None, 4 * 120)] * 3


# ---- by clusters


class Clusters(BaseEstimator):
    """A given clustering, without a model of annotators."""

    def __init__(self, clusters=None):
        self.clusters = clusters

    def fit(self, annotations):
        self.items_ = annotations.items
        codes = np.array([self.clusters[name] for name in self.items_])
        self.responsibilities_ = 0.8 * np.eye(4)[codes] + 0.2 / 4
        return self

    def predict_same(self, item_a, item_b, annotator=None):
        raise AssertionError("predict_same is not used")


def test_by_clusters_is_the_formula_of_shares(crowd):
    clusters = dict(zip(NAMES, np.roll(CLASSES, 1)))
    found = compare({"m": Clusters(clusters)}, crowd, by="clusters", n_folds=3, random_state=0)
    held = hold_out(crowd, 3, "auto", 20_000, np.random.default_rng(spawn_seeds(check_random_state(0), 4)[-1]))
    r = pd.DataFrame(Clusters(clusters).fit(crowd).responsibilities_, index=NAMES)
    for row in range(0, len(found.judgements), 97):
        judgement = found.judgements.iloc[row]
        frame = held.kept(int(judgement["fold"])).to_frame().query("annotator == @judgement.annotator")
        groups = [part["item"] for _, part in frame.groupby("group")]
        total, expected = r.loc[frame["item"]].sum(), 0.0
        for items in groups:
            count, size = r.loc[items].sum(), len(items) / len(frame)
            q = (count + 2 * size) / (total + 2)
            expected += (r.loc[judgement["item_a"]] @ q) * (r.loc[judgement["item_b"]] @ q)
        # a group whose items are all hidden has no share, and adds nothing
        assert found.probabilities["m"].iloc[row] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("level", ["groupings", "pairs"])
def test_by_clusters_is_the_formula_of_rates_if_groups_are_not_known(level, sheets):
    annotations = sheets if level == "groupings" else sheets.to_pairs()
    clusters = dict(zip(NAMES, CLASSES))
    found = compare({"m": Clusters(clusters)}, annotations, by="clusters", n_folds=2, random_state=0)
    r = pd.DataFrame(Clusters(clusters).fit(sheets).responsibilities_, index=NAMES)
    frame = found.judgements.assign(
        s=[float(r.loc[a] @ r.loc[b]) for a, b in zip(found.judgements["item_a"], found.judgements["item_b"])]
    )
    for fold, who in ((0, "a"), (1, "c")):
        kept = frame[frame["fold"] != fold]  # all judgements were drawn

        def rate(part, weight, kept=kept):
            crowd = ((weight(kept) * kept["same"]).sum() + 1) / (weight(kept).sum() + 2)
            return ((weight(part) * part["same"]).sum() + 10 * crowd) / (weight(part).sum() + 10)

        of_one = kept[kept["annotator"] == who]
        w, v = rate(of_one, lambda part: part["s"]), rate(of_one, lambda part: 1 - part["s"])
        held = frame[(frame["fold"] == fold) & (frame["annotator"] == who)]
        expected = held["s"] * w + (1 - held["s"]) * v
        np.testing.assert_allclose(found.probabilities["m"][held.index], expected, rtol=1e-9)


def test_by_clusters_the_truth_beats_coarser_finer_and_shuffled_clusters(crowd):
    finer = np.where(np.arange(24) % 2, CLASSES, (CLASSES == 0) * 3 + (CLASSES > 0) * CLASSES)
    guesses = {"truth": CLASSES, "coarser": np.minimum(CLASSES, 1), "finer": finer, "shuffled": np.roll(CLASSES, 4)}
    models = {name: Clusters(dict(zip(NAMES, clusters))) for name, clusters in guesses.items()}
    for level in ("judgements", "groupings"):
        found = compare(models, crowd, by="clusters", level=level, random_state=0)
        assert found.chosen == "truth"
        assert found.table["log_loss"].drop("co-occurrence").idxmin() == "truth"
    assert found.table.loc["shuffled", "difference"] > 0


def test_judgements_are_predicted_by_clusters_unless_by_model(crowd):
    """A clustering whose model predicts the opposite of its clusters is first by clusters, and last by the model."""

    class Contrary(Clusters):
        def predict_same(self, item_a, item_b, annotator=None):
            return np.where([self.clusters[a] == self.clusters[b] for a, b in zip(item_a, item_b)], 0.1, 0.9)

    models = {"contrary": Contrary(dict(zip(NAMES, CLASSES)))}
    by_clusters, by_model = (compare(models, crowd, by=by, random_state=0).table for by in ("clusters", "model"))
    assert by_clusters.index.drop("co-occurrence").tolist() == ["contrary", "chance"]
    assert by_model.index.drop("co-occurrence").tolist() == ["chance", "contrary"]


def test_by_clusters_needs_clusters(crowd):
    found = compare({"m": Knows(dict(zip(NAMES, CLASSES)))}, crowd, by="clusters", random_state=0)
    assert found.table.loc["m", "note"] == "Knows has no 'responsibilities_', so it cannot be compared by its clusters."


# ---- co-occurrence and forecasts


def test_co_occurrence_is_the_smoothed_share_of_others(sheets):
    found = compare({"m": Knows(dict(zip(NAMES, CLASSES)))}, sheets, by="model", level="groupings", random_state=0)
    held, predicted = found.judgements, found.probabilities["co-occurrence"]
    assert predicted.between(0, 1, inclusive="neither").all()
    by_pair = predicted.groupby([held["fold"], held["item_a"], held["item_b"]])
    assert by_pair.nunique().max() == 1  # it knows pairs and no people
    clipped = same_log_loss(held["same"], predicted, clip=0.01)
    assert clipped == pytest.approx(found.table.loc["co-occurrence", "log_loss"])
    assert found.table.loc["co-occurrence", "log_loss"] < found.table.loc["chance", "log_loss"]


def test_co_occurrence_is_no_model_that_could_be_chosen(sheets):
    found = compare({"shuffled": Knows(dict(zip(NAMES, np.roll(CLASSES, 4))))}, sheets, by="model", random_state=0)
    assert found.table.index[0] == "co-occurrence"
    assert (found.best, found.chosen) == ("chance", "shuffled")
    assert found.verdict.endswith("Co-occurrence, which has no clusters, predicts these judgements better.")


def test_forecasts_are_those_of_forecast_same(sheets):
    class Forecasts(Knows):
        def forecast_same(self, items_a, items_b):
            return np.where([a < b for a, b in zip(items_a, items_b)], 0.25, 0.5)

    found = compare({"f": Forecasts(), "k": Knows()}, sheets, by="forecast", random_state=0)
    expected = np.where(found.judgements["item_a"] < found.judgements["item_b"], 0.25, 0.5)
    np.testing.assert_array_equal(found.probabilities["f"], expected)
    assert found.table.loc["k", "note"] == "Knows has no 'forecast_same', so it cannot be compared by its forecasts."


def test_by_model_people_who_are_not_known_are_predicted_as_new_ones(crowd):
    class Forecasts(Knows):
        def forecast_same(self, items_a, items_b):
            return np.full(len(items_a), 0.125)

    unknown = Forecasts(dict(zip(NAMES, CLASSES)))
    assert crowd.n_groupings == crowd.n_annotators  # a held-out grouping takes its annotator with it
    found = compare({"m": unknown}, crowd, by="model", level="groupings", random_state=0)
    assert set(found.probabilities["m"]) == {0.125}


# ---- annotations and features of models


@pytest.mark.parametrize("kind", ["groupings", "pairs", "labels"])
def test_models_get_what_they_read_or_a_reason(kind, sheets):
    labels = simulate_labels(CLASSES, n_annotators=6, random_state=0) if kind == "labels" else None
    annotations = {"groupings": sheets, "pairs": sheets.to_pairs(), "labels": labels}[kind]
    readers = {"MajorityVote": ["labels"], "SubsetFusion": ["groupings", "labels"]}
    for name, model in (("MajorityVote", MajorityVote()), ("SubsetFusion", SubsetFusion())):
        if kind in readers[name]:
            assert as_read(annotations, model) is annotations
        else:
            with pytest.raises(InputError, match=f"{name} reads .* Got {kind}"):
                as_read(annotations, model)
    assert as_read(annotations, Knows()) is annotations


def test_models_that_only_read_pairs_get_pairs(sheets, monkeypatch):
    from consilience import registry

    entry = registry.Entry("Knows", "consilience.consensus", ("pairs",), "")
    monkeypatch.setitem(registry.ESTIMATORS, "Knows", entry)
    assert as_read(sheets, Knows()) == sheets.to_pairs()
    found = compare([Knows(dict(zip(NAMES, CLASSES)))], sheets, by="model", n_folds=2, random_state=0)
    assert found.chosen == "Knows"


def test_a_model_that_fails_has_a_row_with_the_reason(sheets):
    models = {
        "vote": MajorityVote(),
        "refuses": Knows(refuse="It will not."),
        "known": Knows(dict(zip(NAMES, CLASSES)), warn=True),
        "mad": Knows(dict(zip(NAMES, CLASSES)), within=1.5),
    }
    found = compare(models, sheets, by="model", random_state=0)
    assert found.table.index.drop("co-occurrence").tolist() == ["known", "chance", "vote", "refuses", "mad"]
    notes = found.table["note"]
    assert notes["vote"] == "MajorityVote reads labels. Got groupings."
    assert notes["refuses"] == "It will not."
    assert notes["known"] == "Warned in 5 folds: It did not settle."
    assert notes["mad"] == "'predict_same' must return probabilities. Got 1.5."
    assert found.table.loc[["vote", "refuses", "mad"], "log_loss"].isna().all()
    assert "It will not." in str(found)
    alone = compare({"refuses": Knows(refuse="It will not.")}, sheets, random_state=0)
    assert (alone.best, alone.chosen) == (None, None)
    assert "No model could be compared." in str(alone)


def test_seconds_and_megabytes_are_of_the_fit(sheets):
    class Large(Knows):
        def fit(self, annotations):
            np.ones(1_000_000).sum()
            return super().fit(annotations)

    found = compare({"large": Large(dict(zip(NAMES, CLASSES)))}, sheets, by="model", random_state=0)
    assert 8 <= found.table.loc["large", "megabytes"] < 9
    assert 0 < found.table.loc["large", "seconds"] < 1
    assert measure_work(lambda: None, memory=True)[1] < 0.1


def test_random_states_that_are_none_are_set():
    model = seed_model(make_pipeline(StandardScaler(), SubsetFusion()), 7)
    assert model[-1].random_state == 7
    assert seed_model(SubsetFusion(random_state=3), 7).random_state == 3


def test_names_of_models():
    assert list(name_models([SubsetFusion()])) == ["SubsetFusion"]
    assert list(name_models([SubsetFusion(n_clusters=2), SubsetFusion(n_clusters=3), MajorityVote()])) == [
        "SubsetFusion(n_clusters=2)",
        "SubsetFusion(n_clusters=3)",
        "MajorityVote",
    ]
    for models, message in (
        ([], "There are no models"),
        ([SubsetFusion(), SubsetFusion()], "the same"),
        ({"a": StandardScaler()}, "'a' cannot be compared"),
        ({"chance": SubsetFusion()}, "is reserved for the baseline"),
        ({"co-occurrence": SubsetFusion()}, "is reserved for the baseline"),
    ):
        with pytest.raises(InputError, match=message):
            name_models(models)


def test_candidates_are_the_models_that_can_be_fitted(crowd):
    names = set(candidates(crowd))
    assert {"SubsetFusion", "PartitionLabelModel"} <= names  # needs no features
    assert not {"MajorityVote", "DawidSkene"} & names
    assert "MajorityVote" in candidates(simulate_labels(CLASSES, n_annotators=6, random_state=0))
    several = candidates(crowd, n_clusters=[2, 5, 99], models=["SubsetFusion"])
    assert list(several) == ["SubsetFusion(n_clusters=2)", "SubsetFusion(n_clusters=5)"]
    (one,) = candidates(
        crowd, n_clusters=[2], models=["SubsetFusion"], settings={"SubsetFusion": {"n_clusters": 4}}
    ).values()
    assert one.n_clusters == 4


# ---- on simulated crowds


def test_the_right_number_of_clusters_is_found(crowd):
    models = {k: SubsetFusion(n_clusters=k, refine=False) for k in (2, 3, 6)}
    assert compare(models, crowd, n_folds=3, memory=False, random_state=0).chosen == "3"


def test_labels_and_features_are_compared_together():
    labels = simulate_labels(CLASSES, n_annotators=6, accuracy=0.9, items=NAMES, random_state=0)
    rng = np.random.default_rng(0)
    X = pd.DataFrame(np.eye(3)[CLASSES] * 5 + rng.normal(size=(24, 3)), index=NAMES)
    plm = PartitionLabelModel(max_clusters=3, n_init=1, prior_variance=1.0, merge=False, max_iter=5)
    models = {
        "vote": MajorityVote(),
        "ds": DawidSkene(),
        "plm": make_pipeline(StandardScaler(), plm).set_output(transform="pandas"),
    }
    found = compare(models, labels, X[::-1], n_folds=2, memory=False, random_state=0)
    assert found.table["log_loss"].notna().all(), found.table["note"].tolist()
    assert found.table.index[-1] == "chance"


@pytest.mark.parametrize("by", ["clusters", "model"])
def test_models_around_dawid_skene_predict_labels_as_it_does(by):
    """Given probabilities that tell nothing, and a classifier for items without labels, of which there are none."""
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=60)
    labels = simulate_labels(truth, n_annotators=8, accuracy=0.7, random_state=0)
    useless = pd.DataFrame(rng.dirichlet(np.ones(3), 60), columns=["2", "0", "1"])
    models = {
        "alone": DawidSkene(),
        "given": DawidSkeneClassifier("probabilities"),
        "wrapped": InductiveConsensus(DawidSkene(), random_state=0),
    }
    found = compare(models, labels, useless, by=by, n_folds=2, memory=False, random_state=0).probabilities
    for name in ("given", "wrapped"):
        np.testing.assert_allclose(found[name], found["alone"], atol=1e-9)


def test_given_probabilities_are_matched_with_classes_by_name():
    rng = np.random.default_rng(0)
    truth = rng.integers(4, size=100)
    labels = simulate_labels(truth, n_annotators=6, accuracy=0.5, random_state=0)
    given = pd.DataFrame(0.05 + 0.8 * np.eye(4)[truth], columns=list("0123"))
    models = {"vote": MajorityVote(), "given": DawidSkeneClassifier("probabilities")}
    settings = {"n_folds": 2, "memory": False, "random_state": 0}
    assert compare(models, labels, given[list("2031")], **settings).chosen == "given"
    fewer = compare(models, labels, given[list("012")], **settings)
    assert fewer.table.loc["given", "note"].startswith("There is no column of probabilities for the class 3")
    assert fewer.chosen == "vote"


def test_shares_of_many_clusters_need_little_more_than_their_table():
    of_item = np.random.default_rng(0).dirichlet(np.ones(300), 900)
    groupings = simulate_labels(np.arange(900) % 300, n_annotators=6, random_state=0).to_groupings()
    tracemalloc.start()
    found = shares(groupings, of_item)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.2 * found.nbytes


def test_results_depend_on_the_seed_and_not_on_the_order_of_items(crowd):
    models = {"right": Knows(dict(zip(NAMES, CLASSES))), "blind": Knows(dict(zip(NAMES, CLASSES)), 0.4, 0.3)}
    settings = {"by": "model", "max_pairs": 200, "random_state": 5}
    numbers = ["log_loss", "log_loss_se", "difference", "difference_se", "accuracy", "accuracy_se", "n_judgements"]
    one, two = (compare(models, crowd, **settings).table[numbers] for _ in range(2))
    pd.testing.assert_frame_equal(one, two)
    frame = crowd.to_frame().sample(frac=1, random_state=0)
    shuffled = Groupings.from_frame(frame)
    assert shuffled.items.tolist() != crowd.items.tolist()
    pd.testing.assert_frame_equal(compare(models, shuffled, **settings).table[numbers], one)
    renamed = Groupings.from_frame(frame.assign(group=frame["group"].map(lambda name: f"z{hash(name) % 97}{name}")))
    pd.testing.assert_frame_equal(compare(models, renamed, **settings).table[numbers], one)
    pairs = crowd.to_pairs()
    again = Pairs.from_frame(pairs.to_frame().sample(frac=1, random_state=1))
    one, two = (compare(models, annotations, **settings).table[numbers] for annotations in (pairs, again))
    pd.testing.assert_frame_equal(one, two)


@pytest.mark.parametrize("kind", ["groupings", "pairs", "labels"])
def test_names_make_no_difference(kind):
    truth, settings = np.repeat(np.arange(3), 6), {"by": "model", "max_pairs": 60, "memory": False, "random_state": 5}
    crowd = simulate_crowd(truth, n_annotators=12, items_each=9, accuracy=0.8, random_state=0)
    labels = simulate_labels(truth, n_annotators=12, accuracy=0.8, random_state=0)
    annotations = {"groupings": crowd, "pairs": crowd.to_pairs(), "labels": labels}[kind]
    changed = scramble(annotations, np.random.default_rng(0))
    classes = dict(zip(annotations.items, truth[annotations.items.to_numpy(int)]))
    one = compare([Knows(classes)], annotations, **settings)
    two = compare(
        [Knows({changed.now[name]: value for name, value in classes.items()})], changed.annotations, **settings
    )
    columns = one.table.columns.drop("seconds")
    pd.testing.assert_frame_equal(two.table[columns], one.table[columns])
    before, after = one.judgements.to_dict("records"), two.judgements.to_dict("records")
    for first, second in zip(before, after, strict=True):
        assert {changed.now[first["item_a"]], changed.now[first["item_b"]]} == {second["item_a"], second["item_b"]}
        assert (changed.now[first["annotator"]], first["fold"]) == (second["annotator"], second["fold"])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"by": "hand"},
            "The 'by' parameter of compare must be one of 'clusters', 'model', 'forecast'. Got 'hand' instead.",
        ),
        ({"n_folds": 1}, "The 'n_folds' parameter of compare must be an int of at least 2. Got 1 instead."),
        ({"level": "items"}, "The 'level' parameter of compare must be one of"),
        ({"max_pairs": 0}, "The 'max_pairs' parameter"),
        ({"clip": 0.5}, "The 'clip' parameter"),
        ({"n_folds": 99, "level": "groupings"}, "99 folds need at least 99 groupings. Got 12"),
    ],
)
def test_wrong_parameters(settings, message, crowd):
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        compare({"m": Knows({})}, crowd, **settings)


def test_annotations_without_judgements():
    with pytest.raises(InputError, match="hold no judgement"):
        compare({"m": Knows({})}, Groupings.from_lists([[["a"]], [["b"]]]), n_folds=2)
    with pytest.raises(InputError, match=r"need at least 5 rows\. Got 2"):
        compare({"m": Knows({})}, [[0, 1]])
    with pytest.raises(InputError, match=r"compare needs annotations\. Got None"):
        compare({"m": Knows({})}, None)


def test_repetitions_on_any_occasion_are_held_out_with_the_first(sheets):
    """For labels and for pairs; no model predicts something it was fitted to."""
    once = sheets.to_pairs().restrict(annotators=["a", "b"])
    pairs = concat([once, Pairs.from_frame(once.to_frame().iloc[::3])])
    twice = Labels.from_matrix(np.tile(CLASSES[:, None], (1, 5)), items=NAMES, classes=range(4))
    labels = concat([twice, replace(twice, label=(twice.label + 1) % 4)[:12]])
    for annotations, keys in ((pairs, ["item_a", "item_b", "annotator"]), (labels, ["item", "annotator"])):
        held = hold_out(annotations, 4, "auto", 10_000, np.random.default_rng(0))
        fold = annotations.to_frame().assign(fold=held.fold_of_row).groupby(keys)["fold"]
        assert (fold.size() >= 2).any()
        assert (fold.min() == fold.max()).all()
        assert np.ptp(fold.first().value_counts()) <= 2 * annotations.n_annotators
        for number in range(4):
            hidden, kept = annotations.to_frame()[held.fold_of_row == number], held.kept(number).to_frame()
            assert not set(map(tuple, hidden[keys].to_numpy())) & set(map(tuple, kept[keys].to_numpy()))


def test_by_clusters_a_few_repeated_labels_weigh_little():
    """Groupings of one annotator's labels are weighted by their labels; one of a single label hardly matters."""
    frame = pd.DataFrame({"item": NAMES, "annotator": "x", "label": CLASSES})
    labels = Labels.from_frame(pd.concat([frame, frame.iloc[:1].assign(label=1)]), items=NAMES)
    groupings = labels.to_groupings()
    np.testing.assert_allclose(shares_of_labels(groupings), [24 / 25, 1 / 25])
    of_item = np.eye(3)[CLASSES]
    held = hold_out(labels, 4, "judgements", 10_000, np.random.default_rng(0))
    model = Knows()
    model.items_, model.responsibilities_ = labels.items, of_item
    there = np.arange(len(held.judgements.same))
    found = by_clusters(model, held, labels, there)
    q = shares(groupings, of_item)
    a, b = of_item[held.judgements.item_a], of_item[held.judgements.item_b]
    first, second = q[groupings.grouping_of_group == 0], q[groupings.grouping_of_group == 1]
    expected = 24 / 25 * ((a @ first.T) * (b @ first.T)).sum(1) + 1 / 25 * ((a @ second.T) * (b @ second.T)).sum(1)
    np.testing.assert_allclose(found, expected)


@pytest.mark.slow
def test_repeated_labels_are_compared():
    twice = Labels.from_matrix(np.tile(CLASSES[:, None], (1, 5)), items=NAMES)
    labels = concat([twice, replace(twice, label=(twice.label + 1) % 3)[:4]])
    models = {"vote": MajorityVote(), "fusion": SubsetFusion(max_clusters=4, random_state=0)}
    for by in ("clusters", "model"):
        found = compare(models, labels, by=by, n_folds=2, random_state=0)
        assert found.table["log_loss"].notna().all()


def test_pipelines_without_features_fail_and_the_others_are_compared():
    groupings = Groupings.from_matrix(np.column_stack([np.arange(12) % 2] * 4))
    models = {"pipe": make_pipeline(StandardScaler(), MPCKMeans(2)), "bare": MPCKMeans(2), "kcc": KCC(2)}
    found = compare(models, groupings, n_folds=2, random_state=0)
    assert found.table.loc["pipe", "note"] == "A pipeline needs features: pass them to compare as X."
    assert found.table.loc["bare", "note"] == "MPCKMeans needs features, and X is None."
    assert found.chosen == "kcc"


@pytest.mark.parametrize(
    ("models", "sentence"),
    [
        ("KCC", r"^Models must be estimators, such as KCC\(\). Got the text 'KCC'"),
        (["none"], r"^Models must be estimators, such as DawidSkene\(\). Got the text 'none'"),
        ({"k": KCC}, r"^Models must be estimators, such as KCC\(\). Got the class KCC itself"),
    ],
)
def test_names_and_classes_of_models_are_refused(models, sentence):
    with pytest.raises(InputError, match=sentence):
        compare(models, Groupings.from_matrix([["p"], ["q"]]))


def test_one_model_and_one_number_to_try():
    groupings = Groupings.from_matrix(np.column_stack([np.arange(12) % 2] * 4))
    assert list(candidates(groupings, models="KCC", n_clusters=2)) == ["KCC(n_clusters=2)"]
    assert isinstance(compare(KCC(2), groupings, n_folds=2, random_state=0).table, pd.DataFrame)
    for numbers in (0, [0], [2, 0]):
        with pytest.raises(InputError, match=r"^'n_clusters' must be a positive int, or several"):
            candidates(groupings, models="KCC", n_clusters=numbers)


def test_a_matrix_is_read_as_groupings(crowd):
    matrix = crowd.to_matrix()
    models = [SubsetFusion(n_clusters=3, refine=False)]
    settings = {"n_folds": 2, "memory": False, "random_state": 0}
    found, expected = (compare(models, annotations, **settings).table["log_loss"] for annotations in (matrix, crowd))
    pd.testing.assert_series_equal(found, expected)


def test_small_leads_are_shown(crowd):
    right = dict(zip(NAMES, CLASSES))
    models = {"one": Knows(right, 0.9), "two": Knows(right, 0.9001)}
    found = compare(models, crowd, by="model", memory=False, random_state=0)
    second = found.table.index[1]
    row = next(line for line in str(found).splitlines() if line.startswith(second))
    shown = re.split(r"  +", row)[2]
    assert re.fullmatch(r"0\.0000\d+ ± 0\.0000\d+", shown)
    assert float(shown.split(" ± ")[0]) == pytest.approx(found.table.loc[second, "difference"], rel=0.1)


class Backwards(SubsetFusion):
    """Gives its items in another order than they were read."""

    def fit(self, annotations):
        super().fit(annotations)
        self.items_, self.responsibilities_ = self.items_[::-1], self.responsibilities_[::-1]
        return self


@pytest.mark.parametrize("level", some_quick(["groupings", "judgements"]))
def test_models_may_give_items_in_another_order(crowd, level):
    settings = {"n_clusters": 3, "n_init": 1, "random_state": 0}
    models = {"forwards": SubsetFusion(**settings), "backwards": Backwards(**settings)}
    table = compare(models, crowd, by="clusters", level=level, n_folds=2, random_state=0).table
    assert table.loc["forwards", "log_loss"] == table.loc["backwards", "log_loss"]


def noise_given_twice(seed, *, by_one_person=True):
    """Twelve people who sort twenty items at random, each twice alike, or as if two people had done so."""
    said = np.repeat(np.random.default_rng(seed).integers(3, size=(20, 12)), 2, axis=1)
    item, grouping = np.indices(said.shape).reshape(2, -1)
    annotator = grouping // 2 if by_one_person else grouping
    columns = {"item": item, "annotator": annotator, "grouping": grouping, "group": said.ravel().astype(str)}
    return Groupings.from_frame(pd.DataFrame(columns))


def lead_on_noise(made, model, seeds, **settings):
    """Mean lead over the constant of a model and of co-occurrence, and its standard error over draws, nats."""
    lead = []
    for seed in seeds:
        loss = compare({"m": model}, made(seed), random_state=seed, memory=False, **settings).table["log_loss"]
        lead.append(loss["chance"] - loss[["m", "co-occurrence"]])
    return np.mean(lead, axis=0), np.std(lead, axis=0) / np.sqrt(len(lead))


@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(24), marks=pytest.mark.slow)])
@pytest.mark.parametrize("by", some_quick(["forecast", "clusters", "model"]))
@pytest.mark.parametrize("level", some_quick(["groupings", "judgements"]))
def test_on_noise_nobody_is_ahead_of_the_constant(level, by, seeds):
    """Predicted from the same person's other grouping, models were ahead by up to .025."""
    lead, error = lead_on_noise(noise_given_twice, KCC(3, n_init=2, random_state=0), seeds, by=by, level=level)
    assert (lead <= 2 * error).all()


@pytest.mark.slow
@pytest.mark.parametrize("level", ["groupings", "judgements"])
def test_a_leak_is_seen_in_a_third_of_these_draws(level):
    """What a person gave twice would leak if each time counted as another person's."""
    made = partial(noise_given_twice, by_one_person=False)
    lead, error = lead_on_noise(made, KCC(3, n_init=2, random_state=0), range(8), by="forecast", level=level)
    assert (lead > 4 * error).all()


def pairs_given_twice(seed):
    """Twelve people who judge sixty pairs of twenty items each at random, and the same pairs alike on another day."""
    rng = np.random.default_rng(seed)
    every = np.column_stack(np.triu_indices(20, 1))
    of_each = np.concatenate([every[rng.choice(len(every), 60, replace=False)] for _ in range(12)])
    columns = {"item_a": of_each[:, 0], "item_b": of_each[:, 1], "annotator": np.repeat(np.arange(12), 60)}
    once = pd.DataFrame({**columns, "same": rng.random(len(of_each)) < 0.4})
    days = [once.assign(grouping=f"day {day}") for day in (1, 2)]
    return Pairs.from_frame(pd.concat(days, ignore_index=True))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("by", "seeds"),
    [("forecast", range(1)), *(pytest.param(by, range(24), marks=pytest.mark.slow) for by in prediction.WAYS)],
)
def test_on_noisy_pairs_given_twice_nobody_is_ahead_of_the_constant(by, seeds):
    """Predicted from the same person's judgement of another day, forecasts were ahead by .005."""
    model = MECC(3, n_init=2, max_iter=30, random_state=0)
    lead, error = lead_on_noise(pairs_given_twice, model, seeds, by=by, n_folds=3)
    assert (lead <= 2 * error).all()


def test_all_that_a_person_judged_of_a_pair_is_in_one_fold():
    held = hold_out(pairs := pairs_given_twice(0), 3, "judgements", 10_000, np.random.default_rng(0))
    judged = pd.DataFrame({"a": pairs.item_a, "b": pairs.item_b, "who": pairs.annotator, "fold": held.fold_of_row})
    of_pair = judged.groupby(["a", "b", "who"])["fold"]
    assert (of_pair.min() == of_pair.max()).all()
