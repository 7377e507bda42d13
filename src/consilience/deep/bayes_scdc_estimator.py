"""BayesSCDC: the estimator of `consilience.deep.bayes_scdc`. Luo et al. (2018)."""

from __future__ import annotations

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from jaxtyping import PRNGKeyArray, PyTree

from consilience.annotations.types import Count, FilePath, Flag, Integer, Integers, Literal, RandomSource, Real, Reals
from consilience.deep import bayes_scdc, exponential_family, joining, merging
from consilience.deep.components import Components
from consilience.deep.deep_clustering import DeepClustering
from consilience.deep.exponential_family import Gaussian
from consilience.deep.judgements import JudgedAgreement, NumberedJudgements, first_reliability
from consilience.deep.model import Data, DeepModel, Fit
from consilience.deep.pretraining import teach_positions
from consilience.deep.training import survey
from consilience.estimators.parameters import POSITIVE, TRUTH, Requirements, interval, one_of, whole

AS_IN_PAPER: dict[str, Any] = {
    "optimiser": "momentum",
    "learning_rate": 1e-3,
    "rate": "published",
    "rate_decay": 0.0,
    "rate_momentum": 0.9,
    "max_sweeps": 4,
    "start_variance": 9.0,
    "concentration": 1.05,
    "cluster_count": 0.5,
    "reliability_prior": (1.0, 1.0),
    "warm_epochs": 0,
    "init": "random",
    "n_init": 1,
    "implied_pairs": "all",
    "merge_clusters": False,
}


