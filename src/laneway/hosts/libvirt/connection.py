"""The one module that calls libvirt-python. It gives names and XML; what they mean is decided elsewhere."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from errno import EACCES, EPERM
from importlib import import_module
from typing import Any, NamedTuple, Protocol

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.hosts.libvirt.factory import HOW_TO_INSTALL


class Described(NamedTuple):
    """An object of libvirt: its ``xml``, or in ``fault`` why libvirt could not tell it."""

    name: str
    xml: str | None = None
    fault: str | None = None


class LibvirtHost(Protocol):
    """What the driver asks of a libvirt. Objects that vanish meanwhile are left out.

    Raises LanewayError(host_unreachable) where libvirt does not answer at all.
    """

    def host_name(self) -> str | None: ...

    def capabilities(self) -> Described: ...

    def node_devices(self) -> Sequence[Described]:
        """The PCI, network and vDPA devices, by one list call."""

    def running_domains(self) -> Sequence[Described]: ...

    def version(self) -> int:
        """libvirt's own: a million times the major number, a thousand times the minor, and the release."""


class ChangingLibvirtHost(LibvirtHost, Protocol):
    """A libvirt that may be told to change node devices, by their names.

    Raises LanewayError(unknown_device) where there is none of the name, (not_supported) where this
    kind of libvirt cannot do it, (no_permission), and (host_change_failed) with libvirt's own words.
    """

    def detach(self, name: str, driver: str) -> None:
        """Takes the device from its driver and gives it to ``driver``. Done already, it does nothing."""

    def reset(self, name: str) -> None: ...

    def reattach(self, name: str) -> None:
        """Takes the device from a driver for guests, and has the kernel choose one."""


def load_libvirt() -> Any:
    """The module of libvirt-python. Raises LanewayError(host_unreachable), which says how to install it."""
    try:
        libvirt = import_module("libvirt")
    except ImportError as error:
        raise LanewayError(
            ErrorCode.HOST_UNREACHABLE,
            f"the driver 'libvirt' needs libvirt-python, which cannot be imported ({error}); {HOW_TO_INSTALL}",
            {"driver": "libvirt"},
        ) from error
    libvirt.registerErrorHandler(_say_nothing, None)  # by default libvirt writes every error to stderr as well
    return libvirt


def open_connection(libvirt: Any, uri: str, *, writing: bool = False) -> Any:
    """A connection. One that can only read needs no privilege where the host has libvirt's usual settings.

    Raises LanewayError(no_permission) or (host_unreachable).
    """
    try:
        return libvirt.open(uri) if writing else libvirt.openReadOnly(uri)
    except libvirt.libvirtError as error:
        raise failure(libvirt, uri, error) from error


def failure(libvirt: Any, uri: str, error: Any) -> LanewayError:
    """What an error of libvirt means for the host as a whole."""
    if _is_refusal(libvirt, error):
        return LanewayError(
            ErrorCode.NO_PERMISSION,
            f"libvirt at {uri} refuses: {error}; run this as root, or as a member of the group that its socket names",
            {"uri": uri},
        )
    return LanewayError(
        ErrorCode.HOST_UNREACHABLE,
        f"libvirt at {uri} does not answer: {error}; see that its daemon runs, and try: virsh -c {uri} nodedev-list",
        {"uri": uri},
    )


def connected(uri: str) -> AbstractContextManager[LibvirtHost]:
    """Connects, to read, for as long as the block runs. Raises as ``load_libvirt`` and ``open_connection``."""
    return _connected(uri, writing=False)


def connected_to_change(uri: str) -> AbstractContextManager[ChangingLibvirtHost]:
    """Connects, to change the host, for as long as the block runs. Raises as ``connected``."""
    return _connected(uri, writing=True)


@contextmanager
def _connected(uri: str, *, writing: bool) -> Iterator["_Connection"]:
    libvirt = load_libvirt()
    connection = open_connection(libvirt, uri, writing=writing)
    try:
        yield _Connection(libvirt, connection, uri)
    finally:
        with suppress(libvirt.libvirtError):
            connection.close()


