"""The steps by which this driver changes a host, as values. Pure.

Each is one write. Its target is a file of the function that it changes, and its owner, in ``address``,
the function that it was done for: that of a VF that goes away with the taking of its PF is the PF.
"""

from collections.abc import Iterable
from enum import StrEnum

from laneway.domain.address import PciAddress
from laneway.interfaces.host_changes import Step

DEVICES = "sys/bus/pci/devices"
DRIVERS = "sys/bus/pci/drivers"
DRIVERS_PROBE = "sys/bus/pci/drivers_probe"
_AND_OVERRIDE = "\n"
"""No name of a driver, and no override, has a line end."""


class Kind(StrEnum):
    """What is done. The texts stand in journals and never change."""

    LOAD_MODULE = "load_module"
    OVERRIDE = "driver_override"
    UNBIND = "unbind"
    BIND = "bind"
    AUTOPROBE = "sriov_drivers_autoprobe"
    VF_COUNT = "sriov_numvfs"
    RESET = "reset"


def function_of(step: Step) -> PciAddress:
    """The function whose file the step changes."""
    return PciAddress.parse(step.target.removeprefix(f"{DEVICES}/").partition("/")[0])


def functions_of(steps: Iterable[Step]) -> tuple[PciAddress, ...]:
    """The functions that steps were done for and those whose files they change, each once."""
    found: dict[PciAddress, None] = {}
    for step in steps:
        found[step.address] = None
        if step.target.startswith(f"{DEVICES}/"):
            found[function_of(step)] = None
    return tuple(found)


def load_module(owner: PciAddress, module: str) -> Step:
    """A module once loaded stays: others may have come to use it."""
    return Step(kind=Kind.LOAD_MODULE, address=owner, target=module, summary=f"modprobe {module} (was not loaded)")


def set_override(owner: PciAddress, function: PciAddress, value: str | None, found: str | None) -> Step:
    target = f"{DEVICES}/{function}/driver_override"
    written = "an empty line" if value is None else value
    return Step(
        kind=Kind.OVERRIDE,
        address=owner,
        target=target,
        value=value,
        found=found,
        undo=found or "",
        summary=f"write {written} to {target} (was {found or 'empty'})",
    )


def unbind(owner: PciAddress, function: PciAddress, driver: str, override: str | None) -> Step:
    """Takes the function from its driver: the link ``driver`` goes.

    To take that back an override may be needed for the moment, so the one that it has now is kept as well.
    """
    return Step(
        kind=Kind.UNBIND,
        address=owner,
        target=f"{DEVICES}/{function}/driver",
        found=driver,
        undo=driver if override is None else f"{driver}{_AND_OVERRIDE}{override}",
        summary=f"write {function} to {DRIVERS}/{driver}/unbind",
    )


def driver_before(step: Step) -> tuple[str, str | None]:
    """The driver that a function was taken from by ``unbind``, and the override that it had then."""
    driver, _, override = (step.undo or "").partition(_AND_OVERRIDE)
    return driver, override or None


def bind(owner: PciAddress, function: PciAddress, driver: str) -> Step:
    """Has the kernel look for a driver, which its override names: the link ``driver`` comes."""
    return Step(
        kind=Kind.BIND,
        address=owner,
        target=f"{DEVICES}/{function}/driver",
        value=driver,
        undo="",
        summary=f"write {function} to {DRIVERS_PROBE} and wait for {driver} to take it (was without a driver)",
    )


def set_autoprobe(owner: PciAddress, *, value: bool, found: bool) -> Step:
    target = f"{DEVICES}/{owner}/sriov_drivers_autoprobe"
    new, old = str(int(value)), str(int(found))
    return Step(
        kind=Kind.AUTOPROBE,
        address=owner,
        target=target,
        value=new,
        found=old,
        undo=old,
        summary=f"write {new} to {target} (was {old})",
    )


def set_vf_count(owner: PciAddress, value: int, found: int) -> Step:
    target = f"{DEVICES}/{owner}/sriov_numvfs"
    return Step(
        kind=Kind.VF_COUNT,
        address=owner,
        target=target,
        value=str(value),
        found=str(found),
        undo=str(found),
        summary=f"write {value} to {target} (was {found})",
    )


def reset(function: PciAddress) -> Step:
    """What a guest left in the function goes; that cannot be taken back."""
    target = f"{DEVICES}/{function}/reset"
    return Step(kind=Kind.RESET, address=function, target=target, value="1", summary=f"write 1 to {target}")
