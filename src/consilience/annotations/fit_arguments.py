"""Annotations as users pass them to `fit`, with or without features: read, or refused with a remedy."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pandas as pd
from jaxtyping import Bool
from scipy.sparse import issparse

from consilience.annotations import Annotations, Groupings, Labels, Pairs
from consilience.annotations.files.array_likes import NOBODY, Given, annotations_of, is_frame
from consilience.annotations.files.containers import as_frame
from consilience.annotations.files.frames import several
from consilience.annotations.files.wide_frames import HoldsFeaturesError, HoldsGroupsError
from consilience.annotations.matching import rows_of_matrix
from consilience.annotations.names import outside, plain
from consilience.errors import AnnotationError, AnnotationWarning, InputError, UnannotatedWarning
from consilience.registry import ESTIMATORS

MOST_NAMED = 5  # items in a warning


def read_given(
    given: Any,
    kind: str,
    model: str,
    *,
    items: pd.Index | None = None,
    missing: Any = None,
    known: pd.Index = NOBODY,
    **of_labels: Any,
) -> Given:
    """Make annotations from what a user passed as such; see `annotations_of`.

    Raises AnnotationError: as in `annotations_of`; if features were passed, the message names the models that use them.
    """
    try:
        return annotations_of(given, kind, model, items=items, missing=missing, known=known, **of_labels)
    except HoldsGroupsError as error:
        raise AnnotationError(
            f"{error} {of_groupings()} If all annotators share the names, give Labels.from_matrix(frame)."
        ) from error
    except HoldsFeaturesError as error:
        remedy = f"{model} takes them as X, before the annotations." if _uses_features(model) else with_features(model)
        raise AnnotationError(f"{error} {remedy}") from error


def values_of_missing(missing: Any) -> list[Any] | None:
    """Return a user's `missing` as a list of values, None for the default.

    Examples
    --------
    >>> values_of_missing("?"), values_of_missing([]), values_of_missing(None)
    (['?'], [], None)
    """
    return None if missing is None else [plain(value) for value in several(missing)]


def first_named(items: pd.Index) -> str:
    """Name the first few items.

    Examples
    --------
    >>> first_named(pd.Index(list("abcdefg")))
    "'a', 'b', 'c', 'd', 'e', …"
    """
    more = ", …" if len(items) > MOST_NAMED else ""
    return ", ".join(repr(plain(name)) for name in items[:MOST_NAMED]) + more


def warn_of_unannotated(annotations: Annotations, annotated: Bool[np.ndarray, " items"], consequence: str) -> None:
    """Warn of items without annotations, with their number and the names of the first.

    annotated : whether each item has annotations
    consequence : what follows for the others, the predicate of the sentence
    """
    count = int((~annotated).sum())
    if count:
        items = f"{count} items have" if count > 1 else "1 item has"
        names = first_named(annotations.items[~annotated])
        warnings.warn(f"{items} {consequence}: {names}.", UnannotatedWarning, stacklevel=outside())


def read_beside(given: Any, X: Any, kind: str, model: str, missing: Any = None) -> Annotations:
    """Make annotations from what a user passed with features; rows without names get those of X."""
    given, items = as_frame(given), X.index if isinstance(X, pd.DataFrame) else None
    found = read_given(given, kind, model, items=items, missing=missing)
    if found.matrix is None or found.annotations.named:
        return found.annotations
    return with_names(found, rows_of_matrix(given, X))


def with_names(found: Given, items: pd.Index | None) -> Annotations:
    """Return annotations with these names of items, if given and as many, instead of row numbers."""
    annotations = found.annotations
    return (
        annotations
        if items is None or len(items) != len(annotations)
        else replace(annotations, items=items, named=True)
    )


def with_features(model: str) -> str:
    """Say that a model reads annotations alone, and which models use features."""
    using = models_of_features()
    return f"{model} reads annotations alone, fit(annotations); with features, fit(X, annotations): {', '.join(using)}."


def of_groupings() -> str:
    """Say which models read groupings, whose group names mean nothing to other annotators."""
    reading = [
        name for name, known in ESTIMATORS.items() if known.kind == "consensus" and known.reads[0] == "groupings"
    ]
    return f"Groups whose names mean nothing to other annotators are for {', '.join(reading)}."


def models_of_features() -> list[str]:
    """Return the names of the models that use features."""
    return [name for name in ESTIMATORS if _uses_features(name)]


def _uses_features(model: str) -> bool:
    return model in ESTIMATORS and ESTIMATORS[model].kind == "semisupervised"


def require_no_second(y: Any, model: str) -> None:
    """Refuse a second argument of a model that reads annotations alone.

    scikit-learn passes every estimator a y with one value per item, such as the truth that a scorer compares with; a
    warning then says that it was not used.

    Raises InputError: it is anything but one value per item.

    Warns AnnotationWarning: it is one value per item.
    """
    if y is None:
        return
    if _is_flat(y, model):
        message = f"y was not used: {with_features(model)} A scorer may still compare with it."
        warnings.warn(message, AnnotationWarning, stacklevel=outside())
        return
    first = "the first would be read as annotations, and the second not used"
    raise InputError(f"{model} got two arguments; {first}. {with_features(model)}")


def _is_flat(y: Any, model: str) -> bool:
    if isinstance(y, Annotations | dict | str) or issparse(y) or is_frame(y, model):
        return False
    try:
        return np.asarray(y).ndim == 1
    except ValueError:
        return False


def warn_of_fractions(matrix: Any, model: str) -> None:
    """Warn if most cells of an array are fractions, as features are."""
    values = np.asarray(matrix)
    if values.dtype.kind != "f":
        return
    finite = values[np.isfinite(values)]
    fractions = finite[finite != np.rint(finite)]
    if len(fractions) > len(finite) / 2:
        what = f"Fractions such as {fractions[0]:g} were read as names of labels or groups"
        warnings.warn(f"{what}. {with_features(model)}", AnnotationWarning, stacklevel=outside())


def as_groupings(annotations: Any, X: Any, model: str, missing: Any = None) -> Groupings:
    """Make groupings from what a user passed as annotations. Raises InputError: Pairs, or None.

    annotations : Groupings, Labels, DataFrame or array of shape (n_items, n_annotators) or (n_items,)
    X : features, whose index names the items of an array; or None
    model : name of the estimator, for messages
    missing : a value, or a list of them, that means missing
    """
    if annotations is None:
        raise InputError(
            f"{model} requires y to be passed, but the target y is None. Give the annotations: Groupings, Labels, or "
            "an array (n_items, n_annotators)."
        )
    found = read_beside(annotations, X, "groupings", model, missing)
    if isinstance(found, Pairs):
        raise InputError(f"{model} reads partition labels, which Pairs do not contain. Give Groupings or Labels.")
    return found.to_groupings() if isinstance(found, Labels) else cast(Groupings, found)
