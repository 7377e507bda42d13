"""The log: codes and addresses of the ends of studies, which earlier versions told there, are taken out."""

import re

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

ACTIONS = sa.table("actions", sa.column("id"), sa.column("detail"))
TOLD = re.compile(  # "name: before → after", of which strings may hold a semicolon, and the last may be cut off
    r"""(?:^|(?<=;\ )) (panel\.endings[\w.]*) :\  (?: "(?:\\.|[^"\\])*"? | [^";] )*""", re.VERBOSE | re.DOTALL
)


def upgrade() -> None:
    """Leave of each such change that there was one, as is written since."""
    db = op.get_bind()
    told = sa.select(ACTIONS.c.id, ACTIONS.c.detail).where(ACTIONS.c.detail.contains("panel.endings"))
    for number, detail in db.execute(told).all():
        db.execute(sa.update(ACTIONS).where(ACTIONS.c.id == number).values(detail=TOLD.sub(r"\1", detail)))


def downgrade() -> None:
    """Leave them as they are: what was taken out is nowhere."""
