"""Commands that change a host: how they go on is told on stderr, what came of it on stdout."""

from collections.abc import Callable, Sequence

from laneway.cli import output
from laneway.cli.command import Settings
from laneway.cli.exit_status import EXIT_STATUS, ExitStatus
from laneway.cli.render.screen import Screen, Tone
from laneway.contracts.changes import Changes, changes_document
from laneway.interfaces.host_changes import Progress

Render = Callable[[Changes, Screen], Sequence[str]]


def progress_of(settings: Settings) -> Progress:
    """Tells on stderr what is being done and waited for."""
    return lambda message: output.write_message(lambda screen: screen.paint(message, Tone.DIM), settings.color)


def answer(settings: Settings, command: str, changes: Changes, render: Render) -> int:
    """Writes what was done. The exit status is that of the first failure, or 0."""
    if settings.as_json:
        output.write_json(changes_document(command, changes))
    else:
        output.write_lines(render(changes, output.screen(settings)))
    failure = next((change.error for change in changes.of if change.error is not None), None)
    return ExitStatus.YES if failure is None else EXIT_STATUS[failure.code]
