"""The section on hybrid sorts: by name, by what the file tells, and not otherwise."""

import pytest

from consilience import Groupings, Labels, read_annotations
from consilience.consensus import MajorityVote, SubsetFusion
from consilience.errors import InputError
from consilience.inspection import compare_given_groups, report
from tests.analysis.test_given_groups import GIVEN, SORTS
from tests.annotations.files.test_strangers import SERVER


@pytest.fixture(scope="module")
def fitted():
    sorts = Groupings.from_matrix(SORTS)
    return SubsetFusion(n_clusters=2, random_state=0).fit(sorts), sorts


def test_the_section_tells_groups_given_from_own_ones(fitted, read):
    page = read(report(*fitted, certainty=None, given_groups=GIVEN, words="cards,participants"))
    found = compare_given_groups(fitted[1], GIVEN)
    assert page.file("given-groups.csv").set_index("group")["n_annotators"].to_dict() == (
        found.groups["n_annotators"].to_dict()
    )
    head, *rows = page.table("given-items")
    assert head == [
        *("Card", "In own groups", "Share", "Mostly called"),
        *("Commonest group given", "Put there by"),
    ]
    assert rows[0][:3] == ["voucher", "3 of 3", "100%"]
    assert "4 of 4 participants made 4 groups of their own beside the 3 given" in page.root.text


@pytest.mark.filterwarnings("ignore:.*were given to everybody")
def test_exports_of_the_server_tell_the_groups(tmp_path, read, fitted):
    rows = [
        f'{item},{who},1,{group},{group},drawn,,False,False,{item},"[""Orders"", ""Shops"", ""Help""]"'
        for who, column in SORTS.items()
        for item, group in column.dropna().items()
    ]
    (tmp_path / "export.csv").write_text("\n".join([f"{SERVER},hybrid_categories", *rows]))
    sorts = read_annotations(tmp_path / "export.csv")
    assert sorts.reading.given == ("Orders", "Shops", "Help")
    page = read(report(SubsetFusion(n_clusters=2, random_state=0).fit(sorts), certainty=None))
    assert len(page.table("given-groups")) == 7


def test_open_sorts_have_no_such_section(fitted, read):
    assert 'id="given-groups' not in read(report(*fitted, certainty=None)).source


def test_labels_have_no_given_groups():
    labels = Labels.from_matrix([["a", "b"], ["a", "b"], ["b", "b"]])
    with pytest.raises(InputError, match="for hybrid sorts"):
        report(MajorityVote().fit(labels), labels, given_groups=["a"])
