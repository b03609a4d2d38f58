"""The ports of a host as the store knows them, and how each of them stands."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from laneway.domain.errors import LanewayError
from laneway.interfaces.network import BindingRecord, NetworkPort
from laneway.interfaces.store import Store
from laneway.network.wished_bindings import WishedBinding, wished_bindings


@dataclass(frozen=True, slots=True, kw_only=True)
class PortStanding:
    """How one port stands: what is wished and known of it, and as Neutron has it (None: it was not asked, or has none).

    ``stands`` is whether it stands as it should, None where Neutron did not tell; ``error`` why not, where that is no
    thing of the next round.
    """

    port: str
    wish: WishedBinding | None
    record: BindingRecord | None
    there: NetworkPort | None = None
    stands: bool | None = None
    error: LanewayError | None = None

    @property
    def consumer(self) -> str | None:
        """Whose VM has the port, or had it."""
        known = self.wish or self.record
        return None if known is None else known.consumer

    @property
    def wished(self) -> str:
        """How it shall be on this host: ``bound``, ``standby`` beside the binding on another host, or ``free``."""
        if self.wish is None:
            return "free"
        return "bound" if self.wish.is_active else "standby"


@dataclass(frozen=True, slots=True, kw_only=True)
class PortStandings:
    """How the ports of a host stand. ``error``: why Neutron did not tell."""

    host: str
    ports: tuple[PortStanding, ...] = ()
    error: LanewayError | None = None

    @property
    def all_stand(self) -> bool:
        """Whether each port stands as it should, as far as Neutron told."""
        return self.error is None and all(port.stands for port in self.ports)

    def of(self, consumer: str) -> "PortStandings":
        """Those of one consumer."""
        return replace(self, ports=tuple(port for port in self.ports if port.consumer == consumer))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """What is wished of a host's ports and what is known of them, by port.

    ``elsewhere`` are ports that shall be bound on other hosts, with their consumers, ``handled_on`` the other hosts
    where a port is recorded.
    """

    host: str
    wishes: dict[str, WishedBinding]
    records: dict[str, BindingRecord]
    elsewhere: Mapping[str, str]
    handled_on: Mapping[str, frozenset[str]]

    @property
    def unwished(self) -> list[BindingRecord]:
        """The records of ports that shall not be bound here any more, for whom they were."""
        return [record for port, record in self.records.items() if not self._is_wished(record)]

    def _is_wished(self, record: BindingRecord) -> bool:
        wish = self.wishes.get(record.port)
        return wish is not None and wish.consumer == record.consumer

    @property
    def ids(self) -> set[str]:
        return {*self.wishes, *self.records}

    def unseen(self, port: str) -> PortStanding:
        """What is known of a port without Neutron."""
        return PortStanding(port=port, wish=self.wishes.get(port), record=self.records.get(port))


def ports_of(store: Store, host: str) -> Ports:
    """The ports of a host, by the store alone. Raises as the store does."""
    hosts = {*store.hosts(), host}
    wishes = wished_bindings({name: store.read(name) for name in hosts})
    handled_on: defaultdict[str, set[str]] = defaultdict(set)
    for name in hosts - {host}:
        for port in store.binding_records(name):
            handled_on[port].add(name)
    return Ports(
        host=host,
        wishes={wish.port: wish for wish in wishes if wish.host == host},
        records=dict(store.binding_records(host)),
        elsewhere={
            wish.port: wish.consumer for wish in wishes if wish.host != host and wish.is_active and wish.profile
        },
        handled_on={port: frozenset(names) for port, names in handled_on.items()},
    )
