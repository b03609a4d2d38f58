"""Doing steps one after the other, and taking all back where one fails."""

import errno
from collections.abc import Sequence

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.hosts.linux.changes.course import taking_back
from laneway.hosts.linux.changes.doing import DOING, StepError, Workbench
from laneway.hosts.linux.changes.facts import read_standings
from laneway.hosts.linux.changes.steps import Kind, functions_of
from laneway.interfaces.host_changes import HostChangeError, JournalStep, Step

_PERMISSION_REMEDY = (
    "root may write it; a systemd unit must not have ProtectKernelTunables, ProtectKernelModules or PrivateDevices"
)


def do_steps(steps: Sequence[Step], journal: JournalStep, bench: Workbench, *, standing: Sequence[Step] = ()) -> None:
    """Does the steps, each after it was journalled.

    On a failure they are taken back, and those of ``standing`` too, which an earlier try has done.
    Raises HostChangeError, LanewayError(no_permission), or what the journal raised.
    """
    begun = list(standing)
    for step in steps:
        is_journalled = False
        try:
            journal(step)
            is_journalled = True
            begun.append(step)
            bench.progress(step.summary)
            DOING[step.kind](step, bench)
        except BaseException as failure:
            trouble = _try_to_take_back(begun, bench)
            if trouble is not None and isinstance(failure, Exception):
                raise _half_done(step, failure, trouble) from failure
            if is_journalled and isinstance(failure, OSError | StepError | LanewayError):
                raise _not_done(step, failure) from failure
            raise


def take_back_steps(begun: Sequence[Step], bench: Workbench) -> None:
    """Takes back what was begun, as far as it stands. Raises OSError, StepError or LanewayError where that fails."""
    for step in taking_back(begun, read_standings(bench.files, functions_of(begun))):
        bench.progress(step.summary)
        DOING[step.kind](step, bench)


def _try_to_take_back(begun: Sequence[Step], bench: Workbench) -> Exception | None:
    try:
        take_back_steps(begun, bench)
    except (OSError, StepError, LanewayError) as trouble:
        return trouble
    return None


def _not_done(step: Step, failure: Exception) -> LanewayError:
    """The error of a step that failed and was taken back, for a person."""
    if isinstance(failure, LanewayError) and failure.code is ErrorCode.CLEANING_FAILED:
        return LanewayError(failure.code, failure.message, {**failure.detail, "undone": True})
    what = f"not done: {step.summary}: {reason(failure)}"
    if _is_forbidden(failure):
        return LanewayError(ErrorCode.NO_PERMISSION, f"{what}; {_PERMISSION_REMEDY}", {**_detail(step), "undone": True})
    return HostChangeError(f"{what}; all is as it was before", _detail(step), undone=True)


def _is_forbidden(failure: Exception) -> bool:
    if isinstance(failure, LanewayError):
        return failure.code is ErrorCode.NO_PERMISSION
    return isinstance(failure, PermissionError) or (isinstance(failure, OSError) and failure.errno == errno.EROFS)


def _half_done(step: Step, failure: Exception, trouble: Exception) -> HostChangeError:
    message = (
        f"not done: {step.summary}: {reason(failure)}; taking back what was done before failed, too: "
        f"{reason(trouble)}; it is not forgotten, and the next start tries again"
    )
    return HostChangeError(message, _detail(step), undone=False)


def reason(failure: Exception) -> str:
    return (failure.strerror if isinstance(failure, OSError) else None) or str(failure)


def _detail(step: Step) -> dict[str, object]:
    """``reset_failed`` tells whoever releases a device that it is not fit for the next guest."""
    detail: dict[str, object] = {"address": str(step.address), "step": step.kind, "target": step.target}
    return {**detail, "reset_failed": True} if step.kind == Kind.RESET else detail
