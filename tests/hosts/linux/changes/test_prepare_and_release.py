"""Functions are taken from the host for guests, and given back as they were."""

from pathlib import Path

import pytest

from hosts.linux.changes.kernels import (
    CARD,
    DISPLAY,
    PF,
    PORT,
    SOUND,
    do,
    function,
    prepare,
    release,
    with_card,
    with_display,
    with_pf,
)
from hosts.linux.fake_kernel import FakeKernel
from laneway.interfaces.host_changes import Ending


@pytest.fixture
def kernel(tmp_path: Path) -> FakeKernel:
    return FakeKernel(tmp_path)


def test_a_function_goes_to_vfio_pci_by_its_override(kernel: FakeKernel) -> None:
    driver = with_card(kernel).host_driver()
    plan = driver.plan(prepare(driver, CARD))
    assert [step.summary for step in plan.steps] == [
        f"write vfio-pci to sys/bus/pci/devices/{CARD}/driver_override (was empty)",
        f"write {CARD} to sys/bus/pci/drivers/e1000e/unbind",
        f"write {CARD} to sys/bus/pci/drivers_probe and wait for vfio-pci to take it (was without a driver)",
    ]
    outcome = driver.apply(plan, lambda _step: None, lambda _words: None)
    assert (outcome.ending, outcome.taken) == (Ending.DONE, plan.steps)
    assert kernel.driver_of(CARD) == "vfio-pci"


def test_planning_writes_nothing(kernel: FakeKernel) -> None:
    driver = with_card(kernel).host_driver()
    before = kernel.tree()
    assert driver.plan(prepare(driver, CARD)).steps
    assert (kernel.writes, kernel.tree()) == ([], before)


def test_a_function_is_given_back_as_it_was_after_a_reset(kernel: FakeKernel) -> None:
    driver = with_card(kernel).host_driver()
    before = kernel.tree()
    taken = do(driver, prepare(driver, CARD)).taken
    kernel.writes.clear()
    assert do(driver, release(CARD, taken)).taken == ()
    assert kernel.tree() == before
    assert kernel.writes[0] == (f"sys/bus/pci/devices/{CARD}/reset", "1")


def test_what_is_done_is_not_done_again(kernel: FakeKernel) -> None:
    driver = with_card(kernel).host_driver()
    plan = driver.plan(prepare(driver, CARD))
    first = driver.apply(plan, lambda _step: None, lambda _words: None)
    kernel.writes.clear()
    assert driver.apply(plan, lambda _step: None, lambda _words: None) == first
    assert driver.plan(plan.action).steps == ()
    assert kernel.writes == []


def test_siblings_are_taken_along_and_bridges_are_let_be(kernel: FakeKernel) -> None:
    driver = with_display(kernel).host_driver()
    before = kernel.tree()
    taken = do(driver, prepare(driver, DISPLAY, SOUND)).taken
    assert [kernel.driver_of(one) for one in (DISPLAY, SOUND, PORT)] == ["vfio-pci", "vfio-pci", "pcieport"]
    do(driver, release(DISPLAY, taken))
    assert kernel.tree() == before


def test_a_pf_loses_its_vfs_and_gets_them_back(kernel: FakeKernel) -> None:
    driver = with_pf(kernel, vfs=2).host_driver()
    before = kernel.tree()
    taken = do(driver, prepare(driver, PF)).taken
    assert (kernel.driver_of(PF), kernel.text(PF, "sriov_numvfs")) == ("vfio-pci", "0")
    do(driver, release(PF, taken))
    assert kernel.tree() == before
    assert function(driver, "0000:81:10.2").driver == "igbvf"
