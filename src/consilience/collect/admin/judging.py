"""Administration of judging studies: made from a consensus or from a table, their settings, and their results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.datastructures import FormData

from consilience.collect.admin.access import Form
from consilience.collect.admin.setting_forms import shown_value, value_in
from consilience.collect.authority import RuledRoute, asked_by, own_study
from consilience.collect.creation import cards
from consilience.collect.creation.judging import judge_consensus, judge_table
from consilience.collect.forms import files_of, text_of, whole_of
from consilience.collect.results.judging import drawing_of, results_of
from consilience.collect.serving import page, see, served_by
from consilience.collect.settings.model import JUDGING, OF_JUDGES, Study, StudySettings
from consilience.collect.store import Store
from consilience.collect.store.judging import PER_CLUSTER, USUAL_ANSWERS, USUAL_EACH
from consilience.errors import InputError

router = APIRouter(route_class=RuledRoute)


@router.get("/admin/studies/{study}/judging")
def show_judgings(request: Request, study: str) -> Response:
    """Show the studies in which the consensus of a study is judged, and how to make one."""
    found = served_by(request).store.study(study)
    return see(f"/admin/studies/{found.id}") if found.kind == JUDGING else _judgings_page(request, found)


@router.post("/admin/studies/{study}/judging")
def make_from_consensus(request: Request, study: str) -> Response:
    """Make one, as a draft."""
    store = served_by(request).store
    found = store.study(study)
    try:
        made = own_study(request, judge_consensus(store, found))
    except InputError as error:
        return _judgings_page(request, found, str(error))
    if found.settings.panel.consent:
        served_by(request).notices[made.id] = (
            "The consent page, the questions and the codes of the sort are not taken over, since they speak of sorting."
        )
    return see(f"/admin/studies/{made.id}")


def _judgings_page(request: Request, study: Study, error: str | None = None) -> Response:
    store = served_by(request).store
    seen = [one for one in store.judgings_of(study.id) if asked_by(request).sees(one.id)]
    rows = [{"study": one, "overall": results_of(store, one).found.overall} for one in seen]
    has_consensus = store.consensus(study.id) is not None
    context = {"study": study, "rows": rows, "has_consensus": has_consensus, "error": error}
    return page(request, "judgings", status=422 if error else 200, **context)


# ---- from a table


@router.get("/admin/judging/new")
def show_new(request: Request) -> Response:
    """Show the form of a judging study of clusters that come from elsewhere."""
    return _new_page(request, _fields(None))


@router.post("/admin/judging/new")
def make_from_table(request: Request, form: Form) -> Response:
    """Make it; the form comes back as it was, with one sentence, if something is wrong."""
    try:
        study, notes = _make_study(served_by(request).store, form)
    except InputError as error:
        return _new_page(request, _given_again(form), str(error))
    served_by(request).notices[own_study(request, study).id] = " ".join(notes)
    return see(f"/admin/studies/{study.id}")


def _make_study(store: Store, form: FormData) -> tuple[Study, tuple[str, ...]]:
    tables = [cards.decode_text(data) for _, data in files_of(form, "items_file")]
    tables += [text for text in [text_of(form, "items")] if text]
    if len(tables) != 1:
        raise InputError("Give the cards and their clusters once: in the field, or as a file.")
    files = cards.read_uploads(files_of(form, "pictures"))
    asking: dict[str, Any] = {"n_questions": whole_of(form, "n_questions"), "settings": _settings_in(form)}
    return judge_table(store, text_of(form, "title"), tables[0], files, **asking)


def _new_page(request: Request, given: Mapping[str, Any], error: str | None = None) -> Response:
    context = {"given": given, "error": error, "per_cluster": PER_CLUSTER, "each": USUAL_EACH}
    return page(request, "judging_new", status=422 if error else 200, here="new", **context, declared=OF_JUDGES)


# ---- settings


@router.get("/admin/studies/{study}/judging/settings")
def show_settings(request: Request, study: str) -> Response:
    """Show the form of the settings of a judging study."""
    found = _judging_study(served_by(request).store, study)
    return _settings_page(request, found, _fields(found))


@router.post("/admin/studies/{study}/judging/settings")
def change_settings(request: Request, study: str, form: Form) -> Response:
    """Change the settings."""
    store = served_by(request).store
    found = _judging_study(store, study)
    try:
        settings = replace(found.settings, **_settings_in(form))
        store.update_study(study, title=text_of(form, "title"), settings=settings)
    except InputError as error:
        return _settings_page(request, found, _given_again(form), str(error))
    return see(f"/admin/studies/{found.id}")


def _judging_study(store: Store, study_id: str) -> Study:
    found = store.study(study_id)
    store.judging(found.id)  # which refuses others
    return found


def _settings_page(request: Request, study: Study, given: Mapping[str, Any], error: str | None = None) -> Response:
    begun = served_by(request).store.judging_progress(study.id)["answers"] > 0
    context = {"study": study, "given": given, "begun": begun, "error": error}
    return page(request, "judging_settings", status=422 if error else 200, **context, declared=OF_JUDGES)


def _settings_in(form: FormData) -> dict[str, Any]:
    """Return the settings that a form says; the store checks them. An empty number of questions is none of them."""
    usual = StudySettings()
    found = {name: value_in(form, name, kind, getattr(usual, name)) for name, kind in OF_JUDGES.items()}
    return {name: value for name, value in found.items() if (name, value) != ("per_participant", None)}


def _fields(study: Study | None) -> dict[str, Any]:
    """Return what the fields hold for a study, or for a new one."""
    settings = StudySettings(answers_wanted=USUAL_ANSWERS) if study is None else study.settings
    shown = {name: shown_value(kind, getattr(settings, name)) for name, kind in OF_JUDGES.items()}
    if study is None:
        shown |= {"per_participant": "", "n_questions": "", "items": ""}
    return shown | {"title": "" if study is None else study.title}


def _given_again(form: FormData) -> dict[str, Any]:
    return {name: text_of(form, name) if name in form else value for name, value in _fields(None).items()}


# ---- results


def judging_context(request: Request, study: Study) -> dict[str, Any]:
    """Return what the page of a judging study shows beside what that of others does."""
    store = served_by(request).store
    results = results_of(store, study)
    people = {one.id: one for one in store.participants(study.id)}
    source = results.judging.source
    wanted, each = study.settings.answers_wanted, study.settings.per_participant
    n_questions = results.progress["questions"]
    total = None if wanted is None else wanted * n_questions
    return {
        "results": results,
        "quotas": store.quota_counts(study.id),
        "source": store.study(source) if source is not None and asked_by(request).sees(source) else None,
        "drawing": drawing_of(results),
        "judges": [(one, people[one.id]) for one in sorted(results.judges, key=lambda one: not one.guesses)],
        "left_out": store.left_out(study.id),
        "total": total,
        "judges_needed": None if total is None else -(-total // min(each, n_questions)),
        "items": store.items(study.id),
    }


def answers_of(store: Store, study: Study) -> int:
    """Return how many answers a judging study has; 0 for any other."""
    return store.judging_progress(study.id)["answers"] if study.kind == JUDGING else 0
