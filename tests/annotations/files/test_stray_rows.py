"""Rows that are not data: left out with a note that names their lines, or refused."""

import pandas as pd
import pytest

from consilience.annotations import Groupings
from consilience.consensus import DawidSkene
from consilience.errors import AnnotationError, AnnotationWarning

LONG = ["worker,item,pile", "u,ant,p", "u,bee,p", "u,cow,q", "v,ant,r", "v,bee,s", "v,cow,s"]
WORDS = ["wine,Ann,Bo,Cy", "ant,p,u,k", "bee,p,v,k", "cow,q,v,m", "dog,q,u,m", "elk,p,v,m"]
NUMBERS = ["wine,Ann,Bo,Cy", "ant,1,2,1", "bee,1,2,2", "cow,2,1,3", "dog,2,1,1", "elk,1,2,3"]


def content(rows, place, *more):
    return "".join(f"{row}\n" for row in [*rows[:place], *more, *rows[place:]])


@pytest.mark.parametrize("again", [LONG[0], LONG[0].upper(), LONG[0].title()])
@pytest.mark.parametrize("place", [1, 4, 7])
def test_a_repeated_header_is_left_out_of_a_long_table(again, place, read):
    with pytest.warns(AnnotationWarning, match=rf"repeats the names of the columns left out \(line {place + 1}\)"):
        assert read(content(LONG, place, again)) == read(content(LONG, 7))


@pytest.mark.parametrize("rows", [WORDS, NUMBERS])
@pytest.mark.parametrize("place", [1, 3, 6])
def test_a_repeated_header_is_left_out_of_a_wide_table(rows, place, read):
    with pytest.warns(AnnotationWarning, match=rf"left out \(line {place + 1}\)"):
        assert read(content(rows, place, rows[0])) == read(content(rows, 6))


def test_a_repeated_header_in_a_frame():
    frame = pd.DataFrame([row.split(",") for row in [*LONG[1:4], LONG[0], *LONG[4:]]], columns=LONG[0].split(","))
    with pytest.warns(AnnotationWarning, match=r"left out \(row 3\)"):
        assert Groupings.from_frame(frame).n_items == 3
    wide = pd.DataFrame([row.split(",") for row in [*WORDS[1:3], WORDS[0], *WORDS[3:]]], columns=WORDS[0].split(","))
    with pytest.raises(AnnotationError, match=r"1 row that repeats the names of the columns \(row 2\); drop them"):
        DawidSkene().fit(wide)


@pytest.mark.parametrize("again", ["Worker ID,Item name,Which pile?", "worker code,item label,pile"])
def test_questions_below_the_header_are_left_out_of_a_long_table(again, read):
    with pytest.warns(AnnotationWarning, match=r"names the columns a second time left out \(line 2\)"):
        assert read(content(LONG, 1, again)) == read(content(LONG, 7))


def test_names_that_hold_the_words_of_the_header_are_data(read):
    rows = ["item,rater,group", "item one,rater Ann,group x", "item two,rater Ann,group y", "item one,rater Bo,group z"]
    assert read(content(rows, 4)).n_rows == 3
    assert read(content(rows[:2], 2)).n_rows == 1


def test_identifiers_of_questions_are_left_out(read):
    ids = ",".join(f'"{{""ImportId"":""QID{i}""}}"' for i in range(3))
    with pytest.warns(AnnotationWarning, match=r"left out \(line 2, line 3\)"):
        assert read(content(LONG, 1, "Who?,What?,Where?", ids)) == read(content(LONG, 7))


@pytest.mark.parametrize("again", ["Wine no,A. Smith,B. Jones,C. Doe", "Wine,first,second,third"])
def test_a_second_line_of_names_in_a_wide_table_is_refused(again, read):
    with pytest.raises(AnnotationError, match="Line 2 seems to name the columns a second time"):
        read(content(NUMBERS, 1, again))


