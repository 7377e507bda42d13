"""The clusters that a model found, and the words for them: classes have names, clusters numbers and what people say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int

from consilience.analysis.capabilities import Capabilities
from consilience.analysis.central_items import named_by_items
from consilience.analysis.group_names import chosen_names, cluster_names
from consilience.analysis.names import name_text, width
from consilience.annotations import Groupings, Labels, Pairs
from consilience.annotations.names import MISSING

LONGEST_IN_LINE = 24  # columns of a name that is not broken in a table


@dataclass(frozen=True)
class FoundClusters:
    """Cluster or class of each item, and how to name them.

    codes : place of each item's cluster in `index`; -1 for items of no cluster.
    index : names of all clusters, including those without items.
    noun, nouns : "cluster" or "class", and the plural.
    column : name of the column of clusters in files.
    file : name of the file of the items.
    measure : name of the measure of certainty: "probability", or "share of votes".
    called : what people call each cluster, "" where that is unknown; empty if it is unknown of all, and for classes.
    central : the most central items of each cluster, which name it for readers if people do not; empty if that is
        unknown.
    """

    codes: Int[np.ndarray, " items"]
    index: pd.Index
    noun: str
    nouns: str
    column: str
    file: str
    measure: str
    called: Sequence[str] = ()
    central: Sequence[str] = ()

    @classmethod
    def of(cls, estimator: Any, annotations: Any = None, can: Capabilities | None = None) -> FoundClusters:
        """Read the clusters off a fitted estimator, and what people call them off annotations of its items.

        can : capabilities of the estimator, if they are known.
        """
        words = ("cluster", "clusters", "cluster", "clusters.csv")
        can = Capabilities.of(estimator) if can is None else can
        if can.names_classes:
            words = ("class", "classes", "label", "labels.csv")
        measure = "share of votes" if can.counts_votes else "probability"
        found = cls(estimator._cluster_codes(), estimator._cluster_names(), *words, measure)
        if isinstance(annotations, Labels):
            annotations = annotations.to_groupings()
        is_theirs = isinstance(annotations, Groupings | Pairs) and annotations.items.equals(estimator.items_)
        return found.as_called(annotations) if is_theirs and not found.is_named else found

    def as_called(self, annotations: Groupings | Pairs, names: pd.DataFrame | None = None) -> FoundClusters:
        """Return the clusters as annotators call them, by what they said of the same items.

        names : `cluster_names` of these above half, if they were counted.
        """
        n = len(self.index)
        named = replace(self, central=named_by_items(annotations, self.codes, n))
        if isinstance(annotations, Pairs):
            return named
        if names is None:
            names = cluster_names(annotations, self.codes, n, above_half=True)
        chosen = chosen_names(names, n, annotations.n_annotators)
        return replace(named, called=chosen) if any(chosen) else named

    @property
    def is_named(self) -> bool:
        """Whether they are classes, which have names."""
        return self.noun == "class"

    @property
    def kind(self) -> str:
        """Kind of a column of clusters in a table: "number" if they have no names, "line" if these are short."""
        if not self.is_named and not self._named:
            return "number"
        return "line" if self._named and max(map(width, self.shown)) <= LONGEST_IN_LINE else "text"

    @cached_property
    def names(self) -> list[str]:
        """Names of classes, and numbers of clusters, as text."""
        return [name_text(name) for name in self.index]

    @cached_property
    def _named(self) -> list[str]:
        """What people call each cluster, or else its central items; "" where both are unknown, empty if of all."""
        called, central = (given or [""] * len(self.index) for given in (self.called, self.central))
        names = [name or items for name, items in zip(called, central, strict=True)]
        return names if any(names) else []

    @cached_property
    def shown(self) -> list[str]:
        """Names for readers: what people call a cluster, or its most central items, else as `names`."""
        return [name or code for name, code in zip(self._named or self.names, self.names, strict=True)]

    @cached_property
    def titles(self) -> list[str]:
        """Names that can stand alone: "cluster 0", but "Birds" and "robin"."""
        alone = [text if isinstance(name, str) else f"{self.noun} {text}" for name, text in zip(self.index, self.names)]
        return [name or text for name, text in zip(self._named or alone, alone, strict=True)]

    @cached_property
    def sizes(self) -> Int[np.ndarray, " clusters"]:
        """Number of items of each cluster."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.index))

    def called_of(self, codes: Int[np.ndarray, " items"]) -> list[str | None]:
        """Return what people call the clusters of items; None for items of none, and where it is unknown."""
        return [self.called[code] or None if code >= 0 else None for code in codes.tolist()]

    def names_of(self, codes: Int[np.ndarray, " items"]) -> pd.Index:
        """Return the names of the clusters of items; for items of none, -1 as a cluster's number, None as a class."""
        if (codes < 0).any():
            none = None if self.is_named else MISSING
            return pd.Index([self.index[code] if code >= 0 else none for code in codes.tolist()], dtype=object)
        return self.index.take(codes)
