"""Probabilities of tags that allow for errors which annotators share.

As those of classes, see `calibration`: the posterior takes errors to be independent given the item, and annotators err
together. The floors are those that recorded crowds teach `DawidSkene`; `benchmarks/tags.py` says what they do on the
same crowds, read as tags.

    T_n  = min(1 + slope (m_n - 1), highest)                     m_n annotators who saw item n
    w_n  = 1 - kept / T_n
    P_nt = (1 - votes) [(1 - w_n) p_n + w_n (p_n θ_t + (1 - p_n) (1 - φ_t))] + votes (N_nt + π_t) / (m_n + 1)
    p_n  = 1 / (1 + exp(-ln π_t / (1 - π_t) - S_nt / T_n))       S_nt: what the annotators tell, nats

N_nt is how many of them gave the tag, θ_t and φ_t are the mean rates of its most accurate annotators, who gave a
quarter of all answers. Whether a tag is the more probable, or the less, stays as in the posterior. Items that nobody
saw keep π_t.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.special import expit

from consilience.consensus.labels.calibration import RECORDED, ROUNDING, are_good

OfTags = Float[np.ndarray, "items tags"]
OfAnnotators = Float[np.ndarray, "annotators tags"]


def allow_for_shared_errors(
    log_joint: Float[np.ndarray, "classes items tags"],
    log_odds: Float[np.ndarray, " tags"],
    votes: OfTags,
    n_seen: Float[np.ndarray, " items"],
    good: Float[np.ndarray, "rates tags"],
) -> OfTags:
    """P of each item and tag.

    log_joint : E ln p(answers, z) for z = 0 and 1.
    log_odds : E ln π - E ln (1 - π).
    votes : how many annotators gave the tag.
    n_seen : how many saw the item.
    good : mean sensitivity and specificity of the best annotators.
    """
    log_ratio = log_joint[1] - log_joint[0]
    temperature = RECORDED.temperatures(n_seen, 1.0)[:, None]
    tempered = expit(log_odds + (log_ratio - log_odds) / temperature)
    shared = 1 - RECORDED.kept / temperature
    said = tempered * good[0] + (1 - tempered) * (1 - good[1])
    by_votes = (votes + expit(log_odds)) / (n_seen + 1)[:, None]
    mixed = (1 - RECORDED.votes) * ((1 - shared) * tempered + shared * said) + RECORDED.votes * by_votes
    mixed = np.where(n_seen[:, None] > 0, mixed, tempered)
    return on_side_of(mixed, log_ratio > 0)


def on_side_of(probabilities: OfTags, is_present: Bool[np.ndarray, "items tags"]) -> OfTags:
    """Exchange the probabilities of presence and absence where another is to be the larger."""
    return np.where((probabilities > 0.5) == is_present, probabilities, 1 - probabilities)


def rates_of_good(
    sensitivity: OfAnnotators,
    specificity: OfAnnotators,
    share: Float[np.ndarray, " tags"],
    n_seen: Int[np.ndarray, " annotators"],
) -> Float[np.ndarray, "rates tags"]:
    """Mean rates of the most accurate annotators of each tag, weighted by how many items they saw."""
    accuracy = share * sensitivity + (1 - share) * specificity
    is_good = np.column_stack([are_good(of_tag, n_seen) for of_tag in accuracy.T])
    weights = is_good * (n_seen[:, None] + ROUNDING)  # a mean needs a weight, even where nobody saw anything
    return np.stack([(weights * rate).sum(0) / weights.sum(0) for rate in (sensitivity, specificity)])
