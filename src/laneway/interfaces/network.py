"""OpenStack Neutron: ports as far as their devices go, as values, and what is done to them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from laneway.domain.address import PciAddress
from laneway.domain.errors import LanewayError

Profile = Mapping[str, object]
"""A port's ``binding:profile``."""

UNBOUND = "unbound"
BINDING_FAILED = "binding_failed"


def is_plugged(vif_type: str) -> bool:
    """Whether a driver of Neutron's has taken the binding over: a failed one is answered like any other."""
    return vif_type not in (UNBOUND, BINDING_FAILED)


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkPort:
    """A port with its active binding.

    ``host`` is where it is bound, or shall be (None: nowhere), ``vif_type`` what came of it.
    ``revision`` is its version: a write that names an older one is refused.
    """

    id: str
    network: str
    vnic_type: str
    mac_address: str
    revision: int
    device_id: str | None = None
    device_owner: str | None = None
    host: str | None = None
    vif_type: str = UNBOUND
    profile: Profile = field(default_factory=dict)
    numa_policy: str | None = None
    trusted: bool | None = None

    @property
    def slot(self) -> str | None:
        """The PCI address in the profile."""
        slot = self.profile.get("pci_slot")
        return slot if isinstance(slot, str) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class StandbyBinding:
    """A further binding of a port, which is not the active one: for a live migration, or left of one."""

    host: str
    vif_type: str
    profile: Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class BindingRecord:
    """What is kept of a port that was, or may have been, bound on a host: written before Neutron is asked.

    ``address`` and ``profile`` are of the device that it was last bound with, or tried to be. ``is_bound``: Neutron has
    confirmed that. ``since`` is when it last came to stand, or ceased to stand, as it should; ``attempts`` and
    the error, its code and its message, are of what was tried after that in vain.
    """

    port: str
    consumer: str
    address: PciAddress
    profile: Profile
    since: datetime
    is_bound: bool = False
    attempts: int = 0
    error_code: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptPort:
    """What came of one port: what was done, in words (none: nothing), and why it does not stand as it should."""

    port: str
    consumer: str
    done: tuple[str, ...] = ()
    error: LanewayError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptPorts:
    """What came of a host's ports. ``error``: why none of them could be looked at."""

    ports: tuple[KeptPort, ...] = ()
    error: LanewayError | None = None

    @property
    def errors(self) -> tuple[LanewayError, ...]:
        """What did not work, each error once."""
        if self.error is not None:
            return (self.error,)
        return tuple(port.error for port in self.ports if port.error is not None)


class PortKeeper(Protocol):
    """Keeps the ports of hosts bound as the claims say."""

    def keep(self, host: str) -> KeptPorts:
        """One round over all ports of a host; what fails is recorded, and done at the next one.

        Raises LanewayError only as the store does.
        """


class NetworkService(Protocol):
    """The service itself. Every method raises

    - LanewayError(neutron_unreachable) where it does not answer, or only with failures of its own; of the latter
      the detail has ``status``, and only what was asked for need be out of order;
    - LanewayError(no_permission) without the role that it takes, and LanewayError(neutron_refused) where it takes a
      request for wrong;
    - and those that change something LanewayError(neutron_conflict) where the port has changed since it was read:
      read again and decide anew.
    """

    def ports(self, ids: Collection[str]) -> Sequence[NetworkPort]:
        """Those of these ports that there are."""

    def ports_on(self, host: str) -> Sequence[NetworkPort]:
        """All ports whose active binding is on a host, of whatever kind."""

    def ports_with_mac(self, network: str, mac_address: str) -> Sequence[NetworkPort]:
        """The ports of a network that have this MAC."""

    def physical_network(self, network: str) -> str | None:
        """The physical network below a network; None where it is a tunnelled one."""

    def standby_bindings(self, port: NetworkPort) -> Sequence[StandbyBinding]:
        """The bindings of a port of a VM beside the active one."""

    def take(self, port: NetworkPort, consumer: str) -> None:
        """Makes the port the consumer's, a VM's, without binding it."""

    def bind(self, port: NetworkPort, host: str, profile: Profile) -> None:
        """Binds the port on a host, with this profile as the whole of it.

        Raises LanewayError(port_binding_failed) where no driver of Neutron's takes it. The host and the
        profile stand in the port then, and the same call may succeed later.
        """

    def unbind(self, port: NetworkPort, profile: Profile) -> None:
        """The port is on no host and of no VM any more; ``profile`` is what stays of its profile."""

    def renew_mac(self, port: NetworkPort) -> None:
        """Gives an unbound port a MAC of its own: Neutron leaves it that of the device it had."""

    def add_standby(self, port: NetworkPort, host: str, profile: Profile) -> None:
        """Binds the port on a second host, too, without moving it there. Raises as ``bind`` does."""

    def change_standby(self, port: NetworkPort, host: str, profile: Profile) -> None:
        """Gives a standby binding this profile. Raises as ``bind`` does."""

    def activate(self, port: NetworkPort, host: str) -> None:
        """Makes a standby binding the active one, and the active one a standby. Raises as ``bind`` does."""

    def delete_standby(self, port: NetworkPort, host: str) -> None:
        """Removes a standby binding. Neutron would remove the active one as well, which leaves a port in pieces."""
