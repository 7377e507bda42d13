"""The tokens of scripts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import insert, select, update

from consilience.collect.errors import NotFoundError
from consilience.collect.settings.checks import LONGEST_NAME
from consilience.collect.settings.cleaning import clean_text
from consilience.collect.store import tables
from consilience.collect.store.database import Database, now
from consilience.collect.store.secret import hash_token, new_token

SHOWN = [tables.tokens.c[name] for name in ("id", "account", "name", "created", "used", "revoked")]


@dataclass(frozen=True)
class Token:
    """A token by which a script has access, without its secret.

    account : str, or None; whose it is, whose roles it has. One of nobody may do everything.
    created, used, revoked : datetime, or None
    """

    id: int
    account: str | None
    name: str
    created: datetime
    used: datetime | None
    revoked: datetime | None


class Access(Database):
    """What the store knows of the access of scripts."""

    def create_token(self, name: str, account_id: str | None = None) -> tuple[Token, str]:
        """Make a token for a script, which may do what an account may do; without one, everything.

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
        values = {"name": found, "account": account_id, "token_hash": hash_token(secret), "created": moment}
        with self.write() as db:
            number = db.scalar(insert(tables.tokens).values(**values).returning(tables.tokens.c.id))
        return Token(number or 0, account_id, found, moment, None, None), secret

    def tokens(self) -> list[Token]:
        """Return all tokens, revoked ones included, in the order in which they were made."""
        with self.read() as db:
            return [Token(*row) for row in db.execute(select(*SHOWN).order_by(tables.tokens.c.id))]

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
        with self.read() as db:
            mine = (columns.token_hash == hash_token(secret), columns.revoked.is_(None))
            row = db.execute(select(*SHOWN).where(*mine)).first()
        if row is None:
            return None
        if row.used is None or moment - row.used > timedelta(days=1):
            with self.write() as db:
                db.execute(update(tables.tokens).where(columns.id == row.id).values(used=moment))
        return Token(*row)
