"""NUMA nodes."""

from pathlib import Path

import pytest

from hosts.sysfs_builder import SysfsBuilder
from laneway.domain.inventory import NumaNode, Problem
from laneway.hosts.linux.numa import parse_cpu_list, read_numa_nodes
from laneway.hosts.linux.tree import HostTree


def read(host: SysfsBuilder) -> tuple[tuple[NumaNode, ...], list[Problem]]:
    problems: list[Problem] = []
    return read_numa_nodes(HostTree(host.root), problems), problems


def test_nodes_have_cpus_sockets_and_distances_by_node(tmp_path: Path) -> None:
    host = SysfsBuilder(tmp_path)
    host.numa_node(0, cpus="0-1,4", distances="10 21 40", socket=0)
    host.numa_node(1, cpus="2-3", distances="21 10 40", socket=1)
    host.numa_node(10, cpus="", distances="40 40 10")
    nodes, problems = read(host)
    assert nodes == (
        NumaNode(id=0, socket=0, cpus=(0, 1, 4), distances={0: 10, 1: 21, 10: 40}),
        NumaNode(id=1, socket=1, cpus=(2, 3), distances={0: 21, 1: 10, 10: 40}),
        NumaNode(id=10, socket=None, cpus=(), distances={0: 40, 1: 40, 10: 10}),
    )
    assert problems == []


def test_a_node_over_two_sockets_is_on_no_one_of_them(tmp_path: Path) -> None:
    nodes, _ = read(SysfsBuilder(tmp_path).numa_node(0, cpus="0-3", socket=0, siblings="0-1"))
    assert nodes[0].socket is None


def test_several_nodes_of_one_socket_are_all_on_it(tmp_path: Path) -> None:
    host = SysfsBuilder(tmp_path)
    host.numa_node(0, cpus="0-1", socket=0, siblings="0-3").numa_node(1, cpus="2-3", socket=0, siblings="0-3")
    assert [node.socket for node in read(host)[0]] == [0, 0]


@pytest.mark.parametrize("socket", [pytest.param("-1", id="not known"), pytest.param("x", id="no number")])
def test_an_unknown_socket(tmp_path: Path, socket: str) -> None:
    host = SysfsBuilder(tmp_path).numa_node(0, cpus="0", socket=0)
    host.file("sys/devices/system/cpu/cpu0/topology/physical_package_id", socket)
    assert read(host)[0][0].socket is None


def test_a_host_without_numa_has_no_nodes(tmp_path: Path) -> None:
    assert read(SysfsBuilder(tmp_path)) == ((), [])


def test_a_node_of_which_nothing_can_be_read(tmp_path: Path) -> None:
    host = SysfsBuilder(tmp_path).file("sys/devices/system/node/node3/uevent", "")
    assert read(host) == ((NumaNode(id=3),), [])


@pytest.mark.parametrize(
    ("file", "content"),
    [
        pytest.param("distance", "10 21", id="distances to more nodes than there are"),
        pytest.param("distance", "ten", id="distances that are no numbers"),
        pytest.param("cpulist", "0-", id="a range without an end"),
        pytest.param("cpulist", "0-9999999999", id="more CPUs than a machine has"),
    ],
)
def test_what_makes_no_sense_is_noted(tmp_path: Path, file: str, content: str) -> None:
    host = SysfsBuilder(tmp_path).numa_node(0, cpus="0", distances="10")
    host.file(f"sys/devices/system/node/node0/{file}", content)
    nodes, problems = read(host)
    assert len(nodes) == 1
    assert [problem.attribute for problem in problems] == [f"sys/devices/system/node/node0/{file}"]
    assert content in str(problems[0].message)


def test_cpu_lists() -> None:
    assert parse_cpu_list("0-7,16-17\n") == (*range(8), 16, 17)
    assert parse_cpu_list("\n") == ()
