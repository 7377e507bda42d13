"""Invitations: links that work once, until they are over, are revoked, or who invited may no longer do so."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from consilience.collect.errors import NotFoundError
from consilience.collect.roles import ADMINISTRATOR, GUEST, IN_A_STUDY, ON_THE_SERVER, OWNER, reaches
from consilience.collect.store import tables
from consilience.collect.store.accounts import (
    Account,
    account_in,
    add_account_in,
    checked_role,
    set_member_in,
    set_password_in,
)
from consilience.collect.store.database import Database, now
from consilience.collect.store.secret import hash_token, new_token
from consilience.collect.store.studies import study_in

LIFETIME = timedelta(days=7)
OVER = "This invitation was used or revoked, or is over; ask whoever sent it for a new one."
COLUMNS = tables.invitations.c


@dataclass(frozen=True)
class Invitation:
    """A link by which somebody joins, or chooses a new password.

    study : str, or None; the study in which they get the role, which else is that on the server.
    account : str, or None; whose password is chosen anew.
    inviter : str, or None; the account that invites, None for whoever runs the server.
    created, expires : datetime
    """

    id: int
    study: str | None
    account: str | None
    role: str
    inviter: str | None
    created: datetime
    expires: datetime


class Invitations(Database):
    """What the store knows of invitations."""

    def invite(
        self, role: str, study_id: str | None = None, *, account_id: str | None = None, inviter_id: str | None = None
    ) -> str:
        """Make an invitation, and forget those that are over.

        Parameters
        ----------
        role : str
            In the study, or else on the server.
        study_id : str, optional
        account_id : str, optional
            Whose password is to be chosen anew; nobody joins then.
        inviter_id : str, optional
            The account that invites; the invitation holds as long as it may do so.

        Returns
        -------
        str
            The secret part of the link, which is not stored.

        Raises
        ------
        InputError
            There is no such role.
        """
        token, moment = new_token(), now()
        checked_role(role, ON_THE_SERVER if study_id is None else IN_A_STUDY)
        values = {"role": role, "account": account_id, "inviter": inviter_id}
        with self.write() as db:
            values["study"] = None if study_id is None else study_in(db, study_id).id
            db.execute(delete(tables.invitations).where(COLUMNS.expires <= moment))
            made = insert(tables.invitations).values(**values, created=moment, expires=moment + LIFETIME)
            db.execute(made.values(token_hash=hash_token(token)))
        return token

    def invitations(self, study_id: str | None = None) -> list[Invitation]:
        """Return the invitations to a study, or those to the server, that can be accepted; the newest first."""
        query = _query().where(COLUMNS.study == study_id).order_by(COLUMNS.id.desc())
        with self.read() as db:
            found = [Invitation(**row._mapping) for row in db.execute(query)]
            return [one for one in found if _is_in_force(db, one)]

    def invitation(self, token: str) -> Invitation:
        """Return the invitation of a link.

        Raises
        ------
        NotFoundError
            It was accepted or revoked, or is over.
        """
        with self.read() as db:
            return _invitation_in(db, token)

    def revoke_invitation(self, invitation_id: int, study_id: str | None = None) -> None:
        """Make an invitation to a study, or else to the server, worthless. Raises NotFoundError: there is none."""
        mine = (COLUMNS.id == invitation_id, COLUMNS.study == study_id)
        with self.write() as db:
            if not db.execute(delete(tables.invitations).where(*mine)).rowcount:
                raise NotFoundError("There is no such invitation, or not any more.")

    def accept_invitation(
        self, token: str, *, account_id: str | None = None, name: str = "", password_hash: str | None = None
    ) -> Account:
        """Accept an invitation, which then is used: an account that there is joins, or a new one is made.

        Raises
        ------
        NotFoundError
            It was accepted or revoked, or is over.
        InputError
            The name is taken, or is none; the invitation can still be accepted.
        """
        with self.write() as db:
            found = _invitation_in(db, token, lock=True)
            db.execute(delete(tables.invitations).where(COLUMNS.id == found.id))
            if found.account is not None:
                set_password_in(db, found.account, password_hash or "")
                return account_in(db, found.account)
            joins = account_in(db, account_id) if account_id else add_account_in(db, name, GUEST, password_hash)
            _raise_role(db, found, joins)
            return account_in(db, joins.id)


def _query() -> Any:
    return select(*(COLUMNS[name] for name in Invitation.__dataclass_fields__))


def _invitation_in(db: Connection, token: str, *, lock: bool = False) -> Invitation:
    query = _query().where(COLUMNS.token_hash == hash_token(token))
    row = db.execute(query.with_for_update() if lock else query).first()
    found = None if row is None else Invitation(**row._mapping)
    if found is None or not _is_in_force(db, found):
        raise NotFoundError(OVER)
    return found


def _is_in_force(db: Connection, found: Invitation) -> bool:
    """Whether an invitation is not over, and who invited may still do so."""
    if found.inviter is None or found.expires <= now():
        return found.expires > now()
    return account_in(db, found.inviter).role == ADMINISTRATOR or _role_in(db, found.study, found.inviter) == OWNER


def _raise_role(db: Connection, found: Invitation, account: Account) -> None:
    """Give an account the role of an invitation, unless it has a higher one."""
    if found.study is not None:
        if not reaches(IN_A_STUDY, _role_in(db, found.study, account.id), found.role):
            set_member_in(db, found.study, account.id, found.role)
    elif not reaches(ON_THE_SERVER, account.role, found.role):
        db.execute(update(tables.accounts).where(tables.accounts.c.id == account.id).values(role=found.role))


def _role_in(db: Connection, study_id: str | None, account_id: str) -> str | None:
    members = tables.members.c
    return db.scalar(select(members.role).where(members.account == account_id, members.study == study_id))
