"""Functions are taken from the host for guests, and given back as they were."""

from pathlib import Path

import pytest

from hosts.linux.changes.kernels import (
    CARD,
    DISPLAY,
    FIRST_VF,
    PF,
    PORT,
    SECOND_VF,
    SOUND,
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
from laneway.interfaces.host_changes import Ending, Step


@pytest.fixture
def kernel(tmp_path: Path) -> FakeKernel:
    return FakeKernel(tmp_path)


def summaries(steps: tuple[Step, ...]) -> list[str]:
    return [step.summary for step in steps]


def given_back(kernel: FakeKernel, address: str, *siblings: str) -> bool:
    """Whether all is as before once a function was taken and given back. It was taken, too."""
    driver, before = kernel.host_driver(), kernel.tree()
    taken = do(driver, prepare(driver, address, *siblings)).taken
    assert {kernel.driver_of(one) for one in (address, *siblings)} == {"vfio-pci"}
    do(driver, release(address, taken))
    return kernel.tree() == before


def test_a_function_goes_to_vfio_pci_by_its_override(kernel: FakeKernel) -> None:
    driver = with_card(kernel).host_driver()
    plan = driver.plan(prepare(driver, CARD))
    assert summaries(plan.steps) == [
        f"write vfio-pci to sys/bus/pci/devices/{CARD}/driver_override (was empty)",
        f"write {CARD} to sys/bus/pci/drivers/e1000e/unbind",
        f"write {CARD} to sys/bus/pci/drivers_probe and wait for vfio-pci to take it (was without a driver)",
    ]
    outcome = driver.apply(plan, lambda _step: None, lambda _words: None)
    assert (outcome.ending, outcome.taken) == (Ending.DONE, plan.steps)
    assert kernel.driver_of(CARD) == "vfio-pci"


def test_it_is_reset_and_given_back(kernel: FakeKernel) -> None:
    driver = with_card(kernel).host_driver()
    taken = do(driver, prepare(driver, CARD)).taken
    plan = driver.plan(release(CARD, taken))
    assert summaries(plan.steps) == [
        f"write 1 to sys/bus/pci/devices/{CARD}/reset",
        f"write {CARD} to sys/bus/pci/drivers/vfio-pci/unbind",
        f"write e1000e to sys/bus/pci/devices/{CARD}/driver_override (was vfio-pci)",
        f"write {CARD} to sys/bus/pci/drivers_probe and wait for e1000e to take it (was without a driver)",
        f"write an empty line to sys/bus/pci/devices/{CARD}/driver_override (was e1000e)",
    ]
    assert do(driver, plan.action).taken == ()
    assert kernel.driver_of(CARD) == "e1000e"


def test_planning_writes_nothing(kernel: FakeKernel) -> None:
    driver = with_card(kernel).host_driver()
    before = kernel.tree()
    assert driver.plan(prepare(driver, CARD)).steps
    assert (kernel.writes, kernel.tree()) == ([], before)


def test_what_is_done_is_not_done_again(kernel: FakeKernel) -> None:
    driver = with_card(kernel).host_driver()
    plan = driver.plan(prepare(driver, CARD))
    first = driver.apply(plan, lambda _step: None, lambda _words: None)
    kernel.writes.clear()
    assert driver.apply(plan, lambda _step: None, lambda _words: None) == first
    assert driver.plan(plan.action).steps == ()
    assert kernel.writes == []


class TestAsItWas:
    """Whatever driver and override a function had, it has them again."""

    def test_a_card(self, kernel: FakeKernel) -> None:
        assert given_back(with_card(kernel), CARD)

    def test_a_card_without_a_driver(self, kernel: FakeKernel) -> None:
        with_card(kernel).write("sys/bus/pci/drivers/e1000e/unbind", CARD)
        assert given_back(kernel, CARD)

    @pytest.mark.parametrize("override", ["e1000e", "nobody", "vfio-pci"])
    def test_a_card_with_an_override(self, kernel: FakeKernel, override: str) -> None:
        with_card(kernel).write(f"sys/bus/pci/devices/{CARD}/driver_override", override)
        assert given_back(kernel, CARD)

    def test_a_group_the_bridge_of_which_is_let_be(self, kernel: FakeKernel) -> None:
        driver = with_display(kernel).host_driver()
        before = kernel.tree()
        taken = do(driver, prepare(driver, DISPLAY, SOUND)).taken
        assert [kernel.driver_of(one) for one in (DISPLAY, SOUND, PORT)] == ["vfio-pci", "vfio-pci", "pcieport"]
        assert {step.address for step in taken} == {at(DISPLAY), at(SOUND)}
        do(driver, release(DISPLAY, taken))
        assert kernel.tree() == before

    def test_a_group_of_which_a_member_has_no_driver(self, kernel: FakeKernel) -> None:
        with_display(kernel).write("sys/bus/pci/drivers/snd_hda_intel/unbind", SOUND)
        assert given_back(kernel, DISPLAY)

    def test_a_pf_with_its_vfs(self, kernel: FakeKernel) -> None:
        driver = with_pf(kernel, vfs=2).host_driver()
        before = kernel.tree()
        taken = do(driver, prepare(driver, PF)).taken
        assert (kernel.driver_of(PF), kernel.text(PF, "sriov_numvfs")) == ("vfio-pci", "0")
        assert {step.address for step in taken} == {at(PF)}
        do(driver, release(PF, taken))
        assert kernel.tree() == before
        assert function(driver, SECOND_VF).driver == "igbvf"

    def test_a_pf_whose_vfs_are_not_as_autoprobe_would_have_them(self, kernel: FakeKernel) -> None:
        with_pf(kernel, vfs=3).write("sys/bus/pci/drivers/igbvf/unbind", SECOND_VF)
        kernel.write(f"sys/bus/pci/devices/{FIRST_VF}/driver_override", "nobody")
        assert given_back(kernel, PF)

    def test_a_pf_whose_vfs_have_drivers_against_autoprobe(self, kernel: FakeKernel) -> None:
        with_pf(kernel, vfs=2).write(f"sys/bus/pci/devices/{PF}/sriov_drivers_autoprobe", "0")
        assert given_back(kernel, PF)

    def test_a_vf_that_binds_by_an_override_only(self, kernel: FakeKernel) -> None:
        with_pf(kernel, vfs=1).write(f"sys/bus/pci/devices/{PF}/sriov_drivers_autoprobe", "0")
        assert given_back(kernel, FIRST_VF)

    def test_one_of_two_drivers_that_fit(self, kernel: FakeKernel) -> None:
        """The kernel would take the first that matches; the function had the other."""
        with_card(kernel).write(f"sys/bus/pci/devices/{CARD}/driver_override", "pcieport")
        for path, value in (("drivers/e1000e/unbind", CARD), ("drivers_probe", CARD)):
            kernel.write(f"sys/bus/pci/{path}", value)
        kernel.write(f"sys/bus/pci/devices/{CARD}/driver_override", "\n")
        assert given_back(kernel, CARD)


def test_what_the_operator_bound_to_vfio_pci_stays_there(kernel: FakeKernel) -> None:
    for path, value in (
        (f"devices/{CARD}/driver_override", "vfio-pci"),
        ("drivers/e1000e/unbind", CARD),
        ("drivers_probe", CARD),
    ):
        (kernel if kernel.writes else with_card(kernel)).write(f"sys/bus/pci/{path}", value)
    driver, before = kernel.host_driver(), kernel.tree()
    taken = do(driver, prepare(driver, CARD)).taken
    assert taken == ()
    do(driver, release(CARD, taken))
    assert kernel.tree() == before
    assert kernel.writes[-1] == (f"sys/bus/pci/devices/{CARD}/reset", "1")


def test_what_is_kept_is_reset_and_stays_until_the_host_wants_it(kernel: FakeKernel) -> None:
    driver = with_card(kernel).host_driver()
    before = kernel.tree()
    taken = do(driver, prepare(driver, CARD)).taken
    kernel.writes.clear()
    outcome = do(driver, release(CARD, taken, keep=True))
    assert kernel.writes == [(f"sys/bus/pci/devices/{CARD}/reset", "1")]
    assert (kernel.driver_of(CARD), outcome.taken) == ("vfio-pci", taken)
    do(driver, release(CARD, outcome.taken))
    assert kernel.tree() == before


def test_what_somebody_else_gave_back_stays_with_whom_he_gave_it_to(kernel: FakeKernel) -> None:
    driver = with_card(kernel).host_driver()
    taken = do(driver, prepare(driver, CARD)).taken
    kernel.write("sys/bus/pci/drivers/vfio-pci/unbind", CARD)
    kernel.write(f"sys/bus/pci/devices/{CARD}/driver_override", "pcieport")
    kernel.write("sys/bus/pci/drivers_probe", CARD)
    do(driver, release(CARD, taken))
    assert (kernel.driver_of(CARD), kernel.text(CARD, "driver_override")) == ("pcieport", "(null)")


def test_what_is_gone_needs_nothing(kernel: FakeKernel) -> None:
    driver = with_display(kernel).host_driver()
    taken = do(driver, prepare(driver, DISPLAY, SOUND)).taken
    kernel.sysfs.remove(DISPLAY)
    do(driver, release(DISPLAY, taken))
    assert kernel.driver_of(SOUND) == "snd_hda_intel"


class TestModules:
    """vfio-pci need not be loaded, and there may be a variant of it."""

    def test_vfio_pci_is_loaded_first(self, tmp_path: Path) -> None:
        kernel = with_card(FakeKernel(tmp_path, loaded=()))
        driver = kernel.host_driver()
        taken = do(driver, prepare(driver, CARD)).taken
        assert taken[0].summary == "modprobe vfio_pci (was not loaded)"
        assert (kernel.loads, kernel.driver_of(CARD)) == (["vfio_pci"], "vfio-pci")

    def test_an_override_that_was_there_before_binds_as_it_is_loaded(self, tmp_path: Path) -> None:
        kernel = with_card(FakeKernel(tmp_path, loaded=()))
        kernel.write(f"sys/bus/pci/devices/{CARD}/driver_override", "vfio-pci")
        kernel.write("sys/bus/pci/drivers/e1000e/unbind", CARD)
        before, driver = kernel.tree(), kernel.host_driver()
        taken = do(driver, prepare(driver, CARD)).taken
        assert kernel.driver_of(CARD) == "vfio-pci"
        do(driver, release(CARD, taken))
        assert kernel.tree() == before

    def test_a_device_that_is_to_be_migrated_live_gets_the_variant_for_it(self, kernel: FakeKernel) -> None:
        kernel.host.write(
            "lib/modules/6.12.0/modules.alias",
            "alias vfio_pci:v*d*sv*sd*bc*sc*i* vfio_pci\n"
            "alias vfio_pci:v00008086d000010D3sv*sd*bc*sc*i* mlx5_vfio_pci\n",
        )
        before, driver = with_display(with_card(kernel)).tree(), kernel.host_driver()
        taken = do(driver, prepare(driver, CARD, live_migratable=True)).taken
        assert (kernel.loads, kernel.driver_of(CARD)) == (["mlx5_vfio_pci"], "mlx5_vfio_pci")
        assert driver.plan(prepare(driver, CARD)).steps == ()
        do(driver, release(CARD, taken))
        assert kernel.tree() == before

    def test_a_device_without_a_variant_goes_to_vfio_pci(self, kernel: FakeKernel) -> None:
        driver = with_card(kernel).host_driver()
        do(driver, prepare(driver, CARD, live_migratable=True))
        assert kernel.driver_of(CARD) == "vfio-pci"

    def test_a_device_on_vfio_pci_goes_on_to_the_variant_and_back(self, kernel: FakeKernel) -> None:
        kernel.host.write(
            "lib/modules/6.12.0/modules.alias", "alias vfio_pci:v00008086d000010D3sv*sd*bc*sc*i* mlx5_vfio_pci\n"
        )
        driver = with_card(kernel).host_driver()
        do(driver, prepare(driver, CARD))
        before = kernel.tree()
        taken = do(driver, prepare(driver, CARD, live_migratable=True)).taken
        assert kernel.driver_of(CARD) == "mlx5_vfio_pci"
        do(driver, release(CARD, taken))
        assert kernel.tree() == before
