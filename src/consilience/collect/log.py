"""What the server and its worker write to standard error."""

from __future__ import annotations

import logging


def log_to_standard_error() -> None:
    """Write requests and failures to standard error, a line each; addresses are logged without tokens."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    for name, level in (("consilience", logging.INFO), ("uvicorn", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.setLevel(level)
        logger.addHandler(handler)
        logger.propagate = False
