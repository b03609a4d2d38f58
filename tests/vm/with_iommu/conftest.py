"""A host with an Intel IOMMU, on which two devices have VFs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from laneway.domain.inventory import Inventory, PciFunction
from laneway.hosts.linux import LinuxHostDriver
from vm.commands import Laneway
from vm.daemons import start_libvirtd, stop_libvirtd
from vm.devices import DEVICES, NIC_PF, NIC_VFS, NVME_PF, NVME_VFS, make_vfs, settle
from vm.monitor import Monitor


@pytest.fixture(scope="session", autouse=True)
def vfs() -> None:
    """VFs of the NIC with their driver, and of the NVMe without one: they work only once it has given them queues."""
    make_vfs(NIC_PF, len(NIC_VFS))
    (DEVICES / NVME_PF / "sriov_drivers_autoprobe").write_text("0")
    make_vfs(NVME_PF, len(NVME_VFS))


@pytest.fixture(scope="module")
def inventory(vfs: None) -> Inventory:
    """The host as it is at rest; what a driver makes anew, such as the interface of a VF, is another each time."""
    settle()
    return LinuxHostDriver().discover()


@pytest.fixture(scope="module")
def functions(inventory: Inventory) -> dict[str, PciFunction]:
    return {str(function.address): function for function in inventory.functions}


@pytest.fixture
def monitor() -> Iterator[Monitor]:
    with Monitor() as one:
        yield one


@pytest.fixture
def laneway(tmp_path: Path) -> Laneway:
    """The command line with the config beside this file, over a state in which nobody holds anything."""
    return Laneway(config=Path(__file__).with_name("config.toml"), database=tmp_path / "laneway.db")


@pytest.fixture
def changing(tmp_path: Path) -> Laneway:
    """The same with a config by which devices are taken from the host, and its console's card too."""
    return Laneway(config=Path(__file__).with_name("changing.toml"), database=tmp_path / "laneway.db")


@pytest.fixture(scope="session")
def libvirtd(vfs: None) -> Iterator[Any]:
    """The module of libvirt-python, once libvirt's daemon answers."""
    libvirt = start_libvirtd()
    yield libvirt
    stop_libvirtd()
