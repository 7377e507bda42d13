"""Files: what is recognised, what is written, and what is refused, with the line at fault."""

import gzip
import json
import os
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from consilience.annotations import Groupings, Labels, Pairs, read_annotations, write_annotations
from consilience.consensus import OrdinalRatings
from consilience.errors import AnnotationError, AnnotationWarning, InputError

SORT = [
    ("ant", "Ann", "s", "small"),
    ("bee", "Ann", "s", "small"),
    ("cow", "Ann", "s", "large"),
    ("ant", "Bo", "t", "x"),
]
GROUPINGS = Groupings.from_frame(pd.DataFrame(SORT, columns=["item", "annotator", "grouping", "group"]))
PAIRS = GROUPINGS.to_pairs()
LABELS = Labels.from_frame(
    pd.DataFrame({"item": [3, 1, 3], "annotator": ["Ann", "Ann", "Bo"], "label": ["x", "y", "y"]}), items=[3, 2, 1]
)


def lines(*rows):
    return "".join(row + "\n" for row in rows)


# recognition

LONG = lines("item,annotator,grouping,group", *(",".join(row) for row in SORT))


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (LONG, "table.csv"),
        (LONG.replace(",", ";"), "table.csv"),
        (LONG.replace(",", "\t"), "table.tsv"),
        (LONG.replace(",", "\t"), "table.txt"),
        (LONG.replace("\n", "\r\n"), "TABLE.CSV"),
        (LONG.replace("\n", "\n\n"), "table.csv"),
        (LONG.replace("item,annotator", " Item ,ANNOTATOR"), "table.csv"),
        (LONG.rstrip("\n"), "table.csv"),
        ("\ufeff" + LONG, "table.csv"),
        (gzip.compress(LONG.encode(), mtime=0), "table.csv.gz"),
        (gzip.compress(LONG.encode(), mtime=0), "unzipped_by_name_only.csv"),
        (json.dumps([dict(zip(["item", "annotator", "grouping", "group"], row)) for row in SORT]), "table.json"),
    ],
)
def test_long_table_of_groupings_in_every_format(read, content, name):
    groupings = read(content, name)
    assert groupings == GROUPINGS
    assert groupings.named


def test_columns_may_come_in_any_order_and_grouping_may_be_absent(read):
    groupings = read(lines("group,annotator,item", "small,Ann,ant", "small,Ann,bee"))
    assert groupings.to_frame().to_numpy().tolist() == [["ant", "Ann", "Ann", "small"], ["bee", "Ann", "Ann", "small"]]


def test_long_table_of_pairs(read):
    pairs = read(lines("item_a,item_b,annotator,same", "1,2,Ann,TRUE", "1,3,Ann,no"))
    assert pairs == Pairs.from_frame(pd.DataFrame({"item_a": 1, "item_b": [2, 3], "annotator": "Ann", "same": [1, 0]}))


@pytest.mark.parametrize("header", ["item,annotator,label", "task,worker,label", "label,worker,task"])
def test_long_table_of_labels_and_crowd_kit(read, header):
    rows = [dict(zip(("task", "worker", "label"), row)) for row in [("t1", "w1", "0"), ("t1", "w2", "1")]]
    order = header.replace("item", "task").replace("annotator", "worker").split(",")
    labels = read(lines(header, *(",".join(row[name] for name in order) for row in rows)))
    assert labels.to_frame().to_numpy().tolist() == [["t1", "w1", 0], ["t1", "w2", 1]]


WIDE = lines("product,J1,J2", "ale,1,x", "stout,1,", "lager,,y")


def test_wide_table_is_groupings_by_default(read):
    groupings = read(WIDE)
    assert isinstance(groupings, Groupings)
    assert groupings.named
    assert groupings.to_matrix().to_dict("list") == {"J1": ["1", "1", None], "J2": ["x", None, "y"]}
    assert groupings.to_matrix().index.tolist() == ["ale", "stout", "lager"]


def test_wide_table_is_labels_on_request(read):
    labels = read(WIDE, kind="labels")
    assert labels.classes.tolist() == ["1", "x", "y"]
    assert read(WIDE, kind="labels", items=["lager", "porter", "stout", "ale"]).items.tolist()[1] == "porter"


