"""Warnings to show before a result: nothing was found, or no more than chance; and suggestions of what to try next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
import pandas as pd

from consilience import registry
from consilience.analysis.chance import LEVEL, ChanceTest, chance_test
from consilience.analysis.clustering import FoundClusters
from consilience.analysis.names import shorten
from consilience.analysis.words import current_words
from consilience.annotations import Groupings, Labels, Pairs
from consilience.annotations.keywords import spell
from consilience.workflows.inputs import ModelInputs

FEW_LABELS = 3  # of an item: with fewer there is no majority among annotators who err
MATTERS = 0.02  # share of the items that have such a label most often: the class should not be empty
LONGEST = 40  # letters of a name


@dataclass(frozen=True)
class Verdict:
    """Warnings about a result.

    is_undecided : whether judgements of pairs, without features, did not separate any items or agree no more than
        chance.
    """

    warnings: list[str]
    is_undecided: bool


def verdict(model: Any, evidence: ModelInputs) -> Verdict:
    """Judge the result of a fitted model.

    model : fitted estimator
    evidence : what it was fitted to
    """
    answer, annotations, chosen = FoundClusters.of(model), evidence.annotations, _chosen_clusters(model)
    taken = registry.entry(type(model).__name__).kind == "semisupervised"
    test = chance_test(annotations, evidence.features if taken else None)
    warnings = [
        *_of_sizes(answer, evidence, chosen),
        *_of_chance(test, answer, evidence),
        *_of_classes(answer, annotations),
    ]
    alone = isinstance(annotations, Pairs) and evidence.features is None
    one = np.count_nonzero(answer.sizes) == 1 and chosen != 1
    return Verdict(warnings, alone and (one or (test is not None and test.at_chance)))


def _chosen_clusters(model: Any) -> Any:
    """Return the number of clusters that the user set, None if it was not set."""
    name = registry.entry(type(model).__name__).clusters
    value = None if name is None else getattr(model, name)
    return None if name is None or value == signature(type(model)).parameters[name].default else value


def _of_sizes(answer: FoundClusters, evidence: ModelInputs, chosen: Any) -> Iterator[str]:
    words = current_words()
    n_items, n_owners = int(answer.sizes.sum()), np.count_nonzero(answer.sizes)
    if n_items < 2:
        return
    if n_owners == 1 and chosen != 1:
        where = f"in one {answer.noun}"
        if answer.is_named:
            where += f", {shorten(answer.titles[int(answer.sizes.argmax())], LONGEST)}"
        yield (
            f"Undecided: all {n_items:,} {words.items} are {where}, so no {words.items} were separated. "
            f"{_remedy(answer, evidence)}"
        )
    if n_owners == n_items and not answer.is_named and chosen != n_items:
        yield (
            f"Undecided: each of the {n_items:,} {words.items} is a cluster of its own, so no {words.items} were "
            f"joined. Ask for fewer with {spell(clusters=...)}, or collect more about each {words.item}."
        )


def _remedy(answer: FoundClusters, evidence: ModelInputs) -> str:
    """Return what to try if all items are in one cluster or class."""
    words = current_words()
    if answer.is_named:
        return f"See who gave the other labels (annotators.csv), or try {spell(model='MajorityVote')}."
    if isinstance(evidence.annotations, Pairs):
        each = 2 * evidence.annotations.n_rows / max(len(evidence.annotations), 1)
        features = f", give features of the {words.items} ({spell(features=None)})"
        more = "" if evidence.features is not None else features
        return f"Collect more judgements (there are {each:.1f} per {words.item}){more}, or try {spell(clusters=...)}."
    shown = "'consilience compare' shows whether any number of clusters predicts the annotations"
    return f"Try {spell(clusters=...)}; {shown}."


def _of_classes(answer: FoundClusters, annotations: Any) -> Iterator[str]:
    """Warn about classes without items that would have some in a majority vote."""
    words = current_words()
    if not (answer.is_named and isinstance(annotations, Labels)) or np.count_nonzero(answer.sizes) == 1:
        return
    votes = np.zeros((annotations.n_items, annotations.n_classes))
    np.add.at(votes, (annotations.item, annotations.label), 1)
    ahead = (votes == votes.max(1, keepdims=True)) & (votes > 0)
    ahead &= ahead.sum(1, keepdims=True) == 1
    for name, n_ahead in zip(annotations.classes, ahead.sum(0).tolist()):
        place = answer.index.get_indexer(pd.Index([name]))[0]
        if n_ahead >= max(2, MATTERS * annotations.n_items) and place >= 0 and answer.sizes[place] == 0:
            yield (
                f"No {words.item} is in the class {shorten(str(name), LONGEST)}, which is the most frequent label of "
                f"{words.n_items(n_ahead)}. Compare with {spell(model='MajorityVote')}."
            )


def _of_chance(test: ChanceTest | None, answer: FoundClusters, evidence: ModelInputs) -> Iterator[str]:
    words = current_words()
    if test is None or not test.at_chance:
        return
    annotations, with_features = evidence.annotations, "features" in test.p_values
    whom = "with each other or with the features" if with_features else "with each other"
    what = {Groupings: "groupings", Labels: "labels", Pairs: "judgements"}[type(annotations)]
    yield (
        f"At chance: the {words.annotators} do not clearly agree {whom} more than random annotations would "
        f"(permutation test, p = {test.p_value:.3f}; {LEVEL:g} or less would be more than chance). Do not take these "
        f"{answer.nouns} for a finding. Collect more {what} of the same {words.items}, or look for mistakes in the "
        "file."
    )


def suggestions(model: Any, evidence: ModelInputs, judged: Verdict) -> list[str]:
    """Return suggestions of what to try next; none if there are warnings."""
    if judged.warnings:
        return []
    return [*_on_bounds(model), *_on_few_labels(model, evidence)]


def _on_bounds(model: Any) -> Iterator[str]:
    """Suggest a larger bound if as many clusters were found as it allows."""
    known = registry.entry(type(model).__name__)
    if not known.finds_clusters:
        return
    name = known.max_clusters or known.clusters
    bound = getattr(model, str(name))
    is_set = known.max_clusters is not None and known.clusters is not None and getattr(model, known.clusters) != "auto"
    if not is_set and isinstance(bound, int) and model.n_clusters_ == bound > 1:
        more = spell(settings={name: 2 * bound}) if known.max_clusters else spell(clusters=2 * bound)
        yield f"The model found as many clusters as it may ({bound}); {more} allows more."


def _on_few_labels(model: Any, evidence: ModelInputs) -> Iterator[str]:
    words = current_words()
    annotations = evidence.annotations
    if not isinstance(annotations, Labels) or type(model).__name__ == "MajorityVote":
        return
    each = np.bincount(annotations.item, minlength=annotations.n_items)
    middle = np.median(each[each > 0])
    if middle < FEW_LABELS:
        yield (
            f"Half of the {words.items} have {middle:.0f} or fewer labels, too few to tell who is right: see on which "
            f"{words.items} {spell(model='MajorityVote')} differs, and have these labelled again."
        )
