"""On what a result was computed: processor, BLAS and its kernel, versions."""

from __future__ import annotations

import os
import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

LIBRARIES = ("numpy", "scipy", "scikit-learn", "pandas", "joblib", "jax", "equinox", "optax", "crowd-kit")


@cache
def environment() -> dict[str, Any]:
    """Describe this machine and its libraries."""
    import scipy.linalg  # noqa: F401  BLAS is named once it is loaded

    return {
        "cpu": _processor(),
        "blas": sorted({_blas(library) for library in threadpool_info() if library["user_api"] == "blas"}),
        "threads": os.environ.get("OMP_NUM_THREADS", ""),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": {name: found for name in LIBRARIES if (found := _version(name))},
    }


def kernel() -> str:
    """Return the kernels that BLAS runs, such as SkylakeX: it chooses them by the processor."""
    return ", ".join(sorted({text.split()[-1] for text in environment()["blas"]}))


@cache
def commit() -> str:
    """Return the commit that is checked out, marked where files differ from it; empty outside a repository."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=10", "--exclude=*"]
    try:
        return subprocess.run(
            command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def _blas(library: dict[str, Any]) -> str:
    return f"{library['internal_api']} {library['version']} {library.get('architecture', '')}".strip()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        model = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        model = platform.processor() or platform.machine()
    return f"{model}, {os.cpu_count()} cores"
