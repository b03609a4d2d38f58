"""The use case that keeps Neutron in step with the claims: each port of a host is bound as it shall be.

What is to be done is recorded before Neutron is asked, and done again until it is done. So it does not matter
what of it fails, nor when a process ends.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.fleet.control_plane import Clock
from laneway.interfaces.network import BindingRecord, KeptPort, KeptPorts, NetworkPort, NetworkService
from laneway.interfaces.store import Store
from laneway.network.binding_steps import SeenPort, Standing, Step, next_step_to_bind, next_step_to_unbind
from laneway.network.wished_bindings import WishedBinding, wished_bindings

WAITS = (0.5, 1.0, 2.0)
"""Seconds before a port is read again that others are changing, too; after the last it is left to the next round."""

_MOST_STEPS = 12
"""More than any port needs."""
_STALE = 412

Connect = Callable[[], NetworkService]
"""Opens the service; asked anew until it succeeds. Raises as the service does, and LanewayError(not_supported)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """What is wished of a host's ports and what is known of them, by port.

    ``elsewhere`` are ports that shall be bound on other hosts.
    """

    host: str
    wishes: dict[str, WishedBinding]
    records: dict[str, BindingRecord]
    elsewhere: frozenset[str]

    @property
    def unwished(self) -> list[BindingRecord]:
        """The records of ports that shall not be bound here any more."""
        return [record for port, record in self.records.items() if port not in self.wishes]

    @property
    def ids(self) -> set[str]:
        return {*self.wishes, *self.records}


def ports_of(store: Store, host: str) -> Ports:
    """The ports of a host, by the store alone. Raises as the store does."""
    wishes = wished_bindings({name: store.read(name) for name in {*store.hosts(), host}})
    return Ports(
        host=host,
        wishes={wish.port: wish for wish in wishes if wish.host == host},
        records=dict(store.binding_records(host)),
        elsewhere=frozenset(wish.port for wish in wishes if wish.host != host and wish.is_active),
    )


class PortBindings:
    """Binds and unbinds the ports of hosts. Whoever calls it lets one process at a time do so for a host."""

    def __init__(
        self, store: Store, connect: Connect, clock: Clock, wait: Callable[[float], None] = time.sleep
    ) -> None:
        self._store = store
        self._connect = connect
        self._clock = clock
        self._wait = wait
        self._service: NetworkService | None = None

    def keep(self, host: str) -> KeptPorts:
        """As ``PortKeeper`` says."""
        ports = ports_of(self._store, host)
        if not ports.ids:
            return KeptPorts()
        try:
            if self._service is None:
                self._service = self._connect()
            work = _Round(ports, self._service, self._wait, self._clock, self._record)
            return work.run()
        except LanewayError as error:
            return KeptPorts(ports=self._all_failed(ports_of(self._store, host), error), error=error)

    def _all_failed(self, ports: Ports, error: LanewayError) -> tuple[KeptPort, ...]:
        """Records what there would have been to do, as far as that is known without Neutron."""
        now = self._clock()
        begun = {wish.port: _begun(wish, ports.records.get(wish.port), now) for wish in ports.wishes.values()}
        waiting = [record for record in begun.values() if record is not None and not record.is_bound]
        failed = [_failed(record, error, now) for record in (*waiting, *ports.unwished)]
        self._record(ports.host, {record.port: record for record in failed})
        return tuple(KeptPort(port=record.port, consumer=record.consumer, error=error) for record in failed)

    def _record(self, host: str, changes: Mapping[str, BindingRecord | None]) -> None:
        with self._store.transaction(host) as transaction:
            transaction.record_bindings(changes)


