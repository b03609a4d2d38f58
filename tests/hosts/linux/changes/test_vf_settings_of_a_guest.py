"""What a PF enforces for a VF is set when a guest gets it, and set back when it is given back, on a fake kernel."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from hosts.linux.changes.kernels import FIRST_VF, PF, SECOND_VF, at, do, prepare, release, with_pf
from hosts.linux.changes.test_vf_settings import ALL, EARLIER, FRESH, PlayedKernel, state_of
from hosts.linux.fake_kernel import FakeKernel
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.interfaces.host_changes import Ending, SetVfCount, Step, Unfinished, VfSettings


@pytest.fixture
def settings() -> PlayedKernel:
    return PlayedKernel({0: EARLIER, 1: FRESH})


@pytest.fixture
def kernel(tmp_path: Path, settings: PlayedKernel) -> FakeKernel:
    """A PF with two VFs, whose interface has the index 3."""
    kernel = with_pf(FakeKernel(tmp_path), vfs=2)
    net = kernel.root / f"sys/bus/pci/devices/{PF}/net/ens5"
    net.mkdir(parents=True)
    (net / "ifindex").write_text("3\n")
    (net / "address").write_text("b8:ce:f6:00:00:01\n")
    kernel.vf_kernel = settings
    return kernel


def test_they_are_set_last_and_set_back_first(kernel: FakeKernel, settings: PlayedKernel) -> None:
    driver = kernel.host_driver()
    outcome = do(driver, prepare(driver, FIRST_VF, vf_settings=ALL))
    assert outcome.taken[-1].kind == "vf_settings"
    assert settings.vfs == {0: state_of(ALL), 1: FRESH}
    do(driver, release(FIRST_VF, outcome.taken))
    assert settings.vfs == {0: EARLIER, 1: FRESH}
    assert kernel.driver_of(FIRST_VF) == "igbvf"


def test_they_do_not_stay_where_the_vf_stays_with_the_driver_for_guests(
    kernel: FakeKernel, settings: PlayedKernel
) -> None:
    driver = kernel.host_driver()
    outcome = do(driver, release(FIRST_VF, do(driver, prepare(driver, FIRST_VF, vf_settings=ALL)).taken, keep=True))
    assert settings.vfs[0] == EARLIER
    assert kernel.driver_of(FIRST_VF) == "vfio-pci"
    assert "vf_settings" not in {step.kind for step in outcome.taken}


def test_one_that_is_refused_undoes_all(kernel: FakeKernel, settings: PlayedKernel) -> None:
    settings.refused["trust"] = 95
    driver, before = kernel.host_driver(), kernel.tree()
    with pytest.raises(
        LanewayError, match=r"0000:81:00.0 \(ens5\) does not set trust on for its VF 0: refused"
    ) as failed:
        do(driver, prepare(driver, FIRST_VF, vf_settings=ALL))
    assert (failed.value.code, failed.value.detail["undone"]) == (ErrorCode.HOST_CHANGE_FAILED, True)
    assert kernel.tree() == before
    assert settings.vfs[0] == EARLIER


def test_a_process_that_ended_in_the_middle_of_them_is_recovered_from(
    kernel: FakeKernel, settings: PlayedKernel
) -> None:
    driver, before, begun = kernel.host_driver(), kernel.tree(), list[Step]()
    plan = driver.plan(prepare(driver, FIRST_VF, vf_settings=ALL))
    driver.apply(plan, begun.append, lambda _words: None)
    settings.vfs[0] = replace(EARLIER, vlan=state_of(ALL).vlan, trust=True)
    assert driver.recover(Unfinished(plan=plan, begun=tuple(begun))).ending is Ending.UNDONE
    assert settings.vfs[0] == EARLIER
    assert kernel.tree() == before


def test_nothing_is_asked_of_the_pf_where_nothing_is_wanted(kernel: FakeKernel, settings: PlayedKernel) -> None:
    driver = kernel.host_driver()
    do(driver, prepare(driver, FIRST_VF, vf_settings=VfSettings()))
    assert settings.made == []


@pytest.mark.parametrize("is_pf_there", [True, False], ids=["its PF has no VFs", "the whole card is gone"])
def test_of_a_vf_that_is_gone_nothing_is_set_back(
    kernel: FakeKernel, settings: PlayedKernel, *, is_pf_there: bool
) -> None:
    driver = kernel.host_driver()
    taken = do(driver, prepare(driver, FIRST_VF, vf_settings=ALL)).taken
    kernel.write(f"sys/bus/pci/devices/{PF}/sriov_numvfs", "0")
    if not is_pf_there:
        kernel.sysfs.remove(PF)
    settings.made.clear()
    assert driver.plan(release(FIRST_VF, taken)).steps == ()
    assert do(driver, release(FIRST_VF, taken)).ending is Ending.DONE
    assert settings.made == []


class TestOfAPf:
    """Its VFs go away when a guest gets it, and with them what it enforced for them."""

    def test_they_come_back_with_the_vfs(self, kernel: FakeKernel, settings: PlayedKernel) -> None:
        driver, before = kernel.host_driver(), kernel.tree()
        taken = do(driver, prepare(driver, PF)).taken
        settings.vfs = {0: FRESH, 1: FRESH}
        do(driver, release(PF, taken))
        assert settings.vfs == {0: EARLIER, 1: FRESH}
        assert kernel.tree() == before

    def test_they_are_kept_while_it_stays_with_the_driver_for_guests(
        self, kernel: FakeKernel, settings: PlayedKernel
    ) -> None:
        driver = kernel.host_driver()
        taken = do(driver, prepare(driver, PF)).taken
        kept = do(driver, release(PF, taken, keep=True)).taken
        settings.vfs = {0: FRESH, 1: FRESH}
        do(driver, release(PF, kept))
        assert settings.vfs == {0: EARLIER, 1: FRESH}

    def test_they_come_back_where_another_number_of_vfs_cannot_be_made(
        self, kernel: FakeKernel, settings: PlayedKernel
    ) -> None:
        def fail(path: str, done: bool) -> None:
            if path.endswith("sriov_numvfs") and done:
                settings.vfs = {0: FRESH, 1: FRESH}
                kernel.disturb = lambda path, done: None
                raise OSError(12, "Cannot allocate memory", path)

        kernel.disturb = fail
        driver = kernel.host_driver()
        with pytest.raises(LanewayError) as failed:
            do(driver, SetVfCount(address=at(PF), count=3, autoprobe=True))
        assert failed.value.detail["undone"]
        assert settings.vfs == {0: EARLIER, 1: FRESH}

    def test_a_pf_without_an_interface_has_none(self, kernel: FakeKernel, settings: PlayedKernel) -> None:
        shutil.rmtree(kernel.root / f"sys/bus/pci/devices/{PF}/net")
        driver = kernel.host_driver()
        assert "kept_vf_settings" not in {step.kind for step in do(driver, prepare(driver, PF)).taken}


def test_what_was_set_for_a_vf_that_is_gone_with_its_card_is_not_set_back(
    kernel: FakeKernel, settings: PlayedKernel
) -> None:
    driver = kernel.host_driver()
    taken = do(driver, prepare(driver, FIRST_VF, vf_settings=ALL)).taken
    for address in (FIRST_VF, SECOND_VF, PF):
        (kernel.root / f"sys/bus/pci/devices/{address}").unlink()
    assert do(driver, release(FIRST_VF, taken)).ending is Ending.DONE
