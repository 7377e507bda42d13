"""Deletion of a study: a page that says what is lost, and a box to tick. Open studies have to be closed first."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from consilience.collect.admin.access import Form
from consilience.collect.authority import RuledRoute
from consilience.collect.errors import NotOpenError
from consilience.collect.forms import text_of
from consilience.collect.serving import page, see, served_by
from consilience.collect.settings.model import JUDGING, Study
from consilience.collect.store import Store

router = APIRouter(route_class=RuledRoute)


@router.get("/admin/studies/{study}/delete")
def ask(request: Request, study: str) -> Response:
    """Show what would be lost, and ask whether it is meant."""
    return _ask(request, _deletable(served_by(request).store, study))


@router.post("/admin/studies/{study}/delete")
def delete(request: Request, study: str, form: Form) -> Response:
    """Delete a study and all that was collected in it."""
    store = served_by(request).store
    found = _deletable(store, study)
    if not text_of(form, "confirmed"):
        return _ask(request, found, status=422, error="To delete the study, please tick the box.")
    store.delete_study(found.id)
    return see("/admin")


def _deletable(store: Store, study_id: str) -> Study:
    """Return a study.

    Raises NotFoundError: there is no such study. Raises NotOpenError: it is open: people may be at it.
    """
    found = store.study(study_id)
    if found.status == "open":
        raise NotOpenError("The study is open, and people may be taking part. Close it before you delete it.")
    return found


def _ask(request: Request, study: Study, **answer: Any) -> Response:
    return page(request, "delete", study=study, lost=lost_with(served_by(request).store, study), **answer)


def lost_with(store: Store, study: Study) -> list[str]:
    """Return what would be lost with a study, in words, with how much of each."""
    counts = store.progress(study.id)
    of_sorts = (("grouping", "groupings"), ("sort", "sorts"), ("grouping", "groupings"))
    handed_in, begun, brought = (("set", "sets"),) * 3 if study.is_asked else of_sorts
    pictures = len({item.picture for item in store.items(study.id)} - {None})
    counted = [
        (study.n_items, "card", "cards"),
        (pictures, "picture", "pictures"),
        (
            counts["participants"],
            "person, with consent and answers to questions",
            "people, with consent and answers to questions",
        ),
        (counts["submitted"], *handed_in),
        (
            counts["open"] + counts["withdrawn"],
            f"{begun[0]} that is not handed in",
            f"{begun[1]} that are not handed in",
        ),
        (counts["imported"], f"{brought[0]} that was brought along", f"{brought[1]} that were brought along"),
    ]
    if study.kind == JUDGING:
        judged = store.judging_progress(study.id)
        counted += [
            (judged["questions"], "question", "questions"),
            (len(store.answers_frame(study.id)), "answer of judges", "answers of judges"),
        ]
    return [f"{number:,} {one if number == 1 else several}" for number, one, several in counted if number]