class _Round:
    """One round over the ports of a host. What shall not be bound goes first: it may be in the way of others."""

    def __init__(
        self,
        ports: Ports,
        service: NetworkService,
        wait: Callable[[float], None],
        clock: Clock,
        record: Callable[[str, Mapping[str, BindingRecord | None]], None],
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
        return KeptPorts(ports=(*unbound, *map(self._bind, self._ports.wishes.values())))

    def _bind(self, wish: WishedBinding) -> KeptPort:
        before = self._ports.records.get(wish.port)
        record = _begun(wish, before, self._clock())
        done: list[str] = []
        try:
            standing = self._settle(
                wish.port, record, lambda port: next_step_to_bind(wish, before, self._see_to_bind(wish, port)), done
            )
        except LanewayError as error:
            return self._told(record or before, wish.port, wish.consumer, done, error)
        if record is not None and standing is Standing.DONE:
            kept = _confirmed(record, before, is_bound=wish.is_active, now=self._clock())
            if kept != before:
                self._record(self._ports.host, {wish.port: kept})
        return KeptPort(port=wish.port, consumer=wish.consumer, done=tuple(done))

    def _unbind(self, before: BindingRecord) -> KeptPort:
        since = self._clock() if before.is_bound else before.since
        record = replace(before, is_bound=False, since=since)
        done: list[str] = []
        host = self._ports.host
        try:
            standing = self._settle(
                before.port, record, lambda port: next_step_to_unbind(before, host, self._see(port)), done
            )
        except LanewayError as error:
            return self._told(record, before.port, before.consumer, done, error)
        if standing is Standing.DONE:
            self._record(host, {before.port: None})
        return KeptPort(port=before.port, consumer=before.consumer, done=tuple(done))

    def _settle(
        self,
        port: str,
        record: BindingRecord | None,
        next_step: Callable[[NetworkPort | None], Step | Standing],
        done: list[str],
    ) -> Standing:
        """Takes steps until there is none to take; ``record`` is stored before the first. Raises what ends that."""
        waits = iter(WAITS)
        for number in range(_MOST_STEPS):
            seen = self._there.get(port)
            step = next_step(seen)
            if isinstance(step, Standing):
                return step
            assert seen is not None
            if number == 0:
                self._record(self._ports.host, {port: record})
            try:
                step.run(self._service, seen)
                done.append(step.done)
            except LanewayError as error:
                if error.code is not ErrorCode.NEUTRON_CONFLICT or not self._may_try_again(error, waits):
                    raise
            self._read_again(port)
        raise _no_end(port)

    def _may_try_again(self, conflict: LanewayError, waits: Iterator[float]) -> bool:
        """Waits a while, unless the port was only read too early. False where it was tried often enough."""
        pause = next(waits, None)
        if pause is not None and conflict.detail.get("status") != _STALE:
            self._wait(pause)
        return pause is not None

    def _read_again(self, port: str) -> None:
        self._there.pop(port, None)
        self._there |= {found.id: found for found in self._service.ports([port])}

    def _see(self, port: NetworkPort | None) -> SeenPort | None:
        if port is None:
            return None
        knows_standbys = (port.device_owner or "").startswith("compute:")
        standbys = self._service.standby_bindings(port) if knows_standbys else ()
        return SeenPort(port=port, standbys=standbys, elsewhere=port.id in self._ports.elsewhere)

    def _see_to_bind(self, wish: WishedBinding, port: NetworkPort | None) -> SeenPort | None:
        if port is None:
            return None
        seen = SeenPort(port=port) if port.host == wish.host else self._see(port)
        assert seen is not None
        mac = (wish.profile or {}).get("device_mac_address")
        same_mac: Sequence[NetworkPort] = ()
        if isinstance(mac, str) and mac != port.mac_address:
            same_mac = [other for other in self._service.ports_with_mac(port.network, mac) if other.id != port.id]
        return replace(seen, rivals=self._rivals(wish), same_mac=same_mac)

    def _rivals(self, wish: WishedBinding) -> list[NetworkPort]:
        """Ports with the device that are none of ours: ours may have exchanged their devices, and each is put right."""
        slot = str(wish.device.address)
        on_host = (port for port in self._there.values() if port.host == wish.host and port.slot == slot)
        return [port for port in on_host if port.id not in self._ports.wishes]

    def _told(
        self, record: BindingRecord | None, port: str, consumer: str, done: Sequence[str], error: LanewayError
    ) -> KeptPort:
        """Records the failure. Raises it where it is not of this port alone."""
        if error.code is ErrorCode.NEUTRON_UNREACHABLE and "status" not in error.detail:
            raise error
        if record is not None:
            self._record(self._ports.host, {port: _failed(record, error, self._clock())})
        return KeptPort(port=port, consumer=consumer, done=tuple(done), error=error)


def _begun(wish: WishedBinding, before: BindingRecord | None, now: datetime) -> BindingRecord | None:
    """What is recorded before a port is bound: as it was, where it is to be bound as before. None without a profile."""
    if wish.profile is None:
        return before
    made = BindingRecord(
        port=wish.port, consumer=wish.consumer, address=wish.device.address, profile=wish.profile, since=now
    )
    if before is None:
        return made
    if _content(before) == _content(made):
        return before
    return replace(made, since=now if before.is_bound else before.since, attempts=before.attempts)


def _confirmed(record: BindingRecord, before: BindingRecord | None, *, is_bound: bool, now: datetime) -> BindingRecord:
    stood = before is not None and _content(before) == _content(record) and before.is_bound == is_bound
    since = before.since if before is not None and stood and before.error is None else now
    return replace(record, is_bound=is_bound, since=since, attempts=0, error_code=None, error=None)


def _failed(record: BindingRecord, error: LanewayError, now: datetime) -> BindingRecord:
    since = now if record.is_bound and record.error is None else record.since
    return replace(record, since=since, attempts=record.attempts + 1, error_code=str(error.code), error=error.message)


def _content(record: BindingRecord) -> tuple[object, ...]:
    return record.consumer, record.address, record.profile


def _no_end(port: str) -> LanewayError:
    message = f"port {port} was changed {_MOST_STEPS} times and is still not as it should be; see who else changes it"
    return LanewayError(ErrorCode.NEUTRON_CONFLICT, message, {"port": port})
