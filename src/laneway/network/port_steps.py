"""The changes of a port, each one request to Neutron."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

from laneway.interfaces.network import NetworkPort, NetworkService, Profile


class Step(Protocol):
    """One change of a port. ``done`` is what has been done after it, in a word for people."""

    done: ClassVar[str]

    def run(self, network: NetworkService, port: NetworkPort) -> None:
        """Makes the change. Raises as ``NetworkService`` does."""


@dataclass(frozen=True, slots=True)
class Take:
    """The port becomes the consumer's. Only of such a port does Neutron show the standby bindings that may be left."""

    done: ClassVar[str] = "taken"

    consumer: str

    def run(self, network: NetworkService, port: NetworkPort) -> None:
        """As ``Step`` says."""
        network.take(port, self.consumer)


@dataclass(frozen=True, slots=True)
class Bind:
    """The active binding is on this host, with this profile."""

    done: ClassVar[str] = "bound"

    host: str
    profile: Profile

    def run(self, network: NetworkService, port: NetworkPort) -> None:
        """As ``Step`` says."""
        network.bind(port, self.host, self.profile)


@dataclass(frozen=True, slots=True)
class Unbind:
    """The port is free."""

    done: ClassVar[str] = "unbound"

    profile: Profile

    def run(self, network: NetworkService, port: NetworkPort) -> None:
        """As ``Step`` says."""
        network.unbind(port, self.profile)


@dataclass(frozen=True, slots=True)
class RenewMac:
    """The port gives up the MAC of the device that it had."""

    done: ClassVar[str] = "given a new MAC"

    def run(self, network: NetworkService, port: NetworkPort) -> None:
        """As ``Step`` says."""
        network.renew_mac(port)


@dataclass(frozen=True, slots=True)
class AddStandby:
    """The port is bound on a second host, too."""

    done: ClassVar[str] = "bound beforehand"

    host: str
    profile: Profile

    def run(self, network: NetworkService, port: NetworkPort) -> None:
        """As ``Step`` says."""
        network.add_standby(port, self.host, self.profile)


@dataclass(frozen=True, slots=True)
class ChangeStandby:
    """The standby binding has this profile."""

    done: ClassVar[str] = "bound beforehand anew"

    host: str
    profile: Profile

    def run(self, network: NetworkService, port: NetworkPort) -> None:
        """As ``Step`` says."""
        network.change_standby(port, self.host, self.profile)


@dataclass(frozen=True, slots=True)
class Activate:
    """The standby binding becomes the active one."""

    done: ClassVar[str] = "moved here"

    host: str

    def run(self, network: NetworkService, port: NetworkPort) -> None:
        """As ``Step`` says."""
        network.activate(port, self.host)


@dataclass(frozen=True, slots=True)
class DeleteStandby:
    """The standby binding is gone."""

    done: ClassVar[str] = "removed"

    host: str

    def run(self, network: NetworkService, port: NetworkPort) -> None:
        """As ``Step`` says."""
        network.delete_standby(port, self.host)
