"""Frequencies of pairs of labels of one item, and what they explain: (1) and (2) of `copies`, where the symbols are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_array

from consilience.annotations import Labels
from consilience.inference.copies import SURE

NOISE = 2.0  # eigenvalues of a table of noise, in units of 1 / sqrt(labels * items)


@dataclass(frozen=True)
class Table:
    """Frequencies of pairs of labels of one item."""

    counts: Float[np.ndarray, "classes classes"]

    @property
    def total(self) -> float:
        """Number of pairs."""
        return float(self.counts.sum())

    @property
    def joint(self) -> Float[np.ndarray, "classes classes"]:
        """T."""
        return self.counts / max(self.total, 1e-300)  # 0 / 0 without pairs

    @property
    def beyond(self) -> Float[np.ndarray, "classes classes"]:
        """J."""
        return self.joint - np.outer(self.joint.sum(1), self.joint.sum(0))

    @property
    def agreement(self) -> float:
        """tr T."""
        return float(np.trace(self.joint))

    @property
    def chance(self) -> float:
        """c."""
        return float(self.joint.sum(1) @ self.joint.sum(0))

    @property
    def kappa(self) -> float:
        """κ."""
        return float(beyond_chance(np.array(self.agreement), np.array(self.chance)))


@dataclass(frozen=True)
class Tables:
    """Pairs of labels on the items of a group.

    members : of two members.
    across : of a member and another annotator.
    others : of two others who are different persons; `others_apart`, of two different others.
    n_items : number of items.
    """

    members: Table
    across: Table
    others: Table
    others_apart: Table
    n_items: int

    @classmethod
    def of(
        cls,
        labels: Labels,
        rows: Int[np.ndarray, " rows"],
        member: Bool[np.ndarray, " annotators"],
        person: Int[np.ndarray, " annotators"],
    ) -> Tables:
        """Count the pairs of the labels in `rows`, which are all those of their items."""
        inside = member[labels.annotator[rows]]
        s, r = rows[inside], rows[~inside]
        by_item = _by(labels, s, labels.item)
        of_others = _by(labels, r, labels.item)
        all_others = _square(of_others)
        annotator, someone = labels.annotator, person[labels.annotator]
        key = labels.item.astype(np.int64) * (int(person.max(initial=0)) + labels.n_annotators + 1)
        return cls(
            Table(_square(by_item) - _square(_by(labels, s, key + annotator, numbered=True))),
            Table((by_item.T @ of_others).toarray()),
            Table(all_others - _square(_by(labels, r, key + someone, numbered=True))),
            Table(all_others - _square(_by(labels, r, key + annotator, numbered=True))),
            len(np.unique(labels.item[rows])),
        )

    def __add__(self, other: Tables) -> Tables:
        return self._with(other, 1)

    def __sub__(self, other: Tables) -> Tables:
        return self._with(other, -1)

    def _with(self, other: Tables, sign: int) -> Tables:
        def of(one: Table, another: Table) -> Table:
            return Table(one.counts + sign * another.counts)

        return Tables(
            of(self.members, other.members),
            of(self.across, other.across),
            of(self.others, other.others),
            of(self.others_apart, other.others_apart),
            self.n_items + sign * other.n_items,
        )


def explanations(tables: Tables) -> Float[np.ndarray, "3"]:
    """(2): agreement in S that the others explain, and agreement of the others that S explains, and their agreement."""
    across = tables.across.beyond
    noise = NOISE / np.sqrt(max(len(across) * tables.n_items, 1))
    by_others = np.trace(across @ inverse_above(tables.others.beyond, noise) @ across.T)
    of_others = np.trace(across.T @ inverse_above(tables.members.beyond, noise) @ across)
    # 0 / 0 where members agree by chance
    return np.array([by_others / max(1 - tables.members.chance, 1e-9), of_others, np.trace(tables.others.beyond)])


def explained_share(found: Float[np.ndarray, "3"], kappa: float) -> float:
    """E from (2); 1 where the others do not agree."""
    by_others, of_others, others = found.tolist()
    if others <= 0:
        return 1.0
    return float(np.clip(max(by_others, kappa * min(of_others / others, 1)), 0, 1))


def explained_at_most(found: Float[np.ndarray, "3"], covariance: Float[np.ndarray, "3 3"], kappa: float) -> float:
    """Upper confidence limit of E, for the ratio by Fieller's theorem; 1 where the agreement of the others is noise."""
    by_others, of_others, others = found.tolist()
    squared = SURE**2 * covariance
    a, b, c = others**2 - squared[2, 2], of_others * others - squared[1, 2], of_others**2 - squared[1, 1]
    if others <= 0 or a <= 0:
        return 1.0
    share = min((b + np.sqrt(max(b**2 - a * c, 0.0))) / a, 1.0)
    return float(np.clip(max(by_others + np.sqrt(squared[0, 0]), kappa * share), 0, 1))


def inverse_above(table: Float[np.ndarray, "classes classes"], least: float) -> Float[np.ndarray, "classes classes"]:
    """Inverse of a symmetric table on the directions whose eigenvalues are at least `least`."""
    values, vectors = np.linalg.eigh((table + table.T) / 2)
    kept = values >= least
    return (vectors[:, kept] / values[kept]) @ vectors[:, kept].T


def _by(
    labels: Labels, rows: Int[np.ndarray, " rows"], key: Int[np.ndarray, " labels"], *, numbered: bool = False
) -> csr_array:
    """Numbers of labels of each class for each key."""
    key, n_keys = key[rows], len(labels)
    if numbered:
        distinct, key = np.unique(key, return_inverse=True)
        n_keys = len(distinct)
    return csr_array((np.ones(len(rows)), (key, labels.label[rows])), shape=(n_keys, labels.n_classes))


def _square(counts: csr_array) -> Float[np.ndarray, "classes classes"]:
    return np.asarray((counts.T @ counts).toarray())


def beyond_chance(agreement: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """(Agreement - chance) / (1 - chance); 0 where chance is complete."""
    return np.divide(agreement - chance, 1 - chance, out=np.zeros_like(agreement), where=chance < 1 - 1e-9)
