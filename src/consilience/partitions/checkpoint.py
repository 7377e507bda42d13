"""The last finished sweep of a fit in a file, so that a fit that was interrupted goes on from there.

The file is one of NumPy's ``.npz``, without pickled objects; it is replaced as a whole after each sweep.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from os import PathLike
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from consilience.atomic_files import replacing
from consilience.consensus.labels.annotator_models import Hierarchical, OneCoin, Smoothed
from consilience.consensus.labels.dawid_skene import State, lower_bound
from consilience.errors import InputError
from consilience.inference import Trace, iterate
from consilience.inference.product_distributions import Expectation

MODELS = {model.__name__: model for model in (Hierarchical, OneCoin, Smoothed)}
FORMAT = "consilience-partitions-1"


@dataclass(frozen=True)
class Swept:
    """State after some sweeps, and the bound after each of them."""

    state: State
    bounds: tuple[float, ...]


@dataclass(frozen=True)
class Checkpoint:
    """A file for the last sweep of one fit.

    about : what the fit is of; the file of another fit is refused.
    """

    path: Path
    about: Mapping[str, Any]

    def read(self) -> Swept | None:
        """Return what the file holds, None if there is none.

        Raises
        ------
        InputError
            It is no checkpoint, or that of another fit.
        """
        if not self.path.exists():
            return None
        try:
            with self.path.open("rb") as file, np.load(file, allow_pickle=False) as held:
                values = {name: held[name] for name in held.files}
            about = json.loads(str(values.pop("about")))
            if about["format"] != FORMAT:
                raise KeyError("format")
            swept = _swept_of(values) if about == self._about() else None
        except (ValueError, KeyError, TypeError, OSError, EOFError, BadZipFile) as error:
            raise InputError(f"{self.path} is no checkpoint of a fit, or it is damaged. Give another path.") from error
        if swept is None:
            other = next(key for key in self._about() if about.get(key) != self._about()[key])
            raise InputError(
                f"{self.path} is the checkpoint of another fit: its {other} differ. Give another path, or remove the "
                "file to begin again."
            )
        return swept

    def write(self, swept: Swept) -> None:
        """Replace the file."""
        with replacing(self.path) as file:
            arrays: dict[str, Any] = {"about": np.array(json.dumps(self._about())), **_values_of(swept)}
            np.savez(file, **arrays)

    def _about(self) -> dict[str, Any]:
        return {"format": FORMAT, **json.loads(json.dumps(dict(self.about)))}


def checkpoint_at(path: str | PathLike[str] | None, about: Mapping[str, Any]) -> Checkpoint | None:
    """Return the checkpoint at a path, if there is one to be kept.

    Raises
    ------
    InputError
        The path is a folder, or in a folder that does not exist.
    """
    if path is None:
        return None
    place = Path(path)
    if place.is_dir() or not place.absolute().parent.is_dir():
        why = "is a folder" if place.is_dir() else "is in a folder that does not exist"
        raise InputError(f"The checkpoint {place} {why}; give the name of a file.")
    return Checkpoint(place.absolute(), about)


def iterate_from(
    checkpoint: Checkpoint | None,
    init: Callable[[], State],
    step: Callable[[State], State],
    *,
    max_iter: int,
    tol: float,
) -> Trace[State]:
    """Sweep as `iterate` does, and keep each sweep in a checkpoint; begin after the last one that it holds.

    The bounds of the sweeps that the checkpoint holds are gone through first, so that the fit ends where it would have
    ended without an interruption.
    """
    saved = None if checkpoint is None else checkpoint.read()
    if saved is not None and len(saved.bounds) > max_iter:
        raise InputError(f"The checkpoint holds {len(saved.bounds)} sweeps, more than max_iter={max_iter}.")

    def following(swept: Swept) -> Swept:
        done = len(swept.bounds)
        if saved is not None and done < len(saved.bounds):
            return Swept(saved.state, saved.bounds[: done + 1])
        state = step(swept.state)
        new = Swept(state, (*swept.bounds, float(lower_bound(state))))
        if checkpoint is not None and np.isfinite(new.bounds[-1]):
            checkpoint.write(new)
        return new

    first = Swept(init() if saved is None else saved.state, ())
    trace = iterate(first, following, lambda swept: swept.bounds[-1], max_iter=max_iter, tol=tol)
    return Trace(trace.state.state, trace.lower_bounds, trace.outcome, trace.reason)


def _values_of(swept: Swept) -> dict[str, np.ndarray]:
    state = swept.state
    values = {
        "bounds": np.array(swept.bounds),
        "log_weights": state.log_weights,
        "log_prior": np.array(state.log_prior),
        "model": np.array(type(state.model).__name__),
    }
    for prefix, held in (("model", state.model), ("expected", state.expected)):
        for field in fields(held):
            values[f"{prefix}.{field.name}"] = np.array(getattr(held, field.name))
    return values


def _swept_of(values: dict[str, np.ndarray]) -> Swept:
    kind = MODELS[str(values["model"])]
    parts: dict[str, Any] = {field.name: _plain(values[f"model.{field.name}"]) for field in fields(kind)}
    if kind is Hierarchical:
        parts["before"] = tuple(parts["before"])
    model = kind(**parts)
    expected = Expectation(**{field.name: _plain(values[f"expected.{field.name}"]) for field in fields(Expectation)})
    state = State(model, values["log_weights"], float(values["log_prior"]), expected)
    return Swept(state, tuple(values["bounds"].tolist()))


def _plain(value: np.ndarray) -> Any:
    return value.item() if value.ndim == 0 else value
