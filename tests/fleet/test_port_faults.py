"""Whatever happens to consumers, to Neutron and to the process: no port is left bound that is not recorded, none is
bound to a device that another port has, and once all is well again each port stands as it should.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import cast

from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.port_town import Town
from interfaces.fake_network import FakeNetwork
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.tracking.claim import MoveKind
from laneway.interfaces.network import NetworkPort, NetworkService, is_plugged
from laneway.network.binding_profile import BOUND_KEYS
from laneway.network.wished_bindings import WishedBinding, wished_bindings
from laneway.store.memory import MemoryStore

HOSTS = ("h1", "h2")
VNIC_TYPES = {"p0": "direct", "p1": "direct", "p2": "direct-physical"}
CHANGES = ("take", "bind", "unbind", "renew_mac", "add_standby", "change_standby", "activate", "delete_standby")
ROUNDS = 4
"""More than a port needs that is moved while it waits for the device of another one."""


class Killed(BaseException):
    """The process ends, wherever it is."""


FAULTS = {
    "no answer": LanewayError(ErrorCode.NEUTRON_UNREACHABLE, "nobody listens"),
    "a failure": LanewayError(ErrorCode.NEUTRON_UNREACHABLE, "fails", {"status": 500}),
    "a conflict": LanewayError(ErrorCode.NEUTRON_CONFLICT, "somebody else was faster", {"status": 409}),
    "killed": Killed(),
}


class Faulty:
    """A service of which one call goes wrong: before anything is done, or when it is done already."""

    def __init__(self, service: FakeNetwork) -> None:
        self._service = service
        self.until = -1
        self.fault = FAULTS["killed"]
        self.is_done = False

    def __getattr__(self, name: str) -> object:
        method = cast("Callable[..., object]", getattr(self._service, name))

        def call(*values: object) -> object:
            self.until -= 1
            if self.until == 0 and not (self.is_done and name in CHANGES):
                raise self.fault
            answer = method(*values)
            if self.until == 0:
                raise self.fault
            return answer

        return call


class Ports:
    """Three ports on two hosts, each of one VM or another; what happens to them is chosen by numbers."""

    def __init__(self) -> None:
        self.neutron = FakeNetwork(agents=set(HOSTS))
        self.faulty = Faulty(self.neutron)
        self.town = Town(MemoryStore(), cast("NetworkService", self.faulty), HOSTS)
        self.ports = {name: self.neutron.add_port(vnic_type) for name, vnic_type in VNIC_TYPES.items()}
        self.vms = {name: f"vm-{name}" for name in VNIC_TYPES}
        self.place: dict[str, int] = {}
        self.goes_to: dict[str, int] = {}

    def start_or_free(self, name: str, number: int) -> None:
        """Starts a VM with the port; frees it one time in three, where it has something."""
        if name not in self.place:
            self.vms[name] = f"vm-{name}-{number % 2}"
            with suppress(LanewayError):  # its device may be another's by now
                self._claim(name, number % 2)
                self.place[name] = number % 2
        elif number % 3 == 0:
            for place in (0, 1):
                self.town.free(self.vms[name], place)
            del self.place[name]
            self.goes_to.pop(name, None)

    def move(self, name: str, number: int) -> None:
        """Begins a move, mostly to the other host, or goes on with the one that is under way."""
        if name in self.goes_to:
            self._go_on(name, self.goes_to[name], number)
        elif name in self.place:
            kind, source = tuple(MoveKind)[number % len(MoveKind)], self.place[name]
            to = source if kind is MoveKind.RESIZE and number % 2 else 1 - source
            with suppress(LanewayError):  # the devices there may be others'
                self.town.move(kind, self.vms[name], source=source, to=to)
                self.goes_to[name] = to

    def _go_on(self, name: str, to: int, number: int) -> None:
        if number % 3 == 0:
            with suppress(LanewayError):  # they may be allocated already
                self.town.allocate(self.vms[name], to)
            return
        del self.goes_to[name]
        if number % 3 == 1:
            self.town.confirm(self.vms[name], to=to)
            self.place[name] = to
        else:
            self.town.revert(self.vms[name], to=to)

    def claim_once_more(self, name: str, number: int) -> None:
        """On the other host, where nobody sees that the port has a device: only one of the two is to be had."""
        if number % 4 == 0:
            with suppress(LanewayError):
                self._claim(name, number % 2)

    def agent_of_neutron_goes_or_comes(self, name: str, number: int) -> None:
        if number % 3 == 0:
            self.neutron.agents ^= {HOSTS[number % 2]}
        else:
            self.neutron.agents = set(HOSTS)

    def keep(self, name: str, number: int) -> None:
        self.town.kept(number % 2)

    def keep_while_something_fails(self, name: str, number: int) -> None:
        faults = sorted(FAULTS)
        self.faulty.fault = FAULTS[faults[number % len(faults)]]
        self.faulty.is_done, self.faulty.until = number % 3 > 0, 1 + number % 11
        with suppress(Killed):
            self.town.kept(number % 2)
        self.faulty.until = -1
        self.town.restarted()

    def _claim(self, name: str, host: int) -> None:
        self.town.claim(self.vms[name], self.ports[name], vnic_type=VNIC_TYPES[name], host=host)
        self.town.allocate(self.vms[name], host)

    def check(self) -> None:
        """What always holds: all that is bound is recorded, and no device has two ports."""
        recorded = {(host, port) for host in HOSTS for port in self.town.store.binding_records(host)}
        bound = [port for port in self.neutron.all_ports.values() if port.host is not None]
        assert {(port.host, port.id) for port in bound} <= recorded
        taken = {port.id for port in self.neutron.all_ports.values() if port.device_id is not None}
        assert taken <= {port for _, port in recorded}
        plugged = [(port.host, port.slot) for port in bound if is_plugged(port.vif_type)]
        assert len(plugged) == len(set(plugged))

    def check_in_the_end(self) -> None:
        """All is well again: after some rounds everything stands as it should."""
        self.neutron.agents = set(HOSTS)
        for _ in range(ROUNDS):
            kept = [self.town.kept(host) for host in (0, 1)]
        wishes = wished_bindings({host: self.town.store.read(host) for host in HOSTS})
        claimed_twice = {wish.port for wish in wishes if wish.problem is not None}
        assert {port.port for each in kept for port in each.ports if port.error is not None} == claimed_twice
        active = {wish.port: wish for wish in wishes if wish.is_active}
        standbys = {(wish.host, wish.port) for wish in wishes if not wish.is_active}
        for port in self.neutron.all_ports.values():
            if port.id not in claimed_twice:
                there = {(host, port.id) for host in self.neutron.standbys.get(port.id, {})}
                assert there == {standby for standby in standbys if standby[1] == port.id}
                self._check_active(port, active.get(port.id))
        recorded = {port for host in HOSTS for port in self.town.store.binding_records(host)}
        assert recorded - claimed_twice == {wish.port for wish in wishes} - claimed_twice

    def _check_active(self, port: NetworkPort, wish: WishedBinding | None) -> None:
        if wish is None:
            assert (port.host, port.device_id, BOUND_KEYS & port.profile.keys()) == (None, None, frozenset())
            assert port.mac_address.startswith("fa:16:3e")
        else:
            assert (port.host, port.device_id, port.profile) == (wish.host, wish.consumer, wish.profile)
            assert is_plugged(port.vif_type)


HAPPENS: dict[Callable[[Ports, str, int], None], int] = {
    Ports.start_or_free: 4,
    Ports.move: 8,
    Ports.claim_once_more: 1,
    Ports.agent_of_neutron_goes_or_comes: 1,
    Ports.keep: 6,
    Ports.keep_while_something_fails: 6,
}
"""What happens, and how often."""

EVENTS = st.tuples(
    st.sampled_from([event for event, times in HAPPENS.items() for _ in range(times)]),
    st.sampled_from(sorted(VNIC_TYPES)),
    st.integers(0, 131),
)


@given(st.lists(EVENTS, min_size=40, max_size=60))
@settings(max_examples=40)
def test_ports_whatever_happens(events: list[tuple[Callable[[Ports, str, int], None], str, int]]) -> None:
    ports = Ports()
    for event, name, number in events:
        event(ports, name, number)
        ports.check()
    ports.check_in_the_end()
