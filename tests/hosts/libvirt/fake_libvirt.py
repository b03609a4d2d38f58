"""A module that behaves as libvirt-python does, as far as the driver calls it: objects, errors, the event loop."""

import sys
from collections.abc import Callable, Sequence
from threading import Condition
from types import ModuleType
from typing import Any

import pytest


class libvirtError(Exception):
    def __init__(self, message: str = "made up", code: int = 1, errno: int = 0) -> None:
        super().__init__(message)
        self._code, self._errno = code, errno

    def get_error_code(self) -> int:
        return self._code

    def get_int1(self) -> int:
        return self._errno


class Object:
    """A node device or a domain. ``xml`` may be the error that asking for it raises."""

    def __init__(self, name: str, xml: str | libvirtError = "<x/>") -> None:
        self._name, self._xml = name, xml

    def name(self) -> str:
        return self._name

    def XMLDesc(self, flags: int) -> str:
        assert flags == 0
        if isinstance(self._xml, libvirtError):
            raise self._xml
        return self._xml


class ChangeableDevice:
    def __init__(self, libvirt: "FakeLibvirt", name: str) -> None:
        self._libvirt, self._name = libvirt, name

    def detachFlags(self, driver: str, flags: int) -> None:
        self._libvirt.called("detachFlags", self._name, driver, flags)

    def reset(self) -> None:
        self._libvirt.called("reset", self._name)

    def reAttach(self) -> None:
        self._libvirt.called("reAttach", self._name)


class FakeLibvirt(ModuleType):
    """The module. ``refuse`` names a call and the error that it raises."""

    VIR_CONNECT_LIST_NODE_DEVICES_CAP_PCI_DEV = 2
    VIR_CONNECT_LIST_NODE_DEVICES_CAP_NET = 16
    VIR_CONNECT_LIST_NODE_DEVICES_CAP_VDPA = 131072
    VIR_CONNECT_LIST_DOMAINS_ACTIVE = 1
    VIR_ERR_SYSTEM_ERROR = 38
    VIR_ERR_NO_SUPPORT = 3
    VIR_ERR_NO_NODE_DEVICE, VIR_ERR_NO_DOMAIN = 53, 42
    VIR_ERR_AUTH_FAILED, VIR_ERR_AUTH_CANCELLED, VIR_ERR_AUTH_UNAVAILABLE = 45, 79, 84
    VIR_ERR_ACCESS_DENIED, VIR_ERR_OPERATION_DENIED = 88, 29
    VIR_NODE_DEVICE_EVENT_ID_LIFECYCLE, VIR_NODE_DEVICE_EVENT_ID_UPDATE = 0, 1
    libvirtError = libvirtError

    def __init__(self) -> None:
        super().__init__("libvirt")
        self.refuse: dict[str, libvirtError] = {}
        self.devices: Sequence[Object] = ()
        self.domains: Sequence[Object] = ()
        self.host_name = "node-1"
        self.is_remote = True
        self.calls: list[tuple[Any, ...]] = []
        self.subscribers: list[Callable[..., None]] = []
        self.on_loss: Callable[..., None] | None = None
        self._timer: Callable[..., None] | None = None
        self._wakes = Condition()
        self._milliseconds = -1
        self._due: list[Callable[[], None]] = []

    def called(self, name: str, *arguments: Any) -> None:
        self.calls.append((name, *arguments))
        if name in self.refuse:
            raise self.refuse[name]

    # connections

    def registerErrorHandler(self, handler: Callable[..., None], context: object) -> None:
        assert handler(context, "an error that nobody wants to see on stderr") is None  # type: ignore[func-returns-value]

    def openReadOnly(self, uri: str) -> "Connection":
        self.called("openReadOnly", uri)
        return Connection(self)

    def open(self, uri: str) -> "Connection":
        self.called("open", uri)
        return Connection(self)

    # the event loop

    def virEventRegisterDefaultImpl(self) -> None:
        self.called("virEventRegisterDefaultImpl")

    def virEventAddTimeout(self, milliseconds: int, callback: Callable[..., None], _context: object) -> int:
        self._timer, self._milliseconds = callback, milliseconds
        return 7

    def virEventUpdateTimeout(self, timer: int, milliseconds: int) -> None:
        assert timer == 7
        with self._wakes:
            self._milliseconds = milliseconds
            self._wakes.notify_all()

    def virEventRemoveTimeout(self, timer: int) -> None:
        self.called("virEventRemoveTimeout", timer)

    def virEventRunDefaultImpl(self) -> None:
        """Runs what is due; else the timer, whose time passes at once; else waits."""
        self.called("virEventRunDefaultImpl")
        with self._wakes:
            assert self._wakes.wait_for(lambda: self._due or self._milliseconds >= 0, timeout=30)
            if self._due:
                run: Callable[[], object] = self._due.pop(0)
            else:
                self._milliseconds = -1
                run = lambda: self._timer and self._timer(7, None)  # noqa: E731 - said shorter than a function
        run()

    def happen(self, name: str, *details: object) -> None:
        """A node device of this name comes, goes or changes."""
        for tell in self.subscribers:
            self.run(lambda tell=tell: tell(None, Object(name), *details, None))  # type: ignore[misc]

    def run(self, what: Callable[[], None]) -> None:
        with self._wakes:
            self._due.append(what)
            self._wakes.notify_all()


class Connection:
    def __init__(self, libvirt: FakeLibvirt) -> None:
        self._libvirt = libvirt

    def getHostname(self) -> str:
        self._libvirt.called("getHostname")
        return self._libvirt.host_name

    def getCapabilities(self) -> str:
        self._libvirt.called("getCapabilities")
        return "<capabilities/>"

    def getLibVersion(self) -> int:
        self._libvirt.called("getLibVersion")
        return 10_000_000

    def nodeDeviceLookupByName(self, name: str) -> ChangeableDevice:
        self._libvirt.called("nodeDeviceLookupByName", name)
        return ChangeableDevice(self._libvirt, name)

    def listAllDevices(self, flags: int) -> Sequence[Object]:
        self._libvirt.called("listAllDevices", flags)
        return self._libvirt.devices

    def listAllDomains(self, flags: int) -> Sequence[Object]:
        self._libvirt.called("listAllDomains", flags)
        return self._libvirt.domains

    def nodeDeviceEventRegisterAny(self, device: None, event: int, callback: Callable[..., None], _: object) -> int:
        self._libvirt.called("nodeDeviceEventRegisterAny", event)
        if event == self._libvirt.VIR_NODE_DEVICE_EVENT_ID_LIFECYCLE:
            self._libvirt.subscribers.append(callback)
        return event

    def registerCloseCallback(self, callback: Callable[..., None], _: object) -> None:
        if not self._libvirt.is_remote:
            raise libvirtError("not remote")
        self._libvirt.on_loss = callback

    def setKeepAlive(self, interval: int, count: int) -> None:
        self._libvirt.called("setKeepAlive", interval, count)

    def close(self) -> None:
        self._libvirt.called("close")


def install(monkeypatch: pytest.MonkeyPatch) -> FakeLibvirt:
    """Makes it what ``import libvirt`` finds."""
    libvirt = FakeLibvirt()
    monkeypatch.setitem(sys.modules, "libvirt", libvirt)
    return libvirt
