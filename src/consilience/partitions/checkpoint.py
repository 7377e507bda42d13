"""The last finished sweep of a fit in a file, so that a fit that was interrupted goes on from there.

The file is one of NumPy's ``.npz``, without pickled objects; it is replaced as a whole after each sweep.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Generic, TypeVar
from zipfile import BadZipFile

import numpy as np

from consilience.atomic_files import replacing
from consilience.errors import InputError
from consilience.inference import Trace, iterate

FORMAT = "consilience-partitions-2"
UNSTORED = ("max_iter", "n_jobs", "verbose")  # parameters that another run may change

State = TypeVar("State")
Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Swept(Generic[State]):
    """State after some sweeps, and the bound after each of them."""

    state: State
    bounds: tuple[float, ...]


@dataclass(frozen=True)
class Codec(Generic[State]):
    """What turns the state of a model into arrays, and arrays into a state."""

    values_of: Callable[[State], Arrays]
    state_of: Callable[[Arrays], State]


@dataclass(frozen=True)
class Checkpoint:
    """A file for the last sweep of one fit.

    A fit may have several runs, one after another: restarts, and attempts to join clusters.

    about : what the fit is of; the file of another fit is refused.
    """

    path: Path
    about: Mapping[str, Any]
    codec: Codec

    def read(self) -> list[Swept]:
        """Return the runs that the file holds, the last one perhaps unfinished; none if there is no file.

        Raises
        ------
        InputError
            It is no checkpoint, or that of another fit.
        """
        if not self.path.exists():
            return []
        try:
            with self.path.open("rb") as file, np.load(file, allow_pickle=False) as held:
                values = {name: held[name] for name in held.files}
            about = json.loads(str(values.pop("about")))
            if about["format"] != FORMAT:
                raise KeyError("format")
            runs = self._runs_of(values) if about == self._about() else None
        except (ValueError, KeyError, TypeError, OSError, EOFError, BadZipFile) as error:
            raise InputError(f"{self.path} is no checkpoint of a fit, or it is damaged. Give another path.") from error
        if runs is None:
            other = next(key for key in self._about() if about.get(key) != self._about()[key])
            raise InputError(
                f"{self.path} is the checkpoint of another fit: its {other} differ. Give another path, or remove the "
                "file to begin again."
            )
        return runs

    def write(self, runs: Sequence[Swept]) -> None:
        """Replace the file."""
        arrays: dict[str, Any] = {"about": np.array(json.dumps(self._about())), "n_runs": np.array(len(runs))}
        for number, swept in enumerate(runs):
            values = {"bounds": np.array(swept.bounds), **self.codec.values_of(swept.state)}
            arrays |= {f"{number}.{name}": value for name, value in values.items()}
        with replacing(self.path) as file:
            np.savez(file, **arrays)

    def _runs_of(self, values: Arrays) -> list[Swept]:
        runs = []
        for number in range(int(values["n_runs"])):
            prefix = f"{number}."
            own = {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}
            bounds = tuple(own.pop("bounds").tolist())
            runs.append(Swept(self.codec.state_of(own), bounds))
        return runs

    def _about(self) -> dict[str, Any]:
        return {"format": FORMAT, **json.loads(json.dumps(dict(self.about)))}


def checkpoint_at(path: str | PathLike[str] | None, about: Mapping[str, Any], codec: Codec) -> Checkpoint | None:
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
    return Checkpoint(place.absolute(), about, codec)


def parameters_of(model: Any) -> dict[str, Any]:
    """Return the parameters on which a checkpoint depends, as text."""
    return {name: repr(value) for name, value in model.get_params().items() if name not in UNSTORED}


class Runs(Generic[State]):
    """The runs of one fit, in their order, each kept in a checkpoint after every sweep.

    The bounds of the sweeps that the checkpoint holds are gone through first, so that the fit ends where it would have
    ended without an interruption.

    Parameters
    ----------
    checkpoint : Checkpoint, or None to keep nothing
    """

    def __init__(self, checkpoint: Checkpoint | None) -> None:
        self._checkpoint = checkpoint
        self._saved: list[Swept] = [] if checkpoint is None else checkpoint.read()
        self._done: list[Swept] = []

    def run(
        self,
        init: Callable[[], State],
        step: Callable[[State], State],
        lower_bound: Callable[[State], float],
        *,
        max_iter: int,
        tol: float = 0.0,
        settled: Callable[[State], bool] | None = None,
    ) -> Trace[State]:
        """Sweep as `iterate` does; begin after the last sweep of this run that the checkpoint holds."""
        number = len(self._done)
        saved = self._saved[number] if number < len(self._saved) else None
        if saved is not None and len(saved.bounds) > max_iter:
            raise InputError(f"The checkpoint holds {len(saved.bounds)} sweeps, more than max_iter={max_iter}.")

        def following(swept: Swept) -> Swept:
            done = len(swept.bounds)
            if saved is not None and done < len(saved.bounds):
                return Swept(saved.state, saved.bounds[: done + 1])
            self._saved = self._saved[: number + 1]  # later runs followed from what this one was then
            state = step(swept.state)
            new = Swept(state, (*swept.bounds, float(lower_bound(state))))
            if self._checkpoint is not None and np.isfinite(new.bounds[-1]):
                self._checkpoint.write([*self._done, new])
            return new

        def stands(swept: Swept) -> bool:
            is_saved = saved is not None and len(swept.bounds) < len(saved.bounds)
            return not is_saved and settled is not None and settled(swept.state)

        first = Swept(init() if saved is None else saved.state, ())
        trace = iterate(
            first,
            following,
            lambda swept: swept.bounds[-1],
            max_iter=max_iter,
            tol=tol,
            settled=None if settled is None else stands,
        )
        if self._checkpoint is not None:
            self._done.append(trace.state)
        return Trace(trace.state.state, trace.lower_bounds, trace.outcome, trace.reason)


def plain(value: np.ndarray) -> Any:
    """Return an array of no dimension as the number or text that it holds."""
    return value.item() if value.ndim == 0 else value
