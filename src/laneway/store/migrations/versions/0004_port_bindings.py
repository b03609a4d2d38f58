"""What is known of the bindings of Neutron's ports, so that none is left bound when nobody wishes it any more."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "port_bindings",
        sa.Column("host_id", sa.Integer(), nullable=False),
        sa.Column("port", sa.Text(), nullable=False),
        sa.Column("consumer", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("profile", sa.Text(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("is_bound", sa.Boolean(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("error_code", sa.Text()),
        sa.Column("error", sa.Text()),
        sa.PrimaryKeyConstraint("host_id", "port", name="pk_port_bindings"),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name="fk_port_bindings_host_id_hosts"),
    )
