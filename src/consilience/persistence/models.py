"""Saving and loading estimators, as JSON and arrays, without pickle."""

from __future__ import annotations

import pickle
import warnings
from importlib import import_module, metadata
from inspect import Parameter, signature
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeVar, overload

import sklearn
from sklearn.base import BaseEstimator
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.pipeline import Pipeline

import consilience
from consilience import registry
from consilience.annotations.display import show_value
from consilience.errors import InputError, MissingDependencyError, SavedModelError, SavedModelWarning
from consilience.estimators.learned import attributes_of
from consilience.persistence import archive
from consilience.persistence.codec import ContentError, Kind, UnknownValueError, ValueDecoder, ValueEncoder
from consilience.persistence.kinds import KINDS
from consilience.persistence.migrations import migrate
from consilience.persistence.parts import CLUSTERING, OWN_CLASSES, PARTS, SESSION, STEPS, is_part
from consilience.persistence.validation import problem_of

Expected = TypeVar("Expected")

FORMAT = "consilience model"
FORMAT_VERSION = 1
VERSIONS = ("consilience", "scikit-learn")
"""Packages on whose versions the content of a file depends."""

DEPRECATED = "deprecated"
"""A parameter of scikit-learn that nobody gave; other versions have another default, or no such parameter."""


def save(model: Any, path: str | PathLike[str]) -> None:
    """Save an estimator or a session in progress to one file, from which `load` restores an equal one.

    The file contains the parameters and everything learned, as JSON and arrays. It contains no code, and loading it
    runs none. The format is described in `consilience.persistence.codec`.

    Parameters
    ----------
    model : estimator of the package, scikit-learn Pipeline that ends in one, or ActiveSession
        Fitted or not. The other steps of a pipeline may be StandardScaler, MinMaxScaler, RobustScaler, PCA,
        SimpleImputer, OneHotEncoder, "passthrough", and a ColumnTransformer of these or of pipelines of them. The
        clusterer of a SubsetClustering is of scikit-learn, or a pipeline of these that ends in such a one. A
        `RandomState` among the parameters is saved in its current state.
    path : path
        An existing file is replaced at once, and only if saving succeeds.

    Raises
    ------
    InputError
        The model is of another class, or contains a value that cannot be saved: a numpy Generator, names that are
        neither text, numbers, truth values, dates nor tuples of these, or an object of another library; or the path is
        a folder, or its folder does not exist.
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
    path = _path(path)
    encoder = ValueEncoder(ALL_KINDS)
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


@overload
def load(path: str | PathLike[str]) -> Any: ...


@overload
def load(path: str | PathLike[str], expected: type[Expected]) -> Expected: ...


def load(path: str | PathLike[str], expected: type[Any] = object) -> Any:
    """Load an estimator or a session that was saved by `save`.

    Parameters
    ----------
    path : path
        Files may come from untrusted sources: no code in them is run, and they cannot use much more memory than
        their size.
    expected : class, default=object
        What the file is to hold, such as ``DawidSkene``; editors and type checkers then know what comes back.

    Returns
    -------
    estimator
        Equal to the saved one: the same parameters, attributes and predictions, to the last bit.

    Raises
    ------
    SavedModelError
        There is no such file, it is not a saved model or not the expected one, is damaged, or was written by a later
        version.

    Warns
    -----
    InconsistentVersionWarning
        A pipeline has steps of scikit-learn that were saved with another version of it.
    """
    path = _path(path)
    with archive.open_plain(path) as members:
        document = archive.read_document(path, members)
        saved_with = _require_format(path, document)
        arrays = archive.read_arrays(path, members, document.get("n_arrays"))
    by = saved_with["consilience"]
    by = "" if by == consilience.__version__ else f" (saved by consilience {by})"
    decode = ValueDecoder(ALL_KINDS, arrays)
    try:
        model = decode(document.get("model"))
    except ContentError as error:
        raise SavedModelError(f"{path}{by} is damaged: its 'model' {error}.") from error
    except _UnknownPartError as error:
        raise SavedModelError(f"{path}{by} {error}.") from error
    except MissingDependencyError:
        raise
    except InputError as error:
        raise SavedModelError(f"{path}{by} is damaged: {error}") from error
    except MemoryError as error:
        raise SavedModelError(f"{path} does not fit into the memory of this machine.") from error
    if problem := _problem(model):
        raise SavedModelError(f"{path} is not a saved model: {problem}")
    if decode.unused:
        raise SavedModelError(f"{path} is damaged: its array {min(decode.unused)} is not used.")
    if not isinstance(model, expected):
        raise SavedModelError(f"{path} holds a {type(model).__name__}, not the expected {expected.__name__}.")
    _tell_versions(path, model, saved_with)
    return model


def _path(path: Any) -> Path:
    try:
        found = Path(fspath(path))
    except TypeError as error:
        raise InputError(f"A saved model is given by the path of a file. Got {type(path).__name__} instead.") from error
    if "\0" in str(found):
        raise InputError(f"A path cannot contain a null character. Got {str(found)!r}.")
    return found


def _tell_versions(path: Path, model: Any, saved_with: dict[str, str]) -> None:
    """Warn of a file written by another version of the package, or of scikit-learn if it contains its steps."""
    if saved_with["consilience"] != consilience.__version__:
        warnings.warn(
            f"{path} was saved by consilience {saved_with['consilience']}; this is {consilience.__version__}.",
            SavedModelWarning,
            stacklevel=3,
        )
    theirs = saved_with["scikit-learn"]
    if type(model) is Pipeline and theirs.split(".")[:2] != sklearn.__version__.split(".")[:2]:
        warning = InconsistentVersionWarning(
            estimator_name="Pipeline", current_sklearn_version=sklearn.__version__, original_sklearn_version=theirs
        )
        warnings.warn(warning, stacklevel=3)


class EntryError(InputError):
    """An entry of a file is invalid; the message names the entry."""


class _UnknownPartError(InputError):
    """An undamaged file refers to something unknown to this version; the message is a predicate, to follow the path."""


def _require_format(path: Path, document: Any) -> dict[str, str]:
    """Require a format known to this version; return the versions with which the file was saved."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise SavedModelError(f"{path} is not a saved model: its 'format' is not {FORMAT!r}.")
    version, saved_with = document.get("format_version"), document.get("versions")
    if type(version) is not int or version < 1:
        raise SavedModelError(f"{path} is damaged: its format version is {show_value(version)}.")
    found = saved_with if isinstance(saved_with, dict) else {}
    texts = all(isinstance(found.get(name), str) for name in VERSIONS)
    if version > FORMAT_VERSION:
        later = show_value(found["consilience"]).strip("'") if texts else "unknown"
        raise SavedModelError(
            f"{path} was saved by a later version of consilience ({later}, format {version}) than this one "
            f"({consilience.__version__}, format {FORMAT_VERSION}); upgrade to load it."
        )
    if not texts:
        raise SavedModelError(f"{path} is damaged: its 'versions' are missing or invalid.")
    return {name: show_value(found[name]).strip("'") for name in VERSIONS}


