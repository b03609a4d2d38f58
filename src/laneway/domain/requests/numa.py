"""NUMA: where a device may stand for a guest, and how far away it is (rules C57 to C59, D24)."""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Self

from laneway.domain.inventory import Inventory
from laneway.domain.requests.request import NumaPolicy

LOCAL_DISTANCE = 10
"""The distance of a node to itself (ACPI specification, System Locality Information Table)."""

UNKNOWN_DISTANCE = 255
"""Taken where a node or a distance is not known. SLIT has 255 for "unreachable": the farthest."""


@dataclass(frozen=True, slots=True)
class NumaTopology:
    """What is known of the NUMA nodes of one host: the socket and the distances of each."""

    sockets: Mapping[int, int]
    distances: Mapping[int, Mapping[int, int]]

    @classmethod
    def of(cls, inventory: Inventory) -> Self:
        """The topology that an inventory tells of."""
        nodes = inventory.numa_nodes
        return cls(
            sockets={node.id: node.socket for node in nodes if node.socket is not None},
            distances={node.id: node.distances for node in nodes if node.distances is not None},
        )

    def admits(self, policy: NumaPolicy, node: int | None, guest_nodes: Set[int]) -> bool:
        """May a device on ``node`` (None: not known) serve a guest on ``guest_nodes``? (C58, C59)

        A policy only forbids: what is nearer is a question of cost. Where the sockets are not
        known, ``socket`` leaves the guest's own nodes (D24).
        """
        if not guest_nodes or policy is NumaPolicy.PREFERRED or node in guest_nodes:
            return True
        if node is None:
            return policy is NumaPolicy.LEGACY
        return policy is NumaPolicy.SOCKET and self._shares_socket(node, guest_nodes)

    def distance(self, node: int | None, guest_nodes: Set[int]) -> int:
        """How far ``node`` is from the nearest guest node, in SLIT units; 0 without guest nodes."""
        if not guest_nodes:
            return 0
        if node is None:
            return UNKNOWN_DISTANCE
        return min(self._between(node, guest_node) for guest_node in guest_nodes)

    def _shares_socket(self, node: int, guest_nodes: Set[int]) -> bool:
        socket = self.sockets.get(node)
        return socket is not None and any(self.sockets.get(guest_node) == socket for guest_node in guest_nodes)

    def _between(self, node: int, other: int) -> int:
        there = self.distances.get(node, {}).get(other)
        if there is not None:
            return there
        if node == other:
            return LOCAL_DISTANCE
        return self.distances.get(other, {}).get(node, UNKNOWN_DISTANCE)


def is_away(node: int | None, guest_nodes: Set[int]) -> bool:
    """Whether a device on ``node`` is on none of the guest's nodes; unknown counts as away."""
    return bool(guest_nodes) and node not in guest_nodes
