"""The proof: profiles are made in a process that has neither the host nor its config."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.api_process import EXIT_TOUCHED_HOST, FORBIDDEN, OF_PYTHON
from laneway import cli
from laneway.contracts.inventory import encode_inventory
from laneway.demo.script import HOSTS

TESTS = Path(__file__).parents[1]
REQUESTS = (
    '{"name": "vf", "any_of": [{"dev_type": "type-VF", "physical_network": "provider"}]}',
    '{"name": "vdpa", "any_of": [{"dev_type": "vdpa"}]}',
    '{"name": "dpu", "any_of": [{"remote_managed": true, "physical_network": "tenant"}]}',
)
STRACE = shutil.which("strace")
OPENED = re.compile(r'\d*\s*\w+\([^"]*"([^"]+)"')


@pytest.fixture
def database(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[Path, str]:
    """A database that a host filled, and the profiles as that host prints them."""
    (host,) = [host for host in HOSTS if host.name == "net-1"]
    snapshot, config, state = tmp_path / "host.json", tmp_path / "laneway.toml", tmp_path / "state.db"
    snapshot.write_bytes(encode_inventory(host.inventory()))
    config.write_text(host.config)
    on_host = ["--snapshot", str(snapshot), "--config", str(config), "--state", str(state)]
    asked = [word for request in REQUESTS for word in ("--request", request)]
    assert cli.main(["claim", "router-1", *asked, *on_host]) == 0
    capsys.readouterr()
    assert cli.main(["binding-profile", "router-1", "--json", *on_host]) == 0
    return state, capsys.readouterr().out


def api_process(database: Path, *before: str) -> subprocess.CompletedProcess[str]:
    command = [*before, sys.executable, "-B", str(TESTS / "e2e/api_process.py"), str(database), "router-1"]
    python = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "SYSTEMROOT") if name in os.environ}
    elsewhere = {"HOME": str(database.parent), "LANEWAY_CONFIG": "/nonexistent.toml", **python}
    return subprocess.run(command, capture_output=True, text=True, env=elsewhere, check=False, timeout=60)


def test_full_profiles_come_out_equal_to_those_on_the_host(database: tuple[Path, str]) -> None:
    state, on_host = database
    answer = api_process(state)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert json.loads(answer.stdout) == json.loads(on_host)["hosts"]
    profiles = json.loads(answer.stdout)["net-1"].values()
    assert any({"card_serial_number", "pf_mac_address", "vf_num"} <= profile.keys() for profile in profiles)


@pytest.mark.parametrize(
    "look", ["open('/sys/class/net')", "os.stat('/proc/1')", "os.listdir('/dev')", "os.access('/sys', 0)"]
)
def test_the_guard_would_notice_a_look_at_the_host(look: str) -> None:
    program = f"""
import os, sys
import e2e.api_process as api
sys.addaudithook(api.audit)
for function in ("stat", "lstat", "readlink", "access"):
    setattr(os, function, api.wrapped(function))
{look}
"""
    found = subprocess.run([sys.executable, "-c", program], cwd=TESTS, capture_output=True, text=True, check=False)
    assert found.returncode == EXIT_TOUCHED_HOST, found.stderr


@pytest.mark.parametrize("strace", [pytest.param(STRACE, id="under strace")] if STRACE else [])
def test_no_system_call_names_a_file_of_the_host(database: tuple[Path, str], strace: str) -> None:
    state, _ = database
    log = state.parent / "strace.log"
    answer = api_process(state, strace, "-f", "-e", "trace=%file", "-o", str(log))
    assert answer.returncode == 0, answer.stderr
    paths = {found[1] for line in log.read_text().splitlines() if (found := OPENED.match(line))}
    assert len(paths) > 100, "the log was understood"
    touched = {path for path in paths if path.startswith(tuple(f"{root}/" for root in FORBIDDEN))}
    assert {path for path in touched if not path.startswith(OF_PYTHON)} == set()
