"""Languages: in which each person takes part."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the column; of people who came before it is not known."""
    op.add_column("participants", sa.Column("language", sa.String(35), nullable=True))


def downgrade() -> None:
    """Drop it."""
    op.drop_column("participants", "language")
