"""Whether an informative set explains the labels of a crowd better than all annotators together do.

Two models of the labels of all annotators:

    the set       those in S by the model of `dawid_skene`, with its learned prior; everyone else draws labels that do
                  not depend on the class,  φ_j ~ Dirichlet(α),  y_nj ~ Categorical(φ_j),  α learned from them
    all           everyone by the model of `dawid_skene`

Both are compared by ln p(labels): exactly for those outside S, with α at its most probable value, and elsewhere by the
bound, with its constants. S was chosen from many sets; every set of its size is as probable, so that the logarithm of
their number is subtracted. In a sparse crowd the first model is ahead by hundreds of nats. Where no two annotators have
many items in common, no test can tell who is informed; then S is too small, and the second is ahead.

Decided here
------------
The proportions of the classes have the prior Dirichlet(1) under both. Annotators whose labels are constant, see
`constant_annotators`, are outside the set of all.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import minimize
from scipy.special import digamma, gammaln

LIMITS = (np.log(1e-2), np.log(1e6))  # of ln α

Counts = Float[np.ndarray, "annotators labels"]


def evidence_of_others(counts: Int[np.ndarray, "annotators labels"], members: tuple[int, ...]) -> float:
    """ln p of the labels of the annotators outside a set, nats, if they do not depend on the class."""
    others = np.delete(counts.astype(float), list(members), axis=0)
    return evidence_of_frequencies(others[others.sum(1) > 0])


def evidence_of_frequencies(counts: Counts) -> float:
    """Σ_j ln p(the labels of j, in order) with frequencies from Dirichlet(α), at the most probable α, nats."""
    n_annotators, n_labels = counts.shape
    if not n_annotators or n_labels == 1:
        return 0.0
    total = counts.sum(1)

    def objective(logs: np.ndarray) -> tuple[float, np.ndarray]:
        alpha = np.exp(logs)
        value = gammaln(alpha + counts).sum() - gammaln(alpha.sum() + total).sum()
        value += n_annotators * (gammaln(alpha.sum()) - gammaln(alpha).sum())
        slope = digamma(alpha + counts).sum(0) - digamma(alpha.sum() + total).sum()
        slope += n_annotators * (digamma(alpha.sum()) - digamma(alpha))
        return -float(value), -slope * alpha  # in ln α

    found = minimize(objective, np.zeros(n_labels), jac=True, method="L-BFGS-B", bounds=[LIMITS] * n_labels)
    return -float(found.fun)


def log_number_of_sets(n_annotators: int, n_members: int) -> float:
    """ln of the number of sets of this size."""
    return float(gammaln(n_annotators + 1) - gammaln(n_members + 1) - gammaln(n_annotators - n_members + 1))
