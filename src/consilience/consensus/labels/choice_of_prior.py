"""Whether the learned prior of `annotator_models` has collapsed, judged by labels of other annotators.

With two or three labels an item, and annotators who each have habits of their own, the most probable prior can be a
degenerate one: the rows of one class hold what is peculiar to each annotator (a small s), all share the rows of the
other classes (s grows without limit), and that one class takes most of the items. Proportions from pairs of labels,
which take annotators to be right equally often in all classes, start it off. The bound prefers it. A cautious prior
resists:

    s_k ~ Gamma(1 + g, h)                    g = 10, h = 2: about five labels
    π   ~ Dirichlet(1 + N share of each label)      N items with labels

It is worse where no class needs protection and one is rare, so the labels decide. Each label is compared with the class
that the labels of its item by others give, by annotators whose matrices were learned from the other items:

    b_nj(k) ∝ π_k exp(Σ_i≠j ln p_ni(k)),   p_ni(k) the mean of θ_ik,y_ni without item n
    excess  = mean over labels of  b_nj(y_nj) - mean of b_mj(y_nj) over the annotator's other items m
    R       = excess / √(Σ_k variance of b(k))

Given the true class z, a label is independent of the others of its item. So with two classes, the covariance of b and
y_j is that of b and z times a factor of the annotator alone: R grows with the correlation of b with the truth, whatever
the annotators' habits are, and needs no truth. The cautious prior is taken if R of the ordinary one is below a share of
its: 1 of few labels, which falls to `ENOUGH` of `MANY`.

Decided here
------------
Only crowds with at most `MOST_EACH` labels an item are asked: with more, no collapse was seen. Of fewer than `FEWEST`
labels, R is mostly chance.

Where most items have a single label, and fewer than `FEWEST_OF_CLASS` labels for each class are of items with several,
collapse is the rule: one class, or two that become one, explain single labels as well as the true classes do. So the
cautious prior is taken unasked, with g and h of `PULL_OF_ONE`: rows follow the annotator's accuracy, as nothing tells
them apart, and most classes are those of the votes. A label of an item whose class is known tells as much as
`WORTH_OF_KNOWN`.

`ENOUGH` is well below 1, since R also grows with errors that annotators share: of links of entities, R of the cautious
prior is up to .06 above that of the ordinary one, which has fewer errors. What these add does not depend on the number
of labels; but the fewer there are, the more a prior changes, so that small differences of R tell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_array
from scipy.special import softmax

from consilience.annotations import Labels
from consilience.annotations.further_labels import sum_cells
from consilience.consensus.labels.annotator_models import NO_PULL, AnnotatorModel, Pull
from consilience.consensus.labels.dawid_skene import imagined_by_pairs
from consilience.consensus.labels.pairs_of_labels import PairSums
from consilience.consensus.labels.samples import MOST_LABELS, have_several, sampled_places
from consilience.inference.product_distributions import Responsibilities, Weights

PULL = (10.0, 2.0)  # g, h
PULL_OF_ONE = (1e6, 2.0)  # where most items have one label; with 1e4 or PULL, errors were up to .09 above the votes'
ENOUGH, MANY = 0.9, 5000  # of R; labels
MOST_EACH = 10.0
FEWEST = 200  # labels
FEWEST_OF_CLASS = 100  # labels for each class, where most items have one
WORTH_OF_KNOWN = 10  # labels, of a label of an item with a known class
CHUNK_CELLS = 1 << 20  # labels × classes at a time
FLAT = 1e-9  # variance: below it, b is the same everywhere but for rounding
LEAST = 1e-6  # R above zero: below it, rounding would decide


def cautious_sizes(sums: PairSums) -> Float[np.ndarray, " classes"]:
    """Return the imagined items of each class under the cautious prior."""
    return sums.n_labelled * sums.of_class / max(sums.of_class.sum(), 1)


def prior_of_classes(sums: PairSums, pull: Pull) -> Float[np.ndarray, " classes"]:
    """Return the imagined items of each class, under the ordinary prior or the cautious one."""
    return imagined_by_pairs(sums) if pull == NO_PULL else cautious_sizes(sums)


def are_too_few(sums: PairSums) -> bool:
    """Whether most items with labels have one, and those with several, or a known class, are too few to tell."""
    enough = FEWEST_OF_CLASS * len(sums.of_class)
    return 2 * sums.n_several < sums.n_labelled and sums.n_compared + WORTH_OF_KNOWN * sums.n_of_known < enough


def note_on_few(sums: PairSums, *, has_gold: bool) -> list[str]:
    """Say that some items have several labels, where these are too few to tell."""
    if not sums.n_several:
        return []
    return [
        f"Only {sums.n_several:,} of {sums.n_labelled:,} items have several labels, too few to tell how annotators "
        "err: most classes are those of the votes. Collect a second label of more items, or give "
        f"{'more ' if has_gold else ''}gold."
    ]


def can_tell(sums: PairSums) -> bool:
    """Whether enough items have several labels, and these are few."""
    return FEWEST <= sums.n_compared <= MOST_EACH * sums.n_several


def has_collapsed(ordinary: float, cautious: float, n_labels: int) -> bool:
    """Whether labels go much better with the others of their items under the cautious prior.

    n_labels : that were judged.
    """
    enough = 1 - (1 - ENOUGH) * min(n_labels / MANY, 1)
    return bool(cautious > LEAST and ordinary < enough * cautious)


def correlate_with_others(
    labels: Labels,
    model: AnnotatorModel,
    log_weights: Weights,
    responsibilities: Responsibilities,
    free: Bool[np.ndarray, " items"],
) -> float:
    """Return R: how far labels go with the class by others' labels of their items, beyond the annotators' habits.

    Of very many, those of evenly spaced items.

    labels : one of each group of copies for each item.
    model : annotator model after the last sweep.
    log_weights : (classes,) E ln π.
    responsibilities : (items, classes) posterior.
    free : items whose class is not given.
    """
    indptr = labels.indptr
    size = np.diff(indptr)
    several = np.flatnonzero(free & have_several(labels))
    several = several[sampled_places(len(several), int(size[several].sum()), MOST_LABELS)]
    sums = JudgedLabels.nothing(model.log_table.shape[0], labels.n_classes)
    for items in in_chunks(several, size[several] * labels.n_classes):
        starts = np.cumsum(size[items]) - size[items]
        own = np.repeat(np.arange(len(items)), size[items])
        rows = (indptr[items] - starts)[own] + np.arange(len(own))
        annotator, label = labels.annotator[rows], labels.label[rows]
        logs = np.log(model.left_out(own, annotator, label, responsibilities[items[own]]))
        others = np.add.reduceat(logs, starts)[own] - sum_cells(logs, own, annotator)
        before = softmax(others + log_weights, axis=1)
        sums = sums.followed_by(before, annotator, label)
    return sums.correlation()


def in_chunks(items: Int[np.ndarray, " items"], sizes: Int[np.ndarray, " items"]) -> list[Int[np.ndarray, " chunk"]]:
    """Divide items so that those of a chunk have about `CHUNK_CELLS` cells, of which each has so many."""
    chunk = np.cumsum(sizes) // CHUNK_CELLS
    return [part for part in np.split(items, np.flatnonzero(np.diff(chunk)) + 1) if len(part)]


@dataclass(frozen=True)
class JudgedLabels:
    """Sums over labels and b, the class by the others of their items.

    total, squares : (classes,) of b, and of its square.
    sums : (annotators, classes) of b over the annotator's labels.
    annotator, label : of each label.
    own : b of the label itself.
    """

    total: Float[np.ndarray, " classes"]
    squares: Float[np.ndarray, " classes"]
    sums: Float[np.ndarray, "annotators classes"]
    annotator: Int[np.ndarray, " rows"]
    label: Int[np.ndarray, " rows"]
    own: Float[np.ndarray, " rows"]

    @classmethod
    def nothing(cls, n_annotators: int, n_classes: int) -> JudgedLabels:
        """Return the sums over no labels."""
        zero, no_one = np.zeros(n_classes), np.zeros(0, dtype=int)
        return cls(zero, zero, np.zeros((n_annotators, n_classes)), no_one, no_one, np.zeros(0))

    def followed_by(
        self, before: Float[np.ndarray, "rows classes"], annotator: np.ndarray, label: np.ndarray
    ) -> JudgedLabels:
        """Add labels, given b of each."""
        shape, ones = (len(self.sums), len(label)), np.ones(len(label))
        of_annotators = csr_array((ones, (annotator, np.arange(len(label)))), shape=shape)
        return JudgedLabels(
            self.total + before.sum(0),
            self.squares + (before**2).sum(0),
            self.sums + of_annotators @ before,
            np.append(self.annotator, annotator),
            np.append(self.label, label),
            np.append(self.own, before[np.arange(len(label)), label]),
        )

    def correlation(self) -> float:
        """R; 0 if b never differs."""
        n = max(len(self.label), 1)
        mean = self.total / n
        spread = float((self.squares / n - mean**2).sum())
        if spread <= FLAT:
            return 0.0
        n_others = np.bincount(self.annotator)[self.annotator] - 1
        elsewhere = (self.sums[self.annotator, self.label] - self.own) / np.maximum(n_others, 1)
        expected = np.where(n_others > 0, elsewhere, mean[self.label])
        return float((self.own - expected).mean() / np.sqrt(spread))
