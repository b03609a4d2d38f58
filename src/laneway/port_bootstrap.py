"""Puts together what has to do with Neutron's ports, as ``bootstrap`` does for all else."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from laneway.bootstrap import LocalHost, Source, now
from laneway.compute.exclusive_ports import ExclusivePortKeeper, ports_lock
from laneway.config import Config
from laneway.domain.requests.request import DeviceRequest, NumaPolicy
from laneway.fleet import port_requests
from laneway.fleet.port_bindings import PortBindings
from laneway.fleet.port_standings import PortStandings
from laneway.interfaces.host_changes import Progress
from laneway.interfaces.network import KeptPorts, PortKeeper
from laneway.interfaces.store import Store
from laneway.openstack.neutron_client import open_neutron
from laneway.openstack.service import Access


def network_access(config: Config, nova_conf: Sequence[Path]) -> Access:
    """Where Neutron is, and who we are there."""
    return Access(nova_conf=tuple(nova_conf), cloud=config.neutron_cloud)


def port_keeper(
    config: Config, nova_conf: Sequence[Path], store: Store, database: Path, progress: Progress
) -> PortKeeper | None:
    """Who keeps the ports of a host bound; None where the config does not ask for that."""
    if not config.bind_ports:
        return None
    bindings = PortBindings(store, partial(open_neutron, network_access(config, nova_conf)), now)
    return ExclusivePortKeeper(bindings, ports_lock(database), progress)


def requests_of_ports(
    source: Source, config: Config, ids: Sequence[str], consumer: str, *, guest_policy: NumaPolicy | None = None
) -> tuple[DeviceRequest, ...]:
    """What the devices of these ports have to be. Raises as ``port_requests`` and the service do."""
    service = open_neutron(network_access(config, source.nova_conf))
    return port_requests.port_requests(service, ids, consumer, guest_policy=guest_policy)


def keep_ports(source: Source, host: LocalHost, progress: Progress) -> KeptPorts:
    """One round over the ports of a host; nothing where the config does not ask for that. Raises as the store does."""
    from laneway.store.sqlite import open_store  # noqa: PLC0415 - late, see bootstrap

    with open_store(host.database) as store:
        keeper = port_keeper(host.config, source.nova_conf, store, host.database, progress)
        return KeptPorts() if keeper is None else keeper.keep(host.name)


def look_at_ports(source: Source, host: LocalHost) -> PortStandings:
    """How the ports of a host stand. Raises as the store does."""
    from laneway.store.sqlite import open_store  # noqa: PLC0415 - late, see bootstrap

    with open_store(host.database) as store:
        connect = partial(open_neutron, network_access(host.config, source.nova_conf))
        return PortBindings(store, connect, now).look(host.name)
