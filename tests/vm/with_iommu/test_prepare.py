"""Devices that are taken from the host, opened through VFIO, and given back as they were."""

from collections.abc import Iterator

import pytest

from vm.changing import (
    ON_VFIO,
    Standing,
    allocated,
    as_it_was,
    given_up,
    prepared,
    refusal,
    released,
    standing,
    status_of,
)
from vm.commands import Laneway
from vm.devices import DEVICES, NIC_ON_SWITCH, NIC_VFS, NVME_WITHOUT_ACS, bind, give_back, group_of
from vm.nested_vm import is_set_up_by_firmware
from vm.vfio import is_viable, opened_by_vfio


@pytest.fixture(autouse=True)
def undisturbed() -> Iterator[None]:
    with as_it_was():
        yield


@pytest.mark.parametrize(
    ("place", "address", "ids"),
    [
        ("nic", NIC_ON_SWITCH, "8086:10d3"),
        ("vf", NIC_VFS[0], "8086:10ca"),
        ("disk without acs", NVME_WITHOUT_ACS, "1b36:0010"),
    ],
    ids=["a NIC", "a VF", "a disk in a group with its port"],
)
def test_from_the_host_to_a_guest_and_back(changing: Laneway, place: str, address: str, ids: str) -> None:
    before = standing(address)
    assert allocated(changing, "vm", place=place) == [address]
    steps = prepared(changing, "vm")[address]
    assert any("driver_override" in step for step in steps)
    assert standing(address) == ON_VFIO
    assert is_viable(group_of(address))
    with opened_by_vfio(address) as (device,):
        assert device.ids() == ids
        assert device.regions() > 0

    assert prepared(changing, "vm") == {address: []}
    assert status_of(changing, address) == "allocated"
    released(changing, "vm")
    assert standing(address) == before
    assert status_of(changing, address) == "allocated"
    given_up(changing, "vm")
    assert status_of(changing, address) == "available"


BEFORE = {
    "with its own driver by an override": ("e1000e", "e1000e"),
    "without a driver": (None, None),
    "without a driver, and kept from having one": (None, "none"),
}


@pytest.mark.parametrize(("driver", "override"), BEFORE.values(), ids=BEFORE)
def test_what_it_was_before_is_what_it_is_afterwards(
    changing: Laneway, driver: str | None, override: str | None
) -> None:
    device = DEVICES / NIC_ON_SWITCH
    try:
        if driver is None:
            (device / "driver" / "unbind").write_text(NIC_ON_SWITCH)
        (device / "driver_override").write_text(f"{override or ''}\n")
        before = Standing(driver, override)
        allocated(changing, "vm", place="nic")
        prepared(changing, "vm")
        assert standing(NIC_ON_SWITCH) == ON_VFIO
        given_up(changing, "vm")
        assert standing(NIC_ON_SWITCH) == before
    finally:
        give_back(NIC_ON_SWITCH)


def test_what_an_operator_had_bound_to_vfio_stays_so(changing: Laneway) -> None:
    bind(NIC_ON_SWITCH, "vfio-pci")
    try:
        allocated(changing, "vm", place="nic")
        assert prepared(changing, "vm") == {NIC_ON_SWITCH: []}
        assert status_of(changing, NIC_ON_SWITCH) == "allocated"
        given_up(changing, "vm")
        assert standing(NIC_ON_SWITCH) == ON_VFIO
    finally:
        give_back(NIC_ON_SWITCH)


def test_a_dry_run_tells_every_write_and_makes_none(changing: Laneway) -> None:
    before = standing(NIC_ON_SWITCH)
    allocated(changing, "vm", place="nic")
    planned = prepared(changing, "vm", "--dry-run")
    assert standing(NIC_ON_SWITCH) == before
    assert prepared(changing, "vm") == planned
    planned = released(changing, "vm", "--dry-run")
    assert standing(NIC_ON_SWITCH) == ON_VFIO
    assert released(changing, "vm") == planned
    given_up(changing, "vm")


def test_only_what_is_allocated_is_taken(changing: Laneway) -> None:
    assert refusal(changing("prepare", "vm")) == "no_claim"
    changing("claim", "vm", "--request", '{"name": "n", "any_of": [{"place": "nic"}]}')
    assert refusal(changing("prepare", "vm")) == "invalid_status"
    changing("allocate", "vm")
    assert refusal(changing("prepare", "other", "--device", NIC_ON_SWITCH)) == "not_owner"
    changing("free", "vm")


def test_the_firmware_of_a_vm_sees_the_device(changing: Laneway) -> None:
    """A QEMU in this host, which boots with what was prepared for it."""
    allocated(changing, "vm", place="nic")
    prepared(changing, "vm")
    assert is_set_up_by_firmware("8086:10d3", NIC_ON_SWITCH)
    given_up(changing, "vm")
    assert status_of(changing, NIC_ON_SWITCH) == "available"
