"""Speed against peers and against the machine: run with ``python -m benchmarks.speed``."""

PAGES = ("speed",)
"""Pages that are made from the record of results."""
