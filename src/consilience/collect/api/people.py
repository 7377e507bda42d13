"""The API for the people of a study: who takes part, and who is left out of the consensus."""

from __future__ import annotations

from fastapi import APIRouter

from consilience.collect.admin.dashboard import quality_found
from consilience.collect.admin.people import exclude_in, people_of, person_in
from consilience.collect.api import models
from consilience.collect.api.routes import API, NOT_FOUND, PROBLEMS, Open, ParticipantPath, StudyPath
from consilience.collect.authority import RuledRoute
from consilience.collect.settings import model

router = APIRouter(prefix=API, route_class=RuledRoute, responses=PROBLEMS)


@router.get("/studies/{study}/participants", tags=["collecting"], responses=NOT_FOUND)
def list_participants(store: Open, study: StudyPath) -> list[models.Person]:
    """List the participants of a study in the order in which they came, previews apart."""
    found = store.study(study)
    return [_person(row["person"], row["n_submitted"]) for row in people_of(store, found)]


@router.post("/studies/{study}/participants/{participant}/exclude", tags=["results"], responses=NOT_FOUND)
def exclude(store: Open, study: StudyPath, participant: ParticipantPath) -> models.Excluded:
    """Leave the answers of a participant out of the consensus, which is computed anew; nothing is deleted."""
    return _exclude(exclude_in(store, study, participant, True))


@router.post("/studies/{study}/participants/{participant}/restore", tags=["results"], responses=NOT_FOUND)
def restore(store: Open, study: StudyPath, participant: ParticipantPath) -> models.Excluded:
    """Take the answers of a participant into the consensus again, which is computed anew."""
    return _exclude(exclude_in(store, study, participant, False))


@router.get("/studies/{study}/flags", tags=["results"], responses=NOT_FOUND)
def list_flags(store: Open, study: StudyPath) -> models.Quality:
    """Return who is flagged and why, and how the consensus changes without them, as found with the last consensus."""
    return models.Quality(**quality_found(store, store.study(study)))


# FastAPI 0.115 takes the annotation None for a body, which 204 must not have
@router.delete(
    "/studies/{study}/participants/{participant}",
    status_code=204,
    response_model=None,
    tags=["collecting"],
    responses=NOT_FOUND,
)
def delete_participant(store: Open, study: StudyPath, participant: ParticipantPath) -> None:
    """Delete a participant and all that they gave; the consensus is computed anew without them."""
    store.delete_participant(person_in(store, study, participant).id)


def _exclude(found: model.Participant) -> models.Excluded:
    return models.Excluded(id=found.id, excluded=found.excluded)


def _person(found: model.Participant, n_submitted: int) -> models.Person:
    return models.Person(
        id=found.id,
        name=found.name,
        parameters=dict(found.parameters),
        created=found.created,
        excluded=found.excluded,
        submitted=n_submitted,
    )
