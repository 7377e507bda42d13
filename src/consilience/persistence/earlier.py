"""What earlier versions wrote otherwise, turned into what this one learns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

RENAMED = ".posterior.clusters."


def upgraded(name: str, attributes: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of an estimator or a study as this version has them; those that it does not know stay."""
    if name == "ActiveSession":
        absent: dict[str, Any] = {"_pending_places": {}, "_left_out": []}
        return attributes | {key: value for key, value in absent.items() if key not in attributes}
    if name in ("BayesSCDC", "SCDC") and "components_" not in attributes:
        return _of_single_components(attributes)
    return attributes


def _of_single_components(attributes: dict[str, Any]) -> dict[str, Any]:
    """Give deep models the components of their clusters, which had one each before clusters could be merged."""
    weights, means, covariances = (attributes.get(name) for name in ("weights_", "means_", "covariances_"))
    state = attributes.get("state_")
    if type(state) is not dict or not (isinstance(weights, np.ndarray) and weights.ndim == 1):
        return attributes
    components = pd.DataFrame({"cluster": np.arange(len(weights)), "weight": weights})
    of_clusters = {"components_": components, "component_means_": means, "component_covariances_": covariances}
    concentration = state.get(".posterior.concentration")
    if isinstance(concentration, np.ndarray) and any(str(key).startswith(RENAMED) for key in state):
        renamed = {str(key).replace(RENAMED, ".posterior.components."): array for key, array in state.items()}
        state = renamed | {".posterior.joined": np.eye(len(concentration), dtype=concentration.dtype)}
    return attributes | of_clusters | {"state_": state}
