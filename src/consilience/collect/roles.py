"""The roles of accounts: in a study, and on the server."""

from __future__ import annotations

VIEWER, EDITOR, OWNER = IN_A_STUDY = ("viewer", "editor", "owner")
GUEST, RESEARCHER, ADMINISTRATOR = ON_THE_SERVER = ("guest", "researcher", "administrator")