def test_cells_and_annotators_of_a_wide_table_are_integers_if_all_are(read):
    groupings = read(lines("item;1;2", "a;1;2", "b;10;"))
    assert groupings.annotators.tolist() == [1, 2]
    assert groupings.group_names.tolist() == [1, 10, 2]
    mixed = read(lines("item;1;b", "a;1;2", "b;10;y"))
    assert mixed.annotators.tolist() == ["1", "b"]
    assert mixed.group_names.tolist() == ["1", "10", "2", "y"]


def test_wide_table_with_another_item_column(read):
    content = lines("J1,wine,J2", "1,W1,2", "1,W2,3")
    assert read(content).items.tolist() == read(content, item="wine").items.tolist() == ["W1", "W2"]
    with pytest.raises(AnnotationError, match=r"no column 'wines'. Found 'J1', 'wine', 'J2'. Did you mean 'wine'"):
        read(content, item="wines")
    with pytest.raises(AnnotationError, match="Got 1 in line 2 and in line 3; 'wine' was read as their column"):
        read(lines("wine,J1", "1,1", "1,2"))
    with pytest.raises(AnnotationError, match=r"names of items must differ\. Got 1 in line 2 and in line 3"):
        read(content, item="J1")


def test_wide_table_written_by_pandas_with_its_index(read, tmp_path):
    wide = Groupings.from_matrix([[0, 1], [0, 2]], items=["a", "b"], annotators=["Ann", "Bo"]).to_matrix()
    with pytest.raises(AnnotationError, match="can be read in two ways: 2 items in the rows, named by the column ''"):
        read(wide.to_csv())
    assert read(wide.to_csv(), transpose=False) == read(wide.to_csv(index_label="item")) == Groupings.from_matrix(wide)
    wide.to_parquet(tmp_path / "wide.parquet")
    assert read_annotations(tmp_path / "wide.parquet", transpose=False) == Groupings.from_matrix(wide)


CARDS = lines(
    "card_id,card_label,category_id,category_label,user_id",
    "1,Ant,1,Small,u1",
    "2,Bee,2,Small,u1",
    "3,Cow,3,,u1",
    "1,Ant,1,Small,u2",
    "2,Bee,1,Small,u2",
)


def test_card_sort_export(read):
    groupings = read(CARDS)
    assert groupings.items.tolist() == ["Ant", "Bee", "Cow"]
    # u1 made two categories called Small and one without a label; u2 only one called Small
    assert groupings.to_matrix()["u1"].tolist() == ["Small (1)", "Small (2)", "3"]
    assert groupings.to_matrix()["u2"].tolist() == ["Small", "Small", None]


def test_cards_with_the_same_label_are_distinguished_by_their_ids(read):
    content = lines(
        "card_id,card_label,category_id,category_label,user_id", "1,Jam,1,A,u", "2,Jam,1,A,u", "3,Tea,1,A,u"
    )
    assert read(content).items.tolist() == ["Jam (1)", "Jam (2)", "Tea"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1,Ox,1,Small,u3", "card_id 1 has one card_label in line 2 and another in line 7"),
        ("3,Cow,1,Tiny,u2", "category_id 1 has one category_label in line 5 and another in line 7"),
        ("1,Ant,9,Other,u1", "'Ant' occurs twice in the grouping 'u1' .*line 2 .*line 7"),
        ("3,Cow,,Tiny,u2", "category_id in line 7 is missing"),
        ("3,Cow,7,Tiny,", "(user_id|annotator) in line 7 is missing"),
        ("4,Ant (1),1,Tiny,u3\n5,Ant,1,Tiny,u3", "card_ids 1 and 4 would both be called 'Ant \\(1\\)'"),
    ],
)
def test_card_sort_export_that_contradicts_itself(read, row, message):
    with pytest.raises(AnnotationError, match=message):
        read(CARDS + row + "\n")


def studio_task(buckets, task=7, annotation=1, who=3, ranker="rank", **more):
    result = {"type": "ranker", "from_name": ranker, "to_name": "cards", "value": {"ranker": buckets}}
    return {
        "id": task,
        "data": {},
        "annotations": [{"id": annotation, "completed_by": who, "result": [result], **more}],
    }


