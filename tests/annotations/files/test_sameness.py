"""Judgements of pairs: names of either sense, codes among answers, preferences, and grades."""

import json

import pytest

from consilience.annotations.files.vocabulary import role_of_name, says_different, says_preferred
from consilience.errors import AnnotationError, AnnotationWarning


def judged(values, name="same"):
    return f"item_a,item_b,annotator,{name}\n" + "".join(f"a{i},b{i},u,{value}\n" for i, value in enumerate(values))


CORES = ["different", "dissimilar", "unlike", "unequal", "not same", "mismatch", "unrelated", "not similar", "differ"]


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("before", ["", "is ", "are ", "are they ", "items "])
def test_names_of_a_difference_in_every_spelling(core, before):
    words = f"{before}{core}"
    camel = "".join(word.title() for word in words.split())
    for name in (
        words,
        words.upper(),
        words.replace(" ", "_"),
        words.replace(" ", ""),
        camel,
        camel[0].lower() + camel[1:],
    ):
        assert says_different(name), name
        assert role_of_name(name).role == "same", name


@pytest.mark.parametrize(
    "name", ["same", "is_same", "isSimilar", "equal", "similarity", "match", "distance learning", "unit"]
)
def test_other_names_are_of_no_difference(name):
    assert not says_different(name)


@pytest.mark.parametrize(
    "name", ["areUnlike", "pairs_differ", "Dissimilarity rating", "nonmatch", "verschieden", "diferente"]
)
def test_a_difference_is_never_read_as_same(name, read):
    with pytest.raises(AnnotationError, match=r"says how much items differ.*same_if="):
        read(judged([1, 0, 1, 0], name))
    assert read(judged([1, 0, 1, 0], name), same_if="=0").same.tolist() == [False, True, False, True]


@pytest.mark.filterwarnings("ignore:.*without a judgement left out")
@pytest.mark.parametrize(
    ("values", "code"),
    [([0, 1, 7], 7), ([0, 1, 77], 77), ([1, 2, 88], 88), ([0, 1, -99], -99), ([0, 1, 8, 9], 8), ([1, 2, -1], -1)],
)
def test_a_number_far_from_two_answers_is_asked_about(values, code, read):
    with pytest.raises(AnnotationError, match=rf"The judgement {code} in line \d is far from the others"):
        read(judged(values))
    far = [value for value in values if value not in values[:2]]
    if values[:2] == [0, 1]:
        assert read(judged(values), missing=far).same.tolist() == [False, True]


@pytest.mark.filterwarnings("ignore::consilience.errors.AnnotationWarning")
@pytest.mark.parametrize(
    "values", [[1, 3, 5, 7], [0, 50, 100], [0, 33, 66, 100], [0.25, 0.5, 1], [1, 2, 3, 4, 5], [0, 1, 2]]
)
def test_scales_are_read(values, read):
    said = read(judged(values))
    middle = (min(values) + max(values)) / 2
    assert said.same.tolist() == [value > middle for value in values if value != middle]


@pytest.mark.filterwarnings("ignore:.*without a judgement left out")
@pytest.mark.parametrize("values", [["yes", "no", "3"], ["same", "different", "0.5"], ["true", "false", "-7"]])
def test_a_number_beside_words_is_asked_about(values, read):
    with pytest.raises(AnnotationError, match=rf"judgements are words.*but '{values[2]}' in line 4 is a number"):
        read(judged(values))
    assert read(judged(values), missing=values[2]).same.tolist() == [True, False]


@pytest.mark.parametrize("word", ["ja", "oui", "sì", "да", "はい"])
def test_answers_in_other_languages(word, read):
    no = {"ja": "nein", "oui": "non", "sì": "no", "да": "нет", "はい": "いいえ"}[word]
    assert read(judged([word, no, word])).same.tolist() == [True, False, True]


@pytest.mark.parametrize("word", ["abstain", "can't tell", "keine Ahnung", "je ne sais pas", "non lo so", "わからない"])
def test_abstentions_are_left_out(word, read):
    with pytest.warns(AnnotationWarning, match="1 judgement left out: undecided"):
        assert read(judged(["yes", word, "no"])).n_rows == 2


@pytest.mark.filterwarnings("ignore:.*same if above the middle")
def test_grades_of_numbered_uses_are_no_preference(read):
    content = "use1,use2,annotator,judgment\n4,1,u,4\n2,3,u,1\n1,3,v,2\n2,4,v,3\n1,2,w,4\n"
    assert read(content).n_rows == 5
    assert read(content, same_if=">=4").same.sum() == 2


@pytest.mark.parametrize(
    "content",
    [
        "left,right,worker,label\n7,8,u,8\n7,9,u,7\n8,9,v,9\n",
        "option_a,option_b,rater,better\np,q,u,A\np,r,u,B\n",
        "text1,text2,annotator,preference\np,q,u,1\np,r,u,2\n",
        "image_1,image_2,worker,answer\np,q,u,left\np,r,u,right\np,r,v,tie\n",
        "sample_a,sample_b,judge,chosen_best\np,q,u,p\np,r,u,r\n",
    ],
)
def test_preferences_are_refused_without_a_remedy(content, read):
    with pytest.raises(AnnotationError, match="which of two items was preferred") as caught:
        read(content)
    assert "same_if" not in str(caught.value)


def test_names_of_preferences():
    assert all(map(says_preferred, ("winner", "preferred", "is_better", "favourite")))
    assert not any(map(says_preferred, ("same", "label", "answer")))


@pytest.mark.parametrize("beside", [1.5, 0.25])
def test_large_integers_beside_decimals_stay_apart(beside, read):
    big = 2**53
    rows = [
        {"item_a": big + 1, "item_b": beside},
        {"item_a": big, "item_b": beside},
        {"item_a": big, "item_b": big + 1},
    ]
    said = read(json.dumps([row | {"annotator": "u", "same": i % 2} for i, row in enumerate(rows)]), "pairs.json")
    assert set(said.items) == {big, big + 1, beside}
    labels = [{"item": name, "annotator": "u", "label": "x"} for name in (big + 1, big, beside)]
    assert read(json.dumps(labels), "labels.json").n_items == 3
