"""What was found as plain values, as JSON holds them."""

from __future__ import annotations

from dataclasses import asdict
from operator import attrgetter
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from consilience.analysis.annotator_frames import NO_ANNOTATIONS
from consilience.analysis.capabilities import attributes
from consilience.analysis.certainty import few_people
from consilience.analysis.copies import groups_of_copies, n_changed_by_copies
from consilience.analysis.cut_figures import CutFigures, OwnClusters
from consilience.analysis.fitted import is_standardized
from consilience.analysis.group_names import count_group_names
from consilience.analysis.label_quality import LabelQuality
from consilience.analysis.tag_figures import tag_figures
from consilience.annotations import Labels
from consilience.annotations.names import plain

if TYPE_CHECKING:
    from consilience.analysis.findings import Findings

WEAKEST = 3  # annotators shown
EXAMPLES = 8  # items of a cluster
CHOICES = 3  # names of a cluster that annotators use
CERTAINTY = ("repeats", "low", "high", "chance", "repeats_together", "n_people", "n_draws")
OF_LABELLERS = ("n_labels", "agreement", "accuracy", "information")  # figures of annotators shown
OF_TAGGERS = ("n_items", "sensitivity", "specificity")
FITTED = {"prior_variance_": float, "lower_bound_": float, "n_iter_": int, "converged_": bool}


def facts_of(found: Findings) -> dict[str, Any]:
    """Return findings as plain values; None for what is unknown."""
    model, annotations = found.estimator, found.annotations
    of_kind = _of_classes if found.can.names_classes else _of_fusion if found.can.fuses else _of_clusters
    clustered = found.clusters.codes >= 0
    certainty = found.certainty
    return {
        "model": type(model).__name__,
        "words": asdict(found.words),
        "parameters": {name: _json(value) for name, value in model.get_params().items()},
        "n_items": len(annotations),
        "n_annotators": annotations.n_annotators,
        "left_out": [_json(name) for name in found.left_out],
        "n_labels": annotations.n_rows,
        "n_features": 0 if found.features is None else found.features.shape[1],
        "n_items_without_annotations": annotations.summary().n_unannotated_items,
        "mean_probability": float(model.responsibilities_[clustered].max(1).mean()),
        **of_kind(found),
        "reliability": {
            name: {figure: _figure(value) for figure, value in asdict(one).items()}
            for name, one in found.reliability.items()
        },
        "certainty": None
        if certainty is None
        else dict(zip(CERTAINTY, map(_figure, attrgetter(*CERTAINTY)(certainty)))),
        "few_people": few_people(model, annotations) or None,
        "random_annotators": _random_annotators(found),
        "given_labels": None if found.quality is None else _of_given_labels(found.quality),
        **{name.rstrip("_"): FITTED[name](value) for name, value in attributes(model, FITTED).items()},
    }


def _of_clusters(found: Findings) -> dict[str, Any]:
    model = found.estimator
    quality = model.annotators_
    facts = {
        "standardized": is_standardized(found.model),
        **_describe_clusters(found),
        "caveats": found.told(found.can.notes),
    }
    if found.groups:
        facts["n_groupings"] = found.groupings.n_groupings
    if "expected_accuracy" in quality:
        facts["accuracy"] = _average(quality["accuracy"], quality["n_labels"])
        facts["weakest_annotators"] = _weakest(quality, ["n_labels", "accuracy", "expected_accuracy"])
        return facts
    worst = found.annotators
    worst = worst[worst["remark"] != NO_ANNOTATIONS].drop(columns=["remark", "seconds"], errors="ignore")
    if found.can.has_views:
        heard = quality[quality.index.isin(worst.index)]
        facts["views"] = [
            {"annotators": _names(heard.index[heard["view"] == view]), "n_clusters": int(n_clusters)}
            for view, n_clusters in model.views_["n_clusters"].items()
        ]
    if "view" in worst:
        worst = worst.sort_values("weight", ascending=False, kind="stable")
    return facts | {"weakest_annotators": _records(worst[::-1].head(WEAKEST))}


def _of_fusion(found: Findings) -> dict[str, Any]:
    model = found.estimator
    quality = model.annotators_
    known = quality[quality["n_items"] > 0].sort_values("weight", kind="stable").head(WEAKEST)
    columns = ["n_groupings", "n_items", "n_groups", "weight", "agreement"]
    return {
        "n_groupings": model.groupings_.n_groupings,
        **_describe_clusters(found),
        "n_items_without_cluster": int((model.labels_ < 0).sum()),
        "n_clusters_considered": model.n_clusters_curve_.index.tolist(),
        "best_cut": None if found.cuts is None else _of_cuts(*found.cuts),
        "silhouette": model.silhouette_,
        "refined": bool(model.refined_),
        "weakest_annotators": _records(known[columns]),
        "caveats": found.told(found.can.notes),
    }


def _of_cuts(cuts: CutFigures, own: OwnClusters) -> dict[str, Any]:
    """Return which number of clusters agrees best with people, of cuts of the tree, beside the clusters found."""
    return {
        "n_clusters": int(cuts.n_clusters[cuts.best]),
        "agreement": float(cuts.agreement[cuts.best]),
        "agreement_of_clusters": _figure(own.agreement),
        "agreement_with_two_joined": _figure(own.joined[0].agreement) if own.joined else None,
    }


