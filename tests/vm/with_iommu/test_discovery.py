"""The Linux driver's facts, held against lspci, the devices' own registers, and the QEMU that plugged them."""

import json
import re
from collections.abc import Mapping

import pytest

from laneway.domain.inventory import DevType, Inventory, PciFunction
from vm import registers
from vm.commands import output_of
from vm.devices import (
    EDU,
    GPU,
    GPU_AUDIO,
    NIC_ON_SWITCH,
    NIC_PF,
    NIC_PORT_0,
    NIC_VFS,
    NVME,
    NVME_PF,
    NVME_VFS,
    NVME_WITHOUT_ACS,
    OLD_NIC,
    USB,
)
from vm.lspci import functions_of_lspci, paths_of_lspci
from vm.monitor import Monitor

Functions = Mapping[str, PciFunction]
SPEEDS = {1: 2.5, 2: 5.0, 3: 8.0, 4: 16.0, 5: 32.0, 6: 64.0}
"""By their code in the link registers."""
TOTAL_VFS = {NVME_PF: 4, NIC_PF: 7}
"""What the driver allows: that of the NIC keeps one of eight back for itself."""
ROM = 6
IO_WITHOUT_PLACE = (2, 32, False, False)
"""The register of the NIC below the switch that the kernel finds no place for, and clears."""
REGION = re.compile(r"Region (\d): Memory at \w+ \((\d\d)-bit, ([\w-]+)\) \[virtual\] \[size=(\w+)\]")


@pytest.fixture(scope="module")
def told() -> Mapping[str, Mapping[str, str]]:
    return functions_of_lspci()


def test_every_function_that_lspci_lists(inventory: Inventory, told: Mapping[str, Mapping[str, str]]) -> None:
    assert [str(function.address) for function in inventory.functions] == sorted(told)


@pytest.mark.parametrize(
    ("fact", "name"),
    [
        ("vendor_id", "Vendor"),
        ("product_id", "Device"),
        ("subsystem_vendor_id", "SVendor"),
        ("subsystem_id", "SDevice"),
        ("driver", "Driver"),
        ("numa_node", "NUMANode"),
        ("iommu_group", "IOMMUGroup"),
    ],
)
def test_facts_are_those_of_lspci(
    fact: str, name: str, functions: Functions, told: Mapping[str, Mapping[str, str]]
) -> None:
    ours = {address: getattr(function, fact) for address, function in functions.items()}
    absent = "0000" if name.startswith("S") else None  # lspci does not show a subsystem of zeros
    theirs = {address: said.get(name, absent) for address, said in told.items()}
    assert {address: None if value is None else str(value) for address, value in ours.items()} == theirs
    assert len(set(ours.values())) > 1


def test_classes_and_revisions_are_those_of_lspci(functions: Functions, told: Mapping[str, Mapping[str, str]]) -> None:
    ours = {address: (function.class_code, function.revision) for address, function in functions.items()}
    theirs = {
        address: (said["Class"] + said.get("ProgIf", "00"), said.get("Rev", "00")) for address, said in told.items()
    }
    assert ours == theirs


def test_bridges_are_those_of_lspci(functions: Functions) -> None:
    ours = {address: tuple(map(str, function.bridges or ())) for address, function in functions.items()}
    assert ours == paths_of_lspci()


def test_every_function_that_qemu_plugged(functions: Functions, monitor: Monitor) -> None:
    plugged = {
        (one["bus"], one["slot"], one["function"]): (
            one["id"]["vendor"],
            one["id"]["device"],
            one["class_info"]["class"],
        )
        for one in monitor.functions()
    }
    found = {
        (function.address.bus, function.address.slot, function.address.function): (
            int(function.vendor_id, 16),
            int(function.product_id, 16),
            int(function.class_code or "", 16) >> 8,
        )
        for function in functions.values()
        if function.parent_addr is None
    }
    assert found == {place: ids for place, ids in plugged.items() if place in found}
    assert len(found) == len(functions) - len(NIC_VFS) - len(NVME_VFS)


def test_registers_are_those_that_qemu_gave_its_devices(functions: Functions, monitor: Monitor) -> None:
    plugged = {
        f"0000:{one['bus']:02x}:{one['slot']:02x}.{one['function']}": {
            (region["bar"], region["size"], region.get("mem_type_64", False), region.get("prefetch", False))
            for region in one["regions"]
            if region["bar"] < ROM
        }
        for one in monitor.functions()
    }
    plugged[NIC_ON_SWITCH] -= {IO_WITHOUT_PLACE}
    found = {
        address: {(bar.index, bar.size, bar.bits == 64, bool(bar.prefetchable)) for bar in function.bars or ()}
        for address, function in functions.items()
        if function.parent_addr is None
    }
    assert found == {address: plugged[address] for address in found}