def test_label_studio_buckets(read):
    tasks = [
        studio_task({"_": ["d"], "big": ["a", "b"], "small": ["c"], "none": []}),
        studio_task({"big": ["a"], "small": ["e"]}, task=8),
        studio_task({"p": ["a", "c"]}, task=8, who={"id": 4, "email": "bo@example.org"}),
    ]
    tasks[0]["annotations"][0]["result"].append({"type": "choices", "value": {"choices": ["easy"]}})
    groupings = read(json.dumps(tasks), "export.json")
    assert sorted(groupings.to_frame().itertuples(index=False, name=None), key=str) == sorted(
        [
            ("a", 3, 7, "big"),
            ("b", 3, 7, "big"),
            ("c", 3, 7, "small"),
            ("a", 3, 8, "big"),
            ("e", 3, 8, "small"),
            ("a", "bo@example.org", 8, "p"),
            ("c", "bo@example.org", 8, "p"),
        ],
        key=str,
    )
    assert "d" in groupings.items  # shown to the annotator, who left it out


def test_label_studio_with_several_results_for_a_task(read):
    tasks = [studio_task({"p": ["a"], "q": ["b"]}), studio_task({"r": ["a"], "s": ["b"]}, annotation=2)]
    groupings = read(json.dumps(tasks), "export.json")
    assert groupings.grouping_names.tolist() == ["7/1/rank", "7/2/rank"]
    assert groupings.annotators.tolist() == [3]


def test_label_studio_cancelled_annotations_are_left_out_and_counted(read):
    tasks = [studio_task({"p": ["a"]}), studio_task({"p": ["b"]}, task=8, was_cancelled=True)]
    with pytest.warns(AnnotationWarning, match="1 annotation.* cancelled"):
        assert read(json.dumps(tasks), "export.json").items.tolist() == ["a"]


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ([studio_task({"rank": ["a", "b"]})], "'rank' of task 7 has no buckets"),
        ([studio_task(["a", "b"])], "'rank' of task 7 has no buckets"),
        ([{"id": 1, "annotations": []}], "no result of a Ranker"),
        ([{"id": 1, "annotations": [{"result": [{"type": "ranker"}]}]}], "not in the format of Label Studio"),
        ([studio_task({"p": ["a"], "q": ["a"]})], "'a' occurs twice in the grouping 7 of the annotator 3"),
    ],
)
def test_label_studio_without_groupings(read, tasks, message):
    with pytest.raises(AnnotationError, match=message):
        read(json.dumps(tasks), "export.json")


# names


def test_columns_of_whole_numbers_are_integers_and_all_others_exact_text(read):
    content = lines("task,worker,label", "1,007,NA", "2.0,7,null", "3,7.0,None", "-4,nan, x")
    labels = read(content, missing=[])
    assert labels.items.tolist() == [1, 2, 3, -4]
    assert labels.annotators.tolist() == ["007", "7", "7.0", "nan"]
    assert labels.classes.tolist() == [" x", "NA", "None", "null"]
    with pytest.raises(AnnotationError, match=r"The label 'NA' in line 2 can be read in two ways"):
        read(content)
    with pytest.warns(AnnotationWarning) as caught:
        assert read(content.replace("NA", "no")).classes.tolist() == [" x", "None", "no"]
    said = [str(warning.message).partition("table.csv: ")[2] for warning in caught]
    like_missing = "1 cell with 'None' read as a label like any other (missing='None' if missing, "
    assert said == ["1 cell with 'null' read as missing.", f"{like_missing}missing=[] if a label is meant)."]


@pytest.mark.parametrize(
    "names", [["1", "01"], ["1", "+2"], ["1", "2.5"], ["1", "1e3"], ["True", "false"], ["0", "-0"], ["1", "9" * 19]]
)
def test_column_with_a_name_that_is_not_a_canonical_integer_is_text(read, names):
    labels = read(lines("item,annotator,label", *(f"{name},Ann,x" for name in names)))
    assert labels.items.tolist() == names


def test_items_of_pairs_are_integers_if_all_are(read):
    header = "item_a,item_b,annotator,same"
    assert read(lines(header, "1,2,Ann,1", "2,3,Ann,1")).items.tolist() == [1, 2, 3]
    assert read(lines(header, "1,2,Ann,1", "2,x,Ann,1")).items.tolist() == ["1", "2", "x"]


def test_row_with_only_an_item_adds_it(read):
    labels = read(lines("item,annotator,label", "9,,", "1,Ann,x", "5,,"))
    assert labels.items.tolist() == [9, 1, 5]
    assert labels.n_rows == 1


