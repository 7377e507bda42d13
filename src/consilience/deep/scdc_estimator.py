"""SCDC: the estimator of `consilience.deep.scdc`. Luo et al. (2018)."""

from __future__ import annotations

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax import Array
from jaxtyping import PRNGKeyArray, PyTree

from consilience.annotations.types import Count, FilePath, Flag, Integer, Integers, Literal, RandomSource, Real, Reals
from consilience.deep import scdc
from consilience.deep.components import Components
from consilience.deep.deep_clustering import DeepClustering
from consilience.deep.exponential_family import Gaussian
from consilience.deep.judgements import JudgedAgreement, NumberedJudgements, first_reliability
from consilience.deep.model import Data, DeepModel, Fit
from consilience.deep.networks import Perceptron
from consilience.deep.pretraining import teach_classifier
from consilience.estimators.parameters import NONE, Requirements, whole

AS_IN_PAPER: dict[str, Any] = {
    "optimiser": "adam",
    "learning_rate": 1e-3,
    "warm_epochs": 0,
    "init": "random",
    "n_init": 1,
    "implied_pairs": "all",
}


class SCDC(DeepClustering):
    """Clusters in the latent space of a network, guided by judged pairs of some items; by point estimates.

    The predecessor of `BayesSCDC`, which is faster, estimates the number of clusters and makes better use of
    judgements.

    The parameters are in four groups: the model, from `n_clusters` on; the evidence, from `implied_pairs`; the
    networks, from `hidden`; and training, from `n_init`.

    Parameters
    ----------
    n_clusters : int, default=10
        K: number of clusters.
    n_latent : "auto" or int, default="auto"
        d: number of dimensions of the latent space. "auto": 10, or the number of features if they are fewer.
    likelihood : {"gaussian", "bernoulli"}, default="gaussian"
        Distribution of the features: standardised features, or features from 0 to 1 that are probabilities of ones,
        such as grey values.
    n_candidates : int or None, default=None
        Sum over this many of the most probable clusters of each item, so that the cost does not grow with K. None: over
        all, as in the paper.
    implied_pairs : {"groups", "independent", "all"}, default="groups"
        How the dependent pairs of a grouping count: as if each item were compared with one item of each of its
        "groups"; as many as are "independent", m - 1 for m items; or "all" of them, as if judged one by one, with which
        a single large grouping can outweigh the features and all other people.
    annotated_weight : float, default=1.0
        Factor on the weight of annotated items, as in `BayesSCDC`.
    trust_epochs : int, default=0
        Number of first epochs in which the annotators' reliabilities are fixed, as in `BayesSCDC`.
    reliability_prior : (float, float), default=(1.0, 1.0)
        Beta prior of the annotators' sensitivities and specificities: imagined right and wrong judgements of each.
    hidden : "auto" or tuple of int, default="auto"
        Widths of the hidden layers of the networks. "auto": (40, 40) with at most 50 features, else (500, 500).
    decoder : Equinox module, optional
        Replaces the perceptron; see `BayesSCDC`.
    n_init, n_epochs, warm_epochs : "auto" or int, default="auto"
        Numbers of restarts, of passes over the items, and of passes of the warm start, as in `BayesSCDC`.
    warm_weight : float, default=0.1
        Weight of the divergence of positions from N(0, I) in the warm start; 1 as in a variational autoencoder.
    init : {"mixture", "judgements", "random"}, default="mixture"
        First clusters on which the classifier is trained: a mixture of Gaussians of the positions after the warm start;
        clusters that a network learns from the judged pairs alone, which is better if people judge by something that
        accounts for little variance of the features; or, as in the paper, none.
    batch_size, annotated_batch_size : int
        Number of unjudged and of annotated items in a step.
    optimiser : {"adam", "momentum"} or optax.GradientTransformation, default="adam"
        Optimiser of the networks, as in `BayesSCDC`.
    learning_rate : float, default=0.001
        Learning rate of the networks, with "adam" and "momentum".
    rate, rate_delay, rate_decay : float
        Step size of the annotators' reliabilities, rate / (1 + steps/rate_delay)^rate_decay; 1 is a full update.
    checkpoint : path, optional
        File that is written after every epoch. A fit that finds it continues from it; the result is identical to that
        of an uninterrupted fit.
    verbose : bool, default=False
        Show a progress bar with the loss and the number of clusters of each restart: in a notebook, or in a terminal on
        standard error.
    random_state : int, RandomState, Generator or None, default=None
        An int makes the result reproducible.

    Attributes
    ----------
    labels_ : ndarray of int, shape (n_items,)
        Cluster of each item, numbered by decreasing size, from the classifier, which was trained on the judgements.
    responsibilities_ : ndarray, shape (n_items, n_clusters_)
    n_clusters_ : int
        Number of clusters that own items.
    annotators_ : DataFrame, one row for each annotator
        n_pairs (judged; those of groupings as they count, see `implied_pairs`), sensitivity and specificity (posterior
        means) with the ends of their 95 % credible intervals (…_low, …_high), weight (ln α β / ((1 − α)(1 − β)), nats,
        of a judgement).
    weights_, means_, covariances_ : ndarrays, shapes (n_clusters_,), (n_clusters_, n_latent), (…, n_latent)
        Share, mean and covariance of each cluster in the latent space.
    components_, component_means_, component_covariances_ : as in `BayesSCDC`; a Gaussian is a cluster
    lower_bound_ : float
        Bound on ln p(features, judgements), nats, at the point estimates and one draw of each latent position.
    restart_bounds_ : ndarray, shape (n_init,)
    losses_, clusters_left_ : ndarrays, shape (n_iter_,)
        Loss of each epoch, nats per item, and number of clusters that own items after it.
    image_shape_ : as in `BayesSCDC`
    items_, n_iter_, n_features_in_, feature_names_in_ : as in scikit-learn
    notes_ : list of str
        What limits the answer: few items, clusters that are too coarse, judgements that hardly count.
    state_ : dict of ndarrays
        State of training: arrays by name.

    See Also
    --------
    BayesSCDC : Its successor.
    consilience.semisupervised.MECC : Without networks.

    References
    ----------
    Luo, Tian, Shi, Zhu & Zhang (2018). Semi-crowdsourced Clustering with Deep Generative Models. NeurIPS.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from consilience.deep import SCDC
    >>> from consilience.metrics import nmi
    >>> from consilience.simulation import simulate_pairs
    >>> X, species = load_iris(return_X_y=True)
    >>> X = (X - X.mean(0)) / X.std(0)
    >>> judged = simulate_pairs(species, n_annotators=3, pairs_each=200, accuracy=0.9, random_state=0)
    >>> small = {"n_latent": 2, "hidden": (20,), "batch_size": 32, "annotated_batch_size": 32, "n_epochs": 100}
    >>> model = SCDC(3, n_init=2, random_state=0, **small).fit(X, judged)
    >>> bool(nmi(species, model.labels_) > 0.7)
    True
    """

    _requirements: ClassVar[Requirements] = {"n_candidates": NONE | whole(1)}

    def __init__(
        self,
        n_clusters: Count = 10,
        *,
        n_latent: Literal["auto"] | Integer = "auto",
        likelihood: Literal["gaussian", "bernoulli"] = "gaussian",
        n_candidates: Integer | None = None,
        implied_pairs: Literal["groups", "independent", "all"] = "groups",
        annotated_weight: Real = 1.0,
        trust_epochs: Integer = 0,
        reliability_prior: Reals = (1.0, 1.0),
        hidden: Literal["auto"] | Integers = "auto",
        decoder: Any = None,
        n_init: Literal["auto"] | Integer = "auto",
        n_epochs: Literal["auto"] | Integer = "auto",
        warm_epochs: Literal["auto"] | Integer = "auto",
        warm_weight: Real = 0.1,
        init: Literal["mixture", "judgements", "random"] = "mixture",
        batch_size: Integer = 128,
        annotated_batch_size: Integer = 128,
        optimiser: Literal["adam", "momentum"] | optax.GradientTransformation = "adam",
        learning_rate: Real = 1e-3,
        rate: Real = 0.1,
        rate_delay: Real = 2000.0,
        rate_decay: Real = 0.0,
        checkpoint: FilePath | None = None,
        verbose: Flag = False,
        random_state: RandomSource = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_latent = n_latent
        self.likelihood = likelihood
        self.n_candidates = n_candidates
        self.implied_pairs = implied_pairs
        self.annotated_weight = annotated_weight
        self.trust_epochs = trust_epochs
        self.reliability_prior = reliability_prior
        self.hidden = hidden
        self.decoder = decoder
        self.n_init = n_init
        self.n_epochs = n_epochs
        self.warm_epochs = warm_epochs
        self.warm_weight = warm_weight
        self.init = init
        self.batch_size = batch_size
        self.annotated_batch_size = annotated_batch_size
        self.optimiser = optimiser
        self.learning_rate = learning_rate
        self.rate = rate
        self.rate_delay = rate_delay
        self.rate_decay = rate_decay
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    PUBLISHED: ClassVar = {
        "faces": AS_IN_PAPER | {"n_clusters": 4, "n_latent": 8, "hidden": (40, 40), "batch_size": 10, "n_epochs": 20},
        "mnist": AS_IN_PAPER
        | {"n_clusters": 50, "n_latent": 8, "hidden": (500, 500), "likelihood": "bernoulli"}
        | {"batch_size": 128, "n_epochs": 200},
    }

    def _model(self, n_features: int) -> SCDCModel:
        return SCDCModel(**self._settings(n_features), merges=False, n_candidates=self.n_candidates)

    def _prior(self) -> scdc.SCDCPrior:
        return scdc.SCDCPrior(jnp.array(self.reliability_prior, jnp.float32))

    def _describe(self, model: DeepModel, fit: Fit) -> tuple[Components, Array, Array]:
        parameters, right = fit.parameters, fit.posterior
        roots = scdc.lower_roots(parameters.roots)
        shares, covariances = jax.nn.softmax(parameters.log_shares), roots @ roots.swapaxes(1, 2)
        components = Components(jnp.arange(len(shares)), shares, parameters.means, covariances)
        return components, right.sensitivity, right.specificity


class SCDCModel(DeepModel):
    """The model of `scdc`; its prior is a `scdc.SCDCPrior`."""

    n_candidates: int | None = eqx.field(static=True)

    def untrained(self, key: PRNGKeyArray) -> scdc.SCDCParameters:
        """See `DeepModel.untrained`."""
        of_classifier, of_encoder, of_decoder = jax.random.split(key, 3)
        n_clusters, n_latent, hidden = self.n_clusters, self.n_latent, self.hidden
        return scdc.SCDCParameters(
            classifier=Perceptron([self.n_features, *hidden, n_clusters], key=of_classifier),
            encoder=scdc.ConditionalEncoder(self.n_features, hidden, n_latent, n_clusters, key=of_encoder),
            likelihood=self.likelihood_of(of_decoder),
            log_shares=jnp.zeros(n_clusters),
            means=jnp.zeros((n_clusters, n_latent)),
            roots=jnp.zeros((n_clusters, n_latent, n_latent)),
        )

    def start(
        self, parameters: PyTree, first: Array, joined: Array, latent: Gaussian, n_annotators: int, key: PRNGKeyArray
    ) -> tuple[scdc.SCDCParameters, scdc.SCDCReliability]:
        """See `DeepModel.start`."""
        right = first_reliability(n_annotators)
        return scdc.start(parameters, first, latent, self.n_latent + 1.0), scdc.SCDCReliability(right, right)

    def local(
        self,
        parameters: PyTree,
        posterior: PyTree,
        observed: Array,
        messages: Array,
        key: PRNGKeyArray,
        within: PyTree = None,
    ) -> scdc.SCDCLocal:
        """See `DeepModel.local`."""
        return scdc.local(parameters, posterior, observed, messages, key, n_candidates=self.n_candidates)

    def shared_step(
        self, posterior: PyTree, found: Any, weight: Array, rate: Any, slope: PyTree = None
    ) -> scdc.SCDCReliability:
        """See `DeepModel.shared_step`: does nothing, since gradients update all global variables."""
        return posterior

    def reliability_step(
        self, posterior: PyTree, judged: NumberedJudgements, agreement: JudgedAgreement, rate: Any
    ) -> scdc.SCDCReliability:
        """See `DeepModel.reliability_step`."""
        return scdc.reliability_step(self.prior, posterior, judged, agreement, rate)

    def pair_weights(self, posterior: PyTree) -> tuple[Array, Array]:
        """See `DeepModel.pair_weights`."""
        return scdc.pair_weights(posterior)

    def lower_bound(self, data: Data, fit: Fit, found: Any) -> Array:
        """See `DeepModel.lower_bound`."""
        messages = data.all_messages(fit.remembered, self.pair_weights(fit.posterior))
        return scdc.lower_bound(fit.posterior, found, messages, data.judgements)

    def n_owners(self, fit: Fit) -> Array:
        """See `DeepModel.n_owners`."""
        return (jax.nn.softmax(fit.parameters.log_shares) > 1e-4).sum()

    def taught(self, data: Data, fit: Fit, clusters: Array, key: PRNGKeyArray) -> Fit:
        """See `DeepModel.taught`: the classifier learns the first clusters, if there are any."""
        return fit if self.init == "random" else teach_classifier(self, data, fit, clusters, key)
