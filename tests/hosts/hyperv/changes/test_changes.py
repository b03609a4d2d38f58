"""Functions of a Windows host that is made up are taken and given back, and all is as before where a step fails."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from hosts.windows_builder import GPU, answers, assigned, gpu, nic, nvme, recording, root_port, system_disk
from laneway.domain.address import PciAddress
from laneway.domain.cleaning import Cleaning, CleaningKind
from laneway.domain.device import Attach, Binding
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.hosts.hyperv.changes.changer import HyperVChanger
from laneway.hosts.hyperv.driver import HyperVHostDriver
from laneway.hosts.hyperv.powershell_commands import Cmdlet
from laneway.hosts.hyperv.recording import PowerShellAnswers, Recording
from laneway.interfaces.host_changes import (
    Action,
    Clean,
    Ending,
    HostChangeError,
    Outcome,
    Plan,
    Prepare,
    Release,
    SetVfCount,
    Step,
    Unfinished,
    VfSettings,
)
from laneway.interfaces.host_driver import Ability

ADDRESS, PATH = PciAddress.parse("0000:81:00.0"), "PCIROOT(3)#PCI(0200)#PCI(0000)"
NVME_ADDRESS, NIC_ADDRESS = PciAddress.parse("0000:17:08.0"), PciAddress.parse("0000:17:00.0")
DISMOUNTED = GPU.replace("PCI\\", "PCIP\\")
TAKE = [(Cmdlet.DISABLE, GPU), (Cmdlet.DISMOUNT, PATH)]
GIVE_BACK = [(Cmdlet.MOUNT, PATH), (Cmdlet.ENABLE, GPU)]


@dataclass
class Windows:
    """A host with one GPU, which the cmdlets move. ``fails``: these cmdlets do; ``idle``: these have no effect."""

    disabled: bool = False
    dismounted: bool = False
    gone: bool = False
    told: PowerShellAnswers = field(default_factory=answers)
    changes: dict[str, Any] = field(default_factory=dict)
    fails: set[Cmdlet] = field(default_factory=set)
    idle: set[Cmdlet] = field(default_factory=set)
    calls: list[tuple[Cmdlet, str]] = field(default_factory=list)

    def record(self) -> Recording:
        card = gpu(**self.changes)
        card["DEVPKEY_Device_ProblemCode"] = 22 if self.disabled else 0
        if self.dismounted:
            card["DEVPKEY_Device_InstanceId"] = DISMOUNTED
        there = [] if self.gone else [card]
        return recording(root_port(), *there, nic(), nvme(), system_disk(), answers=self.told)

    def run(self, cmdlet: Cmdlet, target: str) -> None:
        self.calls.append((cmdlet, target))
        if cmdlet in self.fails:
            raise LanewayError(ErrorCode.HOST_CHANGE_FAILED, f"{cmdlet} refused")
        if cmdlet in self.idle:
            return
        match cmdlet:
            case Cmdlet.DISABLE | Cmdlet.ENABLE:
                assert target == GPU, "a device on the host goes by its instance id"
                self.disabled = cmdlet is Cmdlet.DISABLE
            case Cmdlet.DISMOUNT | Cmdlet.MOUNT:
                assert target == PATH, "Hyper-V knows devices by their location path"
                self.dismounted = cmdlet is Cmdlet.DISMOUNT

    @property
    def state(self) -> tuple[bool, bool]:
        return self.disabled, self.dismounted


AS_BEFORE, TAKEN = (False, False), (True, True)


def driver_of(host: Windows) -> HyperVHostDriver:
    return HyperVHostDriver(host.record, host.run)


def prepare(host: Windows, address: PciAddress = ADDRESS, **more: Any) -> Prepare:
    return Prepare(recorded=driver_of(host).discover().by_address[address], **more)


def changer(host: Windows) -> HyperVChanger:
    """Its clock runs by what is slept."""
    passed = [0.0]

    def sleep(seconds: float) -> None:
        passed[0] += seconds

    return HyperVChanger(host.record, host.run, lambda: passed[0], sleep)


def apply(host: Windows, action: Action, journal: Callable[[Step], None] = lambda step: None) -> Outcome:
    return changer(host).apply(Plan(action=action), journal, lambda what: None)


def refusal(host: Windows, action: Action) -> LanewayError:
    with pytest.raises(LanewayError) as caught:
        driver_of(host).plan(action)
    assert host.calls == []
    return caught.value


class TestPlanning:
    def test_a_plan_changes_nothing_and_names_the_cmdlets(self) -> None:
        host = Windows()
        plan = driver_of(host).plan(prepare(host))
        assert [step.summary for step in plan.steps] == [
            f"Disable-PnpDevice {PATH}",
            f"Dismount-VMHostAssignableDevice {PATH}",
        ]
        assert host.calls == []

    def test_a_device_that_is_dismounted_needs_no_step(self) -> None:
        host = Windows(disabled=True, dismounted=True)
        for binding in Binding:
            assert driver_of(host).plan(prepare(host, binding=binding)).steps == ()

    def test_a_device_that_is_disabled_is_dismounted_only(self) -> None:
        host = Windows(disabled=True)
        assert [step.kind for step in driver_of(host).plan(prepare(host)).steps] == [Cmdlet.DISMOUNT]

    @pytest.mark.parametrize("binding", [Binding.OPERATOR, Binding.LIBVIRT])
    def test_a_device_that_others_dismount_has_to_be(self, binding: Binding) -> None:
        host = Windows()
        error = refusal(host, prepare(host, binding=binding))
        assert (error.code, "Dismount-VMHostAssignableDevice" in error.message) == (ErrorCode.NOT_BOUND, True)

    @pytest.mark.parametrize("dismounted", [True, False])
    def test_hyper_v_itself_knows_who_has_a_device(self, dismounted: bool) -> None:
        host = Windows(dismounted=dismounted, told=answers(assigned=(assigned("db-1", PATH.lower()),)))
        error = refusal(host, prepare(host))
        assert (error.code, "virtual machine db-1" in error.message) == (ErrorCode.DEVICE_OPEN, True)

    def test_where_it_does_not_tell_nothing_is_done(self) -> None:
        host = Windows(told=answers(assigned=None, failures=("assigned: Zugriff verweigert",)))
        error = refusal(host, prepare(host))
        assert error.code is ErrorCode.HOST_UNREACHABLE
        assert "assigned: Zugriff verweigert" in error.message

    def test_another_card_at_the_address_is_refused(self) -> None:
        host = Windows()
        action = prepare(host)
        moved = replace(action, recorded=replace(action.recorded, location_path="PCIROOT(4)#PCI(0000)"))
        assert refusal(host, moved).code is ErrorCode.WRONG_DEVICE

    def test_a_device_that_is_gone(self) -> None:
        host = Windows()
        action = prepare(host)
        host.gone = True
        assert refusal(host, action).code is ErrorCode.UNKNOWN_DEVICE

    def test_what_windows_cannot_give_away(self) -> None:
        host = Windows(changes={"PciDevice_RequiresReservedMemoryRegion": True})
        assert refusal(host, prepare(host)).code is ErrorCode.NOT_ASSIGNABLE

    def test_what_windows_itself_uses(self) -> None:
        host = Windows()
        error = refusal(host, prepare(host, NVME_ADDRESS))
        assert (error.code, "volume" in error.message or "mounted" in error.message) == (ErrorCode.DEVICE_IN_USE, True)
        assert len(driver_of(host).plan(prepare(host, NVME_ADDRESS, may_be_in_use=True)).steps) == 2

    def test_what_windows_may_use_for_all_that_is_known(self) -> None:
        host = Windows(told=answers(upper_devices=None))
        error = refusal(host, prepare(host, NIC_ADDRESS))
        assert (error.code, "allow_in_use = true" in error.message) == (ErrorCode.DEVICE_IN_USE, True)

    def test_a_device_without_a_location_path(self) -> None:
        host = Windows(changes={"Device_LocationPaths": []})
        assert refusal(host, prepare(host)).code is ErrorCode.NOT_SUPPORTED

    @pytest.mark.parametrize(
        "action",
        [
            lambda host: prepare(host, attach=Attach.VDPA),
            lambda host: prepare(host, vf_settings=VfSettings(vlan=7)),
            lambda host: SetVfCount(address=ADDRESS, count=2, autoprobe=True),
            lambda host: Clean(address=ADDRESS, cleaning=Cleaning(kind=CleaningKind.RESET)),
        ],
        ids=["vDPA", "settings of a VF", "numbers of VFs", "cleaning"],
    )
    def test_what_hyper_v_has_not(self, action: Callable[[Windows], Action]) -> None:
        host = Windows()
        assert refusal(host, action(host)).code is ErrorCode.NOT_SUPPORTED


class TestPreparing:
    def test_every_step_is_journalled_before_it_is_done(self) -> None:
        host, seen = Windows(), list[tuple[str, int]]()
        outcome = apply(host, prepare(host), lambda step: seen.append((step.kind, len(host.calls))))
        assert seen == [(Cmdlet.DISABLE, 0), (Cmdlet.DISMOUNT, 1)]
        assert (host.state, host.calls) == (TAKEN, TAKE)
        assert (outcome.ending, len(outcome.taken)) == (Ending.DONE, 2)

    def test_a_second_time_nothing_is_done(self) -> None:
        host = Windows()
        action = prepare(host)
        apply(host, action)
        assert apply(host, action) == Outcome(ending=Ending.DONE)
        assert host.calls == TAKE

    @pytest.mark.parametrize("cmdlet", [Cmdlet.DISABLE, Cmdlet.DISMOUNT])
    @pytest.mark.parametrize("how", ["fails", "idle"])
    def test_a_step_that_fails_or_has_no_effect_is_taken_back(self, cmdlet: Cmdlet, how: str) -> None:
        host = Windows(**{how: {cmdlet}})  # type: ignore[arg-type]
        with pytest.raises(HostChangeError, match="the host is as before") as caught:
            apply(host, prepare(host))
        assert caught.value.undone
        assert host.state == AS_BEFORE

    def test_what_could_not_be_taken_back_is_said(self) -> None:
        host = Windows(fails={Cmdlet.DISMOUNT, Cmdlet.ENABLE})
        with pytest.raises(HostChangeError, match="could not be taken back: Enable-PnpDevice refused") as caught:
            apply(host, prepare(host))
        assert not caught.value.undone

    def test_the_vm_that_got_it_meanwhile_keeps_it(self) -> None:
        host = Windows()
        plan = driver_of(host).plan(prepare(host))
        host.told = answers(assigned=(assigned("db-1", PATH),))
        with pytest.raises(LanewayError) as caught:
            changer(host).apply(plan, lambda step: None, lambda what: None)
        assert (caught.value.code, host.calls) == (ErrorCode.DEVICE_OPEN, [])


class TestReleasing:
    def taken(self, host: Windows) -> tuple[Step, ...]:
        taken = apply(host, prepare(host)).taken
        host.calls.clear()
        return taken

    def test_it_is_mounted_and_enabled(self) -> None:
        host = Windows()
        assert apply(host, Release(address=ADDRESS, taken=self.taken(host))) == Outcome(ending=Ending.DONE)
        assert (host.state, host.calls) == (AS_BEFORE, GIVE_BACK)

    def test_a_device_that_was_disabled_before_stays_so(self) -> None:
        host = Windows(disabled=True)
        apply(host, Release(address=ADDRESS, taken=self.taken(host)))
        assert (host.state, host.calls) == ((True, False), GIVE_BACK[:1])

    def test_a_device_that_is_kept_stays_dismounted(self) -> None:
        host = Windows()
        taken = self.taken(host)
        outcome = apply(host, Release(address=ADDRESS, taken=taken, keep=True))
        assert (outcome.taken, host.state, host.calls) == (taken, TAKEN, [])

    def test_nothing_is_taken_from_a_vm(self) -> None:
        host = Windows()
        taken = self.taken(host)
        host.told = answers(assigned=(assigned("db-1", PATH),))
        for keep in (True, False):
            assert refusal(host, Release(address=ADDRESS, taken=taken, keep=keep)).code is ErrorCode.DEVICE_OPEN

    def test_a_device_that_was_pulled_out_needs_nothing(self) -> None:
        host = Windows()
        taken = self.taken(host)
        host.gone = True
        assert apply(host, Release(address=ADDRESS, taken=taken)) == Outcome(ending=Ending.DONE)
        assert host.calls == []

    @pytest.mark.parametrize("cmdlet", [Cmdlet.MOUNT, Cmdlet.ENABLE])
    def test_a_step_that_fails_is_taken_back(self, cmdlet: Cmdlet) -> None:
        host = Windows()
        taken = self.taken(host)
        host.fails = {cmdlet}
        with pytest.raises(HostChangeError, match="the host is as before"):
            apply(host, Release(address=ADDRESS, taken=taken))
        assert host.state == TAKEN

    def test_a_second_time_nothing_is_done(self) -> None:
        host = Windows()
        action = Release(address=ADDRESS, taken=self.taken(host))
        apply(host, action)
        host.calls.clear()
        assert apply(host, action) == Outcome(ending=Ending.DONE)
        assert host.calls == []


class TestRecovering:
    """A process that was ended before or after any step."""

    @pytest.mark.parametrize("begun", [1, 2])
    @pytest.mark.parametrize("done", [0, 1])
    def test_a_prepare_that_was_interrupted_is_undone(self, begun: int, done: int) -> None:
        host = Windows()
        plan = driver_of(host).plan(prepare(host))
        for cmdlet, target in TAKE[: begun - 1 + done]:
            host.run(cmdlet, target)
        for _ in range(2):
            assert changer(host).recover(Unfinished(plan=plan, begun=plan.steps[:begun])).ending is Ending.UNDONE
            assert host.state == AS_BEFORE

    @pytest.mark.parametrize("done", [0, 1, 2])
    def test_a_release_that_was_interrupted_is_finished(self, done: int) -> None:
        host = Windows()
        plan = driver_of(host).plan(Release(address=ADDRESS, taken=apply(host, prepare(host)).taken))
        for cmdlet, target in GIVE_BACK[:done]:
            host.run(cmdlet, target)
        for _ in range(2):
            assert changer(host).recover(Unfinished(plan=plan, begun=plan.steps[:done])).ending is Ending.DONE
            assert host.state == AS_BEFORE

    def test_what_fails_may_be_tried_again(self) -> None:
        host = Windows()
        plan = driver_of(host).plan(Release(address=ADDRESS, taken=apply(host, prepare(host)).taken))
        host.fails = {Cmdlet.MOUNT}
        with pytest.raises(HostChangeError) as caught:
            changer(host).recover(Unfinished(plan=plan, begun=plan.steps[:1]))
        assert not caught.value.undone
        host.fails = set()
        assert changer(host).recover(Unfinished(plan=plan, begun=plan.steps[:1])).ending is Ending.DONE


class TestRecordings:
    def test_a_recording_has_no_abilities_and_can_be_planned_on(self) -> None:
        host = Windows()
        captured = HyperVHostDriver(host.record)
        assert captured.describe().abilities == frozenset()
        assert driver_of(host).describe().abilities == {Ability.PREPARE}
        assert len(captured.plan(prepare(host)).steps) == 2

    def test_but_not_changed(self) -> None:
        host = Windows()
        captured = HyperVHostDriver(host.record)
        plan = captured.plan(prepare(host))
        with pytest.raises(LanewayError) as caught:
            captured.apply(plan, lambda step: None, lambda what: None)
        assert caught.value.code is ErrorCode.NOT_SUPPORTED
        with pytest.raises(LanewayError) as caught:
            captured.recover(Unfinished(plan=plan, begun=()))
        assert caught.value.code is ErrorCode.NOT_SUPPORTED
