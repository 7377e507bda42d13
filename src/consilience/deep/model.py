"""What a deep model is to those who train it: one Equinox module, of settings, a prior, and functions of its file.

A `DeepModel` holds no weights. What a fit has come to is a `Fit`, arrays only, so that it can be stacked to train
restarts side by side (`jax.vmap`), and saved and resumed bit for bit. Settings are static: compiled code depends on
them, and two models of equal settings share it. The prior's numbers are arrays, and may change without compiling anew.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, NamedTuple, Protocol

import equinox as eqx
import jax.numpy as jnp
import optax
from jax import Array
from jaxtyping import Float, Int, PRNGKeyArray, PyTree

from consilience.deep.exponential_family import Gaussian
from consilience.deep.judgements import Agreement, Judgements
from consilience.deep.networks import LIKELIHOODS, Encoder, Given, Likelihood, Perceptron, Same

DESCENTS: dict[str, Callable[[float], optax.GradientTransformation]] = {
    "adam": optax.adam,
    "momentum": partial(optax.sgd, momentum=0.9),
}


class Data(eqx.Module):
    """Items, and what was said of some of them.

    plain, annotated : places of the items in no judged pair, and in some.
    """

    observed: Float[Array, "items features"]
    plain: Int[Array, " plain"]
    annotated: Int[Array, " annotated"]
    judgements: Judgements | None

    @property
    def n_items(self) -> int:
        """Items of both strata."""
        return len(self.plain) + len(self.annotated)

    @property
    def n_annotators(self) -> int:
        """Annotators, also of no pair."""
        return 0 if self.judgements is None else len(self.judgements.n_pairs)

    @property
    def rows(self) -> Int[Array, " items"]:
        """Places of all items, those that nobody judged first."""
        return jnp.concatenate([self.plain, self.annotated])

    def weights(self, annotated_weight: float, sizes: tuple[int, int] | None = None) -> Float[Array, " rows"]:
        """What each item counts, those that nobody judged first; over all items, the mean is 1.

        sizes : of the strata, if not of all items but of a step's.
        """
        plain, annotated = len(self.plain), len(self.annotated)
        unit = self.n_items / (plain + annotated_weight * annotated)
        n_plain, n_annotated = sizes or (plain, annotated)
        return jnp.concatenate([jnp.full(n_plain, unit), jnp.full(n_annotated, annotated_weight * unit)])

    def all_messages(self, remembered: Array, weights: tuple[Array, Array]) -> Float[Array, "annotated clusters"]:
        """Messages to annotated items from what is remembered of them."""
        if self.judgements is None:
            return jnp.zeros_like(remembered)
        return self.judgements.messages(remembered, *weights)


class Fit(NamedTuple):
    """What training has come to.

    remembered : responsibilities of annotated items. key : of the draws to come.
    """

    parameters: PyTree
    optimiser: PyTree
    posterior: PyTree
    remembered: Float[Array, "annotated clusters"]
    key: PRNGKeyArray
    epoch: Int[Array, ""]


class LocalResult(Protocol):
    """What a model finds of items: at least these."""

    bound: Array
    responsibilities: Array


class DeepModel(eqx.Module):
    """A model with its settings; all functions are pure.

    hidden : widths of the hidden layers of the networks.
    encoder, decoder : modules of the user's in place of the perceptrons.
    init : where first clusters come from, "mixture" or "judgements"; or "random", if they are left to `start`.
    descent : how the parameters are moved, a key of `DESCENTS` or a transformation of Optax, with a rate of its own.
    rate, rate_delay, rate_decay : size of the steps of what all items share, rate / (1 + step/delay)^decay.
    trust_epochs : first epochs, in which annotators stay as reliable as they are held to be.
    annotated_weight : how often its share an annotated item counts; 1 is the bound.
    warm_weight : of the divergence of q(x) from N(0, I) in the warm start.
    merges : whether clusters are `merged` now and then.
    """

    prior: PyTree
    n_features: int = eqx.field(static=True)
    n_latent: int = eqx.field(static=True)
    n_clusters: int = eqx.field(static=True)
    hidden: tuple[int, ...] = eqx.field(static=True)
    likelihood: str = eqx.field(static=True)
    encoder: Same = eqx.field(static=True)
    decoder: Same = eqx.field(static=True)
    init: str = eqx.field(static=True)
    batch_size: int = eqx.field(static=True)
    annotated_batch_size: int = eqx.field(static=True)
    descent: str | optax.GradientTransformation = eqx.field(static=True)
    learning_rate: float = eqx.field(static=True)
    rate: float = eqx.field(static=True)
    rate_delay: float = eqx.field(static=True)
    rate_decay: float = eqx.field(static=True)
    trust_epochs: int = eqx.field(static=True)
    annotated_weight: float = eqx.field(static=True)
    warm_weight: float = eqx.field(static=True)
    merges: bool = eqx.field(static=True)

    mixes: ClassVar[bool] = False  # whether a cluster may have several components

    @abstractmethod
    def untrained(self, key: PRNGKeyArray) -> PyTree:
        """Networks, and all else that gradients move; `.encoder` and `.likelihood` are among them."""

    @abstractmethod
    def start(
        self, parameters: PyTree, first: Array, joined: Array, latent: Gaussian, n_annotators: int, key: PRNGKeyArray
    ) -> tuple[PyTree, PyTree]:
        """Parameters and q of what all items share, from first components, their clusters, and positions."""

    @abstractmethod
    def local(self, parameters: PyTree, posterior: PyTree, observed: Array, messages: Array, key: PRNGKeyArray) -> Any:
        """What is found of items, a `LocalResult`, and what they add to the bound."""

    @abstractmethod
    def shared_step(self, posterior: PyTree, found: Any, weight: Float[Array, " items"], rate: Any) -> PyTree:
        """A step of what all items share, from items that each count `weight` times."""

    @abstractmethod
    def reliability_step(self, posterior: PyTree, judged: Judgements, agreement: Agreement, rate: Any) -> PyTree:
        """A step of the annotators' reliabilities."""

    @abstractmethod
    def pair_weights(self, posterior: PyTree) -> tuple[Float[Array, " annotators"], Float[Array, " annotators"]]:
        """Weight of a judgement "same" of each annotator, and of one "apart"."""

    @abstractmethod
    def lower_bound(self, data: Data, fit: Fit, found: Any) -> Float[Array, ""]:
        """Bound of a fit, nats, from what it finds of all items."""

    @abstractmethod
    def n_owners(self, fit: Fit) -> Int[Array, ""]:
        """How many clusters own items."""

    @abstractmethod
    def taught(self, data: Data, fit: Fit, clusters: Int[Array, " items"], key: PRNGKeyArray) -> Fit:
        """Fit that tells first clusters from what is observed, where the model learns that."""

    def merged(self, data: Data, fit: Fit) -> Fit:
        """Fit with clusters merged, asked for where the model `merges`."""
        return fit

    @property
    def optimiser(self) -> optax.GradientTransformation:
        """Of the parameters."""
        return DESCENTS[self.descent](self.learning_rate) if isinstance(self.descent, str) else self.descent

    def encoder_of(self, key: PRNGKeyArray) -> Encoder:
        """Encoder, untrained, or with the module given for one."""
        sizes = [self.n_features, *self.hidden, 2 * self.n_latent]
        return Encoder(Perceptron(sizes, key=key) if self.encoder.module is None else Given(self.encoder.module))

    def likelihood_of(self, key: PRNGKeyArray) -> Likelihood:
        """Likelihood with a decoder, untrained, or with the module given for one."""
        kind = LIKELIHOODS[self.likelihood]
        sizes = [self.n_latent, *reversed(self.hidden), kind.n_outputs(self.n_features)]
        return kind(Perceptron(sizes, key=key) if self.decoder.module is None else Given(self.decoder.module))

    def sizes(self, data: Data) -> tuple[tuple[int, int], int]:
        """Items of each stratum in a step, and steps of an epoch."""
        sizes = min(self.batch_size, len(data.plain)), min(self.annotated_batch_size, len(data.annotated))
        steps = [-(-n // size) for n, size in zip((len(data.plain), len(data.annotated)), sizes, strict=True) if size]
        return sizes, max(steps)

    def n_steps(self, data: Data) -> int:
        """Steps of an epoch."""
        return self.sizes(data)[1]

    def n_warm_steps(self, data: Data) -> int:
        """Steps of an epoch of the warm start, which passes all items alike."""
        return -(-data.n_items // min(self.batch_size, data.n_items))