class _Connection:
    def __init__(self, libvirt: Any, connection: Any, uri: str) -> None:
        self._libvirt = libvirt
        self._connection = connection
        self._uri = uri

    def host_name(self) -> str | None:
        return self._asked(self._connection.getHostname) or None

    def capabilities(self) -> Described:
        try:
            return Described("capabilities", xml=self._connection.getCapabilities())
        except self._libvirt.libvirtError as error:
            return Described("capabilities", fault=str(error))

    def node_devices(self) -> Sequence[Described]:
        wanted = (
            self._libvirt.VIR_CONNECT_LIST_NODE_DEVICES_CAP_PCI_DEV
            | self._libvirt.VIR_CONNECT_LIST_NODE_DEVICES_CAP_NET
            | self._libvirt.VIR_CONNECT_LIST_NODE_DEVICES_CAP_VDPA
        )
        return self._described(self._asked(lambda: self._connection.listAllDevices(wanted)))

    def running_domains(self) -> Sequence[Described]:
        active = self._libvirt.VIR_CONNECT_LIST_DOMAINS_ACTIVE
        return self._described(self._asked(lambda: self._connection.listAllDomains(active)))

    def version(self) -> int:
        return int(self._asked(self._connection.getLibVersion))

    def detach(self, name: str, driver: str) -> None:
        self._change(name, lambda device: device.detachFlags(driver, 0))

    def reset(self, name: str) -> None:
        self._change(name, lambda device: device.reset())

    def reattach(self, name: str) -> None:
        self._change(name, lambda device: device.reAttach())

    def _change(self, name: str, change: Callable[[Any], object]) -> None:
        try:
            change(self._connection.nodeDeviceLookupByName(name))
        except self._libvirt.libvirtError as error:
            raise self._refusal(name, error) from error

    def _refusal(self, name: str, error: Any) -> LanewayError:
        """What an error of libvirt means for a change of one device."""
        detail = {"uri": self._uri, "device": name}
        code = error.get_error_code()
        if code == self._libvirt.VIR_ERR_NO_NODE_DEVICE:
            message = f"libvirt at {self._uri} has no node device {name} any more"
            return LanewayError(ErrorCode.UNKNOWN_DEVICE, message, detail)
        if code == self._libvirt.VIR_ERR_NO_SUPPORT:
            message = f"libvirt at {self._uri} cannot take devices from its host: {error}; use qemu:///system"
            return LanewayError(ErrorCode.NOT_SUPPORTED, message, detail)
        if _is_refusal(self._libvirt, error):
            return failure(self._libvirt, self._uri, error)
        return LanewayError(ErrorCode.HOST_CHANGE_FAILED, f"{name}: {error}", detail)

    def _described(self, objects: Sequence[Any]) -> Sequence[Described]:
        gone = {self._libvirt.VIR_ERR_NO_NODE_DEVICE, self._libvirt.VIR_ERR_NO_DOMAIN}
        found = []
        for one in objects:
            try:
                found.append(Described(one.name(), xml=one.XMLDesc(0)))
            except self._libvirt.libvirtError as error:
                if error.get_error_code() not in gone:
                    found.append(Described(one.name(), fault=str(error)))
        return found

    def _asked(self, question: Callable[[], Any]) -> Any:
        try:
            return question()
        except self._libvirt.libvirtError as error:
            raise failure(self._libvirt, self._uri, error) from error


def _is_refusal(libvirt: Any, error: Any) -> bool:
    code = error.get_error_code()
    if code == libvirt.VIR_ERR_SYSTEM_ERROR:
        return error.get_int1() in (EACCES, EPERM)
    return code in (
        libvirt.VIR_ERR_AUTH_FAILED,
        libvirt.VIR_ERR_AUTH_CANCELLED,
        libvirt.VIR_ERR_AUTH_UNAVAILABLE,
        libvirt.VIR_ERR_ACCESS_DENIED,
        libvirt.VIR_ERR_OPERATION_DENIED,
    )


def _say_nothing(_context: object, _error: object) -> None:
    return None
