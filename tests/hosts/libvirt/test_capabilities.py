"""The host's own facts, by libvirt's capabilities."""

import pytest

from hosts.libvirt.node_xml import NUMA_OF_TWO_SOCKETS
from laneway.domain.inventory import NumaNode, Platform, Problem
from laneway.hosts.libvirt.capabilities import HostFacts, parse_capabilities


def read(text: str) -> tuple[HostFacts, list[Problem]]:
    problems: list[Problem] = []
    return parse_capabilities(text, problems), problems


def host(*elements: str) -> str:
    return f"<capabilities><host>{''.join(elements)}</host></capabilities>"


def cells(*elements: str) -> str:
    return host(f"<topology><cells>{''.join(elements)}</cells></topology>")


def test_two_sockets() -> None:
    facts, problems = read(NUMA_OF_TWO_SOCKETS)
    assert facts.numa_nodes == (
        NumaNode(id=0, socket=0, cpus=(0, 2), distances={0: 10, 1: 21}),
        NumaNode(id=1, socket=1, cpus=(1, 3), distances={0: 21, 1: 10}),
    )
    assert problems == []


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        pytest.param("<cell id='3'/>", NumaNode(id=3), id="nothing but a number"),
        pytest.param("<cell id='3'><cpus num='0'/></cell>", NumaNode(id=3, cpus=()), id="memory without CPUs"),
        pytest.param(
            "<cell id='3'><cpus><cpu id='0' socket_id='0'/><cpu id='1' socket_id='1'/></cpus></cell>",
            NumaNode(id=3, cpus=(0, 1)),
            id="over several sockets it has none",
        ),
        pytest.param(
            "<cell id='3'><cpus><cpu id='0' socket_id='2'/><cpu id='1'/></cpus></cell>",
            NumaNode(id=3, socket=2, cpus=(0, 1)),
            id="a CPU that is off is in no socket",
        ),
    ],
)
def test_cells(cell: str, expected: NumaNode) -> None:
    assert read(cells(cell)) == (HostFacts(numa_nodes=(expected,)), [])


def test_nodes_ascend_and_each_stands_once() -> None:
    facts, _ = read(cells("<cell id='1'/>", "<cell id='0'/>", "<cell id='1'><cpus/></cell>"))
    assert facts.numa_nodes == (NumaNode(id=0), NumaNode(id=1))


@pytest.mark.parametrize(
    "cell",
    ["<cell/>", "<cell id='one'/>", "<cell id='1'><distances><sibling id='0' value='-1'/></distances></cell>"],
    ids=["no number", "a word", "a distance below 0"],
)
def test_a_cell_that_makes_no_sense_is_noted_and_hides_no_other(cell: str) -> None:
    facts, problems = read(cells("<cell id='0'/>", cell))
    assert facts.numa_nodes == (NumaNode(id=0),)
    assert [problem.attribute for problem in problems] == ["numa_nodes"]
    assert "is not a number" in (problems[0].message or "")


@pytest.mark.parametrize(
    ("element", "platform", "codes"),
    [
        ("<iommu support='yes'/>", Platform(iommu="other"), []),
        ("<iommu support='no'/>", Platform(iommu="off"), ["iommu_off"]),
        ("", None, []),
    ],
    ids=["an IOMMU, of a kind not told", "none", "a libvirt that does not tell"],
)
def test_platform(element: str, platform: Platform | None, codes: list[str]) -> None:
    facts, problems = read(host(element))
    assert facts.platform == platform
    assert [note.code for note in facts.readiness] == codes
    assert problems == []


def test_capabilities_that_cannot_be_read_are_noted() -> None:
    facts, problems = read("<capabilities>")
    assert facts == HostFacts()
    assert "capabilities cannot be read: it is not XML" in (problems[0].message or "")
