"""The models of a comparison: which can be compared, what each is fitted to, its predictions and its costs.

Decided here
------------
Whether a model takes features is looked up in the registry; other models take features if the first argument of their
`fit` is called ``X``. Annotations are passed to a model as they are if it reads them, else converted to the first kind
that it reads.

Which semi-supervised models work without features is not declared anywhere: `candidates` tries each on six items.

The message of a ValueError that a model raises becomes its note in the table; the comparison goes on without it. Other
errors are bugs and are not caught. Warnings become notes.
"""

from __future__ import annotations

import math
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import clone

from consilience import registry
from consilience.annotations import Annotations, Groupings, Labels
from consilience.annotations.name_lists import list_names
from consilience.errors import InputError, MatchingError, UnannotatedWarning
from consilience.estimators.parameters import is_whole
from consilience.selection.folds import HeldOut
from consilience.selection.prediction import predict

__all__ = ["candidates"]


CHANCE, CO_OCCURRENCE = "chance", "co-occurrence"
USUAL = (2, 3, 4, 6, 8)  # numbers of clusters tried by default


def candidates(
    annotations: Annotations,
    X: Any = None,
    *,
    n_clusters: int | Iterable[int] | None = None,
    models: str | Iterable[str] | None = None,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """Return the models of the package that can be fitted to these annotations, for `compare`.

    Parameters
    ----------
    annotations : Groupings, Pairs or Labels
    X : features, or None
    n_clusters : int or iterable of int, optional
        Numbers of clusters for all models that have the parameter. By default 2, 3, 4, 6 and 8 for those that do not
        find the number themselves.
    models : name or iterable of names, optional
        Return these, whether or not they can be fitted. By default all that can, except deep ones, which train for
        minutes.
    settings : dict of model name to dict of parameters, optional
        If this has a number of clusters for a model, no other is tried.

    Returns
    -------
    dict of name to estimator

    Raises
    ------
    InputError
        A model does not exist, or a number of clusters is not a positive int.

    Examples
    --------
    >>> from consilience import Labels
    >>> from consilience.selection import candidates
    >>> labels = Labels.from_matrix([[0, 1], [0, 0], [1, 1]])
    >>> "DawidSkene" in candidates(labels)
    True
    >>> list(candidates(labels, models=["SubsetFusion"], n_clusters=[2, 3]))
    ['SubsetFusion(n_clusters=2)', 'SubsetFusion(n_clusters=3)']
    """
    models = None if models is None else list_names(models, "models")
    numbers = None if n_clusters is None else _numbers_of_clusters(n_clusters)
    quick = [name for name, known in registry.ESTIMATORS.items() if known.module != "consilience.deep"]
    entries = [registry.entry(name) for name in (quick if models is None else models)]
    found: dict[str, Any] = {}
    for known in entries:
        made = known.load()
        if models is None and not _fits(annotations, X, known, made):
            continue
        given = dict((settings or {}).get(known.name, {}))
        parameter = signature(made).parameters.get("n_clusters")
        is_varied = numbers is not None or (parameter is not None and is_whole(parameter.default, 1))
        if parameter is None or "n_clusters" in given or not is_varied:
            found[known.name] = made(**given)
        else:
            tried = [k for k in (USUAL if numbers is None else numbers) if k <= len(annotations)]
            found |= {f"{known.name}(n_clusters={k})": made(n_clusters=k, **given) for k in tried}
    return found


def _numbers_of_clusters(n_clusters: Any) -> list[int]:
    found = list(n_clusters) if isinstance(n_clusters, Iterable) and not isinstance(n_clusters, str) else [n_clusters]
    for number in found:
        if not is_whole(number, 1):
            raise InputError(f"'n_clusters' must be a positive int, or several. Got {number!r}.")
    return [int(number) for number in found]


def name_models(models: Any) -> dict[str, Any]:
    """Return models by name: those of a dict, or of a list by class, with parameters if classes repeat.

    Raises InputError: there are no models, names repeat, or something is not a model.
    """
    if isinstance(models, str):
        models = [models]
    if isinstance(models, Mapping):
        found = {str(name): model for name, model in models.items()}
    else:
        several = list(models) if isinstance(models, Iterable) and not hasattr(models, "fit") else [models]
        for model in several:
            _require_estimator(type(model).__name__ if not isinstance(model, str) else model, model)
        plain = [type(final(model)).__name__ for model in several]
        full = [" ".join(repr(final(model)).split()) for model in several]
        found = {long if plain.count(short) > 1 else short: model for short, long, model in zip(plain, full, several)}
        if len(found) < len(several):
            raise InputError("Two of the models are the same; give a dict of name to estimator.")
    if not found:
        raise InputError("There are no models to compare.")
    for name, model in found.items():
        _require_estimator(name, model)
        if not (hasattr(model, "fit") and hasattr(final(model), "predict_same")):
            raise InputError(f"The model {name!r} cannot be compared: it has no 'fit' or no 'predict_same'.")
        if name in (CHANCE, CO_OCCURRENCE):
            raise InputError(f"The name {name!r} is reserved for the baseline; rename the model.")
    return found


def _require_estimator(name: str, model: Any) -> None:
    """Raise an InputError for the name of a model, or its class, instead of an estimator."""
    if isinstance(model, str):
        known = registry.ESTIMATORS.get(model)
        made = f"{known.name}()" if known else "DawidSkene()"
        raise InputError(
            f"Models must be estimators, such as {made}. Got the text {model!r}; see also "
            "consilience.selection.candidates."
        )
    if isinstance(model, type):
        raise InputError(
            f"Models must be estimators, such as {model.__name__}(). Got the class {model.__name__} itself."
        )


def final(model: Any) -> Any:
    """Return the last step of a Pipeline, or the estimator itself."""
    return model[-1] if hasattr(model, "steps") else model


@dataclass
class Candidate:
    """A model of the comparison and its results so far."""

    name: str
    model: Any
    probability: np.ndarray = field(default_factory=lambda: np.empty(0))
    seconds: list[float] = field(default_factory=list)
    megabytes: float = math.nan
    warned: list[str] = field(default_factory=list)
    failure: str = ""

    def run(self, held: HeldOut, kept: Annotations, X: Any, fold: int, seed: int, *, by: str, memory: bool) -> None:
        """Fit to the annotations kept in a fold, and predict the held-out judgements; record a failure."""
        try:
            model = seed_model(clone(self.model), seed)
            tags = held.kept_tags(fold) if reads_tags(model) else None
            readable = as_read(kept, final(model)) if tags is None else tags
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                warnings.simplefilter("ignore", UnannotatedWarning)  # all annotations of an item may be held out
                seconds, megabytes = measure_work(lambda: fit(model, readable, X), memory=memory)
            there = np.flatnonzero(held.fold == fold)
            self.probability[there] = predict(final(model), held, kept, there, by)
        except MatchingError:  # all models that take features would fail in the same way
            raise
        except ValueError as error:
            self.failure = " ".join(str(error).split())
            return
        self.warned += [" ".join(str(warning.message).split()) for warning in caught[:1]]
        if memory:
            self.megabytes = megabytes
        else:
            self.seconds.append(seconds)

    @property
    def note(self) -> str:
        """Why there are no numbers, or the model's first warning."""
        if self.failure or not self.warned:
            return self.failure
        return f"Warned in {len(self.warned)} folds: {self.warned[0]}"


def fit(model: Any, annotations: Annotations, X: Any) -> None:
    """Fit a model of either shape."""
    last = final(model)
    known = registry.ESTIMATORS.get(type(last).__name__)
    takes_features = known.kind == "semisupervised" if known else next(iter(signature(last.fit).parameters)) == "X"
    if takes_features and X is None and hasattr(model, "steps"):
        raise InputError("A pipeline needs features: pass them to compare as X.")
    if takes_features:
        model.fit(X, annotations)
    else:
        last.fit(annotations)


def reads_tags(model: Any) -> bool:
    """Whether labels are tags to a model, of which an annotator may give an item several."""
    return bool(getattr(final(model), "reads_tags", False))


def as_read(annotations: Annotations, model: Any) -> Annotations:
    """Return annotations of a kind that a model reads.

    Raises InputError: they cannot be converted to a kind that it reads.
    """
    known = registry.ESTIMATORS.get(type(model).__name__)
    if known is None:
        return annotations
    kind = _readable(annotations, known.reads)
    if kind is None:
        given = type(annotations).__name__.lower()
        raise InputError(f"{known.name} reads {' or '.join(known.reads)}. Got {given}.")
    return annotations if kind == "" else getattr(annotations, kind)()


def _readable(annotations: Annotations, reads: tuple[str, ...]) -> str | None:
    """Return the method that converts annotations to what a model reads; "" for none needed, None if there is none."""
    if type(annotations).__name__.lower() in reads:
        return ""
    possible = [f"to_{kind}" for kind in reads if hasattr(annotations, f"to_{kind}")]
    return possible[0] if possible else None


def _fits(annotations: Annotations, X: Any, known: registry.Entry, made: Callable[..., Any]) -> bool:
    """Whether a model can be fitted to these annotations, with or without features."""
    has_order = known.name != "OrdinalRatings" or (isinstance(annotations, Labels) and annotations.ordered)
    if _readable(annotations, known.reads) is None or not has_order or known.name == "TagConsensus":
        return False  # labels do not say whether they are tags
    return X is not None or known.kind == "consensus" or _needs_no_features(made, known.reads)


def _needs_no_features(made: Callable[..., Any], reads: tuple[str, ...]) -> bool:
    """Try whether a semi-supervised model can be fitted without features, on six items."""
    groupings = Groupings.from_matrix([["p", "r"], ["p", "r"], ["p", "r"], ["q", "s"], ["q", "s"], ["q", "s"]])
    annotations: Any = groupings if "groupings" in reads else groupings.to_pairs()
    small = {"n_clusters": 2, "n_init": 1, "random_state": 0, "prior_variance": 1.0}
    settings = {name: value for name, value in small.items() if name in signature(made).parameters}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made(**settings).fit(None, annotations)
        except ValueError:
            return False
    return True


def seed_model(model: Any, seed: int) -> Any:
    """Set every `random_state` of a model that is None."""
    loose = [name for name, value in sorted(model.get_params().items()) if value is None]
    loose = [name for name in loose if name == "random_state" or name.endswith("__random_state")]
    return model.set_params(**dict.fromkeys(loose, seed))


def measure_work(work: Callable[[], None], *, memory: bool) -> tuple[float, float]:
    """Do some work and return how many seconds it took, or if `memory`, its peak of megabytes."""
    if not memory:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start, math.nan
    tracing = tracemalloc.is_tracing()
    if not tracing:
        tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        work()
        return math.nan, (tracemalloc.get_traced_memory()[1] - before) / 1e6
    finally:
        if not tracing:
            tracemalloc.stop()
