"""After a decision: the ports of the host are bound and unbound as it says, where the config asks for that."""

from laneway.bootstrap import LocalHost
from laneway.cli import output
from laneway.cli.changing import progress_of
from laneway.cli.command import Settings
from laneway.cli.host import source_of
from laneway.cli.render.ports import done_lines, failed_lines
from laneway.interfaces.network import KeptPorts


def keep_ports(settings: Settings, host: LocalHost) -> KeptPorts:
    """Tells on stdout what was done, and on stderr what was not: the decision stands all the same."""
    if not host.config.bind_ports:
        return KeptPorts()
    from laneway import port_bootstrap  # noqa: PLC0415 - start-up counts

    kept = port_bootstrap.keep_ports(source_of(settings), host, progress_of(settings))
    done = done_lines(kept, output.screen(settings))
    if done and not settings.as_json:
        output.write_lines(done)
    if kept.errors:
        output.write_message(lambda screen: "\n".join(failed_lines(kept, screen)), settings.color)
    return kept
