"""Serving studies until the program is interrupted."""

from __future__ import annotations

import errno
import re
import secrets
import signal
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import click

from consilience.cli.study_inputs import COMMAND_LINE
from consilience.errors import InputError, MissingDependencyError

HEADER = re.compile(r"[A-Za-z0-9-]{1,100}")
WAITING = 128  # connections that may wait to be accepted


def serve(
    *, db: str, host: str, port: int, public_url: str | None, trust_user_header: str | None, password: bool, demo: bool
) -> None:
    """Open the database and serve it."""
    with require_server():
        import uvicorn

        from consilience.collect import Store, create_app
        from consilience.collect.log import log_to_standard_error
        from consilience.collect.security import PublicAddress
        from consilience.collect.worker.process import WorkerProcess
    public = PublicAddress.of(public_url, host) if public_url else None
    store = Store.open(db)
    with closing(store):
        setup_token = _first_password(store, password)
        _make_demo(store, demo)
        with _listening(host, port) as listening:
            app = create_app(store, setup_token=setup_token, background=WorkerProcess(store), public=public)
            config = uvicorn.Config(app, log_config=None, access_log=False, server_header=False)
            if trust_user_header:
                _trust_user_header(config, trust_user_header)
            _say_where(public.url if public else _address_of(host, listening.getsockname()[1]), setup_token)
            log_to_standard_error()
            with _forget_signals():
                uvicorn.Server(config).run(sockets=[listening])


@contextmanager
def _forget_signals() -> Iterator[None]:
    """Let SIGINT and SIGTERM be no failure: uvicorn raises again, once it has ended, what asked it to."""
    earlier = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


@contextmanager
def require_server() -> Iterator[None]:
    """Say how to install what serving needs, where it is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingDependencyError(
            f"Serving needs packages that are not installed ({error.name}); install them with: "
            "pip install 'consilience[collect]'"
        ) from error


def _first_password(store: Any, ask: bool) -> str | None:
    """Set the password that is typed, or return a token for the link under which the first one is chosen."""
    if ask:
        store.set_password_hash(ask_password())
        store.note_action(COMMAND_LINE, "set a new password", store.first_administrator().name)
    return None if store.first_administrator() is not None else secrets.token_urlsafe(24)


def ask_password() -> str:
    """Ask for a new password, and return its hash. Raises InputError: it is too short or too long."""
    from consilience.collect.security import hashed_password

    typed: str = click.prompt("New password", hide_input=True, confirmation_prompt="The same again", err=True)
    return hashed_password(typed)


def _trust_user_header(config: Any, header: str) -> None:
    """Let proxies whose word on addresses is trusted name accounts, too.

    Raises InputError: it is no name of a header, or everybody would be trusted.
    """
    from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

    from consilience.collect.middleware import NamedByProxy

    if not HEADER.fullmatch(header):
        raise InputError(f"--trust-user-header must be the name of a header, such as X-Forwarded-User. Got {header!r}.")
    if "*" in config.forwarded_allow_ips:
        raise InputError(
            "With --trust-user-header, FORWARDED_ALLOW_IPS must list the addresses of the proxy: with '*', everybody "
            "could name an account."
        )
    inner: Any = ProxyHeadersMiddleware(config.app, trusted_hosts=config.forwarded_allow_ips)
    config.app, config.proxy_headers = NamedByProxy(inner, header, inner.trusted_hosts), False


def _make_demo(store: Any, wanted: bool) -> None:
    if wanted and not store.studies():
        from consilience.collect.creation import demo

        demo.make(store)


def _listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Raises InputError: the address is none of this machine, or the port is taken or reserved.
    """
    try:
        family, kind, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, kind)
        try:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind(place)
            found.listen(WAITING)
        except OSError:
            found.close()
            raise
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno == errno.EADDRINUSE:
            reason = "another program does; choose another port with --port"
        raise InputError(f"Cannot listen at {host}, port {port}: {reason}.") from error
    return found


def _address_of(host: str, port: int) -> str:
    # this machine, where all addresses are listened at
    reached = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{reached}]:{port}" if ":" in reached else f"http://{reached}:{port}"


def _say_where(address: str, setup_token: str | None) -> None:
    click.echo(f"Studies are served at {address}/admin")
    if setup_token is not None:
        click.echo(f"Choose the password first, at this address, which works once: {address}/admin/setup/{setup_token}")
    click.echo("Ctrl-C ends it.")
