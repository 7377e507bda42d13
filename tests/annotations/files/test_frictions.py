"""Tables of new users that were once clustered wrongly without a warning, refused without a reason, or read slowly."""

import time

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from consilience import Groupings, Labels, Pairs
from consilience.consensus import CSPA, KCC, DawidSkene, MajorityVote, SubsetFusion
from consilience.errors import AnnotationError, AnnotationWarning
from consilience.semisupervised import PartitionLabelModel


def lines(*rows):
    return "".join(row + "\n" for row in rows)


def test_participants_by_cards_with_an_id_column(read):
    rng = np.random.default_rng(0)
    sorts = [1 + pd.factorize(rng.integers(k, size=12))[0] for k in (2, 3, 9, 4, 6, 2, 8, 5)]
    for columns in ([f"card {k}" for k in range(12)], [f"Q{k}" for k in range(12)], list("ABCDEFGHIJKL")):
        table = pd.DataFrame(sorts, columns=columns)
        table.insert(0, "id", np.arange(101, 109))
        said = read(table.to_csv(index=False))
        assert said.items.tolist() == columns
        assert said.annotators.tolist() == list(range(101, 109))
        assert said == Groupings.from_frame(table.rename(columns={"id": "participant"}))


@pytest.mark.parametrize("make", [Groupings.from_matrix, Labels.from_matrix])
def test_iris_with_minus_one_for_missing(make, read):
    rng = np.random.default_rng(0)
    target = load_iris().target
    said = np.where(rng.random((150, 5)) < 0.3, -1, target[:, None])
    with pytest.warns(AnnotationWarning, match=r"cells with -1 read as missing \(missing=\[\] if -1 is a"):
        found = make(said)
    assert found == make(said, missing=-1)
    assert found.n_rows == (said >= 0).sum()
    table = pd.DataFrame(said, columns=[f"rater {k}" for k in range(5)])
    kind = make.__self__.__name__.lower()
    with pytest.warns(AnnotationWarning, match="cells with -1 read as missing"):
        again = read(table.to_csv(index_label="flower"), kind=kind)
    assert again == make(table, missing=-1)


@pytest.mark.parametrize("values", [(-1, 1), (-1, 0, 1)])
def test_minus_one_that_may_be_an_answer(values):
    said = np.resize(values, (6, 3))
    with pytest.raises(AnnotationError, match=r"can be read in two ways with (0 and )?1.*missing=-1.*missing=\[\]"):
        Labels.from_matrix(said)
    assert Labels.from_matrix(said, missing=[]).classes.tolist() == list(values)
    assert Labels.from_matrix(said, missing=-1).classes.tolist() == list(values[1:])


@pytest.fixture(scope="module")
def labels():
    rng = np.random.default_rng(1)
    target = load_iris().target
    frame = pd.DataFrame([(i, f"w{w}") for i in range(150) for w in range(5)], columns=["item", "annotator"])
    right = rng.random(len(frame)) < 0.8
    return frame.assign(label=np.where(right, target[frame["item"]], rng.integers(3, size=len(frame))))


