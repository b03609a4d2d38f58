"""What a PF enforces for a VF is set when a guest gets it, and set back when it is given back, on a fake kernel."""

from dataclasses import replace
from pathlib import Path

import pytest

from hosts.linux.changes.kernels import FIRST_VF, PF, do, prepare, release, with_pf
from hosts.linux.changes.test_vf_settings import ALL, EARLIER, FRESH, PlayedKernel, state_of
from hosts.linux.fake_kernel import FakeKernel
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.interfaces.host_changes import Ending, Step, Unfinished, VfSettings


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
