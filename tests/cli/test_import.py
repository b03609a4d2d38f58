"""``laneway import nova``: from nova's database or an export of it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import nova_rows as rows
from cli.conftest import ExampleHost
from cli.documents import validated

VF, PF, NETWORK = "0000:31:11.0", "0000:31:00.1", "provider"
NOVA_CONF = '[pci]\ndevice_spec = {"vendor_id": "8086", "product_id": "1889", "physical_network": "provider"}\n'


@pytest.fixture
def host(network_host: ExampleHost) -> ExampleHost:
    """A compute node that is moved over with its nova.conf."""
    (network_host.folder / "nova.conf").write_text(NOVA_CONF)
    return network_host


def tables(*devices: rows.Row) -> dict[str, list[rows.Row]]:
    """A VF with an instance, for a port; and whatever else is given."""
    vf = rows.vf(VF, PF, rows.VM, product_id="1889", request_id=rows.PORT_REQUEST)
    return {
        "compute_nodes": [rows.NODE | {"host": "net-1", "hypervisor_hostname": "net-1.example"}],
        "pci_devices": [vf, *devices],
        "instances": [rows.instance(host="net-1", node="net-1.example")],
        "instance_extra": [rows.extra(rows.port_request(NETWORK))],
    }


def database(host: ExampleHost, *devices: rows.Row) -> Sequence[str]:
    return ("--database", f"sqlite:///{rows.write_database(host.folder / 'nova.db', **tables(*devices))}")


def words(host: ExampleHost, *more: str) -> list[str]:
    here = {"--snapshot": "host.json", "--nova-conf": "nova.conf", "--state": "state.db"}
    return ["import", "nova", *more, *(word for key, name in here.items() for word in (key, str(host.folder / name)))]


def run_json(host: ExampleHost, *more: str, status: int = 0) -> Any:
    answer = host.run_alone(*words(host, *more), "--json")
    assert (answer.status, answer.err) == (status, "")
    return validated("import", answer.out)


def held(host: ExampleHost) -> list[dict[str, Any]]:
    devices: list[dict[str, Any]] = host.json("claims", "claims")["devices"]
    return devices


def test_a_dry_run_says_the_same_and_changes_nothing(host: ExampleHost) -> None:
    source = database(host, rows.vf("0000:31:11.1", PF, "gone", id=2))
    dry = run_json(host, *source, "--dry-run")
    assert held(host) == []
    done = run_json(host, *source)
    assert (dry.pop("applied"), done.pop("applied")) == (False, True)
    assert dry == done
    assert [device["address"] for device in held(host)] == [VF]


def test_devices_owners_and_requests_are_taken_over(host: ExampleHost) -> None:
    document = run_json(host, *database(host))
    assert (document["node"], document["ok"], document["findings"]) == ("net-1.example", True, [])
    assert document["devices"] == [
        {
            "address": VF,
            "consumer": rows.VM,
            "status": "allocated",
            "attach": "vfio",
            "request": rows.PORT_REQUEST,
            "alias": None,
            "port": rows.PORT,
            "known": False,
            "refusal": None,
        }
    ]
    (claim,) = host.json("claims", "claims")["claims"]
    assert (claim["claim"], claim["devices"]) == (f"nova-{rows.VM}", {rows.PORT_REQUEST: [VF]})
    profiles = host.json("binding-profile", "binding-profile", rows.VM)["hosts"]["net-1"]
    assert profiles[VF]["physical_network"] == NETWORK


def test_done_again_it_changes_nothing(host: ExampleHost) -> None:
    source = database(host)
    run_json(host, *source)
    state = held(host)
    assert [device["known"] for device in run_json(host, *source)["devices"]] == [True]
    assert held(host) == state


def test_an_export_will_do(host: ExampleHost) -> None:
    for table, content in tables().items():
        (host.folder / f"{table}.json").write_text(json.dumps(content))
    assert run_json(host, "--export", str(host.folder), "--dry-run")["devices"][0]["address"] == VF


def test_ports_tell_the_network(host: ExampleHost) -> None:
    ports = host.folder / "ports.json"
    bound = rows.port(VF) | {"binding:host_id": "net-1"}
    ports.write_text(json.dumps({"ports": [bound]}))
    document = run_json(host, *database(host), "--ports", str(ports))
    assert [finding["code"] for finding in document["findings"]] == ["network_differs"]


def test_a_database_may_be_named_in_the_environment(host: ExampleHost, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its password would be seen on a command line."""
    monkeypatch.setenv("LANEWAY_NOVA_DATABASE", database(host)[1])
    assert run_json(host, "--dry-run")["ok"]


def test_what_is_left_to_a_person_makes_it_a_no(host: ExampleHost) -> None:
    wrong = rows.device("0000:31:11.1", rows.VM, id=2, vendor_id="10de", product_id="20b0")
    document = run_json(host, *database(host, wrong), status=1)
    assert (document["ok"], document["devices"][1]["refusal"]["code"]) == (False, "other_device")


def test_people_are_told_by_how_bad_it_is(host: ExampleHost) -> None:
    more = (
        rows.device("0000:31:11.1", rows.VM, id=2, vendor_id="10de", product_id="20b0"),
        rows.vf("0000:31:11.2", PF, "gone", id=3),
        rows.pf(PF, id=4, product_id="1592"),
    )
    answer = host.run_alone(*words(host, *database(host, *more), "--dry-run"))
    assert (answer.status, answer.err) == (1, "")
    lines = answer.out.splitlines()
    assert lines[0].split() == ["CONSUMER", "ADDRESS", "ATTACH", "FOR", "OUTCOME"]
    assert lines[1].split() == [rows.VM, VF, "vfio", "port", rows.PORT, "to", "be", "recorded", "as", "allocated"]
    assert lines[2].endswith("left as it is: see below")
    titles = [line for line in lines if line and not line.startswith(" ")]
    assert titles[4:] == [
        "Left to a person",
        "To be looked at",
        "Noted",
        "Nothing is changed yet. To record this, leave --dry-run out",
    ]
    assert "  0000:31:11.2 is not taken over for gone: nova has no such instance any more" in answer.out


def test_a_node_without_devices_in_use_is_told(host: ExampleHost) -> None:
    content = tables() | {"pci_devices": [], "instance_extra": []}
    url = f"sqlite:///{rows.write_database(host.folder / 'nova.db', **content)}"
    answer = host.run_alone(*words(host, "--database", url))
    assert (answer.status, answer.out) == (0, "nova has no device of net-1.example with an owner.\n")


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        pytest.param([], "name nova's database by --database", id="neither database nor export"),
        pytest.param(["--export", "nowhere"], "neither compute_nodes.jsonl nor", id="an export that is not there"),
        pytest.param(["--database", "nova"], "no URL of a database", id="no URL"),
    ],
)
def test_what_cannot_be_read_is_told(host: ExampleHost, more: list[str], fault: str, tmp_path: Path) -> None:
    answer = host.run_alone(*words(host, *more))
    assert (answer.status, answer.out) == (2, "")
    assert fault in answer.err
