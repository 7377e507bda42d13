"""The API of studies without their people: copied, and as a file that another server takes in."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from starlette.concurrency import run_in_threadpool

from consilience.collect.api import models
from consilience.collect.api.routes import API, BODY_OF_BYTES, NOT_FOUND, PROBLEMS, Open, StudyPath, study_as_json
from consilience.collect.authority import RuledRoute, own_study
from consilience.collect.creation.study_file import copy_study, pack_study, unpack_study
from consilience.collect.settings import model

ZIP: dict[str, Any] = {"application/zip": {"schema": {"type": "string", "format": "binary"}}}
UNPACK = f"{API}/studies/unpack"

router = APIRouter(prefix=API, route_class=RuledRoute, responses=PROBLEMS)


@router.post("/studies/{study}/copy", status_code=201, tags=["studies"], responses=NOT_FOUND)
def copy(request: Request, store: Open, study: StudyPath, sent: models.StudyCopy) -> models.Study:
    """Make a draft with the cards, settings, texts and questions of a study, and nobody in it."""
    return study_as_json(request, own_study(request, copy_study(store, store.study(study), sent.title)))


@router.get(
    "/studies/{study}/pack",
    tags=["studies"],
    response_class=Response,
    responses=NOT_FOUND | {200: {"description": "The file.", "content": ZIP}},
)
def pack(store: Open, study: StudyPath) -> Response:
    """Return a study, without its people, as a file."""
    found = store.study(study)
    disposition = {"Content-Disposition": f'attachment; filename="study-{found.id}.zip"'}
    return Response(pack_study(store, found), media_type="application/zip", headers=disposition)


async def unpacked_in(request: Request, store: Open) -> model.Study:
    """Return the draft that was made of the file which is the body of a request."""
    return await run_in_threadpool(unpack_study, store, await request.body())


@router.post(
    "/studies/unpack",
    status_code=201,
    tags=["studies"],
    openapi_extra={"requestBody": BODY_OF_BYTES},
)
def unpack(request: Request, study: Annotated[model.Study, Depends(unpacked_in)]) -> models.Study:
    """Make a draft of a file that was packed, the body of the request."""
    return study_as_json(request, own_study(request, study))
