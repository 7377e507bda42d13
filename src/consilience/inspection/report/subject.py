"""The subject of a report, and its parts: sections of sentences, tables and figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np
import pandas as pd
from jaxtyping import Int
from markupsafe import Markup
from matplotlib.figure import Figure as MatplotlibFigure

from consilience.analysis.compromise import (
    FEWEST_ANNOTATORS,
    FEWEST_ITEMS,
    CompromiseMap,
    PanelTables,
    map_tables,
    panel_tables,
)
from consilience.analysis.compromise_chance import PanelAgreement, compromise_axes, panel_agreement
from consilience.analysis.findings import Findings
from consilience.analysis.item_ratings import ItemRatings
from consilience.analysis.rv import fits
from consilience.analysis.votes import votes_for_class
from consilience.annotations import Groupings, Labels
from consilience.errors import InputError
from consilience.inspection.pictures import Pictures
from consilience.inspection.report.album import Album
from consilience.inspection.report.explorer import Explorer
from consilience.inspection.report.svg import READABLE, inline_svg
from consilience.inspection.report.tables import Download, ReportTable

FEWEST_AXES = 3  # of the compromise, even if fewer count
STATEMENTS = ("statement", "idea", "aussage", "énoncé")  # items of concept mapping


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

    @property
    def id(self) -> str:
        """Its id on the page."""
        return f"{self.key}-figure"

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
        named: Callable[[], str] | None = None,
    ) -> Figure:
        """Draw a figure into the page; see `inline_svg`.

        named : says which points have names, for the caption; called when the figure is drawn, since it decides that.
        """
        drawing = inline_svg(sheet, key, description, readable=readable)
        return cls(key, drawing, caption + (named() if named else ""), file)


@dataclass(frozen=True)
class ClusterList:
    """A cluster with its name, the next name, what is known of it, and its items, each with a remark.

    verdict : whether other people would find it again, "firm" or "open"; empty if that is unknown.
    """

    title: str
    other: str
    about: str
    items: tuple[tuple[str, str], ...]
    more: str
    mark: Markup
    verdict: str = ""


@dataclass(frozen=True)
class ClusterLists:
    """All clusters as named lists of their items."""

    kind: ClassVar[str] = "lists"

    clusters: Sequence[ClusterList]
    reading: str = ""


Block = ReportTable | Figure | Explorer | ClusterLists
"""A part of a section."""


@dataclass(frozen=True)
class Section:
    """A heading, sentences, then tables and figures.

    `folded` sections are about how the answer was computed, and are closed at first.
    """

    key: str
    heading: str
    sentences: Sequence[str]
    blocks: Sequence[Block]
    folded: bool = False


@dataclass(frozen=True)
class Subject(Findings):
    """The subject of a report: findings, and what only a page shows.

    scores : scores of the items that the model did not see.
    stability : how far clusters from fewer groupings agree with these.
    pictures : pictures of the items.
    ratings : ratings of the items on one or more scales.
    napping : where each annotator placed the items on a sheet.
    given_groups : names of the groups that everybody was given in a hybrid sort.
    """

    scores: pd.DataFrame | None = None
    stability: pd.DataFrame | None = None
    pictures: Pictures | None = None
    ratings: ItemRatings | None = None
    napping: pd.DataFrame | None = None
    given_groups: tuple[str, ...] = ()

    @classmethod
    def of(cls, found: Findings, **shown: Any) -> Subject:
        """Add to findings what a page shows; what was computed of them is not computed again."""
        made = cls(**{entry.name: vars(found)[entry.name] for entry in fields(found)}, **shown)
        vars(made).update(vars(found))
        return made

    @cached_property
    def panel_tables(self) -> PanelTables | None:
        """The tables of DISTATIS; None unless readers know it and two people sorted all items, or sheets are given.

        Raises InputError: there are sheets, but no groupings; or the sheets do not fit these.
        """
        if not isinstance(self.annotations, Groupings):
            if self.napping is not None:
                raise InputError("Places on sheets (napping) go with groupings, of the same items and annotators.")
            return None
        if self.napping is None and not (self.words.are_sensory and _can_compromise(self.annotations)):
            return None
        return panel_tables(self.annotations, self.napping)

    @cached_property
    def compromise(self) -> CompromiseMap | None:
        """The compromise of these tables, as many dimensions as count, which runs as the map of the items does."""
        if self.panel_tables is None:
            return None
        n_real = 0 if self.compromise_axes is None else int(self.compromise_axes["real"].sum())
        found, together = map_tables(self.panel_tables, max(n_real, FEWEST_AXES)), self.co_occurrence
        if together is None or len(together.places) < 2:
            return found
        points = together.map(together.places, found.scores.shape[1]).points
        return found.run_like(pd.DataFrame(points, together.items[together.places]))

    @cached_property
    def compromise_axes(self) -> pd.DataFrame | None:
        """The test of the axes of the compromise; None if it would take long."""
        return None if self.panel_tables is None else compromise_axes(self.panel_tables)

    @cached_property
    def panel_agreement(self) -> PanelAgreement | None:
        """How alike sheets and groups are, and the tables of two people."""
        return None if self.panel_tables is None else panel_agreement(self.panel_tables)

    @cached_property
    def told_without(self) -> dict[tuple[Any, ...], str]:
        """What is said of the clusters without some people, by these: each is fitted once."""
        return {}

    @cached_property
    def votes_for_class(self) -> Int[np.ndarray, " items"]:
        """How many labels of each item name its class."""
        return votes_for_class(cast(Labels, self.annotations), self.clusters.index, self.clusters.codes)

    @property
    def is_concept_map(self) -> bool:
        """Whether people grouped statements, or items that are rated."""
        has_groups = self.groups and not self.clusters.is_named
        return has_groups and (self.ratings is not None or self.words.item.casefold() in STATEMENTS)

    @cached_property
    def album(self) -> Album:
        """The pictures of the items that the page shows."""
        return Album(self.pictures)


def _can_compromise(groupings: Groupings) -> bool:
    """Whether at least two people sorted all of three items or more, and their matrices fit into memory."""
    whole = groupings.summary().items_per_annotator == groupings.n_items
    return fits(groupings) and groupings.n_items >= FEWEST_ITEMS and int(whole.sum()) >= FEWEST_ANNOTATORS
