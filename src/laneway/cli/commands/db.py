"""``laneway db``: the database that holds the state."""
# ruff: noqa: PLC0415 - start-up counts: what only some calls need is imported in them

from pathlib import Path

import click

from laneway.cli import output
from laneway.cli.command import Example, Settings, laneway_command
from laneway.cli.exit_status import ExitStatus
from laneway.domain.errors import ErrorCode, LanewayError


@laneway_command(
    "db",
    Example("laneway db status", "Which tables it has, and whether this program can use them"),
    Example("laneway db upgrade", "Bring its tables up to date after Laneway was upgraded"),
    Example("laneway db backup laneway-2026-12-01.db", "A copy as of one moment, while others go on working"),
)
@click.argument("action", type=click.Choice(["status", "upgrade", "backup"]))
@click.argument("target", required=False, type=click.Path(path_type=Path, readable=False), metavar="[FILE]")
def command(settings: Settings, action: str, target: Path | None) -> int:
    """Look after the database: show its status, upgrade its tables, or copy it into a new FILE.

    It stands where the config says (state.path), or where --state says.
    """
    from laneway import bootstrap
    from laneway.cli.host import source_of

    if (action == "backup") != (target is not None):
        what = "backup needs the FILE to write" if target is None else f"{action} takes no FILE"
        raise LanewayError(ErrorCode.USAGE, what)
    path = bootstrap.database_path(source_of(settings))
    if target is not None:
        bootstrap.backup_database(path, target)
        facts: dict[str, object] = {"database": str(path), "backup": str(target)}
        line = f"{path} is copied to {target}."
    elif action == "upgrade":
        upgrade = bootstrap.upgrade_database(path)
        facts = {"database": str(path), "before": upgrade.before, "after": upgrade.after}
        done = "is up to date already" if upgrade.before == upgrade.after else f"is upgraded to {upgrade.after}"
        line = f"{path} {done}."
    else:
        status = bootstrap.database_status(path)
        facts = {
            "database": status.database,
            "revision": status.revision,
            "needed": status.needed,
            "condition": str(status.condition),
        }
        line = f"{status.database}: {_CONDITIONS[status.condition]}"
    if settings.as_json:
        output.write_json({"schema": "laneway.db/1", "action": action, **facts})
    else:
        output.write_lines([line])
    return ExitStatus.YES


_CONDITIONS = {
    "empty": "there are no tables yet; they are made when something is first stored.",
    "current": "the tables are up to date.",
    "too_old": "the tables are of an earlier version; run: laneway db upgrade",
    "too_new": "the tables are of a later version of Laneway; use that one.",
}