@pytest.mark.parametrize("address", [NIC_VFS[0], NVME_VFS[3]])
def test_registers_of_virtual_functions_are_those_of_lspci(address: str, functions: Functions) -> None:
    sizes = {f"{number}{unit}": number << shift for unit, shift in (("K", 10), ("M", 20)) for number in range(1, 1024)}
    lines = (line.strip() for line in output_of("lspci", "-vv", "-s", address).splitlines())
    told = [REGION.fullmatch(line) for line in lines if line.startswith("Region")]
    assert [(bar.index, bar.size, bar.bits, bar.prefetchable) for bar in functions[address].bars or ()] == [
        (int(found[1]), sizes[found[4]], int(found[2]), found[3] == "prefetchable") for found in told if found
    ]
    assert all(told)
    assert told


@pytest.mark.parametrize(("pf", "expected"), [(NIC_PF, NIC_VFS), (NVME_PF, NVME_VFS)])
def test_virtual_functions_stand_where_the_registers_of_their_pf_say(
    pf: str, expected: tuple[str, ...], functions: Functions
) -> None:
    found = [str(one.address) for one in functions.values() if str(one.parent_addr) == pf]
    assert found == list(expected) == registers.virtual_functions(pf)
    indices = range(len(expected))
    assert [functions[vf].vf_index for vf in expected] == list(indices)
    assert [functions[vf].path for vf in expected] == [f"{functions[pf].path}+vf{index}" for index in indices]
    assert {functions[vf].dev_type for vf in expected} == {DevType.VF}


@pytest.mark.parametrize(("pf", "expected"), [(NIC_PF, NIC_VFS), (NVME_PF, NVME_VFS)])
def test_what_a_physical_function_can_do_is_what_its_registers_say(
    pf: str, expected: tuple[str, ...], functions: Functions
) -> None:
    sriov = functions[pf].sriov
    assert sriov is not None
    assert functions[pf].dev_type is DevType.PF
    assert sriov.total_vfs == TOTAL_VFS[pf] <= registers.register(pf, f"{registers.SRIOV}+e", "w")
    assert sriov.num_vfs == len(expected) == registers.register(pf, f"{registers.SRIOV}+10", "w")
    assert sriov.vf_product_id == f"{registers.register(pf, f'{registers.SRIOV}+1a', 'w'):04x}"
    assert {functions[vf].product_id for vf in expected} == {sriov.vf_product_id}


def test_all_others_are_no_physical_functions(functions: Functions) -> None:
    assert {address for address, one in functions.items() if one.sriov is not None} == {NIC_PF, NVME_PF}
    assert {address for address, one in functions.items() if one.dev_type is DevType.PF} == {NIC_PF, NVME_PF}


@pytest.mark.parametrize("address", [NIC_ON_SWITCH, NIC_PORT_0])
def test_serial_numbers_are_those_of_the_registers(address: str, functions: Functions) -> None:
    assert functions[address].device_serial_number == registers.serial_number(address)


def test_a_device_without_a_serial_number_has_none(functions: Functions) -> None:
    assert functions[NIC_PF].device_serial_number is None


@pytest.mark.parametrize("address", [NVME_PF, NVME, NIC_PF, NIC_PORT_0, NVME_WITHOUT_ACS, USB, NIC_ON_SWITCH])
def test_links_are_those_of_the_registers(address: str, functions: Functions) -> None:
    speed, width, most_speed, most_width = registers.link(address)
    told = functions[address].link
    assert told is not None
    assert (told.speed_gts, told.width) == (SPEEDS[speed], width)
    assert (told.max_speed_gts, told.max_width) == (SPEEDS[most_speed], most_width)


def test_interfaces_are_those_of_the_kernel(functions: Functions) -> None:
    theirs: dict[str, list[tuple[str, str]]] = {}
    for link in json.loads(output_of("ip", "-j", "-d", "link")):
        if link.get("parentbus") == "pci":
            theirs.setdefault(link["parentdev"], []).append((link["ifname"], link["address"]))
    ours = {
        address: [(netdev.name, netdev.mac) for netdev in function.netdevs]
        for address, function in functions.items()
        if function.netdevs
    }
    assert ours == theirs
    assert set(ours) == {OLD_NIC, NIC_PF, *NIC_VFS, NIC_PORT_0, "0000:82:00.1", NIC_ON_SWITCH}


