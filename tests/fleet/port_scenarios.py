"""What becomes of ports: scenarios that run on Neutron in memory, and on the real one (``openstack/services``)."""

from collections.abc import Callable, Mapping
from typing import Protocol, cast

import pytest

from fleet.port_town import Town
from laneway.domain.errors import ErrorCode
from laneway.domain.tracking.claim import MoveKind
from laneway.interfaces.network import NetworkPort, NetworkService, Profile

MOVES_WHILE_IT_IS_OFF = [MoveKind.COLD, MoveKind.RESIZE, MoveKind.EVACUATION]


class Cloud(Protocol):
    """A Neutron with a network of the test's own on physnet1, and what a test does to it beside Laneway."""

    @property
    def service(self) -> NetworkService:
        """As Laneway uses it."""

    def add_port(self, vnic_type: str = "direct", *, profile: Profile | None = None) -> str:
        """A new port, by its id."""

    def delete_port(self, port: str) -> None:
        """The port is gone."""

    def own(self, port: str, device_id: str) -> None:
        """Somebody else's VM gets the port."""

    def set_binding(self, port: str, host: str, profile: Profile) -> None:
        """Somebody else binds the port."""

    def unbind_in_pieces(self, port: str) -> None:
        """Somebody else unbinds the port, and then takes it from its VM: it keeps the MAC of its device."""

    def touch(self, port: str) -> None:
        """Somebody changes the port in a way that has nothing to do with its binding."""

    def agent_up(self, host: str) -> None:
        """The agents of a host live."""

    def agent_down(self, host: str) -> None:
        """The agents of a host have gone silent."""


def port_of(cloud: Cloud, port: str) -> NetworkPort:
    (found,) = cloud.service.ports([port])
    return found


def standbys(cloud: Cloud, port: str) -> dict[str, Profile]:
    return {one.host: one.profile for one in cloud.service.standby_bindings(port_of(cloud, port))}


def slot(town: Town, consumer: str, host: int = 0) -> str:
    (device,) = town.devices(consumer, host)
    return str(device)


class Interrupted:
    """A service between whose reading and one of whose calls something happens, once."""

    def __init__(self, service: NetworkService, call: str, happens: Callable[[], None]) -> None:
        self._service, self._call, self._happens = service, call, happens

    def __getattr__(self, name: str) -> object:
        if name == self._call:
            self._call = ""
            self._happens()
        return getattr(self._service, name)


