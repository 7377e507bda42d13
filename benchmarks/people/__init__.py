"""What works on data of people: run with ``python -m benchmarks.people``."""

PAGES = ("labels", "groupings", "pairs")
"""Pages that are made from the record of results."""
