"""Endings: how each participant ended, and the code that they were shown."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "endings",
        sa.Column("participant", sa.String(length=16), nullable=False),
        sa.Column("ending", sa.String(length=16), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("reached", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["participant"], ["participants.id"], name=op.f("fk_endings_participant"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("participant", name=op.f("pk_endings")),
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("endings")
