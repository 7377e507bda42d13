"""Settings for the whole suite."""

import os
import signal
from importlib import metadata, util
from pathlib import Path

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

# the machines are slow and shared: time is no failure
settings.register_profile("consilience", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("consilience")