@pytest.mark.parametrize("model", [DawidSkene(), MajorityVote()], ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("extra", ["seconds", "comment", "time", "worker_country"])
def test_label_frame_with_one_extra_column(labels, model, extra):
    frame = labels.assign(**{extra: [f"{extra} {k % 40}" for k in range(len(labels))]})
    fitted = model.fit(frame)
    assert len(fitted.classes_) == 3
    np.testing.assert_array_equal(fitted.predict(frame), model.fit(labels).predict(labels))


@pytest.mark.parametrize(
    "model",
    [SubsetFusion(random_state=0), KCC(n_clusters=3, random_state=0), CSPA(n_clusters=3, random_state=0)],
    ids=lambda m: type(m).__name__,
)
def test_group_frame_with_one_extra_column(labels, model):
    frame = labels.rename(columns={"label": "group"})
    plain = model.fit(frame).labels_
    assert len(plain) == 150
    np.testing.assert_array_equal(model.fit(frame.assign(seconds=np.arange(len(frame)))).labels_, plain)


def test_a_long_frame_is_not_a_matrix_for_a_model_of_groupings(labels):
    frame = labels.rename(columns={"label": "group"}).assign(seconds=1.5)
    model = PartitionLabelModel(prior_variance=1.0, max_clusters=3, n_init=1, random_state=0)
    assert len(model.fit(None, frame).labels_) == 150


def test_rows_longer_than_the_header_over_consecutive_numbers(read):
    content = lines("item,annotator,label", "1,p,x,2024-01-01", "2,q,y,2024-01-02")
    with pytest.raises(AnnotationError, match=r"Line 2 has 4 cells, but the first line names 3 columns"):
        read(content)
    assert read(content.replace("label\n", "label,date\n", 1)).items.tolist() == [1, 2]


def test_decimal_commas_and_a_separator_line(read):
    content = lines("sep=;", "item;annotator;label;weight", "a;Ann;x;1,5", "b;Ann;y;2,5")
    said = read(content)
    assert said.to_frame().to_numpy().tolist() == [["a", "Ann", "x"], ["b", "Ann", "y"]]
    assert said.reading.notes == ("columns not used: 'weight'",)
    assert read(content.replace("sep=;\n", "")) == said


def test_field_of_more_than_131072_characters(read):
    long = "x" * 131_073
    said = read(lines("item,annotator,label", f"{long},Ann,y", f'"{long},",Ann,y', "b,Ann,z"))
    assert said.items.tolist() == [long, f"{long},", "b"]
    with pytest.raises(AnnotationError, match="Line 3 has 4 cells"):
        read(lines("item,annotator,label", f"{long},Ann,y", "b,Ann,z,more"))


@pytest.mark.parametrize("n_people", [1_500, pytest.param(12_000, marks=pytest.mark.slow)])
def test_thousands_of_columns(read, n_people):
    cells = np.tile([1, 1, 2, 2, 3], (n_people, 1)).T
    table = pd.DataFrame(cells, columns=[f"rater {k}" for k in range(n_people)], index=list("abcde"))
    start = time.process_time()
    said = read(table.to_csv(index_label="card"))
    assert (said.n_items, said.n_annotators, said.n_rows) == (5, n_people, 5 * n_people)
    assert time.process_time() - start < 30


def test_near_twins_and_totals_are_noted(read):
    said = read(lines("card,Ann,Bo", "ant,1,1", "ant ,1,2", "caf\u00e9,2,1", "cafe\u0301,2,2", "Total,3,3", "bee,1,1"))
    notes = " / ".join(said.reading.notes)
    assert "the items 'ant' and 'ant ' differ only in case, spaces or form of letters, and so do 1 more" in notes
    assert "there is an item called 'Total'; if it is a total, delete it" in notes
    assert said.n_items == 6


def test_person_who_judges_a_pair_again(read):
    said = read(lines("item_a,item_b,annotator,same", "a,b,Ann,yes", "a,b,Ann,no", "b,a,Ann,yes", "b,c,Ann,no"))
    assert isinstance(said, Pairs)
    assert said.n_rows == 4
    assert sorted(said.same) == [False, False, True, True]


def test_second_and_different_label_of_one_item(read):
    said = read(lines("task,worker,label", "t1,w1,x", "t1,w1,y", "t1,w2,x", "t2,w1,y"))
    assert said.n_rows == 4
    assert MajorityVote().fit(said).predict(said).tolist() == ["x", "y"]


@pytest.mark.parametrize(
    ("header", "row", "n_left"),
    [
        ("item,annotator,label", "a,Ann,x", 1),
        ("item,annotator,label,time", "a,Ann,x,9:00", 1),
        ("item,annotator,group", "a,Ann,x", 1),
        ("item_a,item_b,annotator,same", "a,b,Ann,yes", 2),
        ("item_a,item_b,annotator,same,time", "a,b,Ann,yes,9:00", 1),
        ("item_a,item_b,annotator,same,note", "a,b,Ann,yes,sure", 2),
    ],
)
def test_exact_duplicates_of_rows(read, header, row, n_left):
    if n_left == 2:
        assert read(lines(header, row, row)).n_rows == 2
        return
    with pytest.warns(
        AnnotationWarning, match=r"1 exact duplicate|1 row that repeats another, including time or session"
    ):
        assert read(lines(header, row, row)).n_rows == 1


def test_blank_category_is_an_unsorted_card(read):
    said = read(lines("card,participant,category", "a,Ann,x", "b,Ann,x", "c,Ann,", "a,Bo,y", "b,Bo,", "c,Bo,y"))
    assert said.to_matrix()["Ann"].tolist() == ["x", "x", None]
    assert said.reading.how == "3 cards × 2 participants, long table of groupings (card, participant, category)"
    assert said.reading.notes == ("2 rows without a category = not sorted",)


def test_graded_judgements(read):
    rows = [f"a{k},b{k},Ann,{k}" for k in (1, 2, 3, 4)]
    with pytest.warns(AnnotationWarning, match=r"judgements of 1 to 4: same if above the middle, 2.5 \(same_if=…\)"):
        said = read(lines("use1,use2,annotator,judgment", *rows))
    assert said.same.tolist() == [False, False, True, True]
    assert read(lines("use1,use2,annotator,judgment", *rows), same_if=">=4").same.tolist() == [
        False,
        False,
        False,
        True,
    ]


def test_extra_columns_are_noted_by_name(read):
    said = read(lines("card,participant,category,time,device", "a,Ann,x,9,phone", "b,Ann,x,8,tv"))
    assert said.reading.notes == ("columns not used: 'time', 'device'",)
    assert said == read(lines("card,participant,category", "a,Ann,x", "b,Ann,x"))
