"""``laneway capture``: the inventory of this host as a file."""
# ruff: noqa: PLC0415 - start-up counts: what only some calls need is imported in them

from pathlib import Path

import click

from laneway.cli.command import Example, Settings, laneway_command
from laneway.cli.exit_status import ExitStatus
from laneway.cli.streams import write
from laneway.domain.errors import ErrorCode, LanewayError


@laneway_command(
    "capture",
    Example("laneway capture --output gpu-1.json", "To look at elsewhere: laneway devices --snapshot gpu-1.json"),
    Example("laneway capture --blank > report.json", "For a bug report: without serial numbers and MAC addresses"),
)
@click.option(
    "--output",
    "target",
    type=click.Path(path_type=Path, readable=False),
    metavar="FILE",
    help="Write here, not to stdout.",
)
@click.option("--blank", is_flag=True, help="Leave serial numbers and MAC addresses out.")
def command(settings: Settings, target: Path | None, blank: bool) -> int:
    """Write the inventory of this host: all its PCI functions with every fact, as JSON (laneway.inventory/1).

    It is what `--snapshot` reads. The config is not looked at, and nothing of the host is changed.
    """
    from laneway import bootstrap
    from laneway.cli.host import source_of
    from laneway.contracts.inventory import encode_inventory
    from laneway.domain.blanking import without_identifiers

    inventory = bootstrap.discover(source_of(settings))
    document = encode_inventory(without_identifiers(inventory) if blank else inventory)
    if target is None:
        write(document)
        return ExitStatus.YES
    try:
        target.write_bytes(document + b"\n")
    except OSError as error:
        code = ErrorCode.NO_PERMISSION if isinstance(error, PermissionError) else ErrorCode.USAGE
        raise LanewayError(
            code,
            f"the inventory cannot be written to {target}: {error.strerror}; name another file",
            {"file": str(target)},
        ) from error
    return ExitStatus.YES
