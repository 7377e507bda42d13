"""Colour refinement: nodes of a structure told apart by what they are linked with, and by nothing else.

Weisfeiler & Leman (1968), The reduction of a graph to canonical form. A colour is a number of 64 bits. In a round every
node takes a new colour, made of its own and of the sum of those that it is linked with; a sum of mixed numbers does not
depend on their order. When no round tells more nodes apart, those of one colour are alike in all that a walk along the
links can meet.

Nodes of one colour that are linked with the same nodes are *twins*: exchanging them changes nothing. Others of one
colour may still differ from each other in whom they go with, as the items of two groups of one size if nothing else is
known. One of them, with its twins, is then put before the others, and rounds follow, until only twins are left. Where
nodes of one colour are images of each other under a symmetry, which is the rule, it makes no difference which comes
first.

The order is by the colour when no round tells more apart, then by who was put before others, then by the colour after
that, and so on.

Decided here
------------
There are as many rounds as `WORK` allows, at least `LEAST_ROUNDS`. If they do not do to put nodes first one by one, all
those of a colour are put into an order at once, which is as good where they may be exchanged freely. The caller says
which nodes of a colour come first; with its ranks by name, the order of the nodes never makes a difference.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Int, UInt64

Colours = UInt64[np.ndarray, " nodes"]

WORK = 1 << 22  # links looked at
LEAST_ROUNDS = 24


@dataclass(frozen=True)
class Links:
    """Rows that each link some nodes, one in each role.

    ends : (ends, rows) the nodes.
    roles : of the ends; those of one role may change places.
    colour : of each row.
    """

    ends: Int[np.ndarray, "ends rows"]
    roles: tuple[int, ...]
    colour: UInt64[np.ndarray, " rows"]

    @classmethod
    def of(cls, *ends: np.ndarray, roles: tuple[int, ...] | None = None, colour: np.ndarray | None = None) -> Links:
        """Links between these nodes, each end in a role of its own unless `roles` are given."""
        colour = np.zeros(len(ends[0])) if colour is None else colour
        return cls(np.stack(ends), tuple(range(len(ends))) if roles is None else roles, colour.astype(np.uint64))


@dataclass(frozen=True)
class Structure:
    """Nodes of several kinds, and their links.

    kind : of each node; of the lowest kind nodes are put first before those of others.
    colour : what a node is, beside its kind.
    """

    kind: Int[np.ndarray, " nodes"]
    colour: Colours
    links: tuple[Links, ...]


def mix(values: UInt64[np.ndarray, "*shape"]) -> UInt64[np.ndarray, "*shape"]:
    """Numbers that look random, one for each number: the last step of SplitMix64 (Steele, Lea & Flood 2014)."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def places_of_rows(values: np.ndarray) -> Int[np.ndarray, " rows"]:
    """Place of each row of numbers in their order by the first column, then by the second, and so on.

    Equal rows share a place, and -0.0 is 0.0. The unit of a column makes no difference.
    """
    places, tied = np.zeros(len(values), dtype=np.intp), np.arange(len(values))
    for column in values.T:
        own = column[tied]
        if not len(tied):
            break
        if own.min() == own.max():
            continue
        order = np.lexsort((own, places[tied]))
        tied, own = tied[order], own[order]
        block = np.diff(places[tied], prepend=-1) != 0
        run = block | (np.diff(own, prepend=own[0]) != 0)
        number = np.arange(len(tied))
        start, first = (np.maximum.accumulate(np.where(new, number, 0)) for new in (run, block))
        places[tied] += start - first
        tied = tied[np.bincount(start, minlength=len(tied))[start] > 1]
    return places


