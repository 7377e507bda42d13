"""The last finished sweep of a fit in a file, so that a fit that was interrupted goes on from there.

The file is one of NumPy's ``.npz``, without pickled objects; it is replaced as a whole after each sweep. A state needs
no codec of its own; see `encoding`.
"""

from __future__ import annotations

import hashlib
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
from consilience.inference.iterate import falls
from consilience.partitions.engine.encoding import decode_state, encode_state
from consilience.partitions.engine.item_rows import ItemRowFiles

FORMAT = "consilience-partitions-3"
DAMAGED = (  # what reading may raise of a file that is none of ours
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    ImportError,
    IndexError,
    OSError,
    EOFError,
    BadZipFile,
)
UNSTORED = ("max_iter", "n_jobs", "verbose")  # parameters that another run may change

State = TypeVar("State")
KeepRows = Callable[[Path], ItemRowFiles]
"""From the path of a checkpoint to the files of the rows of items."""


@dataclass(frozen=True)
class Swept(Generic[State]):
    """State after some sweeps, and the bound after each of them."""

    state: State
    bounds: tuple[float, ...]


@dataclass(frozen=True)
class Checkpoint:
    """A file for the last sweep of one fit.

    A fit may have several runs, one after another: restarts, and attempts to join clusters.

    about : what the fit is of; the file of another fit is refused.
    rows : files of the rows of items, for states that have parts.
    """

    path: Path
    about: Mapping[str, Any]
    rows: ItemRowFiles | None = None

    def read(self) -> list[Swept]:
        """Return the runs that the file holds, the last one perhaps unfinished; none if there is no file.

        Raises InputError: it is no checkpoint, or that of another fit.
        """
        if not self.path.exists():
            return []
        try:
            with self.path.open("rb") as file, np.load(file, allow_pickle=False) as held:
                about, runs = json.loads(str(held["about"])), None
                if about["format"] != FORMAT:
                    raise KeyError("format")
                if about == self._about():
                    arrays = [held[str(number)] for number in range(len(held.files) - 2)]
                    runs = decode_state(json.loads(str(held["runs"])), arrays, self.rows)
        except DAMAGED as error:
            raise InputError(f"{self.path} is no checkpoint of a fit, or it is damaged. Give another path.") from error
        if runs is None:
            other = next(key for key in self._about() if about.get(key) != self._about()[key])
            raise InputError(
                f"{self.path} is the checkpoint of another fit: its {other} differ{'s' * (other == 'model')}. Give "
                "another path, or remove the file to begin again."
            )
        return runs

    def write(self, runs: Sequence[Swept]) -> None:
        """Replace the file."""
        arrays: list[np.ndarray] = []
        number = sum(len(swept.bounds) for swept in runs)
        encoded = encode_state(list(runs), arrays, self.rows, number)
        texts = {"about": self._about(), "runs": encoded}
        held: dict[str, Any] = {name: np.array(json.dumps(text)) for name, text in texts.items()}
        held |= {str(place): array for place, array in enumerate(arrays)}
        with replacing(self.path) as file:
            np.savez(file, **held)

    def _about(self) -> dict[str, Any]:
        return {"format": FORMAT, **json.loads(json.dumps(dict(self.about)))}  # as the file has it: tuples become lists


def checkpoint_at(
    path: str | PathLike[str] | None, about: Mapping[str, Any], keep_rows: KeepRows | None = None
) -> Checkpoint | None:
    """Return the checkpoint at a path, if there is one to be kept.

    Raises InputError: the path is a folder, or in a folder that does not exist.
    """
    if path is None:
        return None
    place = Path(path)
    if place.is_dir() or not place.absolute().parent.is_dir():
        why = "is a folder" if place.is_dir() else "is in a folder that does not exist"
        raise InputError(f"The checkpoint {place} {why}; give the name of a file.")
    return Checkpoint(place.absolute(), about, None if keep_rows is None else keep_rows(place))


def runs_at(path: str | PathLike[str] | None, model: Any, *, keep_rows: KeepRows | None = None, **data: str) -> Runs:
    """Return the runs of a fit, which go on from the checkpoint at a path if there is one.

    path : None to keep nothing
    model : to be fitted.
    keep_rows : for states that have parts.
    data : digest of what the model is fitted to, by what this is called in a message.
    """
    about = {"model": type(model).__name__, **data, "parameters": parameters_of(model)}
    return Runs(checkpoint_at(path, about, keep_rows))


def digest(what: Any, *arrays: np.ndarray) -> str:
    """Return what tells the data of fits apart: a digest of something as Python writes it, and of arrays."""
    found = hashlib.sha256(repr(what).encode())
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def parameters_of(model: Any) -> dict[str, Any]:
    """Return the parameters on which a checkpoint depends, as text."""
    return {name: repr(value) for name, value in model.get_params().items() if name not in UNSTORED}


class Runs(Generic[State]):
    """The runs of one fit, in their order, each kept in a checkpoint after every sweep.

    The bounds of the sweeps that the checkpoint holds are gone through first, so that the fit ends where it would have
    ended without an interruption.

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
            # a run that failed or fell is not gone on with
            is_kept = np.isfinite(new.bounds[-1]) and (settled is not None or not falls(new.bounds))
            if self._checkpoint is not None and is_kept:
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