class BayesSCDC(DeepClustering):
    """Clusters in the latent space of a network, guided by judged pairs of some items; fully Bayesian.

    For rich data with few annotated items, or none: pictures, spectra, texts as counts. The judgements of some items
    shape the space in which all are clustered. Items that people put together may be in several regions of the latent
    space: a cluster is a mixture of as many Gaussians as necessary. The number of clusters is estimated: Gaussians that
    people put together form a cluster, and where few or none judged, Gaussians that share items.

    The parameters are in four groups: the model, from `n_clusters` on; the evidence, from `implied_pairs`; the
    networks, from `networks`; and training, from `n_init`.

    Parameters
    ----------
    n_clusters : int, default=50
        K: number of Gaussian components of the latent space, and largest number of clusters: several for each cluster
        that you expect.
    n_latent : "auto" or int, default="auto"
        d: number of dimensions of the latent space. "auto": 10, or the number of features if they are fewer.
    likelihood : {"gaussian", "bernoulli"}, default="gaussian"
        Distribution of the features: standardised features, or features from 0 to 1 that are probabilities of ones,
        such as grey values.
    merge_clusters : bool, default=True
        Whether Gaussians form clusters: during training those that people put together, some of which become one
        Gaussian if that raises the bound; after training also those that share items, unless judgements say otherwise,
        see `consilience.deep.merging` and `consilience.deep.joining`. If False, every Gaussian is a cluster. The paper
        has no such steps.
    concentration : float, default=1.05
        α₀ of the Dirichlet prior of the components' shares.
    cluster_count : float, default=0.5
        κ of the normal-inverse-Wishart prior; its ν is d + κ, its S is (d + κ) I, its m is 0.
    implied_pairs : {"groups", "independent", "all"}, default="groups"
        How the dependent pairs of a grouping count: as if each item were compared with one item of each of its
        "groups"; as many as are "independent", m - 1 for m items; or "all" of them, as if judged one by one, with which
        a single large grouping can outweigh the features and all other people.
    annotated_weight : float, default=1.0
        Factor on the weight of annotated items. 1 gives the bound. If few are annotated and their judgements have no
        effect, 10 makes them take effect sooner, at the expense of the fit of all others.
    trust_epochs : int, default=0
        Number of first epochs in which the annotators' reliabilities are fixed. If the features alone give other
        clusters than people do, the first clusters make people look unreliable, and their judgements then lose all
        weight: half of the epochs prevents this.
    reliability_prior : (float, float), default=(1.0, 1.0)
        Beta prior of the annotators' sensitivities and specificities: imagined right and wrong judgements of each.
    networks : {"perceptron", "convolutional"}, default="perceptron"
        Kind of the networks. "convolutional", for pictures: the encoder begins, and the decoder ends, with two
        convolutions of stride 2 that have 16 and 32 channels; the hidden layers are between them and the latent space.
    hidden : "auto" or tuple of int, default="auto"
        Widths of the hidden layers of the networks. "auto": (40, 40) with at most 50 features, else (500, 500).
    encoder, decoder : Equinox modules, optional
        Replace the networks. The encoder maps the features of an item, or its picture in the shape given, to
        2 `n_latent` numbers: the peak and the precision (before a softplus) of the potential. The decoder maps
        `n_latent` numbers to the logits of a Bernoulli likelihood, or to the means, then the standard deviations
        (before a softplus) of a Gaussian one; its array may have any shape. If they take a key, they get one in
        training, for dropout. A model with your own modules can be pickled if they can, but not saved by
        `consilience.save`.
    n_init : "auto" or int, default="auto"
        Number of restarts; the one with the highest bound is kept. "auto": 10 with at most 2000 items
        and 50 features, else 1. With modules of your own, the first begins with their weights, and the others with the
        entries of each matrix in a random order.
    n_epochs : "auto" or int, default="auto"
        Number of passes over the items. "auto": until the loss has settled, at most 25 passes or 3000 steps, whichever
        is more.
    warm_epochs : "auto" or int, default="auto"
        Number of passes of a warm start, which trains a plain autoencoder; a mixture of Gaussians then clusters its
        positions. "auto": at least 12, and as many as make 500 steps; 1500 with more than 50 features. If it is too
        short, different groups of items may end in one cluster, or all items.
    warm_weight : float, default=0.1
        Weight of the divergence of positions from N(0, I) in the warm start; 1 as in a variational autoencoder.
    init : {"mixture", "judgements", "random"}, default="mixture"
        First components: a mixture of Gaussians of the positions after the warm start; clusters that a network learns
        from the judged pairs alone, which is better if people judge by something that accounts for little variance of
        the features; or, as in the paper, random ones.
    start_variance : float, default=3.0
        Variance of the means of random first components. The authors' program has a standard deviation of 3.
    batch_size, annotated_batch_size : int
        Number of unjudged and of annotated items in a step.
    optimiser : {"adam", "momentum"} or optax.GradientTransformation, default="adam"
        Optimiser of the networks. A transformation has its own learning rate, or a schedule of it by step, including
        the steps of the warm start. It consists of functions, so a model with one can be neither pickled nor saved by
        `consilience.save`; a `checkpoint` includes its state.
    learning_rate : float, default=0.001
        Learning rate of the networks, with "adam" and "momentum".
    rate : float or "published", default=0.1
        Step size of the global variables at first; 1 is a full update. "published": 10 / n_items, at most 1, as in the
        authors' program.
    rate_delay, rate_decay : float
        The step size is rate / (1 + steps/rate_delay)^rate_decay.
    rate_momentum : float, default=0.0
        Momentum of the steps of the components and their shares, v ← momentum · v + rate · (target − η), η ← η + v; the
        authors' program has 0.9. A component whose scale matrix would no longer be positive definite, or whose
        Dirichlet parameter, κ or ν would fall below the prior's, takes a step without momentum, and its velocity is
        then 0.
    full_gradient : bool, default=False
        Whether the steps of the components and their shares include the second term of the paper's equation (17): how
        the bound of the items depends on them through the items' positions. The paper's appendix leaves it out. A
        component that the term would make invalid, as above, takes a step without it.
    max_sweeps : int, default=20
        Largest number of alternations of an item's position and components, and of those for their derivative. The
        authors' program has 4.
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
        Cluster of each item, numbered by decreasing size; of annotated items, from judgements and features.
    responsibilities_ : ndarray, shape (n_items, n_clusters_)
    n_clusters_ : int
        Number of clusters that own items.
    annotators_ : DataFrame, one row for each annotator
        n_pairs (judged; those of groupings as they count, see `implied_pairs`), sensitivity and specificity (posterior
        means) with the ends of their 95 % credible intervals (…_low, …_high), weight (ln α β / ((1 − α)(1 − β)), nats,
        of a judgement).
    weights_, means_, covariances_ : ndarrays, shapes (n_clusters_,), (n_clusters_, n_latent), (…, n_latent)
        Share, mean and covariance of each cluster in the latent space.
    components_ : DataFrame, one row for each Gaussian
        cluster (to which it belongs), weight (share of the items).
    component_means_, component_covariances_ : ndarrays, shapes (n_components, n_latent), (…, n_latent)
    lower_bound_ : float
        Bound on ln p(features, judgements), nats, at one draw of each latent position.
    restart_bounds_ : ndarray, shape (n_init,)
        Bounds after training. Gaussians are joined after that, so that `lower_bound_` may be lower than the best.
    losses_, clusters_left_ : ndarrays, shape (n_iter_,)
        Loss of each epoch, nats per item, and number of clusters that own items after it.
    image_shape_ : tuple of int
        Shape of a picture; () if the features are not pictures.
    items_, n_iter_, n_features_in_, feature_names_in_ : as in scikit-learn
    notes_ : list of str
        What limits the answer: few items, clusters that are too coarse, judgements that hardly count.
    state_ : dict of ndarrays
        State of training: arrays by name.

    See Also
    --------
    SCDC : Its predecessor.
    DeepMCVC : Several views.
    consilience.semisupervised.PartitionLabelModel : Without networks.

    References
    ----------
    Luo, Tian, Shi, Zhu & Zhang (2018). Semi-crowdsourced Clustering with Deep Generative Models. NeurIPS.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from consilience.deep import BayesSCDC
    >>> from consilience.metrics import nmi
    >>> from consilience.simulation import simulate_pairs
    >>> X, species = load_iris(return_X_y=True)
    >>> X = (X - X.mean(0)) / X.std(0)
    >>> judged = simulate_pairs(species, n_annotators=3, pairs_each=200, accuracy=0.9, random_state=0)
    >>> small = {"n_latent": 2, "hidden": (20,), "batch_size": 32, "annotated_batch_size": 32, "n_epochs": 50}
    >>> model = BayesSCDC(8, n_init=2, random_state=0, **small).fit(X, judged)
    >>> bool(nmi(species, model.labels_) > 0.9)
    True
    """

    _requirements: ClassVar[Requirements] = {
        "concentration": POSITIVE,
        "cluster_count": POSITIVE,
        "merge_clusters": TRUTH,
        "networks": one_of("perceptron", "convolutional"),
        "rate": one_of("published") | interval(0, 1, "right"),
        "rate_momentum": interval(0, 1, "left"),
        "full_gradient": TRUTH,
        "max_sweeps": whole(1),
        "start_variance": POSITIVE,
    }

    def __init__(
        self,
        n_clusters: Count = 50,
        *,
        n_latent: Literal["auto"] | Integer = "auto",
        likelihood: Literal["gaussian", "bernoulli"] = "gaussian",
        merge_clusters: Flag = True,
        concentration: Real = 1.05,
        cluster_count: Real = 0.5,
        implied_pairs: Literal["groups", "independent", "all"] = "groups",
        annotated_weight: Real = 1.0,
        trust_epochs: Integer = 0,
        reliability_prior: Reals = (1.0, 1.0),
        networks: Literal["perceptron", "convolutional"] = "perceptron",
        hidden: Literal["auto"] | Integers = "auto",
        encoder: Any = None,
        decoder: Any = None,
        n_init: Literal["auto"] | Integer = "auto",
        n_epochs: Literal["auto"] | Integer = "auto",
        warm_epochs: Literal["auto"] | Integer = "auto",
        warm_weight: Real = 0.1,
        init: Literal["mixture", "judgements", "random"] = "mixture",
        start_variance: Real = 3.0,
        batch_size: Integer = 256,
        annotated_batch_size: Integer = 128,
        optimiser: Literal["adam", "momentum"] | optax.GradientTransformation = "adam",
        learning_rate: Real = 1e-3,
        rate: Literal["published"] | Real = 0.1,
        rate_delay: Real = 2000.0,
        rate_decay: Real = 0.7,
        rate_momentum: Real = 0.0,
        full_gradient: Flag = False,
        max_sweeps: Integer = bayes_scdc.MAX_SWEEPS,
        checkpoint: FilePath | None = None,
        verbose: Flag = False,
        random_state: RandomSource = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_latent = n_latent
        self.likelihood = likelihood
        self.merge_clusters = merge_clusters
        self.concentration = concentration
        self.cluster_count = cluster_count
        self.implied_pairs = implied_pairs
        self.annotated_weight = annotated_weight
        self.trust_epochs = trust_epochs
        self.reliability_prior = reliability_prior
        self.networks = networks
        self.hidden = hidden
        self.encoder = encoder
        self.decoder = decoder
        self.n_init = n_init
        self.n_epochs = n_epochs
        self.warm_epochs = warm_epochs
        self.warm_weight = warm_weight
        self.init = init
        self.start_variance = start_variance
        self.batch_size = batch_size
        self.annotated_batch_size = annotated_batch_size
        self.optimiser = optimiser
        self.learning_rate = learning_rate
        self.rate = rate
        self.rate_delay = rate_delay
        self.rate_decay = rate_decay
        self.rate_momentum = rate_momentum
        self.full_gradient = full_gradient
        self.max_sweeps = max_sweeps
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    PUBLISHED: ClassVar = {
        "pinwheel": AS_IN_PAPER
        | {"n_clusters": 15, "n_latent": 2, "hidden": (40, 40), "batch_size": 50, "n_epochs": 20},
        "mnist": AS_IN_PAPER
        | {"n_clusters": 50, "n_latent": 8, "hidden": (500, 500), "likelihood": "bernoulli"}
        | {"batch_size": 128, "n_epochs": 200},
    }

    def _model(self, n_features: int) -> BayesModel:
        return BayesModel(
            **self._settings(n_features),
            merges=bool(self.merge_clusters),
            rate_momentum=float(self.rate_momentum),
            full_gradient=bool(self.full_gradient),
            max_sweeps=int(self.max_sweeps),
            start_variance=float(self.start_variance),
        )

    def _prior(self) -> bayes_scdc.BayesSCDCPrior:
        return bayes_scdc.prior_of(
            self._n_latent,
            concentration=float(self.concentration),
            count=float(self.cluster_count),
            scale=self._n_latent + float(self.cluster_count),
            reliability=(float(self.reliability_prior[0]), float(self.reliability_prior[1])),
        )

    def _describe(self, model: DeepModel, fit: Fit) -> tuple[Components, Array, Array]:
        posterior = fit.posterior
        mean, _, scale, degrees = exponential_family.standard(posterior.components)
        freedom = jnp.maximum(degrees - self._n_latent - 1, 1.0)  # with fewer, a covariance has no mean
        sizes = jnp.maximum(posterior.concentration - model.prior.concentration, 1e-6)
        covariances = scale / freedom[:, None, None]
        components = Components(posterior.joined.argmax(1), sizes / sizes.sum(), mean, covariances)
        return components, posterior.sensitivity, posterior.specificity


class BayesModel(DeepModel):
    """The model of `bayes_scdc`; its prior is a `bayes_scdc.BayesSCDCPrior`.

    rate_momentum : of the steps of the mixture. full_gradient : whether these have the second term of (17).
    max_sweeps : of the items' fixed point. start_variance : of the means of random first components.
    """

    rate_momentum: float = eqx.field(static=True)
    full_gradient: bool = eqx.field(static=True)
    max_sweeps: int = eqx.field(static=True)
    start_variance: float = eqx.field(static=True)

    mixes: ClassVar[bool] = True

    def untrained(self, key: PRNGKeyArray) -> bayes_scdc.BayesSCDCParameters:
        """See `DeepModel.untrained`."""
        of_encoder, of_decoder = jax.random.split(key)
        return bayes_scdc.BayesSCDCParameters(self.encoder_of(of_encoder), self.likelihood_of(of_decoder))

    def start(
        self, parameters: PyTree, first: Array, joined: Array, latent: Gaussian, n_annotators: int, key: PRNGKeyArray
    ) -> tuple[PyTree, bayes_scdc.Posterior]:
        """See `DeepModel.start`."""
        right = first_reliability(n_annotators)
        if self.init == "random":
            posterior = bayes_scdc.random_start(self.prior, self.n_clusters, right, key, variance=self.start_variance)
        else:
            posterior = bayes_scdc.start(self.prior, first, joined, latent, right)
        return parameters, bayes_scdc.at_rest(posterior) if self.rate_momentum else posterior

    def local(
        self,
        parameters: PyTree,
        posterior: PyTree,
        observed: Array,
        messages: Array,
        key: PRNGKeyArray,
        within: PyTree = None,
    ) -> bayes_scdc.BayesSCDCLocal:
        """See `DeepModel.local`."""
        return bayes_scdc.local(parameters, posterior, observed, messages, key, within, self.max_sweeps)

    def expected(self, posterior: PyTree) -> bayes_scdc.Expected | None:
        """See `DeepModel.expected`."""
        return bayes_scdc.expected_statistics(posterior) if self.full_gradient else None

    def shared_step(
        self, posterior: PyTree, found: Any, weight: Array, rate: Any, slope: PyTree = None
    ) -> bayes_scdc.Posterior:
        """See `DeepModel.shared_step`."""
        return bayes_scdc.mixture_step(
            self.prior, posterior, found, weight, rate, momentum=self.rate_momentum, slope=slope
        )

    def reliability_step(
        self, posterior: PyTree, judged: NumberedJudgements, agreement: JudgedAgreement, rate: Any
    ) -> bayes_scdc.Posterior:
        """See `DeepModel.reliability_step`."""
        return bayes_scdc.reliability_step(self.prior, posterior, judged, agreement, rate)

    def pair_weights(self, posterior: PyTree) -> tuple[Array, Array]:
        """See `DeepModel.pair_weights`."""
        return bayes_scdc.pair_weights(posterior)

    def lower_bound(self, data: Data, fit: Fit, found: Any) -> Array:
        """See `DeepModel.lower_bound`."""
        messages = data.all_messages(fit.remembered, self.pair_weights(fit.posterior))
        return bayes_scdc.lower_bound(self.prior, fit.posterior, found, messages, data.judgements)

    def n_owners(self, fit: Fit) -> Array:
        """See `DeepModel.n_owners`."""
        sizes = (fit.posterior.concentration - self.prior.concentration) @ fit.posterior.joined
        return (sizes > merging.LEAST_SIZE).sum()

    def taught(self, data: Data, fit: Fit, clusters: Array, key: PRNGKeyArray) -> Fit:
        """See `DeepModel.taught`: with first clusters from judgements, positions are trained to separate them."""
        return teach_positions(self, data, fit, clusters, key) if self.init == "judgements" else fit

    def merged(self, data: Data, fit: Fit) -> Fit:
        """See `DeepModel.merged`: only judgements say what to merge."""
        return fit if data.judgements is None else merging.merge(self, data, fit)

    def joined(self, data: Data, fit: Fit, found: Any) -> tuple[Fit, Any]:
        """See `DeepModel.joined`: components that share items form one cluster, unless judgements say otherwise.

        Several mixtures of the positions vote. Without judgements, the components kept are those that agree best with
        the votes: the trained ones, or, if training has spoiled them, those of a mixture.
        """
        if not self.merges:
            return fit, found
        rng = np.random.default_rng(np.asarray(jax.random.key_data(fit.key)))  # what is drawn follows from the seed
        positions = np.nan_to_num(np.asarray(found.latent.mean, float))  # a restart that failed has NaN positions
        n_components = joining.n_components_of(*positions.shape, most=self.n_clusters)
        mixtures = joining.mixtures_of(positions, n_components, rng=rng)
        votes = joining.agree(mixtures).votes
        trained = np.asarray(found.components, float)
        if data.judgements is not None:
            suggested = jnp.asarray(joining.clusters_of_components(trained, votes))
            fit = merging.join_as_suggested(data, fit, found.components, suggested)
            return fit, survey(self, data, fit)
        kept = max([trained, *mixtures], key=lambda one: joining.agreement(one, votes))
        components = np.zeros((len(kept), self.n_clusters))
        components[:, : kept.shape[1]] = kept
        joined = jnp.asarray(np.eye(self.n_clusters)[joining.clusters_of_components(components, votes)], jnp.float32)
        posterior = fit.posterior._replace(joined=joined)
        if kept is not trained:
            first, right = jnp.asarray(components, jnp.float32), fit.posterior.sensitivity
            posterior = bayes_scdc.start(self.prior, first, joined, found.latent, right)
            posterior = bayes_scdc.at_rest(posterior) if self.rate_momentum else posterior
        fit = fit._replace(posterior=posterior)
        return fit, survey(self, data, fit)
