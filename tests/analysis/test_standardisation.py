"""Standard names: folding, merging by spelling, plural and cards, corrections by hand, and the figures of names."""

import io
import unicodedata

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience import Groupings, Labels, Pairs
from consilience.analysis.folding import fold_name, is_name, singular
from consilience.analysis.name_corrections import corrections_of
from consilience.analysis.names import as_text
from consilience.errors import InputError
from consilience.inspection import standard_names

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
ITEMS = ["cat", "dog", "cow", "owl", "emu", "hen"]


def sorts(*people, items=ITEMS):
    """Groupings from a list of the names under which each person put the items, None where left out."""
    names = [f"p{place}" for place in range(len(people))]
    return Groupings.from_matrix(np.array(people, dtype=object).T, items=items, annotators=names)


def standards(found):
    return dict(zip(found.grid["name"], found.grid["standard"], strict=True))


def reasons(found):
    return dict(zip(found.grid["name"], found.grid["why"], strict=True))


@given(TEXT)
def test_folding_twice_changes_nothing_more(text):
    assert fold_name(fold_name(text)) == fold_name(text)


@given(TEXT)
def test_folding_forgets_case_composition_blanks_and_punctuation_around(text):
    fold = fold_name(text)
    assert fold_name(f"  {text} . ") == fold
    for form in ("NFC", "NFD"):
        assert fold_name(unicodedata.normalize(form, text)) == fold
    assert fold == " ".join(fold.split())


@given(st.text(st.characters(codec="latin-1", categories=["Ll", "Lu"]), max_size=20))
def test_folding_forgets_capitals(text):
    assert fold_name(text.upper()) == fold_name(text.lower()) == fold_name(text)


@given(TEXT)
def test_singulars_have_as_many_words_and_only_names_have_letters(text):
    fold = fold_name(text)
    assert len(singular(fold).split()) == len(fold.split())
    assert not is_name(fold) or any(map(str.isalpha, fold))


def test_letters_that_tell_names_apart_are_kept():
    assert len({fold_name(name) for name in ("C", "C#", "C++", "50%", "50")}) == 5


@pytest.mark.parametrize(
    ("one", "many"),
    [("dish", "dishes"), ("fox", "foxes"), ("glass", "glasses"), ("hobby", "hobbies"), ("φορεμα", "φορεματα")],
)
def test_plurals_share_a_singular(one, many):
    assert singular(one) == singular(many)


@pytest.mark.parametrize("word", ["glass", "bus", "chess", "gas", "tennis", "is"])
def test_singulars_in_s_are_left_alone(word):
    assert singular(word) == word


def test_spellings_become_the_commonest_of_them():
    found = sorts(["Pets"] * 6, ["pets "] * 6, ["PETS!"] * 6, ["Pets"] * 6)
    assert standards(standard_names(found)) == {"Pets": "Pets", "pets": "Pets", "PETS!": "Pets"}
    assert reasons(standard_names(found)) == {"Pets": "as written", "pets": "same spelling", "PETS!": "same spelling"}


def test_plurals_are_merged_only_if_their_items_overlap():
    together = standard_names(sorts(["Pet"] * 3 + ["Bird"] * 3, ["Pets"] * 3 + ["Birds"] * 3))
    assert reasons(together) == {"Bird": "as written", "Birds": "ending", "Pet": "as written", "Pets": "ending"}
    apart = standard_names(sorts(["Glass"] * 3 + ["x"] * 3, ["x"] * 3 + ["Glasses"] * 3))
    assert standards(apart) == {"Glass": "Glass", "Glasses": "Glasses"}


def test_plurals_stay_apart_if_somebody_uses_both():
    both = sorts(["Pet", "Pet", "Pet", "Pets", "Pets", "Pets"], ["Pet"] * 6, ["Pets"] * 6)
    assert standards(standard_names(both)) == {"Pet": "Pet", "Pets": "Pets"}


def test_names_of_the_same_items_are_merged_if_three_people_use_each():
    footwear, shoes = [["Footwear"] * 3 + ["Rest"] * 3] * 3, [["Shoes"] * 3 + ["Other"] * 3] * 2
    assert "same items" not in reasons(standard_names(sorts(*footwear, *shoes))).values()
    found = standard_names(sorts(*footwear, *shoes, shoes[0]))
    assert standards(found) == {"Footwear": "Footwear", "Shoes": "Footwear", "Rest": "Other", "Other": "Other"}
    assert reasons(found)["Shoes"] == "same items"


