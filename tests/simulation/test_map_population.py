"""People who sort by places on a common map, perceived with errors."""

import numpy as np
import pandas as pd
import pytest

from consilience.errors import InputError
from consilience.metrics import mean_agreement
from consilience.simulation import MapPopulation, gaussian_clusters, present

LINE = pd.DataFrame({"x": [0.0, 1.0, 10.0, 11.0, 30.0, 31.0]}, index=list("abcdef"))


def sets(groups):
    return {frozenset(group) for group in groups}


def agreement(noise, *, n_groups=(2, 3, 4), seed=0):
    task = gaussian_clusters(40, n_clusters=4, random_state=0)
    people = MapPopulation(task.data, noise=noise, n_groups=list(n_groups), random_state=seed)
    return mean_agreement(present([people.draw() for _ in range(25)], [list(range(40))] * 25, items=range(40)))


def test_without_noise_people_sort_by_the_map():
    person = MapPopulation(LINE, noise=0, n_groups=3, random_state=0).draw()
    assert sets(person(list("fbadce"))) == sets([["a", "b"], ["c", "d"], ["e", "f"]])
    assert sets(person(list("ace"))) == sets([["a"], ["c"], ["e"]])


def test_a_person_sorts_the_same_items_alike_whatever_else_is_shown():
    people = MapPopulation(gaussian_clusters(30, random_state=0).data, noise=0.8, n_groups=5, random_state=0)
    person = people.draw()
    group = {item: number for number, items in enumerate(person(range(30))) for item in items}
    for shown in ([3, 8, 22, 17, 5], list(range(0, 30, 2))):
        again = {item: number for number, items in enumerate(person(shown)) for item in items}
        for a in shown:
            for b in shown:
                assert (again[a] == again[b]) == (group[a] == group[b])


def test_shown_fewer_items_people_make_no_more_groups_than_of_all():
    people = MapPopulation(gaussian_clusters(30, random_state=0).data, noise=0.3, n_groups=4, size=12, random_state=0)
    counts = [len(people.draw()([0, 4, 9, 13, 21, 28])) for _ in range(40)]
    assert max(counts) <= 4
    assert len(set(counts)) > 1  # it depends on what else a person thinks of


def test_more_noise_means_less_agreement():
    agreements = [agreement(noise) for noise in (0.0, 0.3, 1.0, 3.0)]
    assert agreements[0] < 1  # people make different numbers of groups
    assert agreement(0.0, n_groups=[4]) == 1
    assert agreements == sorted(agreements, reverse=True)
    assert agreements[-1] < 0.1


def test_the_scale_and_the_origin_of_the_map_do_not_matter():
    moved = LINE * 1e6 + 5e8
    answers = [
        MapPopulation(table, noise=0.7, n_groups=[2, 3], random_state=4)(list("abcdef")) for table in (LINE, moved)
    ]
    assert sets(answers[0]) == sets(answers[1])


def test_people_are_repeated_by_a_seed_and_differ_within_a_population():
    people = [MapPopulation(LINE, noise=1.0, n_groups=[2, 3], random_state=3) for _ in range(2)]
    answers = [[sets(one(list("abcdef"))) for _ in range(12)] for one in people]
    assert answers[0] == answers[1]
    assert len({frozenset(answer) for answer in answers[0]}) > 1


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"noise": -1}, "'noise' parameter of MapPopulation must be a number of at least 0. Got -1"),
        ({"noise": np.nan}, "'noise' parameter"),
        ({"n_groups": 0}, "'n_groups' parameter of MapPopulation must be a positive int or a list of positive ints"),
        ({"n_groups": []}, "'n_groups' parameter"),
        ({"n_groups": 2.5}, "'n_groups' parameter"),
        ({"size": 7}, "'size' parameter of MapPopulation must be a positive int of at most 6, the number of items"),
        ({"coordinates": LINE * 0}, "at least two different places"),
        ({"coordinates": LINE.replace(10.0, np.inf)}, "no missing or infinite values"),
        ({"coordinates": [1, 2]}, "must be a table of numbers"),
    ],
)
def test_wrong_parameters_are_named(changed, message):
    given = {"coordinates": LINE, "noise": 0.5, "n_groups": 2} | changed
    with pytest.raises(InputError, match=message):
        MapPopulation(given.pop("coordinates"), **given)


def test_unknown_repeated_and_too_many_items_are_refused():
    people = MapPopulation(LINE, noise=0.5, n_groups=2, size=4, random_state=0)
    with pytest.raises(InputError, match="'z'"):
        people(["a", "z"])
    with pytest.raises(InputError, match="'a'"):
        people(["a", "a"])
    with pytest.raises(InputError, match=r"at most 4 items at a time.* Got 5 items"):
        people(list("abcde"))
