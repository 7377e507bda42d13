"""The models that partitions fit: what each needs, how it is fitted, and what it then tells of items."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from consilience.consensus import (
    KCC,
    DawidSkene,
    OrdinalRatings,
    ProductMixture,
    StagewiseEM,
    SubsetFusion,
    TagConsensus,
)
from consilience.errors import InputError
from consilience.estimators.elsewhere import told_of_items
from consilience.partitions.models import (
    dawid_skene,
    kcc,
    label_parts,
    mcvc,
    mcvc_results,
    ordinal_ratings,
    partition_label_model,
    product_mixture,
    stagewise_em,
    subset_fusion,
    subset_fusion_results,
)
from consilience.partitions.models.requirements import require_same_starts
from consilience.partitions.tables.item_table import PartitionedItems
from consilience.partitions.tables.label_table import PartitionedTable
from consilience.semisupervised import MCVC, MECC, PartitionLabelModel


def accept_parameters(model: Any, checkpoint: Any) -> None:
    """Accept any valid parameters."""


@dataclass(frozen=True)
class PartitionedModel:
    """How partitions fit a model.

    fit : gives the model the attributes of its in-memory fit that have no axis of items. Of labels: model, parts (of
        `LabelPart`), survey of the same table, checkpoint (a path, or None), number of labels of each annotator and
        class. Of items with their groups: model, table, whose parts are forgotten, checkpoint.
    results_of_items : numbered partition, model, number of the first item of each partition, whether to add all
        probabilities → DataFrame with a row for each item.
    require_fittable : model, checkpoint → None; raises an InputError for parameters that partitions do not allow.
    tables : kinds of tables.
    reads_labels : whether labels of different annotators have the same meaning.
    of_items : attributes of a fit in memory that have an axis of items and that no other model has.
    in_memory : what has the results of items after a fit in memory, if that tells nothing of items in partitions.
    """

    fit: Callable[..., None]
    results_of_items: Callable[..., pd.DataFrame]
    require_fittable: Callable[[Any, Any], None] = accept_parameters
    tables: tuple[type, ...] = (PartitionedTable,)
    reads_labels: bool = False
    of_items: tuple[str, ...] = ()
    in_memory: str = ""

    def require_table(self, table: Any, model: Any, kinds: tuple[type, ...] | None = None) -> None:
        """Raise an InputError unless the table is of a kind that the model reads; by default of any of these."""
        kinds = self.tables if kinds is None else kinds
        if not isinstance(table, kinds):
            raise InputError(
                f"The table of a {type(model).__name__} must be a {' or a '.join(kind.__name__ for kind in kinds)}. "
                f"Got a {type(table).__name__}."
            )

    def require_table_of_results(self, table: Any, model: Any) -> None:
        """Raise an InputError unless the table has features if the model was fitted to some, and none otherwise."""
        name = type(model).__name__
        if self.in_memory and told_of_items(model) is None:
            raise InputError(
                f"Clusters of items in partitions come from a {name} that was fitted to partitions, by "
                f"consilience.partitions.fit. This one was fitted in memory: see its {self.in_memory}."
            )
        kind = PartitionedItems if hasattr(model, "n_features_in_") else PartitionedTable
        self.require_table(table, model, (kind,) if kind in self.tables else None)


VIEWS = PartitionedModel(
    mcvc.fit_views,
    mcvc_results.results_of_items,
    tables=(PartitionedItems, PartitionedTable),
    of_items=mcvc.OF_ITEMS,
    in_memory="view_labels_",
)

MODELS: dict[type, PartitionedModel] = {
    DawidSkene: PartitionedModel(
        dawid_skene.fit_dawid_skene, label_parts.results_of_items, dawid_skene.require_fittable, reads_labels=True
    ),
    KCC: PartitionedModel(kcc.fit_kcc, kcc.results_of_items, require_same_starts),
    MCVC: VIEWS,
    MECC: VIEWS,
    OrdinalRatings: PartitionedModel(
        ordinal_ratings.fit_ordinal_ratings,
        label_parts.results_of_items,
        reads_labels=True,
        of_items=ordinal_ratings.OF_ITEMS,
    ),
    PartitionLabelModel: PartitionedModel(
        partition_label_model.fit_partition_label_model,
        partition_label_model.results_of_items,
        partition_label_model.require_fittable,
        (PartitionedItems,),
        in_memory="labels_ and predict",
    ),
    ProductMixture: PartitionedModel(
        product_mixture.fit_product_mixture,
        label_parts.results_of_items,
        product_mixture.require_fittable,
        reads_labels=True,
    ),
    StagewiseEM: PartitionedModel(stagewise_em.fit_stagewise_em, label_parts.results_of_items, reads_labels=True),
    SubsetFusion: PartitionedModel(
        subset_fusion.fit_subset_fusion,
        subset_fusion_results.results_of_items,
        subset_fusion.require_fittable,
        of_items=subset_fusion.OF_ITEMS,
        in_memory="labels_series_",
    ),
}


def how_to_fit(model: Any) -> PartitionedModel:
    """Return how partitions fit a model. Raises InputError: they do not."""
    for kind, how in MODELS.items():
        if isinstance(model, kind):
            return how
    if isinstance(model, TagConsensus):
        raise InputError(
            "Partitions do not fit TagConsensus: its classes are the sets of tags that items have, and their number is "
            "known only when all items are. Fit it in memory, or fit DawidSkene to the answers to each tag, yes and no."
        )
    *most, last = (kind.__name__ for kind in MODELS)
    raise InputError(f"Partitions can be fitted by {', '.join(most)} and {last}. Got a {type(model).__name__}.")
