"""Saving and loading estimators, as JSON and arrays, without pickle."""

from __future__ import annotations

import warnings
from importlib import import_module, metadata
from inspect import signature
from os import PathLike
from pathlib import Path
from typing import Any

import sklearn
from sklearn.base import BaseEstimator
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.pipeline import Pipeline

import consilience
from consilience import registry
from consilience.errors import InputError, MissingDependencyError, SavedModelError
from consilience.persistence import archive
from consilience.persistence.codec import KINDS, Decoder, Encoder, Kind, UnknownValueError

FORMAT = "consilience model"
FORMAT_VERSION = 1

STEPS = {
    "StandardScaler": "sklearn.preprocessing",
    "MinMaxScaler": "sklearn.preprocessing",
    "RobustScaler": "sklearn.preprocessing",
    "PCA": "sklearn.decomposition",
    "SimpleImputer": "sklearn.impute",
    "OneHotEncoder": "sklearn.preprocessing",
    "ColumnTransformer": "sklearn.compose",
}
CLASSIFIERS = {"LogisticRegression": "sklearn.linear_model", "DummyClassifier": "sklearn.dummy"}
PARTS = (
    STEPS
    | CLASSIFIERS
    | {
        "Pipeline": "sklearn.pipeline",
        "MissingIndicator": "sklearn.impute",
        "FunctionTransformer": "sklearn.preprocessing",
    }
)
"""Classes of scikit-learn that a file may hold.

The indicator is part of an imputer. The transformer of functions is what a fitted ColumnTransformer has for columns
that pass through; no file can hold a function.
"""


STRATEGIES = (
    "ExploitOneVsRest",
    "ExploitPairwise",
    "Explore",
    "ExploreExploitTradeoff",
    "Informative",
    "Random",
)
STUDIES = dict.fromkeys(("ActiveSession", *STRATEGIES), "consilience.active")
"""A study that still collects, and what composes its subsets."""


def save(model: Any, path: str | PathLike[str]) -> None:
    """Save an estimator or a study that still collects to one file, from which `load` makes an equal one.

    The file holds the parameters and all that was learned, as JSON and arrays. It holds no code, and loading it runs
    none. Its content is described in `consilience.persistence.codec`.

    Parameters
    ----------
    model : estimator of the package, scikit-learn Pipeline that ends in one, or ActiveSession
        Fitted or not. The other steps of a pipeline may be StandardScaler, MinMaxScaler, RobustScaler, PCA,
        SimpleImputer, OneHotEncoder, "passthrough", and a ColumnTransformer of these or of pipelines of them. A
        `RandomState` among the parameters is saved as it stands.
    path : path
        A file that is there is replaced, at once and only if all went well.

    Raises
    ------
    InputError
        The model is another, or holds a value that cannot be saved: a numpy Generator, names that are neither text,
        numbers, truth values, dates nor tuples of these, or an object of another library; or the path is a folder or
        in none.
    OSError
        The file cannot be written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import consilience
    >>> from consilience.semisupervised import PartitionLabelModel
    >>> model = PartitionLabelModel(prior_variance=1.0, n_init=1, random_state=0)
    >>> model = model.fit(None, [["a", 1], ["a", 1], ["b", 2], ["b", None]])
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "model.zip"
    ...     consilience.save(model, path)
    ...     loaded = consilience.load(path)
    >>> bool((loaded.responsibilities_ == model.responsibilities_).all())
    True
    """
    problem = _problem(model)
    if problem:
        raise InputError(problem)
    encoder = Encoder(ALL_KINDS)
    tree = encoder(model)
    document = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "versions": {"consilience": consilience.__version__}
        | {name: metadata.version(name) for name in ("numpy", "pandas", "scikit-learn")},
        "n_arrays": len(encoder.arrays),
        "model": tree,
    }
    archive.write(path, document, encoder.arrays)


