"""Places in quotas: who took one, and when."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "quota_places",
        sa.Column("participant", sa.String(length=16), nullable=False),
        sa.Column("quota", sa.String(length=64), nullable=False),
        sa.Column("taken", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["participant"], ["participants.id"], name=op.f("fk_quota_places_participant"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("participant", "quota", name=op.f("pk_quota_places")),
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("quota_places")
