"""Accounts, their sessions, and the roles that they have in studies."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from consilience.collect.errors import NotFoundError
from consilience.collect.roles import ADMINISTRATOR, GUEST, IN_A_STUDY, ON_THE_SERVER, OWNER, RESEARCHER
from consilience.collect.settings.account_names import checked_account_name, name_key
from consilience.collect.settings.cleaning import as_id, clean
from consilience.collect.store import tables
from consilience.collect.store.database import Database, now
from consilience.collect.store.secret import hash_token, new_id, new_token
from consilience.collect.store.studies import study_in
from consilience.errors import InputError

FIRST = "admin"  # the name of the first account, unless another is chosen
ACCOUNTS, MEMBERS, SESSIONS = tables.accounts.c, tables.members.c, tables.sessions.c


@dataclass(frozen=True)
class Account:
    """Somebody who uses the administration.

    role : {"guest", "researcher", "administrator"}
    password_hash : str, or None for whom only a proxy names.
    created, used : datetime, or None; when it was made, and when somebody last logged in with its password.
    """

    id: str
    name: str
    role: str
    created: datetime
    used: datetime | None
    password_hash: str | None = field(repr=False)


class Accounts(Database):
    """What the store knows of accounts. Passwords are hashed by the caller, since this is slow on purpose."""

    def add_account(self, name: str, role: str, password_hash: str | None = None) -> Account:
        """Make an account.

        Raises
        ------
        InputError
            The name is taken, perhaps in other letters, or is none; or there is no such role.
        """
        with self.write() as db:
            return add_account_in(db, name, role, password_hash)

    def accounts(self) -> list[Account]:
        """Return all accounts, in the order in which they were made."""
        with self.read() as db:
            return _accounts_in(db)

    def account(self, account_id: str) -> Account:
        """Return an account."""
        with self.read() as db:
            return account_in(db, account_id)

    def account_by_name(self, name: str) -> Account | None:
        """Return the account with a name, in whatever case; None if there is none."""
        with self.read() as db:
            return next(iter(_accounts_in(db, ACCOUNTS.name_key == name_key(clean(name)))), None)

    def first_administrator(self) -> Account | None:
        """Return the administrator who was made first; None if there is none."""
        with self.read() as db:
            return next(iter(_accounts_in(db, ACCOUNTS.role == ADMINISTRATOR)), None)

    def set_password(self, account_id: str, password_hash: str) -> None:
        """Keep the hash of a new password, and end all sessions of the account."""
        with self.write() as db:
            set_password_in(db, account_in(db, account_id).id, password_hash)

    def set_password_hash(self, password_hash: str) -> None:
        """Keep the hash of the first administrator's password, who is made if need be, and end their sessions."""
        first = self.first_administrator()
        if first is None:
            self.add_account(FIRST, ADMINISTRATOR, password_hash)
        else:
            self.set_password(first.id, password_hash)

    def set_role(self, account_id: str, role: str) -> Account:
        """Change what an account may do on the server.

        Raises
        ------
        InputError
            There is no such role, or nobody else is administrator.
        """
        with self.write() as db:
            found = account_in(db, account_id)
            _require_another_administrator(db, found, role)
            values = {"role": checked_role(role, ON_THE_SERVER)}
            db.execute(update(tables.accounts).where(ACCOUNTS.id == found.id).values(**values))
            return account_in(db, account_id)

    def remove_account(self, account_id: str) -> Account:
        """Delete an account with its sessions, tokens, invitations and roles; studies and the log stay.

        Raises
        ------
        InputError
            Nobody else is administrator.
        """
        with self.write() as db:
            found = account_in(db, account_id)
            _require_another_administrator(db, found, GUEST)
            db.execute(delete(tables.accounts).where(ACCOUNTS.id == found.id))
        return found

    # ---- sessions

    def new_session(self, account_id: str, lifetime: timedelta) -> str:
        """Begin a session of an account, and forget sessions that are over.

        Returns
        -------
        str
            Its secret, which is not stored.
        """
        token, moment = new_token(), now()
        with self.write() as db:
            db.execute(delete(tables.sessions).where(SESSIONS.expires <= moment))
            values = {"token_hash": hash_token(token), "created": moment, "expires": moment + lifetime}
            db.execute(insert(tables.sessions).values(**values, account=account_in(db, account_id).id))
            db.execute(update(tables.accounts).where(ACCOUNTS.id == account_id).values(used=moment))
        return token

    def account_by_session(self, token: str) -> Account | None:
        """Return whose session with this secret goes on; None if there is none."""
        mine = select(SESSIONS.account).where(SESSIONS.token_hash == hash_token(token), SESSIONS.expires > now())
        with self.read() as db:
            return next(iter(_accounts_in(db, ACCOUNTS.id == mine.scalar_subquery())), None)

    def end_session(self, token: str) -> None:
        """End a session, if there is one with this secret."""
        with self.write() as db:
            db.execute(delete(tables.sessions).where(SESSIONS.token_hash == hash_token(token)))

    # ---- roles in studies

    def roles_of(self, account_id: str) -> dict[str, str]:
        """Return the roles of an account, by the ids of studies."""
        with self.read() as db:
            query = select(MEMBERS.study, MEMBERS.role).where(MEMBERS.account == account_id)
            return {row.study: row.role for row in db.execute(query)}

    def members(self, study_id: str) -> list[tuple[Account, str]]:
        """Return who has a role in a study, with the role, by their names."""
        with self.read() as db:
            query = select(MEMBERS.account, MEMBERS.role).where(MEMBERS.study == study_in(db, study_id).id)
            roles = {row.account: row.role for row in db.execute(query)}
            found = _accounts_in(db, ACCOUNTS.id.in_(roles))
        return [(one, roles[one.id]) for one in sorted(found, key=lambda one: one.name.casefold())]

    def set_member(self, study_id: str, account_id: str, role: str | None) -> None:
        """Give an account a role in a study, or none.

        Raises
        ------
        InputError
            There is no such role, or nobody else would own the study.
        """
        with self.write() as db:
            study, account = study_in(db, study_id, lock=True), account_in(db, account_id)
            _require_another_owner(db, study.id, account.id, role)
            set_member_in(db, study.id, account.id, role)


