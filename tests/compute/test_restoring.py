"""After a boot nothing is prepared, until it is prepared again: before any VM starts."""

from pathlib import Path

import pytest

from compute.changing_host import ChangingHost, by_address
from domain.hosts import at
from hosts.linux.changes.kernels import CARD, DISPLAY, FIRST_VF, PF, SOUND, any_kernel
from laneway.compute.preparing import prepare
from laneway.compute.releasing import release
from laneway.compute.restoring import not_restored, restore
from laneway.compute.vf_counts import set_vf_count
from laneway.domain.device import Status
from laneway.domain.errors import ErrorCode


def boot(host: ChangingHost, folder: Path, *, spare: tuple[str, ...] = ()) -> None:
    """The same machine, started anew: a tree as the kernel makes it, without the cards that are gone."""
    kernel = any_kernel(folder)
    for address in spare:
        kernel.sysfs.remove(address)
    kernel.boot(f"boot of {folder.name}")
    host.start(kernel)


def test_what_was_prepared_is_prepared_again(host: ChangingHost, tmp_path: Path) -> None:
    host.claim("vm", CARD, DISPLAY)
    host.claim("other", PF, allocate=False)
    prepare(host.managed, "vm")
    boot(host, tmp_path / "two")
    assert not host.device(CARD).prepared
    changes = restore(host.managed)
    assert (changes.is_complete, list(by_address(changes))) == (True, [CARD, DISPLAY])
    assert host.drivers(CARD, DISPLAY, SOUND, PF) == ["vfio-pci", "vfio-pci", "vfio-pci", "igb"]
    assert host.device(CARD).prepared
    assert restore(host.managed).of == ()


def test_what_was_never_prepared_is_left_alone(host: ChangingHost, tmp_path: Path) -> None:
    host.claim("vm", CARD)
    boot(host, tmp_path / "two")
    assert restore(host.managed).of == ()
    assert host.kernel.writes == []


def test_what_was_given_back_before_the_boot_is_left_alone(host: ChangingHost, tmp_path: Path) -> None:
    host.claim("vm", CARD, DISPLAY)
    prepare(host.managed, "vm")
    host.free("vm")
    boot(host, tmp_path / "two")
    assert restore(host.managed).of == ()
    assert host.status(CARD) is host.status(DISPLAY) is Status.AVAILABLE
    assert host.journal().prepared == {}


def test_what_cannot_be_restored_is_told_and_the_others_are_restored(host: ChangingHost, tmp_path: Path) -> None:
    host.claim("vm", CARD, DISPLAY)
    prepare(host.managed, "vm")
    boot(host, tmp_path / "two", spare=(CARD,))
    changes = by_address(restore(host.managed))
    failure = changes[CARD].error
    assert failure is not None
    assert failure.code is ErrorCode.WRONG_DEVICE
    assert changes[DISPLAY].error is None
    assert (host.device(CARD).prepared, host.device(DISPLAY).prepared) == (False, True)
    assert list(by_address(restore(host.managed))) == [CARD], "it is tried again"


def test_vfs_are_made_before_the_devices_are_looked_at(host: ChangingHost, tmp_path: Path) -> None:
    set_vf_count(host.managed, at(PF), 2)
    host.claim("vm", FIRST_VF)
    prepare(host.managed, "vm")
    boot(host, tmp_path / "two")
    changes = restore(host.managed)
    assert [str(change.address) for change in changes.of] == [PF, FIRST_VF]
    assert changes.is_complete
    assert host.drivers(FIRST_VF) == ["vfio-pci"]


def test_a_pf_that_a_guest_had_gets_its_vfs_when_it_comes_back(host: ChangingHost, tmp_path: Path) -> None:
    set_vf_count(host.managed, at(PF), 2)
    host.claim("vm", PF)
    prepare(host.managed, "vm")
    boot(host, tmp_path / "two")
    assert restore(host.managed).is_complete
    assert host.drivers(PF) == ["vfio-pci"]
    assert len(host.device(PF).placeholders) == 2


def test_two_boots_without_a_restore_between_forget_nothing(host: ChangingHost, tmp_path: Path) -> None:
    host.claim("vm", CARD)
    prepare(host.managed, "vm")
    boot(host, tmp_path / "two")
    with host.managed.changing():
        pass
    boot(host, tmp_path / "three")
    assert list(by_address(restore(host.managed))) == [CARD]


def test_what_was_interrupted_by_the_boot_is_void(host: ChangingHost, tmp_path: Path) -> None:
    host.claim("vm", CARD)

    class PowerFailsError(BaseException):
        pass

    def power_fails(path: str, _done: bool) -> None:
        raise PowerFailsError

    host.kernel.disturb = power_fails
    with pytest.raises(PowerFailsError):
        prepare(host.managed, "vm")
    boot(host, tmp_path / "two")
    assert restore(host.managed).of == ()
    assert host.kernel.writes == []
    assert host.managed.journal.unfinished() is None
    assert (host.journal().taken, host.device(CARD).prepared) == ({}, False)


def test_a_boot_id_that_cannot_be_read_forgets_nothing(host: ChangingHost) -> None:
    before = host.kernel.tree()
    set_vf_count(host.managed, at(PF), 2)
    host.claim("vm", CARD)
    prepare(host.managed, "vm")
    boot_id = host.kernel.root / "proc/sys/kernel/random/boot_id"
    known = boot_id.read_text()
    boot_id.unlink()
    assert restore(host.managed).of == ()
    assert not_restored(host.journal(), host.look()) == ()
    boot_id.write_text(known)
    host.free("vm")
    assert release(host.managed).is_complete
    set_vf_count(host.managed, at(PF), 0, autoprobe=True)
    assert host.kernel.tree() == before


def test_where_no_boot_is_told_what_a_boot_took_away_is_seen(host: ChangingHost) -> None:
    (host.kernel.root / "proc/sys/kernel/random/boot_id").unlink()
    before = host.kernel.tree()
    host.claim("vm", CARD)
    prepare(host.managed, "vm")
    for path, value in (
        (f"sys/bus/pci/devices/{CARD}/driver_override", "\n"),
        ("sys/bus/pci/drivers/vfio-pci/unbind", CARD),
        ("sys/bus/pci/drivers_probe", CARD),
    ):
        host.kernel.write(path, value)
    assert host.drivers(CARD) == ["e1000e"]
    assert restore(host.managed).is_complete
    assert host.drivers(CARD) == ["vfio-pci"]
    host.free("vm")
    assert release(host.managed).is_complete
    assert host.kernel.tree() == before