def _problem(model: Any) -> str:
    """Say why a model can be neither saved nor loaded; empty if it can."""
    steps = []
    if type(model) is Pipeline and model.steps:
        *steps, (_, model) = model.steps
    if not (_is_ours(model) or (type(model).__name__ in (SESSION, CLUSTERING) and is_part(model, OWN_CLASSES))):
        return (
            f"A saved model is an estimator of consilience ({', '.join([*registry.ESTIMATORS, CLUSTERING])}), a "
            f"scikit-learn Pipeline that ends in one, or an ActiveSession. Got {type(model).__name__} instead."
        )
    for name, step in steps:
        if not (step is None or step == "passthrough" or is_part(step, STEPS)):
            return (
                f"The steps before the model in a saved Pipeline must be of {', '.join(STEPS)} or 'passthrough'. "
                f"Got {type(step).__name__} as step {name!r}."
            )
    return ""


def _is_ours(value: Any) -> bool:
    name = type(value).__name__
    return name in registry.ESTIMATORS and type(value) is registry.estimator(name)


def _class(name: str) -> type[Any]:
    if name in registry.ESTIMATORS:
        return registry.estimator(name)
    parts = PARTS | OWN_CLASSES
    if name in parts:
        found: type[Any] = getattr(import_module(parts[name]), name)
        return found
    raise _UnknownPartError(f"contains a {name!r}, which this version of consilience does not know")


