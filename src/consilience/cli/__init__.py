"""The command line: ``consilience fit``, ``report``, ``predict``, ``simulate``, ``convert`` and ``datasets``."""

from consilience.cli.commands import main

__all__ = ["main"]
