"""Tracked devices: functions that a device spec admits, with status and owner."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from laneway.domain.address import PciAddress
from laneway.domain.cleaning import Cleaning
from laneway.domain.inventory import DevType, PciFunction

TagValue = str | bool | None
"""Booleans for the tags that are boolean (see ``tags``), text or null for all others."""


class Status(StrEnum):
    """Where a device stands (rule C34).

    ``unclaimable`` and ``unavailable`` are never stored: they follow from what the devices in
    conflict with it are doing, so they cannot disagree with it.
    """

    AVAILABLE = "available"
    CLAIMED = "claimed"
    ALLOCATED = "allocated"
    UNCLAIMABLE = "unclaimable"
    UNAVAILABLE = "unavailable"
    RELEASING = "releasing"
    DIRTY = "dirty"
    REMOVED = "removed"
    DELETED = "deleted"


class Attach(StrEnum):
    """How a guest gets the device. Only ``vfio`` takes it from the host's driver."""

    VFIO = "vfio"
    VDPA = "vdpa"
    MACVTAP = "macvtap"


class Binding(StrEnum):
    """Who binds the device to vfio-pci: exactly one party."""

    LANEWAY = "laneway"
    LIBVIRT = "libvirt"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class BlockReason:
    """Why an admitted device is not offered.

    ``function`` is, of a reason that is stored, the one that was meant, by what identifies it: the
    reason follows it to another address.
    """

    code: str
    message: str
    detail: str | None = None
    function: PciFunction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraInfo:
    """What others need to know of a device, without its host or its config (rules C27 to C31).

    ``tags`` are those of the spec that admitted it. ``parent_ifname`` and ``pf_mac_address`` are of
    the PF of a network VF; ``mac_address`` is a PF's own. ``cleaning``: what it needs between two
    consumers. ``network_known`` is false of a device that was taken over from records that lack its
    physical network.
    """

    tags: Mapping[str, TagValue] = field(default_factory=dict)
    binding: Binding = Binding.LANEWAY
    cleaning: Cleaning | None = None
    allow_in_use: bool = False
    network_capabilities: tuple[str, ...] = ()
    pf_mac_address: str | None = None
    vf_num: int | None = None
    card_serial_number: str | None = None
    parent_ifname: str | None = None
    mac_address: str | None = None
    network_known: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class PciDevice:
    """A tracked device. ``entry`` is the index of the device spec that admitted it.

    ``status`` is its own: what conflicts make of an available device, the tracker tells. While it
    is owned, ids, type, tags and what matching uses are kept as they were when it was claimed
    (rule D36). ``prepared``: it is taken from the host for a guest, by the boot that the host is in.
    ``placeholders`` are, of a PF that is prepared, its VFs as they were: they are gone meanwhile.
    ``displaced`` says why it must not be handed over: it is not what stands at its address now.
    """

    function: PciFunction
    extra_info: ExtraInfo
    entry: int | None = None
    status: Status = Status.AVAILABLE
    consumer: str | None = None
    claim: str | None = None
    request: str | None = None
    attach: Attach = Attach.VFIO
    prepared: bool = False
    placeholders: tuple[PciFunction, ...] = ()
    displaced: str | None = None

    @property
    def address(self) -> PciAddress:
        return self.function.address

    @property
    def vendor_id(self) -> str:
        return self.function.vendor_id

    @property
    def product_id(self) -> str:
        return self.function.product_id

    @property
    def dev_type(self) -> DevType:
        return self.function.dev_type

    @property
    def parent_addr(self) -> PciAddress | None:
        return self.function.parent_addr

    @property
    def numa_node(self) -> int | None:
        return self.function.numa_node

    @property
    def tags(self) -> Mapping[str, TagValue]:
        return self.extra_info.tags

    @property
    def label(self) -> str:
        """nova's label of a device (rule C26)."""
        return f"label_{self.function.vendor_id}_{self.function.product_id}"

    @property
    def is_owned(self) -> bool:
        return self.consumer is not None

    @property
    def standing(self) -> str:
        """Who has it, else its status; to follow "is", such as "held by vm1"."""
        return str(self.status) if self.consumer is None else f"held by {self.consumer}"
