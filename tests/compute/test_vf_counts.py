"""How many VFs a PF has: who may change it, and what of it survives a boot."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compute.changing_host import ChangingHost
from domain.hosts import at
from hosts.linux.changes.kernels import CARD, FIRST_VF, PF
from hosts.linux.fake_kernel import FakeKernel
from laneway.compute.host_changer import HostChanger
from laneway.compute.preparing import prepare
from laneway.compute.upkeep import keep_up
from laneway.compute.vf_counts import pfs_of, restore_vf_counts, set_vf_count
from laneway.compute.withholding import withheld
from laneway.domain.address import PciAddress
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.fleet.control_plane import ControlPlane

PF_ADDRESS = at(PF)
NO_VFS = {"address": "0000:22:00.0"}


def count(host: ChangingHost) -> str:
    return host.kernel.text(PF, "sriov_numvfs")


def refusal(host: ChangingHost, address: PciAddress = PF_ADDRESS, number: int = 4) -> LanewayError:
    with pytest.raises(LanewayError) as caught:
        set_vf_count(host.managed, address, number)
    return caught.value


def boot(host: ChangingHost, boot_id: str = "two") -> None:
    """A boot takes everything back."""
    host.kernel.write(f"sys/bus/pci/devices/{PF}/sriov_numvfs", "0")
    host.kernel.boot(boot_id)


def restored(host: ChangingHost) -> list[tuple[str, object]]:
    changer = host.process().changer
    with changer.changing():
        return [(str(change.address), change.error or change.note) for change in restore_vf_counts(changer)]


def test_a_pf_gets_vfs_and_loses_them(host: ChangingHost) -> None:
    before = host.kernel.tree()
    set_vf_count(host.managed, PF_ADDRESS, 2)
    (shown,) = pfs_of(host.look(), host.journal())
    assert (shown.pf.address, len(shown.vfs)) == (PF_ADDRESS, 2)
    assert shown.kept is not None
    assert shown.kept.count == 2
    set_vf_count(host.managed, PF_ADDRESS, 0, autoprobe=True)
    assert host.kernel.tree() == before
    assert host.journal().vf_counts == {}


@pytest.mark.parametrize(
    ("spec", "autoprobe", "driver"),
    [
        pytest.param({"address": "*"}, None, None, id="not where a spec admits them"),
        pytest.param({"address": "*"}, True, "igbvf", id="where it is said"),
        pytest.param(NO_VFS, None, "igbvf", id="where no spec admits them"),
        pytest.param(NO_VFS, False, None, id="not where it is said"),
    ],
)
def test_the_driver_of_the_host_takes_vfs(
    changing_host: Callable[..., ChangingHost], spec: object, autoprobe: bool | None, driver: str | None
) -> None:
    host = changing_host(specs=[spec])
    set_vf_count(host.managed, PF_ADDRESS, 1, autoprobe=autoprobe)
    assert host.drivers(FIRST_VF) == [driver]


def test_vfs_that_are_there_say_whether_they_are_admitted(changing_host: Callable[..., ChangingHost]) -> None:
    host = changing_host(specs=[NO_VFS])
    for _ in range(2):
        set_vf_count(host.managed, PF_ADDRESS, 1)
        assert host.drivers(FIRST_VF) == ["igbvf"]


def test_a_dry_run_changes_nothing(host: ChangingHost) -> None:
    steps = set_vf_count(host.managed, PF_ADDRESS, 2, dry_run=True).steps
    assert [step.target.rpartition("/")[2] for step in steps] == ["sriov_drivers_autoprobe", "sriov_numvfs"]
    assert (host.kernel.writes, host.journal().vf_counts) == ([], {})


def test_what_is_claimed_is_never_taken_away(host: ChangingHost) -> None:
    set_vf_count(host.managed, PF_ADDRESS, 2)
    host.claim("vm", FIRST_VF, allocate=False)
    error = refusal(host)
    assert error.code is ErrorCode.VFS_IN_THE_WAY
    assert f"its VF {FIRST_VF} is held by vm" in error.message
    assert set_vf_count(host.managed, PF_ADDRESS, 2).steps == (), "as many as there are harms nobody"


def test_nobody_claims_a_vf_that_is_about_to_go(host: ChangingHost, monkeypatch: pytest.MonkeyPatch) -> None:
    set_vf_count(host.managed, PF_ADDRESS, 2)
    refused = []

    def claim_first(*arguments: Any) -> Any:
        with pytest.raises(LanewayError) as caught:
            host.claim("vm", FIRST_VF)
        refused.append(caught.value)
        return apply(*arguments)

    apply = HostChanger.apply
    monkeypatch.setattr(HostChanger, "apply", claim_first)
    set_vf_count(host.managed, PF_ADDRESS, 1)
    assert [error.code for error in refused] == [ErrorCode.DOES_NOT_FIT]
    assert count(host) == "1"
    monkeypatch.undo()
    host.claim("vm", FIRST_VF)


def test_a_claim_made_in_the_last_moment_keeps_its_vf(host: ChangingHost, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the VFs are withheld from others."""
    set_vf_count(host.managed, PF_ADDRESS, 2)
    block = ControlPlane.block

    def claim_first(*arguments: Any) -> Any:
        monkeypatch.undo()
        host.claim("vm", FIRST_VF, allocate=False)
        return block(*arguments)

    monkeypatch.setattr(ControlPlane, "block", claim_first)
    assert refusal(host).code is ErrorCode.VFS_IN_THE_WAY
    assert count(host) == "2"
    assert host.look().state.blocks == {}


