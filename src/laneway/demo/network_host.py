"""A host for network functions: two SR-IOV cards and a DPU whose VFs it manages from its own side."""

from functools import partial
from typing import Any

from laneway.demo.builder import HostBuilder, Model, Place, addresses_from, interface, pcie, two_sockets
from laneway.domain.inventory import DevType, HostUse, Inventory, Sriov, Vdpa, Vpd

_ROOT_PORT = Model("8086:347a", "060400", "8086:0000", "04", pcie(16.0, 16))
_NVME = Model("1344:51c3", "010802", "1344:1100", "02", pcie(16.0, 4), ("flr", "bus"))
_E810 = Model("8086:1592", "020000", "8086:0002", "02", pcie(16.0, 16), ("flr", "bus"))
_E810_VF = Model("8086:1889", "020000", "8086:0000", "02", None, ("flr",))
_CONNECTX6 = Model("15b3:101d", "020000", "15b3:0016", "00", pcie(16.0, 16), ("flr", "bus"))
_BLUEFIELD2 = Model("15b3:a2d6", "020000", "15b3:0009", "01", pcie(16.0, 8), ("flr", "bus"))
_BLUEFIELD2_SOC = Model("15b3:c2d3", "088000", "15b3:0009", "01", pcie(16.0, 8), ())
_MLX5_VF = Model("15b3:101e", "020000", "15b3:0009", "00", None, ("flr",))
_VTD = Model("8086:09a2", "088000", "8086:0000", "04", None, ())

_SWITCHDEV = "rx tx sg tso gso gro rxvlan txvlan switchdev"

CONFIG = """\
[[device_spec]]                 # the VFs of the first E810 port are on the provider network
address = "0000:31:01.*"
physical_network = "provider"
trusted = true

[[device_spec]]                 # those of the second are on the storage network
address = "0000:31:11.*"
physical_network = "storage"

[[device_spec]]                 # a vDPA device on a ConnectX-6 Dx
address = "0000:4b:00.2"
physical_network = "tenant"

[[device_spec]]                 # the VFs of the DPU, wired up on the DPU's side
vendor_id = "15b3"
product_id = "101e"
address = "0000:b1:*.*"
physical_network = "tenant"
remote_managed = true

[[alias]]
name = "vf"
vendor_id = "8086"
product_id = "1889"
device_type = "type-VF"

[[alias]]
name = "uplink"                 # for a mistake: the port that carries the host's own traffic
vendor_id = "8086"
product_id = "1592"
device_type = "type-PF"
"""

SCRIPT = r"""
# What is there?
laneway devices

# What does the config do?
laneway check

# router-1 gets a VF of the provider network and two of the storage network.
laneway claim router-1 --id router-1-ports \
    --request '{"name": "wan", "any_of": [{"dev_type": "type-VF", "physical_network": "provider"}]}' \
    --request '{"name": "san", "any_of": [{"dev_type": "type-VF", "physical_network": "storage"}], "count": 2}'

# A vDPA device is not bound to vfio-pci: it stands in a definition as an interface.
laneway claim app-1 --id app-1-port --request '{"name": "port", "any_of": [{"dev_type": "vdpa"}]}'

# So:
laneway hostdev app-1 --format libvirt

# A VF of the DPU goes to those who ask for a remote-managed one.
laneway claim tenant-1 --id tenant-1-port \
    --request '{"name": "port", "any_of": [{"remote_managed": true, "physical_network": "tenant"}]}'

# The port that carries the host's own traffic is not to be had.
laneway explain tenant-1 --alias uplink:1

# Six VFs of the storage network? Two are taken, and the host has an address on a third.
laneway explain tenant-1 \
    --request '{"name": "san", "any_of": [{"dev_type": "type-VF", "physical_network": "storage"}], "count": 6}'

# Who holds what?
laneway claims
"""
"""What is shown on this host."""


def inventory() -> Inventory:
    host = HostBuilder()
    root = Place("0000:00", 0)
    host.add(root, "00:00.0", _VTD)
    disk = host.bridge(root, "00:1d.0", _ROOT_PORT)
    host.add(disk, "01:00.0", _NVME, driver="nvme", in_use_by=(HostUse(code="mounted", detail="/dev/nvme0n1p2 on /"),))
    _e810(host, host.bridge(Place("0000:30", 0), "30:02.0", _ROOT_PORT))
    _connectx6(host, host.bridge(Place("0000:4a", 0), "4a:02.0", _ROOT_PORT))
    _bluefield(host, host.bridge(Place("0000:b0", 1), "b0:02.0", _ROOT_PORT))
    return host.inventory("net-1", "intel", two_sockets(24))


