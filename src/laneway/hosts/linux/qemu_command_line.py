"""What QEMU was started with: its name, and the host devices it was given."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePosixPath

from laneway.domain.address import PciAddress
from laneway.domain.errors import LanewayError
from laneway.hosts.observed_vm import ObservedVm

SOURCE = "qemu"
_NAMES = ("kvm", "qemu-kvm")


def parse_qemu_command_line(arguments: Sequence[str], pid: int) -> ObservedVm | None:
    """The VM of a QEMU process; None for any other process.

    Reads ``-name``, ``-uuid``, ``-device vfio-pci`` (``host`` or ``sysfsdev``) and ``-netdev
    vhost-vdpa``, each as key=value list or as JSON. What was plugged in later is not there, and what
    was unplugged still is.
    """
    program = PurePosixPath(arguments[0]).name if arguments else ""
    if program not in _NAMES and not program.startswith("qemu-system-"):
        return None
    name, uuid = None, None
    addresses: list[PciAddress] = []
    nodes: list[str] = []
    for option, properties in _options(arguments):
        if option == "name":
            name = properties.get("guest") or properties.get("")
        elif option == "uuid":
            uuid = properties.get("")
        elif option == "device" and (properties.get("driver") or properties.get("") or "").startswith("vfio-pci"):
            addresses.extend(_host_address(properties))
        elif option == "netdev" and (properties.get("type") or properties.get("")) == "vhost-vdpa":
            nodes.extend(filter(None, [properties.get("vhostdev")]))
    return ObservedVm(
        source=SOURCE, name=name, uuid=uuid, pid=pid, addresses=tuple(addresses), vhost_nodes=tuple(nodes)
    )


def _options(arguments: Sequence[str]) -> Iterator[tuple[str, Mapping[str, str]]]:
    for argument, value in pairwise(arguments):
        if argument.startswith("-"):
            yield argument.removeprefix("-").removeprefix("-"), _properties(value)


def _properties(value: str) -> Mapping[str, str]:
    """The properties of an option's value; a first one without a key is under the empty key."""
    if value.startswith("{"):
        try:
            found = json.loads(value)
        except ValueError:
            return {}
        return {key: text for key, text in found.items() if isinstance(text, str)}
    parts = [part.replace("\0", ",") for part in value.replace(",,", "\0").split(",")]
    pairs = [part.partition("=") for part in parts]
    properties = {key: text for key, equals, text in pairs if equals}
    return properties if pairs[0][1] else {"": parts[0], **properties}


def _host_address(properties: Mapping[str, str]) -> Iterator[PciAddress]:
    text = properties.get("host") or PurePosixPath(properties.get("sysfsdev", "")).name
    try:
        yield PciAddress.parse(text)
    except LanewayError:
        return  # given by file descriptor: the open handle tells
