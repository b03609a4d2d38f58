"""Ports: what they ask for (rules C69, C70), how they are read, and whose MAC they take (C73)."""

import pytest

from domain.devices import device
from laneway.domain.device import Attach
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import DevType
from laneway.domain.requests.matching import serves
from laneway.domain.requests.request import NumaPolicy
from laneway.network.port_parser import parse_ports
from laneway.network.ports import Port, VnicType, request_of

P1 = {"physical_network": "p1"}
NEEDS_NONE = (VnicType.NORMAL, VnicType.BAREMETAL, VnicType.SMART_NIC)
BY_CYBORG = (VnicType.ACCELERATOR_DIRECT, VnicType.ACCELERATOR_DIRECT_PHYSICAL)


@pytest.mark.parametrize(
    ("vnic_type", "dev_type", "attach", "remote_managed"),
    [
        (VnicType.DIRECT, None, Attach.VFIO, False),
        (VnicType.MACVTAP, None, Attach.MACVTAP, False),
        (VnicType.VIRTIO_FORWARDER, None, Attach.VFIO, False),
        (VnicType.DIRECT_PHYSICAL, DevType.PF, Attach.VFIO, False),
        (VnicType.VDPA, DevType.VDPA, Attach.VDPA, False),
        (VnicType.REMOTE_MANAGED, None, Attach.VFIO, True),
    ],
)
def test_what_a_port_asks_for(
    vnic_type: VnicType, dev_type: DevType | None, attach: Attach, remote_managed: bool
) -> None:
    request = request_of(Port(vnic_type=vnic_type, physical_network="p1", id="a-port"), "port-0")
    assert request is not None
    (alternative,) = request.alternatives
    assert (alternative.dev_type, request.attach) == (dev_type, attach)
    assert alternative.tags == {"physical_network": "p1", "remote_managed": remote_managed}
    assert (request.count, request.requester, request.numa_policy) == (1, "a-port", NumaPolicy.LEGACY)


def test_every_vnic_type_is_served_left_alone_or_cyborgs() -> None:
    for vnic_type in VnicType:
        if vnic_type in BY_CYBORG:
            with pytest.raises(LanewayError, match="chosen by Cyborg") as refusal:
                request_of(Port(vnic_type=vnic_type), "port-0")
            assert refusal.value.code is ErrorCode.NOT_SUPPORTED
        else:
            assert (request_of(Port(vnic_type=vnic_type), "port-0") is None) is (vnic_type in NEEDS_NONE)


@pytest.mark.parametrize(
    ("own", "of_guest", "policy"),
    [
        pytest.param("required", "socket", "required", id="its own"),
        pytest.param(None, "socket", "socket", id="that of flavor or image"),
        pytest.param(None, None, "legacy", id="nova's default"),
    ],
)
def test_the_policy_of_a_port_is(own: str | None, of_guest: str | None, policy: str) -> None:
    """Rule C60."""
    given, guest_policy = (None if text is None else NumaPolicy(text) for text in (own, of_guest))
    request = request_of(Port(vnic_type=VnicType.DIRECT, numa_policy=given), "port-0", guest_policy=guest_policy)
    assert request is not None
    assert request.numa_policy == policy


@pytest.mark.parametrize(("trusted", "tags"), [(None, {}), (True, {"trusted": True}), (False, {"trusted": False})])
def test_trust_is_asked_for_only_if_the_port_speaks_of_it(trusted: bool | None, tags: dict[str, bool]) -> None:
    request = request_of(Port(vnic_type=VnicType.DIRECT, trusted=trusted), "port-0")
    assert request is not None
    assert request.alternatives[0].tags == {"physical_network": None, "remote_managed": False, **tags}


@pytest.mark.parametrize(
    ("vnic_type", "tags", "dev_type", "fits"),
    [
        pytest.param(VnicType.DIRECT, {"physical_network": "P1"}, DevType.VF, True, id="a network in other letters"),
        pytest.param(VnicType.DIRECT, P1, DevType.PF, False, id="direct does not get a PF"),
        pytest.param(VnicType.DIRECT, P1 | {"remote_managed": True}, DevType.VF, False, id="direct, remote managed"),
        pytest.param(VnicType.REMOTE_MANAGED, P1 | {"remote_managed": True}, DevType.VF, True, id="remote managed"),
        pytest.param(VnicType.REMOTE_MANAGED, P1, DevType.VF, False, id="remote managed does not get a plain VF"),
        pytest.param(VnicType.DIRECT_PHYSICAL, P1, DevType.PF, True, id="direct-physical gets a PF"),
        pytest.param(VnicType.DIRECT_PHYSICAL, P1, DevType.VF, False, id="direct-physical does not get a VF"),
        pytest.param(VnicType.VDPA, P1, DevType.VDPA, True, id="vdpa gets a vDPA device"),
        pytest.param(VnicType.VDPA, P1, DevType.VF, False, id="vdpa does not get a VF"),
    ],
)
def test_which_device_serves_a_port(
    vnic_type: VnicType, tags: dict[str, str | bool | None], dev_type: DevType, fits: bool
) -> None:
    request = request_of(Port(vnic_type=vnic_type, physical_network="p1"), "port-0")
    assert request is not None
    found = device("0000:81:02.0", dev_type, tags=dict(tags), parent="0000:81:00.0", class_code="020000")
    assert (serves(found, request) is not None) is fits


def test_ports_in_json_are_named_by_their_place() -> None:
    requests = parse_ports(
        [
            {"vnic_type": "normal"},
            {"vnic_type": "direct", "physical_network": "p1", "numa_policy": "required", "trusted": True, "id": "x"},
        ]
    )
    assert [(one.name, one.numa_policy, one.requester) for one in requests] == [("port-1", NumaPolicy.REQUIRED, "x")]


@pytest.mark.parametrize(
    ("ports", "message"),
    [
        pytest.param({}, "is not a list of ports", id="no list"),
        pytest.param([], "no port of 0 needs a PCI device", id="none"),
        pytest.param([{"vnic_type": "normal"}], "no port of 1 needs a PCI device", id="none that needs a device"),
        pytest.param([{}], r"ports\[0\]\.vnic_type", id="no vnic_type"),
        pytest.param([{"vnic_type": "drect"}], "write 'direct'", id="a slip"),
        pytest.param([{"vnic_type": "direct", "physnet": "p1"}], "physical_network", id="an unknown key"),
        pytest.param([{"vnic_type": "direct", "trusted": "yes"}], "is neither true nor false", id="no boolean"),
        pytest.param([{"vnic_type": "direct", "physical_network": 1}], "is not a text", id="a number"),
        pytest.param(["direct"], r"ports\[0\].* is not an object", id="a text"),
    ],
)
def test_wrong_ports_are_refused_with_place_and_remedy(ports: object, message: str) -> None:
    with pytest.raises(LanewayError, match=message) as refusal:
        parse_ports(ports)
    assert refusal.value.code is ErrorCode.INVALID_REQUEST
