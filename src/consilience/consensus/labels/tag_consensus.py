"""TagConsensus: several labels an item, each present or absent, by annotators who miss some and invent others.

Dawid & Skene (1979), Maximum Likelihood Estimation of Observer Error-Rates Using the EM Algorithm, Applied Statistics
28(1), for each tag, with a prior over annotators that all tags share. It is learned how far.

Model
-----
    π_t          ~ Beta(1, 1)                    share of the items that have tag t
    z_nt         ~ Bernoulli(π_t)                whether item n has tag t
    y_njt | z_nt ~ Bernoulli(θ_jt) if z_nt = 1   whether annotator j, who saw item n, gave it tag t
                   Bernoulli(1 - φ_jt) if not
    θ_jt         ~ Beta(s a_j, s (1 - a_j))      sensitivity
    φ_jt         ~ Beta(r b_j, r (1 - b_j))      specificity
    a_j          ~ Beta(α, β),  b_j ~ Beta(γ, δ)  of the annotator, over all tags

α to δ, s and r are learned from the crowd. A large s says that annotators miss all tags alike, so that what one tag
tells about an annotator serves the others; a small one that each tag is a skill of its own.

Symbols
-------
    here                    shape
    z      probabilities      (items, tags)          q(z_nt = 1)
    y      given              (rows,)                item, annotator and tag of each tag given
           seen               (items, annotators)    1 where an annotator saw an item
    θ φ    present, absent    `Hierarchical`         sensitivities and specificities
    π      prevalence         (tags, 2)              Beta parameters of q(π_t)

Updates
-------
    q(z_nt = 1) ∝ exp(E ln π_t + Σ_j E ln p(y_njt | θ_jt))
    q(z_nt = 0) ∝ exp(E ln (1 - π_t) + Σ_j E ln p(y_njt | φ_jt))
    q(π_t)      = Beta(1 + Σ_n q(z_nt = 1), 1 + Σ_n q(z_nt = 0))
    q(θ), q(φ)  from expected counts, by `annotator_models.Hierarchical`

`Hierarchical` is a model of confusion matrices with subtypes of classes. Here the two classes are absence and presence,
and each tag is a subtype: θ are the rows of presence in one such model, φ the rows of absence in another. They are two
since whoever misses much need not invent much.

Decided here
------------
An annotator who gave an item some tags, or none, saw it, and says no to all others. Items that an annotator did not see
contribute nothing. Tags are independent of each other given the items. The first probabilities are the shares of those
who saw an item that gave it the tag. Known tags of gold items are not updated, and the bound has only their terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from scipy.special import expit

from consilience.consensus.labels.annotator_models import Hierarchical
from consilience.inference import Trace
from consilience.inference.exponential_family import expected_log_dirichlet, kl_dirichlet
from consilience.inference.iterate import begin

ABSENT, PRESENT = 0, 1  # classes of `Hierarchical`, and answers

Codes = Int[np.ndarray, " rows"]
OfTags = Float[np.ndarray, "items tags"]
OfAnnotators = Float[np.ndarray, "annotators tags"]


@dataclass(frozen=True)
class TagEvidence:
    """What annotators said, and what is known.

    seen : (items, annotators) 1 where an annotator saw an item.
    item, annotator, tag : (rows,) of each tag given.
    n_tags : int
    known : (items, tags) 1 or 0 where it is known, else -1; None without gold items.
    """

    seen: csr_array
    item: Codes
    annotator: Codes
    tag: Codes
    n_tags: int
    known: Int[np.ndarray, "items tags"] | None = None

    def gather(self, of_rows: Float[np.ndarray, " rows"]) -> OfTags:
        """Sum over the annotators who gave an item a tag."""
        n_items = self.seen.shape[0]
        cells = self.item * self.n_tags + self.tag
        return np.bincount(cells, of_rows, n_items * self.n_tags).reshape(n_items, self.n_tags).astype(float)

    def count(self, probabilities: OfTags) -> tuple[OfAnnotators, OfAnnotators]:
        """Expected number of items that an annotator gave a tag, and did not give it though they were seen."""
        n_annotators = self.seen.shape[1]
        cells = self.annotator * self.n_tags + self.tag
        given = np.bincount(cells, probabilities[self.item, self.tag], n_annotators * self.n_tags)
        given = given.reshape(n_annotators, self.n_tags).astype(float)
        return given, np.maximum(self.seen.T @ probabilities - given, 0)  # below 0 by rounding alone


@dataclass(frozen=True)
class TagState:
    """Distributions of the annotators' rates and of the shares of the tags, and the E-step under them.

    present, absent : q(θ) and q(φ).
    prevalence : (tags, 2) Beta parameters of q(π).
    probabilities : q(z = 1).
    bound : nats.
    """

    present: Hierarchical
    absent: Hierarchical
    prevalence: Float[np.ndarray, "tags 2"]
    probabilities: OfTags
    bound: float

    @property
    def rates(self) -> tuple[OfAnnotators, OfAnnotators]:
        """Posterior means of sensitivity and specificity."""
        n_tags = len(self.prevalence)
        sensitivity = self.present.matrices()[:, n_tags:, PRESENT]
        return np.asarray(sensitivity), np.asarray(self.absent.matrices()[:, :n_tags, ABSENT])

    @property
    def log_rates(self) -> Float[np.ndarray, "classes answers annotators tags"]:
        """Expected log probability of not giving, and giving, a tag that is absent, and one that is present."""
        n_tags = len(self.prevalence)
        absent, present = (cast(np.ndarray, model.log_table) for model in (self.absent, self.present))
        return np.stack([absent[:, :, :n_tags], present[:, :, n_tags:]]).transpose(0, 2, 1, 3)


def init(evidence: TagEvidence) -> TagState:
    """M-step from the shares of votes, then the E-step."""
    start = with_known(vote_shares(evidence), evidence.known)
    present, absent = counts_of(evidence, start)
    return state_of(Hierarchical.of(present), Hierarchical.of(absent), start, evidence)


def step(state: TagState, evidence: TagEvidence) -> TagState:
    """M-step from the current probabilities, then the E-step."""
    present, absent = counts_of(evidence, state.probabilities)
    return state_of(state.present.update(present), state.absent.update(absent), state.probabilities, evidence)


def run(evidence: TagEvidence, *, max_iter: int, tol: float) -> Trace[TagState]:
    """Iterate from the shares of votes until the bound converges."""
    return begin(lambda: init(evidence), lambda state: step(state, evidence), lower_bound, max_iter=max_iter, tol=tol)


def lower_bound(state: TagState) -> float:
    """Bound on ln p(tags given), all constants kept, but for the approximation of `Hierarchical`."""
    return state.bound


def counts_of(evidence: TagEvidence, probabilities: OfTags) -> tuple[np.ndarray, np.ndarray]:
    """Expected answers to present and to absent tags: (annotators, answers, classes × tags), as subtypes of classes."""
    tables = []
    for of_class, share in ((PRESENT, probabilities), (ABSENT, 1 - probabilities)):
        given, not_given = evidence.count(share)
        table = np.zeros((len(given), 2, 2 * evidence.n_tags))
        own = slice(of_class * evidence.n_tags, (of_class + 1) * evidence.n_tags)
        table[:, PRESENT, own], table[:, ABSENT, own] = given, not_given
        tables.append(table)
    return tables[0], tables[1]


def state_of(present: Hierarchical, absent: Hierarchical, probabilities: OfTags, evidence: TagEvidence) -> TagState:
    """Update q(π), and run the E-step under it, q(θ) and q(φ)."""
    has = probabilities.sum(0)
    prevalence = 1 + np.column_stack([has, len(probabilities) - has])
    state = TagState(present, absent, prevalence, probabilities, 0.0)
    log_prior, log_joint = 0.0, log_joint_of(evidence, state.log_rates, expected_log_dirichlet(prevalence))
    for model in (present, absent):
        log_prior += model.log_prior(model.counts)
    log_prior -= float(kl_dirichlet(prevalence, np.ones_like(prevalence)).sum())
    log_absent, log_present = log_joint
    log_likelihood = np.logaddexp(log_absent, log_present)
    if evidence.known is not None:
        log_likelihood = np.where(evidence.known == PRESENT, log_present, log_likelihood)
        log_likelihood = np.where(evidence.known == ABSENT, log_absent, log_likelihood)
    found = with_known(expit(log_present - log_absent), evidence.known)
    return TagState(present, absent, prevalence, found, log_prior + float(log_likelihood.sum()))


def log_joint_of(
    evidence: TagEvidence,
    log_rates: Float[np.ndarray, "classes answers annotators tags"],
    log_prevalence: Float[np.ndarray, "tags 2"],
) -> Float[np.ndarray, "classes items tags"]:
    """E ln p(answers, z) of each item and tag, for z = 0 and 1."""
    rows = (evidence.annotator, evidence.tag)
    found = []
    for log_not, log_yes in log_rates:
        found.append(evidence.seen @ log_not + evidence.gather((log_yes - log_not)[rows]))
    return np.stack(found) + log_prevalence.T[::-1, None, :]


def vote_shares(evidence: TagEvidence) -> OfTags:
    """Share of those who saw an item that gave it the tag; of items that nobody saw the mean share."""
    votes = evidence.gather(np.ones(len(evidence.tag)))
    n_seen = np.asarray(evidence.seen.sum(1)).ravel()
    shares = votes / np.maximum(n_seen, 1)[:, None]
    shares[n_seen == 0] = shares[n_seen > 0].mean(0)
    return shares


def with_known(probabilities: OfTags, known: Int[np.ndarray, "items tags"] | None) -> OfTags:
    """Return probabilities in which known tags are certain."""
    return probabilities if known is None else np.where(known >= 0, known, probabilities)
