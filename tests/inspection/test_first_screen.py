"""The first screen of a report: the answer in a sentence, then the clusters as named lists, and nothing misread."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from consilience import Groupings, Labels
from consilience.analysis.certainty import Certainty
from consilience.analysis.findings import findings
from consilience.analysis.words import use_words
from consilience.consensus import DawidSkene, SubsetFusion
from consilience.inspection import certainty, item_votes, report
from consilience.inspection.report import answer, certainty_sections, participants
from consilience.inspection.report.subject import Subject
from consilience.inspection.report.tables import percent

CARDS = ["Returns", "Track a parcel", "Sizes", "Jobs", "Press", "Stores", "Log in", "Cart", "Wish list"]
METHODS = ("given", "separated", "number", "axes", "cuts", "panel", "settings")


def lists(page):
    """The named lists, each as its texts: name, what is known, items."""
    found = [each for each in page.root.all("div") if each.attributes.get("class") == "listed"]
    return [[part.text for part in each.children if not isinstance(part, str)] for each in found]


def lead(page):
    return next(each for each in page.root.all("p") if each.attributes.get("class") == "lead").text


@pytest.fixture(scope="module")
def sorts():
    names = [["Orders", "orders", "Order"], ["The company", "Company", "company"], ["x1", "x2", "x3"]]
    rows = [(card, f"P{p}", names[k // 3][p % 3]) for p in range(8) for k, card in enumerate(CARDS)]
    groupings = Groupings.from_frame(pd.DataFrame(rows, columns=["item", "annotator", "group"]))
    model = SubsetFusion(n_clusters=3, random_state=0).fit(groupings)
    return model, certainty(model, n_draws=20, random_state=0)


@pytest.fixture(scope="module")
def page(sorts, read):
    return read(report(sorts[0], certainty=sorts[1], words="cards,participants"))


def test_the_answer_comes_first_and_methods_are_folded_at_the_end(page):
    keys = [section.attributes["id"] for section in page.root.all("section")]
    assert keys[:2] == ["clusters", "evidence"]
    assert keys.index("annotators") < keys.index("figures") < keys.index("certainty") < keys.index("names")
    (how,) = (each for each in page.root.all("details") if each.attributes.get("class") == "how")
    assert [section.attributes["id"] for section in how.all("section")] == [key for key in keys if key in METHODS]
    assert keys[-1] == "settings"


def test_the_answer_says_how_many_how_sure_and_whether_to_rely_on_it(page, sorts):
    found: Certainty = sorts[1]
    again = Subject.of(findings(sorts[0], certainty=found)).moves.found_again.min()
    assert lead(page) == (
        f"9 cards fall into 3 clusters, all of them firm: roughly {percent(again)} of panels of 8 other participants, "
        "simulated from these, would find each again. You can rely on these clusters."
    )
    assert "8 of 8 participants who sorted all cards made just the clusters here." in page.section("exact-groups").text


@pytest.mark.parametrize(
    ("n_moved", "verdict"),
    [
        (1, "Open: where 1 card belongs (?). You can rely on these clusters, not on cards in doubt (?)."),
        pytest.param(
            2,
            "Open: where 2 cards belong (?). Rely on the broad lines, and not on single cards without a second look.",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_the_verdict_follows_from_what_is_together_and_stays_not_from_pairs_apart(sorts, n_moved, verdict, read):
    """With two of nine cards that do not stay it is not to rely on, though all pairs come out the same."""
    model, found = sorts
    items = found.items.assign(stays=np.where(np.arange(9) < n_moved, 0.7, 1.0))
    page = read(report(model, certainty=replace(found, items=items), words="cards,participants"))
    assert lead(page).endswith(verdict)
    apart = found.draws.copy()
    apart[:8] = np.arange(9)  # in 8 of 20 draws, no two cards are together: 60% of pairs are together again
    page = read(report(model, certainty=replace(found, draws=apart), words="cards,participants"))
    assert "3 clusters, none of them firm: none is found again by 90% of panels of 8 other participants" in lead(page)
    assert lead(page).endswith("Rely on the broad lines, and not on single cards without a second look.")


@pytest.mark.parametrize(
    ("n_moved", "verdict"),
    [(2, "You can rely on these clusters, not on items in doubt"), (3, "Rely on the broad lines")],
)
def test_eight_of_ten_that_stay_are_enough(n_moved, verdict):
    model = SubsetFusion(n_clusters=2, random_state=0).fit(np.repeat([["a"] * 8, ["b"] * 8], 5, axis=0))
    found = certainty(model, n_draws=20, random_state=0)
    items = found.items.assign(stays=np.where(np.arange(10) < n_moved, 0.7, 1.0))
    assert verdict in answer.lead(Subject.of(findings(model, certainty=replace(found, items=items))))


def test_single_people_are_told_beside_the_panel():
    """Of ten people, four made just the clusters, and four joined one item to a cluster."""
    exact, joined = ["Ants", "Ants", "Bees", "Bees", "Bees", "Cows"], ["Ants", "Ants", "Bees", "Bees", "Bees", "Bees"]
    sorts = [exact] * 4 + [joined] * 4 + [["1", "2", "3", "4", "4", "5"]] * 2
    groupings = Groupings.from_matrix(np.transpose(sorts), items=list("pqrstu"))
    subject = Subject.of(findings(SubsetFusion(n_clusters=3, random_state=0).fit(groupings), certainty=None))
    assert [each.about for each in answer.lists(subject).clusters] == [
        "3 items; much the same made by 10 of 10; 8 have all of it in one group; called so by 8 of these",
        "2 items; much the same made by 8 of 10; 8 have all of it in one group; called so by 8 of these",
        "1 item; left alone by 6 of 10, put with r by 4, s by 4 and t by 4; called so by 4 of these",
    ]
    assert (subject.facts["n_made_just_these"], subject.facts["n_namers"]) == (4, 8)
    assert subject.facts["cluster_makers"][2] == {"roughly": 6, "whole": 10, "exactly": 6, "n_sorted": 10}


def test_shares_of_draws_from_several_segments_are_at_best_those(sorts):
    subject = Subject.of(findings(sorts[0], certainty=sorts[1]))
    vars(subject)["segments"] = SimpleNamespace(n_segments=2)
    assert ", all of them firm: at best " in answer.lead(subject)


def test_what_other_panels_join_and_divide_is_said_with_how_often(sorts):
    """In 8 of 20 draws two clusters are one, in 12 two cards leave the third together."""
    model, found = sorts
    draws = np.tile(model.labels_, (20, 1))
    draws[:8] = np.where(draws[:8] == 1, 0, draws[:8])
    part = np.flatnonzero(model.labels_ == 2)[:2]
    draws[8:, part] = 7
    subject = Subject.of(findings(model, certainty=replace(found, draws=draws)))
    divided, *joined = (subject.clusters.titles[code] for code in (2, 0, 1))
    assert answer._say_what_is_open(subject)[:2] == [
        f"whether “{divided}” is one (60% divide it)",
        f"whether “{joined[0]}” and “{joined[1]}” are two (40% join them)",
    ]
    assert not certainty_sections.are_marked(subject).any()  # nothing moves on its own
    clusters = answer.lists(subject).clusters
    assert [each.verdict for each in clusters] == ["open"] * 3
    assert "; divided in 60% of panels: 0 of 8 annotators divide it, with " in clusters[2].about
    assert (
        f"; one with “{joined[1]}” in 40% of panels, and most of both in one group of 0 of 8 annotators"
        in clusters[0].about
    )
    assert answer.lead(subject).endswith("Rely on the broad lines, and not on single items without a second look.")


def test_a_cluster_that_many_people_divide_says_so_though_other_panels_do_not():
    rows = [[*"aaaaabbb"]] * 7 + [[*"aaaccbbb"]] * 3
    sorts = Groupings.from_matrix(np.transpose(rows), items=list("pqrstuvw"))
    subject = Subject.of(findings(SubsetFusion(n_clusters=2, random_state=0).fit(sorts), certainty=None))
    (divided,) = [each.about for each in answer.lists(subject).clusters if each.about.startswith("5")]
    assert divided.endswith("; 3 of 10 annotators divide it, with s and t apart")
    few = Groupings.from_matrix(np.transpose(rows[:7] * 2 + rows[-3:]), items=list("pqrstuvw"))  # 3 of 17
    subject = Subject.of(findings(SubsetFusion(n_clusters=2, random_state=0).fit(few), certainty=None))
    assert not any("divide" in each.about for each in answer.lists(subject).clusters)


def test_without_those_who_sort_at_random_the_clusters_are_said_to_be_the_same_or_not():
    rng = np.random.default_rng(0)
    cells = np.repeat([[f"{n // 6}"] for n in range(30)], 12, axis=1).astype(object)
    cells[:, 0] = rng.integers(5, size=30)
    sorts = Groupings.from_matrix(cells.astype(str))
    subject = Subject.of(findings(SubsetFusion(random_state=0).fit(sorts), certainty=None))
    (said,) = participants.chance_in_short(subject)
    assert said.endswith("; without, the clusters would be the same; look at the groups.")
    other = subject.clusters.codes.copy()
    other[:3] = other[-1]
    moved = replace(subject, estimator=clone(subject.estimator).fit(sorts))
    moved.estimator.labels_ = other
    assert "as many clusters, and 3 items elsewhere" in participants._without(moved, [sorts.annotators[0]])
    assert participants._without(subject, list(sorts.annotators[:9])) == ""


def test_items_that_are_all_alone_are_nothing_to_rely_on(sorts):
    model, found = sorts
    alone = replace(found, items=found.items.assign(cluster=np.arange(9)))
    assert "Rely on the broad lines" in answer.lead(Subject.of(findings(model, certainty=alone)))


def test_a_number_of_clusters_that_others_would_not_make_is_not_relied_on(sorts, read):
    numbers = pd.DataFrame({"share": [0.04, 0.3, 0.4, 0.22, 0.04]}, index=pd.Index(range(2, 7), name="n_clusters"))
    page = read(report(sorts[0], certainty=replace(sorts[1], n_clusters=numbers), words="cards,participants"))
    open_ = "Open: how many clusters there are (3 to 5 in most panels). You can rely on these clusters."
    assert lead(page).endswith(open_)


def test_clusters_are_named_by_standard_names_or_central_items(page):
    named = {name: (about, items) for name, about, items in lists(page)}
    assert len(named) == 3
    assert {"Orders firm", "(no common name) Log in, Cart firm"} <= set(named)
    made = "much the same made by 8 of 8; 8 have all of it in one group"
    again = "found again by 100% of panels"
    assert named["Orders firm"][0] == f"3 cards; {made}; called so by 8 of these (Orders 6 and Order 2); {again}"
    about = "without a name in common: its most central cards"
    assert named["(no common name) Log in, Cart firm"][0] == f"3 cards; {made}; {about}; {again}"
    assert sorted(", ".join(items for _, items in named.values()).split(", ")) == sorted(CARDS)
    counted = "Most spellings and plurals, and word order, are counted as one name; translations and synonyms are not,"
    assert page.root.text.count(counted) == 1  # in the section on standard names


def test_names_of_a_cluster_without_a_common_one_are_listed():
    words = ["Sea", "Water", "Fish", "Swims", "Wet", "Ocean", "Floats"]
    cells = [[word] * 3 + ["Land"] * 2 for word in words]
    sorts = Groupings.from_matrix(np.array(cells, dtype=object).T, items=["whale", "cod", "eel", "cow", "pig"])
    found = answer.lists(Subject.of(findings(SubsetFusion(n_clusters=2, random_state=0).fit(sorts), certainty=None)))
    assert found.clusters[0].about.endswith("; called Fish, Floats, Ocean, Sea, Swims and 2 more, by one each")


def test_names_that_as_many_people_use_are_all_named(read):
    people = [["Food"] * 2 + ["Rest"] * 2, ["Eats"] * 2 + ["Rest"] * 2] * 2 + [["Fare"] * 2 + ["Rest"] * 2]
    sorts = Groupings.from_matrix(np.array(people, dtype=object).T, items=["bread", "cheese", "nail", "saw"])
    text = read(report(SubsetFusion(n_clusters=2, random_state=0).fit(sorts), certainty=None)).root.text
    assert "called Eats and Food by 2 of these each" in text
    assert "What annotators call them: Eats or Food and Rest; each is the name that 2 to 5 of 5 annotators use." in text


def test_few_people_are_not_said_to_tell_nothing_apart(page):
    """With 8 people and 36 pairs, no pair can be told apart, however well they agree."""
    assert "demonstrably" not in page.root.text
    assert "none could be shown to differ, however well people agree" in page.section("separated").text
    assert "separated" not in page.tables()


@pytest.mark.parametrize(("n_agree", "sentence"), [(2, "do not rely on single"), (12, "You can rely on these classes")])
def test_trust_follows_what_others_would_repeat(n_agree, sentence, read):
    rng = np.random.default_rng(1)
    rows = [
        (item, f"P{p}", "ab"[k % 2 if p < n_agree else rng.integers(2)])
        for p in range(12)
        for k, item in enumerate(CARDS)
    ]
    labels = Labels.from_frame(pd.DataFrame(rows, columns=["item", "annotator", "label"]))
    shown = read(report(DawidSkene().fit(labels), labels))
    assert sentence in lead(shown)


def test_a_card_of_a_closed_sort_has_the_number_of_people_before_any_probability(read):
    """The model is certain of the card that 7 of 12 people put there: its doubt is said by people."""
    rows = [(item, f"P{p}", "Help" if k < 5 else "Shop") for p in range(12) for k, item in enumerate(CARDS)]
    rows = [(i, p, "Shop" if i == "Returns" and int(p[1:]) >= 7 else label) for i, p, label in rows]
    labels = Labels.from_frame(pd.DataFrame(rows, columns=["item", "annotator", "label"]))
    shown = read(report(DawidSkene().fit(labels), labels, certainty=None, words="cards,participants"))
    named = {name: (about, items) for name, about, items in lists(shown)}
    about, cards = named["Help"]
    assert about == "5 cards, 1 in doubt"
    assert cards.endswith("Returns 7 of 12")
    assert named["Shop"][0] == "4 cards, none in doubt"
    assert sorted(", ".join(cards for _, cards in named.values()).replace(" 7 of 12", "").split(", ")) == sorted(CARDS)
    assert "into 2 classes, 1 card in doubt" in lead(shown)


@pytest.mark.parametrize(
    ("words", "doubt", "trust"),
    [("cards,participants", "none in doubt", "You can rely on these"), ("", "5 in doubt", "Look at each item before")],
)
def test_what_most_people_of_a_sort_say_is_not_in_doubt_for_an_improbable_class(words, doubt, trust):
    rows = [(item, f"P{p}", "Help" if k < 5 else "Shop") for p in range(12) for k, item in enumerate(CARDS)]
    labels = Labels.from_frame(pd.DataFrame(rows, columns=["item", "annotator", "label"]))
    subject = Subject.of(findings(DawidSkene().fit(labels), labels, words=words or None))
    vars(subject)["votes"] = subject.votes.assign(probability=0.85)
    with use_words(subject.words):
        assert answer.lists(subject).clusters[0].about == f"5 {subject.words.items}, {doubt}"
        assert trust in answer.lead(subject)


def closed_sort(annotator):
    rows = [(card, f"P{p}", "Shop" if (k < 5) == (p > k) else "Help") for p in range(9) for k, card in enumerate(CARDS)]
    return Labels.from_frame(pd.DataFrame(rows, columns=["item", "annotator", "label"])), f"cards,{annotator}s"


def test_rival_names_of_a_cluster_are_counted():
    names = ["Sea"] * 4 + ["Ocean"] * 2 + ["Water"] * 2 + ["Wet"]
    cells = np.array([[name] * 3 + ["Land"] * 2 for name in names], dtype=object).T
    sorts = Groupings.from_matrix(cells, items=["whale", "cod", "eel", "cow", "pig"])
    subject = Subject.of(findings(SubsetFusion(n_clusters=2, random_state=0).fit(sorts), certainty=None))
    said = {each.title: each.about for each in answer.lists(subject).clusters}
    assert said["Sea"].endswith("; called so by 4 of these, “Ocean” by 2, “Water” by 2")
    assert said["Land"].endswith("; called so by 9 of these")


def test_an_item_in_doubt_is_marked_with_where_else_it_is():
    rows = [[*"aaaabbbb"]] * 6 + [[*"aaabbbbb"]] * 4
    sorts = Groupings.from_matrix(np.transpose(rows), items=list("pqrstuvw"))
    model = SubsetFusion(n_clusters=2, random_state=0).fit(sorts)
    found = certainty(model, n_draws=20, random_state=0)
    subject = Subject.of(findings(model, certainty=replace(found, draws=np.tile(model.labels_, (20, 1)))))
    remarks = {name: remark for each in answer.lists(subject).clusters for name, remark in each.items if remark}
    code = model.labels_[list("pqrstuvw").index("t")]
    assert remarks == {"s": f"? {subject.clusters.titles[code]}"}  # of these people
    new = np.tile(model.labels_, (20, 1))
    new[:8, list("pqrstuvw").index("s")] = 9
    items = found.items.assign(stays=np.where(found.items.index == "s", 0.6, 1.0))
    subject = Subject.of(findings(model, certainty=replace(found, draws=new, items=items)))
    remarks = {name: remark for each in answer.lists(subject).clusters for name, remark in each.items if remark}
    assert remarks == {"s": "?"}  # of other panels, in a cluster that is none of these


def test_nobody_who_sorts_is_accurate_or_weak(read):
    labels, words = closed_sort("participant")
    found = findings(DawidSkene().fit(labels), labels, certainty=None, words=words)
    shown = read(report(found))
    for text in (shown.root.text, str(found)):
        text = text.partition("How this was computed")[0].lower()
        assert not re.search("accura|weak|error|wrong|guess|informati", text)
    assert shown.table("annotators")[0][:2] == ["Participant", "Name the class"]
    assert "The same in every row: Labels, " in shown.section("annotators").text
    assert "labels name the card's class; least so those of" in str(found)


def test_those_who_label_are_more_or_less_accurate(read):
    labels, _ = closed_sort("participant")
    found = findings(DawidSkene().fit(labels), labels, certainty=None, words="pictures,workers")
    assert "Accuracy" in read(report(found)).table("annotators")[0]
    assert "Least accurate workers:" in str(found)


def test_votes_come_before_the_probabilities_of_the_model(read):
    labels, words = closed_sort("participant")
    model = DawidSkene().fit(labels)
    head, *rows = read(report(model, labels, certainty=None, words=words)).table("votes")
    assert head[1:3] == ["Class", "Labels that name it"]
    assert head.index("Probability of the model") > head.index("Who gave which label")
    table = item_votes(model, labels)
    for name, cluster, votes, *_ in rows:
        assert votes == f"{table.loc[name, f'votes: {cluster}']} of 9"


@pytest.mark.parametrize(("words", "named"), [("cards,participants", False), ("products,assessors", True)])
def test_distatis_and_silhouettes_are_for_those_who_know_them(sorts, words, named, read):
    shown = read(report(sorts[0], certainty=None, words=words))
    before, methods = shown.root.text.split("How this was computed", 1)
    assert ("DISTATIS" in before) == named
    assert "ilhouette" not in before
    assert "The textbook's silhouette of the clusters is" in methods
    assert "smoothed" not in methods
