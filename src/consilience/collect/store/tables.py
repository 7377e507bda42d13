"""The tables of the store, in SQLAlchemy 2; `migrations` makes the same."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
    true,
)
from sqlalchemy.types import TypeDecorator

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
metadata = MetaData(naming_convention=NAMING)


class Moment(TypeDecorator[datetime]):
    """A moment, always in UTC; SQLite keeps no time zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Convert to UTC; for SQLite without the zone."""
        if value is None:
            return None
        moment = value.astimezone(UTC)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return a moment with its zone."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _study(**options: Any) -> Column[str]:
    return Column("study", String(16), ForeignKey("studies.id", ondelete="CASCADE"), nullable=False, **options)


studies = Table(
    "studies",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("title", Text, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("board", String(16), nullable=False),
    Column("status", String(16), nullable=False),
    Column("settings", JSON, nullable=False),
    Column("n_items", Integer, nullable=False),
    Column("join_token", String(64), nullable=False, unique=True),
    Column("seed", Integer, nullable=False),
    Column("created", Moment, nullable=False),
    Column("opened", Moment),
    Column("closed", Moment),
)

pictures = Table(
    "pictures",
    metadata,
    _study(primary_key=True),
    Column("hash", String(64), primary_key=True),
    Column("mime", String(64), nullable=False),
    Column("width", Integer, nullable=False),
    Column("height", Integer, nullable=False),
    Column("data", LargeBinary, nullable=False),
)

items = Table(
    "items",
    metadata,
    _study(primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("picture", String(64)),
    Column("alt", Text, nullable=False),
    Column("description", Text, nullable=False, server_default=""),
    UniqueConstraint("study", "name"),
    ForeignKeyConstraint(["study", "picture"], ["pictures.study", "pictures.hash"]),
)

participants = Table(
    "participants",
    metadata,
    Column("id", String(16), primary_key=True),
    _study(index=True),
    Column("name", Text),
    Column("token_hash", String(64), unique=True),
    Column("parameters", JSON, nullable=False),
    Column("preview", Boolean, nullable=False),
    Column("excluded", Boolean, nullable=False),
    Column("created", Moment, nullable=False),
    Column("language", String(35)),
    UniqueConstraint("study", "name"),
)

assignments = Table(
    "assignments",
    metadata,
    Column("id", Integer, primary_key=True),
    _study(),
    Column("participant", String(16), ForeignKey("participants.id", ondelete="CASCADE"), nullable=False),
    Column("items", JSON, nullable=False),
    Column("source", String(32), nullable=False),
    Column("state", String(16), nullable=False),
    Column("number", Integer, nullable=False),
    Column("assigned", Moment, nullable=False),
    Column("started", Moment),
    Column("changed", Moment),
    Column("submitted", Moment),
    Column("board", JSON, nullable=False),  # the state after the last change
    Column("answer", JSON(none_as_null=True)),
    UniqueConstraint("participant", "number"),
    Index("ix_assignments_study_state", "study", "state"),
    Index(  # nobody has two assignments in progress, whatever happens at the same time
        "uq_assignments_in_progress",
        "participant",
        unique=True,
        sqlite_where=text("state <> 'submitted'"),
        postgresql_where=text("state <> 'submitted'"),
    ),
    sqlite_autoincrement=True,
)

changes = Table(
    "changes",
    metadata,
    Column("assignment", Integer, ForeignKey("assignments.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("client", String(64), nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("change", JSON, nullable=False),
    Column("received", Moment, nullable=False),
    UniqueConstraint("assignment", "client", "sequence"),
)

subsets = Table(
    "subsets",
    metadata,
    Column("id", Integer, primary_key=True),
    _study(index=True),
    Column("items", JSON, nullable=False),
    Column("source", String(32), nullable=False),
    Column("participant", String(16), ForeignKey("participants.id", ondelete="CASCADE")),
    Column("assignment", Integer, ForeignKey("assignments.id", ondelete="CASCADE"), unique=True),
    Column("created", Moment, nullable=False),
    sqlite_autoincrement=True,
)

jobs = Table(
    "jobs",
    metadata,
    Column("id", Integer, primary_key=True),
    _study(),
    Column("kind", String(16), nullable=False),
    Column("state", String(16), nullable=False),
    Column("due", Moment, nullable=False),
    Column("started", Moment),
    Column("finished", Moment),
    Column("error", Text),
    Index("ix_jobs_state_due", "state", "due"),
    Index(
        "uq_jobs_waiting",
        "study",
        "kind",
        unique=True,
        sqlite_where=text("state = 'waiting'"),
        postgresql_where=text("state = 'waiting'"),
    ),
    sqlite_autoincrement=True,
)

consensuses = Table(  # of each study the newest
    "consensuses",
    metadata,
    Column("id", Integer, primary_key=True),
    _study(index=True),
    Column("created", Moment, nullable=False),
    Column("n_groupings", Integer, nullable=False),
    Column("summary", JSON, nullable=False),
    sqlite_autoincrement=True,
)

overviews = Table(  # drawings and tables of the dashboard, the last only
    "overviews",
    metadata,
    Column("study", String(16), ForeignKey("studies.id", ondelete="CASCADE"), primary_key=True),
    Column("answers", String(32), nullable=False),
    Column("created", Moment, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("content", JSON, nullable=False),
)

accounts = Table(
    "accounts",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("name", Text, nullable=False),
    Column("name_key", Text, nullable=False, unique=True),  # the same for names that look alike
    Column("password_hash", Text),  # none of those whom only a proxy names
    Column("role", String(16), nullable=False),
    Column("created", Moment, nullable=False),
    Column("used", Moment),
)


def _account(**options: Any) -> Column[str]:
    return Column("account", String(16), ForeignKey("accounts.id", ondelete="CASCADE"), **options)


members = Table(  # of studies; administrators need not be
    "members",
    metadata,
    _study(primary_key=True),
    _account(primary_key=True, index=True),
    Column("role", String(16), nullable=False),
)

invitations = Table(  # that were not accepted yet
    "invitations",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("token_hash", String(64), nullable=False, unique=True),
    Column("study", String(16), ForeignKey("studies.id", ondelete="CASCADE"), index=True),
    _account(),  # whose password is chosen anew; none for those who are to join
    Column("role", String(16), nullable=False),
    Column("inviter", String(16), ForeignKey("accounts.id", ondelete="CASCADE")),
    Column("created", Moment, nullable=False),
    Column("expires", Moment, nullable=False),
    sqlite_autoincrement=True,
)

actions = Table(  # who changed what; they outlast accounts and studies
    "actions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("done", Moment, nullable=False),
    Column("name", Text, nullable=False),  # of the account
    Column("study", String(16), index=True),
    Column("title", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("detail", Text, nullable=False),
    sqlite_autoincrement=True,
)

tokens = Table(
    "tokens",
    metadata,
    Column("id", Integer, primary_key=True),
    _account(),  # none of those that were made before there were accounts, or in Python: they may do everything
    Column("name", Text, nullable=False),
    Column("token_hash", String(64), nullable=False, unique=True),
    Column("created", Moment, nullable=False),
    Column("used", Moment),
    Column("revoked", Moment),
    sqlite_autoincrement=True,
)

sessions = Table(
    "sessions",
    metadata,
    Column("token_hash", String(64), primary_key=True),
    _account(nullable=False, index=True),
    Column("created", Moment, nullable=False),
    Column("expires", Moment, nullable=False),
)

secrets = Table(  # empty since there are accounts; in it, backups of earlier versions have the password
    "secrets",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)

# ---- people from panels

consents = Table(
    "consents",
    metadata,
    Column("participant", String(16), ForeignKey("participants.id", ondelete="CASCADE"), primary_key=True),
    Column("agreed", Boolean, nullable=False),
    Column("text", Text, nullable=False),
    Column("decided", Moment, nullable=False),
)

question_answers = Table(
    "question_answers",
    metadata,
    Column("participant", String(16), ForeignKey("participants.id", ondelete="CASCADE"), primary_key=True),
    Column("moment", String(16), primary_key=True),
    Column("answers", JSON, nullable=False),
    Column("answered", Moment, nullable=False),
    Column("complete", Boolean, nullable=False, server_default=true()),  # else a page of questions follows
)

withdrawals = Table(
    "withdrawals",
    metadata,
    Column("participant", String(16), ForeignKey("participants.id", ondelete="CASCADE"), primary_key=True),
    Column("withdrawn", Moment, nullable=False),
)

endings = Table(  # how participants ended, as the last page said
    "endings",
    metadata,
    Column("participant", String(16), ForeignKey("participants.id", ondelete="CASCADE"), primary_key=True),
    Column("ending", String(16), nullable=False),
    Column("code", Text, nullable=False),  # that they were shown; empty if none
    Column("reached", Moment, nullable=False),
)

quota_places = Table(  # that participants took when they began
    "quota_places",
    metadata,
    Column("participant", String(16), ForeignKey("participants.id", ondelete="CASCADE"), primary_key=True),
    Column("quota", String(64), primary_key=True),  # the hash of its condition
    Column("taken", Moment, nullable=False),
)

# ---- judging

judgings = Table(  # what is more of a study in which people who did not sort judge clusters
    "judgings",
    metadata,
    _study(primary_key=True),
    Column("source", String(16), ForeignKey("studies.id", ondelete="SET NULL"), index=True),
    Column("clusters", JSON, nullable=False),  # the name and the numbers of the items of each
)

odd_questions = Table(
    "odd_questions",
    metadata,
    _study(primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("items", JSON, nullable=False),
    Column("odd", Integer, nullable=False),  # the item that does not belong
    Column("cluster", Integer, nullable=False),
    Column("odd_cluster", Integer, nullable=False),
)

odd_answers = Table(  # questions that were asked, and their answers once they come
    "odd_answers",
    metadata,
    Column("participant", String(16), ForeignKey("participants.id", ondelete="CASCADE"), primary_key=True),
    Column("question", Integer, primary_key=True, autoincrement=False),
    Column("study", String(16), nullable=False),
    Column("place", Integer, nullable=False),  # which of the participant's questions
    Column("shown", JSON, nullable=False),  # the items in the order in which they were shown
    Column("asked", Moment, nullable=False),
    Column("answered", Moment),
    Column("answer", Integer),  # the item that was chosen; none if they could not say
    UniqueConstraint("participant", "place"),
    ForeignKeyConstraint(["study", "question"], ["odd_questions.study", "odd_questions.number"], ondelete="CASCADE"),
    Index("ix_odd_answers_study_question", "study", "question"),
    Index(  # nobody has two questions before them, whatever happens at the same time
        "uq_odd_answers_in_progress",
        "participant",
        unique=True,
        sqlite_where=text("answered IS NULL"),
        postgresql_where=text("answered IS NULL"),
    ),
)

# ---- training

trials = Table(  # assignments whose right answer is known: practice, admission and gold
    "trials",
    metadata,
    Column("assignment", Integer, ForeignKey("assignments.id", ondelete="CASCADE"), primary_key=True),
    Column("role", String(16), nullable=False),
    Column("place", Integer, nullable=False),  # which of the sorts of its role
    Column("attempt", Integer, nullable=False),
    Column("cards", JSON, nullable=False),  # items with the right group of each
    Column("mark", Float),
    Column("score", Float),
    Column("seen", Boolean, nullable=False),
)
