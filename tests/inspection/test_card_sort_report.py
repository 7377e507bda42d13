"""The sections of card sorts: standard names, the results matrix, cuts, and whose groups represent the others."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from consilience import Groupings, Labels
from consilience.analysis.certainty_moves import LikelySplit
from consilience.analysis.cut_figures import AS_GOOD, AS_OWN, BEST, LESS, CutFigures, OwnClusters, compared_cuts
from consilience.analysis.cuts import CutJudge, Tree
from consilience.analysis.findings import findings
from consilience.consensus import MajorityVote, SubsetFusion
from consilience.errors import AnnotationError, InputError
from consilience.inference.memberships import Memberships
from consilience.inspection import report, standard_names, who_put_together
from consilience.inspection.report import best_cuts, pair_sections
from consilience.inspection.report.best_cuts import _ranges
from consilience.inspection.report.name_sections import items_table
from consilience.inspection.report.participants import Representatives, representatives_table
from consilience.inspection.report.subject import Subject

CARDS = ["cat", "dog", "cow", "owl", "emu", "hen", "cod", "eel", "ray"]


def of_people(n=8, strange=("<b>Odd</b>", "=1+cmd")):
    """Card sorts by n people into mammals, birds and fish, with other spellings; the last one by strange names."""
    rng = np.random.default_rng(0)
    columns = {}
    for place in range(n - 1):
        spell = [str.title, str.upper, str.lower][place % 3]
        names = [spell(name) for name in ("mammals", "birds", "fish") for _ in range(3)]
        wrong = rng.integers(9)
        names[wrong] = names[(wrong + 3) % 9]
        columns[f"p{place}"] = names
    columns["odd"] = [strange[0]] * 4 + [strange[1]] * 5
    return Groupings.from_matrix(pd.DataFrame(columns).to_numpy(), items=CARDS, annotators=list(columns))


@pytest.fixture(scope="module")
def groupings():
    return of_people()


@pytest.fixture(scope="module")
def model(groupings):
    return SubsetFusion(random_state=0).fit(groupings)


@pytest.fixture(scope="module")
def page(model, groupings, read):
    return read(report(model, groupings, certainty=None, words="cards,participants"))


def test_pairs_say_who_put_them_together_and_under_which_names(page, groupings):
    head, *rows = page.table("pair-makers")
    assert head == ["Two cards", "Together", "Share", "Under the names (times)", "Who, or who not"]
    file = page.file("pairs.csv")
    assert list(file.columns) == ["item_1", "item_2", "n_together", "n_presented", "share", "names", "who"]
    assert file["share"].is_monotonic_decreasing
    first = file.iloc[0]
    found = who_put_together(groupings, first["item_1"], first["item_2"])
    assert first["who"] == "; ".join(found.loc[found["together"], "annotator"])
    assert rows[0][:2] == [f"{first['item_1']}, {first['item_2']}", f"{first['n_together']} of {first['n_presented']}"]
    assert rows[0][3].startswith(first["names"].split(" (")[1].split(")")[0])
    assert f" {36 - len(file)} pairs that nobody put together." in page.section("pairs").text


def test_pairs_left_out_are_counted_those_of_nobody_too(page, read, model, groupings, monkeypatch):
    monkeypatch.setattr(pair_sections, "ROWS", 20)
    text = read(report(model, groupings, certainty=None)).section("pairs").text
    n_pairs = len(page.file("pairs.csv"))
    told = f"{n_pairs - 20} other pairs that somebody put together and {36 - n_pairs} pairs that nobody put together"
    assert f"Not shown: {told}." in text


def test_pairs_that_most_put_together_list_who_put_them_apart(page, groupings):
    shown = page.table("pair-makers")[1:]
    for row, (_, pair) in zip(shown, page.file("pairs.csv").iterrows(), strict=False):
        found = who_put_together(groupings, pair["item_1"], pair["item_2"])
        together, apart = (sorted(found.loc[found["together"] == side, "annotator"]) for side in (True, False))
        expected = together if len(apart) >= len(together) else apart
        said = row[-1].removeprefix("apart: ")
        assert (said != row[-1]) == (0 < len(apart) < len(together))
        assert sorted(said.split(", ")) == (expected or ["nobody apart"])
    assert any(row[-1].startswith("apart: ") for row in shown)


def test_the_grid_says_what_was_merged_and_why(page, groupings):
    head, *rows = page.table("standard-names")
    assert head == ["Standard name", "Merged, and why", "Names", "Participants who use it", "Cards", "Agreement"]
    by_name = {row[0]: row for row in rows}
    assert by_name["Birds"][1].startswith("same spelling: ")
    assert by_name["Birds"][2:4] == ["3", "7"]
    grid = page.file("standard-names.csv")
    assert list(grid.columns) == ["name", "standard", "why", "n_annotators", "n_items"]
    assert set(grid["name"]) == {*map(str, groupings.group_names[:-2]), "<b>Odd</b>", "'=1+cmd"}


def test_the_matrix_counts_people_and_shades_their_share(page, groupings):
    head, *rows = page.table("placements")
    assert head[0] == "Card"
    assert head[1] == "Named by"
    assert "Birds" in head
    counts = groupings.to_frame().query("item == 'owl'")["group"].str.casefold().value_counts()
    owl = next(row for row in rows if row[0] == "owl")
    assert owl[head.index("Birds")] == str(counts["birds"])
    assert owl[1] == "8"
    assert "shade-5" in page.source
    assert page.file("placements.csv").shape == (9, 6)


def test_names_and_cards_have_their_agreement(page):
    names = {row[0]: row for row in page.table("name-agreement")[1:]}
    assert names["Birds"][1] == "7"
    assert names["Birds"][3].endswith("%")
    assert "<b>Odd</b>" not in names  # a name of one person
    shares = [int(row[3].rstrip("%")) for row in page.table("item-agreement")[1:]]
    assert shares == sorted(shares)
    assert len(shares) == 9


def test_cuts_have_the_figures_of_the_explorer_and_one_is_best(page, model, groupings):
    head, *rows = page.table("cuts")
    assert head[:4] == ["Clusters", "Agreement with people", "Below the best", "Silhouette"]
    assert head[4] == "Like the report's"
    best = [row for row in rows if row[5] == BEST]
    assert [row[0] for row in best] == ["3 of the cut (tree)"]
    assert best[0][2] == "0.000"
    (own,) = (row for row in rows if row[0] == "3 of the report (model)")
    assert own[1:3] == [best[0][1], "0.000 ± 0.000"]
    assert own[5] == AS_GOOD
    assert not any("2 of the report:" in row[0] for row in rows)  # no two were put together more often than any cards
    assert "agree better with the tree" not in page.root.text
    assert "agree best with people's groups at 3 clusters" in page.section("cuts").text


def test_marks_of_cuts_are_those_within_a_standard_error():
    agreement = np.array([[0.1, 0.1, 0.1, 0.1], [0.9, 0.1, 0.9, 0.5], [0.5, 0.5, 0.9, 0.6], [0.59, 0.59, 0.6, 0.6]])
    found = CutFigures(np.arange(2, 6), agreement, np.array([0.1, 0.2, 0.3, 0.4]), np.zeros((4, 0), int))
    below, error = found.shortfall()
    assert found.marks() == ["", AS_GOOD, BEST, AS_GOOD]
    assert below == pytest.approx(found.agreement.max() - found.agreement)
    assert error[1] == pytest.approx(np.std(agreement[2] - agreement[1], ddof=1) / 2)


@pytest.mark.parametrize(
    ("silhouette", "sentence"),
    [
        (
            [0.411, 0.409, 0.406, 0.3],
            "3 clusters are the clearest by the silhouette (0.41); 2 and 4 are as clear.",
        ),  # the report's
        (
            [0.411, 0.2, 0.2, 0.41],
            "5 clusters are the clearest by the silhouette (0.41); 2 is as clear.",
        ),  # the best cut
        ([0.2, 0.2, 0.41, 0.3], "4 clusters are the clearest by the silhouette (0.41)."),
        ([0.2, 0.2, 0.3, 0.41], ""),
    ],
)
def test_numbers_of_clusters_that_are_as_clear_are_named_the_reports_first(silhouette, sentence):
    agreement = np.array([[0.1] * 4, [0.2] * 4, [0.3] * 4, [0.9] * 4])
    found = CutFigures(np.arange(2, 6), agreement, np.array(silhouette), np.zeros((4, 3), int))
    own = OwnClusters(3, np.full(4, 0.5), 0.4, np.arange(3), pd.Index(list("abc")), list("xyz"))
    told = [each for each in best_cuts.sentences(found, own) if "silhouette" in each]
    assert told == [f"Of the cuts, {sentence}"] * bool(sentence)
    coloured = [row[3].tone == "low" for row in best_cuts.table(found, own).rows[:-1]]
    assert coloured == [f"{value:.2f}" == "0.41" for value in silhouette]


def test_a_cut_is_clearly_better_if_people_differ_little_in_it():
    agreement = np.array([[0.1, 0.1, 0.1, 0.1], [0.5, 0.5, 0.9, 0.6]])
    found = CutFigures(np.arange(2, 4), agreement, np.array([0.1, 0.2]), np.zeros((2, 0), int))
    clear, unclear, little = (
        OwnClusters(4, np.array(of_annotator), 0.1, np.zeros(0, int), pd.Index([]), [])
        for of_annotator in ([0.4, 0.4, 0.7, 0.4], [0.5, 0.5, 0.1, 0.6], [0.49, 0.49, 0.89, 0.59])
    )
    assert found.is_clearly_better(clear)
    assert not found.is_clearly_better(unclear)
    assert not found.is_clearly_better(little)
    below, error = found.shortfall_of(clear)
    assert below == pytest.approx(0.15)
    assert error == pytest.approx(np.std([0.1, 0.1, 0.2, 0.2], ddof=1) / 2)
    assert found.shortfall_of(replace(clear, of_annotator=agreement[1] + 0.1))[0] == pytest.approx(-0.1)


def test_the_page_says_at_its_head_if_a_cut_agrees_better(groupings, read):
    model = SubsetFusion(n_clusters=2, random_state=0).fit(groupings)
    page = read(report(model, groupings, certainty=None))
    assert "Annotators agree better with the tree cut into 3 clusters (0." in page.root.text
    assert "than with these 2 (0." in page.root.text


def test_cuts_skip_numbers_that_no_height_gives():
    groupings = Groupings.from_lists([[["a", "b"], ["c", "d"]]] * 3)
    tree = Tree.of(1.0 - np.kron(np.eye(2), np.ones((2, 2))))
    found = CutFigures.of(tree, CutJudge(Memberships.of(groupings)), 4)
    assert found.n_clusters.tolist() == [2]
    assert found.agreement.tolist() == [1.0]


def test_ranges_of_numbers_are_read_as_such():
    assert [_ranges(numbers) for numbers in ([4], [4, 5], [4, 5, 6], [2, 4, 5, 6, 9])] == [
        *("4", "4 and 5", "4 to 6", "2, 4 to 6 and 9"),
    ]


def test_representatives_stand_for_both_schools():
    agreement = np.full((7, 7), 0.1)
    agreement[:4, :4] = agreement[4:, 4:] = 0.8
    agreement[0, :4] = agreement[:4, 0] = 0.9
    np.fill_diagonal(agreement, 1.0)
    found = Representatives.of(agreement)
    assert found.chosen[0] == 0
    assert found.chosen[1] >= 4
    assert len(found.chosen) == 2
    assert (found.nearest[:4] == 0).all()
    assert (found.nearest[4:] == 1).all()
    # on the five who are not chosen: three of the one school, two of the other
    assert found.agreement == pytest.approx([(3 * 0.9 + 2 * 0.1) / 5, (3 * 0.9 + 2 * 0.8) / 5])


@pytest.mark.parametrize("seed", range(5))
def test_representatives_are_those_of_greedy_enumeration(seed):
    """Each further one gains most over the same others, and somebody's agreement with themselves counts nowhere."""
    rng = np.random.default_rng(seed)
    agreement = rng.uniform(-0.1, 1.0, size=(9, 9))
    agreement = (agreement + agreement.T) / 2
    np.fill_diagonal(agreement, 1.0)
    chosen = []

    def nearest(of, people):
        return np.mean([max(agreement[other, one] for one in of) for other in people])

    for _ in range(3):
        gain = {}
        for one in set(range(9)) - {*chosen}:
            others = [other for other in range(9) if other not in (*chosen, one)]
            gain[one] = nearest([*chosen, one], others) - (nearest(chosen, others) if chosen else 0)
        best = max(gain, key=gain.get)
        if chosen and gain[best] < 0.02:
            break
        chosen.append(best)
    others = [other for other in range(9) if other not in chosen]
    found = Representatives.of(agreement)
    assert found.chosen == chosen
    assert found.agreement == pytest.approx([nearest(chosen[: k + 1], others) for k in range(len(chosen))])