def test_what_was_withheld_by_a_process_that_ended_is_offered_again(host: ChangingHost) -> None:
    host.look()
    with suppress(KeyboardInterrupt), withheld(host.managed.plane, host.managed.name, PF_ADDRESS, [PF_ADDRESS]):
        assert [reason.code for reason in host.look().blocked_by(PF_ADDRESS)] == ["changing_vfs"]
        with host.managed.changing() as view:
            assert view.blocked_by(PF_ADDRESS) == ()
            assert view.state.blocks == {}
        raise KeyboardInterrupt
    assert host.look().state.blocks == {}


def test_a_vf_on_its_way_back_is_in_the_way_too(host: ChangingHost) -> None:
    set_vf_count(host.managed, PF_ADDRESS, 2)
    host.claim("vm", FIRST_VF)
    prepare(host.managed, "vm")
    host.free("vm")
    assert "laneway release" in refusal(host).message


def test_vfs_that_go_are_not_taken_any_more(changing_host: Callable[..., ChangingHost]) -> None:
    """A VF stays with the driver for guests after it was cleaned; the next at its address is another."""
    host = changing_host(specs=[{"address": "*", "cleaning": "reset"}])
    set_vf_count(host.managed, PF_ADDRESS, 2)
    host.claim("vm", FIRST_VF)
    prepare(host.managed, "vm")
    host.free("vm")
    while keep_up(host.managed, host.look()).has_changed_something:
        pass
    assert (host.drivers(FIRST_VF), list(host.journal().taken)) == (["vfio-pci"], [at(FIRST_VF)])
    set_vf_count(host.managed, PF_ADDRESS, 2)
    assert list(host.journal().taken) == [at(FIRST_VF)], "they stay as they are"
    set_vf_count(host.managed, PF_ADDRESS, 3)
    assert host.drivers(FIRST_VF) == [None]
    journal = host.journal()
    assert (journal.taken, journal.steps, journal.kept) == ({}, (), frozenset())


def test_a_pf_that_is_held_keeps_its_number(host: ChangingHost) -> None:
    host.claim("vm", PF, allocate=False)
    assert "it is held by vm" in refusal(host).message


def test_only_a_pf_has_vfs(host: ChangingHost) -> None:
    assert refusal(host, at(CARD)).code is ErrorCode.UNKNOWN_DEVICE
    assert refusal(host, at("0000:99:00.0")).code is ErrorCode.UNKNOWN_DEVICE
    with pytest.raises(LanewayError, match="is no PF"):
        pfs_of(host.look(), host.journal(), at(CARD))


