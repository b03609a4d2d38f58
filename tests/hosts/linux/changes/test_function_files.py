"""What is read before a change is read strictly: none is known to be none."""

import errno
from pathlib import Path

import pytest

from hosts.linux.changes.kernels import CARD, DISPLAY, FIRST_VF, PF, PORT, SECOND_VF, SOUND, any_kernel, at
from hosts.linux.fake_kernel import FakeKernel
from laneway.hosts.linux.changes.facts import read_standings
from laneway.hosts.linux.changes.function_files import FunctionFiles
from laneway.hosts.linux.changes.standing import Standing
from laneway.hosts.linux.tree import HostTree


@pytest.fixture
def kernel(tmp_path: Path) -> FakeKernel:
    kernel = any_kernel(tmp_path)
    kernel.write(f"sys/bus/pci/devices/{PF}/sriov_numvfs", "2")
    return kernel


@pytest.fixture
def files(kernel: FakeKernel) -> FunctionFiles:
    return FunctionFiles(HostTree(kernel.root))


def test_a_pf_stands_with_its_vfs(files: FunctionFiles) -> None:
    assert files.standing(at(PF)) == Standing(
        driver="igb",
        vf_count=2,
        total_vfs=7,
        autoprobe=True,
        can_reset=True,
        vfs=(at(FIRST_VF), at(SECOND_VF)),
        group=(at(PF),),
    )


def test_vfs_stand_in_the_order_of_their_indices(kernel: FakeKernel, files: FunctionFiles) -> None:
    directory = (kernel.root / f"sys/bus/pci/devices/{PF}").resolve()
    (directory / "virtfn1").rename(directory / "virtfn10")
    (directory / "virtfn2").symlink_to(f"../{CARD}")
    standing = files.standing(at(PF))
    assert standing is not None
    assert standing.vfs == (at(FIRST_VF), at(CARD), at(SECOND_VF))


def test_a_function_without_anything_has_nothing(kernel: FakeKernel, files: FunctionFiles) -> None:
    kernel.sysfs.function("0000:00:02.0", reset_method=None)
    assert files.standing(at("0000:00:02.0")) == Standing()


def test_what_is_not_there_has_no_standing(files: FunctionFiles) -> None:
    assert files.standing(at("0000:55:00.0")) is None


def test_standings_are_those_of_the_group_and_of_vfs_too(files: FunctionFiles) -> None:
    assert read_standings(files, [at(SOUND)]).keys() == {at(PORT), at(DISPLAY), at(SOUND)}
    assert read_standings(files, [at(PF), at("0000:55:00.0")]).keys() == {at(PF), at(FIRST_VF), at(SECOND_VF)}


@pytest.mark.parametrize("name", ["driver_override", "sriov_numvfs", "sriov_drivers_autoprobe"])
def test_what_cannot_be_read_is_not_taken_for_none(kernel: FakeKernel, files: FunctionFiles, name: str) -> None:
    attribute = kernel.root / f"sys/bus/pci/devices/{PF}/{name}"
    attribute.unlink()
    attribute.mkdir()
    with pytest.raises(OSError, match="Is a directory") as caught:
        files.standing(at(PF))
    assert caught.value.errno == errno.EISDIR
