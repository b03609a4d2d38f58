"""What a config may not change while devices are in use, on a host that reports to Placement."""

from collections.abc import Iterator

from laneway.domain.device import PciDevice
from laneway.domain.errors import ConfigProblem, ErrorCode
from laneway.domain.requests.placement_terms import is_reported, resource_class_of, traits_of
from laneway.domain.tracking.host_view import HostView


def refused_while_held(host: HostView) -> Iterator[ConfigProblem]:
    """The entries that speak against devices in use: Placement has these allocated, by class, traits and provider.

    A PF is not exchanged for its VFs nor the reverse (rule C91), and neither class nor traits change (rule C92).
    """
    for address, device in sorted(host.held.items()):
        if not is_reported(device.tags):
            continue
        today = host.admitted.get(address)
        if today is None:
            yield from _exchanged(device, host)
        elif device.is_owned and is_reported(today.tags):
            yield from _renamed(host.stored(address), today)


def _exchanged(left: PciDevice, host: HostView) -> Iterator[ConfigProblem]:
    for address, device in sorted(host.admitted.items()):
        pf, vf = (device, left) if left.dev_type.is_virtual else (left, device)
        if vf.parent_addr == pf.address and is_reported(device.tags):
            fault = f"admits {address}, while {left.address} is still {left.standing}, and Placement would offer both"
            yield _of_entry(device, fault, "put the former entry back until it is free")
            return


def _renamed(before: PciDevice, today: PciDevice) -> Iterator[ConfigProblem]:
    for what, old, new in (
        ("resource class", {resource_class_of(before)}, {resource_class_of(today)}),
        ("traits", traits_of(before), traits_of(today)),
    ):
        if old != new:
            names = f"{', '.join(sorted(new - old)) or 'fewer'}, not {', '.join(sorted(old - new)) or 'fewer'}"
            fault = f"gives {today.address} another {what} ({names}) while {before.consumer} has it"
            yield _of_entry(today, fault, "put the former back until it is free")


def _of_entry(device: PciDevice, fault: str, remedy: str) -> ConfigProblem:
    entry = f"device_spec entry {device.entry}"
    return entry_problem(device, f"{entry}: {fault}, as report_in_placement is on; {remedy}", remedy)


def entry_problem(device: PciDevice, message: str, remedy: str) -> ConfigProblem:
    """What is wrong with the entry that admits a device, as far as Placement is concerned."""
    return ConfigProblem(
        ErrorCode.INVALID_DEVICE_SPEC, message, "device_spec", device.entry, value=str(device.address), remedy=remedy
    )
