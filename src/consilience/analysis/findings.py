"""What a fitted model and what people said tell together, each thing computed once and when it is asked for.

The terminal, summary.json, the report and the dashboard only write it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any, cast

import numpy as np
import pandas as pd
from jaxtyping import Int

from consilience.analysis.annotator_frames import (
    AT_CHANCE,
    NO_BETTER_THAN_GUESSING,
    SORTED_AT_RANDOM,
    frame_of_fusion,
    frame_of_judges,
    frame_of_labels,
    frame_of_mapping,
    frame_of_tags,
)
from consilience.analysis.bridging import bridging_on_axes
from consilience.analysis.capabilities import Capabilities, attributes
from consilience.analysis.certainty import Certainty, certainty_of_report
from consilience.analysis.certainty_moves import Moves
from consilience.analysis.clustering import FoundClusters
from consilience.analysis.cohesion import cluster_cohesion
from consilience.analysis.cut_figures import CutFigures, OwnClusters, compared_cuts
from consilience.analysis.dissimilarity import CoOccurrence
from consilience.analysis.durations import durations_of
from consilience.analysis.exact_groups import WholeSorts
from consilience.analysis.facts import facts_of
from consilience.analysis.findings_text import as_lines
from consilience.analysis.fitted import given_or_kept, groupings_of, raw_features, unwrap
from consilience.analysis.group_names import AT_LEAST, cluster_names, count_makers
from consilience.analysis.group_words import GroupWords
from consilience.analysis.item_frame import item_frame
from consilience.analysis.item_places import count_places
from consilience.analysis.label_quality import LabelQuality, label_quality
from consilience.analysis.name_corrections import corrections_of
from consilience.analysis.names import as_text
from consilience.analysis.panels import axes_of, segments_of, separation_of, words_of
from consilience.analysis.random_sorters import are_at_chance, random_sorters
from consilience.analysis.reliability import reliability_of
from consilience.analysis.segments import PanelSegments
from consilience.analysis.separation import Separation
from consilience.analysis.standardisation import StandardNames, standard_names
from consilience.analysis.votes import item_votes
from consilience.analysis.words import DEFAULT, Words, read_as, use_words
from consilience.annotations import Groupings, Labels, Pairs
from consilience.annotations.name_lists import list_names
from consilience.annotations.names import MISSING, plain
from consilience.annotations.types import AnnotationsLike, FeaturesLike, Literal, Names
from consilience.errors import InputError
from consilience.estimators.first_screen import show_first_screen
from consilience.metrics.agreement import annotator_agreement
from consilience.metrics.reliability import Reliability

N_DRAWS = 100  # at most, of the certainty
OF_OTHERS = ("repeats", "stays", "elsewhere")  # columns of the certainty beside those of the model
MOST_COHERENT = 5000  # items of which all pairs are counted


@dataclass(frozen=True)
class Findings:
    """What a fitted model and what people said tell together; made by `findings`, and printed as the command prints it.

    With corrections of names, the groups of the annotations have their standard names, and `written` has those that
    people wrote.

    Attributes
    ----------
    model : fitted estimator, or a Pipeline that ends in one
    estimator : the fitted estimator itself
    annotations : Groupings, Labels or Pairs
        What people said, in the order of the fitted items.
    features : DataFrame or None
        Features of these items.
    certainty : Certainty or None
        What another group of people would repeat.
    words : Words
        What items and annotators are called.
    quality : LabelQuality or None
        What is known of labels that came with the items.
    corrections : dict or None
        Standard names of names that people wrote.
    written : Groupings or None
        The annotations with the names that people wrote, if some were corrected.
    left_out : tuple of names
        Annotators who were left out of the fit.
    seconds : Series or None
        How long people took.
    """

    model: Any
    estimator: Any
    annotations: Groupings | Labels | Pairs
    features: pd.DataFrame | None = None
    certainty: Certainty | None = None
    words: Words = DEFAULT
    quality: LabelQuality | None = None
    corrections: Any = None
    written: Groupings | None = None
    left_out: tuple[Any, ...] = ()
    seconds: pd.Series | None = None

    def __str__(self) -> str:
        return as_lines(self.facts)

    def _repr_html_(self) -> str:
        return show_first_screen(self) + f"<pre>{escape(str(self))}</pre>"

    @cached_property
    def facts(self) -> dict[str, Any]:
        """The results as plain values, as summary.json holds them."""
        return facts_of(self)

    @cached_property
    def can(self) -> Capabilities:
        """See `Capabilities`."""
        return Capabilities.of(self.estimator)

    @property
    def is_judged(self) -> bool:
        """Whether the model rates annotators, but does not model the meaning of their groups or labels."""
        plain = not (self.can.fuses or self.can.maps_groups or self.can.names_classes)
        return plain and self.can.rates_annotators

    @property
    def groups(self) -> bool:
        """Whether annotators put items into groups instead of judging pairs one by one."""
        return not isinstance(self.annotations, Pairs)

    @property
    def are_grouped(self) -> bool:
        """Whether annotators put items into groups of their own, and the model finds clusters."""
        return isinstance(self.annotations, Groupings) and not self.clusters.is_named

    @cached_property
    def groupings(self) -> Groupings:
        """The annotations as groupings, without regard to the names of groups; not for judgements of pairs."""
        if isinstance(self.annotations, Pairs):
            raise TypeError("Judgements of pairs are not groupings.")
        return groupings_of(self.annotations)

    @cached_property
    def _numbered(self) -> FoundClusters:
        """The clusters before people's names for them."""
        return FoundClusters.of(self.estimator, can=self.can)

    @cached_property
    def clusters(self) -> FoundClusters:
        """See `FoundClusters`."""
        if self._numbered.is_named:
            return self._numbered
        if isinstance(self.annotations, Pairs):
            return self._numbered.as_called(self.annotations)
        return self._numbered.as_called(self.groupings, self.names)

    @cached_property
    def items(self) -> pd.DataFrame:
        """See `item_frame`."""
        frame = item_frame(self.estimator, self.annotations, self.can)
        if self.certainty is None:
            return frame
        return frame.assign(**{name: self.certainty.items[name].to_numpy() for name in OF_OTHERS})

    @cached_property
    def agreement(self) -> pd.DataFrame:
        """See `annotator_agreement`."""
        return annotator_agreement(self.groupings)

    @cached_property
    def reliability(self) -> dict[str, Reliability]:
        """See `reliability_of`; nothing for judgements of pairs."""
        if self.can.has_tags:
            return {}  # measures of agreement take one label of an annotator for an item
        if isinstance(self.annotations, Labels) and self.can.names_classes:
            return reliability_of(self.annotations)
        return reliability_of(self.groupings) if self.groups else {}

    @cached_property
    def annotators(self) -> pd.DataFrame:
        """Figures of every annotator with remarks, and how long they took if that is known."""
        with use_words(self.words):  # of the remarks
            frame = self._remarked
        return frame if self.seconds is None else frame.assign(seconds=self.seconds.reindex(frame.index).to_numpy())

    @property
    def _remarked(self) -> pd.DataFrame:
        """The figures of annotators for this kind of model; see `annotator_frames`."""
        if self.can.has_tags:
            return frame_of_tags(self.estimator)
        if self.can.names_classes:
            return frame_of_labels(self.estimator, cast(Labels, self.annotations))
        if self.is_judged:
            return frame_of_judges(self.estimator)
        found = self.random_sorters
        if self.can.fuses:
            tested = None if found is None else found["tested"]
            frame = frame_of_fusion(self.estimator, self.groupings, self.agreement, tested)
        else:
            frame = frame_of_mapping(self.estimator, self.groupings, self.agreement)
        if found is None:
            return frame
        random = found["random"].reindex(frame.index).to_numpy(dtype=bool)
        chance = are_at_chance(found).reindex(frame.index).to_numpy(dtype=bool)
        said = (frame["remark"] == NO_BETTER_THAN_GUESSING).to_numpy(dtype=bool)
        remark = np.select([said, random, chance], [frame["remark"], SORTED_AT_RANDOM, AT_CHANCE], frame["remark"])
        return frame.assign(remark=remark)

    @cached_property
    def random_sorters(self) -> pd.DataFrame | None:
        """See `random_sorters`; None for labels of classes and judgements of pairs."""
        return random_sorters(self.groupings) if self.groups and not self.can.names_classes else None

    def told(self, sentences: Iterable[str]) -> list[str]:
        """Return sentences of the model in the reader's words; names of items and annotators stay as they are."""
        names = [as_text(name) for name in (*self.annotations.annotators, *self.annotations.items)]
        return [self.words.told(sentence, names) for sentence in sentences]

    @cached_property
    def standard_names(self) -> StandardNames | None:
        """See `standardisation.standard_names`; None for judgements of pairs, which have no names."""
        if isinstance(self.annotations, Pairs):
            return None
        return standard_names(self.as_written, self.corrections)

    @property
    def as_written(self) -> Groupings | Labels | Pairs:
        """The annotations with the names of groups as people wrote them."""
        return self.annotations if self.written is None else self.written

    @cached_property
    def names(self) -> pd.DataFrame:
        """See `group_names.cluster_names`."""
        return self._names_of(self._numbered.codes, len(self._numbered.index))

    def _names_of(self, codes: Int[np.ndarray, " items"], n_clusters: int) -> pd.DataFrame:
        standard = self.standard_names if isinstance(self.annotations, Groupings) else None
        return cluster_names(self._written_groupings, codes, n_clusters, above_half=True, standard=standard)

    def name_of(self, places: Int[np.ndarray, " some"]) -> str:
        """Say in brackets what people call a group of items at these places; nothing unless two of them call it so."""
        codes = np.full(self.annotations.n_items, MISSING)
        codes[places] = 0
        names = self._names_of(codes, 1)
        if names.empty or names["n_annotators"].iloc[0] < AT_LEAST:
            return ""
        return f" (called {names['name'].iloc[0]} by {names['n_annotators'].iloc[0]:,}{self.of_namers})"

    @property
    def of_namers(self) -> str:
        """Say after a number of annotators how many gave names at all; nothing if all did."""
        few = 0 < self.n_namers < self.annotations.n_annotators
        return f" of the {self.words.n_annotators(self.n_namers)} who gave names" if few else ""

    @cached_property
    def moves(self) -> Moves:
        """See `Moves`; only if there is a certainty."""
        return Moves.of(cast(Certainty, self.certainty).draws, self.clusters)

    @cached_property
    def makers(self) -> pd.DataFrame:
        """See `group_names.count_makers`."""
        return count_makers(self._written_groupings, self._numbered.codes, len(self._numbered.index))

    @cached_property
    def whole_sorts(self) -> WholeSorts | None:
        """See `WholeSorts`; None unless people put items into groups of their own, or of very many items."""
        if not self.are_grouped or self.annotations.n_items > MOST_COHERENT:
            return None
        return WholeSorts.of(cast(Groupings, self.annotations))

    @cached_property
    def places(self) -> pd.DataFrame | None:
        """See `count_places`; None unless people put the items into groups of their own, each person once."""
        sorts, clusters = self.annotations, self.clusters
        if self.whole_sorts is None or not isinstance(sorts, Groupings) or sorts.n_groupings != sorts.n_annotators:
            return None
        return count_places(sorts, clusters.codes, len(clusters.index))

    @cached_property
    def n_namers(self) -> int:
        """How many annotators gave a group of theirs a name, and not only a number."""
        standard, groupings = self.standard_names, self.as_written
        if standard is None or not isinstance(groupings, Groupings):
            return 0
        return len(np.unique(groupings.annotator_of_group[standard.code_of_group >= 0]))

    @property
    def _written_groupings(self) -> Groupings:
        return self.as_written if isinstance(self.as_written, Groupings) else self.groupings

    @cached_property
    def known(self) -> frozenset[int]:
        """Places of the items whose class was known before the fit."""
        name = "_known" if self.can.has_tags else "_gold"
        known = attributes(self.estimator, [name]).get(name, np.empty(0)).T  # a row for each tag
        return frozenset(np.flatnonzero((np.atleast_2d(known) >= 0).any(0)).tolist())

    @cached_property
    def group_words(self) -> GroupWords | None:
        """See `panels.words_of`."""
        return words_of(self.annotations)

    @cached_property
    def axes(self) -> pd.DataFrame | None:
        """See `panels.axes_of`."""
        return axes_of(self.annotations, self.clusters)

    @cached_property
    def bridging(self) -> pd.Series | None:
        """See `bridging_values`; None if no item that has a cluster is in a grouping."""
        return None if self.co_occurrence is None else bridging_on_axes(self.co_occurrence, self.axes)

    @cached_property
    def separation(self) -> Separation | None:
        """See `panels.separation_of`."""
        return separation_of(self.estimator, self.annotations, self.clusters)

    @cached_property
    def co_occurrence(self) -> CoOccurrence | None:
        """Which items were put together; None if no item that has a cluster is in a grouping."""
        is_kept = self.can.fuses and self.written is None  # else groups have other names than in the model
        try:
            return CoOccurrence.of(self.model, None if is_kept else self.annotations, "The report", self.clusters)
        except InputError:
            return None

    @cached_property
    def cohesion(self) -> pd.DataFrame | None:
        """See `cluster_cohesion`; None for named classes and judgements of pairs."""
        if not self.are_grouped or self.annotations.n_items > MOST_COHERENT:
            return None
        return cluster_cohesion(self.annotations, self.clusters.codes)

    @cached_property
    def cuts(self) -> tuple[CutFigures, OwnClusters] | None:
        """See `compared_cuts`; None for named classes, and unless people put items into groups of their own."""
        if not self.are_grouped or self.co_occurrence is None:
            return None
        return compared_cuts(self.co_occurrence, self.clusters, self.moves.splits if self.certainty else ())

    @cached_property
    def segments(self) -> PanelSegments | None:
        """See `panels.segments_of`."""
        return segments_of(self.annotations, self.clusters)

    @cached_property
    def votes(self) -> pd.DataFrame | None:
        """See `item_votes`; None unless the model finds classes of labels, and for tags."""
        if self.can.has_tags or not self.can.names_classes or not isinstance(self.annotations, Labels):
            return None
        return item_votes(self.model, self.annotations)


