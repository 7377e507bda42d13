"""Summary of a fitted model, as one object for machines and as text for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import consilience
from consilience.analysis.capabilities import Capabilities, attributes
from consilience.analysis.certainty import Certainty
from consilience.analysis.clustering import FoundClusters
from consilience.analysis.copies import groups_of_copies, n_changed_by_copies, sentences_on_copies
from consilience.analysis.fitted import groupings_of
from consilience.analysis.group_names import called, cluster_names
from consilience.analysis.label_quality import LabelQuality
from consilience.analysis.names import as_text, counted, shortened, width
from consilience.analysis.random_sorters import random_sorters
from consilience.analysis.words import DEFAULT, Words, current_words, use_words
from consilience.annotations import Pairs
from consilience.annotations.names import plain
from consilience.inspection.report.judge_tables import NO_ANNOTATIONS, annotator_frame
from consilience.workflows.inputs import Evidence, Material
from consilience.workflows.item_extras import figures_of
from consilience.workflows.preprocessing import is_standardized
from consilience.workflows.results import files_of

WEAKEST = 3  # annotators shown
MOST_RANDOM = 12  # annotators who sorted at random, in a line
LONGEST = 40  # letters of a name in a line
EXAMPLES = 8  # items of a cluster
CHOICES = 3  # names of a cluster that annotators use
MOST_CLUSTERS, FIRST_CLUSTERS = 60, 20  # most that are all shown, and how many of more
LONGEST_EXAMPLE = 24  # letters of each in a line
LINE = 100  # letters of a line with items of a cluster
FIGURES = ("accuracy", "sensitivity", "specificity", "agreement")  # of an annotator, in a line
CERTAINTY = ("repeats", "low", "high", "chance", "n_people", "n_draws")
FITTED = {"prior_variance_": float, "n_ties_": int, "lower_bound_": float, "n_iter_": int, "converged_": bool}


def summary(
    estimator: Any,
    material: Material,
    evidence: Evidence,
    out: Path,
    *,
    more: list[str],
    certainty: Certainty | None = None,
    words: Words = DEFAULT,
    quality: LabelQuality | None = None,
    further_files: Sequence[str] = (),
    left_out: Sequence[Any] = (),
) -> dict[str, Any]:
    """Return the inputs and results of a fit as plain values.

    Parameters
    ----------
    estimator : fitted estimator, or Pipeline that ends in one
    material : contents of the files
    evidence : inputs of the model
    out : folder of the results
    more : suggestions of what to try next
    certainty : what another group of people would repeat, if it was computed
    words : what the reader calls items and annotators
    quality : what was found of given labels, if there are any
    further_files : names of files in the folder that are not of the model
    left_out : names of the annotators who were left out of the fit
    """
    model = estimator[-1] if hasattr(estimator, "steps") else estimator
    annotations, features = evidence.annotations, evidence.features
    can = Capabilities.of(model)
    if can.names_classes:
        found = _of_classes(model, evidence)
    else:
        find = _of_fusion if can.fuses else _of_clusters
        found = find(model, estimator, evidence)
    clustered = FoundClusters.of(model).codes >= 0
    if "caveats" in found:
        known = [as_text(name) for name in (*annotations.annotators, *annotations.items)]
        found["caveats"] = [words.told(sentence, known) for sentence in found["caveats"]]
    return {
        "consilience": consilience.__version__,
        "model": type(model).__name__,
        "read_as": material.read_as,
        "words": asdict(words),
        "parameters": {name: _json(value) for name, value in model.get_params().items()},
        "n_items": len(annotations),
        "n_annotators": annotations.n_annotators,
        "left_out": [_json(name) for name in left_out],
        "n_labels": annotations.n_rows,
        "n_features": 0 if features is None else features.shape[1],
        "n_items_without_annotations": annotations.summary().n_unannotated_items,
        "mean_probability": float(model.responsibilities_[clustered].max(1).mean()),
        **found,
        "certainty": None if certainty is None else {name: getattr(certainty, name) for name in CERTAINTY},
        "random_annotators": _random_annotators(annotations, can),
        "given_labels": figures_of(quality),
        **{name.rstrip("_"): FITTED[name](value) for name, value in attributes(model, FITTED).items()},
        "notes": [*material.notes, *evidence.notes, *more],
        "files": {
            Path(name).stem: str(out / name) for name in files_of(model, further_files, has_given=quality is not None)
        },
    }


def _of_clusters(model: Any, estimator: Any, evidence: Evidence) -> dict[str, Any]:
    quality, annotations = model.annotators_, evidence.annotations
    found = {
        "standardized": is_standardized(estimator),
        "n_clusters": model.n_clusters_,
        "cluster_sizes": FoundClusters.of(model).sizes.tolist(),
        "cluster_examples": _examples(model),
        **_called(model, annotations),
        "caveats": list(getattr(model, "notes_", ())),
    }
    if not isinstance(annotations, Pairs):
        found["n_groupings"] = groupings_of(annotations).n_groupings
    if "expected_accuracy" in quality:
        found["accuracy"] = _average(quality["accuracy"], quality["n_labels"])
        found["weakest_annotators"] = _weakest(quality, ["n_labels", "accuracy", "expected_accuracy"])
        return found
    worst = annotator_frame(model)
    worst = worst[worst["remark"] != NO_ANNOTATIONS]
    if Capabilities.of(model).has_views:
        heard = quality[quality.index.isin(worst.index)]
        found["views"] = [
            {"annotators": _names(heard.index[heard["view"] == view]), "n_clusters": int(n_clusters)}
            for view, n_clusters in model.views_["n_clusters"].items()
        ]
    if "view" in worst:
        worst = worst.sort_values("weight", ascending=False, kind="stable")
    return found | {"weakest_annotators": _records(worst.drop(columns="remark")[::-1].head(WEAKEST))}


def _of_fusion(model: Any, estimator: Any, evidence: Evidence) -> dict[str, Any]:
    quality, sizes = model.annotators_, FoundClusters.of(model).sizes
    known = quality[quality["n_items"] > 0].sort_values("weight", kind="stable").head(WEAKEST).reset_index()
    columns = ["annotator", "n_groupings", "n_items", "n_groups", "weight", "agreement"]
    return {
        "n_groupings": model.groupings_.n_groupings,
        "n_clusters": model.n_clusters_,
        "cluster_sizes": sizes.tolist(),
        "cluster_examples": _examples(model),
        **_called(model, evidence.annotations),
        "n_items_without_cluster": int((model.labels_ < 0).sum()),
        "n_clusters_considered": model.n_clusters_curve_.index.tolist(),
        "silhouette": model.silhouette_,
        "refined": bool(model.refined_),
        "weakest_annotators": [{name: _figure(row[name]) for name in columns} for row in known.to_dict("records")],
        "caveats": list(model.notes_),
    }


def _random_annotators(annotations: Any, can: Capabilities) -> list[dict[str, Any]] | None:
    """Return who agrees with the others no better than random sorts would; None if that is unknown."""
    if isinstance(annotations, Pairs) or can.names_classes:
        return None
    judged = random_sorters(groupings_of(annotations))
    if judged is None or judged["probability"].isna().all():
        return None
    marked = judged[judged["random"]].sort_values("probability", ascending=False, kind="stable")
    return _records(marked[["z", "p_value", "probability"]])


def _called(model: Any, annotations: Any) -> dict[str, Any]:
    """Return the name of each cluster, None where there is none, and the names that annotators give it, with counts."""
    clusters = FoundClusters.of(model, annotations)
    if not clusters.called:
        return {"cluster_names": None}
    counts = cluster_names(groupings_of(annotations), clusters.codes, len(clusters.index))
    choices = called(counts, len(clusters.index), CHOICES)
    return {"cluster_names": [name or None for name in clusters.called], "cluster_name_choices": choices}


def _titles(found: dict[str, Any]) -> list[str]:
    """Return the numbers of the clusters, after their names if people gave any, aligned."""
    names = found["cluster_names"] or [None] * len(found["cluster_sizes"])
    titles = [f"cluster {i:<3d}" if name is None else f"{_short(name)} ({i})" for i, name in enumerate(names)]
    wide = max(map(width, titles))
    return [title + " " * (wide - width(title)) for title in titles]


def _examples(model: Any) -> list[list[Any]]:
    """Return the names of some items of each cluster, the most probable first."""
    codes = FoundClusters.of(model).codes
    order = np.argsort(-model.responsibilities_.max(1).round(4), kind="stable")
    members = [order[codes[order] == code][:EXAMPLES] for code in range(model.n_clusters_)]
    return [_names(model.items_.take(rows)) for rows in members]


def _of_classes(model: Any, evidence: Evidence) -> dict[str, Any]:
    answer, quality = FoundClusters.of(model), model.annotators_
    probability = pd.Series(model.responsibilities_.max(1)).groupby(answer.codes).mean()
    classes = [
        {"label": _json(name), "n_items": int(size), "mean_probability": _figure(probability.get(code, np.nan))}
        for code, (name, size) in enumerate(zip(answer.index, answer.sizes, strict=True))
    ]
    return {
        "n_classes": model.n_clusters_,
        "n_items_without_class": int((answer.codes < 0).sum()),
        "classes": classes,
        "measure": answer.measure,
        "copies": [{name: _plain(value) for name, value in group.items()} for group in groups_of_copies(model)],
        "n_items_changed_by_copies": n_changed_by_copies(model),
        "n_known_classes": len(evidence.known.get("gold", ())),
        "agreement": _average(quality["agreement"], quality["n_labels"]),
        "information": _average(quality["information"], quality["n_labels"]),
        "weakest_annotators": _weakest(quality, ["n_labels", "agreement", "accuracy", "information"]),
    }


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


def as_lines(found: dict[str, Any]) -> str:
    """Return a summary as lines of text, in the words that it was made with."""
    with use_words(Words(**found["words"])):
        return _as_lines(found)


def _as_lines(found: dict[str, Any]) -> str:
    write = (
        _lines_of_classes if "classes" in found else _lines_of_fusion if "silhouette" in found else _lines_of_clusters
    )
    lines = [*(found["warnings"] and [*found["warnings"], ""]), *write(found), *_of_certainty(found["certainty"])]
    if marked := found["random_annotators"]:
        names = [_short(person["annotator"]) for person in marked[:MOST_RANDOM]]
        names += [f"and {len(marked) - MOST_RANDOM:,} more"] if len(marked) > MOST_RANDOM else []
        lines.append(f"No better than chance: {', '.join(names)}")
    if found["left_out"]:
        lines.append(f"Left out of the fit: {', '.join(map(_short, found['left_out']))}")
    files = [Path(path) for path in found["files"].values()]
    lines.append(f"Files in {files[0].parent}: {', '.join(path.name for path in files)}")
    return "\n".join(lines)


def _of_certainty(found: dict[str, Any] | None) -> list[str]:
    """Say what another group of people would repeat."""
    words = current_words()
    if found is None:
        return []
    return [
        f"Another {found['n_people']:,} people would repeat {found['repeats']:.0%} of the pairs of {words.items}, "
        f"together or apart ({found['low']:.0%} to {found['high']:.0%}; by chance {found['chance']:.0%})."
    ]


def _lines_of_clusters(found: dict[str, Any]) -> list[str]:
    words = current_words()
    sizes, worst = found["cluster_sizes"], found["weakest_annotators"]
    what = _counts(found, "cluster", "item", "annotator", "label")
    lines = [f"{what[0]} of {what[1]} by {what[2]}"]
    lines += _with_examples(_rows(_titles(found), sizes, found["n_items"]), found)
    if "accuracy" not in found:
        return lines + _lines_of_judges(found)
    lines.append(
        f"The clusters predict {found['accuracy']:.1%} of {what[3]}; the mean probability of {words.an_item}'s cluster "
        f"is {found['mean_probability']:.3f}."
    )
    lines.append(f"{words.Annotators} whose labels the clusters predict worst:")
    wide = max(len(_short(row["annotator"])) for row in worst)
    lines += [
        f"  {_short(row['annotator']):{wide}s}  {row['accuracy']:6.1%} of {counted(row['n_labels'], 'label')}"
        for row in worst
    ]
    return lines + found["caveats"]


def _lines_of_judges(found: dict[str, Any]) -> list[str]:
    """List views, if there are several, and the figures of the weakest annotators."""
    words = current_words()
    lines = []
    for number, view in enumerate(found.get("views", ())):
        held = ", ".join(map(_short, view["annotators"])) or "nobody"
        lines.append(f"View {number}, {counted(view['n_clusters'], 'cluster')}, is held by {held}")
    lines.append(f"Weakest {words.annotators}:")
    worst = found["weakest_annotators"]
    wide = max((len(_short(row["annotator"])) for row in worst), default=0)
    for row in worst:
        figures = ", ".join(f"{name} {row[name]:.2f}" for name in FIGURES if row.get(name) is not None)
        lines.append(f"  {_short(row['annotator']):{wide}s}  {figures}")
    return lines + found["caveats"]


def _lines_of_fusion(found: dict[str, Any]) -> list[str]:
    words = current_words()
    sizes, worst, nowhere = found["cluster_sizes"], found["weakest_annotators"], found["n_items_without_cluster"]
    what = _counts(found, "cluster", "item", "annotator", "grouping")
    lines = [f"{what[0]} of {what[1]} by {what[2]} in {what[3]}"]
    rows = _rows(
        [*_titles(found), *(["in none"] if nowhere else [])], sizes + ([nowhere] if nowhere else []), found["n_items"]
    )
    lines += _with_examples(rows, found)
    lines.append(f"{_how_many(found)} silhouette {found['silhouette']:.3f} (1: perfectly clear, 0: none).")
    lines.append(f"{words.Annotators} with the lowest weight:")
    wide = max(len(_short(row["annotator"])) for row in worst)
    for row in worst:
        agreement = "unknown" if row["agreement"] is None else f"{row['agreement']:.2f}"
        figures = f"weight {row['weight']:.3f}, agreement {agreement}, {words.n_items(row['n_items'])} sorted"
        lines.append(f"  {_short(row['annotator']):{wide}s}  {figures}")
    return lines + found["caveats"]


def _how_many(found: dict[str, Any]) -> str:
    """Say how the number of clusters was determined."""
    number, considered, requested = (
        found["n_clusters"],
        found["n_clusters_considered"],
        found["parameters"]["n_clusters"],
    )
    if requested != "auto":
        return (
            f"{counted(number, 'cluster')}, {'as' if number == requested else f'where {requested:,} were'} asked for;"
        )
    if len(considered) == 1:
        return f"Found {counted(number, 'cluster')}, the only number considered;"
    return f"Found {counted(number, 'cluster')}, of {min(considered)} to {max(considered)} considered;"


def _lines_of_classes(found: dict[str, Any]) -> list[str]:
    words = current_words()
    classes, worst = found["classes"], found["weakest_annotators"]
    what = _counts(found, "item", "annotator", "label")
    lines = sentences_on_copies(found["copies"], found["n_items_changed_by_copies"], found["n_items"])
    lines.append(f"{what[0]} in {counted(len(classes), 'class', 'classes')} by {what[1]}")
    names = [_short(name) if isinstance(name := row["label"], str) else f"class {name}" for row in classes]
    sizes, means = [row["n_items"] for row in classes], [row["mean_probability"] for row in classes]
    if nowhere := found["n_items_without_class"]:
        names, sizes, means = [*names, "in none"], [*sizes, nowhere], [*means, None]
    rows = _rows(names, sizes, found["n_items"])
    lines += [row if mean is None else f"{row}  mean {found['measure']} {mean:.3f}" for row, mean in zip(rows, means)]
    tells = f"label gives {found['information']:.2f} bits about its {words.item}'s class on average."
    if found["agreement"] is None:
        lines.append(f"A {tells}")
    else:
        lines.append(f"About {found['agreement']:.1%} of {what[2]} name the {words.item}'s class; a {tells}")
    lines.append(f"Weakest {words.annotators}:")
    wide = max(len(_short(row["annotator"])) for row in worst)
    for row in worst:
        accuracy = "" if row["accuracy"] is None else f"accuracy {row['accuracy']:.1%}, "
        tells = f"{accuracy}{row['information']:.2f} bits per label"
        lines.append(f"  {_short(row['annotator']):{wide}s}  {tells}, {counted(row['n_labels'], 'label')}")
    return lines


def _counts(found: dict[str, Any], *things: str) -> list[str]:
    """Return the numbers of items, annotators and others with their words."""
    words = current_words()
    own = {"item": words.n_items, "annotator": words.n_annotators}
    numbers = {thing: found[f"n_{thing}s"] for thing in things}
    return [own[thing](number) if thing in own else counted(number, thing) for thing, number in numbers.items()]


def _short(name: Any) -> str:
    return shortened(as_text(name), LONGEST)


def _rows(names: list[str], sizes: list[int], n_items: int) -> list[str]:
    """Return lines of names, numbers of items and their shares, aligned."""
    shown = [f"{size:,}" for size in sizes]
    wide, high = max(map(len, names)), max(map(len, shown))
    return [
        f"  {name:{wide}s} {count:>{high}s}  {size / n_items:6.1%}"
        for name, count, size in zip(names, shown, sizes, strict=True)
    ]


def _with_examples(rows: list[str], found: dict[str, Any]) -> list[str]:
    """Add the names of some items to the lines of clusters, of which only the first are shown if there are many.

    Further lines stay as they are.
    """
    words = current_words()
    examples, sizes = found["cluster_examples"], found["cluster_sizes"]
    named = [
        f"{row}  {_some(items, size, LINE - width(row) - 2)}".rstrip()
        for row, items, size in zip(rows, examples, sizes)
    ]
    if len(sizes) > MOST_CLUSTERS:
        others = sizes[FIRST_CLUSTERS:]
        of_items = f"{min(others):,}" if min(others) == max(others) else f"{min(others):,} to {max(others):,}"
        named = [*named[:FIRST_CLUSTERS], f"  and {len(others):,} more, of {of_items} {words.items} each"]
    return named + rows[len(sizes) :]


def _some(items: list[Any], size: int, most: int) -> str:
    """Join as many names as there is room for, at least one, with an ellipsis if there are more."""
    names = [shortened(as_text(item), LONGEST_EXAMPLE) for item in items]
    for kept in range(len(names), 0, -1):
        text = ", ".join([*names[:kept], *(["…"] if kept < size else [])])
        if kept == 1 or width(text) <= most:
            return text
    return ""
