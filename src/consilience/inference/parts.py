"""Items in parts: what the mathematics asks of them are sums, whether they are in memory, in files or on a cluster.

`Parts` is the interface: a sequence of parts, kept wherever they were made. `map` makes new parts, `results` brings the
results of a function here, and `total` adds them. A function is called with a part and with parameters that are sent to
all. In memory everything is one part, held as it is: `OnePart`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from jaxtyping import Bool

from consilience.inference.product_distributions import Expectation, LabelsOfItems, LogTable, Weights


class Parts(ABC):
    """One part for each partition, kept where they were made."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of partitions."""

    @abstractmethod
    def map(self, function: Callable[..., Any], *parameters: Any) -> Parts:
        """Make a new part of each, by ``function(part, *parameters)``, and keep them there."""

    @abstractmethod
    def results(self, function: Callable[..., Any], *parameters: Any) -> Iterator[Any]:
        """Yield ``function(part, *parameters)`` of each part, in their order."""

    @abstractmethod
    def total(self, function: Callable[..., Any], *parameters: Any) -> Any:
        """Return the sum of ``function(part, *parameters)`` over the parts; there is at least one."""

    @abstractmethod
    def forget(self) -> None:
        """Let go of parts that nothing needs any more."""


@dataclass(frozen=True)
class OnePart(Parts):
    """All items in memory."""

    held: Any

    def __len__(self) -> int:
        return 1

    def map(self, function: Callable[..., Any], *parameters: Any) -> OnePart:
        """Make a new part."""
        return OnePart(function(self.held, *parameters))

    def results(self, function: Callable[..., Any], *parameters: Any) -> Iterator[Any]:
        """Yield the result."""
        yield function(self.held, *parameters)

    def total(self, function: Callable[..., Any], *parameters: Any) -> Any:
        """Return the result."""
        return function(self.held, *parameters)

    def forget(self) -> None:
        """Do nothing: what nobody refers to is gone."""


@dataclass(frozen=True)
class Additive:
    """Base of frozen dataclasses that are added field by field."""

    def __add__(self, other: Any) -> Any:
        return type(self)(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))


def evenly_spaced(n_items: int, share: float, first: int = 0) -> Bool[np.ndarray, " items"]:
    """Which items of a part are in a sample of evenly spaced items; `first` is the number of the part's first item."""
    places = first + np.arange(n_items + 1)
    return np.diff(np.floor(places * share)) > 0


def sum_posteriors(labels: LabelsOfItems, log_weights: Weights, log_table: LogTable) -> Expectation:
    """E-step, summed over the items of a part."""
    return labels.expectation(log_weights, log_table)


@dataclass(frozen=True)
class LabelsInParts:
    """One-hot labels in parts, for the sweeps of a model: `LabelsOfItems`.

    parts : of `OneHotLabels`, or of what has the same E-step.
    """

    parts: Parts
    n_components: int

    def expectation(self, log_weights: Weights, log_table: LogTable) -> Expectation:
        """E-step under ln ω and ln μ, summed over the parts."""
        total: Expectation = self.parts.total(sum_posteriors, log_weights, log_table)
        return total
