"""Administration of the cards of a study: shown, and corrected or replaced until people have begun."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from starlette.datastructures import FormData

from consilience.collect.admin.access import Form
from consilience.collect.authority import RuledRoute
from consilience.collect.creation import cards
from consilience.collect.creation.duplicates import note_on_look_alikes
from consilience.collect.errors import NotOpenError
from consilience.collect.forms import files_of, text_of
from consilience.collect.serving import page, see, served_by
from consilience.collect.settings.checks import LONGEST_TEXT
from consilience.collect.settings.model import Item, Picture, Study
from consilience.errors import InputError

ON_A_PAGE = 100

router = APIRouter(route_class=RuledRoute)
PageNumber = Annotated[int, Query(alias="page", ge=1, le=10_000)]


@router.get("/admin/studies/{study}/cards")
def show_cards(request: Request, study: str, number: PageNumber = 1) -> Response:
    """Show the cards, so many on a page."""
    store = served_by(request).store
    found = store.study(study)
    return _cards_page(request, found, store.items(found.id), number)


@router.post("/admin/studies/{study}/cards")
def change_cards(request: Request, study: str, form: Form, number: PageNumber = 1) -> Response:
    """Correct what cards say, and what their pictures show in words, or put other cards in their place."""
    store = served_by(request).store
    found = store.study(study)
    items = store.items(found.id)
    corrected = [_correct_card(item, form) for item in items]
    notes: tuple[str, ...] = ()
    try:
        if "items" in form:
            corrected, pictures, notes = cards_in(form)
            for one in pictures:
                store.add_picture(found.id, one.data, one.mime, one.width, one.height)
        store.update_study(found.id, items=corrected)
    except NotOpenError:
        raise
    except InputError as error:
        shown = items if "items" in form else corrected
        return _cards_page(request, found, shown, number, given=form, status=422, error=str(error))
    served_by(request).notices[found.id] = " ".join(["The cards are saved.", *notes])
    return see(f"/admin/studies/{found.id}/cards?page={number}")


def cards_in(form: FormData) -> tuple[list[Item], list[Picture], tuple[str, ...]]:
    """Return the cards that a form says, their pictures, and notes on them."""
    tables = [cards.decode_text(data) for _, data in files_of(form, "items_file")]
    tables += [text for text in [text_of(form, "items")] if text]
    if len(tables) > 1:
        raise InputError("The cards are given twice, in the field and as a file; give them once.")
    files = cards.read_uploads(files_of(form, "pictures"))
    read = cards.read_cards("".join(tables)) if tables or not files else None
    return cards.items_of(read, files)


def _correct_card(item: Item, form: FormData) -> Item:
    """Return a card with what the form says of it; a card of a page that was not sent stays as it is."""
    if f"text-{item.number}" not in form:
        return item
    kept = "" if item.alt == item.text else item.alt  # an alternative text that is none follows the text
    alt = text_of(form, f"alt-{item.number}") if item.picture else kept
    described = (
        text_of(form, f"description-{item.number}") if f"description-{item.number}" in form else item.description
    )
    return replace(item, text=text_of(form, f"text-{item.number}"), alt=alt, description=described)


def _cards_page(request: Request, study: Study, items: list[Item], number: int, **answer: Any) -> Response:
    use = served_by(request)
    n_pages = max(1, -(-len(items) // ON_A_PAGE))
    number = min(number, n_pages)
    return page(
        request,
        "cards",
        study=study,
        items=items[(number - 1) * ON_A_PAGE : number * ON_A_PAGE],
        number=number,
        n_pages=n_pages,
        longest=LONGEST_TEXT,
        begun=use.store.has_begun(study.id),
        warning=note_on_look_alikes(items),
        notice=use.notices.pop(study.id, ""),
        **{"given": {}} | answer,
    )
