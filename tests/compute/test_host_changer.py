"""One change at a time: what did not end well is brought to an end before another is begun."""

from collections.abc import Callable

from compute.changing_host import ChangingHost, by_address
from hosts.linux.changes.kernels import CARD, DISPLAY
from laneway.compute.cleaning import clean
from laneway.compute.preparing import prepare
from laneway.compute.releasing import release
from laneway.domain.device import Status
from laneway.domain.errors import ErrorCode

SCRUB = {"address": "*", "cleaning": {"command": "scrub {address}"}}


def test_a_cleaning_that_fails_has_ended_and_the_next_is_tried(changing_host: Callable[..., ChangingHost]) -> None:
    host = changing_host(specs=[SCRUB])
    host.driver = host.kernel.host_driver()  # type: ignore[assignment]
    host.managed = host.process()
    host.claim("vm", CARD, DISPLAY)
    host.free("vm")
    errors = [change.error for change in clean(host.managed).of]
    assert [error and error.code for error in errors] == [ErrorCode.CLEANING_FAILED, ErrorCode.CLEANING_FAILED]
    assert host.managed.journal.unfinished() is None


def test_nothing_is_begun_while_a_change_can_be_neither_done_nor_undone(host: ChangingHost) -> None:
    before = host.kernel.tree()
    host.claim("vm", CARD, DISPLAY)
    prepare(host.managed, "vm")
    host.free("vm")
    host.kernel.unwilling = {"e1000e", "vfio-pci"}
    changes = by_address(release(host.managed))
    assert [error and error.code for error in (changes[CARD].error, changes[DISPLAY].error)] == [
        ErrorCode.HOST_CHANGE_FAILED,
        ErrorCode.HOST_CHANGE_FAILED,
    ]
    assert f"an interrupted change of {CARD} has to be ended before any other" in str(changes[DISPLAY].error)
    assert host.drivers(DISPLAY) == ["vfio-pci"]
    host.kernel.unwilling = set()
    assert release(host.managed).is_complete
    assert (host.status(CARD), host.status(DISPLAY)) == (Status.AVAILABLE, Status.AVAILABLE)
    assert host.kernel.tree() == before
