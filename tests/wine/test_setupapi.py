"""The calls of SetupAPI, on devices that are put into the registry."""

from typing import Any

import pytest

from hosts.windows_builder import GPU, NIC, bag, gpu, nic, root_port
from laneway.hosts.hyperv.property_bag import Key, Properties
from laneway.hosts.hyperv.setupapi import read_devices
from wine.pci_bus import PciBus


def found() -> dict[str, Properties]:
    return {str(device[Key.INSTANCE_ID.value]).upper(): device for device in read_devices()}


@pytest.mark.parametrize("made", [root_port(), gpu(), nic()], ids=["a root port", "a GPU", "a NIC"])
def test_a_device_is_read_as_it_was_written(bus: PciBus, made: dict[str, Any]) -> None:
    bus.plug(made)
    read = found()[made[Key.INSTANCE_ID.value].upper()]
    not_written = {Key.MEMORY.value, Key.NETWORK_GUID.value, Key.INSTANCE_ID.value}
    assert {name: read.get(name) for name in made.keys() - not_written} == {
        name: made[name] for name in made.keys() - not_written
    }


def test_a_property_that_a_device_does_not_have_is_not_in_its_bag(bus: PciBus) -> None:
    bus.plug(bag(NIC, bus=3, service=None, parent=None))
    read = found()[NIC.upper()]
    assert not {Key.SERVICE.value, Key.PARENT.value, Key.NUMA_NODE.value, Key.SERIAL_NUMBER.value} & read.keys()


def test_a_text_in_another_script(bus: PciBus) -> None:
    text = "PCI バス 2、デバイス 28、機能 0"
    bus.plug(bag(NIC, Device_LocationInfo=text))
    assert found()[NIC.upper()][Key.LOCATION_INFO.value] == text


def test_both_enumerators_and_other_devices_are_listed(bus: PciBus) -> None:
    dismounted = GPU.replace("PCI", "PCIP", 1)
    other = r"SCSI\DISK&VEN_NVME\5&1"
    for instance_id in (NIC, dismounted, other):
        bus.plug(bag(instance_id, bus=1))
    read = found()
    assert {NIC.upper(), dismounted.upper(), other.upper()} <= read.keys()
    assert Key.PARENT.value in read[other.upper()]
    assert Key.BUS_NUMBER.value not in read[other.upper()]


def test_what_was_taken_out_is_gone(bus: PciBus) -> None:
    bus.plug(nic())
    bus.clear()
    assert NIC.upper() not in found()
