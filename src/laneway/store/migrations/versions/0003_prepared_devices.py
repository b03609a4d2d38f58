"""Held devices that are prepared, or not where they were; whom a cordon means; cleanings as values.

A cleaning was any text. What the text says stays: one that is no kind of today is a program of that name.
"""

import json

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

DEVICES = sa.table("devices", sa.column("host_id"), sa.column("address"), sa.column("extra_info"))


def upgrade() -> None:
    with op.batch_alter_table("devices") as devices:
        devices.add_column(sa.Column("prepared", sa.Boolean(), nullable=False, server_default=sa.false()))
        devices.add_column(sa.Column("placeholders", sa.Text(), nullable=False, server_default="[]"))
        devices.add_column(sa.Column("displaced", sa.Text()))
    with op.batch_alter_table("blocks") as blocks:
        blocks.add_column(sa.Column("function", sa.Text(), nullable=False, server_default="null"))
    _make_cleanings_values()


def _make_cleanings_values() -> None:
    connection = op.get_bind()
    for host_id, address, text in connection.execute(sa.select(DEVICES)).all():
        extra_info = json.loads(text)
        named = extra_info.get("cleaning")
        if isinstance(named, str):
            is_kind = named in ("reset", "nvme-format")
            extra_info["cleaning"] = {"kind": named} if is_kind else {"kind": "command", "command": [named]}
            connection.execute(
                sa.update(DEVICES)
                .where(DEVICES.c.host_id == host_id, DEVICES.c.address == address)
                .values(extra_info=json.dumps(extra_info))
            )
