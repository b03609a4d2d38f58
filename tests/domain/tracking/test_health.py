"""Which devices are taken out of use by themselves."""

import pytest

from laneway.domain.address import PciAddress
from laneway.domain.tracking.health import Health, unhealthy

ADDRESS = PciAddress.parse("0000:3b:00.0")

WELL = {
    "it answers": (None, Health(reads_all_ones=False)),
    "nothing is known": (None, Health()),
    "its errors are as many as before": (Health(fatal_errors=2), Health(fatal_errors=2)),
    "its errors are counted anew after a boot": (Health(fatal_errors=2), Health(fatal_errors=1)),
    "its errors are seen for the first time": (None, Health(fatal_errors=3)),
    "its errors were not known before": (Health(), Health(fatal_errors=3)),
    "its errors are not known any more": (Health(fatal_errors=3), Health()),
}


@pytest.mark.parametrize(("earlier", "now"), WELL.values(), ids=WELL)
def test_a_device_is_left_in_use_where(earlier: Health | None, now: Health) -> None:
    assert unhealthy({} if earlier is None else {ADDRESS: earlier}, {ADDRESS: now}) == {}


def test_a_device_that_reads_all_ones_does_not_answer() -> None:
    now = {ADDRESS: Health(reads_all_ones=True, fatal_errors=1)}
    reason = unhealthy({ADDRESS: Health(fatal_errors=0)}, now)[ADDRESS]
    assert (reason.code, reason.detail) == ("not_responding", None)


@pytest.mark.parametrize(("before", "words"), [(0, "2 fatal errors"), (1, "1 fatal error ")])
def test_a_device_whose_fatal_errors_rose_is_named_with_how_many(before: int, words: str) -> None:
    now = {ADDRESS: Health(reads_all_ones=False, fatal_errors=2)}
    reason = unhealthy({ADDRESS: Health(fatal_errors=before)}, now)[ADDRESS]
    assert (reason.code, reason.detail) == ("fatal_errors", "2")
    assert words in reason.message


def test_each_device_is_judged_by_its_own_count() -> None:
    other = PciAddress.parse("0000:5e:00.0")
    earlier = {ADDRESS: Health(fatal_errors=1), other: Health(fatal_errors=0)}
    now = {ADDRESS: Health(fatal_errors=1), other: Health(fatal_errors=1)}
    assert unhealthy(earlier, now).keys() == {other}
