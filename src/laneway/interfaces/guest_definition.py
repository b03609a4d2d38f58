"""What a virtual machine's definition asks of its host: the PCI devices that it is to get."""

from dataclasses import dataclass

from laneway.domain.address import PciAddress


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedDevice:
    """A device of the host. ``managed``: who runs the machine takes it from its driver and gives it back."""

    address: PciAddress
    managed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestDefinition:
    """``name`` and ``uuid`` are those of the machine; either may be the consumer that holds its devices."""

    name: str
    uuid: str | None = None
    devices: tuple[WantedDevice, ...] = ()

    @property
    def consumers(self) -> frozenset[str]:
        return frozenset({self.name} if self.uuid is None else {self.name, self.uuid})
