"""`certainty`: what another group of people would repeat."""

import warnings
from dataclasses import replace
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from consilience import Groupings, Labels, Pairs
from consilience.analysis.certainty import certainty_of_report, chance_share, interval_of_another, repeated_pairs
from consilience.analysis.certainty_models import BUILDERS, FEWEST, people_behind
from consilience.analysis.findings import findings
from consilience.consensus import (
    CSPA,
    KCC,
    CorrelationClustering,
    DawidSkene,
    MajorityVote,
    MetaClustering,
    ProductMixture,
    SpectralEM,
    StagewiseEM,
    SubsetFusion,
    TagConsensus,
)
from consilience.errors import AnnotationWarning, InputError
from consilience.inference.reweighted import LEAST, weights_of_another_group
from consilience.inspection import certainty
from consilience.semisupervised import MCVC, MECC, PartitionLabelModel
from tests.quick_cases import quick_in_turn, some_quick

OF_GROUPINGS = {
    "SubsetFusion": lambda: SubsetFusion(copies=None, random_state=0),
    "CSPA": lambda: CSPA(random_state=0),
    "KCC": lambda: KCC(3, random_state=0),
    "PartitionLabelModel": lambda: PartitionLabelModel(copies=None, prior_variance=1.0, n_init=1, random_state=0),
    "CorrelationClustering": lambda: CorrelationClustering(random_state=0),
    "MECC": lambda: MECC(4, n_init=8, random_state=0),
    "MCVC": lambda: MCVC(4, max_views=2, n_init=8, random_state=0),
}
WITH_FEATURES = ("PartitionLabelModel", "MECC", "MCVC")
OF_LABELS = {
    "DawidSkene": lambda: DawidSkene(copies=None),
    "MajorityVote": lambda: MajorityVote(copies=None),
    "ProductMixture": lambda: ProductMixture(copies=None, random_state=0),
    "SpectralEM": lambda: SpectralEM(copies=None, random_state=0),
    "StagewiseEM": lambda: StagewiseEM(copies=None),
    "TagConsensus": lambda: TagConsensus(),
}


