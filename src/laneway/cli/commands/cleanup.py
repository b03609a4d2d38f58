"""``laneway cleanup``: devices of consumers that are gone are freed."""
# ruff: noqa: PLC0415 - start-up counts: what only some calls need is imported in them

import click

from laneway.cli import output
from laneway.cli.command import Example, Settings, laneway_command
from laneway.cli.exit_status import ExitStatus
from laneway.cli.inputs import read_input
from laneway.domain.errors import ErrorCode, LanewayError


@laneway_command(
    "cleanup",
    Example("laneway cleanup --keep vms.txt", "What would be freed; nothing is changed"),
    Example("laneway cleanup --keep vms.txt --yes", "Free it"),
)
@click.option(
    "--keep",
    "file",
    required=True,
    metavar="FILE",
    help="The consumers that exist, one a line; - is stdin.",
)
@click.option("--yes", "confirmed", is_flag=True, help="Free it; without this the command only says what it would do.")
def command(settings: Settings, file: str, confirmed: bool) -> int:
    """Free the devices of consumers that do not exist any more: all that is held for one that FILE does not name.

    Give it all virtual machines, those that are switched off too: `virsh list --all --name`. An empty list is refused,
    as it is rather the sign of a command that failed. A device that a process still has open stays blocked.
    """
    from laneway.cli.host import open_host
    from laneway.cli.port_keeping import keep_ports
    from laneway.fleet.cleanup import plan_cleanup

    keep = _consumers(file)
    host = open_host(settings)
    with host.control_plane() as plane:
        cleanup = plane.cleanup(host.name, keep) if confirmed else plan_cleanup(plane.look(host.name), keep)
    if settings.as_json:
        from laneway.fleet.cleanup import cleanup_document

        output.write_json(cleanup_document(host.name, cleanup, applied=confirmed))
    else:
        from laneway.cli.render.cleanup import cleanup_page

        output.write_lines(cleanup_page(cleanup, output.screen(settings), applied=confirmed))
    if confirmed:
        keep_ports(settings, host)
    return ExitStatus.YES


def _consumers(file: str) -> frozenset[str]:
    """The lines that are not blank. Raises LanewayError(usage)."""
    try:
        lines = read_input("--keep", file).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise LanewayError(ErrorCode.USAGE, f"--keep {file!r} is not UTF-8; write it in UTF-8") from error
    names = frozenset(name for line in lines if (name := line.strip()))
    if not names:
        message = f"--keep {file!r} names no consumer; to free all devices, name each consumer to laneway free"
        raise LanewayError(ErrorCode.USAGE, message)
    return names
