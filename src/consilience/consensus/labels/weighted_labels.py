"""Models of labels where each annotator has a weight: groups of people other than those asked.

A weight multiplies an annotator's terms in the sums over annotators, which are those of the E-step,

    ln q(z_n = k) = ln π_k + Σ_j w_j ln θ_j,k,y_nj + const.

The annotator's own matrix is that of one person, whatever the weight: it is estimated from the annotator's labels, each
counted once. So an annotator of weight 2 counts as two who give the same labels.

Decided here
------------
A draw takes a few sweeps from the weighted votes, from which the fit started too: if it started at the fitted classes,
a crowd whose members hold two views would seldom change from one to the other. What the crowd teaches about annotators
(the prior of the matrices, the proportions of pairs) stays that of the fit. With subtypes, and where the fit was not
started from votes, a draw starts at the fit. Annotators whom the fit left out are left out of draws, too, and items of
known class keep it. Weights alone cannot change the class of an item that all of its few
annotators gave the same label, though others might not: so the class in a draw is drawn from its probability given the
weighted labels. For votes, which give no probability, one imagined person votes on each item, by the proportions of the
crowd's labels: a Dirichlet process prior (T. S. Ferguson 1973, Annals of Statistics 1) of concentration 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from consilience.annotations import Labels
from consilience.annotations.names import MISSING
from consilience.consensus.labels import dawid_skene, product_mixture
from consilience.consensus.labels.annotator_models import NO_PULL, AnnotatorModel, Hierarchical, Pull
from consilience.inference.label_counts import Counting
from consilience.inference.product_distributions import OneHotLabels, Responsibilities, posterior, vote_shares
from consilience.inference.reweighted import Clusters, Weights

SWEEPS = 3  # of a draw
IMAGINED = 0.5  # shape of the weight of the imagined voter, so that its variance is 2, too
SWEEPS_AT_FIT = 10  # to learn the crowd's prior again from the fitted classes


@dataclass(frozen=True)
class Votes:
    """Labels whose majority is taken.

    weight : of each label, where annotators weigh together; else 1.
    known : class of items of which it is known, else -1.
    """

    labels: Labels
    weight: Float[np.ndarray, " labels"]
    known: Clusters

    def draw(self, weights: Weights, rng: np.random.Generator) -> Clusters:
        """Return the class with the largest sum of weights, an imagined vote included."""
        labels, shape = self.labels, (len(self.labels), self.labels.n_classes)
        cell = labels.item * labels.n_classes + labels.label
        votes = np.bincount(cell, self.weight * weights[labels.annotator], shape[0] * shape[1]).reshape(shape)
        share = np.bincount(labels.label, minlength=labels.n_classes) / max(labels.n_rows, 1)
        imagined = rng.gamma(np.maximum(IMAGINED * share, 1e-9), size=shape) / IMAGINED
        voted = np.where(np.diff(labels.indptr) > 0, (votes + imagined).argmax(1), MISSING)
        return np.where(self.known >= 0, self.known, voted)


@dataclass(frozen=True)
class Encoded:
    """One-hot labels in the form of the E-step, with and without weights.

    labels : that the fit reads.
    weight : of each label, where annotators weigh together; else 1.
    known : class of items of which it is known, else -1.
    clustered : items that have a class in the fit.
    counting : which labels are counted.
    """

    labels: Labels
    n_components: int
    weight: Float[np.ndarray, " labels"]
    known: Clusters
    clustered: Bool[np.ndarray, " items"]
    counting: Counting = "all"

    def onehot(self, weights: Weights | None = None) -> OneHotLabels:
        """Encode the labels under weights of their annotators."""
        labels = self.labels
        column = labels.annotator * labels.n_classes + labels.label
        shape = (len(labels), labels.n_annotators * labels.n_classes)
        weight = self.weight if weights is None else self.weight * weights[labels.annotator]
        settings: dict[str, Any] = {"known": self.known, "n_classes": labels.n_classes, "weight": weight}
        settings["counting"] = self.counting
        return OneHotLabels.of(labels.item, column, shape, self.n_components, **settings)

    def votes(self, weights: Weights) -> Responsibilities:
        """Return the shares of the weighted votes, where components are classes."""
        votes = vote_shares(self.labels, self.weight * weights[self.labels.annotator])
        return np.where((self.known >= 0)[:, None], np.eye(votes.shape[1])[self.known], votes)

    def drawn(self, q: Responsibilities, rng: np.random.Generator) -> Clusters:
        """Draw the component of each item from its probability."""
        below = np.cumsum(q, axis=1) < rng.random((len(q), 1))
        component = np.minimum(below.sum(1), q.shape[1] - 1)  # rounding may leave the last sum below 1
        return np.where(self.clustered, component, MISSING)


@dataclass(frozen=True)
class WeightedDawidSkene:
    """A fitted model of Dawid and Skene.

    state : with the annotators' matrices, and the prior that they are drawn towards.
    fitted : responsibilities of the components.
    learned : whether there is such a prior.
    from_votes : whether a draw starts from the votes; else it starts from the fitted responsibilities.
    """

    encoded: Encoded
    evidence: dawid_skene.DawidSkeneEvidence
    state: dawid_skene.DawidSkeneState
    fitted: Responsibilities
    learned: bool
    from_votes: bool

    @classmethod
    def of(
        cls,
        encoded: Encoded,
        fitted: Responsibilities,
        sizes: Float[np.ndarray, " classes"] | float,
        *,
        pull: Pull = NO_PULL,
        one_coin: bool = False,
        learned: bool = True,
        from_votes: bool = True,
    ) -> WeightedDawidSkene:
        """Learn the state again from the fitted responsibilities."""
        evidence = dawid_skene.DawidSkeneEvidence(
            encoded.onehot(), 0.0, sizes, encoded.n_components // encoded.labels.n_classes, pull
        )
        state = dawid_skene.init(evidence, fitted, one_coin=one_coin, learned=learned)
        for _ in range(SWEEPS_AT_FIT):
            state = dawid_skene.step(state, evidence, learned=learned)
        return cls(encoded, evidence, state, fitted, learned, from_votes and evidence.n_subtypes == 1)

    def responsibilities(self, weights: Weights) -> Responsibilities:
        """Return q(z) under weights of the annotators, after a few sweeps."""
        onehot, model = self.encoded.onehot(weights), self.state.model
        q = self.encoded.votes(weights) if self.from_votes else self.fitted
        if isinstance(model, Hierarchical):
            model = replace(model, accuracy=np.tile(model.crowd, (len(model.accuracy), 1)))
        for _ in range(SWEEPS):
            q, model = self._sweep(onehot, q, model)
        return q

    def draw(self, weights: Weights, rng: np.random.Generator) -> Clusters:
        """Draw the class of each item from its probability under these weights."""
        q = self.responsibilities(weights)
        in_classes = q.reshape(len(q), self.encoded.labels.n_classes, -1).sum(2)
        return self.encoded.drawn(in_classes, rng)

    def _sweep(
        self, onehot: OneHotLabels, q: Responsibilities, model: AnnotatorModel
    ) -> tuple[Responsibilities, AnnotatorModel]:
        expected = self.evidence.chunks.expectation_of(q)
        counts = dawid_skene.labels_of(expected, self.evidence)
        new = model.with_annotators(counts) if isinstance(model, Hierarchical) else model.update(counts)
        sizes = expected.sizes.reshape(-1, self.evidence.n_subtypes)
        log_weights, _ = dawid_skene.proportions(sizes.sum(1), self.evidence.sizes, learned=self.learned)
        if self.evidence.n_subtypes > 1:
            log_weights = (log_weights[:, None] + dawid_skene.shares_of_subtypes(sizes)[0]).ravel()
        return posterior(onehot, log_weights, dawid_skene.columns_of(new.log_table)), new


@dataclass(frozen=True)
class WeightedMixture:
    """A fitted mixture of product distributions.

    from_votes : whether the fit started from the votes; else a draw starts from the fitted responsibilities.
    """

    encoded: Encoded
    fitted: Responsibilities
    smoothing: float
    from_votes: bool

    @cached_property
    def once(self) -> OneHotLabels:
        """The labels, each counted once."""
        return self.encoded.onehot()

    def responsibilities(self, weights: Weights) -> Responsibilities:
        """Return q(z) under weights of the annotators, after a few sweeps."""
        onehot = self.encoded.onehot(weights)
        q = self.encoded.votes(weights) if self.from_votes else self.fitted
        for _ in range(SWEEPS):
            expected = self.once.expectation_of(q)
            q = posterior(onehot, *product_mixture.m_step(expected, self.encoded.labels.n_classes, self.smoothing))
        return q

    def draw(self, weights: Weights, rng: np.random.Generator) -> Clusters:
        """Draw the component of each item from its probability under these weights."""
        return self.encoded.drawn(self.responsibilities(weights), rng)
