"""Models in which networks predict clusters from features: ``fit(X, annotations)``, with any number of annotated items.

They need JAX, Equinox and Optax: ``pip install 'consilience[deep]'``.
"""

from consilience.deep._required import require_installed

require_installed("jax", "equinox", "optax")

from consilience.deep.bayes_scdc_estimator import BayesSCDC  # noqa: E402
from consilience.deep.deep_mcvc_estimator import DeepMCVC  # noqa: E402
from consilience.deep.scdc_estimator import SCDC  # noqa: E402

__all__ = ["SCDC", "BayesSCDC", "DeepMCVC"]

__dir__ = __all__.copy
