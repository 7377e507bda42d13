"""Labels of partitions are read as those of one table in memory: spellings, abstentions, missing values."""

import warnings

import numpy as np
import pandas as pd
import pytest

from consilience import Labels, read_annotations
from consilience.consensus import KCC, DawidSkene
from consilience.errors import InputError
from consilience.partitions import PartitionedTable, fit, item_results
from tests.partitions import made

WORDS = ["Yes", "yes", "yes ", "NO", "no", "Maybe", "unsure", "Don't know", "nan", "skip", "?", "a", "A"]


def votes(seed, words=WORDS, n_items=40):
    rng = np.random.default_rng(seed)
    rows = [(i, who) for i in range(n_items) for who in ("Ann", "Bo", "Cy")]
    frame = pd.DataFrame(rows, columns=["item", "annotator"])
    return frame.assign(label=rng.choice(np.array(words, dtype=object), len(frame)))


def told(function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = function()
    return found, {str(one.message) for one in caught}


@pytest.mark.parametrize("seed", range(2))
def test_classes_and_notes_are_those_in_memory(seed):
    frames = made.cut(votes(seed).replace("Bo", "ANN"), 3)
    here, notes = told(lambda: Labels.from_frame(pd.concat(frames, ignore_index=True)))
    there, more = told(lambda: fit(DawidSkene(subtypes=1, max_iter=2), PartitionedTable(frames)))
    assert there.classes_.tolist() == here.classes.tolist()
    assert there.annotators_["n_labels"].tolist() == np.bincount(here.annotator).tolist()
    notes |= {f"{note[0].upper()}{note[1:]}." for note in here.reading.notes}
    rules = ("read as", "are one", "differ only")
    said = {note for note in notes if any(word in note for word in rules)}
    assert said <= more
    assert len(said) == 6


@pytest.mark.parametrize("options", [{"exact": True}, {"missing": ["skip", "?"]}, {"missing": [], "exact": True}])
def test_options_are_those_in_memory(options):
    frame = votes(7)
    here, _ = told(lambda: Labels.from_frame(frame, **options))
    there, _ = told(lambda: fit(DawidSkene(subtypes=1, max_iter=2), PartitionedTable(made.cut(frame, 2), **options)))
    assert there.classes_.tolist() == here.classes.tolist()


def test_groups_of_labels_are_those_in_memory():
    frame = votes(3, ["Yes", "yes", "No", "unsure"])
    plain = PartitionedTable([frame.replace("yes", "Yes").replace("unsure", None)])
    here, _ = told(lambda: fit(KCC(2, n_init=1, random_state=0), plain))
    there, _ = told(lambda: fit(KCC(2, n_init=1, random_state=0), PartitionedTable(made.cut(frame, 3))))
    assert there.centroids_.columns.tolist() == here.centroids_.columns.tolist()


def test_results_of_items_are_read_as_the_fit_was():
    table = PartitionedTable(made.cut(votes(5), 3))
    model, _ = told(lambda: fit(DawidSkene(subtypes=1, max_iter=5), table))
    found, _ = told(lambda: pd.concat(item_results(model, table)).set_index("item")["label"])
    here, _ = told(lambda: DawidSkene(subtypes=1, max_iter=5).fit(votes(5)))
    assert found.sort_index().fillna("none").tolist() == pd.Series(here.labels_).fillna("none").tolist()
    last, _ = told(lambda: pd.concat(item_results(model, PartitionedTable(made.cut(votes(5), 3)[-1:]))))
    assert last["label"].fillna("none").tolist() == found.loc[last["item"]].fillna("none").tolist()


@pytest.mark.parametrize(
    ("words", "sentence"), [(["yes", "NA"], "'NA' in the column 'label'"), ([0, 1, -1], "label -1")]
)
def test_what_can_be_read_in_two_ways_is_refused_over_all_partitions(words, sentence):
    frame = votes(0, words)
    with pytest.raises(InputError, match=sentence):
        fit(DawidSkene(subtypes=1), PartitionedTable(made.cut(frame, 4)))


def test_files_mark_missing_labels_themselves(tmp_path):
    pytest.importorskip("pyarrow")
    frame = votes(2, ["yes", "Yes", "NA", "unsure"])
    frame.to_parquet(tmp_path / "part.parquet")
    (here, _) = told(lambda: read_annotations(tmp_path / "part.parquet"))
    (there, _) = told(lambda: fit(DawidSkene(subtypes=1, max_iter=2), PartitionedTable(tmp_path)))
    assert there.classes_.tolist() == here.classes.tolist()
    assert [name.casefold() for name in here.classes] == ["na", "yes"]
