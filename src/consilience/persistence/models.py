"""Saving and loading estimators, as JSON and arrays, without pickle."""

from __future__ import annotations

import warnings
from importlib import import_module, metadata
from inspect import Parameter, signature
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import sklearn
from sklearn.base import BaseEstimator
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.pipeline import Pipeline

import consilience
from consilience import registry
from consilience.annotations.display import shown
from consilience.errors import InputError, MissingDependencyError, SavedModelError, SavedModelWarning
from consilience.persistence import archive
from consilience.persistence.codec import ContentError, Decoder, Encoder, Kind, UnknownValueError
from consilience.persistence.kinds import KINDS
from consilience.persistence.migrations import renamed, retagged, upgraded
from consilience.persistence.parts import PARTS, STEPS, STUDIES, STUDY, is_part
from consilience.persistence.validation import problem_of

FORMAT = "consilience model"
FORMAT_VERSION = 1
VERSIONS = ("consilience", "scikit-learn")
"""Of the packages on which it depends what a file holds."""


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
    path = _path(path)
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
    path = _path(path)
    with archive.opened(path) as members:
        document = archive.read_document(path, members)
        saved_with = _require_format(path, document)
        arrays = archive.read_arrays(path, members, document.get("n_arrays"))
    by = saved_with["consilience"]
    by = "" if by == consilience.__version__ else f" (saved by consilience {by})"
    decode = Decoder(ALL_KINDS, arrays)
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
        raise SavedModelError(f"{path} is no saved model: {problem}")
    if decode.unused:
        raise SavedModelError(f"{path} is damaged: nothing in it names the array {min(decode.unused)}.")
    _tell_versions(path, model, saved_with)
    return model


def _path(path: Any) -> Path:
    try:
        found = Path(fspath(path))
    except TypeError as error:
        raise InputError(f"A saved model is given by the path of a file. Got {type(path).__name__} instead.") from error
    if "\0" in str(found):
        raise InputError(f"No path of a file holds a null character. Got {str(found)!r}.")
    return found


def _tell_versions(path: Path, model: Any, saved_with: dict[str, str]) -> None:
    """Warn of a file that another version of the package wrote, or of scikit-learn if its steps are in it."""
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
    """What stands in an entry of a file is not what belongs there; the message names the entry."""


class _UnknownPartError(InputError):
    """A file that is whole but speaks of what this version does not know; the message goes on after the path."""


def _require_format(path: Path, document: Any) -> dict[str, str]:
    """Demand a format that this version knows; give the versions that the file was saved with."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise SavedModelError(f"{path} is no saved model: it does not say 'format': {FORMAT!r}.")
    version, saved_with = document.get("format_version"), document.get("versions")
    if type(version) is not int or version < 1:
        raise SavedModelError(f"{path} is damaged: its format version is {shown(version)}.")
    found = saved_with if isinstance(saved_with, dict) else {}
    texts = all(isinstance(found.get(name), str) for name in VERSIONS)
    if version > FORMAT_VERSION:
        later = shown(found["consilience"]).strip("'") if texts else "unknown"
        raise SavedModelError(
            f"{path} was saved by a later version of consilience ({later}, format {version}) than this one "
            f"({consilience.__version__}, format {FORMAT_VERSION}); upgrade to load it."
        )
    if not texts:
        raise SavedModelError(f"{path} is damaged: its 'versions' do not say what it was saved with.")
    return {name: shown(found[name]).strip("'") for name in VERSIONS}


def _problem(model: Any) -> str:
    """Say why a model can be neither saved nor loaded; empty if it can."""
    steps = []
    if type(model) is Pipeline and model.steps:
        *steps, (_, model) = model.steps
    if not (_is_ours(model) or (type(model).__name__ == STUDY and is_part(model, STUDIES))):
        return (
            f"A saved model is an estimator of consilience ({', '.join(registry.ESTIMATORS)}), a scikit-learn "
            f"Pipeline that ends in one, or an ActiveSession. Got {type(model).__name__} instead."
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
    parts = PARTS | STUDIES
    if name in parts:
        found: type[Any] = getattr(import_module(parts[name]), name)
        return found
    raise _UnknownPartError(f"holds a {name!r}, which this version of consilience does not know")


def _encode_estimator(value: BaseEstimator, encode: Encoder) -> Any:
    parameters = value.get_params(deep=False)
    state = value.__getstate__() if type(value).__name__ == STUDY else vars(value)
    attributes = {name: held for name, held in state.items() if name not in parameters}
    encoded = {
        "class": type(value).__name__,
        "parameters": {name: _named(value, name, held, encode) for name, held in parameters.items()},
        "attributes": {name: _named(value, name, held, encode) for name, held in attributes.items()},
    }
    if problem := problem_of(value, state):
        raise InputError(f"{type(value).__name__} cannot be saved: {problem}")
    return encoded


def _named(owner: BaseEstimator, name: str, value: Any, encode: Encoder) -> Any:
    try:
        return encode(value)
    except UnknownValueError as error:
        raise InputError(f"The {name!r} of {type(owner).__name__} cannot be saved: it holds {error}.") from error


def _decode_estimator(content: Any, decode: Decoder) -> Any:
    if not (isinstance(content, dict) and content.keys() == {"class", "parameters", "attributes"}):
        raise ContentError("is no estimator")
    name, parameters, attributes = content["class"], content["parameters"], content["attributes"]
    if not (isinstance(name, str) and isinstance(parameters, dict) and isinstance(attributes, dict)):
        raise ContentError("is no estimator")
    made, parameters, attributes = _class(name), renamed(name, parameters), retagged(name, attributes)
    known = signature(made).parameters
    for key in parameters:
        if key not in known:
            raise _UnknownPartError(f"gives {name} the parameter {key!r}, which this version of it does not have")
    for key, parameter in known.items():
        if key not in parameters and parameter.default is Parameter.empty:
            raise ContentError(f"is a {name} without the parameter {key!r}")
    given = {key: _decoded(name, key, node, decode) for key, node in parameters.items()}
    for key in attributes:
        if key in known or hasattr(made, key) or not key.isidentifier() or key.startswith("__"):
            raise ContentError(f"gives {name} the attribute {key!r}, which is no attribute of it")
    learned = {key: _decoded(name, key, node, decode) for key, node in attributes.items()}
    estimator = _begun(made, given)
    vars(estimator).update(upgraded(name, learned, content["parameters"]))
    state = vars(estimator).copy()
    if problem := problem_of(estimator, state):
        raise EntryError(problem)
    if name == STUDY:
        estimator.__setstate__(state)
    return estimator


def _begun(made: type[Any], parameters: dict[str, Any]) -> Any:
    """Estimator with these parameters; a study without its ``__init__``, which would begin it anew."""
    if made.__name__ != STUDY:
        return made(**parameters)
    study: Any = object.__new__(made)
    known = signature(made).parameters
    vars(study).update({name: parameters.get(name, known[name].default) for name in known})
    return study


def _decoded(owner: str, name: str, node: Any, decode: Decoder) -> Any:
    try:
        return decode(node)
    except ContentError as error:
        raise EntryError(f"the {name!r} of {owner} {error}.") from error


ALL_KINDS = (
    *KINDS,
    Kind("estimator", lambda v: _is_ours(v) or is_part(v, PARTS | STUDIES), _encode_estimator, _decode_estimator),
)
