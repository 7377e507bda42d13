"""MCVC and MECC: the estimators of `consilience.semisupervised.mcvc`. Chang et al. (2017)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.special import softmax

from consilience.annotations import Groupings, Pairs
from consilience.annotations.base import Annotations
from consilience.annotations.types import Count, Flag, Integer, Literal, RandomSource, Real, Reals
from consilience.errors import InputError
from consilience.estimators import learned
from consilience.estimators.learned import Attributes
from consilience.estimators.pair_notes import notes_on_degenerate_clusters
from consilience.estimators.parameters import (
    AUTO,
    NOT_NEGATIVE,
    POSITIVE,
    RESTARTS,
    TWO_POSITIVE,
    Requirements,
    is_auto,
    one_of,
    whole,
)
from consilience.estimators.traces import keep_trace
from consilience.estimators.views import ViewEstimator
from consilience.inference.pair_evidence import PairEvidence
from consilience.inference.randomness import spawn_generator
from consilience.inference.threads import one_blas_thread
from consilience.semisupervised import mcvc as multiple_views
from consilience.semisupervised import mcvc_search
from consilience.semisupervised.mcvc import MCVCPrior, MCVCProblem, MCVCState

MOST_VIEWS = 10  # of "auto"
LARGEST_VIEWS = 1000  # of an int
N_DRAWS = 100  # of the weights; predictions are averaged over them

OF_BOTH: Requirements = {
    "n_clusters": whole(1),
    "reliability_prior": TWO_POSITIVE,
    "implied_pairs": one_of("all", "independent"),
    "n_init": RESTARTS,
    "max_iter": whole(1),
    "tol": NOT_NEGATIVE,
}


OF_WEIGHTS: Attributes = {
    "converged_": learned.TRUTH,
    "_weights": learned.list_of(
        learned.tuple_of(learned.reals("weights", None), learned.reals("weights", None, low=0)), "views"
    ),
}


class MCVC(ViewEstimator):
    """Several clusterings of the same items, each predicted from the features and held by some of the annotators.

    Annotators judge whether two items belong together, with errors, each by one of several views. The number of views,
    and who holds which, is estimated.

    Parameters
    ----------
    n_clusters : int, default=8
        Largest number of clusters of each view; those that own no item are left out.
    max_views : "auto" or int, default="auto"
        Initial number of views; those that nobody holds are left out. "auto": half the annotators, at most 10.
    reliability_prior : (float, float), default=(10.0, 1.0)
        Beta prior of the annotators' sensitivities and specificities: imagined right and wrong judgements of each.
    stick_concentration : float, default=1.0
        γ: the larger, the more views.
    implied_pairs : {"all", "independent"}, default="all"
        How the dependent pairs of a grouping count: "all" of them, as if judged one by one, or as many as
        are "independent": m - 1 for m items.
    n_init : int, default=50
        Number of random starts; an eighth as many more begin with the spectrum of the evidence. The one with the
        highest bound is kept.
    max_iter : int, default=500
        Maximum number of sweeps of a restart.
    tol : float, default=1e-6
        A restart has converged when the relative gain of the bound is less than this.
    verbose : bool, default=False
        Show a progress bar: in a notebook, or in a terminal on standard error.
    random_state : int, RandomState, Generator or None, default=None
        An int makes the result reproducible.

    Attributes
    ----------
    views_ : DataFrame, one row for each view, the most held first
        n_annotators, weight (expected share of annotators; sums to 1), n_clusters.
    view_labels_ : DataFrame of int, shape (n_items, n_views)
        Cluster of each item in each view, numbered by decreasing size.
    view_responsibilities_ : list of ndarray, shapes (n_items, clusters of the view)
    labels_, responsibilities_, n_clusters_ :
        Those of the first view.
    view_probabilities_ : DataFrame, shape (n_annotators, n_views)
        Probability that an annotator holds a view.
    annotators_ : DataFrame, one row for each annotator
        n_pairs (judged, as `implied_pairs` counts them), view (the most probable), sensitivity and specificity
        (posterior means), weight (ln α β / ((1 − α)(1 − β)), nats, of a judgement).
    items_ : Index, shape (n_items,)
    lower_bound_ : float
        Bound on ln p(judgements | features), nats, of the kept restart.
    lower_bounds_ : ndarray
        The same after each sweep of its last run, without other restarts.
    restart_bounds_ : ndarray, shape (n_init + n_init // 8,)
        The bound at which each restart was compared with the others, random starts first.
    n_iter_, converged_, n_features_in_, feature_names_in_ : as in scikit-learn

    See Also
    --------
    MECC : One view.
    consilience.deep.DeepMCVC : Clusters that no line separates.
    consilience.consensus.MetaClustering : No features.

    References
    ----------
    Chang, Chen, Cho, Castaldi, Silverman & Dy (2017). Multiple Clustering Views from Multiple Uncertain Experts. ICML.

    Examples
    --------
    >>> import pandas as pd
    >>> from consilience import Groupings
    >>> from consilience.semisupervised import MCVC
    >>> blocks = pd.MultiIndex.from_product([["red", "blue"], ["round", "square"], range(6)]).to_frame()
    >>> items = [f"{colour} {shape} {number}" for colour, shape, number in blocks.index]
    >>> sorts = pd.DataFrame({"Ann": blocks[0], "Bob": blocks[0], "Cem": blocks[1], "Dia": blocks[1]})
    >>> model = MCVC(n_clusters=2, random_state=0).fit(None, Groupings.from_matrix(sorts.to_numpy(), items=items))
    >>> len(model.views_), model.annotators_["view"].tolist()
    (2, [0, 0, 1, 1])
    """

    _does_without_features = True

    _learned: ClassVar[Attributes] = OF_WEIGHTS

    _requirements: ClassVar[Requirements] = {
        **OF_BOTH,
        "max_views": AUTO | whole(1, LARGEST_VIEWS),
        "stick_concentration": POSITIVE,
    }

    def __init__(
        self,
        n_clusters: Count = 8,
        *,
        max_views: Literal["auto"] | Integer = "auto",
        reliability_prior: Reals = (10.0, 1.0),
        stick_concentration: Real = 1.0,
        implied_pairs: Literal["all", "independent"] = "all",
        n_init: Integer = 50,
        max_iter: Integer = 500,
        tol: Real = 1e-6,
        verbose: Flag = False,
        random_state: RandomSource = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.max_views = max_views
        self.reliability_prior = reliability_prior
        self.stick_concentration = stick_concentration
        self.implied_pairs = implied_pairs
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state

    def _learn(self, features: Float[np.ndarray, "items features"], annotations: Pairs | Groupings) -> None:
        _learn(self, features, annotations)

    def _predicted(self, features: Float[np.ndarray, "items features"], view: int) -> np.ndarray:
        return _predict_mean(features, *self._weights[view])

    def _contradictions(self) -> Iterator[str]:
        yield from super()._contradictions()
        yield from contradictions_of_weights(self)


class MECC(ViewEstimator):
    """One clustering predicted from the features, from pairs judged by annotators of different reliability.

    It is `MCVC` with one view, which all annotators share.

    Parameters
    ----------
    n_clusters : int, default=8
        Largest number of clusters; those that own no item are left out.
    reliability_prior : (float, float), default=(10.0, 1.0)
        Beta prior of the annotators' sensitivities and specificities: imagined right and wrong judgements of each.
    implied_pairs : {"all", "independent"}, default="independent"
        How the dependent pairs of a grouping count: "all" of them, as if judged one by one, or as many as
        are "independent": m - 1 for m items.
    n_init : int, default=50
        Number of random starts; an eighth as many more begin with the spectrum of the evidence. The one with the
        highest bound is kept.
    max_iter : int, default=500
        Maximum number of sweeps of a restart.
    tol : float, default=1e-6
        A restart has converged when the relative gain of the bound is less than this.
    verbose : bool, default=False
        Show a progress bar: in a notebook, or in a terminal on standard error.
    random_state : int, RandomState, Generator or None, default=None
        An int makes the result reproducible.

    Attributes
    ----------
    labels_ : ndarray of int, shape (n_items,)
        Cluster of each item, numbered by decreasing size.
    responsibilities_ : ndarray, shape (n_items, n_clusters_)
    n_clusters_ : int
    annotators_ : DataFrame, one row for each annotator
        n_pairs (judged, as `implied_pairs` counts them), sensitivity and specificity (posterior means), weight
        (ln α β / ((1 − α)(1 − β)), nats, of a judgement). `view` is 0.
    views_, view_labels_, view_responsibilities_, view_probabilities_ : as in MCVC, with one view.
    notes_ : list of str
        What limits the answer: one cluster, or each item alone, although many judgements say otherwise.
    items_, lower_bound_, lower_bounds_, restart_bounds_, n_iter_, converged_ : as in MCVC
    n_features_in_, feature_names_in_ : as in scikit-learn

    See Also
    --------
    MCVC : Several views.
    consilience.consensus.CorrelationClustering : No features.
    MPCKMeans : A fast baseline.

    References
    ----------
    Chang, Chen, Cho, Castaldi, Silverman & Dy (2017). Clustering from Multiple Uncertain Experts. AISTATS.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from consilience.metrics import nmi
    >>> from consilience.semisupervised import MECC
    >>> from consilience.simulation import simulate_pairs
    >>> X, species = load_iris(return_X_y=True)
    >>> judged = simulate_pairs(species, n_annotators=3, pairs_each=200, accuracy=[0.95, 0.85, 0.75], random_state=0)
    >>> model = MECC(n_clusters=3, random_state=0).fit((X - X.mean(0)) / X.std(0), judged)
    >>> nmi(species, model.labels_) > 0.9
    True
    """

    _does_without_features = True

    _learned: ClassVar[Attributes] = OF_WEIGHTS | {"notes_": learned.NOTES}

    _requirements: ClassVar[Requirements] = OF_BOTH

    def __init__(
        self,
        n_clusters: Count = 8,
        *,
        reliability_prior: Reals = (10.0, 1.0),
        implied_pairs: Literal["all", "independent"] = "independent",
        n_init: Integer = 50,
        max_iter: Integer = 500,
        tol: Real = 1e-6,
        verbose: Flag = False,
        random_state: RandomSource = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.reliability_prior = reliability_prior
        self.implied_pairs = implied_pairs
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state

    def _learn(self, features: Float[np.ndarray, "items features"], annotations: Pairs | Groupings) -> None:
        evidence = _learn(self, features, annotations)
        requested = 1 if self.n_clusters == 1 else None  # otherwise n_clusters is a bound
        self.notes_ = notes_on_degenerate_clusters(
            self.labels_, evidence.n_same.sum(), evidence.n_pairs.sum(), requested
        )

    def _predicted(self, features: Float[np.ndarray, "items features"], view: int) -> np.ndarray:
        return _predict_mean(features, *self._weights[view])

    def _contradictions(self) -> Iterator[str]:
        yield from super()._contradictions()
        yield from contradictions_of_weights(self)


def views_to_begin_with(model: MCVC | MECC, n_annotators: int) -> int:
    """Return the initial number of views."""
    if isinstance(model, MECC):
        return 1
    return min(math.ceil(n_annotators / 2), MOST_VIEWS) if is_auto(model.max_views) else int(model.max_views)


def prior_of(model: MCVC | MECC) -> MCVCPrior:
    """Return the priors that the parameters stand for."""
    stick = float(model.stick_concentration) if isinstance(model, MCVC) else 1.0
    return MCVCPrior(stick, *map(float, model.reliability_prior))


def require_pairs(model: MCVC | MECC, has_any: bool, n_items: int) -> None:
    """Raise an InputError unless there are judged pairs."""
    if not has_any:
        raise InputError(
            f"{type(model).__name__} needs judgements of pairs; the annotations hold none (n_samples={n_items})."
        )


def _learn(
    model: MCVC | MECC, features: Float[np.ndarray, "items features"], annotations: Pairs | Groupings
) -> PairEvidence:
    """Run restarts, set the results of the best, and return the evidence."""
    evidence = PairEvidence.of(annotations, implied=model.implied_pairs)
    require_pairs(model, bool(evidence.n_pairs.any()), len(annotations))
    n_views = views_to_begin_with(model, evidence.n_annotators)
    problem = MCVCProblem.of(features, evidence, prior_of(model), min(model.n_clusters, len(annotations)))
    rng = spawn_generator(model.random_state)
    with one_blas_thread(), model._progress():
        trace, model.restart_bounds_ = mcvc_search.run(
            problem, n_views, n_init=model.n_init, max_iter=model.max_iter, tol=float(model.tol), rng=rng
        )
    keep_trace(model, trace)
    read_off(model, trace.state, evidence, annotations)
    return evidence


def read_off(
    model: MCVC | MECC, state: MCVCState, evidence: PairEvidence, annotations: Annotations
) -> Int[np.ndarray, " kept"]:
    """Set the views and the annotators; return the views of the state that are kept."""
    phi, judged = state.phi[:, 0], evidence.n_pairs > 0
    share = np.exp(multiple_views.expected_log_sticks(state.sticks))[0]
    kept = model._read_views(state.eta.transpose(2, 0, 1), phi, judged, share, annotations)
    mean, deviation = state.weights.mean, np.exp(state.weights.log_variance / 2)
    model._weights = [(mean[:, :, view], deviation[:, :, view]) for view in kept]
    own = model.view_probabilities_
    model.annotators_ = _annotators(state, evidence, own.to_numpy()).set_axis(own.index)
    return kept


def mean_weights(model: MCVC | MECC) -> list[Float[np.ndarray, "weights clusters"]]:
    """Return the mean weights of the clusters in each view, of those that own no items, too."""
    return [mean for mean, _ in model._weights]


def owning_clusters(model: MCVC | MECC) -> list[Int[np.ndarray, " owning"]]:
    """Return the clusters of each view that own items, as numbers in `mean_weights`."""
    return list(model._owned)


def _predict_mean(
    features: Float[np.ndarray, "items features"], mean: np.ndarray, deviation: np.ndarray
) -> Float[np.ndarray, "items clusters"]:
    """Mean over draws from q(W)."""
    draws = np.random.default_rng(0).normal(size=(N_DRAWS, *mean.shape))  # the same predictions at every call
    total = np.zeros((len(features), mean.shape[1]))
    for draw in draws:
        weights = mean + deviation * draw
        total += softmax(features @ weights[:-1] + weights[-1], axis=1)
    # not divided: predict_proba normalises
    return total


def _annotators(state: MCVCState, evidence: PairEvidence, view_probability: np.ndarray) -> pd.DataFrame:
    sensitivity, specificity = (right[:, 0, 0] / right[:, 0].sum(-1) for right in state.right)
    same, apart = multiple_views.pair_weights(state)
    table = {
        "n_pairs": np.rint(evidence.n_pairs).astype(int),
        "view": view_probability.argmax(1),
        "sensitivity": sensitivity,
        "specificity": specificity,
        "weight": (same - apart)[:, 0],
    }
    return pd.DataFrame(table)


def contradictions_of_weights(model: MCVC | MECC) -> Iterator[str]:
    """Yield the name of the weights if they fit neither the features nor the clusters."""
    n_features = getattr(model, "n_features_in_", 0)
    for (mean, deviation), owned in zip(model._weights, model._owned):
        if mean.shape != deviation.shape or len(mean) != n_features + 1 or owned.max(initial=0) >= mean.shape[1]:
            yield "_weights"