def test_groups_of_a_representative_that_have_only_numbers_are_unnamed():
    cells = pd.DataFrame({"Ann": ["G1", "G1", "birds", "G2"], "Bo": ["x", "x", "y", "y"]}, index=list("abcd"))
    table = representatives_table(
        Groupings.from_matrix(cells), np.ones((2, 2)), Representatives([0], [1.0], np.zeros(2, int))
    )
    assert {name for name, _ in table.rows[0][-1].pairs} == {"unnamed:", "birds:"}


def test_a_name_that_one_person_gave_is_no_commonest_name():
    cells = pd.DataFrame({f"p{p}": ["birds", "xyz"[p] * 4] for p in range(3)}, index=["owl", "stone"])
    table = items_table(standard_names(Groupings.from_matrix(cells)))
    shown = {row[0].names[0]: row[1].names or row[1].pairs for row in table.rows}
    assert shown == {"owl": ("birds",), "stone": (("1", "xxxx"), ("1", "yyyy"))}


def test_one_representative_is_enough_where_all_agree():
    found = Representatives.of(np.full((5, 5), 0.7))
    assert len(found.chosen) == 1
    assert found.agreement == [pytest.approx(0.7)]


def test_people_are_listed_with_their_representative(page, groupings):
    head, *rows = page.table("people")
    assert head == [
        *("Participant", "Groups", "Largest", "Agreement with others"),
        *("Random sorts that agree as well", "Nearest representative"),
    ]
    assert {row[0] for row in rows} == set(groupings.annotators)
    assert rows[0][0] == "odd"
    before, how = page.root.text.split("How this was computed", 1)
    assert "the skewness of all such sorts" in how
    assert "skewness" not in before
    assert "The same in every row: Cards sorted, 9." in page.section("represented").text
    assert {row[5] for row in rows} == {row[0] for row in page.table("representatives")[1:]}


