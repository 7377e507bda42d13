"""Making a judging study: from the consensus of a study, from any clusters of its items, or from a table of cards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from consilience.collect.creation import cards
from consilience.collect.errors import NotOpenError
from consilience.collect.settings.model import JUDGING, Item, Picture, Study, StudySettings
from consilience.collect.settings.panel import Panel
from consilience.collect.store import Store
from consilience.collect.store.judging import USUAL_ANSWERS, USUAL_EACH, Cluster, usual_number
from consilience.errors import InputError


def judge_consensus(
    store: Store,
    study: Study,
    *,
    title: str = "",
    n_questions: int | None = None,
    settings: Mapping[str, Any] | None = None,
    clusters: Mapping[str, str] | None = None,
) -> Study:
    """Make a judging study, as a draft, from the consensus of a study as it was found last.

    Language, direction, texts, the stored parameters and how people are known again are those of the study. Its
    instructions, consent, questions and codes are not: they speak of another task.

    Raises NotOpenError: there is no consensus yet. Raises InputError: it is a judging study itself, an item is unknown,
    or the clusters or settings are not such that questions can be asked.

    title : by default that of the study, which judges see.
    n_questions : see `Store.create_judging`.
    settings : mapping, optional; settings by name that are not those of the study.
    clusters : the name of the cluster of each item, by the item's name, to be judged in place of the consensus. Items
        that are not in it are left out.
    """
    if study.kind == JUDGING:
        raise InputError("This is a study in which clusters are judged already; choose one in which people sort.")
    items = store.items(study.id)
    if clusters is None:
        found = _consensus_of(store, study)
    else:
        known = {item.name for item in items}
        unknown = next((name for name in clusters if name not in known), None)
        if unknown is not None:
            raise InputError(f"There is no item {unknown[:60]!r} in the study {study.title!r}.")
        found = _by_name(clusters.get(item.name, "") for item in items)
    chosen, judged = _without_others(items, found)
    usual = _usual_settings(judged, n_questions, _taken_over(study.settings))
    return store.create_judging(
        title or study.title,
        chosen,
        judged,
        n_questions=n_questions,
        settings=_settings(usual, settings),
        source=study.id,
    )


def judge_table(
    store: Store,
    title: str,
    table: str,
    files: Mapping[str, bytes] | None = None,
    *,
    n_questions: int | None = None,
    settings: Mapping[str, Any] | None = None,
) -> tuple[Study, tuple[str, ...]]:
    """Make a judging study, as a draft, from a table of cards with a column ``cluster``.

    Raises InputError: there is no such column, or something is wrong with the cards, the pictures, the clusters or the
    settings.

    table : as for `cards.read_cards`. Cards without a cluster are left out.
    files : pictures by their names.
    n_questions, settings : as for `judge_consensus`.

    Returns
    -------
    Study
    notes : tuple of str
        Sentences on what was not used.
    """
    read = cards.read_cards(table, clusters=True)
    if not any(card.cluster for card in read.cards):
        raise InputError(
            "No column of the table is called 'cluster', or it is empty; it says which cards belong together."
        )
    kept = [card for card in read.cards if card.cluster]
    items, pictures, notes = cards.items_of(replace(read, cards=kept), files or {})
    left_out = len(read.cards) - len(kept)
    if left_out:
        notes = (*notes, f"Cards without a cluster, which were left out: {left_out}.")
    names = [card.cluster for card in kept]
    study = judge_items(store, title, items, names, pictures=pictures, n_questions=n_questions, settings=settings)
    return study, notes


def judge_items(
    store: Store,
    title: str,
    items: Sequence[Item],
    names: Sequence[str],
    *,
    pictures: Sequence[Picture] = (),
    n_questions: int | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Study:
    """Make a judging study, as a draft, from items and the name of the cluster of each."""
    judged = _by_name(names)
    usual = _usual_settings(judged, n_questions, StudySettings())
    return store.create_judging(
        title, items, judged, n_questions=n_questions, settings=_settings(usual, settings), pictures=pictures
    )


def _consensus_of(store: Store, study: Study) -> list[Cluster]:
    """Return the clusters that were found last, or the categories of a closed sort that hold items."""
    found = store.consensus(study.id)
    if found is None:
        raise NotOpenError("There is no consensus yet. The server finds it within seconds after somebody handed in.")
    if study.gives_labels:
        members = [
            (name, tuple(place for place, label in enumerate(found["labels"]) if label == number))
            for number, name in enumerate(found["categories"])
        ]
        return [Cluster(name, items) for name, items in members if items]
    return [
        Cluster(_name_cluster(place, one["names"]), tuple(one["items"]))
        for place, one in enumerate(found["clusters"], 1)
    ]


def _name_cluster(place: int, names: Sequence[Mapping[str, Any]]) -> str:
    """Return what a cluster is called: its number, as on the page of the study, and what most people called it."""
    return f"Cluster {place}: {names[0]['name']}"[:100] if names else f"Cluster {place}"


def _by_name(names: Any) -> list[Cluster]:
    """Return the clusters that the name of each item's makes; items whose name is empty are in none."""
    members: dict[str, list[int]] = {}
    for item, name in enumerate(names):
        if name:
            members.setdefault(name, []).append(item)
    return [Cluster(name, tuple(items)) for name, items in members.items()]


def _without_others(items: Sequence[Item], clusters: Sequence[Cluster]) -> tuple[list[Item], list[Cluster]]:
    """Return the items that are in a cluster, numbered anew, and the clusters by these numbers."""
    kept = sorted(item for one in clusters for item in one.items if item < len(items))
    number = {item: place for place, item in enumerate(kept)}
    renumbered = [replace(one, items=tuple(number[item] for item in one.items if item in number)) for one in clusters]
    return [replace(items[item], number=place) for item, place in number.items()], renumbered


def _taken_over(settings: StudySettings) -> StudySettings:
    panel = settings.panel
    kept = ("identified_by", "returning", "minutes", "keep_days", "required_parameters")
    of_study = ("language", "languages", "direction", "texts", "texts_in", "translations", "parameters")
    taken: dict[str, Any] = {name: getattr(settings, name) for name in of_study}
    return StudySettings(**taken, panel=Panel(**{name: getattr(panel, name) for name in kept}))


def _usual_settings(clusters: Sequence[Cluster], n_questions: int | None, like: StudySettings) -> StudySettings:
    number = usual_number(clusters) if n_questions is None else n_questions
    each = min(USUAL_EACH, number) if isinstance(number, int) and number > 0 else USUAL_EACH
    return replace(like, per_participant=each, answers_wanted=USUAL_ANSWERS)


def _settings(usual: StudySettings, given: Mapping[str, Any] | None) -> StudySettings:
    return StudySettings.of_json(usual.as_json() | dict(given or {}))
