"""Virtual machines that ran before Laneway came: QEMU processes that hold real devices."""

from typing import Any

from vm.commands import Laneway
from vm.devices import NIC_ON_SWITCH, NIC_PORT_0, NIC_PORT_1, NIC_VFS, bound_to_vfio
from vm.nested_vm import running_vm, vfio_devices


def test_running_vms_are_recorded_as_owners_after_a_look_at_what_that_would_be(laneway: Laneway) -> None:
    with (
        bound_to_vfio(NIC_VFS[0], NIC_ON_SWITCH, NIC_PORT_0, NIC_PORT_1),
        running_vm("web-1", *vfio_devices(NIC_VFS[0], NIC_ON_SWITCH)) as web,
        running_vm("db-1", *vfio_devices(NIC_PORT_0, NIC_PORT_1)),
    ):
        blocked = states(laneway)
        assert blocked[NIC_ON_SWITCH]["blocked_by"][0]["code"] == "opened_by"
        assert str(web) in str(blocked[NIC_ON_SWITCH]["blocked_by"])

        planned = laneway("adopt")
        assert planned.status == 0
        assert owners(laneway) == {}

        adopted = laneway("adopt", "--yes")
        assert adopted.status == 0
        assert owners(laneway) == {
            NIC_VFS[0]: ("allocated", "web-1"),
            NIC_ON_SWITCH: ("allocated", "web-1"),
            NIC_PORT_0: ("allocated", "db-1"),
            NIC_PORT_1: ("allocated", "db-1"),
        }
        assert states(laneway)[NIC_ON_SWITCH]["blocked_by"] == []
        assert laneway("claim", "other", "--alias", "nic:1").status == 1


def states(laneway: Laneway) -> dict[str, Any]:
    return {one["address"]: one["device"] for one in laneway("devices").document["functions"] if one["device"]}


def owners(laneway: Laneway) -> dict[str, tuple[str, str]]:
    return {
        address: (device["status"], device["consumer"])
        for address, device in states(laneway).items()
        if device.get("consumer")
    }
