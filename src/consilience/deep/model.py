"""Interface between a deep model and its training: one Equinox module of settings, a prior, and pure functions.

A `DeepModel` holds no weights. The state of a fit is a `Fit`, which has only arrays, so that fits can be stacked to
train all restarts in one call, and saved and resumed bit for bit. Settings are static: compiled code depends
on them, and two models with equal settings share it. The prior's numbers are arrays, and can change without
recompilation.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import optax
from jax import Array
from jaxtyping import Float, Int, PRNGKeyArray, PyTree

from consilience.deep.convolutions import ConvolutionalDecoder, ConvolutionalEncoder
from consilience.deep.exponential_family import Gaussian
from consilience.deep.judgements import JudgedAgreement, NumberedJudgements
from consilience.deep.module_checks import check_module
from consilience.deep.networks import LIKELIHOODS, Encoder, Likelihood, Perceptron, Same, UserModule

DESCENTS: dict[str, Callable[[float], optax.GradientTransformation]] = {
    "adam": optax.adam,
    "momentum": partial(optax.sgd, momentum=0.9),
}

RATE_OF_ALL_ITEMS = 10.0  # step size of the global variables times the number of items, in the authors' program


class Data(eqx.Module):
    """Items, and the judgements of some of them.

    plain, annotated : positions of the items that are in no judged pair, and in some.
    """

    observed: Float[Array, "items features"]
    plain: Int[Array, " plain"]
    annotated: Int[Array, " annotated"]
    judgements: NumberedJudgements | None

    @property
    def n_items(self) -> int:
        """Number of items of both strata."""
        return len(self.plain) + len(self.annotated)

    @property
    def n_annotators(self) -> int:
        """Number of annotators, including those without pairs."""
        return 0 if self.judgements is None else len(self.judgements.n_pairs)

    @property
    def rows(self) -> Int[Array, " items"]:
        """Positions of all items, unjudged ones first."""
        return jnp.concatenate([self.plain, self.annotated])

    def weights(self, annotated_weight: float, sizes: tuple[int, int] | None = None) -> Float[Array, " rows"]:
        """Weight of each item, unjudged ones first; over all items, the mean is 1.

        sizes : of the strata in a step; by default those of all items.
        """
        plain, annotated = len(self.plain), len(self.annotated)
        # the weights of all rows sum to the number of items
        unit = self.n_items / (plain + annotated_weight * annotated)
        n_plain, n_annotated = sizes or (plain, annotated)
        return jnp.concatenate([jnp.full(n_plain, unit), jnp.full(n_annotated, annotated_weight * unit)])

    def all_messages(self, remembered: Array, weights: tuple[Array, Array]) -> Float[Array, "annotated clusters"]:
        """Messages to annotated items from their remembered responsibilities."""
        if self.judgements is None:
            return jnp.zeros_like(remembered)
        return self.judgements.messages(remembered, *weights)


class Fit(NamedTuple):
    """State of training.

    remembered : responsibilities of annotated items. key : of future draws.
    """

    parameters: PyTree
    optimiser: PyTree
    posterior: PyTree
    remembered: Float[Array, "annotated clusters"]
    key: PRNGKeyArray
    epoch: Int[Array, ""]


class DeepModel(eqx.Module):
    """A model with its settings; all functions are pure.

    hidden : widths of the hidden layers of the networks.
    networks : their kind, "perceptron" or "convolutional".
    image_shape : of one picture; () if the features are no pictures.
    encoder, decoder : modules of the user's instead.
    init : source of the first clusters, "mixture" or "judgements"; or "random", if they are left to `start`.
    descent : optimiser of the parameters, a key of `DESCENTS` or a transformation of Optax with its own rate.
    rate, rate_delay, rate_decay : step size of the global variables, rate / (1 + step/delay)^decay; see `first_rate`.
    trust_epochs : first epochs, in which the reliability of annotators is not updated.
    annotated_weight : factor on the weight of annotated items; 1 gives the bound.
    warm_weight : of the divergence of q(x) from N(0, I) in the warm start.
    merges : whether clusters are `merged` during training.
    """

    prior: PyTree
    n_features: int = eqx.field(static=True)
    n_latent: int = eqx.field(static=True)
    n_clusters: int = eqx.field(static=True)
    hidden: tuple[int, ...] = eqx.field(static=True)
    likelihood: str = eqx.field(static=True)
    networks: str = eqx.field(static=True)
    image_shape: tuple[int, ...] = eqx.field(static=True)
    encoder: Same = eqx.field(static=True)
    decoder: Same = eqx.field(static=True)
    init: str = eqx.field(static=True)
    batch_size: int = eqx.field(static=True)
    annotated_batch_size: int = eqx.field(static=True)
    descent: str | optax.GradientTransformation = eqx.field(static=True)
    learning_rate: float = eqx.field(static=True)
    rate: float | str = eqx.field(static=True)
    rate_delay: float = eqx.field(static=True)
    rate_decay: float = eqx.field(static=True)
    trust_epochs: int = eqx.field(static=True)
    annotated_weight: float = eqx.field(static=True)
    warm_weight: float = eqx.field(static=True)
    merges: bool = eqx.field(static=True)

    mixes: ClassVar[bool] = False  # whether a cluster may have several components

    @abstractmethod
    def untrained(self, key: PRNGKeyArray) -> PyTree:
        """Networks and other parameters that gradients update; `.encoder` and `.likelihood` are among them."""

    @abstractmethod
    def start(
        self, parameters: PyTree, first: Array, joined: Array, latent: Gaussian, n_annotators: int, key: PRNGKeyArray
    ) -> tuple[PyTree, PyTree]:
        """Parameters and q of the global variables, from first components, their clusters, and positions."""

    @abstractmethod
    def local(
        self,
        parameters: PyTree,
        posterior: PyTree,
        observed: Array,
        messages: Array,
        key: PRNGKeyArray,
        within: PyTree = None,
    ) -> Any:
        """q of items and their contribution to the bound: an object with `bound` and `responsibilities`.

        within : what `expected` returns, if q of items is to be differentiated in that.
        """

    @abstractmethod
    def shared_step(
        self, posterior: PyTree, found: Any, weight: Float[Array, " items"], rate: Any, slope: PyTree = None
    ) -> PyTree:
        """One step of the global variables, from items that each count `weight` times.

        slope : gradient of the bound in what `expected` returns, through q of items.
        """

    @abstractmethod
    def reliability_step(
        self, posterior: PyTree, judged: NumberedJudgements, agreement: JudgedAgreement, rate: Any
    ) -> PyTree:
        """One step of the annotators' reliabilities."""

    @abstractmethod
    def pair_weights(self, posterior: PyTree) -> tuple[Float[Array, " annotators"], Float[Array, " annotators"]]:
        """Weight of a judgement "same" of each annotator, and of one "apart"."""

    @abstractmethod
    def lower_bound(self, data: Data, fit: Fit, found: Any) -> Float[Array, ""]:
        """Bound of a fit, nats, given its local result for all items."""

    @abstractmethod
    def n_owners(self, fit: Fit) -> Int[Array, ""]:
        """Number of clusters that own items."""

    @abstractmethod
    def taught(self, data: Data, fit: Fit, clusters: Int[Array, " items"], key: PRNGKeyArray) -> Fit:
        """Fit trained to predict the first clusters from the features, if the model does that."""

    def expected(self, posterior: PyTree) -> PyTree:
        """Expected statistics of the global variables if `shared_step` needs the gradient in them, else None."""
        return None

    def first_rate(self, data: Data) -> float:
        """Step size of the global variables at first; that of the authors' program depends on the number of items."""
        return min(RATE_OF_ALL_ITEMS / data.n_items, 1.0) if isinstance(self.rate, str) else self.rate

    def merged(self, data: Data, fit: Fit) -> Fit:
        """Fit with clusters merged; called if the model `merges`."""
        return fit

    def joined(self, data: Data, fit: Fit, found: Any) -> tuple[Fit, Any]:
        """Trained fit and its local result, with components joined to clusters where judgements did not."""
        return fit, found

    @property
    def optimiser(self) -> optax.GradientTransformation:
        """Optimiser of the parameters."""
        return DESCENTS[self.descent](self.learning_rate) if isinstance(self.descent, str) else self.descent

    def encoder_of(self, key: PRNGKeyArray) -> Encoder:
        """Untrained encoder, or one with the user's module."""
        if self.encoder.module is not None:
            return Encoder(UserModule(self.encoder.module, self.image_shape))
        if self.networks == "convolutional":
            return Encoder(ConvolutionalEncoder(self.image_shape, self.hidden, 2 * self.n_latent, key=key))
        return Encoder(Perceptron([self.n_features, *self.hidden, 2 * self.n_latent], key=key))

    def likelihood_of(self, key: PRNGKeyArray) -> Likelihood:
        """Likelihood with an untrained decoder, or with the user's module."""
        kind, hidden = LIKELIHOODS[self.likelihood], tuple(reversed(self.hidden))
        n_outputs = kind.n_outputs(self.n_features)
        if self.decoder.module is not None:
            return kind(UserModule(self.decoder.module))
        if self.networks == "convolutional":
            each = n_outputs // self.n_features
            return kind(ConvolutionalDecoder(self.n_latent, hidden, self.image_shape, each, key=key))
        return kind(Perceptron([self.n_latent, *hidden, n_outputs], key=key))

    def check_modules(self) -> None:
        """Raise an InputError if a module of the user's does not map what it gets to what is needed."""
        features = self.image_shape or (self.n_features,)
        check_module("encoder", self.encoder.module, features, 2 * self.n_latent, "2 × n_latent")
        per_feature = LIKELIHOODS[self.likelihood].n_outputs(1)
        text = "n_features" if per_feature == 1 else f"{per_feature} × n_features"
        check_module("decoder", self.decoder.module, (self.n_latent,), per_feature * self.n_features, text)

    def sizes(self, data: Data) -> tuple[tuple[int, int], int]:
        """Number of items of each stratum in a step, and of steps in an epoch."""
        sizes = min(self.batch_size, len(data.plain)), min(self.annotated_batch_size, len(data.annotated))
        steps = [-(-n // size) for n, size in zip((len(data.plain), len(data.annotated)), sizes, strict=True) if size]
        return sizes, max(steps)

    def n_steps(self, data: Data) -> int:
        """Number of steps in an epoch."""
        return self.sizes(data)[1]

    def n_warm_steps(self, data: Data) -> int:
        """Number of steps in an epoch of the warm start, which does not distinguish the strata."""
        return -(-data.n_items // min(self.batch_size, data.n_items))