def findings(
    model: Any,
    annotations: AnnotationsLike | None = None,
    X: FeaturesLike | None = None,
    *,
    certainty: Certainty | Literal["auto"] | None = "auto",
    given_labels: Any = None,
    words: Words | str | None = None,
    names: Any = None,
    left_out: Names = (),
    seconds: Any = None,
) -> Findings:
    """Gather what a fitted model and what people said tell together; printed, it is what ``consilience fit`` prints.

    Parameters
    ----------
    model : fitted estimator, or a Pipeline that ends in one
    annotations : Groupings, Labels, Pairs or array, optional
        The annotations that were passed to `fit`. SubsetFusion keeps them; other models need them here.
    X : DataFrame or array, shape (n_items, n_features), optional
        The features that were passed to `fit`, or any if it took none.
    certainty : Certainty, "auto" or None, default="auto"
        What another group of people would repeat. "auto": 100 draws, fewer if the annotations are large, for models
        whose people can be weighed.
    given_labels : Series or dict of labels by item, array of one for each item, or LabelQuality, optional
        Labels that came with the items, to be checked by those of the annotators.
    words : str or Words, optional
        What items and annotators are called, such as ``"cards,participants"``; see `Words.of`.
    names : dict or Series from names to standard names, or DataFrame with columns name and standard, optional
        Corrections of the standard names of groups, see `standard_names`.
    left_out : iterable of names, optional
        Annotators who were left out of the fit, as by `Annotations.leave_out`.
    seconds : dict or Series of seconds by annotator, optional
        How long each annotator took.

    Returns
    -------
    Findings
        For `consilience.inspection.report`, too. Its `facts` are plain values, as in summary.json.

    Raises
    ------
    InputError
        The annotations are missing; annotations, certainty or features do not fit the model; the words are not two
        plurals; the corrections of names do not fit the groups; or somebody who has seconds is no annotator.
    sklearn.exceptions.NotFittedError
        The model was not fitted.

    Examples
    --------
    >>> from consilience.analysis import findings
    >>> from consilience.consensus import MajorityVote
    >>> labels = [["cat", "cat", "cat"], ["dog", "cat", "dog"], ["dog", "dog", "dog"]]
    >>> found = findings(MajorityVote().fit(labels), labels, certainty=None)
    >>> print(found)  # doctest: +ELLIPSIS
    3 items in 2 classes by 3 annotators
      cat 1   33.3%  named by 100% of labels
      dog 2   66.7%  named by 83% of labels
    ...
    >>> found.facts["n_classes"], found.clusters.titles
    (2, ['cat', 'dog'])
    """
    return gather(
        model,
        annotations,
        X,
        certainty=certainty,
        given_labels=given_labels,
        words=words,
        names=names,
        left_out=left_out,
        seconds=seconds,
        function="findings",
    )


