"""A desktop computer: a graphics card to give away, and much that the host itself needs."""

from laneway.demo.builder import HostBuilder, Model, Place, interface, pcie
from laneway.domain.inventory import HostUse, Inventory, Link, NumaNode, ReadinessNote

_HOST_BRIDGE = Model("8086:4660", "060000", "1043:8882", "02", None, ())
_ROOT_PORT = Model("8086:460d", "060400", "0000:0000", "02", pcie(16.0, 16))
_CHIPSET_PORT = Model("8086:7ab8", "060400", "1043:8882", "11", pcie(8.0, 4))
_IGPU = Model("8086:4680", "030000", "1043:8882", "0c", None, ("flr", "pm"))
_RTX3080 = Model(
    "10de:2206", "030000", "1043:87b0", "a1", Link(speed_gts=2.5, width=16, max_speed_gts=16.0, max_width=16)
)
_RTX3080_AUDIO = Model("10de:1aef", "040300", "1043:87b0", "a1", None, ())
_NVME = Model("144d:a80c", "010802", "144d:a801", "00", pcie(16.0, 4), ("flr", "bus"))
_SECOND_NVME = Model("15b7:5030", "010802", "15b7:5030", "01", pcie(16.0, 4), ("flr", "bus"))
_USB_CARD = Model("1b21:3242", "0c0330", "1b21:3242", "00", pcie(8.0, 2), ("bus",))
_WIFI = Model("8086:2725", "028000", "8086:0024", "1a", pcie(5.0, 1), ("flr", "bus"))
_NIC = Model("8086:15f3", "020000", "1043:87d2", "03", pcie(5.0, 1), ("flr", "bus"))
_XHCI = Model("8086:7ae0", "0c0330", "1043:8882", "11", None, ("pm",))
_AHCI = Model("8086:7ae2", "010601", "1043:8882", "11", None, ())
_LPC = Model("8086:7a84", "060100", "1043:8882", "11", None, ())
_AUDIO = Model("8086:7ad0", "040300", "1043:8882", "11", None, ("pm",))
_SMBUS = Model("8086:7aa3", "0c0500", "1043:8882", "11", None, ())

CONFIG = """\
[[device_spec]]                 # the graphics card with its audio function
address = "0000:01:00.*"

[[device_spec]]                 # the second NVMe disk
vendor_id = "15b7"
product_id = "5030"

[[device_spec]]                 # the USB card
vendor_id = "1b21"
product_id = "3242"

[[alias]]
name = "gpu"
vendor_id = "10de"
product_id = "2206"

[[alias]]
name = "gpu-audio"
vendor_id = "10de"
product_id = "1aef"

[[alias]]
name = "disk"
vendor_id = "15b7"
product_id = "5030"

[[alias]]
name = "usb"
vendor_id = "1b21"
product_id = "3242"
"""

SCRIPT = r"""
# What is there?
laneway devices

# win11 gets the graphics card with its audio function.
laneway claim win11 --alias gpu:1,gpu-audio:1 --id win11-gpu

# Options for QEMU:
laneway hostdev win11 --format qemu

# The card goes to one machine only.
laneway explain linux --alias gpu:1

# The USB card shares its IOMMU group with the wireless card, which stays with the host.
laneway explain linux --alias usb:1

# The second disk is free.
laneway claim linux --alias disk:1 --id linux-disk --ttl 15m

# How things stand:
laneway devices --tree

# win11 is stopped for good.
laneway free win11
"""
"""What is shown on this host."""


def inventory() -> Inventory:
    host = HostBuilder()
    root = Place("0000:00", None)
    host.add(root, "00:00.0", _HOST_BRIDGE)
    host.add(root, "00:02.0", _IGPU, driver="i915", in_use_by=(HostUse(code="boot_console"),))
    _graphics_card(host, root)
    _disks(host, root)
    _chipset(host, root)
    group = _behind_chipset(host, root)
    return host.inventory(
        "desk",
        "intel",
        [NumaNode(id=0, socket=0, cpus=tuple(range(20)), distances={0: 10})],
        [
            ReadinessNote(
                code="group_not_viable",
                severity="warning",
                message=f"IOMMU group {group} is shared by 0000:05:00.0 and 0000:06:00.0: one guest gets both, or none",
                remedy="put the card into a slot of the processor (not of the chipset), or give both away",
            )
        ],
    )


def _graphics_card(host: HostBuilder, root: Place) -> None:
    """The root port shares the group with the card: a bridge does not count."""
    group = host.group()
    below = host.bridge(root, "00:01.0", _ROOT_PORT, iommu_group=group)
    host.add(below, "01:00.0", _RTX3080, iommu_group=group, driver="nouveau")
    host.add(below, "01:00.1", _RTX3080_AUDIO, iommu_group=group, driver="snd_hda_intel")


def _disks(host: HostBuilder, root: Place) -> None:
    first = host.bridge(root, "00:06.0", _ROOT_PORT)
    host.add(first, "02:00.0", _NVME, driver="nvme", in_use_by=(HostUse(code="mounted", detail="/dev/nvme0n1p2 on /"),))
    second = host.bridge(root, "00:1a.0", _CHIPSET_PORT)
    host.add(second, "03:00.0", _SECOND_NVME, driver="nvme")


def _chipset(host: HostBuilder, root: Place) -> None:
    host.add(root, "00:14.0", _XHCI, driver="xhci_hcd")
    host.add(root, "00:17.0", _AHCI, driver="ahci")
    group = host.group()
    host.add(root, "00:1f.0", _LPC, iommu_group=group)
    host.add(root, "00:1f.3", _AUDIO, iommu_group=group, driver="snd_hda_intel")
    host.add(root, "00:1f.4", _SMBUS, iommu_group=group, driver="i801_smbus")


def _behind_chipset(host: HostBuilder, root: Place) -> int:
    """Ports of the chipset without ACS: the USB card and the wireless card share one group, returned."""
    uplink = host.bridge(root, "00:1c.0", _CHIPSET_PORT)
    host.add(
        uplink,
        "04:00.0",
        _NIC,
        driver="igc",
        netdevs=(interface("enp4s0", 0x50, speed_mbps=2500, up=True),),
        in_use_by=(HostUse(code="default_route", detail="enp4s0"),),
    )
    group = host.group()
    usb = host.bridge(root, "00:1c.4", _CHIPSET_PORT, iommu_group=group)
    host.add(usb, "05:00.0", _USB_CARD, iommu_group=group, driver="xhci_hcd")
    wifi = host.bridge(root, "00:1d.0", _CHIPSET_PORT, iommu_group=group)
    host.add(
        wifi,
        "06:00.0",
        _WIFI,
        iommu_group=group,
        driver="iwlwifi",
        netdevs=(interface("wlp6s0", 0x51, speed_mbps=1200),),
    )
    return group
