"""Administration of training: the form of practice, admission and gold, and how easily the admission is passed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request, Response

from consilience.collect.admin.access import Form
from consilience.collect.admin.training_forms import TRAINING, fields_of_training, others_in, training_in
from consilience.collect.authority import RuledRoute
from consilience.collect.forms import text_of
from consilience.collect.serving import page, see, served_by
from consilience.collect.settings.model import Study
from consilience.collect.settings.training import LEAST_CARDS, MOST_ADMISSION_SORTS, MOST_CARDS, MOST_GOLD_SORTS
from consilience.collect.settings.training_checks import needed_of
from consilience.collect.store.scoring import chance_in, measure_of
from consilience.collect.store.standing import gold_each
from consilience.errors import InputError

MOST = {"admission": MOST_ADMISSION_SORTS, "gold": MOST_GOLD_SORTS}

router = APIRouter(route_class=RuledRoute)


@router.get("/admin/studies/{study}/training")
def show_training(request: Request, study: str) -> Response:
    """Show the form of practice, admission and gold."""
    found = served_by(request).store.study(study)
    return _training_page(request, found, fields_of_training(found.settings.training))


@router.post("/admin/studies/{study}/training")
def change_training(request: Request, study: str, form: Form) -> Response:
    """Change practice, admission and gold; the form comes back as it was, with one sentence, if something is wrong."""
    store = served_by(request).store
    found = store.study(study)
    try:
        training = training_in(form, store.items(found.id), found.settings.training)
        store.update_study(found.id, settings=replace(found.settings, training=training))
    except InputError as error:
        given = {name: text_of(form, name) for name in fields_of_training(found.settings.training)}
        return _training_page(request, found, given, status=422, error=str(error))
    served_by(request).notices[found.id] = "Saved."
    return see(f"/admin/studies/{found.id}/training")


def _training_page(request: Request, study: Study, given: Mapping[str, str], **answer: Any) -> Response:
    use = served_by(request)
    items = use.store.items(study.id)
    return page(
        request,
        "training",
        study=study,
        given=given,
        items=items,
        others=others_in(study.settings.training, items),
        chance=chance_in(study),
        measure=measure_of(study.kind),
        most=MOST,
        needed=f"from {LEAST_CARDS} to {MOST_CARDS} cards, with {needed_of(study.kind)}",
        declared=TRAINING,
        notice=use.notices.pop(study.id, ""),
        gold_each=gold_each(study.settings),
        **answer,
    )
