"""Tables as people's tools and habits produce them, and which were difficult for new users."""

import pandas as pd
import pytest

from consilience import Labels
from consilience.annotations import Groupings, Pairs
from consilience.annotations.files.exports import UNCOUNTED
from consilience.consensus import DawidSkene
from consilience.errors import AnnotationError, AnnotationWarning


def lines(*rows):
    return "".join(f"{row}\n" for row in rows)


def memberships(said):
    return {tuple(map(str, row)) for row in said.to_frame()[["item", "annotator", "group"]].to_numpy()}


@pytest.mark.parametrize(
    "header",
    ["Teilnehmer;Karte;Gruppe", "Juge;Produit;Groupe", "Participante;Tarjeta;Categoría", "Giudice;Prodotto;Gruppo"],
)
def test_headings_in_other_languages(header, read):
    said = read(lines(header, "A;Brot;1", "A;Käse;1", "B;Brot;x", "B;Käse;y"))
    assert memberships(said) == {("Brot", "A", "1"), ("Käse", "A", "1"), ("Brot", "B", "x"), ("Käse", "B", "y")}
    assert said.reading.how.startswith("2 items × 2 annotators, long table of groupings")


FORM = lines(
    "Timestamp,Email Address,How old are you?,"
    "Where does it go? [Bread],Where does it go? [Cheese],Where does it go? [Soap]",
    "1/2/2026 9:00:00,a@x.org,31,Food,Food,Bath",
    "1/2/2026 9:05:00,b@x.org,45,Eat,Eat,Wash",
    "1/2/2026 9:09:00,c@x.org,52,Kitchen,Fridge,Bath",
)


def test_survey_with_a_question_for_each_card(read):
    with pytest.warns(AnnotationWarning, match=r"2 columns other than the question 'Where does it go\?' left out"):
        said = read(FORM)
    assert said.items.tolist() == ["Bread", "Cheese", "Soap"]
    assert said.annotators.tolist() == ["a@x.org", "b@x.org", "c@x.org"]
    assert ("Soap", "b@x.org", "Wash") in memberships(said)
    assert said.n_rows == 9


def test_anonymous_survey_numbers_its_respondents(read):
    content = lines(*(line.split(",", 3)[3] for line in FORM.splitlines()))
    said = read(content)
    assert said.items.tolist() == ["Bread", "Cheese", "Soap"]
    assert said.annotators.tolist() == [1, 2, 3]


def test_survey_with_two_questions_for_each_card_is_refused(read):
    content = FORM.replace("Where does it go? [Soap]", "Where does it go? [Soap],Like? [a],Like? [b],Like? [c]")
    with pytest.raises(
        AnnotationError, match=r"several questions about each item: 'Where does it go\?', 'Like\?'.*ignore="
    ):
        read("\n".join(line + ",1,2,3" if i else line for i, line in enumerate(content.splitlines())))


def test_limesurvey_puts_a_code_before_the_question(read):
    header = (
        "id. Response ID,submitdate. Date submitted,S[SQ1]. Where? [Bread],S[SQ2]. Where? [Tea],S[SQ3]. Where? [Soap]"
    )
    with pytest.warns(AnnotationWarning, match="1 column other than the question 'Where"):
        said = read(lines(header, "7,2026-01-02 10:00:00,Food,Food,Bath", "9,2026-01-03 10:00:00,Eat,Drink,Wash"))
    assert said.items.tolist() == ["Bread", "Tea", "Soap"]
    assert said.annotators.tolist() == [7, 9]


PILES = [
    ("P1", "Paper", "Invoices; Receipts; Taxes"),
    ("P1", "Media", "Songs; Films"),
    ("P2", "Bills", "Invoices; Receipts"),
    ("P2", "Rest", "Songs; Films; Taxes"),
    ("P3", "Rest", "Invoices; Films"),
    ("P3", "Rest", "Receipts; Songs; Taxes"),
]


