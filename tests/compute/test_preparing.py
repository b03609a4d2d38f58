"""Devices are taken from the host for whom they are allocated to: all or none, and what was taken is remembered."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from compute.changing_host import ChangingHost, by_address
from domain.hosts import at
from hosts.linux.changes.kernels import CARD, DISPLAY, FIRST_VF, PF, SECOND_VF, SOUND, any_kernel
from laneway.compute.preparing import prepare
from laneway.domain.device import Status
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.interfaces.host_changes import VfSettings
from laneway.interfaces.journal import Hold


def refusal(host: ChangingHost, consumer: str, *addresses: str) -> LanewayError:
    with pytest.raises(LanewayError) as caught:
        prepare(host.managed, consumer, [at(address) for address in addresses])
    return caught.value


def test_an_allocated_device_is_taken_and_the_control_plane_knows(host: ChangingHost) -> None:
    host.claim("vm", CARD)
    changes = prepare(host.managed, "vm")
    assert changes.is_complete
    assert [step.target.rpartition("/")[2] for step in by_address(changes)[CARD].steps] == [
        "driver_override",
        "driver",
        "driver",
    ]
    assert host.drivers(CARD) == ["vfio-pci"]
    assert host.device(CARD).prepared
    assert host.journal().taken == {at(CARD): Hold(holders=frozenset({at(CARD)}), driver="vfio-pci")}
    assert host.journal().steps_of({at(CARD)}) == by_address(changes)[CARD].steps


def test_to_prepare_again_does_nothing(host: ChangingHost) -> None:
    host.claim("vm", CARD)
    prepare(host.managed, "vm")
    before = host.journal()
    host.kernel.writes.clear()
    assert by_address(prepare(host.process(), "vm"))[CARD].steps == ()
    assert (host.kernel.writes, host.journal()) == ([], before)


def test_a_dry_run_tells_every_step_and_does_none(host: ChangingHost) -> None:
    host.claim("vm", CARD)
    planned = prepare(host.managed, "vm", dry_run=True)
    assert (host.kernel.writes, host.journal().taken, host.device(CARD).prepared) == ([], {}, False)
    assert prepare(host.managed, "vm").of == planned.of


def test_what_is_only_claimed_is_left_alone_beside_what_is_allocated(host: ChangingHost) -> None:
    host.claim("vm", CARD)
    host.claim("vm", DISPLAY, allocate=False)
    assert list(by_address(prepare(host.managed, "vm"))) == [CARD]
    assert refusal(host, "vm", DISPLAY).code is ErrorCode.INVALID_STATUS


def test_nothing_is_taken_without_an_allocated_claim(host: ChangingHost) -> None:
    host.claim("vm", CARD, allocate=False)
    error = refusal(host, "vm")
    assert error.code is ErrorCode.INVALID_STATUS
    assert "laneway allocate vm" in error.message
    assert refusal(host, "nobody").code is ErrorCode.NO_CLAIM
    assert refusal(host, "vm", DISPLAY).code is ErrorCode.NO_CLAIM
    assert refusal(host, "other", CARD).code is ErrorCode.NOT_OWNER
    assert host.kernel.writes == []


def test_one_device_of_several_may_be_named(host: ChangingHost) -> None:
    host.claim("vm", CARD, DISPLAY)
    prepare(host.managed, "vm", [at(CARD)])
    assert host.drivers(CARD, DISPLAY) == ["vfio-pci", "bochs-drm"]


def test_admitted_members_of_the_group_are_taken_along_for_it(host: ChangingHost) -> None:
    host.claim("vm", DISPLAY)
    prepare(host.managed, "vm")
    assert host.drivers(DISPLAY, SOUND) == ["vfio-pci", "vfio-pci"]
    assert host.journal().taken[at(SOUND)].holders == {at(DISPLAY)}
    assert not host.device(SOUND).prepared


def test_two_devices_of_one_group_hold_both(host: ChangingHost) -> None:
    host.claim("vm", DISPLAY, SOUND)
    prepare(host.managed, "vm")
    both = {at(DISPLAY), at(SOUND)}
    assert [hold.holders for hold in host.journal().taken.values()] == [both, both]
    assert host.device(SOUND).prepared


def test_a_pf_keeps_the_place_of_its_vfs(tmp_path: Path, changing_host: Callable[..., ChangingHost]) -> None:
    kernel = any_kernel(tmp_path / "root")
    kernel.write(f"sys/bus/pci/devices/{PF}/sriov_numvfs", "2")
    host = changing_host(kernel=kernel)
    host.claim("vm", PF)
    prepare(host.managed, "vm")
    assert host.drivers(PF) == ["vfio-pci"]
    assert [vf.address for vf in host.device(PF).placeholders] == [at(FIRST_VF), at(SECOND_VF)]
    assert host.status(FIRST_VF) is Status.UNAVAILABLE


def test_where_one_cannot_be_taken_all_that_were_are_given_back(host: ChangingHost) -> None:
    host.claim("vm", CARD, DISPLAY)
    before = host.kernel.tree()
    host.kernel.unwilling.add("vfio-pci")
    host.kernel.disturb = lambda path, _done: (
        host.kernel.unwilling.clear() if CARD in path else host.kernel.unwilling.add("vfio-pci")
    )
    error = refusal(host, "vm")
    assert error.code is ErrorCode.HOST_CHANGE_FAILED
    assert host.kernel.tree() == before
    assert (host.journal().taken, host.journal().prepared) == ({}, {})
    assert not host.device(CARD).prepared


def test_settings_are_for_vfs_only(host: ChangingHost) -> None:
    host.claim("vm", CARD)
    with pytest.raises(LanewayError, match="is no VF that is prepared") as caught:
        prepare(host.managed, "vm", settings={at(CARD): VfSettings(vlan=7)})
    assert caught.value.code is ErrorCode.INVALID_REQUEST


def test_a_device_that_the_operator_binds_is_prepared_when_it_is_bound(
    changing_host: Callable[..., ChangingHost],
) -> None:
    host = changing_host(specs=({"address": "*", "binding": "operator"},))
    host.claim("vm", CARD)
    assert refusal(host, "vm").code is ErrorCode.NOT_BOUND
    host.kernel.write(f"sys/bus/pci/devices/{CARD}/driver_override", "vfio-pci")
    host.kernel.write("sys/bus/pci/drivers/e1000e/unbind", CARD)
    host.kernel.write("sys/bus/pci/drivers_probe", CARD)
    assert by_address(prepare(host.managed, "vm"))[CARD].steps == ()
    assert host.device(CARD).prepared


def test_a_device_that_libvirt_binds_is_checked_and_never_called_prepared(
    changing_host: Callable[..., ChangingHost],
) -> None:
    host = changing_host(specs=({"address": "*", "binding": "libvirt"},))
    host.claim("vm", CARD)
    change = by_address(prepare(host.managed, "vm"))[CARD]
    assert change.note is not None
    assert "libvirt takes it" in change.note
    assert host.drivers(CARD) == ["e1000e"]
    assert (host.device(CARD).prepared, host.journal().taken) == (False, {})


def test_an_interrupted_batch_is_undone_by_whoever_comes_next(host: ChangingHost) -> None:
    host.claim("vm", CARD, DISPLAY)
    before = host.kernel.tree()

    class Killed(BaseException):
        pass

    def kill(path: str, _done: bool) -> None:
        if DISPLAY in path:
            raise Killed

    host.kernel.disturb = kill
    with pytest.raises(Killed):
        prepare(host.managed, "vm")
    host.kernel.disturb = lambda _path, _done: None
    with host.process().changing():
        pass
    assert host.kernel.tree() == before
    assert host.journal().taken == {}


def test_another_card_at_the_address_of_an_owned_one_is_never_prepared(
    host: ChangingHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.claim("vm", CARD)
    found = host.driver.discover()
    functions = tuple(replace(one, product_id="beef") if one.address == at(CARD) else one for one in found.functions)
    monkeypatch.setattr(host.driver, "discover", lambda: replace(found, functions=functions))
    with pytest.raises(LanewayError, match="another device stands there now") as refusal:
        prepare(host.managed, "vm")
    assert refusal.value.code is ErrorCode.WRONG_DEVICE
    assert host.kernel.writes == []


def test_a_vm_that_runs_with_its_devices_may_be_prepared_again(host: ChangingHost) -> None:
    host.claim("vm", CARD, DISPLAY, SOUND)
    prepare(host.managed, "vm")
    for pid, address in enumerate((CARD, DISPLAY), 4711):
        host.kernel.open(address, pid)
    host.kernel.writes.clear()
    assert prepare(host.managed, "vm").is_complete
    assert host.kernel.writes == []


def test_a_device_that_is_prepared_already_survives_that_another_cannot_be(host: ChangingHost) -> None:
    host.claim("vm", CARD, DISPLAY)
    prepare(host.managed, "vm", [at(CARD)])
    host.kernel.unwilling.add("vfio-pci")
    assert refusal(host, "vm").code is ErrorCode.HOST_CHANGE_FAILED
    assert (host.drivers(CARD, DISPLAY), host.device(CARD).prepared) == (["vfio-pci", "bochs-drm"], True)
