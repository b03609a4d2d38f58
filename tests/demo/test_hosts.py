"""The example hosts: facts that could be those of a real host."""

import json

import pytest

from laneway.contracts.inventory import decode_inventory, encode_inventory
from laneway.demo.script import HOSTS, DemoHost
from laneway.domain.inventory import DevType, Inventory

each_host = pytest.mark.parametrize("host", HOSTS, ids=[host.name for host in HOSTS])


@each_host
def test_the_inventory_keeps_to_its_contract(host: DemoHost) -> None:
    inventory = host.inventory()
    assert decode_inventory(encode_inventory(inventory)) == inventory
    assert inventory.host == host.name


@each_host
def test_the_inventory_is_in_order_of_address(host: DemoHost) -> None:
    addresses = [function.address for function in host.inventory().functions]
    assert addresses == sorted(addresses)


@each_host
def test_vfs_have_a_pf_whose_count_is_theirs(host: DemoHost) -> None:
    inventory = host.inventory()
    for pf in (function for function in inventory.functions if function.dev_type is DevType.PF):
        vfs = [function for function in inventory.functions if function.parent_addr == pf.address]
        assert pf.sriov is not None
        assert len(vfs) == pf.sriov.num_vfs
        assert [vf.vf_index for vf in vfs] == list(range(len(vfs)))
        assert {vf.product_id for vf in vfs} <= {pf.sriov.vf_product_id}
    assert all(
        (function.parent_addr in inventory.by_address) == (function.dev_type in (DevType.VF, DevType.VDPA))
        for function in inventory.functions
    )


@each_host
def test_the_way_to_the_root_is_made_of_bridges_of_the_host(host: DemoHost) -> None:
    inventory = host.inventory()
    for function in inventory.functions:
        assert function.bridges is not None
        assert function.path is not None
        for bridge in function.bridges:
            assert inventory.by_address[bridge].is_bridge
        hops = function.path.partition("+")[0].split("/")
        assert hops[0] == (function.pcie_roots or ("",))[0]
        assert len(hops) == 2 + len(function.bridges)


@each_host
def test_paths_and_interface_names_and_macs_are_unique(host: DemoHost) -> None:
    inventory = host.inventory()
    netdevs = [netdev for function in inventory.functions for netdev in function.netdevs or ()]
    for values in (
        [function.path for function in inventory.functions],
        [netdev.name for netdev in netdevs],
        [netdev.mac for netdev in netdevs],
    ):
        assert len(values) == len(set(values))


@each_host
def test_numa_nodes_are_those_of_the_host(host: DemoHost) -> None:
    inventory = host.inventory()
    known = {node.id for node in inventory.numa_nodes}
    assert {function.numa_node for function in inventory.functions} <= known | {None}


def test_the_hosts_are_small() -> None:
    assert sum(len(encode_inventory(host.inventory())) for host in HOSTS) < 200_000


@each_host
def test_a_step_is_shown_as_it_is_run(host: DemoHost) -> None:
    for step in host.steps:
        assert step.shown.startswith("laneway ")
        assert "\n" not in step.line
        assert step.purpose


def inventory_of(name: str) -> Inventory:
    return next(host for host in HOSTS if host.name == name).inventory()


def test_the_gpu_server_has_gpus_beside_network_cards() -> None:
    functions = inventory_of("gpu-1").functions
    gpus = [function for function in functions if function.vendor_id == "10de" and function.class_code != "040300"]
    nics = [function for function in functions if function.product_id == "1021"]
    assert (len(gpus), len(nics)) == (8, 4)
    assert {gpu.pcie_roots for gpu in gpus} == {nic.pcie_roots for nic in nics}


def test_the_desktop_has_a_group_that_only_bridges_and_one_card_share() -> None:
    by_group: dict[int | None, list[str]] = {}
    for function in inventory_of("desk").functions:
        by_group.setdefault(function.iommu_group, []).append(str(function.address))
    assert ["0000:00:01.0", "0000:01:00.0", "0000:01:00.1"] in by_group.values()


def test_the_inventories_hold_no_empty_text() -> None:
    for host in HOSTS:
        assert '""' not in json.dumps(json.loads(encode_inventory(host.inventory())))
