"""People who sort at random: who is marked, and how reports say so."""

import numpy as np
import pandas as pd
import pytest

from consilience import Groupings
from consilience.analysis.random_sorters import (
    WeighedPairs,
    _against_random,
    _agreement,
    _agreements_of_random,
    _share_as_high,
    _sorts_of,
)
from consilience.analysis.rv import ScalarProducts, SortTable
from consilience.consensus import SubsetFusion
from consilience.inspection import random_sorters, report
from consilience.inspection.report.participants import Representatives
from consilience.semisupervised import PartitionLabelModel
from consilience.simulation import simulate_crowd
from tests.quick_cases import some_quick


def with_random(n_random, seed=0, n_items=40):
    """Fifteen careful people, after some who sort at random."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n_items) % 4
    slip = rng.random((n_items, 15)) < 0.15
    careful = np.where(slip, rng.integers(4, size=slip.shape), truth[:, None])
    return Groupings.from_matrix(np.column_stack([rng.integers(4, size=(n_items, n_random)), careful]))


def test_random_people_are_marked_and_careful_ones_are_not():
    found = random_sorters(with_random(3))
    assert found["random"].tolist() == [True] * 3 + [False] * 15
    assert found["probability"].iloc[:3].min() > 0.9
    assert found["probability"].iloc[3:].max() < 0.01


def test_nobody_is_marked_where_nobody_agrees():
    found = random_sorters(simulate_crowd(np.arange(12) % 4, n_annotators=20, accuracy=0.3, random_state=0))
    assert not found["random"].any()
    assert found["probability"].isna().all()


def test_sorts_that_say_nothing_are_unknown():
    cells = np.column_stack([np.zeros(12, int), np.arange(12), *[np.arange(12) % 3] * 6])
    found = random_sorters(Groupings.from_matrix(cells))
    assert found["probability"].isna().tolist() == [True, True] + [False] * 6
    assert not found["random"].any()


@pytest.mark.parametrize(("n_annotators", "tested"), [(8, False), (100, True)])
def test_nothing_is_said_of_people_who_share_hardly_any_items(n_annotators, tested, read):
    """Careful people who sort 25 of 500 items each: eight of them have one item in common with another on average."""
    truth = np.arange(500) % 5
    sorts = simulate_crowd(truth, n_annotators=n_annotators, items_each=25, accuracy=0.94, random_state=0)
    found = random_sorters(sorts)
    assert (found["tested"].mean() > 0.9) == tested
    assert not found["random"].any()
    assert found.loc[~found["tested"], "probability"].isna().all()
    if not tested:
        assert (found["p_value"] > 0.05).sum() > 3
        text = findings_of(read(report(SubsetFusion(5, random_state=0).fit(sorts), certainty=None)))
        assert "at chance" not in text
        assert "Whether 8 of 8 annotators sorted at random cannot be told" in text
        assert "agree better with the tree" not in text


def test_expected_agreement_is_that_of_a_copy_of_the_others():
    groupings = Groupings.from_matrix(np.column_stack([np.arange(30) % 3] * 6))
    found = random_sorters(groupings)
    np.testing.assert_allclose(found["z"], found["expected_z"], rtol=0.05)


def test_agreement_is_that_of_pairs_put_together():
    groupings = Groupings.from_lists([[["a", "b", "c"], ["d"]], [["a", "b"], ["c", "d"]]])
    share = np.arange(16.0).reshape(4, 4)
    share = share + share.T
    observed = [_agreement(sort, share) for sort in _sorts_of(groupings)]
    assert observed == [share[0, 1] + share[0, 2] + share[1, 2], share[0, 1] + share[2, 3]]


@pytest.mark.parametrize(("wanted", "n_drawn"), [(0.045, 10_000), (0.15, 400)])
def test_more_random_sorts_are_drawn_where_the_share_is_close_to_the_level(wanted, n_drawn):
    rng = np.random.default_rng(0)
    share = rng.random((12, 12))
    share = share + share.T
    sort = _sorts_of(Groupings.from_matrix(np.arange(12)[:, None] % 4))[0]
    least = np.quantile(_agreements_of_random(sort, share, 50_000, rng), 1 - wanted)
    person = next(
        order
        for order in (rng.permutation(12) for _ in range(10_000))
        if abs(_agreement(sort, share[np.ix_(order, order)]) - least) < 0.01
    )
    found = _share_as_high(sort, share[np.ix_(person, person)], np.random.default_rng(1))
    assert found * (n_drawn + 1) == pytest.approx(round(found * (n_drawn + 1)))
    assert found == pytest.approx(wanted, abs=4 * np.sqrt(wanted * (1 - wanted) / n_drawn))


def test_random_sorts_keep_the_mean_of_all_permutations():
    groupings = Groupings.from_lists([[["a", "b", "c"], ["d", "e"]]])
    share = np.random.default_rng(1).random((5, 5))
    share = share + share.T
    drawn = _agreements_of_random(_sorts_of(groupings)[0], share, 400, np.random.default_rng(0))
    mean = (
        4 * share[np.triu_indices(5, 1)].mean()
    )  # each of the 4 pairs together is any of the 10 with equal probability
    assert drawn.mean() == pytest.approx(mean, abs=4 * drawn.std() / np.sqrt(len(drawn)))


def scattered(n_annotators=6, n_items=14):
    """People who sort some of the items, some of them twice."""
    rng = np.random.default_rng(7)
    lists = []
    for _ in range(n_annotators + 2):
        order = rng.permutation(n_items)[: rng.integers(6, n_items)]
        lists.append([[f"i{item}" for item in part] for part in np.array_split(order, 3)])
    rows = [
        (item, f"person {number % n_annotators}", number, f"{number} {group}")
        for number, groups in enumerate(lists)
        for group, items in enumerate(groups)
        for item in items
    ]
    return Groupings.from_frame(pd.DataFrame(rows, columns=["item", "annotator", "grouping", "group"]))


def test_shares_of_the_others_are_counted_without_the_person():
    groupings = scattered()
    weight = np.linspace(0.2, 1, groupings.n_annotators)
    sorts = _sorts_of(groupings)
    weighed = WeighedPairs.of(groupings.n_items, sorts, weight)
    for annotator, sort in enumerate(sorts):
        together, seen = np.zeros((2, groupings.n_items, groupings.n_items))
        others = [other for other in range(len(sorts)) if other != annotator]
        for other in others:
            for one in sorts[other]:
                seen[np.ix_(one.items, one.items)] += weight[other]
                a, b = one.items[one.pairs]
                together[a, b] += weight[other]
                together[b, a] += weight[other]
        known = (seen > 0) & ~np.eye(len(seen), dtype=bool)
        share = np.where(known, together / np.where(known, seen, 1), 0.0)
        expected = np.where(known, share - share[known].mean(), 0.0)
        items = np.unique(np.concatenate([one.items for one in sort]))
        np.testing.assert_allclose(weighed.of_others(annotator, sort), expected[np.ix_(items, items)], atol=1e-12)


def test_moments_are_those_of_random_sorts_that_are_drawn():
    """Of somebody with several groupings, which are permuted one by one."""
    sorts = _sorts_of(scattered())
    annotator = next(number for number, sort in enumerate(sorts) if len(sort) > 1)
    weighed = WeighedPairs.of(14, sorts, np.ones(len(sorts)))
    found = _against_random(sorts, weighed)
    sort, share = sorts[annotator], weighed.of_others(annotator, sorts[annotator])
    drawn = _agreements_of_random(sort, share, 20_000, np.random.default_rng(0))
    scores = (drawn - drawn.mean()) / drawn.std()
    # of 20,000 draws, the spread has a relative error of .5 %, and the skewness one of .02
    assert found.z[annotator] == pytest.approx((_agreement(sort, share) - drawn.mean()) / drawn.std(), abs=0.03)
    assert found.skew[annotator] == pytest.approx((scores**3).mean(), abs=0.06)


def test_p_values_that_decide_are_counted(monkeypatch):
    groupings = half_at_chance()
    found = random_sorters(groupings)["p_value"]
    monkeypatch.setattr("consilience.analysis.random_sorters.DOUBTFUL", (2.0, 2.0))
    approximate = random_sorters(groupings)["p_value"]
    doubtful = approximate.between(0.005, 0.2)
    assert 2 <= doubtful.sum() <= 10
    assert ((found == approximate) == ~doubtful).all()
    # 400 draws have a standard deviation of .02 at .2
    np.testing.assert_allclose(found, approximate, atol=0.06)


def test_order_of_people_and_names_of_groups_do_not_matter():
    cells = with_random(3)
    frame = cells.to_frame().astype(str)
    there = random_sorters(Groupings.from_frame(frame))
    back = random_sorters(Groupings.from_frame(frame.iloc[::-1].assign(group=lambda rows: "g" + rows["group"])))
    assert back["random"].reindex(there.index).tolist() == there["random"].tolist()


def test_few_people_cannot_be_judged():
    assert random_sorters(Groupings.from_matrix(np.zeros((5, 3), int))) is None


@pytest.mark.parametrize("fused", some_quick([True, False]))
def test_the_report_marks_them_and_nobody_of_them_represents_others(read, fused):
    groupings = with_random(3)
    names = groupings.annotators[:3].tolist()
    model = SubsetFusion(random_state=0) if fused else PartitionLabelModel(prior_variance=1.0, n_init=1, random_state=0)
    model.fit(*([groupings] if fused else [None, groupings]))
    page = read(report(model, groupings, certainty=None))
    head, *rows = page.table("people")
    place = head.index("As if at random")
    assert head[place - 1] == "Random sorts that agree as well"
    high = {row[0] for row in rows if float(row[place].strip("<>% –") or 0) > 50}
    assert high == {str(name) for name in names}
    assert f"3 of {groupings.n_annotators} annotators sort at chance" in page.root.text
    assert "Sort unlike most others, as if at random or by principles that few share: " in page.root.text
    assert not {row[0] for row in page.table("representatives")[1:]} & {str(name) for name in names}


def test_representatives_leave_out_those_who_stand_out():
    agreement = np.full((5, 5), 0.5)
    agreement[0] = agreement[:, 0] = 0.9
    assert Representatives.of(agreement).chosen[0] == 0
    odd = np.arange(5) == 0
    assert 0 not in Representatives.of(agreement, odd).chosen
    assert Representatives.of(agreement, np.ones(5, bool)).chosen[0] == 0


@pytest.mark.slow
def test_agreement_beyond_every_doubt_marks_nobody():
    """Among 500 items they exceed random sorts by so many deviations that a normal density is zero."""
    truth = np.random.default_rng(0).integers(12, size=500)
    found = random_sorters(Groupings.from_matrix(np.column_stack([truth] * 6)))
    assert found["probability"].max() < 1e-6


def half_at_chance():
    """Sixteen people, of whom eight see the four groups of 20 items, and eight sort them at random."""
    rng = np.random.default_rng(4)
    truth = np.arange(20) % 4
    careful = [np.where(rng.random(20) < 0.3, rng.integers(4, size=20), truth) for _ in range(8)]
    return Groupings.from_matrix(np.column_stack([*careful, *(rng.permutation(truth) for _ in range(8))]))


def findings_of(page):
    return next(e for e in page.root.all("ul") if e.attributes.get("class") == "findings").text


@pytest.mark.slow
def test_many_at_chance_are_said_before_anything_about_others(read):
    groupings = half_at_chance()
    found = random_sorters(groupings)
    names = found.index[found["p_value"] >= 0.05]
    assert 7 <= len(names) <= 9
    page = read(report(SubsetFusion(random_state=0).fit(groupings)))
    text = findings_of(page)
    assert f"{len(names)} of 16 annotators, " in text
    assert text.index("at chance") < text.index("found from another 16 people")
    head, *rows = page.table("people")
    place = head.index("Random sorts that agree as well")
    assert {row[0] for row in rows if "at chance" in row[place]} == set(map(str, names))
    assert not {row[0] for row in page.table("representatives")[1:]} & set(map(str, names))
    assert "the other figures answer other questions" in page.section("annotators").text
    assert "add the option leave-out" in page.section("represented").text
    assert "at chance" not in findings_of(
        read(report(SubsetFusion(random_state=0).fit(with_random(0)), certainty=None))
    )


def test_rv_coefficients_of_random_sorts_grow_with_the_number_of_groups():
    rng = np.random.default_rng(0)
    few, many = (np.column_stack([rng.permutation(np.arange(12) % k) for _ in range(30)]) for k in (3, 7))
    rv = ScalarProducts.of(SortTable.of(Groupings.from_matrix(np.hstack([few, many])))).rv
    within = [rv[part][:, part][np.triu_indices(30, 1)].mean() for part in (slice(0, 30), slice(30, 60))]
    to_all = rv.mean(0)
    assert within[1] > 1.5 * within[0]
    assert to_all[30:].mean() > to_all[:30].mean()


def test_the_report_names_the_groups_of_those_who_sort_as_if_at_random(read):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {person: np.array(["Wings", "Fins", "Legs", "Feet"])[np.arange(24) % 4] for person in range(8)}
    )
    table[3] = np.array(["Summer", "Winter", "Both"])[rng.permutation(np.repeat([0, 1, 2], [10, 8, 6]))]
    groupings = Groupings.from_matrix(table)
    text = findings_of(read(report(SubsetFusion(random_state=0).fit(groupings), groupings, certainty=None)))
    assert "Sorts unlike most others, as if at random or by a principle that few share: 3 (" in text
    assert "of random sorts agree as well; “Summer”, “Winter”)." in text


def test_who_agrees_far_better_than_random_sorts_is_tested_however_little_the_others_agree():
    """Few large groups have a high spread, so that even a copy of the others exceeds random sorts by little."""
    rng = np.random.default_rng(3)
    truth = np.repeat([0, 1], [4, 8])
    others = [np.where(rng.random(12) < 0.45, rng.integers(4, size=12), truth) for _ in range(12)]
    found = random_sorters(Groupings.from_matrix(np.column_stack([truth, *others])))
    surely = found["p_value"] < 0.005
    assert (surely & (found["expected_z"] < 3.8)).any()
    assert (found["tested"] == (surely | (found["expected_z"] >= 3.8))).all()
    assert not found["random"][surely].any()
