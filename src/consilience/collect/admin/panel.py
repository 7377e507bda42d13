"""Administration of what a study asks of people from a panel: consent, questions, codes, and how they come back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request, Response

from consilience.collect.admin.access import Form
from consilience.collect.admin.panel_forms import PANEL, fields_of_panel, panel_in
from consilience.collect.authority import RuledRoute
from consilience.collect.forms import text_of
from consilience.collect.serving import page, see, served_by
from consilience.collect.settings.model import Study
from consilience.errors import InputError

ENDINGS = {  # in the words of the page
    "complete": "Who is done",
    "screened_out": "Who is screened out",
    "quota_full": "Whose quota is full",
    "not_admitted": "Who does not pass the admission",
    "declined": "Who does not agree",
    "closed": "Who finds the study closed or full",
    "withdrawn": "Who withdraws",
}

router = APIRouter(route_class=RuledRoute)


@router.get("/admin/studies/{study}/panel")
def show_panel(request: Request, study: str) -> Response:
    """Show the form of consent, questions and codes."""
    found = served_by(request).store.study(study)
    return _panel_page(request, found, fields_of_panel(found.settings.panel))


@router.post("/admin/studies/{study}/panel")
def change_panel(request: Request, study: str, form: Form) -> Response:
    """Change consent, questions and codes; the form comes back as it was, with one sentence, if something is wrong."""
    store = served_by(request).store
    found = store.study(study)
    try:
        store.update_study(found.id, settings=replace(found.settings, panel=panel_in(form)))
    except InputError as error:
        given = {name: text_of(form, name) for name in fields_of_panel(found.settings.panel)}
        return _panel_page(request, found, given, status=422, error=str(error))
    served_by(request).notices[found.id] = "Saved."
    return see(f"/admin/studies/{found.id}/panel")


def _panel_page(request: Request, study: Study, given: Mapping[str, str], **answer: Any) -> Response:
    notice = served_by(request).notices.pop(study.id, "")
    identifying = [("", "their browser alone"), *((name, name) for name in study.settings.parameters)]
    choices: dict[str, Any] = {"endings": ENDINGS, "identifying": identifying, "declared": PANEL}
    return page(request, "panel", study=study, given=given, notice=notice, **choices, **answer)
