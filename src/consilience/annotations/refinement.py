"""Colour refinement: nodes of a structure are distinguished only by their links.

Weisfeiler & Leman (1968), The reduction of a graph to canonical form. A colour is a number of 64 bits. In each round
every node takes a new colour, made of its own and of the sum of its neighbours' colours; a sum of mixed numbers does
not depend on their order. When no round distinguishes more nodes, nodes of the same colour cannot be told apart by any
walk along the links.

Nodes of the same colour that are linked with the same nodes are *twins*: exchanging them changes nothing. Other nodes
of the same colour may still differ in their neighbours, as the items of two groups of the same size do if nothing else
is known. One of them, with its twins, is then put before the others, and more rounds follow, until only twins are left.
If nodes of the same colour are images of each other under a symmetry, as is the rule, it makes no difference which is
first.

The order is by the colour when no round distinguishes more nodes, then by which node was put first, then by the colour
after that, and so on.

Decided here
------------
There are as many rounds as `WORK` allows, at least `LEAST_ROUNDS`. If these are too few to put nodes first one by one,
all nodes of a colour are ordered at once, which is as good if they may be exchanged freely. The caller says which nodes
of a colour come first; with its ranks by name, the original order of the nodes never makes a difference.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Int, UInt64

Colours = UInt64[np.ndarray, " nodes"]

WORK = 1 << 22  # number of links visited
LEAST_ROUNDS = 24
CHUNK = 1 << 14  # links whose colours fit the processor's cache


@dataclass(frozen=True)
class Links:
    """Rows that each link some nodes, one in each role.

    ends : of each role, the nodes.
    roles : of the ends; nodes in the same role are interchangeable.
    colour : of each row, mixed.
    """

    ends: tuple[Int[np.ndarray, " rows"], ...]
    roles: tuple[int, ...]
    colour: UInt64[np.ndarray, " rows"]

    @classmethod
    def of(cls, *ends: np.ndarray, roles: tuple[int, ...] | None = None, colour: np.ndarray | None = None) -> Links:
        """Link these nodes, each end in its own role unless `roles` are given."""
        mixed = mix(np.zeros(1, np.uint64) if colour is None else colour.astype(np.uint64))
        return cls(ends, roles or tuple(range(len(ends))), np.broadcast_to(mixed, len(ends[0])))


@dataclass(frozen=True)
class Structure:
    """Nodes of several kinds, and their links.

    kind : of each node; nodes of the lowest kind are put first before those of others.
    colour : initial colour of each node, in addition to its kind.
    """

    kind: Int[np.ndarray, " nodes"]
    colour: Colours
    links: tuple[Links, ...]


def mix(values: UInt64[np.ndarray, "*shape"]) -> UInt64[np.ndarray, "*shape"]:
    """Return a random-looking number for each number: the last step of SplitMix64 (Steele, Lea & Flood 2014)."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def places_of_rows(values: np.ndarray) -> Int[np.ndarray, " rows"]:
    """Return the position of each row of numbers in order of the first column, then of the second, and so on.

    Equal rows share a position, and -0.0 equals 0.0. The unit of a column makes no difference.
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
    """Return each node's position in an order independent of the original one; twins, or nodes left alike, share one.

    ranks : function from nodes of one kind to ranks, by which nodes of the same colour are put first.
    """
    links = structure.links
    rounds = max(LEAST_ROUNDS, WORK // max(sum(len(link.colour) for link in links), 1))
    colour, rounds = _settle_colours(mix(structure.colour + mix(structure.kind.astype(np.uint64))), links, rounds)
    places = _dense(colour)
    company = _company(mix(np.arange(len(places), dtype=np.uint64)), links)
    while rounds > 0:
        alike = _alike(places, company, structure.kind)
        if not len(alike):
            break
        places = _put_first(places, alike, company, ranks, one_by_one=2 * len(alike) <= rounds)
        colour, rounds = _settle_colours(mix(places.astype(np.uint64)), links, rounds)
        places = _dense(places, colour)
    return places


def _dense(*keys: np.ndarray) -> Int[np.ndarray, " nodes"]:
    """Return positions by a first key, by a second if that is equal, and so on; 0, 1, … without gaps."""
    order = np.lexsort(keys[::-1]) if len(keys) > 1 else np.argsort(keys[0])
    new = np.logical_or.reduce([np.diff(key[order], prepend=key[order[:1]]) != 0 for key in keys])
    places = np.empty(len(order), dtype=np.intp)
    places[order] = np.cumsum(new)
    return places


def _settle_colours(colour: Colours, links: tuple[Links, ...], rounds: int) -> tuple[Colours, int]:
    """Return colours after as many rounds as distinguish nodes, and the number of rounds left."""
    n_colours = len(pd.unique(colour))
    while rounds > 0 and n_colours < len(colour):
        after = mix(colour) + _company(colour, links)
        rounds -= 1
        n_after = len(pd.unique(after))
        if n_after == n_colours:
            break
        colour, n_colours = after, n_after
    return colour, rounds


def _company(colour: Colours, links: tuple[Links, ...]) -> Colours:
    """Return, for each node, the sum over its links of the colours and roles of the other ends."""
    total = np.zeros_like(colour)
    for number, link in enumerate(links):
        salts = mix(np.arange(8 * number, 8 * number + 8, dtype=np.uint64))
        salted = [mix(colour + salts[role]) for role in link.roles]
        for start in range(0, len(link.colour), CHUNK):
            part = slice(start, start + CHUNK)
            sent = [own[end[part]] for own, end in zip(salted, link.ends)]
            whole = sum(sent, link.colour[part])
            for role, end, own in zip(link.roles, link.ends, sent):
                np.add.at(total, end[part], mix(whole - own + salts[role]))
    return total


def _alike(
    places: Int[np.ndarray, " nodes"], company: Colours, kind: Int[np.ndarray, " nodes"]
) -> Int[np.ndarray, " alike"]:
    """Return nodes that share a position, not all twins: of the lowest kind, then the most, then the first position."""
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
    """Put the first of the nodes that share a position before the others, or order them all; twins stay together."""
    by_rank = alike[np.lexsort((alike, ranks(alike)))]
    _, first, twins = np.unique(company[by_rank], return_index=True, return_inverse=True)
    turn = np.argsort(np.argsort(first))[twins]
    later = np.zeros_like(places)
    later[by_rank] = np.minimum(turn, 1) if one_by_one else turn
    return _dense(places, later)
