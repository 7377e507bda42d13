"""Who put two items together, and under which names."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Int

from consilience.analysis.standardisation import StandardNames
from consilience.annotations import Groupings
from consilience.annotations.fit_arguments import as_groupings
from consilience.annotations.names import plain
from consilience.errors import InputError

__all__ = ["who_put_together"]


def who_put_together(groupings: Any, item_a: Any, item_b: Any) -> pd.DataFrame:
    """Return who put two items together and who apart, and what they called the groups.

    Parameters
    ----------
    groupings : Groupings, Labels, or array of shape (n_items, n_annotators)
    item_a, item_b : names of two items

    Returns
    -------
    DataFrame
        A row for each grouping that holds both: ``annotator``, ``grouping``, whether they are ``together``, and the
        names ``group_a`` and ``group_b`` of the groups of the two items. Those who put them together come first.

    Raises
    ------
    InputError
        The annotations are Pairs, or an array of another shape; or the names are not those of two items.

    Examples
    --------
    >>> from consilience import Groupings
    >>> from consilience.inspection import who_put_together
    >>> sorts = Groupings.from_matrix([["pets", "cats"], ["pets", "wild"]], items=["cat", "lion"])
    >>> who_put_together(sorts, "cat", "lion")[["annotator", "together", "group_a", "group_b"]].values.tolist()
    [[0, True, 'pets', 'pets'], [1, False, 'cats', 'wild']]
    """
    annotations = as_groupings(groupings, None, "who_put_together")
    places = annotations.items.get_indexer(pd.Index([item_a, item_b], dtype=object))
    for name, place in zip((item_a, item_b), places.tolist(), strict=True):
        if place < 0:
            known = plain(annotations.items[0])
            raise InputError(f"who_put_together needs names of items, such as {known!r}. Got {name!r}.")
    if places[0] == places[1]:
        raise InputError(f"who_put_together needs two different items. Got {item_a!r} twice.")
    makers = PairMakers.of(annotations)
    chosen = makers.presented(*places.tolist())
    together = makers.together(*places.tolist())[chosen]
    groups = [[plain(annotations.group_names[group]) for group in makers.group[chosen, place]] for place in places]
    found = pd.DataFrame(
        {
            "annotator": annotations.annotators[annotations.annotator_of_grouping[chosen]],
            "grouping": [plain(annotations.grouping_names[grouping]) for grouping in chosen],
            "together": together,
            "group_a": pd.Series(groups[0], dtype=object),
            "group_b": pd.Series(groups[1], dtype=object),
        }
    )
    return found.sort_values("together", ascending=False, kind="stable", ignore_index=True)


@dataclass(frozen=True)
class PairMakers:
    """The groups of all groupings, in which pairs of items are looked up.

    group : of each item in each grouping, -1 where the item is not in it.
    """

    groupings: Groupings
    group: Int[np.ndarray, "groupings items"]

    @cached_property
    def _annotators(self) -> np.ndarray:
        """Their names, which are looked up for each pair."""
        return self.groupings.annotators.to_numpy(dtype=object)

    @classmethod
    def of(cls, groupings: Groupings) -> PairMakers:
        """Gather them."""
        group = np.full((groupings.n_groupings, groupings.n_items), -1)
        of_row = groupings.incidence.indices
        group[groupings.grouping_of_group[of_row], groupings.item_of_row] = of_row
        return cls(groupings, group)

    def presented(self, item_a: int, item_b: int) -> Int[np.ndarray, " presented"]:
        """Return the groupings that hold both items."""
        return np.flatnonzero((self.group[:, item_a] >= 0) & (self.group[:, item_b] >= 0))

    def together(self, item_a: int, item_b: int) -> Bool[np.ndarray, " groupings"]:
        """Whether each grouping has both items in one group."""
        return (self.group[:, item_a] == self.group[:, item_b]) & (self.group[:, item_a] >= 0)

    def people(self, item_a: int, item_b: int) -> list[Any]:
        """Return the names of the annotators who put both together, each once."""
        return self._owners(np.flatnonzero(self.together(item_a, item_b)))

    def people_apart(self, item_a: int, item_b: int) -> list[Any]:
        """Return the names of the annotators who put both apart, each once."""
        return self._owners(np.setdiff1d(self.presented(item_a, item_b), np.flatnonzero(self.together(item_a, item_b))))

    def _owners(self, groupings: Int[np.ndarray, " chosen"]) -> list[Any]:
        numbers = np.unique(self.groupings.annotator_of_grouping[groupings])
        return self._annotators[numbers].tolist()

    def names(self, item_a: int, item_b: int, standard: StandardNames) -> list[tuple[str, int]]:
        """Return the standard names of the groups that hold both, each with the number of these groups."""
        codes = standard.code_of_group[self.group[self.together(item_a, item_b), item_a]]
        counts = Counter(codes[codes >= 0].tolist())
        return [(str(standard.names[code]), count) for code, count in counts.most_common()]
