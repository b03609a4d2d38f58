"""A host driver for FreeBSD: the PCI functions that pciconf(8) lists."""

import platform
import re
import shutil
import subprocess
import time
from collections.abc import Callable

from laneway.domain.address import PciAddress
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import DevType, Inventory, OperatingSystem, PciFunction, Problem
from laneway.interfaces.host_driver import DriverCapabilities

FACTS = frozenset({"subsystem_vendor_id", "subsystem_id", "class_code", "revision", "driver"})
COMMAND = ("pciconf", "-lv")

_FUNCTION = re.compile(r"^(?P<driver>\w+?)\d+@pci(?P<at>\d+:\d+:\d+:\d+):\s+(?P<registers>.*)$", re.MULTILINE)
_REGISTER = re.compile(r"(\w+)=0x([0-9a-f]+)")
_NO_DRIVER = "none"


def run_pciconf() -> str:
    """The list. Raises LanewayError(host_unreachable) or (no_permission) where there is none."""
    try:
        return subprocess.run(COMMAND, check=True, capture_output=True, text=True, timeout=30).stdout
    except (OSError, subprocess.SubprocessError) as error:
        refused = isinstance(error, PermissionError)
        code = ErrorCode.NO_PERMISSION if refused else ErrorCode.HOST_UNREACHABLE
        raise LanewayError(code, f"{' '.join(COMMAND)} lists no functions: {error}") from error


class FreeBsdHostDriver:
    """``pciconf`` gives the list; a test gives one of its own."""

    def __init__(self, pciconf: Callable[[], str] = run_pciconf) -> None:
        self._pciconf = pciconf

    def describe(self) -> DriverCapabilities:
        return DriverCapabilities(name="freebsd", os_family="freebsd", facts=FACTS)

    def discover(self) -> Inventory:
        problems: list[Problem] = []
        return Inventory(
            host=platform.node() or None,
            driver="freebsd",
            os=OperatingSystem(family="freebsd", release=platform.release() or None),
            captured_at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            functions=parse(self._pciconf(), problems),
            problems=tuple(problems),
        )


def parse(text: str, problems: list[Problem]) -> tuple[PciFunction, ...]:
    """The functions by address; one whose line makes no sense is noted and left out."""
    found: dict[PciAddress, PciFunction] = {}
    for line in _FUNCTION.finditer(text):
        try:
            function = _function(line)
        except (KeyError, LanewayError) as error:
            problems.append(Problem(address=line["at"], message=f"its line cannot be understood: {error}"))
        else:
            found[function.address] = function
    return tuple(found[address] for address in sorted(found))


def _function(line: re.Match[str]) -> PciFunction:
    registers = dict(_REGISTER.findall(line["registers"]))
    if "chip" in registers:  # before FreeBSD 14 two ids stand in one number, the vendor's last
        registers |= {"device": registers["chip"][:-4], "vendor": registers["chip"][-4:]}
        registers |= {"subdevice": registers["card"][:-4], "subvendor": registers["card"][-4:]}
    return PciFunction(
        address=PciAddress.of(*map(int, line["at"].split(":"))),
        vendor_id=registers["vendor"].zfill(4),
        product_id=registers["device"].zfill(4),
        subsystem_vendor_id=registers["subvendor"].zfill(4),
        subsystem_id=registers["subdevice"].zfill(4),
        class_code=registers["class"].zfill(6),
        revision=registers["rev"].zfill(2),
        # Whether it has VFs stands elsewhere (iovctl), so it is what every function is at least.
        dev_type=DevType.PCI,
        driver=None if line["driver"] == _NO_DRIVER else line["driver"],
    )


class FreeBsdHostDriverFactory:
    """What the entry point names."""

    def unavailable(self) -> str | None:
        return None if shutil.which(COMMAND[0]) else f"there is no {COMMAND[0]}: this is no FreeBSD"

    def __call__(self) -> FreeBsdHostDriver:
        return FreeBsdHostDriver()
