"""Two processes never get one device, however many there are and whenever they come."""

import json
import subprocess
import sys
from pathlib import Path

from laneway.store.sqlite import open_store
from store import race_runner
from store.samples import address

PROCESSES, CLAIMS = 8, 12


def test_processes_that_compete_never_get_one_device_and_all_of_their_claims_succeed(tmp_path: Path) -> None:
    path = tmp_path / "new" / "state.db"
    command = [sys.executable, "-m", race_runner.__name__, str(path), str(PROCESSES), str(CLAIMS)]
    run = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == [0] * PROCESSES, run.stderr
    with open_store(path) as store:
        state = store.read(race_runner.HOST)
        log = store.audit(race_runner.HOST, last=1000)
    assert sorted(state.held) == [address(slot) for slot in range(PROCESSES * CLAIMS)]
    assert {record.devices["g"]: claim for claim, record in state.claims.items()} == {
        (address,): device.claim for address, device in state.held.items()
    }
    assert set(state.claims) == {f"{process}-{number}" for process in range(PROCESSES) for number in range(CLAIMS)}
    assert len(log) == PROCESSES * CLAIMS
