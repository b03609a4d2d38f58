"""The first tables: hosts, held devices, claims, blocks, the audit log.

A migration is never changed once released, so it stands for itself and imports nothing of Laneway.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "hosts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("boot_id", sa.Text()),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_hosts"),
        sa.UniqueConstraint("name", name="uq_hosts_name"),
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text()),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
    )
    op.create_index("ix_audit_host", "audit", ["host"])
    op.create_table(
        "devices",
        sa.Column("host_id", sa.Integer(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("consumer", sa.Text()),
        sa.Column("claim", sa.Text()),
        sa.Column("request", sa.Text()),
        sa.Column("attach", sa.Text(), nullable=False),
        sa.Column("entry", sa.Integer()),
        sa.Column("function", sa.Text(), nullable=False),
        sa.Column("extra_info", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("host_id", "address", name="pk_devices"),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name="fk_devices_host_id_hosts"),
    )
    op.create_table(
        "claims",
        sa.Column("host_id", sa.Integer(), nullable=False),
        sa.Column("claim", sa.Text(), nullable=False),
        sa.Column("consumer", sa.Text(), nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("devices", sa.Text(), nullable=False),
        sa.Column("proven_best", sa.Boolean(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("host_id", "claim", name="pk_claims"),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name="fk_claims_host_id_hosts"),
    )
    op.create_table(
        "blocks",
        sa.Column("host_id", sa.Integer(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text()),
        sa.PrimaryKeyConstraint("host_id", "address", name="pk_blocks"),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name="fk_blocks_host_id_hosts"),
    )
