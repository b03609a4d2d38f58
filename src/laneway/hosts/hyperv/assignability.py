"""Whether Hyper-V can give a function to a VM by Discrete Device Assignment, and each reason why not. Pure.

The rules are those of Microsoft's survey of a machine (SurveyDDA.ps1); the values are defined in pciprop.h.
"""

from collections.abc import Iterator
from enum import IntEnum

from laneway.domain.inventory import NotAssignable
from laneway.hosts.hyperv.property_bag import Key, PropertyBag

_DISPLAY = 3
_LINE_INTERRUPTS = 1
_NO_ACS = 0


class DeviceType(IntEnum):
    """DEVPKEY_PciDevice_DeviceType."""

    CONVENTIONAL = 0
    PCI_X = 1
    EXPRESS_ENDPOINT = 2
    EXPRESS_LEGACY_ENDPOINT = 3
    EXPRESS_INTEGRATED_ENDPOINT = 4
    EXPRESS_TREATED_AS_PCI = 5
    FIRST_BRIDGE = 6
    LAST_BRIDGE = 13


def not_assignable(bag: PropertyBag) -> tuple[NotAssignable, ...] | None:
    """Every reason why the function can be given to no VM; () where it can, None where Windows does not tell.

    A function that has been dismounted for assignment is assignable: Hyper-V took it, perhaps by force.
    """
    if bag.is_dismounted:
        return ()
    reasons = tuple(_reasons(bag))
    return reasons if reasons or _is_fully_known(bag) else None


def _is_fully_known(bag: PropertyBag) -> bool:
    """Absent is not zero: a property that Windows does not report proves nothing."""
    keys = (Key.RESERVED_MEMORY, Key.ACS_UP_HIERARCHY, Key.DEVICE_TYPE)
    return all(bag.has(key) for key in keys)


def _reasons(bag: PropertyBag) -> Iterator[NotAssignable]:
    if bag.flag(Key.RESERVED_MEMORY):
        yield NotAssignable(
            code="reserved_memory", message="the firmware keeps memory for this device: no VM can have it"
        )
    if bag.number(Key.ACS_UP_HIERARCHY) == _NO_ACS:
        yield NotAssignable(
            code="no_acs",
            message="it, or a bridge above it, has no Access Control Services (ACS), so its traffic could reach other"
            " devices past the IOMMU; another slot may help",
        )
    device_type = bag.number(Key.DEVICE_TYPE)
    if device_type is not None:
        yield from _type_reasons(bag, device_type)
    if bag.number(Key.INTERRUPT_SUPPORT) == _LINE_INTERRUPTS:
        yield NotAssignable(
            code="line_interrupts", message="it has line interrupts only, which cannot be given to a VM"
        )


def _type_reasons(bag: PropertyBag, device_type: int) -> Iterator[NotAssignable]:
    match device_type:
        case DeviceType.EXPRESS_ENDPOINT | DeviceType.EXPRESS_INTEGRATED_ENDPOINT:
            return
        case DeviceType.EXPRESS_LEGACY_ENDPOINT:
            if bag.number(Key.BASE_CLASS) != _DISPLAY:
                yield NotAssignable(
                    code="legacy_endpoint", message="it is a legacy endpoint, which only display adapters may be"
                )
        case DeviceType.CONVENTIONAL | DeviceType.PCI_X:
            yield NotAssignable(code="not_pci_express", message="it is not a PCI Express device")
        case DeviceType.EXPRESS_TREATED_AS_PCI:
            yield NotAssignable(
                code="express_not_controlled",
                message="the firmware kept control of PCI Express, so Windows treats it as a PCI device; give control"
                " to the operating system in the firmware setup (often 'Enable SR-IOV')",
            )
        case _ if DeviceType.FIRST_BRIDGE <= device_type <= DeviceType.LAST_BRIDGE:
            yield NotAssignable(code="bridge", message="it is a bridge")
        case _:
            yield NotAssignable(
                code="not_an_endpoint", message=f"it is no endpoint, but of PCI device type {device_type}"
            )
