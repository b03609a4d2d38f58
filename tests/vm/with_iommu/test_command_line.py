"""An operator's session on this host, from the devices to what goes into a guest's definition and back."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vm.commands import Laneway, output_of
from vm.devices import NIC_ON_SWITCH, NIC_PF, NIC_PORT_0, NIC_PORT_1, NIC_VFS, NVME, NVME_WITHOUT_ACS, interface_of


def devices(laneway: Laneway) -> Mapping[str, Any]:
    return {one["address"]: one for one in laneway("devices").document["functions"]}


def test_a_claim_from_the_devices_to_the_definition_and_back(laneway: Laneway) -> None:
    before = devices(laneway)
    assert {before[address]["device"]["status"] for address in (NVME, *NIC_VFS, NIC_PORT_0)} == {"available"}
    assert before[NIC_PF]["device"] is None

    claimed = laneway("claim", "db-1", "--alias", "vf:2,disk:1", "--numa-node", "1", "--id", "c1")
    assert claimed.status == 0
    assert claimed.document["devices"] == {"vf": [NIC_VFS[0], NIC_VFS[1]], "disk": [NVME_WITHOUT_ACS]}
    assert laneway("claim", "db-2", "--alias", "vf:2").status == 1

    assert laneway("allocate", "db-1").status == 0
    held = devices(laneway)
    assert {
        address: one["device"]["consumer"] for address, one in held.items() if (one["device"] or {}).get("consumer")
    } == (dict.fromkeys((NIC_VFS[0], NIC_VFS[1], NVME_WITHOUT_ACS), "db-1"))
    definition = output_of(*laneway.command("hostdev", "db-1", "--format", "libvirt"))
    assert definition.count("<hostdev ") == 3
    assert definition.count("bus='0x81' slot='0x10'") == 2
    assert definition.count("bus='0x83' slot='0x00'") == 1

    assert laneway("free", "db-1").status == 0
    after = devices(laneway)
    assert {address: one["device"] for address, one in after.items()} == {
        address: one["device"] for address, one in before.items()
    }


def test_the_ports_of_a_group_go_to_one_guest(laneway: Laneway) -> None:
    def claimed(consumer: str) -> list[str] | None:
        devices = laneway("claim", consumer, "--alias", "nic:1").document["devices"]
        return None if devices is None else list(devices["nic"])

    assert claimed("a") == [NIC_ON_SWITCH]  # the one that takes no other along
    assert claimed("b") == [NIC_PORT_0]
    assert claimed("c") is None
    assert claimed("b") == [NIC_PORT_1]


def test_the_uplink_is_not_given_away(laneway: Laneway) -> None:
    name = interface_of(NIC_ON_SWITCH)
    output_of("ip", "link", "set", name, "up")
    output_of("ip", "addr", "add", "10.9.0.1/24", "dev", name)
    try:
        assert [block["code"] for block in devices(laneway)[NIC_ON_SWITCH]["device"]["blocked_by"]] == ["in_use_by"]
        claimed = laneway("claim", "a", "--alias", "nic:3")
        assert claimed.status == 1
    finally:
        output_of("ip", "addr", "flush", "dev", name)
        output_of("ip", "link", "set", name, "down")


def test_a_capture_read_elsewhere_is_this_host(laneway: Laneway, tmp_path: Path) -> None:
    capture = tmp_path / "host.json"
    assert output_of(*laneway.command("capture", "--output", str(capture))) == ""
    here, there = laneway("devices").document, laneway("devices", "--snapshot", str(capture)).document
    assert here == there
    assert len(here["functions"]) == len(list(Path("/sys/bus/pci/devices").iterdir()))


def test_the_config_is_good_on_this_host(laneway: Laneway) -> None:
    answer = laneway("check")
    assert (answer.status, answer.document["ok"]) == (0, True)
