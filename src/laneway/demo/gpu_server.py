"""A GPU server: two sockets, four PCIe switches, each with two GPUs beside a network card."""

from laneway.demo.builder import HostBuilder, Model, Place, interface, pcie, two_sockets
from laneway.domain.inventory import DevType, HostUse, Inventory, Sriov, Vpd

_ROOT_PORT = Model("8086:352a", "060400", "8086:0000", "04", pcie(32.0, 16))
_SWITCH = Model("1000:c030", "060400", "1000:0144", "b0", pcie(32.0, 16))
_L40S = Model("10de:26b9", "030200", "10de:1851", "a1", pcie(16.0, 16), ("flr", "bus"))
_A4000 = Model("10de:24b0", "030000", "10de:14ad", "a1", pcie(16.0, 16), ("bus",))
_A4000_AUDIO = Model("10de:228b", "040300", "10de:14ad", "a1", pcie(16.0, 16), ())
_CONNECTX7 = Model("15b3:1021", "020000", "15b3:0041", "00", pcie(32.0, 16), ("flr", "bus"))
_NVME = Model("144d:a80a", "010802", "144d:aa8b", "00", pcie(16.0, 4), ("flr", "bus"))
_X710 = Model("8086:1572", "020000", "8086:0007", "02", pcie(8.0, 8), ("flr", "bus"))
_BMC = Model("1a03:2000", "030000", "1a03:2000", "52", None, ())
_VTD = Model("8086:09a2", "088000", "8086:0000", "04", None, ())
_PERIPHERAL = Model("8086:09a4", "088000", "8086:0000", "04", None, ())
_DSA = Model("8086:0b25", "088000", "8086:0000", "00", None, ("flr",))

_SWITCHES = (
    # root, node, bus of the root port, first bus of the switch
    ("0000:15", 0, 0x15, 0x16),
    ("0000:48", 0, 0x48, 0x49),
    ("0000:97", 1, 0x97, 0x98),
    ("0000:c7", 1, 0xC7, 0xC8),
)

CONFIG = """\
# The GPUs and the network cards beside them may go to virtual machines.

[[device_spec]]                 # NVIDIA L40S
vendor_id = "10de"
product_id = "26b9"

[[device_spec]]                 # NVIDIA RTX A4000
vendor_id = "10de"
product_id = "24b0"

[[device_spec]]                 # their audio functions: they share a group with the GPU
vendor_id = "10de"
product_id = "228b"

[[device_spec]]                 # ConnectX-7
vendor_id = "15b3"
product_id = "1021"
physical_network = "storage"

[[device_spec]]                 # a slip: this disk holds the root file system
vendor_id = "144d"
product_id = "a80a"

[[alias]]
name = "l40s"
vendor_id = "10de"
product_id = "26b9"
device_type = "type-PF"         # the card can make VFs, so it is a PF

[[alias]]
name = "a4000"
vendor_id = "10de"
product_id = "24b0"

[[alias]]
name = "nic"
vendor_id = "15b3"
product_id = "1021"
device_type = "type-PF"

[[alias]]
name = "disk"
vendor_id = "144d"
product_id = "a80a"
"""

SCRIPT = r"""
# What is there, and what stands close together?
laneway devices --tree

# What does the config do?
laneway check

# db-1 gets two L40S below one PCIe root with the network card that it uses.
laneway claim db-1 --alias l40s:2,nic:1 --numa-node 0 --id db-1-training \
    --constraint '{"match": "pcie_root", "requests": ["l40s", "nic"]}'

# What goes into its definition?
laneway hostdev db-1 --format libvirt

# It has been started with them.
laneway allocate db-1

# Three more L40S? There are two left.
laneway explain web-1 --alias l40s:3

# The disk with the root file system? The config has a slip there.
laneway explain web-1 --alias disk:1

# A workstation card has an audio function in its IOMMU group, which nobody else gets then.
laneway claim render-1 --alias a4000:1 --id render-1-gpu

# One card makes trouble, so nobody gets it.
laneway cordon 0000:9c:00.0 --reason "memory errors"

# Who holds what?
laneway claims

# db-1 is stopped for good.
laneway free db-1

# How things stand:
laneway devices
"""
"""What is shown on this host."""


