"""A claim may be the destination of a move: what it takes the place of, as JSON."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("claims", sa.Column("move", sa.Text(), nullable=False, server_default="null"))
