"""What the axes of a map oppose, in words: which items are at an end, and which words go with them."""

import numpy as np
import pandas as pd

from consilience.analysis.group_words import GroupWords
from consilience.inspection.report.axis_ends import say_ends

ITEMS = pd.Index(list("abcdef"))


def with_words(*said):
    """Words with an item each, by so many people, all certain."""
    tests = pd.DataFrame(said, columns=["word", "item", "n_annotators"]).assign(p_corrected=0.01)
    return GroupWords(pd.DataFrame(), pd.DataFrame(), tests)


def test_the_outermost_items_that_an_axis_shows_are_at_its_ends():
    points = np.array([[-1.0], [-0.6], [-0.4], [0.1], [0.9], [1.0]])
    cos2 = np.array([[0.9], [0.3], [0.9], [0.9], [0.1], [0.2]])
    # c is less than half as far out as a, and e hardly shown
    assert say_ends("Axis", ITEMS, points, cos2, None) == (
        "Items at the two ends, those of negative values first. Axis 1: a and b against f."
    )


def test_an_end_of_items_that_are_hardly_shown_has_none():
    points, cos2 = np.array([[-1.0], [1.0]]), np.array([[0.1], [0.5]])
    assert say_ends("Axis", ITEMS[:2], points, cos2, None).endswith("Axis 1: b apart from the rest.")


def test_words_of_most_items_at_an_end_and_of_none_at_the_other_stand_with_it():
    points = np.array([[-1.0], [-1.0], [1.0], [1.0], [1.0], [0.0]])
    said = [(word, item, 5) for word, items in (("dry", "ab"), ("one", "a"), ("both", "abcde"), ("soft", "cdf"))
            for item in items] + [("mild", item, 9) for item in "ced"]  # fmt: skip
    text = say_ends("Dimension", ITEMS, points, np.ones((6, 1)), with_words(*said))
    assert "in brackets words said more often than by chance of most of them" in text
    assert text.endswith("Dimension 1: a and b (dry) against c, d and e (mild, soft).")


def test_no_axes_have_no_ends():
    assert say_ends("Axis", ITEMS, np.empty((6, 0)), np.empty((6, 0)), None) == ""
