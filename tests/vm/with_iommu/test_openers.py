"""Processes that hold a function by VFIO."""

import os

import pytest

from laneway.domain.inventory import Opener
from vm.devices import (
    NIC_ON_SWITCH,
    NIC_PORT_0,
    NIC_PORT_1,
    NIC_VFS,
    NVME_WITHOUT_ACS,
    bound_to_vfio,
    driver_of,
    group_of,
)
from vm.host_use import functions_now


@pytest.mark.parametrize(
    "addresses",
    [(NIC_ON_SWITCH,), (NIC_VFS[1],), (NIC_PORT_0, NIC_PORT_1), (NVME_WITHOUT_ACS,)],
    ids=["one function", "a VF", "two functions of a group", "a function in a group with its port"],
)
def test_an_open_group_stands_for_its_functions_until_it_is_closed(addresses: tuple[str, ...]) -> None:
    before = [driver_of(address) for address in addresses]
    group = group_of(addresses[0])
    with bound_to_vfio(*addresses):
        assert [opened_by(address) for address in addresses] == [()] * len(addresses)
        descriptor = os.open(f"/dev/vfio/{group}", os.O_RDWR)
        try:
            now = functions_now()
            holders = {address: function.opened_by for address, function in now.items() if function.opened_by}
            assert holders == dict.fromkeys(addresses, (Opener(pid=os.getpid(), name="python3"),))
        finally:
            os.close(descriptor)
        assert [opened_by(address) for address in addresses] == [()] * len(addresses)
    assert [driver_of(address) for address in addresses] == before


def opened_by(address: str) -> tuple[Opener, ...] | None:
    return functions_now()[address].opened_by


def test_driver_and_override_while_bound() -> None:
    with bound_to_vfio(NIC_ON_SWITCH):
        bound = functions_now()[NIC_ON_SWITCH]
        assert (bound.driver, bound.driver_override, bound.netdevs) == ("vfio-pci", "vfio-pci", ())
    free = functions_now()[NIC_ON_SWITCH]
    assert (free.driver, free.driver_override) == ("e1000e", None)
    assert free.netdevs
