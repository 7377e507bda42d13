"""Tags by annotators who each have a weight: groups of people other than those asked.

As in `weighted_labels`, a weight multiplies an annotator's terms in the E-step, of tags that were given and of those
that were not, and what is drawn comes from its probability: here, whether an item has a tag. Known tags stay.

A draw is a single E-step under the rates of the fit. Rates that each draw learned anew from weighted votes made what is
stated of simulated crowds err more, and of recorded ones less (`benchmarks/certainty.py`, an even draw).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.special import expit

from consilience.annotations.names import MISSING
from consilience.consensus.labels.tag_consensus import OfTags, TagEvidence, log_joint_of, with_known
from consilience.inference.reweighted import Clusters, Weights


@dataclass(frozen=True)
class WeightedTags:
    """A fitted model of tags.

    log_rates : expected log probability of each answer to a tag that is absent, and to one that is present.
    log_prevalence : E ln π and E ln (1 - π).
    codes_of : returns the place of each set of tags among those that items have in the fit, -1 for others.
    n_sets : that items have in the fit.
    told : items whose tags the fit tells; nobody saw the others.
    """

    evidence: TagEvidence
    log_rates: Float[np.ndarray, "classes answers annotators tags"]
    log_prevalence: Float[np.ndarray, "tags 2"]
    codes_of: Callable[[Bool[np.ndarray, "items tags"]], Int[np.ndarray, " items"]]
    n_sets: int
    told: Bool[np.ndarray, " items"]

    def probabilities(self, weights: Weights) -> OfTags:
        """Return q(z = 1) under weights of the annotators."""
        weighted = self.log_rates * weights[:, None]
        log_absent, log_present = log_joint_of(self.evidence, weighted, self.log_prevalence)
        return with_known(expit(log_present - log_absent), self.evidence.known)

    def draw(self, weights: Weights, rng: np.random.Generator) -> Clusters:
        """Draw the set of tags of each item under these weights; sets that no item has in the fit are numbered last."""
        q = self.probabilities(weights)
        drawn = rng.random(q.shape) < q
        found = self.codes_of(drawn)
        is_new = found == MISSING
        found[is_new] = self.n_sets + np.unique(drawn[is_new], axis=0, return_inverse=True)[1].ravel()
        return np.where(self.told, found, MISSING)
