"""The use case that keeps Neutron in step with the claims: each port of a host is bound as it shall be.

What is to be done is recorded before Neutron is asked, and done again until it is done. So it does not matter
what of it fails, nor when a process ends.
"""

import time
from collections.abc import Callable, Mapping

from laneway.domain.errors import LanewayError
from laneway.fleet.control_plane import Clock
from laneway.fleet.port_round import PortRound
from laneway.fleet.port_standings import Ports, PortStandings, ports_of
from laneway.interfaces.network import BindingRecord, KeptPort, KeptPorts, NetworkService
from laneway.interfaces.store import Store
from laneway.network.binding_records import begun, failed

Connect = Callable[[], NetworkService]
"""Opens the service; asked anew until it succeeds. Raises as the service does, and LanewayError(not_supported)."""


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
            return self._round(ports).run()
        except LanewayError as error:
            return KeptPorts(ports=self._fail_all(ports_of(self._store, host), error), error=error)

    def look(self, host: str) -> PortStandings:
        """How the ports of a host stand. Changes nothing, and raises only as the store does."""
        ports = ports_of(self._store, host)
        error = None
        if ports.ids:
            try:
                return PortStandings(host=host, ports=self._round(ports).look())
            except LanewayError as failure:
                error = failure
        return PortStandings(host=host, ports=tuple(map(ports.unseen, sorted(ports.ids))), error=error)

    def _round(self, ports: Ports) -> PortRound:
        if self._service is None:
            self._service = self._connect()
        return PortRound(ports, self._service, self._wait, self._clock, self._record)

    def _fail_all(self, ports: Ports, error: LanewayError) -> tuple[KeptPort, ...]:
        """Records what there would have been to do, as far as that is known without Neutron."""
        now = self._clock()
        tried = {wish.port: begun(wish, ports.records.get(wish.port), now) for wish in ports.wishes.values()}
        waiting = [record for record in tried.values() if record is not None and not record.is_bound]
        in_vain = [failed(record, error, now) for record in (*waiting, *ports.unwished)]
        self._record(ports.host, {record.port: record for record in in_vain})
        return tuple(KeptPort(port=record.port, consumer=record.consumer, error=error) for record in in_vain)

    def _record(self, host: str, changes: Mapping[str, BindingRecord | None]) -> None:
        with self._store.transaction(host) as transaction:
            transaction.record_bindings(changes)
