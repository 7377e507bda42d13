"""DeepMCVC: the estimator of `consilience.deep.deep_mcvc`. Luo et al. (2018), appendix C."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from jaxtyping import Float, PyTree

from consilience.annotations import Groupings, Pairs
from consilience.annotations.types import Count, Flag, Integer, Integers, Literal, RandomSource, Real, Reals
from consilience.deep import checkpoints
from consilience.deep.deep_mcvc import (
    DeepMCVCSettings,
    DeepMCVCState,
    expected_log_sticks,
    init,
    pair_weights,
    run,
    scores,
)
from consilience.deep.judgements import NumberedJudgements, annotated_items, judgements
from consilience.errors import InputError
from consilience.estimators import learned
from consilience.estimators.learned import Attributes
from consilience.estimators.parameters import (
    AUTO,
    POSITIVE,
    RESTARTS,
    TWO_POSITIVE,
    WIDTHS,
    Requirements,
    one_of,
    whole,
)
from consilience.estimators.views import ViewEstimator
from consilience.inference.randomness import spawn_seeds

MOST_VIEWS = 10  # of "auto"
LARGEST_VIEWS = 1000  # of an int


class DeepMCVC(ViewEstimator):
    """Several clusterings of the same items, each predicted from the features by a network and held by some annotators.

    Like `MCVC`, with nonlinear boundaries of the clusters. It learns from the annotated items only; if they are few,
    `BayesSCDC` also uses the others.

    Parameters
    ----------
    n_clusters : int, default=8
        Largest number of clusters of each view; those that own no item are left out.
    max_views : "auto" or int, default="auto"
        Initial number of views; those that nobody holds are left out. "auto": half the annotators, at most 10.
    hidden : tuple of int, default=(40, 40)
        Widths of the hidden layers.
    weight_deviation : float, default=1.0
        σ: prior standard deviation of the networks' weights; the smaller, the smoother.
    reliability_prior : (float, float), default=(10.0, 1.0)
        Beta prior of the annotators' sensitivities and specificities: imagined right and wrong judgements of each.
    stick_concentration : float, default=1.0
        γ: the larger, the more views.
    implied_pairs : {"groups", "independent", "all"}, default="all"
        How the pairs of a grouping count; see `BayesSCDC`.
    n_init : int, default=10
        Number of restarts, run in parallel; the one with the highest bound is kept.
    n_sweeps : int, default=200
        Number of sweeps.
    learning_rate : float, default=0.01
        Learning rate of Adam, which makes five steps per sweep.
    verbose : bool, default=False
        Show a progress bar: in a notebook, or in a terminal on standard error.
    random_state : int, RandomState, Generator or None, default=None
        An int makes the result reproducible.

    Attributes
    ----------
    views_, view_labels_, view_responsibilities_, view_probabilities_ : as in `MCVC`
    labels_, responsibilities_, n_clusters_ :
        Those of the first view, which most annotators hold.
    annotators_ : DataFrame, one row for each annotator
        n_pairs, view, sensitivity, specificity, weight, as in `MCVC`.
    items_ : Index, shape (n_items,)
    lower_bound_ : float
        Bound on ln p(judgements, weights of the networks | features), nats, of the kept restart.
    lower_bounds_ : ndarray, shape (n_sweeps,)
    restart_bounds_ : ndarray, shape (n_init,)
    n_iter_, n_features_in_, feature_names_in_ : as in scikit-learn

    See Also
    --------
    consilience.semisupervised.MCVC : Linear boundaries.
    BayesSCDC : One view, and items that nobody annotated.

    References
    ----------
    Luo, Tian, Shi, Zhu & Zhang (2018). Semi-crowdsourced Clustering with Deep Generative Models. NeurIPS, appendix C.

    Chang, Chen, Cho, Castaldi, Silverman & Dy (2017). Multiple Clustering Views from Multiple Uncertain Experts. ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from consilience.deep import DeepMCVC
    >>> from consilience.metrics import nmi
    >>> from consilience.simulation import simulate_pairs
    >>> X, species = load_iris(return_X_y=True)
    >>> judged = simulate_pairs(species, n_annotators=3, pairs_each=200, accuracy=0.9, random_state=0)
    >>> model = DeepMCVC(3, n_init=3, n_sweeps=50, random_state=0).fit((X - X.mean(0)) / X.std(0), judged)
    >>> nmi(species, model.labels_) > 0.9
    True
    """

    _learned: ClassVar[Attributes] = {
        "_kept": learned.array(int, "views", low=0),
        "state_": learned.ANYTHING,  # checked against the networks by `_contradictions`
    }

    _requirements: ClassVar[Requirements] = {
        "n_clusters": whole(1),
        "max_views": AUTO | whole(1, LARGEST_VIEWS),
        "hidden": WIDTHS,
        "n_init": RESTARTS,
        "n_sweeps": whole(1),
        "implied_pairs": one_of("groups", "independent", "all"),
        "weight_deviation": POSITIVE,
        "stick_concentration": POSITIVE,
        "learning_rate": POSITIVE,
        "reliability_prior": TWO_POSITIVE,
    }

    def __init__(
        self,
        n_clusters: Count = 8,
        *,
        max_views: Literal["auto"] | Integer = "auto",
        hidden: Integers = (40, 40),
        weight_deviation: Real = 1.0,
        reliability_prior: Reals = (10.0, 1.0),
        stick_concentration: Real = 1.0,
        implied_pairs: Literal["groups", "independent", "all"] = "all",
        n_init: Integer = 10,
        n_sweeps: Integer = 200,
        learning_rate: Real = 0.01,
        verbose: Flag = False,
        random_state: RandomSource = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.max_views = max_views
        self.hidden = hidden
        self.weight_deviation = weight_deviation
        self.reliability_prior = reliability_prior
        self.stick_concentration = stick_concentration
        self.implied_pairs = implied_pairs
        self.n_init = n_init
        self.n_sweeps = n_sweeps
        self.learning_rate = learning_rate
        self.verbose = verbose
        self.random_state = random_state

    def _learn(self, features: Float[np.ndarray, "items features"], annotations: Pairs | Groupings) -> None:
        annotated = annotated_items(annotations)
        if not len(annotated):
            raise InputError(
                f"DeepMCVC needs judgements of pairs; the annotations hold none (n_samples={len(annotations)})."
            )
        judged = judgements(annotations, annotated, implied=self.implied_pairs)
        seed = spawn_seeds(self.random_state, 1)[0]
        observed = jnp.asarray(features, jnp.float32)
        settings = self._settings(len(annotations.annotators))
        keys = jax.random.split(jax.random.key(seed), self.n_init)
        with self._progress():
            states, bounds = run(settings, observed[annotated], judged, keys)
        last = np.asarray(bounds[:, -1], float)
        if not np.isfinite(last).any():
            raise FloatingPointError("DeepMCVC: training failed in every restart. Standardise the features.")
        best = int(np.nanargmax(last))
        self.restart_bounds_, self.lower_bound_ = last, float(last[best])
        self.lower_bounds_, self.n_iter_ = np.asarray(bounds[best], float), self.n_sweeps
        state = jax.tree.map(lambda part: part[best], states)
        eta = np.exp(np.asarray(scores(state.networks, observed), float))
        eta[:, annotated] = state.eta
        phi, share = np.asarray(state.phi, float), np.exp(np.asarray(expected_log_sticks(state.sticks), float))
        judged_any = np.asarray(judged.n_pairs) > 0
        self._kept = self._read_views(eta, phi, judged_any, share, annotations)
        self._read_annotators(state, judged)
        self.state_ = checkpoints.to_arrays(state.networks)

    def _predicted(self, features: Float[np.ndarray, "items features"], view: int) -> np.ndarray:
        observed = jnp.asarray(features, jnp.float32)
        networks = checkpoints.from_arrays(self._template(), self.state_)
        return np.exp(np.asarray(scores(networks, observed)[self._kept[view]], float))

    def _template(self) -> PyTree:
        settings = self._settings(len(self.annotators_))
        observed = jax.ShapeDtypeStruct((1, self.n_features_in_), jnp.float32)
        return jax.eval_shape(lambda rows: init(settings, rows, 1, jax.random.key(0)).networks, observed)

    def _read_annotators(self, state: DeepMCVCState, judged: NumberedJudgements) -> None:
        same, apart = pair_weights(state)
        sensitivity, specificity = np.asarray(state.right[..., 0] / state.right.sum(-1), float)
        self.annotators_ = pd.DataFrame(
            {
                "n_pairs": np.rint(np.asarray(judged.n_pairs)).astype(int),
                "view": self.view_probabilities_.to_numpy().argmax(1),
                "sensitivity": sensitivity,
                "specificity": specificity,
                "weight": np.asarray(same - apart, float),
            },
            index=self.view_probabilities_.index,
        )

    def _settings(self, n_annotators: int) -> DeepMCVCSettings:
        most_views = self.max_views
        right, wrong = map(float, self.reliability_prior)
        return DeepMCVCSettings(
            sizes=(self.n_features_in_, *map(int, self.hidden), self.n_clusters),
            n_views=min(math.ceil(n_annotators / 2), MOST_VIEWS) if isinstance(most_views, str) else most_views,
            n_sweeps=self.n_sweeps,
            learning_rate=float(self.learning_rate),
            deviation=float(self.weight_deviation),
            stick=float(self.stick_concentration),
            reliability=(right, wrong),
        )

    def _contradictions(self) -> Iterator[str]:
        yield from super()._contradictions()
        if not checkpoints.fits(self._template(), self.state_):
            yield "state_"
        if max(int(owned.max(initial=0)) for owned in self._owned) >= self.n_clusters:
            yield "_owned"