def test_corrections_reach_the_page(model, groupings, read):
    page = read(report(model, groupings, certainty=None, names={"Birds": "Winged"}))
    assert "Winged" in {row[0] for row in page.table("standard-names")}
    assert "Corrections were given; they changed 3 names." in page.section("standard-names").text
    assert any(row[0] == "Winged" for row in page.table("clusters")[1:])
    assert not any("Birds (" in " ".join(row) for row in page.table("clusters")[1:])
    grid = pd.DataFrame({"name": ["Birds"], "standard": ["Winged"]})
    assert report(model, groupings, certainty=None, names=grid) == page.source
    assert report(model, groupings, certainty=None, names={}) == report(model, groupings, certainty=None)
    with pytest.raises(InputError, match="Nobody gave a group the name 'Bats'"):
        report(model, groupings, certainty=None, names={"Bats": "Winged"})


def test_the_page_says_who_was_left_out(groupings, read):
    kept = groupings.leave_out(["odd", "p0"])
    model = SubsetFusion(random_state=0).fit(kept)
    page = read(report(model, kept, certainty=None, left_out=["odd", "p0"]))
    assert "2 annotators were left out of the fit and of this report: odd and p0." in page.root.text
    with pytest.raises(InputError, match="'p1' is said to be left out, but has annotations here"):
        report(model, kept, certainty=None, left_out=["p1"])


