"""What a consumer asks for: requests, constraints between them, and the claim as a whole."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from laneway.domain.address import PciAddress
from laneway.domain.device import Attach
from laneway.domain.inventory import DevType

RequestedValue = str | bool | None | tuple[str, ...]
"""What a request wants of a tag. Of a tuple all members are needed (rule C52)."""


class NumaPolicy(StrEnum):
    """Which NUMA nodes a device may stand on, seen from the guest's (rules C57 and C58)."""

    REQUIRED = "required"
    LEGACY = "legacy"
    PREFERRED = "preferred"
    SOCKET = "socket"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """One way to satisfy a request: all that is given must hold. None means any."""

    vendor_id: str | None = None
    product_id: str | None = None
    dev_type: DevType | None = None
    parent_ifname: str | None = None
    tags: Mapping[str, RequestedValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceRequest:
    """``count`` devices, each of which satisfies one of the ``alternatives``.

    ``provider`` is where Placement has chosen them: the device at this address, or VFs of it (rule P13).
    ``alias`` is the name of the alias it came from; ``requester`` the id of the port that it is for,
    or the request's name where the port has none.
    """

    name: str
    alternatives: tuple[Alternative, ...]
    count: int = 1
    numa_policy: NumaPolicy = NumaPolicy.LEGACY
    attach: Attach = Attach.VFIO
    alias: str | None = None
    requester: str | None = None
    provider: PciAddress | None = None


class ConstraintKind(StrEnum):
    MATCH = "match"
    DISTINCT = "distinct"


PLACE_ATTRIBUTES = ("numa_node", "socket", "pcie_root", "parent", "iommu_group")
"""Attributes that a constraint may name besides tags (``physical_network`` and all others)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """The devices of the named requests share a value of the attribute, or share none pairwise."""

    kind: ConstraintKind
    attribute: str
    requests: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRequest:
    """All that one claim asks for. No guest nodes means no NUMA filter (rule C59)."""

    consumer: str
    claim: str
    requests: tuple[DeviceRequest, ...]
    constraints: tuple[Constraint, ...] = ()
    guest_numa_nodes: frozenset[int] = frozenset()
