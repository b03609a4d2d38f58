"""Which driver serves a guest: vfio-pci, or the variant of it that the kernel's module aliases name for a device."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from laneway.domain.address import PciAddress
from laneway.hosts.linux.changes.steps import DEVICES, DRIVERS
from laneway.hosts.linux.system import read_operating_system
from laneway.hosts.linux.tree import HostTree

VFIO_PCI = "vfio-pci"
_VFIO_PCI_MODULE = "vfio_pci"
_WILDCARD = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class VfioDriver:
    """A driver by its name in sysfs, with the module that has it."""

    name: str = VFIO_PCI
    module: str = _VFIO_PCI_MODULE
    is_loaded: bool = True


def plain_driver(tree: HostTree) -> VfioDriver:
    return VfioDriver(is_loaded=tree.exists(f"{DRIVERS}/{VFIO_PCI}"))


def variant_driver(tree: HostTree, address: PciAddress) -> VfioDriver:
    """The variant driver for the device, which lets it be migrated live; vfio-pci where the kernel has none."""
    modalias = (tree.text(f"{DEVICES}/{address}/modalias") or "").strip()
    module = most_specific_module(_aliases(tree), modalias)
    if module is None or module == _VFIO_PCI_MODULE:
        return plain_driver(tree)
    name = _driver_of(tree, module)
    return VfioDriver(name=name, module=module, is_loaded=tree.exists(f"{DRIVERS}/{name}"))


def most_specific_module(aliases: Iterable[tuple[str, str]], modalias: str) -> str | None:
    """The module whose pattern has the fewest wildcards of those that match.

    MODULE_DEVICE_TABLE gives entries that are for drivers by override only the prefix ``vfio_pci:``
    in place of ``pci:`` (scripts/mod/file2alias.c, do_pci_entry); the rest matches as any modalias does.
    """
    wanted = modalias.replace("pci:", "vfio_pci:", 1)
    fitting = [(pattern.count(_WILDCARD), module) for pattern, module in aliases if fnmatchcase(wanted, pattern)]
    return min(fitting)[1] if fitting else None


def _aliases(tree: HostTree) -> Iterator[tuple[str, str]]:
    """Patterns with their modules: those of modules.alias, and of what is built into the kernel."""
    folder = f"lib/modules/{read_operating_system(tree).release}"
    for line in (tree.text(f"{folder}/modules.alias") or "").splitlines():
        words = line.split()
        if len(words) == 3 and words[0] == "alias" and words[1].startswith("vfio_pci:"):
            yield words[1], words[2]
    for entry in (tree.text(f"{folder}/modules.builtin.modinfo") or "").split("\0"):
        module, _, pattern = entry.partition(".alias=")
        if pattern.startswith("vfio_pci:"):
            yield pattern, module


def _driver_of(tree: HostTree, module: str) -> str:
    """Its name in sysfs, which mostly is the module's; a module that is loaded tells it."""
    names = (name.removeprefix("pci:") for name in tree.names(f"sys/module/{module}/drivers") or ())
    return next(names, module)
