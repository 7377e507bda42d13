"""Judgements of pairs as JAX arrays: `consilience.inference.pair_evidence` for compiled models.

Both implementations give the messages Σ_m Σ_j w_m(S_ij) η_j and the agreements Σ_E a_ij, Σ_E a_ij S_ij, a_ij = η_i·η_j,
in time linear in the pairs, or in the memberships of groupings, whose pairs are implied.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.ops import segment_sum
from jaxtyping import Float, Int

from consilience.annotations import Groupings, Pairs
from consilience.inference.memberships import Memberships

FIRST_RELIABILITY = (10.0, 1.0)  # imagined right and wrong judgements of every annotator at the start


class JudgedAgreement(NamedTuple):
    """Expected number of judged pairs within clusters: all, and those judged "same"."""

    judged: Float[Array, " annotators"]
    same: Float[Array, " annotators"]


class NumberedJudgements(eqx.Module):
    """Judgements of pairs of items, numbered from 0; every item is judged.

    n_pairs, n_same : number of judgements of each annotator, and of those that are "same".
    """

    n_pairs: Float[Array, " annotators"]
    n_same: Float[Array, " annotators"]
    n_rows: int = eqx.field(static=True)

    @abstractmethod
    def messages(
        self, eta: Float[Array, "items clusters"], same: Array, apart: Array
    ) -> Float[Array, "items clusters"]:
        """Σ_m Σ_j w_m(S_ij) η_j for every item.

        same, apart : weight of a judgement of each annotator.
        """

    @abstractmethod
    def agreement(self, eta: Float[Array, "items clusters"]) -> JudgedAgreement:
        """Expected number of pairs within clusters."""


class PairJudgements(NumberedJudgements):
    """Judgements that list their pairs."""

    item_a: Int[Array, " pairs"]
    item_b: Int[Array, " pairs"]
    annotator: Int[Array, " pairs"]
    said_same: Float[Array, " pairs"]

    def messages(self, eta: Array, same: Array, apart: Array) -> Array:
        """See `Judgements.messages`."""
        weight = jnp.where(self.said_same > 0, same[self.annotator], apart[self.annotator])[:, None]
        there = segment_sum(weight * eta[self.item_b], self.item_a, len(eta))
        return there + segment_sum(weight * eta[self.item_a], self.item_b, len(eta))

    def agreement(self, eta: Array) -> JudgedAgreement:
        """See `Judgements.agreement`."""
        within = (eta[self.item_a] * eta[self.item_b]).sum(1)
        n = len(self.n_pairs)
        return JudgedAgreement(
            segment_sum(within, self.annotator, n), segment_sum(within * self.said_same, self.annotator, n)
        )


class GroupedJudgements(NumberedJudgements):
    """Judgements implied by groupings, one row for each membership."""

    item: Int[Array, " rows"]
    group: Int[Array, " rows"]
    grouping: Int[Array, " rows"]
    grouping_of_group: Int[Array, " groups"]
    annotator_of_grouping: Int[Array, " groupings"]
    weight: Float[Array, " groupings"]

    def messages(self, eta: Array, same: Array, apart: Array) -> Array:
        """See `Judgements.messages`."""
        of_same = same[self.annotator_of_grouping] * self.weight
        of_apart = apart[self.annotator_of_grouping] * self.weight
        own = eta[self.item]
        in_group = segment_sum(own, self.group, len(self.grouping_of_group))
        in_grouping = segment_sum(own, self.grouping, len(self.weight))
        excess = (of_same - of_apart)[self.grouping_of_group]
        said = (in_group * excess[:, None])[self.group] + (in_grouping * of_apart[:, None])[self.grouping]
        # the item itself is in its group and grouping
        return segment_sum(said - own * of_same[self.grouping, None], self.item, len(eta))

    def agreement(self, eta: Array) -> JudgedAgreement:
        """See `Judgements.agreement`."""
        own = eta[self.item]
        squares = (own**2).sum(1)
        together = self._pairs_within(own, squares, self.group, len(self.grouping_of_group))
        presented = self._pairs_within(own, squares, self.grouping, len(self.weight))
        n, by = len(self.n_pairs), self.annotator_of_grouping
        of_group = self.grouping_of_group
        return JudgedAgreement(
            segment_sum(presented * self.weight, by, n), segment_sum(together * self.weight[of_group], by[of_group], n)
        )

    def _pairs_within(self, own: Array, squares: Array, block: Array, n_blocks: int) -> Array:
        sums = segment_sum(own, block, n_blocks)
        return ((sums**2).sum(1) - segment_sum(squares, block, n_blocks)) / 2


def judgements(
    annotations: Pairs | Groupings, items: Int[np.ndarray, " annotated"], *, implied: str
) -> NumberedJudgements:
    """Build the judgements of these items, which must include all judged ones, renumbered in this order.

    items : positions of the annotated items
    implied : {"groups", "independent", "all"}; how the pairs of a grouping count; see `weights_of_pairs`.
    """
    number = np.full(annotations.n_items, -1)
    number[items] = np.arange(len(items))
    if isinstance(annotations, Pairs):
        by, n = annotations.annotator, annotations.n_annotators
        return PairJudgements(
            n_pairs=_floats(np.bincount(by, minlength=n)),
            n_same=_floats(np.bincount(by[annotations.same], minlength=n)),
            n_rows=len(by),
            item_a=jnp.asarray(number[annotations.item_a]),
            item_b=jnp.asarray(number[annotations.item_b]),
            annotator=jnp.asarray(by),
            said_same=_floats(annotations.same),
        )
    memberships = Memberships.of(annotations)
    sizes, group_sizes = memberships.grouping_sizes, memberships.group_sizes
    weight = weights_of_pairs(memberships, implied)
    by, of_group = memberships.annotator_of_grouping, memberships.grouping_of_group
    n = memberships.n_annotators
    row = number[memberships.item] >= 0  # an item that is alone in its groupings is in no pair
    item, group = number[memberships.item[row]], memberships.group[row]
    return GroupedJudgements(
        n_pairs=_floats(np.bincount(by, weight * sizes * (sizes - 1) / 2, n)),
        n_same=_floats(np.bincount(by[of_group], weight[of_group] * group_sizes * (group_sizes - 1) / 2, n)),
        n_rows=len(item),
        item=jnp.asarray(item),
        group=jnp.asarray(group),
        grouping=jnp.asarray(of_group[group]),
        grouping_of_group=jnp.asarray(of_group),
        annotator_of_grouping=jnp.asarray(by),
        weight=_floats(weight),
    )


def weights_of_pairs(memberships: Memberships, implied: str) -> Float[np.ndarray, " groupings"]:
    """Weight of each pair that a grouping implies.

    A person who sorts m items makes m decisions, not m (m - 1) / 2: after the first items of each group, the next one
    is compared with the groups, and not with all items in them.

    implied : "groups", as if each item were compared with one item of each group, or with two items if there is only
        one group; "independent", as if it were compared with two items, so that m items imply m - 1 pairs; "all", 1.
    """
    sizes = np.maximum(memberships.grouping_sizes, 2)
    n_groups = np.bincount(memberships.grouping_of_group[memberships.group_sizes > 0], minlength=len(sizes))
    compared = {"groups": np.maximum(n_groups, 2), "independent": 2, "all": sizes}[implied]
    return np.asarray(np.minimum(compared / sizes, 1.0))


def first_reliability(n_annotators: int) -> Float[Array, "annotators 2"]:
    """Imagined right and wrong judgements of each annotator at the start: mostly right."""
    return jnp.tile(jnp.array(FIRST_RELIABILITY), (n_annotators, 1))


def right_and_wrong(judged: NumberedJudgements, agreement: JudgedAgreement) -> tuple[Array, Array]:
    """Expected right and wrong judgements of each annotator: of pairs within clusters, and of others."""
    within_apart = agreement.judged - agreement.same
    sensitivity = jnp.stack([agreement.same, within_apart], 1)
    specificity = jnp.stack([judged.n_pairs - judged.n_same - within_apart, judged.n_same - agreement.same], 1)
    return jnp.maximum(sensitivity, 0), jnp.maximum(specificity, 0)  # rounding can make them negative


def annotated_items(annotations: Pairs | Groupings) -> Int[np.ndarray, " annotated"]:
    """Positions of the items that are in a judged pair."""
    if isinstance(annotations, Pairs):
        return np.union1d(annotations.item_a, annotations.item_b)
    memberships = Memberships.of(annotations)
    return np.unique(memberships.item[memberships.grouping_sizes[memberships.grouping_of_group[memberships.group]] > 1])


def _floats(values: np.ndarray) -> Array:
    return jnp.asarray(values, jnp.float32)
