"""The part of a config that a host's service looks at, and how it is held against the facts."""

from pathlib import Path
from typing import Protocol, TypeVar

from laneway.domain.errors import ConfigProblem, Findings
from laneway.domain.inventory import Inventory
from laneway.domain.specs.admission import check_against_facts
from laneway.domain.specs.device_spec import DeviceSpecs


class HostConfig(Protocol):
    """A config without errors in its text. Two that say the same are equal."""

    @property
    def device_specs(self) -> DeviceSpecs:
        """Which functions may be handed out."""

    @property
    def report_in_placement(self) -> bool:
        """Whether devices are reported to Placement, which rules some entries out."""

    @property
    def pci_in_placement(self) -> bool:
        """Whether requests look in Placement."""

    @property
    def sources(self) -> tuple[Path, ...]:
        """The files it came from."""

    @property
    def warnings(self) -> tuple[ConfigProblem, ...]:
        """What its text has that is probably not meant."""


C = TypeVar("C", bound=HostConfig)
"""The config of whoever puts the service together, which passes through it whole."""


def check_on_host(config: HostConfig, inventory: Inventory) -> Findings:
    """What of the config contradicts the facts, and all its warnings: those of the text, then those of the facts.

    Raises LanewayError(invalid_inventory).
    """
    findings = check_against_facts(
        inventory,
        config.device_specs,
        report_in_placement=config.report_in_placement,
        pci_in_placement=config.pci_in_placement,
    )
    return Findings(errors=findings.errors, warnings=[*config.warnings, *findings.warnings])
