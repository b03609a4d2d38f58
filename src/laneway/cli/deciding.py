"""One decision on a host: made, and answered for people or as a step of the scenario's answer."""

from collections.abc import Callable, Sequence

from laneway.bootstrap import LocalHost
from laneway.cli import output
from laneway.cli.command import Settings
from laneway.cli.exit_status import EXIT_STATUS, ExitStatus
from laneway.cli.failure import as_text
from laneway.cli.host import device_names
from laneway.cli.render.screen import Screen
from laneway.cli.render.view import Names
from laneway.contracts.answer import step_json
from laneway.domain.errors import LanewayError
from laneway.fleet.control_plane import ControlPlane, Outcome

Render = Callable[[Outcome, Names, Screen], Sequence[str]]


def decide(
    settings: Settings, host: LocalHost, op: str, action: Callable[[ControlPlane], Outcome], render: Render
) -> int:
    """Runs the action in the host's control plane and writes the answer.

    A refusal is an answer too with ``--json``, and where the question was only whether (``check``).
    """
    with host.control_plane() as plane:
        try:
            outcome = action(plane)
        except LanewayError as error:
            if settings.as_json:
                output.write_json(step_json(op, plane.look(host.name), error=error))
            elif op == "check" and EXIT_STATUS[error.code] is ExitStatus.NO:
                output.write_lines([as_text(error, output.screen(settings))])
            else:
                raise
            return EXIT_STATUS[error.code]
    if settings.as_json:
        step = step_json(op, outcome.tracker, devices=outcome.devices, proven_best=outcome.proven_best)
        output.write_json(step)
    else:
        output.write_lines(render(outcome, device_names(), output.screen(settings)))
    return ExitStatus.YES