def answers(right, n_items=21, n_people=12, seed=0):
    """What people say of items of three clusters, the right one with this probability."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n_items) % 3
    wrong = rng.integers(3, size=(n_items, n_people))
    return np.where(rng.random(wrong.shape) < right, truth[:, None], wrong)


def sorts(right, **given):
    return Groupings.from_matrix(answers(right, **given).astype(str), annotators=None)


def labels(right, **given):
    return Labels.from_matrix(np.array(["a", "b", "c"])[answers(right, **given)])


def fitted(name, right, **given):
    """A fitted model of this name, and its annotations, by as many people as it needs."""
    given["n_people"] = max(given.get("n_people", 12), FEWEST.get(name, 0))
    if name in OF_LABELS:
        found = labels(right, **given)
        return OF_LABELS[name]().fit(found), found
    found, model = sorts(right, **given), OF_GROUPINGS[name]()
    return (model.fit(None, found) if name in WITH_FEATURES else model.fit(found)), found


def test_every_model_that_can_be_weighed_is_tested():
    assert set(BUILDERS) == set(OF_GROUPINGS) | set(OF_LABELS)


@pytest.mark.parametrize("name", quick_in_turn([*OF_GROUPINGS, *OF_LABELS], 0))
def test_a_unanimous_crowd_is_repeated(name):
    model, annotations = fitted(name, 1.0)
    found = certainty(model, annotations, n_draws=20, random_state=0)
    assert found.repeats > 0.98  # a class is drawn from its probability, which is less than 1 for labels
    assert (found.items["stays"] > 0.9).all()
    assert found.n_clusters["share"].idxmax() == 3
    assert found.n_people == max(12, FEWEST.get(name, 0))


SLOW = ("CorrelationClustering", "MECC", "MCVC")


@pytest.mark.parametrize(
    "name",
    quick_in_turn(
        [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in [*OF_GROUPINGS, *OF_LABELS]], 0
    ),
)
def test_noise_is_repeated_by_chance(name):
    shares, chances = [], []
    for seed in range(4):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that nobody agrees
            model, annotations = fitted(name, 0.0, seed=seed)
        if people_behind(model, annotations)[0].max() < 3:  # an informative set of too few
            continue
        found = certainty(model, annotations, n_draws=20, random_state=0)
        shares.append(found.repeats)
        chances.append(found.chance)
    beyond = (np.mean(shares) - np.mean(chances)) / (1 - np.mean(chances))
    assert beyond < 0.5  # that of a sharp model's own probabilities is near 1, of an ideal one 0


@pytest.mark.parametrize("name", quick_in_turn([*OF_GROUPINGS, *OF_LABELS], 1))
def test_shapes_names_and_determinism(name):
    model, annotations = fitted(name, 0.6)
    found = certainty(model, annotations, n_draws=5, random_state=3)
    again = certainty(model, annotations, n_draws=5, random_state=3)
    pd.testing.assert_frame_equal(found.items, again.items)
    assert np.array_equal(found.draws, again.draws)
    other = certainty(model, annotations, n_draws=5, random_state=4)
    assert not np.array_equal(found.weights, other.weights)
    assert found.items.index.equals(annotations.items)
    assert list(found.items.columns) == ["cluster", "repeats", "stays", "elsewhere"]
    assert found.annotators.index.equals(annotations.annotators.rename("annotator"))
    assert found.draws.shape == (5, 21)
    assert np.allclose(found.weights.mean(1), 1)
    assert found.n_clusters["share"].sum() == pytest.approx(1)
    assert found.low <= found.repeats <= found.high
    own = model.labels_ if name in OF_GROUPINGS else model.classes_[model.responsibilities_.argmax(1)]
    assert found.items["cluster"].tolist() == own.tolist()


def test_the_figures_follow_from_the_draws():
    model, _ = fitted("SubsetFusion", 0.5)
    found = certainty(model, n_draws=7, random_state=0)
    same = model.labels_[:, None] == model.labels_
    repeated = np.mean([(draw[:, None] == draw) == same for draw in found.draws], axis=0)
    np.fill_diagonal(repeated, 0)
    np.testing.assert_allclose(found.items["repeats"], repeated.sum(1) / 20)
    np.testing.assert_allclose(found.items["stays"], (found.draws == model.labels_).mean(0))
    assert found.repeats == pytest.approx(found.items["repeats"].mean())
    pairs = found.pairs()
    np.testing.assert_allclose(pairs, np.mean([draw[:, None] == draw for draw in found.draws], axis=0))
    some = found.pairs([5, 2])
    assert some.index.tolist() == [5, 2]
    assert some.iloc[0, 1] == pairs.iloc[5, 2]
    numbers = [len(np.unique(draw)) for draw in found.draws]
    assert found.n_clusters["share"].to_dict() == {n: numbers.count(n) / 7 for n in set(numbers)}


def test_where_others_make_a_new_cluster_no_cluster_of_the_fit_is_named():
    """Some draws part bags from accessories, and join pyjamas with underwear, so that only their number is left."""
    hats, bags, vests, pyjamas = (
        [f"{kind} {n}" for n in range(size)] for kind, size in (("hat", 6), ("bag", 3), ("vest", 4), ("pyjama", 3))
    )
    sorts = [[hats + bags, vests, pyjamas]] * 7 + [[hats, bags, vests + pyjamas]] * 6
    fitted = SubsetFusion(n_clusters=3, random_state=0).fit(Groupings.from_lists(sorts))
    items = certainty(fitted, n_draws=40, random_state=0).items
    assert (items.loc[bags + pyjamas, "stays"] < 1).all()
    assert items["cluster"].nunique() == 3
    assert items.loc["bag 0", "cluster"] == items.loc["hat 0", "cluster"]
    assert (items.loc[bags, "elsewhere"] == -1).all()
    assert (items.loc[pyjamas, "elsewhere"] == items.loc["vest 0", "cluster"]).all()


def test_repeated_pairs_and_chance_against_all_pairs():
    rng = np.random.default_rng(0)
    first, second = rng.integers(4, size=30), rng.integers(3, size=30)
    agree = (first[:, None] == first) == (second[:, None] == second)
    np.testing.assert_array_equal(repeated_pairs(first, second), agree.sum(1) - 1)
    permuted = [repeated_pairs(first, rng.permutation(second)).mean() / 29 for _ in range(2000)]
    # the mean of 2000 permutations, whose standard deviation is about 0.01
    assert chance_share(first, second) == pytest.approx(np.mean(permuted), abs=2e-3)


@pytest.mark.parametrize("n_people", [4, 5, 6, 10, 20, 200])
def test_weights_have_mean_one_and_variance_two(n_people):
    rng = np.random.default_rng(0)
    drawn = np.array([weights_of_another_group(np.arange(n_people), rng) for _ in range(20_000 // n_people + 2000)])
    assert drawn.mean() == pytest.approx(1)
    assert drawn.var() == pytest.approx(2, abs=0.1)  # 1.98 for four people; the standard error is about 0.03
    assert drawn.min() > LEAST / 2  # nobody is lost
    together = weights_of_another_group(np.array([0, 1, 1, 2, 3]), rng)
    assert together[1] == together[2]
    assert together[[0, 1, 3, 4]].sum() == pytest.approx(4)


def test_people_who_weigh_together_are_one():
    cells = answers(0.6)
    model = SubsetFusion(copies=[[0, 1, 2]], random_state=0).fit(Groupings.from_matrix(cells.astype(str)))
    found = certainty(model, n_draws=3, random_state=0)
    assert found.n_people == 10
    assert (found.weights[:, 0] == found.weights[:, 1]).all()
    voted = DawidSkene(copies=[[0, 1, 2]]).fit(cells)
    assert certainty(voted, cells, n_draws=3, random_state=0).n_people == 10


def test_items_of_no_grouping_have_no_figure():
    cells = answers(0.9).astype(object)
    cells[4] = None
    model = SubsetFusion(random_state=0).fit(cells)
    found = certainty(model, n_draws=5, random_state=0)
    assert np.isnan(found.items.loc[4, ["repeats", "stays"]].astype(float)).all()
    assert (found.draws[:, 4] == -1).all()
    assert found.pairs().loc[4].isna().all()
    assert found.items.drop(index=4)["repeats"].notna().all()
    table = cells.copy()
    voted = MajorityVote(copies=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that an item has no labels
        found = certainty(voted.fit(table), table, n_draws=5, random_state=0)
    assert np.isnan(found.items.loc[4, "repeats"])


def test_the_order_of_people_and_items_changes_nothing():
    cells = pd.DataFrame(answers(0.5).astype(str), index=[f"item {n}" for n in range(21)])
    shuffled = cells.sample(frac=1, random_state=0).sample(frac=1, axis=1, random_state=1)
    one, two = (
        certainty(SubsetFusion(copies=None, random_state=0).fit(table), n_draws=4, random_state=0)
        for table in (cells, shuffled)
    )
    np.testing.assert_allclose(one.items["repeats"], two.items["repeats"].reindex(one.items.index))


def test_features_come_through_a_pipeline():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(10 * rng.standard_normal((3, 2))[np.arange(21) % 3] + rng.standard_normal((21, 2)) + 1000)
    given = sorts(0.6)
    model = make_pipeline(StandardScaler(), PartitionLabelModel(prior_variance=1.0, n_init=1, random_state=0))
    model.fit(X, given)
    found = certainty(model, given, X, n_draws=5, random_state=0)
    assert found.repeats > 0.9  # the features are clear
    with pytest.raises(InputError, match="was fitted to 2 features, and the certainty needs them"):
        certainty(model, given, n_draws=5)


def test_models_without_weights_say_which_have_them():
    given = sorts(0.9, n_items=6)
    model = MetaClustering(2).fit(given)
    with pytest.raises(InputError, match=r"The people of MetaClustering cannot be weighed.*SubsetFusion"):
        certainty(model, given)
    none, why = certainty_of_report(model, given, None, 100)
    assert none is None
    assert "cannot be weighed" in why


@pytest.mark.parametrize("n_draws", [1, 0, -3, 2.5, True, "100"])
def test_the_number_of_draws_is_checked(n_draws):
    model, annotations = fitted("CSPA", 0.9)
    with pytest.raises(InputError, match="'n_draws' parameter of certainty must be an int of at least 2"):
        certainty(model, annotations, n_draws=n_draws)


def test_one_person_and_unsupported_settings_are_refused():
    alone = Groupings.from_lists([[["ant", "bee"], ["cow", "pig"]]])
    with pytest.raises(InputError, match=r"at least 4 people.*Got 1"):
        certainty(SubsetFusion(random_state=0).fit(alone))
    plain = SubsetFusion(refine=False, random_state=0).fit(sorts(0.5))
    with pytest.raises(InputError, match="refine=True"):
        certainty(plain)
    given = labels(0.8)
    counts = DawidSkene(copies=None).fit(labels(0.8, seed=1)).confusion_counts_
    of_others = counts.rename(index=lambda name: f"earlier {name}", level="annotator")
    for history in (counts, of_others):
        model = DawidSkene(copies=None).fit(given, history=history)
        with pytest.raises(InputError, match="history"):
            certainty(model, given)


def test_a_report_makes_fewer_draws_of_large_annotations(monkeypatch):
    model, annotations = fitted("CSPA", 0.9)
    module = import_module("consilience.analysis.certainty")  # the name in the package is the function
    found, _ = certainty_of_report(model, annotations, None, 60)
    assert found.n_draws == 60
    monkeypatch.setattr(module, "MOST_ROWS", annotations.n_rows // 2)
    found, _ = certainty_of_report(model, annotations, None, 60)
    assert found.n_draws == 30
    monkeypatch.setattr(module, "MOST_ROWS", annotations.n_rows // 5)
    found, why = certainty_of_report(model, annotations, None, 60)
    assert found is None
    assert "large" in why
    assert certainty_of_report(model, annotations, None, 0) == (None, "It was not asked for.")


@pytest.mark.slow
@pytest.mark.parametrize("right", some_quick([0.8, 0.4]))
def test_what_is_stated_is_observed_of_another_group(right, thorough):
    stated, observed = [], []
    # odd seeds: those with even numbers were looked at while this was made
    for seed in range(1, 21, 2 if thorough else 4):
        cells = answers(right, n_people=32, seed=seed)
        groups = [Groupings.from_matrix(part.astype(str)) for part in (cells[:, :16], cells[:, 16:])]
        one, two = (SubsetFusion(copies=None, random_state=0).fit(group) for group in groups)
        stated.append(certainty(one, n_draws=30 if thorough else 15, random_state=0).items["repeats"].mean())
        observed.append(repeated_pairs(one.labels_, two.labels_).mean() / 20)
    # the standard error of the observed mean is about 0.02 for ten seeds, 0.03 for five
    assert np.mean(stated) == pytest.approx(np.mean(observed), abs=0.06)


@pytest.mark.parametrize("n_people", [1, 2, 3])
def test_of_fewer_than_four_people_nothing_is_stated(n_people):
    cells = answers(0.8, n_people=n_people)
    for model in (DawidSkene(copies=None), MajorityVote(copies=None)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that no item has two labels
            model.fit(cells)
        with pytest.raises(InputError, match="at least 4 people"):
            certainty(model, cells)
        said = str(findings(model, cells))
        assert "others would repeat" in said
        assert "would repeat" not in said.replace("How far others would repeat this cannot be told", "")


def test_draws_leave_out_whom_the_fit_leaves_out():
    rng = np.random.default_rng(0)
    truth = np.arange(60) % 2
    four = np.where(rng.random((60, 4)) < 0.85, truth[:, None], 1 - truth[:, None])
    ten = np.column_stack([four, np.zeros((60, 6), dtype=int)])
    with pytest.warns(AnnotationWarning, match="6 annotators each gave the same label"):
        model = DawidSkene(copies=None).fit(ten)
    found = certainty(model, ten, random_state=0)
    alone = certainty(DawidSkene(copies=None).fit(four), four, random_state=0)
    assert found.n_people == 4
    assert (found.weights[:, 4:] == 1).all()
    # people in another order are drawn in another order: the standard error of a mean of 100 draws is about 0.02
    assert found.repeats == pytest.approx(alone.repeats, abs=0.08)


@pytest.mark.parametrize("name", OF_LABELS)
def test_draws_keep_known_classes(name):
    cells, gold = answers(0.8), {item: (item + 1) % 3 for item in range(6)}  # all wrong
    model = OF_LABELS[name]().fit(cells, gold=gold)
    found = certainty(model, cells, n_draws=20, random_state=0)
    assert (model.classes_[found.draws[:, :6]] == list(gold.values())).all()
    again = vars(model.fit(cells))
    assert (again["_known" if name == "TagConsensus" else "_gold"] == -1).all()


@pytest.mark.parametrize("name", [*OF_GROUPINGS, *OF_LABELS])
def test_weights_of_next_to_nothing_leave_every_model_whole(name, monkeypatch):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that an informative set is given up
        model, annotations = fitted(name, 0.7, n_people=4)

    def one_person(person, rng):
        weights = np.full(person.max() + 1, LEAST)
        weights[rng.integers(len(weights))] = len(weights) - (len(weights) - 1) * LEAST
        return weights[person]

    monkeypatch.setattr(import_module("consilience.analysis.certainty"), "weights_of_another_group", one_person)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = certainty(model, annotations, n_draws=8, random_state=0)
    assert (found.draws >= 0).all()
    assert np.isfinite(found.items["repeats"].to_numpy()).all()


@pytest.mark.parametrize("name", some_quick(["MECC", "CorrelationClustering", "MCVC"]))
def test_judged_pairs_have_a_certainty(name):
    n_people = FEWEST.get(name, 5)
    judged = sorts(0.9, n_items=12, n_people=n_people).to_pairs()
    pairs = Pairs.from_frame(judged.to_frame().iloc[::2], items=[*range(12), "unjudged"])
    model = OF_GROUPINGS[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that an item has no judgements
        model = model.fit(None, pairs) if name in WITH_FEATURES else model.fit(pairs)
    found = certainty(model, pairs, n_draws=10, random_state=0)
    assert found.repeats > 0.8
    assert found.n_people == n_people
    right = model.labels_[pairs.item_a] == model.labels_[pairs.item_b]
    agreement = pd.Series(right == pairs.same).groupby(pairs.annotator).mean()
    np.testing.assert_allclose(found.annotators["agreement"], agreement)
    assert f"Another {n_people} people" in str(findings(model, pairs, certainty=found))


def test_features_of_views_are_needed():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3, 2))[np.arange(21) % 3] + rng.standard_normal((21, 2))
    given = sorts(0.6, n_people=15)
    model = MECC(3, n_init=8, random_state=0).fit(X, given)
    assert certainty(model, given, X, n_draws=3, random_state=0).n_draws == 3
    with pytest.raises(InputError, match="MECC was fitted to 2 features"):
        certainty(model, given, n_draws=3)


def test_mecc_says_nothing_of_others_where_draws_were_surer_than_others():
    model = MECC(3, n_init=2, random_state=0).fit(None, given := sorts(0.9, n_people=14))
    with pytest.raises(InputError, match=r"certainty over people of MECC needs at least 15 people.*Got 14\.$"):
        certainty(model, given)
    assert "cannot be told, since 14 people may agree more, or less, than others by chance: ask at least 15." in str(
        findings(model, given)
    )


def test_draws_of_mecc_find_no_more_clusters_than_the_fit():
    """Six people of weight 2 or more repeat their noise; draws found up to eight clusters, where the fit has few."""
    model = MECC(8, n_init=8, random_state=0).fit(None, given := sorts(0.3, n_people=15))
    found = certainty(model, given, n_draws=10, random_state=0)
    assert found.draws.max() < model.n_clusters_


def test_a_view_that_others_hold_is_not_repeated():
    blocks = np.column_stack([np.arange(24) % 2] * 7 + [np.arange(24) // 12] * 5).astype(str)
    model = MCVC(2, max_views=2, n_init=8, random_state=0).fit(None, given := Groupings.from_matrix(blocks))
    found = certainty(model, given, n_draws=40, random_state=0)
    same = (found.draws == model.labels_).all(1)
    heavier = found.weights[:, :7].sum(1) > found.weights[:, 7:].sum(1)
    assert 0.2 < same.mean() < 0.95
    assert (same == heavier).mean() > 0.9


def test_intervals_are_wider_than_the_draws_where_people_are_few():
    model, annotations = fitted("MajorityVote", 0.6, n_people=4)
    found = certainty(model, annotations, n_draws=50, random_state=0)
    own = found.items["cluster"].map("abc".index).to_numpy()
    shares = [repeated_pairs(own, draw).mean() for draw in found.draws]
    low, high = interval_of_another(np.array(shares) / 20)
    assert found.repeats - found.low == pytest.approx(2 * (found.repeats - low))
    assert found.high == pytest.approx(min(found.repeats + 2 * (high - found.repeats), 1))


@pytest.mark.parametrize("n_draws", [20, 40, 100])
def test_one_more_draw_is_in_the_interval_as_often_as_is_said(n_draws):
    """Another group is one more draw: with the usual quantiles of 20 draws it was inside in .82 of the cases."""
    draws = np.random.default_rng(0).standard_normal((n_draws + 1, 20_000))
    low, high = interval_of_another(draws[:-1])
    inside = ((low <= draws[-1]) & (draws[-1] <= high)).mean()
    assert inside == pytest.approx(0.9, abs=0.01)  # 4 standard errors


def test_pairs_that_are_together_again_are_counted_apart_from_the_others():
    model, annotations = fitted("MajorityVote", 0.6, n_people=6)
    found = certainty(model, annotations, n_draws=10, random_state=0)
    own = pd.factorize(found.items["cluster"])[0]
    here = np.triu(own[:, None] == own, 1)
    again = [(draw[:, None] == draw)[here].mean() for draw in found.draws]
    assert found.repeats_together == pytest.approx(np.mean(again))
    assert found.repeats_together == pytest.approx(found.pairs().to_numpy()[here].mean())
    assert found.chance_together == pytest.approx(found.pairs().to_numpy()[np.triu_indices(len(own), 1)].mean())
    alone = replace(found, items=found.items.assign(cluster=np.arange(len(own))))
    assert np.isnan(alone.repeats_together)


def test_clusters_are_joined_in_draws_that_have_most_of_both_in_one():
    model, annotations = fitted("MajorityVote", 0.6, n_people=6)
    draws = np.array([[0, 0, 0, 1, 1], [0, 0, 0, 0, 1], [1, 1, 0, 1, 1], [0, 1, 2, 0, 0]])
    found = replace(certainty(model, annotations, n_draws=10, random_state=0), draws=draws)
    joined = found.share_joined(np.array([0, 0, 0, 1, -1]), 2)
    assert joined.tolist() == [[0.75, 0.5], [0.5, 1.0]]
