"""Tracing places in the device tree down to functions."""

import pytest

from laneway.domain.address import PciAddress
from laneway.hosts.linux.function_paths import FunctionPaths, device_path

PORT, NVME, VMD, BEHIND = map(PciAddress.parse, ("00:01.0", "01:00.0", "64:00.5", "10000:01:00.0"))
PATHS = FunctionPaths(
    {
        PORT: "/sys/devices/pci0000:00/0000:00:01.0",
        NVME: "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0",
        VMD: "/captures/sys/devices/x/sys/devices/pci0000:64/0000:64:00.5",
        BEHIND: "sys/devices/pci0000:64/0000:64:00.5/pci10000:00/10000:00:02.0/10000:01:00.0",
    }
)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("../../devices/pci0000:00/0000:00:02.0", "pci0000:00/0000:00:02.0"),
        ("/sys/devices/virtual/block/dm-0/", "virtual/block/dm-0"),
        ("/root/sys/devices/a/sys/devices/pci0000:00", "pci0000:00"),
        ("../../../virtual/net/br0", ""),
        ("", ""),
    ],
)
def test_the_place_that_a_text_leads_to(text: str, path: str) -> None:
    assert device_path(text) == path


@pytest.mark.parametrize(
    ("path", "functions"),
    [
        ("pci0000:00/0000:00:01.0/0000:01:00.0/nvme/nvme0/nvme0n1", (NVME,)),
        ("pci0000:00/0000:00:01.0/0000:01:00.0", (NVME,)),
        ("pci0000:00/0000:00:01.0/pcie010", (PORT,)),
        ("pci0000:64/0000:64:00.5/pci10000:00/10000:00:02.0/10000:01:00.0/nvme/nvme1", (BEHIND, VMD)),
        ("virtual/block/loop0", ()),
        ("", ()),
    ],
    ids=["a disk", "the function itself", "a service of a port", "behind VMD", "virtual", "nowhere"],
)
def test_the_functions_that_a_device_hangs_on(path: str, functions: tuple[PciAddress, ...]) -> None:
    assert PATHS.functions_of(path) == functions


def test_functions_outside_the_device_tree_are_told() -> None:
    assert FunctionPaths({NVME: "/sys/bus/pci/devices/0000:01:00.0"}).unplaced == {NVME}
    assert PATHS.unplaced == set()
