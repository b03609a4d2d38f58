"""Dirty devices are made fit for the next guest, by what their spec says; what fails is taken out of use."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from compute.changing_host import ChangingHost, by_address
from domain.hosts import at
from hosts.linux.changes.kernels import CARD, DISPLAY
from laneway.compute.cleaning import clean
from laneway.compute.preparing import prepare
from laneway.compute.upkeep import LONGEST_STEP_SECONDS, keep_up, longest_silence
from laneway.domain.cleaning import Cleaning, CleaningKind
from laneway.domain.device import Status
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.interfaces.host_changes import Clean, HostChangeError

SCRUB = {"address": "*", "cleaning": {"command": "scrub {address}", "timeout": "30s"}}
CLEANING = Cleaning(kind=CleaningKind.COMMAND, command=("scrub", "{address}"), seconds=30)
FAILS = HostChangeError("scrub ended with 1", undone=True)


@pytest.fixture
def dirty(changing_host: Callable[..., ChangingHost]) -> Callable[[object], ChangingHost]:
    """A host with a device that a guest had."""

    def make(spec: object) -> ChangingHost:
        host = changing_host(specs=[spec])
        host.claim("vm", CARD)
        host.free("vm")
        assert host.status(CARD) is Status.DIRTY
        return host

    return make


def test_a_dirty_device_is_cleaned_as_its_spec_says(dirty: Callable[[object], ChangingHost]) -> None:
    host = dirty(SCRUB)
    assert longest_silence(host.look()) == LONGEST_STEP_SECONDS + 30
    assert clean(host.managed).is_complete
    assert host.driver.cleaned == [Clean(address=at(CARD), cleaning=CLEANING)]
    assert host.status(CARD) is Status.AVAILABLE
    assert clean(host.managed).of == ()


def test_a_dry_run_cleans_nothing(dirty: Callable[[object], ChangingHost]) -> None:
    host = dirty(SCRUB)
    planned = clean(host.managed, dry_run=True)
    assert [step.summary for step in by_address(planned)[CARD].steps] == [f"scrub {CARD}"]
    assert (host.driver.cleaned, host.status(CARD)) == ([], Status.DIRTY)


def test_a_device_for_one_time_use_is_cleaned_only_when_it_is_named(dirty: Callable[[object], ChangingHost]) -> None:
    host = dirty({"address": "*", "one_time_use": "true"})
    assert clean(host.managed).of == keep_up(host.managed, host.look()).changes == ()
    assert clean(host.managed, [at(CARD)]).is_complete
    assert host.driver.cleaned == [Clean(address=at(CARD), cleaning=Cleaning(kind=CleaningKind.RESET))]
    assert host.status(CARD) is Status.AVAILABLE


def test_only_what_is_dirty_is_cleaned(dirty: Callable[[object], ChangingHost]) -> None:
    host = dirty(SCRUB)
    for address, code in ((DISPLAY, ErrorCode.INVALID_STATUS), ("0000:99:00.0", ErrorCode.UNKNOWN_DEVICE)):
        with pytest.raises(LanewayError) as caught:
            clean(host.managed, [at(address)])
        assert caught.value.code is code


def test_a_failed_cleaning_takes_the_device_out_of_use_until_it_works(dirty: Callable[[object], ChangingHost]) -> None:
    host = dirty(SCRUB)
    host.driver.fails = FAILS
    assert by_address(clean(host.managed))[CARD].error is FAILS
    (reason,) = host.look().blocked_by(at(CARD))
    assert reason.code == "cleaning_failed"
    assert "scrub ended with 1" in reason.message
    assert clean(host.managed).of == (), "it is not tried again by itself"
    host.driver.fails = None
    assert clean(host.managed, [at(CARD)]).is_complete
    assert (host.status(CARD), host.look().blocked_by(at(CARD))) == (Status.AVAILABLE, ())


def test_a_cordon_outlasts_a_cleaning_that_failed_and_then_worked(dirty: Callable[[object], ChangingHost]) -> None:
    host = dirty(SCRUB)
    host.cordon(CARD)
    host.driver.fails = FAILS
    clean(host.managed)
    assert [reason.code for reason in host.look().blocked_by(at(CARD))] == ["cordoned", "cleaning_failed"]
    assert clean(host.managed).of == (), "it is not tried again by itself"
    host.driver.fails = None
    assert clean(host.managed, [at(CARD)]).is_complete
    assert [reason.code for reason in host.look().blocked_by(at(CARD))] == ["cordoned"]


def test_a_cleaning_that_could_not_begin_is_tried_again(dirty: Callable[[object], ChangingHost]) -> None:
    host = dirty(SCRUB)
    host.driver.fails = LanewayError(ErrorCode.DEVICE_OPEN, "it is open")
    assert not clean(host.managed).is_complete
    assert host.look().blocked_by(at(CARD)) == ()
    host.driver.fails = None
    assert clean(host.managed).is_complete


def test_a_prepared_device_is_released_and_then_cleaned(changing_host: Callable[..., ChangingHost]) -> None:
    host = changing_host(specs=[SCRUB])
    host.claim("vm", CARD)
    prepare(host.managed, "vm")
    host.free("vm")
    upkeep = keep_up(host.managed, host.look())
    assert [change.address for change in upkeep.released + upkeep.cleaned] == [at(CARD), at(CARD)]
    assert (host.status(CARD), host.drivers(CARD)) == (Status.AVAILABLE, ["vfio-pci"])


def test_another_card_at_the_address_of_a_dirty_one_is_never_cleaned(
    dirty: Callable[[object], ChangingHost], monkeypatch: pytest.MonkeyPatch
) -> None:
    host = dirty(SCRUB)
    found = host.driver.discover()
    functions = tuple(replace(one, product_id="beef") if one.address == at(CARD) else one for one in found.functions)
    monkeypatch.setattr(host.driver, "discover", lambda: replace(found, functions=functions))
    assert clean(host.managed).of == keep_up(host.managed, host.look()).changes == ()
    for dry_run in (True, False):
        error = by_address(clean(host.managed, [at(CARD)], dry_run=dry_run))[CARD].error
        assert error is not None
        assert error.code is ErrorCode.WRONG_DEVICE
    assert host.driver.cleaned == []
