"""The web application: routes, errors and the background worker around a store; importing it opens nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Protocol, runtime_checkable

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from consilience import __version__
from consilience.collect import health
from consilience.collect.admin import access, cards, copying, dashboard, deletion, history, invited, studies, team
from consilience.collect.admin import judging as admin_judging
from consilience.collect.admin import panel as admin_panel
from consilience.collect.admin import people as admin_people
from consilience.collect.admin import texts as admin_texts
from consilience.collect.admin import training as admin_training
from consilience.collect.api import copying as api_copying
from consilience.collect.api import judging as api_judging
from consilience.collect.api import people as api_people
from consilience.collect.api import routes as api_routes
from consilience.collect.api import training as api_training
from consilience.collect.api.openapi import DESCRIPTION, describe
from consilience.collect.api.routes import API
from consilience.collect.errors import NotFoundError, NotOpenError
from consilience.collect.middleware import Guarded, refusal_in
from consilience.collect.participant import panel_routes
from consilience.collect.participant import routes as participant_routes
from consilience.collect.participant.refusals import is_of_participants, refuse_participant
from consilience.collect.security import PublicAddress, RefusedError
from consilience.collect.serving import Limits, Served, VersionedFiles, refusal, see
from consilience.collect.settings.cleaning import line
from consilience.collect.store import Store
from consilience.errors import InputError

MOST_BYTES = 1_000_000  # of the body of a request
MOST_BYTES_OF_API = 12_000_000  # a picture, or all items of a study
MOST_BYTES_OF_UPLOADS = 120_000_000  # all pictures of a study
PAGES = (
    *(
        participant_routes,
        panel_routes,
        access,
        invited,
        team,
        history,
        copying,
        studies,
        cards,
        admin_panel,
        admin_training,
        admin_people,
        admin_texts,
    ),
    *(dashboard, deletion, admin_judging, health),
)
SENTENCES = {404: "There is no such page.", 405: "This address does not take requests of this kind."}


@runtime_checkable
class Background(Protocol):
    """What runs beside an application."""

    @property
    def state(self) -> str:
        """Whether it is "running", "stopped", or in which way it hangs."""

    def start(self) -> None:
        """Begin."""

    def stop(self) -> None:
        """End."""


def create_app(
    store: Store,
    *,
    setup_token: str | None = None,
    limits: Limits | None = None,
    background: bool | Background = True,
    public: PublicAddress | None = None,
) -> FastAPI:
    """Return the application that serves a store: boards, administration, API, and the worker beside them.

    Parameters
    ----------
    store : Store
        An open one; whoever opened it closes it.
    setup_token : str, optional
        Secret part of the address ``/admin/setup/…`` under which the first password is chosen. It works until there is
        a password.
    limits : Limits, optional
        How many requests a visitor may send.
    background : bool or worker, default=True
        What composes subsets and computes the consensus while the application is served: a worker with ``start``,
        ``stop`` and ``state``, such as `~consilience.collect.worker.process.WorkerProcess`; True for a thread of
        this process, False for nothing.
    public : `~consilience.collect.security.PublicAddress`, optional
        The address that links have, and by which alone the server is reached. By default, links have the address by
        which they were asked for.

    Returns
    -------
    FastAPI

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from consilience.collect import Store, create_app
    >>> folder = TemporaryDirectory()
    >>> store = Store.open(f"sqlite:///{folder.name}/studies.db")
    >>> create_app(store).title
    'Consilience'
    >>> store.close()
    >>> folder.cleanup()
    """
    worker = _worker(store) if background is True else background or None
    app = FastAPI(
        title="Consilience",
        version=__version__,
        description=DESCRIPTION,
        openapi_url=f"{API}/openapi.json",
        docs_url=None,  # their scripts come from elsewhere
        redoc_url=None,
        lifespan=None if worker is None else _with(worker),
        exception_handlers=HANDLERS,
    )
    app.state.worker = worker
    app.state.served = Served(store, setup_token, limits or Limits(), public)
    app.add_route("/", lambda request: see("/admin"))
    app.mount("/static", VersionedFiles())
    for module in PAGES:
        app.include_router(module.router, include_in_schema=False)
    app.include_router(api_routes.router)
    app.include_router(api_copying.router)
    app.include_router(api_people.router)
    app.include_router(api_training.router)
    app.include_router(api_judging.router)
    app.add_middleware(
        Guarded,
        answer=lambda scope, refused: _answer_refused(Request(scope), refused),
        most_bytes=_most_bytes,
        without_cookies=lambda path: path.startswith(API),
        public=public,
    )
    describe(app)
    return app


def _worker(store: Store) -> Background:
    from consilience.collect.worker import Worker

    return Worker(store)


def _with(worker: Background) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    """Return the lifespan of an application: its worker runs from its start to its end."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        worker.start()
        try:
            yield
        finally:
            await run_in_threadpool(worker.stop)

    return lifespan


def _most_bytes(path: str) -> int:
    """Return how large the body of a request may be."""
    if path in ("/admin/new", "/admin/new/file", "/admin/judging/new", api_copying.UNPACK):
        return MOST_BYTES_OF_UPLOADS
    return MOST_BYTES_OF_API if path.startswith(API) or path.endswith("/import") else MOST_BYTES


# ---- errors, each one sentence


def _answer_refused(request: Request, refused: RefusedError, error: Exception | None = None) -> Response:
    if is_of_participants(request):
        return refuse_participant(request, refused, error)
    return refusal(request, refused)


def _bad_input(request: Request, error: Any) -> Response:
    statuses = {NotFoundError: 404, NotOpenError: 409}
    status = next((code for kind, code in statuses.items() if isinstance(error, kind)), 422)
    return _answer_refused(request, RefusedError(status, str(error)), error)


def _refuse_malformed(request: Request, error: Any) -> Response:
    """Say what is wrong with the first wrong part of a request."""
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"][1:]) or "The request"
    message = str(first["msg"]).removeprefix("Value error, ").rstrip(".")
    return _answer_refused(request, RefusedError(422, line(f"{place[:100]}: {message[:400]}.")))


def _of_http(request: Request, error: Any) -> Response:
    refused = refusal_in(error) or RefusedError(error.status_code, SENTENCES.get(error.status_code, f"{error.detail}."))
    answer = _answer_refused(request, refused)
    answer.headers.update(error.headers or {})
    return answer


HANDLERS: dict[Any, Any] = {
    RefusedError: _answer_refused,
    InputError: _bad_input,
    RequestValidationError: _refuse_malformed,
    HTTPException: _of_http,
}