def load(path: str | PathLike[str]) -> Any:
    """Load an estimator that `save` wrote.

    Parameters
    ----------
    path : path
        Files may come from strangers: nothing in them is run, and they cannot ask for much more memory than their
        size.

    Returns
    -------
    estimator
        Equal to the one saved: the same parameters, attributes and predictions, to the last bit.

    Raises
    ------
    SavedModelError
        There is no such file, it is no saved model, is damaged, or was written by a later version.

    Warns
    -----
    InconsistentVersionWarning
        A pipeline has steps of scikit-learn that were saved with another version of it.
    """
    path = Path(path)
    document, members = archive.read(path)
    _require_format(path, document)
    archive.require_arrays(path, members, document.get("n_arrays"))
    try:
        arrays = [archive.parse_array(members[archive.array_name(number)]) for number in range(document["n_arrays"])]
        model = Decoder(ALL_KINDS, arrays)(document["model"])
        problem = _problem(model)
        saved_with = str(document["versions"]["scikit-learn"])
    except _UnknownPartError as error:
        raise SavedModelError(f"{path} {error}.") from error
    except MemoryError as error:
        raise SavedModelError(f"{path} does not fit into the memory of this machine.") from error
    except MissingDependencyError:
        raise
    except Exception as error:  # whatever the content is, one kind of error comes out
        raise SavedModelError(f"{path} is damaged: its content makes no model ({type(error).__name__}).") from error
    if problem:
        raise SavedModelError(f"{path} is no saved model: {problem}")
    if type(model) is Pipeline and saved_with.split(".")[:2] != sklearn.__version__.split(".")[:2]:
        warning = InconsistentVersionWarning(
            estimator_name="Pipeline", current_sklearn_version=sklearn.__version__, original_sklearn_version=saved_with
        )
        warnings.warn(warning, stacklevel=2)
    return model


class _UnknownPartError(Exception):
    """A file that is whole but speaks of what this version does not know; the message goes on after the path."""


def _require_format(path: Path, document: Any) -> None:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise SavedModelError(f"{path} is no saved model: it does not say 'format': {FORMAT!r}.")
    version = document.get("format_version")
    if type(version) is not int or version < 1:
        raise SavedModelError(f"{path} is damaged: its format version is {version!r}.")
    if version > FORMAT_VERSION:
        versions = document.get("versions")
        later = versions.get("consilience") if isinstance(versions, dict) else None
        raise SavedModelError(
            f"{path} was saved by a later version of consilience ({later}, format {version}) than this one "
            f"({consilience.__version__}, format {FORMAT_VERSION}); upgrade to load it."
        )


def _problem(model: Any) -> str:
    """Say why a model can be neither saved nor loaded; empty if it can."""
    steps = []
    if type(model) is Pipeline and model.steps:
        *steps, (_, model) = model.steps
    if not (_is_ours(model) or (type(model).__name__ == "ActiveSession" and _is_part(model, STUDIES))):
        return (
            f"A saved model is an estimator of consilience ({', '.join(registry.ESTIMATORS)}), a scikit-learn "
            f"Pipeline that ends in one, or an ActiveSession. Got {type(model).__name__} instead."
        )
    for name, step in steps:
        if not (step is None or step == "passthrough" or _is_part(step, STEPS)):
            return (
                f"The steps before the model in a saved Pipeline must be of {', '.join(STEPS)} or 'passthrough'. "
                f"Got {type(step).__name__} as step {name!r}."
            )
    return ""


def _is_ours(value: Any) -> bool:
    name = type(value).__name__
    return name in registry.ESTIMATORS and type(value) is registry.estimator(name)


def _is_part(value: Any, parts: dict[str, str]) -> bool:
    name = type(value).__name__
    return name in parts and type(value) is getattr(import_module(parts[name]), name)


def _class(name: str) -> type[Any]:
    if name in registry.ESTIMATORS:
        return registry.estimator(name)
    parts = PARTS | STUDIES
    if name in parts:
        found: type[Any] = getattr(import_module(parts[name]), name)
        return found
    raise _UnknownPartError(f"holds a {name!r}, which this version of consilience does not know")


def _encode_estimator(value: BaseEstimator, encode: Encoder) -> Any:
    parameters = value.get_params(deep=False)
    attributes = {name: held for name, held in vars(value).items() if name not in parameters}
    return {
        "class": type(value).__name__,
        "parameters": {name: _named(value, name, held, encode) for name, held in parameters.items()},
        "attributes": {name: _named(value, name, held, encode) for name, held in attributes.items()},
    }


def _named(owner: BaseEstimator, name: str, value: Any, encode: Encoder) -> Any:
    try:
        return encode(value)
    except UnknownValueError as error:
        raise InputError(f"The {name!r} of {type(owner).__name__} cannot be saved: it holds {error}.") from error


def _decode_estimator(content: Any, decode: Decoder) -> Any:
    made = _class(content["class"])
    known = signature(made).parameters
    for name in content["parameters"]:
        if name not in known:
            raise _UnknownPartError(
                f"gives {content['class']} the parameter {name!r}, which this version of it does not have"
            )
    estimator = made(**{name: decode(held) for name, held in content["parameters"].items()})
    for name, held in content["attributes"].items():
        if name in known or hasattr(made, name) or not name.isidentifier() or name.startswith("__"):
            raise ValueError(f"the attribute {name!r}")
        setattr(estimator, name, decode(held))
    return estimator


ALL_KINDS = (
    *KINDS,
    Kind("estimator", lambda v: _is_ours(v) or _is_part(v, PARTS | STUDIES), _encode_estimator, _decode_estimator),
)