def _e810(host: HostBuilder, place: Place) -> None:
    """Port 0 carries the host's default route; the host has put an address on one VF of port 1."""
    for port, vfs in ((0, "31:01.0"), (1, "31:11.0")):
        parent = host.add(
            place,
            f"31:00.{port}",
            _E810,
            dev_type=DevType.PF,
            driver="ice",
            sriov=Sriov(total_vfs=128, num_vfs=8, vf_product_id="1889"),
            netdevs=(interface(f"ens5f{port}", 0x20 + port, speed_mbps=100000, up=True),),
            in_use_by=(HostUse(code="default_route", detail="ens5f0"),) if port == 0 else (),
            device_serial_number="b4-96-91-ff-ff-aa-bb-c0",
        )
        host.virtual_functions(place, parent, addresses_from(vfs, 8), _E810_VF, partial(_e810_vf, port))


def _e810_vf(port: int, index: int) -> dict[str, Any]:
    name = f"ens5f{port}v{index}"
    used = port == 1 and index == 3
    return {
        "driver": "iavf",
        "netdevs": (interface(name, 0x2000 + 0x100 * port + index, speed_mbps=100000, up=used),),
        "in_use_by": (HostUse(code="address", detail=f"{name} 192.0.2.10/24"),) if used else (),
    }


def _connectx6(host: HostBuilder, place: Place) -> None:
    """Two of its VFs carry a vDPA device each; the others are plain VFs in switchdev mode."""
    parent = host.add(
        place,
        "4b:00.0",
        _CONNECTX6,
        dev_type=DevType.PF,
        driver="mlx5_core",
        sriov=Sriov(total_vfs=8, num_vfs=4, vf_product_id="101e"),
        netdevs=(interface("ens7np0", 0x30, speed_mbps=100000, up=True, features=_SWITCHDEV),),
        vpd=Vpd(card_serial_number="MT2203X07777", part_number="MCX623106AN-CDAT"),
    )
    host.virtual_functions(place, parent, addresses_from("4b:00.2", 4), _MLX5_VF, _connectx6_vf)


def _connectx6_vf(index: int) -> dict[str, Any]:
    if index > 1:
        return {"driver": "mlx5_core", "netdevs": (interface(f"ens7v{index}", 0x3000 + index, features=_SWITCHDEV),)}
    return {
        "dev_type": DevType.VDPA,
        "driver": "mlx5_core",
        "netdevs": (),
        "vdpa": Vdpa(name=f"vdpa{index}", driver="vhost_vdpa", vhost_node=f"/dev/vhost-vdpa-{index}"),
    }


def _bluefield(host: HostBuilder, place: Place) -> None:
    """The DPU's two ports; the VFs of the second have no serial to be found by, so they cannot be used."""
    card = Vpd(card_serial_number="MT2113X00042", part_number="MBF2H332A-AEEOT", product_name="BlueField-2 DPU 25GbE")
    for port, vfs in ((0, "b1:00.3"), (1, "b1:01.3")):
        parent = host.add(
            place,
            f"b1:00.{port}",
            _BLUEFIELD2,
            dev_type=DevType.PF,
            driver="mlx5_core",
            sriov=Sriov(total_vfs=16, num_vfs=4, vf_product_id="101e"),
            netdevs=(interface(f"enp177s0f{port}np{port}", 0x40 + port, up=True, features=_SWITCHDEV),),
            vpd=card if port == 0 else Vpd(part_number=card.part_number, product_name=card.product_name),
        )
        host.virtual_functions(place, parent, addresses_from(vfs, 4), _MLX5_VF, partial(_bluefield_vf, port))
    host.add(place, "b1:00.2", _BLUEFIELD2_SOC)


def _bluefield_vf(port: int, index: int) -> dict[str, Any]:
    mac = 0x4000 + 0x100 * port + index
    return {"driver": "mlx5_core", "netdevs": (interface(f"enp177s0f{port}v{index}", mac, features=_SWITCHDEV),)}
