"""What libvirt does for a plan: functions taken and given back, and the host as before where a step fails."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from hosts.libvirt.changing_host import ChangingHost, Fn, failing, failing_at
from hosts.libvirt.node_xml import phys_function, virt_functions
from laneway.domain.address import PciAddress
from laneway.domain.cleaning import Cleaning, CleaningKind
from laneway.domain.device import Attach, Binding
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import HostUse, PciFunction
from laneway.hosts.libvirt.changes.changer import LibvirtChanger
from laneway.hosts.libvirt.connection import Described
from laneway.hosts.libvirt.driver import LibvirtHostDriver
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

GPU, AUDIO, STRANGER, NIC, VF = "0000:3b:00.0", "0000:3b:00.1", "0000:3b:00.2", "0000:81:00.0", "0000:81:00.1"
RESET = Cleaning(kind=CleaningKind.RESET)


def at(address: str) -> PciAddress:
    return PciAddress.parse(address)


def a_card() -> dict[str, Fn]:
    return {GPU: Fn(driver="nvidia", group=12), AUDIO: Fn(driver="snd_hda_intel", group=12, klass="0x040300")}


def driver_of(host: ChangingHost) -> LibvirtHostDriver:
    return LibvirtHostDriver(connect=host.connect, connect_to_change=host.connect_to_change)


def recorded(host: ChangingHost, address: str) -> PciFunction:
    return driver_of(host).discover().by_address[at(address)]


def prepare(host: ChangingHost, address: str = GPU, *, siblings: tuple[str, ...] = (AUDIO,), **more: object) -> Prepare:
    return Prepare(recorded=recorded(host, address), siblings=frozenset(map(at, siblings)), **more)  # type: ignore[arg-type]


def changer(host: ChangingHost) -> LibvirtChanger:
    """Its clock runs by what is slept."""
    passed = [0.0]

    def sleep(seconds: float) -> None:
        passed[0] += seconds

    return LibvirtChanger("qemu:///system", host.connect_to_change, lambda: passed[0], sleep)


def apply(host: ChangingHost, action: Action, journal: Callable[[Step], None] = lambda step: None) -> Outcome:
    return changer(host).apply(Plan(action=action), journal, lambda what: None)


def refusal(host: ChangingHost, action: Action) -> LanewayError:
    with pytest.raises(LanewayError) as caught:
        driver_of(host).plan(action)
    return caught.value


class TestPlanning:
    def test_a_plan_only_reads(self) -> None:
        host = ChangingHost(a_card())
        plan = driver_of(host).plan(prepare(host))
        assert [(step.kind, str(step.address), step.found, step.value) for step in plan.steps] == [
            ("detach", GPU, "nvidia", "vfio"),
            ("detach", AUDIO, "snd_hda_intel", "vfio"),
        ]
        assert (host.calls, host.open_to_change) == ([], 0)

    def test_its_steps_say_what_virsh_would_do(self) -> None:
        host = ChangingHost(a_card())
        assert driver_of(host).plan(prepare(host)).steps[0].summary == (
            f"take {GPU} from driver nvidia (virsh nodedev-detach --driver vfio)"
        )

    @pytest.mark.parametrize("bound", ["vfio-pci", "mlx5_vfio_pci", "xe-vfio-pci"])
    def test_what_is_bound_already_needs_no_step(self, bound: str) -> None:
        host = ChangingHost({GPU: Fn(driver=bound, group=12), AUDIO: Fn(driver="vfio-pci", group=12)})
        assert driver_of(host).plan(prepare(host)).steps == ()

    def test_a_function_without_a_driver_is_taken_and_a_sibling_without_one_is_left(self) -> None:
        host = ChangingHost({GPU: Fn(group=12), AUDIO: Fn(group=12)})
        assert [str(step.address) for step in driver_of(host).plan(prepare(host)).steps] == [GPU]

    def test_a_bridge_of_the_group_does_not_count(self) -> None:
        host = ChangingHost({GPU: Fn(driver="nvidia", group=1), NIC: Fn(driver="pcieport", group=1, klass="0x060400")})
        assert len(driver_of(host).plan(prepare(host, siblings=())).steps) == 1

    @pytest.mark.parametrize("driver", ["pci-stub", None])
    def test_a_member_that_is_in_nobodys_way(self, driver: str | None) -> None:
        host = ChangingHost({GPU: Fn(driver="nvidia", group=1), STRANGER: Fn(driver=driver, group=1)})
        assert [str(step.address) for step in driver_of(host).plan(prepare(host, siblings=())).steps] == [GPU]

    @pytest.mark.parametrize("attach", [Attach.VDPA, Attach.MACVTAP])
    def test_what_does_not_go_through_vfio_stays_with_its_driver(self, attach: Attach) -> None:
        host = ChangingHost(a_card())
        assert driver_of(host).plan(prepare(host, attach=attach)).steps == ()

    def test_a_device_that_libvirt_itself_takes_is_only_checked(self) -> None:
        host = ChangingHost(a_card())
        assert driver_of(host).plan(prepare(host, binding=Binding.LIBVIRT)).steps == ()
        assert refusal(host, prepare(host, siblings=(), binding=Binding.LIBVIRT)).code is ErrorCode.GROUP_NOT_VIABLE

    def test_a_device_that_the_operator_binds_has_to_be_bound(self) -> None:
        host = ChangingHost({GPU: Fn(driver="nvidia", group=12)})
        error = refusal(host, prepare(host, binding=Binding.OPERATOR))
        assert error.code is ErrorCode.NOT_BOUND
        assert f"driverctl set-override {GPU} vfio-pci" in error.message
        bound = ChangingHost({GPU: Fn(driver="vfio-pci", group=12)})
        assert driver_of(bound).plan(prepare(bound, binding=Binding.OPERATOR)).steps == ()

    def test_so_have_the_others_of_its_group(self) -> None:
        host = ChangingHost({GPU: Fn(driver="vfio-pci", group=12), AUDIO: Fn(driver="snd_hda_intel", group=12)})
        assert refusal(host, prepare(host, binding=Binding.OPERATOR)).code is ErrorCode.GROUP_NOT_VIABLE

    def test_a_variant_driver_is_left_to_a_libvirt_that_knows_them(self) -> None:
        old, new = ChangingHost(a_card(), told_version=9_010_000), ChangingHost(a_card(), told_version=10_000_000)
        error = refusal(old, prepare(old, live_migratable=True))
        assert (error.code, "from 10.0 on" in error.message) == (ErrorCode.NOT_SUPPORTED, True)
        assert len(driver_of(new).plan(prepare(new, live_migratable=True)).steps) == 2


class TestRefusals:
    def test_a_function_that_is_not_there(self) -> None:
        host = ChangingHost(a_card())
        action = prepare(host)
        del host.functions[GPU]
        assert refusal(host, action).code is ErrorCode.UNKNOWN_DEVICE

    def test_another_card_at_its_address(self) -> None:
        host = ChangingHost(a_card())
        action = prepare(host)
        other = replace(action, recorded=replace(action.recorded, product_id="20b2"))
        error = refusal(host, other)
        assert (error.code, "15b3:20b2" in error.message) == (ErrorCode.WRONG_DEVICE, True)

    def test_a_function_that_a_running_domain_has(self) -> None:
        host = ChangingHost(a_card())
        host.start("db-1", GPU)
        error = refusal(host, prepare(host))
        assert (error.code, "domain db-1 has it" in error.message) == (ErrorCode.DEVICE_OPEN, True)

    @pytest.mark.parametrize("siblings", [(), (AUDIO,)], ids=["not admitted", "admitted, another is not"])
    def test_a_member_of_the_group_that_may_not_be_taken(self, siblings: tuple[str, ...]) -> None:
        host = ChangingHost({**a_card(), STRANGER: Fn(driver="xhci_hcd", group=12)})
        error = refusal(host, prepare(host, siblings=siblings))
        assert error.code is ErrorCode.GROUP_NOT_VIABLE
        assert error.detail["member"] == (STRANGER if siblings else AUDIO)

    def test_an_admitted_sibling_whose_interface_a_domain_has(self) -> None:
        host = ChangingHost(a_card())
        host.start("db-2", AUDIO)
        error = refusal(host, prepare(host))
        assert (error.code, "db-2" in error.message) == (ErrorCode.GROUP_NOT_VIABLE, True)

    def test_a_bridge(self) -> None:
        host = ChangingHost({GPU: Fn(driver="pcieport", klass="0x060400")})
        assert refusal(host, prepare(host)).code is ErrorCode.NOT_ASSIGNABLE

    def test_a_host_without_an_iommu(self) -> None:
        off = Described("capabilities", "<capabilities><host><iommu support='no'/></host></capabilities>")
        host = ChangingHost(a_card(), told=off)
        assert refusal(host, prepare(host)).code is ErrorCode.NOT_ASSIGNABLE

    def test_a_function_in_no_group(self) -> None:
        host = ChangingHost({GPU: Fn(driver="nvidia", group=None)})
        assert refusal(host, prepare(host)).code is ErrorCode.NOT_ASSIGNABLE

    @pytest.mark.parametrize("klass", ["0x010802", "0x020000"], ids=["a disk", "a network card"])
    def test_what_the_host_may_use_for_all_that_libvirt_tells(self, klass: str) -> None:
        host = ChangingHost({NIC: Fn(driver="nvme", klass=klass)})
        error = refusal(host, prepare(host, NIC))
        assert (error.code, "allow_in_use = true" in error.message) == (ErrorCode.DEVICE_IN_USE, True)
        assert len(driver_of(host).plan(prepare(host, NIC, may_be_in_use=True)).steps) == 1
        host.functions[NIC] = replace(host.functions[NIC], driver=None)
        assert len(driver_of(host).plan(prepare(host, NIC)).steps) == 1

    def test_also_of_a_sibling_that_would_be_taken_along(self) -> None:
        host = ChangingHost({GPU: Fn(driver="nvidia", group=1), AUDIO: Fn(driver="nvme", group=1, klass="0x010802")})
        assert refusal(host, prepare(host)).code is ErrorCode.DEVICE_IN_USE

    def test_a_vf_is_there_to_be_given_away(self) -> None:
        pf = Fn(driver="igb", klass="0x020000", facts=(virt_functions([VF], most=7),))
        vf = Fn(driver="igbvf", klass="0x020000", facts=(phys_function(NIC),))
        host = ChangingHost({NIC: pf, VF: vf})
        assert [step.found for step in driver_of(host).plan(prepare(host, VF)).steps] == ["igbvf"]

    def test_a_function_that_has_vfs(self) -> None:
        host = ChangingHost({NIC: Fn(driver="igb", facts=(virt_functions([VF], most=7),)), VF: Fn(driver="igbvf")})
        error = refusal(host, prepare(host, NIC, may_be_in_use=True))
        assert (error.code, f"laneway vfs {NIC} 0" in error.message) == (ErrorCode.VFS_IN_THE_WAY, True)

    def test_what_the_host_used_when_it_was_claimed(self) -> None:
        host = ChangingHost(a_card())
        action = prepare(host)
        used = replace(action, recorded=replace(action.recorded, in_use_by=(HostUse(code="default_route"),)))
        assert refusal(host, used).code is ErrorCode.DEVICE_IN_USE
        assert len(driver_of(host).plan(replace(used, may_be_in_use=True)).steps) == 2

    @pytest.mark.parametrize(
        ("action", "said"),
        [
            (lambda host: SetVfCount(address=at(GPU), count=2, autoprobe=False), "laneway vfs on the host itself"),
            (lambda host: prepare(host, vf_settings=VfSettings(vlan=7)), "<interface type='hostdev'>"),
            (
                lambda host: Clean(address=at(GPU), cleaning=Cleaning(kind=CleaningKind.NVME_FORMAT)),
                "no cleaning of the kind nvme-format",
            ),
        ],
        ids=["numbers of VFs", "settings of a VF", "formats"],
    )
    def test_what_libvirt_cannot_do(self, action: Callable[[ChangingHost], Action], said: str) -> None:
        host = ChangingHost(a_card())
        error = refusal(host, action(host))
        assert (error.code, said in error.message) == (ErrorCode.NOT_SUPPORTED, True)


class TestPreparing:
    def test_every_step_is_journalled_before_it_is_done(self) -> None:
        host, seen = ChangingHost(a_card()), list[tuple[str, int]]()
        outcome = apply(host, prepare(host), lambda step: seen.append((str(step.address), len(host.calls))))
        assert seen == [(GPU, 0), (AUDIO, 1)]
        assert host.drivers == {GPU: "vfio-pci", AUDIO: "vfio-pci"}
        assert (outcome.ending, [step.kind for step in outcome.taken]) == (Ending.DONE, ["detach", "detach"])

    def test_a_second_time_nothing_is_done(self) -> None:
        host = ChangingHost(a_card())
        action = prepare(host)
        apply(host, action)
        assert apply(host, action) == Outcome(ending=Ending.DONE)
        assert len(host.calls) == 2

    def test_a_variant_driver_will_do(self) -> None:
        host = ChangingHost({NIC: Fn(driver="mlx5_core")}, vfio_driver="mlx5_vfio_pci", told_version=10_000_000)
        apply(host, prepare(host, NIC, live_migratable=True))
        assert host.drivers == {NIC: "mlx5_vfio_pci"}

    def test_facts_are_looked_at_anew(self) -> None:
        host = ChangingHost(a_card())
        plan = driver_of(host).plan(prepare(host))
        host.start("db-1", GPU)
        with pytest.raises(LanewayError) as caught:
            changer(host).apply(plan, lambda step: None, lambda what: None)
        assert (caught.value.code, host.calls) == (ErrorCode.DEVICE_OPEN, [])

    @pytest.mark.parametrize("failing_at", [GPU, AUDIO])
    def test_a_step_that_fails_is_taken_back_with_all_before_it(self, failing_at: str) -> None:
        host = ChangingHost(a_card(), fails=failing(("detach", failing_at)))
        with pytest.raises(HostChangeError, match="detach refused; the host is as before") as caught:
            apply(host, prepare(host))
        assert caught.value.undone
        assert host.drivers == ChangingHost(a_card()).drivers

    @pytest.mark.parametrize("failing_at", [0, 1])
    def test_a_journal_that_cannot_be_written_ends_it_too(self, failing_at: int) -> None:
        host, seen = ChangingHost(a_card()), list[Step]()

        def journal(step: Step) -> None:
            if len(seen) == failing_at:
                raise OSError("no space left on device")
            seen.append(step)

        with pytest.raises(HostChangeError, match="OSError: no space left on device; the host is as before"):
            apply(host, prepare(host), journal)
        assert host.drivers == ChangingHost(a_card()).drivers

    def test_a_device_that_no_driver_took_is_given_back(self) -> None:
        host = ChangingHost(a_card(), breaks=frozenset({"detach"}))
        with pytest.raises(HostChangeError, match="is on no driver after libvirt's detach, not on a VFIO driver"):
            apply(host, prepare(host))
        assert host.drivers == ChangingHost(a_card()).drivers

    def test_what_could_not_be_taken_back_is_said(self) -> None:
        host = ChangingHost(a_card(), fails=failing(("detach", AUDIO), ("reattach", GPU)))
        with pytest.raises(HostChangeError, match="could not be taken back: reattach refused") as caught:
            apply(host, prepare(host))
        assert not caught.value.undone
        assert host.drivers == {GPU: "vfio-pci", AUDIO: "snd_hda_intel"}


class TestReleasing:
    def released(self, host: ChangingHost, **more: bool) -> Outcome:
        return apply(host, Release(address=at(GPU), taken=apply(host, prepare(host)).taken, **more))

    def test_all_that_was_taken_is_reset_and_then_given_back_the_last_first(self) -> None:
        host = ChangingHost(a_card())
        assert self.released(host) == Outcome(ending=Ending.DONE)
        assert host.calls[2:] == [("reset", AUDIO), ("reset", GPU), ("reattach", AUDIO), ("reattach", GPU)]
        assert host.drivers == ChangingHost(a_card()).drivers

    def test_a_device_that_cannot_be_reset_is_given_back_all_the_same(self) -> None:
        host = ChangingHost(a_card(), fails=failing(("reset", GPU)))
        assert self.released(host).ending is Ending.DONE
        assert host.drivers == ChangingHost(a_card()).drivers

    def test_a_device_that_is_kept_is_reset_and_stays(self) -> None:
        host = ChangingHost(a_card())
        outcome = self.released(host, keep=True)
        assert [step.kind for step in outcome.taken] == ["detach", "detach"]
        assert host.drivers == {GPU: "vfio-pci", AUDIO: "vfio-pci"}
        apply(host, Release(address=at(GPU), taken=outcome.taken))
        assert host.drivers == ChangingHost(a_card()).drivers

    def test_a_second_time_nothing_is_done(self) -> None:
        host = ChangingHost(a_card())
        taken = apply(host, prepare(host)).taken
        apply(host, Release(address=at(GPU), taken=taken))
        done = list(host.calls)
        assert apply(host, Release(address=at(GPU), taken=taken)) == Outcome(ending=Ending.DONE)
        assert host.calls == done

    @pytest.mark.parametrize(
        ("holding", "code"),
        [(GPU, ErrorCode.DEVICE_OPEN), (STRANGER, ErrorCode.GROUP_NOT_VIABLE)],
        ids=["it is in a guest", "another of its group is"],
    )
    def test_nothing_is_given_back_under_a_guest(self, holding: str, code: ErrorCode) -> None:
        host = ChangingHost({**a_card(), STRANGER: Fn(driver="vfio-pci", group=12)})
        taken = apply(host, prepare(host)).taken
        host.start("db-1", holding)
        assert refusal(host, Release(address=at(GPU), taken=taken)).code is code

    def test_a_device_that_was_pulled_out_needs_nothing(self) -> None:
        host = ChangingHost(a_card())
        taken = apply(host, prepare(host)).taken
        del host.functions[GPU]
        assert apply(host, Release(address=at(GPU), taken=taken)).ending is Ending.DONE
        assert host.drivers == {AUDIO: "snd_hda_intel"}

    def test_a_device_that_another_driver_took_is_taken_again_and_said(self) -> None:
        host = ChangingHost({GPU: Fn(driver="nvidia", preferred="nouveau")})
        taken = apply(host, prepare(host, siblings=())).taken
        with pytest.raises(
            HostChangeError, match="is on driver nouveau after libvirt's reattach, not on driver nvidia"
        ):
            apply(host, Release(address=at(GPU), taken=taken))
        assert host.drivers == {GPU: "vfio-pci"}

    def test_a_driver_may_take_its_time(self) -> None:
        host = ChangingHost({GPU: Fn(driver="nvidia")})
        taken = apply(host, prepare(host, siblings=())).taken
        host.functions[GPU] = replace(host.functions[GPU], preferred=None)

        def sleep(_seconds: float) -> None:
            host.functions[GPU] = replace(host.functions[GPU], driver="nvidia")

        slow = LibvirtChanger("qemu:///system", host.connect_to_change, lambda: 0.0, sleep)
        plan = Plan(action=Release(address=at(GPU), taken=taken))
        assert slow.apply(plan, lambda step: None, lambda what: None).ending is Ending.DONE


class TestCleaning:
    def test_a_reset(self) -> None:
        host = ChangingHost({GPU: Fn(driver="vfio-pci")})
        assert apply(host, Clean(address=at(GPU), cleaning=RESET)) == Outcome(ending=Ending.DONE)
        assert host.calls == [("reset", GPU)]

    def test_one_that_fails_is_an_error(self) -> None:
        host = ChangingHost({GPU: Fn(driver="vfio-pci")}, fails=failing(("reset", GPU)))
        with pytest.raises(HostChangeError, match="reset refused"):
            apply(host, Clean(address=at(GPU), cleaning=RESET))

    def test_nothing_is_reset_under_a_driver_of_the_host_or_a_guest(self) -> None:
        host = ChangingHost({GPU: Fn(driver="nvidia"), NIC: Fn(driver="vfio-pci")})
        host.start("db-1", NIC)
        assert refusal(host, Clean(address=at(GPU), cleaning=RESET)).code is ErrorCode.NOT_BOUND
        assert refusal(host, Clean(address=at(NIC), cleaning=RESET)).code is ErrorCode.DEVICE_OPEN


class TestRecovering:
    """A process that was killed before or after any step."""

    @pytest.mark.parametrize("done", [0, 1])
    @pytest.mark.parametrize("begun", [1, 2])
    def test_a_prepare_that_was_interrupted_is_undone(self, begun: int, done: int) -> None:
        host = ChangingHost(a_card())
        plan = driver_of(host).plan(prepare(host))
        for step in plan.steps[: begun - 1 + done]:
            host.detach(step.target, "vfio")
        unfinished = Unfinished(plan=plan, begun=plan.steps[:begun])
        for _ in range(2):
            assert changer(host).recover(unfinished) == Outcome(ending=Ending.UNDONE)
            assert host.drivers == ChangingHost(a_card()).drivers

    @pytest.mark.parametrize("done", range(5))
    def test_a_release_that_was_interrupted_is_finished(self, done: int) -> None:
        host = ChangingHost(a_card())
        action = Release(address=at(GPU), taken=apply(host, prepare(host)).taken)
        plan = driver_of(host).plan(action)
        for step in plan.steps[:done]:
            if step.kind == "reattach":
                host.reattach(step.target)
        for _ in range(2):
            unfinished = Unfinished(plan=plan, begun=plan.steps[:done])
            assert changer(host).recover(unfinished) == Outcome(ending=Ending.DONE)
            assert host.drivers == ChangingHost(a_card()).drivers

    def test_what_fails_may_be_tried_again(self) -> None:
        host = ChangingHost(a_card(), fails=failing(("reattach", GPU)))
        plan = driver_of(host).plan(prepare(host))
        host.detach(plan.steps[0].target, "vfio")
        with pytest.raises(HostChangeError) as caught:
            changer(host).recover(Unfinished(plan=plan, begun=plan.steps[:1]))
        assert not caught.value.undone
        host.fails = failing()
        changer(host).recover(Unfinished(plan=plan, begun=plan.steps[:1]))
        assert host.drivers == ChangingHost(a_card()).drivers

    def test_a_release_that_still_fails_may_be_tried_again(self) -> None:
        host = ChangingHost(a_card())
        plan = driver_of(host).plan(Release(address=at(GPU), taken=apply(host, prepare(host)).taken))
        host.fails = failing(("reattach", GPU))
        with pytest.raises(HostChangeError, match="cannot be finished"):
            changer(host).recover(Unfinished(plan=plan, begun=plan.steps))
        host.fails = failing()
        assert changer(host).recover(Unfinished(plan=plan, begun=plan.steps)).ending is Ending.DONE

    def test_a_cleaning_has_nothing_to_take_back(self) -> None:
        host = ChangingHost({GPU: Fn(driver="vfio-pci")})
        plan = driver_of(host).plan(Clean(address=at(GPU), cleaning=RESET))
        assert changer(host).recover(Unfinished(plan=plan, begun=plan.steps)).ending is Ending.UNDONE


class TestEveryPointOfFailure:
    """One call or one look fails: the host ends as before or as wanted, by itself or once it is recovered."""

    def ends(self, host: ChangingHost, action: Action, wanted: dict[str, str]) -> None:
        before, plan, begun = dict(host.drivers), Plan(action=action), list[Step]()
        try:
            changer(host).apply(plan, begun.append, lambda what: None)
        except HostChangeError as error:
            if not error.undone:
                host.fails, host.silent_at = failing(), None
                changer(host).recover(Unfinished(plan=plan, begun=tuple(begun)))
        except LanewayError:
            assert begun == []
        assert host.drivers in (before, wanted)

    @pytest.mark.parametrize("number", range(4))
    @pytest.mark.parametrize("of", ["calls", "looks"])
    def test_of_a_prepare(self, of: str, number: int) -> None:
        host = ChangingHost(a_card())
        action = prepare(host)
        host.asked = 0
        if of == "calls":
            host.fails = failing_at(number)
        else:
            host.silent_at = number + 1
        self.ends(host, action, {GPU: "vfio-pci", AUDIO: "vfio-pci"})

    @pytest.mark.parametrize("number", range(5))
    @pytest.mark.parametrize("of", ["calls", "looks"])
    def test_of_a_release(self, of: str, number: int) -> None:
        host = ChangingHost(a_card())
        action = Release(address=at(GPU), taken=apply(host, prepare(host)).taken)
        host.asked = 0
        if of == "calls":
            host.fails = failing_at(number)
        else:
            host.silent_at = number + 1
        self.ends(host, action, {GPU: "nvidia", AUDIO: "snd_hda_intel"})
