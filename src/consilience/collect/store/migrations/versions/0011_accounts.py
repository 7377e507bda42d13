"""Accounts: the one password becomes that of the first administrator, whose sessions go on."""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

ADMIN = "admin"  # id, name and key of the first administrator, whom the form of the password called so
PASSWORD = "password"
MOMENT = sa.DateTime(timezone=True)
SECRETS = sa.table("secrets", sa.column("name"), sa.column("value"))
ACCOUNTS = sa.table(
    "accounts",
    *map(sa.column, ("id", "name", "name_key", "password_hash", "role")),
    sa.column("created", MOMENT),
)
SESSIONS, TOKENS = (sa.table(name, sa.column("account")) for name in ("sessions", "tokens"))


def _of(table: str, other: str, column: str) -> sa.ForeignKeyConstraint:
    name = op.f(f"fk_{table}_{column}")
    return sa.ForeignKeyConstraint([column], [f"{other}.id"], name=name, ondelete="CASCADE")


def upgrade() -> None:
    """Make the tables, and the first administrator if there is a password."""
    op.create_table(
        "accounts",
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("name_key", sa.Text(), nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=True),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("created", MOMENT, nullable=False),
        sa.Column("used", MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_accounts")),
        sa.UniqueConstraint("name_key", name=op.f("uq_accounts_name_key")),
    )
    op.create_table(
        "members",
        sa.Column("study", sa.String(length=16), nullable=False),
        sa.Column("account", sa.String(length=16), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        _of("members", "studies", "study"),
        _of("members", "accounts", "account"),
        sa.PrimaryKeyConstraint("study", "account", name=op.f("pk_members")),
    )
    op.create_index(op.f("ix_members_account"), "members", ["account"])
    op.create_table(
        "invitations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("study", sa.String(length=16), nullable=True),
        sa.Column("account", sa.String(length=16), nullable=True),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("inviter", sa.String(length=16), nullable=True),
        sa.Column("created", MOMENT, nullable=False),
        sa.Column("expires", MOMENT, nullable=False),
        _of("invitations", "studies", "study"),
        _of("invitations", "accounts", "account"),
        _of("invitations", "accounts", "inviter"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invitations")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_invitations_token_hash")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_invitations_study"), "invitations", ["study"])
    op.create_table(
        "actions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("done", MOMENT, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("study", sa.String(length=16), nullable=True),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_actions")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_actions_study"), "actions", ["study"])
    _make_administrator()
    for table in ("tokens", "sessions"):
        with op.batch_alter_table(table) as altered:
            altered.add_column(sa.Column("account", sa.String(length=16), nullable=True))
            altered.create_foreign_key(op.f(f"fk_{table}_account"), "accounts", ["account"], ["id"], ondelete="CASCADE")
    op.execute(sa.update(SESSIONS).values(account=sa.select(ACCOUNTS.c.id).scalar_subquery()))
    op.execute(sa.delete(SESSIONS).where(SESSIONS.c.account.is_(None)))
    with op.batch_alter_table("sessions") as altered:
        altered.alter_column("account", existing_type=sa.String(length=16), nullable=False)
    op.create_index(op.f("ix_sessions_account"), "sessions", ["account"])


def _make_administrator() -> None:
    db = op.get_bind()
    password = db.scalar(sa.select(SECRETS.c.value).where(SECRETS.c.name == PASSWORD))
    if password is not None:
        named = {"id": ADMIN, "name": ADMIN, "name_key": ADMIN, "role": "administrator"}
        db.execute(sa.insert(ACCOUNTS).values(**named, password_hash=password, created=datetime.now(UTC)))
        db.execute(sa.delete(SECRETS).where(SECRETS.c.name == PASSWORD))


def downgrade() -> None:
    """Drop them; the password is that of the first administrator, and everybody logs in anew."""
    db = op.get_bind()
    earliest = sa.select(ACCOUNTS.c.password_hash).order_by(ACCOUNTS.c.created, ACCOUNTS.c.id).limit(1)
    password = db.scalar(earliest.where(ACCOUNTS.c.role == "administrator", ACCOUNTS.c.password_hash.is_not(None)))
    if password is not None:
        db.execute(sa.insert(SECRETS).values(name=PASSWORD, value=password))
    db.execute(sa.delete(SESSIONS))
    of_others = sa.select(ACCOUNTS.c.id).where(ACCOUNTS.c.role != "administrator")
    db.execute(sa.delete(TOKENS).where(TOKENS.c.account.in_(of_others)))  # which would be allowed everything
    op.drop_index(op.f("ix_sessions_account"), table_name="sessions")
    for table in ("sessions", "tokens"):
        with op.batch_alter_table(table) as altered:
            altered.drop_constraint(op.f(f"fk_{table}_account"), type_="foreignkey")
            altered.drop_column("account")
    for table in ("actions", "invitations", "members", "accounts"):
        op.drop_table(table)
