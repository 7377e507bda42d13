"""Conversion of files of earlier versions to the parameters and attributes of this one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

RENAMED = ".posterior.clusters."


def renamed(name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of an estimator, as JSON, under their present names; others stay unchanged."""
    if name in ("ProductMixture", "StagewiseEM") and "n_components" in parameters and "n_clusters" not in parameters:
        found = {key: value for key, value in parameters.items() if key != "n_components"}
        number = parameters["n_components"]
        return found | {"n_clusters": "auto" if number is None else number}
    return parameters


def retagged(name: str, attributes: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of an estimator or a session, as JSON, under their present names; others stay unchanged."""
    if name != "ActiveSession" or "groupings_" not in attributes:
        return attributes
    found = {key: value for key, value in attributes.items() if key not in ("groupings_", "_n_told")}
    counts = found.get("_counts")
    if isinstance(counts, dict) and counts.keys() == {"pair_counts"}:
        found["_counts"] = {"tuple": counts["pair_counts"]}
    return found | {"_groupings": attributes["groupings_"]}


def upgraded(name: str, attributes: dict[str, Any], parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of an estimator or a session as this version stores them; unknown ones stay unchanged.

    parameters : as named in the file
    """
    if name == "ActiveSession":
        found = {key: value for key, value in attributes.items() if key != "_pending_places"}
        return {"_n_sampled": 0} | found | {"_left_out": _with_answered(attributes.get("_left_out", []))}
    if name == "StagewiseEM" and "n_components" in parameters:
        return _of_named_pairs(attributes)
    if name in ("BayesSCDC", "SCDC") and "_trained_annotators" not in attributes:
        named = getattr(attributes.get("annotators_"), "index", None)
        attributes = attributes | ({} if named is None else {"_trained_annotators": named})
    if name in ("BayesSCDC", "SCDC") and "components_" not in attributes:
        return _of_single_components(attributes)
    return attributes


def _with_answered(left_out: Any) -> Any:
    """Complete items that were left out of a grouping.

    At first only their annotator was stored, later the number of the subset, and now the other items of the subset.
    """
    if type(left_out) is not list:
        return left_out
    complete = {2: lambda part: (0, *part, []), 3: lambda part: (*part, [])}
    return [complete.get(len(part), tuple)(part) if type(part) is tuple else part for part in left_out]


def _of_named_pairs(attributes: dict[str, Any]) -> dict[str, Any]:
    """Replace positions of annotators in the table of pairs by their names."""
    pairs, annotators = attributes.get("_pair_information"), attributes.get("annotators_")
    if not isinstance(pairs, pd.DataFrame) or not isinstance(annotators, pd.DataFrame):
        return attributes
    known = annotators.index
    for column in ("first", "second"):
        places = pairs[column].to_numpy() if column in pairs else np.array([-1])
        if places.dtype.kind != "i" or not ((places >= 0) & (places < len(known))).all():
            return attributes
    named = {column: known.take(pairs[column].to_numpy()) for column in ("first", "second")}
    return attributes | {"_pair_information": pd.DataFrame(named | {"information": pairs["information"].to_numpy()})}


def _of_single_components(attributes: dict[str, Any]) -> dict[str, Any]:
    """Add the components of clusters to deep models, which had one each before clusters could be merged."""
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
