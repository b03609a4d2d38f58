"""What the kernel is asked by ioctl, and how its answers are read; the kernel is played."""

import ctypes
import fcntl
import struct
from collections.abc import Iterator

import pytest

from laneway.hosts.linux.ethtool import Ethtool

KERNEL_FEATURES = (
    *("tx-scatter-gather", "tx-checksum-ipv4", "highdma", "rx-checksum"),
    *(f"other-{number}" for number in range(30)),
    *("rx-hashing", "tx-udp_tnl-segmentation"),
)
MAC = bytes.fromhex("b8cef6000001")


class Kernel:
    """Answers the requests of include/uapi/linux/ethtool.h for interfaces called eth*."""

    def __init__(self) -> None:
        self.active: set[str] = set()
        self.mac = MAC
        self.asked: list[int] = []

    def ioctl(self, _socket: object, request: int, argument: bytes) -> bytes:
        assert request == 0x8946
        name, address = struct.unpack("16sP", argument)
        if not name.startswith(b"eth"):
            raise OSError(19, "No such device")
        command = ctypes.c_uint32.from_address(address).value
        self.asked.append(command)
        answers = {0x37: self._counts, 0x1B: self._strings, 0x3A: self._features, 0x20: self._address}
        answer = answers[command]()
        ctypes.memmove(address, answer, len(answer))
        return argument

    def _counts(self) -> bytes:
        return struct.pack("=IIQI", 0x37, 0, 1 << 4, len(KERNEL_FEATURES))

    def _strings(self) -> bytes:
        strings = b"".join(name.encode().ljust(32, b"\0") for name in KERNEL_FEATURES)
        return struct.pack("=III", 0x1B, 4, len(KERNEL_FEATURES)) + strings

    def _features(self) -> bytes:
        bits = sum(1 << bit for bit, name in enumerate(KERNEL_FEATURES) if name in self.active)
        words = [bits & 0xFFFFFFFF, bits >> 32]
        return struct.pack("=II", 0x3A, 2) + b"".join(struct.pack("=IIII", 0xFFFFFFFF, 0, word, 0) for word in words)

    def _address(self) -> bytes:
        return struct.pack("=II", 0x20, len(self.mac)) + self.mac


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    played = Kernel()
    monkeypatch.setattr(fcntl, "ioctl", played.ioctl)
    return played


@pytest.fixture
def ethtool(kernel: Kernel) -> Iterator[Ethtool]:
    with Ethtool() as asking:
        yield asking


@pytest.mark.parametrize(
    ("active", "expected"),
    [
        pytest.param(set(), frozenset(), id="none"),
        pytest.param({"rx-checksum", "highdma"}, frozenset({"rx"}), id="one that libvirt has no name for"),
        pytest.param({"tx-checksum-ipv4", "tx-scatter-gather"}, frozenset({"tx", "sg"}), id="one of several"),
        pytest.param(
            {"rx-hashing", "tx-udp_tnl-segmentation"}, frozenset({"rxhash", "txudptnl"}), id="in the second word"
        ),
    ],
)
def test_features(kernel: Kernel, ethtool: Ethtool, active: set[str], expected: frozenset[str]) -> None:
    kernel.active = active
    assert ethtool.features("eth0") == expected


def test_the_names_of_features_are_asked_for_once(kernel: Kernel, ethtool: Ethtool) -> None:
    ethtool.features("eth0")
    ethtool.features("eth1")
    assert kernel.asked == [0x37, 0x1B, 0x3A, 0x3A]


@pytest.mark.parametrize(
    ("mac", "expected"),
    [
        pytest.param(MAC, "b8:ce:f6:00:00:01", id="an address"),
        pytest.param(bytes(6), None, id="zeros"),
        pytest.param(bytes(range(20)), None, id="an address of InfiniBand"),
        pytest.param(b"", None, id="none"),
    ],
)
def test_permanent_address(kernel: Kernel, ethtool: Ethtool, mac: bytes, expected: str | None) -> None:
    kernel.mac = mac
    assert ethtool.permanent_mac("eth0") == expected


def test_an_interface_that_is_not_there(kernel: Kernel, ethtool: Ethtool) -> None:
    assert ethtool.features("wlan0") is None
    assert ethtool.permanent_mac("wlan0") is None
