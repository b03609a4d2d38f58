"""Steps that set what a PF enforces for a VF, on a played kernel that keeps settings per VF."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hosts.host_tree import HostTreeBuilder
from laneway.domain.address import PciAddress
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import DevType, PciFunction
from laneway.hosts.linux.changes import vf_messages
from laneway.hosts.linux.changes.vf_messages import VfState, Vlan
from laneway.hosts.linux.changes.vf_settings import (
    VF_SETTINGS,
    VfSettingsSteps,
    restoring,
    state_from_text,
    state_to_text,
)
from laneway.hosts.linux.tree import HostTree
from laneway.interfaces.host_changes import LinkState, Step, VfSettings

PF = PciAddress.parse("0000:3b:00.0")
VF = PciFunction(
    address=PciAddress.parse("0000:3b:10.2"),
    vendor_id="8086",
    product_id="10ca",
    dev_type=DevType.VF,
    parent_addr=PF,
    vf_index=1,
)
FRESH = VfState(mac="00:00:00:00:00:00", vlan=Vlan(), spoof_check=True, trust=False, link_state=LinkState.AUTO)
EARLIER = replace(FRESH, mac="02:00:00:00:00:0b", vlan=Vlan(7, 3, 0x88A8))
ALL = VfSettings(mac="02:00:00:00:00:0a", vlan=100, trust=True, spoof_check=False, link_state=LinkState.ENABLE)


KNOWN = ("mac", "vlan", "spoof_check", "trust", "link_state")


class PlayedKernel:
    """Interface 3 has the VFs. ``refused`` are settings that its driver refuses, with the number of the error."""

    def __init__(self, vfs: Mapping[int, VfState], refused: Mapping[str, int] | None = None) -> None:
        self.vfs = dict(vfs)
        self.refused = dict(refused or {})
        self.made: list[str] = []

    def read(self, interface: int) -> Mapping[int, VfState]:
        assert interface == 3
        return self.vfs

    def set_one(self, interface: int, setting: bytes) -> None:
        assert interface == 3
        vf, name, state = self._understood(setting)
        if name in self.refused:
            raise OSError(self.refused[name], "refused by the driver")
        self.made.append(name)
        others = {field: getattr(self.vfs[vf], field) for field in KNOWN if field != name}
        self.vfs[vf] = VfState(**others, **{name: getattr(state, name)})

    def _understood(self, setting: bytes) -> tuple[int, str, VfState]:
        """Which of the settings that tests make it is: of which VF, its name, and a state that has it."""
        for vf in self.vfs:
            for state in (state_of(ALL), FRESH, EARLIER):
                for name, known in vf_messages.settings(vf, state).items():
                    if known == setting:
                        return vf, name, state
        raise AssertionError(setting.hex())


def state_of(settings: VfSettings) -> VfState:
    return VfState.wanted(settings)


@pytest.fixture
def tree(host: HostTreeBuilder) -> HostTree:
    interface(host, "ens5", 3)
    return HostTree(host.root)


def interface(host: HostTreeBuilder, name: str, index: int) -> None:
    place = host.function(str(PF))
    for attribute, text in {"ifindex": f"{index}\n", "address": "b8:ce:f6:00:00:01\n"}.items():
        host.write(f"sys/devices/{place}/net/{name}/{attribute}", text)


def planned(steps: VfSettingsSteps, settings: VfSettings = ALL) -> Step:
    step = steps.plan(VF, settings)
    assert step is not None
    return step


def test_the_step_says_what_is_set_what_was_there_and_what_is_set_back(tree: HostTree) -> None:
    step = planned(VfSettingsSteps(tree, PlayedKernel({1: FRESH})), VfSettings(vlan=100, trust=True))
    assert step == Step(
        kind=VF_SETTINGS,
        address=VF.address,
        target="0000:3b:00.0 vf 1",
        value='{"trust": true, "vlan": {"id": 100, "protocol": 33024, "qos": 0}}',
        found='{"trust": false, "vlan": {"id": 0, "protocol": 33024, "qos": 0}}',
        undo='{"trust": false, "vlan": {"id": 0, "protocol": 33024, "qos": 0}}',
        summary="set VLAN, trust of VF 1 on its PF 0000:3b:00.0",
    )


def test_what_is_set_already_is_not_in_the_step(tree: HostTree) -> None:
    step = planned(VfSettingsSteps(tree, PlayedKernel({1: replace(FRESH, trust=True)})), VfSettings(vlan=5, trust=True))
    assert state_from_text(step.value) == VfState(vlan=Vlan(5))


def test_where_all_is_set_already_there_is_no_step(tree: HostTree) -> None:
    steps = VfSettingsSteps(tree, PlayedKernel({1: state_of(ALL)}))
    assert steps.plan(VF, ALL) is None
    assert steps.plan(VF, VfSettings()) is None


def test_all_settings_are_made_and_set_back(tree: HostTree) -> None:
    kernel = PlayedKernel({0: FRESH, 1: EARLIER})
    steps = VfSettingsSteps(tree, kernel)
    step = planned(steps)
    steps.do(step)
    assert kernel.vfs == {0: FRESH, 1: state_of(ALL)}
    steps.do(restoring(step))
    assert kernel.vfs == {0: FRESH, 1: EARLIER}


def test_setting_back_leaves_what_is_as_it_was(tree: HostTree) -> None:
    kernel = PlayedKernel({1: FRESH})
    steps = VfSettingsSteps(tree, kernel)
    step = planned(steps)
    steps.do(restoring(step))
    assert kernel.made == []


def test_the_interface_may_have_another_name_when_it_is_set_back(host: HostTreeBuilder, tree: HostTree) -> None:
    kernel = PlayedKernel({1: FRESH})
    steps = VfSettingsSteps(tree, kernel)
    step = planned(steps)
    steps.do(step)
    net = host.root / f"sys/bus/pci/devices/{PF}/net"
    (net / "ens5").rename(net / "uplink")
    steps.do(restoring(step))
    assert kernel.vfs[1] == FRESH


@pytest.mark.parametrize("number", [95, 22], ids=["EOPNOTSUPP", "EINVAL"])
def test_a_refusal_names_the_setting_the_pf_and_the_words_of_the_kernel(tree: HostTree, number: int) -> None:
    steps = VfSettingsSteps(tree, PlayedKernel({1: FRESH}, {"vlan": number}))
    step = planned(steps)
    with pytest.raises(LanewayError) as failed:
        steps.do(step)
    assert failed.value.code is ErrorCode.HOST_CHANGE_FAILED
    assert failed.value.message == "0000:3b:00.0 (ens5) does not set VLAN 100 for its VF 1: refused by the driver"
    assert failed.value.detail == {"address": "0000:3b:00.0", "setting": "vlan", "errno": number}


def test_without_the_right_to_it_that_is_said(tree: HostTree) -> None:
    steps = VfSettingsSteps(tree, PlayedKernel({1: FRESH}, {"mac": 1}))
    with pytest.raises(LanewayError) as failed:
        steps.do(planned(steps))
    assert failed.value.code is ErrorCode.NO_PERMISSION


def test_a_step_that_was_refused_in_the_middle_is_set_back_whole(tree: HostTree) -> None:
    kernel = PlayedKernel({1: FRESH}, {"trust": 95})
    steps = VfSettingsSteps(tree, kernel)
    step = planned(steps)
    with pytest.raises(LanewayError):
        steps.do(step)
    assert kernel.vfs[1] != FRESH
    steps.do(restoring(step))
    assert kernel.vfs[1] == FRESH


def test_what_was_not_known_is_set_back_to_what_drivers_begin_with(tree: HostTree) -> None:
    kernel = PlayedKernel({1: replace(FRESH, trust=None)})
    steps = VfSettingsSteps(tree, kernel)
    step = planned(steps, VfSettings(trust=True))
    assert step.found == "{}"
    steps.do(step)
    steps.do(restoring(step))
    assert kernel.vfs[1].trust is False


def test_what_was_not_known_and_is_refused_is_let_be(tree: HostTree) -> None:
    steps = VfSettingsSteps(tree, PlayedKernel({1: replace(FRESH, trust=None)}, {"trust": 95}))
    step = planned(steps, VfSettings(trust=True))
    with pytest.raises(LanewayError):
        steps.do(step)
    steps.do(restoring(step))


def test_setting_back_tries_all_and_then_tells_the_first_failure(tree: HostTree) -> None:
    kernel = PlayedKernel({1: FRESH})
    steps = VfSettingsSteps(tree, kernel)
    step = planned(steps)
    steps.do(step)
    kernel.refused = {"mac": 16}
    with pytest.raises(LanewayError, match="does not set MAC 00:00:00:00:00:00"):
        steps.do(restoring(step))
    assert kernel.vfs[1] == replace(FRESH, mac="02:00:00:00:00:0a")


def test_a_pf_without_an_interface_cannot_set_anything(host: HostTreeBuilder) -> None:
    host.function(str(PF))
    with pytest.raises(LanewayError, match=r"the PF 0000:3b:00.0 has no network interface here"):
        VfSettingsSteps(HostTree(host.root), PlayedKernel({})).plan(VF, ALL)


def test_a_pf_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(LanewayError, match=r"the PF 0000:3b:00.0 is not there"):
        VfSettingsSteps(HostTree(tmp_path), PlayedKernel({})).plan(VF, ALL)


def test_a_function_that_is_no_vf_has_no_such_settings(tree: HostTree) -> None:
    with pytest.raises(LanewayError, match=r"0000:3b:10.2 is no VF"):
        VfSettingsSteps(tree, PlayedKernel({})).plan(replace(VF, parent_addr=None), ALL)


def test_settings_that_cannot_be_read_are_a_failure_of_the_pf(tree: HostTree) -> None:
    class Silent(PlayedKernel):
        def read(self, interface: int) -> Mapping[int, VfState]:
            raise OSError(110, "Connection timed out")

    with pytest.raises(LanewayError, match=r"VFs of 0000:3b:00.0 \(ens5\) cannot be read: Connection timed out"):
        VfSettingsSteps(tree, Silent({})).plan(VF, ALL)


@given(
    st.builds(
        VfState,
        mac=st.none() | st.just("02:00:00:00:00:0a"),
        vlan=st.none() | st.builds(Vlan, st.integers(0, 4094), st.integers(0, 7), st.sampled_from([0x8100, 0x88A8])),
        spoof_check=st.none() | st.booleans(),
        trust=st.none() | st.booleans(),
        link_state=st.none() | st.sampled_from(LinkState),
    )
)
def test_a_state_is_read_from_its_text(state: VfState) -> None:
    assert state_from_text(state_to_text(state)) == state