def gather(
    model: Any,
    annotations: Any,
    X: Any = None,
    *,
    certainty: Any = "auto",
    given_labels: Any = None,
    words: Words | str | None = None,
    names: Any = None,
    left_out: Any = (),
    seconds: Any = None,
    function: str,
) -> Findings:
    """See `findings`; `function` is the one that messages are about."""
    estimator = unwrap(model)
    given = given_or_kept(model, annotations, function)
    features = None if X is None else raw_features(model, X)
    quality = given_labels
    if quality is not None and not isinstance(quality, LabelQuality):
        quality = label_quality(model, given, given_labels)
    used = Words.of(words, read_as(given))
    sure = _certainty(model, given, features, certainty, function)
    missing = tuple(list_names(left_out, "left_out"))
    there = [name for name in missing if name in given.annotators]
    if there:
        raise InputError(f"The annotator {plain(there[0])!r} is said to be left out, but has annotations here.")
    corrections = corrections_of(names)
    if names is not None and isinstance(given, Pairs):
        raise InputError("Judgements of pairs have no groups whose names could be corrected; leave out 'names'.")
    written = given if corrections and isinstance(given, Groupings) else None
    if written is not None:
        given = standard_names(written, corrections).renamed(written)
    took = durations_of(given.annotators, seconds, missing)
    return Findings(model, estimator, given, features, sure, used, quality, corrections, written, missing, took)


def _certainty(model: Any, annotations: Any, features: Any, certainty: Any, function: str) -> Certainty | None:
    """Return the certainty, which is computed if it is "auto"."""
    if isinstance(certainty, str) and certainty == "auto":
        return certainty_of_report(model, annotations, features, N_DRAWS)[0]
    if certainty is not None and not isinstance(certainty, Certainty):
        raise InputError(
            f"The 'certainty' parameter of {function} must be 'auto', None or what consilience.inspection.certainty "
            f"returned. Got {certainty!r} instead."
        )
    if certainty is not None and not certainty.items.index.equals(unwrap(model).items_):
        raise InputError(f"The certainty given to {function} is of other items than the model.")
    return certainty
