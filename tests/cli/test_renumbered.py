"""A host that comes up with other bus numbers, through the commands."""

import json
import re

from cli.conftest import ExampleHost


def with_serials(host: ExampleHost) -> None:
    """Every card has a number of its own."""
    path = host.folder / "host.json"
    document = json.loads(path.read_text())
    for number, function in enumerate(document["functions"], start=1):
        function["device_serial_number"] = f"00-00-00-00-00-00-10-{number:02x}"
    path.write_text(json.dumps(document))


def renumber(host: ExampleHost, by: int) -> None:
    """Every bus but the first has another number, and a boot has gone by."""
    path = host.folder / "host.json"

    def shifted(found: re.Match[str]) -> str:
        bus = int(found[1], 16)
        return f"0000:{bus + by if bus else bus:02x}:{found[2]}"

    text = re.sub(r"\b0000:([0-9a-f]{2}):([0-9a-f]{2}\.[0-7])", shifted, path.read_text())
    document = json.loads(text)
    path.write_text(json.dumps(document | {"boot_id": f"boot {by}"}))


def device_at(host: ExampleHost, address: str) -> dict[str, object]:
    found = host.json("devices", "devices")["functions"]
    device: dict[str, object] = next(one["device"] for one in found if one["address"] == address)
    return device


def codes(device: dict[str, object]) -> list[str]:
    reasons = device["blocked_by"]
    assert isinstance(reasons, list)
    return [reason["code"] for reason in reasons]


def test_an_owned_card_that_is_elsewhere_is_shown_and_handed_to_nobody(gpu_server: ExampleHost) -> None:
    with_serials(gpu_server)
    claim = gpu_server.json("step", "claim", "db-1", "--alias", "l40s:1")
    (old,) = claim["devices"]["l40s"]
    assert gpu_server.run("allocate", "db-1").status == 0
    for ask in (("hostdev", "db-1", "--format", "libvirt"), ("binding-profile", "db-1")):
        assert gpu_server.run_alone(*ask, *options_of(gpu_server, ask[0])).status == 0
    renumber(gpu_server, 1)
    new = f"0000:{int(old[5:7], 16) + 1:02x}{old[7:]}"
    assert codes(device_at(gpu_server, new)) == ["wrong_device"]
    for ask in (("hostdev", "db-1", "--format", "libvirt"), ("binding-profile", "db-1")):
        answer = gpu_server.run_alone(*ask, *options_of(gpu_server, ask[0]))
        assert answer.status == 1
        assert f"was recorded at {old}" in answer.err
        assert f"is at {new}" in answer.err
    renumber(gpu_server, -1)
    assert codes(device_at(gpu_server, old)) == []
    assert gpu_server.run("hostdev", "db-1", "--format", "libvirt").status == 0


def options_of(host: ExampleHost, command: str) -> list[str]:
    """A profile is made of the database alone."""
    return host.options if command == "hostdev" else ["--state", str(host.folder / "state.db")]


def test_a_cordoned_card_stays_so_at_its_new_address(gpu_server: ExampleHost) -> None:
    with_serials(gpu_server)
    (old,) = gpu_server.json("step", "claim", "db-1", "--alias", "l40s:1")["devices"]["l40s"]
    gpu_server.run("free", "db-1")
    assert gpu_server.run("cordon", old).status == 0
    renumber(gpu_server, 1)
    new = f"0000:{int(old[5:7], 16) + 1:02x}{old[7:]}"
    assert codes(device_at(gpu_server, new)) == ["cordoned"]
    assert gpu_server.run("uncordon", new).status == 0
    assert codes(device_at(gpu_server, new)) == []
