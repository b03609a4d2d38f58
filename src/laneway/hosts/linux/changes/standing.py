"""How a function stands on the host, as far as changes touch it. Pure."""

from dataclasses import dataclass, replace

from laneway.domain.address import PciAddress
from laneway.domain.tracking.blocking import is_vfio_driver


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A function at one moment; unlike the facts of an inventory, what is None here is known to be none.

    ``vf_count`` and ``autoprobe`` (``sriov_drivers_autoprobe``) are None where the function has no
    such attribute. ``vfs`` stand in the order of their indices, ``group`` are all members of its
    IOMMU group, itself among them; it is None without an IOMMU. ``is_storage``: of class 01, mass
    storage (PCI Code and ID Assignment Specification).
    """

    driver: str | None = None
    override: str | None = None
    vf_count: int | None = None
    total_vfs: int | None = None
    autoprobe: bool | None = None
    can_reset: bool = False
    is_storage: bool = False
    vfs: tuple[PciAddress, ...] = ()
    group: tuple[PciAddress, ...] | None = None

    @property
    def is_on_vfio(self) -> bool:
        return self.driver is not None and is_vfio_driver(self.driver)

    def with_vfs(self, count: int) -> "Standing":
        """After its number of VFs was set."""
        return replace(self, vf_count=count, vfs=self.vfs if count else ())
