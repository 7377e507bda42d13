"""Tables in partitions: how they are read, and what is refused."""

import pandas as pd
import pytest

from consilience.consensus import DawidSkene
from consilience.errors import InputError
from consilience.partitions import PartitionedTable, fit
from consilience.partitions.survey import label_survey
from tests.partitions import made


def test_parquet_files_of_a_folder_are_partitions(tmp_path):
    pytest.importorskip("pyarrow")
    frames = made.cut(made.crowd(), 3)
    for number, frame in enumerate(frames):
        frame.to_parquet(tmp_path / f"{number}.parquet", index=False)
    (tmp_path / "notes.txt").write_text("no partition")
    there, here = (fit(DawidSkene(subtypes=1), PartitionedTable(source)) for source in (tmp_path, frames))
    assert there.lower_bounds_.tolist() == here.lower_bounds_.tolist()
    assert there.annotators_.index.tolist() == here.annotators_.index.tolist()
    (tmp_path / "1.parquet").write_bytes(b"damaged")
    with pytest.raises(InputError, match=r"1\.parquet: this is not a Parquet file, or it is damaged"):
        fit(DawidSkene(subtypes=1), PartitionedTable(tmp_path))


def test_functions_are_called_when_they_are_needed():
    frames = made.cut(made.crowd(), 2)
    table = PartitionedTable([frames[0], lambda: frames[1]])
    assert [len(labels) for labels in table.labels()] == [300, 300]


def test_a_dask_dataframe_has_partitions():
    dask = pytest.importorskip("dask.dataframe")
    frame = made.crowd()
    table = PartitionedTable(dask.from_pandas(frame, chunksize=1200, sort=False))
    assert len(table) == 2
    together = fit(DawidSkene(subtypes=1), PartitionedTable([frame[:1200], frame[1200:]]))
    assert fit(DawidSkene(subtypes=1), table).lower_bounds_.tolist() == together.lower_bounds_.tolist()


def test_columns_are_recognised_or_named():
    frame = pd.DataFrame({"task": [1], "worker": ["u"], "said": ["cat"], "seconds": [3.5]})
    with pytest.raises(InputError, match=r"the column of labels is not among the columns; name it.*label=…"):
        PartitionedTable([frame])
    assert repr(PartitionedTable([frame], label="said")) == (
        "PartitionedTable(1 partition, columns 'task', 'worker', 'said')"
    )
    with pytest.raises(InputError, match="partition 1: the column 'said' is missing"):
        list(PartitionedTable([frame, frame.drop(columns="said")], label="said").labels())


@pytest.mark.parametrize("checked", [label_survey.CHECKED, 50], ids=["all items", "a sample"])
@pytest.mark.parametrize("named", [lambda item: item, "item {}".format, lambda item: item if item % 2 else f"{item}"])
def test_an_item_in_two_partitions_is_named(monkeypatch, checked, named):
    monkeypatch.setattr(label_survey, "CHECKED", checked)
    frame = made.crowd().assign(item=lambda frame: frame["item"].map(named))
    shares = [frame[::2], frame[:0], frame[1::2]]
    with pytest.raises(InputError, match=r"The item .* has rows in partition 0 and in partition 2\. All rows"):
        fit(DawidSkene(subtypes=1), PartitionedTable(shares))


def test_one_item_among_few_is_found_and_equal_hashes_are_no_equal_items(monkeypatch):
    frames = made.cut(made.crowd(), 3)
    with pytest.raises(InputError, match="The item 1 has rows in partition 1 and in partition 2"):
        fit(DawidSkene(subtypes=1), PartitionedTable([*frames[:2], pd.concat([frames[2], frames[1][:1]])]))
    monkeypatch.setattr(label_survey, "hashes_of", lambda names: hashes(names) % 100)
    assert fit(DawidSkene(subtypes=1), PartitionedTable(frames)).converged_


hashes = label_survey.hashes_of


@pytest.mark.parametrize(
    ("column", "sentence"),
    [
        ("item", "partition 1, row 2: the item, in the column 'item', is missing or blank"),
        ("annotator", "partition 1, row 2: the annotator, in the column 'annotator', is missing or blank"),
    ],
)
def test_a_row_without_a_name_is_placed(column, sentence):
    first, second = made.cut(made.crowd(), 2)
    second = second.astype(object).reset_index(drop=True)
    second.loc[2, column] = None
    with pytest.raises(InputError, match=sentence):
        fit(DawidSkene(subtypes=1), PartitionedTable([first, second]))


def test_what_is_no_table_is_refused(tmp_path):
    with pytest.raises(InputError, match="There is no partition in an empty list"):
        PartitionedTable([])
    with pytest.raises(InputError, match=r"list of DataFrames or of functions that return them\. Got a DataFrame"):
        PartitionedTable(made.crowd())
    with pytest.raises(InputError, match=r"partition 0 must be a DataFrame of pandas, a function.*Got a int"):
        PartitionedTable([3])
    with pytest.raises(InputError, match=r"There is no file .*nowhere"):
        PartitionedTable(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"There is no file \*.parquet in the folder"):
        PartitionedTable(tmp_path)
    with pytest.raises(InputError, match=r"partition 0 must be a DataFrame of pandas\. Got a int"):
        PartitionedTable([lambda: 3])
