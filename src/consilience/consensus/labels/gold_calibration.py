"""What gold items tell of the probabilities of `calibration`.

Labels fix the class that annotators agree on, and not how often it is the truth; gold does. It moves the floors that
recorded crowds teach, and then the probabilities of each consensus class. A gold item is judged like an item that is
not known: by what the model knows of its annotators without this item.

    score of gold item n            S'_nk = Σ_j ln p_nj(k), with p_nj(k) the mean of θ_jk,y_nj without item n
    floors                          f slope,  1 + f (highest - 1),  kept^f,  v votes
    f, v                            maximise Σ_n ln P_n(g_n) - (ln² f + ln² v) / 2σ²;   g_n: the known class
    consensus class                 c_n: the most probable one in the posterior
    factor of class l where c_n=k   A_kl = (N_kl + m P̄_kl) / (Σ_{c_n = k} P_nl + m P̄_kl)
    probability                     P'_nl ∝ A_{c_n,l} P_nl

N_kl is the number of gold items of consensus class k that are l, and P̄_kl the mean of P_nl over gold items of consensus
class k, who count as m imagined ones. σ = `SPREAD`, m = `IMAGINED_ITEMS`.

Gold may be wrong itself. Its classes are judged like any given labels, by `wrong_labels`, from softmax(ln π + S' / T).
Where the range of the number of wrong ones begins above 0, the items that are more likely wrong than right are named.
Gold that is wrong and annotators who share a mistake look alike, so that this says no more than that they contradict
each other.

Decided here
------------
f = v = 1 are the floors of recorded crowds, f = v = 0 none. T is what the labels show, with gold or without: gold adds
to it, and takes nothing from it. The class of an item stays that of the posterior.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.special import softmax

from consilience.annotations import Labels
from consilience.annotations.names import plain
from consilience.consensus.labels.annotator_models import TINY, AnnotatorModel
from consilience.consensus.labels.calibration import Calibration, Floors, Probabilities, with_best
from consilience.consensus.labels.samples import sampled_items
from consilience.consensus.labels.subtypes import of_classes
from consilience.inference.clusters import most_probable
from consilience.inference.product_distributions import Responsibilities, Weights
from consilience.inference.wrong_labels import wrong_labels

GRID = np.exp(np.arange(-32, 21) / 8)  # of f and v
ONE = 32  # its place there
SPREAD = 0.5  # of ln f and ln v
IMAGINED_ITEMS = 20.0  # of each consensus class, that are as the model says
MOST_NAMED = 20  # items of a note


@dataclass(frozen=True)
class GoldItems:
    """Gold items that have labels, judged without their known class.

    items : of the labels.
    known : codes of their classes.
    scores : (gold, components) S'.
    votes : (gold, classes) how often each has each label.
    log_weights : (components,) E ln π.
    """

    items: Int[np.ndarray, " gold"]
    known: Int[np.ndarray, " gold"]
    scores: Float[np.ndarray, "gold components"]
    votes: Float[np.ndarray, "gold classes"]
    log_weights: Weights

    @classmethod
    def of(
        cls,
        labels: Labels,
        model: AnnotatorModel,
        log_weights: Weights,
        responsibilities: Responsibilities,
        known: Int[np.ndarray, " items"],
    ) -> GoldItems:
        """Leave each gold item out of what is known of its annotators.

        labels : one of each group of copies for each item.
        model : annotator model after the last sweep.
        responsibilities : (items, components) posterior.
        known : code of the class of each item, -1 where it is unknown.
        """
        items = sampled_items(labels, (known >= 0) & (np.diff(labels.indptr) > 0))
        of_gold = labels[items]
        q = responsibilities[items][of_gold.item]
        logs = np.log(model.left_out(of_gold.item, of_gold.annotator, of_gold.label, q))
        scores = np.add.reduceat(logs, of_gold.indptr[:-1]) if len(items) else np.empty((0, len(log_weights)))
        votes = np.zeros((len(items), labels.n_classes))
        np.add.at(votes, (of_gold.item, of_gold.label), 1)
        return cls(items, known[items], scores, votes, log_weights)

    @property
    def best(self) -> Int[np.ndarray, " gold"]:
        """Consensus class of each item."""
        return most_probable(self.at_temperature(1.0))

    def probabilities(self, found: Calibration) -> Probabilities:
        """P of the items, before the consensus class has the largest."""
        temperature = found.floors.temperatures(self.votes.sum(1), found.temperature)
        proportions = of_classes(softmax(self.log_weights), self.votes.shape[1])
        return found.mix(self.at_temperature(temperature), self.votes, proportions, self.best)

    def of_known(self, found: Calibration) -> Float[np.ndarray, " gold"]:
        """P of the known classes."""
        return self.probabilities(found)[np.arange(len(self.known)), self.known]

    def at_temperature(self, temperature: Float[np.ndarray, " gold"] | float) -> Probabilities:
        """Posterior of the items at temperatures of theirs, or at one."""
        divided = self.scores / np.reshape(temperature, (-1, 1))
        return of_classes(softmax(self.log_weights + divided, axis=1), self.votes.shape[1])


def calibrate_by_gold(found: Calibration, gold: GoldItems) -> Calibration:
    """Return the calibration with the floors that gold asks for, and the factors of classes.

    found : with the floors of recorded crowds.
    """
    if not len(gold.items):
        return found
    moved = replace(found, floors=choose_floors(found, gold))
    return replace(
        moved, factors=correct_classes(gold.best, gold.known, with_best(gold.probabilities(moved), gold.best))
    )


def scale_floors(floors: Floors, factor: float, of_votes: float) -> Floors:
    """Return floors between none and more than these: f and v."""
    return Floors(
        slope=factor * floors.slope,
        highest=1 + factor * (floors.highest - 1),
        kept=floors.kept**factor,
        votes=of_votes * floors.votes,
    )


def choose_floors(found: Calibration, gold: GoldItems) -> Floors:
    """Return the floors under which gold is most probable, drawn to those of recorded crowds; f and v in turn."""

    def of_known(floors: Floors) -> Float[np.ndarray, " gold"]:
        return gold.of_known(replace(found, floors=floors))

    pull = 0.5 * (np.log(GRID) / SPREAD) ** 2
    without_votes = np.stack([of_known(scale_floors(found.floors, float(factor), 0.0)) for factor in GRID])
    votes_alone = of_known(replace(found.floors, votes=1.0))
    shares = GRID[:, None] * found.floors.votes

    def add_votes(share: np.ndarray, others: np.ndarray) -> Float[np.ndarray, " grid"]:
        return np.log((1 - share) * others + share * votes_alone).sum(1) - pull

    factor, of_votes, before = ONE, ONE, (-1, -1)
    while (factor, of_votes) != before:  # neither step lowers the probability, so that it ends
        before = factor, of_votes
        factor = int(np.argmax(add_votes(shares[of_votes], without_votes)))
        of_votes = int(np.argmax(add_votes(shares, without_votes[factor])))
    return scale_floors(found.floors, float(GRID[factor]), float(GRID[of_votes]))


def correct_classes(
    best: Int[np.ndarray, " gold"], known: Int[np.ndarray, " gold"], probability: Probabilities
) -> Float[np.ndarray, "classes classes"]:
    """Return A: how often gold items of each consensus class are of each class, against what was expected.

    Examples
    --------
    Of twenty gold items that a crowd took for the first class with .9, five are of the second:

    >>> known = np.repeat([0, 1], [15, 5])
    >>> correct_classes(np.zeros(20, dtype=int), known, np.tile([0.9, 0.1], (20, 1))).round(2)
    array([[0.92, 1.75],
           [1.  , 1.  ]])
    """
    n_classes = probability.shape[1]
    counts, expected = np.zeros((2, n_classes, n_classes))
    np.add.at(counts, (best, known), 1)
    np.add.at(expected, best, probability)
    n_items = counts.sum(1, keepdims=True)
    imagined = IMAGINED_ITEMS * expected / np.maximum(n_items, 1)
    return np.where(n_items > 0, (counts + imagined) / np.maximum(expected + imagined, TINY), 1.0)

    def tempered(self, temperature: Float[np.ndarray, " gold"]) -> Probabilities:
        """Posterior of the classes at these temperatures."""
        return of_classes(softmax(self.log_weights + self.scores / temperature[:, None], axis=1), self.votes.shape[1])


def note_contradictions(gold: GoldItems, temperature: float, names: pd.Index) -> list[str]:
    """Name gold items whose labels contradict their class, in one note; none unless some gold is likely wrong.

    temperature : T.
    names : of all items.
    """
    judged = wrong_labels(gold.at_temperature(temperature), gold.known)
    order = np.argsort(judged.right, kind="stable")  # the most doubtful first
    doubtful = gold.items[order[judged.right[order] < 0.5]]
    if not judged.low or not len(doubtful):
        return []
    shown = [repr(plain(name)) for name in names[doubtful[:MOST_NAMED]]]
    if len(doubtful) > MOST_NAMED:
        shown.append(f"and {len(doubtful) - MOST_NAMED:,} more")
    return [
        f"Labels contradict the known class of {len(doubtful):,} of {len(gold.items):,} gold items, more than chance "
        f"explains: {', '.join(shown)}. Check these: either their gold is wrong, or annotators share mistakes there."
    ]
