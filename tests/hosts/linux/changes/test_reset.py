"""Resetting a function."""

import errno
from pathlib import Path

import pytest

from hosts.host_tree import HostTreeBuilder
from hosts.linux.changes.played import Bench
from laneway.domain.address import PciAddress
from laneway.hosts.linux.changes.reset import reset_function

ADDRESS = PciAddress.parse("0000:3b:00.0")
TARGET = f"sys/bus/pci/devices/{ADDRESS}/reset"
ONES, HEADER = b"\xff" * 64, bytes.fromhex("8680ca10") + bytes(60)


@pytest.fixture
def host(host: HostTreeBuilder) -> HostTreeBuilder:
    place = host.function(str(ADDRESS))
    host.write(f"sys/devices/{place}/reset_method", "flr bus\n")
    config(host, HEADER)
    return host


def config(host: HostTreeBuilder, data: bytes) -> None:
    (host.root / f"sys/bus/pci/devices/{ADDRESS}/config").write_bytes(data)


def test_it_is_one_write(host: HostTreeBuilder) -> None:
    bench = Bench(host.root)
    reset_function(ADDRESS, bench.bench)
    assert bench.writer.writes == [(TARGET, "1")]
    assert bench.told == []


REFUSALS = {
    "no method works": (errno.ENOTTY, r"0000:3b:00.0 cannot be reset \(flr, bus\): no method of the kernel's works"),
    "there is no method": (errno.ENOENT, "the kernel knows no method for it"),
    "another reset is under way": (errno.EAGAIN, "just now"),
    "anything else": (errno.EPERM, "Operation not permitted"),
}


@pytest.mark.parametrize(("number", "words"), REFUSALS.values(), ids=REFUSALS)
def test_it_fails_where(host: HostTreeBuilder, number: int, words: str) -> None:
    bench = Bench(host.root)
    bench.writer.refused[TARGET] = OSError(number, "Operation not permitted", TARGET)
    with pytest.raises(OSError, match=words) as failed:
        reset_function(ADDRESS, bench.bench)
    assert failed.value.errno == number


def test_a_function_may_take_a_moment_to_answer(host: HostTreeBuilder) -> None:
    config(host, ONES)
    bench = Bench(host.root)
    bench.at_pause = [lambda: None, lambda: config(host, HEADER)]
    reset_function(ADDRESS, bench.bench)
    assert bench.told == ["waiting up to 5 s for 0000:3b:00.0 to answer after its reset"]


def test_a_function_that_does_not_come_back_has_failed(host: HostTreeBuilder) -> None:
    config(host, ONES)
    bench = Bench(host.root)
    with pytest.raises(OSError, match="does not answer after its reset"):
        reset_function(ADDRESS, bench.bench)
    assert bench.seconds == pytest.approx(5.0, abs=0.1)


def test_where_its_configuration_space_cannot_be_read_the_kernels_word_counts(tmp_path: Path) -> None:
    reset_function(ADDRESS, Bench(tmp_path).bench)
