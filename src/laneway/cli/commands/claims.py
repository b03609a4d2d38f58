"""``laneway claims``: who holds what."""
# ruff: noqa: PLC0415 - start-up counts: what only some calls need is imported in them

import click

from laneway.cli import output
from laneway.cli.command import Example, Settings, laneway_command
from laneway.cli.exit_status import ExitStatus
from laneway.cli.parameters import words


@laneway_command(
    "claims",
    Example("laneway claims", "All claims of this host"),
    Example("laneway claims db-1 --json", "Those of one virtual machine, for a program"),
)
@click.argument("consumer", required=False, type=words)
def command(settings: Settings, consumer: str | None) -> int:
    """List the devices that are held: by whom, under which claim, and until when.

    A claim whose time is over is freed at the next update. While a process has a device of it open it stays, and is
    overdue.
    """
    from laneway.bootstrap import now
    from laneway.cli.host import open_host

    host = open_host(settings)
    with host.control_plane() as plane:
        view = plane.look(host.name).view
    held = [device for device in view.held.values() if consumer in (None, device.consumer)]
    if settings.as_json:
        from laneway.contracts.claims import claims_document

        output.write_json(claims_document(host.name, held, view.claims, now()))
    else:
        from laneway.cli.render.claims import claims_page

        output.write_lines(claims_page(held, view.claims, now(), output.screen(settings)))
    return ExitStatus.YES