def test_groups_without_names_have_cuts_and_people_only(read):
    codes = of_people().to_matrix().apply(lambda column: pd.factorize(column)[0])
    groupings = Groupings.from_matrix(codes.to_numpy(), items=CARDS, missing=[])
    page = read(report(SubsetFusion(random_state=0).fit(groupings), groupings, certainty=None))
    assert page.section("standard-names") is None
    assert page.section("placements") is None
    assert page.section("cuts") is not None
    assert page.section("represented") is not None


def test_a_closed_sort_has_popular_placements(read):
    names = of_people(strange=("Birds", "Fish")).to_matrix().apply(lambda one: one.str.title())
    labels = Labels.from_matrix(names.to_numpy(), items=CARDS)
    page = read(report(MajorityVote().fit(labels), labels, certainty=None))
    assert page.section("standard-names") is None
    assert page.section("cuts") is None
    assert "Popular placements" in page.section("placements").text
    owl = next(row for row in page.table("placements") if row[0] == "owl")
    assert sum(int(cell) for cell in owl[2:] if cell) == 8


@pytest.mark.slow
def test_many_names_and_cards_are_cut_with_a_sentence(read):
    rng = np.random.default_rng(1)
    names = np.array([f"Name {letter}{other}" for letter in "abcdef" for other in "vwxyz"])
    frame = pd.DataFrame(names[rng.integers(0, 30, size=(120, 6))], columns=list("abcdef"))
    groupings = Groupings.from_matrix(frame.to_numpy(), items=[f"card {i}" for i in range(120)])
    page = read(report(SubsetFusion(n_clusters=4, random_state=0).fit(groupings), groupings, certainty=None))
    head, *rows = page.table("placements")
    assert len(head) == 17
    assert len(rows) == 100
    assert "Not shown: 15 rarer names and 20 items." in page.section("placements").text
    assert page.file("placements.csv").shape == (120, 31)


