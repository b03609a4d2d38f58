"""One round over the ports of a host: each is brought to stand as it should, or is looked at only."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.fleet.control_plane import Clock
from laneway.fleet.port_standings import Ports, PortStanding
from laneway.interfaces.network import BindingRecord, KeptPort, KeptPorts, NetworkPort, NetworkService
from laneway.network.binding_records import begun, confirmed, failed
from laneway.network.binding_steps import SeenPort, Standing, next_step_to_bind, next_step_to_unbind
from laneway.network.port_steps import Step
from laneway.network.wished_bindings import WishedBinding

WAITS = (0.5, 1.0, 2.0)
"""Seconds before a port is read again of which a change has failed; after the last it is left to the next round."""

Record = Callable[[str, Mapping[str, BindingRecord | None]], None]
"""Stores what is known of the bindings of a host's ports; None forgets one."""

_MOST_STEPS = 12
"""More than any port needs."""
_STALE = 412


class PortRound:
    """One round over the ports of a host. What shall not be bound goes first: it may be in the way of others."""

    def __init__(
        self,
        ports: Ports,
        service: NetworkService,
        wait: Callable[[float], None],
        clock: Clock,
        record: Record,
    ) -> None:
        self._ports = ports
        self._service = service
        self._wait = wait
        self._clock = clock
        self._record = record
        self._there = {port.id: port for port in service.ports_on(ports.host)}
        missing = ports.ids - self._there.keys()
        self._there |= {port.id: port for port in (service.ports(missing) if missing else ())}

    def run(self) -> KeptPorts:
        """Raises LanewayError where Neutron as a whole does not answer any more."""
        unbound = [self._unbind(record) for record in self._ports.unwished]
        return KeptPorts(ports=(*unbound, *self._bind_all().values()))

    def _bind_all(self) -> Mapping[str, KeptPort]:
        """Binds what is wished: a port whose device another of them still has, after that one has given it up."""
        kept: dict[str, KeptPort] = {}
        unwished = {record.port for record in self._ports.unwished}  # those that could not be unbound
        to_do = [wish for wish in self._ports.wishes.values() if wish.port not in unwished]
        while to_do:
            for wish in to_do:
                before = kept.get(wish.port)
                now = self._bind(wish)
                kept[wish.port] = now if before is None else replace(now, done=(*before.done, *now.done))
            later = [wish for wish in to_do if self._waits_for_another(kept[wish.port])]
            to_do = later if len(later) < len(to_do) else []
        return kept

    def _waits_for_another(self, port: KeptPort) -> bool:
        return port.error is not None and port.error.detail.get("rival") in self._ports.wishes

    def look(self) -> tuple[PortStanding, ...]:
        """How each port stands, by its id. Raises as ``run`` does."""
        return tuple(self._look_at(self._ports.unseen(port)) for port in sorted(self._ports.ids))

    def _look_at(self, known: PortStanding) -> PortStanding:
        known = replace(known, there=self._there.get(known.port))
        try:
            step = self._next_step(known)
        except LanewayError as error:
            if _is_of_all(error):
                raise
            return replace(known, stands=False, error=error)
        return replace(known, stands=step is Standing.DONE)

    def _next_step(self, known: PortStanding) -> Step | Standing:
        record, wish = known.record, known.wish
        if record is not None and (wish is None or wish.consumer != record.consumer):
            return next_step_to_unbind(record, self._ports.host, self._see(known.there, record.consumer))
        assert wish is not None
        return next_step_to_bind(wish, record, self._see_to_bind(wish, known.there))

    def _bind(self, wish: WishedBinding) -> KeptPort:
        before = self._ports.records.get(wish.port)
        record = begun(wish, before, self._clock())
        done: list[str] = []
        try:
            standing = self._settle(self._ports.unseen(wish.port), record, done)
        except LanewayError as error:
            return self._told(record or before, wish.port, wish.consumer, done, error)
        if record is not None and standing is Standing.DONE:
            kept = confirmed(record, before, is_bound=wish.is_active, now=self._clock())
            if kept != before:
                self._record(self._ports.host, {wish.port: kept})
        return KeptPort(port=wish.port, consumer=wish.consumer, done=tuple(done))

    def _unbind(self, before: BindingRecord) -> KeptPort:
        since = self._clock() if before.is_bound else before.since
        record = replace(before, is_bound=False, since=since)
        done: list[str] = []
        try:
            standing = self._settle(self._ports.unseen(before.port), record, done)
        except LanewayError as error:
            return self._told(record, before.port, before.consumer, done, error)
        if standing is Standing.DONE:
            self._record(self._ports.host, {before.port: None})
            del self._ports.records[before.port]
        return KeptPort(port=before.port, consumer=before.consumer, done=tuple(done))

    def _settle(self, known: PortStanding, record: BindingRecord | None, done: list[str]) -> Standing:
        """Takes steps until there is none to take; ``record`` is stored before the first. Raises what ends that."""
        waits = iter(WAITS)
        for number in range(_MOST_STEPS):
            port = self._there.get(known.port)
            step = self._next_step(replace(known, there=port))
            if isinstance(step, Standing):
                return step
            assert port is not None
            if number == 0:
                self._record(self._ports.host, {port.id: record})
            try:
                step.run(self._service, port)
                done.append(step.done)
            except LanewayError as error:
                if not (_may_pass(error) and self._may_try_again(error, waits)):
                    raise
            self._read_again(port.id)
        raise _no_end(known.port)

    def _may_try_again(self, failure: LanewayError, waits: Iterator[float]) -> bool:
        """Waits a while, unless the port was only read too early. False where it was tried often enough."""
        pause = next(waits, None)
        if pause is not None and failure.detail.get("status") != _STALE:
            self._wait(pause)
        return pause is not None

    def _read_again(self, port: str) -> None:
        self._there.pop(port, None)
        self._there |= {found.id: found for found in self._service.ports([port])}

    def _see(self, port: NetworkPort | None, consumer: str) -> SeenPort | None:
        if port is None:
            return None
        knows_standbys = (port.device_owner or "").startswith("compute:")
        standbys = self._service.standby_bindings(port) if knows_standbys else ()
        return SeenPort(
            port=port,
            standbys=standbys,
            elsewhere=self._ports.elsewhere.get(port.id) == consumer,
            handled_on=self._ports.handled_on.get(port.id, frozenset()),
        )

    def _see_to_bind(self, wish: WishedBinding, port: NetworkPort | None) -> SeenPort | None:
        if port is None:
            return None
        seen = SeenPort(port=port) if port.host == wish.host else self._see(port, wish.consumer)
        assert seen is not None
        mac = (wish.profile or {}).get("device_mac_address")
        same_mac: Sequence[NetworkPort] = ()
        if isinstance(mac, str) and mac != port.mac_address:
            same_mac = [other for other in self._service.ports_with_mac(port.network, mac) if other.id != port.id]
        return replace(seen, rivals=self._rivals(wish), same_mac=same_mac)

    def _rivals(self, wish: WishedBinding) -> list[NetworkPort]:
        """Other ports with the device on the host."""
        slot = str(wish.device.address)
        on_host = (port for port in self._there.values() if port.host == wish.host and port.slot == slot)
        return [port for port in on_host if port.id != wish.port]

    def _told(
        self, record: BindingRecord | None, port: str, consumer: str, done: Sequence[str], error: LanewayError
    ) -> KeptPort:
        """Records the failure. Raises it where it is not of this port alone."""
        if _is_of_all(error):
            raise error
        if record is not None:
            self._record(self._ports.host, {port: failed(record, error, self._clock())})
        return KeptPort(port=port, consumer=consumer, done=tuple(done), error=error)


def _may_pass(error: LanewayError) -> bool:
    """Whether the same may succeed in a moment: a conflict with others, or a failure of Neutron's own."""
    return error.code is ErrorCode.NEUTRON_CONFLICT or (
        error.code is ErrorCode.NEUTRON_UNREACHABLE and not _is_of_all(error)
    )


def _is_of_all(error: LanewayError) -> bool:
    """Whether Neutron as a whole is out of reach: a failure that it answers with may be of one port only."""
    return error.code is ErrorCode.NEUTRON_UNREACHABLE and "status" not in error.detail


def _no_end(port: str) -> LanewayError:
    message = f"port {port} was changed {_MOST_STEPS} times and is still not as it should be; see who else changes it"
    return LanewayError(ErrorCode.NEUTRON_CONFLICT, message, {"port": port})
