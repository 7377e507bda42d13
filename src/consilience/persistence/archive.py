"""One file of a JSON object and numeric arrays, which cannot run code or use more memory than its own size.

The file is a zip archive of ``model.json`` and ``arrays/0.npy``, ``arrays/1.npy``, …, none of them compressed, so that
its content is never larger than the file; the headers of arrays are compared with the size of their members before
memory is allocated. Members have no dates: equal content makes equal files.
"""

from __future__ import annotations

import contextlib
import json
import math
import struct
import sys
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np

from consilience.atomic_files import replacing
from consilience.errors import SavedModelError
from consilience.persistence.kinds import NUMERIC

DOCUMENT = "model.json"
NPY_VERSION = (1, 0)
CHUNK = 1 << 20  # bytes
ODD_ARCHIVE = (BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError, OverflowError, struct.error)
"""Errors of zipfile for archives that are invalid or damaged."""
ODD_HEADER = (ValueError, TypeError, SyntaxError, RecursionError, OverflowError, KeyError)
"""Errors of NumPy for invalid headers of arrays."""


def array_name(number: int) -> str:
    """Return the name of the member that contains an array."""
    return f"arrays/{number}.npy"


def write(path: str | PathLike[str], document: dict[str, Any], arrays: Sequence[np.ndarray]) -> None:
    """Write the file atomically. Raises InputError: the path is empty, a folder, or in a folder that does not exist."""
    text = json.dumps(document, allow_nan=False, separators=(",", ":"))
    with replacing(path) as file, ZipFile(file, "w", ZIP_STORED) as archive:
        archive.writestr(_member(DOCUMENT), text)
        for number, array in enumerate(arrays):
            # a member whose size is not known before is limited to 2 GiB otherwise
            with archive.open(_member(array_name(number)), "w", force_zip64=array.nbytes > 2**30) as member:
                # "K" keeps the order in memory of arrays that are parts of others
                np.lib.format.write_array(member, np.copy(array, order="K"), NPY_VERSION, allow_pickle=False)


def _member(name: str) -> ZipInfo:
    return ZipInfo(name)  # dated 1980-01-01, uncompressed


@contextlib.contextmanager
def open_plain(path: Path) -> Iterator[ZipFile]:
    """Open a file whose members are plain: names are unique, content is neither compressed nor encrypted.

    Raises SavedModelError: there is no such file, it cannot be read, is not a zip archive with ``model.json``, or is
    damaged.
    """
    try:
        if path.is_dir():
            raise SavedModelError(f"{path} is a folder, not a saved model.")
        if not path.exists():
            raise SavedModelError(f"There is no file {path}.")
        if not path.is_file():
            raise SavedModelError(f"{path} is not a regular file but a device or a pipe.")
        with path.open("rb") as file, _zip(path, file) as archive:
            _require_plain(path, archive.infolist())
            yield archive
    except OSError as error:
        raise SavedModelError(f"{path} cannot be read: {error.strerror or error}.") from error
    except MemoryError as error:
        raise SavedModelError(f"{path} does not fit into the memory of this machine.") from error


def _zip(path: Path, file: Any) -> ZipFile:
    try:
        return ZipFile(file)
    except ODD_ARCHIVE as error:
        raise SavedModelError(f"{path} is not a saved model or is truncated: it is not a zip archive.") from error


def _require_plain(path: Path, members: list[ZipInfo]) -> None:
    names = [member.filename for member in members]
    if DOCUMENT not in names:
        raise SavedModelError(f"{path} is not a saved model: it is a zip archive without {DOCUMENT}.")
    if len(set(names)) < len(names):
        raise SavedModelError(f"{path} is not a saved model: two of its members have the same name.")
    for member in members:
        if member.compress_type != ZIP_STORED or member.flag_bits & 1 or member.compress_size != member.file_size:
            raise SavedModelError(
                f"{path} is not a saved model: its member {member.filename!r} is compressed or encrypted, but members "
                "of a saved model are neither."
            )
    if sum(member.file_size for member in members) > path.stat().st_size:  # members that overlap
        raise SavedModelError(f"{path} is damaged: its members claim to be larger than the file.")


