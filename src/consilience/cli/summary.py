"""What a fitted model found, as one object for machines and as text for people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import consilience
from consilience.annotations import Groupings
from consilience.annotations.names import plain
from consilience.inspection.names import as_text, counted

FILES = ("report.html", "clusters.csv", "annotators.csv", "mapping.csv", "model.zip", "summary.json")
WEAKEST = 3  # annotators shown


def summary(
    estimator: Any, groupings: Groupings, features: pd.DataFrame | None, notes: list[str], out: Path
) -> dict[str, Any]:
    """Return what was given and found, of plain values.

    Parameters
    ----------
    estimator : fitted estimator, or Pipeline that ends in one
    groupings : what it was fitted to
    features : DataFrame or None
    notes : what the user should know
    out : folder of the results
    """
    model = estimator[-1] if hasattr(estimator, "steps") else estimator
    accuracy = model.annotators_["accuracy"] * model.annotators_["n_labels"]
    return {
        "consilience": consilience.__version__,
        "model": type(model).__name__,
        "parameters": {name: _json(value) for name, value in model.get_params().items()},
        "standardized": estimator is not model,
        "n_items": len(groupings),
        "n_annotators": groupings.n_annotators,
        "n_groupings": groupings.n_groupings,
        "n_labels": groupings.n_rows,
        "n_features": 0 if features is None else features.shape[1],
        "n_items_without_annotations": groupings.summary().n_unannotated_items,
        "n_clusters": model.n_clusters_,
        "cluster_sizes": np.bincount(model.labels_, minlength=model.n_clusters_).tolist(),
        "mean_probability": float(model.responsibilities_.max(1).mean()),
        "accuracy": float(accuracy.sum() / model.annotators_["n_labels"].sum()),
        "prior_variance": float(model.prior_variance_),
        "lower_bound": float(model.lower_bound_),
        "n_iter": model.n_iter_,
        "converged": bool(model.converged_),
        "weakest_annotators": _weakest(model.annotators_),
        "notes": notes,
        "files": {Path(name).stem: str(out / name) for name in FILES},
    }


def _weakest(annotators: pd.DataFrame) -> list[dict[str, Any]]:
    """Annotators whose labels the clusters predict worst."""
    lowest = annotators[annotators["n_labels"] > 0].sort_values("accuracy", kind="stable").head(WEAKEST)
    table = lowest[["n_labels", "accuracy", "expected_accuracy"]].reset_index()
    return [{str(name): _json(value) for name, value in row.items()} for row in table.to_dict("records")]


def _json(value: Any) -> Any:
    value = plain(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    return value if isinstance(value, float) and np.isfinite(value) else str(value)


def as_lines(found: dict[str, Any]) -> str:
    """Return a summary as lines for people."""
    n_items, sizes, worst = found["n_items"], found["cluster_sizes"], found["weakest_annotators"]
    what = [counted(found[f"n_{thing}s"], thing) for thing in ("cluster", "item", "annotator", "label")]
    lines = [f"{what[0]} of {what[1]} by {what[2]}"]
    shown = [f"{size:,}" for size in sizes]
    lines += [f"  cluster {i:<3d} {size:>{len(shown[0])}s}  {sizes[i] / n_items:6.1%}" for i, size in enumerate(shown)]
    lines.append(
        f"The clusters predict {found['accuracy']:.1%} of {what[3]}; the mean probability of an item's cluster is "
        f"{found['mean_probability']:.3f}."
    )
    lines.append("Annotators whose labels the clusters predict worst:")
    names = [as_text(row["annotator"]) for row in worst]
    wide = max(map(len, names))
    lines += [
        f"  {name:{wide}s}  {row['accuracy']:6.1%} of {counted(row['n_labels'], 'label')}"
        for name, row in zip(names, worst)
    ]
    folder = Path(found["files"]["report"]).parent
    lines.append(f"Files in {folder}: {', '.join(FILES)}")
    return "\n".join(lines)
