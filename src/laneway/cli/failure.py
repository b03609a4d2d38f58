"""How a failure is told: a message with its remedy for people, an object for programs."""

import json
from collections.abc import Mapping

from laneway.domain.errors import ConfigError, ConfigProblem, ErrorCode, LanewayError

REPORT_TO = "https://github.com/laneway/laneway/issues"


def internal_error(error: BaseException) -> LanewayError:
    """The error that a fault of ours becomes: where it happened, and how to report it."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    where = "" if frame is None else f" ({frame.tb_frame.f_globals.get('__name__')}, line {frame.tb_lineno})"
    return LanewayError(
        ErrorCode.INTERNAL_ERROR,
        f"{type(error).__name__}: {error}{where}\n"
        "This is a fault of Laneway. Please report it with the command line, the output of `laneway --version` and\n"
        "what LANEWAY_DEBUG=1 in the environment adds to this message.",
        {"type": type(error).__name__},
    )


def as_text(error: LanewayError) -> str:
    """The error for a person; of a config every problem, each with its place and its remedy."""
    if isinstance(error, ConfigError):
        lines = [line for problem in error.problems for line in _problem_lines(problem)]
        return "\n".join(lines)
    return f"error: {error.message}"


def as_json(error: LanewayError) -> str:
    """The error as one line of JSON."""
    answer: dict[str, object] = {"ok": False, "error": _object(error.code, error.message, error.detail)}
    if isinstance(error, ConfigError):
        answer["errors"] = [_problem_object(problem) for problem in error.problems]
    return json.dumps(answer, default=str)


def _problem_lines(problem: ConfigProblem) -> list[str]:
    place = f"{problem.place}: " if problem.place else ""
    lines = [f"error: {place}{problem.message}"]
    if problem.remedy:
        lines.append(f"       {problem.remedy}")
    return lines


def _object(code: str, message: str, detail: Mapping[str, object]) -> dict[str, object]:
    return {"code": str(code), "message": message, "detail": dict(detail)}


def _problem_object(problem: ConfigProblem) -> dict[str, object]:
    return {
        "code": str(problem.code),
        "message": problem.message,
        "option": problem.option,
        "entry": problem.entry,
        "key": problem.key,
        "value": problem.value,
        "remedy": problem.remedy,
        "place": problem.place,
    }
