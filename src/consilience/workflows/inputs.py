"""Inputs of a model from files: annotations, features, known classes and earlier counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from consilience import registry
from consilience.analysis.names import quantify
from consilience.annotations import Groupings, Labels, Pairs
from consilience.annotations.files.classes import place_of_classes
from consilience.annotations.files.table import Table
from consilience.annotations.files.tag_lists import tags_in_cell
from consilience.annotations.keywords import spell
from consilience.annotations.names import plain
from consilience.consensus.labels.tag_sets import known_tags
from consilience.errors import InputError
from consilience.workflows.features import Features, read_features
from consilience.workflows.item_columns import item_column
from consilience.workflows.jobs import FeatureOptions
from consilience.workflows.notes import note
from consilience.workflows.reading import is_standard_input, name_source, read_noted
from consilience.workflows.sources import TableSource
from consilience.workflows.tables import named_as, names_as, names_in, read_table, rows_of
from consilience.workflows.text import others

LISTED = 5  # names in a note
FEWEST_ITEMS = 3  # least number of items that may form clusters
LABEL_COLUMNS = ("label", "class", "tag", "tags")


@dataclass(frozen=True)
class ModelInputs:
    """The inputs of a model, with items in one order.

    features : DataFrame, shape (n_items, n_features), or None
    notes : notes for the user.
    known : dict; further arguments of ``fit``: ``gold``, ``history``.
    """

    annotations: Groupings | Labels | Pairs
    features: pd.DataFrame | None
    notes: list[str]
    known: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Material:
    """The contents of the files, before the model is chosen.

    notes : notes on reading the annotations, already shown to the user.
    features : Features, rows as in the file, or None
    source : name of the file of annotations
    features_source : where the features were read from, or None
    are_tags : whether labels were read as tags, of which an annotator may give an item several
    """

    annotations: Groupings | Labels | Pairs
    notes: list[str]
    features: Features | None
    source: str
    features_source: TableSource | None
    are_tags: bool = False

    @property
    def kind(self) -> str:
        """The kind of the annotations: groupings, labels or pairs."""
        return type(self.annotations).__name__.lower()

    @property
    def kind_and_order(self) -> str:
        """The same, but "ratings" for labels that are levels with an order, and "tags" if they were read so."""
        if self.are_tags:
            return "tags"
        return "ratings" if isinstance(self.annotations, Labels) and self.annotations.ordered else self.kind

    @property
    def read_as(self) -> str:
        """How the file of annotations was read."""
        return self.annotations.reading.how if self.annotations.reading is not None else ""


def read_material(
    annotations: Any,
    features: TableSource | None,
    reading: Mapping[str, Any],
    options: FeatureOptions,
    gold: Path | None = None,
) -> Material:
    """Read annotations and features, each once. Raises InputError: a file that cannot be read."""
    if is_standard_input(annotations) and is_standard_input(features):
        raise InputError("Standard input is one table; give the file of the annotations or that of the features.")
    if isinstance(annotations, Path) and annotations.is_dir() and any(annotations.glob("*.parquet")):
        raise InputError(
            f"{annotations} is a folder; give one of its files. 'consilience fit-partitions' reads all of them."
        )
    loaded, notes = read_noted(annotations, reading, () if gold is None else read_gold_classes(gold))
    if "kind" not in reading:
        _require_something_to_cluster(loaded, name_source(annotations))
    read = None if features is None else read_features(features, options, loaded.items)
    are_tags = reading.get("kind") == "tags"
    return Material(loaded, notes, read, name_source(annotations), features, are_tags)


def _require_something_to_cluster(annotations: Groupings | Labels | Pairs, source: str) -> None:
    """Raise an InputError for what no model can divide: groups of very few items, or of one item each.

    Labels of two items can be combined. Whoever names the kind of annotations says that the file was read as it was
    meant.
    """
    kind = type(annotations).__name__.lower()
    remedy = f"If it was read as you meant it, give {spell(kind=kind)}."
    if len(annotations) < FEWEST_ITEMS and not isinstance(annotations, Labels):
        raise InputError(
            f"{source}: At least {FEWEST_ITEMS} items are needed to find clusters, and there "
            f"{'is 1' if len(annotations) == 1 else f'are {len(annotations)}'}. {remedy}"
        )
    if isinstance(annotations, Groupings) and annotations.n_rows and annotations.incidence.sum(axis=0).max() < 2:
        raise InputError(f"{source}: Everybody kept all items apart, so there is nothing to cluster. {remedy}")


def evidence_for(model: str, material: Material, known: dict[str, Path | None]) -> ModelInputs:
    """Collect the inputs of a model of the registry: items in one order, annotations of the kind that it reads.

    Raises InputError: the model does not take these annotations, or the items of the files do not match.
    """
    annotations, notes = as_read_by(model, material.annotations, material.source)
    notes += _of_nobody(annotations)
    if isinstance(annotations, Groupings):
        notes += _of_one_label(annotations)
    if registry.entry(model).kind == "consensus":
        return _without_features(annotations, notes, material, known, model)
    read, source = material.features, material.features_source
    if read is None or source is None:
        return ModelInputs(
            annotations, None, notes + _say_unannotated(annotations, "annotations", "their clusters are unknown")
        )
    annotations, more = over_items(annotations, read.table.index, material.source, source)
    more += _say_unannotated(annotations, "annotations", "clustered by their features")
    told = read_known(known, annotations) if isinstance(annotations, Labels) else {}
    return ModelInputs(annotations, read.table, notes + read.notes + more, told)


def read_for_model(
    source: Any, *, reading: Mapping[str, Any], model: str
) -> tuple[Groupings | Labels | Pairs, list[str]]:
    """Read annotations and convert them to a kind that a model reads, with notes on the conversion.

    Raises InputError: the file cannot be read, or holds annotations that the model does not take.
    """
    annotations, _ = read_noted(source, reading)
    return as_read_by(model, annotations, name_source(source))


def as_read_by(model: str, annotations: Any, source: str) -> tuple[Groupings | Labels | Pairs, list[str]]:
    """Convert annotations to a kind that a model reads, with notes on the conversion.

    Raises InputError: the model does not take such annotations.
    """
    reads = registry.entry(model).reads
    found = type(annotations).__name__.lower()
    if found not in reads:
        hint = ""
        if found == "groupings" and "labels" in reads:
            remedy = f"read the file with {spell(kind='labels')}"
            hint = f" If all annotators share the names of the groups, {remedy}."
        raise InputError(f"{source}: {model} reads {' or '.join(reads)}, and the file holds {found}.{hint}")
    if found == "labels" and reads[0] == "groupings":
        why = f"{model} estimates what each annotator's labels mean"
        if registry.entry(model).kind == "consensus":
            why = f"{model} uses which items annotators put together, not the names of the labels"
        return annotations.to_groupings(), [f"The labels were turned into groupings, since {why}."]
    return annotations, []


def _without_features(
    annotations: Groupings | Labels | Pairs,
    notes: list[str],
    material: Material,
    known: dict[str, Path | None],
    model: str,
) -> ModelInputs:
    """Collect the inputs of a model of annotations alone: features are read for the report."""
    words = ("labels", "classes are") if isinstance(annotations, Labels) else ("annotations", "clusters are")
    notes = notes + _say_unannotated(annotations, words[0], f"their {words[1]} unknown")
    table = None
    if material.features is not None and material.features_source is not None:
        read, source = material.features, material.features_source
        table, notes = rows_of(read.table, annotations.items, source), notes + read.notes
        notes.append(
            f"{model} does not use features; those of {source} are only shown in the report. "
            f"{spell(model=_user_of_features(annotations))} would use them."
        )
    found = read_known(known, annotations, are_tags=material.are_tags) if isinstance(annotations, Labels) else {}
    return ModelInputs(annotations, table, notes, found)


def _user_of_features(annotations: Groupings | Labels | Pairs) -> str:
    """Name a model that uses features."""
    if isinstance(annotations, Pairs):
        return "MECC"
    return "DawidSkeneClassifier" if isinstance(annotations, Labels) else "PartitionLabelModel"


def read_known(paths: dict[str, Path | None], labels: Labels, *, are_tags: bool = False) -> dict[str, Any]:
    """Read what is known in addition to the labels, as further arguments of ``fit``."""
    known: dict[str, Any] = {}
    gold, history = paths["gold"], paths["history"]
    if gold is not None:
        known["gold"] = read_gold_tags(gold, labels) if are_tags else read_gold(gold, labels)
    if history is not None:
        known["history"] = read_history(history, labels)
    return known


def read_gold_classes(path: Path) -> list[Any]:
    """Return the known classes of a file of gold items, before these are known; none if it cannot be read so.

    `read_gold` says what is wrong with it.
    """
    table = read_table(path)
    try:
        return table.column(_label_column(table, item_column(table, path, parameter=""), path)).names.tolist()
    except InputError:
        return []


def read_gold(path: Path, labels: Labels) -> pd.Series:
    """Read known classes of items: a column of items, and one called label or class, blank if the class is unknown.

    Raises InputError: there is no such column, no item of the labels in it, or a class that no annotator gave.
    """
    table = read_table(path, labels.items)
    column = item_column(table, path, items=labels.items, parameter="")
    items = names_in(table, column, path)
    found = table.column(_label_column(table, column, path))
    known = np.flatnonzero(~found.missing)
    names = names_as(found.names, labels.classes).take(found.codes[known])
    gold = named_as(pd.DataFrame({"label": names}, index=items[known]), labels.items)["label"]
    elsewhere = ~gold.index.isin(labels.items)
    if elsewhere.all():
        raise InputError(f"{path}: None of the {len(labels):,} items of the annotations is in it.")
    if elsewhere.any():
        note(f"Rows of {path} about other items, left out: {elsewhere.sum():,}.")
    gold = gold[~elsewhere]
    place = place_of_classes(gold.to_numpy(), labels.classes)
    strange = gold[place < 0]
    if len(strange):
        raise InputError(
            f"{path}: The item {plain(strange.index[0])!r} has the class {plain(strange.iloc[0])!r}, which no "
            f"annotator gave{others(len(strange), ', nor the classes of')}."
        )
    gold = pd.Series(labels.classes.take(place), index=gold.index)
    note(f"Items whose class is known from {path}: {len(gold):,} of {len(labels):,}.")
    return gold


def read_gold_tags(path: Path, labels: Labels) -> pd.Series:
    """Read known tags of items, a list in each cell: blank if they are unknown, "(no tag)" if there are none.

    Raises InputError: there is no such column, an item is not among those of the labels, or nobody gave a tag.
    """
    table = read_table(path, labels.items)
    column = item_column(table, path, items=labels.items, parameter="")
    items = names_in(table, column, path)
    found = table.column(_label_column(table, column, path))
    known = np.flatnonzero(~found.missing)
    lists = [tags_in_cell(found.names[code], labels.classes) for code in found.codes[known].tolist()]
    gold = named_as(pd.DataFrame({"label": pd.Series(lists, dtype=object).to_numpy()}, items[known]), labels.items)
    try:
        known_tags(gold["label"], labels)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    note(f"Items whose tags are known from {path}: {len(gold):,} of {len(labels):,}.")
    return gold["label"]


def _label_column(table: Table, items: Any, path: Path) -> Any:
    """Return the column of classes: the one called label or class, else the second of two."""
    rest = [name for name in table.columns if name != items]
    called = [name for name in rest if str(name).strip().casefold() in LABEL_COLUMNS]
    if len(called) != 1 and len(rest) != 1:
        found = ", ".join(map(str, table.columns))
        raise InputError(f"{path}: One column, that of the known classes, must be called 'label'. Found {found}.")
    return (called or rest)[0]


def read_history(path: Path, labels: Labels) -> pd.DataFrame:
    """Read counts of earlier labels: the columns annotator, class, and one for each label.

    Raises InputError: the columns are others, or a cell is not a number.
    """
    table = read_table(path)
    head, label_columns = table.columns[:2], table.columns[2:]
    if [str(name).strip().rstrip("_").casefold() for name in head] != ["annotator", "class"] or not label_columns:
        raise InputError(
            f"{path}: Expected the columns annotator, class, then one for each label, as in the counts.csv of a fit. "
            f"Found {', '.join(map(str, table.columns))}."
        )
    keys = []
    for name, fitted in zip(head, (labels.annotators, labels.classes), strict=True):
        column = table.column(name)
        if column.has_missing:
            raise InputError(f"{path}: {name} is missing in {table.where(int(np.argmax(column.missing)))}.")
        keys.append(names_as(column.names, fitted).take(column.codes))
    counts = table.frame[label_columns].astype(object).apply(pd.to_numeric, errors="coerce")
    wrong = np.argwhere(counts.isna().to_numpy())
    if len(wrong):
        row, place = map(int, wrong[0])
        cell = plain(table.frame[label_columns[place]].iloc[row])
        raise InputError(
            f"{path}: {label_columns[place]!r} in {table.where(row)} is {cell!r}. Expected a number of labels."
        )
    index = pd.MultiIndex.from_arrays(keys, names=["annotator", "class"])
    return pd.DataFrame(counts.to_numpy(float), index, names_as(pd.Index(label_columns), labels.classes))


def _say_unannotated(annotations: Groupings | Labels | Pairs, what: str, so: str) -> list[str]:
    n_silent = annotations.summary().n_unannotated_items
    return [f"Items without {what}: {n_silent:,} of {len(annotations):,}; {so}."] if n_silent else []


def _of_nobody(annotations: Groupings | Labels | Pairs) -> list[str]:
    """Note annotators without annotations."""
    per_annotator = annotations.summary().items_per_annotator
    names = per_annotator.index[per_annotator == 0]
    if names.empty:
        return []
    shown = ", ".join(repr(plain(name)) for name in names[:LISTED]) + (", …" if len(names) > LISTED else "")
    return [f"{quantify(len(names), 'annotator')} gave no annotations: {shown}."]


def _of_one_label(groupings: Groupings) -> list[str]:
    sizes = groupings.summary().groups_per_grouping
    largest = sizes.groupby(level="annotator", sort=False).max()  # type: ignore[union-attr]
    names = largest.index[largest == 1]
    if names.empty:
        return []
    return [f"{_subject(names, 'annotator', ('gave', 'gave'))} only one label, which carries no information."]


def over_items(
    loaded: Groupings | Labels | Pairs, items: pd.Index, annotations: str, features: TableSource | None
) -> tuple[Groupings | Labels | Pairs, list[str]]:
    """Return annotations over the items that have features, and a note on those that have neither.

    Raises InputError: items with annotations have no features.

    annotations, features : names of the files.
    """
    per_item = loaded.summary().annotators_per_item
    absent = ~loaded.items.isin(items)
    if absent.all():
        raise InputError(
            f"No item of {annotations} (such as {plain(loaded.items[0])!r}) is in {features} "
            f"(such as {plain(items[0])!r})."
        )
    without = loaded.items[absent & (per_item > 0).to_numpy()]
    if len(without):
        raise InputError(
            f"The item {plain(without[0])!r} has annotations in {annotations} but no row in {features}"
            f"{others(len(without), ', and so have')}."
        )
    notes = []
    if absent.any():
        notes.append(f"Items with neither annotations nor features, left out: {absent.sum():,}.")
    return loaded.reindex(items), notes


def _subject(names: pd.Index, what: str, verbs: tuple[str, str]) -> str:
    """Begin a sentence on one thing or several."""
    if len(names) == 1:
        return f"The {what} {plain(names[0])!r} {verbs[0]}"
    shown = ", ".join(repr(plain(name)) for name in names[:LISTED])
    more = ", …" if len(names) > LISTED else ""
    return f"{len(names)} {what}s ({shown}{more}) {verbs[1]}"