def _encode_estimator(value: BaseEstimator, encode: ValueEncoder) -> Any:
    parameters = value.get_params(deep=False)
    state = value.__getstate__() if type(value).__name__ == SESSION else vars(value)
    attributes = {name: held for name, held in state.items() if name not in parameters}
    encoded = {
        "class": type(value).__name__,
        "parameters": {name: _with_place(value, name, held, encode) for name, held in parameters.items()},
        "attributes": {name: _with_place(value, name, held, encode) for name, held in attributes.items()},
    }
    if problem := problem_of(value, state):
        raise InputError(f"{type(value).__name__} cannot be saved: {problem}")
    return encoded


def _with_place(owner: BaseEstimator, name: str, value: Any, encode: ValueEncoder) -> Any:
    try:
        return encode(value)
    except UnknownValueError as error:
        pickled = " Python's pickle can keep it, for those who trust the file." if _can_be_pickled(value) else ""
        text = f"The {name!r} of {type(owner).__name__} cannot be saved: it contains {error}.{pickled}"
        raise InputError(text) from error


def _can_be_pickled(value: Any) -> bool:
    try:
        pickle.dumps(value)
    except (pickle.PicklingError, TypeError, AttributeError):
        return False
    return True


def _decode_estimator(content: Any, decode: ValueDecoder) -> Any:
    if not (isinstance(content, dict) and content.keys() == {"class", "parameters", "attributes"}):
        raise ContentError("is not an estimator")
    name, parameters, attributes = content["class"], content["parameters"], content["attributes"]
    if not (isinstance(name, str) and isinstance(parameters, dict) and isinstance(attributes, dict)):
        raise ContentError("is not an estimator")
    made = _class(name)
    if name in PARTS:
        parameters = {key: node for key, node in parameters.items() if node != DEPRECATED}
    held = ({key: _decode(name, key, node, decode) for key, node in part.items()} for part in (parameters, attributes))
    given, learned = migrate(name, *held)
    known = signature(made).parameters
    for key in given:
        if key not in known:
            raise _UnknownPartError(f"gives {name} the parameter {key!r}, which it does not have in this version")
    for key, parameter in known.items():
        if key not in given and parameter.default is Parameter.empty:
            raise ContentError(f"is a {name} without the parameter {key!r}")
    declared = attributes_of(made)  # some are of the class, too: tables that can be made when they are asked for
    for key in learned:
        is_of_class = hasattr(made, key) and key not in declared
        if key in known or is_of_class or not key.isidentifier() or key.startswith("__"):
            raise ContentError(f"gives {name} the attribute {key!r}, which it does not have")
    estimator = _begun(made, given)
    vars(estimator).update(learned)
    state = vars(estimator).copy()
    if problem := problem_of(estimator, state):
        raise EntryError(problem)
    if name == SESSION:
        estimator.__setstate__(state)
    return estimator


def _begun(made: type[Any], parameters: dict[str, Any]) -> Any:
    """Make an estimator with these parameters; a session without its ``__init__``, which would start it anew."""
    if made.__name__ != SESSION:
        return made(**parameters)
    session: Any = object.__new__(made)
    known = signature(made).parameters
    vars(session).update({name: parameters.get(name, known[name].default) for name in known})
    return session


def _decode(owner: str, name: str, node: Any, decode: ValueDecoder) -> Any:
    try:
        return decode(node)
    except ContentError as error:
        raise EntryError(f"the {name!r} of {owner} {error}.") from error


ALL_KINDS = (
    *KINDS,
    Kind("estimator", lambda v: _is_ours(v) or is_part(v, PARTS | OWN_CLASSES), _encode_estimator, _decode_estimator),
)
