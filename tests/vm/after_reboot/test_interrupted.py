"""What was under way when the host went down is void; what had been prepared, with all its settings, is restored."""

import json
from collections.abc import Iterator

import pytest

from vm.carried import carried_laneway
from vm.changing import ON_VFIO, devices_of, given_up, prepared, standing
from vm.commands import Laneway, output_of
from vm.devices import NIC_ON_SWITCH, NIC_PF, NIC_VFS, NVME, interface_of
from vm.vfio import opened_by_vfio


@pytest.fixture(scope="module")
def laneway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laneway]:
    with carried_laneway(tmp_path_factory.mktemp("boot")) as laneway:
        yield laneway


def test_settings_of_a_vf_are_restored(laneway: Laneway) -> None:
    (link,) = json.loads(output_of("ip", "-details", "-json", "link", "show", "dev", interface_of(NIC_PF)))
    assert link["vfinfo_list"][1]["address"] == "02:00:00:00:00:77"


def test_guests_can_open_what_was_restored() -> None:
    with opened_by_vfio(NVME, *NIC_VFS[:2]) as devices:
        assert [device.ids() for device in devices] == ["1b36:0010", "8086:10ca", "8086:10ca"]


def test_what_was_half_taken_is_with_its_driver_and_can_be_taken(laneway: Laneway) -> None:
    before = standing(NIC_ON_SWITCH)
    assert (before.driver, before.override) == ("e1000e", None)
    assert devices_of(laneway)[NIC_ON_SWITCH]["status"] == "allocated"
    assert prepared(laneway, "cut")[NIC_ON_SWITCH]
    assert standing(NIC_ON_SWITCH) == ON_VFIO
    given_up(laneway, "cut")
    assert standing(NIC_ON_SWITCH) == before
