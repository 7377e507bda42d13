"""The first tables: studies, participants, assignments, changes, prepared subsets, jobs, consensuses and access."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "secrets",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_secrets")),
    )
    op.create_table(
        "sessions",
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_sessions")),
    )
    op.create_table(
        "studies",
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("board", sa.String(length=16), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("n_items", sa.Integer(), nullable=False),
        sa.Column("join_token", sa.String(length=64), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("opened", sa.DateTime(timezone=True), nullable=True),
        sa.Column("closed", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_studies")),
        sa.UniqueConstraint("join_token", name=op.f("uq_studies_join_token")),
    )
    op.create_table(
        "tokens",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_tokens_token_hash")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "consensuses",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study", sa.String(length=16), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("n_groupings", sa.Integer(), nullable=False),
        sa.Column("summary", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["study"], ["studies.id"], name=op.f("fk_consensuses_study"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_consensuses")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_consensuses_study"), "consensuses", ["study"], unique=False)
    op.create_table(
        "jobs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study", sa.String(length=16), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("due", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished", sa.DateTime(timezone=True), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["study"], ["studies.id"], name=op.f("fk_jobs_study"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_jobs_state_due", "jobs", ["state", "due"], unique=False)
    op.create_index(
        "uq_jobs_waiting",
        "jobs",
        ["study", "kind"],
        unique=True,
        sqlite_where=sa.text("state = 'waiting'"),
        postgresql_where=sa.text("state = 'waiting'"),
    )
    op.create_table(
        "participants",
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("study", sa.String(length=16), nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("token_hash", sa.String(length=64), nullable=True),
        sa.Column("parameters", sa.JSON(), nullable=False),
        sa.Column("preview", sa.Boolean(), nullable=False),
        sa.Column("excluded", sa.Boolean(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["study"], ["studies.id"], name=op.f("fk_participants_study"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_participants")),
        sa.UniqueConstraint("study", "name", name=op.f("uq_participants_study_name")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_participants_token_hash")),
    )
    op.create_index(op.f("ix_participants_study"), "participants", ["study"], unique=False)
    op.create_table(
        "pictures",
        sa.Column("study", sa.String(length=16), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("mime", sa.String(length=64), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["study"], ["studies.id"], name=op.f("fk_pictures_study"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("study", "hash", name=op.f("pk_pictures")),
    )
    op.create_table(
        "assignments",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study", sa.String(length=16), nullable=False),
        sa.Column("participant", sa.String(length=16), nullable=False),
        sa.Column("items", sa.JSON(), nullable=False),
        sa.Column("source", sa.String(length=32), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("assigned", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started", sa.DateTime(timezone=True), nullable=True),
        sa.Column("changed", sa.DateTime(timezone=True), nullable=True),
        sa.Column("submitted", sa.DateTime(timezone=True), nullable=True),
        sa.Column("board", sa.JSON(), nullable=False),
        sa.Column("answer", sa.JSON(none_as_null=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["participant"], ["participants.id"], name=op.f("fk_assignments_participant"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["study"], ["studies.id"], name=op.f("fk_assignments_study"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_assignments")),
        sa.UniqueConstraint("participant", "number", name=op.f("uq_assignments_participant_number")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_assignments_study_state", "assignments", ["study", "state"], unique=False)
    op.create_index(
        "uq_assignments_in_progress",
        "assignments",
        ["participant"],
        unique=True,
        sqlite_where=sa.text("state <> 'submitted'"),
        postgresql_where=sa.text("state <> 'submitted'"),
    )
    op.create_table(
        "items",
        sa.Column("study", sa.String(length=16), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("picture", sa.String(length=64), nullable=True),
        sa.Column("alt", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["study", "picture"], ["pictures.study", "pictures.hash"], name=op.f("fk_items_study_picture")
        ),
        sa.ForeignKeyConstraint(["study"], ["studies.id"], name=op.f("fk_items_study"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("study", "number", name=op.f("pk_items")),
        sa.UniqueConstraint("study", "name", name=op.f("uq_items_study_name")),
    )
    op.create_table(
        "changes",
        sa.Column("assignment", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("client", sa.String(length=64), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("change", sa.JSON(), nullable=False),
        sa.Column("received", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment"], ["assignments.id"], name=op.f("fk_changes_assignment"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("assignment", "number", name=op.f("pk_changes")),
        sa.UniqueConstraint("assignment", "client", "sequence", name=op.f("uq_changes_assignment_client_sequence")),
    )
    op.create_table(
        "subsets",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study", sa.String(length=16), nullable=False),
        sa.Column("items", sa.JSON(), nullable=False),
        sa.Column("source", sa.String(length=32), nullable=False),
        sa.Column("participant", sa.String(length=16), nullable=True),
        sa.Column("assignment", sa.Integer(), nullable=True),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment"], ["assignments.id"], name=op.f("fk_subsets_assignment"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["participant"], ["participants.id"], name=op.f("fk_subsets_participant"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["study"], ["studies.id"], name=op.f("fk_subsets_study"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_subsets")),
        sa.UniqueConstraint("assignment", name=op.f("uq_subsets_assignment")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_subsets_study"), "subsets", ["study"], unique=False)


def downgrade() -> None:
    """Drop them."""
    op.drop_index(op.f("ix_subsets_study"), table_name="subsets")
    op.drop_table("subsets")
    op.drop_table("changes")
    op.drop_table("items")
    op.drop_index(
        "uq_assignments_in_progress",
        table_name="assignments",
        sqlite_where=sa.text("state <> 'submitted'"),
        postgresql_where=sa.text("state <> 'submitted'"),
    )
    op.drop_index("ix_assignments_study_state", table_name="assignments")
    op.drop_table("assignments")
    op.drop_table("pictures")
    op.drop_index(op.f("ix_participants_study"), table_name="participants")
    op.drop_table("participants")
    op.drop_index(
        "uq_jobs_waiting",
        table_name="jobs",
        sqlite_where=sa.text("state = 'waiting'"),
        postgresql_where=sa.text("state = 'waiting'"),
    )
    op.drop_index("ix_jobs_state_due", table_name="jobs")
    op.drop_table("jobs")
    op.drop_index(op.f("ix_consensuses_study"), table_name="consensuses")
    op.drop_table("consensuses")
    op.drop_table("tokens")
    op.drop_table("studies")
    op.drop_table("sessions")
    op.drop_table("secrets")
