"""Classes of labels: spellings, abstentions, and labels that are no classes; groups and codes for missing."""

import numpy as np
import pandas as pd
import pytest

from consilience import Groupings, Labels
from consilience.consensus import DawidSkene
from consilience.errors import AnnotationError, AnnotationWarning


def frame_of(labels):
    n = len(labels)
    return pd.DataFrame({"item": [f"i{k // 2}" for k in range(n)], "annotator": ["u", "v"] * (n // 2), "label": labels})


def csv_of(labels):
    return frame_of(labels).to_csv(index=False)


SPELLINGS = ["True story", "TRUE STORY", "TRUE  story ", "TRUE STORY", "lie", "lie"]


def test_spellings_are_one_class_in_files_frames_and_matrices(read):
    said = read(csv_of(SPELLINGS))
    assert said.classes.tolist() == ["TRUE STORY", "lie"]
    assert any("(exact=True keeps them apart)" in note for note in said.reading.notes)
    assert Labels.from_frame(frame_of(SPELLINGS)).classes.tolist() == said.classes.tolist()
    with pytest.warns(AnnotationWarning, match="are one, 'TRUE STORY', like 1 more"):
        assert Labels.from_matrix(np.array(SPELLINGS, dtype=object)).n_classes == 2
    assert read(csv_of(SPELLINGS), exact=True).n_classes == 4
    assert Labels.from_matrix(np.array(SPELLINGS, dtype=object), exact=True).n_classes == 4


def test_the_most_frequent_spelling_names_the_class_in_any_order():
    labels = ["No", "no", "no", "No", "no", "yes"]
    for order in (labels, labels[::-1]):
        assert Labels.from_frame(frame_of(order)).classes.tolist() == ["no", "yes"]


def test_composed_and_decomposed_letters_are_one_class():
    assert Labels.from_frame(frame_of(["Ño", "Ño", "si", "si"])).classes.tolist() == ["si", "Ño"]


def test_letters_numbers_and_declared_classes_stay_apart():
    assert Labels.from_frame(frame_of(["a", "A", "1", "01"])).n_classes == 4
    both = Labels.from_frame(frame_of(["ok", "OK", "ok", "no"]), classes=["ok", "OK", "no"])
    assert both.to_frame()["label"].tolist() == ["ok", "OK", "ok", "no"]
    given = Labels.from_frame(frame_of(["Ok", "OK ", "no", "no"]), classes=["no", "ok"])
    assert given.to_frame()["label"].tolist() == ["ok", "ok", "no", "no"]


def test_items_and_annotators_are_never_merged():
    frame = pd.DataFrame({"item": ["Ant", "ant"], "annotator": ["Bo", "bo"], "label": ["up", "down"]})
    labels = Labels.from_frame(frame)
    assert (labels.n_items, labels.n_annotators) == (2, 2)
    notes = " ".join(labels.reading.notes)
    assert "the items 'Ant' and 'ant' differ only in case" in notes
    assert "the annotators 'Bo' and 'bo' differ only in case" in notes


def test_gold_is_given_in_any_spelling():
    labels = Labels.from_frame(frame_of(["Cat", "Cat", "Dog", "Cat", "Dog", "Dog"]))
    exact = DawidSkene().fit(labels, gold={"i0": "Cat", "i2": "Dog"}).labels_
    assert DawidSkene().fit(labels, gold={"i0": "cat ", "i2": "DOG"}).labels_.tolist() == exact.tolist()


def test_gold_in_a_frame_is_refused_with_the_code_that_reads_it():
    labels = Labels.from_frame(frame_of(["Cat", "Cat", "Dog", "Cat"]))
    gold = pd.DataFrame({"image": ["i0"], "class": ["Cat"]})
    with pytest.raises(ValueError, match=r"gold\.set_index\('image'\)\['class'\]"):
        DawidSkene().fit(labels, gold=gold)
    assert DawidSkene().fit(labels, gold=gold.set_index("image")["class"]).labels_[0] == "Cat"


ABSTENTIONS = ["Not sure", "idk", "abstained", "I DON'T KNOW", "weiß nicht", "no lo sé", "nie wiem", "不确定"]


@pytest.mark.parametrize("word", ABSTENTIONS)
def test_abstentions_are_missing_in_files_frames_and_matrices(word, read):
    labels = ["up", word, "down", "up", "down", "down"]
    with pytest.warns(AnnotationWarning, match=r"1 cell with .* read as missing \(missing=\[\] if a label is meant\)"):
        assert read(csv_of(labels)).n_rows == 5
    with pytest.warns(AnnotationWarning, match="read as missing"):
        assert Labels.from_frame(frame_of(labels)).n_rows == 5
    with pytest.warns(AnnotationWarning, match="read as missing"):
        assert Labels.from_matrix(np.array(labels, dtype=object)).n_rows == 5
    assert read(csv_of(labels), missing=[]).n_rows == 6
    assert Labels.from_frame(frame_of(labels), classes=["up", "down", word]).n_rows == 6


@pytest.mark.parametrize(
    ("label", "remedy"),
    [
        ({"left": 3, "top": 4, "width": 9}, "region an item of its own"),
        ({"start": 3, "end": 9, "label": "x"}, "span an item of its own"),
        ([1.5, 2.0, 8.5, 9.0], "region an item of its own"),
        (["cat", "dog"], r"give read_annotations\(frame, kind='tags'\), for TagConsensus"),
        ({"cat", "dog"}, "kind='tags'"),
        (("cat", "dog"), "kind='tags'"),
        ({"answer": "cat"}, "Write its answer to a column of its own"),
        ([{"label": "cat"}, {"label": "dog"}], "Give each an item of its own"),
    ],
)
def test_labels_that_are_no_classes_are_refused_with_a_way(label, remedy):
    frame = frame_of(["x"] * 4)
    frame["label"] = pd.Series([label] * 4, dtype=object)
    for read in (Labels.from_frame, DawidSkene().fit):
        with pytest.raises(AnnotationError, match=rf"The label in row 0 is .*{remedy}"):
            read(frame)


@pytest.mark.parametrize("labels", [["sun;rain", "sun", "rain", "sun"], ["a1|b1", "b1|c1", "a1|c1", "a1|b1"]])
def test_lists_of_tags_in_text_are_asked_about(labels, read):
    with pytest.raises(AnnotationError, match=r"seems to be a list of several labels.*exact=True"):
        read(csv_of(labels))
    assert read(csv_of(labels), exact=True).n_rows == 4


def test_names_with_commas_are_classes(read):
    assert read(csv_of(["Paris, France", "Lyon, France", "Rome, Italy", "Lyon, France"])).n_classes == 3


def test_numbers_with_decimals_are_no_classes(read):
    labels = [1.5, 2.25, 3, 4.5]
    with pytest.raises(AnnotationError, match=r"label 1\.5 in line 2 is a number with decimals.*kind='labels'"):
        read(csv_of(labels))
    assert read(csv_of(labels), kind="labels").n_rows == 4
    assert Labels.from_frame(frame_of(labels)).n_rows == 4
    assert read(csv_of([1.0, 2.0, 1.0, 2.0])).classes.tolist() == [1, 2]


def test_many_numbers_may_be_ratings(read):
    assert any("are they ratings?" in note for note in read(csv_of(list(range(60)))).reading.notes)
    many = read(csv_of([f"word {chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(200)]))
    assert not any("ratings" in note for note in many.reading.notes)


# groups


@pytest.mark.parametrize("cell", ["hot; cold", "hot|cold", "hot, cold", "hot / cold"])
def test_an_item_in_two_groups_of_a_cell_is_refused(cell, read):
    table = pd.DataFrame({"card": list("abcd"), "Ann": [cell, "hot", "cold", "cold"], "Bo": ["u1", "u1", "u2", "u2"]})
    with pytest.raises(AnnotationError, match=r"line 2, column 'Ann' names 2 other groups of the same annotator"):
        read(table.to_csv(index=False))


def test_words_that_others_use_alone_are_one_group(read):
    table = pd.DataFrame(
        {"card": list("abcd"), "Ann": ["hot;cold"] * 2 + ["dry"] * 2, "Bo": ["hot", "hot", "cold", "cold"]}
    )
    assert read(table.to_csv(index=False)).n_rows == 8


def test_a_group_without_a_name_that_comes_with_its_items_is_one(read):
    rows = [("P1", "", "ant; bee"), ("P1", "", "cow; dog"), ("P2", "big", "cow; dog"), ("P2", "", "ant; bee")]
    said = read(pd.DataFrame(rows, columns=["participant", "pile", "cards"]).to_csv(index=False))
    assert (said.n_rows, said.n_groups) == (8, 4)


@pytest.mark.parametrize("error", ["#VALUE!", "#NAME?", "#NUM!", "#NULL!", "#WERT!", "#VALEUR!", "#N/D", "#SPILL!"])
def test_errors_of_spreadsheets(error, read):
    table = "wine,Ann,Bo\na,p1,{}\nb,p1,q1\nc,p2,q1\n"
    with pytest.warns(AnnotationWarning, match="read as missing"):
        assert read(table.format(error)).n_rows == 5
    with pytest.raises(AnnotationError, match=r"The (item|annotator) in line 2 is '#.*an error of the spreadsheet"):
        read(f"item,annotator,group\n{error},u,x\nb,u,x\n")
    with pytest.raises(AnnotationError, match="an error of the spreadsheet"):
        read(f"item,annotator,group\na,{error},x\nb,u,x\n")


def test_words_that_begin_with_a_hash_are_no_errors(read):
    assert read("item,annotator,group\na,u,#tag\nb,u,#N1\nc,u,#tag\n").n_rows == 3


@pytest.mark.parametrize("word", ["Nil", "***", "s/r", "n/d", "X", "Sin dato", "brak danych", "欠損"])
def test_words_like_missing_are_noted(word, read):
    table = f"wine,Ann,Bo\na,pile1,{word}\nb,pile1,red\nc,pile2,red\nd,pile2,blue\n"
    with pytest.warns(AnnotationWarning, match="read as a group like any other"):
        assert read(table).n_rows == 8


@pytest.mark.parametrize("word", ["Unplaced", "nicht zugeordnet", "non trié", "sin clasificar", "未分类"])
def test_words_for_not_sorted_are_missing(word, read):
    with pytest.warns(AnnotationWarning, match="read as not sorted"):
        assert read(f"wine,Ann,Bo\na,p1,{word}\nb,p1,q1\nc,p2,q1\n").n_rows == 5


@pytest.mark.parametrize(
    ("levels", "code"),
    [
        ((2, 3, 4), 88),
        ((3, 4, 5), -99),
        ((2, 5, 9), 999),
        (("01", "02", "03"), "99"),
        (("low", "high"), "-9"),
        (("p", "q"), 77),
    ],
)
def test_codes_of_missing_are_asked_about(levels, code, read):
    groups = [*levels, *levels, code, *levels]
    rows = [(f"i{i}", "u", group) for i, group in enumerate(groups)]
    content = pd.DataFrame(rows, columns=["item", "annotator", "group"]).to_csv(index=False)
    with pytest.raises(AnnotationError, match=rf"group {code} in line \d+ can be read in two ways.*missing="):
        read(content)
    assert read(content, missing=code).n_rows == len(groups) - 1
    assert read(content, missing=[]).n_rows == len(groups)


def test_groupings_keep_marks_of_doubt_with_a_note():
    frame = pd.DataFrame({"item": list("abc"), "annotator": "u", "group": ["fish", "unsure", "fish"]})
    with pytest.warns(AnnotationWarning, match="'unsure' read as a group like any other"):
        assert Groupings.from_frame(frame).n_rows == 3
