"""``laneway status``: the agent and its host."""
# ruff: noqa: PLC0415 - start-up counts: what only some calls need is imported in them

from laneway.cli import output
from laneway.cli.command import Example, Settings, laneway_command
from laneway.cli.exit_status import ExitStatus


@laneway_command(
    "status",
    Example("laneway status", "Does an agent run here, and is all well?"),
    Example("laneway status --json | jq '.agent.refused'", "Why the config that is written is not in force"),
)
def command(settings: Settings) -> int:
    """Say whether an agent runs on this host, what config is in force, what is wrong, and how many devices there are.

    The exit status is 0 if an agent runs and all is well, and 1 if none runs, or if something waits for a person: a
    config that was refused, a host that cannot be brought up to date. Devices can be claimed without an agent, too.
    """
    from laneway.agent_bootstrap import host_status
    from laneway.cli.host import source_of

    status = host_status(source_of(settings))
    if settings.as_json:
        from laneway.contracts.status import status_document

        output.write_json(status_document(status))
    else:
        from laneway.cli.render.status import status_page

        output.write_lines(status_page(status, output.screen(settings)))
    return ExitStatus.YES if status.is_well else ExitStatus.NO
