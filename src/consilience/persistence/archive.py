"""One file of a JSON object and numeric arrays, which cannot run code or ask for more memory than its own size.

The file is a zip archive of ``model.json`` and ``arrays/0.npy``, ``arrays/1.npy``, …, none of them compressed, so that
what is read is never larger than the file. Members have no dates: equal content makes equal files.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np

from consilience.errors import SavedModelError
from consilience.persistence.codec import NUMERIC
from consilience.writing import replacing

DOCUMENT = "model.json"
NPY_VERSION = (1, 0)


def array_name(number: int) -> str:
    """Name of the member that holds an array."""
    return f"arrays/{number}.npy"


def write(path: str | PathLike[str], document: dict[str, Any], arrays: Sequence[np.ndarray]) -> None:
    """Write the file, whole or not at all.

    Raises
    ------
    InputError
        The path is empty, a folder, or in a folder that does not exist.
    """
    text = json.dumps(document, allow_nan=False, separators=(",", ":"))
    with replacing(path) as file, ZipFile(file, "w", ZIP_STORED) as archive:
        archive.writestr(_member(DOCUMENT), text)
        for number, array in enumerate(arrays):
            with archive.open(_member(array_name(number)), "w", force_zip64=array.nbytes > 2**30) as member:
                # "K" keeps the order in memory of arrays that are parts of others
                np.lib.format.write_array(member, np.copy(array, order="K"), NPY_VERSION, allow_pickle=False)


def _member(name: str) -> ZipInfo:
    return ZipInfo(name)  # of 1980-01-01, uncompressed


def read(path: Path) -> tuple[Any, dict[str, bytes]]:
    """Read a file.

    Returns
    -------
    document : what stands in ``model.json``
    others : content of the other members by name

    Raises
    ------
    SavedModelError
        There is no such file, it cannot be read, is no zip archive with ``model.json``, or is damaged.
    """
    try:
        if path.is_dir():
            raise SavedModelError(f"{path} is a folder, not a saved model.")
        if not path.is_file():
            raise SavedModelError(f"There is no file {path}.")
        with ZipFile(path) as archive:
            members = archive.infolist()
            _require_plain(path, members)
            contents = {member.filename: archive.read(member) for member in members}
        document = json.loads(contents.pop(DOCUMENT))
    except SavedModelError:
        raise
    except BadZipFile as error:
        raise SavedModelError(f"{path} is no saved model, or is damaged: {error}.") from error
    except OSError as error:
        raise SavedModelError(f"{path} cannot be read: {error.strerror or error}.") from error
    except MemoryError as error:
        raise SavedModelError(f"{path} does not fit into the memory of this machine.") from error
    except Exception as error:  # zipfile and json raise much on hostile input: RuntimeError, RecursionError, …
        raise SavedModelError(f"{path} is damaged: {type(error).__name__} in {DOCUMENT}.") from error
    return document, contents


def _require_plain(path: Path, members: list[ZipInfo]) -> None:
    names = [member.filename for member in members]
    if DOCUMENT not in names:
        raise SavedModelError(f"{path} is no saved model: it is a zip archive without {DOCUMENT}.")
    if len(set(names)) < len(names):
        raise SavedModelError(f"{path} is no saved model: two of its members have one name.")
    for member in members:
        if member.compress_type != ZIP_STORED or member.flag_bits & 1:
            raise SavedModelError(
                f"{path} is no saved model: its member {member.filename!r} is compressed or encrypted, and members of "
                "a saved model are neither."
            )
    if sum(member.file_size for member in members) > path.stat().st_size:
        raise SavedModelError(f"{path} is damaged: its members claim to be larger than the file.")


def require_arrays(path: Path, members: dict[str, bytes], n_arrays: Any) -> None:
    """Demand that the members are the arrays of the document.

    Raises
    ------
    SavedModelError
        One is missing, or there is another.
    """
    if type(n_arrays) is not int or n_arrays < 0:
        raise SavedModelError(f"{path} is damaged: it does not say how many arrays it has.")
    expected = [array_name(number) for number in range(min(n_arrays, len(members) + 1))]
    for name in expected:
        if name not in members:
            raise SavedModelError(f"{path} is damaged: it lacks the member {name}.")
    known = set(expected)
    for name in members:
        if name not in known:
            raise SavedModelError(f"{path} is no saved model: it has the member {name!r}, which none has.")


def parse_array(content: bytes) -> np.ndarray:
    """Read an array of numbers or text from the content of an ``.npy`` file.

    Raises
    ------
    ValueError
        It is no such array, or says it is larger than the content.
    """
    file = io.BytesIO(content)
    if np.lib.format.read_magic(file) != NPY_VERSION:
        raise ValueError("the version of an array")
    shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    size = dtype.itemsize
    for length in shape:
        size *= length
    if dtype.kind not in NUMERIC + "U" or min(shape, default=0) < 0 or size != len(content) - file.tell():
        raise ValueError("the header of an array")
    file.seek(0)
    array: np.ndarray = np.load(file, allow_pickle=False)
    return array
