"""What a model found, in the forms of the tools that people use next, none of which is needed for it.

Items of no cluster have no class that another tool could use: it is missing in tables, and left out of records. A model
that is not fitted is refused with scikit-learn's NotFittedError, and anything else with a TypeError.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from sklearn.utils.validation import check_is_fitted

from consilience.analysis.capabilities import Capabilities
from consilience.analysis.clustering import FoundClusters
from consilience.annotations.names import plain
from consilience.errors import InputError

__all__ = ["CleanlabInput", "to_argilla", "to_cleanlab", "to_columns", "to_crowdkit", "to_label_studio", "to_obs"]


def to_columns(model: Any) -> dict[str, list[Any]]:
    """Return items, their clusters and probabilities as columns, as ``datasets.Dataset.from_dict`` takes them.

    Parameters
    ----------
    model : fitted estimator

    Returns
    -------
    dict of str to list, each of length n_items
        ``item``; ``cluster`` or ``label``, None for items of no cluster; ``tags``, a list of each item's, if it has
        several; and, if the model has probabilities, ``probability`` of this cluster from 0 to 1, and
        ``probabilities``, a list with that of every cluster.

    Examples
    --------
    >>> from consilience.consensus import MajorityVote
    >>> from consilience.interchange import to_columns
    >>> model = MajorityVote().fit([["cat", "cat"], ["dog", "dog"]])
    >>> to_columns(model)["label"]
    ['cat', 'dog']
    """
    found = _Found.of(model)
    columns = {"item": found.items, found.clusters.column: found.names}
    if found.tags is not None:
        columns["tags"] = found.tags
    if found.probabilities is not None:
        columns["probability"] = found.certainty
        columns["probabilities"] = found.probabilities.tolist()
    return columns


@dataclass(frozen=True)
class CleanlabInput:
    """What cleanlab's functions take.

    Attributes
    ----------
    labels : ndarray of int, shape (n_items,)
        Place of each item's cluster among `classes`; for tags a list of the places of each item's tags.
    pred_probs : ndarray, shape (n_items, n_classes)
        Probability of each cluster, or of each tag, from 0 to 1.
    items : Index, shape (n_items,)
        The items, without those of no cluster, for which cleanlab has no value.
    classes : Index, shape (n_classes,)
    """

    labels: Int[np.ndarray, " items"] | list[list[int]]
    pred_probs: Float[np.ndarray, "items classes"]
    items: pd.Index
    classes: pd.Index


def to_cleanlab(model: Any) -> CleanlabInput:
    """Return clusters as integers and their probabilities, for ``find_label_issues(labels, pred_probs)`` and the like.

    Tags are returned as the functions of ``cleanlab.multilabel_classification`` take them.

    Parameters
    ----------
    model : fitted estimator

    Returns
    -------
    CleanlabInput
        Without the items of no cluster.

    Raises
    ------
    InputError
        The model has no probabilities.
    """
    found = _Found.of(model)
    if found.probabilities is None:
        raise InputError(f"{type(model).__name__} has no probabilities of clusters, which cleanlab needs.")
    clustered = found.clusters.codes >= 0
    if found.tags is not None:
        labels = [np.flatnonzero(row).tolist() for row in model.indicator_[clustered]]
        tags = pd.Index(model.tags_, tupleize_cols=False)
        return CleanlabInput(labels, model.probabilities_[clustered], model.items_[clustered], tags)
    return CleanlabInput(
        found.clusters.codes[clustered], found.probabilities[clustered], model.items_[clustered], found.clusters.index
    )


def to_crowdkit(model: Any) -> tuple[pd.Series, pd.DataFrame | None]:
    """Return what crowd-kit's aggregators return from ``fit_predict`` and ``fit_predict_proba``.

    Parameters
    ----------
    model : fitted estimator

    Returns
    -------
    labels : Series ``agg_label``, shape (n_items,)
        The cluster of each task; missing for items of no cluster.
    probabilities : DataFrame, shape (n_items, n_classes)
        A row for each task; None if the model has none.
    """
    found = _Found.of(model)
    tasks = model.items_.rename("task")
    labels = pd.Series(found.names, tasks, name="agg_label")
    if found.probabilities is None:
        return labels, None
    return labels, pd.DataFrame(found.probabilities, tasks, found.clusters.index.rename("label"))


def to_label_studio(
    model: Any, data: Mapping[Hashable, Mapping[str, Any]], *, from_name: str = "choice", to_name: str = "text"
) -> list[dict[str, Any]]:
    """Return tasks of Label Studio with predictions, ready for ``json.dump`` and its import.

    Parameters
    ----------
    model : fitted estimator
    data : mapping of items to mappings
        What each task shows: ``{"item 1": {"text": "…"}, …}``, with the keys that the labelling configuration uses.
    from_name, to_name : str
        Names of the ``Choices`` and of the object that it labels in the labelling configuration.

    Returns
    -------
    list of dict
        A task for each item. Its prediction has the probability of the cluster as its score, if the model has
        probabilities; items of no cluster have no prediction.

    Raises
    ------
    InputError
        `data` lacks an item.
    """
    tasks = []
    for item, name, certainty in _Found.of(model):
        predictions = []
        if name is not None:
            choices = list(map(str, name)) if isinstance(name, list) else [str(name)]
            result = {"from_name": from_name, "to_name": to_name, "type": "choices", "value": {"choices": choices}}
            score = {} if certainty is None else {"score": certainty}
            predictions = [{"model_version": type(model).__name__, **score, "result": [result]}]
        tasks.append({"data": dict(_fields_of(data, item)), "predictions": predictions})
    return tasks


def to_argilla(
    model: Any, fields: Mapping[Hashable, Mapping[str, Any]], *, question: str = "label"
) -> list[dict[str, Any]]:
    """Return records for ``dataset.records.log`` of Argilla 2, with the clusters as suggestions.

    Parameters
    ----------
    model : fitted estimator
    fields : mapping of items to mappings
        The fields of each record: ``{"item 1": {"text": "…"}, …}``.
    question : str
        Name of the ``LabelQuestion`` that the clusters answer, or of the ``MultiLabelQuestion`` that tags answer.

    Returns
    -------
    list of dict
        Each with an ``id`` and the fields, and for items of a cluster `question`, ``<question>.suggestion.agent``
        and, if the model has probabilities, ``<question>.suggestion.score``.

    Raises
    ------
    InputError
        `fields` lacks an item, or has a field of the name of another entry of the record.
    """
    records = []
    for item, name, certainty in _Found.of(model):
        record: dict[str, Any] = {"id": str(item)}
        if name is not None:
            answer = list(map(str, name)) if isinstance(name, list) else str(name)
            record |= {question: answer, f"{question}.suggestion.agent": type(model).__name__}
            if certainty is not None:
                record[f"{question}.suggestion.score"] = certainty
        shown = _fields_of(fields, item)
        if taken := sorted(record.keys() & shown.keys()):
            raise InputError(f"The field {taken[0]!r} of item {item!r} has the name of another entry of its record.")
        records.append(record | dict(shown))
    return records


def to_obs(model: Any, *, prefix: str = "consilience") -> pd.DataFrame:
    """Return a table of the items to join to the ``obs`` of an AnnData object: ``adata.obs.join(to_obs(model))``.

    Parameters
    ----------
    model : fitted estimator
    prefix : str
        What the names of the columns begin with.

    Returns
    -------
    DataFrame, shape (n_items, 1 or 2)
        Indexed by the items as text, as AnnData names observations: ``<prefix>_cluster`` or ``<prefix>_label``,
        categorical with all clusters as categories and missing for items of none; and ``<prefix>_probability`` from 0
        to 1, if the model has probabilities.
    """
    found = _Found.of(model)
    categories = pd.Index([str(name) for name in found.clusters.index])
    columns: dict[str, Any] = {
        f"{prefix}_{found.clusters.column}": pd.Categorical.from_codes(found.clusters.codes, categories)
    }
    if found.probabilities is not None:
        columns[f"{prefix}_probability"] = found.certainty
    return pd.DataFrame(columns, index=model.items_.astype(str))


@dataclass(frozen=True)
class _Found:
    """Clusters of a fitted model, with names as plain Python values."""

    items: list[Any]
    clusters: FoundClusters
    names: list[Any]
    probabilities: np.ndarray | None
    tags: list[list[Any] | None] | None = None

    @classmethod
    def of(cls, model: Any) -> _Found:
        check_is_fitted(model)
        can = Capabilities.of(model)
        clusters = FoundClusters.of(model, can=can)
        known = [plain(name) for name in clusters.index]
        names = [known[code] if code >= 0 else None for code in clusters.codes]
        tells = can.has_probabilities and (can.is_probabilistic or can.counts_votes)  # ones and zeros would look sure
        found = cls([plain(item) for item in model.items_], clusters, names, model.responsibilities_ if tells else None)
        if not can.has_tags:
            return found
        tags = [[plain(tag) for tag in model.tags_[row == 1]] for row in model.indicator_]
        return replace(found, tags=[each if code >= 0 else None for each, code in zip(tags, clusters.codes)])

    @property
    def certainty(self) -> list[float | None]:
        """Probability of each item's own cluster; None for items of none, or without probabilities."""
        if self.probabilities is None:
            return [None] * len(self.items)
        rows = self.probabilities.tolist()
        return [row[code] if code >= 0 else None for row, code in zip(rows, self.clusters.codes, strict=True)]

    def __iter__(self) -> Iterator[tuple[Any, Any, float | None]]:
        return zip(self.items, self.names if self.tags is None else self.tags, self.certainty, strict=True)


def _fields_of(values: Mapping[Hashable, Mapping[str, Any]], item: Hashable) -> Mapping[str, Any]:
    if item not in values:
        raise InputError(f"There are no fields of item {item!r}; give those of every item of the model.")
    return values[item]
