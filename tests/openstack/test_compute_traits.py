"""What a compute host can do, and who needs it."""

import pytest

from domain.hosts import pf, take, tracker, vf, wants
from laneway.domain.inventory import Vpd
from laneway.domain.requests.request import DeviceRequest, NumaPolicy
from laneway.domain.tracking.tracker import PciDeviceTracker
from laneway.network.ports import Port, VnicType, request_of
from laneway.openstack.compute_traits import REMOTE_MANAGED_PORTS, SOCKET_AFFINITY, offered_traits, required_traits

NIC = "0000:31:00.0"
REMOTE: list[object] = [{"product_id": "154c", "remote_managed": True}]
ASKING = wants(tags={"remote_managed": True})
DPU = (pf(NIC, vpd=Vpd(card_serial_number="MT1")), vf("0000:31:01.0", NIC))


def test_a_host_with_remote_managed_devices_has_such_ports() -> None:
    """Rule C56."""
    assert offered_traits(tracker(*DPU, specs=REMOTE).view) == {SOCKET_AFFINITY, REMOTE_MANAGED_PORTS}


def test_it_has_them_when_all_its_devices_are_taken_and_after_a_restart() -> None:
    """Rule C56: nova looks at what is free after a restart, and then no port finds the host again."""
    host = tracker(*DPU, specs=REMOTE)
    take(host, "vm1", ASKING)
    assert host.pools() == []
    restarted = PciDeviceTracker(host.view.report, host.state)
    assert REMOTE_MANAGED_PORTS in offered_traits(restarted.view)


def test_it_has_them_while_one_is_held_that_no_entry_admits_any_more() -> None:
    host = tracker(*DPU, specs=REMOTE)
    take(host, "vm1", ASKING)
    assert REMOTE_MANAGED_PORTS in offered_traits(tracker(*DPU, specs=[], state=host.state).view)


def test_other_hosts_have_not() -> None:
    assert offered_traits(tracker(*DPU).view) == {SOCKET_AFFINITY}


def port(**facts: object) -> DeviceRequest:
    request = request_of(Port(**facts), "port-0")  # type: ignore[arg-type]
    assert request is not None
    return request


@pytest.mark.parametrize(
    ("request_", "policy", "required"),
    [
        pytest.param(wants(), None, set(), id="plain devices need nothing"),
        pytest.param(port(vnic_type=VnicType.REMOTE_MANAGED), None, {REMOTE_MANAGED_PORTS}, id="a remote-managed port"),
        pytest.param(port(vnic_type=VnicType.DIRECT), None, set(), id="another port"),
        pytest.param(wants(), NumaPolicy.SOCKET, {SOCKET_AFFINITY}, id="the policy socket of flavor or image"),
        pytest.param(wants(), NumaPolicy.REQUIRED, set(), id="another policy"),
        pytest.param(
            port(vnic_type=VnicType.DIRECT, numa_policy=NumaPolicy.SOCKET), None, set(), id="not that of a port"
        ),
    ],
)
def test_what_a_guest_needs(request_: DeviceRequest, policy: NumaPolicy | None, required: set[str]) -> None:
    """Rules C56 and C61."""
    assert required_traits([request_], guest_policy=policy) == required
