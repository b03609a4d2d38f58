"""An API process: prints the binding profiles of a consumer, from a database, on a machine without PCI.

It is run as a program of its own by ``test_api_process``. No host driver can be imported here, and
every look at the host ends the process: at any path below /sys, and below /proc and /dev but for
what Python itself needs.
"""
# ruff: noqa: PLC0415 - what runs under the guard is imported under it

import importlib.abc
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

FORBIDDEN = ("/sys", "/proc", "/dev")
OF_PYTHON = (
    *("/dev/urandom", "/dev/null", "/proc/self/maps", "/proc/self/fd", "/dev/fd"),
    "/proc/sys/vm/overcommit_memory",  # malloc of glibc asks, before it gives memory of a thread back
)
EXIT_TOUCHED_HOST = 99


def refuse(what: str, path: object) -> None:
    text = os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else ""
    below = any(text == root or text.startswith(f"{root}/") for root in FORBIDDEN)
    if below and not text.startswith(OF_PYTHON):
        os.write(2, f"the host was touched: {what} {text}\n".encode())
        os._exit(EXIT_TOUCHED_HOST)


def audit(event: str, arguments: tuple[Any, ...]) -> None:
    if event in ("open", "os.listdir", "os.scandir") and arguments:
        refuse(event, arguments[0])


def wrapped(name: str) -> Any:
    original = getattr(os, name)

    def call(path: Any, *rest: Any, **options: Any) -> Any:
        refuse(name, path)
        return original(path, *rest, **options)

    return call


class NoHostDriver(importlib.abc.MetaPathFinder):
    """Refuses everything that could reach a host, or its config."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if name.startswith(("laneway.hosts", "laneway.config", "laneway.bootstrap", "laneway.compute")):
            raise ImportError(f"{name} has no business in an API process")


def main(database: str, consumer: str) -> None:
    from laneway.fleet.profiles import binding_profiles
    from laneway.store.sqlite import open_store

    with open_store(Path(database)) as store:
        found = binding_profiles(store, consumer)
    print(json.dumps({host: {str(a): profile for a, profile in one.items()} for host, one in found.items()}))


if __name__ == "__main__":
    sys.addaudithook(audit)
    for function in ("stat", "lstat", "readlink", "access"):
        setattr(os, function, wrapped(function))
    sys.meta_path.insert(0, NoHostDriver())
    main(sys.argv[1], sys.argv[2])
