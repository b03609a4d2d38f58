"""Messages about VFs. The bytes of those sent are what pyroute2 0.9.7 makes of the same, but for the list of VLANs."""

import pytest

from hosts.linux.changes.vf_kernel_messages import new_link, vf_info
from laneway.hosts.linux import netlink
from laneway.hosts.linux.changes import vf_messages
from laneway.hosts.linux.changes.vf_messages import VfState, Vlan
from laneway.interfaces.host_changes import LinkState, VfSettings

FRAME = "13000500070000000000000000000000030000000000000000000000"
"""RTM_SETLINK, a request to be acknowledged, the seventh; of interface 3."""

SENT = {
    "mac": (
        VfState(mac="02:00:00:00:00:0a"),
        f"50000000{FRAME}300016002c000100280001000200000002000000000a" + "00" * 26,
    ),
    "vlan": (VfState(vlan=Vlan(100)), f"38000000{FRAME}180016001400010010000200020000006400000000000000"),
    "no vlan": (VfState(vlan=Vlan(0)), f"38000000{FRAME}180016001400010010000200020000000000000000000000"),
    "spoof check on": (VfState(spoof_check=True), f"34000000{FRAME}14001600100001000c0004000200000001000000"),
    "spoof check off": (VfState(spoof_check=False), f"34000000{FRAME}14001600100001000c0004000200000000000000"),
    "trust on": (VfState(trust=True), f"34000000{FRAME}14001600100001000c0009000200000001000000"),
    "link state auto": (
        VfState(link_state=LinkState.AUTO),
        f"34000000{FRAME}14001600100001000c0005000200000000000000",
    ),
    "link state disable": (
        VfState(link_state=LinkState.DISABLE),
        f"34000000{FRAME}14001600100001000c0005000200000002000000",
    ),
    "vlan of 802.1ad with a priority": (
        VfState(vlan=Vlan(100, 3, 0x88A8)),
        f"40000000{FRAME}200016001c00010018000c001400010002000000640000000300000088a80000",
    ),
}


def read(data: bytes) -> dict[int, VfState]:
    (message,) = netlink.messages(data)
    return dict(vf_messages.read(message))


@pytest.mark.parametrize(("state", "expected"), SENT.values(), ids=SENT)
def test_a_setting_is_sent_as(state: VfState, expected: str) -> None:
    ((_, setting),) = vf_messages.settings(2, state).items()
    assert vf_messages.set_one(3, 7, setting).hex() == expected


def test_all_vfs_are_asked_for_without_their_statistics() -> None:
    assert (
        vf_messages.ask(3, 7).hex() == "28000000120001000700000000000000000000000300000000000000"
        "0000000008001d0009000000"
    )


def test_each_setting_is_a_message_of_its_own_under_its_name() -> None:
    state = VfState(mac="02:00:00:00:00:0a", vlan=Vlan(5), spoof_check=True, trust=False, link_state=LinkState.ENABLE)
    assert list(vf_messages.settings(0, state)) == ["mac", "vlan", "spoof_check", "trust", "link_state"]
    assert vf_messages.settings(0, VfState()) == {}


def test_settings_are_wanted_with_vlans_of_802_1q_without_priority() -> None:
    settings = VfSettings(mac="02:00:00:00:00:AB", vlan=7, trust=True)
    assert VfState.wanted(settings) == VfState(mac="02:00:00:00:00:ab", vlan=Vlan(7, 0, 0x8100), trust=True)


def test_the_state_of_every_vf_is_read() -> None:
    first = vf_info(0)
    second = vf_info(1, mac="02:00:00:00:00:0a", vlan=(100, 3), protocol=0x88A8, spoof_check=0, link_state=2, trust=1)
    assert read(new_link([first, second])) == {
        0: VfState(mac="00:00:00:00:00:00", vlan=Vlan(), spoof_check=True, trust=False, link_state=LinkState.AUTO),
        1: VfState(
            mac="02:00:00:00:00:0a",
            vlan=Vlan(100, 3, 0x88A8),
            spoof_check=False,
            trust=True,
            link_state=LinkState.DISABLE,
        ),
    }


def test_what_the_driver_does_not_tell_is_not_known() -> None:
    state = read(new_link([vf_info(0, spoof_check=0xFFFFFFFF, trust=0xFFFFFFFF, link_state=9)]))[0]
    assert (state.spoof_check, state.trust, state.link_state) == (None, None, None)


def test_an_old_kernel_tells_the_vlan_without_its_protocol() -> None:
    assert read(new_link([vf_info(0, vlan=(100, 3), protocol=None)]))[0].vlan == Vlan(100, 3)


def test_an_interface_without_vfs_has_none() -> None:
    assert read(new_link([])) == {}


def test_another_message_tells_of_no_vfs() -> None:
    assert vf_messages.read(netlink.Message(3, 0, 1, b"")) == {}


def test_256_vfs_have_room_in_one_attribute() -> None:
    vfs = [vf_info(number) for number in range(256)]
    assert sum(map(len, vfs)) + 4 < 1 << 16
    assert len(read(new_link(vfs))) == 256


def test_a_vf_that_is_cut_off_is_left_out() -> None:
    data = new_link([vf_info(0), vf_info(1)])
    message = netlink.Message(16, 0, 1, data[16:-40])
    assert vf_messages.read(message).keys() <= {0}
