"""The subject of a report, and its parts: sections of sentences, tables and figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np
import pandas as pd
from markupsafe import Markup
from matplotlib.figure import Figure as MatplotlibFigure

from consilience.analysis.capabilities import Capabilities
from consilience.analysis.certainty import Certainty
from consilience.analysis.clustering import FoundClusters
from consilience.analysis.cohesion import cluster_cohesion
from consilience.analysis.cut_figures import CutFigures, Own, compared_cuts
from consilience.analysis.fitted import given_or_kept, groupings_of, raw_features, rows_of_items, unwrap
from consilience.analysis.group_names import cluster_names
from consilience.analysis.group_words import GroupWords
from consilience.analysis.item_frame import item_frame
from consilience.analysis.label_quality import LabelQuality, label_quality
from consilience.analysis.names import as_text
from consilience.analysis.panels import axes_of, segments_of, separation_of, words_of
from consilience.analysis.random_sorters import random_sorters
from consilience.analysis.segments import PanelSegments
from consilience.analysis.separation import Separation
from consilience.analysis.standardisation import StandardNames, standard_names
from consilience.analysis.words import DEFAULT, Words, read_as
from consilience.annotations import Groupings, Labels, Pairs
from consilience.inspection.pictures import Pictures, pictures_of
from consilience.inspection.plots.fusion import stability_rows
from consilience.inspection.report import fusion_tables, judge_tables, label_tables, mapping_tables
from consilience.inspection.report.album import Album
from consilience.inspection.report.explorer import Explorer
from consilience.inspection.report.svg import READABLE, inline_svg
from consilience.inspection.report.tables import Download, Table
from consilience.metrics.agreement import annotator_agreement

OF_OTHERS = ("repeats", "stays", "elsewhere")  # columns of the certainty beside those of the model
MOST_COHERENT = 5000  # items of which all pairs are counted


@dataclass(frozen=True)
class Figure:
    """A figure with its caption and the file of its numbers.

    `still` figures are shown on paper and without scripts only: the explorer of the section draws the same.
    """

    kind: ClassVar[str] = "figure"

    key: str
    drawing: Markup
    caption: str
    download: Download | None = None
    still: bool = False

    @classmethod
    def of(
        cls,
        key: str,
        sheet: MatplotlibFigure,
        description: str,
        caption: str,
        file: Download | None = None,
        *,
        readable: int = READABLE,
    ) -> Figure:
        """Draw a figure into the page; see `inline_svg`."""
        return cls(key, inline_svg(sheet, key, description, readable=readable), caption, file)


Block = Table | Figure | Explorer
"""A part of a section."""


@dataclass(frozen=True)
class Section:
    """A heading, sentences, then tables and figures."""

    key: str
    heading: str
    sentences: Sequence[str]
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Subject:
    """The subject of a report: a model and the data that it was fitted to, in the order of its items.

    With corrections of names, the groups of the annotations have their standard names, and `written` has those that
    people wrote.
    """

    model: Any
    estimator: Any
    annotations: Groupings | Labels | Pairs
    features: pd.DataFrame | None
    scores: pd.DataFrame | None
    stability: pd.DataFrame | None = None
    certainty: Certainty | None = None
    words: Words = DEFAULT
    quality: LabelQuality | None = None
    pictures: Pictures | None = None
    corrections: Any = None
    written: Groupings | None = None
    left_out: tuple[Any, ...] = ()
    seconds: pd.Series | None = None

    @classmethod
    def of(
        cls,
        model: Any,
        annotations: Any,
        X: Any,
        scores: Any,
        stability: Any = None,
        certainty: Certainty | None = None,
        words: Words | str | None = None,
        *,
        given_labels: Any = None,
        pictures: Any = None,
    ) -> Subject:
        """Bring annotations, features and scores into the order of the fitted items; for `words` see `Words.of`."""
        estimator = unwrap(model)
        if isinstance(scores, pd.Series):
            scores = scores.to_frame(0 if scores.name is None else scores.name)
        elif scores is not None and np.ndim(scores) == 1:
            scores = np.reshape(np.asarray(scores), (-1, 1))
        given = given_or_kept(model, annotations, "report")
        return cls(
            model=model,
            estimator=estimator,
            annotations=given,
            features=None if X is None else raw_features(model, X),
            scores=None if scores is None else rows_of_items(estimator, scores, "The table of scores"),
            stability=None if stability is None else stability_rows(stability),
            certainty=certainty,
            quality=None if given_labels is None else _quality(model, given, given_labels),
            pictures=None if pictures is None else pictures_of(estimator.items_, pictures),
            words=Words.of(words, read_as(given)),
        )

    @property
    def model_and_annotations(self) -> tuple[Any, Any]:
        """The model, and the annotations that plots need in addition: it has none, or others have the names."""
        is_kept = self.can.fuses and self.written is None
        return self.model, None if is_kept else self.annotations

    @cached_property
    def can(self) -> Capabilities:
        """See `Capabilities`."""
        return Capabilities.of(self.estimator)

    @cached_property
    def album(self) -> Album:
        """The pictures of the items that the page shows."""
        return Album(self.pictures)

    @property
    def is_judged(self) -> bool:
        """Whether the model rates annotators, but does not model the meaning of their groups or labels."""
        plain = not (self.can.fuses or self.can.maps_groups or self.can.names_classes)
        return plain and self.can.rates_annotators

    @property
    def groups(self) -> bool:
        """Whether annotators put items into groups instead of judging pairs one by one."""
        return not isinstance(self.annotations, Pairs)

    @cached_property
    def groupings(self) -> Groupings:
        """The annotations as groupings, without regard to the names of groups; not for judgements of pairs."""
        if isinstance(self.annotations, Pairs):
            raise TypeError("Judgements of pairs are not groupings.")
        return groupings_of(self.annotations)

    @cached_property
    def clusters(self) -> FoundClusters:
        """See `FoundClusters`."""
        return FoundClusters.of(self.estimator, self.annotations)

    @cached_property
    def items(self) -> pd.DataFrame:
        """See `item_frame`."""
        frame = item_frame(self.estimator, self.annotations)
        if self.certainty is None:
            return frame
        return frame.assign(**{name: self.certainty.items[name].to_numpy() for name in OF_OTHERS})

    @cached_property
    def agreement(self) -> pd.DataFrame:
        """See `annotator_agreement`."""
        return annotator_agreement(self.groupings)

    @cached_property
    def annotators(self) -> pd.DataFrame:
        """Figures of every annotator with remarks, and how long they took if that is known."""
        frame = self._remarked
        return frame if self.seconds is None else frame.assign(seconds=self.seconds.reindex(frame.index).to_numpy())

    @property
    def _remarked(self) -> pd.DataFrame:
        """The `annotator_frame` of the tables for this kind of model."""
        if self.can.names_classes:
            return label_tables.annotator_frame(self.estimator, cast(Labels, self.annotations))
        if self.is_judged:
            return judge_tables.annotator_frame(self.estimator)
        of_model = fusion_tables.annotator_frame if self.can.fuses else mapping_tables.annotator_frame
        frame = of_model(self.estimator, self.groupings, self.agreement)
        if self.random_sorters is None:
            return frame
        random = self.random_sorters["random"].reindex(frame.index).to_numpy(dtype=bool)
        said = (frame["remark"] == mapping_tables.NO_BETTER_THAN_GUESSING).to_numpy(dtype=bool)
        return frame.assign(remark=np.where(random & ~said, fusion_tables.NO_BETTER, frame["remark"]))

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
        return cluster_names(self.groupings, self.clusters.codes, len(self.clusters.index), above_half=True)

    @cached_property
    def group_words(self) -> GroupWords | None:
        """See `panels.words_of`."""
        return words_of(self.annotations)

    @cached_property
    def axes(self) -> pd.DataFrame | None:
        """See `panels.axes_of`."""
        return axes_of(self.annotations, self.clusters)

    @cached_property
    def separation(self) -> Separation | None:
        """See `panels.separation_of`."""
        return separation_of(self.estimator, self.annotations, self.clusters)

    @cached_property
    def cohesion(self) -> pd.DataFrame | None:
        """See `cluster_cohesion`; None for named classes and judgements of pairs."""
        if not isinstance(self.annotations, Groupings) or self.clusters.is_named:
            return None
        if self.annotations.n_items > MOST_COHERENT:
            return None
        return cluster_cohesion(self.annotations, self.clusters.codes)

    @cached_property
    def cuts(self) -> tuple[CutFigures, Own] | None:
        """See `compared_cuts`; None for named classes, and unless people put items into groups of their own."""
        if not isinstance(self.annotations, Groupings) or self.clusters.is_named:
            return None
        return compared_cuts(*self.model_and_annotations, self.clusters)

    @cached_property
    def segments(self) -> PanelSegments | None:
        """See `panels.segments_of`."""
        return segments_of(self.annotations, self.clusters)


def _quality(model: Any, annotations: Any, given: Any) -> LabelQuality:
    """Return what is known of given labels, which are judged unless they were before."""
    return given if isinstance(given, LabelQuality) else label_quality(model, annotations, given)
