"""How long people took, in the tables of annotators of a report."""

import re

import numpy as np
import pandas as pd
import pytest

from consilience.analysis.durations import durations_of
from consilience.consensus import DawidSkene, SubsetFusion
from consilience.errors import InputError
from consilience.inspection import report
from consilience.simulation import simulate_labels
from tests.inspection.test_card_sort_report import of_people

PEOPLE = pd.Index(["Ann", "Bo", "Cy"])


@pytest.mark.parametrize("given", [{"Ann": 60, "Cy": np.nan}, pd.Series({"Ann": 60.0}), {"Ann": 60, "Bo": None}])
def test_durations_are_by_annotator_and_may_be_missing(given):
    assert durations_of(PEOPLE, given).to_dict() == pytest.approx({"Ann": 60, "Bo": np.nan, "Cy": np.nan}, nan_ok=True)


def test_people_left_out_may_have_a_duration():
    assert durations_of(PEOPLE, {"Dee": 5, "Bo": 7}, left_out=("Dee",)).tolist()[1] == 7
    assert durations_of(PEOPLE, None) is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([60, 70, 80], "must be a dict or a Series by annotator. Got list"),
        ({"Anne": 60}, "'Anne', who is no annotator. The nearest name is 'Ann'."),
        ({"Bo": -1}, "seconds of the annotator 'Bo' must be a number of at least 0. Got -1."),
        ({"Bo": "60"}, "seconds of the annotator 'Bo' must be a number of at least 0. Got '60'."),
        ({"Bo": np.inf}, "seconds of the annotator 'Bo' must be"),
        ({"Bo": True}, "seconds of the annotator 'Bo' must be"),
        (pd.Series([1, 2], ["Bo", "Bo"]), "The annotator 'Bo' has two times."),
    ],
)
def test_what_is_no_duration_is_refused(given, message):
    with pytest.raises(InputError, match=re.escape(message)):
        durations_of(PEOPLE, given)


@pytest.mark.slow
def test_tables_of_people_who_sorted_have_minutes(read):
    sorts = of_people()
    seconds = {name: 90.0 * place for place, name in enumerate(sorts.annotators[:-1])}
    model = SubsetFusion(random_state=0).fit(sorts)
    page = read(report(model, sorts, certainty=None, words="cards,participants", seconds=seconds))
    for key, file in (("annotators", "annotators.csv"), ("people", "annotators-agreement.csv")):
        head, *rows = page.table(key)
        minutes = {row[0]: row[head.index("Minutes")] for row in rows}
        assert minutes == {name: f"{value / 60:.1f}" for name, value in seconds.items()} | {sorts.annotators[-1]: "–"}
        assert page.file(file).set_index("annotator")["seconds"].dropna().to_dict() == seconds


def test_people_who_gave_labels_have_minutes(read):
    labels = simulate_labels(list("aabbccabc") * 3, n_annotators=4, random_state=0)
    model = DawidSkene().fit(labels)
    page = read(report(model, labels, certainty=None, seconds=dict.fromkeys(labels.annotators, 30)))
    assert "Minutes, 0.5. " in page.section("annotators").text  # the same of everybody


def test_no_column_without_durations(read):
    sorts = of_people()
    page = read(report(SubsetFusion(random_state=0).fit(sorts), sorts, certainty=None))
    assert all("Minutes" not in page.table(key)[0] for key in ("annotators", "people"))


def test_unknown_people_are_refused():
    sorts = of_people()
    model = SubsetFusion(random_state=0).fit(sorts)
    with pytest.raises(InputError, match="Seconds are given for 'nobody', who is no annotator"):
        report(model, sorts, certainty=None, seconds={"nobody": 3})
