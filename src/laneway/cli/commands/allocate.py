"""``laneway allocate``: claimed devices are in the virtual machine now."""
# ruff: noqa: PLC0415 - start-up counts: what only some calls need is imported in them

import click

from laneway.cli.command import Example, Settings, laneway_command
from laneway.cli.exit_status import ExitStatus
from laneway.cli.parameters import words


@laneway_command(
    "allocate",
    Example("laneway allocate db-1", "All that db-1 has claimed"),
    Example("laneway allocate db-1 --claim job-17", "One of its claims"),
)
@click.argument("consumer", type=words)
@click.option("--claim", "claim_id", type=words, metavar="ID", help="Only the devices of this claim.")
def command(settings: Settings, consumer: str, claim_id: str | None) -> int:
    """Record that a consumer has what it claimed: its virtual machine runs with the devices.

    A claim with a time to live does not expire any more then. With `bind_ports` in the config the ports for which
    devices were claimed are bound; what fails of that is told, recorded, and tried again by the agent.
    """
    from functools import partial

    from laneway.cli.deciding import decide
    from laneway.cli.host import open_host
    from laneway.cli.port_keeping import keep_ports
    from laneway.cli.render.answers import changed_answer

    host = open_host(settings)
    status = decide(
        settings,
        host,
        "allocate",
        lambda plane: plane.allocate(host.name, consumer=consumer, claim=claim_id),
        partial(changed_answer, "allocated"),
    )
    if status == ExitStatus.YES:
        keep_ports(settings, host)
    return status