@pytest.mark.parametrize(("n_lists", "standard"), [(2, "Footwear"), (3, "Shoes")])
def test_names_of_the_same_items_stay_apart_where_half_of_the_people_wrote_lists(n_lists, standard):
    """Words that describe the same items do not mean the same: "smoky" is not "peaty"."""
    rest = [["Rest; worn"] * 3] * n_lists + [["Rest"] * 3] * (6 - n_lists)
    names = ["Footwear"] * 3 + ["Shoes"] * 3
    found = standard_names(sorts(*([name] * 3 + [*other] for name, other in zip(names, rest, strict=True))))
    assert standards(found)["Shoes"] == standard


def test_names_of_the_same_items_stay_apart_if_somebody_uses_both():
    people = [["Shoes"] * 6] * 9 + [["Footwear"] * 6] * 9 + [["Shoes"] * 5 + ["Footwear"]]
    assert standards(standard_names(sorts(*people))) == {"Shoes": "Shoes", "Footwear": "Footwear"}


def test_a_chain_of_overlaps_is_not_merged_from_end_to_end():
    people = []
    for name, size in (("Aa", 10), ("Bb", 8), ("Cc", 7)):  # overlaps 0.8, 0.875 and 0.7
        people += [[name] * size + [None] * (10 - size)] * 3
    found = standards(standard_names(sorts(*people, items=list("abcdefghij"))))
    assert found["Bb"] == found["Cc"] != found["Aa"]


ENUMERATIONS = ("{} and {}", "{}, {}", "{} & {}", "{} / {}", "{} + {}", "{} und {}", "{} y {}", "{} et {}", "{} και {}")


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(ENUMERATIONS), st.booleans(), st.booleans()), min_size=2, max_size=6, unique=True
    )
)
def test_enumerations_are_one_name_whatever_is_between_their_words_in_any_order_and_case(ways):
    names = [way.format(*(("Drinks", "Foods") if is_turned else ("Foods", "Drinks"))) for way, is_turned, _ in ways]
    names = [name.upper() if is_upper else name for name, (*_, is_upper) in zip(names, ways, strict=True)]
    found = standard_names(sorts(*([name] * 3 + ["Rest"] * 3 for name in names)))
    assert set(standards(found).values()) == {found.names[0], found.names[1]}
    assert found.n_annotators.tolist() == [len(ways)] * 2


def test_words_that_make_another_name_stay_in_it():
    people = sorts(["E bikes"] * 3 + ["Rock"] * 3, ["Bikes"] * 3 + ["Rock and roll"] * 3)
    assert len(standard_names(people).names) == 4


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("Hobby", "Hobbies", "ending"),
        ("Food and drink", "Food, drink", "conjunction"),
        ("Food and drinks", "Drink, food", "conjunction, ending, word order"),
        ("Γυναίκα", "Γυναικεία", "ending, one letter"),
        ("Ηλεκτρονικές συσκευές", "ηλεκρονικες συσκευες", "one letter"),
        ("The hobbies", "Hobby", "article, ending"),
    ],
)
def test_the_reason_is_what_makes_two_names_differ(one, other, reason):
    found = standard_names(sorts([one] * 6, [one] * 6, [other] * 6))
    assert reasons(found) == {one: "as written", other: reason}


def test_a_name_leads_if_it_is_ahead_by_more_than_chance_and_ties_are_all_named():
    people = [["Pets"] * 5, ["Pets"] * 3 + ["Zoo"] * 2, ["Pets", "Zoo", "Pets", "Zoo", "Farm"]]
    people += [["Pets", "Zoo", "Zoo", "Zoo", "Sky"], ["Pets", "Pets", "Zoo", "Zoo", "Sea"]]
    found = standard_names(sorts(*people, items=["cat", "dog", "cow", "owl", "emu"]))
    assert found.of_items["name"].tolist() == ["Pets", None, None, "Zoo", None]  # 5:0, 3:2, 3:2, 4:1, 1:1:1:1:1
    tied = standard_names(sorts(*[["Pets"], ["Zoo"]] * 2, items=["cat"]))
    assert tied.of_items["name"].tolist() == ["Pets; Zoo"]


def test_numbers_and_codes_are_no_names():
    found = standard_names(sorts(["1", "1", "group 2", "x", "Pets", "Pets"]))
    assert found.names.tolist() == ["Pets"]
    assert found.of_items["n_annotators"].tolist() == [0, 0, 0, 0, 1, 1]
    assert (found.placements["Pets"].tolist(), found.of_items["n_names"].tolist()) == ([0] * 4 + [1] * 2,) * 2
    assert standard_names(sorts([1, 1, 1, 2, 2, 2])).placements.shape == (6, 0)