def test_items_given(read):
    given = read(LONG, items=["dog", "cow", "bee", "ant"])
    assert given == GROUPINGS.reindex(["dog", "cow", "bee", "ant"])
    assert given.named
    with pytest.raises(AnnotationError, match="item 'bee' in line 3 is not among the 2 items"):
        read(LONG, items=["ant", "cow"])


# refusals


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("item,annotator,label\n", "has no rows"),
        ("item,annotator,label\na,Ann,x,9\n", "Line 2 has 4 cells, but the first line names 3"),
        ("item,J1,J2\na,1,2\nb,1\n", "Line 3 has 2 cells"),
        ('item,annotator,label\na,Ann,"x\nb,Ann,y\n', "quotation mark|Line 2 has"),
        ("item,annotator,label\na,Ann,x\n,Ann,x\n", "item in line 3 is missing or blank"),
        ('item,annotator,label\n"a\nb",Ann,x\n\nc,,x\n', "annotator in line 5 is missing"),
        ("item_a,item_b,annotator,same\na,b,Ann,1\nb,b,Ann,0\n", "'b' is paired with itself in line 3"),
        ("item_a,item_b,annotator,same\na,b,Ann,perhaps\n", "Got 'perhaps' in line 2"),
        ("item,annotator,lable\na,Ann,x\n", "usual name for groups or labels.*Did you mean 'lable'.*label=…"),
        ("item,anotator,group\na,Ann,x\n", "usual name for annotators.*Did you mean 'anotator'.*annotator=…"),
        ("item,a\n1,2\n1,3\n", "Got 1 in line 2 and in line 3"),
        ("item,a\n1,2\n,3\n", "items, in line 3, has no name"),
        ("sepal,petal\n1.5,2\n1.5,2\n", "'sepal', 'petal' are not recognised.*item=…, annotator=…, group=… or label=…"),
        ("task,image,label\n1,u,a\n", "annotators"),
        ("card,Tea,Jam\na,4,0\nb,1,3\nc,0,4\nd,2,2\n", "seems to be a table of counts"),
    ],
)
def test_bad_text_is_refused_with_path_and_line(read, tmp_path, content, message):
    with pytest.raises(AnnotationError, match=message) as error:
        read(content)
    assert str(error.value).startswith(str(tmp_path / "table.csv"))


def test_kinds_of_a_label_table_and_of_a_group_table_are_the_callers_choice(read):
    labels = read(lines("item,annotator,label", "a,Ann,x", "b,Ann,x", "c,Ann,y"))
    assert (
        read(lines("item,annotator,label", "a,Ann,x", "b,Ann,x", "c,Ann,y"), kind="groupings") == labels.to_groupings()
    )
    assert read(lines("item,annotator,group", "a,Ann,x", "b,Ann,x", "c,Ann,y"), kind="labels") == labels


def test_kind_that_the_file_does_not_contain(read):
    with pytest.raises(AnnotationError, match="contains groupings, not pairs"):
        read(LONG, kind="pairs")
    with pytest.raises(AnnotationError, match="pairs needs the columns item_a, item_b, annotator, same"):
        read(WIDE, kind="pairs")
    with pytest.raises(InputError, match=r"must be one of groupings, pairs, labels, ratings, tags. Got 'sorts'"):
        read(WIDE, kind="sorts")


# real data

DATA = os.environ.get("CONSILIENCE_DATA")


@pytest.mark.skipif(not DATA, reason="CONSILIENCE_DATA does not name the folder of real data sets")
@pytest.mark.parametrize(
    ("name", "n_items", "n_annotators"),
    [
        ("beers8_abdi2007", 8, 10),
        ("spices16_french", 16, 21),
        ("amari12_lahne2018", 12, 50),
        ("orange_juice10", 10, 42),
        ("perfume12_sensominer", 12, 30),
        ("kinship15_rosenberg1975", 15, 85),
        ("accents45_geller", 45, 84),
    ],
)
def test_real_free_sorts_are_wide_tables(name, n_items, n_annotators, tmp_path):
    groupings = read_annotations(Path(DATA) / "free-sort" / f"{name}.csv")
    # counts as its PROVENANCE.md states them; in these sets everybody sorted everything
    assert (groupings.n_items, groupings.n_annotators, groupings.n_rows) == (
        n_items,
        n_annotators,
        n_items * n_annotators,
    )
    write_annotations(groupings, tmp_path / "out.csv")
    assert read_annotations(tmp_path / "out.csv") == groupings


