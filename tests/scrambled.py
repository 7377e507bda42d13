"""The same annotations in another order and under other names, and where everything went."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from consilience import Groupings, Labels, Pairs
from consilience.annotations.memberships import incidence_of
from consilience.annotations.names import inverse

WHAT = ("items", "annotators", "groupings", "groups")


@dataclass(frozen=True)
class Scrambled:
    """Annotations, for each kind of thing the places where they were before, and the new name of each."""

    annotations: object
    places: dict[str, np.ndarray]
    now: dict[str, str]

    @property
    def items(self):
        return self.places["items"]


def scramble(annotations, rng, *, move=WHAT, rename=WHAT):
    """Move and rename items, annotators, groupings and groups."""
    sizes = {"items": annotations.n_items, "annotators": annotations.n_annotators}
    if isinstance(annotations, Groupings):
        sizes |= {"groupings": annotations.n_groupings, "groups": annotations.n_groups}
    places = {what: rng.permutation(n) if what in move else np.arange(n) for what, n in sizes.items()}
    if isinstance(annotations, Groupings):
        moved, places = _moved_groupings(annotations, places)
        return _scrambled(annotations, _renamed_groupings(moved, rename, rng), places)
    codes = {what: inverse(places[what], sizes[what]) for what in ("items", "annotators")}
    of_items = ("item",) if isinstance(annotations, Labels) else ("item_a", "item_b")
    moved = replace(
        annotations,
        items=_named(annotations.items.take(places["items"]), "items" in rename, rng),
        annotators=_named(annotations.annotators.take(places["annotators"]), "annotators" in rename, rng),
        annotator=codes["annotators"][annotations.annotator],
        **{name: codes["items"][getattr(annotations, name)] for name in of_items},
    )
    if isinstance(annotations, Pairs) and "groupings" in rename:
        moved = replace(moved, groupings=_named(annotations.groupings, True, rng))
    return _scrambled(annotations, moved.in_order(), places)


def _scrambled(before, now, places):
    names = {}
    for what in ("items", "annotators"):
        names |= dict(zip(getattr(before, what).take(places[what]), getattr(now, what), strict=True))
    return Scrambled(now, places, names)


def _moved_groupings(annotations, places):
    by, of_group = annotations.annotator_of_grouping, annotations.grouping_of_group
    groupings, groups = places["groupings"], places["groups"]
    groups = groups[np.argsort(inverse(groupings, len(groupings))[of_group[groups]], kind="stable")]
    now = {what: inverse(order, len(order)) for what, order in (places | {"groups": groups}).items()}
    rows = now["items"][annotations.item_of_row], now["groups"][annotations.incidence.indices]
    moved = replace(
        annotations,
        items=annotations.items.take(places["items"]),
        annotators=annotations.annotators.take(places["annotators"]),
        incidence=incidence_of(*rows, annotations.n_items, annotations.n_groups),
        annotator_of_grouping=now["annotators"][by[groupings]],
        grouping_of_group=now["groupings"][of_group[groups]],
        grouping_names=annotations.grouping_names[groupings],
        group_names=annotations.group_names[groups],
    )
    return moved, places | {"groups": groups}


def _renamed_groupings(annotations, rename, rng):
    changed = {
        what: _named(getattr(annotations, what), True, rng) for what in ("items", "annotators") if what in rename
    }
    for what, names in (("groupings", "grouping_names"), ("groups", "group_names")):
        if what in rename:
            changed[names] = _named(getattr(annotations, names), True, rng).to_numpy(object)
    return replace(annotations, **changed)


def _named(names, new, rng):
    numbers = rng.choice(10 * len(names) + 1, len(names), replace=False)
    return pd.Index([f"x{number}" for number in numbers], dtype=object) if new else names
