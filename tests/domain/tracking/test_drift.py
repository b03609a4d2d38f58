"""Where a host does not stand as it is recorded."""

from collections.abc import Callable

import pytest

from domain.hosts import allocate, at, function, give_back, take, tracker, wants
from domain.tracking.test_preparation import do, prepared
from laneway.domain.address import PciAddress
from laneway.domain.device import Attach
from laneway.domain.running_vms import RunningVm
from laneway.domain.tracking.drift import find_drift
from laneway.domain.tracking.tracker import PciDeviceTracker

CARD, OTHER, FOREIGN = "0000:3b:00.0", "0000:3d:00.0", "0000:5e:00.0"
UUID = "6d5f6f5a-7f0e-4a6b-9d0c-1b2c3d4e5f60"


def vm(name: str, *addresses: str, uuid: str | None = None) -> RunningVm:
    devices = {at(address): Attach.VFIO for address in addresses}
    return RunningVm(consumer=name, uuid=uuid, pid=1, devices=devices, source="libvirt")


def host(driver: str | None = "vfio-pci") -> PciDeviceTracker:
    """Two cards, and one that no spec admits."""
    return tracker(
        function(CARD, driver=driver),
        function(OTHER),
        function(FOREIGN, vendor_id="10de"),
        specs=[{"vendor_id": "8086"}],
    )


def told(host: PciDeviceTracker, *vms: RunningVm, **taken: str | None) -> list[tuple[str, str]]:
    drivers = {at(address): driver for address, driver in taken.items()}
    return [(drift.code, str(drift.address)) for drift in find_drift(host.view, vms, drivers)]


def allocated(consumer: str) -> Callable[[PciDeviceTracker], object]:
    return lambda host: allocate(host, consumer)


def freed_and_not_released(host: PciDeviceTracker) -> None:
    allocate(host, "db-1")
    do(host, prepared(CARD))
    give_back(host, "db-1")


@pytest.mark.parametrize(
    ("before", "vms", "expected"),
    [
        pytest.param(allocated("db-1"), [vm("db-1", CARD)], [], id="the VM has what it owns"),
        pytest.param(allocated(UUID), [vm("db-1", CARD, uuid=UUID)], [], id="the owner is the VM's uuid"),
        pytest.param(allocated("db-1"), [], [], id="the VM does not run"),
        pytest.param(allocated("db-1"), [vm("db-1")], [("not_in_vm", CARD)], id="it runs without the device"),
        pytest.param(
            allocated(UUID), [vm("db-1", uuid=UUID)], [("not_in_vm", CARD)], id="it runs without it, and has a uuid"
        ),
        pytest.param(lambda host: take(host, "db-1"), [vm("db-1")], [], id="it is only claimed"),
        pytest.param(
            lambda host: None, [vm("db-1", CARD)], [("not_owned_by_vm", CARD)], id="a VM has what nobody owns"
        ),
        pytest.param(
            allocated("db-2"), [vm("db-1", CARD)], [("not_owned_by_vm", CARD)], id="a VM has what another owns"
        ),
        pytest.param(
            allocated("db-1"),
            [vm("db-1", OTHER)],
            [("not_in_vm", CARD), ("not_owned_by_vm", OTHER)],
            id="a VM has another device than its own",
        ),
        pytest.param(
            freed_and_not_released, [vm("db-1", CARD)], [("not_owned_by_vm", CARD)], id="a VM has what was freed"
        ),
        pytest.param(lambda host: None, [vm("db-1", FOREIGN)], [], id="a VM has what no spec admits"),
        pytest.param(lambda host: None, [vm("db-1", "0000:77:00.0")], [], id="a VM has what the host does not list"),
    ],
)
def test_who_has_a_device_and_who_owns_it(
    before: Callable[[PciDeviceTracker], object], vms: list[RunningVm], expected: list[tuple[str, str]]
) -> None:
    tracked = host()
    before(tracked)
    assert told(tracked, *vms) == expected


def test_a_macvtap_device_is_not_looked_for_in_its_vm() -> None:
    tracked = host()
    tracked.apply(tracked.adopt({at(CARD): "db-1"}, {at(CARD): Attach.MACVTAP}))
    assert told(tracked, vm("db-1")) == []


@pytest.mark.parametrize(
    ("driver", "recorded", "said"),
    [
        pytest.param("vfio-pci", "vfio-pci", None, id="as recorded"),
        pytest.param("vfio-pci", None, None, id="nothing recorded"),
        pytest.param("nvme", "vfio-pci", "is on driver nvme", id="another driver"),
        pytest.param(None, "vfio-pci", "is on no driver", id="no driver"),
    ],
)
def test_on_which_driver_a_taken_function_is(driver: str | None, recorded: str | None, said: str | None) -> None:
    tracked = host(driver)
    taken: dict[PciAddress, str | None] = {at(CARD): recorded}
    found = find_drift(tracked.view, (), taken)
    assert [(one.code, said is not None and said in one.message) for one in found] == (
        [] if said is None else [("other_driver", True)]
    )


def test_a_taken_function_that_is_gone_is_on_no_other_driver() -> None:
    assert find_drift(host().view, (), {at("0000:77:00.0"): "vfio-pci"}) == ()


def test_drift_is_told_by_address_with_the_names() -> None:
    tracked = host()
    allocate(tracked, "db-1", wants(count=2))
    found = find_drift(tracked.view, [vm("db-2", OTHER, CARD)])
    assert [(str(one.address), one.message.partition(";")[0]) for one in found] == [
        (CARD, "db-2 runs with it, and it belongs to db-1"),
        (OTHER, "db-2 runs with it, and it belongs to db-1"),
    ]
