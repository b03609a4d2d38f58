"""Inventories for tests of the contract."""

from laneway.domain.address import PciAddress
from laneway.domain.inventory import (
    Bar,
    DevType,
    HostUse,
    Inventory,
    Link,
    NetDevice,
    NotAssignable,
    NumaNode,
    Opener,
    OperatingSystem,
    PciFunction,
    Platform,
    Problem,
    ReadinessNote,
    Sriov,
    Vdpa,
    Vpd,
)

FULL_FUNCTION = PciFunction(
    address=PciAddress.parse("0000:86:02.1"),
    vendor_id="8086",
    product_id="154c",
    subsystem_vendor_id="8086",
    subsystem_id="0000",
    class_code="020000",
    revision="02",
    dev_type=DevType.VDPA,
    parent_addr=PciAddress.parse("0000:86:00.0"),
    vf_index=1,
    numa_node=1,
    iommu_group=81,
    driver="iavf",
    driver_override="vfio-pci",
    pcie_roots=("0000:85",),
    bridges=(PciAddress.parse("0000:85:00.0"),),
    path="0000:85/00.0/00.0+vf1",
    netdevs=(
        NetDevice(
            name="ens5v1",
            mac="02:00:00:00:00:01",
            permanent_mac="02:00:00:00:00:02",
            features=("rx", "switchdev"),
            speed_mbps=25000,
            up=False,
        ),
    ),
    sriov=Sriov(total_vfs=64, num_vfs=2, vf_product_id="154c"),
    vpd=Vpd(card_serial_number="S1", part_number="P1", product_name="A card", fields={"V0": "x"}),
    device_serial_number="00-1b-21-ff-ff-83-57-a8",
    vdpa=Vdpa(name="vdpa0", driver="vhost_vdpa", vhost_node="/dev/vhost-vdpa-0"),
    bars=(Bar(index=0, size=65536, bits=64, prefetchable=True),),
    link=Link(speed_gts=8.0, width=8, max_speed_gts=16.0, max_width=16),
    reset_methods=("flr",),
    in_use_by=(HostUse(code="default_route", detail="ens5"),),
    opened_by=(Opener(pid=4711, name="qemu-system-x86"),),
    not_assignable=(NotAssignable(code="reserved_memory", message="firmware uses it"),),
    location_path="PCIROOT(0)#PCI(0100)",
)
"""A function with every fact set: no real one has all of them."""

FULL_INVENTORY = Inventory(
    host="gpu-1",
    driver="linux",
    os=OperatingSystem(family="linux", release="6.12"),
    boot_id="3f0c",
    captured_at="2026-12-01T09:00:00Z",
    platform=Platform(iommu="intel", interrupt_remapping=True, vfio_pci=True, dda=False),
    numa_nodes=(NumaNode(id=0, socket=0, cpus=(0, 1), distances={0: 10, 1: 21}), NumaNode(id=1)),
    readiness=(ReadinessNote(code="iommu_off", severity="error", message="no IOMMU", remedy="turn it on"),),
    problems=(Problem(address="0000:00:1f.2", attribute="vendor_id", message="it cannot be read"),),
    functions=(
        PciFunction(
            address=PciAddress.parse("10000:86:00.0"), vendor_id="8086", product_id="1572", dev_type=DevType.PF
        ),
        FULL_FUNCTION,
    ),
)
