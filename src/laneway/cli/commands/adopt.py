"""``laneway adopt``: virtual machines that run already are taken over."""
# ruff: noqa: PLC0415 - start-up counts: what only some calls need is imported in them

import click

from laneway.cli import output
from laneway.cli.command import Example, Settings, laneway_command
from laneway.cli.exit_status import ExitStatus


@laneway_command(
    "adopt",
    Example("laneway adopt", "What would be recorded; nothing is changed"),
    Example("laneway adopt --yes", "Record it"),
)
@click.option(
    "--yes", "confirmed", is_flag=True, help="Record it; without this the command only says what it would do."
)
def command(settings: Settings, confirmed: bool) -> int:
    """Record the devices of virtual machines that run already as theirs: libvirt's domains and QEMU processes.

    So a host with running guests is taken over without harm to them. Until then their devices are blocked, as a
    process that Laneway does not know has them open. A device that no entry of the config admits, or that
    another consumer holds, is named and left as it is; the exit status is 1 then.
    """
    from laneway.cli.host import open_host
    from laneway.fleet.adoption import plan_adoption

    host = open_host(settings)
    running = host.running_vms()
    with host.control_plane() as plane:
        adoption = plane.adopt(host.name, running) if confirmed else plan_adoption(plane.look(host.name), running)
    if settings.as_json:
        from laneway.fleet.adoption import adoption_document

        output.write_json(adoption_document(host.name, adoption, applied=confirmed))
    else:
        from laneway.cli.render.adoption import adoption_page

        output.write_lines(adoption_page(adoption, output.screen(settings), applied=confirmed))
    return ExitStatus.NO if any(adoptee.refusal for adoptee in adoption.devices) else ExitStatus.YES
