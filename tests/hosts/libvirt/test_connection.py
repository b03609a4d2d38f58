"""What is asked of libvirt-python, and what its errors mean."""

import errno
import sys
from collections.abc import Callable

import pytest

from hosts.libvirt.fake_libvirt import FakeLibvirt, Object, libvirtError
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.hosts.libvirt import LibvirtHostDriverFactory
from laneway.hosts.libvirt.connection import ChangingLibvirtHost, Described, connected, connected_to_change

URI = "qemu+ssh://node-1/system"


def names(libvirt: FakeLibvirt) -> list[str]:
    return [call[0] for call in libvirt.calls]


def test_node_devices_come_from_one_list_call_over_a_connection_that_only_reads(libvirt: FakeLibvirt) -> None:
    libvirt.devices = [Object("pci_a", "<a/>"), Object("net_b", "<b/>")]
    with connected(URI) as host:
        assert host.node_devices() == [Described("pci_a", "<a/>"), Described("net_b", "<b/>")]
    assert libvirt.calls == [("openReadOnly", URI), ("listAllDevices", 2 | 16 | 131072), ("close",)]


def test_running_domains_only(libvirt: FakeLibvirt) -> None:
    libvirt.domains = [Object("db-1", "<domain/>")]
    with connected(URI) as host:
        assert host.running_domains() == [Described("db-1", "<domain/>")]
    assert ("listAllDomains", 1) in libvirt.calls


@pytest.mark.parametrize("code", [FakeLibvirt.VIR_ERR_NO_NODE_DEVICE, FakeLibvirt.VIR_ERR_NO_DOMAIN])
def test_what_vanishes_between_list_and_question_is_left_out(libvirt: FakeLibvirt, code: int) -> None:
    libvirt.devices = libvirt.domains = [Object("gone", libvirtError(code=code)), Object("here")]
    with connected(URI) as host:
        assert host.node_devices() == host.running_domains() == [Described("here", "<x/>")]


def test_another_fault_of_one_object_is_told_of_it(libvirt: FakeLibvirt) -> None:
    libvirt.devices = [Object("pci_a", libvirtError("internal error")), Object("pci_b")]
    with connected(URI) as host:
        assert host.node_devices() == [Described("pci_a", fault="internal error"), Described("pci_b", "<x/>")]


def test_name_and_capabilities(libvirt: FakeLibvirt) -> None:
    with connected(URI) as host:
        assert (host.host_name(), host.capabilities()) == ("node-1", Described("capabilities", "<capabilities/>"))
    libvirt.host_name = ""
    libvirt.refuse["getCapabilities"] = libvirtError("no memory")
    with connected(URI) as host:
        assert (host.host_name(), host.capabilities()) == (None, Described("capabilities", fault="no memory"))


@pytest.mark.parametrize("call", ["openReadOnly", "listAllDevices"])
def test_a_libvirt_that_does_not_answer(libvirt: FakeLibvirt, call: str) -> None:
    libvirt.refuse[call] = libvirtError("Failed to connect socket", FakeLibvirt.VIR_ERR_SYSTEM_ERROR, errno.ENOENT)
    with (
        pytest.raises(LanewayError, match="does not answer: Failed to connect socket") as caught,
        connected(URI) as host,
    ):
        host.node_devices()
    assert (caught.value.code, caught.value.detail) == (ErrorCode.HOST_UNREACHABLE, {"uri": URI})


@pytest.mark.parametrize(
    "error",
    [
        libvirtError("denied", FakeLibvirt.VIR_ERR_SYSTEM_ERROR, errno.EACCES),
        libvirtError("denied", FakeLibvirt.VIR_ERR_AUTH_UNAVAILABLE),
        libvirtError("denied", FakeLibvirt.VIR_ERR_ACCESS_DENIED),
    ],
    ids=["the socket may not be opened", "no agent asks for the password", "a rule of polkit"],
)
def test_a_libvirt_that_refuses(libvirt: FakeLibvirt, error: libvirtError) -> None:
    libvirt.refuse["openReadOnly"] = error
    with pytest.raises(LanewayError, match="refuses: denied; run this as root") as caught, connected(URI):
        pass
    assert caught.value.code is ErrorCode.NO_PERMISSION


def test_a_connection_that_cannot_be_closed_harms_nobody(libvirt: FakeLibvirt) -> None:
    libvirt.refuse["close"] = libvirtError("already gone")
    with connected(URI) as host:
        assert host.host_name() == "node-1"
    assert names(libvirt)[-1] == "close"


CHANGES: dict[str, Callable[[ChangingLibvirtHost], None]] = {
    "detachFlags": lambda host: host.detach("pci_a", "vfio"),
    "reset": lambda host: host.reset("pci_a"),
    "reAttach": lambda host: host.reattach("pci_a"),
}


def test_changes_go_over_a_connection_that_may_write(libvirt: FakeLibvirt) -> None:
    with connected_to_change(URI) as host:
        assert host.version() == 10_000_000
        for change in CHANGES.values():
            change(host)
    assert libvirt.calls[0] == ("open", URI)
    assert [call for call in libvirt.calls if call[0] in CHANGES] == [
        ("detachFlags", "pci_a", "vfio", 0),
        ("reset", "pci_a"),
        ("reAttach", "pci_a"),
    ]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (libvirtError("no", FakeLibvirt.VIR_ERR_NO_SUPPORT), ErrorCode.NOT_SUPPORTED, "use qemu:///system"),
        (libvirtError("no", FakeLibvirt.VIR_ERR_NO_NODE_DEVICE), ErrorCode.UNKNOWN_DEVICE, "no node device pci_a"),
        (libvirtError("no", FakeLibvirt.VIR_ERR_ACCESS_DENIED), ErrorCode.NO_PERMISSION, "run this as root"),
        (libvirtError("still in use by domain a"), ErrorCode.HOST_CHANGE_FAILED, "pci_a: still in use by domain a"),
    ],
    ids=["a libvirt of another kind", "a device that vanished", "a rule of polkit", "anything else"],
)
def test_a_change_that_fails_says_why(
    libvirt: FakeLibvirt, change: str, error: libvirtError, code: ErrorCode, said: str
) -> None:
    libvirt.refuse[change] = error
    with connected_to_change(URI) as host, pytest.raises(LanewayError, match=said) as caught:
        CHANGES[change](host)
    assert caught.value.code is code


def test_without_libvirt_python_it_is_told_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "libvirt", None)
    with pytest.raises(LanewayError, match=r"pip install 'laneway\[libvirt\]'") as caught, connected(URI):
        pass
    assert caught.value.code is ErrorCode.HOST_UNREACHABLE


def test_the_factory_says_whether_libvirt_python_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    factory = LibvirtHostDriverFactory()
    monkeypatch.setattr("laneway.hosts.libvirt.factory.find_spec", lambda name: None)
    assert "libvirt-python is not installed; install it as" in (factory.unavailable() or "")
    monkeypatch.setattr("laneway.hosts.libvirt.factory.find_spec", lambda name: name)
    assert factory.unavailable() is None
    assert factory().describe().name == "libvirt"
