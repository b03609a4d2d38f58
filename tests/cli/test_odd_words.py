"""Words of a command line that are not what they seem: bytes without letters, empty ones, ones given twice."""

import sqlite3
from contextlib import closing

import pytest

from cli.conftest import ExampleHost

NO_TEXT = "vm-\udcff"
"""As Python hands over a word of the command line that is not UTF-8, or on Windows not UTF-16."""
UTF8_BY_BYTES = "vm-\udcc3\udcbc"
"""The bytes of "vm-ü", as they come where the locale knows ASCII only."""


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["claim", NO_TEXT, "--alias", "nic:1"], id="the consumer of a claim"),
        pytest.param(["claim", "vm1", "--alias", "nic:1", "--id", NO_TEXT], id="the id of a claim"),
        pytest.param(["claim", "vm1", "--alias", NO_TEXT], id="an alias"),
        pytest.param(["claim", "vm1", "--request", f'{{"name": "{NO_TEXT}"}}'], id="a request"),
        pytest.param(["claim", "vm1", "--alias", "nic:1", "--constraint", NO_TEXT], id="a constraint"),
        pytest.param(["explain", NO_TEXT, "--alias", "nic:1"], id="the consumer of a question"),
        pytest.param(["allocate", NO_TEXT], id="who allocates"),
        pytest.param(["allocate", "vm1", "--claim", NO_TEXT], id="what is allocated"),
        pytest.param(["free", NO_TEXT], id="who frees"),
        pytest.param(["free", "vm1", "--claim", NO_TEXT], id="what is freed"),
        pytest.param(["claims", NO_TEXT], id="whose claims"),
        pytest.param(["hostdev", NO_TEXT, "--format", "qemu"], id="whose definition"),
        pytest.param(["binding-profile", NO_TEXT], id="whose profile"),
        pytest.param(["cordon", "0000:18:00.0", "--reason", NO_TEXT], id="the reason of a cordon"),
    ],
)
def test_bytes_that_are_no_text_are_refused(command: list[str], gpu_server: ExampleHost) -> None:
    answer = gpu_server.run(*command)
    assert (answer.status, answer.out) == (2, "")
    assert "is not UTF-8; write it in UTF-8" in answer.err


@pytest.mark.parametrize("escaped", [r"\ud800", r"\u0000"], ids=["half a surrogate pair", "NUL"])
def test_the_name_of_a_request_that_cannot_be_stored_is_refused(escaped: str, gpu_server: ExampleHost) -> None:
    request = f'{{"name": "x{escaped}", "any_of": [{{"vendor_id": "15b3", "dev_type": "type-PF"}}]}}'
    answer = gpu_server.run("claim", "vm1", "--request", request)
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith("error: the ")


def test_a_consumer_is_the_same_whatever_the_locale(gpu_server: ExampleHost) -> None:
    assert gpu_server.run("claim", UTF8_BY_BYTES, "--alias", "nic:1").status == 0
    assert gpu_server.run("allocate", "vm-ü").status == 0
    assert gpu_server.run("free", UTF8_BY_BYTES).out.startswith("Freed:")


