"""The clusters that a model found, and the words for them: clusters have numbers, classes have names."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int

from consilience.annotations.names import MISSING
from consilience.inspection.capabilities import Capabilities
from consilience.inspection.names import name_text


@dataclass(frozen=True)
class FoundClusters:
    """Cluster or class of each item, and how to name them.

    Attributes
    ----------
    codes : ndarray of int, shape (n_items,)
        Place of each item's cluster in `index`; -1 for items of no cluster.
    index : Index, shape (n_clusters,)
        Names of all clusters, including those without items.
    noun, nouns : "cluster" or "class", and the plural.
    column : name of the column of clusters in files.
    file : name of the file of the items.
    measure : name of the measure of certainty: "probability", or "share of votes".
    """

    codes: Int[np.ndarray, " items"]
    index: pd.Index
    noun: str
    nouns: str
    column: str
    file: str
    measure: str

    @classmethod
    def of(cls, estimator: Any) -> FoundClusters:
        """Read the clusters off a fitted estimator."""
        words = ("cluster", "clusters", "cluster", "clusters.csv")
        can = Capabilities.of(estimator)
        if can.names_classes:
            words = ("class", "classes", "label", "labels.csv")
        measure = "share of votes" if can.counts_votes else "probability"
        return cls(estimator._cluster_codes(), estimator._cluster_names(), *words, measure)

    @property
    def is_named(self) -> bool:
        """Whether they are classes, which have names."""
        return self.noun == "class"

    @cached_property
    def names(self) -> list[str]:
        """Names as text."""
        return [name_text(name) for name in self.index]

    @cached_property
    def titles(self) -> list[str]:
        """Names that can stand alone: "cluster 0", but "robin"."""
        return [text if isinstance(name, str) else f"{self.noun} {text}" for name, text in zip(self.index, self.names)]

    @cached_property
    def sizes(self) -> Int[np.ndarray, " clusters"]:
        """Number of items of each cluster."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.index))

    def names_of(self, codes: Int[np.ndarray, " items"]) -> pd.Index:
        """Return the names of the clusters of items; for items of none, -1 as a cluster's number, None as a class."""
        if (codes < 0).any():
            none = None if self.is_named else MISSING
            return pd.Index([self.index[code] if code >= 0 else none for code in codes.tolist()], dtype=object)
        return self.index.take(codes)