class PortScenarios:
    """Subclasses give the fixtures ``cloud`` and ``town``: agents live on both of its hosts."""

    def test_c71_c72_c77_bound_when_the_device_is_allocated_and_unbound_when_it_is_freed(
        self, cloud: Cloud, town: Town
    ) -> None:
        """C71, C72, C77, D9: what others have put into the profile stays."""
        port = cloud.add_port(profile={"mine": [1], "capabilities": ["switchdev"]})
        town.claim("vm1", port)
        assert town.keep() == {}
        assert port_of(cloud, port).host is None
        town.allocate("vm1")
        assert town.keep() == {port: ("taken", "bound")}
        bound = port_of(cloud, port)
        assert (bound.host, bound.vif_type, bound.device_id) == (town.hosts[0], "hw_veb", "vm1")
        assert bound.profile == {
            "mine": [1],
            "pci_vendor_info": "8086:154c",
            "pci_slot": slot(town, "vm1"),
            "physical_network": "physnet1",
            "pf_mac_address": f"{town.mac}:00:00",
            "vf_num": 0,
        }
        assert town.keep() == {port: ()}
        town.free("vm1")
        assert town.keep() == {port: ("unbound",)}
        free = port_of(cloud, port)
        assert (free.host, free.vif_type, free.device_id, free.profile) == (None, "unbound", None, {"mine": [1]})
        assert town.keep() == {}

    def test_a_profile_that_somebody_has_changed_is_put_right(self, cloud: Cloud, town: Town) -> None:
        port = cloud.add_port()
        town.start("vm1", port)
        town.keep()
        right = port_of(cloud, port).profile
        cloud.set_binding(port, town.hosts[0], {"pci_slot": "0000:99:00.0", "theirs": True})
        assert town.keep() == {port: ("bound",)}
        assert port_of(cloud, port).profile == {**right, "theirs": True}

    def test_a_port_that_changes_between_reading_and_writing_is_read_again(self, cloud: Cloud, town: Town) -> None:
        """The stale write is refused (If-Match), and nobody has to wait for that."""
        port = cloud.add_port()
        town.start("vm1", port)
        town.service = cast("NetworkService", Interrupted(cloud.service, "bind", lambda: cloud.touch(port)))
        town.restarted()
        assert town.keep() == {port: ("taken", "bound")}
        assert town.waited == []

    def test_a_binding_that_failed_is_recorded_and_repeated_until_an_agent_takes_it(
        self, cloud: Cloud, town: Town
    ) -> None:
        """A failed bind is answered like any other; the same update binds later."""
        host = town.hosts[0]
        port = cloud.add_port()
        town.start("vm1", port)
        cloud.agent_down(host)
        for attempt in (1, 2):
            (error,) = town.kept().errors
            assert error.code is ErrorCode.PORT_BINDING_FAILED
            record = town.store.binding_records(host)[port]
            assert (record.is_bound, record.attempts, record.error_code) == (False, attempt, "port_binding_failed")
        cloud.agent_up(host)
        assert town.keep() == {port: ("bound",)}
        record = town.store.binding_records(host)[port]
        assert (record.is_bound, record.attempts, record.error) == (True, 0, None)
        assert port_of(cloud, port).vif_type == "hw_veb"

    def test_a_port_of_a_failed_binding_is_free_when_the_device_is(self, cloud: Cloud, town: Town) -> None:
        """It holds host and profile, half bound, and is unbound like any other."""
        port = cloud.add_port()
        town.start("vm1", port)
        cloud.agent_down(town.hosts[0])
        town.kept()
        town.free("vm1")
        assert town.keep() == {port: ("unbound",)}
        cloud.agent_up(town.hosts[0])
        assert (port_of(cloud, port).host, dict(port_of(cloud, port).profile)) == (None, {})

    def test_two_ports_never_have_one_device(self, cloud: Cloud, town: Town) -> None:
        """Neutron would bind both without a word."""
        port, theirs = cloud.add_port(), cloud.add_port()
        town.start("vm1", port)
        cloud.own(theirs, "other-vm")
        cloud.set_binding(theirs, town.hosts[0], {"pci_slot": slot(town, "vm1")})
        (error,) = town.kept().errors
        assert (error.code, error.detail["port"]) == (ErrorCode.PORT_IN_USE, port)
        assert f"port {theirs} of other-vm" in error.message
        assert port_of(cloud, port).host is None
        cloud.delete_port(theirs)
        assert town.keep() == {port: ("taken", "bound")}

    def test_a_port_of_another_vm_is_left_to_it(self, cloud: Cloud, town: Town) -> None:
        port = cloud.add_port()
        town.start("vm1", port)
        cloud.own(port, "other-vm")
        before = port_of(cloud, port)
        (error,) = town.kept().errors
        assert (error.code, error.message) == (
            ErrorCode.PORT_IN_USE,
            f"port {port} is a port of other-vm already",
        )
        town.free("vm1")
        assert town.keep() == {port: ()}
        assert port_of(cloud, port) == before

    def test_a_port_that_was_deleted_is_told_of_and_forgotten_when_its_device_is_freed(
        self, cloud: Cloud, town: Town
    ) -> None:
        port = cloud.add_port()
        town.start("vm1", port)
        town.keep()
        cloud.delete_port(port)
        assert [error.code for error in town.kept().errors] == [ErrorCode.UNKNOWN_PORT]
        town.free("vm1")
        assert town.keep() == {port: ()}
        assert town.store.binding_records(town.hosts[0]) == {}

    def test_c73_a_direct_physical_port_has_its_device_s_mac_and_gives_it_up_again(
        self, cloud: Cloud, town: Town
    ) -> None:
        """C73: the next port with that MAC would hang for minutes."""
        ports = [cloud.add_port("direct-physical") for _ in range(2)]
        for number, port in enumerate(ports):
            consumer = f"vm{number}"
            town.start(consumer, port, vnic_type="direct-physical")
            assert town.keep()[port] == ("taken", "bound")
            assert port_of(cloud, port).mac_address == f"{town.mac}:00:01"
            town.free(consumer)
            assert town.keep() == {port: ("unbound",)}
            assert port_of(cloud, port).mac_address != f"{town.mac}:00:01"

    def test_c73_a_mac_that_somebody_has_left_to_the_port_is_taken_from_it(self, cloud: Cloud, town: Town) -> None:
        """C73: Neutron gives a port its own MAC again only with the VM and the host at once."""
        port = cloud.add_port("direct-physical")
        town.start("vm1", port, vnic_type="direct-physical")
        town.keep()
        cloud.unbind_in_pieces(port)
        assert port_of(cloud, port).mac_address == f"{town.mac}:00:01"
        town.free("vm1")
        assert town.keep() == {port: ("given a new MAC",)}
        assert port_of(cloud, port).mac_address != f"{town.mac}:00:01"

    def test_c73_a_mac_that_another_port_has_is_seen_before_binding(self, cloud: Cloud, town: Town) -> None:
        """C73."""
        theirs = cloud.add_port("direct-physical")
        mac = f"{town.mac}:00:01"
        cloud.set_binding(theirs, town.hosts[1], {"pci_slot": "0000:99:00.0", "device_mac_address": mac})
        assert port_of(cloud, theirs).mac_address == mac
        port = cloud.add_port("direct-physical")
        town.start("vm1", port, vnic_type="direct-physical")
        (error,) = town.kept().errors
        assert (error.code, theirs in error.message, mac in error.message) == (ErrorCode.PORT_IN_USE, True, True)
        assert port_of(cloud, port).host is None
        cloud.delete_port(theirs)
        assert town.keep() == {port: ("taken", "bound")}

    @pytest.mark.parametrize("kind", MOVES_WHILE_IT_IS_OFF)
    def test_c80_a_port_moves_when_the_devices_of_the_destination_are_in_use(
        self, kind: MoveKind, cloud: Cloud, town: Town
    ) -> None:
        """C80."""
        port = cloud.add_port()
        town.start("vm1", port)
        town.keep()
        town.move(kind, "vm1")
        assert (town.keep(0), town.keep(1)) == ({port: ()}, {})
        town.allocate("vm1", host=1)
        assert (town.keep(0), town.keep(1), town.keep(0)) == ({port: ()}, {port: ("bound",)}, {port: ()})
        moved = port_of(cloud, port)
        assert (moved.host, moved.slot) == (town.hosts[1], slot(town, "vm1", 1))
        assert moved.profile["pf_mac_address"] == f"{town.mac}:01:00"
        town.confirm("vm1")
        assert (town.keep(0), town.keep(1)) == ({}, {port: ()})
        assert port_of(cloud, port) == moved

    def test_c80_a_move_that_is_taken_back_brings_the_port_back(self, cloud: Cloud, town: Town) -> None:
        """C80."""
        port = cloud.add_port()
        town.start("vm1", port)
        town.keep()
        before = port_of(cloud, port)
        town.move(MoveKind.COLD, "vm1")
        town.allocate("vm1", host=1)
        town.keep(1)
        town.keep(0)
        town.revert("vm1")
        assert (town.keep(1), town.keep(0), town.keep(1)) == ({port: ()}, {port: ("bound",)}, {port: ()})
        after = port_of(cloud, port)
        assert (after.host, after.profile, after.vif_type) == (before.host, before.profile, before.vif_type)

    def test_c73_c80_a_direct_physical_port_takes_the_mac_of_the_new_device(self, cloud: Cloud, town: Town) -> None:
        """C73, C80."""
        port = cloud.add_port("direct-physical")
        town.start("vm1", port, vnic_type="direct-physical")
        town.keep()
        town.move(MoveKind.COLD, "vm1")
        town.confirm("vm1")
        assert (town.keep(1), town.keep(0)) == ({port: ("bound",)}, {port: ()})
        moved = port_of(cloud, port)
        assert (moved.mac_address, moved.profile["device_mac_address"]) == (f"{town.mac}:01:01", f"{town.mac}:01:01")

    def test_c83_a_live_migration_binds_beforehand_moves_and_removes_the_old_binding(
        self, cloud: Cloud, town: Town
    ) -> None:
        """C82, C83."""
        source, destination = town.hosts
        port = cloud.add_port()
        town.start("vm1", port)
        town.keep()
        town.move(MoveKind.LIVE, "vm1")
        assert (town.keep(0), town.keep(1), town.keep(1)) == (
            {port: ()},
            {port: ("bound beforehand",)},
            {port: ()},
        )
        assert port_of(cloud, port).host == source
        assert standbys(cloud, port)[destination]["pci_slot"] == slot(town, "vm1", 1)
        town.confirm("vm1")
        assert (town.keep(0), town.keep(1), town.keep(0)) == (
            {port: ()},
            {port: ("moved here",)},
            {port: ("removed",)},
        )
        moved = port_of(cloud, port)
        assert (moved.host, moved.slot, moved.vif_type) == (destination, slot(town, "vm1", 1), "hw_veb")
        assert standbys(cloud, port) == {}
        town.free("vm1", host=1)
        assert (town.keep(1), town.keep(0)) == ({port: ("unbound",)}, {})

    def test_c83_a_live_migration_that_is_aborted_leaves_nothing(self, cloud: Cloud, town: Town) -> None:
        """C83."""
        port = cloud.add_port()
        town.start("vm1", port)
        town.keep()
        before = port_of(cloud, port)
        town.move(MoveKind.LIVE, "vm1")
        town.keep(1)
        town.revert("vm1")
        assert (town.keep(1), town.keep(0)) == ({port: ("removed",)}, {port: ()})
        after = port_of(cloud, port)
        assert (after.host, after.profile, standbys(cloud, port)) == (before.host, before.profile, {})

    def test_c83_a_standby_that_is_there_already_is_taken_as_it_is_or_put_right(self, cloud: Cloud, town: Town) -> None:
        """C83: to bind beforehand again would be refused."""
        port = cloud.add_port()
        town.start("vm1", port)
        town.keep()
        town.move(MoveKind.LIVE, "vm1")
        cloud.service.add_standby(port_of(cloud, port), town.hosts[1], {"pci_slot": "0000:99:00.0"})
        assert town.keep(1) == {port: ("bound beforehand anew",)}
        assert standbys(cloud, port)[town.hosts[1]]["pci_slot"] == slot(town, "vm1", 1)

    def test_what_an_aborted_migration_of_others_has_left_is_no_obstacle(self, cloud: Cloud, town: Town) -> None:
        """Neutron would answer 500 to a bind on a host where a standby binding is."""
        port = cloud.add_port()
        town.start("vm1", port)
        town.keep()
        for host in town.hosts[1:]:
            cloud.service.add_standby(port_of(cloud, port), host, {"pci_slot": "0000:99:00.0"})
        town.move(MoveKind.COLD, "vm1")
        town.confirm("vm1")
        assert town.keep(1) == {port: ("bound beforehand anew", "moved here")}
        assert town.keep(0) == {port: ("removed",)}
        assert port_of(cloud, port).slot == slot(town, "vm1", 1)

    def test_a_port_with_standbys_is_unbound_after_these(self, cloud: Cloud, town: Town) -> None:
        """Neutron shows them no more once the port is free, and would not let the port be bound there again."""
        port = cloud.add_port()
        town.start("vm1", port)
        town.keep()
        cloud.service.add_standby(port_of(cloud, port), town.hosts[1], {"pci_slot": "0000:99:00.0"})
        town.free("vm1")
        assert town.keep() == {port: ("removed", "unbound")}

    def test_ports_of_one_consumer_that_exchange_their_devices(self, cloud: Cloud, town: Town) -> None:
        """Each is put right, and at no moment have both the same."""
        ports = sorted(cloud.add_port() for _ in range(2))
        town.start("vm1", *ports)
        town.keep()
        profiles: list[Mapping[str, object]] = [port_of(cloud, port).profile for port in ports]
        for port, profile in zip(ports, reversed(profiles), strict=True):
            cloud.set_binding(port, town.hosts[0], profile)
        assert town.keep() == {ports[0]: ("unbound", "taken", "bound"), ports[1]: ("bound",)}
        assert [port_of(cloud, port).profile for port in ports] == profiles

    def test_a_port_of_a_network_that_was_unbound_by_hand_is_bound_again(self, cloud: Cloud, town: Town) -> None:
        port = cloud.add_port()
        town.start("vm1", port)
        town.keep()
        cloud.service.unbind(port_of(cloud, port), {})
        assert town.keep() == {port: ("taken", "bound")}

    def test_a_port_that_somebody_has_bound_on_another_host_stays_there(self, cloud: Cloud, town: Town) -> None:
        port = cloud.add_port()
        town.start("vm1", port)
        town.keep()
        cloud.set_binding(port, town.hosts[1], {"pci_slot": "0000:99:00.0"})
        (error,) = town.kept().errors
        assert error.code is ErrorCode.PORT_IN_USE
        town.free("vm1")
        assert town.keep() == {port: ()}
        assert port_of(cloud, port).host == town.hosts[1]
