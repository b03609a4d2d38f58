"""NUMA nodes and sockets, from the records of winnt.h."""

import struct

import pytest

from laneway.domain.inventory import NumaNode
from laneway.hosts.hyperv.processors import parse_numa_nodes


def record(relation: int, first: int, masks: list[tuple[int, int]], *, counted: bool = True) -> bytes:
    """``first`` is the node's number, or the flags of a package; each mask goes with its group."""
    body = struct.pack("<I18xH", first, len(masks) if counted else 0)
    body += b"".join(struct.pack("<QH6x", mask, group) for mask, group in masks)
    return struct.pack("<II", relation, 8 + len(body)) + body


def node(number: int, *masks: tuple[int, int], relation: int = 1) -> bytes:
    return record(relation, number, list(masks))


def socket(*masks: tuple[int, int]) -> bytes:
    return record(3, 0, list(masks))


CACHE = record(2, 5, [(0xFF, 0)])


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(b"", (), id="nothing"),
        pytest.param(
            socket((0x3, 0)) + socket((0xC, 0)) + node(0, (0x3, 0)) + CACHE + node(1, (0xC, 0)),
            (NumaNode(id=0, socket=0, cpus=(0, 1)), NumaNode(id=1, socket=1, cpus=(2, 3))),
            id="two sockets of a node each",
        ),
        pytest.param(
            socket((0xF, 0)) + node(0, (0x3, 0)) + node(1, (0xC, 0)),
            (NumaNode(id=0, socket=0, cpus=(0, 1)), NumaNode(id=1, socket=0, cpus=(2, 3))),
            id="two nodes in a socket",
        ),
        pytest.param(
            node(0, (0x1, 0)) + node(0, (0x1, 0), (0x1, 1), relation=6),
            (NumaNode(id=0, cpus=(0, 64)),),
            id="a node over two groups of processors, told in full the second time",
        ),
        pytest.param(
            record(1, 2, [(0x1, 3)], counted=False),
            (NumaNode(id=2, cpus=(192,)),),
            id="an older Windows, which counts no groups",
        ),
        pytest.param(node(0, (0, 0)), (NumaNode(id=0, cpus=()),), id="a node with memory alone"),
        pytest.param(
            socket((0x1, 0)) + socket((0x2, 0)) + node(0, (0x3, 0)),
            (NumaNode(id=0, cpus=(0, 1)),),
            id="a node over two sockets has none",
        ),
        pytest.param(node(0, (1, 0))[:20], (), id="cut short"),
        pytest.param(struct.pack("<II", 1, 0), (), id="a record without a size"),
    ],
)
def test_parse_numa_nodes(data: bytes, expected: tuple[NumaNode, ...]) -> None:
    assert parse_numa_nodes(data) == expected
