"""What the facts of a host speak against is refused before anything is written, with what would help."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hosts.linux.changes.kernels import (
    CARD,
    DISPLAY,
    FIRST_VF,
    PF,
    PORT,
    SOUND,
    any_kernel,
    at,
    do,
    function,
    prepare,
    release,
    with_card,
    with_display,
    with_pf,
)
from hosts.linux.fake_kernel import FakeKernel
from laneway.domain.device import Attach, Binding
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import PciFunction
from laneway.hosts.linux import LinuxHostDriver
from laneway.interfaces.host_changes import Action, Prepare, SetVfCount

Host = Callable[[FakeKernel], object]


@pytest.fixture
def kernel(tmp_path: Path) -> FakeKernel:
    return any_kernel(tmp_path)


def refusal(kernel: FakeKernel, driver: LinuxHostDriver, action: Action) -> LanewayError:
    """What it is refused with. Nothing was written, and nothing has changed."""
    before, writes = kernel.tree(), len(kernel.writes)
    with pytest.raises(LanewayError) as caught:
        driver.plan(action)
    assert (kernel.tree(), len(kernel.writes)) == (before, writes)
    return caught.value


def _addressed(kernel: FakeKernel, address: str) -> None:
    """The host has an address on an interface of the function."""
    kernel.host.interface("ens1", f"pci{address.rpartition(':')[0]}/{address}")
    kernel.host.address("ens1", "192.0.2.7")


def _moved_away(kernel: FakeKernel, address: str) -> None:
    """The interface of the function is in another network namespace."""
    (kernel.root / f"sys/bus/pci/devices/{address}/net").mkdir()


def _half_read(kernel: FakeKernel) -> None:
    """A process whose open files cannot be seen, and the group of the card has a node."""
    kernel.host.write("proc/77/fd", "")
    kernel.host.write("sys/class/vfio/1/dev", "")


def _without_iommu(kernel: FakeKernel) -> None:
    for link in kernel.root.glob("sys/bus/pci/devices/*/iommu_group"):
        link.unlink()
    shutil.rmtree(kernel.root / "sys/class/iommu")
    shutil.rmtree(kernel.root / "sys/kernel/iommu_groups")
    (kernel.root / "sys/kernel/iommu_groups").mkdir()


def _without_vfio(kernel: FakeKernel) -> None:
    (kernel.root / "sys/bus/pci/drivers/vfio-pci").rmdir()
    kernel.host.write("lib/modules/6.12.0/modules.dep", "kernel/drivers/net/igb.ko:\n")


def _with_vfs(kernel: FakeKernel) -> None:
    kernel.write(f"sys/bus/pci/devices/{PF}/sriov_numvfs", "2")


def _with_vf_on_vfio(kernel: FakeKernel) -> None:
    _with_vfs(kernel)
    do(kernel.host_driver(), prepare(kernel.host_driver(), FIRST_VF))


def _with_open_vf(kernel: FakeKernel) -> None:
    _with_vf_on_vfio(kernel)
    kernel.open(FIRST_VF)


def _with_used_vf(kernel: FakeKernel) -> None:
    _with_vfs(kernel)
    kernel.host.interface("ens1", f"pci0000:81/{FIRST_VF}")
    kernel.host.address("ens1", "192.0.2.7")


def _with_vf_perhaps_used(kernel: FakeKernel) -> None:
    _with_vfs(kernel)
    _moved_away(kernel, FIRST_VF)


PREPARATIONS: dict[str, tuple[Host, str, ErrorCode, str]] = {
    "the host has an address on it": (
        lambda kernel: _addressed(kernel, CARD),
        CARD,
        ErrorCode.DEVICE_IN_USE,
        "the host uses it: address ens1; free the host of it, or set allow_in_use",
    ),
    "its use cannot be seen": (
        lambda kernel: _moved_away(kernel, CARD),
        CARD,
        ErrorCode.DEVICE_IN_USE,
        "it cannot be told whether the host uses it (its network interface is in another network namespace",
    ),
    "a process has its group open": (
        lambda kernel: kernel.open(CARD),
        CARD,
        ErrorCode.DEVICE_OPEN,
        f"{CARD} is open in qemu-system-x86 (4711); stop it",
    ),
    "who has it open cannot be seen": (_half_read, CARD, ErrorCode.DEVICE_OPEN, f"who has {CARD} open cannot be told"),
    "a sibling that may not be taken along is on a driver of the host": (
        lambda kernel: None,
        DISPLAY,
        ErrorCode.GROUP_NOT_VIABLE,
        f"{DISPLAY} shares its IOMMU group with {SOUND} on snd_hda_intel, which may not be taken along",
    ),
    "there is no IOMMU": (
        _without_iommu,
        CARD,
        ErrorCode.NOT_ASSIGNABLE,
        "The kernel uses no IOMMU",
    ),
    "it is in no IOMMU group": (
        lambda kernel: (kernel.root / f"sys/bus/pci/devices/{CARD}/iommu_group").unlink(),
        CARD,
        ErrorCode.NOT_ASSIGNABLE,
        "it is in no IOMMU group; see 'dmesg",
    ),
    "interrupts are not remapped": (
        lambda kernel: kernel.host.write("proc/interrupts", " 24: 0 PCI-MSI 0-edge\n"),
        CARD,
        ErrorCode.NOT_ASSIGNABLE,
        "allow_unsafe_interrupts=1",
    ),
    "the kernel has no vfio-pci": (
        _without_vfio,
        CARD,
        ErrorCode.NOT_ASSIGNABLE,
        "The kernel has no driver vfio-pci",
    ),
    "the firmware keeps memory for it": (
        lambda kernel: kernel.sysfs.reserved_regions(1, "0x0000000000800000 0x0000000000ffffff direct"),
        CARD,
        ErrorCode.NOT_ASSIGNABLE,
        "the firmware keeps the memory",
    ),
    "a VF of the PF is open": (
        _with_open_vf,
        PF,
        ErrorCode.VFS_IN_THE_WAY,
        f"the VFs of {PF} would go away, and are needed: {FIRST_VF} is open in qemu-system-x86 (4711)",
    ),
    "a VF of the PF is kept for a guest": (
        _with_vf_on_vfio,
        PF,
        ErrorCode.VFS_IN_THE_WAY,
        f"{FIRST_VF} is on vfio-pci, for a guest",
    ),
    "the host may use a VF of the PF": (
        _with_vf_perhaps_used,
        PF,
        ErrorCode.VFS_IN_THE_WAY,
        f"{FIRST_VF} may be in use by the host",
    ),
    "the host uses a VF of the PF": (
        _with_used_vf,
        PF,
        ErrorCode.VFS_IN_THE_WAY,
        f"{FIRST_VF} is in use by the host (address ens1)",
    ),
}


@pytest.mark.parametrize(("host", "address", "code", "says"), PREPARATIONS.values(), ids=PREPARATIONS.keys())
def test_a_function_is_not_taken_where(
    kernel: FakeKernel, host: Host, address: str, code: ErrorCode, says: str
) -> None:
    host(kernel)
    driver = kernel.host_driver()
    error = refusal(kernel, driver, prepare(driver, address))
    assert error.code is code
    assert says in error.message
    assert error.detail["address"] == address


def test_unsafe_interrupts_may_be_allowed(kernel: FakeKernel) -> None:
    kernel.host.write("proc/interrupts", " 24: 0 PCI-MSI 0-edge\n")
    kernel.host.write("sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts", "Y\n")
    driver = kernel.host_driver()
    assert driver.plan(prepare(driver, CARD)).steps


@pytest.mark.parametrize("use", [_addressed, _moved_away], ids=["in use", "perhaps in use"])
def test_a_spec_may_allow_that_the_host_uses_it(kernel: FakeKernel, use: Callable[[FakeKernel, str], None]) -> None:
    use(kernel, CARD)
    driver = kernel.host_driver()
    assert driver.plan(prepare(driver, CARD, may_be_in_use=True)).steps


def test_the_host_uses_a_sibling(kernel: FakeKernel) -> None:
    kernel.host.interface("ens1", f"pci0000:20/{PORT}/{SOUND}")
    kernel.host.address("ens1", "192.0.2.7")
    driver = kernel.host_driver()
    error = refusal(kernel, driver, prepare(driver, DISPLAY, SOUND))
    assert (error.code, error.detail["address"]) == (ErrorCode.DEVICE_IN_USE, SOUND)
    assert driver.plan(prepare(driver, DISPLAY, SOUND, may_be_in_use=True)).steps


OTHERS: dict[str, Callable[[PciFunction], PciFunction]] = {
    "another device": lambda was: replace(was, product_id="1572"),
    "another card of the kind": lambda was: replace(was, device_serial_number="00-1b-21-ff-ff-83-57-a8"),
    "no device": lambda was: replace(was, address=at("0000:55:00.0")),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS.keys())
def test_at_the_address_of_what_was_claimed_stands(
    kernel: FakeKernel, other: Callable[[PciFunction], PciFunction], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("laneway.hosts.linux.functions._serial", lambda _directory, _lineage: "00-00-00-ff-ff-00-00-01")
    driver = kernel.host_driver()
    action = Prepare(recorded=other(function(driver, CARD)))
    assert refusal(kernel, driver, action).code is ErrorCode.WRONG_DEVICE


class TestBindingByOthers:
    """``libvirt`` binds when the domain starts, the operator has done so: it is checked, and nothing is done."""

    def test_libvirt_will_bind_what_is_fit(self, kernel: FakeKernel) -> None:
        driver = kernel.host_driver()
        assert driver.plan(prepare(driver, CARD, binding=Binding.LIBVIRT)).steps == ()

    def test_libvirt_has_bound_it_and_the_vm_runs(self, kernel: FakeKernel) -> None:
        driver = kernel.host_driver()
        do(driver, prepare(driver, CARD))
        kernel.open(CARD)
        assert driver.plan(prepare(driver, CARD, binding=Binding.LIBVIRT)).steps == ()

    def test_libvirt_is_not_let_take_what_the_host_uses(self, kernel: FakeKernel) -> None:
        _addressed(kernel, CARD)
        driver = kernel.host_driver()
        error = refusal(kernel, driver, prepare(driver, CARD, binding=Binding.LIBVIRT))
        assert error.code is ErrorCode.DEVICE_IN_USE

    def test_libvirt_may_be_given_siblings_of_the_same_vm(self, kernel: FakeKernel) -> None:
        driver = kernel.host_driver()
        assert driver.plan(prepare(driver, DISPLAY, SOUND, binding=Binding.LIBVIRT)).steps == ()
        error = refusal(kernel, driver, prepare(driver, DISPLAY, binding=Binding.LIBVIRT))
        assert error.code is ErrorCode.GROUP_NOT_VIABLE

    def test_the_operator_has_to_have_bound_it(self, kernel: FakeKernel) -> None:
        driver = kernel.host_driver()
        error = refusal(kernel, driver, prepare(driver, CARD, binding=Binding.OPERATOR))
        assert error.code is ErrorCode.NOT_BOUND
        assert f"{CARD} is on e1000e" in error.message
        assert f"driverctl set-override {CARD} vfio-pci" in error.message
        do(driver, prepare(driver, CARD))
        assert driver.plan(prepare(driver, CARD, binding=Binding.OPERATOR)).steps == ()

    def test_the_operator_has_to_have_bound_the_whole_group(self, kernel: FakeKernel) -> None:
        driver = kernel.host_driver()
        for address in (DISPLAY,):
            kernel.write(f"sys/bus/pci/devices/{address}/driver_override", "vfio-pci")
            kernel.write("sys/bus/pci/drivers/bochs-drm/unbind", address)
            kernel.write("sys/bus/pci/drivers_probe", address)
        error = refusal(kernel, driver, prepare(driver, DISPLAY, SOUND, binding=Binding.OPERATOR))
        assert error.code is ErrorCode.GROUP_NOT_VIABLE


@pytest.mark.parametrize("attach", [Attach.VDPA, Attach.MACVTAP])
def test_only_vfio_takes_a_function_from_its_driver(kernel: FakeKernel, attach: Attach) -> None:
    _addressed(kernel, CARD)
    driver = kernel.host_driver()
    assert driver.plan(prepare(driver, CARD, attach=attach)).steps == ()


def test_a_device_that_is_taken_may_be_open_in_its_guest(kernel: FakeKernel) -> None:
    driver = kernel.host_driver()
    do(driver, prepare(driver, CARD))
    kernel.open(CARD)
    assert driver.plan(prepare(driver, CARD)).steps == ()


class TestRelease:
    def test_an_open_device_is_never_given_back(self, kernel: FakeKernel) -> None:
        driver = kernel.host_driver()
        taken = do(driver, prepare(driver, DISPLAY, SOUND)).taken
        kernel.open(SOUND)
        error = refusal(kernel, driver, release(DISPLAY, taken))
        assert error.code is ErrorCode.DEVICE_OPEN
        assert error.detail == {
            "address": DISPLAY,
            "opened_by": [{"pid": 4711, "name": "qemu-system-x86"}],
        }

    def test_nor_one_of_which_it_cannot_be_told(self, kernel: FakeKernel) -> None:
        driver = kernel.host_driver()
        taken = do(driver, prepare(driver, CARD)).taken
        kernel.host.write("proc/77/fd", "")
        error = refusal(kernel, driver, release(CARD, taken))
        assert error.code is ErrorCode.DEVICE_OPEN
        assert "cannot be told; root sees that" in error.message

    def test_vfs_that_were_made_meanwhile_are_not_lost_in_use(self, kernel: FakeKernel) -> None:
        _with_vfs(kernel)
        driver = kernel.host_driver()
        taken = do(driver, prepare(driver, PF)).taken
        _bind_by_hand(kernel, PF, "igb")
        kernel.write(f"sys/bus/pci/devices/{PF}/sriov_numvfs", "1")
        do(driver, prepare(driver, FIRST_VF))
        assert refusal(kernel, driver, release(PF, taken)).code is ErrorCode.VFS_IN_THE_WAY


def _bind_by_hand(kernel: FakeKernel, address: str, driver: str) -> None:
    kernel.write(f"sys/bus/pci/drivers/{kernel.driver_of(address)}/unbind", address)
    kernel.write(f"sys/bus/pci/devices/{address}/driver_override", driver)
    kernel.write("sys/bus/pci/drivers_probe", address)


COUNTS: dict[str, tuple[Host, str, int, ErrorCode, str]] = {
    "more than it can have": (lambda _: None, PF, 8, ErrorCode.INVALID_REQUEST, "it can have from 0 to 7"),
    "less than none": (lambda _: None, PF, -1, ErrorCode.INVALID_REQUEST, "it can have from 0 to 7"),
    "of a card without SR-IOV": (lambda _: None, CARD, 1, ErrorCode.NOT_SUPPORTED, "it has no SR-IOV"),
    "that the firmware allows none of": (
        lambda kernel: kernel.host.write(f"sys/bus/pci/devices/{PF}/sriov_totalvfs", "0\n"),
        PF,
        1,
        ErrorCode.NOT_SUPPORTED,
        "the firmware setup or the card's own has turned it off",
    ),
    "of a PF that is not there": (lambda _: None, "0000:55:00.0", 1, ErrorCode.UNKNOWN_DEVICE, "no function at"),
    "of a PF that a guest has": (
        lambda kernel: do(kernel.host_driver(), prepare(kernel.host_driver(), PF)),
        PF,
        1,
        ErrorCode.NOT_SUPPORTED,
        f"{PF} is on vfio-pci: only its own driver makes VFs; 'laneway release --device {PF}' gives it back",
    ),
    "of a PF without a driver": (
        lambda kernel: kernel.write("sys/bus/pci/drivers/igb/unbind", PF),
        PF,
        1,
        ErrorCode.NOT_SUPPORTED,
        "without a driver",
    ),
    "while a VF is open": (
        _with_open_vf,
        PF,
        4,
        ErrorCode.VFS_IN_THE_WAY,
        "is open in",
    ),
    "while the host uses a VF": (
        _with_used_vf,
        PF,
        0,
        ErrorCode.VFS_IN_THE_WAY,
        "is in use by the host",
    ),
}


@pytest.mark.parametrize(("host", "address", "count", "code", "says"), COUNTS.values(), ids=COUNTS.keys())
def test_a_number_of_vfs_is_refused(
    kernel: FakeKernel, host: Host, address: str, count: int, code: ErrorCode, says: str
) -> None:
    host(kernel)
    error = refusal(kernel, kernel.host_driver(), SetVfCount(address=at(address), count=count, autoprobe=True))
    assert error.code is code
    assert says in error.message


def test_a_captured_host_cannot_be_changed(kernel: FakeKernel) -> None:
    captured = LinuxHostDriver(kernel.root)
    for change in (
        lambda: captured.plan(prepare(captured, CARD)),
        lambda: do(captured, prepare(captured, CARD)),
    ):
        with pytest.raises(LanewayError, match="is a captured host, which cannot be changed") as caught:
            change()
        assert caught.value.code is ErrorCode.NOT_SUPPORTED
    assert captured.describe().abilities == frozenset()


def test_the_hosts_of_these_tests_are_fit(tmp_path: Path) -> None:
    """Else a refusal would not show what it is for."""
    kernel = with_pf(with_display(with_card(FakeKernel(tmp_path))), vfs=1)
    driver = kernel.host_driver()
    for action in (
        prepare(driver, CARD),
        prepare(driver, DISPLAY, SOUND),
        prepare(driver, PF),
        prepare(driver, FIRST_VF),
        SetVfCount(address=at(PF), count=7, autoprobe=True),
    ):
        assert driver.plan(action).steps
