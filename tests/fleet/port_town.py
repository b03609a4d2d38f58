"""Two hosts whose devices serve ports, over a store and a network service of the test's choice."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from domain.hosts import pf, report, vf
from laneway.domain.address import PciAddress
from laneway.domain.inventory import NetDevice, PciFunction, Vpd
from laneway.domain.requests.request import ClaimRequest
from laneway.domain.tracking.claim import MoveKind
from laneway.fleet.control_plane import ControlPlane
from laneway.fleet.moves import Moves
from laneway.fleet.port_bindings import PortBindings
from laneway.interfaces.network import KeptPorts, NetworkService
from laneway.interfaces.store import Store
from laneway.network.ports import Port, VnicType, request_of

SPECS: list[object] = [
    {"address": "0000:81:00.*", "physical_network": "physnet1"},
    {"address": "0000:82:00.*", "physical_network": "physnet1"},
    {"vendor_id": "15b3", "physical_network": "physnet1", "remote_managed": True},
]
START = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)


def netdev(name: str, mac: str) -> tuple[NetDevice, ...]:
    return (NetDevice(name=name, mac=mac),)


def functions(mac: str, serial: str) -> list[PciFunction]:
    """Two PFs without VFs at 82, one with two VFs at 81, and a DPU's VF at 83; ``mac`` begins their MACs."""
    card = Vpd(card_serial_number=serial)
    return [
        pf("0000:81:00.0", netdevs=netdev("ens1", f"{mac}:00"), in_use_by=()),
        vf("0000:81:00.1", "0000:81:00.0", vf_index=0),
        vf("0000:81:00.2", "0000:81:00.0", vf_index=1),
        pf("0000:82:00.0", netdevs=netdev("ens2f0", f"{mac}:01")),
        pf("0000:82:00.1", netdevs=netdev("ens2f1", f"{mac}:02")),
        pf("0000:83:00.0", netdevs=netdev("ens3", f"{mac}:03"), vendor_id="15b3", product_id="a2d6", vpd=card),
        vf("0000:83:00.1", "0000:83:00.0", vf_index=3, vendor_id="15b3", product_id="101e"),
    ]


class Town:
    """Two hosts, by default ``h1`` and ``h2``, and what happens to consumers and their ports on them."""

    def __init__(
        self,
        store: Store,
        service: NetworkService,
        hosts: Sequence[str] = ("h1", "h2"),
        mac: str = "b4:96:91:00",
        serial: str = "MT2113X00001",
    ) -> None:
        self.store, self.service, self.hosts, self.mac = store, service, hosts, mac
        self.time = START
        self.waited: list[float] = []
        self.plane = ControlPlane(store, lambda: self.time)
        self.moves = Moves(self.plane, store, lambda: self.time)
        self.bindings = self.restarted()
        self.claims = 0
        for number, host in enumerate(hosts):
            self.plane.sync(host, report(*functions(f"{mac}:{number:02x}", serial), specs=SPECS))

    def restarted(self) -> PortBindings:
        """As another process would be: it knows what the store knows."""
        self.bindings = PortBindings(self.store, lambda: self.service, lambda: self.time, self.waited.append)
        return self.bindings

    def claim(self, consumer: str, *ports: str, vnic_type: str = "direct", host: int = 0, **values: Any) -> None:
        requests = []
        for number, port in enumerate(ports):
            wanted = Port(vnic_type=VnicType(vnic_type), physical_network="physnet1", id=port)
            request = request_of(wanted, f"port-{number}")
            assert request is not None
            requests.append(request)
        self.claims += 1
        claim = ClaimRequest(consumer=consumer, claim=f"claim-{self.claims}", requests=tuple(requests), **values)
        self.plane.claim(self.hosts[host], claim)

    def allocate(self, consumer: str, host: int = 0) -> None:
        self.plane.allocate(self.hosts[host], consumer=consumer)

    def start(self, consumer: str, *ports: str, vnic_type: str = "direct") -> None:
        """A VM with ports starts on the first host."""
        self.claim(consumer, *ports, vnic_type=vnic_type)
        self.allocate(consumer)

    def free(self, consumer: str, host: int = 0) -> None:
        self.plane.free(self.hosts[host], consumer=consumer)

    def move(self, kind: MoveKind, consumer: str, *, source: int = 0, to: int = 1) -> None:
        self.claims += 1
        self.moves.start(
            kind,
            source=self.hosts[source],
            destination=self.hosts[to],
            consumer=consumer,
            claim=f"claim-{self.claims}",
        )

    def confirm(self, consumer: str, *, to: int = 1) -> None:
        self.moves.confirm(destination=self.hosts[to], consumer=consumer)

    def revert(self, consumer: str, *, to: int = 1) -> None:
        self.moves.revert(destination=self.hosts[to], consumer=consumer)

    def devices(self, consumer: str, host: int = 0) -> list[PciAddress]:
        view = self.plane.look(self.hosts[host]).view
        return sorted(device.address for device in view.owned_by(consumer))

    def kept(self, host: int = 0) -> KeptPorts:
        """One round over a host's ports, a minute later."""
        self.time += timedelta(minutes=1)
        return self.bindings.keep(self.hosts[host])

    def keep(self, host: int = 0) -> dict[str, tuple[str, ...]]:
        """One round in which nothing fails: what was done, by port."""
        kept = self.kept(host)
        assert [error.message for error in kept.errors] == []
        return {port.port: port.done for port in kept.ports}
