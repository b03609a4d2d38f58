"""What is done next for a port, by what is wished, what is known and what is seen (rules C73, C75, C77, C83)."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from domain.devices import device
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import DevType
from laneway.interfaces.network import BindingRecord, NetworkPort, Profile, StandbyBinding
from laneway.network.binding_profile import binding_profile
from laneway.network.binding_steps import (
    SeenPort,
    Standing,
    bound_profile,
    next_step_to_bind,
    next_step_to_unbind,
)
from laneway.network.port_steps import (
    Activate,
    AddStandby,
    Bind,
    ChangeStandby,
    DeleteStandby,
    RenewMac,
    Step,
    Take,
    Unbind,
)
from laneway.network.wished_bindings import WishedBinding

DEVICE = device("0000:81:00.1", DevType.VF, tags={"physical_network": "physnet1"})
RIGHT = dict(binding_profile(DEVICE))
STALE = RIGHT | {"pci_slot": "0000:99:00.0"}
WISH = WishedBinding(port="p1", host="h1", consumer="vm1", device=DEVICE, profile=RIGHT)
STANDBY = replace(WISH, is_active=False)
FREE = NetworkPort(id="p1", network="n1", vnic_type="direct", mac_address="fa:16:3e:00:00:01", revision=1)
TAKEN = replace(FREE, device_id="vm1", device_owner="compute:laneway")
BOUND = replace(TAKEN, host="h1", vif_type="hw_veb", profile=RIGHT)
ELSEWHERE = replace(BOUND, host="h2", profile=STALE)
THEIRS = replace(FREE, id="p2", device_id="other-vm", host="h1", vif_type="hw_veb", profile=RIGHT)
RECORD = BindingRecord(
    port="p1",
    consumer="vm1",
    address=DEVICE.address,
    profile=RIGHT,
    since=datetime(2026, 12, 1, tzinfo=UTC),
    is_bound=True,
)
WITH_MAC = RIGHT | {"device_mac_address": "b4:96:91:00:00:01"}


def seen(port: NetworkPort, **more: Any) -> SeenPort:
    return SeenPort(port=port, **more)


def standby(host: str, profile: Profile) -> StandbyBinding:
    return StandbyBinding(host=host, vif_type="hw_veb", profile=profile)


@pytest.mark.parametrize(
    ("wish", "record", "there", "expected"),
    [
        pytest.param(WISH, None, seen(FREE), Take("vm1"), id="a free port is taken first"),
        pytest.param(WISH, None, seen(TAKEN), Bind("h1", RIGHT), id="and then bound"),
        pytest.param(WISH, RECORD, seen(BOUND), Standing.DONE, id="a bound one is done"),
        pytest.param(WISH, None, seen(BOUND), Standing.DONE, id="whoever has bound it"),
        pytest.param(
            WISH, RECORD, seen(replace(BOUND, vif_type="binding_failed")), Bind("h1", RIGHT), id="a failed one, again"
        ),
        pytest.param(WISH, RECORD, seen(replace(BOUND, vif_type="unbound")), Bind("h1", RIGHT), id="a half bound one"),
        pytest.param(WISH, RECORD, seen(replace(BOUND, profile=STALE)), Bind("h1", RIGHT), id="a stale profile"),
        pytest.param(
            WISH,
            RECORD,
            seen(replace(BOUND, profile=RIGHT | {"vf_num": 7})),
            Standing.DONE,
            id="a key of which nothing is known any more",
        ),
        pytest.param(
            replace(WISH, profile=RIGHT | {"vf_num": 1}),
            RECORD,
            seen(BOUND),
            Standing.DONE,
            id="a key that is known only since",
        ),
        pytest.param(
            replace(WISH, profile=RIGHT | {"vf_num": 1}),
            RECORD,
            seen(replace(BOUND, profile=RIGHT | {"vf_num": 7})),
            Bind("h1", RIGHT | {"vf_num": 1}),
            id="a key of another device",
        ),
        pytest.param(
            WISH,
            RECORD,
            seen(replace(BOUND, profile={})),
            Bind("h1", RIGHT),
            id="a profile that was emptied",
        ),
        pytest.param(
            WISH,
            RECORD,
            seen(replace(BOUND, profile=RIGHT | {"theirs": 1, "allocation": "rp"})),
            Standing.DONE,
            id="keys of others stay",
        ),
        pytest.param(WISH, RECORD, seen(replace(BOUND, device_id=None)), Take("vm1"), id="one that lost its VM"),
        pytest.param(WISH, None, seen(ELSEWHERE), Bind("h1", RIGHT), id="a VM that was off has moved here"),
        pytest.param(
            WISH,
            None,
            seen(ELSEWHERE, standbys=[standby("h1", RIGHT)]),
            Activate("h1"),
            id="a VM that ran has moved here",
        ),
        pytest.param(
            WISH,
            RECORD,
            seen(ELSEWHERE, standbys=[standby("h1", STALE)]),
            ChangeStandby("h1", RIGHT),
            id="after the standby is right",
        ),
        pytest.param(
            WISH,
            None,
            seen(TAKEN, standbys=[standby("h2", STALE)]),
            Bind("h1", RIGHT),
            id="standbys of other hosts do not matter",
        ),
        pytest.param(STANDBY, None, seen(ELSEWHERE), AddStandby("h1", RIGHT), id="a standby beside the active one"),
        pytest.param(
            STANDBY, None, seen(ELSEWHERE, standbys=[standby("h1", RIGHT)]), Standing.DONE, id="one that is there"
        ),
        pytest.param(
            STANDBY,
            None,
            seen(ELSEWHERE, standbys=[standby("h1", STALE)]),
            ChangeStandby("h1", RIGHT),
            id="one that is stale",
        ),
        pytest.param(STANDBY, None, seen(TAKEN), Standing.WAITS, id="one of a port that the source has not bound yet"),
    ],
)
def test_c83_the_next_step_to_bind(
    wish: WishedBinding, record: BindingRecord | None, there: SeenPort, expected: Step | Standing
) -> None:
    """C83."""
    assert next_step_to_bind(wish, record, there) == expected


@pytest.mark.parametrize(
    ("wish", "record", "there", "code", "message"),
    [
        pytest.param(WISH, None, None, ErrorCode.UNKNOWN_PORT, "Neutron has no port p1", id="a port that is gone"),
        pytest.param(
            WISH,
            None,
            seen(replace(FREE, device_id="vm2")),
            ErrorCode.PORT_IN_USE,
            "port p1 is a port of vm2 already",
            id="a port of another VM",
        ),
        pytest.param(
            WISH,
            None,
            seen(FREE, rivals=[THEIRS]),
            ErrorCode.PORT_IN_USE,
            "port p1 cannot have 0000:81:00.1, which port p2 of other-vm has on h1",
            id="a device that another port has",
        ),
        pytest.param(
            WISH,
            RECORD,
            seen(ELSEWHERE),
            ErrorCode.PORT_IN_USE,
            "port p1 was bound on h1, and somebody has bound it on h2",
            id="a port that somebody has moved",
        ),
        pytest.param(
            WISH,
            None,
            seen(replace(FREE, vnic_type="normal")),
            ErrorCode.PORT_BINDING_FAILED,
            "of vnic_type normal, to which no PCI device is bound",
            id="a port that was made another kind",
        ),
        pytest.param(
            WISH,
            None,
            seen(replace(TAKEN, vnic_type="remote-managed")),
            ErrorCode.PORT_BINDING_FAILED,
            "lacks card_serial_number, pf_mac_address, vf_num",
            id="a remote-managed port whose device is not known well enough",
        ),
        pytest.param(
            replace(WISH, profile=WITH_MAC),
            None,
            seen(TAKEN, same_mac=[replace(THEIRS, mac_address="b4:96:91:00:00:01")]),
            ErrorCode.PORT_IN_USE,
            "port p1 cannot have b4:96:91:00:00:01, the MAC of 0000:81:00.1, which port p2 has",
            id="a MAC that another port has",
        ),
        pytest.param(
            replace(WISH, profile=None, problem=LanewayError(ErrorCode.UNKNOWN_DEVICE, "the network is not known")),
            None,
            seen(FREE),
            ErrorCode.UNKNOWN_DEVICE,
            "the network is not known",
            id="a wish with a problem",
        ),
    ],
)
def test_c73_c75_what_cannot_be_bound(
    wish: WishedBinding, record: BindingRecord | None, there: SeenPort | None, code: ErrorCode, message: str
) -> None:
    """C73, C75."""
    with pytest.raises(LanewayError, match=message) as caught:
        next_step_to_bind(wish, record, there)
    assert caught.value.code is code


def test_c75_a_remote_managed_port_is_bound_with_all_that_ovn_needs() -> None:
    """C75."""
    full = RIGHT | {"card_serial_number": "MT1", "pf_mac_address": "b4:96:91:00:00:03", "vf_num": 0}
    port = replace(TAKEN, vnic_type="remote-managed")
    assert next_step_to_bind(replace(WISH, profile=full), None, seen(port)) == Bind("h1", full)


@pytest.mark.parametrize(
    ("record", "there", "expected"),
    [
        pytest.param(RECORD, None, Standing.DONE, id="a port that is gone"),
        pytest.param(RECORD, seen(BOUND), Unbind({}), id="a bound one"),
        pytest.param(
            RECORD,
            seen(replace(BOUND, profile=RIGHT | {"theirs": 1, "capabilities": ["switchdev"], "allocation": "rp"})),
            Unbind({"theirs": 1}),
            id="keys of others stay",
        ),
        pytest.param(RECORD, seen(replace(BOUND, vif_type="binding_failed")), Unbind({}), id="a failed one"),
        pytest.param(RECORD, seen(replace(BOUND, device_id=None)), Unbind({}), id="one that lost its VM"),
        pytest.param(RECORD, seen(TAKEN), Unbind({}), id="one that was taken and never bound"),
        pytest.param(RECORD, seen(FREE), Standing.DONE, id="a free one"),
        pytest.param(RECORD, seen(replace(BOUND, device_id="vm2")), Standing.DONE, id="one of another VM"),
        pytest.param(
            RECORD, seen(replace(BOUND, profile=STALE)), Unbind({}), id="one whose new device was not told of any more"
        ),
        pytest.param(
            RECORD,
            seen(replace(BOUND, profile=STALE, device_id=None)),
            Standing.DONE,
            id="one of nobody with another device",
        ),
        pytest.param(RECORD, seen(ELSEWHERE), Standing.DONE, id="one on another host"),
        pytest.param(RECORD, seen(BOUND, elsewhere=True), Standing.WAITS, id="one that is to be bound elsewhere"),
        pytest.param(RECORD, seen(TAKEN, elsewhere=True), Standing.WAITS, id="one that was taken, and no more yet"),
        pytest.param(
            RECORD, seen(ELSEWHERE, standbys=[standby("h1", RIGHT)]), DeleteStandby("h1"), id="what is left of a move"
        ),
        pytest.param(
            RECORD,
            seen(BOUND, standbys=[standby("h3", STALE)]),
            DeleteStandby("h3"),
            id="standbys on other hosts go before the port is free",
        ),
        pytest.param(
            replace(RECORD, profile=WITH_MAC),
            seen(replace(FREE, mac_address="b4:96:91:00:00:01")),
            RenewMac(),
            id="a free one with the device's MAC",
        ),
        pytest.param(
            replace(RECORD, profile=WITH_MAC),
            seen(replace(ELSEWHERE, mac_address="b4:96:91:00:00:01")),
            Standing.DONE,
            id="the MAC of a port that is bound elsewhere is left alone",
        ),
        pytest.param(replace(RECORD, profile=WITH_MAC), seen(FREE), Standing.DONE, id="a free one with its own MAC"),
    ],
)
def test_c77_the_next_step_to_unbind(record: BindingRecord, there: SeenPort | None, expected: Step | Standing) -> None:
    """C77, D9."""
    assert next_step_to_unbind(record, "h1", there) == expected


def test_c77_a_bound_profile_has_the_keys_of_the_device_and_of_others_and_none_of_another_device() -> None:
    """C77, C78: what Placement or Cyborg chose for the port stays as long as it is bound."""
    before = {"theirs": 1, "allocation": "rp", "arq_uuid": "a", "vf_num": 7, "pci_slot": "0000:99:00.0"}
    assert bound_profile(before, RIGHT) == {"theirs": 1, "allocation": "rp", "arq_uuid": "a", **RIGHT}
