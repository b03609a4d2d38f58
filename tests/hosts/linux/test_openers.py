"""Who holds the vfio and vhost-vdpa nodes of functions."""

import pytest

from hosts.host_tree import HostTreeBuilder
from laneway.domain.address import PciAddress
from laneway.domain.inventory import DevType, PciFunction, Vdpa
from laneway.hosts.linux.host_use import open_nodes, opened_by
from laneway.hosts.linux.openers import read_open_nodes
from laneway.hosts.linux.tree import HostTree

GPU, AUDIO, PORT, NIC = "0000:3b:00.0", "0000:3b:00.1", "0000:3a:00.0", "0000:81:02.0"


def function(
    address: str, *, group: int | None, driver: str | None = "vfio-pci", bridge: bool = False, vdpa: Vdpa | None = None
) -> PciFunction:
    return PciFunction(
        address=PciAddress.parse(address),
        vendor_id="10de",
        product_id="20b0",
        dev_type=DevType.PCI,
        class_code="060400" if bridge else "030200",
        iommu_group=group,
        driver=driver,
        vdpa=vdpa,
    )


def openers_of(host: HostTreeBuilder, *functions: PciFunction) -> dict[str, list[tuple[int | None, str | None]] | None]:
    found = opened_by(host.root, functions, live=False)
    return {str(a): None if held is None else [(o.pid, o.name) for o in held] for a, held in found.items()}


def test_the_node_of_a_group_stands_for_all_its_functions_but_bridges(host: HostTreeBuilder) -> None:
    host.process(4711, "qemu-system-x86", "/dev/vfio/vfio", "/dev/vfio/28", "anon_inode:[vfio-device]")
    members = (
        function(GPU, group=28),
        function(AUDIO, group=28, driver=None),
        function(PORT, group=28, driver="pcieport", bridge=True),
    )
    opener = [(4711, "qemu-system-x86")]
    assert openers_of(host, *members) == {GPU: opener, AUDIO: opener, PORT: []}


@pytest.mark.parametrize("node", ["/dev/vfio/28", "/dev/vfio/28 (deleted)", "/dev/vfio/noiommu-28"])
def test_names_of_a_groups_node(host: HostTreeBuilder, node: str) -> None:
    host.process(5, "dpdk-testpmd", node)
    assert openers_of(host, function(GPU, group=28)) == {GPU: [(5, "dpdk-testpmd")]}


def test_a_character_device_stands_for_its_own_function(host: HostTreeBuilder) -> None:
    for address, name in ((GPU, "vfio0"), (AUDIO, "vfio1")):
        host.node_class("vfio-dev", name, host.function(address))
    host.process(5, "qemu", "/dev/iommu", "/dev/vfio/devices/vfio1")
    assert openers_of(host, function(GPU, group=28), function(AUDIO, group=28)) == {GPU: [], AUDIO: [(5, "qemu")]}


def test_a_vhost_vdpa_node_stands_for_its_function(host: HostTreeBuilder) -> None:
    host.process(5, "qemu", "/dev/vhost-vdpa-3")
    vdpa = Vdpa(name="vdpa3", driver="vhost_vdpa", vhost_node="/dev/vhost-vdpa-3")
    nic = function(NIC, group=40, driver="mlx5_core", vdpa=vdpa)
    assert openers_of(host, nic, function(GPU, group=28)) == {NIC: [(5, "qemu")], GPU: []}


def test_all_processes_are_named_by_id(host: HostTreeBuilder) -> None:
    host.process(20, "b", "/dev/vfio/28")
    host.process(3, "a", "/dev/vfio/28")
    (host.root / "proc/20/comm").unlink()
    assert openers_of(host, function(GPU, group=28)) == {GPU: [(3, "a"), (20, None)]}


def test_where_no_process_can_be_seen_only_functions_without_a_node_are_known(host: HostTreeBuilder) -> None:
    (host.root / "proc/1/fd").rmdir()
    host.node_class("vfio", "40", "virtual")
    functions = (
        function(GPU, group=28),
        function(NIC, group=29, driver="iavf"),
        function(AUDIO, group=40, driver=None),
        function(PORT, group=None, driver="mlx5_core", vdpa=Vdpa(name="vdpa0")),
    )
    assert openers_of(host, *functions) == {GPU: None, NIC: [], AUDIO: None, PORT: None}


def test_one_pass_over_the_processes_serves_both_facts(host: HostTreeBuilder) -> None:
    host.process(5, "qemu", "/dev/vfio/28")
    nodes = open_nodes(host.root, live=False)
    (host.root / "proc").rename(host.root / "gone")
    found = opened_by(host.root, [function(GPU, group=28)], live=False, nodes=nodes)
    assert [opener.pid for opener in found[PciAddress.parse(GPU)] or ()] == [5]


def test_a_running_system_that_hides_process_1_is_not_seen_completely(host: HostTreeBuilder) -> None:
    host.process(5, "qemu", "/dev/vfio/28")
    tree = HostTree(host.root)
    assert read_open_nodes(tree, live=True).complete
    (host.root / "proc/1").rename(host.root / "hidden")
    assert not read_open_nodes(tree, live=True).complete


def test_a_process_that_may_not_be_looked_at_leaves_the_rest_open(host: HostTreeBuilder) -> None:
    host.write("proc/9/fd", "not a directory, so that listing it fails though it is there")
    assert not read_open_nodes(HostTree(host.root), live=True).complete


def test_udev_which_looks_at_every_new_node_is_no_opener(host: HostTreeBuilder) -> None:
    host.process(5, "qemu", "/dev/vfio/28")
    host.process(99, "(udev-worker)", "/dev/vfio/28")
    assert openers_of(host, function(GPU, group=28)) == {GPU: [(5, "qemu")]}


def test_a_process_that_ends_while_it_is_looked_at_holds_nothing(
    host: HostTreeBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.process(5, "qemu", "/dev/vfio/28")
    monkeypatch.setattr(HostTree, "exists", lambda tree, path: path != "proc/5" and (host.root / path).exists())
    assert openers_of(host, function(GPU, group=28)) == {GPU: []}
