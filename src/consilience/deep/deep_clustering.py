"""Base class of the deep estimators: reading of data, training, prediction."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pandas as pd
from jax import Array
from jaxtyping import Float, Int, PyTree
from scipy.stats import beta
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from consilience.annotations import Annotations
from consilience.annotations.canonical import Arrangement, arrange, arrange_items
from consilience.annotations.fit_arguments import values_of_missing
from consilience.annotations.names import outside
from consilience.annotations.types import AnnotationsLike, FeaturesLike, Missing, RandomSource, Self
from consilience.deep import automatic, checkpoints, pictures, restarts
from consilience.deep.components import Components, moments_of_clusters, owned_components
from consilience.deep.judgements import NumberedJudgements, annotated_items, judgements
from consilience.deep.model import DESCENTS, Data, DeepModel, Fit
from consilience.deep.networks import LIKELIHOODS, Same
from consilience.deep.notes import notes
from consilience.deep.restarts import Course
from consilience.deep.training import CHUNK_SIZE
from consilience.errors import FeatureScaleWarning, InputError
from consilience.estimators import forecasts, learned, scoring
from consilience.estimators.base import CrowdEstimator
from consilience.estimators.learned import Attributes
from consilience.estimators.parameters import (
    AUTO,
    NOT_NEGATIVE,
    POSITIVE,
    RESTARTS,
    TWO_POSITIVE,
    WIDTHS,
    Requirement,
    Requirements,
    interval,
    is_whole,
    one_of,
    whole,
)
from consilience.estimators.scoring import rates_of_table, score_of_clusters
from consilience.inference.clusters import by_falling_size
from consilience.inference.progress import counting
from consilience.inference.randomness import spawn_generator, spawn_seeds

INITS = ("mixture", "judgements", "random")
LEARNING_RATE = 1e-3  # by default
MOST_LATENT = 10  # dimensions of the latent space, if their number is "auto"
# finite, since −∞ less −∞ is NaN
NEVER = -1e9  # nats: log probability of a cluster that is never predicted
INTERVAL = (0.025, 0.975)


TRANSFORMATION = Requirement(
    ("an optax.GradientTransformation",), lambda value: isinstance(value, optax.GradientTransformation)
)


class DeepClustering(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CrowdEstimator):
    """Base class of models of clusters in the latent space of a network.

    A subclass defines its `DeepModel`, its prior, and the components and reliabilities of a trained fit.
    """

    PUBLISHED: ClassVar[dict[str, dict[str, Any]]] = {}

    _learned: ClassVar[Attributes] = {
        **learned.FEATURES,
        "image_shape_": learned.either(
            *(learned.tuple_of(*[learned.whole(1)] * n_axes) for n_axes in (0, 2, 3))  # no picture, in grey, in colours
        ),
        "_brightest": learned.one_of(1.0, 255.0),
        "notes_": learned.NOTES,
        **learned.CLUSTERS,
        "restart_bounds_": learned.array(float, None, nan=True, inf=True),
        "lower_bound_": learned.number(),
        "losses_": learned.array(float, None, nan=True),
        "clusters_left_": learned.array(int, None, low=0),
        "n_iter_": learned.whole(),
        "_trained_annotators": learned.names("annotators trained"),
        "state_": learned.ANYTHING,  # checked against the networks by `_contradictions`
        "_owned": learned.array(int, "clusters", low=0),
        "components_": learned.table("components", {"cluster": "i", "weight": "f"}),
        "component_means_": learned.array(float, "components", "latent"),
        "component_covariances_": learned.array(float, "components", "latent", "latent"),
        "weights_": learned.array(float, "clusters", low=0),
        "means_": learned.array(float, "clusters", "latent"),
        "covariances_": learned.array(float, "clusters", "latent", "latent"),
        **learned.annotators(n_pairs="c", sensitivity="p", specificity="p", weight="f"),
    }

    _requirements: ClassVar[Requirements] = {
        "n_clusters": whole(1),
        "n_latent": AUTO | whole(1),
        "hidden": AUTO | WIDTHS,
        "likelihood": one_of(*LIKELIHOODS),
        "n_epochs": AUTO | whole(1),
        "warm_epochs": AUTO | whole(0),
        "trust_epochs": whole(0),
        "warm_weight": NOT_NEGATIVE,
        "init": one_of(*INITS),
        "n_init": AUTO | RESTARTS,
        "batch_size": whole(1),
        "annotated_batch_size": whole(1),
        "annotated_weight": POSITIVE,
        "optimiser": one_of(*DESCENTS) | TRANSFORMATION,
        "learning_rate": POSITIVE,
        "rate": interval(0, 1, "right"),
        "rate_delay": POSITIVE,
        "rate_decay": NOT_NEGATIVE,
        "implied_pairs": one_of("groups", "independent", "all"),
        "reliability_prior": TWO_POSITIVE,
    }

    @classmethod
    def as_published(cls, data: str, **changes: Any) -> Any:
        """Return an estimator with the settings of the paper's experiments (Luo et al. 2018, appendix B).

        Settings that the appendix leaves open, or gives otherwise than the authors' program, follow the program.

        Parameters
        ----------
        data : str
            Name of the experiment; a key of `PUBLISHED`.
        **changes : parameters that differ from the paper's

        Returns
        -------
        estimator, not fitted

        Raises
        ------
        InputError
            An unknown experiment.
        """
        if data not in cls.PUBLISHED:
            raise InputError(f"No published settings for {data!r}. There are some for {', '.join(cls.PUBLISHED)}.")
        return cls(**(cls.PUBLISHED[data] | changes))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags

    def fit(self, X: FeaturesLike | None, y: AnnotationsLike | None = None, *, missing: Missing | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : DataFrame or array, shape (n_items, n_features)
            Features, finite. Standardised for a Gaussian likelihood; from 0 to 1 for a Bernoulli one. A DataFrame is
            matched with the annotations by the item names in its index, an array by position. Or pictures: an array of
            shape (n_items, height, width) or (n_items, height, width, channels), or a Series of arrays of one picture
            each, indexed by item name. Those of 8-bit integers from 0 to 255 are divided by 255.
        y : Pairs, Groupings, Labels, long table of pairs, array of shape (n_items, n_annotators), or None
            Judgements of pairs of some of the items. A grouping implies judgements of all its pairs, which are not
            listed. None: no judgements; the clusters are those of the features alone.
        missing : optional
            Value or list of values that means missing, in addition to blank cells; for tables and arrays.
            By default -1 if it is the only negative integer.

        Returns
        -------
        fitted estimator

        Raises
        ------
        InputError
            Features and annotations that do not match, a wrong parameter, or a checkpoint of another fit.
        FloatingPointError
            Training failed in every restart.
        """
        self._check_parameters()
        seed = spawn_seeds(self.random_state, 1)[0]
        self._missing = values_of_missing(missing)
        data, arranged = self._study(X, y, missing)
        model = self._checked_model(data)
        n_epochs, n_warm = self._lengths(model, data)
        n_restarts = automatic.n_restarts(*data.observed.shape) if self.n_init == "auto" else int(self.n_init)
        keys = jax.random.split(jax.random.key(seed), n_restarts)
        file = None if self.checkpoint is None else Path(self.checkpoint)
        mark = "" if file is None else checkpoints.fingerprint(self._identity(seed), data)
        with self._progress(), counting("epochs", n_warm + n_epochs) as epochs:
            course = None if file is None else _resume(file, mark, model, data)
            if course is None:
                course = restarts.begin(model, data, keys, n_warm, epochs.update)
            else:
                epochs.update(n_warm + course.n_epochs)
            while course.n_epochs < n_epochs and not self._has_settled(model, data, course):
                course = restarts.advance(model, data, course, n_epochs)
                if file is not None:
                    kept = {"losses": course.losses, "left": course.left, "fingerprint": np.array(mark)}
                    checkpoints.write(file, checkpoints.to_arrays(course.fits) | kept)
                epochs.say(f"loss {course.losses[-1].round(3).tolist()}, clusters {course.left[-1].tolist()}")
                epochs.update()
        self._finish(model, data, arranged, course)
        return self

    def partial_fit(self, X: Any, y: Any = None, *, missing: Any = None) -> Any:
        """Train for one more epoch, on the same or other items; start training if the model is not fitted.

        Parameters
        ----------
        X, y, missing : as for `fit`
            The annotators must be those fitted before; their reliabilities continue. Remembered responsibilities of
            annotated items are computed again from the features, so successive calls are not equal to one long `fit`.
            There is one restart, and no checkpoint.

        Returns
        -------
        fitted estimator

        Raises
        ------
        InputError
            As in `fit`; or annotators other than before.
        FloatingPointError
            Training failed.
        """
        self._check_parameters()
        begun = hasattr(self, "state_")
        data, arranged = self._study(X, y, missing, reset=not begun)
        model = self._checked_model(data)
        if begun:
            course = self._continued(model, data, arranged)
        else:
            seed = spawn_seeds(self.random_state, 1)[0]
            keys = jax.random.split(jax.random.key(seed), 1)
            course = restarts.begin(model, data, keys, self._lengths(model, data)[1], lambda: None)
        course = restarts.advance(model, data, course, course.n_epochs + 1)
        self._finish(model, data, arranged, course)
        return self

    def predict(self, X: FeaturesLike) -> Int[np.ndarray, " items"]:
        """Most probable cluster of new items by their features.

        Parameters
        ----------
        X : DataFrame or array, shape (n_items, n_features); or pictures of the shape fitted

        Returns
        -------
        ndarray of int, shape (n_items,)

        Raises
        ------
        InputError
            Features that are not finite, or outside the range of the likelihood.
        """
        return self.predict_proba(X).argmax(1)

    def predict_proba(self, X: FeaturesLike) -> Float[np.ndarray, "items clusters"]:
        """Probability of each cluster for new items by their features.

        Parameters
        ----------
        X : DataFrame or array, shape (n_items, n_features); or pictures of the shape fitted

        Returns
        -------
        ndarray, shape (n_items, n_clusters_)

        Raises
        ------
        InputError
            Features that are not finite, or outside the range of the likelihood.
        """
        owned = self._located(X)[0][:, self._owned]
        owned[owned.sum(1) == 0] = self.weights_  # in SCDC, if none of the candidates owns items
        return owned / owned.sum(1, keepdims=True)

    score = scoring.score

    def _score(self, X: FeaturesLike, judgements: Annotations) -> float:
        w_and_v = rates_of_table(self.annotators_)
        return score_of_clusters(judgements, self.predict_proba(X), w_and_v, self.annotators_.index)

    def transform(self, X: FeaturesLike) -> Float[np.ndarray, "items dims"]:
        """Return the posterior means of the latent positions of new items.

        Parameters
        ----------
        X : DataFrame or array, shape (n_items, n_features); or pictures of the shape fitted

        Returns
        -------
        ndarray, shape (n_items, n_latent)

        Raises
        ------
        InputError
            Features that are not finite, or outside the range of the likelihood.
        """
        return self._located(X)[1]

    def sample(
        self, n_samples: int = 1, cluster: Any = None, random_state: RandomSource = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw new items: their expected features at latent positions drawn from the clusters.

        Parameters
        ----------
        n_samples : int, default=1
        cluster : int, optional
            Draw from this cluster only. Default: from all, by their shares.
        random_state : int, RandomState, Generator or None, default=None
            An int makes the result reproducible.

        Returns
        -------
        features : ndarray, shape (n_samples, n_features), or pictures in the shape of those fitted, from 0 to 1
        clusters : ndarray of int, shape (n_samples,)

        Raises
        ------
        InputError
            An unknown cluster, or a number of samples that is not positive.
        """
        check_is_fitted(self)
        if not is_whole(n_samples, 1):
            raise InputError(f"'n_samples' must be a positive int. Got {n_samples!r} instead.")
        if cluster is not None and not (is_whole(cluster, 0) and cluster < self.n_clusters_):
            raise InputError(f"'cluster' must be an int from 0 to {self.n_clusters_ - 1}. Got {cluster!r} instead.")
        rng = spawn_generator(random_state)
        of_component, share = self.components_["cluster"].to_numpy(), self.components_["weight"].to_numpy()
        share = share if cluster is None else share * (of_component == cluster)
        drawn = rng.choice(len(share), n_samples, p=share / share.sum())
        noise = rng.standard_normal((n_samples, self._n_latent))
        roots = np.linalg.cholesky(self.component_covariances_)
        latent = self.component_means_[drawn] + np.einsum("nij,nj->ni", roots[drawn], noise)
        features = self._fit().parameters.likelihood.mean(jnp.asarray(latent, jnp.float32))
        shape = self._pictures.shape or (self.n_features_in_,)
        return np.asarray(features, float).reshape(n_samples, *shape), of_component[drawn]

    @property
    def _pictures(self) -> pictures.Format:
        """Format of the pictures fitted; before a fit, that of a table."""
        known = pictures.Format()
        return pictures.Format(getattr(self, "image_shape_", known.shape), getattr(self, "_brightest", known.brightest))

    def _as_table(self, X: Any) -> Any:
        """Pictures as rows of numbers; a table as it is."""
        return pictures.as_table(X, self._pictures)

    @property
    def _n_latent(self) -> int:
        """Number of dimensions of the latent space."""
        return min(MOST_LATENT, self.n_features_in_) if self.n_latent == "auto" else int(self.n_latent)

    @property
    def _n_features_out(self) -> int:
        return self._n_latent

    @abstractmethod
    def _model(self, n_features: int) -> DeepModel:
        """Model with these settings; models with equal settings are equal, so that code is compiled once."""

    @abstractmethod
    def _prior(self) -> PyTree:
        """Prior of the model."""

    @abstractmethod
    def _describe(self, model: Any, fit: Fit) -> tuple[Components, Array, Array]:
        """Gaussians in the latent space; Beta parameters of sensitivities and of specificities."""

    def _settings(self, n_features: int) -> dict[str, Any]:
        """Parameters of every `DeepModel`, except whether it merges."""
        return {
            "prior": self._prior(),
            "n_features": n_features,
            "n_latent": self._n_latent,
            "n_clusters": int(self.n_clusters),
            "hidden": automatic.widths(n_features) if self.hidden == "auto" else tuple(map(int, self.hidden)),
            "networks": str(getattr(self, "networks", "perceptron")),
            "image_shape": tuple(self._pictures.shape),
            "likelihood": str(self.likelihood),
            "encoder": Same(getattr(self, "encoder", None)),
            "decoder": Same(self.decoder),
            "init": str(self.init),
            "batch_size": int(self.batch_size),
            "annotated_batch_size": int(self.annotated_batch_size),
            "descent": self.optimiser,
            "learning_rate": float(self.learning_rate),
            "rate": self.rate if isinstance(self.rate, str) else float(self.rate),
            "rate_delay": float(self.rate_delay),
            "rate_decay": float(self.rate_decay),
            "trust_epochs": int(self.trust_epochs),
            "annotated_weight": float(self.annotated_weight),
            "warm_weight": float(self.warm_weight),
        }

    def _checked_model(self, data: Data) -> DeepModel:
        """Model of these data, whose networks fit them."""
        if getattr(self, "networks", "") == "convolutional" and not self._pictures.shape:
            raise InputError(
                "networks='convolutional' needs pictures: an array of shape (n_items, height, width) or (n_items, "
                "height, width, channels). Got a table of features: reshape it."
            )
        model = self._model(data.observed.shape[1])
        model.check_modules()
        return model

    def _lengths(self, model: DeepModel, data: Data) -> tuple[int, int]:
        """Largest number of epochs, and number of those of the warm start."""
        n_warm_epochs = automatic.n_warm_epochs(model.n_warm_steps(data), model.n_features)
        auto = automatic.most_epochs(model.n_steps(data)), n_warm_epochs
        given = self.n_epochs, self.warm_epochs
        n_epochs, n_warm = (own if value == "auto" else int(value) for own, value in zip(auto, given, strict=True))
        return n_epochs, n_warm

    def _has_settled(self, model: DeepModel, data: Data, course: Course) -> bool:
        """Whether training ends before its last epoch: if their number is "auto", when the loss falls no more."""
        trusting = course.losses[int(self.trust_epochs) :]
        return self.n_epochs == "auto" and automatic.has_settled(trusting, model.n_steps(data))

    def _study(self, X: Any, annotations: Any, missing: Any, *, reset: bool = True) -> tuple[Data, Arrangement[Any]]:
        """Data of a fit in canonical order, and their arrangement."""
        if reset:
            self.image_shape_, self._brightest = pictures.format_of(X)
        X = pictures.as_table(X, self._pictures)
        values = self._observed(X, reset=reset)
        if annotations is None:
            if self.init == "judgements":
                raise InputError("init='judgements' needs annotations. Give some, or leave 'init' at 'mixture'.")
            rows = X.index if isinstance(X, pd.DataFrame) else pd.RangeIndex(len(values))
            arranged: Arrangement[Any] = arrange_items(rows, values)
            judged, annotated = None, np.empty(0, int)
        else:
            arranged = arrange(self._judgements(X, annotations, missing), values)
            arranged = arranged if reset else self._as_trained(arranged)
            annotated = annotated_items(arranged.ordered)
            if not len(annotated):
                raise InputError(
                    f"The annotations judge no pair of items (n_samples={len(values)}). Give y=None to "
                    f"{type(self).__name__} to use the features alone."
                )
            judged = judgements(arranged.ordered, annotated, implied=self.implied_pairs)
        plain = np.setdiff1d(np.arange(len(values)), annotated)
        observed = jnp.asarray(values[arranged.items], jnp.float32)
        return Data(observed, jnp.asarray(plain), jnp.asarray(annotated), judged), arranged

    def _as_trained(self, arranged: Arrangement[Any]) -> Arrangement[Any]:
        """Rearrange annotators into the order in which they were trained, if they are the same."""
        trained, given = self._trained_annotators, arranged.given.annotators
        if set(trained) != set(given):
            return arranged  # training cannot continue with these: see `_continued`
        judged = arranged.ordered.restrict(annotators=trained)
        return replace(arranged, ordered=judged, annotators=given.get_indexer(trained))

    def _depends_on_scale(self) -> bool:
        """False if all features are shares from 0 to 1."""
        return self.likelihood != "bernoulli"

    def _observed(self, X: Any, *, reset: bool) -> Float[np.ndarray, "items features"]:
        """Features, checked to be in the range of the likelihood."""
        values = self._features(X, reset=reset)
        if self.likelihood == "bernoulli" and not ((values >= 0) & (values <= 1)).all():
            row, column = np.argwhere((values < 0) | (values > 1))[0]
            greys = pictures.looks_like_greys(values)
            remedy = "divide by 255" if greys else "scale them, or choose likelihood='gaussian'"
            item = X.index[row] if isinstance(X, pd.DataFrame) else row
            raise InputError(
                f"Feature {column} of item {item!r} is {values[row, column]:g}. A Bernoulli likelihood needs features "
                f"from 0 to 1: {remedy}."
            )
        if reset and self.likelihood == "gaussian" and pictures.looks_like_greys(values):
            warnings.warn(
                "All features are whole numbers from 0 to 255, as of pictures, but a Gaussian likelihood expects "
                "standardised ones: divide them by 255 and choose likelihood='bernoulli', or standardise them.",
                FeatureScaleWarning,
                stacklevel=outside(),
            )
        return values

    def _finish(self, model: DeepModel, data: Data, arranged: Arrangement[Any], course: Course) -> None:
        """Set the fitted attributes from the best restart."""
        fit, found, bound, bounds = restarts.finish(model, data, course)
        if not np.isfinite(bounds).any():
            raise FloatingPointError(
                f"{type(self).__name__}: training failed in every restart. Standardise the features, or lower "
                "learning_rate."
            )
        best = int(np.nanargmax(bounds))
        self.restart_bounds_, self.lower_bound_ = bounds, bound
        self.losses_, self.clusters_left_ = course.losses[:, best], course.left[:, best]
        self.n_iter_ = course.n_epochs
        self.state_ = checkpoints.to_arrays(fit)
        responsibilities = np.empty(found.responsibilities.shape)
        responsibilities[np.asarray(data.rows)] = found.responsibilities
        sizes = np.bincount(responsibilities.argmax(1), minlength=responsibilities.shape[1])
        self._owned = by_falling_size(sizes)
        owned = responsibilities[:, self._owned]
        self.responsibilities_ = owned / owned.sum(1, keepdims=True)
        self.labels_, self.n_clusters_ = self.responsibilities_.argmax(1), len(self._owned)
        components, *right = self._describe(model, fit)
        kept = owned_components(Components(*map(np.asarray, components)), self._owned)
        self.components_ = pd.DataFrame({"cluster": kept.cluster, "weight": kept.weight})
        self.component_means_, self.component_covariances_ = kept.mean, kept.covariance
        self.weights_, self.means_, self.covariances_ = moments_of_clusters(kept)
        self._trained_annotators = _training_order(arranged)
        self.annotators_ = _annotators(self._trained_annotators, data.judgements, *map(np.asarray, right))
        self.notes_ = notes(data, self.annotators_, self.n_clusters_, int(self.n_clusters))
        self._restore(arranged)
        forecasts.keep(self, arranged.given)

    forecast_same = forecasts.forecast_same

    def _located(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities of clusters, and latent means, of new items."""
        check_is_fitted(self)
        values = jnp.asarray(self._observed(pictures.as_table(X, self._pictures), reset=False), jnp.float32)
        model, fit = self._model(values.shape[1]), self._fit()
        unowned = ~np.isin(np.arange(model.n_clusters), self._owned)
        # the last chunk is filled up with first rows, so that one size is compiled
        places = np.arange(-(-len(values) // CHUNK_SIZE) * CHUNK_SIZE).reshape(-1, CHUNK_SIZE) % len(values)
        parts = [_locate(model, fit, values[some], jnp.asarray(unowned)) for some in places]
        eta, mean = (np.concatenate([np.asarray(part[k], float) for part in parts])[: len(values)] for k in (0, 1))
        return eta, mean

    def _fit(self) -> Fit:
        """State of training, as JAX arrays."""
        return checkpoints.from_arrays(self._template(), self.state_)

    def _template(self) -> PyTree:
        model = self._model(self.n_features_in_)
        return jax.eval_shape(lambda: restarts.blank(model, len(self.annotators_)))

    def _continued(self, model: DeepModel, data: Data, arranged: Arrangement[Any]) -> Course:
        """State of training, continued on these data."""
        if list(_training_order(arranged)) != list(self._trained_annotators):
            raise InputError("partial_fit needs the annotators that were fitted before. Call fit for others.")
        fits = restarts.continue_fit(model, data, self._fit())
        return Course(fits, self.losses_[:, None], self.clusters_left_[:, None])

    def _identity(self, seed: int) -> dict[str, Any]:
        """Settings that make two fits of the same data identical."""
        left_out = {"checkpoint", "verbose", "random_state", "encoder", "decoder"}
        given = self.get_params(deep=False)
        held = {name: value for name, value in given.items() if name not in left_out}
        own = {name: checkpoints.digest(getattr(self, name, None)) for name in ("encoder", "decoder")}
        if isinstance(self.optimiser, optax.GradientTransformation):
            own["optimiser"] = str(
                jax.tree.structure(self.optimiser.init(jnp.zeros(1)))
            )  # functions cannot be compared
        return held | own | {"seed": None if self.random_state is None else seed, "model": type(self).__name__}

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if isinstance(self.optimiser, optax.GradientTransformation) and self.learning_rate != LEARNING_RATE:
            raise InputError(
                f"The 'learning_rate' parameter of {type(self).__name__} is not used with an "
                f"optax.GradientTransformation, which has its own. Got {self.learning_rate!r}; "
                f"leave it at {LEARNING_RATE}."
            )

    def _contradictions(self) -> Iterator[str]:
        yield from super()._contradictions()
        if self.image_shape_ and math.prod(self.image_shape_) != self.n_features_in_:
            yield "image_shape_"
            return
        if not checkpoints.fits(self._template(), self.state_):
            yield "state_"
        if not learned.are_distinct(self._owned) or int(self._owned.max()) >= self.n_clusters:
            yield "_owned"


def _resume(file: Path, mark: str, model: DeepModel, data: Data) -> Course | None:
    arrays = checkpoints.read(file, mark)
    if arrays is None:
        return None
    template = jax.eval_shape(lambda: restarts.blank(model, data.n_annotators))
    losses, left = arrays.pop("losses"), arrays.pop("left")
    return Course(checkpoints.from_arrays(template, arrays), losses, left)


def _training_order(arranged: Arrangement[Any]) -> pd.Index:
    """Annotators in the order of training."""
    return pd.Index([], name="annotator") if arranged.ordered is None else arranged.ordered.annotators


@jax.jit
def _locate(model: DeepModel, fit: Fit, observed: Array, unowned: Array) -> tuple[Array, Array]:
    messages = jnp.broadcast_to(jnp.where(unowned, NEVER, 0.0), (len(observed), model.n_clusters))
    # what is drawn enters the bound alone
    found = model.local(fit.parameters, fit.posterior, observed, messages, jax.random.key(0))
    return found.responsibilities, found.latent.mean


def _annotators(
    names: pd.Index, judged: NumberedJudgements | None, sensitivity: np.ndarray, specificity: np.ndarray
) -> pd.DataFrame:
    """Tabulate judgements, sensitivity and specificity with credible intervals, and weight of a judgement in nats."""
    n_pairs = np.empty(0) if judged is None else np.asarray(judged.n_pairs)
    table = {"n_pairs": np.rint(n_pairs).astype(int)}
    weight = np.zeros(len(names))
    for name, right in {"sensitivity": sensitivity, "specificity": specificity}.items():
        table[name] = right[:, 0] / right.sum(1)
        table[f"{name}_low"], table[f"{name}_high"] = (beta.ppf(share, *right.T) for share in INTERVAL)
        weight += np.log(right[:, 0] / right[:, 1])
    return pd.DataFrame(table | {"weight": weight}, index=names.rename("annotator"))
