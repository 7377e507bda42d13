"""Double precision in a test, under JAX's name of today or that of its older versions."""

import jax
import jax.experimental

enable_x64 = getattr(jax, "enable_x64", None) or jax.experimental.enable_x64