@pytest.mark.skipif(not DATA, reason="CONSILIENCE_DATA does not name the folder of real data sets")
@pytest.mark.parametrize(
    ("file", "n_cards", "n_people"),
    [
        ("cardsort-greek-sites/celestino.csv.gz", 59, 210),
        ("cardsort-greek-sites/skroutz.csv.gz", 54, 203),
        ("cardsort-animals/cardsort.csv", 20, 107),
    ],
)
def test_real_card_sorts_are_long_tables(file, n_cards, n_people):
    groupings = read_annotations(Path(DATA) / file, missing=[])  # somebody called a category "unsorted"
    assert isinstance(groupings, Groupings)
    # counts as the PROVENANCE.md of each states them; everybody sorted everything
    assert (groupings.n_items, groupings.n_annotators, groupings.n_rows) == (n_cards, n_people, n_cards * n_people)


@pytest.mark.skipif(not DATA, reason="CONSILIENCE_DATA does not name the folder of real data sets")
@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("crowd-labels/dog_crowd.txt", "The first line contains numbers, 1, 1, 4, instead of names of columns"),
        ("crowd-labels/bluebird_crowd.txt", "The first line contains numbers, 1, 1, 2, instead of names of columns"),
        ("uci/iris.csv", "not recognised|features|can be read in two ways"),
    ],
)
def test_real_files_of_other_shapes_are_refused(file, message):
    with pytest.raises(AnnotationError, match=message):
        read_annotations(Path(DATA) / file)


def test_peak_of_memory_is_linear_in_rows(read):
    def peak_per_row(n):
        content = lines("item,annotator,label", *(f"i{k % 1000},a{k // 1000},{k % 5}" for k in range(n)))
        tracemalloc.start()
        read(content)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return peak / n

    assert peak_per_row(100_000) < 1.5 * peak_per_row(50_000)


def test_ratings_with_decimals_are_levels_that_raters_share(tmp_path):
    """Columns of fractions are raters if others have them too, and measurements else."""
    stars = {"Ann": [0.5, 1.5, 1.5, 3.5], "Bo": [1.5, 0.5, 2.0, 3.5], "seconds": [3.25, 7.1, 9.8, 4.6]}
    frame = pd.DataFrame({"item": ["a", "b", "c", "d"], **stars})
    frame.to_csv(tmp_path / "stars.csv", index=False)
    for source in (frame, tmp_path / "stars.csv"):
        with pytest.warns(AnnotationWarning, match="'seconds'"):
            labels = read_annotations(source, kind="ratings", transpose=False)
        assert labels.annotators.tolist() == ["Ann", "Bo"]
        assert labels.classes.tolist() == [0.5, 1.5, 2.0, 3.5]


@pytest.mark.parametrize(
    ("others", "left_out"),
    [
        ({}, []),
        ({"comment": ["good", "", "bad", "good", "2", "so so", "", "good"]}, ["comment"]),
        ({"Bo": [1, 2, 3, 4, 5, 2, 4, 3], "Cy": [1, 1, 4, 4, 5, 3, 2, 4]}, []),
        ({"Bo": [1, 2, 3, 4, 5, 2, 4, 3], "Cy": [1, 1, 4, 4, 5, 3, 2, 4], "pace": [7.1, 7.2, 7.1, 7.2] * 2}, ["pace"]),
    ],
)
def test_half_levels_that_one_rater_alone_gives_are_levels(others, left_out, tmp_path):
    """They are given again, between the levels of others; numbers of another size are measurements."""
    frame = pd.DataFrame({"Ann": [1.5, 1.5, 3.5, 4.5, 4.5, 3, 4, 3.5], **others}, index=list("abcdefgh"))
    frame.rename_axis("item").to_csv(tmp_path / "stars.csv")
    raters = [name for name in frame.columns if name not in left_out]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        labels = read_annotations(tmp_path / "stars.csv", kind="ratings", transpose=False)
        model = OrdinalRatings().fit(frame)
    assert labels.annotators.tolist() == model.annotators_.index.tolist() == raters
    assert {1.5, 3.5, 4.5} <= set(labels.classes) == set(model.classes_)
    assert all(f"left out: '{name}'" in str(caught[0].message) for name in left_out)


def test_features_are_no_ratings():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 1)), columns=["width"])
    with pytest.raises(InputError, match="seems to contain features"):
        OrdinalRatings().fit(frame)
