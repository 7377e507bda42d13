"""The short form of a report, at most two printed pages to hand on: the answer, its picture, and who took part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from consilience.analysis.words import current_words
from consilience.annotations import Labels, Pairs
from consilience.inspection.report import compromise_sections
from consilience.inspection.report.certainty_sections import places_in_short
from consilience.inspection.report.exact_group_sections import same_sorts_in_short
from consilience.inspection.report.fusion_sections import MOST_LEAVES
from consilience.inspection.report.participants import at_chance
from consilience.inspection.report.sections import sections
from consilience.inspection.report.sensory_sections import segments_in_short
from consilience.inspection.report.subject import Block, Figure, Section, Subject
from consilience.inspection.report.tables import ReportTable

RATED = frozenset({"ratings-table", "pattern-figure"})  # what is in it of the ratings


def short_sections(subject: Subject) -> list[Section]:
    """Return the clusters with their lists and the picture, and the section of the ratings, if there are any."""
    first, *others = islice(sections(subject), 3 if subject.ratings is not None else 2)
    others += filter(None, [compromise_sections.section(subject)])
    picture = choose_picture(subject, [first, *others])
    blocks: list[Block] = [block for block in first.blocks if block.kind == "lists"]
    blocks += [] if picture is None else [replace(picture, still=False, download=None)]
    rated = [_shorten(section) for section in others if section.key == "ratings"]
    return [replace(first, sentences=[], blocks=blocks), *rated]


def _shorten(section: Section) -> Section:
    """Return a section of ratings with what is in the short form, where no file can be saved."""
    kept = [block for block in section.blocks if isinstance(block, Figure | ReportTable) and block.id in RATED]
    return replace(section, blocks=[replace(block, download=None) for block in kept])


def ids_in_short(subject: Subject, drawn: Sequence[Section]) -> frozenset[str]:
    """Return the ids of the figures and tables of a page that its short form has, too."""
    picture = choose_picture(subject, drawn)
    return frozenset([*([] if picture is None else [picture.id]), *(RATED if subject.ratings is not None else ())])


def choose_picture(subject: Subject, drawn: Sequence[Section]) -> Figure | None:
    """Return the figure that stands for all: the compromise of a panel, the plane or map of items, or their tree."""
    figures = [block for section in drawn for block in section.blocks if isinstance(block, Figure)]
    is_tree = len(subject.items) <= MOST_LEAVES and not subject.is_concept_map
    order = ["dendrogram", "map"] if is_tree else ["map", "dendrogram"]
    of_clusters = [figure for figure in drawn[0].blocks if isinstance(figure, Figure)]
    wanted = [figure for key in ("compromise", *order) for figure in figures if figure.key == key]
    first = [figure for section in drawn[:2] for figure in section.blocks if isinstance(figure, Figure)]
    return next(iter([*of_clusters, *wanted, *first]), None)


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
    random = f" Of the {n_tested:,} who can be tested, {chance:,} cannot be told from chance." if chance else ""
    often = "each" if annotations.n_groupings == annotations.n_annotators else "at a time"
    said = f"{people}, who sorted {_range(n_items)} {words.items} each, into {_range(groups)} groups {often}.{random}"
    one_panel = subject.segments is None or subject.segments.n_segments < 2  # else it is among the cautions
    split = segments_in_short(subject) if one_panel else []
    return " ".join([said, *split, *same_sorts_in_short(subject), *places_in_short(subject)])


def _range(counts: np.ndarray) -> str:
    low, high = int(counts.min()), int(counts.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
