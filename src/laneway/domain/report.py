"""What one host tells the control plane."""

from dataclasses import dataclass

from laneway.domain.inventory import Inventory
from laneway.domain.specs.device_spec import DeviceSpecs


@dataclass(frozen=True, slots=True)
class HostReport:
    """The facts of a host, and which of its functions its operator lets out."""

    inventory: Inventory
    specs: DeviceSpecs