@pytest.mark.parametrize(
    "more", [["worker,age,sex", "u,31,f"], ["Worker,Time,Comment"], ["participant,gender,country"]]
)
def test_a_second_table_below_is_refused(more, read):
    with pytest.raises(AnnotationError, match="Line 8 seems to be the header of a second table"):
        read(content(LONG, 7, *more))


@pytest.mark.parametrize(
    "note",
    ["Source: our own survey", "*without the pilot", "n = 2", "Three of the five tasters had sorted wine before."],
)
@pytest.mark.parametrize("rows", [LONG, WORDS])
def test_footnotes_are_left_out(rows, note, read):
    with pytest.warns(AnnotationWarning, match=rf"1 row below the table left out \(line {len(rows) + 1}\)"):
        assert read(content(rows, len(rows), note + "," * rows[0].count(","))) == read(content(rows, len(rows)))


def test_an_item_that_nobody_sorted_is_no_footnote(read):
    assert read(content(WORDS, 6, "fly,,,")).items.tolist()[-1] == "fly"


def test_a_table_in_markdown(read):
    rows = ["| wine | Ann | Bo |", "|------|:---:|---:|", "| ant  | p   | u  |", "| bee | p | v |", "| cow  | q | v  |"]
    with pytest.warns(AnnotationWarning, match=r"1 row of dashes left out \(line 2\)"):
        said = read(content(rows, 5))
    assert said == read("wine,Ann,Bo\nant,p,u\nbee,p,v\ncow,q,v\n")


@pytest.mark.parametrize("row", ["Alter,31,45,28", "gender,f,m,d", "number of groups,2,2,2", "N,5,5,5", "Total,5,5,5"])
@pytest.mark.parametrize("place", [1, 6])
def test_rows_about_the_annotators_are_left_out(row, place, read):
    with pytest.warns(AnnotationWarning, match=rf"about the annotators, or of totals left out \(line {place + 1}\)"):
        assert read(content(WORDS, place, row)) == read(content(WORDS, 6))


def test_rows_about_the_annotators_among_numbers(read):
    with pytest.warns(AnnotationWarning, match=r"left out \(line 7, line 8\)"):
        assert read(content(NUMBERS, 6, "n groups,2,2,3", "edad,31,45,28")) == read(content(NUMBERS, 6))
    with pytest.raises(AnnotationError, match="The row 'sexo' in line 2 may describe the columns"):
        read(content(NUMBERS, 1, "sexo,1,2,1"))


def test_cards_that_are_called_like_them_are_items(read):
    said = read(content(WORDS, 6, "Age,p,v,m", "Gender,q,u,k"))
    assert said.items.tolist()[-2:] == ["Age", "Gender"]


@pytest.mark.filterwarnings("ignore:.*left out")
@pytest.mark.parametrize("name", ["Duration (min)", "Time on task (s)", "Completion time", "Age (years)"])
def test_rows_about_people_may_have_a_unit(name, read):
    said = read(f"Card,P1,P2,P3\nale,a,x,p\ntea,a,x,q\nmilk,b,y,q\nrum,b,y,p\n{name},31,45,28\n")
    assert said.items.tolist() == ["ale", "tea", "milk", "rum"]


@pytest.mark.filterwarnings("ignore:.*left out")
@pytest.mark.parametrize("name", ["Segment", "Cohort", "User type", "Customer group"])
def test_columns_about_people_are_no_cards(name, read):
    rows = ["P1,new,a,a,b,b", "P2,loyal,x,x,y,y", "P3,new,p,q,q,p", "P4,loyal,a,b,b,a"]
    said = read("\n".join([f"Participant,{name},ale,tea,milk,rum", *rows]))
    assert said.items.tolist() == ["ale", "tea", "milk", "rum"]
    shared = read("\n".join([f"Participant,{name},ale,tea,milk,rum", *(row.replace("new", "a") for row in rows)]))
    assert len(shared) == 5  # its values are groups of others, too: a card that is called so
