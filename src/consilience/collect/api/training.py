"""The API of training: setting it, the chance of passing the admission at random, and how consistent people are."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter, Request

from consilience.collect.api import models
from consilience.collect.api.routes import API, NOT_FOUND, PROBLEMS, Open, StudyPath, study_as_json
from consilience.collect.authority import RuledRoute
from consilience.collect.settings.training import Training
from consilience.collect.store.scoring import chance_in, measure_of
from consilience.errors import InputError

router = APIRouter(prefix=API, route_class=RuledRoute, responses=PROBLEMS)


@router.put("/studies/{study}/training", tags=["studies"], responses=NOT_FOUND)
def change_training(request: Request, store: Open, study: StudyPath, sent: models.Training) -> models.Study:
    """Replace practice, admission and gold, and leave the other settings as they are."""
    settings = replace(store.study(study).settings, training=Training.of_json(sent.model_dump()))
    return study_as_json(request, store.update_study(study, settings=settings))


@router.get("/studies/{study}/training/chance", tags=["studies"], responses=NOT_FOUND)
def get_chance(store: Open, study: StudyPath) -> models.Chance:
    """Return how likely the admission is passed by who sorts at random, and what one slip costs."""
    found = store.study(study)
    chance = chance_in(found)
    if chance is None:
        raise InputError("The study has no admission.")
    training = found.settings.training
    return models.Chance(
        measure=measure_of(found.kind), mark=float(training.mark), tries=training.tries, **vars(chance)
    )


@router.get("/studies/{study}/consistency", tags=["results"], responses=NOT_FOUND)
def get_consistency(store: Open, study: StudyPath) -> list[models.Consistency]:
    """Return the scores of each participant on gold, repeats, practice and admission."""
    return [models.Consistency(**vars(one)) for one in store.consistency(study)]
