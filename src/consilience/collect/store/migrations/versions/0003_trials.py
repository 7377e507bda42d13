"""Trials: the sorts of practice, admission and gold, with their right answers and scores."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "trials",
        sa.Column("assignment", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("cards", sa.JSON(), nullable=False),
        sa.Column("mark", sa.Float(), nullable=True),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("seen", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment"], ["assignments.id"], name=op.f("fk_trials_assignment"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("assignment", name=op.f("pk_trials")),
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("trials")