def test_the_results_matrix_counts_people_once_under_a_name():
    groupings = Groupings.from_frame(
        pd.DataFrame(
            {
                "item": ["cat", "cat", "dog", "dog"],
                "annotator": ["Ann", "Ann", "Ann", "Bo"],
                "grouping": ["first", "second", "first", "third"],
                "group": ["Pets", "pets", "Pets", "Farm"],
            }
        )
    )
    found = standard_names(groupings)
    assert found.placements.loc["cat", "Pets"] == 1
    assert found.placements.loc["dog"].to_dict() == {"Farm": 1, "Pets": 1}
    assert found.n_annotators.tolist() == [1, 1]


def test_agreement_of_names_and_items_by_hand():
    found = standard_names(sorts(["Pets"] * 2 + ["Farm"] * 4, ["Pets"] * 3 + ["Farm"] * 3, ["Zoo"] * 6))
    # Pets: cat and dog by both, cow by one of two; Farm: three by both, cow by one
    assert found.of_names["agreement"].to_dict() == pytest.approx(
        {"Farm": 7 / 8, "Pets": 5 / 6, "Zoo": np.nan}, nan_ok=True
    )
    assert found.of_items.loc["cow", "agreement"] == pytest.approx(1 / 3)
    assert found.of_items.loc["cat", ["name", "agreement"]].tolist() == [None, pytest.approx(2 / 3)]  # 2 of 3, and 1


def test_corrections_move_names_and_what_was_merged_into_them():
    people = sorts(["Pets"] * 6, ["Pets"] * 6, ["pets"] * 6, ["Birds"] * 6, ["birds"] * 6)
    found = standard_names(people, {"Pets": "Animals", "birds": "Birds of prey"})
    assert standards(found) == {
        "Pets": "Animals",
        "pets": "Animals",
        "Birds": "Birds of prey",
        "birds": "Birds of prey",
    }
    assert set(reasons(found).values()) == {"by file"}


def test_corrections_take_names_apart_and_leave_them_out():
    people = sorts(["Pet"] * 6, ["Pets"] * 6, ["Misc"] * 6)
    found = standard_names(people, {"Pets": "Pets", "Misc": ""})
    assert standards(found) == {"Pet": "Pet", "Pets": "Pets", "Misc": ""}
    assert reasons(found)["Misc"] == "left out by file"
    assert found.of_items["n_annotators"].tolist() == [2] * 6


def test_a_name_joins_what_is_given_its_name():
    people = sorts(*[["Shoes"] * 6] * 4, *[["Footwear"] * 6] * 3, ["Kicks"] * 3 + ["Rest"] * 3)
    assert standards(standard_names(people))["Footwear"] == "Shoes"
    found = standards(standard_names(people, {"Kicks": "Footwear"}))
    assert (found["Kicks"], found["Footwear"], found["Shoes"]) == ("Footwear", "Footwear", "Shoes")


NAMES = st.lists(
    st.sampled_from(["Pets", "pets", "Pet", "Zoo", "zoo!", "Birds", "=1+1a", "No", None]), min_size=4, max_size=4
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(NAMES, min_size=1, max_size=6),
    st.dictionaries(
        st.sampled_from(["Pets", "pets", "Pet", "Zoo", "Birds", "No"]), st.sampled_from(["Zoo", "New", "", "=2", "'a"])
    ),
)
def test_a_grid_given_back_as_a_file_changes_nothing(people, changes):
    groupings = sorts(["Pets", "Zoo", "Birds", "No"], ["pets", "Pet", None, None], *people, items=list("abcd"))
    found = standard_names(groupings, changes)
    file = io.StringIO(found.grid.to_csv(index=False))
    again = standard_names(groupings, pd.read_csv(file, keep_default_na=False))
    pd.testing.assert_frame_equal(again.grid, found.grid)
    pd.testing.assert_frame_equal(again.placements, found.placements)


@settings(max_examples=60, deadline=None)
@given(st.lists(NAMES, min_size=2, max_size=6))
def test_figures_fit_together_whatever_people_wrote(people):
    groupings = sorts(*people, items=list("abcd"))
    if groupings.n_groups == 0:
        return
    found = standard_names(groupings)
    assert (found.placements.to_numpy() <= found.n_annotators).all()
    assert (found.placements.to_numpy().sum(1) == found.n_annotators_of_item).all()  # one grouping each
    assert found.of_names["agreement"].dropna().between(0, 1).all()
    assert (np.diff(found.n_annotators) <= 0).all()


@given(st.dictionaries(TEXT.map(as_text).filter(bool), TEXT.map(as_text)))
def test_corrections_are_read_as_they_were_given(changes):
    frame = pd.DataFrame({"name": list(changes), "standard": list(changes.values()), "why": "because"})
    assert corrections_of(changes) == corrections_of(frame) == corrections_of(pd.Series(changes, dtype=object))


