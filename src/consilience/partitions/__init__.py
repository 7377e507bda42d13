"""Annotations that do not fit in memory: read and fitted in partitions, on one machine or a Dask cluster."""

from consilience.partitions.fitting import fit
from consilience.partitions.results import item_results, write_item_results
from consilience.partitions.tables.item_table import PartitionedItems
from consilience.partitions.tables.label_table import PartitionedTable

__all__ = ["PartitionedItems", "PartitionedTable", "fit", "item_results", "write_item_results"]

__dir__ = __all__.copy
