"""Experiments whose results are recorded, one row a fit, and the pages that are made from the record."""

from benchmarks.experiments.page import Claim, Page, Part
from benchmarks.experiments.record import Cell, Record

__all__ = ["Cell", "Claim", "Page", "Part", "Record"]
