"""Who may do what: the administrator's password and sessions, and the tokens of scripts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, insert, select, update

from consilience.collect.errors import NotFoundError
from consilience.collect.settings.checks import LONGEST_NAME
from consilience.collect.settings.cleaning import clean_text
from consilience.collect.store import tables
from consilience.collect.store.database import Database, now
from consilience.collect.store.secret import hash_token, new_token

PASSWORD = "password"


@dataclass(frozen=True)
class Token:
    """A token by which a script has access, without its secret.

    created, used, revoked : datetime, or None
    """

    id: int
    name: str
    created: datetime
    used: datetime | None
    revoked: datetime | None


class Access(Database):
    """What the store knows of access. Passwords are hashed by the caller, since this is slow on purpose."""

    def set_password_hash(self, password_hash: str) -> None:
        """Keep the hash of the administrator's password, and end all sessions."""
        self.set_secret(PASSWORD, password_hash)
        self.end_sessions()

    def password_hash(self) -> str | None:
        """Return the hash of the administrator's password; None if none was set."""
        return self.secret(PASSWORD)

    def set_secret(self, name: str, value: str) -> None:
        """Keep a value that belongs to the server."""
        with self.write() as db:
            db.execute(delete(tables.secrets).where(tables.secrets.c.name == name))
            db.execute(insert(tables.secrets).values(name=name, value=value))

    def secret(self, name: str) -> str | None:
        """Return a value that belongs to the server; None if there is none."""
        with self.read() as db:
            return db.scalar(select(tables.secrets.c.value).where(tables.secrets.c.name == name))

    def new_session(self, lifetime: timedelta) -> str:
        """Begin a session of the administrator, and forget those that are over.

        Returns
        -------
        str
            Its secret, which is not stored.
        """
        token, moment = new_token(), now()
        with self.write() as db:
            db.execute(delete(tables.sessions).where(tables.sessions.c.expires <= moment))
            values = {"token_hash": hash_token(token), "created": moment, "expires": moment + lifetime}
            db.execute(insert(tables.sessions).values(**values))
        return token

    def is_session(self, token: str) -> bool:
        """Whether a session with this secret goes on."""
        columns = tables.sessions.c
        with self.read() as db:
            expires = db.scalar(select(columns.expires).where(columns.token_hash == hash_token(token)))
        return expires is not None and expires > now()

    def end_session(self, token: str) -> None:
        """End a session, if there is one with this secret."""
        with self.write() as db:
            db.execute(delete(tables.sessions).where(tables.sessions.c.token_hash == hash_token(token)))

    def end_sessions(self) -> None:
        """End all sessions."""
        with self.write() as db:
            db.execute(delete(tables.sessions))

    def create_token(self, name: str) -> tuple[Token, str]:
        """Make a token for a script.

        Returns
        -------
        token : Token
        secret : str
            It is not stored and cannot be read again.

        Raises
        ------
        InputError
            The name is no text, or too long.
        """
        found, secret = clean_text(name, "The name of a token", LONGEST_NAME, one_line=True), new_token()
        moment = now()
        values = {"name": found, "token_hash": hash_token(secret), "created": moment}
        with self.write() as db:
            number = db.scalar(insert(tables.tokens).values(**values).returning(tables.tokens.c.id))
        return Token(number or 0, found, moment, None, None), secret

    def tokens(self) -> list[Token]:
        """Return all tokens, revoked ones included, in the order in which they were made."""
        columns = tables.tokens.c
        query = select(columns.id, columns.name, columns.created, columns.used, columns.revoked).order_by(columns.id)
        with self.read() as db:
            return [Token(*row) for row in db.execute(query)]

    def revoke_token(self, token_id: int) -> None:
        """Make a token worthless from now on.

        Raises
        ------
        NotFoundError
            There is no such token.
        """
        columns = tables.tokens.c
        with self.write() as db:
            if db.scalar(select(columns.id).where(columns.id == token_id)) is None:
                raise NotFoundError("There is no such token.")
            revoked = (columns.id == token_id, columns.revoked.is_(None))
            db.execute(update(tables.tokens).where(*revoked).values(revoked=now()))

    def check_token(self, secret: str) -> Token | None:
        """Return the token with this secret; None if there is none, or it was revoked. Notes the day of use."""
        columns, moment = tables.tokens.c, now()
        query = select(columns.id, columns.name, columns.created, columns.used, columns.revoked)
        with self.read() as db:
            row = db.execute(query.where(columns.token_hash == hash_token(secret), columns.revoked.is_(None))).first()
        if row is None:
            return None
        if row.used is None or moment - row.used > timedelta(days=1):
            with self.write() as db:
                db.execute(update(tables.tokens).where(columns.id == row.id).values(used=moment))
        return Token(*row)
