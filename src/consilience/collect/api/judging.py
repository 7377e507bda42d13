"""The API of judging studies: making them, asking and answering, and results."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request

from consilience.collect.admin.people import person_in
from consilience.collect.api import judging_models as models
from consilience.collect.api import models as api_models
from consilience.collect.api.routes import (
    API,
    NOT_FOUND,
    NOT_OPEN,
    PROBLEMS,
    Open,
    ParticipantPath,
    StudyPath,
    study_as_json,
)
from consilience.collect.authority import RuledRoute, asked_by, own_study
from consilience.collect.creation.judging import judge_consensus, judge_items
from consilience.collect.errors import NotFoundError
from consilience.collect.results.judging import results_of
from consilience.collect.settings.model import Item
from consilience.collect.store import Store
from consilience.collect.store.judging import Asked
from consilience.errors import InputError

router = APIRouter(prefix=API, route_class=RuledRoute, responses=PROBLEMS)


@router.post("/studies/{study}/judging", status_code=201, tags=["judging"], responses=NOT_FOUND | NOT_OPEN)
def judge_study(request: Request, store: Open, study: StudyPath, sent: models.NewJudgingOfStudy) -> api_models.Study:
    """Make a study, as a draft, in which people who did not sort judge the clusters of this one."""
    found = store.study(study)
    made = judge_consensus(
        store,
        found,
        title=sent.title,
        n_questions=sent.n_questions,
        settings=_settings(sent),
        clusters=sent.clusters,
    )
    return study_as_json(request, own_study(request, made))


@router.post("/judging", status_code=201, tags=["judging"])
def judge_clusters(request: Request, store: Open, sent: models.NewJudging) -> api_models.Study:
    """Make a study, as a draft, in which people judge clusters of items that are sent."""
    items = [Item(number, one.name, one.text) for number, one in enumerate(sent.items)]
    clusters = [one.cluster for one in sent.items]
    made = judge_items(store, sent.title, items, clusters, n_questions=sent.n_questions, settings=_settings(sent))
    return study_as_json(request, own_study(request, made))


@router.get("/studies/{study}/judgings", tags=["judging"], responses=NOT_FOUND)
def list_judgings(request: Request, store: Open, study: StudyPath) -> list[api_models.Study]:
    """List the studies in which the clusters of this one are judged, and which the account may see."""
    seen = [one for one in store.judgings_of(study) if asked_by(request).sees(one.id)]
    return [study_as_json(request, one) for one in seen]


@router.get("/studies/{study}/judging", tags=["judging"], responses=NOT_FOUND)
def get_results(store: Open, study: StudyPath) -> models.JudgingResults:
    """Return how far judges see the clusters: over all, by cluster, by pair of clusters, and who guesses."""
    return models.JudgingResults(**results_of(store, store.study(study)).as_json())


@router.post("/studies/{study}/participants/{participant}/question", tags=["judging"], responses=NOT_FOUND)
def next_question(store: Open, study: StudyPath, participant: ParticipantPath) -> models.NextQuestion:
    """Ask a judge: the question before them, or else a new one; null if there is nothing."""
    person_in(store, study, participant)
    return _next(store, study, store.ask(participant))


@router.put("/studies/{study}/participants/{participant}/answer", tags=["judging"], responses=NOT_FOUND)
def send_answer(
    store: Open, study: StudyPath, participant: ParticipantPath, sent: models.Answer
) -> models.NextQuestion:
    """Keep a judge's answer, unless there is one already, and return what they are asked next."""
    person_in(store, study, participant)
    asked = next((one for one in store.asked(participant) if one.question == sent.question), None)
    if asked is None:
        raise NotFoundError("This question was not asked.")
    place = None if sent.answer is None else _place(store.items(study), asked, sent.answer)
    return _next(store, study, store.answer(participant, sent.question, place))


def _place(items: list[Item], asked: Asked, name: str) -> int:
    names = [items[number].name for number in asked.shown]
    if name not in names:
        raise InputError(f"The item {name[:60]!r} is none of the four.")
    return names.index(name) + 1


def _next(store: Store, study: str, asked: Asked | None) -> models.NextQuestion:
    if asked is None:
        return models.NextQuestion(question=None)
    items = store.items(study)
    shown = [api_models.Item(**asdict(items[number])) for number in asked.shown]
    return models.NextQuestion(question=models.Question(question=asked.question, items=shown, number=asked.place))


def _settings(sent: models.Asking) -> dict[str, Any]:
    given: dict[str, Any] = {"answers_wanted": sent.answers_wanted}
    return given if sent.per_participant is None else given | {"per_participant": sent.per_participant}
