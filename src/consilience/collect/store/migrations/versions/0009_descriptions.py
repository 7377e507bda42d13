"""Descriptions of cards: what a card means, for who asks."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the column; cards of before have none."""
    op.add_column("items", sa.Column("description", sa.Text(), server_default="", nullable=False))


def downgrade() -> None:
    """Drop it."""
    op.drop_column("items", "description")
