"""``laneway reload``: the agent reads its config again."""
# ruff: noqa: PLC0415 - start-up counts: what only some calls need is imported in them

from laneway.cli import output
from laneway.cli.command import Example, Settings, laneway_command
from laneway.cli.exit_status import ExitStatus


@laneway_command(
    "reload",
    Example("laneway reload", "Put a changed config in force; `laneway check` tells before what it would do"),
)
def command(settings: Settings) -> int:
    """Have the agent read its config and its host again, and say what came of it.

    The config is checked whole against the host. If anything is wrong with it, the agent goes on with the one that it
    has, all errors are told and the exit status is 78.
    """
    from laneway.agent_bootstrap import reload_agent
    from laneway.cli.host import source_of

    status = reload_agent(source_of(settings))
    if settings.as_json:
        from laneway.contracts.status import reload_document

        output.write_json(reload_document(status))
    else:
        from laneway.cli.render.status import reload_page

        output.write_lines(reload_page(status, output.screen(settings)))
    return ExitStatus.YES
