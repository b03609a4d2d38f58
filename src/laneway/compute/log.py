"""The log of the service: each line is an event with a name, a sentence for people, and facts for programs."""

import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import TextIO

LOGGER = "laneway"


class LogStyle(Enum):
    """How a line looks: with its time for people, for journald (which knows the time), or as JSON."""

    PLAIN = "plain"
    JOURNAL = "journal"
    JSON = "json"


class EventLog:
    """Writes events by the standard library's logging, where those of other libraries go, too."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger

    def say(self, level: int, event: str, message: str, **facts: object) -> None:
        """Writes one event. ``event`` is its stable name; ``facts`` can be written as JSON."""
        self._logger.log(level, message, extra={"event": event, "facts": facts})


def open_log(stream: TextIO, style: LogStyle) -> EventLog:
    """The log on a stream, which gets warnings and errors of other libraries as well."""
    handler = _Handler(stream)
    handler.setFormatter(_Formatter(style))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    logger = logging.getLogger(LOGGER)
    logger.setLevel(logging.INFO)
    return EventLog(logger)


class _Handler(logging.StreamHandler[TextIO]):
    """Whose reader may go, as that of a pipe: it is no reason to stop, nor for a traceback at every line."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the standard library's name
        """Does nothing: the line cannot be written, and so nobody can be told."""


class _Formatter(logging.Formatter):
    def __init__(self, style: LogStyle) -> None:
        super().__init__()
        self._log_style = style

    def format(self, record: logging.LogRecord) -> str:
        message = record.getMessage()
        if record.exc_info:
            message = f"{message}\n{self.formatException(record.exc_info)}"
        at = datetime.fromtimestamp(record.created, UTC)
        level = record.levelname.lower()
        if self._log_style is LogStyle.JSON:
            return _as_json(record, at, level, message)
        line = " ".join(message.split())
        if self._log_style is LogStyle.JOURNAL:
            return f"<{_PRIORITIES.get(record.levelno, 3)}>{line}"
        return f"{at:%Y-%m-%dT%H:%M:%SZ} {level:<7} {line}"


_PRIORITIES: Mapping[int, int] = {logging.DEBUG: 7, logging.INFO: 6, logging.WARNING: 4}
"""By level, those of syslog(3); everything above is an error (3)."""


def _as_json(record: logging.LogRecord, at: datetime, level: str, message: str) -> str:
    line = {
        "at": f"{at:%Y-%m-%dT%H:%M:%S.%fZ}",
        "level": level,
        "event": getattr(record, "event", record.name),
        "message": message,
        "facts": getattr(record, "facts", {}),
    }
    return json.dumps(line, ensure_ascii=False, default=str)