def read_document(path: Path, archive: ZipFile) -> Any:
    """Read ``model.json``. Raises SavedModelError: it is not JSON, or contains a key twice."""
    with _member_of(path, DOCUMENT):
        content = archive.read(DOCUMENT)
    try:
        return json.loads(content.decode("utf-8"), object_pairs_hook=_object, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise SavedModelError(
            f"{path} is damaged: its member {DOCUMENT} is not JSON, or is nested too deep."
        ) from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("duplicate key")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def read_arrays(path: Path, archive: ZipFile, n_arrays: Any) -> list[np.ndarray]:
    """Read the arrays, which must be all other members of the archive.

    Raises SavedModelError: one is missing, there is another member, or one is not an array of numbers or text.
    """
    if type(n_arrays) is not int or n_arrays < 0:
        raise SavedModelError(f"{path} is damaged: its number of arrays is missing or invalid.")
    sizes = {member.filename: member.file_size for member in archive.infolist() if member.filename != DOCUMENT}
    expected = [array_name(number) for number in range(min(n_arrays, len(sizes) + 1))]
    for name in expected:
        if name not in sizes:
            raise SavedModelError(f"{path} is damaged: its member {name} is missing.")
    for name in sizes.keys() - set(expected):
        raise SavedModelError(f"{path} is not a saved model: it has an unknown member {name!r}.")
    arrays = []
    for name in expected:
        with _member_of(path, name), archive.open(name) as member:
            try:
                arrays.append(parse_array(member, sizes[name]))
            except ValueError as error:
                raise SavedModelError(f"{path} is damaged: its member {name} is not an array.") from error
    return arrays


@contextlib.contextmanager
def _member_of(path: Path, name: str) -> Iterator[None]:
    """Name the member in errors of reading it."""
    try:
        yield
    except SavedModelError:
        raise
    except ODD_ARCHIVE as error:
        raise SavedModelError(f"{path} is damaged: its member {name} cannot be read, or was changed.") from error


def parse_array(file: Any, size: int) -> np.ndarray:
    """Read an array of numbers or text from an ``.npy`` file of known size, and no more than that.

    Raises ValueError: it is not such an array, or its header gives a smaller or larger size than the file's.

    file : binary file
    size : of the file, in bytes
    """
    shape, is_fortran, dtype = _header(file)
    n_cells = math.prod(shape)
    if dtype.kind not in NUMERIC + "U" or min(shape, default=0) < 0 or (n_cells and not dtype.itemsize):
        raise ValueError("the header of an array")
    if n_cells * dtype.itemsize != size - file.tell():  # before memory is taken for it
        raise ValueError("the length of an array")
    content = bytearray(n_cells * dtype.itemsize)
    _fill(content, file)
    if not n_cells:
        return np.zeros(shape, dtype, "F" if is_fortran else "C")
    array: np.ndarray = np.frombuffer(content, dtype, n_cells).reshape(shape, order="F" if is_fortran else "C")
    _require_valid(array)
    return array


def _header(file: Any) -> tuple[tuple[int, ...], bool, np.dtype]:
    try:
        if np.lib.format.read_magic(file) == NPY_VERSION:
            return np.lib.format.read_array_header_1_0(file)
    except ODD_HEADER as error:
        raise ValueError("the header of an array") from error
    raise ValueError("the version of an array")


def _fill(content: bytearray, file: Any) -> None:
    """Fill a buffer with the rest of a file in chunks, and read on to its end, where zipfile compares checksums."""
    view, place = memoryview(content), 0
    while chunk := file.read(CHUNK):  # in pieces: the size that the archive states may be wrong
        if place + len(chunk) > len(view):
            break
        view[place : place + len(chunk)] = chunk
        place += len(chunk)
    if place != len(view):
        raise ValueError("the length of an array")


def _require_valid(array: np.ndarray) -> None:
    """Raise a ValueError if there are bits that do not represent a truth value or character."""
    flat = array.ravel(order="K")
    if array.dtype.kind == "b" and (flat.view(np.uint8) > 1).any():  # other bytes are no truth values
        raise ValueError("a truth value")
    if array.dtype.kind == "U":
        letters = flat.view(np.uint32 if array.dtype.isnative else np.dtype(np.uint32).newbyteorder())
        if letters.max(initial=0) > sys.maxunicode:
            raise ValueError("a letter")
