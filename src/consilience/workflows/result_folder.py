"""The folder of a fit: its files are replaced all at once, and no other file in it is touched.

The files are written into a temporary folder. Then
- if the folder does not exist, the temporary folder is renamed;
- if the folder holds an earlier fit and nothing else, the two are exchanged in one atomic step;
- if the folder has other files in it, or must itself be kept (the working directory, a mount point, a folder with
  another owner or attributes, a system without an atomic exchange), files are replaced one by one: ``summary.json`` is
  removed first and put in place last. The former files are kept in the temporary folder until all is done. If the
  program is killed in between, the folder has no ``summary.json``, and the next fit to it restores the former files.

The ``checksums`` in ``summary.json`` say which files a fit wrote. Other files, and files changed since, are never
replaced.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from consilience import registry
from consilience.annotations.keywords import spell
from consilience.atomic_files import (
    LEFTOVER,
    left_behind,
    lock_folder,
    naming,
    remove_leftovers,
    synchronise,
    temporary_folder,
)
from consilience.errors import InputError
from consilience.workflows.signals import hold_signals

SUMMARY, REPORT, MODEL = "summary.json", "report.html", "model.zip"
TABLES_OF_CLASSES = ("labels.csv", "votes.csv", "annotators.csv", "confusion.csv", "counts.csv", "given-labels.csv")
TABLES_OF_TAGS = ("tags.csv", "rates.csv")
OF_CLASSES = (REPORT, *TABLES_OF_CLASSES, *TABLES_OF_TAGS, "placements.csv", MODEL, SUMMARY)
OF_NAMES = ("standard-names.csv", "placements.csv")
TABLES_OF_CLUSTERS = ("clusters.csv", "annotators.csv", "mapping.csv", "views.csv", *OF_NAMES, "ratings.csv")
OF_CLUSTERS = (REPORT, *TABLES_OF_CLUSTERS, MODEL, SUMMARY)
OF_DIFFERENCE = (REPORT, "items.csv", "pairs.csv", "flow.csv", "agreement.csv", "power.csv", SUMMARY)
OF_SITES = (REPORT, "clusters.csv", "sites.csv", "groupings.csv", SUMMARY)
OF_PARTITIONS = (
    *("labels.parquet", "clusters.parquet", "annotators.csv", "confusion.csv", "counts.csv"),
    *("mapping.csv", "centroids.csv", "views.csv", SUMMARY),
)
KNOWN = {*OF_CLASSES, *OF_CLUSTERS, *OF_DIFFERENCE, *OF_SITES, *OF_PARTITIONS}
FORMER = "former"  # folder within the temporary folder: the earlier fit


def possible_files(model: str) -> tuple[str, ...]:
    """Names of the files that a fit of a model may write."""
    return OF_CLASSES if registry.entry(model).reads == ("labels",) else OF_CLUSTERS


@contextlib.contextmanager
def replaced_folder(out: Path) -> Iterator[Path]:
    """Yield an empty folder whose files become the result in `out`, next to any other files there.

    Raises InputError: the folder holds files of the same names that no fit wrote, or that were changed since. Raises
    OSError: the files cannot be written; ``filename`` names the file in `out`.
    """
    folder = Path(os.path.realpath(out))
    with _naming_files(out):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with temporary_folder(_place_of_temporary(folder)) as stage:
            try:
                yield stage
                synchronise(stage)
                with hold_signals():
                    stage = _commit(stage, folder)
            finally:
                _discard(stage)


def require_free(out: Path, names: Iterable[str]) -> None:
    """Raise an InputError unless files of these names can be written to `out` without loss of other files.

    What a killed program left there is repaired or removed first. Raises InputError: `out` is empty or a file, or holds
    such a file that no fit wrote or that was changed since. Raises PermissionError: there is no permission to write
    there.
    """
    if not os.path.lexists(out):
        _require_place(out)
    elif not out.is_dir():
        raise InputError(f"{out} cannot be a folder, since a file of that name exists.")
    folder = Path(os.path.realpath(out))
    _settle(folder)
    former = fit_in(folder)
    for name, checksum in former.items():
        path = folder / name
        if os.path.lexists(path) and _is_other(path, checksum):
            raise InputError(f"{out / name} was changed since the fit that wrote it; {_remedy()}.")
    for name in names:
        if name not in former and os.path.lexists(folder / name):
            raise InputError(f"{out / name} exists but does not belong to a fit in {out}; {_remedy()}.")
    if folder.is_dir() and not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(13, os.strerror(13), str(out))


def _remedy() -> str:
    return f"move it, or name another folder with {spell(out=...)}"


def _require_place(out: Path) -> None:
    """Raise unless a folder can be created at `out`, which does not exist."""
    above = next(parent for parent in Path(os.path.abspath(out)).parents if os.path.lexists(parent))
    if not above.is_dir():
        raise InputError(f"{out} cannot be a folder, since a file of that name exists: {above}.")
    if not os.access(above, os.W_OK | os.X_OK):
        raise PermissionError(13, os.strerror(13), str(above))


def fit_in(folder: Path) -> dict[str, str]:
    """Return the checksums of the files of the fit in a folder, by name; that of the summary itself is empty."""
    try:
        found = json.loads((folder / SUMMARY).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    checksums = found.get("checksums") if isinstance(found, dict) and "consilience" in found else None
    if not isinstance(checksums, dict) or not set(checksums) <= KNOWN:
        return {}
    return {name: str(checksum) for name, checksum in checksums.items()} | {SUMMARY: ""}


def _is_other(path: Path, checksum: str) -> bool:
    """Whether a file is not the one that a fit wrote; the summary, which has no checksum, counts as written by it."""
    return path.is_symlink() or not path.is_file() or (checksum != "" and checksum_of(path) != checksum)


def checksums_in(folder: Path) -> dict[str, str]:
    """Return the checksums of all files in a folder, by name."""
    return {name: checksum_of(folder / name) for name in sorted(os.listdir(folder))}


def checksum_of(path: Path) -> str:
    """Return the SHA-256 checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def _naming_files(out: Path) -> Iterator[None]:
    """Replace names of temporary files in errors by those of the result."""
    try:
        with naming(out):
            yield
    except OSError as error:
        path = Path(os.fsdecode(error.filename or ""))
        if error.errno is None or not any(LEFTOVER.fullmatch(part) for part in path.parts[:-1]):
            raise
        raise OSError(error.errno, error.strerror, str(out / path.name)) from error


