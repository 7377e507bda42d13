"""The experiments of the papers; run them with ``python -m benchmarks.papers``."""

PAGES = (
    "partition_labels",
    "stagewise",
    "subset_groupings",
    "multiple_views",
    "deep",
    "compare_digits",
    "kernels",
    "index",
)
"""Pages that are made from the record of results; the index is made from all others."""
