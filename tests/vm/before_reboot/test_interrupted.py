"""When the host goes down, one process is in the middle of preparing a device, and a VF has settings of its own."""

from collections.abc import Iterator

import pytest

from vm.carried import carried_laneway
from vm.changing import ON_VFIO, allocated, prepared, standing
from vm.commands import Laneway
from vm.crashing import before_step, kill_everywhere
from vm.devices import NIC_ON_SWITCH, NIC_VFS


@pytest.fixture(scope="module")
def laneway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laneway]:
    with carried_laneway(tmp_path_factory.mktemp("boot")) as laneway:
        yield laneway


def test_a_vf_is_prepared_with_settings(laneway: Laneway) -> None:
    assert allocated(laneway, "tagged", place="vf") == [NIC_VFS[1]]
    prepared(laneway, "tagged", "--vf", f"{NIC_VFS[1]},mac=02:00:00:00:00:77,vlan=42")
    assert standing(NIC_VFS[1]) == ON_VFIO


def test_one_is_taken_from_its_driver_and_goes_no_further(laneway: Laneway) -> None:
    """Nothing recovers it in this boot."""
    assert allocated(laneway, "cut", place="nic") == [NIC_ON_SWITCH]
    point = before_step(2)
    assert list(kill_everywhere(lambda: laneway("prepare", "cut"), [point])) == [point]
    assert standing(NIC_ON_SWITCH).driver is None