@pytest.mark.parametrize("variable", ["SUDO_USER", "LOGNAME"])
def test_a_user_whose_name_is_no_text_is_recorded_as_far_as_it_is(
    variable: str, gpu_server: ExampleHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SUDO_USER", raising=False)
    monkeypatch.setenv(variable, NO_TEXT)
    assert gpu_server.run("claim", "vm1", "--alias", "nic:1").status == 0
    with closing(sqlite3.connect(gpu_server.folder / "state.db")) as database:
        assert database.execute("SELECT actor FROM audit WHERE action = 'claim'").fetchall() == [("vm-?",)]


@pytest.mark.parametrize(
    ("command", "name"),
    [
        pytest.param(["claim", "", "--alias", "nic:1"], "CONSUMER", id="a consumer"),
        pytest.param(["claim", "vm1", "--alias", ""], "--alias", id="an alias"),
        pytest.param(["claim", "vm1", "--alias", "nic:1", "--id", ""], "--id", id="an id, which would become another"),
        pytest.param(["claim", "vm1", "--alias", "nic:1", "--id="], "--id", id="an empty value behind ="),
        pytest.param(["free", "vm1", "--claim", ""], "--claim", id="a claim"),
        pytest.param(["claims", ""], "CONSUMER", id="a consumer that may be left out"),
        pytest.param(["check", "--nova-conf", ""], "--nova-conf", id="a file, which would become this folder"),
        pytest.param(["capture", "--output", ""], "--output", id="a file to write"),
        pytest.param(["simulate", ""], "FILE...", id="a scenario"),
    ],
)
def test_an_empty_word_is_refused(command: list[str], name: str, gpu_server: ExampleHost) -> None:
    answer = gpu_server.run(*command)
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith(f"error: {name} is empty; give it a value")


@pytest.mark.parametrize(
    ("command", "name"),
    [
        pytest.param(["free", "vm1", "--claim", "a", "--claim", "b"], "--claim", id="claims"),
        pytest.param(["claim", "vm1", "--alias", "nic:1", "--ttl", "1m", "--ttl=2m"], "--ttl", id="times"),
        pytest.param(["devices", "--config", "elsewhere.toml"], "--config", id="configs"),
        pytest.param(["claims", "--state", "elsewhere.db"], "--state", id="states"),
    ],
)
def test_an_option_of_which_one_value_would_be_lost_is_refused(
    command: list[str], name: str, gpu_server: ExampleHost
) -> None:
    answer = gpu_server.run(*command)
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith(f"error: {name} is given more than once; keep one of them")


def test_a_flag_may_be_repeated_and_help_is_given_in_any_case(gpu_server: ExampleHost) -> None:
    assert gpu_server.run("devices", "--json", "--json").status == 0
    assert gpu_server.run_alone("free", "", "--claim", "a", "--claim", "b", "--help").out.startswith("Usage: ")


def test_aliases_by_more_than_one_option_are_asked_for_together(gpu_server: ExampleHost) -> None:
    step = gpu_server.json("step", "claim", "vm1", "--alias", "l40s:2", "--alias", "nic:1,l40s:1")
    assert {name: len(chosen) for name, chosen in step["devices"].items()} == {"l40s": 2, "nic": 1, "l40s-2": 1}


@pytest.mark.parametrize(
    ("count", "fault"),
    [
        pytest.param("00", "is no whole number above 0", id="zero"),
        pytest.param("1" + "0" * 30, "a count of 31 digits, which is more than any host has", id="beyond all"),
        pytest.param("9" * 5000, "a count of 5000 digits, which is more than any host has", id="no integer of Python"),
    ],
)
def test_a_count_that_no_host_has(count: str, fault: str, gpu_server: ExampleHost) -> None:
    answer = gpu_server.run("claim", "vm1", "--alias", f"nic:{count}")
    assert (answer.status, answer.out) == (2, "")
    assert fault in answer.err


@pytest.mark.parametrize(
    "span", ["36525d1s", "999999d" * 5, "999999d" * 1100], ids=["more than a century", "no date", "no timedelta"]
)
def test_a_time_that_is_never_over_is_refused(span: str, gpu_server: ExampleHost) -> None:
    answer = gpu_server.run("claim", "vm1", "--alias", "nic:1", "--ttl", span)
    assert (answer.status, answer.out) == (2, "")
    assert "is more than a century" in answer.err


def test_a_century_is_a_time(gpu_server: ExampleHost) -> None:
    assert gpu_server.run("claim", "vm1", "--alias", "nic:1", "--ttl", "36525d").status == 0


def test_two_hosts_at_once_are_refused(gpu_server: ExampleHost) -> None:
    answer = gpu_server.run("devices", "--root", "/")
    assert (answer.status, answer.out) == (2, "")
    assert "--snapshot and --root both name a host" in answer.err


def test_choices_are_told_on_one_line(gpu_server: ExampleHost) -> None:
    answer = gpu_server.run("hostdev", "vm1")
    assert answer.err.splitlines()[0] == (
        "error: Missing option '--format'. Choose from: libvirt, qemu, cloud-hypervisor, hyperv"
    )