@pytest.mark.parametrize("separator", ["; ", ", ", "|", "\n"])
@pytest.mark.parametrize("heading", ["Cards in pile", "cards", "item"])
def test_a_row_for_each_pile_with_its_cards_in_a_list(separator, heading, read):
    rows = [(who, pile, cards.replace("; ", separator)) for who, pile, cards in PILES]
    said = read(pd.DataFrame(rows, columns=["Participant", "Pile name", heading]).to_csv(index=False))
    expected = {(card, who, pile) for who, pile, cards in PILES for card in cards.split("; ")}
    expected -= {("Receipts", "P3", "Rest"), ("Songs", "P3", "Rest"), ("Taxes", "P3", "Rest")}
    # two piles of one person with the same name stay two piles
    assert memberships(said) == expected | {(card, "P3", "Rest (2)") for card in ("Receipts", "Songs", "Taxes")}


def test_a_comma_in_a_name_does_not_make_a_list(read):
    towns = ["Paris, France", "Lyon, France", "Rome, Italy", "Turin, Italy"]
    rows = [(town, who, f"{who}{k}") for who in "AB" for k, town in enumerate(towns)]
    said = read(pd.DataFrame(rows, columns=["item", "annotator", "group"]).to_csv(index=False))
    assert said.items.tolist() == towns


def test_a_column_for_each_pile(read):
    said = read(lines("Participant,Pile 1,Pile 2", 'P1,"Bread, Tea","Soap, Towel"', 'P2,"Bread, Soap, Tea",Towel'))
    assert said.items.tolist() == ["Bread", "Tea", "Soap", "Towel"]
    assert ("Towel", "P2", "Pile 2") in memberships(said)
    assert said.n_rows == 8


@pytest.mark.parametrize("code", [99, 98, 999, -9, -99])
def test_codes_of_survey_programs_are_not_read_as_groups(code, read):
    content = lines("product,J1,J2,J3", f"a,1,2,{code}", "b,1,1,2", "c,2,1,1", "d,2,2,1")
    with pytest.raises(AnnotationError, match=rf"{code} in line 2, column 'J3' can be read in two ways with 1 to 2"):
        read(content)
    assert read(content, missing=code).n_rows == 11
    assert read(content, missing=[]).n_rows == 12


def test_large_numbers_of_groups_are_not_codes(read):
    content = lines(
        "item,annotator,group", *(f"i{i},A,{i}" for i in range(1, 41)), *(f"i{i},B,{98 + i % 2}" for i in range(40))
    )
    assert read(content).n_rows == 80


def test_records_of_a_tool_are_refused(read):
    header = "Card ID,Card Name,List ID,List Name,Due Date,Url"
    rows = [f"c{i},card {i},l{i % 2},list {i % 2},2026-01-0{i},https://x.org/{i}" for i in range(1, 6)]
    with pytest.raises(AnnotationError, match="looks like records with properties"):
        read(lines(header, *rows))
    columns = {"item": "Card Name", "annotator": "Member", "group": "List Name"}
    assert read(lines(header.replace("List ID", "Member"), *rows), **columns).n_items == 5


def test_a_column_unlike_all_others_is_refused(read):
    rows = [f"p{i},{1 + i % 2},{1 + i % 3},{2 - i % 2},{1 + i % 2},{age}" for i, age in enumerate([31, 64, 45, 52])]
    content = lines("participant,bread,tea,soap,milk,years", *rows)
    with pytest.raises(AnnotationError, match=r"'years' contains words, or numbers of another size.*ignore='years'"):
        read(content)
    assert read(content, ignore="years").items.tolist() == ["bread", "tea", "soap", "milk"]
    assert read(content, kind="groupings").n_items == 5
    words = lines("card,Ann,Bo,Cy,Di,tokens", *(f"c{i},x,y,x,{'xy'[i % 2]},{100 + 7 * i}" for i in range(5)))
    with pytest.raises(AnnotationError, match="'tokens' contains numbers where others contain words"):
        read(words)


def test_dates_and_addresses_are_not_annotators(read):
    content = lines(
        "card,Ann,Bo,Cy,Mail,Day", *(f"c{i},a,b,{'ab'[i % 2]},u{i}@x.org,2026-01-0{i + 1}" for i in range(4))
    )
    with pytest.warns(AnnotationWarning, match="columns not read as annotators left out: 'Mail', 'Day'"):
        assert read(content).annotators.tolist() == ["Ann", "Bo", "Cy"]


def test_misspelled_groups_are_noted(read):
    with pytest.warns(AnnotationWarning, match=r"1 cell with '\?' read as a group.*missing='\?' if missing"):
        said = read(lines("card,Ann,Bo", "a,Hot,x", "b,hot ,x", "c,Cold,?", "d,Cold,y"))
    notes = " ".join(said.reading.notes)
    assert "1 group of one annotator with names that differ only in case or spaces, such as 'Hot' and 'hot '" in notes


