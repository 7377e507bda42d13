"""Whether the server can do its work: for proxies, containers and whoever watches over it."""

from __future__ import annotations

import logging
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from consilience.collect.authority import RuledRoute
from consilience.collect.serving import served_by
from consilience.collect.store import Store, schema

logger = logging.getLogger(__name__)
router = APIRouter(route_class=RuledRoute)


@router.get("/healthz")
def show_health(request: Request) -> Response:
    """Say whether the database is there, its tables are those of this version, and the worker runs."""
    found = _of_database(served_by(request).store)
    worker = request.app.state.worker
    if worker is not None:
        found["worker"] = worker.state
    good = all(value in ("reachable", "current", "running") for value in found.values())
    return JSONResponse({"status": "ok" if good else "failing", **found}, 200 if good else 503)


def _of_database(store: Store) -> dict[str, Any]:
    if not store.is_in_place:  # a connection that is open still reads the old file
        return {"database": "deleted or replaced"}
    try:
        with store.read() as db:
            current = schema.revision(db) == schema.newest()
    except Exception:  # of whatever kind: the reason is in the log, for it may hold the address of the database
        logger.exception("The database cannot be reached")
        return {"database": "unreachable"}
    return {"database": "reachable", "tables": "current" if current else "of another version"}
