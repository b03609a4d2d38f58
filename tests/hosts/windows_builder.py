"""Windows hosts for tests: property bags as Windows gives them, and recordings made of them."""

from collections.abc import Mapping
from typing import Any

from laneway.hosts.hyperv.recording import (
    Adapter,
    AssignedDevice,
    Disk,
    Machine,
    PowerShellAnswers,
    Recording,
    UpperDevice,
    Volume,
)

Bag = dict[str, Any]
ROOT_PORT = r"PCI\VEN_8086&DEV_347A&SUBSYS_00008086&REV_04\3&2411E6FE&0&10"
GPU = r"PCI\VEN_10DE&DEV_20B5&SUBSYS_153310DE&REV_A1\4&37A2B1C0&0&0010"
NIC = r"PCI\VEN_15B3&DEV_101D&SUBSYS_005915B3&REV_00\4&1C9E7D02&0&0018"
NVME = r"PCI\VEN_144D&DEV_A80A&SUBSYS_A801144D&REV_00\4&2F01AA31&0&0020"
SYSTEM_DISK = r"SCSI\DISK&VEN_NVME&PROD_SYSTEM\5&11223344&0&000000"
NIC_GUID = "{7C1B0E52-93A4-4B6F-9C0E-2D1A6F4B8E01}"
ASSIGNABLE: Mapping[str, Any] = {
    "PciDevice_DeviceType": 2,
    "PciDevice_RequiresReservedMemoryRegion": False,
    "PciDevice_AcsCompatibleUpHierarchy": 3,
    "PciDevice_InterruptSupport": 6,
}


def bag(
    instance_id: str,
    *,
    bus: int | None = None,
    slot: int = 0,
    function: int = 0,
    segment: int = 0,
    path: str | None = None,
    parent: str | None = r"ACPI\PNP0A08\0",
    class_code: str | None = "020000",
    service: str | None = "driver",
    **properties: Any,
) -> Bag:
    """A PCI device that is there and works. ``properties`` are by the part of their name after ``DEVPKEY_``."""
    hardware_id = instance_id.rpartition("\\")[0]
    made: Bag = {
        "DEVPKEY_Device_InstanceId": instance_id,
        "DEVPKEY_Device_HardwareIds": [hardware_id],
        "DEVPKEY_Device_Service": service,
        "DEVPKEY_Device_Parent": parent,
        "DEVPKEY_Device_ProblemCode": 0,
        "DEVPKEY_Device_IsPresent": True,
    }
    if bus is not None:
        made["DEVPKEY_Device_BusNumber"] = segment << 8 | bus
        made["DEVPKEY_Device_Address"] = slot << 16 | function
    if path is not None:
        made["DEVPKEY_Device_LocationPaths"] = [f"ACPI(_SB_)#{path.count('#')}", path]
    if class_code is not None:
        numbers = bytes.fromhex(class_code)
        names = ("BaseClass", "SubClass", "ProgIf")
        made |= {f"DEVPKEY_PciDevice_{name}": number for name, number in zip(names, numbers, strict=True)}
    return made | {key if "_" not in key else f"DEVPKEY_{key}": value for key, value in properties.items()}


def root_port() -> Bag:
    return bag(
        ROOT_PORT,
        bus=0x80,
        slot=2,
        path="PCIROOT(3)#PCI(0200)",
        class_code="060400",
        service="pci",
        PciDevice_DeviceType=8,
    )


def gpu(**properties: Any) -> Bag:
    """Below the root port, on bus 81, assignable."""
    usual = {
        **ASSIGNABLE,
        "PciDevice_OnPostPath": False,
        "Device_Numa_Node": 1,
        "MemoryResources": [[0xC0000000, 0xC0FFFFFF, False], [0x2000000000, 0x3FFFFFFFFF, True]],
    }
    return bag(
        GPU,
        bus=0x81,
        path="PCIROOT(3)#PCI(0200)#PCI(0000)",
        parent=ROOT_PORT,
        class_code="030200",
        service="nvlddmkm",
        **(usual | properties),
    )


def nic(**properties: Any) -> Bag:
    """On the bus of its root, with SR-IOV, assignable."""
    usual = {
        **ASSIGNABLE,
        "NetCfgInstanceId": NIC_GUID,
        "PciDevice_SriovSupport": 0,
        "PciDevice_SerialNumber": 0xB8CEF60300112233,
        "PciDevice_CurrentLinkSpeed": 3,
        "PciDevice_CurrentLinkWidth": 8,
        "PciDevice_MaxLinkSpeed": 4,
        "PciDevice_MaxLinkWidth": 16,
    }
    return bag(NIC, bus=0x17, path="PCIROOT(1)#PCI(0000)", service="mlx5", **(usual | properties))


def nvme(**properties: Any) -> Bag:
    """On the same bus, assignable."""
    return bag(
        NVME,
        bus=0x17,
        slot=8,
        path="PCIROOT(1)#PCI(0800)",
        class_code="010802",
        service="stornvme",
        **{**ASSIGNABLE, **properties},
    )


def system_disk(parent: str = NVME) -> Bag:
    """A device that is no PCI function, with what is read of such."""
    return {"DEVPKEY_Device_InstanceId": SYSTEM_DISK, "DEVPKEY_Device_Parent": parent}


def adapter(**changes: Any) -> Adapter:
    fields: dict[str, Any] = {
        "guid": NIC_GUID,
        "alias": "Ethernet 3",
        "description": "ConnectX-6 Dx #2",
        "mac": "b8:ce:f6:11:22:33",
        "permanent_mac": "b8:ce:f6:11:22:34",
        "speed_bps": 25_000_000_000,
        "up": True,
    }
    return Adapter(**(fields | changes))


def recording(*devices: Bag, **changes: Any) -> Recording:
    """A host of which everything was recorded: a server with Hyper-V, whose VMs have nothing and whose disk is on
    the NVMe."""
    fields: dict[str, Any] = {
        "devices": devices or (root_port(), gpu(), nic(), nvme(), system_disk()),
        "host": "hv-1",
        "release": "10.0.20348",
        "captured_at": "2026-12-01T09:00:00Z",
        "machine": Machine(product_type="ServerNT", hyperv_role=True, acpi_tables=("APIC", "DMAR", "FACP")),
        "adapters": (adapter(),),
        "disks": (Disk(number=0, instance_id=SYSTEM_DISK),),
        "volumes": (Volume(name="volume-c", mounts=("C:\\",), disks=(0,)),),
        "answers": answers(),
    }
    return Recording(**(fields | changes))


def answers(**changes: Any) -> PowerShellAnswers:
    fields: dict[str, Any] = {"iov_support": True, "upper_devices": (), "assigned": (), "disks_of_vms": ()}
    return PowerShellAnswers(**(fields | changes))


def switch(adapter_name: str, name: str = "virtual switch uplink") -> UpperDevice:
    return UpperDevice(name=name, adapter=adapter_name)


def assigned(vm: str, location_path: str, vm_id: str | None = None) -> AssignedDevice:
    return AssignedDevice(vm=vm, vm_id=vm_id, location_path=location_path)
