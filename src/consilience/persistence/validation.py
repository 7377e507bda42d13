"""Validation of an estimator, a part of a pipeline or a session, the same for saving and loading."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from consilience.errors import InputError
from consilience.estimators.base import CrowdEstimator
from consilience.estimators.learned import Check, Sizes, attributes_of
from consilience.estimators.parameters import is_one_of
from consilience.persistence import parts

OUTPUT, OUTPUTS = "_sklearn_output_config", ("default", "pandas", "polars", None)


def problem_of(estimator: Any, state: dict[str, Any]) -> str:
    """Describe what is wrong with an estimator, in a sentence that names the entry; empty if it is valid.

    estimator : estimator of the package, part of scikit-learn that a file may contain, strategy or session A session
        needs only its parameters.
    state : dict; parameters and attributes as in a file.
    """
    try:
        _check_parameters(estimator)
    except InputError as error:
        return str(error)
    except (ValueError, TypeError) as error:  # of scikit-learn, with a similar first sentence
        return " ".join(str(error).split())
    if isinstance(estimator, Pipeline):
        return _of_steps(estimator)
    if isinstance(estimator, ColumnTransformer) and not _holds(parts.TRANSFORMERS, estimator.transformers, {}):
        return "The 'transformers' of ColumnTransformer must be tuples of a name, an estimator and columns."
    parameters = {*estimator.get_params(deep=False), OUTPUT}
    learned = {name: value for name, value in state.items() if name not in parameters}
    if problem := _of_output(estimator) or (_of_attributes(estimator, learned) if learned else ""):
        return problem
    name = type(estimator).__name__
    contradicting = next(_contradictions(estimator, state), "") if learned else ""
    return f"The {contradicting!r} of {name} contradicts other attributes of it." if contradicting else ""


def _contradictions(estimator: Any, state: dict[str, Any]) -> Iterator[str]:
    if isinstance(estimator, CrowdEstimator):
        yield from estimator._contradictions()
    elif type(estimator).__name__ in parts.SESSIONS:
        yield from parts.contradictions_of_session(SimpleNamespace(**state))


def _of_output(estimator: Any) -> str:
    """Check what scikit-learn's set_output stores."""
    kept = vars(estimator).get(OUTPUT, {})
    known = type(kept) is dict and set(kept) <= {"transform"} and all(is_one_of(how, OUTPUTS) for how in kept.values())
    return (
        "" if known else f"The {OUTPUT!r} of {type(estimator).__name__} must name a known kind of output, but does not."
    )


def _check_parameters(estimator: Any) -> None:
    if isinstance(estimator, CrowdEstimator):
        estimator._check_parameters()
    elif type(estimator).__name__ in parts.STRATEGIES:
        estimator.check()
    elif type(estimator).__name__ in parts.SESSIONS:
        estimator._check_parameters()
    else:
        estimator._validate_params()


def _of_attributes(estimator: Any, learned: dict[str, Any]) -> str:
    """Check the learned attributes of an estimator against those that it should have."""
    name = type(estimator).__name__
    ours = isinstance(estimator, CrowdEstimator)
    expected = attributes_of(type(estimator)) if ours else parts.ATTRIBUTES.get(name, {})
    sizes: Sizes = {}
    for key, check in expected.items():
        if key not in learned and not check.optional:
            return f"The {key!r} of {name} is missing, as after a failed fit."
        if key in learned and not _holds(check, learned[key], sizes):
            return f"The {key!r} of {name} must be {check.expected}, but is not."
    if ours:
        for key in learned:
            if key not in expected and (key.startswith("_") or key.endswith("_")):
                return f"{name} has no attribute {key!r}."
    return ""


def _holds(check: Check, value: Any, sizes: Sizes) -> bool:
    try:
        return bool(check.holds(value, sizes))
    except (TypeError, ValueError, OverflowError):  # from comparisons of unexpected types
        return False


def _of_steps(pipeline: Pipeline) -> str:
    """Check the steps of a pipeline against each other."""
    steps = pipeline.steps
    pairs = [isinstance(step, tuple | list) and len(step) == 2 and isinstance(step[0], str) for step in steps]
    if not steps or not all(pairs):
        return "The 'steps' of Pipeline must be pairs of a name and an estimator, at least one."
    try:
        parts.try_out(pipeline)
    except MemoryError:
        raise
    except Exception as error:  # scikit-learn raises various errors if steps do not match
        last = type(pipeline[-1]).__name__
        what = f" ({error})" if isinstance(error, parts.WidthError) else ""
        return f"The 'steps' of the Pipeline before {last} cannot be run one after the other{what}."
    return ""
