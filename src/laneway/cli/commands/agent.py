"""``laneway agent``: the service of one host."""
# ruff: noqa: PLC0415 - start-up counts: what only some calls need is imported in them

from datetime import timedelta

import click

from laneway.cli.command import Example, Settings, laneway_command
from laneway.cli.exit_status import ExitStatus
from laneway.cli.parameters import span


@laneway_command(
    "agent",
    Example(
        "laneway agent", "In the foreground, until Ctrl-C; as a service by packaging/systemd/laneway-agent.service"
    ),
    Example("laneway agent --interval 10s --json", "Look at the host every ten seconds, and log in JSON Lines"),
)
@click.option(
    "--interval",
    type=span,
    default="60s",
    show_default=True,
    metavar="TIME",
    help="Look at the host and its config so often, whatever happens; hot plug is noticed at once where it can be.",
)
def command(settings: Settings, interval: timedelta) -> int:
    """Keep this host's devices up to date in the background: hot plug, changes of the config, claims that expire.

    A config with errors ends the start, with all of them and exit status 78, and so does a host that cannot be read
    (69, 77). Later a bad config is refused, and the last good one stays in force: `laneway status` says why. SIGHUP,
    `laneway reload` and a change of the file make the agent read it again.

    The log goes to stderr, with --json to stdout.
    """
    import gc

    from laneway.agent_bootstrap import run_agent
    from laneway.cli.host import source_of

    gc.enable()  # it runs for long
    run_agent(source_of(settings), interval=interval.total_seconds(), as_json=settings.as_json)
    return ExitStatus.YES
