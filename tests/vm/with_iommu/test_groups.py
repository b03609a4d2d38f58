"""IOMMU groups of several functions: all of it goes to a guest, or nothing."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from vm.changing import ON_VFIO, allocated, as_it_was, done, given_up, prepared, refusal, released, standing
from vm.commands import Laneway
from vm.devices import GPU, GPU_AUDIO, NIC_PORT_0, NIC_PORT_1, bind, give_back, group_of
from vm.vfio import is_viable, opened_by_vfio


@pytest.fixture(autouse=True)
def undisturbed() -> Iterator[None]:
    with as_it_was():
        yield


@pytest.fixture
def only_the_first_port(changing: Laneway, tmp_path: Path) -> Laneway:
    config = tmp_path / "laneway.toml"
    config.write_text(f'device_spec = [{{ address = "{NIC_PORT_0}", place = "port" }}]\n')
    return replace(changing, config=config)


def test_a_graphics_card_takes_its_audio_function_along(changing: Laneway) -> None:
    """Neither can be reset alone: the kernel says so only when it is told to (ENOTTY)."""
    before = {address: standing(address) for address in (GPU, GPU_AUDIO)}
    assert [one.driver for one in before.values()] == ["bochs-drm", "snd_hda_intel"]
    assert allocated(changing, "vm", place="gpu") == [GPU]
    prepared(changing, "vm")
    assert [standing(address) for address in before] == [ON_VFIO, ON_VFIO]
    with opened_by_vfio(GPU, GPU_AUDIO) as devices:
        assert [device.ids() for device in devices] == ["1234:1111", "8086:293e"]
    given_up(changing, "vm")
    assert {address: standing(address) for address in before} == before


def test_what_was_taken_along_goes_back_with_the_last_that_needs_it(changing: Laneway) -> None:
    before = {address: standing(address) for address in (NIC_PORT_0, NIC_PORT_1)}
    assert allocated(changing, "vm", place="ports", count=2) == [NIC_PORT_0, NIC_PORT_1]
    prepared(changing, "vm", "--device", NIC_PORT_0)
    assert [standing(address) for address in before] == [ON_VFIO, ON_VFIO]
    prepared(changing, "vm", "--device", NIC_PORT_1)
    released(changing, "vm", "--device", NIC_PORT_0)
    assert [standing(address) for address in before] == [ON_VFIO, ON_VFIO]
    with opened_by_vfio(NIC_PORT_1) as (device,):
        assert device.ids() == "8086:10d3"
    given_up(changing, "vm")
    assert {address: standing(address) for address in before} == before


def test_a_sibling_that_no_spec_admits_is_not_taken_from_its_driver(only_the_first_port: Laneway) -> None:
    """It was with vfio-pci when the first was claimed."""
    bind(NIC_PORT_1, "vfio-pci")
    try:
        allocated(only_the_first_port, "vm", place="port")
    finally:
        give_back(NIC_PORT_1)
    refused = only_the_first_port("prepare", "vm")
    assert refusal(refused) == "group_not_viable"
    assert refused.document["error"]["detail"]["members"] == [NIC_PORT_1]
    assert [standing(address).driver for address in (NIC_PORT_0, NIC_PORT_1)] == ["e1000e", "e1000e"]
    done(only_the_first_port("free", "vm"))


def test_a_sibling_that_no_spec_admits_and_no_driver_has_is_in_nobodys_way(only_the_first_port: Laneway) -> None:
    bind(NIC_PORT_1, "vfio-pci")
    try:
        before = [standing(address) for address in (NIC_PORT_0, NIC_PORT_1)]
        allocated(only_the_first_port, "vm", place="port")
        prepared(only_the_first_port, "vm")
        assert is_viable(group_of(NIC_PORT_0))
        given_up(only_the_first_port, "vm")
        assert [standing(address) for address in (NIC_PORT_0, NIC_PORT_1)] == before
    finally:
        give_back(NIC_PORT_1)
