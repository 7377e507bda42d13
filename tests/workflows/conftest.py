"""The program, run in this process, of the tests of the command line."""

from tests.cli.conftest import fails, no_drawing, quick_report, run

__all__ = ["fails", "no_drawing", "quick_report", "run"]
