"""Cache of compiled code between processes, so that a second fit starts at once.

This is a setting of JAX for the whole process, so only the command line makes it without being asked.
"""

from __future__ import annotations

import contextlib
import os
import sys
from importlib.util import find_spec
from pathlib import Path

import jax

MOST_BYTES = 1 << 29  # of the folder: beyond it, JAX takes away what was not used for longest
WORTH_KEEPING = 0.5  # seconds of compilation, below which code has no file


def keep_compiled() -> None:
    """Keep code that JAX compiles in the user's cache folder, unless JAX has another one, up to half a gigabyte.

    This affects all code that the process compiles from then on, and no computed value. A folder that the environment
    variable ``JAX_COMPILATION_CACHE_DIR`` names is kept as it is set there, without this bound.

    Examples
    --------
    >>> from consilience.deep.compilation import keep_compiled
    >>> keep_compiled()
    """
    if getattr(jax.config, "jax_compilation_cache_dir", None) is None:
        with contextlib.suppress(RuntimeError):  # a user without a home directory has no cache folder
            jax.config.update("jax_compilation_cache_dir", str(_cache_folder() / "consilience" / "jax"))
            if find_spec("filelock"):  # without which JAX can take nothing away
                jax.config.update("jax_compilation_cache_max_size", MOST_BYTES)
            jax.config.update("jax_persistent_cache_min_compile_time_secs", WORTH_KEEPING)


def _cache_folder() -> Path:
    """Return this system's folder for caches."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home()))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
