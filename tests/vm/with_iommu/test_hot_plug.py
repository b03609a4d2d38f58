"""Devices that come and go: seen by the driver's watch, and by an agent that runs."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from threading import Event

import pytest

from laneway.domain.inventory import DevType, Inventory, PciFunction
from laneway.hosts.linux import LinuxHostDriver
from laneway.interfaces.host_driver import HotplugEvents
from vm.agent import running_agent
from vm.commands import Laneway
from vm.devices import DEVICES, NVME_PF, NVME_VFS, SLOT_0, SLOT_1, make_vfs, settle
from vm.host_use import functions_now
from vm.hot_plug import wait_for, wait_until_gone, wait_until_there
from vm.monitor import Monitor, address_in


@pytest.fixture
def events() -> Iterator[HotplugEvents]:
    watched = LinuxHostDriver().watch()
    yield watched
    watched.close()


@pytest.mark.parametrize(
    ("slot", "model", "product", "node", "driver"),
    [(SLOT_0, "e1000e", "10d3", 0, "e1000e"), (SLOT_1, "qemu-xhci", "000d", 1, "xhci_hcd")],
    ids=["a NIC", "a USB controller"],
)
def test_a_device_that_comes_and_one_that_goes(
    monitor: Monitor, events: HotplugEvents, slot: str, model: str, product: str, node: int, driver: str
) -> None:
    address = address_in(slot)
    assert address not in functions_now()
    monitor.plug(slot, model, "hot0")
    wait_for(events, address)
    wait_until_there(address)
    there = functions_now()[address]
    assert (there.product_id, there.numa_node, there.driver) == (product, node, driver)

    monitor.unplug("hot0")
    wait_for(events, address)
    wait_until_gone(address)
    assert address not in functions_now()


def test_virtual_functions_that_come_and_go_on_a_card_that_has_just_come(
    monitor: Monitor, events: HotplugEvents
) -> None:
    pf = address_in(SLOT_0)
    monitor.plug(SLOT_0, "igb", "hot1")
    wait_for(events, pf)
    wait_until_there(pf)
    make_vfs(pf, 2)
    now = functions_now()
    vfs = [address for address, one in now.items() if str(one.parent_addr) == pf]
    assert len(vfs) == 2
    assert [(now[vf].dev_type, now[vf].vf_index, now[vf].numa_node) for vf in vfs] == [
        (DevType.VF, 0, 0),
        (DevType.VF, 1, 0),
    ]
    wait_for(events, *vfs)

    make_vfs(pf, 0)
    wait_for(events, *vfs)
    assert now.keys() - functions_now().keys() == set(vfs)
    monitor.unplug("hot1")
    wait_for(events, pf)
    wait_until_gone(pf)


def test_an_agent_takes_up_what_is_plugged_in(monitor: Monitor, laneway: Laneway) -> None:
    address = address_in(SLOT_0)
    with running_agent(laneway) as agent:
        assert agent.until("started")["facts"]["driver"] == "linux"
        before = laneway("status").document
        assert (before["ok"], before["agent"]["watching"]) == (True, True)

        monitor.plug(SLOT_0, "e1000e", "hot2")
        assert agent.until("devices_appeared")["facts"]["devices"] == [address]
        assert available(laneway) == before["devices"]["by_status"]["available"] + 1

        monitor.unplug("hot2")
        assert agent.until("devices_vanished")["facts"]["devices"] == [address]
        assert available(laneway) == before["devices"]["by_status"]["available"]


def available(laneway: Laneway) -> int:
    count = laneway("status").document["devices"]["by_status"]["available"]
    assert isinstance(count, int)
    return count


def test_looking_while_virtual_functions_come_and_go(functions: dict[str, PciFunction]) -> None:
    """Whatever is there half at some moment: what is listed is whole, and nothing is noted."""
    stays = [one for address, one in functions.items() if address not in (NVME_PF, *NVME_VFS)]
    count = DEVICES / NVME_PF / "sriov_numvfs"
    looks, found, done = SimpleQueue[Inventory](), list[Inventory](), Event()

    def look_again_and_again() -> None:
        while not done.is_set():
            looks.put(LinuxHostDriver().discover())

    with ThreadPoolExecutor() as pool:
        looking = pool.submit(look_again_and_again)
        for _ in range(10):
            count.write_text("0")
            count.write_text("4")
            found += [looks.get() for _ in range(3)]
        done.set()
        looking.result()
    settle()
    assert len({len(inventory.functions) for inventory in found}) > 1
    for inventory in found:
        assert inventory.problems == ()
        listed = {str(one.address): one for one in inventory.functions}
        assert [one for address, one in listed.items() if address not in (NVME_PF, *NVME_VFS)] == stays
        for vf in listed.keys() & set(NVME_VFS):
            assert listed[vf].vendor_id == "1b36"
    assert {str(one.address): one for one in LinuxHostDriver().discover().functions} == functions
