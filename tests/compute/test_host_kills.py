"""Whenever a process ends that changes a host, the next one leaves the host as it was or as it was to be."""

import json
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

from compute import host_kill_runner
from compute.changing_host import ChangingHost, by_address
from domain.hosts import at
from hosts.linux.changes.kernels import CARD
from laneway.compute.preparing import prepare
from store.programs import output_of

RECORDED = 95
"""How many points there are, and no fewer may be hit. Whoever saves writes on purpose records the new number."""


def test_a_kill_at_any_point_is_put_right_by_whoever_comes_next(
    quick_folder: Path, record_property: Callable[[str, object], None]
) -> None:
    runs = [json.loads(line) for line in output_of(host_kill_runner, quick_folder).splitlines()]
    assert [run for run in runs if run["problem"] is not None] == []
    killed = [run for run in runs if run["status"] < 0]
    assert {run["operation"] for run in killed} == {each.name for each in host_kill_runner.OPERATIONS}
    record_property(f"kill points of changes to a host hit, at least {RECORDED} expected", len(killed))
    assert len(killed) >= RECORDED


def test_of_two_processes_that_prepare_one_device_the_second_waits_and_finds_it_done(host: ChangingHost) -> None:
    host.claim("vm", CARD)
    second_waits = Event()
    host.kernel.disturb = lambda _path, _done: second_waits.wait(30)
    done: list[list[int]] = []

    def process() -> None:
        with host.another_process(patience=30) as managed:
            done.append([len(change.steps) for change in prepare(managed, "vm").of])

    both = [Thread(target=process) for _ in range(2)]
    for one in both:
        one.start()
    while not any("another process is changing this host" in told for told in host.told):
        assert any(one.is_alive() for one in both)
    second_waits.set()
    for one in both:
        one.join()
    assert done == [[3], [0]]
    assert host.device(CARD).prepared
    assert list(by_address(prepare(host.managed, "vm", [at(CARD)]))) == [CARD]
