"""Administration of studies: the list, making one, its page with the progress, its settings, and exports."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from starlette.datastructures import FormData

from consilience.annotations.files.formats import FORMATS
from consilience.collect.admin.access import Form
from consilience.collect.admin.cards import cards_in
from consilience.collect.admin.judging import answers_of, judging_context
from consilience.collect.admin.setting_forms import fields_of, given_again, settings_of
from consilience.collect.authority import RuledRoute, asked_by, own_study, tell_more
from consilience.collect.creation import cards, demo
from consilience.collect.creation.templates import TEMPLATES
from consilience.collect.errors import FieldsError
from consilience.collect.forms import files_of, text_of, whole_of
from consilience.collect.participant.routes import begin_preview
from consilience.collect.results.exporting import export_study
from consilience.collect.results.progress import next_step_of, progress_of
from consilience.collect.serving import link_to, page, see, served_by, tag_answer
from consilience.collect.settings.checks import checked_settings, checked_title
from consilience.collect.settings.model import JUDGING, OF_SORTS, Item, Picture, Study
from consilience.collect.settings.problems import Problems
from consilience.collect.settings.study_checks import checked_study
from consilience.collect.settings.study_kinds import kind_of_answers
from consilience.collect.settings.texts import KEPT
from consilience.collect.store import Store
from consilience.errors import InputError

MOST_LINKS = 500  # made at once

router = APIRouter(route_class=RuledRoute)


@router.get("/admin")
def list_studies(request: Request) -> Response:
    """List all studies."""
    store = served_by(request).store
    rows = []
    asker = asked_by(request)
    for study in (one for one in store.studies() if asker.sees(one.id)):
        counts, wanted = store.progress(study.id), study.settings.groupings_wanted
        n_groupings = counts["submitted"] + counts["imported"] + answers_of(store, study)
        n_of_wanted = store.n_submitted_of_quota(study.id) if wanted else 0
        rows.append({"study": study, "n_groupings": n_groupings, "n_of_wanted": n_of_wanted, "wanted": wanted})
    return page(request, "studies", here="studies", rows=rows, demo_items=demo.N_ITEMS, demo_size=demo.SIZE)


@router.post("/admin/demo")
def make_demo(request: Request) -> Response:
    """Make the demo study, and open it."""
    study = own_study(request, demo.make(served_by(request).store))
    return see(f"/admin/studies/{study.id}")


# ---- a new study


@router.get("/admin/new")
def show_new(request: Request) -> Response:
    """Show the form of a new study."""
    return page(request, "new", here="new", given=fields_of(), declared=OF_SORTS, templates=TEMPLATES)


@router.post("/admin/new")
def make_study(request: Request, form: Form) -> Response:
    """Make a study; the form comes back as it was, with a sentence at each field that is wrong."""
    try:
        study, notes = _make_study(request, form)
    except InputError as error:
        problems = error.problems if isinstance(error, FieldsError) else {"kind": str(error)}
        context = {"given": given_again(form), "declared": OF_SORTS, "templates": TEMPLATES, "problems": problems}
        return page(request, "new", status=422, here="new", **context)
    served_by(request).notices[own_study(request, study).id] = " ".join(notes)
    return see(f"/admin/studies/{study.id}")


def _make_study(request: Request, form: FormData) -> tuple[Study, tuple[str, ...]]:
    problems = Problems()
    found: tuple[list[Item], list[Picture], tuple[str, ...]] = [], [], ()
    with problems.at("items"):
        found = cards_in(form)
    items, pictures, notes = found
    title, (kind, board, settings) = text_of(form, "title"), settings_of(form, problems)
    with problems.at("title"):
        checked_study(title, items, kind, board, settings, {picture.hash for picture in pictures})
    problems.require_none()
    study = served_by(request).store.create_study(
        title, items, kind=kind, board=board, settings=settings, pictures=pictures
    )
    return study, notes


# ---- the page of a study


@router.get("/admin/studies/{study}")
def show_study(request: Request, study: str) -> Response:
    """Show a study: its links, its progress and its results."""
    return _study_page(request, study)


def _study_page(
    request: Request, study_id: str, personal: Any = (), *, status: int = 200, error: Any = None
) -> Response:
    use = served_by(request)
    study = use.store.study(study_id)
    judged = study.kind == JUDGING
    context = judging_context(request, study) if judged else _context_of_sorts(use.store, study)
    return page(
        request,
        "judging" if judged else "study",
        status=status,
        error=error,
        study=study,
        link=link_to(request, study.join_token),
        has_public_address=use.public is not None,
        personal=list(personal),
        formats=FORMATS,
        notice=use.notices.pop(study.id, ""),
        **context,
    )


def _context_of_sorts(store: Store, study: Study) -> dict[str, Any]:
    progress = progress_of(store, study)
    previewed = any(one.preview for one in store.participants(study.id))
    answers = kind_of_answers(study.kind)
    return {"progress": progress, "answers": answers, "next_step": next_step_of(study, progress, previewed=previewed)}


@router.get("/admin/studies/{study}/progress")
def show_progress(request: Request, study: str) -> Response:
    """Return the progress as a part of a page, which is asked for again and again, or 304."""
    store = served_by(request).store
    found = store.study(study)
    return tag_answer(request, page(request, "progress", study=found, progress=progress_of(store, found)))


@router.post("/admin/studies/{study}/open")
def open_study(request: Request, study: str) -> Response:
    """Let people take part."""
    served_by(request).store.open_study(study)
    return see(f"/admin/studies/{study}")


@router.post("/admin/studies/{study}/close")
def close_study(request: Request, study: str) -> Response:
    """Let nobody begin any more."""
    served_by(request).store.close_study(study)
    return see(f"/admin/studies/{study}")


@router.post("/admin/studies/{study}/preview")
def preview(request: Request, study: str) -> Response:
    """Go to the board as a participant whose answers do not count."""
    return begin_preview(request, served_by(request).store.study(study).id)


@router.post("/admin/studies/{study}/participants")
def make_personal_links(request: Request, study: str, form: Form) -> Response:
    """Make participants, each with a link that is shown this once."""
    count = whole_of(form, "count") or 0
    if not 1 <= count <= MOST_LINKS:
        raise InputError(f"From 1 to {MOST_LINKS} links can be made at once.")
    store = served_by(request).store
    tokens = [store.new_participant(study)[1] for _ in range(count)]
    tell_more(request, f"{count}")
    return _study_page(request, study, [link_to(request, token) for token in tokens])


@router.post("/admin/studies/{study}/import")
def import_groupings(request: Request, study: str, form: Form) -> Response:
    """Take in groupings that were collected elsewhere."""
    store = served_by(request).store
    found = store.study(study)
    try:
        count = _import_study(request, found, form)
    except InputError as error:
        return _study_page(request, study, status=422, error=str(error))
    served_by(request).notices[found.id] = f"{count} grouping{'' if count == 1 else 's'} imported."
    tell_more(request, f"{count}")
    return see(f"/admin/studies/{found.id}")


def _import_study(request: Request, study: Study, form: FormData) -> int:
    from consilience import read_annotations

    files = files_of(form, "groupings")
    if len(files) != 1:
        raise InputError("Choose one file of groupings.")
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the importer's notes are for the command line
        path = Path(folder) / "groupings.csv"
        path.write_text(cards.decode_text(files[0][1]), encoding="utf-8")
        read = read_annotations(path, kind=kind_of_answers(study.kind))
    return served_by(request).store.import_groupings(study.id, read)


# ---- settings


@router.get("/admin/studies/{study}/settings")
def show_settings(request: Request, study: str) -> Response:
    """Show the form of the settings."""
    found = served_by(request).store.study(study)
    return _settings_page(request, found, fields_of(found))


@router.post("/admin/studies/{study}/settings")
def change_settings(request: Request, study: str, form: Form) -> Response:
    """Change the settings; the form comes back as it was, with a sentence at each field that is wrong."""
    store = served_by(request).store
    found = store.study(study)
    problems = Problems()
    title, (kind, board, settings) = text_of(form, "title"), settings_of(form, problems, found.settings)
    with problems.at("title"):
        checked_title(title)
    with problems.at("kind"):
        checked_settings(settings, kind, board, found.n_items, found.settings)
    if problems.found:
        return _settings_page(request, found, given_again(form), problems=problems.found)
    try:
        store.update_study(study, title=title, kind=kind, board=board, settings=settings)
    except InputError as error:
        return _settings_page(request, found, given_again(form), error=str(error))
    kept = f" {KEPT}" if settings.language != found.settings.language and settings.texts else ""
    served_by(request).notices[found.id] = f"Saved.{kept}"
    return see(f"/admin/studies/{found.id}/settings")


def _settings_page(request: Request, study: Study, given: Mapping[str, Any], **wrong: Any) -> Response:
    counts, notice = served_by(request).store.progress(study.id), served_by(request).notices.pop(study.id, "")
    begun = counts["open"] + counts["submitted"] + counts["imported"] > 0
    context = {"study": study, "given": given, "begun": begun, "notice": notice}
    return page(request, "settings", status=422 if wrong else 200, **context, declared=OF_SORTS, **wrong)


# ---- results


@router.get("/admin/studies/{study}/export/{kind}")
def export(
    request: Request, study: str, kind: str, table: str | None = None, identifiers: Literal["yes", "no"] = "yes"
) -> Response:
    """Send what was collected as a file to save."""
    store = served_by(request).store
    file = export_study(store, store.study(study), kind, table, identifiers=identifiers == "yes")
    disposition = {"Content-Disposition": f'attachment; filename="{file.name}"'}
    return Response(file.data, media_type=file.mime, headers=disposition)
