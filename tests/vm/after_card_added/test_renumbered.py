"""The third boot, with a card more: the buses behind it have other numbers."""

from collections.abc import Iterator

import pytest

from vm.carried import carried_laneway
from vm.changing import ON_VFIO, devices_of, refusal, standing
from vm.commands import Laneway
from vm.devices import NIC_PF, NIC_VFS, NVME, driver_of

MOVED_NVME, MOVED_GPU = "0000:23:00.0", "0000:24:00.0"


@pytest.fixture(scope="module")
def laneway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laneway]:
    with carried_laneway(tmp_path_factory.mktemp("boot")) as laneway:
        yield laneway


def test_an_owned_device_that_is_not_where_it_was_is_refused_with_both_named(laneway: Laneway) -> None:
    assert driver_of(MOVED_NVME) == "nvme"
    blocked = devices_of(laneway)[NVME]["blocked_by"]
    (reason,) = (one for one in blocked if one["code"] == "wrong_device")
    assert MOVED_NVME in reason["message"]
    assert refusal(laneway("prepare", "storage")) == "wrong_device"
    assert refusal(laneway("hostdev", "storage", "--format", "qemu")) == "wrong_device"


def test_restore_restores_the_others_and_leaves_that_one_alone(laneway: Laneway) -> None:
    answer = laneway("restore")
    assert answer.status == 1
    assert standing(NIC_PF).vf_count == "2"
    assert standing(NIC_VFS[0]) == ON_VFIO
    assert driver_of(MOVED_NVME) == "nvme"


def test_a_cordon_follows_its_card(laneway: Laneway) -> None:
    """The GPU was cordoned when it stood where the NVMe stands now."""
    devices = devices_of(laneway)
    assert [one["code"] for one in devices[MOVED_GPU]["blocked_by"]].count("cordoned") == 1
    assert "cordoned" not in [one["code"] for one in devices[MOVED_NVME]["blocked_by"]]


def test_what_stands_at_the_old_address_is_offered_to_nobody(laneway: Laneway) -> None:
    request = '{"name": "d", "any_of": [{"place": "disk"}]}'
    assert laneway("explain", "another", "--request", request).status == 1
