"""``laneway cleanup`` (rule C44)."""

import io
from types import SimpleNamespace

import pytest

from cli.conftest import ExampleHost

L40S, OTHER = "0000:19:00.0", "0000:1a:00.0"


@pytest.fixture
def held(gpu_server: ExampleHost) -> ExampleHost:
    """Two VMs hold a device each."""
    for consumer in ("db-1", "gone-1"):
        assert gpu_server.run("claim", consumer, "--alias", "l40s:1", "--id", f"c-{consumer}").status == 0
    assert gpu_server.run("allocate", "gone-1").status == 0
    return gpu_server


def keep(host: ExampleHost, text: str) -> tuple[str, str]:
    file = host.folder / "vms.txt"
    file.write_text(text)
    return "--keep", str(file)


def consumers(host: ExampleHost) -> list[str]:
    return [device["consumer"] for device in host.json("claims", "claims")["devices"]]


def test_first_it_only_says_what_it_would_do(held: ExampleHost) -> None:
    answer = held.run("cleanup", *keep(held, "db-1\n"))
    assert answer.status == 0
    assert answer.out.splitlines() == [
        "CONSUMER  ADDRESS       STATUS     OUTCOME",
        f"gone-1    {OTHER}  allocated  to be freed",
        "",
        "Nothing is changed yet. To free this, add --yes",
    ]
    assert consumers(held) == ["db-1", "gone-1"]


def test_then_it_does_it_and_nothing_is_left_to_do(held: ExampleHost) -> None:
    """Rule C44: claimed or allocated."""
    document = held.json("cleanup", "cleanup", *keep(held, " db-1 \n\n"), "--yes")
    assert document["devices"] == [
        {"address": OTHER, "consumer": "gone-1", "claim": "c-gone-1", "status": "allocated", "open": False}
    ]
    assert consumers(held) == ["db-1"]
    assert held.run("cleanup", *keep(held, "db-1")).out == "Every device is held for a consumer that exists.\n"


def test_the_list_may_come_by_stdin(held: ExampleHost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"gone-1\ndb-1\n")))
    assert held.json("cleanup", "cleanup", "--keep", "-", "--yes")["devices"] == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        pytest.param(b" \n", "names no consumer", id="an empty list: the command that made it failed"),
        pytest.param(b"\xff\n", "is not UTF-8", id="what is no text"),
        pytest.param(None, "cannot be read", id="a file that is not there"),
    ],
)
def test_a_list_that_cannot_be_right_frees_nothing(held: ExampleHost, text: bytes | None, fault: str) -> None:
    file = held.folder / "vms.txt"
    if text is not None:
        file.write_bytes(text)
    answer = held.run("cleanup", "--keep", str(file), "--yes")
    assert (answer.status, answer.out) == (2, "")
    assert fault in answer.err
    assert consumers(held) == ["db-1", "gone-1"]
