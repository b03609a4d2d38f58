"""What was read of a Windows host, as one value: the input of all that is pure, and a file format.

None means that it could not be read, or was not recorded.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from laneway.contracts.codec import convert, encode, parse_json, to_plain
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import NumaNode, Problem
from laneway.hosts.hyperv.property_bag import Key, Properties

RECORDING_SCHEMA: Final = "laneway.windows-recording/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """A network adapter: ``alias`` is the name that people see, ``speed_bps`` the link's in bit/s."""

    guid: str
    alias: str
    description: str | None = None
    mac: str | None = None
    permanent_mac: str | None = None
    speed_bps: int | None = None
    up: bool | None = None
    addresses: tuple[str, ...] = ()
    has_gateway: bool = False

    @property
    def name(self) -> str:
        return self.alias or self.guid


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """A disk by the number that Windows gives it, and its device."""

    number: int
    instance_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """A volume: where it is mounted, and the numbers of the disks it is on; None where Windows does not tell them."""

    name: str
    mounts: tuple[str, ...] = ()
    disks: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """``product_type`` is WinNT (a client), ServerNT or LanmanNT (servers); ``acpi_tables`` their signatures."""

    product_type: str | None = None
    hyperv_role: bool | None = None
    acpi_tables: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UpperDevice:
    """A virtual switch or a team, and an adapter below it, by its GUID, description or alias."""

    name: str
    adapter: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignedDevice:
    """A device that a VM has by Discrete Device Assignment, whether the VM runs or not."""

    vm: str
    vm_id: str | None
    location_path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerShellAnswers:
    """What only PowerShell tells. ``failures`` says of each question that has no answer why."""

    iov_support: bool | None = None
    iov_reasons: tuple[str, ...] = ()
    upper_devices: tuple[UpperDevice, ...] | None = None
    assigned: tuple[AssignedDevice, ...] | None = None
    disks_of_vms: tuple[int, ...] | None = None
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One Windows host at one moment; ``devices`` are property bags, also of devices that are no PCI functions."""

    devices: tuple[Properties, ...]
    schema: str = RECORDING_SCHEMA
    host: str | None = None
    release: str | None = None
    captured_at: str | None = None
    machine: Machine = Machine()
    numa_nodes: tuple[NumaNode, ...] = ()
    adapters: tuple[Adapter, ...] | None = None
    disks: tuple[Disk, ...] | None = None
    volumes: tuple[Volume, ...] | None = None
    answers: PowerShellAnswers = PowerShellAnswers()
    problems: tuple[Problem, ...] = ()


def looks_like_recording(path: Path) -> str | None:
    """Why the file is no recording, by its first characters; None if it looks like one."""
    if not path.is_file():
        return "a recording of a Windows host is a file"
    with path.open("rb") as file:
        head = file.read(256).lstrip()
    if head.startswith(b"[") or RECORDING_SCHEMA.encode() in head:
        return None
    return f"the file does not begin as a recording of a Windows host ({RECORDING_SCHEMA})"


def read_recording(path: Path) -> Recording:
    """The recording in a file.

    Raises LanewayError(host_unreachable) where it cannot be read, (invalid_json) and (invalid_inventory),
    with the file's name and the place in it, where it is none.
    """
    try:
        return decode_recording(path.read_bytes())
    except OSError as error:
        raise LanewayError(
            ErrorCode.HOST_UNREACHABLE, f"the recording {path} cannot be read: {error.strerror}", {"path": str(path)}
        ) from error
    except LanewayError as error:
        raise LanewayError(error.code, f"{path}: {error.message}", {**error.detail, "file": str(path)}) from error


def decode_recording(text: bytes | str) -> Recording:
    """A recording as JSON, or a bare list of devices.

    A device is a map of its properties; one as WMI's Win32_PnPEntity gives it, with the other
    properties as ``Bag``, will do too. Raises as ``read_recording``.
    """
    plain = parse_json(text)
    document = {"schema": RECORDING_SCHEMA, "devices": plain} if isinstance(plain, list) else plain
    if isinstance(document, dict) and document.get("schema") != RECORDING_SCHEMA:
        raise LanewayError(
            ErrorCode.INVALID_INVENTORY,
            f"$.schema: it must be {RECORDING_SCHEMA!r}, and is {document.get('schema')!r}",
            {"path": "$.schema"},
        )
    recording = convert(document, Recording, ErrorCode.INVALID_INVENTORY)
    return replace(recording, devices=tuple(map(_flat, recording.devices)))


def encode_recording(recording: Recording) -> bytes:
    """The recording as JSON; it begins with its schema, by which it is known."""
    return encode({"schema": RECORDING_SCHEMA, **to_plain(recording)})


_FROM_WMI = {
    "PNPDeviceID": Key.INSTANCE_ID,
    "HardwareID": Key.HARDWARE_IDS,
    "CompatibleID": Key.COMPATIBLE_IDS,
    "Service": Key.SERVICE,
    "ConfigManagerErrorCode": Key.PROBLEM_CODE,
    "ClassGuid": Key.CLASS_GUID,
}


def _flat(device: Properties) -> Properties:
    if "PNPDeviceID" not in device:
        return device
    bag = device.get("Bag")
    known = {key.value: device[name] for name, key in _FROM_WMI.items() if device.get(name) is not None}
    return {**(bag if isinstance(bag, Mapping) else {}), **known}
