"""``laneway check``: the config against the host."""
# ruff: noqa: PLC0415 - start-up counts: what only some calls need is imported in them

from laneway.cli import output
from laneway.cli.command import Example, Settings, laneway_command
from laneway.cli.exit_status import ExitStatus


@laneway_command(
    "check",
    Example("laneway check", "The config in force, on this host"),
    Example("laneway check --config new.toml", "A config before it is put in force"),
    Example("laneway check --nova-conf /etc/nova/nova.conf", "What Laneway makes of nova's config"),
    Example("laneway check --config gpu.toml --snapshot gpu-1.json", "On another host, from its inventory"),
)
def command(settings: Settings) -> int:
    """Hold the config against the host: what each entry admits, what it does not and why, and what is dangerous.

    All errors of a config are reported at once, each with its file and line; the exit status is 78 then. Hardware
    that an entry names and the host lacks is noted, and is no error. Devices in use that no entry admits any more are
    named, and so is all that differs from the config by which an agent on this host works. What the agent would refuse
    because of devices in use, or of what Placement was told, is an error. Nothing is changed.
    """
    from laneway.agent_bootstrap import config_in_force
    from laneway.cli.host import open_host, source_of
    from laneway.domain.errors import ConfigError
    from laneway.domain.tracking.config_check import check_config
    from laneway.domain.tracking.reported_changes import refused_while_held

    host = open_host(settings)
    in_force = config_in_force(source_of(settings), host.name)
    view = host.look_at_stored()
    refused = [] if in_force is None else in_force.refuses(host.config)
    if host.config.report_in_placement:
        refused += refused_while_held(view)
    if refused:
        raise ConfigError(refused)
    check = check_config(
        view,
        host.config.aliases,
        host.warnings,
        None if in_force is None else in_force.device_specs,
        pci_in_placement=host.config.pci_in_placement,
    )
    drift = host.drift(view)
    if settings.as_json:
        from laneway.contracts.check import check_document

        output.write_json(check_document(host.name, host.config.sources, check, host.inventory.readiness, drift))
    else:
        from laneway.cli.render.check import check_page

        output.write_lines(check_page(host.config.sources, check, output.screen(settings), drift))
    return ExitStatus.YES
