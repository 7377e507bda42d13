"""--given-groups on the command line: names, a file, and what is refused."""

import pytest

from tests.analysis.test_given_groups import GIVEN, SORTS

FAST = ("--clusters", "2", "--certainty-draws", "0", "--out", "out")


@pytest.fixture
def study(tmp_path):
    SORTS.rename_axis("card").to_csv(tmp_path / "sorts.csv")
    (tmp_path / "given.txt").write_text("Orders\nShops\n\nHelp\n")
    return tmp_path


@pytest.mark.parametrize("given", [("Orders, Shops", "Help"), ("given.txt",)])
def test_names_by_commas_and_in_a_file(study, run, quick_report, given):
    options = [part for name in given for part in ("--given-groups", name)]
    result = run("fit", "sorts.csv", "--kind", "groupings", *options, *FAST)
    assert "Nobody used the given group 'Help'." in result.stderr
    assert quick_report.keywords[0]["given_groups"] == tuple(GIVEN)


def test_names_that_nobody_used_are_refused(study, fails, quick_report):
    message = fails("fit", "sorts.csv", "--kind", "groupings", "--given-groups", "Order", *FAST)
    assert "--given-groups Order: Nobody made a group of this name" in message


def test_labels_are_refused(study, fails, quick_report):
    message = fails("fit", "sorts.csv", "--kind", "labels", "--given-groups", "Orders", *FAST[2:])
    assert "--given-groups is for hybrid sorts" in message
