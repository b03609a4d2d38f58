"""What a VM's definition or command line says of itself, before it is held against the host's facts."""

from dataclasses import dataclass

from laneway.domain.address import PciAddress


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedVm:
    """``addresses`` go through VFIO; ``vhost_nodes`` are of vDPA devices; ``macvtap_parents`` are
    interfaces that the VM has to itself (macvtap in mode passthrough)."""

    source: str
    name: str | None = None
    uuid: str | None = None
    pid: int | None = None
    addresses: tuple[PciAddress, ...] = ()
    vhost_nodes: tuple[str, ...] = ()
    macvtap_parents: tuple[str, ...] = ()