def inventory() -> Inventory:
    host = HostBuilder()
    _chipset(host)
    for number, (root, node, port_bus, bus) in enumerate(_SWITCHES):
        port = host.bridge(Place(root, node), f"{port_bus:02x}:01.0", _ROOT_PORT)
        host.add(Place(root, node), f"{port_bus:02x}:00.0", _VTD)
        for function in (1, 2, 4):
            host.add(Place(root, node), f"{port_bus:02x}:00.{function}", _PERIPHERAL)
        switch = host.bridge(port, f"{bus:02x}:00.0", _SWITCH)
        _network_card(host, host.bridge(switch, f"{bus + 1:02x}:00.0", _SWITCH), bus + 2, number)
        for slot in (1, 2):
            below = host.bridge(switch, f"{bus + 1:02x}:{slot:02x}.0", _SWITCH)
            (_l40s if node == 0 else _a4000)(host, below, bus + 2 + slot)
    return host.inventory("gpu-1", "intel", two_sockets(32))


def _chipset(host: HostBuilder) -> None:
    root = Place("0000:00", 0)
    host.add(root, "00:00.0", _VTD)
    bmc = host.bridge(host.bridge(root, "00:1c.0", _ROOT_PORT), "01:00.0", Model("1a03:1150", "060400"))
    host.add(bmc, "02:00.0", _BMC, driver="ast", in_use_by=(HostUse(code="boot_console"),))
    disk = host.bridge(root, "00:1d.0", _ROOT_PORT)
    host.add(disk, "03:00.0", _NVME, driver="nvme", in_use_by=(HostUse(code="mounted", detail="/dev/nvme0n1p2 on /"),))
    uplink = host.bridge(root, "00:1d.4", _ROOT_PORT)
    for port in (0, 1):
        host.add(
            uplink,
            f"04:00.{port}",
            _X710,
            dev_type=DevType.PF,
            driver="i40e",
            sriov=Sriov(total_vfs=64, num_vfs=0, vf_product_id="154c"),
            netdevs=(interface(f"eno{port + 1}", 0x10 + port, speed_mbps=10000, up=port == 0),),
            in_use_by=(HostUse(code="default_route", detail="eno1"),) if port == 0 else (),
        )
    host.add(root, "00:0a.0", _DSA, driver="idxd")


def _network_card(host: HostBuilder, place: Place, bus: int, number: int) -> None:
    host.add(
        place,
        f"{bus:02x}:00.0",
        _CONNECTX7,
        dev_type=DevType.PF,
        driver="mlx5_core",
        sriov=Sriov(total_vfs=16, num_vfs=0, vf_product_id="101e"),
        netdevs=(interface(f"ens{bus}np0", 0x100 + number, speed_mbps=200000, up=True),),
        vpd=Vpd(card_serial_number=f"MT2342X{number:05d}", part_number="MCX755106AS-HEAT"),
    )


def _l40s(host: HostBuilder, place: Place, bus: int) -> None:
    host.add(
        place,
        f"{bus:02x}:00.0",
        _L40S,
        dev_type=DevType.PF,
        driver="vfio-pci",
        sriov=Sriov(total_vfs=32, num_vfs=0, vf_product_id="26b9"),
    )


def _a4000(host: HostBuilder, place: Place, bus: int) -> None:
    """A workstation card: the GPU and its audio function share a group. One is on the host's drivers."""
    group = host.group()
    on_host = bus % 2 == 0
    host.add(place, f"{bus:02x}:00.0", _A4000, iommu_group=group, driver="nouveau" if on_host else "vfio-pci")
    host.add(
        place, f"{bus:02x}:00.1", _A4000_AUDIO, iommu_group=group, driver="snd_hda_intel" if on_host else "vfio-pci"
    )
