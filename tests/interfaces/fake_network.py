"""Neutron in memory, with the traps of the real one; ``fleet.port_scenarios`` runs on both."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from uuid import uuid4

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.interfaces.network import BINDING_FAILED, UNBOUND, NetworkPort, Profile, StandbyBinding, is_plugged

OWNER = "compute:laneway"
PLUGGED = {"direct": "hw_veb", "macvtap": "hw_veb", "vdpa": "ovs", "direct-physical": "hostdev_physical"}


def conflict(status: int) -> LanewayError:
    return LanewayError(ErrorCode.NEUTRON_CONFLICT, f"answered with {status}", {"status": status})


def failure(status: int) -> LanewayError:
    return LanewayError(ErrorCode.NEUTRON_UNREACHABLE, f"Neutron fails: {status}", {"status": status})


@dataclass
class FakeNetwork:
    """``agents`` are the hosts whose agents live, ``asked`` the requests in order.

    ``before_change`` is done before a write, ``before_read`` before any other: others who write, or a failure.
    """

    agents: set[str] = field(default_factory=set)
    before_change: Callable[[], None] = lambda: None
    before_read: Callable[[], None] = lambda: None
    asked: list[str] = field(default_factory=list)
    all_ports: dict[str, NetworkPort] = field(default_factory=dict)
    standbys: dict[str, dict[str, StandbyBinding]] = field(default_factory=dict)

    # what a test does

    def add_port(self, vnic_type: str = "direct", *, network: str = "net-1", profile: Profile | None = None) -> str:
        port = NetworkPort(
            id=str(uuid4()),
            network=network,
            vnic_type=vnic_type,
            mac_address=self._fresh_mac(),
            revision=1,
            profile=profile or {},
        )
        self.all_ports[port.id] = port
        return port.id

    def write(self, port: str, **values: object) -> None:
        """As another user would, or Neutron itself."""
        now = self.all_ports[port]
        self.all_ports[port] = replace(now, revision=now.revision + 1, **values)  # type: ignore[arg-type]

    # what the protocol has

    def ports(self, ids: Collection[str]) -> Sequence[NetworkPort]:
        self._read("ports")
        return [port for port in self.all_ports.values() if port.id in ids]

    def ports_on(self, host: str) -> Sequence[NetworkPort]:
        self._read("ports_on")
        return [port for port in self.all_ports.values() if port.host == host]

    def ports_with_mac(self, network: str, mac_address: str) -> Sequence[NetworkPort]:
        self._read("ports_with_mac")
        ports = self.all_ports.values()
        return [port for port in ports if port.network == network and port.mac_address == mac_address]

    def physical_network(self, network: str) -> str | None:
        self._read("physical_network")
        return "physnet1"

    def standby_bindings(self, port: NetworkPort) -> Sequence[StandbyBinding]:
        self._read("standby_bindings")
        self._of_vm(port)
        return list(self.standbys.get(port.id, {}).values())

    def take(self, port: NetworkPort, consumer: str) -> None:
        self._change("take", port)
        self.write(port.id, device_id=consumer, device_owner=OWNER)

    def bind(self, port: NetworkPort, host: str, profile: Profile) -> None:
        now = self._change("bind", port)
        if host in self.standbys.get(port.id, {}):
            raise failure(500)
        self._set_active(now, host, profile)

    def unbind(self, port: NetworkPort, profile: Profile) -> None:
        now = self._change("unbind", port)
        with_device = now.vnic_type == "direct-physical" and now.device_id is not None
        mac = self._fresh_mac() if with_device else now.mac_address
        self.write(port.id, host=None, vif_type=UNBOUND, profile=profile, mac_address=mac)
        self.write(port.id, device_id=None, device_owner=None)

    def renew_mac(self, port: NetworkPort) -> None:
        now = self._change("renew_mac", port)
        if now.host is not None:
            raise conflict(409)
        self.write(port.id, mac_address=self._fresh_mac())

    def add_standby(self, port: NetworkPort, host: str, profile: Profile) -> None:
        now = self._change("add_standby", port)
        self._of_vm(now)
        if host in self.standbys.get(port.id, {}) or host == now.host:
            raise conflict(409)
        if host not in self.agents:
            raise failure(500)
        self._set_standby(now, host, profile)

    def change_standby(self, port: NetworkPort, host: str, profile: Profile) -> None:
        now = self._change("change_standby", port)
        self._set_standby(now, host, profile)

    def activate(self, port: NetworkPort, host: str) -> None:
        now = self._change("activate", port)
        self._of_vm(now)
        if host == now.host:
            raise conflict(409)
        binding = self.standbys[port.id].pop(host)
        if now.host is not None:
            self.standbys[port.id][now.host] = StandbyBinding(host=now.host, vif_type=UNBOUND, profile=now.profile)
        self._set_active(now, host, binding.profile)

    def delete_standby(self, port: NetworkPort, host: str) -> None:
        now = self._change("delete_standby", port)
        self._of_vm(now)
        assert host != now.host, "the port would be left in pieces"
        self.standbys[port.id].pop(host, None)

    def _read(self, what: str) -> None:
        self.asked.append(what)
        self.before_read()

    def _change(self, what: str, port: NetworkPort) -> NetworkPort:
        self.asked.append(what)
        self.before_change()
        now = self.all_ports.get(port.id)
        if now is None:
            raise conflict(404)
        if now.revision != port.revision and what not in (
            "add_standby",
            "change_standby",
            "activate",
            "delete_standby",
        ):
            raise conflict(412)
        return now

    def _of_vm(self, port: NetworkPort) -> None:
        if not (self.all_ports[port.id].device_owner or "").startswith("compute:"):
            raise LanewayError(ErrorCode.NEUTRON_REFUSED, "Operation only valid on compute ports", {"status": 400})

    def _set_active(self, port: NetworkPort, host: str, profile: Profile) -> None:
        vif_type = self._vif_type(port, host)
        mac = port.mac_address
        if port.vnic_type == "direct-physical":
            mac = str(profile.get("device_mac_address") or self._fresh_mac())
            same = [one for one in self.all_ports.values() if one.network == port.network and one.mac_address == mac]
            assert all(one.id == port.id for one in same), "Neutron would hang for minutes"
        self.write(port.id, host=host, profile=profile, vif_type=vif_type, mac_address=mac)
        self._check(vif_type)

    def _set_standby(self, port: NetworkPort, host: str, profile: Profile) -> None:
        vif_type = self._vif_type(port, host)
        binding = StandbyBinding(host=host, vif_type=vif_type, profile=profile)
        self.standbys.setdefault(port.id, {})[host] = binding
        self._check(vif_type)

    def _vif_type(self, port: NetworkPort, host: str) -> str:
        return PLUGGED[port.vnic_type] if host in self.agents else BINDING_FAILED

    def _check(self, vif_type: str) -> None:
        if not is_plugged(vif_type):
            raise LanewayError(ErrorCode.PORT_BINDING_FAILED, "no driver takes it", {"vif_type": vif_type})

    def _fresh_mac(self) -> str:
        return "fa:16:3e:" + ":".join(uuid4().hex[n : n + 2] for n in (0, 2, 4))
