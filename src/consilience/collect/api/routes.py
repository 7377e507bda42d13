"""The API for scripts: JSON in, JSON out, with a token in each request."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias
from uuid import uuid4

import numpy as np
from fastapi import APIRouter, Body, Depends, Path, Query, Request, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.concurrency import run_in_threadpool

from consilience.collect.api import models
from consilience.collect.authority import RuledRoute, asked_by, own_study
from consilience.collect.creation import pictures
from consilience.collect.errors import NotFoundError, NotOpenError
from consilience.collect.results import exporting
from consilience.collect.serving import link_to, served_by
from consilience.collect.settings import model
from consilience.collect.settings.study_kinds import PAIRS, UNSURE, cards_of, number_pair
from consilience.collect.store import Store
from consilience.collect.store.board_state import Group
from consilience.errors import InputError

API = "/api/v1"
PROBLEMS: dict[int | str, dict[str, Any]] = {
    401: {"model": models.Problem, "description": "The token is missing, wrong or revoked."},
    403: {"model": models.Problem, "description": "Whose token it is may not do this."},
    413: {"model": models.Problem, "description": "The body is too large."},
    422: {"model": models.Problem, "description": "Something in the request is wrong; the sentence says what."},
    429: {"model": models.Problem, "description": "Too many requests; 'Retry-After' says when to try again."},
    "default": {"model": models.Problem, "description": "Any other error."},
}
NOT_FOUND: dict[int | str, dict[str, Any]] = {404: {"model": models.Problem, "description": "There is no such thing."}}
NOT_OPEN: dict[int | str, dict[str, Any]] = {
    409: {
        "model": models.Problem,
        "description": "The study or the subset does not accept this, not yet or not any more.",
    }
}

bearer = HTTPBearer(auto_error=False, description="A token made on the page 'API tokens'.")


def with_token(request: Request, _: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]) -> Store:
    """Return the store to those whom `RuledRoute` let pass; the document of the API says that they send a token."""
    return served_by(request).store


router = APIRouter(prefix=API, route_class=RuledRoute, responses=PROBLEMS)
Open = Annotated[Store, Depends(with_token)]
StudyPath = Annotated[str, Path(pattern=r"^[a-z0-9]{1,16}$", description="The id of a study.")]
ParticipantPath = Annotated[str, Path(pattern=r"^[a-z0-9]{1,16}$", description="The id of a participant.")]
AssignmentPath = Annotated[int, Path(ge=1, le=2**31 - 1, description="The number of a subset that was given.")]


# ---- studies


@router.get("/studies", tags=["studies"])
def list_studies(request: Request, store: Open) -> list[models.Study]:
    """List the studies in which the account of the token has a role, the newest first."""
    return [study_as_json(request, study) for study in store.studies() if asked_by(request).sees(study.id)]


@router.post("/studies", status_code=201, tags=["studies"])
def create_study(request: Request, store: Open, sent: models.NewStudy) -> models.Study:
    """Make a study as a draft. Pictures are added afterwards, and then the items are replaced."""
    settings = model.StudySettings.of_json(sent.settings.model_dump())
    study = store.create_study(sent.title, _items(sent.items), kind=sent.kind, board=sent.board, settings=settings)
    return study_as_json(request, own_study(request, study))


@router.get("/studies/{study}", tags=["studies"], responses=NOT_FOUND)
def get_study(request: Request, store: Open, study: StudyPath) -> models.Study:
    """Return a study."""
    return study_as_json(request, store.study(study))


@router.put("/studies/{study}/settings", tags=["studies"], responses=NOT_FOUND | NOT_OPEN)
def change_settings(request: Request, store: Open, study: StudyPath, sent: models.Settings) -> models.Study:
    """Replace the settings; the categories, and whether groups are named, stay as they are once people have begun."""
    return study_as_json(request, store.update_study(study, settings=model.StudySettings.of_json(sent.model_dump())))


@router.post("/studies/{study}/open", tags=["studies"], responses=NOT_FOUND)
def open_study(request: Request, store: Open, study: StudyPath) -> models.Study:
    """Let people take part."""
    return study_as_json(request, store.open_study(study))


@router.post("/studies/{study}/close", tags=["studies"], responses=NOT_FOUND | NOT_OPEN)
def close_study(request: Request, store: Open, study: StudyPath) -> models.Study:
    """Let nobody begin any more."""
    return study_as_json(request, store.close_study(study))


@router.get("/studies/{study}/items", tags=["studies"], responses=NOT_FOUND)
def list_items(store: Open, study: StudyPath) -> list[models.Item]:
    """List the items of a study, in order."""
    return [_item(item) for item in store.items(study)]


@router.put("/studies/{study}/items", tags=["studies"], responses=NOT_FOUND | NOT_OPEN)
def replace_items(
    store: Open,
    study: StudyPath,
    sent: Annotated[list[models.NewItem], Body(min_length=2, max_length=model.MOST_ITEMS)],
) -> list[models.Item]:
    """Replace the items of a study that nobody has begun."""
    store.update_study(study, items=_items(sent))
    return [_item(item) for item in store.items(study)]


async def picture_in(request: Request, store: Open) -> pictures.CheckedPicture:
    """Return the picture that is the body of a request, checked and encoded anew."""
    return await run_in_threadpool(pictures.check_picture, await request.body())


BODY_OF_BYTES = {
    "required": True,
    "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
}


@router.post(
    "/studies/{study}/pictures",
    status_code=201,
    tags=["studies"],
    responses=NOT_FOUND,
    openapi_extra={"requestBody": BODY_OF_BYTES},
)
def add_picture(
    store: Open, study: StudyPath, picture: Annotated[pictures.CheckedPicture, Depends(picture_in)]
) -> models.Picture:
    """Keep a picture for the items of a study: PNG, JPEG, WebP or GIF, as the body of the request."""
    kept = store.add_picture(study, picture.data, picture.mime, picture.width, picture.height)
    return models.Picture(picture=kept, width=picture.width, height=picture.height)


# ---- participants, subsets and groupings


@router.post("/studies/{study}/participants", status_code=201, tags=["collecting"], responses=NOT_FOUND | NOT_OPEN)
def create_participant(
    request: Request, store: Open, study: StudyPath, sent: models.NewParticipant
) -> models.Participant:
    """Let somebody take part; they can use their link, or a script can sort for them."""
    found, token = store.new_participant(study, sent.parameters, sent.preview)
    return models.Participant(
        id=found.id, parameters=dict(found.parameters), preview=found.preview, link=link_to(request, token)
    )


@router.post("/studies/{study}/participants/{participant}/subset", tags=["collecting"], responses=NOT_FOUND)
def next_subset(store: Open, study: StudyPath, participant: ParticipantPath) -> models.NextSubset:
    """Give a participant what they sort next: what they have begun, or else something new; null if there is nothing."""
    _require_participant(store, study, participant)
    given = store.assignment_for(participant, np.random.default_rng())
    if given is None:
        return models.NextSubset(subset=None)
    cards = store.cards(given)
    shown = [_item(item) for item in cards.values()]
    pairs = [[cards[card].name for card in cards_of(number)] for number in given.items]
    asked = {"pairs": pairs} if store.study(study).kind == PAIRS else {}
    return models.NextSubset(subset=models.Subset(assignment=given.id, items=shown, source=given.source, **asked))


@router.put(
    "/studies/{study}/assignments/{assignment}/grouping",
    tags=["collecting"],
    responses=NOT_FOUND | NOT_OPEN,
)
def send_grouping(
    store: Open, study: StudyPath, assignment: AssignmentPath, sent: models.Grouping
) -> models.Submission:
    """Send the groups that a participant made of a subset, in place of what is on their board, and submit them."""
    given = store.assignment(assignment)
    if given.study != study:
        raise NotFoundError("There is no such assignment.")
    items = [*store.items(study), *store.cards(given).values()]
    found = store.study(study)
    groups = _groups(found, items, sent)
    if found.is_asked:
        said = {number for group in groups for number in group.items}
        left = tuple(number for number in given.items if number not in said)
        groups += [Group(UNSURE, "", left)] if left else []
    done = store.submit_groups(assignment, given.participant, f"api-{uuid4()}", groups)
    if done.submitted is None:
        raise NotOpenError("This subset cannot be submitted.")
    return models.Submission(assignment=done.id, submitted=done.submitted)


def _groups(study: model.Study, items: list[model.Item], sent: models.Grouping) -> list[Group]:
    """Return the groups that were sent, as a board has them."""
    numbers = {item.name: item.number for item in items}
    category = {name: f"c{number}" for number, name in enumerate(study.classes, 1)}
    _require_once(sent)
    groups = []
    for place, group in enumerate(sent.groups, 1):
        if bool(group.pairs) == bool(group.items) or bool(group.pairs) != (study.kind == PAIRS):
            raise InputError("A group must have 'items', or 'pairs' in a study that asks about pairs.")
        unknown = next((name for name in _names_in(group) if name not in numbers), None)
        if unknown is not None:
            raise InputError(f"There is no item {unknown!r} in this study.")
        key = category.get(group.name, f"g{place}")
        if key.startswith("g") and study.has_fixed_groups:
            raise InputError(f"There is no category {group.name!r} in this study.")
        pairs = [number_pair(numbers[one], numbers[other]) for one, other in group.pairs]
        groups.append(Group(key, group.name, tuple(pairs or [numbers[name] for name in group.items])))
    return groups


def _names_in(group: models.Group) -> list[str]:
    return [*group.items, *(name for pair in group.pairs for name in pair)]


def _require_once(sent: models.Grouping) -> None:
    seen: set[Any] = set()
    for group in sent.groups:
        for name in (*group.items, *(tuple(sorted(pair)) for pair in group.pairs)):
            if name in seen:
                raise InputError(f"The item {name!r} is sent twice.")
            seen.add(name)


# ---- results


@router.get("/studies/{study}/progress", tags=["results"], responses=NOT_FOUND)
def get_progress(store: Open, study: StudyPath) -> models.Counts:
    """Count participants, subsets, and places in quotas."""
    quotas = [
        models.QuotaCount(condition=str(quota.condition), taken=taken, most=quota.most)
        for quota, taken in store.quota_counts(study)
    ]
    return models.Counts(**store.progress(study), quotas=quotas)


@router.get("/studies/{study}/consensus", tags=["results"], responses=NOT_FOUND)
def get_consensus(store: Open, study: StudyPath) -> models.Consensus:
    """Return the clusters found last, how stable they are, and the advice to stop."""
    store.study(study)
    return models.Consensus(consensus=store.consensus(study))


FORMATS: dict[str, dict[str, Any]] = {exporting.MIMES[kind].split(";")[0]: {} for kind in exporting.MIMES}
if TYPE_CHECKING:
    Format: TypeAlias = str
else:  # those that there are, for the document of the API and its refusals
    Format = Literal[tuple(exporting.MIMES)]


@router.get(
    "/studies/{study}/export",
    tags=["results"],
    response_class=Response,
    responses=NOT_FOUND | NOT_OPEN | {200: {"description": "The file.", "content": FORMATS}},
)
def export(
    store: Open,
    study: StudyPath,
    format: Annotated[Format, Query()] = "csv",
    table: Annotated[
        Literal["sorts", "participants", "answers", "moves", "log"] | None,
        Query(description="By default sorts, or answers where people are asked questions."),
    ] = None,
    identifiers: Annotated[bool, Query(description="Whether names and stored parameters are in it.")] = True,
) -> Response:
    """Return what was collected: a table, or the report on sorts as HTML."""
    file = exporting.export_study(store, store.study(study), format, table, identifiers=identifiers)
    return Response(
        file.data, media_type=file.mime, headers={"Content-Disposition": f'attachment; filename="{file.name}"'}
    )


# ---- as JSON


def study_as_json(request: Request, study: model.Study) -> models.Study:
    """Return a study as the API shows it."""
    plain = {name: value for name, value in vars(study).items() if name in models.Study.model_fields}
    may_edit = asked_by(request).can(study.id)["edit"]
    link = link_to(request, study.join_token) if may_edit else None
    settings = study.settings.as_json()
    if not may_edit:
        settings = model.without_secrets(settings)
    return models.Study(**(plain | {"settings": settings, "link": link}))


def _item(item: model.Item) -> models.Item:
    return models.Item(**asdict(item))


def _items(sent: list[models.NewItem]) -> list[model.Item]:
    return [model.Item(number, **item.model_dump()) for number, item in enumerate(sent)]


def _require_participant(store: Store, study: str, participant: str) -> None:
    if store.participant(participant).study != study:
        raise NotFoundError("There is no such participant.")
