"""``consilience serve``: its options and help; the work is in `consilience.cli.serving`.

Nothing here imports a web framework or a database.
"""

from __future__ import annotations

from typing import Any

import click

from consilience.cli.option_types import WholeNumber
from consilience.cli.options import example
from consilience.cli.program import Command

DATABASE = "sqlite:///consilience.db"


@click.command(
    cls=Command,
    short_help="Collect groupings in the browser: a sort board for people, pages and an API for you.",
    epilog=example(
        "consilience serve --demo",
        "consilience serve --db postgresql://sorter@localhost/studies --public-url https://sort.example.org",
    ),
)
@click.option(
    "--db",
    metavar="URL",
    default=DATABASE,
    show_default=True,
    envvar="CONSILIENCE_DB",
    help="Database of the studies: sqlite:///FILE, or postgresql://USER@HOST/NAME. It is made if it does not exist. "
    "The environment variable CONSILIENCE_DB can hold it, too.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen at; by default this machine alone can reach it, with 0.0.0.0 all of its network.",
)
@click.option(
    "--port", type=WholeNumber(0, 65535), default=8000, show_default=True, help="Port to listen at; 0 for a free one."
)
@click.option(
    "--public-url",
    metavar="URL",
    envvar="CONSILIENCE_PUBLIC_URL",
    help="Address at which others reach the server, such as https://sort.example.org: that of links. Requests by other "
    "names are refused, but for numbers and what --host names. By default, links have the address of the browser that "
    "asks. The environment variable CONSILIENCE_PUBLIC_URL can hold it, too.",
)
@click.option(
    "--trust-user-header",
    metavar="NAME",
    envvar="CONSILIENCE_TRUST_USER_HEADER",
    help="Header in which a proxy on this machine, or at FORWARDED_ALLOW_IPS, says who is logged in: the name of an "
    "account. Only for a proxy that sets it in every request, whatever the browser sent. By default, none is believed. "
    "The environment variable CONSILIENCE_TRUST_USER_HEADER can hold it, too.",
)
@click.option(
    "--password", is_flag=True, help="Ask for a new password of the first administrator before serving, and set it."
)
@click.option("--demo", is_flag=True, help="Make the demo study first, if there is no study.")
def serve(**asked: Any) -> None:
    """Serve studies: people sort cards in their browsers, and you watch clusters form.

    Open the address that is printed. The first start prints a link under which the first administrator chooses a name
    and a password; there, studies are made, opened and closed, their results exported, and colleagues invited. While
    the server runs, it composes the subsets that people get next, and keeps the consensus up to date. Ctrl-C ends it;
    nothing that was sorted is lost.
    """
    from consilience.cli.serving import serve as run

    run(**asked)
