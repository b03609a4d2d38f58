"""Which ports shall be bound where follows from what is held (rules C71, C79, C80, C83)."""

from dataclasses import replace

import pytest

from domain.devices import device
from domain.hosts import at, claim, report, vf, wants
from laneway.domain.device import PciDevice, Status
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.requests.request import DeviceRequest
from laneway.domain.tracking.claim import ClaimRecord, HostState, MoveKind, MoveOrigin
from laneway.domain.tracking.tracker import PciDeviceTracker
from laneway.network.wished_bindings import is_port, refuse_ports_in_use, wished_bindings

PORT, OTHER = "7c8b2a4e-5f0d-4c1b-9d56-0e6f3a1b2c3d", "11111111-5f0d-4c1b-9d56-0e6f3a1b2c3d"
OLD, NEW = "0000:81:00.1", "0000:c1:00.1"
CLAIMED, ALLOCATED = Status.CLAIMED, Status.ALLOCATED


def of_port(port: str, name: str = "nic") -> DeviceRequest:
    return replace(wants(name), requester=port)


def held(
    address: str = OLD,
    status: Status = ALLOCATED,
    *,
    consumer: str = "vm1",
    key: str = "c1",
    port: str = PORT,
    move: MoveOrigin | None = None,
) -> HostState:
    """A host on which one device is held for a port."""
    request = claim(consumer, of_port(port), claim_id=key)
    return HostState(
        held={at(address): _device(address, status, consumer, key)},
        claims={key: ClaimRecord(request=request, devices={"nic": (at(address),)}, move=move)},
    )


def _device(address: str, status: Status, consumer: str | None, key: str | None) -> PciDevice:
    plain = device(address, tags={"physical_network": "physnet1"})
    return replace(plain, status=status, consumer=consumer, claim=key, request="nic")


def destination(status: Status, kind: MoveKind, *, confirmed: bool = False, host: str = "h1") -> HostState:
    move = MoveOrigin(kind=kind, host=host, devices=(at(OLD),), confirmed=confirmed)
    return held(NEW, status, key="move", move=move)


def told(states: dict[str, HostState]) -> list[str]:
    return [
        f"{'active' if wish.is_active else 'standby'} on {wish.host}: {wish.device.address}"
        for wish in wished_bindings(states)
    ]


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        pytest.param(held(), [f"active on h1: {OLD}"], id="an allocated device of a port"),
        pytest.param(held(status=CLAIMED), [], id="a claimed one, not yet"),
        pytest.param(held(port="nic"), [], id="no port: the request asks for itself"),
        pytest.param(replace(held(), claims={}), [], id="a claim that is not known"),
        pytest.param(
            replace(held(), held={at(OLD): _device(OLD, Status.RELEASING, None, "c1")}),
            [],
            id="a device that was freed",
        ),
        pytest.param(HostState(), [], id="nothing"),
    ],
)
def test_c71_a_port_is_bound_while_its_device_is_allocated(state: HostState, expected: list[str]) -> None:
    """C71."""
    assert told({"h1": state}) == expected


OFF = [MoveKind.COLD, MoveKind.RESIZE, MoveKind.EVACUATION]
ON_H1, ON_H2 = f"active on h1: {OLD}", f"active on h2: {NEW}"


@pytest.mark.parametrize("kind", OFF)
def test_c80_a_port_of_a_vm_that_is_off_moves_with_the_allocation(kind: MoveKind) -> None:
    """C80."""
    assert told({"h1": held(), "h2": destination(CLAIMED, kind)}) == [ON_H1]
    assert told({"h1": held(), "h2": destination(ALLOCATED, kind)}) == [ON_H2]
    assert told({"h1": HostState(), "h2": destination(ALLOCATED, kind, confirmed=True)}) == [ON_H2]


def test_c83_a_port_of_a_vm_that_runs_is_bound_beforehand() -> None:
    """C83."""
    live = MoveKind.LIVE
    assert told({"h1": held(), "h2": destination(CLAIMED, live)}) == [ON_H1, f"standby on h2: {NEW}"]
    assert told({"h1": held(), "h2": destination(ALLOCATED, live)}) == [ON_H2]
    assert told({"h1": held(status=CLAIMED), "h2": destination(CLAIMED, live)}) == []


