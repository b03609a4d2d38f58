"""The host's own facts, by libvirt's capabilities (https://libvirt.org/formatcaps.html). Pure."""

import re
from collections.abc import Iterator
from typing import NamedTuple
from xml.etree.ElementTree import Element

from laneway.domain.inventory import NumaNode, Platform, Problem, ReadinessNote
from laneway.hosts.xml_text import parse_xml

IOMMU_OFF = "off"
IOMMU_OTHER = "other"
"""There is an IOMMU; libvirt does not tell of what kind."""

_NUMBER = re.compile(r"[0-9]{1,10}")


class HostFacts(NamedTuple):
    numa_nodes: tuple[NumaNode, ...] = ()
    platform: Platform | None = None
    readiness: tuple[ReadinessNote, ...] = ()


def parse_capabilities(text: str, problems: list[Problem]) -> HostFacts:
    """NUMA nodes, and whether there is an IOMMU. What makes no sense is not known, and noted. Raises nothing."""
    try:
        capabilities = parse_xml(text)
    except ValueError as error:
        problems.append(Problem(attribute="numa_nodes", message=f"libvirt's capabilities cannot be read: {error}"))
        return HostFacts()
    platform = _platform(capabilities)
    return HostFacts(_numa_nodes(capabilities, problems), platform, tuple(_notes(platform)))


def _platform(capabilities: Element) -> Platform | None:
    iommu = capabilities.find("host/iommu")
    support = None if iommu is None else iommu.get("support")
    if support not in ("yes", "no"):
        return None
    return Platform(iommu=IOMMU_OTHER if support == "yes" else IOMMU_OFF)


def _notes(platform: Platform | None) -> Iterator[ReadinessNote]:
    if platform is not None and platform.iommu == IOMMU_OFF:
        yield ReadinessNote(
            code="iommu_off",
            severity="error",
            message="The host uses no IOMMU: no function can be given to a VM",
            remedy="turn it on in the firmware setup (VT-d, AMD-Vi, SMMU); on Intel add intel_iommu=on to the kernel "
            "line if the kernel leaves it off",
        )


def _numa_nodes(capabilities: Element, problems: list[Problem]) -> tuple[NumaNode, ...]:
    found: dict[int, NumaNode] = {}
    for cell in capabilities.iterfind("host/topology/cells/cell"):
        try:
            node = _numa_node(cell)
        except ValueError as error:
            problems.append(Problem(attribute="numa_nodes", message=f"the NUMA cell {cell.get('id')}: {error}"))
        else:
            found.setdefault(node.id, node)
    return tuple(found[node] for node in sorted(found))


def _numa_node(cell: Element) -> NumaNode:
    cpus = cell.find("cpus")
    siblings = cell.findall("distances/sibling")
    distances = {_number(sibling, "id"): _number(sibling, "value") for sibling in siblings}
    return NumaNode(
        id=_number(cell, "id"),
        socket=None if cpus is None else _socket(cpus),
        cpus=None if cpus is None else tuple(sorted(_number(cpu, "id") for cpu in cpus.iterfind("cpu"))),
        distances=distances or None,
    )


def _socket(cpus: Element) -> int | None:
    """The socket of a node's CPUs; None where the node spans several. A CPU that is off is in none."""
    sockets = {_number(cpu, "socket_id") for cpu in cpus.iterfind("cpu") if cpu.get("socket_id") is not None}
    return sockets.pop() if len(sockets) == 1 else None


def _number(element: Element, name: str) -> int:
    text = element.get(name, "")
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text!r} is not a number, and {name} of {element.tag} has to be one")
    return int(text)