def canonical_places(structure: Structure, ranks: Callable[[np.ndarray], np.ndarray]) -> Int[np.ndarray, " nodes"]:
    """Place of each node in an order that does not depend on theirs; twins share one, and others if rounds do not do.

    Parameters
    ----------
    structure : Structure
    ranks : nodes of one kind → their ranks, by which those of one colour are put first.
    """
    links = structure.links
    rounds = max(LEAST_ROUNDS, WORK // max(sum(link.ends.shape[1] for link in links), 1))
    everyone = np.arange(len(structure.kind), dtype=np.uint64)
    company = _company(mix(everyone), links)
    colour, rounds = _settled(mix(structure.colour + mix(structure.kind.astype(np.uint64))), links, rounds)
    places = _dense(colour)
    while rounds > 0:
        alike = _alike(places, company, structure.kind)
        if not len(alike):
            break
        places = _put_first(places, alike, company, ranks, one_by_one=2 * len(alike) <= rounds)
        colour, rounds = _settled(mix(places.astype(np.uint64)), links, rounds)
        places = _dense(places, colour)
    return places


def _dense(*keys: np.ndarray) -> Int[np.ndarray, " nodes"]:
    """Places by a first key, by a second where that is the same, and so on; 0, 1, … without gaps."""
    order = np.lexsort(keys[::-1])
    new = np.logical_or.reduce([np.diff(key[order], prepend=key[order[:1]]) != 0 for key in keys])
    places = np.empty(len(order), dtype=np.intp)
    places[order] = np.cumsum(new)
    return places


def _settled(colour: Colours, links: tuple[Links, ...], rounds: int) -> tuple[Colours, int]:
    """Colours after rounds that tell nodes apart, and how many rounds are left."""
    n_colours = len(pd.unique(colour))
    while rounds > 0:
        after = mix(colour) + _company(colour, links)
        rounds -= 1
        n_after = len(pd.unique(after))
        if n_after == n_colours:
            break
        colour, n_colours = after, n_after
    return colour, rounds


def _company(colour: Colours, links: tuple[Links, ...]) -> Colours:
    """Sum over each node's links of what the other ends are and do."""
    total = np.zeros_like(colour)
    for number, link in enumerate(links):
        salts = mix(np.arange(8 * number, 8 * number + 8, dtype=np.uint64))
        sent = [mix(colour + salts[role])[end] for role, end in zip(link.roles, link.ends)]
        whole = mix(link.colour)
        for one in sent:
            whole += one
        for role, end, own in zip(link.roles, link.ends, sent):
            np.add.at(total, end, mix(whole - own + salts[role]))
    return total


def _alike(
    places: Int[np.ndarray, " nodes"], company: Colours, kind: Int[np.ndarray, " nodes"]
) -> Int[np.ndarray, " alike"]:
    """Nodes of one place that are not all twins: of the lowest kind, then the most, then of the first place."""
    order = np.argsort(places, kind="stable")
    start = np.flatnonzero(np.diff(places[order], prepend=-1))
    if not len(start):
        return order
    sizes = np.diff(np.append(start, len(order)))
    own = company[order]
    mixed = np.flatnonzero(np.minimum.reduceat(own, start) != np.maximum.reduceat(own, start))
    if not len(mixed):
        return order[:0]
    chosen = mixed[np.lexsort((-sizes[mixed], kind[order[start[mixed]]]))[0]]
    return order[start[chosen] : start[chosen] + sizes[chosen]]


def _put_first(
    places: Int[np.ndarray, " nodes"],
    alike: Int[np.ndarray, " alike"],
    company: Colours,
    ranks: Callable[[np.ndarray], np.ndarray],
    *,
    one_by_one: bool,
) -> Int[np.ndarray, " nodes"]:
    """Put the first of nodes of one place before the others, or all into an order; twins stay together."""
    by_rank = alike[np.lexsort((alike, ranks(alike)))]
    _, first, twins = np.unique(company[by_rank], return_index=True, return_inverse=True)
    turn = np.argsort(np.argsort(first))[twins]
    later = np.zeros_like(places)
    later[by_rank] = np.minimum(turn, 1) if one_by_one else turn
    return _dense(places, later)
