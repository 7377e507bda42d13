"""Administration: studies that begin as a copy, as a file that was saved, or as a template."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from consilience.collect.admin.access import Form
from consilience.collect.admin.setting_forms import fields_of
from consilience.collect.authority import RuledRoute, own_study
from consilience.collect.creation.study_file import copy_study, pack_study, unpack_study
from consilience.collect.creation.templates import TEMPLATES
from consilience.collect.errors import NotFoundError
from consilience.collect.forms import files_of
from consilience.collect.serving import page, see, served_by
from consilience.collect.settings.model import OF_SORTS, Study
from consilience.collect.settings.texts import KEPT
from consilience.errors import InputError

router = APIRouter(route_class=RuledRoute)


@router.post("/admin/studies/{study}/copy")
def copy(request: Request, study: str) -> Response:
    """Copy a study, without its people."""
    store = served_by(request).store
    copied = copy_study(store, store.study(study))
    kept = f" {KEPT}" if copied.settings.texts else ""
    return _lead_to(request, copied, f"This is a copy, and nobody has come to it yet.{kept}")


@router.get("/admin/studies/{study}/study.zip")
def save(request: Request, study: str) -> Response:
    """Send a study, without its people, as a file to save."""
    store = served_by(request).store
    found = store.study(study)
    disposition = {"Content-Disposition": f'attachment; filename="study-{found.id}.zip"'}
    return Response(pack_study(store, found), media_type="application/zip", headers=disposition)


@router.post("/admin/new/file")
def load(request: Request, form: Form) -> Response:
    """Make a study of a file that was saved."""
    try:
        files = files_of(form, "study_file")
        if len(files) != 1:
            raise InputError("Choose one file of a study.")
        return _lead_to(request, unpack_study(served_by(request).store, files[0][1]), "The study is taken in.")
    except InputError as error:
        context = {"given": fields_of(), "declared": OF_SORTS, "templates": TEMPLATES, "error": str(error)}
        return page(request, "new", status=422, here="new", **context)


@router.post("/admin/new/template/{name}")
def begin_with(request: Request, name: str) -> Response:
    """Make a study of a template."""
    if name not in TEMPLATES:
        raise NotFoundError("There is no such template.")
    made = TEMPLATES[name].make(served_by(request).store)
    return _lead_to(
        request,
        made,
        "This is a draft. Put your cards in place of these on the page Cards, and look through the settings.",
    )


def _lead_to(request: Request, study: Study, notice: str) -> Response:
    served_by(request).notices[own_study(request, study).id] = notice
    return see(f"/admin/studies/{study.id}")
