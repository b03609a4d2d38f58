"""A device may be blocked for several reasons at once: an operator's cordon, and a cleaning that failed."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_OF_ONE = ("code", "message", "detail", "function")
BLOCKS = sa.table("blocks", sa.column("host_id"), sa.column("address"), sa.column("reasons"), *map(sa.column, _OF_ONE))


def upgrade() -> None:
    with op.batch_alter_table("blocks") as blocks:
        blocks.add_column(sa.Column("reasons", sa.Text(), nullable=False, server_default="[]"))
    connection = op.get_bind()
    for row in connection.execute(sa.select(BLOCKS)).all():
        reason = {"code": row.code, "message": row.message, "detail": row.detail, "function": json.loads(row.function)}
        connection.execute(
            sa.update(BLOCKS)
            .where(BLOCKS.c.host_id == row.host_id, BLOCKS.c.address == row.address)
            .values(reasons=json.dumps([reason]))
        )
    with op.batch_alter_table("blocks") as blocks:
        for column in _OF_ONE:
            blocks.drop_column(column)
        blocks.alter_column("reasons", existing_type=sa.Text(), existing_nullable=False, server_default=None)
