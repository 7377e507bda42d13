"""Weights of people, and what a model needs so that its fit can be repeated under such weights.

People are the sample. What another group of as many people would say is predicted by weighing those who were asked: the
unknown population is a Dirichlet distribution over them (the Bayesian bootstrap: D. B. Rubin 1981, Annals of Statistics
9), and the other group is n people drawn from it. The number of times that a person is drawn has mean 1 and variance
2: 1 from not knowing the population, and 1 from the draw of another group. The weights here are n times a symmetric
Dirichlet vector of concentration c, whose variance is (n - 1)/(n c + 1): with c = (n - 3)/(2 n) it is 2, for every
n ≥ 4. As n grows, c comes near to 1/2; for 4 people it is 1/8, and in a third of the draws one of them has more than
.95 of the weight. Three people have this variance if all weight is on one of them, and two do not have it under any
weights: of fewer than four, nothing is stated about another group.

Few people have weights of next to nothing in many draws. What only they have said would then be lost, by rounding or
altogether, though in another group somebody would have said it. So nobody has less than `LEAST` of the mean weight,
which lowers the variance to 1.98 for four people and to 1.99 for many.

A fit under weights of variance 1, as in the usual bootstrap, differs from the fit by as much as the fit does from that
of the whole population. That is too little: another group differs from the population as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from consilience.inference.memberships import Memberships
from consilience.inference.spectral import DENSE_SIZE, EMBEDDING_TOLERANCE, WEAK_EDGE, leading_eigenpairs

FEWEST_PEOPLE = 4  # under whose weights another group can be stated
LEAST = 0.01  # weight of a person, of the mean, before all are scaled to that mean
MOST_DENSE = 1 << 22  # entries of a table of items and groups

Weights = Float[np.ndarray, " annotators"]
Clusters = Int[np.ndarray, " items"]


@runtime_checkable
class Reweighted(Protocol):
    """A fitted model that can be fitted again to its annotations, with a weight for each annotator."""

    def draw(self, weights: Weights, rng: np.random.Generator) -> Clusters:
        """Return the cluster of each item under these weights; -1 for items of none."""


def weights_of_another_group(person: Int[np.ndarray, " annotators"], rng: np.random.Generator) -> Weights:
    """Draw weights, of mean 1, under which annotators stand for another group of as many people.

    person : number of the person behind each annotator, of at least `FEWEST_PEOPLE`; annotators of one person have one
        weight.
    """
    n_people = int(person.max()) + 1
    share = rng.dirichlet(np.full(n_people, (n_people - 3) / (2 * n_people)))
    weights = np.maximum(n_people * share, LEAST)
    return np.asarray(weights * n_people / weights.sum())[person]


def say_few_people(n_people: int, fewest: int = FEWEST_PEOPLE) -> str:
    """Say that so few people may be unlike others, and how many are needed; nothing if they are enough."""
    if n_people >= fewest:
        return ""
    who = "one person" if n_people == 1 else f"{n_people} people"
    return f"{who} may agree more, or less, than others by chance: ask at least {fewest}."


def weight_entries(incidence: csr_array, of_entries: Float[np.ndarray, " entries"]) -> csr_array:
    """Return a sparse matrix with these values in the places of its entries."""
    return csr_array((of_entries, incidence.indices, incidence.indptr), shape=incidence.shape)


@dataclass(frozen=True)
class WeightedEmbedding:
    """`spectral.degree_normalised_embedding` of items that are in some grouping, where annotators have weights.

    A group of weight w is as w equal groups. A weak edge between every item and every group connects the graph.

    item : of each membership.
    of_group : annotator of each group.
    connected : whether no such edge is needed.
    """

    memberships: Memberships
    item: Int[np.ndarray, " rows"]
    of_group: Int[np.ndarray, " groups"]
    sizes: Float[np.ndarray, " groups"]
    connected: bool

    @classmethod
    def of(cls, memberships: Memberships) -> WeightedEmbedding:
        """Prepare what does not depend on the weights."""
        of_group = memberships.annotator_of_grouping[memberships.grouping_of_group]
        sizes = memberships.group_sizes.astype(float)
        return cls(memberships, memberships.item, of_group, sizes, _is_connected(memberships))

    def points(self, weights: Weights, n_components: int) -> Float[np.ndarray, "items components"]:
        """Return the coordinates of the items under these weights."""
        memberships, n_items = self.memberships, self.memberships.n_items
        of_groups = weights[self.of_group]
        of_entries, sizes = of_groups[memberships.group], self.sizes
        degree = np.bincount(self.item, of_entries, n_items)
        used = of_groups * (sizes > 0)
        edge = 0.0 if self.connected else WEAK_EDGE * degree.sum() / (n_items * used.sum())
        degree, sizes = degree + edge * used.sum(), sizes + edge * n_items
        entries = np.sqrt(of_entries / (degree[self.item] * sizes[memberships.group]))
        scaled = weight_entries(memberships.in_group, entries)
        # an empty group, of size 0, has weight 0
        of_items, to_groups = 1 / np.sqrt(degree), edge * np.sqrt(used / np.maximum(sizes, 1e-300))
        if n_items <= DENSE_SIZE and n_items * len(sizes) <= MOST_DENSE:
            table = scaled.toarray() + np.multiply.outer(of_items, to_groups)
            return leading_eigenpairs(aslinearoperator(table @ table.T), n_components)[1]
        back = scaled.T.tocsr()

        def product(vectors: np.ndarray) -> np.ndarray:
            inner = back @ vectors + np.multiply.outer(to_groups, of_items @ vectors)
            return np.asarray(scaled @ inner + np.multiply.outer(of_items, to_groups @ inner))

        gram = LinearOperator((n_items, n_items), matvec=product, matmat=product, dtype=np.float64)
        return leading_eigenpairs(gram, n_components, tol=EMBEDDING_TOLERANCE)[1]


def _is_connected(memberships: Memberships) -> bool:
    """Whether a chain of groups, not only of groupings, links any two items."""
    size = memberships.n_items + memberships.n_groups
    rows, columns = memberships.item, memberships.group + memberships.n_items
    graph = csr_array((np.ones(len(rows), np.int8), (rows, columns)), shape=(size, size))
    part = connected_components(graph, directed=False)[1]
    return len(np.unique(part[: memberships.n_items])) == 1
