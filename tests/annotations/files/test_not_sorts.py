"""Tables that hold no sorts are refused with what they seem to be; sorts like them are read."""

import numpy as np
import pandas as pd
import pytest

from consilience.annotations.files.property_grids import property_grid
from consilience.errors import AnnotationError, AnnotationWarning
from tests.annotations.files.not_sorts import NOT_SORTS


@pytest.mark.parametrize("name", NOT_SORTS)
def test_a_table_without_sorts_is_refused_with_its_reason(name, read):
    content, reason = NOT_SORTS[name]
    with pytest.raises(AnnotationError, match=reason):
        read(content)


def test_there_are_many_of_them():
    assert len(NOT_SORTS) >= 40


LIKE_THEM = {
    "cards that are called like properties": (
        "participant,Email,Password,Phone,Address\nP1,me,me,place,place\nP2,log in,log in,world,world\nP3,a,b,a,b\n",
        (4, 3),
    ),
    "one question about each card": (
        "participant,Where would you put bread?,Where would you put soap?,Where would you put tea?\n"
        "P1,food,bath,food\nP2,eat,wash,drink\nP3,food,house,food\n",
        (3, 3),
    ),
    "two of six people who put every card alone": (
        "product,J1,J2,J3,J4,J5,J6\nale,1,1,1,1,1,1\nstout,2,2,1,2,2,1\nporter,3,3,2,2,1,2\nlager,4,4,2,3,2,3\n",
        (4, 6),
    ),
    "zeros and ones by people": (
        "card,Ann,Bo,Cy\na,1,0,1\nb,0,0,1\nc,1,1,0\nd,0,1,0\ne,1,1,1\n",
        (5, 3),
    ),
    "people whose names end in letters": (
        "card,P1 a,P1 b,P2 a,P2 b\nant,x1,y1,z1,u1\nbee,x1,y2,z1,u1\ncow,x2,y2,z2,u2\ndog,x2,y1,z2,u2\n",
        (4, 4),
    ),
    "a column of counts beside people": (
        "card,Ann,Bo,Cy,Di,Count\nant,p,u,k,s,4\nbee,p,v,k,s,4\ncow,q,v,m,t,4\ndog,q,u,m,t,4\n",
        (4, 4),
    ),
}


@pytest.mark.filterwarnings("ignore::consilience.errors.AnnotationWarning")
@pytest.mark.parametrize("name", LIKE_THEM)
def test_sorts_that_look_like_them_are_read(name, read):
    content, (n_items, n_annotators) = LIKE_THEM[name]
    said = read(content)
    assert (said.n_items, said.n_annotators) == (n_items, n_annotators)


def test_groups_beside_coordinates_are_read(read):
    header = "wine;S1_x;S1_y;S1_cluster;S2_x;S2_y;S2_cluster\n"
    rows = "rot;3,5;17;1;22;5;2\nweiß;40;2;1;31;9;1\nrosé;38;6;2;30;12;1\n"
    with pytest.warns(AnnotationWarning, match="4 columns beside those of groups left out: 'S1_x', 'S2_x'"):
        said = read(header + rows)
    assert said.annotators.tolist() == ["S1_cluster", "S2_cluster"]
    assert said.to_matrix().to_numpy(object).tolist() == [[1, 2], [1, 1], [2, 1]]


def test_properties_of_people_beside_their_sorts_are_left_out(read):
    rows = ["P1,18-25,food,food,bath,none at all", "P2,26-35,eat,drink,wash,some", "P3,18-25,food,drink,bath,some"]
    with pytest.warns(AnnotationWarning, match="left out: 'Age group', 'Work experience'"):
        said = read("\n".join(["participant,Age group,bread,tea,soap,Work experience", *rows]))
    assert said.items.tolist() == ["bread", "tea", "soap"]


def test_piles_in_an_order_are_read_with_a_note(read):
    piles = [-2, -1, -1, 0, 0, 0, 1, 1, 2]
    rows = [f"s{i},{piles[i]},{piles[(i * 2) % 9]},{piles[(i * 4) % 9]}\n" for i in range(9)]
    with pytest.warns(AnnotationWarning, match="seem to have an order, as in a Q-sort"):
        assert read("statement,Ann,Bo,Cy\n" + "".join(rows)).n_items == 9


def test_what_says_that_it_holds_groups_is_read(read):
    content = NOT_SORTS["System Usability Scale"][0]
    assert read(content, kind="groupings").n_items == 5
    for name in ("similarity matrix", "percentages of placements"):
        with pytest.raises(AnnotationError):
            read(NOT_SORTS[name][0], transpose=False)


def test_grids_are_found_in_either_order_of_their_parts():
    after = property_grid(["who", "q1: time", "q1: path", "q2: time", "q2: path"])
    before = property_grid(["who", "time1", "path1", "time2", "path2"])
    assert after.columns.keys() == before.columns.keys() == {"time", "path"}
    assert after.groups is None
    assert property_grid(["card", "rater 1", "rater 2", "rater 3"]) is None


def as_wide(numbers):
    return pd.DataFrame(numbers, columns=[f"P{i}" for i in range(numbers.shape[1])]).rename_axis("beer").to_csv()


def asks_about_ratings(read, numbers):
    return any("are they ratings?" in note for note in read(as_wide(numbers)).reading.notes)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("highest", "n_items"), [(5, 40), (7, 12), (10, 25), (100, 20)])
def test_groups_that_are_ratings_are_asked_about(highest, n_items, seed, read):
    rng = np.random.default_rng(seed)
    taste = rng.normal(size=(n_items, 1)) + 0.7 * rng.normal(size=(n_items, 12))
    ratings = np.clip(np.rint((taste + 2) / 4 * (highest - 1)) + 1, 1, highest).astype(int)
    assert asks_about_ratings(read, ratings)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("first", [0, 1])
def test_numbered_piles_are_not_asked_about(seed, first, read):
    """Everybody has other piles of the same clusters, numbered as they came."""
    rng = np.random.default_rng(seed)
    cluster = np.arange(24) % 4
    sorts = [pd.factorize(np.where(rng.random(24) < 0.2, rng.integers(4, 7, 24), cluster))[0] for _ in range(12)]
    assert not asks_about_ratings(read, np.stack(sorts, axis=1) + first)
