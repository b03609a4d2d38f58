"""Cards that are pulled out while a guest is to have them, and that come back."""

from collections.abc import Iterator

import pytest

from vm.changing import ON_VFIO, allocated, as_it_was, devices_of, done, given_up, prepared, refusal, released, standing
from vm.commands import Laneway
from vm.devices import SLOT_0
from vm.hot_plug import wait_until_gone, wait_until_there
from vm.monitor import Monitor, address_in
from vm.vfio import opened_by_vfio


@pytest.fixture(autouse=True)
def undisturbed() -> Iterator[None]:
    with as_it_was():
        yield


def test_a_prepared_card_is_pulled_out_and_put_in_again(changing: Laneway, monitor: Monitor) -> None:
    """It is its owner's all the time; nothing counts as prepared that is not there, or is there anew."""
    address = address_in(SLOT_0)
    monitor.plug(SLOT_0, "e1000e", "hot5")
    wait_until_there(address)
    before = standing(address)
    assert allocated(changing, "vm", place="slot") == [address]
    prepared(changing, "vm")
    assert standing(address) == ON_VFIO

    monitor.unplug("hot5")
    wait_until_gone(address)
    lost = devices_of_owner(changing, "vm")
    assert lost == {address: "allocated"}
    assert refusal(changing("prepare", "vm")) == "wrong_device"

    monitor.plug(SLOT_0, "e1000e", "hot6")
    wait_until_there(address)
    assert standing(address) == before
    assert any("vfio-pci" in step for step in prepared(changing, "vm")[address])
    with opened_by_vfio(address) as (device,):
        assert device.ids() == "8086:10d3"
    given_up(changing, "vm")
    assert standing(address) == before
    assert devices_of(changing)[address]["status"] == "available"
    monitor.unplug("hot6")
    wait_until_gone(address)


def test_a_card_that_is_pulled_out_is_given_back_without_ado(changing: Laneway, monitor: Monitor) -> None:
    address = address_in(SLOT_0)
    monitor.plug(SLOT_0, "e1000e", "hot7")
    wait_until_there(address)
    allocated(changing, "vm", place="slot")
    prepared(changing, "vm")
    monitor.unplug("hot7")
    wait_until_gone(address)
    done(changing("free", "vm"))
    released(changing)
    assert devices_of_owner(changing, "vm") == {}
    assert address not in devices_of(changing)


def devices_of_owner(laneway: Laneway, consumer: str) -> dict[str, str]:
    """What it holds, also what is not there."""
    held = done(laneway("claims"))["devices"]
    return {device["address"]: device["status"] for device in held if device["consumer"] == consumer}
