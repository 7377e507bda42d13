"""The report of a fitted model: its sections, tables and figures, and the page that they are set in."""

from consilience.inspection.report.page import report

__all__ = ["report"]
