"""Processes that are killed while they change the host, at every step; and several that want to change it at once.

Whoever comes next puts the host right: all is as it was before, or done.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from vm.changing import (
    ON_VFIO,
    allocated,
    as_it_was,
    devices_of,
    done,
    given_up,
    prepared,
    released,
    standing,
)
from vm.commands import Laneway
from vm.crashing import at_once, before_step, kill_everywhere
from vm.devices import NIC_ON_SWITCH, NIC_PF, NIC_PORT_0, NIC_PORT_1, NIC_VFS, NVME
from vm.registers import virtual_functions
from vm.vfio import opened_by_vfio


@pytest.fixture(autouse=True)
def undisturbed() -> Iterator[None]:
    with as_it_was():
        yield


def test_killed_while_preparing(changing: Laneway) -> None:
    """Both ports of a NIC, of which one is taken along."""
    ports = (NIC_PORT_0, NIC_PORT_1)
    before = [standing(port) for port in ports]
    assert allocated(changing, "vm", place="ports") == [NIC_PORT_0]
    steps = prepared(changing, "vm", "--dry-run")[NIC_PORT_0]
    points = [0, *(before_step(number) for number in range(len(steps) + 1))]
    for _ in kill_everywhere(lambda: changing("prepare", "vm"), list(points)):
        points.pop(0)
        done(changing("release"))
        now = [standing(port) for port in ports]
        assert now in (before, [ON_VFIO, ON_VFIO])
        if now != before:
            done(changing("release", "vm"))
        assert [standing(port) for port in ports] == before
    assert points == []
    assert devices_of(changing)[NIC_PORT_0]["status"] == "allocated"
    prepared(changing, "vm")
    with opened_by_vfio(*ports):
        pass
    given_up(changing, "vm")


def test_killed_while_giving_back(changing: Laneway) -> None:
    """After each the release is finished."""
    before = standing(NIC_ON_SWITCH)
    allocated(changing, "vm", place="nic")
    prepared(changing, "vm")
    steps = released(changing, "vm", "--dry-run")[NIC_ON_SWITCH]
    points = [before_step(number) for number in range(len(steps) + 1)]
    for _ in kill_everywhere(lambda: changing("release", "vm"), list(points)):
        points.pop(0)
        done(changing("release"))
        assert standing(NIC_ON_SWITCH) == before
        prepared(changing, "vm")
        assert standing(NIC_ON_SWITCH) == ON_VFIO
    assert points == []
    given_up(changing, "vm")
    assert standing(NIC_ON_SWITCH) == before


def test_killed_while_a_disk_is_given_back(changing: Laneway) -> None:
    """What keeps the host from reading the disk does not stay behind."""
    before = standing(NVME)
    allocated(changing, "vm", place="disk")
    prepared(changing, "vm")
    steps = released(changing, "vm", "--dry-run")[NVME]
    guarded = [number for number, step in enumerate(steps) if "udev" in step]
    points = [before_step(number) for number in range(guarded[0], guarded[-1] + 1)]
    assert len(points) == 4
    for _ in kill_everywhere(lambda: changing("release", "vm"), list(points)):
        points.pop(0)
        done(changing("release"))
        assert standing(NVME) == before
        assert not list(Path("/run/udev/rules.d").glob("*laneway*"))
        prepared(changing, "vm")
    assert points == []
    given_up(changing, "vm")


def test_killed_while_a_pf_is_taken_with_its_vfs(changing: Laneway) -> None:
    before = {address: standing(address) for address in (NIC_PF, *NIC_VFS)}
    allocated(changing, "vm", place="pf", dev_type="type-PF")
    steps = prepared(changing, "vm", "--dry-run")[NIC_PF]
    for _ in kill_everywhere(lambda: changing("prepare", "vm"), [before_step(len(steps) - 1)]):
        assert virtual_functions(NIC_PF) == []
        changing("release")
        assert {address: standing(address) for address in before} == before
    done(changing("free", "vm"))


def test_two_processes_prepare_one_device(changing: Laneway) -> None:
    """One of them does it, the other waits and finds it done."""
    before = standing(NIC_ON_SWITCH)
    allocated(changing, "vm", place="nic")
    assert at_once(*[lambda: changing("prepare", "vm")] * 2) == [0, 0]
    assert standing(NIC_ON_SWITCH) == ON_VFIO
    assert prepared(changing, "vm") == {NIC_ON_SWITCH: []}
    assert at_once(lambda: changing("release", "vm"), lambda: changing("prepare", "vm"))[1] == 0
    given_up(changing, "vm")
    assert standing(NIC_ON_SWITCH) == before
