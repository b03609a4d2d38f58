"""Finds host drivers among what is installed: by name, or the one that works on this machine."""

import sys
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Protocol, runtime_checkable

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.interfaces.host_driver import HostDriver, HostDriverFactory

GROUP = "laneway.host_drivers"
"""The group of entry points. Each names a ``HostDriverFactory``: a class that is made without arguments."""

AUTO = "auto"
SNAPSHOT = "snapshot"


@runtime_checkable
class CaptureReader(Protocol):
    """A factory whose driver can read what was captured of a host, on any machine."""

    def cannot_read(self, path: Path) -> str | None:
        """Why the path is no capture that this driver reads, or None if it looks like one."""

    def reading(self, path: Path) -> HostDriver:
        """The driver for the captured host."""


@runtime_checkable
class Connecting(Protocol):
    """A factory whose driver can reach a host by a URI: another machine, or a service of this one."""

    def connecting_to(self, uri: str) -> HostDriver:
        """The driver for the host that is there. Whether it answers is told by the first discovery."""


@runtime_checkable
class SecondChoice(Protocol):
    """A factory that ``auto`` asks after all others: its driver sees a machine through other software on it."""

    stands_back: bool


def open_driver(
    name: str = AUTO, *, uri: str | None = None, root: Path | None = None, snapshot: Path | None = None
) -> HostDriver:
    """The driver ``name`` for this machine; with ``auto`` the first by name that works here, a second choice last.

    With a ``uri`` the host is the one that is there, and only drivers that connect to one are asked.
    ``root`` is a captured tree of files, or a recording, to read in place of this machine; ``snapshot``
    an inventory file, which then is the host whatever the name. Both go before a ``uri``. Raises
    LanewayError(host_unreachable), with a reason for each driver, where none is left, and
    LanewayError(no_permission).
    """
    if snapshot is not None:
        _require_access(snapshot)
        return _open_capture(SNAPSHOT, snapshot)
    if root is not None:
        _require_access(root)
        if not root.exists():
            what = "--root names a folder that has sys and proc, or a recording of a Windows host"
            raise LanewayError(
                ErrorCode.HOST_UNREACHABLE, f"the captured tree {root} does not exist; {what}", {"root": str(root)}
            )
        return _open_capture(name, root)
    if uri is not None:
        return _connect(name, uri)
    reasons: dict[str, str | None] = {}
    for driver, factory in _factories(name).items():
        reasons[driver] = factory.unavailable()
        if reasons[driver] is None:
            return factory()
    raise _unreachable("no host driver works here", reasons)


def _connect(name: str, uri: str) -> HostDriver:
    reasons: dict[str, str | None] = {}
    for driver, factory in _factories(name).items():
        if not isinstance(factory, Connecting):
            reasons[driver] = "it reaches no host by a URI"
            continue
        reasons[driver] = factory.unavailable()
        if reasons[driver] is None:
            return factory.connecting_to(uri)
    raise _unreachable(f"no host driver can reach {uri}", reasons)


def _require_access(path: Path) -> None:
    """Whether a capture is missing is for others to say; what cannot even be looked at is refused here."""
    try:
        path.stat()
    except FileNotFoundError:
        return
    except OSError as error:
        code = ErrorCode.NO_PERMISSION if isinstance(error, PermissionError) else ErrorCode.HOST_UNREACHABLE
        raise LanewayError(code, f"{path} cannot be read: {error.strerror}", {"path": str(path)}) from error


def _open_capture(name: str, path: Path) -> HostDriver:
    reasons: dict[str, str | None] = {}
    for driver, factory in _factories(name).items():
        if not isinstance(factory, CaptureReader):
            reasons[driver] = "it reads no captures"
            continue
        if driver == SNAPSHOT != name and path.is_file():
            reasons[driver] = "an inventory is read with --snapshot"
            continue
        reasons[driver] = factory.cannot_read(path)
        if reasons[driver] is None:
            return factory.reading(path)
    raise _unreachable(f"no host driver can read {path}", reasons)


def _unreachable(what: str, reasons: Mapping[str, str | None]) -> LanewayError:
    why = "; ".join(f"{driver}: {reason}" for driver, reason in reasons.items()) or "none is installed"
    return LanewayError(ErrorCode.HOST_UNREACHABLE, f"{what} ({why})", {"reasons": dict(reasons)})


def _factories(name: str) -> dict[str, HostDriverFactory]:
    """The factory of the driver ``name``, or with ``auto`` those of all."""
    found = installed_drivers(sys.path)
    if name == AUTO:
        factories = ((driver, _load(found[driver])) for driver in sorted(found))
        return dict(sorted(factories, key=lambda each: isinstance(each[1], SecondChoice)))
    if name not in found:
        raise LanewayError(
            ErrorCode.HOST_UNREACHABLE,
            f"there is no host driver {name!r}; installed are {', '.join(sorted(found)) or 'none'}",
            {"driver": name, "installed": sorted(found)},
        )
    return {name: _load(found[name])}


def _load(reference: str) -> HostDriverFactory:
    module, _, attribute = reference.partition(":")
    factory: HostDriverFactory = getattr(import_module(module), attribute)()
    return factory


def installed_drivers(search_path: Iterable[str]) -> dict[str, str]:
    """The entry points of the group by name, each as ``module:attribute``; the first on the path counts.

    Reads ``entry_points.txt`` as the specification "Entry points" of the PyPA has it. It does what
    importlib.metadata does, whose import alone takes longer than a look at a large host.
    """
    found: dict[str, str] = {}
    for directory in search_path:
        for file in sorted(Path(directory).glob("*.dist-info/entry_points.txt")):
            for name, reference in _entry_points(file.read_text("utf-8")):
                found.setdefault(name, reference)
    return found


def _entry_points(text: str) -> Iterable[tuple[str, str]]:
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            section = line
        elif section == f"[{GROUP}]" and "=" in line and not line.startswith("#"):
            name, _, reference = line.partition("=")
            yield name.strip(), reference.partition("[")[0].strip()
