"""Which compute node a host is."""

import pytest

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.openstack.nova_nodes import node_named, node_of_host
from laneway.openstack.nova_records import NovaNode

NODES = (
    NovaNode(id=1, host="compute-1", name="compute-1.example"),
    NovaNode(id=2, host="compute-2", name="compute-2.example"),
    NovaNode(id=3, host="twin", name="twin.a"),
    NovaNode(id=4, host="twin", name="twin.b"),
    NovaNode(id=5, host=None, name="Old"),
)


@pytest.mark.parametrize(
    ("host", "node"),
    [
        pytest.param("compute-1", 1, id="the name of the service"),
        pytest.param("compute-2.example", 2, id="the name of the hypervisor"),
        pytest.param("compute-2.other", 2, id="another domain"),
        pytest.param("COMPUTE-1", 1, id="another case"),
        pytest.param("twin.b", 4, id="one of two nodes of a service"),
        pytest.param("old.example", 5, id="a node without a service"),
    ],
)
def test_a_host_is_found_by_its_name(host: str, node: int) -> None:
    assert node_of_host(NODES, host).id == node


def test_a_node_is_taken_by_its_name_exactly() -> None:
    assert node_named(NODES, "compute-1.example").id == 1
    with pytest.raises(LanewayError, match=r"no compute node 'compute-1\.other'"):
        node_named(NODES, "compute-1.other")


@pytest.mark.parametrize(
    ("host", "said"),
    [
        pytest.param("compute-9", "nova has no compute node 'compute-9': Old, compute-1.example", id="none"),
        pytest.param("twin", "several compute nodes could be 'twin': twin.a, twin.b; name it by --node", id="several"),
    ],
)
def test_what_cannot_be_told_is_asked_for(host: str, said: str) -> None:
    with pytest.raises(LanewayError) as refusal:
        node_of_host(NODES, host)
    assert refusal.value.code is ErrorCode.USAGE
    assert said in refusal.value.message


def test_of_many_nodes_some_are_named() -> None:
    many = tuple(NovaNode(id=number, host=f"c{number:02}", name=None) for number in range(20))
    with pytest.raises(LanewayError, match="c00, c01, c02, c03, c04, c05, c06, c07 and 12 more; name it by --node"):
        node_of_host(many, "x")
