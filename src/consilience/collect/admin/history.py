"""Administration: the log of who changed what, in a study and on the server."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from consilience.collect.authority import RuledRoute
from consilience.collect.serving import page, served_by

AT_ONCE = 100  # actions on a page

router = APIRouter(route_class=RuledRoute)
Before = Annotated[int | None, Query(ge=1, le=2**31 - 1)]


@router.get("/admin/studies/{study}/log")
def show_study_log(request: Request, study: str, before: Before = None) -> Response:
    """Show who changed what in a study, the last first."""
    return _log_page(request, study, before, study=served_by(request).store.study(study))


@router.get("/admin/log")
def show_log(request: Request, before: Before = None) -> Response:
    """Show who changed what on the server, in all studies, the last first."""
    return _log_page(request, None, before, here="log", study=None)


def _log_page(request: Request, study_id: str | None, before: int | None, **context: Any) -> Response:
    found = served_by(request).store.actions(study_id, before=before, most=AT_ONCE + 1)
    return page(request, "log", actions=found[:AT_ONCE], has_more=len(found) > AT_ONCE, before=before, **context)
