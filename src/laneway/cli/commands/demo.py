"""``laneway demo``: the command line at work on example hosts."""
# ruff: noqa: PLC0415 - start-up counts: what only some calls need is imported in them

from collections.abc import Sequence
from pathlib import Path

import click

from laneway.cli.command import Example, Settings, laneway_command
from laneway.cli.exit_status import ExitStatus
from laneway.domain.errors import ErrorCode, LanewayError

HOSTS = ("gpu-1", "net-1", "desk")


@laneway_command(
    "demo",
    Example("laneway demo", "All example hosts"),
    Example("laneway demo gpu-1", "One of them"),
    Example("laneway demo gpu-1 --save gpu-demo", "Keep its files, to try commands of your own on it"),
)
@click.argument("hosts", nargs=-1, type=click.Choice(HOSTS))
@click.option(
    "--save",
    type=click.Path(path_type=Path, readable=False),
    metavar="DIR",
    help="Keep inventories, configs and states in this folder.",
)
def command(settings: Settings, hosts: Sequence[str], save: Path | None) -> int:
    """Run commands on example hosts, to see claims, refusals and their reasons without any hardware.

    The hosts are a GPU server (gpu-1), a host for network functions with a DPU (net-1) and a desktop computer (desk).
    Every command is run for real, on an inventory and a config in a temporary folder: nothing of this host is read or
    changed.
    """
    from tempfile import TemporaryDirectory

    from laneway.cli.demonstration import demonstrate

    if save is None:
        with TemporaryDirectory(prefix="laneway-demo-") as folder:
            demonstrate(hosts or HOSTS, Path(folder), settings)
        return ExitStatus.YES
    try:
        save.mkdir(parents=True)
    except OSError as error:
        code = ErrorCode.NO_PERMISSION if isinstance(error, PermissionError) else ErrorCode.USAGE
        message = f"the folder {save} cannot be made: {error.strerror}; name a new one"
        raise LanewayError(code, message, {"folder": str(save)}) from error
    demonstrate(hosts or HOSTS, save, settings)
    return ExitStatus.YES
