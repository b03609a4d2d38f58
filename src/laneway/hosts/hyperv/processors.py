"""NUMA nodes and sockets, from what GetLogicalProcessorInformationEx fills a buffer with (winnt.h). Pure.

Windows counts processors in groups of 64; a processor's number here is 64 times its group plus its
place there. Windows tells no distances.
"""

import struct
from collections import defaultdict
from collections.abc import Iterator

from laneway.domain.inventory import NumaNode

_NODE, _SOCKET, _NODE_IN_FULL = 1, 3, 6
"""RelationNumaNode, RelationProcessorPackage and RelationNumaNodeEx."""
_GROUP_SIZE = 64
_HEADER = struct.Struct("<II")
_NODE_NUMBER_AT, _GROUP_COUNT_AT, _MASKS_AT = 8, 30, 32
_MASK = struct.Struct("<QH6x")


def parse_numa_nodes(data: bytes) -> tuple[NumaNode, ...]:
    """The nodes, each with its socket where all its processors are of one; () where the data makes no sense."""
    nodes: dict[int, set[int]] = defaultdict(set)
    sockets: list[set[int]] = []
    try:
        for relation, record in _records(data):
            if relation in (_NODE, _NODE_IN_FULL):
                nodes[struct.unpack_from("<I", record, _NODE_NUMBER_AT)[0]].update(_processors(record))
            elif relation == _SOCKET:
                sockets.append(set(_processors(record)))
    except struct.error:
        return ()
    return tuple(
        NumaNode(id=number, socket=_socket_of(cpus, sockets), cpus=tuple(sorted(cpus)))
        for number, cpus in sorted(nodes.items())
    )


def _records(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(data):
        relation, size = _HEADER.unpack_from(data, at)
        if size < _HEADER.size:
            raise struct.error("a record is shorter than its header")
        yield relation, data[at : at + size]
        at += size


def _processors(record: bytes) -> Iterator[int]:
    """Of NUMA_NODE_RELATIONSHIP and PROCESSOR_RELATIONSHIP, which agree in this. No count means one mask."""
    (count,) = struct.unpack_from("<H", record, _GROUP_COUNT_AT)
    for index in range(count or 1):
        mask, group = _MASK.unpack_from(record, _MASKS_AT + index * _MASK.size)
        yield from (group * _GROUP_SIZE + bit for bit in range(_GROUP_SIZE) if mask >> bit & 1)


def _socket_of(cpus: set[int], sockets: list[set[int]]) -> int | None:
    holding = [number for number, members in enumerate(sockets) if cpus and cpus <= members]
    return holding[0] if len(holding) == 1 else None
