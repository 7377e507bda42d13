"""Studies to begin with: made as drafts, whose cards, settings and texts are then replaced by one's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from consilience.collect.creation import demo
from consilience.collect.settings.model import Study, StudySettings
from consilience.collect.settings.panel import Completion, Panel, Question
from consilience.collect.settings.training import RightSort, Training
from consilience.collect.store import Store

FOOD = (
    *("apple", "banana", "bread", "butter", "carrot", "cheese", "cherry", "cod", "croissant", "cucumber"),
    *("lettuce", "milk", "onion", "pear", "rice", "roll", "salmon", "tomato", "trout", "yoghurt"),
)
INSTRUCTIONS = "Put cards that **belong together** into one group. There is no right or wrong."


def make_words(store: Store) -> Study:
    """Make an open sort of words."""
    settings = StudySettings(instructions=INSTRUCTIONS, group_names="optional")
    return store.create_study("Food: what belongs together?", FOOD, settings=settings)


def make_closed(store: Store) -> Study:
    """Make a closed sort."""
    settings = StudySettings(
        instructions="Put each card into the shelf where you would look for it.",
        categories=("Fruit and vegetables", "Bakery", "Dairy", "Fish", "Elsewhere"),
        strategy="random",
        stop_rule="none",
    )
    return store.create_study("Food: on which shelf?", FOOD, kind="closed", settings=settings)


def make_pictures(store: Store) -> Study:
    """Make a sort of pictures, of which each person is shown some."""
    return demo.make_draft(store, "Pictures: some for each person")


def make_panel(store: Store) -> Study:
    """Make a sort for people from a panel, with consent, a question, practice and a code at the end."""
    panel = Panel(
        consent="# About this study\n\nYou sort 20 cards, which takes about 10 minutes. "
        "You can stop at any time, and withdraw what you gave.",
        after=(Question("hard", "How hard was it?", "choice", options=("Easy", "Neither", "Hard")),),
        endings={"complete": Completion("CHANGE-ME")},
        identified_by="PROLIFIC_PID",
        returning="resume",
    )
    practice = RightSort.of_groups({"Animals": ["cat", "dog", "horse"], "Tools": ["hammer", "saw", "drill"]})
    settings = StudySettings(
        instructions=INSTRUCTIONS,
        parameters=("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"),
        panel=panel,
        training=Training(practice=practice),
    )
    return store.create_study("Food: with a panel", FOOD, settings=settings)


def make_labels(store: Store) -> Study:
    """Make a study in which people are asked for labels, with cards whose label is known mixed in."""
    known = {"Fruit": ["plum", "grape"], "Vegetable": ["leek", "cabbage"], "Neither": ["paper", "soap"]}
    settings = StudySettings(
        categories=("Fruit", "Vegetable", "Neither"),
        per_participant=2,
        training=Training(gold=(RightSort.of_groups(known),), gold_share=0.25),
    )
    return store.create_study("Food: fruit or vegetable?", FOOD, kind="labels", settings=settings)


def make_pairs(store: Store) -> Study:
    """Make a study in which people are asked about pairs."""
    settings = StudySettings(
        instructions="**Same**: you would look for both on the same shelf of a shop.",
        per_participant=2,
        stop_rule="none",
    )
    return store.create_study("Food: the same shelf?", FOOD, kind="pairs", settings=settings)


@dataclass(frozen=True)
class Template:
    """What a study can begin as: its title among the others, what it holds, and what makes it."""

    title: str
    holds: str
    make: Callable[[Store], Study]


TEMPLATES: Mapping[str, Template] = MappingProxyType(
    {
        "words": Template("Open sort of words", "20 foods, sorted into groups of people's own.", make_words),
        "closed": Template("Closed sort", "20 foods, sorted into 5 shelves of a shop.", make_closed),
        "labels": Template(
            "Labels, one card at a time",
            "20 foods, labelled with one of 3 classes; 6 cards whose label is known are mixed in.",
            make_labels,
        ),
        "pairs": Template("Same or different, two cards at a time", "20 foods, 10 pairs at a time.", make_pairs),
        "pictures": Template(
            "Pictures, some for each person",
            f"{demo.N_ITEMS} pictures of handwritten digits, of which each person sorts {demo.SIZE}.",
            make_pictures,
        ),
        "panel": Template(
            "Panel, with consent, practice and a code",
            "20 foods to sort, 6 cards to practise, a consent page, a question at the end, and a code to be changed.",
            make_panel,
        ),
    }
)