# ---- how files are replaced


def _place_of_temporary(folder: Path) -> Path:
    """Return where to make the temporary folder: next to `folder` if that may be exchanged as a whole, else in it."""
    if not folder.exists():
        return folder.parent
    return folder.parent if _is_replaceable(folder) and os.access(folder.parent, os.W_OK | os.X_OK) else folder


def _commit(stage: Path, folder: Path) -> Path:
    """Put the files of the temporary folder in place; return the path of what is left of it."""
    if not folder.exists():
        os.rename(stage, folder)
        synchronise(folder.parent)
        return stage
    with lock_folder(folder):
        require_free(folder, os.listdir(stage))  # again, since files may have come while the model was fitted
        former = fit_in(folder)
        if stage.parent != folder and _is_replaceable(folder) and _is_alike(stage, folder):
            shutil.copymode(folder, stage)
            if _exchange(stage, folder):
                synchronise(folder.parent)
                _give_back(stage, folder, former)
                return stage
        if stage.parent != folder:
            # what is left after a crash is then found by the next fit to this folder
            stage = stage.rename(folder / stage.name)
        _file_by_file(stage, folder, former)
        return stage


def _is_replaceable(folder: Path) -> bool:
    """Whether a folder holds nothing but a fit, and may be replaced by another folder of the same name."""
    own = {name for name in os.listdir(folder) if not LEFTOVER.fullmatch(name)} <= set(fit_in(folder))
    with contextlib.suppress(OSError):
        own = own and not os.path.samefile(folder, os.curdir)
    return own and not os.path.ismount(folder)


