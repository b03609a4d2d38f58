"""The second boot: nothing counts as prepared until it is restored, and then all is as before it."""

from collections.abc import Iterator

import pytest

from vm.carried import carried_laneway
from vm.changing import ON_VFIO, devices_of, done, standing
from vm.commands import Laneway
from vm.devices import DEVICES, NIC_PF, NIC_VFS, NVME, driver_of


@pytest.fixture(scope="module")
def laneway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laneway]:
    with carried_laneway(tmp_path_factory.mktemp("boot")) as laneway:
        yield laneway


def test_nothing_is_prepared_and_the_status_says_so(laneway: Laneway) -> None:
    assert not (DEVICES / NIC_VFS[0]).exists()
    assert driver_of(NVME) == "nvme"
    device = devices_of(laneway)[NVME]
    assert (device["status"], device["consumer"], device["prepared"]) == ("allocated", "storage", False)
    told = laneway("status").document["drift"]
    assert {one["address"] for one in told if one["code"] == "not_restored"} >= {NVME}


def test_restore_makes_the_vfs_again_and_prepares_what_was_prepared(laneway: Laneway) -> None:
    done(laneway("restore"))
    assert (standing(NIC_PF).vf_count, standing(NIC_PF).autoprobe) == ("2", "0")
    for consumer, address in (("network", NIC_VFS[0]), ("storage", NVME)):
        assert standing(address) == ON_VFIO
        device = devices_of(laneway)[address]
        assert (device["consumer"], device["prepared"]) == (consumer, True)
    assert laneway("status").document["drift"] == []


def test_restoring_again_changes_nothing(laneway: Laneway) -> None:
    before = standing(NVME), standing(NIC_VFS[0]), standing(NIC_PF)
    done(laneway("restore"))
    assert (standing(NVME), standing(NIC_VFS[0]), standing(NIC_PF)) == before
