"""Atomic writing of files: under a temporary name in the same folder, renamed at the end.

Temporary files and folders are called ``.consilience-….part``. Their writer holds a lock on them, so that leftovers of
a killed program can be told from those in use; the next program that writes to the folder removes them.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import IO, Any

from consilience.errors import InputError

BinaryFile = IO[bytes] | BytesIO  # which beartype 0.23.1 does not take for the first

fcntl: Any
try:
    import fcntl
except ImportError:  # no such locks on this system: leftovers stay
    fcntl = None

LEFTOVER = re.compile(r"\.consilience-[0-9a-f]{16}\.part")
_in_use: set[Path] = set()  # temporary files and folders of this process


@contextlib.contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file that replaces `path` at the end, if nothing fails.

    A link stays a link: the file that it points to is replaced. The new file has the permissions of the old one. What
    is not a regular file, such as a pipe, is written to directly.

    Raises InputError: the path is empty, a folder, or in a folder that does not exist. Raises OSError: the file cannot
    be written; ``filename`` is `path`.

    Yields
    ------
    binary file to write to
    """
    require_file_name(path)
    target = Path(os.path.realpath(path))
    with naming(path):
        if target.exists() and not target.is_file():
            with target.open("wb") as file:
                yield file
            return
        remove_leftovers(target.parent)
        with _temporary_file(target.parent) as (beside, file):
            yield file
            if target.exists():
                os.chmod(beside, stat.S_IMODE(target.stat().st_mode))
            file.flush()
            os.fsync(file.fileno())
            file.close()
            os.replace(beside, target)
        synchronise(target.parent)


def require_file_name(path: str | PathLike[str]) -> None:
    """Raise an InputError unless a file can be created at `path`."""
    if not os.fspath(path):
        raise InputError("The name of the output file is empty.")
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder; give the name of a file.")
    if not path.parent.is_dir():
        raise InputError(f"The folder {path.parent} does not exist.")


@contextlib.contextmanager
def open_compressed(file: BinaryFile, name: str) -> Iterator[BinaryFile]:
    """Yield a file that compresses what is written to it, if its name ends in ``.gz``; else the file itself."""
    if not name.lower().endswith(".gz"):
        yield file
        return
    with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
        yield packed  # type: ignore[misc]


@contextlib.contextmanager
def naming(path: str | PathLike[str]) -> Iterator[None]:
    """Name `path` in errors of the system that name no file, or a temporary one."""
    try:
        yield
    except OSError as error:
        named = None if error.filename is None else Path(os.fsdecode(error.filename)).name
        if error.errno is None or (named is not None and not LEFTOVER.fullmatch(named)):
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


@contextlib.contextmanager
def temporary_folder(parent: Path) -> Iterator[Path]:
    """Make a temporary folder and lock it; the caller renames or removes it."""
    while True:
        folder = _temporary_name(parent)
        _in_use.add(folder)
        try:
            folder.mkdir()
            with _lock_new(folder) as is_held:
                if is_held:
                    yield folder
                    return
        finally:
            _in_use.discard(folder)


@contextlib.contextmanager
def _temporary_file(folder: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """Make a file that is removed at the end unless it was renamed."""
    while True:
        path = _temporary_name(folder)
        _in_use.add(path)
        try:
            with path.open("xb") as file, _lock_new(path) as is_held:
                if is_held:
                    yield path, file
                    return
        finally:
            path.unlink(missing_ok=True)
            _in_use.discard(path)


@contextlib.contextmanager
def _lock_new(path: Path) -> Iterator[bool]:
    """Lock a new file; False if another process removed it as a leftover before it was locked."""
    if fcntl is None:
        yield True
        return
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        yield False
        return
    try:
        _lock(descriptor)
        yield path.exists()
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Lock a file or folder until it is closed; False if it is locked already, or the file system has no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _temporary_name(folder: Path) -> Path:
    return folder / f".consilience-{secrets.token_hex(8)}.part"


def left_behind(folder: Path) -> Iterator[Path]:
    """Yield temporary files and folders of programs that no longer run, each locked while it is yielded."""
    if fcntl is None:
        return
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if LEFTOVER.fullmatch(entry.name))
    except OSError:  # a folder that is writable but cannot be listed
        return
    for name in names:
        with contextlib.suppress(OSError):  # removed meanwhile, or owned by somebody else
            descriptor = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                if _lock(descriptor):
                    yield folder / name
            finally:
                os.close(descriptor)


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files in a folder that killed programs left there."""
    for path in left_behind(folder):
        if path.is_file():
            path.unlink(missing_ok=True)


def remove_temporaries() -> None:
    """Remove the temporary files and folders of this process before it ends."""
    for path in list(_in_use):
        with contextlib.suppress(OSError):
            path.unlink()
        shutil.rmtree(path, ignore_errors=True)


def synchronise(folder: Path) -> None:
    """Flush the names of the files in a folder to disk, if the system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Make other programs that lock the folder wait, if the file system has locks."""
    if fcntl is None:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
