"""Trees of arrays as named NumPy arrays, and atomically written files of them."""

from __future__ import annotations

import contextlib
import hashlib
import zipfile
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from consilience.atomic_files import replacing
from consilience.errors import InputError

Arrays = dict[str, np.ndarray]
REMEMBERED = ".remembered"


def to_arrays(tree: PyTree) -> Arrays:
    """Leaves of a tree by their paths."""
    leaves = jax.tree_util.tree_flatten_with_path(tree)[0]
    plain = ((path, jax.random.key_data(leaf) if _is_key(leaf) else leaf) for path, leaf in leaves)
    return {jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in plain}


def from_arrays(template: PyTree, arrays: Arrays) -> PyTree:
    """Tree with the template's structure and these leaves."""
    leaves, structure = jax.tree_util.tree_flatten_with_path(template)
    found = [_set_type(leaf, arrays[jax.tree_util.keystr(path)]) for path, leaf in leaves]
    return jax.tree_util.tree_unflatten(structure, found)


def fits(template: PyTree, arrays: Any) -> bool:
    """Whether arrays are leaves of such a tree, with matching shapes; remembered values may have any number of rows."""
    leaves = {jax.tree_util.keystr(path): leaf for path, leaf in jax.tree_util.tree_flatten_with_path(template)[0]}
    if type(arrays) is not dict or arrays.keys() != leaves.keys():
        return False
    return all(_fits(leaf, arrays[name], of_items=name == REMEMBERED) for name, leaf in leaves.items())


def write(path: Path, arrays: Arrays) -> None:
    """Write the file; if that fails, the previous one is unchanged."""
    with replacing(path) as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def read(path: Path, fingerprint: str) -> Arrays | None:
    """Return the arrays in the file; None if there is no file.

    Raises InputError: it is not a checkpoint, or belongs to another fit.
    """
    if not path.exists():
        return None
    arrays: Arrays = {}
    # what cannot be read has no fingerprint
    with contextlib.suppress(OSError, ValueError, EOFError, zipfile.BadZipFile), np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    if "fingerprint" not in arrays:
        raise InputError(f"{path} is not a checkpoint of a fit. Name another file, or remove it.")
    if str(arrays.pop("fingerprint")) != fingerprint:
        raise InputError(
            f"{path} is the checkpoint of a fit with other data or parameters. Name another file, or remove it."
        )
    return arrays


def digest(module: PyTree) -> str:
    """Identify a module by its structure and arrays."""
    arrays, rest = eqx.partition(module, eqx.is_array)
    return fingerprint({"rest": str(rest)}, arrays)


def fingerprint(parameters: dict[str, Any], arrays: PyTree) -> str:
    """Identify a fit by its parameters and data."""
    digest = hashlib.sha256(repr(sorted(parameters.items())).encode())
    for name, array in sorted(to_arrays(arrays).items()):
        digest.update(f"{name} {array.shape} {array.dtype}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _set_type(leaf: Any, array: np.ndarray) -> Any:
    return jax.random.wrap_key_data(jnp.asarray(array)) if _is_key(leaf) else jnp.asarray(array, leaf.dtype)


def _fits(leaf: Any, array: Any, *, of_items: bool) -> bool:
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiub":
        return False
    if _is_key(leaf):
        return bool(array.dtype == np.uint32 and array.shape[: len(leaf.shape)] == leaf.shape)
    # a template does not know how many items are annotated
    one, other = (array.shape[1:], leaf.shape[1:]) if of_items and array.ndim else (array.shape, leaf.shape)
    return bool(one == other and np.isfinite(array).all())


def _is_key(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
