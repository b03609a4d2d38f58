"""What a service does on its host by itself, round by round."""

from collections.abc import Callable

from compute.changing_host import ChangingHost
from domain.hosts import at
from hosts.linux.changes.kernels import CARD, DISPLAY, PF
from laneway.compute.preparing import prepare
from laneway.compute.upkeep import Upkeep, begin, keep_up
from laneway.compute.vf_counts import set_vf_count
from laneway.domain.device import Status
from laneway.domain.errors import ErrorCode
from laneway.domain.tracking.health import Health
from laneway.interfaces.host_changes import HostChangeError

SCRUB = {"address": "*", "cleaning": {"command": "scrub {address}"}}


def test_with_nothing_to_do_nobody_is_kept_from_the_host(host: ChangingHost) -> None:
    keep_up(host.managed, host.look())
    with host.managed.changing() as view:
        assert keep_up(host.process(), view) == Upkeep()


def test_another_that_changes_the_host_is_not_waited_for(host: ChangingHost) -> None:
    host.claim("vm", CARD)
    prepare(host.managed, "vm")
    host.free("vm")
    with host.managed.changing() as view:
        error = keep_up(host.process(), view).error
    assert error is not None
    assert error.code is ErrorCode.HOST_BUSY


def test_what_was_freed_goes_back_and_what_fails_stops_nothing(host: ChangingHost) -> None:
    host.claim("vm", CARD, DISPLAY)
    prepare(host.managed, "vm")
    host.free("vm")
    host.kernel.open(CARD)
    upkeep = keep_up(host.managed, host.look())
    assert [error.code for error in upkeep.errors] == [ErrorCode.DEVICE_OPEN]
    assert upkeep.has_changed_something
    assert (host.status(CARD), host.status(DISPLAY)) == (Status.RELEASING, Status.AVAILABLE)


def test_one_cleaning_is_done_in_a_round(changing_host: Callable[..., ChangingHost]) -> None:
    host = changing_host(specs=[SCRUB])
    host.claim("vm", CARD, DISPLAY)
    host.free("vm")
    first = keep_up(host.managed, host.look())
    assert (len(first.cleaned), first.more) == (1, True)
    second = keep_up(host.managed, host.look())
    assert (len(second.cleaned), second.more) == (1, False)
    assert host.status(CARD) is host.status(DISPLAY) is Status.AVAILABLE


def test_a_cordon_keeps_a_device_from_being_claimed_and_not_from_coming_back(
    changing_host: Callable[..., ChangingHost],
) -> None:
    host = changing_host(specs=[SCRUB])
    host.claim("vm", CARD)
    prepare(host.managed, "vm")
    host.cordon(CARD)
    host.free("vm")
    while (upkeep := keep_up(host.managed, host.look())).has_changed_something:
        assert upkeep.errors == ()
    assert host.status(CARD) is Status.AVAILABLE
    assert [reason.code for reason in host.look().blocked_by(at(CARD))] == ["cordoned"], "who set it lifts it"


def test_a_failed_cleaning_is_not_tried_in_every_round(changing_host: Callable[..., ChangingHost]) -> None:
    host = changing_host(specs=[SCRUB])
    host.claim("vm", CARD)
    host.free("vm")
    host.driver.fails = HostChangeError("scrub ended with 1", undone=True)
    assert len(keep_up(host.managed, host.look()).errors) == 1
    assert keep_up(host.managed, host.look()) == Upkeep()


def test_more_fatal_errors_than_before_take_a_device_out_of_use(host: ChangingHost) -> None:
    host.driver.ill[at(CARD)] = Health(fatal_errors=2)
    assert keep_up(host.managed, host.look()).changes == (), "counting begins with the first look"
    host.driver.ill[at(CARD)] = Health(fatal_errors=3)
    upkeep = keep_up(host.managed, host.look())
    assert [change.address for change in upkeep.taken_out_of_use] == [at(CARD)]
    assert [reason.code for reason in host.look().blocked_by(at(CARD))] == ["fatal_errors"]
    assert keep_up(host.managed, host.look()).changes == ()


def test_a_device_that_does_not_answer_is_taken_out_of_use_once(host: ChangingHost) -> None:
    host.driver.ill[at(CARD)] = Health(reads_all_ones=True)
    assert len(keep_up(host.managed, host.look()).taken_out_of_use) == 1
    assert keep_up(host.managed, host.look()).changes == ()
    assert host.status(DISPLAY) is Status.AVAILABLE
    assert host.look().blocked_by(at(DISPLAY)) == ()


def test_a_service_begins_by_making_vfs_again_after_a_boot(host: ChangingHost) -> None:
    set_vf_count(host.managed, at(PF), 2)
    host.kernel.write(f"sys/bus/pci/devices/{PF}/sriov_numvfs", "0")
    host.kernel.boot("two")
    assert [change.address for change in begin(host.process().changer).vfs_restored] == [at(PF)]
    assert host.kernel.text(PF, "sriov_numvfs") == "2"
    assert begin(host.process().changer) == Upkeep()


def test_vfs_that_could_not_be_made_at_the_start_are_made_in_a_round(host: ChangingHost) -> None:
    set_vf_count(host.managed, at(PF), 2)
    host.kernel.write(f"sys/bus/pci/devices/{PF}/sriov_numvfs", "0")
    host.kernel.boot("two")
    with host.managed.changer.changing():
        failed = begin(host.process().changer)
    assert failed.error is not None
    assert failed.error.code is ErrorCode.HOST_BUSY
    assert [change.error for change in keep_up(host.managed, host.look()).vfs_restored] == [None]
    assert host.kernel.text(PF, "sriov_numvfs") == "2"
