"""The tables. What they hold and why so little: docs/state.md.

A change here needs a migration in ``migrations/versions`` and its name in ``revision``.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Boolean, Column, ForeignKey, Integer, MetaData, PrimaryKeyConstraint, Table, Text, false

from laneway.domain.address import PciAddress
from laneway.domain.device import BlockReason, ExtraInfo
from laneway.domain.inventory import PciFunction
from laneway.domain.requests.request import ClaimRequest
from laneway.domain.tracking.claim import MoveOrigin
from laneway.store.columns import AddressText, JsonText, UtcTime

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _host_id() -> Column[int]:
    return Column("host_id", Integer, ForeignKey("hosts.id"), nullable=False)


HOSTS = Table(
    "hosts",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("boot_id", Text),
    Column("generation", Integer, nullable=False),
)
"""``generation`` grows with every change of the host, so that a reader sees whether it has the newest."""

DEVICES = Table(
    "devices",
    METADATA,
    _host_id(),
    Column("address", AddressText, nullable=False),
    Column("status", Text, nullable=False),
    Column("consumer", Text),
    Column("claim", Text),
    Column("request", Text),
    Column("attach", Text, nullable=False),
    Column("entry", Integer),
    Column("function", JsonText(PciFunction), nullable=False),
    Column("extra_info", JsonText(ExtraInfo), nullable=False),
    Column("prepared", Boolean, nullable=False, server_default=false()),
    Column("placeholders", JsonText(tuple[PciFunction, ...]), nullable=False, server_default="[]"),
    Column("displaced", Text),
    PrimaryKeyConstraint("host_id", "address"),
)
"""The devices that are held, one row for each: the key is the last guard against a second owner."""

CLAIMS = Table(
    "claims",
    METADATA,
    _host_id(),
    Column("claim", Text, nullable=False),
    Column("consumer", Text, nullable=False),
    Column("request", JsonText(ClaimRequest), nullable=False),
    Column("devices", JsonText(Mapping[str, tuple[PciAddress, ...]]), nullable=False),
    Column("proven_best", Boolean, nullable=False),
    Column("expires_at", UtcTime),
    Column("move", JsonText(MoveOrigin | None), nullable=False, server_default="null"),
    PrimaryKeyConstraint("host_id", "claim"),
)

BLOCKS = Table(
    "blocks",
    METADATA,
    _host_id(),
    Column("address", AddressText, nullable=False),
    Column("reasons", JsonText(tuple[BlockReason, ...]), nullable=False),
    PrimaryKeyConstraint("host_id", "address"),
)

PORT_BINDINGS = Table(
    "port_bindings",
    METADATA,
    _host_id(),
    Column("port", Text, nullable=False),
    Column("consumer", Text, nullable=False),
    Column("address", AddressText, nullable=False),
    Column("profile", JsonText(dict[str, Any]), nullable=False),
    Column("since", UtcTime, nullable=False),
    Column("is_bound", Boolean, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("error_code", Text),
    Column("error", Text),
    PrimaryKeyConstraint("host_id", "port"),
)
"""The ports that may be bound on a host by us, one row for each, written before Neutron is asked."""

AUDIT = Table(
    "audit",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("at", UtcTime, nullable=False),
    Column("host", Text, nullable=False, index=True),
    Column("actor", Text),
    Column("action", Text, nullable=False),
    Column("detail", JsonText(dict[str, Any]), nullable=False),
)
"""Only ever added to. It names the host, so that it outlives the host's row."""