def test_an_apostrophe_that_defuses_a_formula_is_undone():
    groupings = sorts(["=pets"] * 6)
    assert standards(standard_names(groupings, {"'=pets": "'=zoo"})) == {"=pets": "=zoo"}


@pytest.mark.parametrize(
    ("corrections", "message"),
    [
        ({"Petz": "Pets"}, "Nobody gave a group the name 'Petz'. The nearest name is 'Pets'."),
        (pd.DataFrame({"name": ["Pets"]}), "Corrections of names need the columns 'name' and 'standard'. Found name."),
        (pd.DataFrame({"name": ["Pets", None], "standard": "a"}), "The name is missing in row 1 of the corrections"),
        (
            pd.DataFrame({"name": ["Pets", "Pets"], "standard": ["a", "b"]}),
            "The name 'Pets' has two standard names, 'a' and 'b' \\(in row 1\\).",
        ),
        (["Pets"], "Corrections of names must be a dict .* Got list instead."),
    ],
)
def test_corrections_that_cannot_be_used(corrections, message):
    with pytest.raises(InputError, match=message):
        standard_names(sorts(["Pets"] * 6), corrections)


def test_labels_are_counted_and_not_merged():
    said = [["Pets", "pets"], ["Pets", None]]
    labels = Labels.from_matrix(said, items=["cat", "dog"], annotators=["Ann", "Bo"], exact=True)
    found = standard_names(labels)
    assert found.placements.loc["cat"].to_dict() == {"Pets": 1, "pets": 1}
    assert found.of_items["n_annotators"].tolist() == [2, 1]
    with pytest.raises(InputError, match="Nobody gave a group the name"):
        standard_names(labels, {"Pets": "a"})


def test_judgements_of_pairs_have_no_names():
    pairs = Pairs.from_frame(pd.DataFrame({"item_a": ["a"], "item_b": ["b"], "annotator": ["Ann"], "same": [1]}))
    with pytest.raises(InputError):
        standard_names(pairs)


def test_groups_are_renamed_with_their_standard_names():
    given = sorts(
        ["Birds", "Birds", "2"], ["bird", "bird", "Rest"], ["Fowl", "Sky", "Rest"], items=["owl", "emu", "cat"]
    )
    found = standard_names(given, {"Rest": "", "Fowl": "Birds", "Sky": "Birds"})
    renamed = found.renamed(given)
    of_group = dict(zip(map(str, given.group_names), map(str, renamed.group_names), strict=True))
    assert of_group == {"Birds": "Birds", "2": "2", "bird": "Birds", "Rest": "", "Fowl": "Birds", "Sky": "Birds"}
    np.testing.assert_array_equal(renamed.incidence.toarray(), given.incidence.toarray())


def test_articles_and_one_letter_are_merged_only_if_their_items_overlap():
    together = standard_names(sorts(["The company"] * 3 + ["Accessories"] * 3, ["Company"] * 3 + ["Accesories"] * 3))
    assert sorted(reasons(together).values()) == ["article", "as written", "as written", "one letter"]
    # as "outer" and "inner" clothes are in Greek: one letter, and no item in common
    apart = standard_names(sorts(["Shorts here"] * 3 + ["x"] * 3, ["x"] * 3 + ["Shirts here"] * 3))
    assert standards(apart) == {name: name for name in ("Shorts here", "Shirts here")}
    short = standard_names(sorts(["Games"] * 6, ["Gamer"] * 6))
    assert standards(short) == {"Games": "Games", "Gamer": "Gamer"}


def test_of_the_spellings_of_a_name_the_commonest_with_accents_is_shown():
    written = ["Σπιτι", "Σπιτι", "Σπιτι", "Σπίτι", "Σπίτι", "ΣΠΊΤΙ", "ΣΠΊΤΙ", "ΣΠΊΤΙ", "σπίτι"]
    names = standard_names(Groupings.from_matrix([written] * 2))
    assert names.names.tolist() == ["Σπίτι"]
    assert dict(zip(names.grid["name"], names.grid["why"], strict=True)) == {
        **dict.fromkeys(["Σπιτι", "ΣΠΊΤΙ", "σπίτι"], "same spelling"),
        "Σπίτι": "as written",
    }
    corrected = standard_names(Groupings.from_matrix([written] * 2), {"Σπίτι": "House"})
    assert corrected.names.tolist() == ["House"]
    assert standard_names(Groupings.from_matrix([["cafe", "cafe", "café"]])).names.tolist() == ["cafe"]  # of one person
