"""Devices go back to the host as they were; what is open, or needed by another, stays."""

from collections.abc import Callable
from pathlib import Path

import pytest

from compute.changing_host import ChangingHost, by_address
from domain.hosts import at
from hosts.linux.changes.kernels import CARD, DISPLAY, PF, SOUND, any_kernel
from laneway.compute.preparing import prepare
from laneway.compute.releasing import release, release_freed
from laneway.compute.upkeep import keep_up
from laneway.domain.device import Status
from laneway.domain.errors import ErrorCode, LanewayError

DISK = "0000:24:00.0"


def with_disk(root: Path) -> object:
    kernel = any_kernel(root)
    kernel.sysfs.function(DISK, "1b36", "0010", class_code="010802", driver="nvme", iommu_group=9).attribute(
        "reset", ""
    )
    return kernel


def refusal(host: ChangingHost, consumer: str | None, *addresses: str) -> LanewayError:
    with pytest.raises(LanewayError) as caught:
        release(host.managed, consumer, [at(address) for address in addresses])
    return caught.value


def test_a_freed_device_is_on_its_way_back_until_it_is_released(host: ChangingHost) -> None:
    before = host.kernel.tree()
    host.claim("vm", CARD)
    prepare(host.managed, "vm")
    host.free("vm")
    assert host.status(CARD) is Status.RELEASING
    assert by_address(release(host.managed))[CARD].error is None
    assert host.status(CARD) is Status.AVAILABLE
    assert host.kernel.tree() == before
    assert (host.journal().taken, host.journal().steps, host.journal().prepared) == ({}, (), {})


def test_with_nothing_freed_there_is_nothing_to_do(host: ChangingHost) -> None:
    host.claim("vm", CARD)
    prepare(host.managed, "vm")
    assert release(host.managed).of == ()
    assert host.drivers(CARD) == ["vfio-pci"]


def test_a_consumer_keeps_its_claim_when_its_devices_are_given_back(host: ChangingHost) -> None:
    host.claim("vm", CARD)
    prepare(host.managed, "vm")
    release(host.managed, "vm")
    assert host.drivers(CARD) == ["e1000e"]
    assert (host.status(CARD), host.device(CARD).prepared) == (Status.ALLOCATED, False)
    prepare(host.managed, "vm")
    assert host.device(CARD).prepared


def test_a_dry_run_tells_every_step_and_does_none(host: ChangingHost) -> None:
    host.claim("vm", CARD)
    prepare(host.managed, "vm")
    host.kernel.writes.clear()
    planned = release(host.managed, "vm", dry_run=True)
    assert host.kernel.writes == []
    assert release(host.managed, "vm").of == planned.of


def test_an_open_device_is_never_given_back_and_others_are(host: ChangingHost) -> None:
    host.claim("vm", CARD, DISPLAY)
    prepare(host.managed, "vm")
    host.free("vm")
    host.kernel.open(CARD)
    changes = by_address(release(host.managed))
    failure = changes[CARD].error
    assert failure is not None
    assert failure.code is ErrorCode.DEVICE_OPEN
    assert changes[DISPLAY].error is None
    assert host.drivers(CARD, DISPLAY) == ["vfio-pci", "bochs-drm"]
    assert host.status(CARD) is Status.RELEASING
    host.kernel.close()
    assert release(host.managed).is_complete
    assert host.status(CARD) is Status.AVAILABLE


def test_a_member_of_the_group_stays_as_long_as_another_needs_it(host: ChangingHost) -> None:
    before = host.kernel.tree()
    host.claim("vm", DISPLAY, SOUND)
    prepare(host.managed, "vm")
    first = by_address(release(host.managed, "vm", [at(DISPLAY)]))[DISPLAY]
    assert first.note is not None
    assert SOUND in first.note
    assert host.drivers(DISPLAY, SOUND) == ["vfio-pci", "vfio-pci"]
    assert not host.device(DISPLAY).prepared
    release(host.managed, "vm")
    assert host.kernel.tree() == before
    assert host.journal().taken == {}


