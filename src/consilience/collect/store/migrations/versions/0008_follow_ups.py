"""Follow-up questions: whether somebody answered all questions of a moment, or only the first page of them."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the column; what was answered before it was answered wholly."""
    op.add_column("question_answers", sa.Column("complete", sa.Boolean(), server_default=sa.true(), nullable=False))


def downgrade() -> None:
    """Drop it."""
    op.drop_column("question_answers", "complete")
