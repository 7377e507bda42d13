"""The estimator of `scdc`: Luo et al. (2018), SCDC."""

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
from consilience.deep.judgements import Agreement, Judgements, first_reliability
from consilience.deep.model import Data, DeepModel, Fit
from consilience.deep.networks import Perceptron
from consilience.deep.pretraining import teach_classifier
from consilience.estimators.parameters import NONE, Requirements, whole


class SCDC(DeepClustering):
    """Clusters of a latent space that a network decodes, told by judged pairs of some items; by point estimates.

    The forerunner of `BayesSCDC`, which is faster, finds the number of clusters and makes more of the judgements.

    Parameters
    ----------
    n_clusters : int, default=10
        K.
    n_latent : int, default=10
        d: dimensions of the latent space.
    hidden : tuple of int, default=(500, 500)
        Widths of the hidden layers of the networks; (40, 40) does for a few dozen features.
    likelihood : {"gaussian", "bernoulli"}, default="gaussian"
        What is observed: standardised features, or features from 0 to 1 that are probabilities of ones, such as grey
        values.
    n_candidates : int or None, default=None
        Sum over this many of the most probable clusters of each item, so that the cost does not grow with K. None: over
        all, as in the paper.
    n_init : int, default=1
        Restarts, side by side; the one with the highest bound is kept.
    n_epochs : "auto" or int, default="auto"
        Passes over the items. "auto": 25, or as many as make 3000 steps.
    warm_epochs : "auto" or int, default="auto"
        Passes before those, of a plain autoencoder whose positions a mixture of Gaussians then divides. "auto": 12, or
        as many as make 500 steps. Where it is too short, all items may end in one cluster.
    batch_size, annotated_batch_size : int
        Items in a step that nobody judged, and annotated ones.
    annotated_weight : float, default=1.0
        How often its share an annotated item counts. 1 is the bound; where only a few in a hundred are annotated, 10
        lets them have their say sooner.
    trust_epochs : int, default=0
        Epochs before anything is learned of the annotators' reliabilities. Where the features alone divide the items
        otherwise than people do, the first clusters make people look unreliable, and then nobody listens to them any
        more: half of the epochs keeps that from happening.
    implied_pairs : {"all", "independent"}, default="all"
        What the pairs of a grouping count, which hang together: "all" of them, as if judged one by one, or as many as
        are "independent": m - 1 for m items.
    init : {"mixture", "judgements", "random"}, default="mixture"
        What the classifier is taught first: a mixture of Gaussians of the positions that the warm start gives; what a
        network learns from the judged pairs alone, which is the one to take where people go by something that the
        features vary little by; or, as in the paper, nothing.
    reliability_prior : (float, float), default=(1.0, 1.0)
        Beta prior of the annotators' sensitivities and specificities: judgements right and wrong, added to all.
    optimiser : {"adam", "momentum"} or optax.GradientTransformation, default="adam"
        Of the networks. A transformation has a learning rate of its own, or a schedule of it by the step, those of the
        warm start among them. It is made of functions, so that a model with one can be neither pickled nor saved by
        `consilience.save`; a `checkpoint` holds all it has learned.
    learning_rate : float, default=0.001
        Of the networks, with "adam" and "momentum".
    rate, rate_delay, rate_decay : float
        Size of the steps of the annotators' reliabilities, rate / (1 + steps/rate_delay)^rate_decay; 1 is a whole
        update.
    warm_weight : float, default=0.1
        How far the warm start holds positions to N(0, I): 0 not at all, 1 as a variational autoencoder does.
    decoder : Equinox module, optional
        In place of the perceptron; see `BayesSCDC`.
    checkpoint : path, optional
        A file that is written after every epoch. A fit that finds it there goes on where it ended, to the same last bit
        as if it had not been interrupted.
    verbose : bool, default=False
        Show a progress bar with the loss and the number of clusters of each restart: in a notebook, or in a terminal on
        standard error.
    random_state : int, RandomState, Generator or None, default=None

    Attributes
    ----------
    labels_ : ndarray of int, shape (n_items,)
        Cluster of each item, numbered by falling size: that of the classifier, which the judgements have taught.
    responsibilities_ : ndarray, shape (n_items, n_clusters_)
    n_clusters_ : int
        Clusters that own items.
    annotators_ : DataFrame, one row an annotator
        n_pairs (judged), sensitivity and specificity (posterior means) with the ends of their 95 % credible intervals
        (…_low, …_high), weight (ln α β / ((1 − α)(1 − β)), nats: what a judgement counts).
    weights_, means_, covariances_ : ndarrays, shapes (n_clusters_,), (n_clusters_, n_latent), (…, n_latent)
        Share, mean and covariance of each cluster in the latent space.
    components_, component_means_, component_covariances_ : as in `BayesSCDC`; a Gaussian is a cluster
    lower_bound_ : float
        Bound on ln p(features, judgements), nats, at the point estimates and one draw of each latent position.
    restart_bounds_ : ndarray, shape (n_init,)
    losses_, clusters_left_ : ndarrays, shape (n_iter_,)
        Loss of each epoch, nats an item, and clusters that own items after it.
    items_, n_iter_, n_features_in_, feature_names_in_ : as in scikit-learn
    state_ : dict of ndarrays
        All that training came to, by name.

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
    >>> small = {"n_latent": 2, "hidden": (20,), "batch_size": 32, "annotated_batch_size": 32, "n_epochs": 200}
    >>> model = SCDC(3, n_init=4, random_state=0, **small).fit(X, judged)
    >>> bool(nmi(species, model.labels_) > 0.7)
    True
    """

    _requirements: ClassVar[Requirements] = {
        "n_candidates": NONE | whole(1),
    }

    def __init__(
        self,
        n_clusters: Count = 10,
        *,
        n_latent: Integer = 10,
        hidden: Integers = (500, 500),
        likelihood: Literal["gaussian", "bernoulli"] = "gaussian",
        n_candidates: Integer | None = None,
        n_init: Integer = 1,
        n_epochs: Literal["auto"] | Integer = "auto",
        warm_epochs: Literal["auto"] | Integer = "auto",
        batch_size: Integer = 128,
        annotated_batch_size: Integer = 128,
        annotated_weight: Real = 1.0,
        trust_epochs: Integer = 0,
        implied_pairs: Literal["all", "independent"] = "all",
        init: Literal["mixture", "judgements", "random"] = "mixture",
        reliability_prior: Reals = (1.0, 1.0),
        optimiser: Literal["adam", "momentum"] | optax.GradientTransformation = "adam",
        learning_rate: Real = 1e-3,
        rate: Real = 0.1,
        rate_delay: Real = 2000.0,
        rate_decay: Real = 0.0,
        warm_weight: Real = 0.1,
        decoder: Any = None,
        checkpoint: FilePath | None = None,
        verbose: Flag = False,
        random_state: RandomSource = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_latent = n_latent
        self.hidden = hidden
        self.likelihood = likelihood
        self.n_candidates = n_candidates
        self.n_init = n_init
        self.n_epochs = n_epochs
        self.warm_epochs = warm_epochs
        self.batch_size = batch_size
        self.annotated_batch_size = annotated_batch_size
        self.annotated_weight = annotated_weight
        self.trust_epochs = trust_epochs
        self.implied_pairs = implied_pairs
        self.init = init
        self.reliability_prior = reliability_prior
        self.optimiser = optimiser
        self.learning_rate = learning_rate
        self.rate = rate
        self.rate_delay = rate_delay
        self.rate_decay = rate_decay
        self.warm_weight = warm_weight
        self.decoder = decoder
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    PUBLISHED: ClassVar = {
        "faces": {
            "n_clusters": 4,
            "n_latent": 8,
            "hidden": (40, 40),
            "batch_size": 10,
            "n_epochs": 20,
            "warm_epochs": 0,
            "init": "random",
        },
        "mnist": {"n_clusters": 50, "n_latent": 8, "likelihood": "bernoulli", "batch_size": 128, "n_epochs": 200}
        | {"warm_epochs": 0, "init": "random"},
    }

    def _model(self, n_features: int) -> SCDCModel:
        return SCDCModel(**self._settings(n_features), merges=False, n_candidates=self.n_candidates)

    def _prior(self) -> scdc.Prior:
        return scdc.Prior(jnp.array(self.reliability_prior, jnp.float32))

    def _describe(self, model: DeepModel, fit: Fit) -> tuple[Components, Array, Array]:
        parameters, right = fit.parameters, fit.posterior
        roots = scdc.lower_roots(parameters.roots)
        shares, covariances = jax.nn.softmax(parameters.log_shares), roots @ roots.swapaxes(1, 2)
        components = Components(jnp.arange(len(shares)), shares, parameters.means, covariances)
        return components, right.sensitivity, right.specificity


class SCDCModel(DeepModel):
    """The model of `scdc`; its prior is a `scdc.Prior`."""

    n_candidates: int | None = eqx.field(static=True)

    def untrained(self, key: PRNGKeyArray) -> scdc.Parameters:
        """See `DeepModel.untrained`."""
        of_classifier, of_encoder, of_decoder = jax.random.split(key, 3)
        n_clusters, n_latent, hidden = self.n_clusters, self.n_latent, self.hidden
        return scdc.Parameters(
            classifier=Perceptron([self.n_features, *hidden, n_clusters], key=of_classifier),
            encoder=scdc.ConditionalEncoder(self.n_features, hidden, n_latent, n_clusters, key=of_encoder),
            likelihood=self.likelihood_of(of_decoder),
            log_shares=jnp.zeros(n_clusters),
            means=jnp.zeros((n_clusters, n_latent)),
            roots=jnp.zeros((n_clusters, n_latent, n_latent)),
        )

    def start(
        self, parameters: PyTree, first: Array, joined: Array, latent: Gaussian, n_annotators: int, key: PRNGKeyArray
    ) -> tuple[scdc.Parameters, scdc.Reliability]:
        """See `DeepModel.start`."""
        right = first_reliability(n_annotators)
        return scdc.start(parameters, first, latent, self.n_latent + 1.0), scdc.Reliability(right, right)

    def local(
        self, parameters: PyTree, posterior: PyTree, observed: Array, messages: Array, key: PRNGKeyArray
    ) -> scdc.Local:
        """See `DeepModel.local`."""
        return scdc.local(parameters, posterior, observed, messages, key, n_candidates=self.n_candidates)

    def shared_step(self, posterior: PyTree, found: Any, weight: Array, rate: Any) -> scdc.Reliability:
        """See `DeepModel.shared_step`: none, since gradients move all that the items share."""
        return posterior

    def reliability_step(
        self, posterior: PyTree, judged: Judgements, agreement: Agreement, rate: Any
    ) -> scdc.Reliability:
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
        """See `DeepModel.taught`: the classifier learns first clusters, wherever there are some."""
        return fit if self.init == "random" else teach_classifier(self, data, fit, clusters, key)