def test_without_leaves_annotators_out():
    groupings = of_people()
    assert groupings.leave_out("odd") == groupings.restrict(annotators=groupings.annotators[:-1])
    assert groupings.leave_out([]) == groupings
    with pytest.raises(AnnotationError, match="'nobody' is not among the 8 annotators"):
        groupings.leave_out(["nobody"])
    with pytest.raises(AnnotationError, match="All 8 annotators would be left out"):
        groupings.leave_out(groupings.annotators)


def test_joins_of_two_clusters_are_judged_by_the_rule_of_the_cuts():
    """Six of eight people put c and d together, half of these with the pair e and f, which nobody put with a and b."""
    sorts = [[*"aabcdd"]] * 2 + [[*"aabbcc"]] * 3 + [[*"aabbbb"]] * 3
    judge = CutJudge(Memberships.of(Groupings.from_matrix(np.transpose(sorts))))
    codes = np.array([0, 0, 1, 2, 3, 3])
    apart = 1 - np.mean([np.equal.outer(row, row) for row in np.array(sorts)], axis=0)
    own = OwnClusters.of(judge, codes, pd.Index(list("abcdef")), ["A", "C", "D", "E"], apart)
    assert (own.n_clusters, [join.n_clusters for join in own.joined]) == (4, [3] * 3)
    assert best_cuts._joined_titles(own.joined[0], own) == "“C” + “D”"
    assert own.joined[0].agreement == pytest.approx(judge.agreement(np.array([0, 0, 1, 1, 3, 3])))
    assert own.joined[0].agreement > own.agreement > own.joined[-1].agreement
    far = OwnClusters.of(judge, codes, own.items, own.titles, np.ones((6, 6)) - np.eye(6))
    assert len(far.joined) == 3  # all are as near as the nearest
    found = CutFigures(np.array([3]), own.joined[0].of_annotator[None], np.array([0.3]), own.joined[0].codes[None])
    (said,) = [each for each in best_cuts.sentences(found, own) if "joined" in each]
    both = "3 with “C” + “E” joined (0.54) or 3 with “D” + “E” joined (0.54)"  # 0.112 ± 0.118 below the report's
    undecided = f"; these sorts do not decide between it and {both}, within 0.02 or one standard error of it"
    assert f"{undecided}; better 3 with “C” + “D” joined (0.73)." in said  # 0.084 ± 0.072 above
    *_, better, as_own, _ = best_cuts.table(found, own).rows
    assert (better[-1].names, better[-2].text) == (("joins “C” + “D”",), "better than the report's")
    assert as_own[-2].text == "as the report's"
    worse = replace(own, of_annotator=own.of_annotator - 0.03)
    assert (own.beside(worse), own.beside(replace(worse, of_annotator=own.of_annotator - 0.01))) == (LESS, AS_OWN)