def test_c48_a_resize_on_one_host_has_the_old_device_until_the_new_one_is_in_use() -> None:
    """C48."""

    def both(status: Status) -> HostState:
        old, new = held(), destination(status, MoveKind.RESIZE)
        return HostState(held={**old.held, **new.held}, claims={**old.claims, **new.claims})

    assert told({"h1": both(CLAIMED)}) == [f"active on h1: {OLD}"]
    assert told({"h1": both(ALLOCATED)}) == [f"active on h1: {NEW}"]


def test_an_unshelved_port_is_bound_when_its_device_is_allocated() -> None:
    move = MoveOrigin(kind=MoveKind.UNSHELVE)
    assert told({"h2": held(NEW, CLAIMED, key="move", move=move)}) == []
    assert told({"h2": held(NEW, ALLOCATED, key="move", move=move)}) == [ON_H2]


def test_a_port_that_is_claimed_twice_is_told_as_a_problem_on_each_host() -> None:
    wishes = wished_bindings({"h1": held(), "h2": held(NEW, consumer="vm2", key="c2")})
    assert [(wish.host, wish.profile) for wish in wishes] == [("h1", None), ("h2", None)]
    problem = wishes[0].problem
    assert problem is not None
    assert (problem.code, problem.message) == (
        ErrorCode.PORT_IN_USE,
        f"port {PORT} is claimed more than once: by c1 on h1, c2 on h2; free all but one of them",
    )


def test_c79_a_device_whose_network_is_not_known_is_a_problem_and_no_wrong_profile() -> None:
    """C79."""
    state = held()
    (known,) = state.held.values()
    unknown = replace(known, extra_info=replace(known.extra_info, network_known=False))
    (wish,) = wished_bindings({"h1": replace(state, held={at(OLD): unknown})})
    assert wish.profile is None
    assert wish.problem is not None
    assert wish.problem.code is ErrorCode.UNKNOWN_DEVICE


def test_a_device_that_is_not_where_it_was_is_a_problem() -> None:
    state = held()
    (device_there,) = state.held.values()
    displaced = replace(device_there, displaced="another card stands at its address")
    (wish,) = wished_bindings({"h1": replace(state, held={at(OLD): displaced})})
    assert wish.profile is None
    assert wish.problem is not None
    assert wish.problem.code is ErrorCode.WRONG_DEVICE


def test_a_wish_has_the_profile_of_its_device() -> None:
    (wish,) = wished_bindings({"h1": held()})
    assert (wish.port, wish.consumer, wish.profile) == (
        PORT,
        "vm1",
        {"pci_vendor_info": "8086:154c", "pci_slot": OLD, "physical_network": "physnet1"},
    )


@pytest.mark.parametrize(
    ("requester", "answer"),
    [(PORT, True), (PORT.upper(), False), ("port-0", False), (None, False), (f"{PORT}0", False), ("", False)],
)
def test_a_port_has_a_uuid(requester: str | None, answer: bool) -> None:
    assert is_port(requester) is answer


@pytest.fixture
def tracker() -> PciDeviceTracker:
    """A host on which PORT has a device by the claim c1."""
    return PciDeviceTracker(report(vf(OLD, "0000:81:00.0"), vf(NEW, "0000:c1:00.0")), held())


@pytest.mark.parametrize(
    ("ports", "key", "message"),
    [
        pytest.param([PORT], "c2", f"has {OLD} already, by claim c1 of vm1", id="a port that has a device"),
        pytest.param([OTHER, OTHER], "c2", "stands twice in the claim", id="a port that is named twice"),
        pytest.param([PORT], "c1", None, id="a repeated claim"),
        pytest.param([OTHER], "c2", None, id="another port"),
        pytest.param(["nic", "nic"], "c2", None, id="no ports: names"),
    ],
)
def test_a_port_gets_one_device(ports: list[str], key: str, message: str | None, tracker: PciDeviceTracker) -> None:
    request = claim("vm1", *(of_port(port, f"r{number}") for number, port in enumerate(ports)), claim_id=key)
    if message is None:
        refuse_ports_in_use(tracker.view, request)
        return
    with pytest.raises(LanewayError, match=message) as caught:
        refuse_ports_in_use(tracker.view, request)
    assert caught.value.code is ErrorCode.PORT_IN_USE
