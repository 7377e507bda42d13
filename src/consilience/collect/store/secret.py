"""Secrets of links, cookies and scripts: unguessable, and kept as hashes where nobody has to read them again."""

from __future__ import annotations

import hashlib
import secrets

LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that is easily taken for another
LENGTH = 10  # of an id
LONGEST = 200  # of a token that is looked up


def new_id() -> str:
    """Return a short random id, which is no secret."""
    return "".join(secrets.choice(LETTERS) for _ in range(LENGTH))


def new_token() -> str:
    """Return an unguessable token of 256 bits."""
    return secrets.token_urlsafe(32)


def hash_token(token: str) -> str:
    """Return what is stored of a token; being random, it needs no salt and no slow hash."""
    return hashlib.sha256(token[:LONGEST].encode("utf-8", "replace")).hexdigest()


def new_seed() -> int:
    """Return a random seed."""
    return secrets.randbelow(2**31 - 1)
