"""The findings of a report in short: its title, and what each section found in a sentence or two."""

from __future__ import annotations

import numpy as np
import pandas as pd

from consilience.analysis.annotator_frames import MIN_ACCURACY
from consilience.analysis.group_names import tied_names
from consilience.analysis.names import join_names, join_some, name_text, quantify
from consilience.analysis.words import current_words
from consilience.inspection.report import (
    answer,
    best_cuts,
    certainty_sections,
    concept_sections,
    exact_group_sections,
    fusion_sections,
    item_tables,
    judge_tables,
    label_sections,
    participants,
    quality_sections,
    rating_sections,
    sensory_sections,
    separation_sections,
    tag_sections,
    view_sections,
)
from consilience.inspection.report.cluster_sections import items_in_clusters
from consilience.inspection.report.subject import Subject
from consilience.inspection.report.tables import percent

WEAKEST = 3


def default_title(subject: Subject) -> str:
    """Return the numbers of clusters or classes, of items and of annotators as a title."""
    words = current_words()
    clusters, annotations = subject.clusters, subject.annotations
    parts = quantify(len(clusters.names), clusters.noun, clusters.nouns)
    if subject.can.has_tags:
        tags = quantify(len(subject.estimator.tags_), "tag")
        return f"{words.n_items(annotations.n_items)} with {tags} by {words.n_annotators(annotations.n_annotators)}"
    items, annotators = words.n_items(annotations.n_items), words.n_annotators(annotations.n_annotators)
    return f"{items} in {parts} by {annotators}" if clusters.is_named else f"{parts} of {items} by {annotators}"


def key_findings(subject: Subject) -> list[str]:
    """Return the main results in a few sentences."""
    if subject.can.has_tags:
        findings = [*tag_sections.in_short(subject), *subject.told(subject.can.notes)]
    elif subject.clusters.is_named:
        findings = [
            *label_sections.copies_in_short(subject),
            label_sections.sizes_in_short(subject),
            *rating_sections.in_short(subject),
            *quality_sections.in_short(subject),
            *(certainty_sections.in_short(subject) if subject.certainty else []),
            *label_sections.certainty_in_short(subject),
            label_sections.annotators_in_short(subject),
            *subject.told(subject.can.notes),
        ]
    else:
        findings = _clusters_in_short(subject)
    findings += certainty_sections.none_in_short(subject)
    findings += filter(None, [participants.left_out_sentence(subject.left_out)])
    estimator = subject.estimator
    if subject.can.converged is False:
        findings.append(f"The fit did not converge in {estimator.n_iter_} sweeps: raise max_iter.")
    return findings


def _clusters_in_short(subject: Subject) -> list[str]:
    words = current_words()
    findings = [_sizes_in_short(subject.clusters.sizes), *_names_in_short(subject)]
    findings += [*best_cuts.in_short(subject), *best_cuts.other_division_in_short(subject)]
    findings += separation_sections.left_over_in_short(subject)
    many = participants.are_many_at_chance(subject)
    findings += participants.chance_in_short(subject) if many else []
    if subject.certainty:
        findings += certainty_sections.in_short(subject)
        findings += separation_sections.in_short(subject)
    elif "probability" in subject.items:
        sure = (items_in_clusters(subject)["probability"] >= item_tables.SURE).to_numpy()
        findings.append(
            f"{percent(sure.mean())} of the {words.items} ({sure.sum():,} of {len(sure):,}) belong to their cluster "
            f"with a probability of at least {item_tables.SURE:g}."
        )
    if subject.can.maps_groups:
        findings += [_annotators_in_short(subject.annotators), *subject.told(subject.can.notes)]
    if subject.can.has_views:
        findings += view_sections.in_short(subject)
    if subject.is_judged:
        findings += [*judge_tables.in_short(subject), *subject.told(subject.can.notes)]
    findings += fusion_sections.in_short(subject) if subject.can.fuses else []
    findings += [] if many else participants.chance_in_short(subject)
    findings += [*sensory_sections.segments_in_short(subject), *exact_group_sections.same_sorts_in_short(subject)]
    findings += certainty_sections.places_in_short(subject)
    return [*findings, *concept_sections.in_short(subject)]


def _sizes_in_short(sizes: np.ndarray) -> str:
    words = current_words()
    text = f"{quantify(len(sizes), 'cluster')} of {sizes.min():,} to {sizes.max():,} {words.items}."
    if sizes.min() == sizes.max():
        text = (
            f"{quantify(len(sizes), 'cluster')} of {words.n_items(int(sizes[0]))}{' each' if len(sizes) > 1 else ''}."
        )
    small = sizes[sizes < 0.01 * sizes.sum()]
    if len(small):
        hold = "hold" if len(small) > 1 else "holds"
        text += f" {len(small)} of them {hold} less than 1% of the {words.items} each, {small.sum():,} in all."
    return text


def _names_in_short(subject: Subject) -> list[str]:
    """Return what the clusters are called, and on how many people each name rests."""
    words, clusters = current_words(), subject.clusters
    named = list(filter(None, clusters.called))
    if not named:
        return []
    chosen = pd.MultiIndex.from_tuples([(code, name) for code, name in enumerate(clusters.called) if name])
    counts = subject.names.groupby(["cluster", "name"])["n_annotators"].max().reindex(chosen)
    few, most = int(counts.min()), int(counts.max())
    of = f"{few:,}" if few == most else f"{few:,} to {most:,}"
    who = subject.of_namers or f" of {words.n_annotators(subject.annotations.n_annotators)}"
    rest = f"each is the name that {of}{who} use"
    tied = [" or ".join(names[: answer.TIED]) for names in tied_names(subject.names, list(clusters.called)) if names]
    return [
        f"What {words.annotators} call them: {join_some(tied)}; {rest}. Synonyms and translations are counted apart, "
        "but for names of nearly the same groups, most spellings and plurals: see “Standard names”."
    ]


def _annotators_in_short(frame: pd.DataFrame) -> str:
    words = current_words()
    weak = frame[frame["accuracy"] < MIN_ACCURACY][::-1]
    good = int((frame["accuracy"] >= MIN_ACCURACY).sum())
    share = f"{MIN_ACCURACY:.0%}"
    text = f"The clusters predict at least {share} of the labels of {good:,} of {words.n_annotators(len(frame))}"
    if weak.empty:
        return text + "."
    worst = [f"{name_text(name)} ({percent(accuracy)})" for name, accuracy in weak["accuracy"].head(WEAKEST).items()]
    return f"{text}; the worst are {join_names(worst)}."