@pytest.mark.parametrize("address", [OLD_NIC, NIC_PF, NIC_VFS[0], NIC_ON_SWITCH])
def test_permanent_addresses_are_those_of_ethtool(address: str, functions: Functions) -> None:
    (netdev,) = functions[address].netdevs or ()
    told = output_of("ethtool", "-P", netdev.name).split(": ")[1].strip()
    assert netdev.permanent_mac == (None if told in ("not set", "00:00:00:00:00:00") else told)


FEATURES = {
    "rx-checksumming": "rx",
    "tx-checksumming": "tx",
    "scatter-gather": "sg",
    "tcp-segmentation-offload": "tso",
    "generic-segmentation-offload": "gso",
    "generic-receive-offload": "gro",
    "large-receive-offload": "lro",
    "rx-vlan-offload": "rxvlan",
    "tx-vlan-offload": "txvlan",
    "ntuple-filters": "ntuple",
    "receive-hashing": "rxhash",
    "tx-udp_tnl-segmentation": "txudptnl",
}


@pytest.mark.parametrize("address", [OLD_NIC, NIC_PF, NIC_VFS[0], NIC_ON_SWITCH])
def test_features_are_those_of_ethtool(address: str, functions: Functions) -> None:
    (netdev,) = functions[address].netdevs or ()
    lines = output_of("ethtool", "-k", netdev.name).splitlines()[1:]
    told = {name.strip(): value.split()[0] for name, _, value in (line.partition(":") for line in lines)}
    assert set(netdev.features or ()) == {ours for theirs, ours in FEATURES.items() if told.get(theirs) == "on"}


def test_numa_nodes_are_those_that_qemu_was_told_to_make(inventory: Inventory) -> None:
    assert [(node.id, node.socket, node.cpus, node.distances) for node in inventory.numa_nodes] == [
        (0, 0, (0, 1), {0: 10, 1: 21}),
        (1, 1, (2, 3), {0: 21, 1: 10}),
    ]


@pytest.mark.parametrize(
    ("address", "node", "root"),
    [
        (NVME_PF, 0, "0000:20"),
        (GPU_AUDIO, 0, "0000:20"),
        (NVME_VFS[3], 0, "0000:20"),
        (NIC_VFS[2], 1, "0000:80"),
        (NIC_ON_SWITCH, 1, "0000:80"),
        (EDU, None, "0000:00"),
    ],
)
def test_place(address: str, node: int | None, root: str, functions: Functions) -> None:
    assert (functions[address].numa_node, functions[address].pcie_roots) == (node, (root,))


def test_path_has_no_bus_numbers(functions: Functions) -> None:
    assert functions[NIC_ON_SWITCH].path == "0000:80/03.0/00.0/01.0/00.0"
    assert functions[GPU_AUDIO].path == "0000:20/02.0/00.1"


def test_groups_are_those_of_the_topology(functions: Functions) -> None:
    groups: dict[int | None, set[str]] = {}
    for address, function in functions.items():
        if not function.is_bridge:
            groups.setdefault(function.iommu_group, set()).add(address)
    shared = {frozenset(members) for members in groups.values() if len(members) > 1}
    assert {GPU, GPU_AUDIO} in shared
    assert {NIC_PORT_0, "0000:82:00.1"} in shared
    assert {EDU, OLD_NIC} in shared
    assert not any(members & {NIC_PF, NVME_PF, NVME, *NIC_VFS, *NVME_VFS} for members in shared)
    assert functions[NVME_WITHOUT_ACS].iommu_group == functions["0000:80:02.0"].iommu_group


@pytest.mark.parametrize(
    ("address", "methods"),
    [
        (NVME, ("flr", "bus")),
        (NVME_VFS[0], ("flr", "bus")),
        (NIC_PF, ("flr", "pm", "bus")),
        (NIC_VFS[0], ("flr",)),
        (NIC_PORT_0, ("pm", "bus")),
        (GPU, ("bus",)),
        (GPU_AUDIO, ()),
    ],
)
def test_reset_methods(address: str, methods: tuple[str, ...], functions: Functions) -> None:
    assert functions[address].reset_methods == methods


def test_nothing_is_unreadable_for_root(inventory: Inventory) -> None:
    assert inventory.problems == ()
    assert all(function.in_use_by is not None for function in inventory.functions)
    assert all(function.opened_by == () for function in inventory.functions)


def test_the_host_itself(inventory: Inventory) -> None:
    release = output_of("uname", "-r").strip()
    assert (inventory.host, inventory.driver) == ("testhost", "linux")
    assert inventory.os is not None
    assert (inventory.os.family, inventory.os.release) == ("linux", release)
    assert inventory.boot_id == output_of("cat", "/proc/sys/kernel/random/boot_id").strip()
