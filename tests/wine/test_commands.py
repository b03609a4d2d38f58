"""The commands, each in a process of its own, on a recording."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hosts.windows_builder import answers, assigned, recording
from laneway.contracts.inventory import inventory_to_plain
from laneway.hosts.hyperv.driver import inventory_of
from laneway.hosts.hyperv.recording import encode_recording

LANEWAY = (sys.executable, "-c", "import sys; from laneway.cli import main; sys.exit(main())")
GPU_PATH = "PCIROOT(3)#PCI(0200)#PCI(0000)"
CONFIG = """
[[device_spec]]
vendor_id = "10de"

[[alias]]
name = "gpu"
vendor_id = "10de"
product_id = "20b5"
"""


class Host:
    """A recorded host with a config and a database of its own."""

    def __init__(self, folder: Path, **changes: Any) -> None:
        self.folder = folder
        file = folder / "host.json"
        file.write_bytes(encode_recording(recording(**changes)))
        self.shared = ("--config", "laneway.toml", "--root", str(file), "--state", "state.db")
        (folder / "laneway.toml").write_text(CONFIG, encoding="utf-8")

    def laneway(self, *arguments: str, status: int = 0, text: bytes | None = None) -> str:
        run = subprocess.run(
            [*LANEWAY, *arguments, *(() if text else self.shared)],
            cwd=self.folder,
            input=text or b"",
            capture_output=True,
            check=False,
        )
        assert run.returncode == status, run.stderr.decode("utf-8", "replace")
        return run.stdout.decode("utf-8")

    def answer(self, *arguments: str, status: int = 0) -> Any:
        return json.loads(self.laneway(*arguments, "--json", status=status))


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_devices(host: Host) -> None:
    answer = host.answer("devices")
    statuses = {one["address"]: (one["device"] or {}).get("status") for one in answer["functions"]}
    assert statuses == {
        "0000:17:00.0": None,
        "0000:17:08.0": None,
        "0000:80:02.0": None,
        "0000:81:00.0": "available",
    }


def test_devices_for_people(host: Host) -> None:
    page = host.laneway("devices")
    assert "0000:81:00.0" in page
    assert "Traceback" not in page


def test_check(host: Host) -> None:
    assert "0000:81:00.0" in host.laneway("check", "--json")


def test_a_device_is_claimed_allocated_and_freed(host: Host) -> None:
    assert host.answer("claim", "db-1", "--alias", "gpu:1")["devices"] == {"gpu": ["0000:81:00.0"]}
    assert host.answer("claim", "db-2", "--alias", "gpu:1", status=1)["ok"] is False
    assert host.answer("allocate", "db-1")["ok"] is True
    assert GPU_PATH in host.laneway("hostdev", "db-1", "--format", "hyperv")
    assert host.answer("free", "db-1")["statuses"]["0000:81:00.0"]["status"] == "available"


def test_a_device_of_a_virtual_machine_is_adopted(tmp_path: Path) -> None:
    host = Host(tmp_path, answers=answers(assigned=(assigned("db-1", GPU_PATH, "6a2f"),)))
    assert host.answer("claim", "other", "--alias", "gpu:1", status=1)["ok"] is False
    assert [one["consumer"] for one in host.answer("adopt", "--yes")["devices"]] == ["db-1"]
    assert host.answer("devices")["functions"][-1]["device"]["status"] == "allocated"


def test_simulate(host: Host) -> None:
    scenario = {
        "schema": "laneway.scenario/1",
        "device_spec": [{"vendor_id": "10de"}],
        "inventory": inventory_to_plain(inventory_of(recording())),
        "steps": [{"op": "claim", "consumer": "vm", "requests": [{"name": "g", "any_of": [{"vendor_id": "10de"}]}]}],
    }
    line = json.dumps(scenario, default=str).encode()
    answers_told = host.laneway("simulate", "-", text=line + b"\n" + line + b"\n").splitlines()
    assert [json.loads(told)["steps"][0]["devices"] for told in answers_told] == [{"g": ["0000:81:00.0"]}] * 2


def test_a_reader_that_has_gone_is_no_error() -> None:
    process = subprocess.Popen([*LANEWAY, "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 141
    process.stderr.close()


def test_processes_that_compete_never_get_one_device(host: Host) -> None:
    shared = [*LANEWAY, "claim", "--alias", "gpu:1", "--json", *host.shared]
    competing = [
        subprocess.Popen([*shared, f"vm-{number}"], stdout=subprocess.PIPE, cwd=host.folder) for number in (1, 2, 3)
    ]
    told = [json.loads(process.communicate()[0])["ok"] for process in competing]
    assert sorted(told) == [False, False, True]


def test_a_recording_that_is_none_is_refused_without_a_traceback(tmp_path: Path) -> None:
    host = Host(tmp_path)
    (tmp_path / "host.json").write_text("[5]")
    host.laneway("devices", status=2)
