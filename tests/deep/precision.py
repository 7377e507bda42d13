"""Double precision in a test, under JAX's name of today or that of its older versions."""

import jax
import jax.experimental

enable_x64 = jax.enable_x64 if hasattr(jax, "enable_x64") else jax.experimental.enable_x64