def _of_classes(found: Findings) -> dict[str, Any]:
    model, answer = found.estimator, found.clusters
    quality = model.annotators_
    probability = pd.Series(model.responsibilities_.max(1)).groupby(answer.codes).mean()
    share = _shares_of_labels(found)
    classes = [
        {
            "label": _json(name),
            "n_items": int(size),
            "share_of_labels": _figure(share.get(code, np.nan)),
            "mean_probability": _figure(probability.get(code, np.nan)),
        }
        for code, (name, size) in enumerate(zip(answer.index, answer.sizes, strict=True))
    ]
    return {
        "n_classes": model.n_clusters_,
        "n_items_without_class": int((answer.codes < 0).sum()),
        "classes": classes,
        "measure": answer.measure,
        "n_ties": found.can.n_ties,
        "ties": _names(model.items_[model.undecided_][:EXAMPLES]),
        "copies": [{name: _plain(value) for name, value in group.items()} for group in groups_of_copies(model)],
        "n_items_changed_by_copies": n_changed_by_copies(model),
        "n_known_classes": len(found.known),
        "agreement": _average(quality["agreement"], quality["n_labels"]),
        "information": _average(quality["information"], quality["n_labels"]),
        "weakest_annotators": _weakest(quality, [*OF_LABELLERS, *(OF_TAGGERS if found.can.has_tags else ())]),
        "caveats": found.told(found.can.notes),
        **({"tags": _tags(model)} if found.can.has_tags else {}),
    }


def _tags(model: Any) -> list[dict[str, Any]]:
    """Return the figures of each tag."""
    return [
        {"tag": _json(tag), **{str(name): _figure(value) for name, value in row.items()}}
        | {"n_items": int(row["n_items"]), "n_doubtful": int(row["n_doubtful"])}
        for tag, row in tag_figures(model).iterrows()
    ]


def _shares_of_labels(found: Findings) -> pd.Series:
    """Return which share of the labels of each class's items name it, by its code."""
    labels = cast(Labels, found.annotations)
    mine = found.clusters.codes[labels.item]
    names = mine == found.clusters.index.get_indexer(labels.classes)[labels.label]
    return pd.Series(names[mine >= 0]).groupby(mine[mine >= 0]).mean()


def _random_annotators(found: Findings) -> list[dict[str, Any]] | None:
    """Return who agrees with the others no better than random sorts would; None if that is unknown."""
    judged = found.random_sorters
    if judged is None or judged["probability"].isna().all():
        return None
    marked = judged[judged["random"]].sort_values("probability", ascending=False, kind="stable")
    return _records(marked[["z", "p_value", "probability"]])


def _of_given_labels(quality: LabelQuality) -> dict[str, Any]:
    states = quality.items["state"].value_counts()
    return {
        "n_checked": quality.n_checked,
        "n_wrong": quality.n_wrong,
        "low": quality.low,
        "high": quality.high,
        "n_doubtful": quality.n_doubtful,
        "n_unchecked": {str(state): int(number) for state, number in states.items() if state != "checked"},
        "n_other_items": len(quality.others),
    }


def _describe_clusters(found: Findings) -> dict[str, Any]:
    """Return sizes of the clusters, examples and names, None where there is none, and what annotators call them."""
    clusters = found.clusters
    facts = {"n_clusters": found.estimator.n_clusters_, "cluster_sizes": clusters.sizes.tolist()}
    facts["cluster_examples"] = _examples(found)
    if found.whole_sorts is not None:
        place = found.whole_sorts.place_of(clusters.codes)
        facts["cluster_makers"] = [{str(name): int(n) for name, n in row.items()} for _, row in found.makers.iterrows()]
        facts["n_made_just_these"] = int(found.whole_sorts.n_annotators[place]) if place >= 0 else 0
        facts["n_namers"] = found.n_namers
    if not clusters.called:
        return facts | {"cluster_names": None}
    choices = count_group_names(found.names, len(clusters.index), CHOICES)
    return facts | {"cluster_names": [name or None for name in clusters.called], "cluster_name_choices": choices}


def _examples(found: Findings) -> list[list[Any]]:
    """Return the names of some items of each cluster, the most probable first."""
    model, codes = found.estimator, found.clusters.codes
    order = np.argsort(-model.responsibilities_.max(1).round(4), kind="stable")  # last digits depend on the machine
    members = [order[codes[order] == code][:EXAMPLES] for code in range(model.n_clusters_)]
    return [_names(model.items_.take(rows)) for rows in members]


def _plain(value: Any) -> Any:
    """Return names as a list, a figure as `_figure` does."""
    return [_json(name) for name in value] if isinstance(value, list) else _figure(value)


def _average(values: pd.Series, n_labels: pd.Series) -> float | None:
    """Return the mean over labels of a figure of their annotators, None if unknown."""
    has_labels = n_labels > 0
    return _figure(float(np.average(values[has_labels], weights=n_labels[has_labels])))


def _weakest(annotators: pd.DataFrame, columns: list[str]) -> list[dict[str, Any]]:
    """Return the annotators whose labels are least accurate, or least informative if accuracy is unknown."""
    by = ["accuracy", "information"] if "information" in columns else ["accuracy"]
    lowest = annotators[annotators["n_labels"] > 0].sort_values(by, kind="stable").head(WEAKEST)
    return _records(lowest[columns])


def _records(annotators: pd.DataFrame) -> list[dict[str, Any]]:
    rows = annotators.rename_axis("annotator").reset_index().to_dict("records")
    return [{str(name): _figure(value) for name, value in row.items()} for row in rows]


def _names(names: pd.Index) -> list[Any]:
    return [_json(name) for name in names]


def _json(value: Any) -> Any:
    value = plain(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    return value if isinstance(value, float) and np.isfinite(value) else str(value)


def _figure(value: Any) -> Any:
    """Return a figure as a plain number, or None if it is missing."""
    value = _json(value)
    return None if value == "nan" else value
