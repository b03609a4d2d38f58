"""Two processes never get one device, however many there are and whenever they come."""

from pathlib import Path

from laneway.store.sqlite import open_store
from store import race_runner
from store.programs import output_of
from store.samples import address

PROCESSES, CLAIMS = 8, 6


def test_processes_that_compete_never_get_one_device_and_all_of_their_claims_succeed(tmp_path: Path) -> None:
    path = tmp_path / "new" / "state.db"
    output_of(race_runner, path, PROCESSES, CLAIMS)
    with open_store(path) as store:
        state = store.read(race_runner.HOST)
        log = store.audit(race_runner.HOST, last=1000)
    assert sorted(state.held) == [address(slot) for slot in range(PROCESSES * CLAIMS)]
    assert {record.devices["g"]: claim for claim, record in state.claims.items()} == {
        (address,): device.claim for address, device in state.held.items()
    }
    assert set(state.claims) == {f"{process}-{number}" for process in range(PROCESSES) for number in range(CLAIMS)}
    assert [entry.action for entry in log] == ["sync", *["claim"] * (PROCESSES * CLAIMS)]
