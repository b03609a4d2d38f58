import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.domain.inventory import Inventory, NumaNode
from laneway.domain.requests.numa import LOCAL_DISTANCE, UNKNOWN_DISTANCE, NumaTopology, is_away
from laneway.domain.requests.request import NumaPolicy

TWO_SOCKETS = NumaTopology.of(
    Inventory(
        functions=(),
        numa_nodes=(
            NumaNode(id=0, socket=0, distances={0: 10, 1: 12, 2: 21}),
            NumaNode(id=1, socket=0, distances={0: 12, 1: 10, 2: 32}),
            NumaNode(id=2, socket=1),
            NumaNode(id=3),
        ),
    )
)
NO_FACTS = NumaTopology.of(Inventory(functions=()))

nodes = st.none() | st.integers(0, 4)
guests = st.frozensets(st.integers(0, 4), max_size=3)


@pytest.mark.parametrize(
    ("policy", "own", "same_socket", "other_socket", "unknown"),
    [
        pytest.param(NumaPolicy.REQUIRED, True, False, False, False, id="required takes the guest's own nodes"),
        pytest.param(NumaPolicy.LEGACY, True, False, False, True, id="legacy also takes an unknown node"),
        pytest.param(NumaPolicy.PREFERRED, True, True, True, True, id="preferred takes every node"),
        pytest.param(NumaPolicy.SOCKET, True, True, False, False, id="socket takes the nodes of the socket"),
    ],
)
def test_a_policy_forbids_by_node(
    policy: NumaPolicy, own: bool, same_socket: bool, other_socket: bool, unknown: bool
) -> None:
    """Rules C57 and C58."""
    guest = frozenset({0})
    assert [TWO_SOCKETS.admits(policy, node, guest) for node in (0, 1, 2, None)] == [
        own,
        same_socket,
        other_socket,
        unknown,
    ]


@pytest.mark.parametrize("topology", [NO_FACTS, TWO_SOCKETS], ids=["host without facts", "node without a socket"])
def test_socket_without_facts_leaves_the_guests_own_nodes(topology: NumaTopology) -> None:
    """Rule D24."""
    assert topology.admits(NumaPolicy.SOCKET, 3, frozenset({3}))
    assert not topology.admits(NumaPolicy.SOCKET, 3, frozenset({4}))
    assert not topology.admits(NumaPolicy.SOCKET, None, frozenset({3}))


def test_a_guest_on_two_nodes_reaches_both_sockets() -> None:
    assert TWO_SOCKETS.admits(NumaPolicy.SOCKET, 2, frozenset({0, 2}))
    assert TWO_SOCKETS.admits(NumaPolicy.SOCKET, 1, frozenset({0, 2}))


@pytest.mark.parametrize(
    ("node", "guest", "distance"),
    [
        pytest.param(0, {0}, LOCAL_DISTANCE, id="on the guest's node"),
        pytest.param(1, {0}, 12, id="on the next node"),
        pytest.param(2, {1}, 32, id="known only from the other end"),
        pytest.param(2, {0, 1}, 21, id="to the nearest of two"),
        pytest.param(2, {3}, UNKNOWN_DISTANCE, id="a distance that nobody tells"),
        pytest.param(3, {3}, LOCAL_DISTANCE, id="local without any facts"),
        pytest.param(None, {0}, UNKNOWN_DISTANCE, id="a node that is not known"),
        pytest.param(2, set(), 0, id="a guest without nodes"),
        pytest.param(None, set(), 0, id="neither node nor guest nodes"),
    ],
)
def test_distance(node: int | None, guest: set[int], distance: int) -> None:
    assert TWO_SOCKETS.distance(node, guest) == distance


@given(policy=st.sampled_from(NumaPolicy), node=nodes)
def test_without_guest_nodes_nothing_is_filtered(policy: NumaPolicy, node: int | None) -> None:
    """Rule C59."""
    assert TWO_SOCKETS.admits(policy, node, frozenset())
    assert not is_away(node, frozenset())


@given(node=nodes, guest=guests)
def test_policies_are_ordered_by_what_they_forbid(node: int | None, guest: frozenset[int]) -> None:
    """Rule C57."""
    required, legacy, socket, preferred = (
        TWO_SOCKETS.admits(policy, node, guest)
        for policy in (NumaPolicy.REQUIRED, NumaPolicy.LEGACY, NumaPolicy.SOCKET, NumaPolicy.PREFERRED)
    )
    assert required <= legacy <= preferred
    assert required <= socket <= preferred
    assert required == (not is_away(node, guest))


@given(node=nodes, guest=guests.filter(bool), more=st.integers(0, 4))
def test_one_more_guest_node_never_makes_a_device_farther(node: int | None, guest: frozenset[int], more: int) -> None:
    assert TWO_SOCKETS.distance(node, guest | {more}) <= TWO_SOCKETS.distance(node, guest)
