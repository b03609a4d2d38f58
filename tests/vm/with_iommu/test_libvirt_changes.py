"""libvirt's driver takes devices and gives them back, by this host's libvirtd; the kernel tells what came of it."""

import os
from collections.abc import Iterator
from typing import Any

import pytest

from laneway.domain.address import PciAddress
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import PciFunction
from laneway.hosts.libvirt.driver import LibvirtHostDriver
from laneway.interfaces.host_changes import (
    Action,
    Ending,
    Outcome,
    Plan,
    Prepare,
    Release,
    SetVfCount,
    Step,
    Unfinished,
)
from vm.changing import as_it_was
from vm.commands import output_of
from vm.devices import GPU, GPU_AUDIO, NIC_ON_SWITCH, NIC_PF, NIC_VFS, NVME, driver_of
from vm.nested_vm import managed_hostdevs, running_domain
from vm.vfio import opened_by_vfio

pytestmark = pytest.mark.usefixtures("libvirtd")
ON_HOST_DRIVERS = {GPU: "bochs-drm", GPU_AUDIO: "snd_hda_intel"}


@pytest.fixture(autouse=True)
def undisturbed(vfs: None) -> Iterator[None]:
    with as_it_was():
        yield


@pytest.fixture
def driver() -> LibvirtHostDriver:
    return LibvirtHostDriver()


def at(address: str) -> PciAddress:
    return PciAddress.parse(address)


def preparation(driver: LibvirtHostDriver, address: str, *siblings: str, **more: Any) -> Prepare:
    return Prepare(recorded=function(driver, address), siblings=frozenset(map(at, siblings)), **more)


def function(driver: LibvirtHostDriver, address: str) -> PciFunction:
    return driver.discover().by_address[at(address)]


def do(driver: LibvirtHostDriver, action: Action) -> Outcome:
    return driver.apply(driver.plan(action), lambda _step: None, lambda _words: None)


def refused(driver: LibvirtHostDriver, action: Action) -> ErrorCode:
    with pytest.raises(LanewayError) as refusal:
        do(driver, action)
    return refusal.value.code


def drivers() -> dict[str, str | None]:
    return {address: driver_of(address) for address in ON_HOST_DRIVERS}


def test_a_card_with_its_audio_function_is_taken_and_given_back(driver: LibvirtHostDriver) -> None:
    assert drivers() == ON_HOST_DRIVERS
    assert refused(driver, preparation(driver, GPU)) is ErrorCode.GROUP_NOT_VIABLE
    action = preparation(driver, GPU, GPU_AUDIO)
    planned = driver.plan(action).steps
    assert [(step.kind, str(step.address)) for step in planned] == [("detach", GPU), ("detach", GPU_AUDIO)]
    assert drivers() == ON_HOST_DRIVERS

    taken = do(driver, action).taken
    assert taken == planned
    assert drivers() == dict.fromkeys(ON_HOST_DRIVERS, "vfio-pci")
    assert "<name>vfio-pci</name>" in output_of("virsh", "nodedev-dumpxml", "pci_0000_23_00_0")
    with opened_by_vfio(GPU, GPU_AUDIO) as devices:
        assert [device.ids() for device in devices] == ["1234:1111", "8086:293e"]
    assert driver.plan(action).steps == ()

    kept = do(driver, Release(address=at(GPU), taken=taken, keep=True)).taken
    assert kept == taken
    assert drivers() == dict.fromkeys(ON_HOST_DRIVERS, "vfio-pci")
    assert do(driver, Release(address=at(GPU), taken=kept)).taken == ()
    assert drivers() == ON_HOST_DRIVERS


def test_what_the_host_may_use_is_taken_only_where_that_is_allowed(driver: LibvirtHostDriver) -> None:
    """libvirt does not tell what the host uses: a disk or an uplink that has a driver is not tried out."""
    assert refused(driver, preparation(driver, NVME)) is ErrorCode.DEVICE_IN_USE
    assert refused(driver, preparation(driver, NIC_ON_SWITCH)) is ErrorCode.DEVICE_IN_USE
    assert driver_of(NVME) == "nvme"
    taken = do(driver, preparation(driver, NVME, may_be_in_use=True)).taken
    assert driver_of(NVME) == "vfio-pci"
    do(driver, Release(address=at(NVME), taken=taken))
    assert driver_of(NVME) == "nvme"


def test_a_vf_is_taken_and_its_pf_is_not(driver: LibvirtHostDriver) -> None:
    before = driver_of(NIC_VFS[0])
    taken = do(driver, preparation(driver, NIC_VFS[0])).taken
    assert driver_of(NIC_VFS[0]) == "vfio-pci"
    do(driver, Release(address=at(NIC_VFS[0]), taken=taken))
    assert driver_of(NIC_VFS[0]) == before
    assert refused(driver, preparation(driver, NIC_PF, may_be_in_use=True)) is ErrorCode.VFS_IN_THE_WAY


def test_what_a_domain_has_stays_with_it(driver: LibvirtHostDriver, libvirtd: Any) -> None:
    action = preparation(driver, NIC_VFS[0])
    taken = do(driver, action).taken
    with running_domain(libvirtd, "guest-1", managed_hostdevs(NIC_VFS[1])):
        assert refused(driver, preparation(driver, NIC_VFS[1])) is ErrorCode.DEVICE_OPEN
    with running_domain(libvirtd, "guest-2", managed_hostdevs(NIC_VFS[0]).replace("managed='yes'", "managed='no'")):
        assert refused(driver, Release(address=at(NIC_VFS[0]), taken=taken)) is ErrorCode.DEVICE_OPEN
        assert driver_of(NIC_VFS[0]) == "vfio-pci"
    do(driver, Release(address=at(NIC_VFS[0]), taken=taken))


def test_a_process_that_ended_in_the_middle_is_recovered_from(driver: LibvirtHostDriver) -> None:
    """Between the two functions: the first is taken, the second is not."""
    plan = driver.plan(preparation(driver, GPU, GPU_AUDIO))
    assert ended_at(driver, plan, 1) == 1
    assert drivers() == {**ON_HOST_DRIVERS, GPU: "vfio-pci"}
    assert driver.recover(Unfinished(plan=plan, begun=plan.steps)).ending is Ending.UNDONE
    assert drivers() == ON_HOST_DRIVERS

    taken = do(driver, plan.action).taken
    back = driver.plan(Release(address=at(GPU), taken=taken))
    assert ended_at(driver, back, len(back.steps) - 1) == 1
    assert driver.recover(Unfinished(plan=back, begun=back.steps)).ending is Ending.DONE
    assert drivers() == ON_HOST_DRIVERS


def ended_at(driver: LibvirtHostDriver, plan: Plan, number: int) -> int:
    """A process that applies the plan, and ends when it comes to the step of this number; its exit status."""
    child = os.fork()
    if child == 0:
        begun: list[Step] = []

        def keep(step: Step) -> None:
            begun.append(step)
            if len(begun) > number:
                os._exit(1)

        try:
            driver.apply(plan, keep, lambda _words: None)
        finally:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_what_it_cannot_do_it_says(driver: LibvirtHostDriver) -> None:
    assert refused(driver, SetVfCount(address=at(NIC_PF), count=2, autoprobe=True)) is ErrorCode.NOT_SUPPORTED
    nowhere = LibvirtHostDriver("qemu+unix:///system?socket=/run/nobody-listens-here")
    assert refused(nowhere, preparation(driver, GPU, GPU_AUDIO)) is ErrorCode.HOST_UNREACHABLE
