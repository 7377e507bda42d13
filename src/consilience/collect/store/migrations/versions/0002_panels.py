"""People from panels: consents, answers to questions, and withdrawals."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

NAMES = ("consents", "question_answers", "withdrawals")


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "consents",
        sa.Column("participant", sa.String(length=16), nullable=False),
        sa.Column("agreed", sa.Boolean(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("decided", sa.DateTime(timezone=True), nullable=False),
        _of_participant("consents"),
        sa.PrimaryKeyConstraint("participant", name=op.f("pk_consents")),
    )
    op.create_table(
        "question_answers",
        sa.Column("participant", sa.String(length=16), nullable=False),
        sa.Column("moment", sa.String(length=16), nullable=False),
        sa.Column("answers", sa.JSON(), nullable=False),
        sa.Column("answered", sa.DateTime(timezone=True), nullable=False),
        _of_participant("question_answers"),
        sa.PrimaryKeyConstraint("participant", "moment", name=op.f("pk_question_answers")),
    )
    op.create_table(
        "withdrawals",
        sa.Column("participant", sa.String(length=16), nullable=False),
        sa.Column("withdrawn", sa.DateTime(timezone=True), nullable=False),
        _of_participant("withdrawals"),
        sa.PrimaryKeyConstraint("participant", name=op.f("pk_withdrawals")),
    )


def _of_participant(table: str) -> sa.ForeignKeyConstraint:
    """Return the key to the participant, with whom a row is deleted."""
    name = op.f(f"fk_{table}_participant")
    return sa.ForeignKeyConstraint(["participant"], ["participants.id"], name=name, ondelete="CASCADE")


def downgrade() -> None:
    """Drop them."""
    for name in reversed(NAMES):
        op.drop_table(name)
