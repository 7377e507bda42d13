"""Settings for the whole suite."""

import ctypes
import gc
import os
import signal
import sys
from importlib import metadata, util
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings
from packaging.version import Version

# code that runs for milliseconds need not be compiled with care, nor twice
flags = ["--xla_backend_optimization_level=0", "--xla_cpu_parallel_codegen_split_count=1"]
if util.find_spec("jaxlib") and Version(metadata.version("jaxlib")) >= Version("0.6"):
    # without these emitters XLA compiles in a third of the time; before, the flag was unknown, which ends the process
    flags.append("--xla_cpu_use_fusion_emitters=false")
os.environ.setdefault("XLA_FLAGS", " ".join(flags))
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(__file__).parents[1] / ".pytest_cache" / "jax"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.2")

# a suite that was started in the background ignores interruptions, and so would the programs that tests interrupt
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

GROWTH = 100_000_000  # bytes, after which a module's programs and garbage are worth a search
MOST_GROWTH = 700_000_000  # bytes, before programs compiled within a module are let go of
TRIM = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None  # of the GNU library

# the machines are slow and shared: time is no failure
settings.register_profile("consilience", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("consilience")


def resident_memory():
    """Bytes of memory that the process has now; none where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
    except OSError:
        return 0


class Held:
    """Bytes of the process since memory was last released."""

    after_release = resident_memory()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(parent):
    """Look for examples to run in the package alone."""
    found = yield
    return [collector for collector in found if not isinstance(collector, DoctestModule)]


@pytest.fixture(scope="module", autouse=True)
def forget_compiled():
    """Let go of what JAX compiled for the tests of a module, if it is large: those of another seldom use it."""
    yield
    if not Held.after_release or resident_memory() > Held.after_release + GROWTH:
        Held.after_release = release_memory()
        gc.freeze()  # what is left stays, and each search through it would take as long as many tests


@pytest.fixture(autouse=True)
def forget_compiled_when_large():
    """Do so within a module that compiled for many shapes, some 100 MB each."""
    yield
    if resident_memory() > Held.after_release + MOST_GROWTH:
        Held.after_release = release_memory()


def release_memory():
    """Let go of compiled programs and of garbage, and give free memory back to the system; return the bytes left."""
    if "jax" in sys.modules:
        sys.modules["jax"].clear_caches()
        gc.collect()
    if TRIM is not None:  # else the allocator keeps what it thinks will be asked for again
        TRIM(0)
    return resident_memory()


def pytest_collection_modifyitems(config, items):
    """Draw fewer examples than a test asks for in a quick run, and more in one of everything."""
    Held.after_release = resident_memory()  # with what the tests import, which stays
    for function in {getattr(item, "function", None) for item in items}:
        if getattr(function, "is_hypothesis_test", False):
            asked = function._hypothesis_internal_use_settings
            drawn = 2 * asked.max_examples if config.getoption("--thorough") else quick_number(asked.max_examples)
            function._hypothesis_internal_use_settings = settings(asked, max_examples=drawn)


def quick_number(asked):
    """Number of examples that a quick run draws: all of few, a fifth of many."""
    return min(asked, 8 + asked // 5)
