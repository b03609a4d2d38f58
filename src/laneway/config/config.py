"""What an operator decided for one host, as one value."""

from dataclasses import dataclass, field
from pathlib import Path

from laneway.domain.errors import ConfigProblem
from laneway.domain.requests.alias import Aliases
from laneway.domain.specs.device_spec import DeviceSpecs
from laneway.domain.tracking.host_view import IommuGroups

AUTO_DRIVER = "auto"
"""Asks the host drivers in turn which of them can work on this machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """A config that is free of errors. With no config at all it hands out nothing.

    ``host`` is the host's name where the operator gives one, ``driver`` a name of the entry point
    group ``laneway.host_drivers`` or ``auto``, ``uri`` where the driver finds the host if not on this
    machine. ``state_path`` is a folder, made when first written to. ``cloud`` is the entry of a ``clouds.yaml``
    with the Placement to report to, ``root_provider`` the name of the host's own provider there, if not the
    host's. ``bind_ports``: Neutron's ports are bound as claims say, in the Neutron of the entry ``neutron_cloud``.
    ``sources`` are the files it came
    from, in the order read; ``warnings`` what they hold that is probably not meant.
    """

    state_path: Path
    device_specs: DeviceSpecs = field(default_factory=lambda: DeviceSpecs(()))
    aliases: Aliases = field(default_factory=Aliases)
    host: str | None = None
    driver: str = AUTO_DRIVER
    uri: str | None = None
    iommu_groups: IommuGroups = IommuGroups.ENFORCE
    report_in_placement: bool = False
    pci_in_placement: bool = False
    cloud: str | None = None
    root_provider: str | None = None
    bind_ports: bool = False
    neutron_cloud: str | None = None
    sources: tuple[Path, ...] = ()
    warnings: tuple[ConfigProblem, ...] = ()
