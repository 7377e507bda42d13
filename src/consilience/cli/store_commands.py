"""``consilience store``: backups of the database of studies; the work is in `consilience.collect.store.backup`.

Nothing here imports a database.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click

from consilience.cli.options import example
from consilience.cli.program import Program, show_help
from consilience.cli.study_commands import db_option


@click.group(
    cls=Program,
    short_help="Back up the database of the studies, and restore it.",
    epilog=example("consilience store backup studies.backup", "consilience store restore studies.backup"),
)
def store() -> None:
    """Back up the database of 'consilience serve', and restore it, into SQLite or PostgreSQL."""
    show_help()


@store.command(
    short_help="Write all that the database holds to a file.",
    epilog=example("consilience store backup studies.backup"),
)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@db_option
def backup(file: Path, db: str) -> None:
    """Write everything in the database to FILE, as it is at this moment; the server may go on meanwhile.

    FILE is compressed, ends with a checksum, and holds what people answered: keep it as safe as the database.
    """
    from consilience.cli.serving import needed

    with needed():
        from consilience.collect.store import Store
        from consilience.collect.store.backup import backup as run
    with closing(Store.open(db, new=False)) as opened:
        counts = run(opened, file)
    click.echo(f"Backed up to {file} ({_said(counts)}).")


@store.command(
    short_help="Fill an empty database from a file of 'backup'.",
    epilog=example("consilience store restore studies.backup --db postgresql://sorter@localhost/studies"),
)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@db_option
def restore(file: Path, db: str) -> None:
    """Fill an empty database with what FILE holds, wholly or not at all; FILE was written by 'backup'.

    It makes no difference whether FILE came from SQLite or PostgreSQL, nor which of them it fills.
    """
    from consilience.cli.serving import needed

    with needed():
        from consilience.collect.store.backup import restore as run
    click.echo(f"Restored from {file} ({_said(run(db, file))}).")


def _said(counts: dict[str, int]) -> str:
    """Return the sizes of the tables that people ask about."""
    shown = {"studies": "studies", "people": "participants", "assignments": "assignments"}
    return ", ".join(f"{name}: {counts[table]:,}" for name, table in shown.items())
