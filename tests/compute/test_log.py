"""The log: a line for each event, for people, for journald, for programs."""

import io
import json
import logging
import re
from collections.abc import Iterator

import pytest

from cli.documents import validated
from laneway.compute.log import LogStyle, open_log


@pytest.fixture(autouse=True)
def logging_as_it_was() -> Iterator[None]:
    root, own = logging.getLogger(), logging.getLogger("laneway")
    handlers, level = root.handlers[:], own.level
    yield
    root.handlers[:] = handlers
    own.setLevel(level)


@pytest.fixture
def stream() -> io.StringIO:
    return io.StringIO()


def test_for_people_a_line_has_its_time_and_its_level(stream: io.StringIO) -> None:
    open_log(stream, LogStyle.PLAIN).say(logging.WARNING, "config_warning", "An entry admits\nnothing.", code="x")
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ warning An entry admits nothing\.\n",
        stream.getvalue(),
    )


@pytest.mark.parametrize(
    ("level", "prefix"),
    [(logging.DEBUG, ""), (logging.INFO, "<6>"), (logging.WARNING, "<4>"), (logging.ERROR, "<3>")],
)
def test_for_journald_a_line_has_its_priority_and_no_time(stream: io.StringIO, level: int, prefix: str) -> None:
    open_log(stream, LogStyle.JOURNAL).say(level, "event", "What happened.")
    assert stream.getvalue() == (f"{prefix}What happened.\n" if prefix else ""), "below info nothing is logged"


def test_for_programs_a_line_is_a_document(stream: io.StringIO) -> None:
    log = open_log(stream, LogStyle.JSON)
    log.say(logging.INFO, "devices_appeared", 'New devices: "5e".', devices=["0000:5e:00.0"])
    line = validated("log", stream.getvalue())
    assert line.pop("at").endswith("Z")
    assert line == {
        "level": "info",
        "event": "devices_appeared",
        "message": 'New devices: "5e".',
        "facts": {"devices": ["0000:5e:00.0"]},
    }


def test_what_other_libraries_warn_of_is_logged_alike(stream: io.StringIO) -> None:
    open_log(stream, LogStyle.JSON)
    logging.getLogger("sqlalchemy.pool").warning("%s is slow", "it")
    try:
        raise ValueError("a fault")
    except ValueError:
        logging.getLogger("other").exception("failed")
    first, second = map(json.loads, stream.getvalue().splitlines())
    assert (first["event"], first["message"], first["facts"]) == ("sqlalchemy.pool", "it is slow", {})
    assert second["message"].endswith("ValueError: a fault")


class Unread(io.StringIO):
    """A pipe whose reader has gone."""

    def flush(self) -> None:
        raise BrokenPipeError


@pytest.mark.parametrize("style", LogStyle)
def test_a_log_that_nobody_reads_any_more_is_no_fault(style: LogStyle, capsys: pytest.CaptureFixture[str]) -> None:
    open_log(Unread(), style).say(logging.ERROR, "update_failed", "What happened.")
    assert capsys.readouterr().err == ""
