"""How a failure is told: a message with its remedy for people, an object for programs."""

from collections.abc import Mapping, Sequence

from laneway.cli.exit_status import EXIT_STATUS, ExitStatus
from laneway.cli.render.columns import wrapped
from laneway.cli.render.explanation import explanation_block
from laneway.cli.render.screen import Screen, Tone
from laneway.domain.errors import CompoundError, ConfigError, ConfigProblem, ErrorCode, LanewayError


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


def as_text(error: LanewayError, screen: Screen) -> str:
    """The error for a person; of several each, and of a config every problem with its place and its remedy.

    A refusal begins with "no", as it is an answer, and explains itself; everything else begins with "error".
    """
    if isinstance(error, CompoundError):
        return "\n".join(as_text(one, screen) for one in error.errors)
    if isinstance(error, ConfigError):
        return "\n".join(_told("error", Tone.BAD, _lines_of(problem), screen) for problem in error.problems)
    if EXIT_STATUS[error.code] is not ExitStatus.NO:
        return _told("error", Tone.BAD, error.message.splitlines(), screen)
    explanation = error.detail.get("explanation")
    if not isinstance(explanation, Mapping):
        return _told("no", Tone.WAITING, error.message.splitlines(), screen)
    reason = _told("no", Tone.WAITING, [f"{explanation['reason']}."], screen)
    return "\n".join((reason, "", *explanation_block(explanation, screen)))


def as_json(error: LanewayError) -> dict[str, object]:
    """The error as JSON values; of several, and of a config, all of them."""
    from laneway.contracts.answer import error_json, errors_json  # noqa: PLC0415 - messages to people need no msgspec

    answer: dict[str, object] = {"ok": False, "error": error_json(error)}
    if isinstance(error, ConfigError | CompoundError):
        answer["errors"] = errors_json(error)
    return answer


def _told(label: str, tone: Tone, lines: Sequence[str], screen: Screen) -> str:
    """The lines below each other behind the label, wrapped to the width of a terminal."""
    indent = " " * (len(label) + 2)
    room = max(screen.width - len(indent), 40) if screen.width else None
    fitted = [part for line in lines for part in ([line] if room is None else wrapped(line, room))]
    shown = f"\n{indent}".join(screen.paint(line) for line in fitted)
    return f"{screen.paint(f'{label}:', tone)} {shown}"


def _lines_of(problem: ConfigProblem) -> list[str]:
    place = f"{problem.place}: " if problem.place and problem.place not in problem.message else ""
    lines = [f"{place}{problem.message}"]
    if problem.remedy and problem.remedy not in problem.message:
        lines.append(problem.remedy)
    return lines
