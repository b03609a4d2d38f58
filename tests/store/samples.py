"""A few values for tests of stores, as small as they can be."""

from datetime import UTC, datetime, timedelta

from laneway.domain.address import PciAddress
from laneway.domain.device import BlockReason, ExtraInfo, PciDevice, Status
from laneway.domain.errors import Findings
from laneway.domain.inventory import DevType, Inventory, PciFunction
from laneway.domain.report import HostReport
from laneway.domain.requests.request import Alternative, ClaimRequest, DeviceRequest
from laneway.domain.specs.device_spec_parser import parse_device_specs
from laneway.domain.tracking.claim import ClaimRecord, Update
from laneway.interfaces.network import BindingRecord

NOW = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)
CORDON = (BlockReason("cordoned", "cordoned by the operator", "fan is loud"),)


def address(slot: int) -> PciAddress:
    return PciAddress.of(0, 0x3B + slot // 32, slot % 32, 0)


def gpu(slot: int) -> PciFunction:
    return PciFunction(address=address(slot), vendor_id="10de", product_id="20b0", dev_type=DevType.PCI)


def device(slot: int, consumer: str | None, status: Status = Status.CLAIMED, claim: str = "c1") -> PciDevice:
    """A GPU at a slot, held by a consumer, or by none."""
    return PciDevice(
        function=gpu(slot),
        extra_info=ExtraInfo(tags={"rack": "r1", "managed": True}),
        entry=0,
        status=status,
        consumer=consumer,
        claim=None if consumer is None else claim,
        request=None if consumer is None else "g",
    )


def binding_record(port: str, slot: int = 0) -> BindingRecord:
    """What is known of a port that Neutron could not bind."""
    return BindingRecord(
        port=port,
        consumer="vm1",
        address=address(slot),
        profile={"pci_slot": str(address(slot)), "vf_num": 3, "physical_network": None, "capabilities": ["switchdev"]},
        since=NOW,
        attempts=2,
        error_code="port_binding_failed",
        error="Neutron could not bind it",
    )


def record(consumer: str, *slots: int, claim: str = "c1") -> ClaimRecord:
    request = DeviceRequest(name="g", alternatives=(Alternative(vendor_id="10de"),), count=len(slots))
    return ClaimRecord(
        request=ClaimRequest(consumer=consumer, claim=claim, requests=(request,), guest_numa_nodes=frozenset({0})),
        devices={"g": tuple(map(address, slots))},
        expires_at=NOW + timedelta(minutes=15),
    )


def claimed(consumer: str, *slots: int, claim: str = "c1") -> Update:
    """What a claim of these slots stores."""
    return Update(
        held={address(slot): device(slot, consumer, claim=claim) for slot in slots},
        claims={claim: record(consumer, *slots, claim=claim)},
    )


def freed(*slots: int, claim: str = "c1") -> Update:
    """What freeing a claim stores."""
    return Update(held={address(slot): None for slot in slots}, claims={claim: None})


def report(gpus: int) -> HostReport:
    """A host of so many GPUs, all of which may be handed out."""
    inventory = Inventory(functions=tuple(map(gpu, range(gpus))), boot_id="b1")
    return HostReport(inventory, parse_device_specs([{"vendor_id": "10de"}], Findings()))