def test_changed_annotations_are_counted(read):
    said = read(lines("task,worker,label", "a,u,1", "a,u,2", "b,u,1", "a,v,1"))
    assert "1 time an annotator gave the same item another label; both are kept" in said.reading.notes
    judged = ["a,x,u,Y", "x,a,u,N", "a,x,v,Y", "b,x,v,N", "x,b,v,N", "b,x,v,N"]
    pairs = read(lines("ltable_id,rtable_id,reviewer,is_match", *judged))
    assert isinstance(pairs, Pairs)
    judged = "3 times an annotator judged a pair again, 1 of them differently; every judgement counts"
    assert judged in pairs.reading.notes
    again = read(lines("ltable_id,rtable_id,reviewer,is_match", "a,x,u,Y", "x,a,u,Y", "b,x,u,N"))
    assert "1 time an annotator judged a pair again; every judgement counts" in again.reading.notes


def test_grades_of_difference_are_not_read_as_similarity(read):
    content = lines("imgA,imgB,rater,dissimilarity", "a,b,u,1", "a,c,u,7", "b,c,v,4", "b,d,v,2")
    with pytest.raises(AnnotationError, match=r"'dissimilarity' says how much items differ.*same_if="):
        read(content)
    said = read(content, same_if="<=3")
    assert said.to_frame()["same"].tolist() == [True, False, False, True]


def test_labels_that_are_json_are_refused(read):
    content = 'DataRow ID,Created By,Label\nr1,u,"{""answer"": ""cat""}"\nr2,u,"{""answer"": ""dog""}"\n'
    with pytest.raises(AnnotationError, match=r"The label in line 2 is JSON.*a separate column"):
        read(content)


def test_index_column_of_a_data_frame_does_not_make_a_wide_table(read):
    with pytest.raises(
        AnnotationError,
        match=r"a usual name for annotators.*item='example_uid', annotator='model_or_person', label='verdict'",
    ):
        read(lines(",example_uid,model_or_person,verdict", "0,e1,gpt,yes", "1,e1,ann,no", "2,e2,gpt,yes"))


def test_frame_with_labels_is_not_a_matrix():
    frame = pd.DataFrame({"tweeted": ["a", "b"], "who": ["u", "v"], "verdict": ["x", "y"]})
    with pytest.raises(AnnotationError, match="has a column 'verdict', as long tables have"):
        DawidSkene().fit(frame)
    labels = Labels.from_frame(frame, item="tweeted", annotator="who")
    assert labels.n_rows == 2


def test_several_columns_may_name_the_same_items(read):
    with pytest.warns(AnnotationWarning, match="left out: 'Card ID'"):
        said = read(lines("Card ID,Card,Ann,Bo", "1,bread,x,y", "2,tea,x,z", "3,soap,w,z"))
    assert isinstance(said, Groupings)
    assert said.items.tolist() == ["bread", "tea", "soap"]
    assert said.annotators.tolist() == ["Ann", "Bo"]


def test_a_table_without_annotators_is_refused(read):
    with pytest.raises(AnnotationError, match=r"No column contains groups or labels\. Found 'product', 'J1', 'J2'"):
        read(lines("product,J1,J2", "ale,1,2", "bock,1,2", "stout,2,1"), ignore="J*")


@pytest.mark.parametrize(
    "header",
    [
        "participante,cartão,grupo",
        "deelnemer,kaartje,groep",
        "uczestnik,karta,grupa",
        "Katılımcı,Kart,Grup",
        "участник,карточка,группа",
        "被试,卡片,分组",
        "回答者,カード,グループ",
        "応答,参加者ID,カード名,カテゴリー",
        "참가자,카드,그룹",
        "مستخدم,بطاقة,فئة",
        "प्रतिभागी,कार्ड,समूह",
    ],
)
def test_headings_of_the_whole_vocabulary(header, read):
    first = ["z,"] if header.count(",") == 3 else [""]
    rows = [f"{first[0]}{row}" for row in ("A,bread,1", "A,tea,1", "B,bread,x", "B,tea,y")]
    said = read(lines(header, *rows))
    assert memberships(said) == {("bread", "A", "1"), ("tea", "A", "1"), ("bread", "B", "x"), ("tea", "B", "y")}


