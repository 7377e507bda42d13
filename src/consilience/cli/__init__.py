"""The command line: ``consilience fit``, ``fuse``, ``report``, ``predict``, ``simulate``, ``convert``, ``datasets``."""

from consilience.cli.commands import main

__all__ = ["main"]
