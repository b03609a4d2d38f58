"""Held devices that are prepared for a guest, and the VFs that are gone meanwhile."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    with op.batch_alter_table("devices") as devices:
        devices.add_column(sa.Column("prepared", sa.Boolean(), nullable=False, server_default=sa.false()))
        devices.add_column(sa.Column("placeholders", sa.Text(), nullable=False, server_default="[]"))
