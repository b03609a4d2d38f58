"""``laneway devices``: what this host has, and what may be handed out."""
# ruff: noqa: PLC0415 - start-up counts: what only some calls need is imported in them

from typing import TYPE_CHECKING

import click

from laneway.cli import output
from laneway.cli.command import Example, Settings, laneway_command
from laneway.cli.exit_status import ExitStatus
from laneway.cli.host import device_names, open_host
from laneway.domain.errors import ErrorCode, LanewayError

if TYPE_CHECKING:
    from laneway.bootstrap import LocalHost
    from laneway.cli.render.first_spec import EmptyConfig


@laneway_command(
    "devices",
    Example("laneway devices", "The devices of this host"),
    Example("laneway devices --tree", "By NUMA node, root and switch, to see what stands close together"),
    Example("laneway devices --json | jq '.functions[] | select(.device.status == \"available\")'", "For a program"),
    Example("laneway devices --snapshot gpu-1.json --config gpu-1.toml", "Of another host, from its inventory"),
    Example("laneway devices --format nova", "For a nova virt driver"),
)
@click.option("--tree", is_flag=True, help="Show the devices by NUMA node, root and bridge.")
@click.option("--all", "every", is_flag=True, help="List every function: bridges, system peripherals, each VF.")
@click.option(
    "--format",
    "peer",
    type=click.Choice(["nova"]),
    help="Print what a nova virt driver returns for pci_passthrough_devices, in JSON; nova's config admits them.",
)
def command(settings: Settings, tree: bool, every: bool, peer: str | None) -> int:
    """List the PCI functions of this host: which may be handed out, who holds them, and why the others may not.

    STATUS says "available" of what can be claimed, "blocked" of what a device spec admits but something stands
    in the way of (NOTES say what), "unclaimable" and "unavailable" of what a relative is claimed or taken from:
    a VF of a PF, or a member of the same IOMMU group.
    """
    if peer is not None:
        if tree or every:
            raise LanewayError(ErrorCode.USAGE, "--format prints a list of its own; leave --tree and --all out")
        return _print_for_nova(settings)
    host = open_host(settings)
    view = host.look()
    if settings.as_json:
        from laneway.contracts.devices import devices_document

        output.write_json(devices_document(host.name, host.inventory, view))
        return ExitStatus.YES
    from laneway.cli.host_views import function_views
    from laneway.cli.render.device_page import device_page

    views = function_views(view)
    output.write_lines(
        device_page(
            host.inventory,
            views,
            device_names(),
            output.screen(settings),
            as_tree=tree,
            every=every,
            empty_config=None if host.config.device_specs.specs else _empty_config(host, settings),
            notes=len(host.warnings),
        )
    )
    return ExitStatus.YES


def _print_for_nova(settings: Settings) -> int:
    """The facts alone: neither config nor state is read."""
    from laneway import bootstrap
    from laneway.cli.host import source_of
    from laneway.openstack.nova_devices import nova_devices

    output.write_json(nova_devices(bootstrap.discover(source_of(settings))))
    return ExitStatus.YES


def _empty_config(host: "LocalHost", settings: Settings) -> "EmptyConfig":
    from laneway.cli.render.first_spec import EmptyConfig

    return EmptyConfig(str(host.config_path), is_nova=bool(settings.nova_conf))