def test_what_was_taken_along_goes_back_with_it(host: ChangingHost) -> None:
    before = host.kernel.tree()
    host.claim("vm", DISPLAY)
    prepare(host.managed, "vm")
    release(host.managed, "vm")
    assert host.kernel.tree() == before


def test_what_was_taken_along_names_what_it_was_taken_for(host: ChangingHost) -> None:
    host.claim("vm", DISPLAY)
    prepare(host.managed, "vm")
    with pytest.raises(LanewayError, match=f"taken along for {DISPLAY}") as caught:
        release(host.managed, addresses=[at(SOUND)])
    assert caught.value.code is ErrorCode.INVALID_STATUS


def test_a_pf_gets_its_vfs_back(tmp_path: Path, changing_host: Callable[..., ChangingHost]) -> None:
    kernel = any_kernel(tmp_path / "root")
    kernel.write(f"sys/bus/pci/devices/{PF}/sriov_numvfs", "2")
    host = changing_host(kernel=kernel)
    before = kernel.tree()
    host.claim("vm", PF)
    prepare(host.managed, "vm")
    host.free("vm")
    release(host.managed)
    assert kernel.tree() == before
    assert host.status(PF) is Status.AVAILABLE


def test_what_is_not_taken_cannot_be_given_back(host: ChangingHost) -> None:
    host.claim("vm", CARD)
    assert refusal(host, None, CARD).code is ErrorCode.INVALID_STATUS
    assert refusal(host, "vm").code is ErrorCode.NO_CLAIM
    prepare(host.managed, "vm")
    assert refusal(host, "other", CARD).code is ErrorCode.NOT_OWNER
    assert refusal(host, "vm", DISPLAY).code is ErrorCode.INVALID_STATUS
    assert host.drivers(CARD) == ["vfio-pci"]


def test_a_failed_reset_takes_the_device_out_of_use(host: ChangingHost) -> None:
    host.claim("vm", CARD)
    prepare(host.managed, "vm")
    host.free("vm")
    host.kernel.broken_resets.add(CARD)
    assert not release(host.managed).is_complete
    assert host.status(CARD) is Status.RELEASING
    assert [reason.code for reason in host.look().blocked_by(at(CARD))] == ["reset_failed"]
    assert keep_up(host.managed, host.look()).changes == (), "nobody tries again before somebody has looked"


@pytest.mark.parametrize(
    ("address", "spec"),
    [
        pytest.param(DISK, {"address": "*"}, id="storage"),
        pytest.param(CARD, {"address": "*", "one_time_use": "true"}, id="what is to be cleaned"),
    ],
)
def test_a_service_keeps_from_the_host_what_a_guest_wrote(
    tmp_path: Path, changing_host: Callable[..., ChangingHost], address: str, spec: object
) -> None:
    host = changing_host(kernel=with_disk(tmp_path / "root"), specs=[spec])
    before = host.kernel.tree()
    host.claim("vm", address)
    prepare(host.managed, "vm")
    host.free("vm")
    with host.managed.changing() as view:
        (change,) = release_freed(host.managed, view)
    assert change.note is not None
    assert f"laneway release --device {address}" in change.note
    assert host.drivers(address) == ["vfio-pci"]
    assert host.journal().kept == {at(address)}
    assert host.status(address) in (Status.AVAILABLE, Status.DIRTY)
    assert release(host.managed, addresses=[at(address)]).is_complete
    assert host.kernel.tree() == before
    assert (host.journal().kept, host.journal().taken) == (frozenset(), {})


def test_a_kept_device_goes_to_its_next_guest_and_its_driver_is_not_forgotten(
    tmp_path: Path, changing_host: Callable[..., ChangingHost]
) -> None:
    host = changing_host(kernel=with_disk(tmp_path / "root"))
    before = host.kernel.tree()
    host.claim("vm", DISK)
    prepare(host.managed, "vm")
    host.free("vm")
    keep_up(host.managed, host.look())
    host.claim("next", DISK)
    assert by_address(prepare(host.managed, "next"))[DISK].steps == ()
    assert (host.device(DISK).prepared, host.journal().kept) == (True, frozenset())
    release(host.managed, "next")
    assert host.kernel.tree() == before