def test_unknown_headings_are_asked_about_without_an_advice(read):
    long = [f"h{i},k{j},r{i * j % 3}" for i in range(6) for j in range(8)]
    with pytest.raises(AnnotationError, match="seems to be a long table") as caught:
        read(lines("henkilö,kortti,ryhmä", *long))
    assert "item=…, annotator=…" in str(caught.value)
    with pytest.raises(
        AnnotationError, match=r"two ways: 4 items .* or 4 annotators .*transpose=False.*transpose=True"
    ):
        read(lines("kortti,a,b,c", "p,1,2,1", "q,1,1,2", "r,2,2,1", "s,2,1,2"))


def test_a_few_piles_of_several_cards(read):
    rows = ["P1,big,ant; bee", "P1,small,cow", "P1,other,dog", "P2,a,ant; cow", "P2,b,bee", "P2,c,dog"]
    rows += ["P3,x,cow; dog", "P3,y,ant", "P3,z,bee"]
    said = read(lines("participant,pile,cards", *rows))
    assert said.items.tolist() == ["ant", "bee", "cow", "dog"]


SERVER = "item,annotator,grouping,group,group_name,source,submitted,preview,excluded,text"


@pytest.mark.filterwarnings("ignore:.*were given to everybody")
def test_an_export_of_the_server(read):
    rows = ["'-5 °C,p1,1,'+ hot,'+ hot,drawn,,False,False,x", "tea,p1,1,cold,cold,drawn,,False,False,y"]
    labels = read(lines(f"{SERVER},closed_categories", *(f'{row},"[""+ hot"", ""skip"", ""cold""]"' for row in rows)))
    assert isinstance(labels, Labels)
    assert labels.items.tolist() == ["-5 °C", "tea"]
    assert labels.classes.tolist() == ["+ hot", "skip", "cold"]
    for more in ("", ",hybrid_categories"):
        said = read(lines(SERVER + more, *(f"{row}{more and ',[]'}" for row in rows)))
        assert memberships(said) == {("-5 °C", "p1", "+ hot"), ("tea", "p1", "cold")}


@pytest.mark.filterwarnings("ignore:.*left out")
def test_an_export_of_the_server_without_what_does_not_count(read):
    rows = [
        f"{card},{who},1,{pile},{pile},{source},,{preview},{excluded},{card}"
        for who, source, preview, excluded in (
            ("p1", "drawn", False, False),
            ("p2", "drawn", True, False),
            ("p3", "drawn", False, True),
            ("p4", "repeat", False, False),
            ("p5", "gold", False, False),
            ("p6", "drawn", False, False),
        )
        for card, pile in (("ale", "x"), ("tea", "x"), ("milk", "y"))
    ]
    said = read(lines(SERVER, *rows))
    assert said.annotators.tolist() == ["p1", "p6"]
    assert said.items.tolist() == ["ale", "tea", "milk"]
    assert [note for note in said.reading.warnings if "left out" in note] == [
        "3 rows of previews left out",
        "3 rows of excluded people left out",
        "6 rows of repetitions or training left out",
    ]


def test_sources_that_do_not_count_are_those_of_the_server():
    training = pytest.importorskip("consilience.collect.settings.training")
    assert set(UNCOUNTED) == set(training.APART)


@pytest.mark.parametrize(("column", "role"), [("Sub-category", "group"), ("level", "grouping"), ("criterion", "group")])
def test_columns_that_may_be_read_instead_are_offered(column, role, read):
    said = read(lines(f"participant,card,category,{column}", "A,a,x,1", "A,b,x,2", "B,a,y,1", "B,b,z,1"))
    assert f"columns not used: {column!r} ({role}={column!r} reads {column!r})" in said.reading.notes
    assert read(lines("participant,card,category,colour", "A,a,x,1", "A,b,x,2")).reading.notes == (
        "columns not used: 'colour'",
    )


def test_a_group_may_have_the_name_of_its_card(read):
    said = read(lines("participant,Pets,Fish,Meals,Toys,Garden,Tools", "A,Pets,Pets,x,y,x,x", "B,p,q,p,r,q,q"))
    assert said.n_rows == 12
    with pytest.raises(AnnotationError, match="'A' occurs again in its column"):
        read(lines("ant,A,small", "bee,A,small", "cow,B,large"))
