"""The hosts that both sides are measured on, as plain data: the same sizes and shapes for each.

A host has SR-IOV cards of three makes in turn, each a PF with 63 VFs, on two NUMA nodes: 128
devices are 2 cards, 4,096 are 64. The facts are those of the contract ``laneway.inventory/1``, as
complete as a live host gives them. Standard library only: nova's environment runs this too.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

VFS_PER_PF = 63
FUNCTIONS_PER_CARD = VFS_PER_PF + 1

Facts = dict[str, Any]


class Make(NamedTuple):
    """The ids and the drivers of a make of card."""

    vendor_id: str
    pf_product_id: str
    vf_product_id: str
    pf_driver: str
    vf_driver: str


MAKES = (
    Make("8086", "1572", "154c", "i40e", "iavf"),
    Make("15b3", "101d", "101e", "mlx5_core", "mlx5_core"),
    Make("14e4", "1750", "1806", "bnxt_en", "bnxt_en"),
)

SPECS: tuple[Facts, ...] = (
    {"vendor_id": "10de", "product_id": "20b0", "physical_network": "none_here"},
    {"vendor_id": "8086", "product_id": "1572", "physical_network": "physnet0"},
    {"vendor_id": "8086", "product_id": "154c", "address": "0000:*:07.*", "physical_network": "physnet7"},
    {"vendor_id": "8086", "product_id": "154c", "physical_network": "physnet0"},
    {"address": "0000:02:00.0", "physical_network": "physnet1"},
    {"vendor_id": "15b3", "product_id": "101d", "physical_network": "physnet1"},
    {"vendor_id": "15b3", "address": {"bus": "0.", "slot": "0[0-3]"}, "physical_network": "physnet2"},
    {"vendor_id": "15b3", "product_id": "101e", "physical_network": "physnet1"},
    {"vendor_id": "14e4", "product_id": "1750", "physical_network": "physnet3"},
    {"vendor_id": "14e4", "address": "*:*:*.*", "trusted": "true", "physical_network": "physnet3"},
)
"""Ten device specs of all kinds: ids, globs, a regular expression, an exact address that names a PF."""

A_VF: Facts = {"vendor_id": "8086", "product_id": "154c", "dev_type": "type-VF"}
A_PF: Facts = {"vendor_id": "8086", "product_id": "1572", "dev_type": "type-PF"}


def exact_specs(addresses: Sequence[str]) -> list[Facts]:
    """Specs that name functions by exact address."""
    return [
        {"address": address, "physical_network": f"physnet{number % 4}"} for number, address in enumerate(addresses)
    ]


def functions(devices: int) -> Iterator[Facts]:
    """The functions of a host with this many devices, in order of address."""
    return cards(devices // FUNCTIONS_PER_CARD)


def cards(count: int, vfs: int = VFS_PER_PF) -> Iterator[Facts]:
    """The functions of this many cards, in order of address."""
    for card in range(count):
        yield from _card(card, vfs)


def inventory(listed: Iterable[Facts], **changed: Any) -> bytes:
    """The inventory of a host as JSON; ``changed`` are facts of its last function that are others."""
    *others, last = listed
    document = {
        "schema": "laneway.inventory/1",
        "host": "bench",
        "driver": "linux",
        "os": {"family": "linux", "release": "6.12"},
        "boot_id": "3f0c2f3e-6d1b-4c2e-9a43-0d2f6c1f0a55",
        "numa_nodes": [
            {"id": node, "socket": node, "cpus": list(range(node * 32, node * 32 + 32)), "distances": distances}
            for node, distances in enumerate(({"0": 10, "1": 21}, {"0": 21, "1": 10}))
        ],
        "functions": [*others, last | changed],
    }
    return json.dumps(document).encode()


def _card(card: int, vfs: int) -> Iterator[Facts]:
    make, bus, node = MAKES[card % len(MAKES)], card + 1, card // 2 % 2
    pf_address, port = f"0000:{bus:02x}:00.0", f"0000:00:{card % 31 + 1:02x}.0"
    common: Facts = {
        "vendor_id": make.vendor_id,
        "subsystem_vendor_id": make.vendor_id,
        "subsystem_id": "0007",
        "class_code": "020000",
        "revision": "02",
        "numa_node": node,
        "driver_override": None,
        "pcie_roots": [f"0000:{node * 128:02x}"],
        "bridges": [port],
        "device_serial_number": f"3c-fd-fe-ff-ff-00-00-{bus:02x}",
        "vpd": {"card_serial_number": f"MT{card:06d}", "part_number": "MCX623106AN", "product_name": "Network Adapter"},
        "bars": [
            {"index": 0, "size": 65536, "bits": 64, "prefetchable": True},
            {"index": 3, "size": 16384, "bits": 64, "prefetchable": True},
        ],
        "link": {"speed_gts": 16.0, "width": 8, "max_speed_gts": 16.0, "max_width": 16},
        "reset_methods": ["flr", "bus"],
        "in_use_by": [],
        "opened_by": [],
        "not_assignable": [],
    }
    path = f"0000:{node * 128:02x}/{card % 31 + 1:02x}.0/00.0"
    yield common | {
        "address": pf_address,
        "product_id": make.pf_product_id,
        "dev_type": "type-PF",
        "driver": make.pf_driver,
        "iommu_group": bus * 100,
        "path": path,
        "sriov": {"total_vfs": 64, "num_vfs": vfs, "vf_product_id": make.vf_product_id},
        "netdevs": [_netdev(f"ens{bus}", f"3c:fd:fe:00:{bus:02x}:00")],
    }
    for index in range(vfs):
        devfn = index + 1
        yield common | {
            "address": f"0000:{bus:02x}:{devfn >> 3:02x}.{devfn & 7}",
            "product_id": make.vf_product_id,
            "dev_type": "type-VF",
            "parent_addr": pf_address,
            "vf_index": index,
            "driver": make.vf_driver,
            "iommu_group": bus * 100 + devfn,
            "path": f"{path}+vf{index}",
            "netdevs": [_netdev(f"ens{bus}v{index}", f"02:fd:fe:00:{bus:02x}:{devfn:02x}")],
        }


def _netdev(name: str, mac: str) -> Facts:
    features = ["rx", "tx", "sg", "tso", "gso", "gro", "rxvlan", "txvlan", "rxhash"]
    return {"name": name, "mac": mac, "permanent_mac": mac, "features": features, "speed_mbps": 25000, "up": True}
