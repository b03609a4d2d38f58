"""``laneway free``: devices go back."""
# ruff: noqa: PLC0415 - start-up counts: what only some calls need is imported in them

from collections.abc import Sequence

import click

from laneway.cli.command import Example, Settings, laneway_command
from laneway.cli.exit_status import ExitStatus
from laneway.cli.parameters import address, words
from laneway.domain.address import PciAddress
from laneway.domain.errors import ErrorCode, LanewayError


@laneway_command(
    "free",
    Example("laneway free db-1", "All that db-1 holds, when it is stopped for good"),
    Example("laneway free db-1 --claim job-17", "What one claim gave it"),
    Example("laneway free db-1 --device 0000:3b:00.0", "One device"),
)
@click.argument("consumer", type=words)
@click.option("--claim", "claim_id", type=words, metavar="ID", help="Only the devices of this claim.")
@click.option(
    "--device", "addresses", type=address, multiple=True, metavar="ADDRESS", help="Only this device; may be repeated."
)
def command(settings: Settings, consumer: str, claim_id: str | None, addresses: Sequence[PciAddress]) -> int:
    """Give devices of a consumer back, so that others can claim them. To hold nothing is no error.

    With `bind_ports` in the config the ports that had them are unbound.
    """
    from laneway.cli.deciding import decide
    from laneway.cli.host import open_host
    from laneway.cli.port_keeping import keep_ports
    from laneway.cli.render.answers import freed_answer

    if claim_id is not None and addresses:
        raise LanewayError(ErrorCode.USAGE, "--claim and --device exclude each other; say one of them")
    host = open_host(settings)
    status = decide(
        settings,
        host,
        "free",
        lambda plane: plane.free(host.name, consumer=consumer, claim=claim_id, addresses=addresses or None),
        freed_answer,
    )
    if status == ExitStatus.YES:
        keep_ports(settings, host)
    return status
