"""What is not taken from the host, and what is not given back to it, and how long that takes to say."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from vm.changing import (
    ON_VFIO,
    allocated,
    as_it_was,
    given_up,
    prepared,
    refusal,
    standing,
)
from vm.commands import Laneway, output_of
from vm.devices import NIC_ON_SWITCH, NIC_PF, NIC_VFS, NVME, bound_to_vfio, controller_of, disk_of, interface_of
from vm.vfio import opened_by_vfio

PATIENCE = 60.0
"""Seconds: what this host takes to look at itself a few times, and what a command waits for a device to be closed."""


@pytest.fixture(autouse=True)
def undisturbed() -> Iterator[None]:
    with as_it_was():
        yield


def test_an_uplink_is_not_taken(changing: Laneway) -> None:
    """It was free when it was claimed."""
    allocated(changing, "vm", place="nic")
    before, name = standing(NIC_ON_SWITCH), interface_of(NIC_ON_SWITCH)
    output_of("ip", "link", "set", name, "up")
    output_of("ip", "addr", "add", "10.9.0.1/24", "dev", name)
    try:
        assert refusal(changing("prepare", "vm", "--dry-run")) == "device_in_use"
        assert refusal(changing("prepare", "vm")) == "device_in_use"
        assert standing(NIC_ON_SWITCH) == before
        assert "10.9.0.1/24" in output_of("ip", "addr", "show", "dev", name)
    finally:
        output_of("ip", "addr", "flush", "dev", name)
        output_of("ip", "link", "set", name, "down")
        changing("free", "vm")


def test_a_mounted_disk_is_not_taken(changing: Laneway, tmp_path: Path) -> None:
    allocated(changing, "vm", place="disk")
    before, node = standing(NVME), f"/dev/{disk_of(NVME)}"
    output_of("mkfs.ext4", "-q", node)
    point = tmp_path / "data"
    point.mkdir()
    output_of("mount", node, str(point))
    try:
        assert refusal(changing("prepare", "vm")) == "device_in_use"
        assert standing(NVME) == before
    finally:
        output_of("umount", str(point))
        output_of("wipefs", "--all", "--force", node)
        changing("free", "vm")


def test_one_that_cannot_be_taken_leaves_the_others_as_they_were(changing: Laneway) -> None:
    """All devices of a consumer are prepared, or none."""
    allocated(changing, "vm", place="vf")
    allocated(changing, "vm", place="disk")
    before = {address: standing(address) for address in (NIC_VFS[0], NVME)}
    handle = os.open(f"/dev/{controller_of(NVME)}", os.O_RDWR)
    try:
        assert refusal(changing("prepare", "vm")) == "device_in_use"
    finally:
        os.close(handle)
    assert {address: standing(address) for address in before} == before
    assert set(prepared(changing, "vm")) == set(before)
    given_up(changing, "vm")


def test_an_open_device_is_not_given_back(changing: Laneway) -> None:
    allocated(changing, "vm", place="nic")
    prepared(changing, "vm")
    with opened_by_vfio(NIC_ON_SWITCH) as (device,):
        began = time.monotonic()
        assert refusal(changing("release", "vm")) == "device_open"
        assert time.monotonic() - began < PATIENCE
        changing("free", "vm")
        assert refusal(changing("release")) == "device_open"
        assert standing(NIC_ON_SWITCH) == ON_VFIO
        assert device.ids() == "8086:10d3"
    given_up(changing, "vm")


def test_the_vfs_of_a_pf_stay_while_one_is_open(changing: Laneway) -> None:
    """The kernel would let whoever writes the number wait until the VF is closed, without an end."""
    allocated(changing, "vm", place="vf")
    prepared(changing, "vm")
    before = standing(NIC_PF)
    with opened_by_vfio(NIC_VFS[0]) as (device,):
        began = time.monotonic()
        assert refusal(changing("vfs", NIC_PF, "0")) == "vfs_in_the_way"
        changing("free", "vm")
        assert refusal(changing("vfs", NIC_PF, "1")) == "vfs_in_the_way"
        assert time.monotonic() - began < 2 * PATIENCE
        assert standing(NIC_PF) == before
        assert device.ids() == "8086:10ca"
    given_up(changing, "vm")


def test_the_vfs_of_a_pf_stay_while_a_stranger_has_one_open(changing: Laneway) -> None:
    """Nobody holds it by a claim: that it is open is seen on the host itself."""
    with bound_to_vfio(NIC_VFS[0]), opened_by_vfio(NIC_VFS[0]) as (device,):
        before = standing(NIC_PF)
        assert refusal(changing("vfs", NIC_PF, "0")) == "vfs_in_the_way"
        assert standing(NIC_PF) == before
        assert device.ids() == "8086:10ca"


def test_a_pf_is_not_taken_while_a_vf_of_it_is_open(changing: Laneway) -> None:
    allocated(changing, "vm", place="pf", dev_type="type-PF")
    with bound_to_vfio(NIC_VFS[0]), opened_by_vfio(NIC_VFS[0]) as (device,):
        before = standing(NIC_PF)
        assert refusal(changing("prepare", "vm")) == "vfs_in_the_way"
        assert standing(NIC_PF) == before
        assert device.ids() == "8086:10ca"
    changing("free", "vm")
