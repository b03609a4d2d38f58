"""``laneway hostdev``: what goes into a virtual machine's definition."""
# ruff: noqa: PLC0415 - start-up counts: what only some calls need is imported in them

import click

from laneway.cli import output
from laneway.cli.command import Example, Settings, laneway_command
from laneway.cli.exit_status import ExitStatus
from laneway.cli.parameters import words
from laneway.cli.render.screen import Tone
from laneway.cli.shell_words import command_line
from laneway.domain.device import Binding, PciDevice, Status
from laneway.domain.errors import ErrorCode, LanewayError

FORMATS = ("libvirt", "qemu", "cloud-hypervisor", "hyperv")


@laneway_command(
    "hostdev",
    Example("laneway hostdev db-1 --format libvirt", "<hostdev> elements for the domain's XML"),
    Example("laneway hostdev db-1 --format qemu --iommufd", "Options for QEMU, by IOMMUFD"),
    Example("laneway hostdev db-1 --format cloud-hypervisor", "Options for Cloud Hypervisor"),
)
@click.argument("consumer", type=words)
@click.option("--format", "form", type=click.Choice(FORMATS), required=True, help="Whose definition it is.")
@click.option("--iommufd", is_flag=True, help="QEMU: use IOMMUFD rather than VFIO groups.")
@click.option("--iommu", is_flag=True, help="Cloud Hypervisor: place the devices behind its virtual IOMMU.")
def command(settings: Settings, consumer: str, form: str, iommufd: bool, iommu: bool) -> int:
    """Print what goes into the definition of a consumer's virtual machine, for all devices that it holds."""
    from laneway.cli.host import open_host
    from laneway.formats.definition import Format, definition
    from laneway.formats.unbound import unbound

    for flag, used, meant in (("--iommufd", iommufd, "qemu"), ("--iommu", iommu, "cloud-hypervisor")):
        if used and form != meant:
            raise click.UsageError(f"{flag} is an option of --format {meant}, and has no effect with {form}")
    host = open_host(settings)
    devices = host.look().owned_by(consumer)
    if not devices:
        raise LanewayError(
            ErrorCode.NO_CLAIM,
            f"{consumer} holds no device on this host; claim some first: laneway claim {consumer} --alias NAME:COUNT",
            {"consumer": consumer},
        )
    text = definition(Format(form), devices, vm_name=consumer, iommufd=iommufd, iommu=iommu)
    still_unbound = unbound(Format(form), devices)
    if settings.as_json:
        output.write_json(
            {
                "schema": "laneway.hostdev/1",
                "host": host.name,
                "consumer": consumer,
                "format": form,
                "devices": [device.address for device in devices],
                "definition": text,
                "unbound": [device.address for device in still_unbound],
            }
        )
    else:
        output.write_lines([text])
        for device in still_unbound:
            _tell_unbound(device, consumer, form, settings)
    return ExitStatus.YES


def _tell_unbound(device: PciDevice, consumer: str, form: str, settings: Settings) -> None:
    driver = device.function.driver
    state = "has no driver for guests" if driver is None else f"is on the host's driver {driver}"
    line = f"note: {device.address} {state}; {_remedy(device, consumer, form)}"
    output.write_message(lambda screen: screen.paint(line, Tone.WAITING), settings.color)


def _remedy(device: PciDevice, consumer: str, form: str) -> str:
    if device.extra_info.binding is Binding.LANEWAY:
        take = f"laneway prepare {command_line([consumer])}"
        if device.status is Status.CLAIMED:
            take = f"laneway allocate {command_line([consumer])}, then {take}"
        return f"before the VM starts: {take}"
    remedy = "bind it to vfio-pci before the VM starts"
    return f'{remedy}, or let libvirt do it: binding = "libvirt" in its device_spec' if form == "libvirt" else remedy
