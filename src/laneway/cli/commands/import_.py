"""``laneway import``: what another program records of this host is taken over."""
# ruff: noqa: PLC0415 - start-up counts: what only some calls need is imported in them

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from laneway.cli import output
from laneway.cli.command import Example, Settings, laneway_command
from laneway.cli.exit_status import ExitStatus
from laneway.cli.inputs import read_input
from laneway.domain.errors import ErrorCode, LanewayError

if TYPE_CHECKING:
    from laneway.openstack.nova_records import NovaRecords
    from laneway.openstack.port_records import PortRecord


@laneway_command(
    "import",
    Example(
        "laneway import nova --export nova-tables --nova-conf /etc/nova/nova.conf --dry-run",
        "What would be taken over, and what is inconsistent in nova's records; nothing is changed",
    ),
    Example("laneway import nova --export nova-tables --ports ports.json", "Take it over, with Neutron's ports"),
)
@click.argument("source", type=click.Choice(["nova"]))
@click.option(
    "--database",
    metavar="URL",
    envvar="LANEWAY_NOVA_DATABASE",
    help="nova's database, as [database]connection of nova.conf has it; it is only read. Also from the environment,"
    " as LANEWAY_NOVA_DATABASE.",
)
@click.option(
    "--export",
    type=click.Path(path_type=Path, readable=False),
    metavar="FOLDER",
    help="An export of its tables in place of it: pci_devices.jsonl, .json or .csv, and so on.",
)
@click.option(
    "--ports", metavar="FILE", help="Neutron's ports with their binding profiles, as a JSON list; - is stdin."
)
@click.option("--node", metavar="NAME", help="The compute node that this host is, if its name is another.")
@click.option("--dry-run", is_flag=True, help="Say the same, and change nothing.")
def command(
    settings: Settings,
    *,
    source: str,  # noqa: ARG001 - there is only one so far
    database: str | None,
    export: Path | None,
    ports: str | None,
    node: str | None,
    dry_run: bool,
) -> int:
    """Take over the devices, owners and requests that nova records of this host, with every inconsistency told.

    nova's services on this host should be stopped meanwhile. nova's records lack the physical networks of devices:
    they come from the config, and from the ports. Done again, it changes nothing. The exit status is 1 if something
    was left to a person.
    """
    from laneway.cli.host import open_host
    from laneway.openstack.import_use_case import import_nova

    bound = _ports(ports)
    host = open_host(settings)
    records = _records(database, export, host.name, node)
    with host.control_plane() as plane:
        imported = import_nova(plane, host.name, records, bound, node=node, dry_run=dry_run)
    if settings.as_json:
        from laneway.openstack.import_use_case import import_document

        output.write_json(import_document(host.name, imported, applied=not dry_run))
    else:
        from laneway.cli.render.imported import import_page

        output.write_lines(import_page(imported, output.screen(settings), applied=not dry_run))
    return ExitStatus.YES if imported.is_clean else ExitStatus.NO


def _records(database: str | None, export: Path | None, host: str, node: str | None) -> "NovaRecords":
    """What nova records of the host, and maybe of others. An export that is named counts more than the environment.

    Raises LanewayError: usage, no_permission, invalid_json, database_unreachable.
    """
    from laneway.openstack.nova_export import read_export
    from laneway.openstack.nova_records import read_records

    if export is not None:
        return read_records(read_export(export))
    if database is None:
        raise LanewayError(ErrorCode.USAGE, "name nova's database by --database, or an export of it by --export")
    from laneway.openstack.nova_database import read_database
    from laneway.openstack.nova_nodes import chosen_node

    return read_records(read_database(database, lambda nodes: chosen_node(nodes, host, node)))


def _ports(file: str | None) -> "Mapping[str, PortRecord]":
    if file is None:
        return {}
    from laneway.contracts.codec import parse_json
    from laneway.openstack.port_records import read_ports

    return read_ports(parse_json(read_input("--ports", file)))
