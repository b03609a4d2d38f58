"""``laneway ports``: the ports of OpenStack Neutron that devices of this host serve."""
# ruff: noqa: PLC0415 - start-up counts: what only some calls need is imported in them

import click

from laneway.cli import output
from laneway.cli.command import Example, Settings, laneway_command
from laneway.cli.exit_status import ExitStatus
from laneway.cli.parameters import words
from laneway.domain.errors import ErrorCode, LanewayError


@laneway_command(
    "ports",
    Example("laneway ports", "Whether all ports are bound as claims say"),
    Example("laneway ports db-1 --json", "Those of one virtual machine, with their binding profiles"),
    Example("laneway ports --repair", "Bind and unbind what should be, now"),
)
@click.argument("consumer", required=False, type=words)
@click.option("--repair", is_flag=True, help="Bind and unbind now what is not as it should be, for the whole host.")
def command(settings: Settings, consumer: str | None, repair: bool) -> int:
    """Show the ports of OpenStack Neutron that devices of this host serve: how they shall be, and how they are.

    A port is to be bound while its device is allocated. The exit status is 0 if all ports are as they should be, and 1
    if not: then the agent puts them right at its next update, and this command does with --repair.
    """
    from laneway.cli.host import open_host, source_of
    from laneway.cli.port_keeping import keep_ports
    from laneway.fleet.port_document import ports_document
    from laneway.port_bootstrap import look_at_ports

    host = open_host(settings)
    if repair:
        if not host.config.bind_ports:
            message = f"the config {host.config_path} does not say that ports are bound; set bind_ports in [neutron]"
            raise LanewayError(ErrorCode.NOT_SUPPORTED, message, {"option": "neutron.bind_ports"})
        keep_ports(settings, host)
    standings = look_at_ports(source_of(settings), host)
    shown = standings if consumer is None else standings.of(consumer)
    if settings.as_json:
        output.write_json(ports_document(shown))
    else:
        from laneway.cli.render.ports import ports_page

        output.write_lines(ports_page(shown, output.screen(settings)))
    return ExitStatus.YES if shown.all_stand else ExitStatus.NO