def add_account_in(db: Connection, name: str, role: str, password_hash: str | None) -> Account:
    """Make an account; see `Accounts.add_account`."""
    name = checked_account_name(name)
    found = Account(new_id(), name, checked_role(role, ON_THE_SERVER), now(), None, password_hash)
    try:
        with db.begin_nested():
            db.execute(insert(tables.accounts).values(**vars(found), name_key=name_key(name)))
    except IntegrityError as error:
        raise InputError("There is an account with this name already, or with one that looks like it.") from error
    return found


def account_in(db: Connection, account_id: str) -> Account:
    """Return an account. Raises NotFoundError: there is none."""
    found = _accounts_in(db, ACCOUNTS.id == as_id(account_id))
    if not found:
        raise NotFoundError("There is no such account.")
    return found[0]


def set_password_in(db: Connection, account_id: str, password_hash: str) -> None:
    """Keep the hash of a new password, and end all sessions of the account."""
    db.execute(update(tables.accounts).where(ACCOUNTS.id == account_id).values(password_hash=password_hash))
    db.execute(delete(tables.sessions).where(SESSIONS.account == account_id))


def set_member_in(db: Connection, study_id: str, account_id: str, role: str | None) -> None:
    """Give an account a role in a study, or none; owners may make studies of their own, too."""
    db.execute(delete(tables.members).where(MEMBERS.study == study_id, MEMBERS.account == account_id))
    if role is not None:
        values = {"study": study_id, "account": account_id, "role": checked_role(role, IN_A_STUDY)}
        db.execute(insert(tables.members).values(**values))
    if role == OWNER:
        guests = update(tables.accounts).where(ACCOUNTS.id == account_id, ACCOUNTS.role == GUEST)
        db.execute(guests.values(role=RESEARCHER))


def checked_role(role: str, roles: tuple[str, ...]) -> str:
    """Return a role. Raises InputError: it is none of these."""
    if role not in roles:
        raise InputError(f"The role must be one of {', '.join(roles)}.")
    return role


def _accounts_in(db: Connection, *which: Any) -> list[Account]:
    query = select(tables.accounts).where(*which).order_by(ACCOUNTS.created, ACCOUNTS.id)
    return [Account(row.id, row.name, row.role, row.created, row.used, row.password_hash) for row in db.execute(query)]


def _require_another_administrator(db: Connection, account: Account, role: str) -> None:
    query = select(ACCOUNTS.id).where(ACCOUNTS.role == ADMINISTRATOR).with_for_update()
    if role != ADMINISTRATOR and set(db.scalars(query)) == {account.id}:
        raise InputError("Somebody has to be administrator; make somebody else one first.")


def _require_another_owner(db: Connection, study_id: str, account_id: str, role: str | None) -> None:
    query = select(MEMBERS.account).where(MEMBERS.study == study_id, MEMBERS.role == OWNER)
    if role != OWNER and set(db.scalars(query)) == {account_id}:
        raise InputError("Somebody has to own the study; make somebody else an owner first.")
