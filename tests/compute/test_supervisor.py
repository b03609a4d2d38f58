"""systemd's protocol, over a real socket (sd_notify(3))."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from laneway.compute.supervisor import Supervisor


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        listening.settimeout(30)
        yield listening


def supervisor(manager: socket.socket, **more: str) -> Supervisor:
    return Supervisor({"NOTIFY_SOCKET": str(manager.getsockname()), **more})


def received(manager: socket.socket) -> list[str]:
    return manager.recv(1000).decode().split("\n")


def test_what_is_said_is_what_systemd_understands(manager: socket.socket) -> None:
    told = supervisor(manager)
    told.ready("12 devices")
    assert received(manager) == ["READY=1", "STATUS=12 devices"]
    told.summary("13 devices")
    assert received(manager) == ["STATUS=13 devices"]
    told.stopping()
    assert received(manager) == ["STOPPING=1"]


def test_a_reload_is_told_with_the_time_at_which_it_began(manager: socket.socket) -> None:
    supervisor(manager).reloading()
    reloading, began = received(manager)
    assert reloading == "RELOADING=1"
    assert began.removeprefix("MONOTONIC_USEC=").isdecimal()


def test_a_socket_without_a_file_is_reached_by_its_name() -> None:
    name = f"laneway-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(f"\0{name}")
        listening.settimeout(30)
        Supervisor({"NOTIFY_SOCKET": f"@{name}"}).stopping()
        assert received(listening) == ["STOPPING=1"]


def signs_of_life(manager: socket.socket, environment: dict[str, str], moments: list[float]) -> int:
    """How many signs come when it could give one at each of these moments."""
    times = iter(moments)
    told = Supervisor({"NOTIFY_SOCKET": str(manager.getsockname()), **environment}, lambda: next(times))
    for _ in moments:
        told.alive()
    told.stopping()
    signs = 0
    while (said := received(manager)) != ["STOPPING=1"]:
        assert said == ["WATCHDOG=1"]
        signs += 1
    return signs


@pytest.mark.parametrize(
    ("environment", "signs"),
    [
        pytest.param({"WATCHDOG_USEC": "4000000"}, 3, id="twice in the time that the watchdog waits"),
        pytest.param({"WATCHDOG_USEC": "4000000", "WATCHDOG_PID": str(os.getpid())}, 3, id="this process is meant"),
        pytest.param({"WATCHDOG_USEC": "4000000", "WATCHDOG_PID": "1"}, 0, id="another process is meant"),
        pytest.param({"WATCHDOG_USEC": "soon"}, 0, id="a time that is none"),
        pytest.param({}, 0, id="no watchdog"),
    ],
)
def test_signs_of_life_come_as_often_as_they_are_waited_for(
    manager: socket.socket, environment: dict[str, str], signs: int
) -> None:
    assert signs_of_life(manager, environment, [100.0, 100.5, 101.9, 102.0, 103.0, 104.1]) == signs


@pytest.mark.parametrize("name", ["", "vsock:2:1234", "relative", "/nowhere/notify"])
def test_without_a_manager_that_can_be_reached_nothing_is_said_and_nothing_fails(name: str) -> None:
    Supervisor({"NOTIFY_SOCKET": name}).ready("12 devices")


def test_a_manager_that_does_not_read_is_not_waited_for(manager: socket.socket) -> None:
    told = supervisor(manager)
    for _ in range(10_000):
        told.summary("12 devices")
    assert received(manager) == ["STATUS=12 devices"]
