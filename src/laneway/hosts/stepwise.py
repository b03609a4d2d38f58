"""Steps done one after the other, each kept in a journal before; and taken back where one fails."""

from collections.abc import Callable, Sequence

from laneway.domain.errors import LanewayError
from laneway.interfaces.host_changes import HostChangeError, JournalStep, Progress, Step

Work = Callable[[Step], None]


def carry_out(steps: Sequence[Step], journal: JournalStep, progress: Progress, *, do: Work, undo: Work) -> None:
    """Does the steps in order. ``undo`` takes one back that may have been done in part, or not at all.

    Raises HostChangeError where one fails, or cannot be journalled: those begun are taken back then.
    """
    begun: list[Step] = []
    try:
        for step in steps:
            journal(step)
            begun.append(step)
            progress(step.summary)
            do(step)
    except Exception as error:
        said = error.message if isinstance(error, LanewayError) else f"{type(error).__name__}: {error}"
        detail = {"code": str(error.code)} if isinstance(error, LanewayError) else {}
        problem = _undone(begun, undo)
        if problem is None:
            raise HostChangeError(f"{said}; the host is as before", detail, undone=True) from error
        raise HostChangeError(f"{said}; and it could not be taken back: {problem}", detail, undone=False) from error


def finish(steps: Sequence[Step], do: Work) -> None:
    """Does what is left of a plan that was interrupted. Raises HostChangeError; it may be tried again then."""
    for step in steps:
        try:
            do(step)
        except LanewayError as error:
            message = f"what was begun with {step.address} cannot be finished: {error.message}"
            raise HostChangeError(
                message, {"address": str(step.address), "code": str(error.code)}, undone=False
            ) from error


def take_back(begun: Sequence[Step], undo: Work) -> None:
    """Takes all of them back, the last first. Raises HostChangeError with what could not be; it may be tried again."""
    problem = _undone(begun, undo)
    if problem is not None:
        addresses = sorted({step.address for step in begun})
        raise HostChangeError(problem, {"addresses": list(map(str, addresses))}, undone=False)


def _undone(begun: Sequence[Step], undo: Work) -> str | None:
    """What could not be taken back; the others are all the same."""
    problems = []
    for step in reversed(begun):
        try:
            undo(step)
        except LanewayError as error:
            problems.append(error.message)
    return "; ".join(problems) or None
