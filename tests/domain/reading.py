"""Device specs read from text, for tests."""

from typing import Any

from laneway.domain.errors import Findings
from laneway.domain.specs.device_spec import DeviceSpecs, PciDeviceSpec
from laneway.domain.specs.device_spec_parser import parse_device_specs


def read(*values: object, **options: Any) -> tuple[DeviceSpecs, Findings]:
    """All that comes of these values."""
    findings = Findings()
    return parse_device_specs(values, findings, **options), findings


def specs(*values: object, **options: Any) -> DeviceSpecs:
    """The specs of values without an error."""
    found, findings = read(*values, **options)
    findings.raise_errors()
    return found


def spec(value: object, **options: Any) -> PciDeviceSpec:
    """The one spec of a value without an error."""
    (found,) = specs(value, **options)
    return found
