"""The description of the API, as scripts and generators of clients read it."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

DESCRIPTION = (
    "Make studies, give participants subsets, send groupings and read the consensus. Every request carries a token, "
    "made on the page 'API tokens', in the header `Authorization: Bearer …`. An error is a JSON object with one "
    "sentence under `error`."
)
"""What the document says before all else."""


def describe(app: FastAPI) -> None:
    """Leave to the document of an application what the API does, not what its framework would do."""
    generated = app.openapi

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            found = generated()
            for name in ("HTTPValidationError", "ValidationError"):
                found["components"]["schemas"].pop(name, None)
            app.openapi_schema = found
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]
