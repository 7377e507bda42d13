"""The short form of a report, at most two printed pages to hand on: the answer, its picture, and who took part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from consilience.analysis.words import current_words
from consilience.annotations import Labels, Pairs
from consilience.inspection.report import concept_sections
from consilience.inspection.report.fusion_sections import MOST_LEAVES
from consilience.inspection.report.participants import at_chance
from consilience.inspection.report.sections import sections
from consilience.inspection.report.subject import Block, Figure, Section, Subject


def short_sections(subject: Subject) -> list[Section]:
    """Return the section of the clusters with their lists and the picture, and what ratings found."""
    first, *others = islice(sections(subject), 2)
    picture = choose_picture(subject, [first, *others])
    blocks: list[Block] = [block for block in first.blocks if block.kind == "lists"]
    blocks += [] if picture is None else [replace(picture, still=False)]
    return [replace(first, sentences=concept_sections.in_short(subject), blocks=blocks)]


def choose_picture(subject: Subject, drawn: Sequence[Section]) -> Figure | None:
    """Return the figure that stands for all: the plane of the items, else their tree, or of many items their map."""
    figures = [block for section in drawn[:2] for block in section.blocks if isinstance(block, Figure)]
    order = ("dendrogram", "map") if len(subject.items) <= MOST_LEAVES else ("map", "dendrogram")
    of_clusters = [figure for figure in drawn[0].blocks if isinstance(figure, Figure)]
    wanted = [figure for key in order for figure in figures if figure.key == key]
    return next(iter([*of_clusters, *wanted, *figures]), None)


def say_who_took_part(subject: Subject) -> str:
    """Say how many people took part, and what each of them did."""
    words, annotations = current_words(), subject.annotations
    people = f"{words.n_annotators(annotations.n_annotators)} took part"
    if isinstance(annotations, Pairs):
        each = np.bincount(annotations.annotator, minlength=annotations.n_annotators)
        return f"{people}, who judged {_range(each)} pairs of {words.items} each."
    n_items = subject.groupings.summary().items_per_annotator.to_numpy()
    if isinstance(annotations, Labels):
        return f"{people}, who labelled {_range(n_items)} {words.items} each."
    groups = np.bincount(annotations.grouping_of_group, minlength=annotations.n_groupings)
    chance = len(at_chance(subject))
    found = subject.random_sorters
    n_tested = 0 if found is None else int(found["tested"].sum())
    random = f" Of the {n_tested:,} who can be tested, {chance:,} sorted no better than chance." if chance else ""
    often = "each" if annotations.n_groupings == annotations.n_annotators else "at a time"
    return f"{people}, who sorted {_range(n_items)} {words.items} each, into {_range(groups)} groups {often}.{random}"


def _range(counts: np.ndarray) -> str:
    low, high = int(counts.min()), int(counts.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
