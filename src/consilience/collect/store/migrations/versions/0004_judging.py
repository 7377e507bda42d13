"""Judging: clusters that people who did not sort judge, the questions about them, and the answers."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "judgings",
        sa.Column("study", sa.String(length=16), nullable=False),
        sa.Column("source", sa.String(length=16), nullable=True),
        sa.Column("clusters", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["study"], ["studies.id"], name=op.f("fk_judgings_study"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["source"], ["studies.id"], name=op.f("fk_judgings_source"), ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("study", name=op.f("pk_judgings")),
    )
    op.create_index(op.f("ix_judgings_source"), "judgings", ["source"])
    op.create_table(
        "odd_questions",
        sa.Column("study", sa.String(length=16), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("items", sa.JSON(), nullable=False),
        sa.Column("odd", sa.Integer(), nullable=False),
        sa.Column("cluster", sa.Integer(), nullable=False),
        sa.Column("odd_cluster", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["study"], ["studies.id"], name=op.f("fk_odd_questions_study"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("study", "number", name=op.f("pk_odd_questions")),
    )
    _make_answers()


def _make_answers() -> None:
    op.create_table(
        "odd_answers",
        sa.Column("participant", sa.String(length=16), nullable=False),
        sa.Column("question", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("study", sa.String(length=16), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("shown", sa.JSON(), nullable=False),
        sa.Column("asked", sa.DateTime(timezone=True), nullable=False),
        sa.Column("answered", sa.DateTime(timezone=True), nullable=True),
        sa.Column("answer", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["participant"], ["participants.id"], name=op.f("fk_odd_answers_participant"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["study", "question"],
            ["odd_questions.study", "odd_questions.number"],
            name=op.f("fk_odd_answers_study_question"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("participant", "question", name=op.f("pk_odd_answers")),
        sa.UniqueConstraint("participant", "place", name=op.f("uq_odd_answers_participant_place")),
    )
    op.create_index("ix_odd_answers_study_question", "odd_answers", ["study", "question"])
    op.create_index(
        "uq_odd_answers_in_progress",
        "odd_answers",
        ["participant"],
        unique=True,
        sqlite_where=sa.text("answered IS NULL"),
        postgresql_where=sa.text("answered IS NULL"),
    )


def downgrade() -> None:
    """Drop them."""
    for name in ("odd_answers", "odd_questions", "judgings"):
        op.drop_table(name)
