"""The page of the sentences that participants read, in each language of a study."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.datastructures import FormData

from consilience.collect.admin.access import Form
from consilience.collect.authority import RuledRoute
from consilience.collect.errors import NotFoundError
from consilience.collect.forms import text_of
from consilience.collect.serving import page, see, served_by
from consilience.collect.settings.languages import ENGLISH, LANGUAGES, catalogue_for
from consilience.collect.settings.model import QUESTIONS, Study, StudySettings
from consilience.collect.settings.panel import MOMENTS
from consilience.collect.settings.sentences import GROUPS, OF_JUDGES, OF_QUESTIONS, OF_SORTS, TEXTS
from consilience.collect.settings.texts import KEPT, own_texts
from consilience.collect.store import Store
from consilience.collect.wording.catalogues import is_machine_made
from consilience.collect.wording.wording import Wording
from consilience.errors import InputError

MOST_CARDS = 300  # whose texts are on the page; those of more are translated by the API

router = APIRouter(route_class=RuledRoute)


@router.get("/admin/studies/{study}/texts")
def show_texts(request: Request, study: str, language: str = "") -> Response:
    """Show the form of the sentences in a language, by default that of the study."""
    found = served_by(request).store.study(study)
    chosen = _require_offered(found, language)
    return _texts_page(request, found, chosen, found.settings.texts_for(chosen))


@router.post("/admin/studies/{study}/texts")
def change_texts(request: Request, study: str, form: Form) -> Response:
    """Replace sentences that participants read in a language."""
    store = served_by(request).store
    found = store.study(study)
    language = _require_offered(found, text_of(form, "language"))
    texts = {key: text for key in TEXTS if (text := text_of(form, f"text-{key}"))}
    try:
        own_texts(texts)
        settings = _with_texts(found.settings, language, texts)
        if language != found.settings.language:
            settings = _with_translations(settings, language, form, _written_in(store, found))
        store.update_study(study, settings=settings)
    except InputError as error:
        return _texts_page(request, found, language, texts, error=str(error))
    served_by(request).notices[found.id] = "Saved."
    return see(f"/admin/studies/{found.id}/texts?language={language}")


def _with_texts(settings: StudySettings, language: str, texts: Mapping[str, str]) -> StudySettings:
    if language == settings.language:
        return replace(settings, texts=texts)
    return replace(settings, texts_in={**settings.texts_in, language: texts})


def _with_translations(
    settings: StudySettings, language: str, form: FormData, written: Mapping[str, Sequence[str]]
) -> StudySettings:
    """Return settings with the translations that a form holds; others, such as those of very many cards, stay."""
    shown = {text: text_of(form, field_of(text)) for texts in written.values() for text in texts}
    said = {**settings.translations.get(language, {}), **shown}
    return replace(settings, translations={**settings.translations, language: said})


def _written_in(store: Store, study: Study) -> dict[str, list[str]]:
    """Return what a study itself says, each sentence once, by what it belongs to; very many cards are left out."""
    settings, items = study.settings, store.items(study.id)
    asked = [one for moment in MOMENTS for one in settings.panel.questions(moment)]
    found = {
        "The study": [study.title, settings.instructions, settings.panel.consent],
        "Questions": [text for one in asked for text in (one.text, *one.options)],
        "Categories": [text for name in settings.categories for text in (name, settings.meanings.get(name, ""))],
        "Cards": [text for item in items for text in (item.text, item.alt, item.description)],
    }
    if len(items) > MOST_CARDS:
        found["Cards"] = []
    part_of: dict[str, str] = {}
    for part, texts in found.items():
        for text in filter(None, texts):
            part_of.setdefault(text, part)
    return {part: texts for part in found if (texts := [text for text, belongs in part_of.items() if belongs == part])}


def field_of(text: str) -> str:
    """Return the name of the field in which the translation of a text is."""
    return f"own-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _texts_page(request: Request, study: Study, language: str, given: Mapping[str, str], **wrong: Any) -> Response:
    usual, code = Wording(language), catalogue_for(language)
    written = _written_in(served_by(request).store, study) if language != study.settings.language else {}
    said = study.settings.translations.get(language, {})
    unread = OF_QUESTIONS if study.board != QUESTIONS else OF_SORTS | (OF_JUDGES if study.is_asked else set())
    context = {
        "language": language,
        "languages": [(one, _in_english(one)) for one in study.settings.offered],
        "called": _in_english(code),
        "kept": KEPT if language == study.settings.language else "",
        "english": TEXTS if code != ENGLISH else None,
        "is_machine_made": is_machine_made(code),
        "changed": [(key, usual[key]) for key in TEXTS if given.get(key)],
        "groups": {
            title: [(key, usual[key]) for key in group if key not in unread and not given.get(key)]
            for title, group in GROUPS.items()
        },
        "given": given,
        "notice": served_by(request).notices.pop(study.id, ""),
        "written": {
            part: [(field_of(text), text, said.get(text, "")) for text in texts] for part, texts in written.items()
        },
    }
    return page(request, "texts", status=422 if wrong else 200, study=study, **context, **wrong)


def _require_offered(study: Study, language: str) -> str:
    if language and language not in study.settings.offered:
        raise NotFoundError("This study is not in this language.")
    return language or study.settings.language


def _in_english(language: str) -> str:
    """Return what a language is called in English, or its code."""
    return LANGUAGES[language][0] if language in LANGUAGES else language
