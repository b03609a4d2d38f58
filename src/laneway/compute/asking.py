"""What those who ask for the service do."""

import time
from collections.abc import Callable

from laneway.compute.agent_files import AgentFiles
from laneway.contracts.agent_status import AgentStatus, error_of
from laneway.domain.errors import ErrorCode, LanewayError

PATIENCE = 30.0
"""Seconds: looking at a large host, and then answering, takes one or two."""

_LOOK_SECONDS = 0.02


def ask_to_reload(
    files: AgentFiles,
    wait: Callable[[float], None] = time.sleep,
    monotonic: Callable[[], float] = time.monotonic,
) -> AgentStatus:
    """Has the service read its config again, and waits for what came of it.

    Raises LanewayError(no_agent), LanewayError(host_unreachable) where there is no answer, and
    else what the service met: ConfigError with all that is wrong with the config, or the error
    that kept it from looking.
    """
    if files.read() is None:
        raise _no_agent(files)
    request = files.request_reload()
    end = monotonic() + PATIENCE
    while request.exists():
        if files.read() is None:
            files.answered([request])
            raise _no_agent(files)
        if monotonic() > end:
            files.answered([request])
            raise _no_answer()
        wait(_LOOK_SECONDS)
    status = files.read()
    if status is None:
        raise _no_agent(files)
    trouble = status.failing or status.refused
    if trouble is not None:
        raise error_of(trouble)
    return status


def _no_agent(files: AgentFiles) -> LanewayError:
    return LanewayError(
        ErrorCode.NO_AGENT,
        f"no agent works on {files.database}: laneway agent starts one. Without one there is nothing to reload,"
        " as every command reads the config anew",
        {"database": str(files.database)},
    )


def _no_answer() -> LanewayError:
    return LanewayError(
        ErrorCode.HOST_UNREACHABLE,
        f"the agent has not answered in {PATIENCE:.0f} seconds; look at its log, and restart it if it hangs",
        {"seconds": PATIENCE},
    )