def _is_alike(stage: Path, folder: Path) -> bool:
    """Whether two folders have the same owner and the same attributes, except for the mode."""
    one, other = stage.stat(), folder.stat()
    return (one.st_uid, one.st_gid) == (other.st_uid, other.st_gid) and _attributes(stage) == _attributes(folder)


def _attributes(folder: Path) -> dict[str, bytes]:
    if not hasattr(os, "listxattr"):
        return {}
    try:
        return {name: os.getxattr(folder, name) for name in os.listxattr(folder)}
    except OSError:  # a file system without attributes
        return {}


def _exchange(one: Path, other: Path) -> bool:
    """Exchange the names of two folders in one step; False if the system cannot."""
    names = os.fsencode(one), os.fsencode(other)
    library: Any = ctypes.CDLL(None, use_errno=True) if sys.platform != "win32" else None
    if hasattr(library, "renameat2"):  # Linux: AT_FDCWD, RENAME_EXCHANGE
        return bool(library.renameat2(-100, names[0], -100, names[1], 2) == 0)
    if hasattr(library, "renamex_np"):  # macOS: RENAME_SWAP
        return bool(library.renamex_np(*names, 2) == 0)
    return False


def _give_back(stage: Path, folder: Path, former: Iterable[str]) -> None:
    """Move to the folder any file that was added to its predecessor just before the exchange."""
    for name in set(os.listdir(stage)) - set(former):
        if not os.path.lexists(folder / name):
            os.rename(stage / name, folder / name)


def _file_by_file(stage: Path, folder: Path, former: Iterable[str]) -> None:
    """Keep the former files, and put the new ones in place; restore the former ones if that fails."""
    made = _summary_last(os.listdir(stage))
    kept = stage / FORMER
    kept.mkdir()
    try:
        # the summary first: a folder without one is known to be unfinished
        for name in reversed(_summary_last(former)):
            if os.path.lexists(folder / name):
                os.rename(folder / name, kept / name)
        synchronise(folder)
        for name in made:
            os.rename(stage / name, folder / name)
    except BaseException:
        _put_back(stage, folder)
        raise
    synchronise(folder)


def _put_back(stage: Path, folder: Path) -> None:
    """Restore the files that were in the folder before those of `stage` were put in place."""
    for name in fit_in(stage):
        if not os.path.lexists(stage / name):
            os.rename(folder / name, stage / name)
    for name in _summary_last(os.listdir(stage / FORMER)):
        os.rename(stage / FORMER / name, folder / name)
    synchronise(folder)


def _summary_last(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: (name == SUMMARY, name))


# ---- leftovers of temporary folders


def _settle(folder: Path) -> None:
    """Repair or remove what killed programs left in a folder and next to it."""
    for place in (folder, folder.parent):
        remove_leftovers(place)
        for stage in left_behind(place):
            if place == folder and _is_unfinished(stage):
                _put_back(stage, folder)
            _discard(stage)


def _is_unfinished(stage: Path) -> bool:
    """Whether some files of a temporary folder had been put in place, but not all."""
    return (stage / FORMER).is_dir() and (stage / SUMMARY).exists()


def _discard(stage: Path) -> None:
    """Remove a temporary folder and the files of a fit in it, unless it holds the only copy of an earlier fit."""
    if _is_unfinished(stage) and os.listdir(stage / FORMER):
        return
    for held in (stage / FORMER, stage):
        with contextlib.suppress(OSError):
            for name in os.listdir(held):
                if name in KNOWN or LEFTOVER.fullmatch(name):
                    (held / name).unlink(missing_ok=True)
            held.rmdir()
