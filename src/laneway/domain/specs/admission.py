"""Admission: which functions of a host become devices, by the device specs."""

from collections.abc import Mapping
from dataclasses import dataclass

from laneway.domain.address import PciAddress
from laneway.domain.device import ExtraInfo, PciDevice
from laneway.domain.function_facts import (
    card_serial_number,
    first_netdev,
    mac_address,
    network_capabilities,
    place_under_pf,
)
from laneway.domain.inventory import DevType, Inventory, PciFunction
from laneway.domain.specs.device_spec import DeviceSpecs, PciDeviceSpec
from laneway.domain.specs.refusal import Refusal, why_not
from laneway.domain.specs.spec_check import check_against_facts

__all__ = ["Admission", "Refusal", "admit", "admit_function", "check_against_facts", "why_not"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """The devices of a host as the specs admit them: all available, in the inventory's order."""

    devices: Mapping[PciAddress, PciDevice]


def admit(inventory: Inventory, specs: DeviceSpecs) -> Admission:
    """Admits the functions of a host (rules C12 to C14, C27 to C31).

    Raises LanewayError(invalid_inventory) where two functions have one address.
    """
    functions = inventory.by_address
    devices: dict[PciAddress, PciDevice] = {}
    for address, function in functions.items():
        parent_addr = function.parent_addr
        parent = functions.get(parent_addr) if parent_addr is not None else None
        device = admit_function(function, parent, specs)
        if device is not None:
            devices[address] = device
    return Admission(devices=devices)


def admit_function(function: PciFunction, parent: PciFunction | None, specs: DeviceSpecs) -> PciDevice | None:
    """The device that the specs make of one function, or None. ``parent`` is its PF, if known."""
    spec = specs.match(function, parent)
    if spec is None:
        return None
    return PciDevice(function=function, extra_info=_extra_info(function, parent, spec), entry=spec.entry)


def _extra_info(function: PciFunction, parent: PciFunction | None, spec: PciDeviceSpec) -> ExtraInfo:
    """Rules C27 to C31. The mapping of tags is the spec's own, shared by all its devices."""
    pf_mac_address, vf_num = place_under_pf(function, parent) or (None, None)
    pf_netdev = first_netdev(parent)
    return ExtraInfo(
        tags=spec.tags,
        binding=spec.binding,
        cleaning=spec.cleaning,
        allow_in_use=spec.allow_in_use,
        network_capabilities=network_capabilities(function, parent),
        pf_mac_address=pf_mac_address,
        vf_num=vf_num,
        card_serial_number=card_serial_number(function, parent),
        parent_ifname=pf_netdev.name if pf_netdev is not None else None,
        mac_address=mac_address(function) if function.dev_type is DevType.PF else None,
    )
