"""What a new person would say: `forecast_same` of models of groupings and pairs.

A class of models takes the method from here, ``forecast_same = forecasts.forecast_same``, and calls `keep` at the end
of its fit. See `consilience.inference.forecast`.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from sklearn.utils.validation import check_is_fitted

from consilience.annotations import Groupings, Pairs
from consilience.annotations.types import Names
from consilience.errors import InputError
from consilience.inference.forecast import Clustered, ForecastEvidence, ForecastSettings, learn_weights

FAR = 2.0  # ratio of the numbers of groups and of clusters at which a note says so

_SETTINGS: WeakKeyDictionary[Any, tuple[Any, ForecastSettings]] = (
    WeakKeyDictionary()
)  # with the responsibilities they are for


def forecast_same(self: Any, items_a: Names, items_b: Names) -> float | Float[np.ndarray, " pairs"]:
    """Probability that a new person, of whom nothing is known, puts two fitted items together.

    Unlike `predict_same`, which is the probability that two items are of one cluster, this is as sure as people agree:
    how often the pair was put together, shrunk towards how often pairs of its clusters were, by an amount that predicts
    each annotator best from the others. See `consilience.inference.forecast`.

    Raises InputError: an unknown item, lists of different lengths, or a model that was fitted without annotations.

    Parameters
    ----------
    items_a, items_b : names of items, or lists of names of one length

    Returns
    -------
    float, or ndarray of shape (n_pairs,) if lists were given
    """
    check_is_fitted(self)
    a, b, one = self._pairs_of_items(items_a, items_b)
    clustered = Clustered(given_to(self), np.nan_to_num(self.responsibilities_))
    known = _SETTINGS.get(self)
    if known is None or known[0] is not self.responsibilities_:  # another fit, another array
        known = _SETTINGS[self] = self.responsibilities_, learn_weights(clustered)
    same = np.where(a == b, 1.0, ForecastEvidence.of(clustered, a, b).probability(known[1]))
    return float(same[0]) if one else same


def given_to(model: Any) -> Groupings | Pairs:
    """Return the annotations to which a model was fitted. Raises InputError: there were none."""
    found = [vars(model).get(name) for name in ("_given", "groupings_")]
    for given in found:
        if isinstance(given, Groupings | Pairs):
            return given
    raise InputError(
        f"This {type(model).__name__} has no annotations to forecast from: it was fitted without any. Fit it to "
        "annotations."
    )


def keep(model: Any, annotations: Groupings | Pairs | None) -> None:
    """Keep the annotations of a fit, in the user's order, unless the model does so itself or there are none."""
    vars(model).pop("_given", None)
    if annotations is not None and not isinstance(vars(model).get("groupings_"), Groupings):
        model._given = annotations


def note_number_of_clusters(model: Any, groupings: Groupings) -> None:
    """Add to ``notes_`` that the number of clusters is far from the number of groups that people made, if it is."""
    model.notes_ = [*model.notes_, *on_number_of_clusters(groupings, model.labels_)]


def on_number_of_clusters(groupings: Groupings, cluster: Int[np.ndarray, " items"]) -> list[str]:
    """Return a note if people made at least twice as many groups as there are clusters, or at most half as many.

    Clusters are counted among the items of each grouping, which may be few of all.

    cluster : of each item, -1 for none
    """
    group = groupings.incidence.indices
    rows = pd.DataFrame(
        {"grouping": groupings.grouping_of_group[group], "group": group, "cluster": cluster[groupings.item_of_row]}
    )
    found = rows[rows["cluster"] >= 0].groupby("grouping").nunique().mean()
    groups, clusters = float(found["group"]), float(found["cluster"])
    if not (groups >= FAR * clusters or clusters >= FAR * groups):  # also if there are none
        return []
    those = "more" if groups > clusters else "fewer"
    in_clusters = f"{clusters:.1f}".removesuffix(".0")
    return [
        f"People made {groups:.1f} groups on average, of items that are in {in_clusters} clusters. Clusters are what "
        f"people's groups have in common; for {those}, set their number."
    ]
