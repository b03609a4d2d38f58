"""What a function has of its PF, and what kind of function that makes it. Pure, for every driver."""

from dataclasses import replace
from typing import NamedTuple

from laneway.domain.address import PciAddress
from laneway.domain.inventory import DevType, PciFunction, Sriov, Vdpa, Vpd


class Lineage(NamedTuple):
    """What a VF has of its PF; nothing for other functions. ``pf`` is None where the PF could not be read."""

    parent_addr: PciAddress | None = None
    vf_index: int | None = None
    pf: PciFunction | None = None

    @property
    def is_vf(self) -> bool:
        return self.parent_addr is not None

    @property
    def is_below_switchdev(self) -> bool:
        netdevs = (self.pf.netdevs if self.pf else None) or ()
        return any("switchdev" in (netdev.features or ()) for netdev in netdevs)

    def dev_type(self, vdpa: Vdpa | None, sriov: Sriov | None) -> DevType:
        """The rule of the inventory contract: vdpa, else type-VF, else type-PF, else type-PCI."""
        if vdpa is not None:
            return DevType.VDPA
        if self.is_vf:
            return DevType.VF
        # Where the host tells no total, num_vfs counts; where it tells neither, that the function has SR-IOV at all.
        if sriov is not None and (sriov.num_vfs if sriov.total_vfs is None else sriov.total_vfs) != 0:
            return DevType.PF
        return DevType.PCI

    def path(self, own: str | None) -> str | None:
        """A VF's path is its PF's with its index; any other function has its ``own``."""
        if not self.is_vf:
            return own
        if self.pf is None or self.pf.path is None or self.vf_index is None:
            return None
        return f"{self.pf.path}+vf{self.vf_index}"

    def vpd(self, own: Vpd | None) -> Vpd | None:
        """A VF without a serial takes its PF's: it is on the same card (rule C30)."""
        if (own and own.card_serial_number) or self.pf is None or self.pf.vpd is None:
            return own
        serial = self.pf.vpd.card_serial_number
        return replace(own or Vpd(), card_serial_number=serial) if serial else own
