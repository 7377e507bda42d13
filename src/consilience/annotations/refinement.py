"""Colour refinement: nodes of a structure told apart by what they are linked with, and by nothing else.

Weisfeiler & Leman (1968), The reduction of a graph to canonical form. A colour is a number of 64 bits. In a round every
node takes a new colour, made of its own and of the sum of those that it is linked with; a sum of mixed numbers does not
depend on their order. When no round tells more nodes apart, those of one colour are alike in all that a walk along the
links can meet.

Nodes of one colour that are linked with the same nodes are *twins*: exchanging them changes nothing. Others of one
colour may still differ from each other in whom they go with, as the two groups of everybody who halves the items alike.
One of them, with its twins, is then taken out and given a colour of its own, and rounds follow, until only twins are
left. Where nodes of one colour are images of each other under a symmetry, which is the rule, it makes no difference
which is taken.

Decided here
------------
There are as many rounds as `WORK` allows, at least `LEAST_ROUNDS`. If they do not do to take nodes out one by one, all
those of a colour are taken at once, which is as good where they may be exchanged freely. The caller says which nodes of
a colour come first; with its ranks by name, the order of the nodes never makes a difference.
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
FEATURES_AT_A_TIME = 1 << 20


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

    kind : of each node; nodes of the lowest kind are taken out first.
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


def colours_of_rows(values: np.ndarray) -> UInt64[np.ndarray, " rows"]:
    """A colour for each row of numbers, the same for equal rows; -0.0 is 0.0."""
    n_rows, n_columns = values.shape
    salts = mix(np.arange(n_columns, dtype=np.uint64))
    colour = np.zeros(n_rows, dtype=np.uint64)
    step = max(FEATURES_AT_A_TIME // max(n_columns, 1), 1)
    for start in range(0, n_rows, step):
        bits = (np.asarray(values[start : start + step], dtype=np.float64) + 0.0).view(np.uint64)
        colour[start : start + step] = mix(bits + salts).sum(1)
    return colour


def canonical_colours(structure: Structure, ranks: Callable[[np.ndarray], np.ndarray]) -> Colours:
    """Colours by which all nodes differ but twins, as far as the rounds do.

    Parameters
    ----------
    structure : Structure
    ranks : nodes of one kind → their ranks, by which those of one colour are taken out.
    """
    links = structure.links
    rounds = max(LEAST_ROUNDS, WORK // max(sum(link.ends.shape[1] for link in links), 1))
    everyone = np.arange(len(structure.kind), dtype=np.uint64)
    company = _company(mix(everyone), links)
    colour, rounds = _settled(mix(structure.colour + mix(structure.kind.astype(np.uint64))), links, rounds)
    while rounds > 0:
        alike = _alike(colour, company, structure.kind)
        if not len(alike):
            break
        colour = _taken_out(colour, alike, company, ranks, one_by_one=2 * len(alike) <= rounds)
        colour, rounds = _settled(colour, links, rounds)
    return colour


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


def _alike(colour: Colours, company: Colours, kind: Int[np.ndarray, " nodes"]) -> Int[np.ndarray, " alike"]:
    """Nodes of one colour that are not all twins: of the lowest kind, then the most, then of the least colour."""
    order = np.argsort(colour, kind="stable")
    start = np.flatnonzero(np.append(True, colour[order[1:]] != colour[order[:-1]])[: len(order)])
    if not len(start):
        return order
    sizes = np.diff(np.append(start, len(order)))
    own = company[order]
    mixed = np.flatnonzero(np.minimum.reduceat(own, start) != np.maximum.reduceat(own, start))
    if not len(mixed):
        return order[:0]
    chosen = mixed[np.lexsort((-sizes[mixed], kind[order[start[mixed]]]))[0]]  # stable, and colours rise
    return order[start[chosen] : start[chosen] + sizes[chosen]]


def _taken_out(
    colour: Colours,
    alike: Int[np.ndarray, " alike"],
    company: Colours,
    ranks: Callable[[np.ndarray], np.ndarray],
    *,
    one_by_one: bool,
) -> Colours:
    """Give the first of nodes of one colour another colour, or each its own; twins have one together."""
    by_rank = alike[np.lexsort((alike, ranks(alike)))]
    _, first, twins = np.unique(company[by_rank], return_index=True, return_inverse=True)
    place = np.argsort(np.argsort(first))[twins]
    changed = colour.copy()
    changed[by_rank] = mix(colour[by_rank] + (np.minimum(place, 1) if one_by_one else place).astype(np.uint64))
    return changed
