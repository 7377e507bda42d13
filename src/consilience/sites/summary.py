"""What a site sends: which of its items it puts together, in a small JSON file that says what it discloses."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int

from consilience.atomic_files import replacing
from consilience.errors import InputError

FORMAT, VERSION = "consilience-site-summary", 1
KEYS = {"format", "version", "site", "discloses", "hashed_names", "min_group_size", "epsilon", "items", "groups"}
NO_GROUP = -1
LONGEST_NAME = 200


@dataclass(frozen=True)
class SiteSummary:
    """Groupings of a site's items, and nothing else of its data.

    Attributes
    ----------
    site : str
        Name of the site.
    items : tuple of str
        Names of the items, or keyed hashes of them, in alphabetical order.
    groups : ndarray of int, shape (n_items, n_groupings)
        Group of each item in each grouping, numbered from 0 in the order of the items; -1 for none.
    hashed_names : bool
        Whether `items` are keyed hashes.
    min_group_size : int
        No group had fewer items before noise was added.
    epsilon : float or None
        Parameter of the noise in `groups`; see `summarise_site`.
    """

    site: str
    items: tuple[str, ...]
    groups: Int[np.ndarray, "items groupings"]
    hashed_names: bool = False
    min_group_size: int = 1
    epsilon: float | None = None

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.items)

    def disclosures(self) -> list[str]:
        """Say in sentences what whoever reads the file learns.

        Returns
        -------
        list of str
        """
        names = f"The names of {self.n_items:,} items."
        if self.hashed_names:
            names = (
                f"Keyed hashes of the names of {self.n_items:,} items. Whoever has the key can find out whether a name "
                "that they know is among them; without the key, names stay unknown."
            )
        numbers = [int(column.max()) + 1 for column in self.groups.T]
        which = "its group" if len(numbers) == 1 else f"its group in each of {len(numbers)} groupings"
        of = " and ".join(f"{number:,}" for number in numbers)
        sizes = [np.bincount(column[column >= 0]) for column in self.groups.T]
        smallest = min(int(of_one[of_one > 0].min()) for of_one in sizes)
        said = [
            f"The name of the site, {self.site!r}.",
            names,
            f"Of each item {which}, among {of} groups; the smallest has {smallest:,} items.",
        ]
        alone = int((self.groups < 0).sum())
        if alone:
            said.append(f"In {alone:,} cases, that the site's clusterer put an item into no group.")
        if self.epsilon is not None:
            said.append(
                f"The groups hold noise: for each item, the file is at most exp({self.epsilon:g}) = "
                f"{math.exp(self.epsilon):.3g} times as probable under one group as under another. That protects "
                "the group of each item as the site found it; not that the item is at the site, nor the number of "
                "groups."
            )
        return [*said, "No features, no distances, no centres."]

    def as_json(self) -> dict[str, Any]:
        """Return the summary as JSON values.

        Returns
        -------
        dict
        """
        return {
            "format": FORMAT,
            "version": VERSION,
            "site": self.site,
            "discloses": self.disclosures(),
            "hashed_names": self.hashed_names,
            "min_group_size": self.min_group_size,
            "epsilon": self.epsilon,
            "items": list(self.items),
            "groups": self.groups.T.tolist(),
        }

    @classmethod
    def of_json(cls, values: Any) -> SiteSummary:
        """Return a summary from JSON values, checked.

        Parameters
        ----------
        values : dict
            As `as_json` gives it.

        Returns
        -------
        SiteSummary

        Raises
        ------
        InputError
            They are no summary of a site; the message says what is wrong.
        """
        if not isinstance(values, Mapping) or values.get("format") != FORMAT:
            raise InputError("This is no summary of a site, as 'summarise_site' makes them.")
        if values.get("version") != VERSION:
            raise InputError(
                f"The summary has version {values.get('version')!r}, and this version of consilience reads {VERSION}."
            )
        if set(values) != KEYS:
            odd = sorted(map(str, set(values) ^ KEYS))[0]
            raise InputError(f"The entry {odd!r} of the summary is {'unknown' if odd in values else 'missing'}.")
        if not isinstance(values["discloses"], list):
            raise InputError("'discloses' must be a list of sentences.")
        items = _names(values["items"])
        return cls(
            site=checked_site(values["site"]),
            items=items,
            groups=_groups(values["groups"], items),
            hashed_names=_of_type(values, "hashed_names", bool),
            min_group_size=_at_least_one(values["min_group_size"]),
            epsilon=None if values["epsilon"] is None else checked_epsilon(values["epsilon"]),
        )


def write_summary(summary: SiteSummary, path: str | PathLike[str]) -> None:
    """Write a summary as JSON, with what it discloses in words.

    Parameters
    ----------
    summary : SiteSummary
    path : path

    Raises
    ------
    OSError
        The file cannot be written.
    """
    with replacing(path) as file:
        file.write(json.dumps(summary.as_json(), ensure_ascii=False, separators=(",", ":")).encode() + b"\n")


def read_summary(path: str | PathLike[str]) -> SiteSummary:
    """Read the summary of a site.

    Parameters
    ----------
    path : path

    Returns
    -------
    SiteSummary

    Raises
    ------
    InputError
        It is no summary of a site; the message says what is wrong.
    OSError
        The file cannot be read.
    """
    held = Path(path).read_bytes()
    try:
        return SiteSummary.of_json(json.loads(held.decode("utf-8-sig")))
    except (ValueError, RecursionError) as error:
        why = str(error) if isinstance(error, InputError) else "This is no JSON text."
        raise InputError(f"{path}: {why}") from error


def checked_site(name: Any) -> str:
    """Return the name of a site. Raises InputError: it is no text, empty or too long."""
    if not (isinstance(name, str) and name.strip() and len(name) <= LONGEST_NAME and name.isprintable()):
        raise InputError(f"The name of a site must be a line of 1 to {LONGEST_NAME} characters. Got {_cut(name)}.")
    return name.strip()


def checked_epsilon(epsilon: Any) -> float:
    """Return the parameter of the noise. Raises InputError: it is not a positive number."""
    is_number = isinstance(epsilon, int | float) and not isinstance(epsilon, bool)
    if not (is_number and 0 < epsilon <= 100):
        raise InputError(f"'epsilon' must be a number above 0, at most 100, or None. Got {_cut(epsilon)}.")
    return float(epsilon)


def _names(values: Any) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(name, str) and name for name in values):
        raise InputError("'items' must be a list of names.")
    if len(values) < 2:
        raise InputError(f"A summary holds at least two items. Got {len(values)}.")
    seen: set[str] = set()
    for name in values:
        if name in seen:
            raise InputError(f"The item {_cut(name)} occurs twice.")
        seen.add(name)
    return tuple(values)


def _groups(values: Any, items: tuple[str, ...]) -> Int[np.ndarray, "items groupings"]:
    if not isinstance(values, list) or not values:
        raise InputError("'groups' must be a list of groupings.")
    for number, grouping in enumerate(values, 1):
        if not isinstance(grouping, list) or len(grouping) != len(items):
            raise InputError(f"Grouping {number} must be a list of {len(items):,} groups, one for each item.")
        for name, group in zip(items, grouping, strict=True):
            if type(group) is not int or not NO_GROUP <= group < len(items):
                raise InputError(
                    f"The group of the item {_cut(name)} in grouping {number} must be an integer from {NO_GROUP} to "
                    f"{len(items) - 1}. Got {_cut(group)}."
                )
        if max(grouping) == NO_GROUP:
            raise InputError(f"Grouping {number} puts no item into a group.")
    return np.array(values, dtype=np.intp).T


def _of_type(values: Mapping[str, Any], key: str, kind: type) -> Any:
    if not isinstance(values[key], kind):
        raise InputError(f"{key!r} must be true or false. Got {_cut(values[key])}.")
    return values[key]


def _at_least_one(value: Any) -> int:
    if type(value) is not int or value < 1:
        raise InputError(f"'min_group_size' must be a positive integer. Got {_cut(value)}.")
    return value


def _cut(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
