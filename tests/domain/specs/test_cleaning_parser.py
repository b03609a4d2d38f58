"""The key ``cleaning``: three ways to write it, and every mistake told."""

import pytest

from domain.reading import read, spec
from laneway.domain.cleaning import DEFAULT_SECONDS, Cleaning, CleaningKind
from laneway.domain.specs.device_spec_parser import Dialect

NVME = Cleaning(kind=CleaningKind.NVME_FORMAT)


def command(*words: str, seconds: float = DEFAULT_SECONDS) -> Cleaning:
    return Cleaning(kind=CleaningKind.COMMAND, command=words, seconds=seconds)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        pytest.param("reset", Cleaning(kind=CleaningKind.RESET), id="a reset"),
        pytest.param(" nvme-format ", NVME, id="blanks around the word"),
        pytest.param({"command": "scrub {address}"}, command("scrub", "{address}"), id="a command with ten minutes"),
        pytest.param(
            {"command": "scrub --at='{address} x' -v", "timeout": 30},
            command("scrub", "--at={address} x", "-v", seconds=30.0),
            id="words as a shell splits them",
        ),
        pytest.param(
            {"command": ["/opt/my scrub", "{address}"], "timeout": 0.5},
            command("/opt/my scrub", "{address}", seconds=0.5),
            id="a list of words, and less than a second",
        ),
        pytest.param(
            {"command": ["scrub", "{address}"], "timeout": "1h30m"},
            command("scrub", "{address}", seconds=5400.0),
            id="a span of time as text",
        ),
        pytest.param(
            {"command": ["scrub", "{address}"], "timeout": "7d"},
            command("scrub", "{address}", seconds=604_800.0),
            id="a week",
        ),
    ],
)
@pytest.mark.parametrize(("key", "dialect"), [("cleaning", Dialect.LANEWAY), ("laneway:cleaning", Dialect.NOVA)])
def test_a_cleaning_is_read(written: object, expected: Cleaning, key: str, dialect: Dialect) -> None:
    found = spec({"vendor_id": "8086", key: written}, dialect=dialect)
    assert found.cleaning == expected


@pytest.mark.parametrize(
    ("written", "key", "fault"),
    [
        pytest.param("wipe", "", "is no cleaning", id="an unknown word"),
        pytest.param("command", "", "is no cleaning", id="a kind that needs more than a word"),
        pytest.param("", "", "is no cleaning", id="an empty text"),
        pytest.param(None, "", "is no cleaning", id="null"),
        pytest.param(5, "", "is no cleaning", id="a number"),
        pytest.param(["reset"], "", "is no cleaning", id="a list"),
        pytest.param({}, "", "has no command", id="an empty object"),
        pytest.param({"timeout": "10m"}, "", "has no command", id="a time alone"),
        pytest.param({"comand": "scrub {address}"}, ".comand", "is no key", id="a misspelt key"),
        pytest.param({"command": "scrub {address}", "shell": True}, ".shell", "is no key", id="an unknown key"),
        pytest.param({"command": None}, ".command", "is neither a text nor a list", id="a command that is null"),
        pytest.param({"command": ["scrub", 1]}, ".command", "is neither a text nor a list", id="a number as a word"),
        pytest.param({"command": "scrub '{address}"}, ".command", "cannot be split", id="a quote that stays open"),
        pytest.param({"command": " "}, ".command", "names no program", id="a blank command"),
        pytest.param({"command": []}, ".command", "names no program", id="an empty list"),
        pytest.param({"command": ["", "{address}"]}, ".command", "names no program", id="an empty program"),
        pytest.param({"command": ["a\0", "{address}"]}, ".command", "has a NUL", id="a NUL"),
        pytest.param({"command": "scrub {address}", "timeout": "10"}, ".timeout", "is no time", id="no unit"),
        pytest.param({"command": "scrub {address}", "timeout": True}, ".timeout", "is no time", id="a boolean"),
        pytest.param({"command": "scrub {address}", "timeout": None}, ".timeout", "is no time", id="a null as time"),
        pytest.param({"command": "scrub {address}", "timeout": float("nan")}, ".timeout", "is no time", id="nan"),
        pytest.param({"command": "scrub {address}", "timeout": 0}, ".timeout", "is no time at all", id="no time"),
        pytest.param(
            {"command": "scrub {address}", "timeout": "0s"}, ".timeout", "is no time at all", id="zero as text"
        ),
        pytest.param({"command": "scrub {address}", "timeout": -1}, ".timeout", "is no time at all", id="less than 0"),
        pytest.param({"command": "scrub {address}", "timeout": "8d"}, ".timeout", "more than a week", id="too long"),
        pytest.param(
            {"command": "scrub {address}", "timeout": 10**400}, ".timeout", "more than a week", id="far too long"
        ),
    ],
)
@pytest.mark.parametrize(("own", "dialect"), [("cleaning", Dialect.LANEWAY), ("laneway:cleaning", Dialect.NOVA)])
def test_a_mistake_is_told_with_what_would_be_right(
    written: object, key: str, fault: str, own: str, dialect: Dialect
) -> None:
    found, findings = read({"vendor_id": "8086", own: written}, dialect=dialect)
    assert len(found) == 0
    (problem,) = findings.errors
    assert problem.key == own + key
    assert fault in problem.message
    assert problem.remedy


def test_all_mistakes_of_a_cleaning_are_told_at_once() -> None:
    _, findings = read({"vendor_id": "8086", "cleaning": {"command": 1, "timeout": "soon", "time": 1}})
    assert [problem.key for problem in findings.errors] == ["cleaning.time", "cleaning.command", "cleaning.timeout"]


def test_a_command_that_does_not_name_the_device_is_noted() -> None:
    found, findings = read({"vendor_id": "8086", "cleaning": {"command": "scrub --all"}})
    assert len(found) == 1
    assert [(warning.code, warning.key) for warning in findings.warnings] == [
        ("cleaning_without_address", "cleaning.command")
    ]
