"""Ports are kept bound at each update; what fails of it is said, and stops nothing."""

from pathlib import Path

import pytest

from compute.fakes import FakeParts, RecordingLog, config, host, process
from domain.hosts import function
from laneway.compute.exclusive_ports import ExclusivePortKeeper, ports_lock
from laneway.compute.manager import ComputeManager
from laneway.compute.resource_tracker import ResourceTracker
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.interfaces.network import KeptPort, KeptPorts

DOWN = LanewayError(ErrorCode.NEUTRON_UNREACHABLE, "Neutron cannot be reached: nobody listens")
IN_USE = LanewayError(ErrorCode.PORT_IN_USE, "port p2 is a port of other-vm already")
BOUND = KeptPort(port="p1", consumer="vm1", done=("taken", "bound"))
FAILED = KeptPort(port="p2", consumer="vm1", error=IN_USE)


class ScriptedKeeper:
    """Answers as the test says; ``kept`` are the hosts that it was asked for."""

    def __init__(self) -> None:
        self.kept: list[str] = []
        self.answer = KeptPorts()

    def keep(self, host: str) -> KeptPorts:
        self.kept.append(host)
        return self.answer


@pytest.fixture
def keeper() -> ScriptedKeeper:
    return ScriptedKeeper()


@pytest.fixture
def parts(tmp_path: Path, keeper: ScriptedKeeper) -> FakeParts:
    made = FakeParts(config({"address": "*"}), host(function("0000:3b:00.0")), tmp_path)
    made.ports = keeper
    return made


def test_ports_are_kept_at_the_first_update_and_at_each_other_one(parts: FakeParts, keeper: ScriptedKeeper) -> None:
    keeper.answer = KeptPorts(error=DOWN)
    tracker, first = ResourceTracker.start(parts)
    keeper.answer = KeptPorts(ports=(BOUND,))
    assert (first.ports.errors, tracker.update().ports.ports) == ((DOWN,), (BOUND,))
    assert keeper.kept == ["gpu-1", "gpu-1"]


def test_the_status_and_the_log_say_what_is_wrong_once_and_when_it_is_over(
    parts: FakeParts, keeper: ScriptedKeeper
) -> None:
    doing = process(parts)
    keeper.answer = KeptPorts(error=DOWN)
    manager, log = ComputeManager.start(parts, doing), doing.log
    assert isinstance(log, RecordingLog)
    codes = []
    for answer in (KeptPorts(error=DOWN), KeptPorts(ports=(BOUND, FAILED)), KeptPorts(ports=(BOUND,)), KeptPorts()):
        keeper.answer = answer
        manager.update()
        status = parts.files.read()
        assert status is not None
        trouble = status.ports_failing
        codes.append([error["code"] for error in trouble.errors] if trouble else [])
        assert status.is_well is not bool(answer.errors)
    manager.stop()
    assert codes == [["neutron_unreachable"], ["port_in_use"], [], []]
    assert log.of("ports_failed") == [
        "A port is not bound as claims say: Neutron cannot be reached: nobody listens",
        "A port is not bound as claims say: port p2 is a port of other-vm already",
    ]
    assert log.of("port_changed") == ["Port p1 of vm1: taken, bound."] * 2
    assert log.of("ports_recovered") == ["All ports are bound as claims say again."]


def test_one_process_at_a_time_keeps_the_ports_of_a_host(tmp_path: Path, keeper: ScriptedKeeper) -> None:
    database = tmp_path / "laneway.db"
    keeper.answer = KeptPorts(ports=(BOUND,))
    mine = ExclusivePortKeeper(keeper, ports_lock(database, patience=0), lambda _: None)
    with ports_lock(database).held(lambda _: None):
        (error,) = mine.keep("h1").errors
    assert (error.code, "another process is binding ports" in error.message) == (ErrorCode.HOST_BUSY, True)
    assert keeper.kept == []
    assert mine.keep("h1") == KeptPorts(ports=(BOUND,))
