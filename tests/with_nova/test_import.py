"""What nova's own code writes into its tables is taken over (rules C24, C67, C68)."""

import json
import subprocess
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

from domain.hosts import at, function, inventory, pf, statuses, tracker
from laneway.domain.device import Status
from laneway.openstack.nova_database import read_database
from laneway.openstack.nova_devices import nova_devices
from laneway.openstack.nova_import import plan_import
from laneway.openstack.nova_moves import Place
from laneway.openstack.nova_nodes import node_of_host
from laneway.openstack.nova_records import NovaRecords, read_records

HOST = Path(__file__).with_name("nova_host.py")
CARDS = tuple(function(f"0000:0{bus}:00.0") for bus in (5, 6, 7))
NIC = pf("0000:08:00.0")


@pytest.fixture(scope="module")
def written(nova_python: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, NovaRecords]:
    """What nova did, and what it left behind."""
    file = tmp_path_factory.mktemp("nova") / "nova.db"
    devices = json.dumps(nova_devices(inventory(*CARDS, NIC)))
    done = subprocess.run([nova_python, HOST, file, devices], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), read_records(read_database(f"sqlite:///{file}", itemgetter(0)))


def test_every_row_of_novas_can_be_read(written: tuple[Any, NovaRecords]) -> None:
    made, records = written
    assert records.problems == ()
    assert [str(device.address) for device in records.devices] == [str(one.address) for one in (*CARDS, NIC)]
    assert list(records.instances or ()) == [made["running"]["uuid"], made["starting"]["uuid"]]
    (port_request,) = records.requests[made["starting"]["uuid"]].stored
    assert (port_request.requester, port_request.name) == (made["starting"]["port"], made["starting"]["request"])


def test_a_move_that_nova_has_begun_is_read_with_the_requests_of_both_sides(written: tuple[Any, NovaRecords]) -> None:
    made, records = written
    assert records.moves is not None
    (move,) = records.moves.values()
    assert (move.instance, move.kind, move.status) == (made["running"]["uuid"], "resize", "finished")
    assert (move.source, move.destination) == (
        Place("compute-1", "compute-1.example"),
        Place("compute-2", "compute-2.example"),
    )
    requests = records.requests[move.instance]
    assert requests.before == requests.stored
    assert requests.after is not None
    assert [(one.name, one.count) for one in requests.after] == [(made["new_request"], 1)]


def test_devices_owners_and_requests_are_taken_over(written: tuple[Any, NovaRecords]) -> None:
    made, records = written
    host = tracker(*CARDS, NIC)
    plan = plan_import(host, records, node_of_host(records.nodes, "compute-1"), {})
    running, starting = made["running"], made["starting"]
    assert [(finding.code, finding.consumer) for finding in plan.findings] == [
        ("move_under_way", made["running"]["uuid"]),
        ("owner_unknown", made["gone"]),
    ]
    assert statuses(host) == {
        **dict.fromkeys(running["devices"], Status.ALLOCATED),
        **dict.fromkeys(starting["devices"], Status.CLAIMED),
        "0000:07:00.0": Status.AVAILABLE,
    }
    assert host.view.claims[f"nova-{running['uuid']}"].devices == {
        running["request"]: tuple(at(address) for address in running["devices"])
    }