def test_a_number_that_the_card_cannot_have_is_refused_and_not_remembered(host: ChangingHost) -> None:
    refusal(host, number=100)
    assert host.journal().vf_counts == {}


def test_after_a_boot_the_vfs_are_made_again_once(host: ChangingHost) -> None:
    set_vf_count(host.managed, PF_ADDRESS, 2, autoprobe=False)
    assert restored(host) == []
    boot(host)
    assert restored(host) == [(PF, None)]
    assert (count(host), host.drivers(FIRST_VF)) == ("2", [None])
    assert restored(host) == []


def test_vfs_that_others_have_made_by_then_are_let_be(host: ChangingHost) -> None:
    set_vf_count(host.managed, PF_ADDRESS, 2)
    boot(host)
    host.kernel.write(f"sys/bus/pci/devices/{PF}/sriov_numvfs", "1")
    assert restored(host) == [(PF, "it has 1 VFs already")]
    assert count(host) == "1"


def test_a_card_that_is_gone_is_told_each_time(host: ChangingHost) -> None:
    set_vf_count(host.managed, PF_ADDRESS, 2)
    boot(host)
    host.kernel.sysfs.remove(PF)
    for _ in range(2):
        ((address, error),) = restored(host)
        assert address == PF
        assert isinstance(error, LanewayError)
        assert error.code is ErrorCode.UNKNOWN_DEVICE


def test_a_card_that_is_gone_can_be_forgotten(host: ChangingHost) -> None:
    set_vf_count(host.managed, PF_ADDRESS, 2)
    boot(host)
    host.kernel.sysfs.remove(PF)
    assert set_vf_count(host.managed, PF_ADDRESS, 0).note is not None
    assert restored(host) == []
    assert refusal(host, number=0).code is ErrorCode.UNKNOWN_DEVICE


@pytest.mark.parametrize("another_has_vfs", [False, True], ids=["a card without VFs", "a PF with VFs of its own"])
def test_a_card_in_whose_place_another_stands_is_forgotten_without_touching_that(
    host: ChangingHost, tmp_path: Path, *, another_has_vfs: bool
) -> None:
    set_vf_count(host.managed, PF_ADDRESS, 2)
    kernel = FakeKernel(tmp_path / "root")
    if another_has_vfs:
        card = kernel.sysfs.function(PF, "8086", "1521", driver="igb", iommu_group=3, total_vfs=7, vf_device="10ca")
        card.attribute("sriov_offset", "128").attribute("sriov_stride", "2")
        kernel.write(f"sys/bus/pci/devices/{PF}/sriov_numvfs", "3")
    else:
        kernel.sysfs.function(PF, "8086", "10d3", driver="e1000e", iommu_group=3)
    kernel.boot("two")
    host.start(kernel)
    assert isinstance(restored(host)[0][1], LanewayError)
    before = kernel.tree()
    for dry_run in (True, False):
        change = set_vf_count(host.managed, PF_ADDRESS, 0, dry_run=dry_run)
        assert (change.steps, change.note is None) == ((), False)
        assert (host.journal().vf_counts == {}) is not dry_run
    assert kernel.tree() == before


def test_a_card_that_was_put_elsewhere_is_known_again(host: ChangingHost) -> None:
    set_vf_count(host.managed, PF_ADDRESS, 2)
    elsewhere = at("0000:91:00.0")
    (kept,) = host.journal().vf_counts.values()
    recorded = replace(kept.recorded, address=elsewhere)
    host.managed.journal.keep(replace(host.journal(), vf_counts={elsewhere: replace(kept, recorded=recorded)}))
    boot(host)
    assert restored(host) == [(PF, None)]
    assert list(host.journal().vf_counts) == [PF_ADDRESS]


def test_a_change_of_the_boot_by_something_else_forgets_no_vfs(host: ChangingHost) -> None:
    set_vf_count(host.managed, PF_ADDRESS, 2)
    boot(host)
    with host.process().changing():
        pass
    assert restored(host) == [(PF, None)]
