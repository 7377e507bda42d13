"""``consilience account``: who uses the pages of ``consilience serve``.

Nothing here imports a database.
"""

from __future__ import annotations

import click

from consilience.cli.messages import say, say_json
from consilience.cli.options import example, json_option
from consilience.cli.program import Program, show_help
from consilience.cli.study_commands import db_option
from consilience.cli.study_inputs import COMMAND_LINE, opened_store
from consilience.collect.roles import GUEST, ON_THE_SERVER
from consilience.errors import InputError


@click.group(
    cls=Program,
    short_help="List, add and reset the accounts of those who use 'consilience serve'.",
    epilog=example(
        "consilience account list",
        "consilience account add ann --role researcher",
        "consilience account reset ann",
    ),
)
def account() -> None:
    """List, add and reset the accounts of those who use the pages of 'consilience serve'.

    Most colleagues are better invited by a link, on the pages Accounts of the server and Team of a study. These
    commands are for whoever runs the server, also while it runs.
    """
    show_help()


@account.command(
    "list", short_help="List the accounts, with their roles.", epilog=example("consilience account list --json")
)
@db_option
@json_option
def list_accounts(db: str, as_json: bool) -> None:
    """List the accounts in the order in which they were made, with their roles on the server and in studies."""
    with opened_store(db) as store:
        found = [
            {
                "name": one.name,
                "role": one.role,
                "created": one.created.isoformat(),
                "used": one.used.isoformat() if one.used else None,
                "has_password": one.password_hash is not None,
                "studies": store.roles_of(one.id),
            }
            for one in store.accounts()
        ]
    if as_json:
        say_json(found)
        return
    if not found:
        say("There are no accounts yet; the first start of 'consilience serve' prints a link to make one.")
    for one in found:
        used = f"last logged in {one['used'][:10]}" if one["used"] else "never logged in"
        studies = ", ".join(f"{role} of {study}" for study, role in one["studies"].items())
        say("  ".join(filter(None, [f"{one['role']:13}", one["name"], f"({used})", studies])))


@account.command(
    short_help="Make an account.",
    epilog=example(
        "consilience account add ann --role researcher",
        "consilience account add ann@uni.example --role administrator --no-password",
    ),
)
@click.argument("name")
@click.option(
    "--role",
    type=click.Choice(ON_THE_SERVER),
    default=GUEST,
    show_default=True,
    help="A guest works in studies to which they are invited, a researcher makes studies, too, an administrator does "
    "everything in all studies.",
)
@click.option(
    "--no-password",
    is_flag=True,
    help="Ask for no password: the account can be used only where 'consilience serve --trust-user-header' names it.",
)
@db_option
def add(name: str, role: str, no_password: bool, db: str) -> None:
    """Make an account with this NAME; its password is asked for."""
    hashed = None if no_password else _ask_password()
    with opened_store(db, new=True) as store:
        made = store.add_account(name, role, hashed)
        store.note_action(COMMAND_LINE, "made an account", f"{made.name}: {role}")
    say(f"The account {made.name!r} is made; its role is {role}.")


@account.command(short_help="Set a new password of an account.", epilog=example("consilience account reset ann"))
@click.argument("name")
@db_option
def reset(name: str, db: str) -> None:
    """Set a new password of the account with this NAME, which is asked for; who uses the account is logged out."""
    with opened_store(db) as store:
        found = store.account_by_name(name)
        if found is None:
            raise InputError(f"There is no account {name!r}; 'consilience account list' lists them.")
        store.set_password(found.id, _ask_password())
        store.note_action(COMMAND_LINE, "set a new password", found.name)
    say(f"The password of {found.name!r} is set.")


def _ask_password() -> str:
    from consilience.cli.serving import ask_password, require_server

    with require_server():
        return ask_password()