def test_a_cluster_is_divided_as_its_own_tree_divides_it():
    """Seven of ten people tell b and c from the others of their cluster, which three leave whole."""
    sorts = np.array([[*"aaabbccc"]] * 7 + [[*"aaaaaccc"]] * 3)
    judge = CutJudge(Memberships.of(Groupings.from_matrix(sorts.T)))
    apart = 1 - np.mean([np.equal.outer(row, row) for row in sorts], axis=0)
    own = OwnClusters.of(judge, np.array([0] * 5 + [1] * 3), pd.Index(list("pqrstuvw")), ["A", "C"], apart)
    (part,) = own.divided
    assert part.codes.tolist() == [0, 0, 0, 2, 2, 1, 1, 1]
    assert part.agreement == pytest.approx(judge.agreement(part.codes))
    assert best_cuts.say_divided(part, own) == "“A” without s and t"
    found = CutFigures.of(Tree.of(apart), judge, 4)
    assert best_cuts._how_of(found, 0, own) == ""
    assert best_cuts._how_of(found, 1, own) == "has a cluster of s and t"
    said = " ".join(best_cuts.sentences(found, own))
    assert "at 3 clusters" in said
    assert "3 with “A” without s and t (" in said


def test_the_part_that_others_would_split_off_is_the_one_that_is_tested_first():
    """The tree of the first cluster would divide s and t from the others, but another panel, p and q."""
    sorts = np.array([[*"aaabbccdd"]] * 7 + [[*"aaaaacccc"]] * 3)
    groupings = Groupings.from_matrix(sorts.T, items=list("pqrstuvwx"))
    subject = Subject.of(findings(SubsetFusion(n_clusters=2, random_state=0).fit(groupings), certainty=None))
    codes = subject.clusters.codes
    split = LikelySplit(int(codes[0]), np.array([0, 1]), 0.5)
    first, other = compared_cuts(subject.co_occurrence, subject.clusters, [split])[1].divided
    assert np.flatnonzero(first.codes != codes).tolist() == [0, 1]
    assert set(np.flatnonzero(other.codes != codes)) <= {5, 6, 7, 8}
    own = subject.cuts[1]
    assert [0, 1] not in [np.flatnonzero(part.codes != codes).tolist() for part in own.divided]


