"""Records the Windows host that this runs on: everything is read once, and what cannot be read is None with a note."""

import time
from collections.abc import Callable
from typing import TypeVar

from laneway.domain.errors import LanewayError
from laneway.domain.inventory import Problem
from laneway.hosts.hyperv import adapters, cfgmgr32, machine, powershell, setupapi, volumes
from laneway.hosts.hyperv.property_bag import Key, Properties, pci_enumerator
from laneway.hosts.hyperv.recording import Recording

T = TypeVar("T")
_NETWORK_CLASS = "{4d36e972-e325-11ce-bfc1-08002be10318}"
"""GUID_DEVCLASS_NET (devguid.h)."""


MemoryReader = Callable[[str], list[object] | None]


def record(read_memory: MemoryReader = cfgmgr32.read_memory) -> Recording:
    """The host as it is now. Raises LanewayError(host_unreachable) where its devices cannot be listed."""
    problems: list[Problem] = []
    devices = tuple(_completed(device, read_memory) for device in setupapi.read_devices())
    found = machine.read_machine()
    return Recording(
        devices=devices,
        host=machine.read_host_name(),
        release=machine.read_release(),
        captured_at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        machine=found,
        numa_nodes=machine.read_numa_nodes(),
        adapters=_unless_refused("netdevs", adapters.read_adapters, problems),
        disks=_unless_refused("in_use_by", lambda: volumes.read_disks(setupapi.read_disks()), problems),
        volumes=_unless_refused("in_use_by", volumes.read_volumes, problems),
        answers=powershell.ask(hyperv=found.hyperv_role is not False),
        problems=tuple(problems),
    )


def _unless_refused(attribute: str, read: Callable[[], T], problems: list[Problem]) -> T | None:
    try:
        return read()
    except LanewayError as failure:
        problems.append(Problem(attribute=attribute, message=failure.message))
        return None


def _completed(device: Properties, read_memory: MemoryReader) -> Properties:
    """The device with what other interfaces tell of it."""
    instance_id, driver_key = str(device[Key.INSTANCE_ID.value]), device.get(Key.DRIVER_KEY.value)
    added: dict[str, object] = {}
    if pci_enumerator(instance_id) is not None:
        added[Key.MEMORY.value] = read_memory(instance_id)
    if driver_key is not None and str(device.get(Key.CLASS_GUID.value)).lower() == _NETWORK_CLASS:
        added[Key.NETWORK_GUID.value] = machine.network_guid(str(driver_key))
    return {**device, **added}
