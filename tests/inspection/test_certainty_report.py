"""Reports that say what another group of people would repeat."""

from dataclasses import replace

import numpy as np
import pytest

from consilience import Groupings
from consilience.analysis.dissimilarity import CoOccurrence
from consilience.analysis.findings import findings as findings_of_model
from consilience.analysis.item_places import count_apart
from consilience.analysis.item_spread import spread, weighted_dissimilarities
from consilience.consensus import CSPA, DawidSkene, SubsetFusion
from consilience.errors import InputError
from consilience.inspection import certainty, plot_certainty_map, report
from consilience.inspection.report import certainty_sections
from consilience.inspection.report.short_form import say_who_took_part
from consilience.inspection.report.subject import Subject
from consilience.inspection.report.tables import percent


def cells(right, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.arange(12) % 3
    return np.where(rng.random((12, 10)) < right, truth[:, None], rng.integers(3, size=(12, 10)))


@pytest.fixture(scope="module")
def sorts():
    given = Groupings.from_matrix(cells(0.6).astype(str), items=[f"card {n}" for n in range(12)])
    model = SubsetFusion(copies=None, random_state=0).fit(given)
    return model, certainty(model, n_draws=30, random_state=0)


@pytest.fixture(scope="module")
def page(sorts, read):
    model, found = sorts
    return read(report(model, certainty=found))


def findings(page):
    return next(e for e in page.root.all("ul") if e.attributes.get("class") == "findings").text


def test_the_first_findings_are_about_other_people(page, sorts):
    _, found = sorts
    together, by_chance = percent(found.repeats_together), percent(found.chance_together)
    text = (
        f"In clusters found from another 10 people, we expect {together} of the pairs of items that are together here"
    )
    assert f"{text} to be together again ({by_chance} by chance)." in findings(page)
    interval = f"(90% interval: {percent(found.low)} to {percent(found.high)}; {percent(found.chance)} by chance)."
    of_all = f"Of all pairs of items, together or apart, {percent(found.repeats)} come out the same {interval}"
    assert of_all in page.section("certainty").text
    assert of_all not in findings(page)  # beside a share without an interval
    assert "with a probability of at least" not in findings(page)


def test_the_section_lists_doubtful_items_and_numbers(page, sorts):
    model, found = sorts
    keys = [section.attributes["id"] for section in page.root.all("section")]
    assert keys.index("certainty") == keys.index("figures") + 1
    stays = found.items["stays"]
    placed = page.file("certainty.csv").set_index("item")
    shares = placed[["n_with_cluster", "n_with_part"]].div(placed["n_sorted"], axis=0)
    least = shares.loc[shares.sum(axis=1).round(9).sort_values(kind="stable").index]
    assert [row[0] for row in page.table("places")[1:]] == least.index.tolist()
    assert [row[2:4] for row in page.table("places")[1:]] == [[*map(percent, of_item)] for of_item in least.to_numpy()]
    others = Subject.of(findings_of_model(model, certainty=found)).moves.moves_with_others(len(stays))
    singly = (1 - stays - others).round(9)
    assert [row[-1] for row in page.table("places")[1:]] == [percent(share) for share in singly[least.index]]
    instead = placed["n_in_other"] - placed["n_in_both"]
    assert (instead >= 0).all()
    assert (placed["n_in_both"] <= placed["n_with_cluster"] + placed["n_with_part"]).all()
    doubtful = found.items.assign(singly=singly)[singly > 0.1]
    doubtful = doubtful.sort_values(["singly", "stays", "repeats"], ascending=[False, True, True], kind="stable")
    rows = page.table("uncertain")[1:]
    assert [row[2] for row in rows] == [percent(share) for share in doubtful["singly"][:15]]
    assert [row[0] for row in rows] == doubtful.index.tolist()[:15]
    new = doubtful["elsewhere"].to_numpy()[:15] == -1
    is_new = [row[4].startswith(("a new cluster (", "alone (")) for row in rows]
    assert is_new == new.tolist()
    for row in rows:  # in brackets, in how many draws; no more than those in which it leaves on its own
        share = float(row[4].rsplit("(", 1)[1].split("%")[0])
        assert 0 < share <= float(row[2].rstrip("%")) + 1
    shares = {row[0].removesuffix(" (here)"): row[1] for row in page.table("numbers")[1:]}
    assert shares == {str(n): percent(share) for n, share in found.n_clusters["share"].items()}
    file = page.file("certainty.csv").set_index("item")
    np.testing.assert_allclose(file["repeats"], found.items["repeats"], atol=1e-4)


@pytest.mark.slow
def test_noise_is_said_to_be_noise(read):
    model = SubsetFusion(copies=None, random_state=0).fit(cells(0.0, seed=2).astype(str))
    found = certainty(model, n_draws=30, random_state=0)
    assert (found.repeats - found.chance) / (1 - found.chance) < 1 / 3
    assert "by chance: do not rely on single items, or ask more people." in findings(
        read(report(model, certainty=found))
    )


def test_labels_are_labelled(read):
    given = np.array(["owl", "cat", "dog"])[cells(0.5)]
    model = DawidSkene(copies=None).fit(given)
    page = read(report(model, given))
    assert "In classes found from another 10 people, we expect " in findings(page)
    assert page.table("uncertain")[0][-1] == "Labels given"
    assert "How many clusters" not in page.section("certainty").text  # the number of classes is given


def test_without_certainty_the_models_own_probabilities_remain(read):
    given = np.array(["owl", "cat", "dog"])[cells(0.6)]
    page = read(report(DawidSkene(copies=None).fit(given), given, certainty=None))
    assert "with a probability of at least 0.9" in findings(page)
    assert page.section("certainty") is None


def test_certainty_of_another_model_is_refused(sorts):
    other = CSPA(random_state=0).fit(cells(0.9)[:6].astype(str))
    with pytest.raises(InputError, match="other items"):
        report(other, cells(0.9)[:6].astype(str), certainty=sorts[1])
    with pytest.raises(InputError, match="must be 'auto', None or what"):
        report(sorts[0], certainty=100)


def test_ellipses_hold_the_places_of_the_draws(sorts):
    model, found = sorts
    clear = SubsetFusion(copies=None, random_state=0).fit(cells(0.95).astype(str))
    of_clear = certainty(clear, n_draws=30, random_state=0)
    ax = plot_certainty_map(clear, of_clear)
    assert len(ax.patches) == 12
    of_evidence = CoOccurrence.of(clear, None, "test")
    centres, covariances = spread(of_evidence, of_clear)
    drawn = np.array([patch.center for patch in ax.patches])
    np.testing.assert_allclose(drawn, centres[:, :2])
    of_other_axes = plot_certainty_map(clear, of_clear, axes=(2, 3))
    np.testing.assert_allclose([patch.center for patch in of_other_axes.patches], centres[:, 1:])
    assert of_other_axes.get_xlabel().startswith("dimension 2")
    with pytest.raises(InputError, match="two different numbers from 1 to 3"):
        plot_certainty_map(clear, of_clear, axes=(1, 4))
    # a rotation of a draw onto the map keeps it near the map
    assert np.abs(centres - of_evidence.map(of_evidence.places, 3).points).max() < 0.3
    assert (np.linalg.eigvalsh(covariances) >= -1e-12).all()
    noisy = np.trace(spread(CoOccurrence.of(model, None, "test"), found)[1], axis1=1, axis2=2).mean()
    assert noisy > np.trace(covariances, axis1=1, axis2=2).mean()


def test_dissimilarities_under_weights_of_one_are_those_of_the_map(sorts):
    evidence = CoOccurrence.of(sorts[0], None, "test")
    found = weighted_dissimilarities(evidence.memberships, np.ones(10))
    np.testing.assert_allclose(found, evidence.dissimilarities(evidence.places), atol=1e-12)


def test_no_ellipses_where_they_would_hide_the_map():
    given = [[["ant", "bee"], ["cow"]], [["bee", "wasp"], ["cow", "pig"]], [["ant", "wasp"], ["pig"]], [["cow", "pig"]]]
    model = SubsetFusion(random_state=0).fit(Groupings.from_lists(given))
    ax = plot_certainty_map(model, certainty(model, n_draws=10, random_state=0))
    assert not ax.patches


def test_a_small_panel_is_said_to_be_rough(page):
    assert "With no more than 20 people, these figures are rough" in page.section("certainty").text


def test_a_cluster_is_found_again_alone_and_perhaps_whole(page, sorts):
    head, *rows = page.table("clusters")
    moves = findings_of_model(sorts[0], certainty=sorts[1]).moves
    assert [row[head.index("Found again")] for row in rows] == [percent(share) for share in moves.found_again]
    assert [row[head.index("Whole")] for row in rows] == [percent(share) for share in moves.found_whole]


def test_all_that_seldom_stay_are_in_the_table(sorts, monkeypatch, read):
    monkeypatch.setattr(certainty_sections, "DOUBTFUL_ITEMS", 2)
    model, found = sorts
    items = found.items.assign(stays=[0.5] * 5 + [0.85] * 3 + [1.0] * 4)
    as_here = np.tile(model.labels_, (4, 1))  # no clusters are joined
    page = read(report(model, certainty=replace(found, items=items, draws=as_here)))
    assert len(page.table("uncertain")[1:]) == 5
    assert "Not shown: 3 more that leave in more than 10% of the draws" in page.section("certainty").text


def test_the_part_that_splits_off_is_a_finding(sorts):
    model, found = sorts
    draws = np.array([model.labels_] * 4)
    part = np.flatnonzero(model.labels_ == 0)[:2]
    draws[:3, part] = 7
    subject = Subject.of(findings_of_model(model, certainty=replace(found, draws=draws)))
    names = " and ".join(model.items_[part])
    n_apart, _ = count_apart(subject.groupings, part, np.setdiff1d(np.flatnonzero(model.labels_ == 0), part))
    people = f"{n_apart} of 10 annotators divide it, with {names} apart"
    text = f"Most likely to divide: “{subject.clusters.titles[0]}”, in 75% of panels; {people}."
    assert text in certainty_sections.in_short(subject)
    assert not certainty_sections.are_in_doubt(subject, 0.8)[part].any()  # they leave together
    draws[:, part] = 0
    vars(subject).pop("moves")
    assert not any("to divide" in each for each in certainty_sections.in_short(subject))


def test_the_short_form_names_items_that_people_place_differently(sorts):
    subject = Subject.of(findings_of_model(sorts[0], certainty=sorts[1]))
    (said,) = certainty_sections.places_in_short(subject)
    assert said.startswith(
        "Items that annotators place most differently, with the share who put each with its cluster or part of it: c"
    )
    assert said in say_who_took_part(subject)