def test_clusters_that_are_about_as_near_as_the_nearest_two_are_joined_too():
    """Of twelve people, four join the first two pairs and as many the last two: both joins are told, and no other."""
    apart, rows = [*"aabbccdd"], [[*"aaaaccdd"], [*"aabbcccc"]]
    sorts = Groupings.from_matrix(np.transpose([apart] * 8 + rows * 2), items=list("pqrstuvw"))
    own = Subject.of(findings(SubsetFusion(n_clusters=4, random_state=0).fit(sorts), certainty=None)).cuts[1]
    joined = [sorted(own.items[join.codes != own.codes].tolist()) for join in own.joined]
    assert sorted(joined) == [["r", "s"], ["v", "w"]]


def test_cuts_that_only_leave_single_items_alone_are_said_to():
    """Ten people make two clusters of four, of each of which some take the last items away, each alone."""
    rows = [[*"aaaabbbb"]] * 6 + [[*"aaacbbbd"]] * 2 + [[*"aaacbbbb"]] * 2
    sorts = Groupings.from_matrix(np.transpose(rows), items=list("pqrstuvw"))
    found, own = Subject.of(findings(SubsetFusion(n_clusters=2, random_state=0).fit(sorts), certainty=None)).cuts
    assert best_cuts._say_cuts(found, [1], own) == "3 (which only leaves s alone)"
    assert best_cuts._say_cuts(found, [1, 2], own) == "3 and 4 (which only leave single items alone)"


def test_another_division_into_as_many_that_agrees_slightly_better_is_named():
    cut = np.array([0, 0, 0, 0, 0, 1, 2])
    found = CutFigures(np.array([3]), np.full((1, 9), 0.53), np.array([0.2]), cut[None])
    codes, items = np.array([0, 0, 0, 1, 1, 2, 2]), pd.Index(list("abcdefg"))
    own = OwnClusters(3, np.full(9, 0.515), 0.1, codes, items, ["Sport", "Hobbies", "Pets"])
    subject = Subject(None, None, of_people())
    vars(subject)["cuts"] = found, own
    assert best_cuts.other_division_in_short(subject) == [
        "Another division into 3 clusters, a cut of the tree, agrees slightly better with annotators (0.53; these "
        "0.52): it joins “Sport” and “Hobbies”; leaves f and g alone."
    ]
    assert found.mark_of(own) == AS_GOOD
    assert "the cut joins “Sport” and “Hobbies”" in best_cuts.compare_cut(found, own)[0]
    vars(subject)["cuts"] = found, replace(own, of_annotator=np.full(9, 0.53))
    assert best_cuts.other_division_in_short(subject) == []
    clearly = replace(own, of_annotator=np.full(9, 0.4))
    vars(subject)["cuts"] = found, clearly
    assert best_cuts.other_division_in_short(subject) == []  # said at the head
    assert found.mark_of(clearly) == ""


def test_pairs_of_different_clusters_that_half_put_together_are_listed(read):
    people = [["a", "a", "a", "b"]] * 3 + [["a", "a", "b", "b"]] * 3
    sorts = Groupings.from_matrix(np.array(people).T, items=["cat", "dog", "bat", "owl"])
    model = SubsetFusion(n_clusters=2, random_state=0).fit(sorts)
    page = read(report(model, certainty=None, words="cards,participants"))
    cluster = dict(zip(sorts.items, model.labels_, strict=True))
    rows = [row[0].split(", ") for row in page.table("pairs-across")[1:]]
    often = [("cat", "bat"), ("dog", "bat"), ("bat", "owl")]  # by half of the people each
    assert sorted(map(tuple, rows)) == sorted(pair for pair in often if cluster[pair[0]] != cluster[pair[1]])
    assert rows


def test_groups_of_which_none_has_a_name_are_not_called_unnamed():
    one = Representatives([0], [1.0], np.zeros(2, int))
    table = representatives_table(Groupings.from_matrix([[1, 1], [1, 2], [2, 2]]), np.ones((2, 2)), one)
    assert {name for name, _ in table.rows[0][-1].pairs} == {"•"}
