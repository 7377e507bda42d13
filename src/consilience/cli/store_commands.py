"""``consilience store``: backups of the database of studies; the work is in `consilience.collect.store.backup`.

Nothing here imports a database.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import click

from consilience.cli.options import example
from consilience.cli.program import Program, show_help
from consilience.cli.study_commands import db_option


@click.group(
    cls=Program,
    short_help="Back up the database of the studies, and restore it.",
    epilog=example(
        "consilience store backup studies.backup",
        "consilience store verify studies.backup",
        "consilience store restore studies.backup",
    ),
)
def store() -> None:
    """Back up the database of 'consilience serve', verify the file, and restore it, into SQLite or PostgreSQL."""
    show_help()


@store.command(
    short_help="Write all that the database holds to a file.", epilog=example("consilience store backup studies.backup")
)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@db_option
def backup(file: Path, db: str) -> None:
    """Write everything in the database to FILE, as it is at this moment; the server may go on meanwhile.

    FILE is compressed, ends with a checksum, and holds what people answered: keep it as safe as the database. Tables of
    an earlier version are written as they are; the database is not changed.
    """
    from consilience.cli.serving import require_server

    with require_server():
        from consilience.collect.store import Store
        from consilience.collect.store.backup import backup as run
    with closing(Store.open(db, new=False, as_it_is=True)) as opened:
        made = run(opened, file)
    click.echo(f"Backed up to {file} ({_describe_sizes(made)}).")


@store.command(
    short_help="Read a file of 'backup' to its end, and say what it holds.",
    epilog=example("consilience store verify studies.backup"),
)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
def verify(file: Path) -> None:
    """Say what FILE holds and when it was made; fail with the code 2 if it is damaged.

    FILE is read to its end, its checksum is compared, and it is restored into a temporary file of SQLite, which is
    removed again: that takes as much room as the database.
    """
    from consilience.cli.serving import require_server

    with require_server():
        from consilience.collect.store.backup import verify as run
    found = run(file)
    click.echo(f"{file} is whole: {_when_made(found)} ({_describe_sizes(found)}).")


@store.command(
    short_help="Fill an empty database from a file of 'backup'.",
    epilog=example("consilience store restore studies.backup --db postgresql://sorter@localhost/studies"),
)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@db_option
def restore(file: Path, db: str) -> None:
    """Fill an empty database with what FILE holds, wholly or not at all; FILE was written by 'backup'.

    It makes no difference whether FILE came from SQLite or PostgreSQL, nor which of them it fills. Everything is as it
    was when FILE was made: withdrawals and deletions made since have to be made again.
    """
    from consilience.cli.serving import require_server

    with require_server():
        from consilience.collect.store.backup import restore as run
    found = run(db, file)
    click.echo(f"Restored from {file} ({_describe_sizes(found)}).")
    click.echo(f"B{_when_made(found)[1:]}; withdrawals and deletions made since have to be made again.")


def _when_made(backup: Any) -> str:
    return f"backed up on {backup.created:%Y-%m-%d %H:%M} UTC by version {backup.version}"


def _describe_sizes(backup: Any) -> str:
    """Return the sizes of the tables that people ask about."""
    shown = {"studies": "studies", "people": "participants", "assignments": "assignments"}
    return ", ".join(f"{name}: {backup.counts.get(table, 0):,}" for name, table in shown.items())
