"""Overviews: the drawings and tables of a study's dashboard, as the worker made them last."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "overviews",
        sa.Column("study", sa.String(length=16), nullable=False),
        sa.Column("answers", sa.String(length=32), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["study"], ["studies.id"], name=op.f("fk_overviews_study"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("study", name=op.f("pk_overviews")),
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("overviews")
